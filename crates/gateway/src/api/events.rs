//! Following what happens over WebSocket.
//!
//! Entries are read from the store at the client's pace: one that is slow holds one page and
//! nothing else, and one that comes back goes on where it was.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use futures::{SinkExt, StreamExt};
use steersman_store::{Filter, Hint, News, SessionId, Store, StoreError, Subscription};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message as Frame;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

use super::query::Query;
use super::runs::Runs;
use super::types::{Event, Line, SessionLine};
use crate::steering::Clock;

/// Version of the messages.
const VERSION: u32 = 1;
/// Entries that are read at a time.
const PAGE: usize = 64;
/// A session of which a client of all sessions lacks more entries is told on from its last ones.
const MAX_BEHIND: u64 = 1024;
/// Most sessions that a client of all sessions is told of; those told of longest ago are forgotten.
const MAX_SEEN: usize = 10_000;
/// Most sessions that are looked through for what a client missed.
const MAX_LOOKED: usize = 2_000;
/// Most sessions that wait to be told as they stand; of more those that are not among them are told
/// with their next change.
const MAX_CHANGED: usize = 10_000;
/// How often sessions that changed are told as they stand.
const LINES_EVERY: Duration = Duration::from_millis(200);
/// How long one message may take to be taken.
const SEND_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a good-bye may take.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);
/// How often a client is asked whether it is still there.
const PING_EVERY: Duration = Duration::from_secs(30);

/// What a client wants to be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wants {
    /// One session, after this entry; `None`: what is new.
    One(SessionId, Option<u64>),
    /// All sessions, from this time on; `None`: what is new.
    All(Option<u64>),
    /// How each session stands, from this time on; `None`: what is new.
    Lines(Option<u64>),
}

impl Wants {
    /// # Errors
    /// What is wrong with it.
    pub(super) fn of(query: &Query) -> Result<Self, String> {
        let lines = query.text("tell") == Some("sessions");
        let (after, since_ms) = (query.number("after"), query.number("since_ms"));
        match query.text("session") {
            Some(_) if lines => Err("`tell=sessions` is for all sessions".to_owned()),
            Some(_) if since_ms.is_some() => {
                Err("with `session` it is `after`, not `since_ms`".to_owned())
            }
            Some(id) => {
                Ok(Self::One(SessionId::new(id).map_err(|error| error.to_string())?, after))
            }
            None if after.is_some() => {
                Err("`after` needs `session`; for all sessions it is `since_ms`".to_owned())
            }
            None if lines => Ok(Self::Lines(since_ms)),
            None => Ok(Self::All(since_ms)),
        }
    }

    pub(super) const fn session(&self) -> Option<&SessionId> {
        match self {
            Self::One(id, _) => Some(id),
            Self::All(_) | Self::Lines(_) => None,
        }
    }
}

/// What a client is followed with.
pub(super) struct Following {
    pub(super) store: Arc<dyn Store>,
    pub(super) wants: Wants,
    /// When the client came, in milliseconds since 1970.
    pub(super) joined_ms: u64,
    pub(super) over: watch::Receiver<bool>,
    /// Who knows sessions of runs.
    pub(super) runs: Option<Arc<dyn Runs>>,
    pub(super) clock: Clock,
}

/// Why a client is told nothing more.
enum Gone {
    /// It left, or its connection broke.
    Left,
    /// It is sent away with a code and a reason.
    Away(CloseCode, &'static str),
}

impl From<StoreError> for Gone {
    fn from(_: StoreError) -> Self {
        Self::Away(CloseCode::Error, "the journal cannot be read")
    }
}

/// Tells a client what happens until it leaves or the gateway ends.
pub(super) async fn follow<S>(socket: WebSocketStream<S>, with: Following)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    // First of all, so that nothing falls between what is read and what is heard.
    let news = with.store.subscribe();
    let session = with.wants.session().cloned();
    let mut client = Client {
        socket,
        store: with.store,
        session,
        tells_lines: matches!(with.wants, Wants::Lines(_)),
        changed: BTreeSet::new(),
        runs: with.runs,
        clock: with.clock,
        seen: HashMap::new(),
        from_ms: with.joined_ms,
    };
    let mut over = with.over;
    let told = tokio::select! {
        gone = client.tell(with.wants, news) => gone,
        () = ended(&mut over) => Gone::Away(CloseCode::Away, "the gateway ends"),
    };
    if let Gone::Away(code, reason) = told {
        let frame = CloseFrame { code, reason: reason.into() };
        let close = async {
            let _ = client.socket.close(Some(frame)).await;
            while let Some(Ok(_)) = client.socket.next().await {}
        };
        let _ = timeout(CLOSE_TIMEOUT, close).await;
    }
}

/// Waits until the gateway ends.
async fn ended(over: &mut watch::Receiver<bool>) {
    // The guard of the value must not live on in the caller.
    let _ = over.wait_for(|over| *over).await;
}

struct Client<S> {
    socket: WebSocketStream<S>,
    store: Arc<dyn Store>,
    /// The one session that is followed; `None`: all are.
    session: Option<SessionId>,
    /// Whether it is told how sessions stand, instead of entries.
    tells_lines: bool,
    /// Sessions of which it is to be told how they stand.
    changed: BTreeSet<SessionId>,
    runs: Option<Arc<dyn Runs>>,
    clock: Clock,
    /// The last entry that the client knows of, by session.
    seen: HashMap<SessionId, u64>,
    /// Entries of sessions not seen yet are told from this time on.
    from_ms: u64,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Client<S> {
    async fn tell(&mut self, wants: Wants, mut news: Subscription) -> Gone {
        match self.begin(wants).await {
            Ok(()) => {}
            Err(gone) => return gone,
        }
        let mut pings = interval_at(Instant::now() + PING_EVERY, PING_EVERY);
        let mut lines = interval_at(Instant::now() + LINES_EVERY, LINES_EVERY);
        lines.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let told = tokio::select! {
                heard = news.next() => match heard {
                    None => Err(Gone::Away(CloseCode::Normal, "nothing more comes")),
                    Some(News::Changed(hint)) => self.hear(hint).await,
                    Some(News::Missed(_)) => self.catch_up().await,
                },
                said = self.socket.next() => match said {
                    // Pings and good-byes are answered by reading; nothing is asked of clients.
                    Some(Ok(_)) => Ok(()),
                    _ => Err(Gone::Left),
                },
                _ = lines.tick(), if !self.changed.is_empty() => self.tell_lines().await,
                _ = pings.tick() => self.send(Frame::Ping(bytes::Bytes::new())).await,
            };
            if let Err(gone) = told {
                return gone;
            }
        }
    }

    /// Says hello and tells what the client asked for of the past.
    async fn begin(&mut self, wants: Wants) -> Result<(), Gone> {
        let session = self.session.as_ref().map(ToString::to_string);
        self.send_event(&Event::Hello { version: VERSION, session }).await?;
        match wants {
            Wants::One(id, after) => {
                let last = self.store.session(&id).await?.map_or(0, |summary| summary.last_seq);
                self.seen.insert(id.clone(), after.unwrap_or(last));
                self.tell_session(&id, u64::MAX).await
            }
            Wants::All(since_ms) | Wants::Lines(since_ms) => {
                self.from_ms = since_ms.unwrap_or(self.from_ms);
                if since_ms.is_some() { self.catch_up().await } else { Ok(()) }
            }
        }
    }

    async fn hear(&mut self, hint: Hint) -> Result<(), Gone> {
        let other = self.session.as_ref().is_some_and(|session| *session != hint.id);
        if other || hint.last_seq == 0 {
            return Ok(());
        }
        if self.tells_lines {
            if self.changed.len() < MAX_CHANGED {
                self.changed.insert(hint.id);
            }
            return Ok(());
        }
        self.tell_session(&hint.id, hint.last_seq).await
    }

    /// Tells how the sessions stand that have changed.
    async fn tell_lines(&mut self) -> Result<(), Gone> {
        for id in std::mem::take(&mut self.changed) {
            if let Some(summary) = self.store.session(&id).await? {
                let now_ms = (self.clock)();
                let line = SessionLine::of_now(summary, self.runs.as_deref(), now_ms);
                self.send_event(&Event::Session(Box::new(line))).await?;
            }
        }
        Ok(())
    }

    /// Looks for what was missed in the sessions that are followed.
    async fn catch_up(&mut self) -> Result<(), Gone> {
        if let Some(id) = self.session.clone() {
            return self.tell_session(&id, u64::MAX).await;
        }
        let filter = Filter { limit: MAX_LOOKED, ..Filter::default() };
        for summary in self.store.sessions(&filter).await?.into_iter().rev() {
            if summary.updated_ms >= self.from_ms && self.tells_lines {
                self.changed.insert(summary.id);
            } else if summary.updated_ms >= self.from_ms {
                self.tell_session(&summary.id, summary.last_seq).await?;
            }
        }
        Ok(())
    }

    /// Tells the entries of a session that the client does not know of, up to and with `until`.
    async fn tell_session(&mut self, id: &SessionId, until: u64) -> Result<(), Gone> {
        let known = self.seen.get(id).copied();
        let mut last = known.unwrap_or_else(|| until.saturating_sub(MAX_BEHIND));
        let behind = until.saturating_sub(last);
        if self.session.is_none() && known.is_some() && behind > MAX_BEHIND {
            let entries = behind - MAX_BEHIND;
            self.send_event(&Event::Missed { session: id.to_string(), entries }).await?;
            last += entries;
        }
        loop {
            let page = match self.store.read(id, last, PAGE).await {
                Err(StoreError::Unknown { .. }) => break,
                page => page?,
            };
            let is_last = page.len() < PAGE;
            for stored in page {
                last = stored.seq;
                if known.is_some() || stored.at_ms >= self.from_ms {
                    let (session, line) = (id.to_string(), Line::from(stored));
                    self.send_event(&Event::Entry { session, line }).await?;
                }
            }
            if is_last || last >= until {
                break;
            }
        }
        if self.seen.len() >= MAX_SEEN && !self.seen.contains_key(id) {
            self.seen.clear();
        }
        self.seen.insert(id.clone(), last);
        Ok(())
    }

    async fn send_event(&mut self, event: &Event) -> Result<(), Gone> {
        // Plain data: writing it cannot fail.
        self.send(Frame::text(serde_json::to_string(event).unwrap_or_default())).await
    }

    async fn send(&mut self, frame: Frame) -> Result<(), Gone> {
        match timeout(SEND_TIMEOUT, self.socket.send(frame)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(Gone::Left),
            Err(_) => Err(Gone::Away(CloseCode::Again, "too slow")),
        }
    }
}
