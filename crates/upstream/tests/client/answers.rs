//! Answers come whole, in every format, streamed or not.

use steersman_engine::StopReason;
use steersman_scripted_server::{Reply, ScriptedServer};
use steersman_upstream::{Answer, Client, Deadlines, Delta, Endpoint, Format, Options, Request};
use steersman_wire::{Message, ToolSpec};

fn client() -> Client {
    Client::new(&Options::default()).unwrap()
}

async fn ask(client: &Client, endpoint: &Endpoint, stream: bool) -> (Answer, String) {
    let messages = [Message::user("Go.")];
    let tools = [ToolSpec { name: "read".into(), ..ToolSpec::default() }];
    let request = Request { stream, tools: &tools, ..Request::new("m", &messages) };
    let mut shown = String::new();
    let answer = client
        .send(endpoint, &request, Deadlines::default(), |delta| match delta {
            Delta::Text(text) | Delta::Arguments { text, .. } => shown += &text,
            Delta::Reasoning(text) => shown += &format!("({text})"),
            Delta::ToolCallStarted { index, name } => shown += &format!("<{index} {name}>"),
        })
        .await
        .unwrap();
    (answer, shown.replace(")(", ""))
}

#[tokio::test]
async fn streamed_and_whole_answers_are_equal() {
    for format in Format::ALL {
        let reply = Reply {
            text: "I look at both files.".into(),
            reasoning: "They may differ.".into(),
            ..Reply::call("read", r#"{"path":"ä.txt"}"#).and_call("read", r#"{"path":"b"}"#)
        };
        let server = ScriptedServer::start(vec![reply.clone(), reply]).await.unwrap();
        let endpoint = Endpoint::new(format, &server.base_url()).unwrap();
        let endpoint = endpoint.with_key("secret-key").unwrap();
        let (mut whole, shown_whole) = ask(&client(), &endpoint, false).await;
        let (mut streamed, shown) = ask(&client(), &endpoint, true).await;
        assert_eq!(whole.message.text(), "I look at both files.", "{format}");
        assert_eq!(whole.message.reasoning(), "They may differ.", "{format}");
        assert_eq!(whole.message.tool_calls().count(), 2, "{format}");
        assert_eq!(whole.stop, Some(StopReason::Stop), "{format}");
        assert_eq!((whole.usage.input, whole.usage.output), (100, 20), "{format}");
        let expected = "(They may differ.)I look at both files.\
            <0 read>{\"path\":\"ä.txt\"}<1 read>{\"path\":\"b\"}";
        assert_eq!(shown, expected, "{format}");
        assert_eq!(shown_whole, expected, "{format}");
        // The script numbers its answers.
        for answer in [&mut whole, &mut streamed] {
            answer.id = None;
            let parts = serde_json::to_string(&answer.message).unwrap();
            let parts = parts.replace("rs_2", "rs_1").replace("call_2", "call_1");
            answer.message = serde_json::from_str(&parts).unwrap();
        }
        if format == Format::Gemini {
            assert_eq!(whole.message.text(), streamed.message.text());
        } else {
            assert_eq!(whole, streamed, "{format}");
        }
        let received = server.requests();
        let (name, value) = format.key_header("secret-key");
        assert_eq!(received[0].header(name), Some(value.as_str()), "{format}");
        assert!(received[0].header("user-agent").unwrap().starts_with("steersman/"));
        assert_eq!(received[0].header("content-type"), Some("application/json"));
        assert_eq!(server.left(), 0);
    }
}

#[tokio::test]
async fn connections_are_used_again() {
    let script = vec![Reply::text("Fine."); 6];
    let server = ScriptedServer::start(script).await.unwrap();
    let client = client();
    for format in [Format::OpenAiChat, Format::Anthropic, Format::Gemini] {
        let endpoint = Endpoint::new(format, &server.base_url()).unwrap();
        for stream in [true, false] {
            let (answer, _) = ask(&client, &endpoint, stream).await;
            assert_eq!(answer.message.text(), "Fine.");
        }
    }
    let connections: Vec<_> = server.requests().iter().map(|request| request.connection).collect();
    assert_eq!(connections, [0; 6]);
}

#[tokio::test]
async fn answers_are_read_however_they_come() {
    let frames = "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"},\
        \"finish_reason\":\"stop\"}]}\n\n";
    let lines = "{\"message\":{\"content\":\"Hi\"}}\n{\"done\":true,\"done_reason\":\"stop\"}\n";
    let whole = "{\"choices\":[{\"message\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}";
    let script = vec![
        // A stream that was not asked for, lines, lines that call themselves JSON, and a whole
        // answer in place of a stream.
        (Reply::raw("text/event-stream", frames), false),
        (Reply::raw("application/x-ndjson", lines), true),
        (Reply::raw("application/json", lines), true),
        (Reply::raw("application/json; charset=utf-8", whole), true),
        (Reply::raw("text/plain", frames), true),
    ];
    let server =
        ScriptedServer::start(script.iter().map(|one| one.0.clone()).collect()).await.unwrap();
    let endpoint = Endpoint::new(Format::OpenAiChat, &server.base_url()).unwrap();
    for (_, stream) in script {
        let (answer, shown) = ask(&client(), &endpoint, stream).await;
        assert_eq!((answer.message.text().as_ref(), shown.as_str()), ("Hi", "Hi"));
        assert_eq!(answer.stop, Some(StopReason::Stop));
    }
}

#[tokio::test]
async fn bytes_that_are_no_text_are_marked() {
    let body = b"data: {\"choices\":[{\"delta\":{\"content\":\"a\xFFb\"},\
        \"finish_reason\":\"stop\"}]}\n\n";
    let server =
        ScriptedServer::start(vec![Reply::raw("text/event-stream", &body[..])]).await.unwrap();
    let endpoint = Endpoint::new(Format::OpenAiChat, &server.base_url()).unwrap();
    let (answer, _) = ask(&client(), &endpoint, true).await;
    assert_eq!(answer.message.text(), "a\u{fffd}b");
}

#[tokio::test]
async fn a_dropped_call_is_over() {
    use std::time::Duration;
    let slow = Reply { delay: Duration::from_secs(3600), ..Reply::text("late") };
    let server = ScriptedServer::start(vec![slow, Reply::text("Fine.")]).await.unwrap();
    let endpoint = Endpoint::new(Format::OpenAiChat, &server.base_url()).unwrap();
    let client = client();
    tokio::select! {
        _ = ask(&client, &endpoint, true) => panic!("the answer comes in an hour"),
        () = async { while server.requests().is_empty() { tokio::task::yield_now().await } } => {}
    }
    let (answer, _) = ask(&client, &endpoint, true).await;
    assert_eq!(answer.message.text(), "Fine.");
}
