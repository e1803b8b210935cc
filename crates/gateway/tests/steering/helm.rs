//! A person takes the helm of a session that is under way.

use std::sync::Arc;

use steersman_gateway::control::{Control, ControlError, Helm};
use steersman_wire::Format;

use super::sim::{Client, Kept, Sent, call, steering};

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
        let Sent::Answered { message, .. } = sent else { panic!("forwarded") };
        assert!(message.text().contains("ann stopped it"), "{message:?}");
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
