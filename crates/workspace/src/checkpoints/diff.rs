//! The difference between two checkpoints.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use git2::{Delta, DiffFormat, DiffOptions, Oid};

use super::store::Store;
use super::{Change, Checkpoint, CheckpointError, Patch};

/// Most files that a patch names.
const MAX_FILES: usize = 10_000;
/// Largest file whose lines are compared.
const MAX_COMPARED: i64 = 1024 * 1024;

/// Compares two checkpoints; the text is at most `max_bytes` long.
pub(super) fn diff(
    store: &Store,
    a: &Checkpoint,
    b: &Checkpoint,
    max_bytes: usize,
) -> Result<Patch, CheckpointError> {
    let fail = |error: git2::Error| store.failed("compare checkpoints", &error);
    let tree =
        |id: Oid| store.tree(id).and_then(|id| store.repository().find_tree(id).map_err(fail));
    let (old, new) = (tree(store.commit(&a.id)?)?, tree(store.commit(&b.id)?)?);
    let mut options = DiffOptions::new();
    // The user's settings for diffs have no say, and large files are shown as binary.
    options.max_size(MAX_COMPARED).ignore_submodules(false).context_lines(3);
    let diff = store
        .repository()
        .diff_tree_to_tree(Some(&old), Some(&new), Some(&mut options))
        .map_err(fail)?;
    let files = diff.deltas().take(MAX_FILES).filter_map(|delta| {
        let file =
            if delta.status() == Delta::Deleted { delta.old_file() } else { delta.new_file() };
        let bytes = file.path_bytes()?;
        let path = PathBuf::from(Path::new(std::ffi::OsStr::from_bytes(bytes)));
        let change = match delta.status() {
            Delta::Added => Change::Added,
            Delta::Deleted => Change::Removed,
            _ => Change::Modified,
        };
        Some((path, change))
    });
    let files = files.collect();
    let (text, cut) = text(&diff, max_bytes).map_err(fail)?;
    let stats = diff.stats().map_err(fail)?;
    let (insertions, deletions) = (stats.insertions(), stats.deletions());
    Ok(Patch { text, cut, files, insertions, deletions })
}

/// The patch as text, cut after a whole line.
fn text(diff: &git2::Diff<'_>, max_bytes: usize) -> Result<(String, bool), git2::Error> {
    let mut text = Vec::new();
    let mut cut = false;
    let printed = diff.print(DiffFormat::Patch, |_, _, line| {
        let origin = matches!(line.origin(), '+' | '-' | ' ').then_some(line.origin());
        if text.len() + line.content().len() + 1 > max_bytes {
            cut = true;
            return false;
        }
        text.extend(origin.map(|origin| origin as u8));
        text.extend_from_slice(line.content());
        true
    });
    if !cut {
        printed?;
    }
    let mut text = String::from_utf8_lossy(&text).into_owned();
    if cut {
        text.push_str("[the patch is longer than this]\n");
    }
    Ok((text, cut))
}
