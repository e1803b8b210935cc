//! The file `gateway.yaml`: what it says, and what is said about it.

#![allow(clippy::unwrap_used, reason = "a test that cannot set up its case must fail")]

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::json;
use steersman_gateway::config::Otlp;
use steersman_gateway::{
    Config, Fail, Fallback, Limits, Mode, Rule, Upstream, schema, schema_text,
};
use steersman_wire::Format;

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

fn otlp() -> Otlp {
    Otlp {
        endpoint: "http://localhost:4318/v1/traces".to_owned(),
        headers_env: Some("OTLP_HEADERS".to_owned()),
        service_name: "gw".to_owned(),
    }
}

#[test]
fn everything_can_be_set() {
    let text = "\
listen: 0.0.0.0:9000
admin_token_env: ADMIN
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
limits: {max_body_bytes: 2048, header_timeout_ms: 5, max_connections: 7}
shutdown_grace_ms: 0
state_dir: state
";
    let upstream =
        |name: &str, base_url: &str, formats: &[Format], key_env: Option<&str>| Upstream {
            name: name.to_owned(),
            base_url: base_url.to_owned(),
            formats: formats.to_vec(),
            key_env: key_env.map(str::to_owned),
        };
    let some = |text: &str| Some(text.to_owned());
    let none =
        Rule { client: None, agent: None, model: None, key: None, session: None, mode: Mode::Off };
    let expected = Config {
        listen: "0.0.0.0:9000".parse().unwrap(),
        upstreams: vec![
            upstream(
                "local",
                "http://localhost:8080/v1",
                &[Format::OpenAiChat, Format::OpenAiResponses],
                None,
            ),
            upstream("a.example", "https://a.example", &[Format::Anthropic], Some("A_KEY")),
            upstream("[::1]:9", "http://[::1]:9/x", &Format::ALL, None),
        ],
        mode: Mode::Shadow,
        unknown_clients: Mode::Off,
        rules: vec![
            Rule { client: some("claude-code"), mode: Mode::Govern, ..none.clone() },
            Rule {
                agent: some("a*"),
                model: some("m*"),
                key: some("k"),
                session: some("s"),
                ..none
            },
        ],
        fallbacks: vec![Fallback { model: "big-*".to_owned(), instead: "a/small:1".to_owned() }],
        policy: some("patient"),
        fail: Fail::Closed,
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
    let cases: [(&str, &[&str]); 15] = [
        ("listn: x", &["gateway.yaml:1:1: error: listn:", "listen"]),
        ("mode: on", &["gateway.yaml:1:7: error: mode:", "govern", "shadow", "off"]),
        ("listen: [1]", &["gateway.yaml:1:9: error: listen:"]),
        ("listen: example.org:1", &["gateway.yaml:1:9: error: listen:", "address and port"]),
        (
            "\nlisten: 0.0.0.0:1",
            &["gateway.yaml:2:9: error: listen:", "admin_token_env: STEERSMAN_ADMIN_TOKEN"],
        ),
        ("limits:\n  max_connections: 0", &["gateway.yaml:2:20: error: limits.max_connections:"]),
        ("limits: {total_timeout: 1}", &["limits.total_timeout:", "total_timeout_ms"]),
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
