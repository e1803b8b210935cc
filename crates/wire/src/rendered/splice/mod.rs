//! One answer out of several streams.

mod anthropic;
mod chat;
mod gemini;
mod responses;
mod scan;
mod seam;

use std::borrow::Cow;

pub(super) use gemini::chunk;
pub(super) use seam::add;

use super::event;
use crate::Format;
use crate::sse::MAX_LINE;
use scan::Scan;
use seam::{Seam, adapt, events, line_end};

/// Most bytes held back, where the end of an answer is short. Content in the same event counts.
const MAX_HELD: usize = 1024 * 1024;

/// Most bytes held back of Responses, whose last event repeats the answer.
const MAX_HELD_RESPONSES: usize = MAX_LINE;

/// Holds the end of a streamed answer back until it is decided whether that is the end.
///
/// The client reads the first stream as it came, byte for byte. From the event on that says how the
/// answer ends, everything is held: [`release`](Self::release) passes it on, and the client has
/// got exactly the first stream; [`go_on`](Self::go_on) drops it, and what is pushed next is
/// another stream whose content continues the same answer, under the same id, with the usage of
/// both.
///
/// It is meant for server-sent events. An event is passed on once it is whole: only then can it be
/// known not to be the end. Errors inside a stream are no end and pass.
///
/// Held are at most 1 MiB, of Responses 16 MiB, an event that is not whole included. What is
/// longer is passed on as it is and nothing is held afterwards. In a later stream, an event of more
/// than 16 MiB and all behind it pass unchanged.
///
/// ```
/// use steersman_wire::{Format, Splice};
///
/// let text = |text: &str| {
///     format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n")
/// };
/// let end = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
/// let mut splice = Splice::new(Format::OpenAiChat);
/// let first = text("I will ") + end;
/// assert_eq!(splice.push(first.as_bytes()), text("I will ").as_bytes());
/// assert!(splice.is_holding());
/// splice.go_on();
/// assert_eq!(splice.push(text("do it.").as_bytes()), text("do it.").as_bytes());
/// assert_eq!(splice.push(end.as_bytes()), b"" as &[u8]);
/// assert!(!splice.release().is_empty());
/// ```
#[derive(Debug)]
pub struct Splice {
    seam: Box<dyn Seam>,
    /// Where the search for the end of the waiting event stands.
    scan: Scan,
    /// The beginning of an event that is not whole yet.
    waiting: Vec<u8>,
    /// The end of the answer, ready to be passed on.
    held: Vec<u8>,
    max_held: usize,
    /// What a later stream's bytes begin with.
    front: Vec<u8>,
    /// Whether the bytes are those of a later stream.
    later: bool,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The end has not come.
    Watching,
    /// It has, and is held.
    Holding,
    /// It was passed on; events of a later stream are adapted and pass.
    Released,
    /// Bytes pass uncut and unchanged.
    Open,
}

impl Splice {
    /// Begins with a first stream.
    #[must_use]
    pub fn new(format: Format) -> Self {
        let seam: Box<dyn Seam> = match format {
            Format::OpenAiChat => Box::<chat::Chat>::default(),
            Format::OpenAiResponses => Box::<responses::Responses>::default(),
            Format::Anthropic => Box::<anthropic::Anthropic>::default(),
            Format::Gemini => Box::<gemini::Gemini>::default(),
        };
        Self {
            seam,
            scan: Scan::default(),
            waiting: Vec::new(),
            held: Vec::new(),
            max_held: match format {
                Format::OpenAiResponses => MAX_HELD_RESPONSES,
                _ => MAX_HELD,
            },
            front: Vec::new(),
            later: false,
            state: State::Watching,
        }
    }

    /// Takes bytes of the upstream's stream, cut anywhere, and gives what can be passed on.
    ///
    /// Of the first stream, what is given is the beginning of `bytes` itself wherever chunks end
    /// where events do: nothing is copied.
    pub fn push<'a>(&mut self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        match self.state {
            State::Open => Cow::Borrowed(bytes),
            _ if self.later => Cow::Owned(self.push_later(bytes)),
            State::Watching if self.waiting.is_empty() => {
                let passed = self.watch(bytes);
                let rest = &bytes[passed..];
                if rest.len() > self.max_held {
                    self.state = State::Open;
                    return Cow::Borrowed(bytes);
                }
                let kept = if self.is_held() { &mut self.held } else { &mut self.waiting };
                kept.extend_from_slice(rest);
                Cow::Borrowed(&bytes[..passed])
            }
            State::Watching => Cow::Owned(self.push_waiting(bytes)),
            State::Holding | State::Released => {
                self.held.extend_from_slice(bytes);
                if self.held.len() > self.max_held {
                    return Cow::Owned(self.release());
                }
                Cow::Borrowed(&[])
            }
        }
    }

    /// Whether the end of the answer has come and is held back.
    #[must_use]
    pub fn is_holding(&self) -> bool {
        // Some servers leave out the blank line behind the last event.
        let end = self.waiting.trim_ascii_end();
        let whole = end.ends_with(b"}") || end.ends_with(b"[DONE]");
        self.is_held()
            || (self.state == State::Watching && whole && self.seam.is_end(&self.waiting))
    }

    /// The answer is the end: gives what is held, and whatever is left at the end of a stream.
    ///
    /// Nothing is held any more afterwards; what still comes is passed on.
    pub fn release(&mut self) -> Vec<u8> {
        let mut out = std::mem::take(&mut self.front);
        out.append(&mut self.held);
        if self.later && self.state != State::Open {
            self.state = State::Released;
        } else {
            self.state = State::Open;
        }
        let rest = self.take_waiting();
        if !rest.is_empty() {
            if self.later {
                adapt(self.seam.as_mut(), &rest, &mut out);
            } else {
                out.extend_from_slice(&rest);
            }
            // Should more come, it is the end of a line whose beginning is gone.
            self.state = State::Open;
        }
        out
    }

    /// The answer is not the end: drops what is held, and takes what is pushed next for another
    /// stream that continues it. May be called again when the end of that one is held.
    ///
    /// Content that came with the end is not lost: what the next [`push`](Self::push) gives begins
    /// with it. Without effect, and `false`, if nothing is held: the client has the end already, or
    /// the stream never came to one.
    pub fn go_on(&mut self) -> bool {
        if !self.is_holding() {
            return false;
        }
        let rest = self.take_waiting();
        if self.later {
            adapt(self.seam.as_mut(), &rest, &mut self.held);
        } else {
            self.held.extend_from_slice(&rest);
        }
        let held = std::mem::take(&mut self.held);
        let events = events(&held).into_iter().filter_map(|event| event.value).collect();
        for kept in self.seam.turn(events) {
            event(&mut self.front, "", &kept, line_end(&held));
        }
        self.later = true;
        self.state = State::Watching;
        true
    }

    fn is_held(&self) -> bool {
        self.state == State::Holding
    }

    fn take_waiting(&mut self) -> Vec<u8> {
        self.scan = Scan::default();
        std::mem::take(&mut self.waiting)
    }

    /// Looks through whole events of the first stream and tells how many bytes may pass.
    fn watch(&mut self, bytes: &[u8]) -> usize {
        let mut passed = 0;
        while let Some(len) = self.scan.end(&bytes[passed..]) {
            let frame = &bytes[passed..passed + len];
            if self.seam.is_end(frame) {
                self.state = State::Holding;
                break;
            }
            self.seam.note(frame);
            passed += len;
        }
        passed
    }

    /// Bytes of the first stream behind others that wait.
    fn push_waiting(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut whole = std::mem::take(&mut self.waiting);
        whole.extend_from_slice(bytes);
        let passed = self.watch(&whole);
        if whole.len() - passed > self.max_held {
            self.state = State::Open;
            return whole;
        }
        let kept = if self.is_held() { &mut self.held } else { &mut self.waiting };
        if passed == 0 {
            *kept = whole;
            return Vec::new();
        }
        kept.extend_from_slice(&whole[passed..]);
        whole.truncate(passed);
        whole
    }

    /// Bytes of a later stream.
    fn push_later(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut out = std::mem::take(&mut self.front);
        let mut whole = std::mem::take(&mut self.waiting);
        whole.extend_from_slice(bytes);
        let mut taken = 0;
        while let Some(len) = self.scan.end(&whole[taken..]) {
            let frame = &whole[taken..taken + len];
            taken += len;
            if self.state == State::Watching && self.seam.is_end(frame) {
                self.state = State::Holding;
            }
            let to = if self.is_held() { &mut self.held } else { &mut out };
            adapt(self.seam.as_mut(), frame, to);
        }
        whole.drain(..taken);
        let endless = whole.len() > MAX_LINE;
        if self.held.len() > self.max_held || endless {
            out.append(&mut self.held);
            self.state = State::Released;
        }
        if endless {
            out.append(&mut whole);
            self.state = State::Open;
        }
        self.waiting = whole;
        out
    }
}
