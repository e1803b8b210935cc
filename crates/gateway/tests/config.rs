//! The file `gateway.yaml`: what it says, and what is said about it.

#![allow(clippy::unwrap_used, reason = "a test that cannot set up its case must fail")]

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::json;
use steersman_gateway::budget::{Budget, Budgets};
use steersman_gateway::config::Otlp;
use steersman_gateway::prices::Price;
use steersman_gateway::{
    Config, Fail, Fallback, Keys, Limits, Mode, Rule, Upstream, schema, schema_text,
};
use steersman_wire::Format;

fn price(model: &str, [input, cached, write, output]: [u64; 4]) -> Price {
    Price {
        model: model.to_owned(),
        input_nanodollars: input,
        cached_nanodollars: cached,
        cache_write_nanodollars: write,
        output_nanodollars: output,
    }
}

fn parse(text: &str) -> Result<Config, String> {
    Config::parse_bytes("gateway.yaml", text.as_bytes()).map_err(|error| error.to_string())
}

#[test]
fn every_setting_has_a_default() {
    assert_eq!(parse("").unwrap(), Config::default());
    let config = Config::default();
    let urls: Vec<_> = Format::ALL
        .map(|format| config.upstream(format).unwrap().base_url.clone())
        .into_iter()
        .collect();
    assert_eq!(
        urls,
        [
            "https://api.openai.com/v1",
            "https://api.openai.com/v1",
            "https://api.anthropic.com",
            "https://generativelanguage.googleapis.com"
        ]
    );
    assert_eq!(config.listen.to_string(), "127.0.0.1:8700");
    assert_eq!(parse("mode: off").unwrap().unknown_clients, Mode::Off);
}

/// The upstreams of the case in which everything is set.
fn upstreams() -> Vec<Upstream> {
    let upstream =
        |name: &str, base_url: &str, formats: &[Format], key_env: Option<&str>| Upstream {
            name: name.to_owned(),
            base_url: base_url.to_owned(),
            formats: formats.to_vec(),
            key_env: key_env.map(str::to_owned),
        };
    vec![
        upstream(
            "local",
            "http://localhost:8080/v1",
            &[Format::OpenAiChat, Format::OpenAiResponses],
            None,
        ),
        upstream("a.example", "https://a.example", &[Format::Anthropic], Some("A_KEY")),
        upstream("[::1]:9", "http://[::1]:9/x", &Format::ALL, None),
    ]
}

fn otlp() -> Otlp {
    Otlp {
        endpoint: "http://localhost:4318/v1/traces".to_owned(),
        headers_env: Some("OTLP_HEADERS".to_owned()),
        service_name: "gw".to_owned(),
    }
}

/// The rules of the same case.
fn rules() -> Vec<Rule> {
    let some = |text: &str| Some(text.to_owned());
    let none =
        Rule { client: None, agent: None, model: None, key: None, session: None, mode: Mode::Off };
    vec![
        Rule { client: some("claude-code"), mode: Mode::Govern, ..none.clone() },
        Rule { agent: some("a*"), model: some("m*"), key: some("k"), session: some("s"), ..none },
    ]
}

#[test]
fn everything_can_be_set() {
    let text = "\
listen: 0.0.0.0:9000
admin_token_env: ADMIN
keys: required
otlp: {endpoint: 'http://localhost:4318/v1/traces', headers_env: OTLP_HEADERS, service_name: gw}
upstreams:
  - {name: local, base_url: 'http://localhost:8080/v1/', formats: [openai_chat, openai_responses]}
  - {base_url: 'https://a.example', formats: [anthropic], key_env: A_KEY}
  - {base_url: 'http://[::1]:9/x'}
mode: shadow
unknown_clients: off
rules:
  - {client: claude-code, mode: govern}
  - {agent: a*, model: m*, key: k, session: s, mode: off}
fallbacks: [{model: big-*, use: 'a/small:1'}]
policy: patient
fail: closed
prices:
  - {model: 'm-*', input: 3, cached: 0.3, cache_write: 3.75, output: 15}
  - {model: '*', input: 0.075, output: 0}
budgets: {per_day: {tokens: 7, cost: 2.5, calls: 3}, in_all: {calls: 9}, soft_share: 0.5}
limits: {max_body_bytes: 2048, header_timeout_ms: 5, max_connections: 7}
shutdown_grace_ms: 0
state_dir: state
";
    let some = |text: &str| Some(text.to_owned());
    let expected = Config {
        listen: "0.0.0.0:9000".parse().unwrap(),
        upstreams: upstreams(),
        mode: Mode::Shadow,
        unknown_clients: Mode::Off,
        rules: rules(),
        fallbacks: vec![Fallback { model: "big-*".to_owned(), instead: "a/small:1".to_owned() }],
        policy: some("patient"),
        fail: Fail::Closed,
        keys: Keys::Required,
        prices: vec![
            price("m-*", [3_000_000_000, 300_000_000, 3_750_000_000, 15_000_000_000]),
            price("*", [75_000_000, 75_000_000, 75_000_000, 0]),
        ]
        .into(),
        budgets: Budgets {
            per_day: Budget {
                tokens: Some(7),
                cost_nanodollars: Some(2_500_000_000),
                calls: Some(3),
            },
            in_all: Budget { calls: Some(9), ..Budget::default() },
        },
        soft_percent: 50,
        limits: Limits {
            max_body_bytes: 2048,
            header_timeout: Duration::from_millis(5),
            max_connections: 7,
            ..Limits::default()
        },
        shutdown_grace: Duration::ZERO,
        state_dir: Some("state".into()),
        admin_token_env: some("ADMIN"),
        otlp: Some(otlp()),
    };
    assert_eq!(parse(text).unwrap(), expected);
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let cases: [(&str, &[&str]); 21] = [
        ("listn: x", &["gateway.yaml:1:1: error: listn:", "listen"]),
        ("mode: on", &["gateway.yaml:1:7: error: mode:", "govern", "shadow", "off"]),
        ("listen: [1]", &["gateway.yaml:1:9: error: listen:"]),
        ("listen: example.org:1", &["gateway.yaml:1:9: error: listen:", "address and port"]),
        (
            "\nlisten: 0.0.0.0:1",
            &[
                "gateway.yaml:2:9: error: listen:",
                "`admin_token_env: STEERSMAN_ADMIN_TOKEN`",
                "`keys: required`",
            ],
        ),
        (
            "listen: 0.0.0.0:1\nadmin_token_env: A",
            &["gateway.yaml:1:9: error: listen:", "set `keys: required` (`steersman keys create"],
        ),
        (
            "listen: 0.0.0.0:1\nkeys: required",
            &["gateway.yaml:1:9: error: listen:", "set `admin_token_env: STEERSMAN_ADMIN_TOKEN`"],
        ),
        ("budgets: {per_day: {tokens: 0}}", &["budgets.per_day.tokens:", "1"]),
        ("keys: on", &["gateway.yaml:1:7: error: keys:", "required", "optional", "off"]),
        ("limits:\n  max_connections: 0", &["gateway.yaml:2:20: error: limits.max_connections:"]),
        ("limits: {total_timeout: 1}", &["limits.total_timeout:", "total_timeout_ms"]),
        ("prices:\n  - {model: m, input: 1}", &["prices[0]", "output"]),
        (
            "prices:\n  - {model: m, input: -1, output: 1}",
            &["gateway.yaml:2:23: error: prices[0].input:", "0", "10000"],
        ),
        (
            "fallbacks:\n  - {model: a, use: 'a b'}",
            &["gateway.yaml:2:", "fallbacks[0].use", "letters, digits"],
        ),
        ("upstreams: []", &["gateway.yaml:1:", "at least one"]),
        ("upstreams:\n  - {}", &["upstreams[0]", "base_url"]),
        (
            "upstreams:\n  - base_url: localhost:8080\n    formats: [openai]",
            &["gateway.yaml:3:15: error: upstreams[0].formats[0]:", "openai_chat"],
        ),
        (
            "upstreams:\n  - base_url: http://u:pass@x",
            &["gateway.yaml:2:15: error: upstreams[0].base_url:", "user name"],
        ),
        ("otlp: {}", &["otlp", "endpoint"]),
        ("otlp: {endpoint: localhost}", &["gateway.yaml:1:18: error: otlp.endpoint:"]),
        (
            "otlp: {endpoint: http://a, service_name: ''}",
            &["gateway.yaml:1:42: error: otlp.service_name:", "1 to 100 bytes"],
        ),
    ];
    for (text, expected) in cases {
        let found = parse(text).unwrap_err();
        for part in expected {
            assert!(found.contains(part), "{text}: no {part:?} in:\n{found}");
        }
    }
}

#[test]
fn keys_are_not_repeated() {
    for text in [
        "upstreams:\n  - {base_url: 'http://x', key_env: sk-secret-key}",
        "admin_token_env: sk-secret-key",
    ] {
        let found = parse(text).unwrap_err();
        assert!(found.contains("the name of an environment variable"), "{found}");
        assert!(!found.contains("sk-secret"), "{found}");
    }
}

#[test]
fn the_schema_is_fresh_and_accepts_what_is_right() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema/gateway.schema.json");
    let stored = fs::read_to_string(&path).unwrap_or_default();
    let way = "renew it: cargo run -- serve --schema > schema/gateway.schema.json";
    assert!(stored == schema_text(), "{} is not fresh; {way}", path.display());
    let schema = schema();
    assert!(jsonschema::meta::is_valid(&schema));
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    for (value, expected) in [
        (json!({}), true),
        (json!({"listen": "127.0.0.1:1", "mode": "off", "limits": {"max_body_bytes": 2000}}), true),
        (json!({"upstreams": [{"base_url": "http://x", "formats": ["gemini"]}]}), true),
        (json!({"upstreams": [{"formats": ["gemini"]}]}), false),
        (json!({"mode": "on"}), false),
        (json!({"rules": [{"client": "x", "mode": "shadow"}]}), true),
        (json!({"limits": {"max_connections": 0}}), false),
        (json!({"listn": "x"}), false),
    ] {
        assert_eq!(validator.is_valid(&value), expected, "{value}");
    }
}
