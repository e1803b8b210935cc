//! The object store: raw git objects in, raw git objects out.
//!
//! Trees and commits are written byte by byte, so that any file name goes in and no setting of the
//! user's has a say.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use git2::{ErrorCode, ObjectType, Oid, Reference, Repository, RepositoryInitOptions};
use rustix::fs::Access;

use super::error::CheckpointError;
use super::message::Message;
use super::record::Storage;
use crate::surroundings::Surroundings;

/// Deepest folder of a checkpoint. Paths that long cannot be opened anyway.
const MAX_DEPTH: usize = 2_048;
/// How often a ref is tried that another holds, before its lock counts as left behind.
const LOCK_TRIES: usize = 20;
/// The pause before each of these tries.
const LOCK_PAUSE: Duration = Duration::from_millis(25);

/// A repository, used for its objects and refs alone.
pub(super) struct Store {
    repository: Repository,
    git_dir: PathBuf,
}

/// What an entry of a tree is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Executable,
    Link,
    Folder,
}

/// An entry of a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) kind: Kind,
    pub(super) id: Oid,
}

/// Everything in a checkpoint, folders too, by path.
pub(super) type Entries = BTreeMap<PathBuf, Entry>;

/// Opens the repository around the workspace, or the private one.
pub(super) fn open(
    surroundings: &Surroundings,
    private_dir: &Path,
) -> Result<(Store, Storage), CheckpointError> {
    let why = match surroundings {
        Surroundings::Plain => "the workspace is in no git repository".to_owned(),
        Surroundings::Ignored => "the repository around the workspace ignores it".to_owned(),
        Surroundings::WorkTree(top) => match usable(top) {
            Ok(repository) => {
                let git_dir = repository.commondir().to_owned();
                let storage = Storage::Repository { git_dir: git_dir.clone() };
                return Ok((Store { repository, git_dir }, storage));
            }
            Err(why) => why,
        },
    };
    let git_dir = private_dir.join("checkpoints.git");
    let storage = Storage::Private { git_dir: git_dir.clone(), why };
    make_private(private_dir, &git_dir)?;
    let store = reopen(&storage)?;
    Ok((store, storage))
}

/// Opens what was opened before once more.
pub(super) fn reopen(storage: &Storage) -> Result<Store, CheckpointError> {
    let git_dir = storage.git_dir().to_owned();
    match Repository::open(&git_dir) {
        Ok(repository) => Ok(Store { repository, git_dir }),
        Err(error) => Err(failed("open the store", &git_dir, &error)),
    }
}

/// The repository of a work tree, if checkpoints can be kept in it; else why not.
fn usable(top: &Path) -> Result<Repository, String> {
    let repository = Repository::open(top)
        .map_err(|error| format!("its repository cannot be opened: {}", error.message()))?;
    if repository.is_bare() {
        return Err("its repository is bare".into());
    }
    let common = repository.commondir();
    for folder in ["objects", "refs"].map(|name| common.join(name)) {
        let access = Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK;
        if rustix::fs::access(&folder, access).is_err() {
            return Err(format!("{} cannot be written", folder.display()));
        }
    }
    // An odd object store shows itself when it is asked.
    let odd = repository.odb().err();
    match odd {
        None => Ok(repository),
        Some(error) => Err(format!("its objects cannot be read: {}", error.message())),
    }
}

/// Others may not look in: it holds copies of files that may be the user's alone.
fn make_private(private_dir: &Path, git_dir: &Path) -> Result<(), CheckpointError> {
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(private_dir);
    made.map_err(|source| super::error::io_error("make the folder", private_dir, source))?;
    // One whose making was cut short is there, but cannot be opened: it is made to its end.
    if Repository::open(git_dir).is_ok() {
        return Ok(());
    }
    let mut options = RepositoryInitOptions::new();
    options
        .bare(true)
        .external_template(false)
        .mode(git2::RepositoryInitMode::from_bits_retain(0o700));
    let made = Repository::init_opts(git_dir, &options);
    made.map(drop).map_err(|error| failed("make the store", git_dir, &error))
}

fn failed(what: &'static str, git_dir: &Path, error: &git2::Error) -> CheckpointError {
    let why = error.message().to_owned();
    CheckpointError::Store { what, git_dir: git_dir.to_owned(), why }
}

impl Store {
    pub(super) fn repository(&self) -> &Repository {
        &self.repository
    }

    pub(super) fn failed(&self, what: &'static str, error: &git2::Error) -> CheckpointError {
        failed(what, &self.git_dir, error)
    }

    /// Writes an object, or touches it if it is there, so that a collection of garbage that is
    /// under way spares it.
    fn write(&self, kind: ObjectType, bytes: &[u8]) -> Result<Oid, CheckpointError> {
        let written = self.repository.odb().and_then(|odb| odb.write(kind, bytes));
        written.map_err(|error| self.failed("write an object", &error))
    }

    pub(super) fn write_blob(&self, bytes: &[u8]) -> Result<Oid, CheckpointError> {
        self.write(ObjectType::Blob, bytes)
    }

    pub(super) fn read_blob(&self, id: Oid) -> Result<Vec<u8>, CheckpointError> {
        self.read(id, ObjectType::Blob)
    }

    fn read(&self, id: Oid, kind: ObjectType) -> Result<Vec<u8>, CheckpointError> {
        let odb = self.repository.odb();
        let fail = |error| self.failed("read an object", &error);
        let odb = odb.map_err(fail)?;
        let object = odb.read(id).map_err(fail)?;
        if object.kind() != kind {
            let why = format!("it is a {}, not a {}", object.kind().str(), kind.str());
            return Err(CheckpointError::Unknown { id: id.to_string(), why });
        }
        Ok(object.data().to_vec())
    }

    /// The objects' sizes; `None` for those that are missing.
    pub(super) fn size(&self, id: Oid) -> Option<u64> {
        let odb = self.repository.odb().ok()?;
        odb.read_header(id).ok().map(|(size, _)| size as u64)
    }

    /// Writes the trees of a checkpoint, from the deepest up. `written` knows trees that are there.
    pub(super) fn write_trees(
        &self,
        entries: &Entries,
        written: &mut std::collections::HashSet<Oid>,
    ) -> Result<Oid, CheckpointError> {
        let mut open: BTreeMap<&Path, Vec<(OsString, Entry)>> = BTreeMap::new();
        open.insert(Path::new(""), Vec::new());
        for (path, entry) in entries {
            if entry.kind == Kind::Folder {
                open.entry(path).or_default();
            } else {
                let name = path.file_name().unwrap_or_default().to_owned();
                let folder = path.parent().unwrap_or(Path::new(""));
                open.entry(folder).or_default().push((name, *entry));
            }
        }
        // What is deeper comes later in the order of paths.
        while let Some((path, listed)) = open.pop_last() {
            let bytes = tree_bytes(listed);
            let id = Oid::hash_object(ObjectType::Tree, &bytes);
            let id = id.map_err(|error| self.failed("hash a folder", &error))?;
            if !written.contains(&id) {
                self.write(ObjectType::Tree, &bytes)?;
                written.insert(id);
            }
            let Some(name) = path.file_name() else { return Ok(id) };
            let folder = path.parent().unwrap_or(Path::new(""));
            let entry = Entry { kind: Kind::Folder, id };
            open.entry(folder).or_default().push((name.to_owned(), entry));
        }
        Err(CheckpointError::Unknown { id: String::new(), why: "it has no root".into() })
    }

    /// Everything in a tree.
    pub(super) fn read_trees(&self, tree: Oid) -> Result<Entries, CheckpointError> {
        let mut entries = Entries::new();
        let mut open = vec![(PathBuf::new(), tree, 0)];
        while let Some((folder, id, depth)) = open.pop() {
            let bytes = self.read(id, ObjectType::Tree)?;
            let unknown =
                |why: &str| CheckpointError::Unknown { id: id.to_string(), why: why.into() };
            for entry in tree_entries(&bytes) {
                let (name, entry) = entry.ok_or_else(|| unknown("its tree cannot be read"))?;
                let path = folder.join(name);
                if entry.kind == Kind::Folder {
                    if depth == MAX_DEPTH {
                        return Err(unknown("its folders are too deep"));
                    }
                    open.push((path.clone(), entry.id, depth + 1));
                }
                entries.insert(path, entry);
            }
        }
        Ok(entries)
    }

    /// Writes the commit of a checkpoint. It is nobody's work, so it bears no user's name.
    pub(super) fn write_commit(
        &self,
        tree: Oid,
        parent: Option<Oid>,
        message: &Message,
    ) -> Result<Oid, CheckpointError> {
        let unreadable = |error: serde_json::Error| CheckpointError::Unknown {
            id: tree.to_string(),
            why: error.to_string(),
        };
        let text = message.to_text().map_err(unreadable)?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let parent = parent.map(|id| format!("parent {id}\n")).unwrap_or_default();
        let by = format!("Steersman <steersman@localhost> {now} +0000");
        let commit = format!("tree {tree}\n{parent}author {by}\ncommitter {by}\n\n{text}");
        self.write(ObjectType::Commit, commit.as_bytes())
    }

    /// The commit of this name.
    pub(super) fn commit(&self, id: &str) -> Result<Oid, CheckpointError> {
        let unknown = |why: &git2::Error| CheckpointError::Unknown {
            id: id.to_owned(),
            why: why.message().to_owned(),
        };
        let oid = Oid::from_str(id).map_err(|error| unknown(&error))?;
        self.repository.find_commit(oid).map_err(|error| unknown(&error))?;
        Ok(oid)
    }

    /// What a checkpoint's commit says.
    pub(super) fn record(&self, id: Oid) -> Result<Message, CheckpointError> {
        let unknown = |why| CheckpointError::Unknown { id: id.to_string(), why };
        let commit = self.repository.find_commit(id);
        let commit = commit.map_err(|error| unknown(error.message().to_owned()))?;
        Message::from_text(commit.message_raw_bytes()).map_err(unknown)
    }

    /// The tree of a checkpoint's commit.
    pub(super) fn tree(&self, id: Oid) -> Result<Oid, CheckpointError> {
        let commit = self.repository.find_commit(id);
        commit
            .map(|commit| commit.tree_id())
            .map_err(|error| self.failed("read the checkpoint", &error))
    }

    /// The checkpoints under a prefix, by number.
    pub(super) fn numbers(&self, prefix: &str) -> Result<BTreeMap<u32, Oid>, CheckpointError> {
        let fail = |error| self.failed("list refs", &error);
        let mut numbers = BTreeMap::new();
        let found = self.repository.references_glob(&format!("{prefix}*")).map_err(fail)?;
        for reference in found {
            let reference = reference.map_err(fail)?;
            let number = reference.name().ok().and_then(|name| name.strip_prefix(prefix));
            let number = number.and_then(|number| number.parse().ok());
            if let (Some(number), Some(id)) = (number, reference.target()) {
                numbers.insert(number, id);
            }
        }
        Ok(numbers)
    }

    /// Makes a ref that must not be there yet. `false` when it is.
    pub(super) fn add_ref(&self, name: &str, id: Oid) -> Result<bool, CheckpointError> {
        match self.write_ref(name, || self.repository.reference(name, id, false, "checkpoint")) {
            Ok(()) => Ok(true),
            Err(error) if error.code() == ErrorCode::Exists => Ok(false),
            Err(error) => Err(self.failed("write a ref", &error)),
        }
    }

    /// Makes a ref, or moves it.
    pub(super) fn set_ref(&self, name: &str, id: Oid) -> Result<(), CheckpointError> {
        let set = self.write_ref(name, || self.repository.reference(name, id, true, "kept"));
        set.map_err(|error| self.failed("write a ref", &error))
    }

    /// Writes a ref of ours. Its lock is held for one write; one that stays was left by a process
    /// that was killed in the middle of it, and would be in the way for ever.
    fn write_ref<'a>(
        &self,
        name: &str,
        write: impl Fn() -> Result<Reference<'a>, git2::Error>,
    ) -> Result<(), git2::Error> {
        let is_locked = |done: &Result<Reference<'_>, git2::Error>| {
            done.as_ref().err().is_some_and(|error| error.code() == ErrorCode::Locked)
        };
        let mut done = write();
        if !is_locked(&done) {
            return done.map(drop);
        }
        let lock = self.git_dir.join(format!("{name}.lock"));
        let held = made(&lock);
        for _ in 0..LOCK_TRIES {
            std::thread::sleep(LOCK_PAUSE);
            done = write();
            if !is_locked(&done) {
                return done.map(drop);
            }
        }
        if held.is_some() && made(&lock) == held {
            // If it cannot be removed, the write says so.
            let _ = std::fs::remove_file(&lock);
            done = write();
        }
        done.map(drop)
    }

    /// Whether the ref is this commit.
    pub(super) fn is_ref(&self, name: &str, id: Oid) -> bool {
        self.repository.refname_to_id(name) == Ok(id)
    }

    pub(super) fn delete_refs(&self, glob: &str) -> Result<usize, CheckpointError> {
        let fail = |error| self.failed("delete refs", &error);
        let mut deleted = 0;
        for reference in self.repository.references_glob(glob).map_err(fail)? {
            reference.and_then(|mut reference| reference.delete()).map_err(fail)?;
            deleted += 1;
        }
        Ok(deleted)
    }
}

/// Which file it is and when it was written; `None` when it is not there.
fn made(path: &Path) -> Option<(u64, i64, i64)> {
    let found = std::fs::symlink_metadata(path).ok()?;
    Some((found.ino(), found.mtime(), found.mtime_nsec()))
}

/// A tree object. Git sorts folders as if their names ended in a slash.
fn tree_bytes(mut entries: Vec<(OsString, Entry)>) -> Vec<u8> {
    let key = |(name, entry): &(OsString, Entry)| {
        let mut key = name.as_bytes().to_vec();
        if entry.kind == Kind::Folder {
            key.push(b'/');
        }
        key
    };
    entries.sort_by_cached_key(key);
    let mut bytes = Vec::new();
    for (name, entry) in entries {
        let mode = match entry.kind {
            Kind::File => "100644 ",
            Kind::Executable => "100755 ",
            Kind::Link => "120000 ",
            Kind::Folder => "40000 ",
        };
        bytes.extend_from_slice(mode.as_bytes());
        bytes.extend_from_slice(name.as_bytes());
        bytes.push(0);
        bytes.extend_from_slice(entry.id.as_bytes());
    }
    bytes
}

/// The entries of a tree object; `None` in the place of what is none of ours.
fn tree_entries(mut rest: &[u8]) -> impl Iterator<Item = Option<(OsString, Entry)>> {
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let entry = next_entry(&mut rest);
        if entry.is_none() {
            rest = &[];
        }
        Some(entry)
    })
}

fn next_entry(rest: &mut &[u8]) -> Option<(OsString, Entry)> {
    let end = memchr::memchr(0, rest)?;
    let (head, after) = rest.split_at(end);
    let space = memchr::memchr(b' ', head)?;
    let kind = match &head[..space] {
        b"100644" => Kind::File,
        b"100755" => Kind::Executable,
        b"120000" => Kind::Link,
        b"40000" => Kind::Folder,
        _ => return None,
    };
    let name = &head[space + 1..];
    // A name that leads elsewhere cannot come from us, and must never reach the disk.
    if matches!(name, b"" | b"." | b".." | b".git") || name.contains(&b'/') {
        return None;
    }
    let id = Oid::from_bytes(after.get(1..21)?).ok()?;
    *rest = &after[21..];
    Some((OsString::from_vec(name.to_vec()), Entry { kind, id }))
}
