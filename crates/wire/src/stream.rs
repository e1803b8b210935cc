//! Answers that come piece by piece.

use serde_json::Value;

use crate::failure::{Reported, plain};
use crate::formats::{self, Assemble};
use crate::json::{EXCERPT, MAX_DEPTH, cut, is_shallow};
use crate::sse::Events;
use crate::{Answer, Format, WireError};

/// Most bytes taken from one stream. A token costs a few hundred bytes on the wire.
const MAX_STREAM: usize = 256 * 1024 * 1024;

/// What a piece of the stream added, to be shown while the answer comes in.
///
/// The answer itself comes from [`StreamReader::finish`]: deltas may be dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delta {
    /// More visible text.
    Text(String),
    /// More reasoning.
    Reasoning(String),
    /// A call of a tool begins.
    ToolCallStarted {
        /// Which call of the answer, from 0.
        index: usize,
        /// The tool's name.
        name: String,
    },
    /// More of a call's arguments.
    Arguments {
        /// Which call of the answer, from 0.
        index: usize,
        /// JSON text.
        text: String,
    },
}

/// Puts an answer together from a stream: server-sent events, or JSON objects by line.
///
/// Chunks may be cut anywhere. Line ends may be any of the three, comments and keep-alives are
/// skipped, data may span lines. A line is bounded to 16 MiB, a stream to 256 MiB. Bytes that are
/// no UTF-8 become U+FFFD.
#[derive(Debug)]
pub struct StreamReader {
    format: Format,
    events: Events,
    assembly: Box<dyn Assemble>,
    taken: usize,
}

impl Format {
    /// A reader of one streamed answer.
    #[must_use]
    pub fn stream(self) -> StreamReader {
        let assembly = formats::assembly(self);
        StreamReader { format: self, events: Events::default(), assembly, taken: 0 }
    }

    /// Reads a whole answer.
    ///
    /// # Errors
    /// If it is no JSON, no answer of the format, or the error of a server that says 200 to it.
    pub fn answer(self, body: &[u8]) -> Result<Answer, WireError> {
        match parse(body) {
            Ok(value) => formats::answer(self, value),
            // Servers that stream, asked or not, and call it JSON.
            Err(problem) => {
                self.answer_of_lines(body).ok_or_else(|| not_json("the body", problem, body))
            }
        }
    }

    /// The answer of a body that is a whole stream; `None` if it is none.
    fn answer_of_lines(self, body: &[u8]) -> Option<Answer> {
        let mut reader = self.stream();
        reader.push(body).ok()?;
        reader.finish().ok()
    }
}

impl StreamReader {
    /// Takes in the next bytes and gives what they added.
    ///
    /// # Errors
    /// If an event is no JSON or too long, or the server reports an error; what came before it is
    /// in [`WireError::Reported`]. The reader is of no use afterwards.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<Delta>, WireError> {
        self.taken = self.taken.saturating_add(bytes.len());
        if self.taken > MAX_STREAM {
            return Err(WireError::TooLong { what: "the stream", limit: MAX_STREAM });
        }
        let mut deltas = Vec::new();
        let (assembly, format) = (&mut self.assembly, self.format);
        self.events
            .push(bytes, &mut |_, data| take(format, assembly.as_mut(), data, &mut deltas))?;
        Ok(deltas)
    }

    /// Whether the answer is whole and nothing more can follow: the connection may be closed.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.assembly.is_done()
    }

    /// What has arrived so far.
    #[must_use]
    pub fn partial(&self) -> Answer {
        partial(self.format, self.assembly.as_ref())
    }

    /// The answer, once the stream has ended.
    ///
    /// # Errors
    /// [`WireError::CutOff`] with what had arrived if it ended without its end mark; also what
    /// [`push`](Self::push) gives.
    pub fn finish(mut self) -> Result<Answer, WireError> {
        let (assembly, format) = (&mut self.assembly, self.format);
        let last = self
            .events
            .finish(&mut |_, data| take(format, assembly.as_mut(), data, &mut Vec::new()));
        match last {
            // Half an event at the end.
            Ok(()) | Err(WireError::NotJson { .. }) => {}
            Err(error) => return Err(error),
        }
        if !self.assembly.is_whole() {
            return Err(WireError::CutOff { partial: Box::new(self.partial()) });
        }
        formats::answer(self.format, self.assembly.value())
    }
}

/// Takes in one event.
fn take(
    format: Format,
    assembly: &mut dyn Assemble,
    data: &[u8],
    deltas: &mut Vec<Delta>,
) -> Result<(), WireError> {
    let data = data.trim_ascii();
    if data == b"[DONE]" {
        assembly.mark_done();
        return Ok(());
    }
    if !data.starts_with(b"{") {
        // Keep-alives that are no comments.
        return Ok(());
    }
    let event = parse(data).map_err(|problem| not_json("an event of the stream", problem, data))?;
    assembly
        .take(event, deltas)
        .map_err(|reported: Reported| reported.into_error(partial(format, assembly)))
}

fn partial(format: Format, assembly: &dyn Assemble) -> Answer {
    formats::answer(format, assembly.value()).unwrap_or_else(|_| Answer::empty())
}

/// Parses JSON; bytes that are no UTF-8 become U+FFFD.
pub(crate) fn parse(bytes: &[u8]) -> Result<Value, String> {
    let parsed = match serde_json::from_slice(bytes) {
        Err(_) if std::str::from_utf8(bytes).is_err() => {
            serde_json::from_str(&String::from_utf8_lossy(bytes))
        }
        parsed => parsed,
    };
    let value = parsed.map_err(|error| error.to_string())?;
    if is_shallow(&value, MAX_DEPTH) {
        Ok(value)
    } else {
        Err(format!("nested deeper than {MAX_DEPTH} levels"))
    }
}

pub(crate) fn not_json(what: &'static str, problem: String, bytes: &[u8]) -> WireError {
    let excerpt = crate::redact(&cut(&plain(bytes), EXCERPT));
    WireError::NotJson { what, problem, excerpt }
}
