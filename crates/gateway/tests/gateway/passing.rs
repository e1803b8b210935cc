//! What goes through, and that it goes through as it is.

use http::{HeaderMap, Method};
use steersman_gateway::Upstream;
use steersman_scripted_server::{Received, Reply, ScriptedServer};
use steersman_wire::Format;
use tokio::io::AsyncWriteExt;

use crate::support::{
    Gateway, Got, call, client, config, get, one_answer, post, read, read_until, request, send,
    to_end, within,
};

/// What is not the same on two ways to two servers.
fn without_place(mut headers: HeaderMap) -> HeaderMap {
    headers.remove("date");
    headers
}

fn asked(received: &Received) -> (String, Vec<u8>, Vec<(String, String)>) {
    let headers = received.headers.iter().filter(|(name, _)| name != "host").cloned();
    let mut headers: Vec<_> = headers.collect();
    headers.sort();
    (received.path.clone(), received.raw.clone(), headers)
}

fn replies() -> Vec<Reply> {
    let error =
        |status| Reply::status(status).header("retry-after", "2").header("x-request-id", "r");
    // The server sends halves: the middle of these bytes is the middle of the é.
    let split = b"data: \"\xc3\xa9\"\n\n:ab\n".to_vec();
    vec![
        Reply::text("Plain and simple: é, 日本, 🦀."),
        Reply { reasoning: "hm".into(), ..Reply::text("Thought.") },
        Reply::call("read", r#"{"path": "ä.txt"}"#).and_call("ls", "{}"),
        Reply::text("").stop(""),
        error(429),
        error(500),
        error(503),
        error(529),
        Reply::raw("text/event-stream", split),
        Reply::raw("application/octet-stream", vec![0xff, 0xfe, 0, 1])
            .header("content-encoding", "br"),
        Reply::raw("text/html", "<html>busy</html>").header("set-cookie", "a=b"),
    ]
}

#[tokio::test]
async fn answers_are_the_same_as_without_a_gateway() {
    for format in Format::ALL {
        for stream in [false, true] {
            let direct = ScriptedServer::start(replies()).await.unwrap();
            let behind = ScriptedServer::start(replies()).await.unwrap();
            let gateway = Gateway::start(config(&behind.base_url())).await;
            let (path, body) = call(format, stream);
            let headers = [
                ("authorization", "Bearer client-key"),
                ("x-api-key", "client-key"),
                ("anthropic-beta", "a-1"),
                ("anthropic-beta", "b-2"),
                ("accept-encoding", "gzip"),
                ("user-agent", "some-agent/1"),
            ];
            for reply in replies() {
                let mut got = Vec::new();
                for base in [direct.base_url(), gateway.url()] {
                    let Got { headers, status, body, whole } =
                        post(&format!("{base}{path}"), &headers, &body).await;
                    got.push(Got { headers: without_place(headers), status, body, whole });
                }
                assert_eq!(got[0], got[1], "{format} {stream} {reply:?}");
                assert!(got[1].whole);
            }
            let sent =
                |server: &ScriptedServer| server.requests().iter().map(asked).collect::<Vec<_>>();
            assert_eq!(sent(&direct), sent(&behind));
            assert_eq!(sent(&behind)[0].1, body.as_bytes());
        }
    }
}

#[tokio::test]
async fn paths_lead_where_they_should() {
    let cases = [
        ("POST", "/s/my-run/v1/chat/completions", "/v1/chat/completions"),
        ("POST", "/chat/completions", "/v1/chat/completions"),
        ("POST", "/s/a/v1/messages?beta=true", "/v1/messages?beta=true"),
        ("POST", "/v1/messages/count_tokens", "/v1/messages/count_tokens"),
        ("POST", "/v1/models/g:generateContent?key=k", "/v1/models/g:generateContent?key=k"),
        ("GET", "/v1/models", "/v1/models"),
        ("DELETE", "/v1/files/f%2F1", "/v1/files/f%2F1"),
        ("GET", "/api//hello?", "/api//hello"),
    ];
    let server = ScriptedServer::start(vec![Reply::text("x"); cases.len()]).await.unwrap();
    let gateway = Gateway::start(config(&server.base_url())).await;
    for (at, (method, path, expected)) in cases.into_iter().enumerate() {
        let mut request = request(&format!("{}{path}", gateway.url()), &[], "{}");
        *request.method_mut() = method.parse().unwrap();
        send(request).await;
        assert_eq!(server.requests()[at].path, expected);
    }
}

#[tokio::test]
async fn others_go_by_the_shape_of_their_headers() {
    let servers = [
        ScriptedServer::start(vec![Reply::text("openai"); 2]).await.unwrap(),
        ScriptedServer::start(vec![Reply::text("anthropic"); 2]).await.unwrap(),
        ScriptedServer::start(vec![Reply::text("gemini"); 2]).await.unwrap(),
    ];
    let formats = [
        vec![Format::OpenAiChat, Format::OpenAiResponses],
        vec![Format::Anthropic],
        vec![Format::Gemini],
    ];
    let upstreams = servers.iter().zip(formats).map(|(server, formats)| Upstream {
        formats,
        ..Upstream::for_all(&format!("{}/v1", server.base_url())).unwrap()
    });
    let upstreams = upstreams.collect();
    let gateway =
        Gateway::start(steersman_gateway::Config { upstreams, ..config("http://x") }).await;
    let url = format!("{}/v1/models", gateway.url());
    get(&url, &[]).await;
    get(&url, &[("anthropic-version", "2023-06-01")]).await;
    get(&url, &[("x-goog-api-key", "k")]).await;
    let counts: Vec<_> = servers.iter().map(|server| server.requests().len()).collect();
    assert_eq!(counts, [1, 1, 1]);
}

#[tokio::test]
async fn the_gateways_own_headers_and_keys_stay() {
    let server = ScriptedServer::start(vec![Reply::text("x")]).await.unwrap();
    let mut config = config(&server.base_url());
    config.upstreams[0].key_env = Some("OWN_KEY".to_owned());
    let variable = |name: &str| (name == "OWN_KEY").then(|| "own-key".to_owned());
    let options = steersman_upstream::Options::default();
    let governor = std::sync::Arc::new(steersman_gateway::PassThrough);
    let gateway =
        steersman_gateway::Server::bind(config, governor, &options, variable).await.unwrap();
    let url = format!("http://{}/v1/messages", gateway.address());
    tokio::spawn(gateway.run());
    let headers = [
        ("x-steersman-session", "s"),
        ("authorization", "Bearer client-key"),
        ("x-api-key", "client-key"),
        ("connection", "x-mine"),
        ("x-mine", "1"),
    ];
    post(&url, &headers, "{}").await;
    let received = server.requests().remove(0);
    assert_eq!(received.header("x-api-key"), Some("own-key"));
    for name in ["x-steersman-session", "authorization", "x-mine", "connection"] {
        assert_eq!(received.header(name), None, "{name}");
    }
    assert!(!format!("{received:?}").contains("client-key"));
}

#[tokio::test]
async fn http2_without_negotiation() {
    let server = ScriptedServer::start(vec![Reply::text("hello"); 20]).await.unwrap();
    let gateway = Gateway::start(config(&server.base_url())).await;
    let client = client(true);
    let asking = (0..20).map(|_| {
        let (path, body) = call(Format::Anthropic, true);
        let request = request(&format!("{}{path}", gateway.url()), &[], &body);
        let client = client.clone();
        tokio::spawn(async move { read(within(client.request(request)).await.unwrap()).await })
    });
    for asked in asking.collect::<Vec<_>>() {
        let got = asked.await.unwrap();
        assert!(got.whole && got.text().contains("message_stop"), "{got:?}");
    }
}

#[tokio::test]
async fn bodies_are_asked_for() {
    let server = ScriptedServer::start(vec![Reply::text("hello")]).await.unwrap();
    let gateway = Gateway::start(config(&server.base_url())).await;
    let head = "POST /v1/messages HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\n\
                content-length: 2\r\nconnection: close\r\n\r\n";
    let mut stream = gateway.raw(head.as_bytes()).await;
    read_until(&mut stream, "HTTP/1.1 100 Continue\r\n\r\n").await;
    stream.write_all(b"{}").await.unwrap();
    let answer = to_end(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.contains("hello"), "{answer}");
    assert_eq!(server.requests()[0].header("expect"), None);
}

#[tokio::test]
async fn bodies_in_chunks_go_on_with_their_length() {
    let server = ScriptedServer::start(vec![Reply::text("a"), Reply::text("b")]).await.unwrap();
    let gateway = Gateway::start(config(&server.base_url())).await;
    for (at, path) in ["/v1/messages", "/v1/files"].into_iter().enumerate() {
        let text = format!(
            "POST {path} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\
             connection: close\r\n\r\n3\r\n{{\"a\r\n4\r\n\":1}}\r\n0\r\n\r\n"
        );
        to_end(&mut gateway.raw(text.as_bytes()).await).await;
        assert_eq!(server.requests()[at].raw, b"{\"a\":1}", "{path}");
    }
    assert_eq!(server.requests()[0].header("content-length"), Some("7"));
    // What is not read as a whole has no length yet.
    assert_eq!(server.requests()[1].header("content-length"), None);
}

#[tokio::test]
async fn trailers_go_through() {
    let (url, server) = one_answer(
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntrailer: x-sum\r\n\r\n\
          3\r\nabc\r\n0\r\nx-sum: 6\r\n\r\n",
    )
    .await;
    let gateway = Gateway::start(config(&url)).await;
    let head = "POST /v1/messages HTTP/1.1\r\nhost: x\r\nte: trailers\r\n\
                content-length: 2\r\nconnection: close\r\n\r\n{}";
    let answer = to_end(&mut gateway.raw(head.as_bytes()).await).await;
    assert!(answer.contains("trailer: x-sum\r\n"), "{answer}");
    assert!(answer.ends_with("\r\n3\r\nabc\r\n0\r\nx-sum: 6\r\n\r\n"), "{answer}");
    assert!(within(server).await.unwrap().contains("te: trailers\r\n"));
}

#[tokio::test]
async fn answers_without_a_body_have_none() {
    let (url, _server) = one_answer(b"HTTP/1.1 204 No Content\r\n\r\n").await;
    let gateway = Gateway::start(config(&url)).await;
    let got = post(&format!("{}/v1/messages", gateway.url()), &[], "{}").await;
    assert_eq!((got.status, got.body.len(), got.whole), (204, 0, true));

    let (url, _server) = one_answer(b"HTTP/1.1 200 OK\r\ncontent-length: 1234\r\n\r\n").await;
    let gateway = Gateway::start(config(&url)).await;
    let mut head = request(&format!("{}/v1/models", gateway.url()), &[], "");
    *head.method_mut() = Method::HEAD;
    let got = send(head).await;
    assert_eq!((got.status, got.header("content-length"), got.whole), (200, "1234", true));
}

#[tokio::test]
async fn the_gateway_speaks_for_itself() {
    let gateway = Gateway::start(config("http://127.0.0.1:9")).await;
    for (path, expected) in
        [("/healthz", (200, r#"{"status":"ok"}"#)), ("/readyz", (200, r#"{"status":"ready"}"#))]
    {
        let got = get(&format!("{}{path}", gateway.url()), &[]).await;
        assert_eq!((got.status, got.text().as_str()), expected);
    }
    let got = get(&format!("{}/s/a%20b/v1/models", gateway.url()), &[]).await;
    assert_eq!((got.status, got.header("x-steersman-error")), (400, "bad_session"));
    let proxy = "CONNECT example.org:443 HTTP/1.1\r\nhost: example.org:443\r\n\r\n";
    let answer = read_until(&mut gateway.raw(proxy.as_bytes()).await, "no_proxy").await;
    assert!(answer.starts_with("HTTP/1.1 405 "), "{answer}");
}
