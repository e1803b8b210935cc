//! What a reader of one format has to provide, and what all of them need.

use std::borrow::Cow;

use steersman_engine::{Reply, ToolCall, ToolResult};

use crate::lenient::MAX_ITEMS;
use crate::run::{RunEnd, RunMeta};
use crate::writer::{RunWriter, Spot};

/// Reads one run that is spread over many elements: lines of a file, or members of a list.
pub(crate) trait Session: Send {
    /// Takes the next element.
    ///
    /// # Errors
    /// If the element is not valid JSON; it is skipped then.
    fn element(&mut self, json: &str, line: u64, out: &mut RunWriter<'_>)
    -> serde_json::Result<()>;

    /// Takes a member of the object around the list of elements. May come twice.
    fn member(&mut self, _key: &str, _json: &str) {}

    /// Whether the list under this key holds the elements.
    fn wants_list(&mut self, _key: &str) -> bool {
        false
    }

    /// Shows the first elements of any list before reading begins.
    fn preview(&mut self, _list: &str, _json: &str) {}

    /// The input is over.
    fn finish(&mut self, end: RunEnd, out: &mut RunWriter<'_>);
}

/// A run whose start waits until something happens in it.
#[derive(Debug, Default)]
pub(crate) struct Opening {
    /// What is known so far.
    pub(crate) meta: RunMeta<'static>,
    is_open: bool,
}

impl Opening {
    /// A run by the name of its file, until the trace tells a better one.
    pub(crate) fn of(id: &str, agent: &'static str) -> Self {
        let meta = RunMeta {
            id: Cow::Owned(id.to_owned()),
            agent: Cow::Borrowed(agent),
            ..RunMeta::default()
        };
        Self { meta, is_open: false }
    }

    /// Begins the run, unless it has begun.
    pub(crate) fn ensure(&mut self, line: u64, out: &mut RunWriter<'_>) {
        if !self.is_open {
            self.is_open = true;
            self.meta.line = line;
            out.start(&self.meta);
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.is_open
    }

    /// Ends the run, if it has begun. Another one may follow.
    pub(crate) fn close(&mut self, end: RunEnd, out: &mut RunWriter<'_>) {
        if self.is_open {
            self.is_open = false;
            out.end(end);
        }
    }
}

/// Results held back with an unfinished reply; beyond this the reply counts as finished.
const MAX_HELD_RESULTS: usize = 256;
/// Bytes of text held back with an unfinished reply.
const MAX_HELD_BYTES: usize = 16 << 20;

/// A reply that arrives in pieces, with the results that arrive between them.
#[derive(Debug, Default)]
pub(crate) struct HeldTurn {
    key: String,
    reply: Option<(Spot, Reply<'static>)>,
    results: Vec<(Spot, ToolResult<'static>)>,
    bytes: usize,
}

impl HeldTurn {
    /// The reply with this key, begun if it is not the one at hand. An empty key means the reply
    /// at hand, unless results have come since.
    pub(crate) fn reply(
        &mut self,
        key: &str,
        spot: Spot,
        out: &mut RunWriter<'_>,
    ) -> &mut Reply<'static> {
        let same = if key.is_empty() { self.results.is_empty() } else { key == self.key };
        let continues = same && self.current().is_none_or(|reply| !is_full(reply));
        if self.reply.is_some() && !continues {
            self.flush(out);
        }
        let (_, reply) = self.reply.get_or_insert_with(|| {
            self.key.clear();
            self.key.push_str(key);
            (spot, Reply::default())
        });
        reply
    }

    /// The reply at hand, if any.
    pub(crate) fn current(&mut self) -> Option<&mut Reply<'static>> {
        self.reply.as_mut().map(|(_, reply)| reply)
    }

    /// Takes a result: held back if its reply is, else pushed at once.
    pub(crate) fn result(&mut self, spot: Spot, result: ToolResult<'_>, out: &mut RunWriter<'_>) {
        if self.reply.is_none() {
            out.push_result(spot, result);
            return;
        }
        self.bytes += result.content.len();
        self.results.push((spot, owned_result(result)));
        if self.results.len() >= MAX_HELD_RESULTS || self.bytes >= MAX_HELD_BYTES {
            self.flush(out);
        }
    }

    /// Pushes what is held back.
    pub(crate) fn flush(&mut self, out: &mut RunWriter<'_>) {
        if let Some((spot, reply)) = self.reply.take() {
            out.reply(spot, reply);
        }
        for (spot, result) in self.results.drain(..) {
            out.push_result(spot, result);
        }
        self.bytes = 0;
        self.key.clear();
    }
}

/// Whether a reply holds so much that nothing is added to it any more.
pub(crate) fn is_full(reply: &Reply<'_>) -> bool {
    let text = reply.text.len() + reply.reasoning.len();
    text >= MAX_HELD_BYTES || reply.tool_calls.len() >= MAX_ITEMS
}

/// A result that outlives its line.
pub(crate) fn owned_result(result: ToolResult<'_>) -> ToolResult<'static> {
    ToolResult {
        call_id: Cow::Owned(result.call_id.into_owned()),
        content: Cow::Owned(result.content.into_owned()),
        is_error: result.is_error,
        exit_code: result.exit_code,
        full_len: result.full_len,
        tests: result.tests,
    }
}

/// A call that outlives its line.
pub(crate) fn owned_call(call: ToolCall<'_>) -> ToolCall<'static> {
    ToolCall {
        id: Cow::Owned(call.id.into_owned()),
        name: Cow::Owned(call.name.into_owned()),
        arguments: Cow::Owned(call.arguments.into_owned()),
        ..ToolCall::default()
    }
}

/// Adds one reply's content to another that outlives its line. The later stop reason and the later
/// usage hold: recorders repeat them with every piece, and the last one is complete.
pub(crate) fn add_reply(held: &mut Reply<'static>, piece: Reply<'_>) {
    crate::content::append(&mut held.text, Cow::Owned(piece.text.into_owned()));
    crate::content::append(&mut held.reasoning, Cow::Owned(piece.reasoning.into_owned()));
    held.tool_calls.extend(piece.tool_calls.into_iter().map(owned_call));
    held.stop = piece.stop.or(held.stop);
    if piece.usage != steersman_engine::Usage::default() {
        held.usage = piece.usage;
    }
}

/// A reply that outlives its line.
pub(crate) fn owned_reply(reply: Reply<'_>) -> Reply<'static> {
    let mut owned = Reply { messages: reply.messages, ..Reply::default() };
    add_reply(&mut owned, reply);
    owned
}

/// Sets a field from JSON text, unless that holds no text.
pub(crate) fn set(field: &mut Cow<'static, str>, json: &str) {
    if let Ok(text) = serde_json::from_str::<crate::lenient::Str<'_>>(json)
        && !text.is_empty()
    {
        *field = Cow::Owned(text.text().into_owned());
    }
}
