//! How a gateway ends, and how it takes up another configuration.

use std::sync::Arc;
use std::time::Duration;

use http_body_util::BodyExt;
use steersman_gateway::{Call, Config, Ended, Governor, Limits, PassThrough, Plan, Server};
use steersman_scripted_server::{Reply, ScriptedServer};
use steersman_upstream::Options;
use steersman_wire::Format;
use tokio::net::TcpStream;

use crate::support::{
    Gateway, call, client, config, get, no_variable, post, read, request, to_end, within,
};

const TEXT: &str = "A text that is long enough to be in the middle of.";

#[tokio::test]
async fn answers_come_to_their_end() {
    for http2 in [false, true] {
        let slow = Reply { pause: Duration::from_millis(200), ..Reply::text(TEXT) };
        let server = ScriptedServer::start(vec![slow]).await.unwrap();
        let gateway = Gateway::start(config(&server.base_url())).await;
        let mut idle = gateway.raw(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n").await;
        let (path, body) = call(Format::OpenAiChat, true);
        let client = client(http2);
        let asked = request(&format!("{}{path}", gateway.url()), &[], &body);
        let mut response = within(client.request(asked)).await.unwrap();
        response.body_mut().frame().await.unwrap().unwrap();
        gateway.handle.drain();
        let rest = read(response).await;
        assert!(rest.whole && rest.text().ends_with("data: [DONE]\n\n"), "{rest:?}");
        drop(client);
        assert!(to_end(&mut idle).await.contains("ok"));
        assert_eq!(within(gateway.running).await.unwrap(), Ended { cut: 0 });
        assert!(TcpStream::connect(gateway.address).await.is_err());
    }
}

#[tokio::test]
async fn without_threads_of_its_own_it_serves_on_the_runtime() {
    let server = ScriptedServer::start(vec![Reply::text(TEXT)]).await.unwrap();
    let config = config(&server.base_url());
    let options = Options::default();
    let gateway = Server::bind(config, Arc::new(PassThrough), &options, no_variable).await;
    let gateway = gateway.unwrap();
    let (url, handle) = (format!("http://{}", gateway.address()), gateway.handle());
    let running = tokio::spawn(gateway.run());
    let (path, body) = call(Format::OpenAiChat, false);
    let got = post(&format!("{url}{path}"), &[], &body).await;
    assert!(got.status == 200 && got.text().contains(TEXT), "{got:?}");
    handle.drain();
    assert_eq!(within(running).await.unwrap(), Ended { cut: 0 });
}

#[tokio::test]
async fn answers_that_do_not_end_are_cut() {
    for (grace, told_twice) in
        [(Duration::from_millis(30), false), (Duration::from_secs(900), true)]
    {
        let stalled = Reply { stall: true, ..Reply::text(TEXT) };
        let server = ScriptedServer::start(vec![stalled]).await.unwrap();
        let config = Config { shutdown_grace: grace, ..config(&server.base_url()) };
        let gateway = Gateway::start(config).await;
        let (path, body) = call(Format::OpenAiChat, true);
        let asked = request(&format!("{}{path}", gateway.url()), &[], &body);
        let response = within(client(false).request(asked)).await.unwrap();
        gateway.handle.drain();
        if told_twice {
            gateway.handle.stop();
        }
        assert!(!read(response).await.whole);
        assert_eq!(within(gateway.running).await.unwrap(), Ended { cut: 1 });
        within(server.until(|now| now.abandoned == 1)).await;
    }
}

#[tokio::test]
async fn a_new_configuration_leaves_streams_alone() {
    let slow = Reply { pause: Duration::from_millis(200), ..Reply::text(TEXT) };
    let before = ScriptedServer::start(vec![slow]).await.unwrap();
    let after = ScriptedServer::start(vec![Reply::text("after")]).await.unwrap();
    let gateway = Gateway::start(config(&before.base_url())).await;
    let (path, body) = call(Format::OpenAiChat, true);
    let url = format!("{}{path}", gateway.url());
    let response = within(client(false).request(request(&url, &[], &body))).await.unwrap();
    gateway.handle.reload(config(&after.base_url()), no_variable).unwrap();
    assert!(post(&url, &[], &body).await.text().contains("after"));
    assert!(read(response).await.whole);
    assert_eq!((before.requests().len(), after.requests().len()), (1, 1));
}

/// A governor that takes no configuration with rules.
struct Picky;

impl Governor for Picky {
    fn call(&self, _: &Call<'_>) -> Plan {
        Plan::pass()
    }

    fn reload(&self, config: &Config) -> Result<(), String> {
        config.policy.as_ref().map_or(Ok(()), |policy| Err(format!("no policy `{policy}`")))
    }
}

#[tokio::test]
async fn what_cannot_change_is_refused() {
    let server = ScriptedServer::start(vec![Reply::text("x")]).await.unwrap();
    let config = config(&server.base_url());
    let gateway = Gateway::governed(config.clone(), Arc::new(Picky)).await;
    let upstreams = Vec::new();
    let other = Config { upstreams, ..config.clone() };
    let limits = Limits { max_connections: 1, ..Limits::default() };
    let mut keyed = config.clone();
    keyed.upstreams[0].key_env = Some("MISSING".to_owned());
    let anywhere = "0.0.0.0:1".parse().unwrap();
    let fixed = "cannot change while the gateway runs; start it anew. \
                 Nothing of the file was taken up";
    for (config, expected) in [
        (
            Config { listen: "127.0.0.1:1".parse().unwrap(), ..other.clone() },
            format!("listen {fixed}"),
        ),
        (Config { state_dir: Some("x".into()), ..other.clone() }, format!("state_dir {fixed}")),
        (Config { limits, ..other.clone() }, format!("limits.max_connections {fixed}")),
        (Config { policy: Some("p".to_owned()), ..other }, "no policy `p`".to_owned()),
        (
            keyed,
            "the environment variable MISSING is not set, and the configuration names it"
                .to_owned(),
        ),
    ] {
        let error = gateway.handle.reload(config, no_variable).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
    let got = post(&format!("{}/v1/messages", gateway.url()), &[], "{}").await;
    assert_eq!(got.status, 200);

    let open = Config { listen: anywhere, ..config };
    let options = Options::default();
    let refused = Server::bind(open, Arc::new(PassThrough), &options, no_variable).await;
    let message = refused.err().unwrap().to_string();
    assert!(message.starts_with("0.0.0.0:1 is not allowed: other machines could"), "{message}");
}

#[tokio::test]
async fn an_address_that_is_taken() {
    let gateway = Gateway::start(config("http://127.0.0.1:9")).await;
    let config = Config { listen: gateway.address, ..config("http://127.0.0.1:9") };
    let options = Options::default();
    let refused = Server::bind(config, Arc::new(PassThrough), &options, no_variable).await;
    let message = refused.err().unwrap().to_string();
    assert!(message.starts_with(&format!("cannot listen on {}: ", gateway.address)), "{message}");
    assert_eq!(get(&format!("{}/healthz", gateway.url()), &[]).await.status, 200);
}
