//! Another model in the place of one whose server refuses, over real sockets.

use std::sync::Arc;

use serde_json::json;
use steersman_engine::Policy;
use steersman_gateway::record::Silent;
use steersman_gateway::steering::Steering;
use steersman_gateway::{Config, Governor, Upstream};
use steersman_scripted_server::{Reply, ScriptedServer};
use steersman_wire::{Format, Message, Request, ToolSpec};

use crate::support::{Gateway, post};

/// A gateway that governs as it is configured.
pub(crate) async fn steering(yaml: &str, server: &str) -> (Gateway, Arc<Steering>) {
    let upstreams = vec![Upstream::for_all(server).unwrap()];
    let config = Config::parse_bytes("gateway.yaml", yaml.as_bytes()).unwrap();
    let config = Config { upstreams, listen: "127.0.0.1:0".parse().unwrap(), ..config };
    let clock = Arc::new(|| 1_700_000_000_000);
    let steering = Steering::new(config.clone(), Policy::default(), Arc::new(Silent), clock);
    let steering = Arc::new(steering);
    let governor: Arc<dyn Governor> = Arc::clone(&steering) as _;
    (Gateway::governed(config, governor).await, steering)
}

pub(crate) fn body(format: Format, stream: bool) -> String {
    let tools = [ToolSpec {
        name: "read".to_owned(),
        description: "Reads.".to_owned(),
        parameters: json!({"type": "object", "properties": {}}),
    }];
    let messages = [Message::user("Fix the test.")];
    let request = Request { tools: &tools, stream, ..Request::new("big-model", &messages) };
    String::from_utf8(format.body(&request)).unwrap()
}

pub(crate) const fn path(format: Format, stream: bool) -> &'static str {
    match (format, stream) {
        (Format::OpenAiChat, _) => "/v1/chat/completions",
        (Format::OpenAiResponses, _) => "/v1/responses",
        (Format::Anthropic, _) => "/v1/messages",
        (Format::Gemini, false) => "/v1beta/models/big-model:generateContent",
        (Format::Gemini, true) => "/v1beta/models/big-model:streamGenerateContent?alt=sse",
    }
}

#[tokio::test]
async fn the_client_gets_the_other_models_answer() {
    let yaml = "unknown_clients: govern\nfallbacks: [{model: big-*, use: small-model}]\n";
    for format in Format::ALL {
        for stream in [false, true] {
            let replies = vec![Reply::status(529), Reply::text("Done."), Reply::status(400)];
            let server = ScriptedServer::start(replies).await.unwrap();
            let (gateway, _) = steering(yaml, &server.base_url()).await;
            let url = format!("{}{}", gateway.url(), path(format, stream));
            let got = post(&url, &[], &body(format, stream)).await;
            assert_eq!((got.status, got.whole), (200, true), "{format} {stream} {}", got.text());
            assert!(got.text().contains("Done."), "{format} {stream}");
            assert_eq!(got.header("x-steersman-fallback"), "small-model");
            let asked = server.requests();
            let models: Vec<String> = asked
                .iter()
                .map(|asked| match format {
                    Format::Gemini => asked.path.clone(),
                    _ => asked.body["model"].as_str().unwrap().to_owned(),
                })
                .collect();
            assert!(models[0].contains("big-model") && models[1].contains("small-model"));
            assert_eq!(models.len(), 2, "{models:?}");
            // A request that is wrong is nobody else's business.
            let got = post(&url, &[], &body(format, stream)).await;
            assert_eq!((got.status, got.header("x-steersman-fallback")), (400, ""));
        }
    }
}
