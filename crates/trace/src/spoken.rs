//! What in a "user" message a person really said.
//!
//! Clients put notices of their own into user messages. They are no user turns: counting them
//! would reset the engine's counters every time a client reminds the model of something.

use std::borrow::Cow;

/// Beginnings of user messages that clients write by themselves.
const INJECTED: [&str; 26] = [
    // Claude Code
    "Caveat: The messages below were generated",
    // Commands of the client itself begin so; those that are prompts begin `<command-message>`.
    "<command-name>",
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
pub enum Spoken<'a> {
    /// A person's words.
    User(Cow<'a, str>),
    /// Written by the client; no user turn.
    Injected,
    /// The summary of a shortened conversation.
    Summary,
}

/// Judges the text of a "user" message. Reminders inside a real message are cut out.
#[must_use]
pub fn spoken(text: Cow<'_, str>) -> Spoken<'_> {
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

/// The text without the blocks that clients put into it; an unclosed one reaches to the end.
fn without_reminders(text: Cow<'_, str>) -> Cow<'_, str> {
    const BLOCKS: [(&str, &str); 3] = [
        ("<system-reminder>", "</system-reminder>"),
        ("<ide_opened_file>", "</ide_opened_file>"),
        ("<ide_selection>", "</ide_selection>"),
    ];
    let mut text = text;
    for (open, close) in BLOCKS {
        if !text.contains(open) {
            continue;
        }
        let mut kept = String::with_capacity(text.len());
        let mut rest = &*text;
        while let Some((before, after)) = rest.split_once(open) {
            kept.push_str(before);
            rest = after.split_once(close).map_or("", |(_, rest)| rest);
        }
        kept.push_str(rest);
        text = Cow::Owned(kept);
    }
    text
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
            ("<ide_selection>x</ide_selection>why?", user("why?")),
            (
                "<command-message>fix</command-message>",
                user("<command-message>fix</command-message>"),
            ),
            ("<command-name>/clear</command-name>", Spoken::Injected),
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
