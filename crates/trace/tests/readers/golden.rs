//! Every file under `testdata/` gives the events in the file beside it.
//!
//! `UPDATE_GOLDEN=1 cargo test -p steersman-trace --test golden` writes those files anew; look at
//! the difference before committing it. Stored formats are read for ever: entries are added here,
//! never removed.

use std::path::{Path, PathBuf};

use crate::collect::Log;
use steersman_trace::{Format, group};

fn inputs(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            inputs(&path, found);
        } else if !path.to_string_lossy().ends_with(".events.jsonl") {
            found.push(path);
        }
    }
}

fn expected_format(path: &Path) -> Format {
    let folder = path.strip_prefix(testdata()).unwrap().components().next().unwrap();
    match folder.as_os_str().to_str().unwrap() {
        "runs" => Format::Runs,
        "chat" => Format::Chat,
        "responses" => Format::Responses,
        "claude-code" => Format::ClaudeCode,
        "codex" => Format::Codex,
        "gemini" => Format::GeminiCli,
        "qwen" => Format::QwenCode,
        "swe-agent" => Format::SweAgent,
        "mini" => Format::MiniSweAgent,
        "openhands" => Format::OpenHands,
        "atif" => Format::Atif,
        "opencode" => Format::Opencode,
        other => panic!("no format for testdata/{other}"),
    }
}

fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata")
}

#[test]
fn golden_files() {
    let mut paths = Vec::new();
    inputs(&testdata(), &mut paths);
    // Test reports are the outputs of tools, not traces.
    paths.retain(|path| !path.starts_with(testdata().join("reports")));
    paths.sort();
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let mut seen = 0;
    for source in group(paths) {
        let mut units = source.open().unwrap();
        assert_eq!(units.format(), expected_format(source.path()), "{}", source.path().display());
        let mut log = Log::default();
        while let Some(unit) = units.next_unit() {
            unit.read(&mut log);
        }
        let golden = PathBuf::from(format!("{}.events.jsonl", source.path().display()));
        if update {
            std::fs::write(&golden, &log.text).unwrap();
        }
        let expected = std::fs::read_to_string(&golden).unwrap_or_default();
        assert_eq!(log.text, expected, "{}", golden.display());
        seen += 1;
    }
    assert!(seen >= 20, "only {seen} golden inputs found");
}
