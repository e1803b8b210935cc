//! The least a proxy on hyper can do: requests and answers pass as they come, nothing is read, kept
//! or checked. What any gateway costs on this machine is told beside it.
//!
//! `cargo run --release -p steersman-gateway --example bare -- 127.0.0.1:8897 127.0.0.1:8899`
//! listens on the first address and passes on to the second, with one thread per processor as the
//! gateway has.

use std::error::Error;
use std::net::SocketAddr;

use http::uri::{Authority, Scheme};
use http::{Request, Response, Uri};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio::task::{LocalSet, spawn_local};

type Failure = Box<dyn Error + Send + Sync>;
type Onward = Client<HttpConnector, Incoming>;

async fn pass(
    mut request: Request<Incoming>,
    to: Authority,
    onward: Onward,
) -> Result<Response<Incoming>, Failure> {
    let mut uri = std::mem::take(request.uri_mut()).into_parts();
    uri.scheme = Some(Scheme::HTTP);
    uri.authority = Some(to);
    *request.uri_mut() = Uri::from_parts(uri)?;
    Ok(onward.request(request).await?)
}

/// Takes connections on this thread until one cannot be taken.
async fn serve(listener: std::net::TcpListener, to: Authority) -> Result<(), Failure> {
    let listener = TcpListener::from_std(listener)?;
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    let onward = Client::builder(TokioExecutor::new()).build(connector);
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let (to, onward) = (to.clone(), onward.clone());
        let service = service_fn(move |request| pass(request, to.clone(), onward.clone()));
        spawn_local(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}

fn main() -> Result<(), Failure> {
    let mut addresses = std::env::args().skip(1);
    let (Some(listen), Some(to)) = (addresses.next(), addresses.next()) else {
        return Err("say two addresses: where to listen, and where to pass requests on to".into());
    };
    let listener = std::net::TcpListener::bind(listen.parse::<SocketAddr>()?)?;
    listener.set_nonblocking(true)?;
    let to: Authority = to.parse()?;
    let mut threads = Vec::new();
    for _ in 0..std::thread::available_parallelism()?.get() {
        let (listener, to) = (listener.try_clone()?, to.clone());
        threads.push(std::thread::spawn(move || -> Result<(), Failure> {
            let runtime = Builder::new_current_thread().enable_all().build()?;
            LocalSet::new().block_on(&runtime, serve(listener, to))
        }));
    }
    for thread in threads {
        thread.join().map_err(|_| "a thread broke down")??;
    }
    Ok(())
}
