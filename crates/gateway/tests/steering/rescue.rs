//! An answer that is not the end: the model is asked again, and the client sees one answer.

use std::sync::Arc;

use steersman_wire::{Format, Message};

use super::sim::{Client, Kept, Sent, call, deliver, push_all, steering};

const GOVERN: &str = "mode: govern\nunknown_clients: govern\n";

#[test]
fn work_that_was_only_announced_is_asked_for() {
    for format in Format::ALL {
        for stream in [true, false] {
            let kept = Arc::new(Kept::default());
            let steering = steering(GOVERN, &kept);
            let mut client = Client::new(format, stream, "a");
            client.turn(&steering, &call("read", r#"{"path":"a.rs"}"#), "fn a() {}");
            let announced = "Now I will edit src/lib.rs and then run the tests.";
            let Sent::Forwarded { watch, .. } = client.ask(&steering) else { panic!("answered") };
            let served = client.served(&Message::assistant(announced));
            let (first, again) = deliver(watch, &served, 9);
            let Some((watch, body)) = again else {
                panic!("{format:?} {stream}: not asked again: {:?}", kept.decisions().last())
            };
            let asked = format.receive(&body).unwrap();
            let heard = asked.turns(client.messages.len().min(asked.item_count() - 2)).unwrap();
            assert_eq!(heard[heard.len() - 2].message.text(), announced, "{format:?}");
            let served = client.served(&call("edit", r#"{"path":"src/lib.rs"}"#));
            let (second, again) = push_all(watch, &served, 9);
            assert!(again.is_none());
            let answer = client.read(&[first, second].concat());
            assert_eq!(answer.message.text(), announced, "{format:?} {stream}");
            let calls: Vec<_> =
                answer.message.tool_calls().map(|it| it.name.into_owned()).collect();
            assert_eq!(calls, ["edit"], "{format:?} {stream}");
            assert_eq!(answer.usage.output, 40, "{format:?} {stream}: usage of both");
            client.take(&answer, "edited");
            // The run goes on as one session whose replies are all known.
            client.turn(&steering, &call("shell", r#"{"command":"cargo test"}"#), "3 passed");
            assert_eq!((kept.sessions().len(), kept.count("rescued")), (1, 1));
            assert_eq!(kept.count("replied"), 4);
            assert_eq!(kept.decisions().last().unwrap().turn, 3, "{:?}", kept.kinds());
        }
    }
}

#[test]
fn a_model_that_only_announces_is_believed_in_the_end() {
    let kept = Arc::new(Kept::default());
    let steering = steering(GOVERN, &kept);
    let mut client = Client::new(Format::Anthropic, true, "a");
    client.turn(&steering, &call("read", r#"{"path":"a.rs"}"#), "fn a() {}");
    let Sent::Forwarded { watch, .. } = client.ask(&steering) else { panic!("answered") };
    let announced = Message::assistant("Next I will edit the file.");
    let served = client.served(&announced);
    let (mut got, mut again) = deliver(watch, &served, 100);
    let mut asked = 0;
    while let Some((watch, _)) = again {
        asked += 1;
        let served = client.served(&announced);
        let (more, next) = push_all(watch, &served, 100);
        got.extend(more);
        again = next;
    }
    assert!((1..=2).contains(&asked), "{asked}");
    let answer = client.read(&got);
    assert_eq!(answer.message.text().matches("Next I will").count(), asked + 1);
}
