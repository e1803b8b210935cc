//! The seam between what moves bytes and what decides: a [`Governor`] is asked once per model
//! call, and a [`Watch`] of its making follows the answer.

use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{HeaderName, HeaderValue};
use http::{HeaderMap, StatusCode};
use steersman_wire::Format;

use crate::Config;
use crate::budget::Ticket;
use crate::keys::Grant;

/// What is known of a model call before it is forwarded.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The wire format, by the path.
    pub format: Format,
    /// The session named in the path, `/s/<name>/…`; `None` if it names none. At most 128
    /// characters: letters, digits and `-._~`.
    pub session_prefix: Option<&'a str>,
    /// The client's headers, as they came.
    pub headers: &'a HeaderMap,
    /// The model, where the path names it (Gemini); percent-encoded as it came.
    pub model_in_path: Option<&'a str>,
    /// Whether the path asks for a stream (Gemini).
    pub stream_in_path: bool,
    /// The whole body, as it came.
    pub body: &'a Bytes,
    /// The name of the virtual key; empty without one.
    pub key: &'a str,
    /// What that key allows; `None`: everything.
    pub grant: Option<&'a Grant>,
    /// What it is charged to; `None`: nobody counts. A watch of the governor's says what an answer
    /// used; without a watch that is read along.
    pub ticket: Option<&'a Arc<Ticket>>,
    /// The connection it came on, counted from 1 since the start.
    pub connection: u64,
    /// When its body was whole. Milliseconds since 1970.
    pub at_ms: u64,
}

/// Decides about model calls. One for the whole gateway; it is asked from many threads at once.
pub trait Governor: Send + Sync + 'static {
    /// What to do with a call: forward it as it is, forward another body, answer at once.
    ///
    /// It must not block for long: nothing else happens on its thread meanwhile. A panic is
    /// treated as the configuration's `fail` says.
    fn call(&self, call: &Call<'_>) -> Plan;

    /// Takes up a configuration that was read again. Sessions stay.
    ///
    /// # Errors
    /// Why it cannot be taken up; then the gateway goes on with the one before.
    fn reload(&self, config: &Config) -> Result<(), String> {
        let _ = config;
        Ok(())
    }
}

/// What is to be done with a call.
pub struct Plan {
    /// What becomes of the request.
    pub act: Act,
    /// Headers for the client's answer, whatever comes of the request.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// Who follows the answer; `None`: nobody, then it streams through unread.
    pub watch: Option<Box<dyn Watch>>,
}

impl Plan {
    /// The plan that changes nothing.
    #[must_use]
    pub fn pass() -> Self {
        Self { act: Act::Forward, headers: Vec::new(), watch: None }
    }
}

/// What becomes of a request.
pub enum Act {
    /// It goes on as it came.
    Forward,
    /// It goes on with this body.
    ForwardBody(Bytes),
    /// It waits, and then the governor is asked again. What waits longer than a call may take is
    /// refused.
    Hold(Pin<Box<dyn Future<Output = ()> + Send>>),
    /// It is answered here. `Content-Length` is set from the body.
    Answer(Box<http::response::Parts>, Bytes),
}

/// Follows one answer.
///
/// In order: [`retry`](Watch::retry) for each refusal that came before any byte reached the
/// client, then [`head`](Watch::head), [`push`](Watch::push) for each piece, [`end`](Watch::end);
/// `dropped` can come at any time before the end, and is then the last. After `Next::Again` the
/// pieces of the new answer are pushed, without another `head`. Nothing is told of an answer that
/// the governor gives itself, and nothing after a refusal without a status that is passed on.
pub trait Watch: Send {
    /// The head that the client gets. Not called if no answer is to be had.
    fn head(&mut self, status: StatusCode, headers: &HeaderMap);

    /// Whether the answer's bytes will reach the client as they are, so that its
    /// `Content-Length` can be passed on. Asked once, after [`head`](Watch::head).
    fn keeps_length(&self) -> bool {
        false
    }

    /// Bytes from upstream in, bytes for the client out (usually the same `Bytes`, no copy).
    fn push(&mut self, bytes: Bytes, out: &mut Vec<Bytes>);

    /// The upstream's answer is at its end.
    fn end(&mut self, how: EndOfAnswer) -> Next;

    /// The upstream refused before any byte reached the client, or did so when it was asked
    /// [again](Next::Again). `status` is `None` if there was no answer at all; `body` holds at most
    /// 256 KiB.
    ///
    /// Milliseconds to wait before it is asked once more; `None`: the refusal is passed on, and so
    /// it is if the wait goes beyond the call's total time. Not asked for a refusal with a longer
    /// body.
    fn retry(
        &mut self,
        status: Option<StatusCode>,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Option<u64>;

    /// Another model to ask in the place of the one that refused, instead of passing the refusal
    /// on. Asked for right behind a [`retry`](Watch::retry) that is not waited for, before any byte
    /// reached the client; the watch bounds how often.
    fn fall_back(&mut self) -> Option<Instead> {
        None
    }

    /// The client went away, or the gateway ended.
    fn dropped(&mut self);
}

/// A model to ask in the place of another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instead {
    /// The body that asks it.
    pub body: Bytes,
    /// Its name, for a format with the model in the path, and for the header
    /// `x-steersman-fallback`.
    pub model: String,
}

/// How an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndOfAnswer {
    /// It came to its end.
    Whole,
    /// The connection broke in the middle.
    Cut,
    /// Nothing came for too long, or it took too long altogether.
    TimedOut,
    /// The upstream was asked again and refused.
    Refused,
}

/// What follows the end of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// These bytes, and then the client's answer ends as the upstream's did: after anything but
    /// [`EndOfAnswer::Whole`] the client sees its connection break.
    Done(Vec<Bytes>),
    /// These bytes, which make the client's answer whole however the upstream's ended.
    Finish(Vec<Bytes>),
    /// The upstream is asked again with this body, and its answer goes on where this one ended.
    /// The watch bounds how often; above 8 times the answer is cut.
    Again(Bytes),
}

/// The governor that lets everything pass.
#[derive(Clone, Copy, Debug, Default)]
pub struct PassThrough;

impl Governor for PassThrough {
    fn call(&self, _call: &Call<'_>) -> Plan {
        Plan::pass()
    }
}
