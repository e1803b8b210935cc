//! Length of files and lines, and white space.

use std::collections::BTreeSet;

use crate::tidy::Findings;
use crate::tidy::rust;
use crate::tidy::tree::{File, Tree};

/// Lines of a file without its tests.
const MAX_CODE_LINES: usize = 500;
/// Lines of a file, tests included.
const MAX_LINES: usize = 800;
/// Characters of a line of Rust.
const MAX_COLUMNS: usize = 100;

pub(in crate::tidy) fn check_files(tree: &Tree, findings: &mut Findings) {
    for file in tree.with_ending("rs") {
        let all = file.text.lines().count();
        if all > MAX_LINES {
            findings.add(&file.path, 0, format!("{all} lines, at most {MAX_LINES} with tests"));
            continue;
        }
        let tests: usize = rust::test_lines(file.tokens()).into_iter().map(Iterator::count).sum();
        let code = all.saturating_sub(tests);
        if code > MAX_CODE_LINES && !file.is_test() {
            let what = format!("{code} lines without tests, at most {MAX_CODE_LINES}");
            findings.add(&file.path, 0, what);
        }
    }
}

pub(in crate::tidy) fn check_lines(tree: &Tree, findings: &mut Findings) {
    for file in tree.with_ending("rs") {
        let data = data_lines(file);
        for (number, line) in file.lines() {
            let columns = line.chars().count();
            // A web address cannot be broken, nor can recorded data.
            if columns > MAX_COLUMNS && !line.contains("://") && !data.contains(&number) {
                let what = format!("{columns} columns, at most {MAX_COLUMNS}");
                findings.add(&file.path, number, what);
            }
        }
    }
}

/// Lines of test code that hold a string: data, of which a case stands on one line.
fn data_lines(file: &File) -> BTreeSet<usize> {
    let data = |text: &str| text.starts_with(['"', 'r']) && text.ends_with(['"', '#']);
    let tokens = file.tokens().iter().filter(|token| token.in_test && data(&token.text));
    tokens.flat_map(|token| token.line..=token.last_line).collect()
}

pub(in crate::tidy) fn check_whitespace(tree: &Tree, findings: &mut Findings) {
    for file in tree.files() {
        for (number, line) in file.lines() {
            if line.ends_with([' ', '\t', '\r']) {
                findings.add(&file.path, number, "white space at the end of the line");
            }
        }
        if !file.text.is_empty() && !file.text.ends_with('\n') {
            findings.add(&file.path, 0, "no line break at the end of the file");
        }
    }
}
