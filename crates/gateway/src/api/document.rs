//! The OpenAPI document, made from the table of routes and the types of answers.

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::route::{Body, Gives, Operation, ROUTES, Route};
use super::types::Problem;

/// Where schemas stand in the document.
const SCHEMAS: &str = "/components/schemas";

/// The API as an OpenAPI 3.1 document.
#[must_use]
pub fn document() -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.definitions_path = SCHEMAS.into();
    settings.meta_schema = None;
    let mut generator = settings.for_serialize().into_generator();
    let mut paths = Map::new();
    for route in &ROUTES {
        let operation = operation(route, &mut generator);
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[route.method.as_str().to_ascii_lowercase()] = operation;
    }
    let schemas = generator.take_definitions(true);
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Steersman gateway",
            "version": "1",
            "description": "What the gateway knows of sessions, and the helm of those that are \
                            open. Fields are added, never changed.",
            "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"},
        },
        "servers": [{"url": "http://127.0.0.1:8700"}],
        // Without a token the gateway answers programs of its own machine only.
        "security": [{}, {"token": []}],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    })
}

/// The document as text, with a newline at its end.
#[must_use]
pub fn document_text() -> String {
    // A JSON value serialises without fail.
    let mut text = serde_json::to_string_pretty(&document()).unwrap_or_default();
    text.push('\n');
    text
}

fn operation(route: &Route, generator: &mut SchemaGenerator) -> Value {
    let mut parameters: Vec<Value> = Vec::new();
    if route.path.contains("{id}") {
        parameters.push(json!({
            "name": "id", "in": "path", "required": true,
            "description": "The session's id.",
            "schema": {"type": "string", "pattern": "^[a-z0-9][a-z0-9-]{0,63}$"},
        }));
    }
    parameters.extend(route.params.iter().map(|param| {
        json!({
            "name": param.name, "in": "query", "description": param.about,
            "schema": param.takes.schema(),
        })
    }));
    let mut operation = json!({
        "operationId": name(route.operation),
        "summary": route.about,
        "parameters": parameters,
        "responses": {"default": {
            "description": "Why there is no answer.",
            "content": {"application/json": {"schema": generator.subschema_for::<Problem>()}},
        }},
    });
    if let Some(takes) = route.takes {
        let content = match takes {
            Body::Json(schema) => json!({"application/json": {"schema": schema(generator)}}),
            Body::Bytes => json!({"application/octet-stream": {}}),
        };
        operation["requestBody"] = json!({"required": true, "content": content});
    }
    let (status, answer) = answer(route.gives, generator);
    operation["responses"][status] = answer;
    operation
}

fn answer(gives: Gives, generator: &mut SchemaGenerator) -> (&'static str, Value) {
    let of = |kind: &str, schema: Value| {
        let content = json!({kind: {"schema": schema}});
        json!({"description": "The answer.", "content": content})
    };
    match gives {
        Gives::Json(schema) => ("200", of("application/json", schema(generator).to_value())),
        Gives::Document => ("200", of("application/json", json!({"type": "object"}))),
        Gives::Text => ("200", of("text/plain", json!({"type": "string"}))),
        Gives::Messages(schema) => {
            let answer = json!({
                "description": "A WebSocket, on which each message is JSON of this schema.",
                "x-messages": schema(generator),
            });
            ("101", answer)
        }
    }
}

const fn name(operation: Operation) -> &'static str {
    match operation {
        Operation::Sessions => "listSessions",
        Operation::Session => "showSession",
        Operation::Entries => "listEntries",
        Operation::Timeline => "showTimeline",
        Operation::Control => "controlSession",
        Operation::Mark => "markDecision",
        Operation::Replay => "replayRuns",
        Operation::Analytics => "sumUp",
        Operation::Events => "followEvents",
        Operation::Document => "showDocument",
        Operation::Metrics => "showFigures",
    }
}
