//! What a person reads of a run where there is no terminal.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod command;

use std::fs;
use std::path::Path;

use command::{run_in, scratch};

/// The text with the name of the session and the folder it is in replaced.
fn steady(text: &str) -> String {
    let id = text.lines().find_map(|line| line.strip_prefix("session ")).unwrap();
    // How many tokens something has is an estimate, and parallel results come in any order.
    let mut lines: Vec<String> =
        text.lines().map(|line| without_tokens(&line.replace(id, "SESSION"))).collect();
    let is_result = |line: &str| line.starts_with("  ✓ ") || line.starts_with("  ✗ ");
    for group in lines.chunk_by_mut(|a, b| is_result(a) && is_result(b)) {
        group.sort();
    }
    // How commands are held and where states are kept depends on the machine.
    let depends =
        |line: &&String| line.starts_with("commands ") || line.starts_with("checkpoints ");
    lines.iter().filter(|line| !depends(line)).map(|line| format!("{line}\n")).collect()
}

fn without_tokens(line: &str) -> String {
    let Some((before, after)) = line.split_once(" tokens") else { return line.to_owned() };
    let from = before.rfind(' ').map_or(0, |at| at + 1);
    format!("{}N tokens{after}", &before[..from])
}

#[test]
fn a_run_reads_as_a_story() {
    let folder = scratch("rehearsal");
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/run");
    fs::copy(data.join("stuck.yaml"), folder.join("stuck.yaml")).unwrap();
    let args = ["--rehearsal", "stuck.yaml", "--state", "state"];
    let done = run_in(&folder, "run", &args);
    assert_eq!(done.code, Some(0), "{}\n{}", done.out, done.err);
    let fresh = steady(&done.out).replace(&folder.display().to_string(), "FOLDER");
    let golden = data.join("stuck.txt");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&golden, &fresh).unwrap();
    }
    let known = fs::read_to_string(&golden).unwrap();
    assert!(
        fresh == known,
        "{} differs: UPDATE_GOLDEN=1 cargo test -p steersman\n{fresh}",
        golden.display()
    );
    assert!(!done.out.contains('\x1b'), "no colours where there is no terminal");
}
