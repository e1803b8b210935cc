//! Links between Markdown files.

use std::collections::BTreeSet;

use crate::tidy::Findings;
use crate::tidy::markdown;
use crate::tidy::tree::{File, Tree};

/// Every link to something in the tree leads somewhere, its heading included.
pub(in crate::tidy) fn check_targets(tree: &Tree, findings: &mut Findings) {
    for file in tree.with_ending("md") {
        for link in markdown::links(file) {
            let Some((path, anchor)) = resolve(file, &link.target) else { continue };
            if !tree.has(&path) {
                findings.add(&file.path, link.line, format!("no file for {}", link.target));
            } else if let Some(target) = tree.find(&path)
                && !anchor.is_empty()
                && !markdown::anchors(target).contains(&anchor)
            {
                findings.add(&file.path, link.line, format!("no heading for {}", link.target));
            }
        }
    }
}

/// Every file under `docs/` can be reached from the README, link by link.
pub(in crate::tidy) fn check_reachable(tree: &Tree, findings: &mut Findings) {
    let mut reached = BTreeSet::new();
    let mut ahead = vec!["README.md".to_owned()];
    while let Some(path) = ahead.pop() {
        if let Some(file) = tree.find(&path).filter(|file| file.has_ending("md")) {
            let targets = markdown::links(file).into_iter();
            let paths = targets.filter_map(|link| resolve(file, &link.target));
            ahead.extend(paths.map(|(path, _)| path).filter(|path| !reached.contains(path)));
        }
        reached.insert(path);
    }
    for path in tree.paths().filter(|path| path.starts_with("docs/")) {
        let is_folder = tree.paths().any(|other| other.starts_with(&format!("{path}/")));
        if !is_folder && !reached.contains(path) {
            findings.add(path, 0, "no chain of links leads here from README.md");
        }
    }
}

/// The path from the root and the anchor of a link; `None` for an address elsewhere.
fn resolve(file: &File, target: &str) -> Option<(String, String)> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    if path.is_empty() {
        return Some((file.path.clone(), anchor.into()));
    }
    let mut parts: Vec<&str> = file.path.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            // A link out of the tree resolves to nothing that exists.
            ".." if parts.pop().is_none() => return Some(("..".into(), String::new())),
            ".." => {}
            _ => parts.push(part),
        }
    }
    Some((parts.join("/"), anchor.into()))
}
