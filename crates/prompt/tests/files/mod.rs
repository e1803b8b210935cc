//! Files of tests: folders of their own, and files that are compared.
#![allow(dead_code, reason = "each test file uses its part")]

use std::fs;
use std::path::{Path, PathBuf};

/// The folder of the crate's test files.
pub(crate) fn testdata(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(folder)
}

/// Compares with a committed file; `UPDATE_GOLDEN=1` writes it instead.
pub(crate) fn check_golden(path: &Path, found: &str) {
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(path, found).unwrap();
    }
    let expected = fs::read_to_string(path).unwrap_or_default();
    assert!(
        expected == found,
        "{} is stale: UPDATE_GOLDEN=1 writes it anew; found:\n{found}",
        path.display()
    );
}

/// A folder of its own for a test, empty, the root of a repository.
pub(crate) fn project(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("prompt").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join(".git")).unwrap();
    folder
}

/// Writes a file and the folders that lead to it.
pub(crate) fn write(folder: &Path, file: &str, text: impl AsRef<[u8]>) {
    let path = folder.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}
