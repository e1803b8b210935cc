//! States of the workspace, kept as git objects.
//!
//! A checkpoint is a commit whose tree is the workspace, byte for byte: no filters, no hooks, no
//! index. Its message holds what a tree cannot say. Refs lie under `refs/steersman/<session>/`.

mod copy;
mod diff;
mod error;
mod message;
mod record;
mod restore;
mod rules;
mod scan;
mod store;
mod take;

pub use error::CheckpointError;
pub use record::{
    Change, Checkpoint, CheckpointLimits, Copied, CopyLimits, Kept, Left, Patch, Restored, Skipped,
    Storage, Uncovered,
};

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fd::OwnedFd;

use crate::Workspace;
use crate::surroundings::Surroundings;
use store::Store;
use take::Cache;

/// The checkpoints of one session.
///
/// Its calls are synchronous and take turns.
#[derive(Debug)]
pub struct Checkpoints {
    session: String,
    /// What the names of the refs start with, with a slash at the end.
    prefix: String,
    storage: Storage,
    private_dir: PathBuf,
    limits: CheckpointLimits,
    /// The folder that is covered.
    tree: Tree,
    state: Mutex<State>,
}

/// An open folder that checkpoints are of.
#[derive(Debug)]
struct Tree {
    root: PathBuf,
    dir: OwnedFd,
    /// Where ignore rules outside the folder come from: the folder itself, but for a copy the
    /// folder it was copied from.
    origin: PathBuf,
    surroundings: Surroundings,
}

struct State {
    store: Store,
    cache: Cache,
}

impl std::fmt::Debug for State {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("State").finish_non_exhaustive()
    }
}

impl Checkpoints {
    /// Opens the session's checkpoints: in the repository that the workspace lies in, or, where
    /// there is none or it cannot be used, in a bare repository in `private_dir`, which is made if
    /// it is not there, for this user alone. [`Checkpoints::storage`] says which.
    ///
    /// # Errors
    /// The session's name cannot be part of a ref, or neither store can be opened.
    pub fn open(
        workspace: &Workspace,
        session: &str,
        private_dir: &Path,
    ) -> Result<Self, CheckpointError> {
        let name = named(session)?;
        let surroundings = workspace.surroundings.clone();
        let (store, storage) = store::open(&surroundings, private_dir)?;
        Ok(Self {
            session: name.to_owned(),
            prefix: format!("refs/steersman/{name}/"),
            storage,
            private_dir: private_dir.to_owned(),
            limits: CheckpointLimits::default(),
            tree: Tree::of(workspace, workspace.root(), surroundings)?,
            state: Mutex::new(State { store, cache: Cache::default() }),
        })
    }

    /// The same store and session for a copy of the workspace, with numbers of its own. What is
    /// taken there can be restored here, and the other way round.
    ///
    /// # Errors
    /// The name cannot be part of a ref, or the store cannot be opened once more.
    pub fn beside(&self, copy: &Workspace, attempt: &str) -> Result<Self, CheckpointError> {
        let name = named(attempt)?;
        let surroundings = self.tree.surroundings.clone();
        let store = store::reopen(&self.storage)?;
        Ok(Self {
            session: self.session.clone(),
            prefix: format!("refs/steersman/{}/attempt-{name}/", self.session),
            storage: self.storage.clone(),
            private_dir: self.private_dir.clone(),
            limits: self.limits,
            tree: Tree::of(copy, &self.tree.origin, surroundings)?,
            state: Mutex::new(State { store, cache: Cache::default() }),
        })
    }

    /// Sets what is covered from now on.
    pub fn set_limits(&mut self, limits: CheckpointLimits) {
        self.limits = limits;
    }

    /// Where they are kept.
    pub fn storage(&self) -> &Storage {
        &self.storage
    }

    /// Keeps the workspace as it is now. Files that have not changed since the last checkpoint
    /// (size, times, inode) are not read again.
    ///
    /// # Errors
    /// The workspace holds too much or cannot be read, or the store cannot be written.
    pub fn take(&self, label: &str) -> Result<Checkpoint, CheckpointError> {
        let state = &mut *self.state();
        take::take(self, state, label)
    }

    /// Makes the workspace what it was at the checkpoint: contents, permissions, symlinks and
    /// empty folders. Files made since are removed, unless they are ignored. What the checkpoint
    /// does not cover is left alone and named. Git's own files are not touched.
    ///
    /// When it is interrupted, restoring again finishes it.
    ///
    /// # Errors
    /// [`CheckpointError::Refused`] before anything was touched; else a file could not be written.
    pub fn restore(&self, checkpoint: &Checkpoint) -> Result<Restored, CheckpointError> {
        let state = &mut *self.state();
        restore::restore(&self.tree, state, checkpoint)
    }

    /// What changed from `a` to `b`, as a patch of at most `max_bytes`.
    ///
    /// # Errors
    /// One of them is not in the store.
    pub fn diff(
        &self,
        a: &Checkpoint,
        b: &Checkpoint,
        max_bytes: usize,
    ) -> Result<Patch, CheckpointError> {
        diff::diff(&self.state().store, a, b, max_bytes)
    }

    /// Keeps something under `refs/steersman/<session>/kept/<name>`, in the place of what was kept
    /// there before, and returns the ref. What a copy's session keeps lies below its own refs.
    ///
    /// # Errors
    /// The name cannot be part of a ref, or the store cannot be written.
    pub fn keep(&self, name: &str, what: Kept<'_>) -> Result<String, CheckpointError> {
        let reference = format!("{}kept/{}", self.prefix, named(name)?);
        let state = self.state();
        let id = match what {
            Kept::Checkpoint(checkpoint) => state.store.commit(&checkpoint.id)?,
            Kept::Patch(patch) => state.store.write_blob(patch.text.as_bytes())?,
        };
        state.store.set_ref(&reference, id)?;
        Ok(reference)
    }

    /// The session's checkpoints by number, without those of copies.
    ///
    /// # Errors
    /// The store cannot be read. A ref that is no checkpoint is passed over.
    pub fn list(&self) -> Result<Vec<Checkpoint>, CheckpointError> {
        let state = self.state();
        let numbers = state.store.numbers(&self.prefix)?;
        let found = numbers.into_iter().filter_map(|(number, id)| {
            state.store.record(id).ok().map(|message| message.checkpoint(id, number))
        });
        Ok(found.collect())
    }

    /// Deletes every ref of the session, and returns how many there were. Git removes the objects
    /// when it next collects garbage.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn forget(&self) -> Result<usize, CheckpointError> {
        let state = &mut *self.state();
        state.cache = Cache::default();
        state.store.delete_refs(&format!("refs/steersman/{}/*", self.session))
    }

    /// Copies the checkpoint into an empty folder, which is made if it is not there, and with it
    /// what ignore rules hide in the workspace as it is now (built files, installed packages), so
    /// that work can go on there. Git's own files are not copied.
    ///
    /// # Errors
    /// The folder is not empty or cannot be written.
    pub fn copy_to(
        &self,
        checkpoint: &Checkpoint,
        folder: &Path,
        limits: CopyLimits,
    ) -> Result<Copied, CheckpointError> {
        let state = &mut *self.state();
        copy::copy(&self.tree, state, checkpoint, (folder, limits))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // What a panic could leave behind is a cache, which is checked before it is used.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tree {
    fn of(
        workspace: &Workspace,
        origin: &Path,
        surroundings: Surroundings,
    ) -> Result<Self, CheckpointError> {
        let root = workspace.root().to_owned();
        let dir = workspace.beneath.dir().try_clone();
        let dir = dir.map_err(|source| error::io_error("open", &root, source))?;
        Ok(Self { root, dir, origin: origin.to_owned(), surroundings })
    }
}

/// Refuses what cannot be part of a ref.
fn named(name: &str) -> Result<&str, CheckpointError> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if name.is_empty() || name.len() > 100 || !name.bytes().all(allowed) {
        let name = name.chars().take(100).filter(|c| !c.is_control()).collect();
        return Err(CheckpointError::BadName { name });
    }
    Ok(name)
}
