//! The command as a user runs it, in a folder of its own.
#![allow(dead_code, reason = "each test file uses its part")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What a finished command left behind.
pub(crate) struct Done {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// A folder of its own for a test, empty.
pub(crate) fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// A verb with its arguments, to be run in a folder.
pub(crate) fn command(folder: &Path, verb: &str, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_steersman"));
    command.arg(verb).args(args).current_dir(folder).stdin(Stdio::null());
    // Confined commands may not write where these tests are built.
    command.env_remove("CARGO_TARGET_DIR");
    // The policy must be the built-in one whoever runs the tests.
    command.env("XDG_CONFIG_HOME", folder).env("HOME", folder).env_remove("NO_COLOR");
    command
}

/// Runs a verb in a folder to its end.
pub(crate) fn run_in(folder: &Path, verb: &str, args: &[&str]) -> Done {
    let output = command(folder, verb, args).output().unwrap();
    Done {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The path of a rehearsal that is written for tests.
pub(crate) fn rehearsal(name: &str) -> String {
    format!("{}/tests/rehearsals/{name}.yaml", env!("CARGO_MANIFEST_DIR"))
}
