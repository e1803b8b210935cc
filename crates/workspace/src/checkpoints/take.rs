//! Taking a checkpoint.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use git2::Oid;
use rustix::fs::FileType;

use super::message::{Message, Usual, encoded};
use super::rules::{Outer, Rules};
use super::scan::{Content, Fingerprint, Reader, Scan, Seen, Tracked, rules_on_disk, scan};
use super::store::{Entries, Entry, Kind, Store};
use super::{Checkpoint, CheckpointError, CheckpointLimits, Checkpoints, State, Tree, Uncovered};
use crate::surroundings::Surroundings;

/// What is known of files that were read before.
#[derive(Default)]
pub(super) struct Cache {
    files: HashMap<PathBuf, (Fingerprint, Oid)>,
    /// Trees that are in the store.
    trees: HashSet<Oid>,
    /// The checkpoint whose ref keeps all of this in the store.
    kept_by: Option<(String, Oid)>,
}

impl Cache {
    /// The blob that holds a file, if the file is as it was when it was read.
    pub(super) fn known(&self, path: &Path, seen: &Fingerprint) -> Option<Oid> {
        let (known, id) = self.files.get(path)?;
        (known == seen).then_some(*id)
    }

    pub(super) fn forget(&mut self, path: &Path) {
        self.files.remove(path);
    }
}

/// How long a file must have been left alone before its times are trusted, in nanoseconds: a
/// change right after reading it could otherwise bear the same time. File systems count in
/// ticks of at most 10 ms, and a few in whole seconds.
const SETTLED_NS: i128 = 50_000_000;
const SETTLED_COARSE_NS: i128 = 2_100_000_000;

/// Whether a change after `now` would show in the file's times.
fn is_settled(seen: &Fingerprint, now: i128) -> bool {
    [seen.modified, seen.changed].iter().all(|(seconds, nanos)| {
        let needed = if *nanos == 0 { SETTLED_COARSE_NS } else { SETTLED_NS };
        i128::from(*seconds) * 1_000_000_000 + i128::from(*nanos) + needed < now
    })
}

fn now() -> i128 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i128::try_from(since.as_nanos()).unwrap_or(0)
}

/// What the user's index tracks, with paths from the workspace.
pub(super) struct Index {
    index: Option<git2::Index>,
    inside: PathBuf,
}

impl Index {
    pub(super) fn of(tree: &Tree, outer: &Outer) -> Self {
        let Surroundings::WorkTree(top) = &tree.surroundings else {
            return Self { index: None, inside: PathBuf::new() };
        };
        // Without an index nothing is tracked; reading never writes it.
        let index = git2::Repository::open(top).and_then(|repository| repository.index()).ok();
        Self { index, inside: PathBuf::from(&outer.inside) }
    }
}

impl Tracked for Index {
    fn is(&self, path: &Path) -> bool {
        let path = self.inside.join(path);
        let Some(index) = &self.index else { return false };
        // While a merge is not done, a file has up to three other stages.
        (0..=3).any(|stage| index.get_path(&path, stage).is_some())
    }

    fn within(&self, folder: &Path) -> bool {
        let folder = self.inside.join(folder).join("");
        self.index.as_ref().is_some_and(|index| index.find_prefix(folder.as_os_str()).is_ok())
    }
}

/// Takes a checkpoint of the tree.
pub(super) fn take(
    all: &Checkpoints,
    state: &mut State,
    label: &str,
) -> Result<Checkpoint, CheckpointError> {
    let tree = &all.tree;
    let outer = Outer::of(tree);
    let index = Index::of(tree, &outer);
    let mut rules = Rules::new(&outer, Box::new(|folder| rules_on_disk(&tree.dir, folder)));
    let seen = scan(&tree.dir, &mut rules, &index, all.limits.max_entries)?;
    let mut taking = Taking {
        store: &state.store,
        cache: &mut state.cache,
        reader: Reader::new(&tree.dir),
        limits: &all.limits,
        entries: Entries::new(),
        fresh: HashMap::new(),
        skipped: Vec::new(),
        modes: BTreeMap::new(),
        bytes: 0,
        ignored_bytes: 0,
    };
    taking.check_cache();
    taking.cover(&seen)?;
    taking.finish(&all.prefix, Message { outer, ..Message::new(label) })
}

struct Taking<'a> {
    store: &'a Store,
    cache: &'a mut Cache,
    reader: Reader<'a>,
    limits: &'a CheckpointLimits,
    entries: Entries,
    fresh: HashMap<PathBuf, (Fingerprint, Oid)>,
    skipped: Vec<(PathBuf, Uncovered)>,
    modes: BTreeMap<PathBuf, (Kind, u32)>,
    bytes: u64,
    ignored_bytes: u64,
}

impl Taking<'_> {
    /// If the ref is gone, so may be the objects.
    fn check_cache(&mut self) {
        let kept = self.cache.kept_by.as_ref();
        if !kept.is_some_and(|(name, id)| self.store.is_ref(name, *id)) {
            *self.cache = Cache::default();
        }
    }

    fn cover(&mut self, seen: &Scan) -> Result<(), CheckpointError> {
        for path in &seen.unreadable {
            self.skip(path, Uncovered::Unreadable);
        }
        for (path, mode) in &seen.folders {
            let entry = Entry { kind: Kind::Folder, id: Oid::ZERO_SHA1 };
            self.entries.insert(path.clone(), entry);
            self.modes.insert(path.clone(), (Kind::Folder, *mode));
        }
        for (path, seen) in &seen.files {
            match self.refused(path, seen) {
                Some(why) => self.skip(path, why),
                None => self.file(path, seen)?,
            }
        }
        Ok(())
    }

    fn skip(&mut self, path: &Path, why: Uncovered) {
        self.skipped.push((path.to_owned(), why));
    }

    /// Why a file is not covered, as far as that can be told without reading it.
    fn refused(&self, path: &Path, seen: &Seen) -> Option<Uncovered> {
        let size = seen.fingerprint.size;
        match seen.fingerprint.kind() {
            FileType::RegularFile | FileType::Symlink => {}
            _ => return Some(Uncovered::Special),
        }
        if size > self.limits.max_file_bytes
            || self.bytes.saturating_add(size) > self.limits.max_total_bytes
        {
            return Some(Uncovered::TooLarge);
        }
        // Rules decide what restoring removes, so they are always covered.
        let is_rules = path.file_name().is_some_and(|name| name == ".gitignore");
        let beyond = size > self.limits.max_ignored_file_bytes
            || self.ignored_bytes.saturating_add(size) > self.limits.max_ignored_bytes;
        (seen.ignored && beyond && !is_rules).then_some(Uncovered::Ignored)
    }

    fn file(&mut self, path: &Path, seen: &Seen) -> Result<(), CheckpointError> {
        let (id, fingerprint) = match self.cache.known(path, &seen.fingerprint) {
            Some(id) => {
                self.fresh.insert(path.to_owned(), (seen.fingerprint, id));
                (id, seen.fingerprint)
            }
            None => match self.read(path, seen)? {
                Some(read) => read,
                None => return Ok(()),
            },
        };
        let kind = match fingerprint.kind() {
            FileType::Symlink => Kind::Link,
            _ if fingerprint.is_executable() => Kind::Executable,
            _ => Kind::File,
        };
        self.bytes += fingerprint.size;
        self.ignored_bytes += if seen.ignored { fingerprint.size } else { 0 };
        self.modes.insert(path.to_owned(), (kind, fingerprint.permissions()));
        self.entries.insert(path.to_owned(), Entry { kind, id });
        Ok(())
    }

    /// Reads a file into the store; `None` when it is not covered after all.
    fn read(
        &mut self,
        path: &Path,
        seen: &Seen,
    ) -> Result<Option<(Oid, Fingerprint)>, CheckpointError> {
        let begun = now();
        let max = self.limits.max_file_bytes;
        let why = match self.reader.read(path, seen.fingerprint.kind(), max) {
            Content::Read { bytes, fingerprint } => {
                let id = self.store.write_blob(&bytes)?;
                if is_settled(&fingerprint, begun) {
                    self.fresh.insert(path.to_owned(), (fingerprint, id));
                }
                return Ok(Some((id, fingerprint)));
            }
            Content::Unreadable => Uncovered::Unreadable,
            Content::TooLarge => Uncovered::TooLarge,
            Content::Changing => Uncovered::Changing,
            Content::Gone => return Ok(None),
        };
        self.skip(path, why);
        Ok(None)
    }

    fn finish(self, prefix: &str, message: Message) -> Result<Checkpoint, CheckpointError> {
        let Self { store, cache, entries, fresh, mut skipped, modes, bytes, .. } = self;
        let tree = store.write_trees(&entries, &mut cache.trees)?;
        skipped.sort_by(|(a, _), (b, _)| a.cmp(b));
        let usual = usual(&modes);
        let unusual = modes
            .iter()
            .filter(|(_, (kind, mode))| *kind != Kind::Link && usual.of(*kind) != *mode);
        let message = Message {
            files: entries.values().filter(|entry| entry.kind != Kind::Folder).count() as u64,
            bytes,
            usual,
            modes: unusual.map(|(path, (_, mode))| (encoded(path), *mode)).collect(),
            skipped: skipped.iter().map(|(path, why)| (encoded(path), *why)).collect(),
            ..message
        };
        let taken = store.numbers(prefix)?;
        let last = taken.last_key_value();
        let id = store.write_commit(tree, last.map(|(_, id)| *id), &message)?;
        let mut number = last.map_or(1, |(number, _)| number + 1);
        let mut name = format!("{prefix}{number}");
        // Another process may have taken the number meanwhile.
        while !store.add_ref(&name, id)? {
            number += 1;
            name = format!("{prefix}{number}");
        }
        cache.files = fresh;
        cache.kept_by = Some((name, id));
        Ok(message.checkpoint(id, number))
    }
}

impl Usual {
    /// The permissions of this kind of entry.
    pub(super) fn of(&self, kind: Kind) -> u32 {
        match kind {
            Kind::File => self.file,
            Kind::Executable => self.executable,
            Kind::Folder => self.folder,
            Kind::Link => 0o777,
        }
    }
}

/// The most frequent permissions of each kind.
fn usual(modes: &BTreeMap<PathBuf, (Kind, u32)>) -> Usual {
    let most = |wanted: Kind, otherwise: u32| {
        let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
        for (_, mode) in modes.values().filter(|(kind, _)| *kind == wanted) {
            *counts.entry(*mode).or_default() += 1;
        }
        let most = counts.into_iter().max_by_key(|(_, count)| *count);
        most.map_or(otherwise, |(mode, _)| mode)
    };
    Usual {
        file: most(Kind::File, 0o644),
        executable: most(Kind::Executable, 0o755),
        folder: most(Kind::Folder, 0o755),
    }
}
