//! The API: sessions, controls, analytics, events, figures.

mod access;
mod analytics;
mod body;
mod document;
mod events;
mod mark;
mod query;
mod replay;
mod reply;
mod route;
mod runs;
mod timeline;
mod types;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, StatusCode, request};
use hyper::body::{Body, Incoming};
use hyper::upgrade::OnUpgrade;
use steersman_notify::handshake;
use steersman_store::{Filter, Position, SessionId, Store, Summary};
use tokio::sync::{Semaphore, watch};

use crate::control::{Control, ControlError, Helm};
use crate::figures::{Figures, Gauges};
use crate::journal::Health;
use crate::session::Snapshot;
use crate::steering::Clock;
use body::json_body;
use query::Query;
use reply::{Refused, Reply, json, of_kind};
use route::{Astray, Operation};
use types::is_gateway;

pub use access::Access;
pub use analytics::{
    After, Analytics, Bucket, Count, Fact, Followed, Group, Judged, LimitHits, Spread, StartOvers,
    facts,
};
pub use document::{document, document_text};
pub use mark::{Marked, NewMark};
pub(crate) use query::decode;
pub use replay::Replayed;
pub use route::is_ours;
pub use runs::{Answer, Runs, Wish};
pub use types::{
    Decided, Entries, Event, Line, Problem, ProblemBody, SessionDetail, SessionLine, SessionList,
    Standing, Taken,
};

/// Most clients that follow events at a time.
pub const MAX_FOLLOWERS: usize = 64;
/// Sessions of a list, unless another number is asked for.
const SESSIONS: u64 = 50;
/// Entries of a page, unless another number is asked for.
const ENTRIES: u64 = 200;
/// Longest name of a person, in bytes.
const MAX_WHO: usize = 64;
/// What is spoken over a WebSocket, where a client asks for it by name.
const PROTOCOL: &str = "steersman.v1";
/// How often it is looked for a session that may not be written yet: as long as entries are
/// gathered, and a little more.
const WRITTEN_LOOKS: u32 = 8;
/// How long between two looks.
const WRITTEN_LOOK: Duration = Duration::from_millis(25);
/// Who took the helm, where the request does not say.
const SOMEBODY: &str = "a person";

/// What the API is made of.
pub struct Parts {
    /// Where sessions are kept.
    pub store: Arc<dyn Store>,
    /// Who knows sessions of `steersman run`; `None`: nobody, and only their entries are told.
    pub runs: Option<Arc<dyn Runs>>,
    /// Who holds the open ones; `None`: nobody, and there is no helm to take.
    pub helm: Option<Arc<dyn Helm>>,
    /// What is counted.
    pub figures: Arc<Figures>,
    /// How the journal fares.
    pub journal: Arc<Health>,
    /// Who may ask.
    pub access: Access,
    /// The time, in milliseconds since 1970.
    pub clock: Clock,
}

/// Answers the API's requests. Clones answer for the same gateway.
#[derive(Clone)]
pub struct Api {
    with: Arc<Parts>,
    followers: Arc<Semaphore>,
    replays: Arc<Semaphore>,
    over: watch::Sender<bool>,
}

impl Api {
    /// An API of these parts.
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        let followers = Arc::new(Semaphore::new(MAX_FOLLOWERS));
        let replays = Arc::new(Semaphore::new(replay::MAX_REPLAYS));
        Self { with: Arc::new(parts), followers, replays, over: watch::Sender::new(false) }
    }

    /// What is counted.
    #[must_use]
    pub fn figures(&self) -> &Figures {
        &self.with.figures
    }

    /// What keeps the gateway from being ready; `None`: nothing.
    #[must_use]
    pub fn fault(&self) -> Option<String> {
        self.with.journal.fault()
    }

    /// How many clients follow events, at most [`MAX_FOLLOWERS`].
    #[must_use]
    pub fn followers(&self) -> usize {
        MAX_FOLLOWERS.saturating_sub(self.followers.available_permits())
    }

    /// Sends those away who follow events.
    pub fn close(&self) {
        self.over.send_replace(true);
    }

    /// Answers a request for a path that [is ours](is_ours).
    ///
    /// A client of `/api/events` is followed by a task of its own after the answer.
    pub async fn answer(&self, mut request: Request<Incoming>) -> Response<Bytes> {
        let upgrade =
            handshake::key(request.headers()).map(|key| (key, hyper::upgrade::on(&mut request)));
        let (head, body) = request.into_parts();
        self.reply(&head, body, upgrade).await
    }

    /// Answers a request whose head and body came apart; `upgrade` is the key and the connection
    /// of one that asks for a WebSocket.
    pub async fn reply<B>(
        &self,
        head: &request::Parts,
        body: B,
        upgrade: Option<(String, OnUpgrade)>,
    ) -> Response<Bytes>
    where
        B: Body<Data = Bytes, Error: Into<Box<dyn std::error::Error + Send + Sync>>>,
    {
        match self.respond(head, body, upgrade).await {
            Ok(reply) => reply,
            Err(refused) => refused.reply(),
        }
    }

    async fn respond<B>(
        &self,
        head: &request::Parts,
        body: B,
        upgrade: Option<(String, OnUpgrade)>,
    ) -> Result<Reply, Refused>
    where
        B: Body<Data = Bytes, Error: Into<Box<dyn std::error::Error + Send + Sync>>>,
    {
        self.with.access.check(head)?;
        let (route, id) = route::find(&head.method, head.uri.path()).map_err(astray)?;
        let query = Query::parse(route.params, head.uri.query().unwrap_or_default());
        let query = query.map_err(Refused::bad)?;
        match (route.operation, id) {
            (Operation::Sessions, _) => self.sessions(&query).await,
            (Operation::Session, Some(id)) => self.session(&id).await,
            (Operation::Entries, Some(id)) => self.entries(&id, &query).await,
            (Operation::Control, Some(id)) => self.control(&id, head, body).await,
            (Operation::Analytics, _) => self.analytics(&query).await,
            (Operation::Events, _) => self.events(head, &query, upgrade).await,
            (Operation::Metrics, _) => Ok(self.metrics()),
            // Only these have a session in their path.
            (Operation::Timeline, Some(id)) => self.timeline(&id, &query).await,
            (Operation::Mark, Some(id)) => self.mark(&id, head, body).await,
            (Operation::Replay, _) => self.replay(&query, head, body).await,
            (Operation::Document | Operation::Session | Operation::Entries, _)
            | (Operation::Control | Operation::Timeline | Operation::Mark, None) => {
                Ok(of_kind("application/json", document_text()))
            }
        }
    }

    async fn sessions(&self, query: &Query) -> Result<Reply, Refused> {
        let limit = usize::try_from(query.number("limit").unwrap_or(SESSIONS)).unwrap_or(1);
        let before = query.text("cursor").map(position).transpose()?;
        let filter = Filter {
            state: query.text("state").map(str::to_owned),
            text: query.text("text").map(str::to_owned),
            // One more tells whether there are more.
            limit: limit + 1,
            before,
        };
        let mut found = self.with.store.sessions(&filter).await?;
        let more = found.len() > limit;
        found.truncate(limit);
        let last = found.last().filter(|_| more).map(|last| last.position());
        let next = last.map(|place| format!("{}.{}", place.created_ms, place.id));
        let sessions = found.into_iter().map(|summary| self.line(summary)).collect();
        Ok(json(&SessionList { sessions, next }))
    }

    /// A session as lists show it.
    fn line(&self, summary: Summary) -> SessionLine {
        SessionLine::of_now(summary, self.with.runs.as_deref(), (self.with.clock)())
    }

    async fn session(&self, id: &SessionId) -> Result<Reply, Refused> {
        let store = &self.with.store;
        let summary = store.session(id).await?.ok_or_else(|| Refused::unknown(id.as_str()))?;
        let first = store.read(id, 0, 1).await?.pop().filter(|first| first.kind == "opened");
        let standing = store.kept(id).await?.and_then(|kept| {
            let snapshot: Snapshot = serde_json::from_str(&kept.body).ok()?;
            Some(Standing::of(kept.at_ms, snapshot))
        });
        let opened = first.map(|first| Line::from(first).entry);
        Ok(json(&SessionDetail { line: self.line(summary), opened, standing }))
    }

    async fn entries(&self, id: &SessionId, query: &Query) -> Result<Reply, Refused> {
        let after = query.number("after").unwrap_or_default();
        let limit = query.number("limit").unwrap_or(ENTRIES);
        let limit = usize::try_from(limit).unwrap_or(1);
        let found = self.with.store.read(id, after, limit).await?;
        let next = found.last().filter(|_| found.len() == limit).map(|last| last.seq);
        let entries = found.into_iter().map(Line::from).collect();
        Ok(json(&Entries { session: id.to_string(), entries, next }))
    }

    async fn control<B>(
        &self,
        id: &SessionId,
        head: &request::Parts,
        body: B,
    ) -> Result<Reply, Refused>
    where
        B: Body<Data = Bytes, Error: Into<Box<dyn std::error::Error + Send + Sync>>>,
    {
        let control: Control = json_body(head, body).await?;
        let who = who(head);
        let store = &self.with.store;
        let found = self.written(id).await?.ok_or_else(|| Refused::unknown(id.as_str()))?;
        let run = Some(found).filter(|summary| !is_gateway(summary));
        if let (Some(summary), Some(runs)) = (&run, &self.with.runs) {
            let wish = Wish { who: &who, what: &control, at_ms: (self.with.clock)() };
            runs.control(store, summary, wish).await.map_err(|error| refused(id, error))?;
        } else {
            let helm = self.with.helm.as_ref().ok_or_else(not_governing)?;
            helm.control(id.as_str(), &who, control.clone()).map_err(|it| refused(id, it))?;
        }
        Ok(json(&Taken { session: id.to_string(), who, control }))
    }

    /// A session of the store. One that has just begun may not be written yet, one that was deleted
    /// never comes back by being asked for.
    async fn written(&self, id: &SessionId) -> Result<Option<Summary>, Refused> {
        for _ in 0..WRITTEN_LOOKS {
            let found = self.with.store.session(id).await?;
            let is_open = found.is_some() || self.with.helm.is_none();
            if is_open || !id.as_str().starts_with("gw-") {
                return Ok(found);
            }
            tokio::time::sleep(WRITTEN_LOOK).await;
        }
        Ok(self.with.store.session(id).await?)
    }

    async fn analytics(&self, query: &Query) -> Result<Reply, Refused> {
        let span = analytics::Span::of(query, (self.with.clock)()).map_err(Refused::bad)?;
        Ok(json(&analytics::sum_up(&*self.with.store, self.with.runs.as_deref(), span).await?))
    }

    fn metrics(&self) -> Reply {
        let gauges = Gauges {
            open_sessions: self.with.helm.as_ref().and_then(|helm| helm.open_sessions()),
            journal: Some(&self.with.journal),
        };
        of_kind("text/plain; version=0.0.4; charset=utf-8", self.with.figures.text(gauges))
    }

    async fn events(
        &self,
        head: &request::Parts,
        query: &Query,
        upgrade: Option<(String, OnUpgrade)>,
    ) -> Result<Reply, Refused> {
        let wants = events::Wants::of(query).map_err(Refused::bad)?;
        if let Some(id) = wants.session()
            && self.with.store.session(id).await?.is_none()
        {
            return Err(Refused::unknown(id.as_str()));
        }
        let Some((key, upgrade)) = upgrade else {
            let why = "events come over WebSocket: connect with ws:// over HTTP/1.1";
            return Err(Refused::new(StatusCode::UPGRADE_REQUIRED, "no_websocket", why));
        };
        let Ok(place) = Arc::clone(&self.followers).try_acquire_owned() else {
            let why = format!("{MAX_FOLLOWERS} clients follow events already");
            return Err(Refused::new(StatusCode::SERVICE_UNAVAILABLE, "too_many", why));
        };
        let speaks = handshake::protocols(&head.headers).any(|offered| offered == PROTOCOL);
        let (store, over) = (Arc::clone(&self.with.store), self.over.subscribe());
        let joined_ms = (self.with.clock)();
        let (runs, clock) = (self.with.runs.clone(), Arc::clone(&self.with.clock));
        tokio::spawn(async move {
            if let Ok(upgraded) = upgrade.await {
                let socket = handshake::socket(upgraded).await;
                events::follow(
                    socket,
                    events::Following { store, wants, joined_ms, over, runs, clock },
                )
                .await;
            }
            drop(place);
        });
        let mut reply = handshake::accept(&key);
        if speaks {
            handshake::speak(&mut reply, PROTOCOL);
        }
        Ok(reply)
    }
}

/// Why nobody can be told what a person wants.
fn not_governing() -> Refused {
    let why = "no gateway governs here: its sessions are steered where it runs";
    Refused::new(StatusCode::CONFLICT, "not_governing", why)
}

/// Why a control had no effect.
fn refused(id: &SessionId, error: ControlError) -> Refused {
    match error {
        ControlError::Unknown => {
            let why = format!("no session that is open is called `{id}`");
            Refused::new(StatusCode::NOT_FOUND, "unknown_session", why)
        }
        ControlError::Invalid(why) => Refused::bad(why),
        ControlError::Deaf(why) => Refused::new(StatusCode::CONFLICT, "not_driven", why),
    }
}

fn astray(astray: Astray) -> Refused {
    match astray {
        Astray::Path => {
            let why = "there is no such path; /api/openapi.json tells which there are";
            Refused::new(StatusCode::NOT_FOUND, "unknown_path", why)
        }
        Astray::Session(why) => Refused::bad(why),
        Astray::Method(allow) => {
            let why = format!("allowed is: {allow}");
            let refused = Refused::new(StatusCode::METHOD_NOT_ALLOWED, "unknown_method", why);
            Refused { allow: Some(allow), ..refused }
        }
    }
}

/// The place that a cursor stands for.
fn position(cursor: &str) -> Result<Position, Refused> {
    let parts = cursor.split_once('.');
    let place = parts.and_then(|(created_ms, id)| {
        Some(Position { created_ms: created_ms.parse().ok()?, id: SessionId::new(id).ok()? })
    });
    place.ok_or_else(|| Refused::bad("`cursor` is `next` of the answer before"))
}

/// Who asks, as far as the request says: UTF-8, or that with `%` and two digits for each byte that
/// headers of browsers cannot hold.
fn who(head: &request::Parts) -> String {
    let given = head.headers.get("x-steersman-who");
    let given = given.and_then(|who| std::str::from_utf8(who.as_bytes()).ok());
    let given = given.map(|who| decode(&who.replace('+', "%2B")).unwrap_or_else(|| who.to_owned()));
    let given = given.filter(|who| !who.chars().any(char::is_control));
    match given.as_deref().map(str::trim) {
        Some(who) if !who.is_empty() => who[..who.floor_char_boundary(MAX_WHO)].to_owned(),
        _ => SOMEBODY.to_owned(),
    }
}
