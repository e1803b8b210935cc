//! A call that fails: how long is waited, and who is asked then.

use std::sync::Arc;

use http::{HeaderMap, HeaderValue, StatusCode};
use steersman_gateway::keys::Grant;
use steersman_wire::Format;

use super::sim::{Client, Kept, Sent, call, deliver, steering};

const GOVERN: &str = "mode: govern\nunknown_clients: govern\n";
const FALLBACK: &str = "
fallbacks:
  - {model: other, use: wrong}
  - {model: some-*, use: some-model}
  - {model: \"some-*\", use: spare}
";

/// A refusal: the status (0: nothing answered) and `retry-after`.
type Refusal = (u16, Option<&'static str>);

/// Refuses a call again and again. The waits, and the model that is asked in the end.
fn check(config: &str, refusals: &[Refusal], waits: &[Option<u64>], model: Option<&str>) {
    for format in Format::ALL {
        let kept = Arc::new(Kept::default());
        let steering = steering(config, &kept);
        let mut client = Client::new(format, true, "a");
        let Sent::Forwarded { watch, .. } = client.ask(&steering) else { panic!("answered") };
        let mut watch = watch.unwrap();
        let mut got = Vec::new();
        for (status, after) in refusals {
            let mut headers = HeaderMap::new();
            if let Some(after) = after {
                headers.insert("retry-after", HeaderValue::from_static(after));
            }
            got.push(watch.retry(StatusCode::from_u16(*status).ok(), &headers, b"{}"));
        }
        assert_eq!(got, waits, "{format} {config}");
        let fallback = watch.fall_back();
        assert_eq!(fallback.as_ref().map(|it| it.model.as_str()), model, "{format} {config}");
        assert_eq!(kept.count("fell_back"), usize::from(model.is_some()));
        let Some(fallback) = fallback else { continue };
        assert!(watch.fall_back().is_none(), "it is asked once");
        let asked = format.receive(&fallback.body).unwrap();
        let own = (format != Format::Gemini).then_some("spare");
        assert_eq!(asked.model().as_deref(), own, "{format}");
        // The answer is taken as that of the model that was asked for.
        let served = client.served(&call("read", r#"{"path":"a.rs"}"#));
        let (bytes, again) = deliver(Some(watch), &served, 11);
        assert!(bytes == served && again.is_none(), "{format}");
        client.take(&client.read(&bytes), "fn a() {}");
        client.turn(&steering, &call("read", r#"{"path":"b.rs"}"#), "fn b() {}");
        assert_eq!((kept.sessions().len(), kept.count("replied")), (1, 2), "{format}");
    }
}

#[test]
fn a_server_that_is_busy_is_waited_for() {
    check(GOVERN, &[(429, Some("3")), (529, Some("4"))], &[Some(3_000), Some(4_000)], None);
    check(GOVERN, &[(503, None)], &[Some(30_000)], None);
    check(GOVERN, &[(429, Some("61"))], &[None], None);
    check(GOVERN, &[(400, None)], &[None], None);
    check("unknown_clients: shadow\n", &[(429, Some("3"))], &[None], None);
}

#[test]
fn a_server_that_is_not_there_is_not_waited_for_long() {
    let waits = [Some(1_000), Some(2_000), Some(4_000), None];
    check(GOVERN, &[(0, None); 4], &waits, None);
}

#[test]
fn another_model_is_asked() {
    let config = format!("{GOVERN}{FALLBACK}");
    check(&config, &[(529, None)], &[None], Some("spare"));
    check(&config, &[(429, Some("2")), (429, Some("9"))], &[Some(2_000), None], Some("spare"));
    check(&config, &[(404, None)], &[None], Some("spare"));
    let waits = [Some(1_000), Some(2_000), Some(4_000), None];
    check(&config, &[(0, None); 4], &waits, Some("spare"));
    // What the client did wrong, another model would not put right.
    check(&config, &[(400, None)], &[None], None);
    check(&config, &[(401, None)], &[None], None);
    // Who only looks on changes nothing.
    check(&format!("mode: shadow\n{FALLBACK}"), &[(529, None)], &[None], None);
    let elsewhere = "fallbacks: [{model: other, use: spare}]\n";
    check(&format!("{GOVERN}{elsewhere}"), &[(529, None)], &[Some(30_000)], None);
}

#[test]
fn another_model_is_asked_only_if_the_key_allows_it() {
    let config = format!("{GOVERN}{FALLBACK}");
    for (models, expected) in
        [(vec![], true), (vec!["some-*"], false), (vec!["some-*", "sp*"], true)]
    {
        let kept = Arc::new(Kept::default());
        let steering = steering(&config, &kept);
        let mut client = Client::new(Format::Anthropic, false, "a");
        let models = models.into_iter().map(str::to_owned).collect();
        client.grant = Some(Grant { models, ..Grant::default() });
        let Sent::Forwarded { watch, .. } = client.ask(&steering) else { panic!("answered") };
        let mut watch = watch.unwrap();
        let wait = watch.retry(Some(StatusCode::SERVICE_UNAVAILABLE), &HeaderMap::new(), b"{}");
        assert_eq!((wait.is_none(), watch.fall_back().is_some()), (expected, expected));
    }
}
