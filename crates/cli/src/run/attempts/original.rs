//! The folder that the attempts are made for: kept, copied, and brought to the chosen state.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use steersman_agent::Checkpointed;
use steersman_store::SessionId;
use steersman_workspace::{
    Change, Checkpoint, CheckpointError, Checkpoints, CopyLimits, Kept, Patch, Workspace,
};

use super::super::place::Place;
use super::super::recall::Beside;

/// Most bytes of the patch that is kept of an attempt: 8 MiB. The state itself is kept whole.
const MAX_PATCH: usize = 8 * 1024 * 1024;

/// How many files a difference names at most; see [`Patch::files`].
const MAX_FILES: usize = 10_000;

/// How many files somebody else changed are named.
const NAMED: usize = 5;

/// The folder that the attempts are made for.
pub(super) struct Original {
    folder: PathBuf,
    kept: Checkpoints,
}

/// What an attempt came to, as kept.
pub(super) struct Outcome {
    pub(super) kept: String,
    pub(super) patch: String,
    pub(super) changed: Patch,
}

impl Original {
    pub(super) fn open(folder: &Path, group: &SessionId, place: &Place) -> Result<Self, String> {
        let workspace = Workspace::open(folder).map_err(|error| error.to_string())?;
        let kept = Checkpoints::open(&workspace, group.as_str(), &place.checkpoints(group));
        let kept = kept.map_err(|error| error.to_string())?;
        Ok(Self { folder: workspace.root().to_owned(), kept })
    }

    /// Keeps the folder as it is before the attempts.
    pub(super) fn keep(&self) -> Result<Checkpointed, String> {
        let first = self.kept.take("before the attempts").map_err(|error| error.to_string())?;
        let skipped =
            first.skipped.iter().take(20).map(|skipped| skipped.path.display().to_string());
        Ok(Checkpointed {
            number: first.number,
            id: first.id.clone(),
            label: first.label.clone(),
            skipped: skipped.collect(),
        })
    }

    /// Makes a copy to work in, in place of one that was not finished.
    pub(super) fn copy(&self, first: &Checkpointed, folder: &Path) -> Result<(), String> {
        let fail = |error| format!("{}: {error}", folder.display());
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(fail(error)),
            _ => {}
        }
        fs::create_dir_all(folder).map_err(fail)?;
        let copied = self.kept.copy_to(&checkpoint(first), folder, CopyLimits::default());
        copied.map(drop).map_err(|error| error.to_string())
    }

    /// Keeps the last state of an attempt and what it changed under names of their own.
    pub(super) fn keep_result(
        &self,
        first: &Checkpointed,
        last: &Checkpointed,
        number: u32,
    ) -> Result<Outcome, CheckpointError> {
        let (first, last) = (checkpoint(first), checkpoint(last));
        let changed = self.kept.diff(&first, &last, MAX_PATCH)?;
        let kept = self.kept.keep(&format!("side-{number}"), Kept::Checkpoint(&last))?;
        let patch = self.kept.keep(&format!("side-{number}-patch"), Kept::Patch(&changed))?;
        Ok(Outcome { kept, patch, changed })
    }

    /// Brings the folder to the last state of an attempt, unless somebody else changed it: a file
    /// that is neither as it was before the attempts nor as the attempt left it. So it goes on
    /// where it was interrupted.
    pub(super) fn apply(&self, first: &Checkpointed, state: &str) -> Result<(), String> {
        let failed = |error: CheckpointError| error.to_string();
        let first = checkpoint(first);
        let wanted = Checkpoint { id: state.to_owned(), ..first.clone() };
        let now = self.kept.take("before the chosen attempt").map_err(failed)?;
        let since = self.kept.diff(&first, &now, 0).map_err(failed)?;
        let to_do = self.kept.diff(&now, &wanted, 0).map_err(failed)?;
        let foreign = foreign(&since.files, &to_do.files)?;
        if foreign.is_empty() {
            return self.kept.restore(&wanted).map(drop).map_err(failed);
        }
        let named: Vec<String> =
            foreign.iter().take(NAMED).map(|path| path.display().to_string()).collect();
        let more = match foreign.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        Err(format!("the folder was changed meanwhile: {}{more}", named.join(", ")))
    }

    /// How a state is brought into the folder with plain git.
    pub(super) fn how_to_apply(&self, first: &Checkpointed, kept: &str) -> String {
        let git = quoted(&self.kept.storage().git_dir().display().to_string());
        let folder = quoted(&self.folder.display().to_string());
        let above = self.folder.parent().unwrap_or(&self.folder);
        let above = quoted(&above.display().to_string());
        // The ceiling makes git take the folder for the root of the patch, wherever it lies.
        format!(
            "git --git-dir {git} diff --binary {} {kept} | (cd {folder} && \
             GIT_CEILING_DIRECTORIES={above} git apply)",
            first.id
        )
    }
}

/// Files that are neither as before nor as wanted.
fn foreign<'a>(
    since: &'a [(PathBuf, Change)],
    to_do: &[(PathBuf, Change)],
) -> Result<Vec<&'a PathBuf>, String> {
    if !since.is_empty() && since.len().max(to_do.len()) >= MAX_FILES {
        return Err(
            "the folder was changed meanwhile: in too many files to look through".to_owned()
        );
    }
    let to_do: BTreeSet<&PathBuf> = to_do.iter().map(|(path, _)| path).collect();
    Ok(since.iter().map(|(path, _)| path).filter(|path| to_do.contains(path)).collect())
}

/// The checkpoints of a side: beside those of the original.
pub(in crate::run) fn beside(
    copy: &Workspace,
    side: &Beside,
    place: &Place,
) -> Result<Checkpoints, String> {
    let group: SessionId =
        side.group.parse().map_err(|error: steersman_store::SessionIdError| error.to_string())?;
    let original = Original::open(Path::new(&side.original), &group, place)?;
    original.kept.beside(copy, &side.number.to_string()).map_err(|error| error.to_string())
}

/// What stands in a journal, as the store knows it by its id.
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

/// A word for a shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:+,@".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use steersman_workspace::Change;

    use super::{foreign, quoted};

    #[test]
    fn what_is_as_before_or_as_wanted_is_nobody_elses() {
        let file = |name: &str| (PathBuf::from(name), Change::Modified);
        // `a` is half-way done, `b` is to be done, `c` is somebody's, in the way or not.
        let since = [file("a"), file("c")];
        assert_eq!(foreign(&since, &[file("b")]).unwrap(), Vec::<&PathBuf>::new());
        assert_eq!(foreign(&since, &[file("b"), file("c")]).unwrap(), [&PathBuf::from("c")]);
        let many = vec![file("x"); 10_000];
        assert!(foreign(&since, &many).is_err());
        assert_eq!(foreign(&[], &many).unwrap().len(), 0);
    }

    #[test]
    fn words_of_a_shell_are_quoted_where_they_must() {
        assert_eq!(quoted("/a/b-1"), "/a/b-1");
        assert_eq!(quoted("/a b/it's"), r"'/a b/it'\''s'");
    }
}
