//! What can be asked.

use steersman_wire::Format;

/// One request of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A plain question in a wire format.
    Format(Format),
    /// The list of the server's models.
    Listing,
    /// A model that does not exist.
    WrongModel,
    /// A long reply within a small limit.
    Length,
    /// A streamed reply.
    Stream,
    /// A question that needs a tool.
    Call,
    /// The result of the call.
    Returned,
    /// A question that needs a tool, streamed.
    StreamedCall,
    /// A question that needs two calls.
    ParallelCalls,
    /// A question that needs two calls, streamed.
    StreamedParallel,
    /// A question that needs a tool where none may be called.
    NoCall,
    /// A question that needs no tool where one must be called.
    ForcedCall,
    /// A question whose answer has a JSON schema.
    Schema,
    /// A call as a JSON object, as the runtime asks for it with `tool_calls: json`.
    ObjectCall,
    /// A reply longer than any model gives, left at its beginning.
    Limits,
}

impl Step {
    /// The steps behind the formats, in the order they are asked.
    pub(super) const ORDER: [Self; 14] = [
        Self::Listing,
        Self::WrongModel,
        Self::Length,
        Self::Stream,
        Self::Call,
        Self::Returned,
        Self::StreamedCall,
        Self::ParallelCalls,
        Self::StreamedParallel,
        Self::NoCall,
        Self::ForcedCall,
        Self::Schema,
        Self::ObjectCall,
        Self::Limits,
    ];

    /// Most times it is asked: what a model may fail at by chance gets a second try.
    pub(super) const fn tries(self) -> usize {
        match self {
            Self::Call | Self::StreamedCall | Self::ObjectCall => 2,
            _ => 1,
        }
    }

    /// What is sent, in a few words.
    #[must_use]
    pub const fn sent(self) -> &'static str {
        match self {
            Self::Format(_) => "a system prompt with a code word, a question for it",
            Self::Listing => "GET models",
            Self::WrongModel => "a question to a model that does not exist",
            Self::Length => "\"write 1 to 200\" within 16 tokens",
            Self::Stream => "\"write 1 to 30\", streamed",
            Self::Call => "a question that needs a tool",
            Self::Returned => "the tool's result: -3 °C, snow",
            Self::StreamedCall => "a question that needs a tool, streamed",
            Self::ParallelCalls => "a question that needs two calls",
            Self::StreamedParallel => "a question that needs two calls, streamed",
            Self::NoCall => "a question that needs a tool, tool_choice none",
            Self::ForcedCall => "\"say hello\", tool_choice required",
            Self::Schema => "a question whose answer has a JSON schema",
            Self::ObjectCall => "a question that needs a tool, the call asked for as JSON",
            Self::Limits => "a question with a limit of 100,000,000 tokens",
        }
    }
}
