//! What a reply without tool calls intends.

use memchr::memmem;

use super::Intent;
use super::intent_words::{SAYINGS, Saying};
use crate::bytes::find_any;

/// How much of the beginning of a reply is looked at, in bytes.
const HEAD: usize = 512;

/// How much of the end of a reply is looked at for a claim, in bytes.
const TAIL: usize = 1024;

/// How much of the end of a reply is looked at for an intent, in bytes.
const LAST: usize = 640;

/// What a reply without tool calls intends (A6).
///
/// The last four sentences decide; code blocks at the end, thinking in tags and what stands before
/// the last 640 bytes are left out.
#[must_use]
pub fn intent(reply: &str) -> Intent {
    let visible = without_thoughts(reply).trim();
    if !visible.chars().any(char::is_alphanumeric) {
        return if visible.is_empty() || visible.len() < 4 {
            Intent::Empty
        } else {
            Intent::Finished
        };
    }
    if is_written_call(visible) {
        return Intent::WillContinue;
    }
    let Prose { text, code } = prose(visible);
    let mut last = [""; 4];
    for sentence in sentences(&text[text.ceil_char_boundary(text.len().saturating_sub(LAST))..]) {
        last.rotate_right(1);
        last[0] = sentence;
    }
    let last = last.map(Sentence::of);
    judge(&last, code, text.ends_with([':', '…']) || text.ends_with("..."))
}

fn judge(last: &[Sentence; 4], code: Code, open: bool) -> Intent {
    let [end, before, ..] = last;
    if last.iter().any(|sentence| sentence.says(Saying::Stuck)) {
        return Intent::Stuck;
    }
    let closes = end.says(Saying::Offer)
        || end.says(Saying::Closing)
        || (before.question && before.says(Saying::Closing));
    let asks = |sentence: &Sentence| {
        (sentence.question && !sentence.says(Saying::Closing)) || sentence.says(Saying::Asks)
    };
    // What follows a question explains it, unless it reports.
    let explained = last[1..3].iter().any(asks) && !end.says(Saying::Success);
    if asks(end) || explained {
        return Intent::AsksUser;
    }
    let announces = |sentence: &Sentence| sentence.announces && !sentence.says(Saying::Condition);
    // A report that closes with code has its code; a command in a code block was meant to be run.
    let acts = match code {
        Code::None | Code::Command => true,
        Code::Source => false,
    };
    let continued = announces(before) && (end.short || open || end.says(Saying::Wait));
    if acts && !closes && (announces(end) || continued) {
        return Intent::WillContinue;
    }
    let waits = |sentence: &Sentence| sentence.announces && sentence.says(Saying::Condition);
    if waits(end) && end.says(Saying::You) {
        return Intent::AsksUser;
    }
    if last.iter().take(3).any(|sentence| sentence.says(Saying::Blocked)) {
        return Intent::Blocked;
    }
    Intent::Finished
}

/// Whether a text claims that the work is done and works: "all tests pass", "fixed".
///
/// Sentences that take it back ("not completed", "still fails") turn the claim into none. The
/// first 512 and the last 1,024 bytes are looked at.
#[must_use]
pub fn claims_success(text: &str) -> bool {
    let text = without_thoughts(text).trim();
    let head = &text[..text.floor_char_boundary(HEAD)];
    let tail = tail(&text[head.len()..]);
    let (mut claims, mut doubts) = (false, false);
    for sentence in sentences(head).chain(sentences(tail)) {
        let sentence = Sentence::of(sentence);
        if sentence.question {
            continue;
        }
        let denied = sentence.says(Saying::Not);
        claims |= sentence.says(Saying::Success) && !denied && !sentence.says(Saying::Condition);
        doubts |= sentence.says(Saying::Fails) || (sentence.says(Saying::Success) && denied);
    }
    claims && !doubts
}

/// What is known about one sentence.
#[derive(Clone, Copy, Debug, Default)]
struct Sentence {
    sayings: u32,
    /// An announcement stands at its beginning.
    announces: bool,
    question: bool,
    /// Too short to say much.
    short: bool,
}

impl Sentence {
    fn of(text: &str) -> Self {
        let mut sentence = Self {
            question: text.trim_end_matches(['*', '_', '`', '"', ')', ' ']).ends_with('?'),
            short: text.len() < 24,
            ..Self::default()
        };
        SAYINGS.scan(text, |saying, at| {
            let saying = match saying {
                Saying::If if at.start < 2 => Saying::Condition,
                Saying::Please if at.start < 8 => Saying::Asks,
                saying => saying,
            };
            sentence.sayings |= 1 << saying as u32;
            sentence.announces |= saying == Saying::Will && at.start <= 20;
        });
        sentence
    }

    const fn says(&self, saying: Saying) -> bool {
        self.sayings & (1 << saying as u32) != 0
    }
}

/// The sentences of a text: up to a full stop, a question or exclamation mark, or a line end.
pub(crate) fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    core::iter::from_fn(move || {
        while !rest.is_empty() {
            let bytes = rest.as_bytes();
            let mut end = bytes.len();
            let mut from = 0;
            while let Some(at) = find_any(bytes, from, *b".!?\n\\") {
                let next = bytes.get(at + 1).copied().unwrap_or(b' ');
                // A line end, also one in a JSON text.
                let (ends, len) = match bytes[at] {
                    b'\n' => (true, 1),
                    b'\\' => (next == b'n', 2),
                    _ => (next.is_ascii_whitespace() || b"*\")_".contains(&next), 1),
                };
                if ends {
                    end = at + len;
                    break;
                }
                from = at + 1;
            }
            let (sentence, after) = rest.split_at(end);
            rest = after;
            let around = |c: char| {
                c.is_whitespace()
                    || matches!(c, '*' | '_' | '#' | '>' | '-' | '•' | '`' | '"' | '(' | ')')
            };
            let sentence = sentence.trim_matches(around);
            if sentence.chars().filter(|c| c.is_alphabetic()).nth(1).is_some() {
                return Some(sentence);
            }
        }
        None
    })
}

/// A kind of code at the end of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Code {
    None,
    Source,
    Command,
}

struct Prose<'a> {
    text: &'a str,
    code: Code,
}

/// A reply without the code blocks at its end.
fn prose(reply: &str) -> Prose<'_> {
    let mut prose = Prose { text: reply, code: Code::None };
    for _ in 0..4 {
        let Some(open) = prose.text.strip_suffix("```") else { break };
        let from = open.ceil_char_boundary(open.len().saturating_sub(16 * TAIL));
        let Some(at) = open[from..].rfind("```") else { break };
        let language = &open[from + at + 3..];
        let shells = ["bash", "sh\n", "shell", "console", "json", "zsh"];
        if prose.code == Code::None {
            let command = shells.iter().any(|shell| language.starts_with(shell));
            prose.code = if command { Code::Command } else { Code::Source };
        }
        prose.text = open[..from + at].trim_end();
    }
    prose
}

/// Whether a reply ends in a tool call that the model wrote down instead of making it.
fn is_written_call(reply: &str) -> bool {
    let end = &reply[reply.ceil_char_boundary(reply.len().saturating_sub(TAIL))..];
    if !end.ends_with(['}', '>', '`']) {
        return false;
    }
    let has = |words: &str| memmem::find(end.as_bytes(), words.as_bytes()).is_some();
    has("<tool_call>")
        || has("<function=")
        || has("</invoke>")
        || has("\"function_call\"")
        || (has("\"name\"") && (has("\"arguments\"") || has("\"parameters\"")))
}

/// A reply without what the model thought in tags; a tag that is never closed hides all the rest.
fn without_thoughts(reply: &str) -> &str {
    let mut rest = reply.trim_start();
    for tag in ["think", "thinking", "thought", "reasoning"] {
        while let Some(inner) =
            rest.strip_prefix('<').and_then(|rest| rest.strip_prefix(tag)?.strip_prefix('>'))
        {
            let close = inner.match_indices("</").find_map(|(at, _)| {
                let after = inner[at + 2..].strip_prefix(tag)?;
                after.strip_prefix('>')
            });
            rest = close.unwrap_or_default().trim_start();
        }
    }
    // Some servers leave only the closing tag.
    const CLOSE: &str = "</think>";
    match memmem::find(rest.as_bytes(), CLOSE.as_bytes()) {
        Some(at) if !rest[..at].contains("<think>") => &rest[at + CLOSE.len()..],
        _ => rest,
    }
}

fn tail(text: &str) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(TAIL))..]
}
