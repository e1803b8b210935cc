//! Virtual keys over real sockets.

use std::sync::{Arc, Mutex};

use serde_json::json;
use steersman_gateway::keys::{Grant, Ring, Secret};
use steersman_gateway::{Call, Config, Governor, Keys, PassThrough, Plan, Server, Upstream};
use steersman_scripted_server::{Reply, ScriptedServer};
use steersman_store::{Accounts, KeyRecord, MemoryStore};
use steersman_upstream::Options;
use steersman_wire::Format;

use crate::support::{Gateway, Got, call, config, error_of, get, post};

/// A gateway with keys in front of a scripted server, which wants a key of its own.
struct Stage {
    server: ScriptedServer,
    gateway: Gateway,
    store: Arc<MemoryStore>,
}

/// Remembers the names of keys.
#[derive(Default)]
struct Names(Mutex<Vec<String>>);

impl Governor for Names {
    fn call(&self, call: &Call<'_>) -> Plan {
        self.0.lock().unwrap().push(call.key.to_owned());
        assert!(!format!("{call:?}").contains("sk-steersman"), "{call:?}");
        Plan::pass()
    }
}

impl Stage {
    async fn new(keys: Keys, key_env: Option<&str>, replies: usize) -> Self {
        Self::governed(keys, key_env, replies, Arc::new(PassThrough)).await
    }

    async fn governed(
        keys: Keys,
        key_env: Option<&str>,
        replies: usize,
        governor: Arc<dyn Governor>,
    ) -> Self {
        let server = ScriptedServer::start(vec![Reply::text("hello"); replies]).await.unwrap();
        let upstream = Upstream {
            key_env: key_env.map(str::to_owned),
            ..Upstream::for_all(&server.base_url()).unwrap()
        };
        let config = Config { keys, upstreams: vec![upstream], ..config(&server.base_url()) };
        let store = Arc::new(MemoryStore::new());
        let ring = Ring::begin(Arc::clone(&store) as Arc<dyn Accounts>).await.unwrap();
        let variable = |name: &str| (name == "KEY").then(|| "the-real-key".to_owned());
        let server_of_keys = Server::bind(config, governor, &Options::default(), variable).await;
        let gateway = Gateway::of(server_of_keys.unwrap().with_keys(ring));
        Self { server, gateway, store }
    }

    /// Makes a key and gives it.
    async fn key(&self, name: &str, expires_ms: Option<u64>, grant: &str) -> String {
        let secret = Secret::make().unwrap();
        let record = KeyRecord {
            name: name.to_owned(),
            hash: secret.hash(),
            created_ms: 1,
            expires_ms,
            revoked_ms: None,
            body: grant.to_owned(),
        };
        self.store.add_key(record).await.unwrap();
        secret.reveal().to_owned()
    }

    async fn ask(&self, format: Format, headers: &[(&str, &str)], query: &str) -> Got {
        let (path, body) = call(format, false);
        let path = if query.is_empty() {
            path.to_owned()
        } else {
            format!("{}?{query}", path.split('?').next().unwrap())
        };
        post(&format!("{}{path}", self.gateway.url()), headers, &body).await
    }

    /// What the server got last, as text.
    fn last(&self) -> String {
        let received = self.server.requests().pop().unwrap();
        format!("{} {:?}", received.path, received.headers)
    }
}

const PLACES: [&str; 5] =
    ["authorization", "x-api-key", "x-goog-api-key", "api-key", "x-steersman-key"];

#[tokio::test]
async fn a_key_opens_and_never_goes_on() {
    let names = Arc::new(Names::default());
    let governor = Arc::clone(&names) as Arc<dyn Governor>;
    let stage = Stage::governed(Keys::Required, Some("KEY"), 24, governor).await;
    let key = stage.key("alice", None, "{}").await;
    for format in Format::ALL {
        let (name, value) = format.key_header("the-real-key");
        for place in PLACES {
            let text = if place == "authorization" { format!("Bearer {key}") } else { key.clone() };
            let got = stage.ask(format, &[(place, &text)], "").await;
            assert_eq!(got.status, 200, "{format} {place}: {}", got.text());
            let last = stage.last();
            assert!(last.contains(&format!("{:?}", (name, value.as_str()))), "{format}: {last}");
            assert!(!last.contains("sk-steersman") && !last.contains("x-steersman"), "{last}");
        }
        let got = stage.ask(format, &[], &format!("key={key}&alt=sse")).await;
        assert_eq!(got.status, 200, "{format}: {}", got.text());
        assert!(stage.last().contains("?alt=sse "), "{}", stage.last());
        assert!(!stage.last().contains("sk-steersman"), "{}", stage.last());
    }
    assert_eq!(*names.0.lock().unwrap(), vec!["alice".to_owned(); 24]);
}

#[tokio::test]
async fn without_a_key_of_ours_the_clients_own_goes_on() {
    let stage = Stage::new(Keys::Optional, None, 3).await;
    let key = stage.key("alice", None, "{}").await;
    let own = ("authorization", "Bearer own");
    for (headers, expected) in [
        (vec![own], true),
        (vec![own, ("x-steersman-key", key.as_str())], true),
        (vec![("x-api-key", key.as_str())], false),
    ] {
        assert_eq!(stage.ask(Format::OpenAiChat, &headers, "").await.status, 200, "{headers:?}");
        assert_eq!(stage.last().contains("Bearer own"), expected, "{}", stage.last());
        assert!(!stage.last().contains("sk-steersman"), "{}", stage.last());
    }
    let wrong = [own, ("x-api-key", "sk-steersman-0")];
    assert_eq!(stage.ask(Format::OpenAiChat, &wrong, "").await.status, 401);
}

#[tokio::test]
async fn who_may_not_come_in_is_told_in_the_clients_own_words() {
    let stage = Stage::new(Keys::Required, Some("KEY"), 0).await;
    let good = stage.key("alice", None, "{}").await;
    let revoked = stage.key("bob", None, "{}").await;
    stage.store.revoke_key("bob", 2).await.unwrap();
    let expired = stage.key("carol", Some(3), "{}").await;
    let later = stage.key("dave", None, r#"{"from": "a later version"}"#).await;
    let unknown = Secret::make().unwrap().reveal().to_owned();
    let kinds = [
        (401, json!("invalid_api_key")),
        (400, json!("invalid_api_key")),
        (403, json!("authentication_error")),
        (403, json!("UNAUTHENTICATED")),
    ];
    for (format, (status, kind)) in Format::ALL.into_iter().zip(kinds) {
        for (headers, code) in [
            (vec![], "key_missing"),
            (vec![("x-api-key", "sk-own")], "key_missing"),
            (vec![("x-api-key", unknown.as_str())], "key_unknown"),
            (vec![("x-api-key", &unknown[..30])], "key_unknown"),
            (vec![("x-api-key", revoked.as_str())], "key_revoked"),
            (vec![("x-api-key", expired.as_str())], "key_expired"),
            (vec![("x-api-key", later.as_str())], "key_unclear"),
            (vec![("x-api-key", good.as_str()), ("api-key", unknown.as_str())], "key_unclear"),
        ] {
            let got = stage.ask(format, &headers, "").await;
            assert_eq!(error_of(format, &got), (status, code.to_owned(), kind.clone()), "{format}");
            assert_eq!(got.header("x-should-retry"), "false");
            assert!(!got.text().contains("sk-steersman"), "{}", got.text());
        }
    }
    assert_eq!(stage.server.requests().len(), 0);
}

#[tokio::test]
async fn what_is_switched_off_lets_no_key_through() {
    let stage = Stage::new(Keys::Off, None, 1).await;
    let key = stage.key("alice", None, "{}").await;
    assert_eq!(stage.ask(Format::OpenAiChat, &[("x-api-key", "own")], "").await.status, 200);
    let got = stage.ask(Format::OpenAiChat, &[("x-api-key", &key)], "").await;
    assert_eq!((got.status, got.header("x-steersman-error")), (401, "keys_off"));
    // A gateway that knows of no keys at all.
    let config = Config { keys: Keys::Required, ..config(&stage.server.base_url()) };
    let gateway = Gateway::start(config).await;
    let got = post(&format!("{}/v1/messages", gateway.url()), &[("x-api-key", &key)], "{}").await;
    assert_eq!((got.status, got.header("x-steersman-error")), (503, "keys_unavailable"));
    assert_eq!(stage.server.requests().len(), 1);
}

#[tokio::test]
async fn keys_that_are_made_or_revoked_meanwhile_are_noticed() {
    let stage = Stage::new(Keys::Required, Some("KEY"), 2).await;
    for name in ["alice", "bob"] {
        let key = stage.key(name, None, "{}").await;
        let got = stage.ask(Format::Anthropic, &[("x-api-key", &key)], "").await;
        assert_eq!(got.status, 200, "{name}: {}", got.text());
    }
}

#[tokio::test]
async fn keys_are_for_the_models_they_name() {
    let stage = Stage::new(Keys::Required, Some("KEY"), 4).await;
    let grant = Grant { models: vec!["m".to_owned(), "small-*".to_owned()], ..Grant::default() };
    let key = stage.key("alice", None, &serde_json::to_string(&grant).unwrap()).await;
    let url = stage.gateway.url();
    let ask = async |path: &str, body: &str| {
        let got = post(&format!("{url}{path}"), &[("x-api-key", &key)], body).await;
        (got.status, got.header("x-steersman-error").to_owned())
    };
    let fine = (200, String::new());
    let refused = |status| (status, "model_not_allowed".to_owned());
    for (path, body, expected) in [
        ("/v1/messages", r#"{"model": "m"}"#, fine.clone()),
        ("/v1/chat/completions", r#"{"model": "small-1", "models": ["m"]}"#, fine.clone()),
        ("/v1beta/models/small-x:generateContent", r#"{"model": "any"}"#, fine.clone()),
        ("/v1beta/models/sm%61ll-x:generateContent", "{}", fine),
        ("/v1/messages", r#"{"model": "large"}"#, refused(402)),
        ("/v1/responses", r#"{"model": "large"}"#, refused(400)),
        ("/v1/chat/completions", r#"{"model": "m", "models": ["large"]}"#, refused(404)),
        ("/v1/chat/completions", r#"{"model": "m", "Model": "large"}"#, refused(404)),
        ("/v1/chat/completions", "{}", refused(404)),
        ("/v1/chat/completions", "nonsense", refused(404)),
        ("/v1beta/models/small-%2f..%2flarge:generateContent", "{}", refused(400)),
        ("/v1beta/models/large:generateContent", r#"{"model": "m"}"#, refused(400)),
    ] {
        assert_eq!(ask(path, body).await, expected, "{path} {body}");
    }
}

#[tokio::test]
async fn keys_are_for_models_unless_they_are_for_everything() {
    let stage = Stage::new(Keys::Required, Some("KEY"), 20).await;
    let usual = stage.key("alice", None, "{}").await;
    let any = stage.key("bob", None, r#"{"any_path": true}"#).await;
    let url = stage.gateway.url();
    for (method, path, allowed) in [
        ("GET", "/v1/models", true),
        ("GET", "/v1beta/models/m", true),
        ("POST", "/v1/messages/count_tokens", true),
        ("POST", "/v1beta/models/m:countTokens", true),
        ("POST", "/v1beta/models/m:batchGenerateContent", false),
        ("POST", "/v1/embeddings", false),
        ("POST", "/v1/completions", false),
        ("POST", "/v1/messages/batches", false),
        ("GET", "/v1/files", false),
        ("GET", "/v1/models/../files", false),
        ("GET", "/v1/models/%2e%2E/files", false),
    ] {
        for (key, allowed) in [(&usual, allowed), (&any, true)] {
            let url = format!("{url}{path}");
            let headers = [("x-api-key", key.as_str())];
            let got = match method {
                "GET" => get(&url, &headers).await,
                _ => post(&url, &headers, "{}").await,
            };
            let refused = got.header("x-steersman-error") == "path_not_allowed";
            assert_eq!(refused, !allowed, "{method} {path}: {} {}", got.status, got.text());
        }
    }
    // Nobody needs a key to see whether the gateway lives.
    assert_eq!(get(&format!("{url}/healthz"), &[]).await.status, 200);
}
