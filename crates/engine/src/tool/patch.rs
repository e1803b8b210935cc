//! Patches: which file they change, and what they take out and put in.

use super::canon::{Fold, hash_path};

/// What a patch does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Patch {
    /// The first file named; `None` if none is.
    pub(super) resource: Option<u64>,
    /// Hash of the removed lines.
    pub(super) old: u64,
    /// Hash of the added lines.
    pub(super) new: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Neither,
    Old,
    New,
}

/// Reads a patch: the `*** Begin Patch` form, a unified diff, or search/replace blocks. `None` if
/// the text is none of them.
pub(super) fn read(text: &str) -> Option<Patch> {
    let (mut old, mut new) = (Fold::new(10), Fold::new(10));
    let mut resource = None;
    let mut changed = false;
    let mut block = Side::Neither;
    let mut before = "";
    for line in text.lines() {
        if line.starts_with("<<<<<<<") {
            block = Side::Old;
            resource = resource.or_else(|| file_before(before));
        } else if block == Side::Old && line.starts_with("=======") {
            block = Side::New;
        } else if block == Side::New && line.starts_with(">>>>>>>") {
            block = Side::Neither;
        } else if block != Side::Neither {
            changed = true;
            let side = if block == Side::Old { &mut old } else { &mut new };
            side.piece(line.as_bytes());
        } else if let Some(path) = file_of(line) {
            resource = resource.or_else(|| Some(hash_path("", path)));
        } else if let Some(added) = line.strip_prefix('+') {
            changed = true;
            new.piece(added.as_bytes());
        } else if let Some(removed) = line.strip_prefix('-') {
            changed = true;
            old.piece(removed.as_bytes());
        }
        if !line.is_empty() {
            before = line;
        }
    }
    let known = resource.is_some() && (changed || text.contains("*** "));
    known.then(|| Patch { resource, old: old.end(), new: new.end() })
}

/// The file that a header line of a patch names.
fn file_of(line: &str) -> Option<&str> {
    for header in ["*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "] {
        if let Some(path) = line.strip_prefix(header) {
            return Some(path.trim());
        }
    }
    for header in ["--- ", "+++ "] {
        if let Some(path) = line.strip_prefix(header) {
            let path = path.split('\t').next().unwrap_or(path).trim();
            let bare = path.strip_prefix("a/").or(path.strip_prefix("b/")).unwrap_or(path);
            return (bare != "/dev/null").then_some(bare);
        }
    }
    None
}

/// The file named on the line above a search/replace block.
fn file_before(line: &str) -> Option<u64> {
    let path = line.trim_matches(['#', '`', '*', ' ', ':']);
    let path_like = !path.is_empty() && !path.contains(' ') && path.contains(['.', '/']);
    path_like.then(|| hash_path("", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_and_its_reverse_mirror_each_other() {
        let cases = [
            (
                "*** Begin Patch\n*** Update File: src/a.rs\n@@\n ctx\n-old\n+new\n*** End Patch",
                "*** Begin Patch\n*** Update File: src/a.rs\n@@\n ctx\n-new\n+old\n*** End Patch",
            ),
            (
                "--- a/src/a.rs\n+++ b/src/a.rs\n@@ -1 +1 @@\n-old\n+new\n",
                "--- a/src/a.rs\n+++ b/src/a.rs\n@@ -1 +1 @@\n-new\n+old\n",
            ),
            (
                "### src/a.rs\n<<<<<<< SEARCH\nold\n=======\nnew\n>>>>>>> REPLACE",
                "### src/a.rs\n<<<<<<< SEARCH\nnew\n=======\nold\n>>>>>>> REPLACE",
            ),
        ];
        for (forth, back) in cases {
            let (forth, back) = (read(forth).unwrap(), read(back).unwrap());
            assert_eq!(forth.resource, Some(hash_path("", "src/a.rs")));
            assert_eq!((forth.old, forth.new), (back.new, back.old));
            assert_ne!(forth.old, forth.new);
        }
    }

    #[test]
    fn other_texts_are_no_patches() {
        for text in ["", "- a list\n- of things", "a + b", "<<<<<<<"] {
            assert_eq!(read(text), None, "{text:?}");
        }
    }
}
