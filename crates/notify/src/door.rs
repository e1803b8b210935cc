//! Letting clients in.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;

use crate::client::attend;
use crate::feed::Feed;
use crate::{gate, handshake};

/// Most clients at a time.
pub const MAX_CLIENTS: usize = 64;
/// Most connections at a time, clients included.
const MAX_CONNECTIONS: usize = 256;
/// Most bytes of a request's head.
const MAX_HEAD: usize = 16 * 1024;
/// How long a request's head may take.
const HEAD_TIMEOUT: Duration = Duration::from_secs(5);
/// How long clients have for what they were not sent yet when nothing more comes.
const LAST_WORDS: Duration = Duration::from_secs(3);

/// Why nobody can be let in.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// The address can be reached from other machines.
    #[error(
        "--listen {0}: other machines could listen, and there is no access control yet; allowed \
         are addresses of this machine, such as 127.0.0.1:{port}",
        port = .0.port()
    )]
    Open(SocketAddr),
    /// The address cannot be listened on.
    #[error("--listen {address}: {source}")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// What the system says.
        source: std::io::Error,
    },
}

/// What is still to come.
pub type Later<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What else is answered at the same address.
pub trait Beside: Send + Sync {
    /// Whether a request is for it, by its method, path and headers. What is not is the door's.
    fn wants(&self, method: &Method, path: &str, headers: &HeaderMap) -> bool;

    /// Answers a request that is for it.
    fn answer(&self, request: Request<Incoming>) -> Later<'_, Response<Bytes>>;

    /// Sends its clients away, once they had time to hear how it ended. The door lets clients in
    /// until then.
    fn leave(&self) -> Later<'_, ()>;
}

/// An address where clients can come.
#[derive(Debug)]
pub struct Door {
    listener: TcpListener,
    address: SocketAddr,
}

impl Door {
    /// Listens on an address of this machine; port 0 takes a free one.
    ///
    /// # Errors
    /// Other machines could reach it, or it cannot be listened on.
    pub async fn open(address: SocketAddr) -> Result<Self, ListenError> {
        if !gate::is_local(address) {
            return Err(ListenError::Open(address));
        }
        let bind = |source| ListenError::Bind { address, source };
        let listener = TcpListener::bind(address).await.map_err(bind)?;
        let address = listener.local_addr().map_err(bind)?;
        Ok(Self { listener, address })
    }

    /// Where clients can come.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Lets clients in and tells them of a session, until [`Serving::close`] or the drop. What is
    /// for `beside` is answered by it; `None`: there is only the session.
    #[must_use]
    pub fn serve(self, feed: Feed, beside: Option<Arc<dyn Beside>>) -> Serving {
        let feed = Arc::new(feed);
        let (stop, stopped) = watch::channel(());
        let house = House {
            feed: Arc::clone(&feed),
            beside: beside.clone(),
            clients: Arc::new(Semaphore::new(MAX_CLIENTS)),
        };
        let task = tokio::spawn(accept(self.listener, house, stopped));
        Serving { feed, beside, stop: Some(stop), task }
    }
}

/// Clients are being let in. Dropping it sends everybody away.
pub struct Serving {
    feed: Arc<Feed>,
    beside: Option<Arc<dyn Beside>>,
    /// Nothing is sent; that it is gone is the word.
    stop: Option<watch::Sender<()>>,
    task: tokio::task::JoinHandle<()>,
}

impl std::fmt::Debug for Serving {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Serving").field("feed", &self.feed).finish_non_exhaustive()
    }
}

impl Serving {
    /// Tells clients what is in the journal up to now and says good-bye; takes at most 3 seconds,
    /// and what leaves [beside](Beside::leave) before that.
    pub async fn close(mut self) {
        self.feed.finish().await;
        if let Some(beside) = &self.beside {
            beside.leave().await;
        }
        drop(self.stop.take());
        // It ends by itself; what is not sent by then is in the journal.
        let _ = (&mut self.task).await;
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[derive(Clone)]
struct House {
    feed: Arc<Feed>,
    beside: Option<Arc<dyn Beside>>,
    clients: Arc<Semaphore>,
}

async fn accept(listener: TcpListener, house: House, mut stopped: watch::Receiver<()>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            _ = stopped.changed() => break,
            Some(_) = connections.join_next() => {}
            accepted = listener.accept(), if connections.len() < MAX_CONNECTIONS => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(converse(stream, house.clone(), stopped.clone()));
                }
                // Too many open files, for example: it may pass.
                Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
            }
        }
    }
    drop(listener);
    let gone = async { while connections.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(LAST_WORDS, gone).await;
}

/// One connection: requests, and the client that one of them may make of it.
async fn converse(stream: TcpStream, house: House, mut stopped: watch::Receiver<()>) {
    // Progress is told at once, even if it is short.
    let _ = stream.set_nodelay(true);
    let (become_client, mut client) = tokio::sync::mpsc::channel::<Admitted>(1);
    let service = service_fn(move |request: Request<Incoming>| {
        let (house, become_client) = (house.clone(), become_client.clone());
        async move { Ok::<_, Infallible>(answer(request, &house, &become_client).await) }
    });
    {
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_TIMEOUT)
            .max_buf_size(MAX_HEAD)
            .serve_connection(TokioIo::new(stream), service)
            .with_upgrades();
        let mut connection = pin!(connection);
        // A client that leaves in the middle of a request is no failure of ours.
        tokio::select! {
            _ = connection.as_mut() => {}
            // One that only may ask for more is not waited for.
            _ = stopped.changed() => {
                connection.as_mut().graceful_shutdown();
                let _ = connection.await;
            }
        }
    }
    let Some(Admitted { upgrade, after, feed, _permit }) = client.recv().await else { return };
    let Ok(upgraded) = upgrade.await else { return };
    attend(handshake::socket(upgraded).await, feed, after).await;
}

async fn answer(
    request: Request<Incoming>,
    house: &House,
    become_client: &tokio::sync::mpsc::Sender<Admitted>,
) -> Response<Full<Bytes>> {
    if let Some(why) = gate::refuse(request.headers(), &[]) {
        return plain(StatusCode::FORBIDDEN, why);
    }
    let is_for = |beside: &&Arc<dyn Beside>| {
        beside.wants(request.method(), request.uri().path(), request.headers())
    };
    if let Some(beside) = house.beside.as_ref().filter(is_for) {
        return beside.answer(request).await.map(Full::new);
    }
    respond(request, house, become_client)
}

/// A request that becomes a client.
struct Admitted {
    upgrade: hyper::upgrade::OnUpgrade,
    after: Option<u64>,
    feed: Arc<Feed>,
    _permit: OwnedSemaphorePermit,
}

fn respond(
    mut request: Request<Incoming>,
    house: &House,
    become_client: &tokio::sync::mpsc::Sender<Admitted>,
) -> Response<Full<Bytes>> {
    if request.uri().path() != "/" {
        return plain(StatusCode::NOT_FOUND, "there is only /");
    }
    if request.method() != Method::GET {
        return plain(StatusCode::METHOD_NOT_ALLOWED, "only GET is allowed");
    }
    let Some(key) = handshake::key(request.headers()) else {
        return plain(StatusCode::OK, &what_this_is(&house.feed));
    };
    let after = match after(request.uri().query()) {
        Ok(after) => after,
        Err(why) => return plain(StatusCode::BAD_REQUEST, &why),
    };
    let Ok(permit) = Arc::clone(&house.clients).try_acquire_owned() else {
        let why = format!("{MAX_CLIENTS} clients listen already; no more are let in");
        return plain(StatusCode::SERVICE_UNAVAILABLE, &why);
    };
    let upgrade = hyper::upgrade::on(&mut request);
    let feed = Arc::clone(&house.feed);
    let admitted = Admitted { upgrade, after, feed, _permit: permit };
    if become_client.try_send(admitted).is_err() {
        return plain(StatusCode::BAD_REQUEST, "one client per connection");
    }
    handshake::accept(&key)
}

/// The number in `after=SEQ`.
fn after(query: Option<&str>) -> Result<Option<u64>, String> {
    let Some(query) = query.filter(|query| !query.is_empty()) else { return Ok(None) };
    let number = query.strip_prefix("after=").and_then(|number| number.parse().ok());
    number.map(Some).ok_or_else(|| "after what? ?after=SEQ is allowed, a number".to_owned())
}

fn what_this_is(feed: &Feed) -> String {
    let id = &feed.id;
    format!(
        "Steersman tells the progress of session {id} here, as JSON messages over WebSocket: \
         connect to this address with ws://. ?after=SEQ begins after that entry of the session's \
         journal."
    )
}

fn plain(status: StatusCode, text: &str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from(format!("{text}\n")));
    *response.status_mut() = status;
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}
