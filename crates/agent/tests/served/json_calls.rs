//! Models that cannot call tools: calls as structured output.

use std::sync::Arc;

use serde_json::{Value, json};
use steersman_agent::{Ending, JsonCalls};
use steersman_scripted_server::{Received, Reply, ScriptedServer};
use steersman_upstream::{Deadlines, Format};
use steersman_wire::Part;

use super::place::{Left, Place};

fn step(thought: &str, tool: &str, with: &Value) -> Reply {
    Reply::text(json!({"thought": thought, "tool": tool, "with": with}).to_string())
}

async fn play(
    format: Format,
    stream: bool,
    replies: Vec<Reply>,
    prepare: impl FnOnce(&mut Place),
) -> (Left, Vec<Received>, Place) {
    let server = ScriptedServer::start(replies).await.unwrap();
    let mut place = Place::with(&[("a.txt", "broken\n")]);
    place.stream = stream;
    place.agent.json_calls = true;
    place.agent.tools.retain(|tool| ["read", "edit", "finish"].contains(&tool.name.as_str()));
    prepare(&mut place);
    let model = Place::served(format, &server.base_url(), Deadlines::default());
    let left = place.run(Arc::new(JsonCalls::new(model)), "Mend a.txt.").await;
    (left, server.requests(), place)
}

/// The schema that a request holds its answer to; null if it does not.
fn schema(format: Format, body: &Value) -> &Value {
    match format {
        Format::OpenAiChat => &body["response_format"]["json_schema"]["schema"],
        Format::OpenAiResponses => &body["text"]["format"]["schema"],
        Format::Anthropic => &body["output_config"]["format"]["schema"],
        Format::Gemini => {
            let config = &body["generationConfig"];
            config.get("responseJsonSchema").unwrap_or(&config["responseSchema"])
        }
    }
}

#[tokio::test]
async fn objects_become_calls_and_go_back_as_objects() {
    for format in Format::ALL {
        for stream in [false, true] {
            let replies = vec![
                step("I look first.", "read", &json!({"path": "a.txt"})),
                step("", "edit", &json!({"path": "a.txt", "old": "broken", "new": "mended"})),
                step("Done.", "finish", &json!({"summary": "a.txt is mended."})),
            ];
            let check = |place: &mut Place| place.check = Some("grep -q mended a.txt".to_owned());
            let (left, requests, place) = play(format, stream, replies, check).await;
            let label = format!("{format}, streamed: {stream}");
            assert_eq!(left.ended.ending, Ending::Complete, "{label} {:?}", left.ended);
            assert_eq!(place.read("a.txt"), "mended\n", "{label}");
            let parts = &left.session.conversation()[1].parts;
            let [Part::Text(thought), Part::ToolCall { name, arguments, .. }] = &parts[..] else {
                panic!("{label} {parts:?}");
            };
            assert_eq!((thought.as_str(), name.as_str()), ("I look first.", "read"), "{label}");
            assert_eq!(arguments, r#"{"path":"a.txt"}"#, "{label}");
            for request in &requests {
                assert_eq!(request.body["tools"], Value::Null, "{label}");
                let names = &schema(format, &request.body)["properties"]["tool"]["enum"];
                assert_eq!(*names, json!(["read", "edit", "finish"]), "{label} {}", request.body);
                let takes = &schema(format, &request.body)["properties"]["with"]["anyOf"];
                let needs = |at: usize| takes[at]["required"].clone();
                assert_eq!(needs(0), json!(["path"]), "{label} {takes}");
                assert_eq!(needs(1), json!(["path", "old", "new"]), "{label} {takes}");
                assert_eq!(needs(2), json!(["summary"]), "{label} {takes}");
            }
            let sent = requests[1].body.to_string();
            let object = json!({"thought": "I look first.", "tool": "read",
                "with": {"path": "a.txt"}});
            let object = serde_json::to_string(&object.to_string()).unwrap();
            assert!(sent.contains(&object), "{label} {sent}");
            assert!(sent.contains(r"Result of `read`:\nbroken"), "{label} {sent}");
            assert!(sent.contains("path: string, required (The file"), "{label} {sent}");
        }
    }
}

#[tokio::test]
async fn what_is_no_object_stays_text() {
    let cut =
        Reply::text(r#"{"thought": "I", "tool": "edit", "with": {"path": "a.t"#).stop("length");
    let fenced = "```json\n{\"name\": \"read\", \"arguments\": {\"path\": \"a.txt\"}}\n```";
    let replies = vec![
        Reply::text(fenced),
        cut,
        step("", "nonsense", &json!({})),
        step("", "edit", &json!(5)),
        step("", "edit", &json!("half {")),
        Reply::text("It is mended, as far as I can see."),
    ];
    let (left, _, place) = play(Format::OpenAiChat, false, replies, |_| ()).await;
    assert_eq!(left.ended.ending, Ending::Claimed, "{:?}", left.ended);
    let results = left.results();
    let begins: Vec<(bool, &str)> =
        results.iter().map(|(failed, text)| (*failed, &text[..text.len().min(20)])).collect();
    let expected = [
        (false, "broken\n"),
        (true, "There is no tool \"no"),
        (true, "the arguments are no"),
        (true, "the arguments are no"),
    ];
    assert_eq!(begins, expected);
    assert_eq!(left.said(), ["cut_off"]);
    assert_eq!(place.read("a.txt"), "broken\n");
}

#[tokio::test]
async fn a_forced_answer_is_asked_for_in_text() {
    let replies = vec![
        step("", "read", &json!({"path": "a.txt"})),
        step("I stop.", "finish", &json!({"summary": "Not mended."})),
    ];
    let limit = |place: &mut Place| place.policy.limits.max_turns = Some(1);
    let (left, requests, _) = play(Format::OpenAiChat, true, replies, limit).await;
    assert_eq!(left.ended.ending, Ending::Capped, "{:?}", left.ended);
    assert_eq!(left.ended.answer, "Not mended.");
    assert_eq!(*schema(Format::OpenAiChat, &requests[1].body), Value::Null);
}

#[tokio::test]
async fn without_a_tool_to_finish_there_is_an_answer() {
    let replies = vec![step("", "answer", &json!({"text": "It says broken."}))];
    let no_finish = |place: &mut Place| place.agent.tools.truncate(1);
    let (left, requests, _) = play(Format::Gemini, false, replies, no_finish).await;
    assert_eq!(left.ended.answer, "It says broken.");
    assert_eq!(left.session.outlook().calls, 0);
    assert!(requests[0].body.to_string().contains("`answer`"));
}
