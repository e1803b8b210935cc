//! What a tool does by its name: known names first, then the words of the name.

use super::ToolKind;
use super::folded::{Folded, Index};
use super::name_table::{EDIT, NAMES, POLL, SCRIPT, SEARCH, Tool, UNKNOWN, WORDS};

static NAME_INDEX: Index<512> = Index::of(NAMES);
static WORD_INDEX: Index<512> = Index::of(WORDS);

/// Things that are waited for: reading their state is polling.
fn is_job(word: &Folded<16>) -> bool {
    matches!(
        word.as_bytes(),
        b"background"
            | b"build"
            | b"deployment"
            | b"job"
            | b"jobs"
            | b"pipeline"
            | b"process"
            | b"workflow"
    )
}

/// Words for the state of such a thing.
fn is_state(word: &Folded<16>) -> bool {
    matches!(word.as_bytes(), b"check" | b"logs" | b"output" | b"progress" | b"result" | b"status")
}

/// A tool's name without the prefixes that clients put in front of it.
pub(crate) fn bare(name: &str) -> &str {
    let name = name.trim();
    if let Some(rest) = name.strip_prefix("mcp__") {
        return rest.split_once("__").map_or(rest, |(_, tool)| tool);
    }
    if let Some(rest) = name.strip_prefix("mcp_")
        && rest != "tool"
        && rest != "call"
    {
        return rest.split_once('_').map_or(rest, |(_, tool)| tool);
    }
    let from = name.bytes().rposition(|byte| matches!(byte, b'.' | b'/' | b':'));
    let last = &name[from.map_or(0, |at| at + 1)..];
    if last.is_empty() { name } else { last }
}

/// What a tool does, by its name.
pub(super) fn tool_of(name: &str) -> Tool {
    if name == "functions.exec" {
        return SCRIPT;
    }
    let bare = bare(name);
    Folded::<32>::of(bare).find(NAMES, &NAME_INDEX).unwrap_or_else(|| by_words(bare))
}

/// What an unknown name says by its words.
pub(super) fn by_words(name: &str) -> Tool {
    let mut found: Option<Tool> = None;
    let (mut job, mut state) = (false, false);
    for word in Words(name).take(8) {
        let folded = Folded::<16>::of(word);
        job |= is_job(&folded);
        state |= is_state(&folded);
        match found {
            None => found = folded.find(WORDS, &WORD_INDEX),
            Some(SEARCH) if folded.as_bytes() == b"replace" => found = Some(EDIT),
            Some(_) => {}
        }
    }
    match found {
        Some(found) if job && state && matches!(found.kind, ToolKind::Read | ToolKind::Search) => {
            POLL
        }
        Some(found) => found,
        None => UNKNOWN,
    }
}

/// The words of a name in snake, kebab or camel case.
struct Words<'a>(&'a str);

impl<'a> Iterator for Words<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        self.0 = self.0.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
        let bytes = self.0.as_bytes();
        let mut end = usize::from(!bytes.is_empty());
        while end < bytes.len() && bytes[end].is_ascii_alphanumeric() {
            let upper = bytes[end].is_ascii_uppercase();
            let after_lower = !bytes[end - 1].is_ascii_uppercase();
            let before_lower = bytes.get(end + 1).is_some_and(u8::is_ascii_lowercase);
            if upper && (after_lower || before_lower) {
                break;
            }
            end += 1;
        }
        let (word, rest) = self.0.split_at(end);
        self.0 = rest;
        (!word.is_empty()).then_some(word)
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn names_are_cut_into_words() {
        let cases: [(&str, &[&str]); 6] = [
            ("get_user-details", &["get", "user", "details"]),
            ("findAndReplace", &["find", "And", "Replace"]),
            ("LSPQuery", &["LSP", "Query"]),
            ("Open(cabinet", &["Open", "cabinet"]),
            ("", &[]),
            ("äpfel", &["pfel"]),
        ];
        for (name, words) in cases {
            assert_eq!(Words(name).collect::<Vec<_>>(), words, "{name}");
        }
    }
}
