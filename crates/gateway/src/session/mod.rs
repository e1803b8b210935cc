//! One conversation under watch: what was heard, what was put in, what the engine makes of it.
//!
//! A session is told of requests and answers and says what is to be done. It does no IO and
//! reads no clock; whoever drives it saves its [`Snapshot`] and can go on from it with the same
//! decisions.

mod elsewhere;
mod hear;
mod helm;
mod print;
mod said;
mod seen;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use steersman_engine::{Decision, Engine, Event, Policy, RunInfo, State, Timestamp};
use steersman_wire::{Answer, Failure, Message};
use tokio::sync::Notify;

use crate::control::Limits;

pub use elsewhere::{Elsewhere, Moved};
pub use hear::Asked;
pub use print::Print;
pub use said::Said;

/// Most ids of calls that are remembered of a reply; results of others are told to the engine
/// all the same while the conversation only grows.
const MAX_PENDING: usize = 256;

/// One conversation under watch.
#[derive(Clone, Debug)]
pub struct Session {
    engine: Engine,
    pub(crate) memory: Memory,
    /// Whether the client's format has texts of its own beside results.
    puts_texts_beside: bool,
    /// Results of the request that was heard last, at most [`MAX_CALLS`](crate::record::MAX_CALLS);
    /// the latest.
    heard: Vec<seen::Heard>,
    /// Wakes requests that wait because the session is paused.
    resumed: Arc<Notify>,
}

/// What a session knows beside the engine's state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Memory {
    /// Items of the last request that was heard.
    pub items: usize,
    /// The hash of them; see [`Chain`](crate::chain::Chain).
    pub end: u64,
    /// The last reply, until the client has sent it back.
    pub told: Option<Print>,
    /// Ids of the last reply's calls, whose results are to come.
    pub pending: Vec<String>,
    /// What was put into the conversation, and where.
    pub said: Vec<Said>,
    /// Words of a person that are put in with the next request.
    pub notes: Vec<String>,
    /// Whether a person wants this session watched and not governed.
    pub is_left_alone: bool,
    /// Who wants its requests to wait; `None`: they do not.
    pub paused: Option<String>,
    /// The preset that a person wants in the place of the policy; `None`: the policy holds.
    pub preset: Option<String>,
    /// What a person wants in the place of the policy's limits.
    pub limits: Limits,
    /// Why the answer is being forced; `None` if it is not.
    pub forced: Option<String>,
    /// Requests that came although the answer was being forced.
    pub asked_on: u32,
    /// Why the session was ended; `None` if it was not.
    pub stopped: Option<String>,
    /// The last visible words of the model, for an answer of our own. At most 4 KiB.
    pub last_text: String,
    /// The last decision on a request, so that a request that is sent again is treated the same.
    pub last: Option<Box<Decision>>,
    /// Whether the conversation was shortened and no reply has come since.
    pub compacted: bool,
    /// What is known of it if the server keeps it.
    pub elsewhere: Elsewhere,
    /// Whether a request is being answered right now. After a restart none is.
    #[serde(skip)]
    pub in_flight: bool,
}

/// A session to go on from, as it is stored. Its format stays readable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Version of the format; 1 is the only one so far.
    pub version: u32,
    /// The engine's state.
    pub state: State,
    /// The rest.
    pub memory: Memory,
}

/// The version of [`Snapshot`] that this program writes.
pub const SNAPSHOT_VERSION: u32 = 1;

/// Longest text of the model that is kept for an answer of our own, in bytes.
const MAX_LAST_TEXT: usize = 4 << 10;

impl Session {
    /// A session of which nothing was heard yet.
    #[must_use]
    pub fn begin(policy: Arc<Policy>, info: RunInfo) -> Self {
        Self {
            engine: Engine::new(policy, info),
            memory: Memory::default(),
            puts_texts_beside: false,
            heard: Vec::new(),
            resumed: Arc::default(),
        }
    }

    /// Goes on from a snapshot; `None` if it is of a later version of the program.
    #[must_use]
    pub fn resume(policy: Arc<Policy>, snapshot: Snapshot) -> Option<Self> {
        (snapshot.version == SNAPSHOT_VERSION).then(|| {
            let mut session = Self {
                engine: Engine::resume(Arc::clone(&policy), snapshot.state),
                memory: snapshot.memory,
                puts_texts_beside: false,
                heard: Vec::new(),
                resumed: Arc::default(),
            };
            session.set_policy(policy);
            session
        })
    }

    /// The session as it is to be stored.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            version: SNAPSHOT_VERSION,
            state: self.engine.state().clone(),
            memory: self.memory.clone(),
        }
    }

    /// What the engine knows.
    #[must_use]
    pub const fn state(&self) -> &State {
        self.engine.state()
    }

    /// The policy that decides.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        self.engine.policy()
    }

    /// Goes on under another policy; what is known stays, and so does what a person wants.
    pub fn set_policy(&mut self, policy: Arc<Policy>) {
        let policy = self.wanted(policy);
        self.engine = Engine::resume(policy, self.engine.state().clone());
    }

    /// The model answered. The decision is made now if the answer ends the run, or if it shows
    /// something that cannot wait; that on calls is made when their results are in.
    pub fn replied(&mut self, at: Timestamp, answer: &Answer) -> Decision {
        self.memory.told = Some(Print::of(&answer.message));
        self.remember(&answer.message);
        let reply = answer.reply();
        let ends = reply.tool_calls.is_empty();
        let decision = self.engine.handle(at, &Event::Replied(reply));
        if ends { self.engine.handle(at, &Event::TurnEnded) } else { decision }
    }

    /// What the client got is this: replies of several calls of the model that it sees as one.
    pub fn told(&mut self, message: &Message) {
        self.memory.told = Some(Print::of(message));
    }

    /// The call of the model failed. The decision says whether it is made again, and when.
    pub fn failed(&mut self, at: Timestamp, failure: &Failure) -> Decision {
        self.engine.handle(at, &Event::CallFailed(failure.call_failure()))
    }

    /// A person asked for the session's end.
    pub fn stop(&mut self, at: Timestamp) -> Decision {
        self.engine.handle(at, &Event::StopRequested)
    }

    /// Whether the last request got no answer, and none is on its way.
    #[must_use]
    pub const fn broke_off(&self) -> bool {
        self.memory.told.is_none() && !self.memory.in_flight
    }

    fn remember(&mut self, message: &Message) {
        let ids = message.tool_calls().map(|call| call.id.into_owned());
        self.memory.pending = ids.take(MAX_PENDING).collect();
        self.memory.compacted = false;
        let text = message.text();
        if !text.trim().is_empty() {
            let end = text.floor_char_boundary(MAX_LAST_TEXT);
            text[..end].clone_into(&mut self.memory.last_text);
        }
    }
}
