//! What can be wrong with what a server or a client sent.

use crate::Answer;

/// Why bytes are no answer, or no request.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum WireError {
    /// A body, or an event of the stream, is no JSON.
    #[error("{what} is not JSON ({problem}): {excerpt}")]
    NotJson {
        /// The body, the request or a stream event.
        what: &'static str,
        /// What the parser says, with line and column.
        problem: String,
        /// Its beginning, at most 200 characters.
        excerpt: String,
    },
    /// It is JSON, but no answer of the format.
    #[error("no {format} answer: {problem}")]
    NotAnAnswer {
        /// The format that was expected.
        format: crate::Format,
        /// What is missing.
        problem: &'static str,
    },
    /// It is JSON, but no request of the format that could be read or edited as asked.
    #[error("no {format} request: {problem}")]
    NotARequest {
        /// The format that was expected.
        format: crate::Format,
        /// What is in the way.
        problem: &'static str,
    },
    /// A line or the whole stream is longer than what is kept.
    #[error("{what} is longer than {limit} bytes")]
    TooLong {
        /// The line or the answer.
        what: &'static str,
        /// The bound in bytes.
        limit: usize,
    },
    /// The stream ended before the answer did.
    #[error("the connection closed before the answer was whole")]
    CutOff {
        /// What had arrived.
        partial: Box<Answer>,
    },
    /// The server reported an error in place of an answer, or in the middle of one.
    #[error("{message}")]
    Reported {
        /// The server's own code or type; empty if it sent none.
        code: String,
        /// The server's message, at most 1,000 characters, without keys.
        message: String,
        /// How long to wait before another try, in milliseconds; `None` if not told.
        retry_after_ms: Option<u64>,
        /// What had arrived before.
        partial: Box<Answer>,
    },
}
