//! `steersman run` as a user meets it: rehearsals, endings, what is refused.

#![allow(clippy::unwrap_used, reason = "a test that cannot set up its case must fail")]

mod command;

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use command::{command, rehearsal, run_in, scratch};
use serde_json::{Value, json};

#[test]
fn the_shipped_rehearsal_goes_from_failing_to_passing_tests() {
    let folder = scratch("run-shipped");
    // The project's tests are built with the user's own toolchain.
    let done = shipped(&folder, &["--plain"]);
    assert_eq!(done.0, Some(0), "{}{}", done.1, done.2);
    let story = [
        "Rehearsal: the model is scripted.",
        "check fails: 4 failing, 4 passing",
        "⚑ nudge",
        "⚑ re_evaluate",
        "attempt 1 is given up",
        "check passes: 0 failing, 8 passing",
        "complete: the check proves it",
    ];
    let mut rest = done.1.as_str();
    for part in story {
        let at = rest.find(part).unwrap_or_else(|| panic!("{part:?} is missing in {}", done.1));
        rest = &rest[at..];
    }
    let lines = run_in(&folder, "sessions", &["show", "last", "--json", "--state", "state"]);
    let kinds = follow_the_schema(&lines.out);
    for kind in ["opened", "said", "checkpointed", "started_over", "ended"] {
        assert!(kinds.contains(kind), "{kind}");
    }
}

/// Plays the shipped rehearsal without its pauses.
fn shipped(folder: &Path, args: &[&str]) -> (Option<i32>, String, String) {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../agent/rehearsals/reactive-cells.yaml");
    let script = fs::read_to_string(source).unwrap().replace("reply_ms: 400", "reply_ms: 0");
    fs::write(folder.join("script.yaml"), script).unwrap();
    let mut command = command(folder, "run", &["--rehearsal", "script.yaml", "--state", "state"]);
    // The toolchain may be found through the home folder.
    for name in ["HOME", "CARGO_HOME", "RUSTUP_HOME"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    // A user may have it anywhere, also where commands may not write otherwise.
    command.env("CARGO_TARGET_DIR", folder.join("built"));
    let output = command.args(args).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn a_check_that_fails_before_any_test_says_why() {
    let folder = scratch("run-check-words");
    let script = fs::read_to_string(rehearsal("sorted-words")).unwrap();
    assert!(script.contains("check: "), "{script}");
    let broken = |line: &str| match line.starts_with("check: ") {
        true => "check: \"echo no tool chain is installed; exit 1\"".to_owned(),
        false => line.to_owned(),
    };
    let script: Vec<String> = script.lines().map(broken).collect();
    fs::write(folder.join("script.yaml"), script.join("\n")).unwrap();
    let args = ["--rehearsal", "script.yaml", "--state", "state", "--plain"];
    let done = run_in(&folder, "run", &args);
    assert!(done.out.contains("check fails: no tool chain is installed"), "{}", done.out);
}

/// Checks lines of `--json` against the schema, and gives the kinds of entries that were seen.
fn follow_the_schema(lines: &str) -> BTreeSet<String> {
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema/run.schema.json");
    let schema: Value = serde_json::from_str(&fs::read_to_string(schema).unwrap()).unwrap();
    assert!(jsonschema::meta::is_valid(&schema));
    let validator = jsonschema::validator_for(&schema).unwrap();
    let mut kinds = BTreeSet::new();
    for line in lines.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let kind = line["entry"]["entry"].as_str().unwrap().to_owned();
        let errors: Vec<String> = validator
            .iter_errors(&line)
            .map(|it| format!("{}: {it}", it.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{kind}: {errors:#?}");
        let described = &schema["$defs"][&kind]["properties"];
        for field in line["entry"].as_object().unwrap().keys() {
            assert!(described.get(field).is_some(), "{kind}.{field} is not described");
        }
        kinds.insert(kind);
    }
    kinds
}

#[test]
fn every_kind_of_entry_follows_the_schema() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../agent/tests/golden/entries.jsonl");
    let entries = fs::read_to_string(path).unwrap();
    let wrap = |(place, line): (usize, &str)| {
        let entry: Value = serde_json::from_str(line).unwrap();
        json!({"session": "x", "seq": place + 1, "at_ms": 0, "entry": entry}).to_string()
    };
    let lines: Vec<String> = entries.lines().enumerate().map(wrap).collect();
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema/run.schema.json");
    let schema: Value = serde_json::from_str(&fs::read_to_string(schema).unwrap()).unwrap();
    let named = &schema["properties"]["entry"]["properties"]["entry"]["enum"];
    let named: BTreeSet<String> = serde_json::from_value(named.clone()).unwrap();
    assert_eq!(follow_the_schema(&lines.join("\n")), named);
}

/// A run of the small rehearsal that has printed a line with this text.
fn run_until(
    folder: &Path,
    script: &str,
    text: &str,
) -> (Child, BufReader<std::process::ChildStdout>) {
    let args = ["--rehearsal", script, "--state", "state", "--json"];
    let mut command = command(folder, "run", &args);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains(text) {
        line.clear();
        assert!(out.read_line(&mut line).unwrap() > 0, "the run ended before {text:?}");
    }
    (child, out)
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args(["-s", name, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

/// Whether a process runs that was started with this text.
fn runs(text: &str) -> bool {
    fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).any(|word| word == text.as_bytes())
    })
}

/// The small rehearsal with something slow in it.
fn slow(folder: &Path, from: &str, to: &str) -> String {
    let script = fs::read_to_string(rehearsal("sorted-words")).unwrap();
    assert!(script.contains(from));
    fs::write(folder.join("slow.yaml"), script.replacen(from, to, 1)).unwrap();
    "slow.yaml".to_owned()
}

#[test]
fn a_run_that_is_left_goes_on_later() {
    // Where it is left, what makes that slow, the line before it, and the signal.
    let cases = [
        ("model", "reply_ms: 10", "reply_ms: 1000", "call_started", "INT"),
        (
            "command",
            "sleep 0.05; echo",
            "[ -e ../../../ready ] || sleep 21.25; echo",
            "\"call_id\":\"call_1_5_0\",\"entry\":\"tool_started\"",
            "INT",
        ),
        (
            "check",
            "# Prints",
            "[ -e ../../../ready ] || sleep 21.5\n    # Prints",
            "check_started",
            "TERM",
        ),
    ];
    for (name, from, to, line, with) in cases {
        let folder = scratch(&format!("run-left-{name}"));
        let script = slow(&folder, from, to);
        let (mut child, mut out) = run_until(&folder, &script, line);
        signal(&child, with);
        let status = child.wait().unwrap();
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        out.read_to_string(&mut String::new()).unwrap();
        assert_eq!(status.code(), Some(130), "{name}: {said}");
        assert!(said.contains("left as it is; go on with: steersman sessions resume 2"), "{said}");
        assert!(said.contains("--state state"), "{said}");
        assert!(!runs("21.25") && !runs("21.5"), "{name}: a command was left behind");
        let list = run_in(&folder, "sessions", &["list", "--json", "--state", "state"]);
        assert!(list.out.contains("\"standing\":\"left\""), "{}", list.out);
        fs::write(folder.join("ready"), "").unwrap();
        let resumed = run_in(&folder, "sessions", &["resume", "last", "--state", "state"]);
        assert_eq!(resumed.code, Some(0), "{name}: {}{}", resumed.out, resumed.err);
        assert!(resumed.out.contains("complete: the check proves it"), "{}", resumed.out);
    }
}

#[test]
fn what_cannot_be_run_is_refused_with_what_is_allowed() {
    let folder = scratch("run-refused");
    fs::write(folder.join("broken.yaml"), "task: x\nattempts:\n  - replys: []\n").unwrap();
    let model = ["--model", "m", "--base-url", "http://127.0.0.1:9"];
    let cases: [(&[&str], i32, &str); 14] = [
        (&["task"], 1, "no model is configured: name one with --model"),
        (&["task", "--model", "m"], 1, "OPENAI_API_KEY"),
        (&["task", "--model", "m", "--provider", "nope"], 1, "--provider: "),
        (&["task", "--agent", "nobody"], 1, "nobody"),
        (&["task", "--template", "nothing"], 1, "nothing"),
        (&["task", "--workspace", "nowhere"], 1, "--workspace nowhere: "),
        (&["task", "--workspace", "broken.yaml"], 1, "--workspace broken.yaml: not a folder"),
        (&["task", "--allow", "shell("], 1, "--allow shell(: expected a tool"),
        (&["task", "--set", "loops.cycle.notise=3"], 1, "notise"),
        (&["task", "--set", "loops"], 2, "--set"),
        (&["task", "--policy", "unheard"], 1, "unheard"),
        (&["--rehearsal", "none-such"], 1, "there is no rehearsal \"none-such\": reactive-cells"),
        (&["--rehearsal", "broken.yaml"], 1, "broken.yaml:3"),
        (&["   "], 1, "the task is empty"),
    ];
    for (args, code, message) in cases {
        let mut all = args.to_vec();
        if !["no model", "OPENAI"].iter().any(|start| message.starts_with(start)) {
            all.extend(if args.contains(&"--model") || args.contains(&"--rehearsal") {
                &model[..0]
            } else {
                &model
            });
        }
        all.extend(["--state", "state"]);
        let mut command = command(&folder, "run", &all);
        for name in
            ["OPENAI_API_KEY", "STEERSMAN_MODEL", "STEERSMAN_PROVIDER", "STEERSMAN_BASE_URL"]
        {
            command.env_remove(name);
        }
        let output = command.output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {err}");
        assert!(err.contains(message), "{args:?}: {err}");
        assert!(!err.contains("panicked"), "{args:?}: {err}");
    }
}

#[test]
fn a_closed_output_does_not_end_the_run() {
    let folder = scratch("run-closed");
    let (mut child, out) = run_until(&folder, &rehearsal("sorted-words"), "spoke");
    drop(out);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let list = run_in(&folder, "sessions", &["list", "--json", "--state", "state"]);
    assert!(list.out.contains("\"standing\":\"complete\""), "{}", list.out);
}

#[test]
fn the_script_of_the_documentation_can_be_played() {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/running.md"));
    let page = page.unwrap();
    let (_, script) = page.split_once("```yaml\n").unwrap();
    let (script, _) = script.split_once("```").unwrap();
    let folder = scratch("run-documented");
    fs::write(folder.join("script.yaml"), script).unwrap();
    let done = run_in(&folder, "run", &["--rehearsal", "script.yaml", "--state", "state"]);
    assert_eq!(done.code, Some(0), "{}{}", done.out, done.err);
    assert!(done.out.contains("⚑ nudge: claims success"), "{}", done.out);
    assert!(done.out.contains("complete: the check proves it"), "{}", done.out);
}
