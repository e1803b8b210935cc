//! Ignore rules as git has them, from the disk or from a checkpoint.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use serde::{Deserialize, Serialize};

use super::Tree;
use crate::surroundings::Surroundings;

/// Largest ignore file that is read.
pub(super) const MAX_RULES: u64 = 1024 * 1024;

/// Rules from outside the workspace. They are part of a checkpoint, so that it can be restored by
/// the rules of its time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Outer {
    /// Where the workspace lies in its repository; empty for the repository itself.
    pub(super) inside: String,
    /// A folder of the repository and the rules that start there, the strongest last.
    pub(super) rules: Vec<(String, String)>,
}

impl Outer {
    /// The rules that hold in the tree from outside: the user's, the repository's, and those of
    /// the folders between the repository and the workspace.
    pub(super) fn of(tree: &Tree) -> Self {
        let Surroundings::WorkTree(top) = &tree.surroundings else { return Self::default() };
        let Ok(inside) = tree.origin.strip_prefix(top) else { return Self::default() };
        let mut rules = Vec::new();
        let mut add = |folder: &Path, text: Option<String>| {
            if let Some(text) = text {
                rules.push((folder.to_string_lossy().into_owned(), text));
            }
        };
        if let Ok(repository) = git2::Repository::open(top) {
            add(Path::new(""), user_rules(&repository));
            add(Path::new(""), read(&repository.commondir().join("info/exclude")));
        }
        let mut folder = PathBuf::new();
        for name in inside.components() {
            add(&folder, read(&top.join(&folder).join(".gitignore")));
            folder.push(name);
        }
        Self { inside: inside.to_string_lossy().into_owned(), rules }
    }
}

/// What the user has git ignore everywhere.
fn user_rules(repository: &git2::Repository) -> Option<String> {
    let configured = repository.config().ok().and_then(|mut config| {
        config.snapshot().ok().and_then(|config| config.get_path("core.excludesfile").ok())
    });
    let usual = || {
        let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".config"));
        let config = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).or_else(home);
        config.map(|config| config.join("git/ignore"))
    };
    read(&configured.or_else(usual)?)
}

/// The rules of a file without comments; `None` when there are none.
fn read(path: &Path) -> Option<String> {
    let metadata = path.metadata().ok()?;
    if !metadata.is_file() || metadata.len() > MAX_RULES {
        return None;
    }
    let text = std::fs::read(path).ok()?;
    let text = String::from_utf8_lossy(&text);
    let rules: Vec<&str> =
        text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')).collect();
    (!rules.is_empty()).then(|| rules.join("\n"))
}

/// Gives the text of the `.gitignore` in a folder of the workspace.
pub(super) type Lookup<'a> = dyn FnMut(&Path) -> Option<Vec<u8>> + 'a;

/// Ignore rules, read folder by folder as they are asked for.
pub(super) struct Rules<'a> {
    /// The workspace's path in its repository, from `/`. Only for matching.
    base: PathBuf,
    /// The strongest first.
    outer: Vec<Gitignore>,
    folders: HashMap<PathBuf, Rc<Gitignore>>,
    lookup: Box<Lookup<'a>>,
}

impl<'a> Rules<'a> {
    pub(super) fn new(outer: &Outer, lookup: Box<Lookup<'a>>) -> Self {
        let top = Path::new("/");
        let rules = outer.rules.iter().rev();
        let outer_rules =
            rules.map(|(folder, text)| parse(&top.join(folder), text.as_bytes())).collect();
        let base = top.join(&outer.inside);
        Self { base, outer: outer_rules, folders: HashMap::new(), lookup }
    }

    /// Whether the path itself is ignored, when none of the folders above it is.
    pub(super) fn ignores(&mut self, path: &Path, is_folder: bool) -> bool {
        let full = self.base.join(path);
        for folder in path.ancestors().skip(1) {
            if let Some(ignored) = verdict(&self.folder(folder), &full, is_folder) {
                return ignored;
            }
        }
        let outer = self.outer.iter().find_map(|rules| verdict(rules, &full, is_folder));
        outer.unwrap_or(false)
    }

    fn folder(&mut self, folder: &Path) -> Rc<Gitignore> {
        if let Some(rules) = self.folders.get(folder) {
            return Rc::clone(rules);
        }
        let rules = match (self.lookup)(folder) {
            Some(text) => parse(&self.base.join(folder), &text),
            None => Gitignore::empty(),
        };
        let rules = Rc::new(rules);
        self.folders.insert(folder.to_owned(), Rc::clone(&rules));
        rules
    }
}

fn verdict(rules: &Gitignore, path: &Path, is_folder: bool) -> Option<bool> {
    match rules.matched(path, is_folder) {
        Match::None => None,
        Match::Ignore(_) => Some(true),
        Match::Whitelist(_) => Some(false),
    }
}

/// A line that cannot be read is passed over, as git does.
fn parse(folder: &Path, text: &[u8]) -> Gitignore {
    let mut builder = GitignoreBuilder::new(folder);
    let text = String::from_utf8_lossy(text);
    for line in text.trim_start_matches('\u{feff}').lines() {
        let _ = builder.add_line(None, line);
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}
