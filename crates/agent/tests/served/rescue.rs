//! Replies that end too early are asked for again, and not for ever.

use steersman_agent::Ending;
use steersman_engine::Action;
use steersman_scripted_server::{Reply, ScriptedServer};
use steersman_upstream::{Deadlines, Format};

use super::place::{Left, Place};

/// The stop word of a reply that was cut off by its length.
const fn length(format: Format) -> &'static str {
    match format {
        Format::OpenAiChat => "length",
        Format::OpenAiResponses => "max_output_tokens",
        Format::Anthropic => "max_tokens",
        Format::Gemini => "MAX_TOKENS",
    }
}

async fn play(format: Format, first: &Reply, times: usize) -> Left {
    let mut replies = vec![Reply::call("read", r#"{"path": "a.txt"}"#)];
    replies.extend(vec![first.clone(); times]);
    replies.push(Reply::text("The file says hello."));
    let server = ScriptedServer::start(replies).await.unwrap();
    let place = Place::with(&[("a.txt", "hello")]);
    let model = Place::served(format, &server.base_url(), Deadlines::default());
    let left = place.run(model, "What does a.txt say?").await;
    assert!(!place.path("b.txt").exists(), "half a call must not run");
    left
}

/// Replies that end too early, with the name of what the agent is then told.
fn early(format: Format) -> Vec<(&'static str, Reply)> {
    let half = Reply::call("write", r#"{"path": "b.txt", "content": "half of wh"#);
    let thinking = Reply { reasoning: "I wonder what to do.".into(), ..Reply::default() };
    let mut cases = vec![
        ("cut_off", Reply::text("The file says").stop(length(format))),
        ("empty_reply", Reply::text("")),
        ("empty_reply", thinking),
        ("premature_end", Reply::text("Now I will read the second file and compare the two.")),
    ];
    // The other formats send arguments as objects: a server cannot write half of one.
    if matches!(format, Format::OpenAiChat | Format::OpenAiResponses) {
        cases.push(("cut_off", half.stop(length(format))));
    }
    cases
}

#[tokio::test]
async fn replies_that_end_too_early_are_asked_for_again() {
    for format in Format::ALL {
        for (name, reply) in early(format) {
            let left = play(format, &reply, 1).await;
            assert_eq!(left.said(), [name], "{format} {reply:?} {:?}", left.actions());
            assert_eq!(left.ended.ending, Ending::Claimed, "{format} {name}");
            assert_eq!(left.ended.answer, "The file says hello.", "{format} {name}");
        }
    }
}

#[tokio::test]
async fn an_agent_that_always_ends_too_early_is_not_asked_for_ever() {
    for format in Format::ALL {
        for (name, reply) in early(format) {
            let left = play(format, &reply, 60).await;
            let turns = left.session.outlook().turns;
            assert!(turns <= 25, "{format} {name}: {turns} turns, {:?}", left.actions());
            let retried = left.actions().iter().filter(|one| **one == Action::Retry).count();
            assert!(retried <= 5, "{format} {name}");
        }
    }
}
