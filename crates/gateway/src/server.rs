//! The server: connections, their limits, and its end.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use steersman_upstream::{Client, Options};
use steersman_wire::Format;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::time::{Duration, sleep};

use crate::answer::{Refusal, health};
use crate::api::{Api, is_ours};
use crate::budget::Ledger;
use crate::config::{Config, Limits};
use crate::forward::{self, Source, now_ms};
use crate::keys::{Ring, admit};
use crate::lanes::Lanes;
use crate::live::{Live, StartError};
use crate::receive::{Held, drain};
use crate::relay::Body;
use crate::route::{BadSession, Target, route};
use crate::seam::Governor;
use crate::socket::{Flights, Socket};

/// Requests at the same time on one connection of HTTP/2.
const MAX_STREAMS: u32 = 256;

/// How often a silent connection of HTTP/2 is asked whether it is alive.
const PING: Duration = Duration::from_secs(30);

/// How long a refused `accept` is waited out: the machine has no more files or memory.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Answers a request by its method, path and headers, if it is for a page; `None`: it is not.
pub type Pages = fn(&Method, &str, &HeaderMap) -> Option<Response<Bytes>>;

/// How far the server is on its way to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Open,
    /// No new connections and requests; what is being answered goes on.
    Draining,
    /// Everything ends.
    Closed,
}

/// A gateway that listens. It answers once it [runs](Server::run).
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    lanes: Lanes,
    shared: Arc<Shared>,
}

/// Tells a running gateway to end or to take up another configuration. Clones tell the same one.
#[derive(Clone)]
pub struct Handle(Arc<Shared>);

/// How a gateway ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Connections that were cut because their answers did not end in time.
    pub cut: usize,
}

struct Shared {
    live: RwLock<Arc<Live>>,
    /// Asks for connections that have no lane.
    client: Client,
    /// Not set: there is no API, and its paths are the model servers'.
    api: OnceLock<Api>,
    /// Not set: there is no page.
    pages: OnceLock<Pages>,
    /// Not set: no virtual key is known.
    ring: OnceLock<Arc<Ring>>,
    /// Not set: nobody counts what is used.
    ledger: OnceLock<Arc<Ledger>>,
    stage: watch::Sender<Stage>,
    connections: Arc<Semaphore>,
    held: Held,
    /// Connections so far.
    counted: AtomicU64,
    /// Connections that were cut while a request was being answered on them.
    cut: AtomicUsize,
}

impl Shared {
    fn live(&self) -> Arc<Live> {
        Arc::clone(&self.live.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn advance(&self, stage: Stage) {
        self.stage.send_if_modified(|now| {
            let further = *now < stage;
            *now = stage.max(*now);
            further
        });
    }
}

impl Server {
    /// Listens, and resolves what the configuration names; `variable` gives the value of an
    /// environment variable.
    ///
    /// # Errors
    /// If it cannot listen there, or the configuration names what is not there.
    pub async fn bind(
        config: Config,
        governor: Arc<dyn Governor>,
        options: &Options,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, StartError> {
        let client = Client::new(options)?;
        let live = Live::new(config, governor, &variable)?;
        let address = live.config.listen;
        let failed = |cause| StartError::Bind { address, cause };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let connections = live.config.limits.max_connections as usize;
        let shared = Shared {
            live: RwLock::new(Arc::new(live)),
            client,
            api: OnceLock::new(),
            pages: OnceLock::new(),
            ring: OnceLock::new(),
            ledger: OnceLock::new(),
            stage: watch::Sender::new(Stage::Open),
            connections: Arc::new(Semaphore::new(connections)),
            held: Held::default(),
            counted: AtomicU64::new(0),
            cut: AtomicUsize::new(0),
        };
        Ok(Self { listener, address, lanes: Lanes::default(), shared: Arc::new(shared) })
    }

    /// Answers `/api` and `/metrics` as well, and counts what it answers. The first API holds.
    #[must_use]
    pub fn with_api(self, api: Api) -> Self {
        // A second one would be a mistake of the caller's that changes nothing.
        let _ = self.shared.api.set(api);
        self
    }

    /// Answers requests for pages as well, before anything else is made of them. The first ones
    /// hold.
    #[must_use]
    pub fn with_pages(self, pages: Pages) -> Self {
        let _ = self.shared.pages.set(pages);
        self
    }

    /// Knows these virtual keys. The first ring holds; without one every virtual key is refused.
    #[must_use]
    pub fn with_keys(self, ring: Arc<Ring>) -> Self {
        let _ = self.shared.ring.set(ring);
        self
    }

    /// Holds calls to budgets, and counts what they use. The first ledger holds.
    #[must_use]
    pub fn with_ledger(self, ledger: Arc<Ledger>) -> Self {
        let _ = self.shared.ledger.set(ledger);
        self
    }

    /// Serves connections on so many threads of their own, each with a client of its own. Without
    /// it they are served on the runtime that [`run`](Self::run) is awaited on.
    ///
    /// # Errors
    /// The system gives no threads.
    pub fn with_threads(self, count: NonZeroUsize) -> std::io::Result<Self> {
        let lanes = Lanes::begin(count.get(), &self.shared.client)?;
        Ok(Self { lanes, ..self })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What tells it to end.
    #[must_use]
    pub fn handle(&self) -> Handle {
        Handle(Arc::clone(&self.shared))
    }

    /// Answers until it is told to [drain](Handle::drain), and every answer is at its end or the
    /// grace is over.
    pub async fn run(self) -> Ended {
        let Self { listener, lanes, shared, .. } = self;
        let mut stage = shared.stage.subscribe();
        loop {
            let (stream, permit) = tokio::select! {
                biased;
                _ = stage.wait_for(|stage| *stage != Stage::Open) => break,
                accepted = accept(&listener, &shared) => accepted,
            };
            let number = shared.counted.fetch_add(1, Ordering::Relaxed) + 1;
            let of_all = Arc::clone(&shared);
            let serve = move |stream, client| async move {
                serve(of_all, client, stream, number).await;
                drop(permit);
            };
            if lanes.is_empty() {
                tokio::spawn(serve(stream, shared.client.clone()));
            } else {
                // One that cannot be handed over is closed, as if it had not been accepted.
                let _ = lanes.serve(stream, serve);
            }
        }
        drop(listener);
        if let Some(api) = shared.api.get() {
            api.close();
        }
        let all = shared.live().config.limits.max_connections;
        let over = shared.connections.acquire_many(all);
        let grace = shared.live().config.shutdown_grace;
        tokio::select! {
            _ = over => {}
            _ = stage.wait_for(|stage| *stage == Stage::Closed) => {}
            () = sleep(grace) => {}
        }
        shared.advance(Stage::Closed);
        // They end as soon as they are polled.
        let _ = shared.connections.acquire_many(all).await;
        Ended { cut: shared.cut.load(Ordering::Relaxed) }
    }
}

impl Handle {
    /// Takes up another configuration. Answers that are streaming go on under the one they began
    /// with.
    ///
    /// # Errors
    /// If it is wrong, or changes what cannot change while the gateway runs; then nothing of it is
    /// taken up.
    pub fn reload(
        &self,
        config: Config,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<(), StartError> {
        let before = self.0.live();
        let fixed = [
            ("listen", config.listen != before.config.listen),
            ("state_dir", config.state_dir != before.config.state_dir),
            ("otlp", config.otlp != before.config.otlp),
            (
                "limits.max_connections",
                config.limits.max_connections != before.config.limits.max_connections,
            ),
        ];
        if let Some((key, _)) = fixed.into_iter().find(|(_, changed)| *changed) {
            return Err(StartError::Fixed(key));
        }
        let live = Live::new(config, Arc::clone(&before.governor), &variable)?;
        live.governor.reload(&live.config).map_err(StartError::Governor)?;
        *self.0.live.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(live);
        Ok(())
    }

    /// No new connections; what is being answered goes on for the grace that is configured.
    pub fn drain(&self) {
        self.0.advance(Stage::Draining);
    }

    /// Ends at once.
    pub fn stop(&self) {
        self.0.advance(Stage::Closed);
    }
}

/// The next connection, once there may be one more.
async fn accept(
    listener: &TcpListener,
    shared: &Shared,
) -> (TcpStream, tokio::sync::OwnedSemaphorePermit) {
    loop {
        let permit = Arc::clone(&shared.connections).acquire_owned().await;
        match (permit, listener.accept().await) {
            (Ok(permit), Ok((stream, _))) => {
                // Without it small pieces of an answer wait for each other.
                let _ = stream.set_nodelay(true);
                return (stream, permit);
            }
            _ => sleep(ACCEPT_PAUSE).await,
        }
    }
}

/// Serves one connection to its end.
async fn serve(shared: Arc<Shared>, client: Client, stream: TcpStream, number: u64) {
    let limits = shared.live().config.limits;
    let flights = Flights::default();
    let under_way = flights.clone();
    let socket = TokioIo::new(Socket::new(stream, flights.clone(), limits));
    let of_all = Arc::clone(&shared);
    let service = service_fn(move |request: Request<Incoming>| {
        let (shared, client, flight) = (Arc::clone(&of_all), client.clone(), flights.begin());
        async move {
            let mut response = respond(&shared, &client, number, request).await;
            response.body_mut().hold(flight);
            Ok::<_, Infallible>(response)
        }
    });
    let builder = builder(&limits);
    let mut connection = pin!(builder.serve_connection_with_upgrades(socket, service));
    let mut stage = shared.stage.subscribe();
    let mut seen = Stage::Open;
    loop {
        tokio::select! {
            // What a client does wrong ends its connection and is told to nobody else.
            _ = connection.as_mut() => return,
            now = wait_beyond(&mut stage, seen) => seen = now,
        }
        match seen {
            Stage::Open => {}
            Stage::Draining => connection.as_mut().graceful_shutdown(),
            Stage::Closed => {
                shared.cut.fetch_add(usize::from(under_way.any()), Ordering::Relaxed);
                return;
            }
        }
    }
}

async fn wait_beyond(stage: &mut watch::Receiver<Stage>, seen: Stage) -> Stage {
    stage.wait_for(|stage| *stage > seen).await.map_or(Stage::Closed, |stage| *stage)
}

fn builder(limits: &Limits) -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    // The socket has its own timer for heads.
    builder.http1().header_read_timeout(None).max_buf_size(limits.max_header_bytes);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(PING)
        .max_concurrent_streams(MAX_STREAMS)
        .max_header_list_size(u32::try_from(limits.max_header_bytes).unwrap_or(u32::MAX));
    builder
}

/// Answers one request, and counts it where there is somebody who asks for figures.
async fn respond(
    shared: &Shared,
    client: &Client,
    number: u64,
    request: Request<Incoming>,
) -> Response<Body> {
    let pages = shared.pages.get();
    if let Some(page) =
        pages.and_then(|pages| pages(request.method(), request.uri().path(), request.headers()))
    {
        return page.map(Body::whole);
    }
    let Some(api) = shared.api.get() else {
        return answer(shared, client, number, request).await.1;
    };
    let figures = api.figures();
    if is_ours(request.uri().path()) {
        return api.answer(request).await.map(Body::whole);
    }
    let (format, response) = answer(shared, client, number, request).await;
    let headers = response.headers();
    if let Some(why) = headers.get("x-steersman-error").and_then(|why| why.to_str().ok()) {
        figures.refused(why);
    }
    if let Some(format) = format {
        let is_turn = headers.contains_key("x-steersman-session");
        let kind = if is_turn { "turn" } else { "other" };
        figures.answered(format.name(), kind, response.status());
        if headers.contains_key("x-steersman-failed") {
            figures.failed_open();
        }
    }
    response
}

/// Answers one request; the format is that of a model's call.
async fn answer(
    shared: &Shared,
    client: &Client,
    number: u64,
    request: Request<Incoming>,
) -> (Option<Format>, Response<Body>) {
    let live = shared.live();
    let (mut head, body) = request.into_parts();
    let uri = head.uri.clone();
    if head.method == Method::CONNECT {
        let message = "the gateway is no proxy: it is the base URL of a model server";
        let refusal = Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "no_proxy", message);
        return (None, refusal.response(Format::OpenAiChat));
    }
    let route = match route(&head.method, uri.path(), &head.headers) {
        Ok(route) => route,
        Err(error @ BadSession) => {
            let message = error.to_string();
            let refusal = Refusal::new(StatusCode::BAD_REQUEST, "bad_session", message);
            return (None, refusal.response(Format::OpenAiChat));
        }
    };
    let (called, format) = match route.target {
        Target::Health => return (None, health(StatusCode::OK, "ok")),
        Target::Ready => return (None, ready(shared)),
        Target::Other(format) => (None, format),
        Target::Model(model) => (Some(model.format), model.format),
    };
    let ring = shared.ring.get().map(Arc::as_ref);
    let admitted = admit(live.config.keys, ring, &mut head, (route, format), now_ms()).await;
    let outcome = match (admitted, route.target) {
        (Err(refusal), _) => {
            drain(body, &live.config.limits).await;
            Err(refusal)
        }
        (Ok(key), Target::Model(model)) => {
            let ledger = shared.ledger.get();
            let from = Source { client, connection: number, key, ledger };
            forward::call(&live, &shared.held, from, (route, model), (head, body)).await
        }
        (Ok(_), _) => forward::pass(&live, client, route, format, head, body).await,
    };
    (called, outcome.unwrap_or_else(|refusal| refusal.response(format)))
}

fn ready(shared: &Shared) -> Response<Body> {
    if *shared.stage.borrow() != Stage::Open {
        return health(StatusCode::SERVICE_UNAVAILABLE, "draining");
    }
    // Calls are answered all the same, but what happens in them is not kept.
    match shared.api.get().and_then(Api::fault) {
        None => health(StatusCode::OK, "ready"),
        Some(_) => health(StatusCode::SERVICE_UNAVAILABLE, "store unavailable"),
    }
}
