//! Folders to try things in.

#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "each test uses a part of it"
)]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use steersman_workspace::{Checkpoints, Workspace};

/// A folder with a workspace in it and a place for private files beside it.
pub(crate) struct Place {
    _folder: tempfile::TempDir,
    pub(crate) root: PathBuf,
    pub(crate) private: PathBuf,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("tree");
        fs::create_dir(&root).unwrap();
        let private = root.with_file_name("private");
        Self { _folder: folder, root, private }
    }

    /// A place whose tree is a repository with a commit.
    pub(crate) fn with_git() -> Option<Self> {
        let place = Self::new();
        if Command::new("git").arg("--version").output().is_err() {
            eprintln!("skipped: there is no git on this machine");
            return None;
        }
        place.git(&["init", "-q", "-b", "main"]);
        place.write("src/lib.rs", "one\ntwo\n");
        place.write("script.sh", "#!/bin/sh\n");
        place.mode("script.sh", 0o755);
        place.write(".gitignore", "/target/\n*.log\n.env\n");
        place.write("crlf.txt", "a\r\nb\r\n");
        place.git(&["add", "-A"]);
        place.git(&["commit", "-q", "-m", "first"]);
        Some(place)
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    pub(crate) fn mode(&self, path: &str, mode: u32) {
        fs::set_permissions(self.path(path), fs::Permissions::from_mode(mode)).unwrap();
    }

    pub(crate) fn link(&self, target: &str, path: &str) {
        std::os::unix::fs::symlink(target, self.path(path)).unwrap();
    }

    pub(crate) fn workspace(&self) -> Workspace {
        Workspace::open(&self.root).unwrap()
    }

    pub(crate) fn checkpoints(&self) -> Checkpoints {
        Checkpoints::open(&self.workspace(), "s1", &self.private).unwrap()
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        git_in(&self.root, arguments)
    }
}

/// Runs git with no settings but these, and fails the test if git fails.
pub(crate) fn git_in(folder: &Path, arguments: &[&str]) -> String {
    let (done, text) = try_git_in(folder, arguments);
    assert!(done, "git {arguments:?}: {text}");
    text
}

pub(crate) fn try_git_in(folder: &Path, arguments: &[&str]) -> (bool, String) {
    let output = Command::new("git")
        .current_dir(folder)
        .args(["-c", "protocol.file.allow=always", "-c", "user.name=t", "-c", "user.email=t@t"])
        .args(arguments)
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&text).into_owned())
}

/// What lies under a folder: path, permissions and kind, content. Folders named in `without` are
/// left out.
pub(crate) fn fingerprint(root: &Path, without: &[&str]) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let relative = path.strip_prefix(root).unwrap().to_owned();
            if without.iter().any(|name| relative.starts_with(name) || relative.ends_with(name)) {
                continue;
            }
            let metadata = fs::symlink_metadata(&path).unwrap();
            let content = if metadata.is_symlink() {
                use std::os::unix::ffi::OsStrExt;
                fs::read_link(&path).unwrap().as_os_str().as_bytes().to_vec()
            } else if metadata.is_file() {
                fs::read(&path).unwrap_or_else(|error| error.to_string().into_bytes())
            } else {
                Vec::new()
            };
            if metadata.is_dir() {
                open.push(path);
            }
            found.insert(relative, (metadata.mode(), content));
        }
    }
    found
}

/// Everything of the user's that checkpoints must not touch.
pub(crate) fn users_state(root: &Path) -> (BTreeMap<PathBuf, (u32, Vec<u8>)>, String) {
    let git_dir = git_in(root, &["rev-parse", "--path-format=absolute", "--git-common-dir"]);
    let ours = ["objects", "refs/steersman"];
    let state = fingerprint(Path::new(git_dir.trim()), &ours);
    (state, git_in(root, &["status", "--porcelain=v2", "--ignored", "--branch"]))
}
