//! `steersman sessions` as a user meets it.

#![allow(clippy::unwrap_used, reason = "a test that cannot set up its case must fail")]

mod command;

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Stdio};

use command::{Done, command, rehearsal, run_in, scratch};
use serde_json::Value;

fn sessions(folder: &Path, args: &[&str]) -> Done {
    let mut all = args.to_vec();
    all.extend(["--state", "state"]);
    run_in(folder, "sessions", &all)
}

/// A folder with one session in it that has ended, and its id.
fn played(name: &str) -> (std::path::PathBuf, String) {
    let folder = scratch(name);
    let script = rehearsal("sorted-words");
    let done = run_in(&folder, "run", &["--rehearsal", &script, "--state", "state"]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    let list = sessions(&folder, &["list", "--json"]);
    let line: Value = serde_json::from_str(&list.out).unwrap();
    (folder, line["session"].as_str().unwrap().to_owned())
}

/// A run whose replies take long, once the model is being called.
fn under_way(folder: &Path) -> (Child, BufReader<ChildStdout>) {
    let script = fs::read_to_string(rehearsal("sorted-words")).unwrap();
    fs::write(folder.join("slow.yaml"), script.replace("reply_ms: 10", "reply_ms: 700")).unwrap();
    let args = ["--rehearsal", "slow.yaml", "--state", "state", "--json"];
    let mut child = command(folder, "run", &args).stdout(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("call_started") {
        line.clear();
        assert!(out.read_line(&mut line).unwrap() > 0);
    }
    (child, out)
}

#[test]
fn a_session_is_listed_and_its_story_is_told() {
    let (folder, id) = played("sessions-story");
    let cases: [(&[&str], bool); 5] = [
        (&["list"], true),
        (&["list", "--ended"], true),
        (&["list", "--running"], false),
        (&["list", "--text", "CHECK.sh"], true),
        (&["list", "--text", "no such word"], false),
    ];
    for (args, found) in cases {
        let done = sessions(&folder, args);
        assert_eq!((done.code, done.out.contains(&id)), (Some(0), found), "{args:?}: {}", done.out);
    }
    // The beginning of an id is enough.
    let story = sessions(&folder, &["show", &id[..10]]);
    let parts = [
        "task Make `sh check.sh` pass.",
        "turn 1",
        "→ read words.txt",
        "check fails: 2 failing, 1 passing",
        "⚑ nudge: claims success while the last check failed [turns 5]",
        "said to the agent:",
        "│ You say it is done, but the last check failed (1 failing, 2 passing). Look at",
        "│ not ok 3 - pear last",
        "attempt 1 is given up: Words were moved by hand",
        "attempts that were given up",
        "tried: Writing the list anew, word by word",
        "kept as: refs/steersman/",
        "kept states of the folder",
        "complete: the check proves it (9 turns, 17 calls, 2 attempts,",
    ];
    let mut rest = story.out.as_str();
    for part in parts {
        let at = rest.find(part).unwrap_or_else(|| panic!("{part:?} is missing: {}", story.out));
        rest = &rest[at..];
    }
    let turn = sessions(&folder, &["show", "last", "--turn", "3"]);
    assert!(turn.out.contains("command: sleep 0.05; echo apple >> log.txt"), "{}", turn.out);
    assert!(!turn.out.contains("turn 4"), "{}", turn.out);
}

#[test]
fn sessions_of_the_gateway_are_told_as_well() {
    let folder = scratch("sessions-watched");
    let journal = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/gateway-session.jsonl");
    let done = sessions(&folder, &["import", journal]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    let list = sessions(&folder, &["list", "--json"]);
    let line: Value = serde_json::from_str(&list.out).unwrap();
    let shown = [&line["session"], &line["standing"], &line["agent"], &line["task"]];
    assert_eq!(shown, ["gw-00aa", "open", "codex", "Fix it."]);
    assert_eq!(sessions(&folder, &["list", "--ended", "--json"]).out, "");

    let story = sessions(&folder, &["show", "gw-"]);
    let expected = "\
session gw-00aa open
task Fix it.
agent codex with m-1
time 2023-11-14 22:13:20 to 2023-11-14 22:13:20 UTC

    ▶ seen first, mode govern
  1 I look. → read
    said to the agent:
    │ Look
    │ elsewhere.
    call failed: 429 slow down; again in 250 ms
    anna took the helm: {\"control\":\"stop\"}
    3 entries are missing here
    of_later
";
    assert_eq!(story.out, expected, "{}", story.err);
    let lines = sessions(&folder, &["show", "last", "--json", "--turn", "1"]);
    let first: Value = serde_json::from_str(lines.out.lines().next().unwrap()).unwrap();
    assert_eq!((&first["seq"], &first["entry"]["text"]), (&3.into(), &"I look.".into()));
    assert_eq!(sessions(&folder, &["show", "last", "--turn", "2"]).code, Some(1));
}

#[test]
fn what_cannot_be_done_is_said() {
    let (folder, id) = played("sessions-refused");
    let cases: [(&[&str], i32, &str); 9] = [
        (&["show", "1999"], 1, "no session begins with \"1999\"; the latest are: "),
        (&["show", "last", "--turn", "99"], 1, "--turn 99: session"),
        (&["resume", "last"], 1, "has ended (complete); say what comes next: steersman sessions"),
        (&["stop", "last"], 1, "has ended (complete): nothing to stop"),
        (&["say", "last", "hello"], 1, "nobody drives session"),
        (&["say", "last", " "], 1, "the text is empty"),
        (&["delete", "last"], 1, "--yes"),
        (&["list", "--running", "--ended"], 2, "cannot be used with"),
        (&["import", "none.jsonl"], 1, "none.jsonl: "),
    ];
    for (args, code, message) in cases {
        let done = sessions(&folder, args);
        assert_eq!(done.code, Some(code), "{args:?}: {}", done.err);
        assert!(done.err.contains(message), "{args:?}: {}", done.err);
    }
    assert!(sessions(&folder, &["list"]).out.contains(&id));
    let nowhere = run_in(&folder, "sessions", &["show", "last", "--state", "empty"]);
    assert_eq!(nowhere.code, Some(1));
    assert!(nowhere.err.contains("there are no sessions: empty/sessions.db"), "{}", nowhere.err);
    assert!(!folder.join("empty").exists(), "looking makes nothing");
}

#[test]
fn a_session_moves_to_another_place_and_is_deleted() {
    let (folder, id) = played("sessions-moved");
    let before = sessions(&folder, &["show", &id, "--json"]).out;
    let done = sessions(&folder, &["export", &id, "--out", "one.jsonl"]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    let again = sessions(&folder, &["export", &id, "--out", "one.jsonl"]);
    assert_eq!(again.code, Some(1), "a file is not written over");
    let taken = sessions(&folder, &["import", "one.jsonl"]);
    assert!(taken.err.contains("exists already"), "{}", taken.err);
    assert!(folder.join("state/rehearsals").join(&id).is_dir());
    let gone = sessions(&folder, &["delete", &id, "--yes"]);
    assert_eq!(gone.code, Some(0), "{}", gone.err);
    assert!(!folder.join("state/rehearsals").join(&id).exists());
    assert!(!folder.join("state/checkpoints").join(&id).exists());
    assert_eq!(sessions(&folder, &["import", "one.jsonl"]).code, Some(0));
    assert_eq!(sessions(&folder, &["show", &id, "--json"]).out, before);
}

#[test]
fn a_running_session_is_told_something_and_stopped() {
    let folder = scratch("sessions-stopped");
    let (mut child, mut out) = under_way(&folder);
    assert!(sessions(&folder, &["list", "--running", "--json"]).out.contains("\"running\""));
    let held = sessions(&folder, &["resume", "last"]);
    let process = format!("is being driven by process {}", child.id());
    assert!(held.err.contains(&process), "{}", held.err);
    assert!(sessions(&folder, &["delete", "last", "--yes"]).err.contains("is being driven"));
    assert_eq!(sessions(&folder, &["say", "last", "Mind the pears."]).code, Some(0));
    let mut line = String::new();
    while !line.contains("Mind the pears.") {
        line.clear();
        assert!(out.read_line(&mut line).unwrap() > 0, "the agent was not told");
    }
    let asked = sessions(&folder, &["stop", "last"]);
    assert_eq!(asked.code, Some(0), "{}", asked.err);
    out.read_to_string(&mut String::new()).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(6));
    assert!(sessions(&folder, &["list"]).out.contains("stopped"));
}

#[test]
fn a_session_that_nobody_drives_is_stopped_too() {
    let folder = scratch("sessions-interrupted");
    let (mut child, _) = under_way(&folder);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(sessions(&folder, &["list"]).out.contains("interrupted"));
    let done = sessions(&folder, &["stop", "last"]);
    assert_eq!(done.code, Some(6), "{}{}", done.out, done.err);
    assert!(done.out.contains("stopped: "), "{}", done.out);
    // A word of the user begins it anew.
    let done = sessions(&folder, &["resume", "last", "Go on."]);
    assert_eq!(done.code, Some(0), "{}{}", done.out, done.err);
}
