//! A session that a person has paused, over real sockets.

use std::time::Duration;

use steersman_gateway::control::{Control, Helm};
use steersman_scripted_server::{Reply, ScriptedServer};
use steersman_wire::Format;

use crate::fallback::{body, path, steering};
use crate::support::{client, error_of, post, read, request, within};

#[tokio::test]
async fn a_request_waits_until_the_session_is_resumed() {
    for format in Format::ALL {
        let replies = vec![Reply::text("One."), Reply::text("Two."), Reply::text("Three.")];
        let server = ScriptedServer::start(replies).await.unwrap();
        let (gateway, helm) = steering("mode: shadow\n", &server.base_url()).await;
        let url = format!("{}{}", gateway.url(), path(format, true));
        let body = body(format, true);
        let named = [("x-steersman-session", "one")];
        let session = post(&url, &named, &body).await.header("x-steersman-session").to_owned();
        helm.control(&session, "ann", Control::Pause).unwrap();
        // Others go on meanwhile, and one that waits does not reach the server.
        let waiting = tokio::spawn(client(false).request(request(&url, &named, &body)));
        let other = post(&url, &[("x-steersman-session", "two")], &body).await;
        assert!(other.text().contains("Two."), "{format} {}", other.text());
        assert!(!waiting.is_finished() && server.progress().requests == 2, "{format}");
        helm.control(&session, "ann", Control::Resume).unwrap();
        let got = read(within(waiting).await.unwrap().unwrap()).await;
        assert!(got.whole && got.text().contains("Three."), "{format} {}", got.text());
    }
}

/// A request that waits for longer than a call may take.
async fn check_told(format: Format) {
    let server = ScriptedServer::start(vec![Reply::text("One.")]).await.unwrap();
    let yaml = "mode: shadow\nlimits: {total_timeout_ms: 5000}\n";
    let (gateway, helm) = steering(yaml, &server.base_url()).await;
    let url = format!("{}{}", gateway.url(), path(format, false));
    let body = body(format, false);
    let named = [("x-steersman-session", "one")];
    let first = post(&url, &named, &body).await;
    let session = first.header("x-steersman-session").to_owned();
    helm.control(&session, "ann", Control::Pause).unwrap();
    let begun = std::time::Instant::now();
    let got = post(&url, &named, &body).await;
    assert!(begun.elapsed() >= Duration::from_millis(4990), "{format}");
    assert_eq!((got.status, got.header("x-steersman-error")), (503, "paused"), "{format}");
    assert!(error_of(format, &got).1.contains("paused"), "{format} {}", got.text());
    assert_eq!(server.progress().requests, 1, "{format}");
}

#[tokio::test]
async fn who_waits_for_too_long_is_told() {
    // All at once, because each takes its time.
    futures::future::join_all(Format::ALL.map(check_told)).await;
}
