//! Manifests and the lock file.

use crate::tidy::Findings;
use crate::tidy::tree::Tree;

/// The only place crates may come from.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Every crate has a description, and its root file begins with documentation.
pub(in crate::tidy) fn check_crates(tree: &Tree, findings: &mut Findings) {
    for file in tree.files().iter().filter(|file| file.path.ends_with("/Cargo.toml")) {
        if !file.text.lines().any(|line| line == "[package]") {
            continue;
        }
        if !file.text.lines().any(|line| line.starts_with("description = \"")) {
            findings.add(&file.path, 0, "no description");
        }
        let folder = file.path.trim_end_matches("Cargo.toml");
        let roots = ["src/lib.rs", "src/main.rs"].map(|root| format!("{folder}{root}"));
        for root in roots.iter().filter_map(|root| tree.find(root)) {
            if !root.text.starts_with("//! ") {
                findings.add(&root.path, 1, "the crate's root does not begin with `//! ...`");
            }
        }
    }
}

/// Every crate of the lock file comes from the public registry.
pub(in crate::tidy) fn check_lock(tree: &Tree, findings: &mut Findings) {
    for file in tree.files().iter().filter(|file| file.path.ends_with("Cargo.lock")) {
        for (number, line) in file.lines() {
            if let Some(source) = line.strip_prefix("source = ")
                && source.trim_matches('"') != REGISTRY
            {
                findings.add(&file.path, number, format!("a crate from {source}"));
            }
        }
    }
}
