//! Why a model stopped generating (document E).

use core::fmt;

use serde::{Deserialize, Serialize};

use crate::tool::{Folded, Index};

/// The stop reasons of document E; every provider's own words map onto them (E1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// Ended by itself, with an answer or with tool calls.
    Stop,
    /// Hit the limit on generated tokens.
    Length,
    /// Hit the server's limit on tool calls.
    ToolLimit,
    /// Hit the server's time limit.
    TimeLimit,
    /// Failed.
    Error,
    /// Interrupted by a person or the system.
    Interrupted,
    /// The conversation no longer fits the context window.
    InsufficientContext,
    /// The server sent a word that nobody knows.
    Unknown,
}

impl StopReason {
    /// Every stop reason.
    pub const ALL: [Self; 8] = [
        Self::Stop,
        Self::Length,
        Self::ToolLimit,
        Self::TimeLimit,
        Self::Error,
        Self::Interrupted,
        Self::InsufficientContext,
        Self::Unknown,
    ];

    /// The reason behind a provider's word, whatever its case and separators.
    ///
    /// Filtered and refused answers are [`Interrupted`](Self::Interrupted): the same request would
    /// be cut short again. A word nobody knows is [`Unknown`](Self::Unknown).
    #[must_use]
    pub fn from_wire(word: &str) -> Self {
        Folded::<32>::of(word).find(WORDS, &INDEX).unwrap_or(Self::Unknown)
    }

    /// The name in policies and records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::Length => "length",
            Self::ToolLimit => "tool_limit",
            Self::TimeLimit => "time_limit",
            Self::Error => "error",
            Self::Interrupted => "interrupted",
            Self::InsufficientContext => "insufficient_context",
            Self::Unknown => "unknown",
        }
    }

    /// What happened, as the end of the sentence "the answer …" (E5).
    #[must_use]
    pub const fn feedback(self) -> &'static str {
        match self {
            Self::Stop => "ended normally",
            Self::Length => "hit the token limit",
            Self::ToolLimit => "hit the tool limit",
            Self::TimeLimit => "hit the time limit",
            Self::Error => "failed",
            Self::Interrupted => "was interrupted",
            Self::InsufficientContext => "did not fit the context window",
            Self::Unknown => "ended for a reason nobody knows",
        }
    }

    /// What a user can do about it (E5); `None` if there is nothing to do.
    #[must_use]
    pub const fn hint(self) -> Option<&'static str> {
        match self {
            Self::Length => Some("raise max_tokens"),
            Self::ToolLimit => Some("review the tool strategy"),
            Self::TimeLimit => Some("raise the time limit or split the task"),
            Self::InsufficientContext => {
                Some("shorten the conversation or use a model with a larger context window")
            }
            Self::Stop | Self::Error | Self::Interrupted | Self::Unknown => None,
        }
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(self.name())
    }
}

use StopReason::{
    Error, InsufficientContext, Interrupted, Length, Stop, TimeLimit, ToolLimit, Unknown,
};

/// Providers' words in lower case without separators: OpenAI (chat and Responses), Anthropic,
/// Gemini, Bedrock, Cohere, Mistral, DeepSeek, GLM, llama.cpp, Ollama, vLLM, TGI, the AI SDK,
/// Claude Code, and document E's own.
const WORDS: &[(&str, StopReason)] = &[
    ("abort", Interrupted),
    ("aborted", Interrupted),
    ("apierror", Error),
    ("blocklist", Interrupted),
    ("cancel", Interrupted),
    ("canceled", Interrupted),
    ("cancelled", Interrupted),
    ("complete", Stop),
    ("completed", Stop),
    ("contentfilter", Interrupted),
    ("contentfiltered", Interrupted),
    ("contentpolicyviolation", Interrupted),
    ("contextfull", InsufficientContext),
    ("contextlength", InsufficientContext),
    ("contextlengthexceeded", InsufficientContext),
    ("contextlimit", InsufficientContext),
    ("contextoverflow", InsufficientContext),
    ("contextwindowexceeded", InsufficientContext),
    ("deadlineexceeded", TimeLimit),
    ("done", Stop),
    ("end", Stop),
    ("endoftext", Stop),
    ("endturn", Stop),
    ("eos", Stop),
    ("eostoken", Stop),
    ("error", Error),
    ("errorduringexecution", Error),
    ("errorlimit", Error),
    ("errormaxturns", ToolLimit),
    ("errortoxic", Interrupted),
    ("exceededcontextwindow", InsufficientContext),
    ("failed", Error),
    ("failure", Error),
    ("finish", Stop),
    ("finished", Stop),
    ("finishreasonunspecified", Unknown),
    ("functioncall", Stop),
    ("guardrailintervened", Interrupted),
    ("guardrails", Interrupted),
    ("imageother", Unknown),
    ("imageprohibitedcontent", Interrupted),
    ("imagerecitation", Interrupted),
    ("imagesafety", Interrupted),
    ("incomplete", Length),
    ("inputtoolong", InsufficientContext),
    ("insufficientcontext", InsufficientContext),
    ("insufficientsystemresource", Error),
    ("insufficientsystemresources", Error),
    ("internalerror", Error),
    ("internalservererror", Error),
    ("interrupted", Interrupted),
    ("language", Interrupted),
    ("length", Length),
    ("lengthcapped", Length),
    ("limit", Length),
    ("malformedfunctioncall", Error),
    ("malformedmodeloutput", Error),
    ("malformedresponse", Error),
    ("malformedtooluse", Error),
    ("maxcompletiontokens", Length),
    ("maxiterations", ToolLimit),
    ("maxlength", Length),
    ("maxnewtokens", Length),
    ("maxoutputtokens", Length),
    ("maxtime", TimeLimit),
    ("maxtokens", Length),
    ("maxtokensreached", Length),
    ("maxtoolcalls", ToolLimit),
    ("maxtoolrounds", ToolLimit),
    ("maxturns", ToolLimit),
    ("missingthoughtsignature", Error),
    ("modelarmor", Interrupted),
    ("modelcontextwindowexceeded", InsufficientContext),
    ("modellength", Length),
    ("networkerror", Error),
    ("noimage", Error),
    ("normal", Stop),
    ("other", Unknown),
    ("overloaded", Error),
    ("overloadederror", Error),
    ("pauseturn", ToolLimit),
    ("prohibitedcontent", Interrupted),
    ("prompttoolong", InsufficientContext),
    ("recitation", Interrupted),
    ("refusal", Interrupted),
    ("requiresaction", Stop),
    ("safety", Interrupted),
    ("sensitive", Interrupted),
    ("servererror", Error),
    ("spii", Interrupted),
    ("stop", Stop),
    ("stopped", Stop),
    ("stoppedeos", Stop),
    ("stoppedlimit", Length),
    ("stoppedword", Stop),
    ("stopsequence", Stop),
    ("stoptoken", Stop),
    ("success", Stop),
    ("timedout", TimeLimit),
    ("timelimit", TimeLimit),
    ("timelimitexceeded", TimeLimit),
    ("timeout", TimeLimit),
    ("tokenlimit", Length),
    ("toolcall", Stop),
    ("toolcalllimit", ToolLimit),
    ("toolcalls", Stop),
    ("toollimit", ToolLimit),
    ("tooluse", Stop),
    ("toomanytoolcalls", ToolLimit),
    ("unexpectedtoolcall", Error),
    ("unknown", Unknown),
    ("usercancel", Interrupted),
    ("usercancelled", Interrupted),
];

static INDEX: Index<256> = Index::of(WORDS);

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn the_words_of_providers_are_known() {
        assert!(WORDS.is_sorted_by_key(|(word, _)| *word));
        let cases = [
            ("stop", Stop),
            ("tool_calls", Stop),
            ("function_call", Stop),
            ("completed", Stop),
            ("end_turn", Stop),
            ("stop_sequence", Stop),
            ("tool_use", Stop),
            ("STOP", Stop),
            ("eos", Stop),
            ("eos_token", Stop),
            ("COMPLETE", Stop),
            ("tool-calls", Stop),
            ("length", Length),
            ("max_tokens", Length),
            ("max_output_tokens", Length),
            ("MAX_TOKENS", Length),
            ("incomplete", Length),
            ("limit", Length),
            ("model_length", Length),
            ("model_context_window_exceeded", InsufficientContext),
            ("context_length_exceeded", InsufficientContext),
            ("insufficient_context", InsufficientContext),
            ("pause_turn", ToolLimit),
            ("tool_limit", ToolLimit),
            ("TOO_MANY_TOOL_CALLS", ToolLimit),
            ("time_limit", TimeLimit),
            ("failed", Error),
            ("error", Error),
            ("MALFORMED_FUNCTION_CALL", Error),
            ("insufficient_system_resource", Error),
            ("cancelled", Interrupted),
            ("abort", Interrupted),
            ("content_filter", Interrupted),
            ("refusal", Interrupted),
            ("SAFETY", Interrupted),
            ("RECITATION", Interrupted),
            ("guardrail_intervened", Interrupted),
            ("unknown", Unknown),
            ("frobnicated", Unknown),
            ("", Unknown),
        ];
        for (word, reason) in cases {
            assert_eq!(StopReason::from_wire(word), reason, "{word}");
        }
    }

    #[test]
    fn names_read_back() {
        for reason in StopReason::ALL {
            assert_eq!(StopReason::from_wire(&reason.to_string()), reason);
            let json = serde_json::to_string(&reason).unwrap();
            assert_eq!(json, alloc::format!("\"{reason}\""));
        }
        assert_eq!(Length.hint(), Some("raise max_tokens"));
        assert_eq!(ToolLimit.hint(), Some("review the tool strategy"));
        assert_eq!(Stop.hint(), None);
    }
}
