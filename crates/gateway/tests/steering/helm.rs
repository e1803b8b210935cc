//! A person takes the helm of a session that is under way.

use std::sync::Arc;

use steersman_gateway::control::{Control, ControlError, Helm, Limits};
use steersman_gateway::seam::Act;
use steersman_gateway::steering::Steering;
use steersman_wire::Format;

use super::sim::{Client, Kept, Sent, call, deliver, steering};

/// A session after one healthy turn, and what a control does to its next two requests.
fn check(control: Control, expected: impl Fn(&Sent, &[u8], Format)) {
    for format in Format::ALL {
        for mode in ["govern", "shadow"] {
            let kept = Arc::new(Kept::default());
            let steering = steering(&format!("mode: {mode}\nunknown_clients: {mode}\n"), &kept);
            let mut client = Client::new(format, true, "a");
            client.turn(&steering, &call("read", r#"{"path":"a"}"#), "a");
            let session = kept.sessions().remove(0);
            steering.control(&session, "ann", control.clone()).unwrap();
            let own = client.body();
            let sent = client.ask(&steering);
            expected(&sent, &own, format);
            // Sent again it is treated the same.
            let again = client.ask(&steering);
            if let (Sent::Forwarded { body, .. }, Sent::Forwarded { body: other, .. }) =
                (&sent, &again)
            {
                assert_eq!(body, other);
            }
            assert_eq!(kept.count("controlled"), 1);
        }
    }
}

#[test]
fn a_note_reaches_the_agent() {
    check(Control::Note { text: "Look at b.rs instead.".to_owned() }, |sent, own, _| {
        let Sent::Forwarded { body, .. } = sent else { panic!("answered") };
        assert!(String::from_utf8_lossy(body).contains("Look at b.rs instead."));
        assert!(body.len() > own.len());
    });
}

#[test]
fn an_answer_that_is_wanted_is_forced() {
    check(Control::ForceSynthesis, |sent, _, _| {
        let Sent::Forwarded { body, .. } = sent else { panic!("answered") };
        let body = String::from_utf8_lossy(body).to_lowercase();
        assert!(body.contains("wants your answer now") && body.contains("\"none\""), "{body}");
    });
}

#[test]
fn a_stop_is_answered() {
    check(Control::Stop, |sent, _, _| {
        let Sent::Answered { answer, .. } = sent else { panic!("forwarded") };
        assert!(answer.message.text().contains("ann stopped it"), "{answer:?}");
    });
}

#[test]
fn a_session_is_left_alone_where_a_person_says_so() {
    let kept = Arc::new(Kept::default());
    let steering = steering("unknown_clients: govern\n", &kept);
    let mut client = Client::new(Format::Anthropic, true, "a");
    client.turn(&steering, &call("read", "{}"), "same");
    let session = kept.sessions().remove(0);
    steering.control(&session, "ann", Control::Continuation { on: false }).unwrap();
    for _ in 0..20 {
        let own = client.body();
        assert_eq!(client.turn(&steering, &call("read", "{}"), "same"), own);
    }
    assert_eq!(kept.count("said"), 0);
    // The journal says of each that nothing was done.
    let decisions = kept.decisions();
    assert!(decisions.iter().any(|decided| decided.action.ends_run()));
    assert!(decisions.iter().all(|decided| decided.shadow));
}

#[test]
fn what_is_only_watched_is_recorded_as_such() {
    for format in Format::ALL {
        let kept = Arc::new(Kept::default());
        let steering = steering("mode: shadow\nunknown_clients: shadow\n", &kept);
        let mut client = Client::new(format, false, "a");
        (0..8).for_each(|_| drop(client.turn(&steering, &call("read", "{}"), "same")));
        client.ask(&steering);
        let decisions = kept.decisions();
        assert!(decisions.iter().any(|decided| decided.action.ends_run()), "{format}");
        assert!(decisions.iter().all(|decided| decided.shadow), "{format}");
        assert_eq!(kept.count("said"), 0, "{format}");
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let kept = Arc::new(Kept::default());
    let steering = steering("unknown_clients: govern\n", &kept);
    let mut client = Client::new(Format::Anthropic, true, "a");
    client.turn(&steering, &call("read", "{}"), "x");
    let session = kept.sessions().remove(0);
    let told = |control| steering.control(&session, "ann", control);
    let preset = |name: &str| Control::Aggressiveness { preset: name.to_owned() };
    assert_eq!(told(preset("lenient")), Ok(()));
    let refused = [
        (preset("wild"), "allowed are aggressive, standard, lenient"),
        (Control::Note { text: " ".to_owned() }, "not all blank"),
        (Control::Note { text: "x".repeat(5000) }, "1 to 4096 bytes"),
    ];
    for (control, expected) in refused {
        let Err(ControlError::Invalid(why)) = told(control.clone()) else { panic!("{control:?}") };
        assert!(why.contains(expected), "{why}");
    }
    let unknown = steering.control("gw-0000000000000000", "ann", Control::Stop);
    assert_eq!(unknown, Err(ControlError::Unknown));
}

/// The settings of sessions that are taken up again hold.
fn restarted(kept: &Arc<Kept>) -> Steering {
    steering("unknown_clients: govern\n", kept)
}

#[test]
fn a_paused_session_waits() {
    for format in Format::ALL {
        let kept = Arc::new(Kept::default());
        let mut steering = restarted(&kept);
        let mut client = Client::new(format, true, "a");
        client.turn(&steering, &call("read", r#"{"path":"a"}"#), "a");
        let session = kept.sessions().remove(0);
        steering.control(&session, "ann", Control::Pause).unwrap();
        // Also after a restart, and for one who has not been asked since.
        for _ in 0..2 {
            assert!(matches!(client.ask(&steering), Sent::Held));
            steering = restarted(&kept);
        }
        steering.control(&session, "ann", Control::Note { text: "Now b.rs.".to_owned() }).unwrap();
        let Sent::Held = client.ask(&steering) else { panic!("a note is no resumption") };
        steering.control(&session, "ann", Control::Resume).unwrap();
        let Sent::Forwarded { body, .. } = client.ask(&steering) else { panic!("answered") };
        assert!(String::from_utf8_lossy(&body).contains("Now b.rs."), "{format}");
        assert_eq!((kept.count("held"), kept.count("asked")), (3, 2), "{format}");
        // It was one session all the time.
        let ids: std::collections::BTreeSet<_> = kept.sessions().into_iter().collect();
        assert_eq!(ids.len(), 1, "{format}");
    }
}

#[tokio::test(start_paused = true)]
async fn who_waits_is_woken() {
    let kept = Arc::new(Kept::default());
    let steering = restarted(&kept);
    let mut client = Client::new(Format::Anthropic, true, "a");
    client.turn(&steering, &call("read", r#"{"path":"a"}"#), "a");
    let session = kept.sessions().remove(0);
    steering.control(&session, "ann", Control::Pause).unwrap();
    let Act::Hold(resumed) = client.plan(&steering).act else { panic!("not held") };
    // A resumption between the plan and the wait is not missed.
    steering.control(&session, "ann", Control::Resume).unwrap();
    tokio::time::timeout(std::time::Duration::from_secs(1), resumed).await.unwrap();
}

#[test]
fn limits_can_be_raised() {
    let limits = Limits { max_turns: Some(2), ..Limits::default() };
    let kept = Arc::new(Kept::default());
    let mut steering = restarted(&kept);
    let mut client = Client::new(Format::OpenAiChat, true, "a");
    let turn = |client: &mut Client, steering: &Steering, path: &str| {
        let asked = client.ask(steering);
        let Sent::Forwarded { body, watch, .. } = asked else { panic!("answered") };
        let served = client.served(&call("read", &format!(r#"{{"path":"{path}"}}"#)));
        let (bytes, _) = deliver(watch, &served, 50);
        client.take(&client.read(&bytes), path);
        String::from_utf8_lossy(&body).into_owned()
    };
    turn(&mut client, &steering, "a");
    let session = kept.sessions().remove(0);
    steering.control(&session, "ann", Control::Limits(limits)).unwrap();
    turn(&mut client, &steering, "b");
    let forced = turn(&mut client, &steering, "c");
    assert!(forced.contains(r#""tool_choice":"none""#), "{forced}");
    // A limit that was set holds after a restart, and can be lifted then.
    steering = restarted(&kept);
    let Sent::Answered { answer, .. } = client.ask(&steering) else { panic!("forwarded") };
    let text = answer.message.text();
    assert!(text.contains("max_turns is used up"), "{text}");
    let lifted = Limits { max_turns: Some(0), ..Limits::default() };
    steering.control(&session, "ann", Control::Limits(lifted)).unwrap();
    for path in ["e", "f", "g"] {
        let free = turn(&mut client, &steering, path);
        assert!(!free.contains(r#""tool_choice":"none""#), "{free}");
        assert!(free.contains("has raised your limits"), "{free}");
    }
}

#[test]
fn limits_are_laid_over_each_other() {
    let first = Limits { max_turns: Some(5), max_wall_ms: Some(1), ..Limits::default() };
    let second = Limits { max_turns: Some(9), max_cost_nanodollars: Some(0), ..Limits::default() };
    let mut limits = steersman_engine::policy::Limits {
        max_cost_nanodollars: Some(7),
        max_tool_calls: Some(3),
        ..Default::default()
    };
    second.or(first).lay_over(&mut limits);
    let expected = steersman_engine::policy::Limits {
        max_turns: Some(9),
        max_tool_calls: Some(3),
        max_wall_ms: Some(1),
        ..Default::default()
    };
    assert_eq!(limits, expected);
}
