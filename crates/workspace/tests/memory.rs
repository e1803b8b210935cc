//! What is huge costs little memory. These tests are a program of their own and one test, for the
//! peak is that of the whole process.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::panic,
    reason = "a test"
)]

mod support;

use std::fs::File;
use std::future::pending;
use std::io::{Seek as _, SeekFrom, Write as _};

use steersman_workspace::{
    Command, EditFile, ReadFile, SearchFiles, Shell, ShellOptions, WorkspaceError,
};
use support::Place;

/// The most memory this process ever had.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn a_gigabyte_costs_little_memory() {
    let place = Place::new();
    let before = peak_kib();

    let shell = Shell::new(&place.workspace(), ShellOptions::default()).unwrap();
    let command = Command {
        max_output: 10_000,
        timeout_ms: 120_000,
        ..Command::new("echo start; head -c 1000000000 /dev/zero | tr '\\0' x; echo; echo end")
    };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let ran = runtime.block_on(shell.run(command, pending())).unwrap();
    assert_eq!((ran.exit_code, ran.full_len), (Some(0), 1_000_000_011));
    assert!(ran.output.len() < 10_100 && ran.output.starts_with("start\nxxx"));
    assert!(ran.output.ends_with("xxx\nend\n") && ran.output.contains("bytes left out here]"));

    // Text at the start and end, and a gigabyte between.
    let mut file = File::create(place.path("large")).unwrap();
    file.write_all(&b"line\n".repeat(10_000)).unwrap();
    file.seek(SeekFrom::Start(1_000_000_000)).unwrap();
    file.write_all(b"\nneedle\n").unwrap();
    let workspace = place.workspace();
    let wanted = ReadFile {
        path: "large".into(),
        first_line: Some(9_990),
        lines: Some(50),
        numbered: false,
    };
    let read = workspace.read(&wanted).unwrap();
    assert_eq!((read.first_line, read.bytes, read.binary), (9_990, 1_000_000_008, false));
    let wanted: SearchFiles =
        serde_json::from_value(serde_json::json!({"pattern": "needle"})).unwrap();
    assert_eq!(workspace.search(&wanted).unwrap().matches, 0);
    let edit = EditFile {
        path: "large".into(),
        old: "needle".into(),
        new: "x".into(),
        replace_all: false,
    };
    assert!(matches!(workspace.edit(&edit), Err(WorkspaceError::TooLarge { .. })));
    let taken = place.checkpoints().take("").unwrap();
    assert_eq!((taken.files, taken.skipped.len()), (0, 1));

    let more = peak_kib() - before;
    assert!(more < 64 * 1024, "{more} KiB more");
    println!("{more} KiB more");
}
