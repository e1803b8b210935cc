//! Follows one answer from the model's server to the client.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, StatusCode};
use steersman_engine::{Action, Decision, Timestamp};
use steersman_wire::{
    Answer, Edit, Failure, FailureKind, Format, Message, Part, Splice, StreamReader, Tokens,
};

use crate::budget::{Ticket, usage_of};
use crate::chain::{Chain, Start, place_of};
use crate::otlp::CallSpan;
use crate::prices::Prices;
use crate::record::{Entry, Replied, SharedRecorder};
use crate::seam::{EndOfAnswer, Instead, Next, Watch};
use crate::sessions::{Sessions, Shared, lock};
use crate::steering::Clock;

/// How often one request is asked again because its answer is not the end.
const MAX_RESCUES: u32 = 2;
/// Longest wait for a server, in milliseconds; a longer one is left to the client.
const MAX_WAIT_MS: u64 = 60_000;
/// Longest wait where another model can be asked. Milliseconds.
const MAX_WAIT_BEFORE_FALLBACK_MS: u64 = 5_000;
/// Longest waits for a server that is not there, in milliseconds; then the client hears of it: what
/// comes back after a minute can as well be asked again by whoever runs it.
const UNREACHABLE_WAITS_MS: [u64; 3] = [1_000, 2_000, 4_000];
/// How much of a whole answer is held back until it was read; a longer one is passed on unread.
const MAX_HELD: usize = 16 << 20;
/// Longest beginning of a reply in the journal, in bytes.
const MAX_TEXT: usize = 1 << 10;

/// What an answer is followed with.
pub(crate) struct Following {
    pub(crate) id: String,
    pub(crate) scope: u64,
    pub(crate) session: Shared,
    pub(crate) sessions: Arc<Mutex<Sessions>>,
    pub(crate) recorder: SharedRecorder,
    pub(crate) clock: Clock,
    pub(crate) format: Format,
    /// The client's body, for asking again.
    pub(crate) body: Bytes,
    pub(crate) chain: Chain,
    /// The body that goes to the server.
    pub(crate) sent: Bytes,
    /// The model to ask if that of the request has no answer; `None`: there is none.
    pub(crate) fallback: Option<String>,
    /// Whether what is decided is done.
    pub(crate) acts: bool,
    pub(crate) begun_ms: u64,
    pub(crate) prices: Prices,
    /// The model that was asked for.
    pub(crate) model: String,
    /// What it is charged to.
    pub(crate) ticket: Option<Arc<Ticket>>,
    /// The call's span; `None` if it is not traced.
    pub(crate) span: Option<CallSpan>,
}

/// How the answer comes.
enum Reading {
    /// Nothing is known yet, or it cannot be read.
    Not,
    /// As events; the splice holds back how it ends.
    Stream { reader: Option<Box<StreamReader>>, splice: Option<Splice> },
    /// In one piece, held back.
    Whole { held: Vec<Bytes>, bytes: usize },
}

/// Follows one answer.
pub(crate) struct Follow {
    with: Following,
    reading: Reading,
    rescues: u32,
    /// What the client has got of the answer's message in earlier parts.
    before: Vec<Part>,
    /// The whole body of the part before, where answers come in one piece.
    first: Option<Vec<u8>>,
    said: Vec<(Message, String)>,
    /// The ids of the first part's response, which the client gets, and of the last one's.
    ids: Option<(String, String)>,
    /// The model that is asked in the place of the request's own.
    model: Option<String>,
    /// How often the server could not be reached.
    unreachable: usize,
    is_over: bool,
    /// What an answer that cannot be read to its end has told of its use, and its model.
    partial: (Tokens, String),
}

impl Follow {
    pub(crate) fn new(with: Following) -> Self {
        Self {
            with,
            reading: Reading::Not,
            rescues: 0,
            before: Vec::new(),
            first: None,
            said: Vec::new(),
            ids: None,
            model: None,
            unreachable: 0,
            is_over: false,
            partial: Default::default(),
        }
    }

    fn tell(&mut self, entry: &Entry) {
        let at_ms = (self.with.clock)();
        self.with.span.iter_mut().for_each(|span| span.note(at_ms, entry));
        self.with.recorder.record(&self.with.id, at_ms, entry);
    }

    /// The answer that has come to its end, as far as it can be read.
    fn finish(&mut self) -> Option<Answer> {
        let read = match &mut self.reading {
            Reading::Not => return None,
            Reading::Stream { reader, .. } => reader.take()?.finish(),
            Reading::Whole { held, .. } => {
                let body = held.concat();
                self.with.format.answer(&body)
            }
        };
        read.map_err(|error| self.partial = usage_of(Err(error))).ok()
    }

    /// The model that was asked, as far as is known.
    fn asked(&self) -> &str {
        self.model.as_deref().unwrap_or(&self.with.model)
    }

    /// Charges what an answer that broke off has told.
    fn charge_partial(&mut self) {
        let (used, model) = std::mem::take(&mut self.partial);
        let cost = self.with.prices.cost(&model, self.asked(), &used);
        self.charge(&used, cost);
    }

    fn charge(&mut self, used: &Tokens, cost: Option<u64>) {
        if let Some(ticket) = &self.with.ticket {
            ticket.charge(used, cost);
        }
        self.with.span.iter_mut().for_each(|span| span.used(used, cost));
    }

    /// What was held back, to be passed on.
    fn release(&mut self) -> Vec<Bytes> {
        match &mut self.reading {
            Reading::Not => Vec::new(),
            Reading::Stream { splice, .. } => {
                splice.as_mut().map_or_else(Vec::new, |splice| vec![splice.release().into()])
            }
            Reading::Whole { held, .. } => {
                let held = std::mem::take(held);
                let Some(first) = self.first.take() else { return held };
                let second = held.concat();
                // Of what cannot be joined the later answer is the better one.
                let joined = self.with.format.joined(&first, &second).unwrap_or(second);
                vec![joined.into()]
            }
        }
    }

    /// Tells the session, and says whether the answer is the end.
    fn judge(&mut self, answer: &mut Answer) -> Option<Decision> {
        let at_ms = (self.with.clock)();
        let answered = answer.model.as_deref().unwrap_or_default();
        let cost = self.with.prices.cost(answered, self.asked(), &answer.usage);
        self.charge(&answer.usage, cost);
        // The engine counts what is known.
        answer.usage.cost_nanodollars = cost.unwrap_or_default();
        let took_ms = at_ms - self.with.begun_ms.min(at_ms);
        let ends = answer.message.tool_calls().next().is_none();
        if let Some(id) = answer.id.clone().filter(|_| self.with.format == Format::OpenAiResponses)
        {
            let told = self.ids.take().map_or_else(|| id.clone(), |(told, _)| told);
            self.ids = Some((told, id));
        }
        let mut session = lock(&self.with.session);
        let decision = session.replied(Timestamp(at_ms), answer);
        let decision = decision.in_shadow_unless(self.with.acts);
        let (tools, turn) = (session.called(&answer.message), session.state().turns);
        if !self.before.is_empty() {
            let parts = self.before.iter().chain(&answer.message.parts).cloned().collect();
            session.told(&Message { role: answer.message.role, parts });
        }
        session.memory.in_flight = false;
        drop(session);
        let replied = Replied { cost_nanodollars: cost, took_ms, tools, turn, ..told(answer) };
        self.tell(&Entry::Replied(Box::new(replied)));
        if !ends {
            return None;
        }
        self.tell(&Entry::Decided(Box::new(decision.clone())));
        let goes_on = matches!(
            decision.action,
            Action::Nudge | Action::NudgeSynthesis | Action::ReEvaluate | Action::ForceSynthesis
        );
        // What a server has put into a conversation cannot be asked once more.
        let is_kept = self.with.chain.start() == Start::Conversation;
        let may = !decision.shadow && self.rescues < MAX_RESCUES && !is_kept;
        (goes_on && may && self.can_hold()).then_some(decision)
    }

    /// Whether the client has not seen the end yet.
    fn can_hold(&self) -> bool {
        match &self.reading {
            Reading::Not => false,
            Reading::Stream { splice, .. } => splice.as_ref().is_some_and(Splice::is_holding),
            Reading::Whole { .. } => true,
        }
    }

    /// The body that asks the model once more; `None` if there is nothing to tell it.
    fn again(&mut self, answer: Answer, decision: &Decision) -> Option<Bytes> {
        let text = decision.intervention.as_ref()?.text.clone();
        let received = self.with.format.receive(&self.with.body).ok()?;
        let end = received.item_count();
        let session = lock(&self.with.session);
        let mut edits = session.standing(&received, &self.with.chain);
        let said = (answer.message, text);
        for (message, text) in self.said.iter().chain([&said]) {
            if !message.parts.is_empty() {
                edits.push(Edit::Replied { at: end, message });
            }
            edits.push(Edit::Say { at: end, text });
        }
        if decision.action == Action::ForceSynthesis {
            edits.push(Edit::NoTools);
        }
        edits.extend(self.model.as_deref().map(Edit::Model));
        let body = received.edited(&edits).ok()?;
        drop(edits);
        drop(session);
        self.before.extend(said.0.parts.iter().cloned());
        self.rescues += 1;
        self.tell(&Entry::Rescued { text: said.1.clone() });
        self.said.push(said);
        Some(body.into())
    }

    /// Gets ready to read the next part of the answer.
    fn go_on(&mut self) {
        match &mut self.reading {
            Reading::Not => {}
            Reading::Stream { reader, splice } => {
                *reader = Some(Box::new(self.with.format.stream()));
                if let Some(splice) = splice {
                    splice.go_on();
                }
            }
            Reading::Whole { held, bytes } => {
                let body = std::mem::take(held).concat();
                *bytes = 0;
                self.first = Some(match self.first.take() {
                    Some(first) => self.with.format.joined(&first, &body).unwrap_or(body),
                    None => body,
                });
            }
        }
    }

    /// The wait that is worth it; `None`: none is.
    fn bound(&mut self, wait: u64, failure: &Failure) -> Option<u64> {
        let mut wait = wait;
        if failure.kind == FailureKind::Unreachable {
            wait = wait.min(*UNREACHABLE_WAITS_MS.get(self.unreachable)?);
            self.unreachable += 1;
        }
        let has_other = self.with.fallback.is_some();
        let most = if has_other { MAX_WAIT_BEFORE_FALLBACK_MS } else { MAX_WAIT_MS };
        (wait <= most).then_some(wait)
    }

    /// The session is stored as it is now, and may be gone on with from the response it has got.
    fn keep(&mut self) {
        if let Some((told, server)) = self.ids.take() {
            let place = place_of(&told);
            lock(&self.with.session).memory.elsewhere.answered(told, server);
            let mut sessions = self.with.sessions.lock().unwrap_or_else(PoisonError::into_inner);
            sessions.answered(&self.with.id, place);
        }
        let session = self.with.session.clone();
        let snapshot = Box::new(move || lock(&session).snapshot());
        self.with.recorder.keep(&self.with.id, self.with.scope, snapshot);
    }

    fn broke_off(&mut self, how: &str) {
        self.is_over = true;
        // A refusal of what was asked again is no answer, and nothing was used.
        if how != "refused" {
            self.charge_partial();
        }
        lock(&self.with.session).memory.in_flight = false;
        self.tell(&Entry::BrokeOff { how: how.to_owned() });
        self.keep();
    }
}

impl Watch for Follow {
    fn head(&mut self, status: StatusCode, headers: &HeaderMap) {
        self.with.span.iter_mut().for_each(|span| span.head(status));
        if !status.is_success() {
            // A refusal was told already; what it says is the client's to read.
            self.is_over = true;
            return;
        }
        if let Some(ticket) = &self.with.ticket {
            ticket.begin();
        }
        if headers.contains_key(CONTENT_ENCODING) {
            return;
        }
        let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or("");
        self.reading = if kind.starts_with("text/event-stream") {
            let splice = self.with.acts.then(|| Splice::new(self.with.format));
            Reading::Stream { reader: Some(Box::new(self.with.format.stream())), splice }
        } else {
            Reading::Whole { held: Vec::new(), bytes: 0 }
        };
    }

    fn keeps_length(&self) -> bool {
        matches!(self.reading, Reading::Not) || !self.with.acts
    }

    fn push(&mut self, piece: Bytes, out: &mut Vec<Bytes>) {
        match &mut self.reading {
            Reading::Not => out.push(piece),
            Reading::Stream { reader, splice } => {
                self.with.span.iter_mut().for_each(|span| span.piece(&*self.with.clock));
                // A stream that cannot be read is not ours to judge: it passes.
                if let Some(Err(error)) = reader.as_mut().map(|reader| reader.push(&piece)) {
                    self.partial = usage_of(Err(error));
                    *reader = None;
                }
                match splice {
                    Some(splice) => spliced(splice, &piece, out),
                    None => out.push(piece),
                }
            }
            Reading::Whole { held, bytes } => {
                *bytes += piece.len();
                if self.with.acts {
                    held.push(piece);
                } else {
                    held.push(piece.clone());
                    out.push(piece);
                }
                if *bytes > MAX_HELD {
                    let passed = std::mem::take(held);
                    if self.with.acts {
                        out.extend(passed);
                    }
                    self.reading = Reading::Not;
                }
            }
        }
    }

    fn end(&mut self, how: EndOfAnswer) -> Next {
        if self.is_over {
            return Next::Done(Vec::new());
        }
        let is_whole = how == EndOfAnswer::Whole;
        // A client may close as soon as it has seen the end mark; a server may break there.
        let answer = self.finish();
        if let Some(answer) = answer.as_ref().filter(|_| !is_whole) {
            self.partial = (answer.usage, answer.model.clone().unwrap_or_default());
        }
        let Some(mut answer) = answer.filter(|_| is_whole) else {
            self.broke_off(match how {
                EndOfAnswer::Whole => "unreadable",
                EndOfAnswer::Cut => "cut",
                EndOfAnswer::TimedOut => "timed_out",
                EndOfAnswer::Refused => "refused",
            });
            let held = if self.with.acts { self.release() } else { Vec::new() };
            // What was asked again and refused leaves the answer that was there before.
            let had_answer = how == EndOfAnswer::Refused && self.rescues > 0;
            return if had_answer { Next::Finish(held) } else { Next::Done(held) };
        };
        if let Some(decision) = self.judge(&mut answer)
            && let Some(body) = self.again(answer, &decision)
        {
            self.go_on();
            let mut session = lock(&self.with.session);
            session.memory.in_flight = true;
            session.memory.told = None;
            drop(session);
            return Next::Again(body);
        }
        self.is_over = true;
        self.keep();
        let passes = self.with.acts || self.first.is_some();
        Next::Done(if passes { self.release() } else { Vec::new() })
    }

    fn retry(
        &mut self,
        status: Option<StatusCode>,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Option<u64> {
        let at_ms = (self.with.clock)();
        let value = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let failure = match status {
            Some(status) => self.with.format.failure(status.as_u16(), value, body, at_ms),
            None => Failure::new(FailureKind::Unreachable, &String::from_utf8_lossy(body)),
        };
        let decision = lock(&self.with.session).failed(Timestamp(at_ms), &failure);
        let wait = decision.delay_ms.filter(|_| decision.action == Action::Retry);
        if !helps(failure.kind) {
            self.with.fallback = None;
        }
        let wait = wait.and_then(|wait| self.bound(wait, &failure));
        let retry_ms = wait.filter(|_| self.with.acts);
        let message = failure.message.clone();
        let again_ms = retry_ms.or(self.with.fallback.as_ref().map(|_| 0));
        self.tell(&Entry::CallFailed { status: failure.status, message, retry_ms: again_ms });
        lock(&self.with.session).memory.in_flight = again_ms.is_some();
        retry_ms
    }

    fn fall_back(&mut self) -> Option<Instead> {
        let model = self.with.fallback.take()?;
        // Of a body that was read before; only the path of Gemini's calls names the model.
        let received = self.with.format.receive(&self.with.sent).ok()?;
        let body = received.edited(&[Edit::Model(&model)]).ok()?.into();
        self.tell(&Entry::FellBack { model: model.clone() });
        self.model = Some(model.clone());
        Some(Instead { body, model })
    }

    fn dropped(&mut self) {
        if self.is_over {
            return;
        }
        // Some clients close right behind the end mark: then the answer is theirs.
        let is_done = match &self.reading {
            Reading::Stream { reader: Some(reader), .. } => reader.is_done(),
            _ => false,
        };
        match self.finish() {
            Some(mut answer) if is_done => {
                self.judge(&mut answer);
                self.is_over = true;
                self.keep();
            }
            unread => {
                self.partial =
                    unread.map_or(std::mem::take(&mut self.partial), |answer| usage_of(Ok(answer)));
                self.broke_off("client_left");
            }
        }
    }
}

/// Whether another model may answer where one failed in this way.
const fn helps(kind: FailureKind) -> bool {
    matches!(
        kind,
        FailureKind::Unreachable
            | FailureKind::Timeout
            | FailureKind::RateLimited
            | FailureKind::Overloaded
            | FailureKind::Server
            | FailureKind::NotFound
    )
}

/// What of a piece can be passed on; without a copy where it is a part of the piece.
fn spliced(splice: &mut Splice, piece: &Bytes, out: &mut Vec<Bytes>) {
    match splice.push(piece) {
        Cow::Borrowed([]) => {}
        Cow::Borrowed(part) => out.push(piece.slice_ref(part)),
        Cow::Owned(part) => out.push(part.into()),
    }
}

/// What the journal tells of an answer.
fn told(answer: &Answer) -> Replied {
    let text = answer.message.text();
    Replied {
        text: text[..text.floor_char_boundary(MAX_TEXT)].to_owned(),
        calls: answer.message.tool_calls().map(|call| call.name.into_owned()).collect(),
        stop: answer.stop,
        usage: answer.usage.usage(),
        model: answer.model.clone().unwrap_or_default(),
        ..Replied::default()
    }
}
