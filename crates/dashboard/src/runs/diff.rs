//! What attempts that were given up had changed.

use std::path::{Path, PathBuf};

use steersman_agent::Checkpointed;
use steersman_workspace::{Checkpoint, Checkpoints, Workspace};

/// Most bytes of a diff.
const MAX_DIFF: usize = 256 << 10;
/// Most diffs of a session.
const MAX_DIFFS: usize = 16;

/// The states between which an attempt lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span {
    /// The attempt.
    pub(super) number: u32,
    /// The turn after which it was given up.
    pub(super) ended_at: u32,
    /// Where it began.
    pub(super) from: Checkpointed,
    /// Where it was given up.
    pub(super) to: Checkpointed,
}

/// The diffs of attempts, by number; those that cannot be had are missing.
///
/// `kept` is where states are of folders that are in no repository. Reads files: not for a thread
/// that others wait for.
pub(super) fn diffs(
    session: &str,
    folder: &Path,
    kept: &Path,
    spans: &[Span],
) -> Vec<(u32, String)> {
    // Nothing is made where nothing was kept.
    let own: PathBuf = kept.join("checkpoints.git");
    let workspace = Workspace::open(folder).ok();
    let opened = workspace.filter(|_| own.is_dir() || folder.ancestors().any(in_repository));
    let Some(store) = opened.and_then(|it| Checkpoints::open(&it, session, kept).ok()) else {
        return Vec::new();
    };
    let diff = |span: &Span| {
        let patch = store.diff(&checkpoint(&span.from), &checkpoint(&span.to), MAX_DIFF).ok()?;
        Some((span.number, patch.text))
    };
    spans.iter().take(MAX_DIFFS).filter_map(diff).collect()
}

fn in_repository(folder: &Path) -> bool {
    folder.join(".git").exists()
}

fn checkpoint(kept: &Checkpointed) -> Checkpoint {
    Checkpoint {
        id: kept.id.clone(),
        number: kept.number,
        label: kept.label.clone(),
        files: 0,
        bytes: 0,
        skipped: Vec::new(),
        more_skipped: 0,
    }
}
