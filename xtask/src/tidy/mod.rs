//! `cargo xtask tidy`: the style rules that a program can check.
//!
//! A rule is one function over the whole tree and one line in [`RULES`]. Every finding is shown
//! with the rule's reason. Rules about code see tokens, not text, so a string or a comment that
//! mentions something banned is no finding.

mod markdown;
mod rules;
mod rust;
#[cfg(test)]
mod tests;
mod tree;

use std::io::{self, Write};
use std::path::Path;

use rules::{commands, length, links, manifests, marks, names, paths, purity};
use tree::Tree;

/// A rule: what it is called, why it exists, and how it is checked.
struct Rule {
    name: &'static str,
    reason: &'static str,
    check: fn(&Tree, &mut Findings),
}

const RULES: &[Rule] = &[
    Rule {
        name: "file-length",
        reason: "a file holds one noun, and a reader takes it in at one sitting",
        check: length::check_files,
    },
    Rule {
        name: "line-length",
        reason: "two versions must fit side by side",
        check: length::check_lines,
    },
    Rule {
        name: "whitespace",
        reason: "invisible changes hide the visible ones in a diff",
        check: length::check_whitespace,
    },
    Rule {
        name: "banned-name",
        reason: "a name that means anything attracts everything; say what is inside",
        check: names::check,
    },
    Rule {
        name: "ignored-test",
        reason: "a test that does not run proves nothing; repair or delete it",
        check: marks::check_ignored,
    },
    Rule {
        name: "unfinished",
        reason: "what is merged is finished; what is not belongs in an issue",
        check: marks::check_unfinished,
    },
    Rule {
        name: "lint-exception",
        reason: "an exception needs its why: #[expect(lint, reason = \"...\")]",
        check: marks::check_exceptions,
    },
    Rule { name: "machine-path", reason: "it exists on one machine only", check: paths::check },
    Rule {
        name: "crate-docs",
        reason: "a newcomer reads the architecture from the crates' first lines",
        check: manifests::check_crates,
    },
    Rule {
        name: "lock-source",
        reason: "a fresh machine must be able to build with the public registry alone",
        check: manifests::check_lock,
    },
    Rule { name: "links", reason: "a dead link costs every reader", check: links::check_targets },
    Rule {
        name: "docs-reachable",
        reason: "a page nobody links to is read by nobody and rots",
        check: links::check_reachable,
    },
    Rule {
        name: "shown-command",
        reason: "the first command a reader copies must work",
        check: commands::check,
    },
    Rule {
        name: "engine-purity",
        reason: "the same events must give the same decisions, on every machine and at any time",
        check: purity::check,
    },
];

/// What a rule found.
#[derive(Default)]
struct Findings(Vec<Finding>);

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    path: String,
    line: usize,
    what: String,
}

impl Findings {
    /// Adds a finding; line 0 stands for the whole file.
    fn add(&mut self, path: &str, line: usize, what: impl Into<String>) {
        self.0.push(Finding { path: path.into(), line, what: what.into() });
    }

    /// What was found, by path and line.
    fn sorted(mut self) -> Vec<Finding> {
        self.0.sort();
        self.0
    }
}

/// Checks every rule, writes what was found and, last, `N passed, N failed` (counted in rules).
/// Returns whether all hold.
///
/// # Errors
/// The tree could not be read, or `out` could not be written.
pub(crate) fn run(root: &Path, out: &mut impl Write) -> io::Result<bool> {
    let tree = Tree::read(root)?;
    let mut failed = 0;
    for rule in RULES {
        let mut findings = Findings::default();
        (rule.check)(&tree, &mut findings);
        let findings = findings.sorted();
        for Finding { path, line, what } in &findings {
            let at = if *line == 0 { path.clone() } else { format!("{path}:{line}") };
            writeln!(out, "{at}: {what} [{}: {}]", rule.name, rule.reason)?;
        }
        failed += usize::from(!findings.is_empty());
    }
    writeln!(out, "tidy: {} rules over {} files", RULES.len(), tree.files().len())?;
    writeln!(out, "{} passed, {failed} failed", RULES.len() - failed)?;
    Ok(failed == 0)
}
