//! Absolute paths of somebody's machine.

use super::marks::OWN_CASES;
use crate::tidy::Findings;
use crate::tidy::tree::Tree;

/// Folders that exist on one machine only.
const ROOTS: &[&str] = &["/home/", "/root/", "/Users/", "/work/", "C:\\Users\\"];
/// The users that examples and recordings are about.
const EXAMPLE_USERS: &[&str] = &["dev", "user"];

pub(in crate::tidy) fn check(tree: &Tree, findings: &mut Findings) {
    let own = [OWN_CASES, "xtask/src/tidy/rules/paths.rs"];
    for file in tree.files().iter().filter(|file| !own.contains(&file.path.as_str())) {
        for (number, line) in file.lines() {
            if let Some(root) = ROOTS.iter().find(|root| names_machine(line, root)) {
                findings.add(&file.path, number, format!("an absolute path under `{root}`"));
            }
        }
    }
}

/// Whether a path begins with `root`: elsewhere in a path, `/work/` is an ordinary folder.
fn names_machine(line: &str, root: &str) -> bool {
    line.match_indices(root).any(|(at, _)| {
        let begins = !line[..at].ends_with(|c: char| c.is_alphanumeric() || "._-~}*".contains(c));
        let rest = &line[at + root.len()..];
        let user = rest.split(|c: char| !c.is_alphanumeric()).next();
        begins && !user.is_some_and(|user| EXAMPLE_USERS.contains(&user))
    })
}
