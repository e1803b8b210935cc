//! Names of crates and modules.

use std::path::Path;

use crate::tidy::Findings;
use crate::tidy::tree::{File, Tree};

const BANNED: &[&str] =
    &["common", "core", "helper", "helpers", "manager", "managers", "misc", "util", "utils"];

pub(in crate::tidy) fn check(tree: &Tree, findings: &mut Findings) {
    for file in tree.with_ending("rs") {
        let stem = Path::new(&file.path).with_extension("");
        for part in stem.iter().filter_map(|part| part.to_str()) {
            if BANNED.contains(&part) {
                findings.add(&file.path, 0, format!("a module or folder called `{part}`"));
            }
        }
        check_inline(file, findings);
    }
    for file in tree.files().iter().filter(|file| file.path.ends_with("Cargo.toml")) {
        for (line, name) in package_names(file) {
            if name.split(['-', '_']).any(|part| BANNED.contains(&part)) {
                findings.add(&file.path, line, format!("a crate called `{name}`"));
            }
        }
    }
}

/// Modules written inside a file; the others are found by their file's name.
fn check_inline(file: &File, findings: &mut Findings) {
    for window in file.tokens().windows(3) {
        let [keyword, name, open] = window else { continue };
        if keyword.text == "mod" && open.text == "{" && BANNED.contains(&name.text.as_str()) {
            findings.add(&file.path, name.line, format!("a module called `{}`", name.text));
        }
    }
}

/// Values of `name` in the section `package`.
fn package_names(file: &File) -> impl Iterator<Item = (usize, &str)> {
    let mut section = "";
    file.lines().filter_map(move |(number, line)| {
        if line.starts_with('[') {
            section = line;
        }
        let value = line.strip_prefix("name = \"")?.strip_suffix('"')?;
        (section == "[package]").then_some((number, value))
    })
}
