//! Budgets of keys and of the gateway over real sockets: charged once, whatever happens.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use steersman_engine::Policy;
use steersman_gateway::budget::{Budget, Budgets, Ledger};
use steersman_gateway::figures::Figures;
use steersman_gateway::keys::{Grant, Ring, Secret};
use steersman_gateway::record::Silent;
use steersman_gateway::steering::Steering;
use steersman_gateway::{Config, Governor, Keys, PassThrough, Server};
use steersman_scripted_server::{Reply, ScriptedServer};
use steersman_store::{Accounts, KeyRecord, MemoryStore};
use steersman_upstream::Options;
use steersman_wire::Format;

use crate::support::{Gateway, Got, call, config, error_of, no_variable, post, raw_until};

const PRICES: &str = "prices: [{model: '*', input: 1, output: 10}]\n";

struct Stage {
    server: ScriptedServer,
    gateway: Gateway,
    store: Arc<MemoryStore>,
    ledger: Arc<Ledger>,
    key: String,
}

impl Stage {
    async fn new(yaml: &str, budgets: Budgets, governs: bool, script: Vec<Reply>) -> Self {
        let server = ScriptedServer::start(script).await.unwrap();
        let parsed = Config::parse_bytes("gateway.yaml", yaml.as_bytes()).unwrap();
        let Config { listen, upstreams, .. } = config(&server.base_url());
        let config = Config { listen, upstreams, keys: Keys::Optional, ..parsed };
        let store = Arc::new(MemoryStore::new());
        let accounts = Arc::clone(&store) as Arc<dyn Accounts>;
        let secret = Secret::make().unwrap();
        let grant = Grant { budgets, ..Grant::default() };
        let record = KeyRecord {
            name: "alice".to_owned(),
            hash: secret.hash(),
            created_ms: 1,
            expires_ms: None,
            revoked_ms: None,
            body: serde_json::to_string(&grant).unwrap(),
        };
        store.add_key(record).await.unwrap();
        let clock = Arc::new(|| 1_700_000_000_000);
        let governor: Arc<dyn Governor> = if governs {
            let policy = Policy::default();
            Arc::new(Steering::new(config.clone(), policy, Arc::new(Silent), clock.clone()))
        } else {
            Arc::new(PassThrough)
        };
        let figures = Arc::new(Figures::default());
        let ledger = Ledger::begin(Arc::clone(&accounts), clock, figures).await.unwrap();
        let ring = Ring::begin(accounts).await.unwrap();
        let listening = Server::bind(config, governor, &Options::default(), no_variable).await;
        let listening = listening.unwrap().with_keys(ring).with_ledger(Arc::clone(&ledger));
        let gateway = Gateway::of(listening);
        Self { server, gateway, store, ledger, key: secret.reveal().to_owned() }
    }

    async fn ask(&self, format: Format, stream: bool, body: Option<&str>) -> Got {
        let (path, usual) = call(format, stream);
        let headers = [("x-steersman-key", self.key.as_str())];
        post(&format!("{}{path}", self.gateway.url()), &headers, body.unwrap_or(&usual)).await
    }

    /// Calls, tokens in and out, money, calls of unknown use, of unknown price.
    async fn spent(&self, account: &str) -> [u64; 6] {
        assert!(self.ledger.close().await);
        let spent = self.store.spent(0).await.unwrap();
        spent.into_iter().find(|one| one.account == account).map_or([0; 6], |one| {
            [
                one.calls,
                one.input_tokens,
                one.output_tokens,
                one.cost_nanodollars,
                one.untold_calls,
                one.unpriced_calls,
            ]
        })
    }
}

fn reply() -> Reply {
    Reply { usage: (1000, 100), ..Reply::text("hello") }
}

/// A request of an agent: it offers a tool.
fn turn(format: Format, stream: bool) -> String {
    use steersman_wire::{Message, Request, ToolSpec};
    let tools = [ToolSpec {
        name: "read".to_owned(),
        description: "reads".to_owned(),
        parameters: json!({"type": "object"}),
    }];
    let messages = [Message::user("Fix the test.")];
    let request = Request { tools: &tools, stream, ..Request::new("m", &messages) };
    String::from_utf8(format.body(&request)).unwrap()
}

#[tokio::test]
async fn every_call_is_charged_once_whoever_reads_it() {
    for (governs, body) in [(false, false), (true, false), (true, true)] {
        for format in Format::ALL {
            for stream in [false, true] {
                let yaml = format!("{PRICES}mode: govern\nunknown_clients: govern\n");
                let stage = Stage::new(&yaml, Budgets::default(), governs, vec![reply(); 2]).await;
                let own = body.then(|| turn(format, stream));
                for _ in 0..2 {
                    let got = stage.ask(format, stream, own.as_deref()).await;
                    assert_eq!(got.status, 200, "{}", got.text());
                }
                // The gateway asks again where a turn says nothing: the server has the last word.
                let answered = stage.server.requests().len() as u64;
                let spent = stage.spent("alice").await;
                let expected = [2, 1000 * answered, 100 * answered, 2_000_000 * answered, 0, 0];
                assert_eq!(spent, expected, "{format} {stream} {governs} {body}");
                assert_eq!(stage.spent("").await, expected, "{format} {stream}");
            }
        }
    }
}

#[tokio::test]
async fn what_the_server_refuses_costs_nothing() {
    for (governs, yaml) in [(false, PRICES), (true, "mode: govern\nunknown_clients: govern\n")] {
        let script = vec![Reply::status(400), Reply::status(401), reply()];
        let stage = Stage::new(yaml, Budgets::default(), governs, script).await;
        let body = turn(Format::Anthropic, true);
        for (status, calls) in [(400, 0), (401, 0), (200, 1)] {
            let got = stage.ask(Format::Anthropic, true, Some(&body)).await;
            assert_eq!(got.status, status, "{}", got.text());
            assert_eq!(stage.spent("alice").await[0], calls, "{governs}");
        }
    }
}

#[tokio::test]
async fn a_call_that_is_retried_is_one() {
    let script = vec![Reply::status(503).header("retry-after", "0"), reply()];
    let yaml = format!("{PRICES}mode: govern\nunknown_clients: govern\n");
    let stage = Stage::new(&yaml, Budgets::default(), true, script).await;
    let body = turn(Format::OpenAiChat, true);
    let got = stage.ask(Format::OpenAiChat, true, Some(&body)).await;
    assert_eq!((got.status, stage.server.requests().len()), (200, 2), "{}", got.text());
    assert_eq!(stage.spent("alice").await, [1, 1000, 100, 2_000_000, 0, 0]);
}

#[tokio::test]
async fn what_broke_off_is_charged_as_far_as_it_was_told() {
    for governs in [false, true] {
        let yaml = format!("{PRICES}mode: govern\nunknown_clients: govern\n");
        let script = vec![Reply { cut: true, ..reply() }];
        let stage = Stage::new(&yaml, Budgets::default(), governs, script).await;
        let body = turn(Format::Anthropic, true);
        let got = stage.ask(Format::Anthropic, true, Some(&body)).await;
        assert!(!got.whole);
        let [calls, input, output, cost, ..] = stage.spent("alice").await;
        // Anthropic tells the input at the beginning of a stream, and the output at its end.
        assert_eq!((calls, input), (1, 1000), "{governs}");
        assert!(output < 100, "{governs}: {output}");
        assert_eq!(cost, 1_000_000 + output * 10_000, "{governs}");
    }
}

#[tokio::test]
async fn who_leaves_pays_for_what_was_told() {
    for governs in [false, true] {
        let yaml = format!("{PRICES}mode: govern\nunknown_clients: govern\n");
        let script = vec![Reply { stall: true, ..reply() }];
        let stage = Stage::new(&yaml, Budgets::default(), governs, script).await;
        let body = turn(Format::Anthropic, true);
        let head = format!(
            "POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-api-key: {}\r\ncontent-length: {}\r\n\r\n",
            stage.key,
            body.len()
        );
        raw_until(&stage.gateway, &(head + &body), "message_start").await;
        stage.server.until(|progress| progress.abandoned == 1).await;
        while stage.spent("alice").await[1] == 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(stage.spent("alice").await[..2], [1, 1000], "{governs}");
    }
}

#[tokio::test]
async fn what_is_not_told_is_not_known_and_nothing_is_estimated() {
    let silent = Reply::raw(
        "application/json",
        r#"{"id": "x", "choices": [{"message": {"role": "assistant", "content": "hi"}}]}"#,
    );
    let page = Reply::raw("text/html", "<html>").header("content-encoding", "br");
    let stage = Stage::new("", Budgets::default(), false, vec![reply(), silent, page]).await;
    for expected in [[1, 1000, 100, 0, 0, 1], [2, 1000, 100, 0, 1, 2], [3, 1000, 100, 0, 2, 3]] {
        assert_eq!(stage.ask(Format::OpenAiChat, false, None).await.status, 200);
        assert_eq!(stage.spent("alice").await, expected);
    }
}

#[tokio::test]
async fn a_budget_that_is_used_up_ends_it_in_the_clients_own_words() {
    let of_key = Budget { cost_nanodollars: Some(3_000_000), ..Budget::default() };
    let kinds = [
        (404, json!("gateway_stop")),
        (400, json!("gateway_stop")),
        (402, json!("gateway_stop")),
        (400, json!("FAILED_PRECONDITION")),
    ];
    for (format, (status, kind)) in Format::ALL.into_iter().zip(kinds) {
        let budgets = Budgets { per_day: of_key, in_all: Budget::default() };
        let stage = Stage::new(PRICES, budgets, false, vec![reply(); 2]).await;
        for _ in 0..2 {
            let got = stage.ask(format, true, None).await;
            assert_eq!((got.status, got.header("x-steersman-budget")), (200, ""));
        }
        let got = stage.ask(format, true, None).await;
        let expected = (status, "budget_used_up".to_owned(), kind);
        assert_eq!(error_of(format, &got), expected);
        assert_eq!(got.header("x-should-retry"), "false");
        let text = got.text();
        let why =
            "the key `alice` has used $0.004 of $0.003 a day (UTC); there is more at 00:00 UTC";
        assert!(text.contains(why), "{text}");
        assert_eq!(stage.server.requests().len(), 2);
        // Who comes without a key has no budget here.
        let (path, body) = call(format, true);
        stage.server.extend([reply()]);
        let url = format!("{}{path}", stage.gateway.url());
        assert_eq!(post(&url, &[], &body).await.status, 200);
    }
}

#[tokio::test]
async fn a_budget_of_the_gateway_holds_for_all() {
    let yaml = format!("{PRICES}budgets: {{in_all: {{calls: 2}}}}\n");
    let stage = Stage::new(&yaml, Budgets::default(), false, vec![reply(); 2]).await;
    let url = format!("{}/v1/messages", stage.gateway.url());
    let (_, body) = call(Format::Anthropic, false);
    assert_eq!(post(&url, &[], &body).await.status, 200);
    assert_eq!(stage.ask(Format::Anthropic, false, None).await.status, 200);
    let got = post(&url, &[], &body).await;
    assert_eq!((got.status, got.header("x-steersman-error")), (402, "budget_used_up"));
    assert!(got.text().contains("this gateway has used 2 of 2 calls in all"), "{}", got.text());
}

#[tokio::test]
async fn many_at_once_are_never_more_calls_than_allowed() {
    let per_day = Budget { calls: Some(5), ..Budget::default() };
    let slow = Reply { delay: Duration::from_millis(50), ..reply() };
    let budgets = Budgets { per_day, in_all: Budget::default() };
    let stage = Stage::new(PRICES, budgets, false, vec![slow; 20]).await;
    let asking = (0..20).map(|_| stage.ask(Format::OpenAiChat, true, None));
    let all = futures::future::join_all(asking).await;
    assert_eq!(all.iter().filter(|got| got.status == 200).count(), 5);
    assert_eq!(stage.spent("alice").await, [5, 5000, 500, 10_000_000, 0, 0]);
}
