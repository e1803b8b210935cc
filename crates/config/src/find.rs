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
    find_with_home(start_dir, config_home().as_deref())
}

/// The directory of user configuration: `$XDG_CONFIG_HOME`, or `~/.config` if that is not set;
/// `None` if neither is known.
#[must_use]
pub fn config_home() -> Option<PathBuf> {
    env::var_os("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
        .or_else(|| env::var_os("HOME").map(|home| PathBuf::from(home).join(".config")))
}

/// The folders in which files for `start_dir` are looked for, nearest first: itself and its
/// parents up to the root of the repository, at most 64. Outside of a repository it is alone:
/// parents may belong to others.
#[must_use]
pub fn folders(start_dir: &Path) -> Vec<PathBuf> {
    // A relative directory has its parents in its absolute form only.
    let start = std::path::absolute(start_dir).unwrap_or_else(|_| start_dir.to_owned());
    let mut folders: Vec<PathBuf> =
        start.ancestors().take(MAX_PARENTS).map(Path::to_owned).collect();
    let root = folders.iter().position(|folder| folder.join(".git").exists());
    folders.truncate(root.map_or(1, |root| root + 1));
    folders
}

/// As [`find`], with the directory of user configuration given; `None` is none.
#[must_use]
pub fn find_with_home(start_dir: &Path, config_home: Option<&Path>) -> Option<PathBuf> {
    let mut folders = folders(start_dir);
    folders.extend(config_home.map(|home| home.join("steersman")));
    let mut candidates = folders.iter().flat_map(|folder| FILE_NAMES.map(|name| folder.join(name)));
    candidates.find(|path| path.is_file())
}
