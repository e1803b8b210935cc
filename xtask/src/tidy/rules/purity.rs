//! The engine's source: no IO, no clock, no randomness, no hidden state.
//!
//! That nothing links std is proved by `crates/engine/purity`; this rule names the line, and sees
//! what `no_std` alone would let through.

use crate::tidy::Findings;
use crate::tidy::rust;
use crate::tidy::tree::Tree;

const ENGINE: &str = "crates/engine/src/";

/// What must not appear outside tests, as tokens, and what it is.
const BANNED: &[(&[&str], &str)] = &[
    (&["std", ":", ":"], "the standard library"),
    (&["extern", "crate", "std"], "the standard library"),
    (&["async"], "asynchronous code"),
    (&["await"], "asynchronous code"),
    (&["Instant"], "a clock"),
    (&["SystemTime"], "a clock"),
    (&["rand", ":", ":"], "randomness"),
    (&["getrandom"], "randomness"),
    (&["RandomState"], "randomness"),
    (&["print", "!"], "output"),
    (&["println", "!"], "output"),
    (&["eprint", "!"], "output"),
    (&["eprintln", "!"], "output"),
    (&["log", ":", ":"], "logging"),
    (&["tracing", ":", ":"], "logging"),
    (&["atomic", ":", ":"], "state outside the engine"),
    (&["static", "mut"], "state outside the engine"),
];

pub(in crate::tidy) fn check(tree: &Tree, findings: &mut Findings) {
    for file in tree.with_ending("rs").filter(|file| file.path.starts_with(ENGINE)) {
        for (pattern, what) in BANNED {
            for token in rust::find(file.tokens(), pattern).filter(|token| !token.in_test) {
                let text = pattern.concat();
                findings.add(&file.path, token.line, format!("{what}: `{text}`"));
            }
        }
    }
}
