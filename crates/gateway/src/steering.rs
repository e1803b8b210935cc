//! The governor: what is decided about each model call.

mod answer;
mod helm;

use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use http::header::{HeaderName, HeaderValue};
use steersman_engine::{Decision, Policy, RunInfo, Timestamp};
use steersman_trace::spoken::{Spoken, spoken};
use steersman_wire::{Part, Prefixes, Received, Speaker, WireError};

use crate::chain::{Chain, Start};
use crate::client::Client;
use crate::config::{Config, Mode};
use crate::follow::{Follow, Following};
use crate::govern::{Course, Ending};
use crate::identity::{Named, Told, named};
use crate::kind::{Kind, kind_of};
use crate::mode::{Subject, mode_of};
use crate::otlp::{Asking, CallSpan, Tracer};
use crate::record::{Entry, Opened, SharedRecorder};
use crate::seam::{Act, Call, Governor, Plan};
use crate::session::{Asked, Session};
use crate::sessions::{Caller, Key, Past, Sessions, Shared, lock, scope_of};

/// Most sessions that are held in memory.
pub const MAX_SESSIONS: usize = 10_000;
/// What may be kept of where things stand in the bodies that were read last, in bytes; it serves
/// some 3,000 conversations of 200 items.
const MAX_PREFIXES: usize = 16 << 20;
/// Longest beginning of the task in the journal, in bytes.
const MAX_TASK: usize = 1 << 10;
/// The task is looked for in so many of the first items.
const MAX_TASK_ITEMS: usize = 8;
/// Longest reason in a header, in bytes.
const MAX_REASON: usize = 200;

/// Tells the time, in milliseconds since 1970.
pub type Clock = Arc<dyn Fn() -> u64 + Send + Sync>;

/// Governs the sessions of all clients.
pub struct Steering {
    prefixes: Prefixes,
    sessions: Arc<Mutex<Sessions>>,
    settings: RwLock<Arc<Settings>>,
    recorder: SharedRecorder,
    clock: Clock,
    tracer: Option<Arc<Tracer>>,
}

/// What the configuration says.
struct Settings {
    config: Config,
    policy: Arc<Policy>,
}

/// A turn of an agent, as it was read.
struct Turn<'a> {
    call: &'a Call<'a>,
    received: Received<'a>,
    chain: Chain,
    client: Client,
    named: Option<Named>,
    model: Cow<'a, str>,
    mode: Mode,
}

impl Steering {
    /// Begins with the sessions the recorder knows.
    #[must_use]
    pub fn new(config: Config, policy: Policy, recorder: SharedRecorder, clock: Clock) -> Self {
        let mut sessions = Sessions::new(MAX_SESSIONS);
        for standing in recorder.standing(MAX_SESSIONS) {
            sessions.seed(&standing.id, standing.scope, standing.end);
        }
        let settings = Settings { config, policy: Arc::new(policy) };
        Self {
            prefixes: Prefixes::new(MAX_PREFIXES),
            sessions: Arc::new(Mutex::new(sessions)),
            settings: RwLock::new(Arc::new(settings)),
            recorder,
            clock,
            tracer: None,
        }
    }

    /// Calls are traced from now on.
    #[must_use]
    pub fn with_tracer(self, tracer: Arc<Tracer>) -> Self {
        Self { tracer: Some(tracer), ..self }
    }

    /// The span of a call; `None` if calls are not traced.
    fn span(&self, turn: &Turn<'_>, config: &Config, session: &str) -> Option<CallSpan> {
        let format = turn.call.format;
        self.tracer.as_ref()?.call(&Asking {
            session,
            headers: turn.call.headers,
            format,
            client: turn.client.name(),
            model: &turn.model,
            mode: name_of(turn.mode),
            stream: turn.received.stream() || turn.call.stream_in_path,
            server: config.upstream(format).map(|upstream| upstream.base_url.as_str()),
            at_ms: turn.call.at_ms,
        })
    }

    fn settings(&self) -> Arc<Settings> {
        Arc::clone(&self.settings.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads a call; `None` if it is no turn of an agent, or nobody wants it watched.
    fn read<'a>(&self, call: &'a Call<'a>, settings: &Settings) -> Option<Turn<'a>> {
        if settings.config.mode == Mode::Off && settings.config.rules.is_empty() {
            return None;
        }
        // What cannot be read is for the model's server to refuse.
        let received = self.prefixes.receive(call.format, call.body).ok()?;
        if kind_of(&received) != Kind::Turn {
            return None;
        }
        let client = Client::of(call.headers);
        let told = Told {
            prefix: call.session_prefix,
            thread_id: received.client_metadata().thread_id,
            prompt_cache_key: received.prompt_cache_key(),
            user_id: received.user_id(),
            conversation: received.conversation_id(),
        };
        let named = named(client, call.headers, &told);
        let model =
            received.model().or_else(|| call.model_in_path.map(Cow::Borrowed)).unwrap_or_default();
        let subject = Subject {
            client,
            agent: client.name(),
            model: &model,
            key: call.key,
            session: named.as_ref().map_or("", |named| &named.name),
        };
        let mode = mode_of(&settings.config, &subject);
        if mode == Mode::Off {
            return None;
        }
        let hashes = received.hashes();
        self.prefixes.remember(&received, &hashes);
        let chain = match (received.previous_response_id(), received.conversation_id()) {
            (Some(id), _) => Chain::behind(Start::Response, &id, hashes.items),
            (None, Some(id)) => Chain::behind(Start::Conversation, &id, hashes.items),
            (None, None) => Chain::of(hashes.prelude, hashes.items),
        };
        Some(Turn { call, received, chain, client, named, model, mode })
    }

    fn lock_sessions(&self) -> MutexGuard<'_, Sessions> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The turn's session, new or known.
    fn session_of(&self, turn: &Turn<'_>, policy: &Arc<Policy>) -> (Key, Shared) {
        let caller = Caller {
            key: turn.call.key,
            named: turn.named.as_ref(),
            received: &turn.received,
            chain: &turn.chain,
            at_ms: turn.call.at_ms,
        };
        let mut sessions = self.lock_sessions();
        let found = sessions.of(&caller, |key, past| self.open((key, past), turn, policy));
        sessions.stands(&found.0, &turn.chain);
        found
    }

    fn open(&self, (key, past): (&Key, Past), turn: &Turn<'_>, policy: &Arc<Policy>) -> Session {
        let id = key.id();
        let kept = if past == Past::None { None } else { self.recorder.recall(&id) };
        let resumed = kept.and_then(|(kept, _)| Session::resume(Arc::clone(policy), kept));
        let taken_up = resumed.is_some();
        let session = resumed.unwrap_or_else(|| {
            let depth = turn.named.as_ref().is_some_and(|named| named.parent.is_some());
            let names = turn.received.tool_names();
            let info = RunInfo {
                id: id.clone(),
                agent: turn.client.name().to_owned(),
                model: turn.model.to_string(),
                can_start_over: names.iter().any(|name| name.ends_with("start_over")),
                depth: u32::from(depth),
                ..RunInfo::default()
            };
            Session::begin(Arc::clone(policy), info)
        });
        if taken_up && past == Past::Rested {
            // Nobody but the memory has noticed.
            return session;
        }
        let named = turn.named.as_ref();
        let opened = Opened {
            name: named.map_or_else(String::new, |named| named.name.clone()),
            source: named.map_or("chain", |named| named.source).to_owned(),
            parent: named.and_then(|named| named.parent.clone()),
            client: turn.client.name().to_owned(),
            key: turn.call.key.to_owned(),
            model: turn.model.to_string(),
            format: turn.call.format.name().to_owned(),
            mode: name_of(turn.mode).to_owned(),
            // What stands in the rest of a conversation is not what it began with.
            task: match taken_up && turn.chain.is_rest() {
                true => String::new(),
                false => task_of(&turn.received),
            },
            taken_up,
        };
        self.recorder.record(&id, turn.call.at_ms, &Entry::Opened(Box::new(opened)));
        session
    }

    fn steer(&self, turn: &Turn<'_>, settings: &Settings) -> Result<Plan, WireError> {
        let (key, shared) = self.session_of(turn, &settings.policy);
        let (id, at_ms) = (key.id(), turn.call.at_ms);
        let mut session = lock(&shared);
        if let Some(resumed) = session.hold() {
            self.recorder.record(&id, at_ms, &Entry::Held);
            let headers = announce(&id, turn.mode, None);
            return Ok(Plan { act: Act::Hold(Box::pin(resumed)), headers, watch: None });
        }
        let mut span = self.span(turn, &settings.config, &id);
        let mut tell = |entry: &Entry| {
            span.iter_mut().for_each(|span| span.note(at_ms, entry));
            self.recorder.record(&id, at_ms, entry);
        };
        let resent = session.is_resent(&turn.chain);
        tell(&Entry::Asked { items: turn.chain.len(), resent });
        let asked = Asked { received: &turn.received, chain: &turn.chain, at: Timestamp(at_ms) };
        let governs = turn.mode == Mode::Govern && !session.memory.is_left_alone;
        let decision = session.hear(&asked)?.map(|it| it.in_shadow_unless(governs));
        session.memory.in_flight = true;
        if let Some(returned) = session.returned().filter(|_| !resent) {
            tell(&Entry::Returned(Box::new(returned)));
        }
        if !resent && let Some(decision) = &decision {
            tell(&Entry::Decided(Box::new(decision.clone())));
        }
        let acted = decision.as_ref().filter(|decision| !decision.shadow);
        let mut said = said(&mut session, &turn.chain, acted.filter(|_| !resent));
        // Work that has begun is brought to an answer; a task that begins is not ended unheard.
        let soft = turn.call.ticket.and_then(|ticket| ticket.soft());
        if let Some(why) = soft.filter(|_| governs && !resent && decision.is_some()) {
            said.extend(session.wind_up(&turn.chain, why));
        }
        let course = session.steer(acted, &turn.chain, resent);
        said.iter().for_each(&mut tell);
        tell(&Entry::Steered { course: course.clone() });
        let headers = announce(&id, turn.mode, decision.as_ref());
        let ending = match course {
            Course::Pass | Course::Say => Ending::Text,
            Course::Force | Course::Answer => Ending::of(&turn.received),
        };
        if course == Course::Answer {
            drop(session);
            return Ok(self.answer(turn, shared, &ending, headers, &id));
        }
        let act = forwarded(turn, &session, &course, &ending)?;
        drop(session);
        let sent = match &act {
            Act::ForwardBody(body) => body,
            _ => turn.call.body,
        };
        let follow = Follow::new(Following {
            id,
            scope: scope_of(turn.call.key, turn.named.as_ref()),
            session: shared,
            sessions: Arc::clone(&self.sessions),
            recorder: Arc::clone(&self.recorder),
            clock: Arc::clone(&self.clock),
            format: turn.call.format,
            body: turn.call.body.clone(),
            sent: sent.clone(),
            fallback: fallback(turn, settings).filter(|_| governs).map(str::to_owned),
            chain: turn.chain.clone(),
            acts: governs,
            begun_ms: at_ms,
            prices: settings.config.prices.clone(),
            model: turn.model.to_string(),
            ticket: turn.call.ticket.cloned(),
            span,
        });
        Ok(Plan { act, headers, watch: Some(Box::new(follow)) })
    }
}

impl Governor for Steering {
    fn call(&self, call: &Call<'_>) -> Plan {
        let settings = self.settings();
        let Some(turn) = self.read(call, &settings) else { return Plan::pass() };
        self.steer(&turn, &settings).unwrap_or_else(|error| {
            let mut plan = Plan::pass();
            plan.headers.push(header("x-steersman-failed", &error.to_string()));
            plan
        })
    }

    fn reload(&self, config: &Config) -> Result<(), String> {
        let policy = policy_of(config)?;
        let settings = Settings { config: config.clone(), policy: Arc::new(policy) };
        *self.settings.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(settings);
        Ok(())
    }
}

/// The model to ask where that of the request has no answer, if its key allows it.
fn fallback<'s>(turn: &Turn<'_>, settings: &'s Settings) -> Option<&'s str> {
    let allows = |model: &&str| turn.call.grant.is_none_or(|grant| grant.fits(model));
    settings.config.fallback(&turn.model).filter(allows)
}

/// The request as it goes on.
///
/// # Errors
/// It cannot be edited.
fn forwarded(
    turn: &Turn<'_>,
    session: &Session,
    course: &Course,
    ending: &Ending,
) -> Result<Act, WireError> {
    let edits = session.edits(course, &turn.received, &turn.chain, ending);
    if edits.is_empty() {
        return Ok(Act::Forward);
    }
    // A tool that is not offered by its name cannot be demanded.
    let edited = turn.received.edited(&edits).or_else(|_| {
        let plain = session.edits(course, &turn.received, &turn.chain, &Ending::Text);
        turn.received.edited(&plain)
    });
    Ok(Act::ForwardBody(edited?.into()))
}

/// Puts in the words of people, and tells what is said with this request for the first time.
fn said(session: &mut Session, chain: &Chain, acted: Option<&Decision>) -> Vec<Entry> {
    let mut said = Vec::new();
    // A person's words go in whatever the mode is.
    for text in std::mem::take(&mut session.memory.notes) {
        session.say(chain, &text);
        said.push(Entry::Said { text, template: "note".to_owned() });
    }
    let intervention = acted.and_then(|decision| decision.intervention.as_ref());
    said.extend(intervention.map(|intervention| Entry::Said {
        text: intervention.text.clone(),
        template: intervention.template.clone(),
    }));
    said
}

/// The policy the configuration names: a built-in one or a file; `default` if it names none.
///
/// # Errors
/// It cannot be read, or something in it is wrong; the sentence says what.
pub fn policy_of(config: &Config) -> Result<Policy, String> {
    let Some(name) = &config.policy else { return Ok(Policy::default()) };
    let loaded = steersman_config::resolve(name).map_err(|error| error.to_string())?;
    Ok(loaded.policy)
}

/// What the client is told in headers.
fn announce(id: &str, mode: Mode, decision: Option<&Decision>) -> Vec<(HeaderName, HeaderValue)> {
    let mut headers =
        vec![header("x-steersman-session", id), header("x-steersman-mode", name_of(mode))];
    if let Some(decision) = decision {
        headers.push(header("x-steersman-decision", decision.action.name()));
        headers.push(header("x-steersman-reason", &decision.reason.to_string()));
    }
    headers
}

/// A header of ours; what no header can hold becomes a question mark.
pub(crate) fn header(name: &'static str, value: &str) -> (HeaderName, HeaderValue) {
    let end = value.floor_char_boundary(MAX_REASON);
    let plain: String = value[..end]
        .chars()
        .map(|c| if c.is_ascii_graphic() || c == ' ' { c } else { '?' })
        .collect();
    let value = HeaderValue::from_str(&plain).unwrap_or(HeaderValue::from_static("?"));
    (HeaderName::from_static(name), value)
}

const fn name_of(mode: Mode) -> &'static str {
    match mode {
        Mode::Govern => "govern",
        Mode::Shadow => "shadow",
        Mode::Off => "off",
    }
}

/// The beginning of the first words that are a person's.
fn task_of(received: &Received<'_>) -> String {
    let first = (0..received.item_count().min(MAX_TASK_ITEMS)).find_map(|at| {
        let heard = received.item(at).ok()?;
        let is_user = heard.speaker == Speaker::User;
        // Clients put texts of their own before the person's, also into the same message.
        let texts = heard.message.parts.into_iter().filter(|_| is_user);
        texts.into_iter().find_map(|part| match part {
            Part::Text(text) => match spoken(text.into()) {
                Spoken::User(text) => Some(text.trim().to_owned()),
                _ => None,
            },
            _ => None,
        })
    });
    let mut task = first.unwrap_or_default();
    task.truncate(task.floor_char_boundary(MAX_TASK));
    task
}
