//! What a model call is for.

use steersman_wire::{Heard, Received, Speaker};

/// What a model call is for. Only turns are governed; everything else passes as it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A turn of an agent.
    Turn,
    /// Something the client asks beside its conversation.
    Side(Side),
}

/// Why a call is no turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The answer has to be JSON of a certain shape (titles, routers, judges of loops).
    Schema,
    /// There are no tools: a chat, a title, a summary.
    NoTools,
    /// The client has its conversation summed up.
    Compaction,
    /// The client asks what the person may want next.
    Suggestion,
}

impl Side {
    /// The name in the journal and in figures.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Schema => "schema",
            Self::NoTools => "no_tools",
            Self::Compaction => "compaction",
            Self::Suggestion => "suggestion",
        }
    }
}

/// How clients begin the last message of a request that is no turn, though all else is as in one.
const MARKS: [(&str, Side); 2] = [
    ("CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.", Side::Compaction),
    ("[SUGGESTION MODE:", Side::Suggestion),
];

/// What the call is for.
#[must_use]
pub fn kind_of(received: &Received<'_>) -> Kind {
    if received.has_schema() {
        return Kind::Side(Side::Schema);
    }
    let metadata = received.client_metadata();
    if metadata.request_kind.as_deref() == Some("compaction") {
        return Kind::Side(Side::Compaction);
    }
    if !received.has_tools() {
        return Kind::Side(Side::NoTools);
    }
    marked(received).map_or(Kind::Turn, Kind::Side)
}

/// The mark in the last message, which need not be its only text.
fn marked(received: &Received<'_>) -> Option<Side> {
    let last = received.item_text(received.item_count().checked_sub(1)?)?;
    // Cheap first: the marks are plain ASCII and stand in JSON as they are.
    let (mark, side) = MARKS.iter().find(|(mark, _)| last.contains(mark))?;
    let at = received.item_count() - 1;
    let Heard { speaker, message } = received.item(at).ok()?;
    let texts = message.parts.iter().filter_map(|part| match part {
        steersman_wire::Part::Text(text) => Some(text),
        _ => None,
    });
    (speaker == Speaker::User && texts.into_iter().any(|text| text.trim_start().starts_with(mark)))
        .then_some(*side)
}
