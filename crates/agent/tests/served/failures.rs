//! Stop reasons (E1) and errors (E2): what is tried again, when, and how the run ends.

use std::time::Duration;

use steersman_agent::{Ending, Entry};
use steersman_scripted_server::{Reply, ScriptedServer};
use steersman_upstream::{Deadlines, Format};
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;

use super::place::{KEY, Left, Place};

/// The delays of document E, in milliseconds.
const DELAYS: [u64; 5] = [30_000, 60_000, 90_000, 120_000, 150_000];

const FORMATS: [(Format, bool); 8] = [
    (Format::OpenAiChat, false),
    (Format::OpenAiChat, true),
    (Format::OpenAiResponses, false),
    (Format::OpenAiResponses, true),
    (Format::Anthropic, false),
    (Format::Anthropic, true),
    (Format::Gemini, false),
    (Format::Gemini, true),
];

/// What a run comes to: waits, ending, what its last line says, and the failure behind it.
#[derive(Debug, PartialEq)]
struct Came {
    waits_ms: Vec<u64>,
    ending: Ending,
    why: String,
    told: String,
}

fn came(left: &Left) -> Came {
    assert!(!left.journal.contains(KEY), "the key stands in the journal");
    assert!(!format!("{:?}", left.ended).contains(KEY));
    let failures = left.entries.iter().rev().filter_map(|(_, entry)| match entry {
        Entry::CallFailed(failed) => Some(failed.message.clone()),
        _ => None,
    });
    let ending = left.ended.ending;
    let told = failures.take(usize::from(ending == Ending::Failed)).collect();
    Came { waits_ms: left.waits_ms(), ending, why: left.ended.why.clone(), told }
}

fn answered(waits_ms: &[u64]) -> Came {
    let why = "the agent says that it is done; no check was there to prove it".to_owned();
    Came { waits_ms: waits_ms.to_vec(), ending: Ending::Claimed, why, told: String::new() }
}

fn failed(waits_ms: &[u64], how: &str, told: &str) -> Came {
    let why = format!("the model call failed{how}; no retry can help: {told}");
    Came { waits_ms: waits_ms.to_vec(), ending: Ending::Failed, why, told: told.to_owned() }
}

async fn run(format: Format, stream: bool, url: &str, deadlines: Deadlines) -> Left {
    let mut place = Place::with(&[]);
    place.stream = stream;
    let model = Place::served(format, url, deadlines);
    place.run(model, "How much is six times seven?").await
}

/// Plays replies and then the answer.
async fn play(format: Format, stream: bool, replies: &[Reply], deadlines: Deadlines) -> Came {
    let server = ScriptedServer::start(replies.to_vec()).await.unwrap();
    server.extend([Reply::text("It is 42.")]);
    came(&run(format, stream, &server.base_url(), deadlines).await)
}

#[tokio::test]
async fn errors_of_servers_are_retried_or_not() {
    let many = |reply: Reply, times: usize| vec![reply; times];
    let error = |text: &str, status: u16| Reply { text: text.into(), ..Reply::status(status) };
    let slow = Reply::status(429).header("retry-after", "7");
    let never = Reply::status(429).header("retry-after", "7200");
    let leaks = error(&format!("wrong key {KEY}"), 401);
    let too_long = "the prompt is longer than the maximum context length";
    let long = error(too_long, 400);
    let cases = [
        (many(Reply::status(429), 2), answered(&DELAYS[..2])),
        (many(slow, 1), answered(&[7000])),
        (many(never, 1), failed(&[], " (HTTP 429)", "scripted 429")),
        (many(Reply::status(502), 5), answered(&DELAYS)),
        (
            many(Reply::status(503), 6),
            failed(&DELAYS, " 6 times in a row (HTTP 503)", "scripted 503"),
        ),
        (many(Reply::status(504), 1), answered(&DELAYS[..1])),
        (many(Reply::status(529), 1), answered(&DELAYS[..1])),
        (many(Reply::status(500), 1), failed(&[], " (HTTP 500)", "scripted 500")),
        (many(Reply::status(400), 1), failed(&[], " (HTTP 400)", "scripted 400")),
        (many(leaks, 1), failed(&[], " (HTTP 401)", "the model server refused the key")),
        (many(Reply::status(404), 1), failed(&[], " (HTTP 404)", "scripted 404")),
        (many(long, 1), failed(&[], " (HTTP 400)", too_long)),
    ];
    for (format, stream) in FORMATS {
        for (replies, wanted) in &cases {
            let found = play(format, stream, replies, Deadlines::default()).await;
            assert_eq!(&found, wanted, "{format}, streamed: {stream}, {:?}", replies[0].status);
        }
    }
}

#[tokio::test]
async fn answers_that_break_are_asked_for_again() {
    let text = "A long answer that is sent in many pieces, one after the other.";
    let cut = Reply { cut: true, ..Reply::text(text) };
    let late = Reply { delay: Duration::from_secs(60), ..Reply::text(text) };
    let stall = Reply { pause: Duration::from_secs(60), ..Reply::text(text) };
    let short = Deadlines {
        total: Duration::from_millis(300),
        between_bytes: Duration::from_millis(150),
        ..Deadlines::default()
    };
    for (format, stream) in FORMATS {
        for reply in [&cut, &late, &stall] {
            let found = play(format, stream, std::slice::from_ref(reply), short).await;
            assert_eq!(found, answered(&DELAYS[..1]), "{format}, streamed: {stream}, {reply:?}");
        }
    }
}

#[tokio::test]
async fn errors_inside_a_stream_are_errors() {
    let overloaded = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\
         \"overloaded_error\",\"message\":\"Overloaded\"}}\n\n";
    let invalid = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\
         \"invalid_request_error\",\"message\":\"no\"}}\n\n";
    let limited = "data: {\"error\":{\"code\":\"rate_limit_exceeded\",\"message\":\"slow\"}}\n\n";
    let cases = [
        (Format::Anthropic, overloaded, answered(&DELAYS[..1])),
        (Format::Anthropic, invalid, failed(&[], " (HTTP 400)", "no")),
        (Format::OpenAiChat, limited, answered(&DELAYS[..1])),
    ];
    for (format, body, wanted) in cases {
        let reply = Reply::raw("text/event-stream", body);
        let found = play(format, true, &[reply], Deadlines::default()).await;
        assert_eq!(found, wanted, "{format} {body}");
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_tried_five_times() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let found = came(&run(Format::OpenAiChat, true, &url, Deadlines::default()).await);
    let told = format!("{url}: no connection: Connection refused (os error 111)");
    assert_eq!(found, failed(&DELAYS, " 6 times in a row", &told));
}

#[tokio::test]
async fn a_connection_that_is_reset_is_tried_again() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let resets = tokio::spawn(async move {
        let mut asked = 0;
        while let Ok((mut stream, _)) = listener.accept().await {
            asked += 1;
            let mut begun = [0; 16];
            let _ = stream.read(&mut begun).await;
            // Closing with what was sent still unread resets the connection.
            drop(stream);
            if asked == 6 {
                break;
            }
        }
        asked
    });
    let found = came(&run(Format::Gemini, false, &url, Deadlines::default()).await);
    let told = format!(
        "{url}: the connection closed before an answer began: \
         Connection reset by peer (os error 104)"
    );
    assert_eq!(found, failed(&DELAYS, " 6 times in a row", &told));
    assert_eq!(resets.await.unwrap(), 6);
}

/// The words of each format for the stop reasons of E1, where it has one.
const WORDS: [(Format, [&str; 8]); 4] = [
    (
        Format::OpenAiChat,
        [
            "stop",
            "length",
            "max_tool_calls",
            "time_limit",
            "error",
            "content_filter",
            "model_context_window_exceeded",
            "zebra",
        ],
    ),
    (
        Format::OpenAiResponses,
        [
            "completed",
            "max_output_tokens",
            "max_tool_calls",
            "time_limit",
            "error",
            "content_filter",
            "context_length_exceeded",
            "zebra",
        ],
    ),
    (
        Format::Anthropic,
        [
            "end_turn",
            "max_tokens",
            "pause_turn",
            "time_limit",
            "error",
            "refusal",
            "model_context_window_exceeded",
            "zebra",
        ],
    ),
    (
        Format::Gemini,
        [
            "STOP",
            "MAX_TOKENS",
            "TOO_MANY_TOOL_CALLS",
            "time_limit",
            "error",
            "SAFETY",
            "context_length",
            "zebra",
        ],
    ),
];

#[tokio::test]
async fn stop_reasons_are_retried_as_document_e_says() {
    for (format, words) in WORDS {
        for stream in [false, true] {
            for (at, word) in words.iter().enumerate() {
                let reply = Reply::text("It is 42.").stop(word);
                let found = play(format, stream, &[reply], Deadlines::default()).await;
                // Of a reply with a text only `error` is asked for again.
                let wanted = answered(if at == 4 { &DELAYS[..1] } else { &[] });
                assert_eq!(found, wanted, "{format}, streamed: {stream}, {word}");
            }
            let silent = Reply::text("It is 42.").stop("");
            let found = play(format, stream, &[silent], Deadlines::default()).await;
            // Nothing else marks the end of a stream of Gemini: without it the answer was cut off.
            let cut_off = format == Format::Gemini && stream;
            let wanted = answered(if cut_off { &DELAYS[..1] } else { &[] });
            assert_eq!(found, wanted, "E7: {format}, streamed: {stream}");
        }
        let nothing = Reply::text("").stop("zebra");
        let found = play(format, false, &[nothing], Deadlines::default()).await;
        assert_eq!(found.ending, Ending::Claimed, "{format}");
    }
}
