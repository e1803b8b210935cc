//! The gateway without the command around it: everything passes.
//!
//! `cargo run --release -p steersman-gateway --example pass -- serve --listen 127.0.0.1:8897
//! --upstream http://127.0.0.1:8899`, so that `tests/gateway-bench/run` can take it for the
//! command, which takes much longer to build.

use std::error::Error;
use std::sync::Arc;

use steersman_gateway::{Config, PassThrough, Server, Upstream};
use steersman_upstream::Options;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let value = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1)
    };
    let mut config = Config::default();
    if let Some(listen) = value("--listen") {
        config.listen = listen.parse()?;
    }
    if let Some(url) = value("--upstream") {
        config.upstreams = vec![Upstream::for_all(url)?];
    }
    let none = |_: &str| None;
    let options = Options::default();
    let server = Server::bind(config, Arc::new(PassThrough), &options, none).await?;
    let threads = std::thread::available_parallelism()?;
    server.with_threads(threads)?.run().await;
    Ok(())
}
