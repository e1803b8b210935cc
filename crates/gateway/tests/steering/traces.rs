//! Spans of calls, as a collector gets them.
//!
//! `UPDATE_GOLDEN=1 cargo test -p steersman-gateway --test steering` writes the golden file anew.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, StatusCode};
use serde_json::{Value, json};
use steersman_gateway::config::{Config, Otlp};
use steersman_gateway::figures::{Figures, Gauges};
use steersman_gateway::otlp::{QUEUE, Tracer};
use steersman_gateway::seam::EndOfAnswer;
use steersman_gateway::steering::{Clock, Steering};
use steersman_scripted_server::{Reply, ScriptedServer};
use steersman_upstream::{Client as Http, Options};
use steersman_wire::{Format, Message, Tokens};
use tokio::net::TcpListener;

use super::sim::{Client, Kept, Sent, call, deliver, steering};

const GOVERN: &str = "\
mode: govern
unknown_clients: govern
upstreams: [{base_url: \"https://models.example:8443/v1\"}]
";

/// A governor whose calls are traced, its tracer, and what is counted.
struct Stage {
    steering: Steering,
    tracer: Arc<Tracer>,
    figures: Arc<Figures>,
    kept: Arc<Kept>,
}

impl Stage {
    fn new(endpoint: &str) -> Self {
        Self::configured(GOVERN, endpoint)
    }

    fn configured(yaml: &str, endpoint: &str) -> Self {
        let kept = Arc::new(Kept::default());
        let otlp = Otlp {
            endpoint: endpoint.to_owned(),
            headers_env: Some("HEADERS".to_owned()),
            service_name: "gateway of a test".to_owned(),
        };
        let client = Http::new(&Options::default()).unwrap();
        let clock: Clock = Arc::new(|| 1_700_000_000_000);
        let figures = Arc::new(Figures::default());
        let variable = |name: &str| (name == "HEADERS").then(|| "x-key=of-a-test".to_owned());
        let tracer = Tracer::begin(&otlp, client, clock, Arc::clone(&figures), variable).unwrap();
        let steering = steering(yaml, &kept).with_tracer(Arc::clone(&tracer));
        Self { steering, tracer, figures, kept }
    }

    /// Turns of one run.
    fn play(&self, turns: u32) -> Client {
        let mut client = Client::new(Format::OpenAiChat, true, "a");
        for turn in 0..turns {
            let reply = call("read", &format!(r#"{{"path":"{turn}"}}"#));
            client.turn(&self.steering, &reply, &format!("content {turn}"));
        }
        client
    }

    /// Spans that were sent, and that were dropped.
    fn counts(&self) -> (u64, u64) {
        let text = self.figures.text(Gauges::default());
        let of = |outcome: &str| {
            let name = format!("steersman_otlp_spans_total{{outcome=\"{outcome}\"}} ");
            text.lines().find_map(|line| line.strip_prefix(&name)?.parse().ok()).unwrap_or(0)
        };
        (of("sent"), of("dropped"))
    }
}

fn taken() -> Reply {
    Reply::raw("application/json", "{}")
}

/// The spans in the collector's only request.
fn spans(collector: &ScriptedServer) -> Vec<Value> {
    let requests = collector.requests();
    assert_eq!(requests.len(), 1);
    let spans = &requests[0].body["resourceSpans"][0]["scopeSpans"][0]["spans"];
    spans.as_array().unwrap().clone()
}

/// What is different in every run becomes a name: ids of spans, and times of the test's own clock.
fn normalise(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                match key.as_str() {
                    "spanId" => *member = json!("ID"),
                    "endTimeUnixNano" | "timeUnixNano" => *member = json!("TIME"),
                    "doubleValue" => *member = json!("SECONDS"),
                    _ => normalise(member),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(normalise),
        _ => {}
    }
}

#[tokio::test]
async fn a_loop_as_the_collector_sees_it() {
    let collector = ScriptedServer::start(vec![taken()]).await.unwrap();
    let stage = Stage::new(&collector.base_url());
    let mut client = Client::new(Format::OpenAiChat, true, "a");
    let reply = call("shell", r#"{"command":"cargo test --secret"}"#);
    loop {
        let Sent::Forwarded { watch, .. } = client.ask(&stage.steering) else { break };
        let served = client.served(&reply);
        let (got, _) = deliver(watch, &served, 50);
        let answer = client.read(&got);
        client.take(&answer, "error: a secret");
    }
    // A call that is refused.
    client.messages.push(Message::user("Go on."));
    let Sent::Forwarded { watch, .. } = client.ask(&stage.steering) else { panic!("answered") };
    let mut watch = watch.unwrap();
    assert_eq!(watch.retry(Some(StatusCode::BAD_REQUEST), &HeaderMap::new(), b"{}"), None);
    watch.head(StatusCode::BAD_REQUEST, &HeaderMap::new());
    drop(watch);
    stage.tracer.close().await;

    let request = collector.requests().remove(0);
    assert_eq!(request.path, "/v1/traces");
    assert_eq!(request.header("content-type"), Some("application/json"));
    assert_eq!(request.header("x-key"), Some("of-a-test"));
    let text = String::from_utf8(request.raw).unwrap();
    assert!(!text.contains("secret") && !text.contains("Go on") && !text.contains("cargo"));
    let mut found = request.body;
    normalise(&mut found);
    let found = serde_json::to_string_pretty(&found).unwrap() + "\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/traces.json");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &found).unwrap();
    }
    assert_eq!(found, std::fs::read_to_string(&path).unwrap());
}

/// An attribute of a span; null if it has none of this name.
fn attribute(span: &Value, name: &str) -> Value {
    let all = span["attributes"].as_array().unwrap();
    let found = all.iter().find(|attribute| attribute["key"] == name);
    found.map_or(Value::Null, |found| found["value"].clone())
}

#[tokio::test]
async fn what_a_call_used() {
    const PARTS: [&str; 6] = [
        "gen_ai.usage.input_tokens",
        "gen_ai.usage.output_tokens",
        "gen_ai.usage.cache_read.input_tokens",
        "gen_ai.usage.cache_creation.input_tokens",
        "gen_ai.usage.reasoning.output_tokens",
        "steersman.cost_nanodollars",
    ];
    // 2 + 0.5 per million read from the cache + 3 written into it + 10 generated.
    let prices = "prices: [{model: some-*, input: 2, cached: 0.5, cache_write: 3, output: 10}]\n";
    let check = async |format, stream, prices: &str, usage, whole, expected: [u64; 6]| {
        let collector = ScriptedServer::start(vec![taken()]).await.unwrap();
        let stage = Stage::configured(&format!("{GOVERN}{prices}"), &collector.base_url());
        let mut client = Client::new(format, stream, "a");
        client.usage = usage;
        let Sent::Forwarded { watch, .. } = client.ask(&stage.steering) else { panic!("answered") };
        let served = client.served(&call("read", "{}"));
        if whole {
            deliver(watch, &served, 50);
        } else {
            let mut watch = watch.unwrap();
            let mut headers = HeaderMap::new();
            headers.insert("content-type", "text/event-stream".parse().unwrap());
            watch.head(StatusCode::OK, &headers);
            watch.push(served.into(), &mut Vec::new());
            let _ = watch.end(EndOfAnswer::Cut);
        }
        stage.tracer.close().await;
        let span = spans(&collector).remove(0);
        let found = PARTS.map(|name| {
            let value = attribute(&span, name);
            if value.is_null() { 0 } else { value["intValue"].as_str().unwrap().parse().unwrap() }
        });
        assert_eq!(found, expected, "{format} {stream} {whole}");
        let waited = attribute(&span, "gen_ai.response.time_to_first_chunk");
        assert_eq!(waited["doubleValue"].as_f64().is_some_and(|s| s >= 0.0), stream, "{waited}");
    };
    let cached = Tokens {
        input: 1_000,
        cached_input: 600,
        cache_write: 300,
        output: 20,
        ..Tokens::default()
    };
    let reasoned = Tokens { input: 1_000, output: 50, reasoning: 30, ..Tokens::default() };
    let cost = 100 * 2_000 + 600 * 500 + 300 * 3_000 + 20 * 10_000;
    let (anthropic, chat) = (Format::Anthropic, Format::OpenAiChat);
    for stream in [false, true] {
        check(anthropic, stream, prices, cached, true, [1_000, 20, 600, 300, 0, cost]).await;
        let cost = 1_000 * 2_000 + 50 * 10_000;
        check(chat, stream, prices, reasoned, true, [1_000, 50, 0, 0, 30, cost]).await;
        // Without a price there is no cost, and without use nothing is told.
        check(anthropic, stream, "", cached, true, [1_000, 20, 600, 300, 0, 0]).await;
        check(chat, stream, prices, Tokens::default(), true, [0; 6]).await;
    }
    // What an answer had told before it broke off was paid for, too.
    check(anthropic, true, prices, cached, false, [1_000, 20, 600, 300, 0, cost]).await;
}

#[tokio::test]
async fn a_clients_own_trace_goes_on() {
    let collector = ScriptedServer::start(vec![taken()]).await.unwrap();
    let stage = Stage::new(&format!("{}/v1/traces", collector.base_url()));
    let trace = "0af7651916cd43dd8448eb211c80319c";
    for (name, flags) in [("a", "01"), ("b", "00")] {
        let parent = format!("00-{trace}-b7ad6b7169203331-{flags}");
        let mut client = Client::new(Format::Anthropic, false, name)
            .header("traceparent", &parent)
            .header("tracestate", "vendor=1")
            .header("x-session-id", name);
        client.turn(&stage.steering, &call("read", "{}"), "x");
    }
    stage.tracer.close().await;
    // What the client does not record is not recorded here.
    let spans = spans(&collector);
    assert_eq!(spans.len(), 1);
    let head = ["traceId", "parentSpanId", "traceState", "name"].map(|key| spans[0][key].clone());
    assert_eq!(head, [trace, "b7ad6b7169203331", "vendor=1", "chat some-model"]);
    assert_eq!(stage.kept.sessions().len(), 2);
}

#[tokio::test]
async fn calls_of_a_session_share_a_trace() {
    let collector = ScriptedServer::start(vec![taken()]).await.unwrap();
    let stage = Stage::new(&collector.base_url());
    stage.play(3);
    let mut left = stage.play(0);
    // The client leaves before the answer begins.
    let Sent::Forwarded { watch, .. } = left.ask(&stage.steering) else { panic!("answered") };
    watch.unwrap().dropped();
    stage.tracer.close().await;
    let spans = spans(&collector);
    let traces: Vec<&Value> = spans.iter().map(|span| &span["traceId"]).collect();
    assert!(traces[0] == traces[1] && traces[1] == traces[2] && traces[2] != traces[3]);
    let errors: Vec<&Value> = spans.iter().map(|span| &span["status"]["message"]).collect();
    assert_eq!(errors, [&Value::Null, &Value::Null, &Value::Null, &json!("client_left")]);
    assert_eq!(stage.counts(), (4, 0));
}

#[tokio::test]
async fn a_collector_that_is_not_well() {
    let busy = |status: u16| Reply::status(status).header("retry-after", "0");
    let check = async |replies: Vec<Reply>, expected: (u64, u64)| {
        let collector = ScriptedServer::start(replies).await.unwrap();
        let stage = Stage::new(&collector.base_url());
        stage.play(3);
        stage.tracer.close().await;
        let asked = collector.requests();
        assert!(asked.windows(2).all(|two| two[0].raw == two[1].raw));
        assert_eq!((stage.counts(), collector.left()), (expected, 0));
    };
    check(vec![busy(503), busy(429), busy(502), busy(504), taken()], (3, 0)).await;
    check(vec![busy(503), busy(503), busy(503), busy(503), busy(503)], (0, 3)).await;
    check(vec![Reply::status(400)], (0, 3)).await;
    check(vec![Reply::status(500)], (0, 3)).await;
    let partly = r#"{"partialSuccess":{"rejectedSpans":"2","errorMessage":"no"}}"#;
    check(vec![Reply::raw("application/json", partly)], (1, 2)).await;
    let all = r#"{"partialSuccess":{"rejectedSpans":99}}"#;
    check(vec![Reply::raw("application/json", all)], (0, 3)).await;
}

#[tokio::test(start_paused = true)]
async fn a_collector_that_says_nothing_is_waited_for_so_long() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let stage = Stage::new(&format!("http://{}", listener.local_addr().unwrap()));
    stage.play(3);
    let begun = tokio::time::Instant::now();
    stage.tracer.close().await;
    assert_eq!((begun.elapsed(), stage.counts()), (Duration::from_secs(5), (0, 3)));
}

#[tokio::test]
async fn what_does_not_fit_is_dropped_and_counted() {
    let collector = ScriptedServer::start(vec![taken(); 8]).await.unwrap();
    let stage = Stage::new(&collector.base_url());
    // Nothing is sent meanwhile: the test's only thread does not wait.
    for _ in 0..QUEUE + 10 {
        let mut client = Client::new(Format::OpenAiChat, false, "a");
        let _ = client.ask(&stage.steering);
    }
    assert_eq!(stage.counts(), (0, 10));
    stage.tracer.close().await;
    assert_eq!(stage.counts(), (QUEUE as u64, 10));
    let sizes: Vec<usize> = collector
        .requests()
        .iter()
        .map(|it| it.body["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap().len())
        .collect();
    assert_eq!(sizes, [512; 4]);
}

#[tokio::test]
async fn headers_come_from_the_environment_alone() {
    let otlp = |name: &str| {
        let yaml = format!("otlp: {{endpoint: 'http://localhost:4318/', headers_env: {name}}}\n");
        Config::parse_bytes("gateway.yaml", yaml.as_bytes()).unwrap().otlp.unwrap()
    };
    let begin = |name: &str| {
        let client = Http::new(&Options::default()).unwrap();
        let clock: Clock = Arc::new(|| 0);
        let variable = |name: &str| (name == "BAD").then(|| "key-itself".to_owned());
        let begun = Tracer::begin(&otlp(name), client, clock, Arc::default(), variable);
        begun.err()
    };
    assert_eq!(otlp("A").traces_url(), "http://localhost:4318/v1/traces");
    assert_eq!(begin("NONE").as_deref(), Some("NONE is not set"));
    let bad = "BAD is not a list of headers: `name=value,name=value`";
    assert_eq!(begin("BAD").as_deref(), Some(bad));
}
