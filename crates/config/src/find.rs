//! Looking for the policy file that holds for a directory.

use std::env;
use std::path::{Path, PathBuf};

/// Names under which a policy file is found, the first one first.
pub const FILE_NAMES: [&str; 2] = ["steersman.yaml", "steersman.yml"];

/// At most this many parents are looked through.
const MAX_PARENTS: usize = 64;

/// The policy file that holds for `start_dir`: the nearest one in it or in a parent up to the root
/// of the repository, else the user's own in `$XDG_CONFIG_HOME/steersman/` (`~/.config/steersman/`
/// if that is not set). `None` if there is none.
///
/// Outside of a repository only `start_dir` itself is looked at: parents may belong to others.
#[must_use]
pub fn find(start_dir: &Path) -> Option<PathBuf> {
    let home = env::var_os("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
        .or_else(|| env::var_os("HOME").map(|home| PathBuf::from(home).join(".config")));
    find_with_home(start_dir, home.as_deref())
}

/// As [`find`], with the directory of user configuration given; `None` is none.
#[must_use]
pub fn find_with_home(start_dir: &Path, config_home: Option<&Path>) -> Option<PathBuf> {
    // A relative directory has its parents in its absolute form only.
    let start = std::path::absolute(start_dir).unwrap_or_else(|_| start_dir.to_owned());
    let parents: Vec<&Path> = start.ancestors().take(MAX_PARENTS).collect();
    let root = parents.iter().position(|dir| dir.join(".git").exists());
    let within = parents.iter().take(root.map_or(1, |root| root + 1));
    let own = config_home.map(|home| home.join("steersman"));
    let files = |dir: &Path| FILE_NAMES.map(|name| dir.join(name));
    let mut candidates = within.flat_map(|dir| files(dir)).chain(own.iter().flat_map(|d| files(d)));
    candidates.find(|path| path.is_file())
}
