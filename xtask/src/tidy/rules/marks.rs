//! Marks in the source: ignored tests, unfinished work, silenced lints.

use crate::tidy::Findings;
use crate::tidy::rust;
use crate::tidy::tree::Tree;

/// Macros of unfinished work.
const MACROS: &[&str] = &["dbg", "todo", "unimplemented"];
/// Words of unfinished work. Cut in two, or this file would be found.
const WORDS: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME")];
const RUST_COMMENTS: &[&str] = &["//", "///", "//!", "/*"];
const OTHER_COMMENTS: &[&str] = &["#", "<!--", "-", "*"];
/// The rules' own cases are full of what the rules forbid.
pub(super) const OWN_CASES: &str = "xtask/src/tidy/tests.rs";

pub(in crate::tidy) fn check_ignored(tree: &Tree, findings: &mut Findings) {
    for file in tree.with_ending("rs") {
        for attribute in rust::attributes(file.tokens()) {
            if let Some(first) = attribute.first().filter(|token| token.text == "ignore") {
                findings.add(&file.path, first.line, "an ignored test");
            }
        }
        for (number, line) in file.lines() {
            let line = line.trim_start();
            let doc = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
            let fence = doc.and_then(|doc| doc.trim_start().strip_prefix("```"));
            if fence.is_some_and(|language| language.split(',').any(|word| word == "ignore")) {
                findings.add(&file.path, number, "an ignored doc test");
            }
        }
    }
}

pub(in crate::tidy) fn check_unfinished(tree: &Tree, findings: &mut Findings) {
    for file in tree.with_ending("rs") {
        for name in MACROS {
            let calls = ["(", "[", "{"].map(|open| [*name, "!", open]);
            for token in calls.iter().flat_map(|call| rust::find(file.tokens(), call)) {
                findings.add(&file.path, token.line, format!("`{name}!`"));
            }
        }
    }
    for file in tree.files().iter().filter(|file| file.path != OWN_CASES) {
        let opens = if file.has_ending("rs") { RUST_COMMENTS } else { OTHER_COMMENTS };
        for (number, line) in file.lines() {
            if let Some(word) = WORDS.iter().find(|word| is_marked(line, word, opens)) {
                findings.add(&file.path, number, format!("`{word}`"));
            }
        }
    }
}

/// Whether the word begins a comment, or is followed by what such a mark is followed by. Elsewhere
/// it is a word like others: test reports know it too.
fn is_marked(line: &str, word: &str, opens: &[&str]) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].trim_end();
        let after = &line[at + word.len()..];
        let whole = !line[..at].ends_with(char::is_alphanumeric)
            && !after.starts_with(char::is_alphanumeric);
        let first = before.is_empty() || opens.iter().any(|open| before.ends_with(open));
        whole && (first || after.starts_with([':', '(']))
    })
}

pub(in crate::tidy) fn check_exceptions(tree: &Tree, findings: &mut Findings) {
    for file in tree.with_ending("rs") {
        for attribute in rust::attributes(file.tokens()) {
            for (at, token) in attribute.iter().enumerate() {
                let opens = attribute.get(at + 1).is_some_and(|next| next.text == "(");
                if !matches!(token.text.as_str(), "allow" | "expect") || !opens {
                    continue;
                }
                let arguments = rust::inside(&attribute[at + 1..]);
                if !arguments.iter().any(|token| token.text == "reason") {
                    let what = format!("`{}` without a reason", token.text);
                    findings.add(&file.path, token.line, what);
                }
            }
        }
    }
}
