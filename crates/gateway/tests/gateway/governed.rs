//! What a governor can do through the seam.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use steersman_gateway::{
    Act, Call, Config, EndOfAnswer, Fail, Governor, Limits, Next, Plan, Watch,
};
use steersman_scripted_server::{Reply, ScriptedServer};
use steersman_wire::Format;
use tokio::sync::watch;

use crate::support::{Gateway, call, config, nobody, post, read_until, within};

/// What a watch was told, in order; pieces are added up.
type Told = Arc<watch::Sender<Vec<String>>>;

/// What a watch does.
#[derive(Clone, Debug, Default)]
struct Script {
    /// What is done at each end.
    ends: Vec<Next>,
    /// The waits that are asked for at refusals.
    retries: Vec<u64>,
    keeps_length: bool,
}

struct Scripted {
    script: Script,
    told: Told,
    pushed: usize,
}

impl Scripted {
    fn tell(&mut self, what: String) {
        let pushed = std::mem::take(&mut self.pushed);
        self.told.send_modify(|told| {
            if pushed > 0 {
                told.push("pushed".to_owned());
            }
            told.push(what);
        });
    }
}

impl Watch for Scripted {
    fn head(&mut self, status: StatusCode, _headers: &HeaderMap) {
        self.tell(format!("head {}", status.as_u16()));
    }

    fn keeps_length(&self) -> bool {
        self.script.keeps_length
    }

    fn push(&mut self, bytes: Bytes, out: &mut Vec<Bytes>) {
        self.pushed += bytes.len();
        out.push(bytes);
    }

    fn end(&mut self, how: EndOfAnswer) -> Next {
        self.tell(format!("end {how:?}"));
        if self.script.ends.is_empty() { Next::Done(vec![]) } else { self.script.ends.remove(0) }
    }

    fn retry(
        &mut self,
        status: Option<StatusCode>,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Option<u64> {
        let status = status.map_or(0, |status| status.as_u16());
        let after = headers.get("retry-after").map_or("-", |value| value.to_str().unwrap());
        let scripted = String::from_utf8_lossy(body).contains("scripted");
        self.tell(format!("refused {status} {after} {scripted}"));
        (!self.script.retries.is_empty()).then(|| self.script.retries.remove(0))
    }

    fn dropped(&mut self) {
        self.tell("dropped".to_owned());
    }
}

/// A governor that does what a function says.
struct Governed<F>(F);

impl<F: Fn(&Call<'_>) -> Plan + Send + Sync + 'static> Governor for Governed<F> {
    fn call(&self, call: &Call<'_>) -> Plan {
        self.0(call)
    }
}

fn announced() -> Vec<(HeaderName, HeaderValue)> {
    let name = HeaderName::from_static("x-steersman-decision");
    vec![(name, HeaderValue::from_static("continue"))]
}

/// A gateway whose governor watches by a script, and what the watch is told.
async fn watching(config: Config, script: Script) -> (Gateway, Told) {
    let told: Told = Arc::new(watch::Sender::new(Vec::new()));
    let of_watch = Arc::clone(&told);
    let governor = Governed(move |_: &Call<'_>| {
        let (script, told) = (script.clone(), Arc::clone(&of_watch));
        let watch = Scripted { script, told, pushed: 0 };
        Plan { act: Act::Forward, headers: announced(), watch: Some(Box::new(watch)) }
    });
    (Gateway::governed(config, Arc::new(governor)).await, told)
}

#[tokio::test]
async fn a_governor_is_told_what_is_asked() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let into = Arc::clone(&seen);
    let governor = Governed(move |call: &Call<'_>| {
        assert!(call.at_ms > 1_700_000_000_000 && call.connection > 0);
        into.lock().unwrap().push(format!(
            "{} {:?} {:?} {} {} {}",
            call.format,
            call.session_prefix,
            call.model_in_path,
            call.stream_in_path,
            String::from_utf8_lossy(call.body),
            call.headers["x-steersman-session"].to_str().unwrap(),
        ));
        Plan::pass()
    });
    let server = ScriptedServer::start(vec![Reply::text("x"); 3]).await.unwrap();
    let gateway = Gateway::governed(config(&server.base_url()), Arc::new(governor)).await;
    for path in [
        "/s/run/v1/messages",
        "/v1beta/models/m:streamGenerateContent?alt=sse",
        "/v1/messages/count_tokens",
    ] {
        post(&format!("{}{path}", gateway.url()), &[("x-steersman-session", "a")], "{}").await;
    }
    assert_eq!(
        *seen.lock().unwrap(),
        ["anthropic Some(\"run\") None false {} a", "gemini None Some(\"m\") true {} a",]
    );
}

#[tokio::test]
async fn other_bodies_and_own_answers() {
    let governor = Governed(|call: &Call<'_>| {
        let act = if call.body.is_empty() {
            let response = Response::builder().status(402).header("content-type", "text/x");
            let (parts, ()) = response.body(()).unwrap().into_parts();
            Act::Answer(Box::new(parts), Bytes::from_static(b"stop"))
        } else {
            Act::ForwardBody(Bytes::from_static(b"{\"other\": 1}"))
        };
        Plan { act, headers: announced(), watch: None }
    });
    let server = ScriptedServer::start(vec![Reply::text("x")]).await.unwrap();
    let gateway = Gateway::governed(config(&server.base_url()), Arc::new(governor)).await;
    let url = format!("{}/v1/messages", gateway.url());
    let got = post(&url, &[], "{}").await;
    assert_eq!((got.status, got.header("x-steersman-decision")), (200, "continue"));
    let received = server.requests().remove(0);
    assert_eq!(received.raw, b"{\"other\": 1}");
    assert_eq!(received.header("content-length"), Some("12"));
    let got = post(&url, &[], "").await;
    assert_eq!((got.status, got.text().as_str()), (402, "stop"));
    assert_eq!(
        (got.header("x-steersman-decision"), got.header("content-type")),
        ("continue", "text/x")
    );
    assert_eq!(server.requests().len(), 1);
}

async fn check(replies: Vec<Reply>, script: Script, expected: &[&str]) -> (u16, String, bool) {
    let server = ScriptedServer::start(replies).await.unwrap();
    let (gateway, told) = watching(config(&server.base_url()), script).await;
    let (path, body) = call(Format::OpenAiChat, true);
    let headers = [("accept-encoding", "gzip")];
    let got = post(&format!("{}{path}", gateway.url()), &headers, &body).await;
    assert_eq!(*told.borrow(), expected);
    assert_eq!(server.left(), 0);
    assert_eq!(got.header("x-steersman-decision"), "continue");
    assert!(
        server.requests().iter().all(|asked| asked.header("accept-encoding") == Some("identity"))
    );
    (got.status, got.text(), got.whole)
}

fn piece(text: &str) -> Reply {
    Reply::raw("text/event-stream", text)
}

fn bytes(texts: &[&'static str]) -> Vec<Bytes> {
    texts.iter().map(|text| Bytes::from_static(text.as_bytes())).collect()
}

#[tokio::test]
async fn a_watch_follows_an_answer() {
    let told = ["head 200", "pushed", "end Whole"];
    let found = check(vec![piece("data: 1\n\n")], Script::default(), &told).await;
    assert_eq!(found, (200, "data: 1\n\n".to_owned(), true));

    let script =
        Script { ends: vec![Next::Done(bytes(&["data: ", "2\n\n"]))], ..Script::default() };
    let found = check(vec![piece("data: 1\n\n")], script, &told).await;
    assert_eq!(found, (200, "data: 1\n\ndata: 2\n\n".to_owned(), true));
}

#[tokio::test]
async fn a_cut_can_be_mended() {
    let cut = Reply { cut: true, ..piece("data: 1\n\ndata: 2\n\n") };
    let told = ["head 200", "pushed", "end Cut"];
    let script = Script { ends: vec![Next::Done(bytes(&["data: x\n\n"]))], ..Script::default() };
    let found = check(vec![cut.clone()], script, &told).await;
    assert_eq!(found, (200, "data: 1\n\ndata: x\n\n".to_owned(), false));
    let script = Script { ends: vec![Next::Finish(bytes(&["data: x\n\n"]))], ..Script::default() };
    let found = check(vec![cut], script, &told).await;
    assert_eq!(found, (200, "data: 1\n\ndata: x\n\n".to_owned(), true));
}

#[tokio::test]
async fn an_answer_can_be_asked_for_again() {
    let again = || Next::Again(Bytes::from_static(b"{}"));
    let script = Script { ends: vec![again(), again()], retries: vec![1], ..Script::default() };
    let replies =
        vec![piece("data: 1\n\n"), Reply::status(503), piece("data: 2\n\n"), piece("data: 3\n\n")];
    let told = [
        "head 200",
        "pushed",
        "end Whole",
        "refused 503 - true",
        "pushed",
        "end Whole",
        "pushed",
        "end Whole",
    ];
    let found = check(replies, script, &told).await;
    assert_eq!(found, (200, "data: 1\n\ndata: 2\n\ndata: 3\n\n".to_owned(), true));

    // Refused for good.
    let script =
        Script { ends: vec![again(), Next::Finish(bytes(&["data: x\n\n"]))], ..Script::default() };
    let replies = vec![piece("data: 1\n\n"), Reply::status(400)];
    let told = ["head 200", "pushed", "end Whole", "refused 400 - true", "end Refused"];
    let found = check(replies, script, &told).await;
    assert_eq!(found, (200, "data: 1\n\ndata: x\n\n".to_owned(), true));

    // Without an end.
    let script = Script { ends: vec![again(); 20], ..Script::default() };
    let told: Vec<&str> =
        std::iter::once("head 200").chain([["pushed", "end Whole"]; 9].concat()).collect();
    let (_, text, whole) = check(vec![piece("data: 1\n\n"); 9], script, &told).await;
    assert_eq!((text.matches("data: 1").count(), whole), (9, false));
}

#[tokio::test]
async fn refusals_are_tried_again_before_the_first_byte() {
    let busy = || Reply::status(529).header("retry-after", "2");
    let script = Script { retries: vec![1, 1], ..Script::default() };
    let told = ["refused 529 2 true", "refused 500 - true", "head 200", "pushed", "end Whole"];
    let replies = vec![busy(), Reply::status(500), piece("data: 1\n\n")];
    let found = check(replies, script, &told).await;
    assert_eq!(found, (200, "data: 1\n\n".to_owned(), true));

    // No more: the last refusal as it came.
    let script = Script { retries: vec![1], ..Script::default() };
    let told = ["refused 529 2 true", "refused 529 2 true", "head 529", "pushed", "end Whole"];
    let (status, text, whole) = check(vec![busy(), busy()], script, &told).await;
    assert_eq!((status, text.contains("scripted 529"), whole), (529, true, true));

    // Too long to be looked at.
    let long = Reply { repeat: 300, status: 500, ..Reply::raw("text/x", vec![b'x'; 1024]) };
    let script = Script { retries: vec![1], ..Script::default() };
    let (status, text, _) = check(vec![long], script, &["head 500", "pushed", "end Whole"]).await;
    assert_eq!((status, text.len()), (500, 300 * 1024));
}

#[tokio::test]
async fn waits_end_with_the_time_of_the_call() {
    let script = Script { retries: vec![u64::MAX, 60_000], ..Script::default() };
    let limits = Limits { total_timeout: Duration::from_secs(20), ..Limits::default() };
    let server = ScriptedServer::start(vec![Reply::status(503)]).await.unwrap();
    let config = Config { limits, ..config(&server.base_url()) };
    let (gateway, told) = watching(config, script).await;
    let got = post(&format!("{}/v1/messages", gateway.url()), &[], "{}").await;
    assert_eq!(got.status, 503);
    assert_eq!(*told.borrow(), ["refused 503 - true", "head 503", "pushed", "end Whole"]);
}

#[tokio::test]
async fn servers_that_are_not_there() {
    let script = Script { retries: vec![1], ..Script::default() };
    let (gateway, told) = watching(config(&nobody().await), script).await;
    let got = post(&format!("{}/v1/messages", gateway.url()), &[], "{}").await;
    assert_eq!((got.status, got.header("x-steersman-error")), (502, "upstream_unreachable"));
    assert_eq!(got.header("x-steersman-decision"), "continue");
    assert_eq!(*told.borrow(), ["refused 0 - false"; 2]);
}

#[tokio::test]
async fn lengths_are_kept_if_bytes_are() {
    for (keeps_length, expected) in [(true, "5"), (false, "")] {
        let (url, _server) =
            crate::support::one_answer(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello").await;
        let script = Script { keeps_length, ..Script::default() };
        let (gateway, told) = watching(config(&url), script).await;
        let got = post(&format!("{}/v1/messages", gateway.url()), &[], "{}").await;
        assert_eq!((got.header("content-length"), got.text().as_str()), (expected, "hello"));
        // Nobody takes more of an answer than its length says, and yet its end is told.
        assert_eq!(*told.borrow(), ["head 200", "pushed", "end Whole"]);
    }
}

#[tokio::test]
async fn a_watch_learns_that_the_client_left() {
    let late = Reply { delay: Duration::from_secs(3600), ..Reply::text("x") };
    let stalled = Reply { stall: true, ..Reply::text("A text that does not come to its end.") };
    let cases: [(Reply, &str, &[&str]); 2] =
        [(late, "", &["dropped"]), (stalled, "data: ", &["head 200", "pushed", "dropped"])];
    for (reply, text, expected) in cases {
        let server = ScriptedServer::start(vec![reply]).await.unwrap();
        let (gateway, told) = watching(config(&server.base_url()), Script::default()).await;
        let head = "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 16\r\n\r\n\
                    {\"stream\": true}";
        let mut stream = gateway.raw(head.as_bytes()).await;
        within(server.until(|now| now.requests == 1)).await;
        read_until(&mut stream, text).await;
        drop(stream);
        let mut told = told.subscribe();
        let told = within(told.wait_for(|told| told.iter().any(|one| one == "dropped"))).await;
        assert_eq!(*told.unwrap(), expected);
    }
}

#[tokio::test]
async fn a_governor_that_fails() {
    for (fail, status, header) in [(Fail::Open, 200, "govern"), (Fail::Closed, 500, "")] {
        let governor = Governed(|_: &Call<'_>| panic!("a test's governor fails"));
        let server = ScriptedServer::start(vec![Reply::text("x")]).await.unwrap();
        let config = Config { fail, ..config(&server.base_url()) };
        let gateway = Gateway::governed(config, Arc::new(governor)).await;
        let got = post(&format!("{}/v1/messages", gateway.url()), &[], "{}").await;
        assert_eq!((got.status, got.header("x-steersman-failed")), (status, header));
    }
}
