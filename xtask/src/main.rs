//! Chores of the workspace, run as `cargo xtask VERB`.

mod tidy;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

/// The verbs, in the order of the help; `cargo xtask tidy` checks shown commands against them.
const VERBS: &[&str] = &["tidy"];

fn main() -> ExitCode {
    let verb = std::env::args().nth(1).unwrap_or_default();
    let done = match verb.as_str() {
        "tidy" => tidy::run(&workspace_root(), &mut io::stdout().lock()),
        _ => writeln!(io::stderr(), "usage: cargo xtask {}", VERBS.join("|")).map(|()| false),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            // Nothing is left to do if even this cannot be written.
            let _ = writeln!(io::stderr(), "error: cargo xtask {verb}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The folder above this crate's, as Cargo tells it, else the current one.
fn workspace_root() -> PathBuf {
    std::env::var_os("CARGO_MANIFEST_DIR")
        .and_then(|here| PathBuf::from(here).parent().map(PathBuf::from))
        .unwrap_or_else(|| PathBuf::from("."))
}
