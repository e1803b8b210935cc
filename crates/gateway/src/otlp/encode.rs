//! Spans as OTLP writes them in JSON: ids in hexadecimal, numbers of 64 bits as texts, names in
//! camelCase.

use serde_json::{Map, Value as Json, json};

use super::span::{Attribute, Event, Span, Value};

/// `SPAN_KIND_CLIENT`.
const CLIENT: u32 = 3;
/// `STATUS_CODE_ERROR`.
const ERROR: u32 = 2;
/// The parent's span is on another machine: the bits "is known" and "is remote" beside its own.
const REMOTE_PARENT: u32 = 0x300;
const SAMPLED: u32 = 1;

/// The body of a request to the collector.
pub(super) fn request(service: &str, spans: &[Span]) -> Vec<u8> {
    let version = env!("CARGO_PKG_VERSION");
    let resource = [
        ("service.name", Value::Text(service.to_owned())),
        ("service.version", Value::Text(version.to_owned())),
    ];
    let spans: Vec<Json> = spans.iter().map(span).collect();
    let body = json!({"resourceSpans": [{
        "resource": {"attributes": attributes(&resource)},
        "scopeSpans": [{"scope": {"name": "steersman", "version": version}, "spans": spans}],
    }]});
    // A JSON value serialises without fail.
    serde_json::to_vec(&body).unwrap_or_default()
}

fn span(span: &Span) -> Json {
    let mut json = Map::new();
    let mut put = |key: &str, value: Json| json.insert(key.to_owned(), value);
    put("traceId", format!("{:032x}", span.ids.trace).into());
    put("spanId", format!("{:016x}", span.ids.id).into());
    let mut flags = SAMPLED;
    if let Some(parent) = &span.ids.parent {
        flags |= REMOTE_PARENT;
        put("parentSpanId", format!("{:016x}", parent.span).into());
        if !parent.state.is_empty() {
            put("traceState", parent.state.as_str().into());
        }
    }
    put("flags", flags.into());
    put("name", span.name.as_str().into());
    put("kind", CLIENT.into());
    put("startTimeUnixNano", nanoseconds(span.begun_ms));
    put("endTimeUnixNano", nanoseconds(span.ended_ms));
    put("attributes", attributes(&span.attributes));
    if !span.events.is_empty() {
        put("events", span.events.iter().map(event).collect());
    }
    if span.events_dropped > 0 {
        put("droppedEventsCount", span.events_dropped.into());
    }
    if let Some(error) = &span.error {
        put("status", json!({"code": ERROR, "message": error}));
    }
    Json::Object(json)
}

fn event(event: &Event) -> Json {
    json!({
        "timeUnixNano": nanoseconds(event.at_ms),
        "name": event.name,
        "attributes": attributes(&event.attributes),
    })
}

fn nanoseconds(ms: u64) -> Json {
    ms.saturating_mul(1_000_000).to_string().into()
}

fn attributes(list: &[Attribute]) -> Json {
    let one = |(key, value): &Attribute| json!({"key": key, "value": value_of(value)});
    list.iter().map(one).collect()
}

fn value_of(value: &Value) -> Json {
    match value {
        Value::Text(text) => json!({"stringValue": text}),
        Value::Int(number) => json!({"intValue": number.to_string()}),
        Value::Double(number) => json!({"doubleValue": number}),
        Value::Flag(flag) => json!({"boolValue": flag}),
        Value::Texts(texts) => {
            let values: Vec<Json> = texts.iter().map(|text| json!({"stringValue": text})).collect();
            json!({"arrayValue": {"values": values}})
        }
    }
}
