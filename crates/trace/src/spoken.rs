//! What in a "user" message a person really said.
//!
//! Clients put notices of their own into user messages. They are no user turns: counting them
//! would reset the engine's counters every time a client reminds the model of something.

use std::borrow::Cow;

/// Beginnings of user messages that clients write by themselves.
const INJECTED: [&str; 27] = [
    // Claude Code
    "Caveat: The messages below were generated",
    "<command-name>",
    "<command-message>",
    "<local-command-",
    "<bash-input>",
    "<bash-stdout>",
    "<bash-stderr>",
    "<task-notification>",
    "[Request interrupted by user",
    "[Your previous response had no visible output",
    "Output token limit hit. Resume directly",
    "Stop hook feedback:",
    "CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.",
    // Codex
    "<environment_context>",
    "<user_instructions>",
    "<permissions instructions>",
    "<turn_aborted>",
    "<hook_prompt",
    "<subagent_notification>",
    "<skill>",
    "# AGENTS.md instructions",
    "You are performing a CONTEXT CHECKPOINT COMPACTION",
    // Gemini CLI, Qwen
    "<session_context>",
    "System: Potential loop detected",
    "[SUGGESTION MODE:",
    // Cline
    "<hook_context",
    "<SYSTEM_NOTICE>",
];

/// Beginnings of the summary that replaces a conversation when it is shortened.
const SUMMARIES: [&str; 2] = [
    "This session is being continued from a previous conversation",
    "Another language model started to solve this problem",
];

/// Text of a "user" message, judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Spoken<'a> {
    /// A person's words.
    User(Cow<'a, str>),
    /// Written by the client; no user turn.
    Injected,
    /// The summary of a shortened conversation.
    Summary,
}

/// Judges the text of a "user" message. Reminders inside a real message are cut out.
pub(crate) fn spoken(text: Cow<'_, str>) -> Spoken<'_> {
    let start = text.trim_start();
    if SUMMARIES.iter().any(|mark| start.starts_with(mark)) {
        return Spoken::Summary;
    }
    if INJECTED.iter().any(|mark| start.starts_with(mark)) {
        return Spoken::Injected;
    }
    let text = without_reminders(text);
    if text.trim().is_empty() { Spoken::Injected } else { Spoken::User(text) }
}

/// The text without its `<system-reminder>` blocks; an unclosed one reaches to the end.
fn without_reminders(text: Cow<'_, str>) -> Cow<'_, str> {
    const OPEN: &str = "<system-reminder>";
    const CLOSE: &str = "</system-reminder>";
    if !text.contains(OPEN) {
        return text;
    }
    let mut kept = String::with_capacity(text.len());
    let mut rest = &*text;
    while let Some((before, after)) = rest.split_once(OPEN) {
        kept.push_str(before);
        rest = after.split_once(CLOSE).map_or("", |(_, rest)| rest);
    }
    kept.push_str(rest);
    Cow::Owned(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_people_from_clients() {
        let user = |text: &'static str| Spoken::User(Cow::Borrowed(text));
        let cases = [
            ("fix the bug", user("fix the bug")),
            ("a<system-reminder>x</system-reminder>b", user("ab")),
            ("a<system-reminder>x", user("a")),
            ("<system-reminder>x</system-reminder>", Spoken::Injected),
            ("  ", Spoken::Injected),
            ("[Request interrupted by user for tool use]", Spoken::Injected),
            ("\n<environment_context>\n<cwd>/w</cwd>", Spoken::Injected),
            ("This session is being continued from a previous conversation that", Spoken::Summary),
        ];
        for (text, expected) in cases {
            assert_eq!(spoken(Cow::Borrowed(text)), expected, "{text}");
        }
    }
}
