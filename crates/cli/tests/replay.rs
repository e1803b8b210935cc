//! `steersman replay` as a user runs it.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod command;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use command::{Done, scratch};
use serde_json::Value;

fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/replay")
}

fn command(folder: &Path, args: &[&str]) -> Command {
    command::command(folder, "replay", args)
}

fn run_in(folder: &Path, args: &[&str]) -> Done {
    command::run_in(folder, "replay", args)
}

fn run(args: &[&str]) -> Done {
    run_in(&testdata(), args)
}

/// `runs` runs of `turns` turns, as lines; each tool output has `padding` bytes.
fn many_runs(runs: usize, turns: usize, padding: usize) -> String {
    let padding = "x".repeat(padding);
    let mut lines = String::new();
    for run in 0..runs {
        let steps: Vec<String> = (0..turns)
            .map(|turn| {
                // Every third run goes round in circles.
                let path = if run % 3 == 0 { 0 } else { turn };
                format!(
                    r#"{{"role":"assistant","content":"next","tool_calls":[{{"id":"c{turn}","name":"read_file","arguments":{{"path":"f{path}"}}}}]}},{{"role":"tool","tool_call_id":"c{turn}","name":"read_file","content":"text of file {path} {padding}"}}"#
                )
            })
            .collect();
        lines.push_str(&format!(
            r#"{{"id":"run-{run:05}","agent":"a","model":"m","task":"do it","outcome":{{"solved":{}}},"steps":[{}]}}"#,
            run % 3 != 0,
            steps.join(","),
        ));
        lines.push('\n');
    }
    lines
}

#[test]
fn exit_codes_say_how_it_went() {
    let empty = scratch("empty-folder");
    let foreign = scratch("foreign-folder");
    fs::write(foreign.join("a.txt"), "no trace").unwrap();
    fs::write(foreign.join("b.txt"), "no trace either").unwrap();
    let (empty, foreign) = (empty.to_str().unwrap(), foreign.to_str().unwrap());
    let cases: [(&[&str], i32, &str); 18] = [
        (&["runs.jsonl"], 0, ""),
        (&["."], 3, "note: 1 file of no known trace format"),
        (&["broken.jsonl"], 3, "skipped: broken.jsonl:2: "),
        (&["broken.jsonl"], 3, "warning: 1 part of the input could not be read"),
        (&["runs.jsonl", "absent.jsonl"], 3, "absent.jsonl: no such file or folder"),
        (&["absent.jsonl"], 1, "error: there was no run to judge"),
        (&["*.absent"], 1, "*.absent: no file matches this pattern"),
        (&["notes.txt"], 1, "notes.txt: is not JSON"),
        (&[empty], 1, "the folder holds no files"),
        (&[foreign], 1, "none of its 2 files is a trace of a known format"),
        (&["-"], 1, "error: "),
        (&[], 2, "required arguments"),
        (&["runs.jsonl", "--policy", "absent"], 1, "neither a file nor a built-in policy"),
        (&["runs.jsonl", "--set", "limits.max_turns=none"], 1, "max_turns"),
        (&["runs.jsonl", "--set", "limits.max_turns"], 2, "KEY=VALUE"),
        (&["runs.jsonl", "--json", "--explain"], 2, "cannot be used with"),
        (&["runs.jsonl", "--explain"], 2, "say with --run ID"),
        (&["runs.jsonl", "--run", "quick-fxi"], 2, "demo/quick-fix  (runs.jsonl:1)"),
    ];
    for (args, code, message) in cases {
        let done = run(args);
        assert_eq!(done.code, Some(code), "{args:?}: {}", done.err);
        assert!(done.err.contains(message), "{args:?}: {}", done.err);
        assert!(!done.err.contains("panicked"), "{args:?}: {}", done.err);
    }
}

#[test]
fn every_line_of_json_follows_the_schema() {
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema/replay.schema.json");
    let schema: Value = serde_json::from_str(&fs::read_to_string(schema).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let cases: [&[&str]; 4] = [
        &["runs.jsonl", "--json"],
        &["broken.jsonl", "--json"],
        &["hostile.jsonl", "--json"],
        &["runs.jsonl", "--json", "--policy", "classic", "--shadow-diff", "default"],
    ];
    let mut decisions = 0;
    for args in cases {
        let done = run(args);
        assert!(!done.out.is_empty());
        for line in done.out.lines() {
            let object: Value = serde_json::from_str(line).unwrap();
            let errors: Vec<String> = validator
                .iter_errors(&object)
                .map(|it| format!("{}: {it}", it.instance_path()))
                .collect();
            assert!(errors.is_empty(), "{args:?}: {errors:#?}");
            assert_eq!(undescribed(&object, &schema), Vec::<String>::new());
            for decision in object["decisions"].as_array().unwrap() {
                decisions += 1;
                let described = &schema["$defs"]["decisions"]["items"];
                assert_eq!(undescribed(decision, described), Vec::<String>::new());
                assert!(decision["turn"].as_u64() <= object["turns"].as_u64());
                assert!(decision["call"].as_u64() <= object["calls"].as_u64());
            }
        }
    }
    assert!(decisions > 0, "the loops in the test data were not noticed");
}

/// Fields of an object that its schema does not describe.
fn undescribed(object: &Value, schema: &Value) -> Vec<String> {
    let fields = object.as_object().unwrap().keys();
    fields.filter(|name| schema["properties"].get(name.as_str()).is_none()).cloned().collect()
}

#[test]
fn json_tells_the_facts_of_the_trace() {
    let done = run(&["runs.jsonl", "--json"]);
    let runs: Vec<Value> =
        done.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let facts: Vec<String> = runs
        .iter()
        .map(|run| {
            let [id, line, outcome] = ["id", "line", "outcome"].map(|name| &run[name]);
            let [turns, calls, tokens] = ["turns", "calls", "tokens"].map(|name| &run[name]);
            format!("{id} {line} {outcome} {turns} {calls} {}", tokens["input"])
        })
        .collect();
    assert_eq!(
        facts,
        [
            r#""demo/quick-fix" 1 "solved" 4 4 5300"#,
            r#""demo/rereads-a-log" 2 "unsolved" 15 14 36200"#,
            r#""demo/same-error" 3 "unsolved" 10 9 0"#,
            r#""demo/question" 4 null 1 0 0"#,
        ]
    );
    let noticed: Vec<bool> =
        runs.iter().map(|run| !run["decisions"].as_array().unwrap().is_empty()).collect();
    assert_eq!(noticed, [false, true, true, false]);
}

#[test]
fn a_limit_set_on_the_command_line_is_kept() {
    let done = run(&["runs.jsonl", "--json", "--set", "limits.max_turns=2"]);
    let run: Value = serde_json::from_str(done.out.lines().next().unwrap()).unwrap();
    assert_eq!(run["first_ending"]["turn"], 2, "{run}");
    assert_eq!(run["first_ending"]["call"], 3, "{run}");
    assert_eq!(run["calls_after_ending"], 1, "{run}");
    assert_eq!(run["decisions"][0]["reason"], "budget", "{run}");
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let folder = scratch("jobs");
    for (name, runs, turns, padding) in [("a", 100, 12, 10), ("b", 3, 4, 0), ("c", 130, 20, 1500)] {
        fs::write(folder.join(format!("{name}.jsonl")), many_runs(runs, turns, padding)).unwrap();
    }
    fs::create_dir(folder.join("sub")).unwrap();
    fs::copy(testdata().join("broken.jsonl"), folder.join("sub/broken.jsonl")).unwrap();
    let cases: [&[&str]; 5] = [
        &[".", "--json"],
        &["."],
        &[".", "--all"],
        &[".", "--summary-json"],
        &["*.jsonl", "--shadow-diff", "classic"],
    ];
    for args in cases {
        let with = |jobs: &str| run_in(&folder, &[args, &["--jobs", jobs]].concat());
        let (one, four) = (with("1"), with("4"));
        assert!(!one.out.is_empty());
        assert!(one.out == four.out && one.err == four.err, "{args:?} differs");
    }
    let page = |jobs: &str, file: &str| {
        run_in(&folder, &[".", "--html", file, "--jobs", jobs]);
        fs::read_to_string(folder.join(file)).unwrap()
    };
    assert!(page("1", "one.html") == page("4", "four.html"), "the page differs");
}

#[test]
fn standard_input_gives_what_the_file_gives() {
    let lines = fs::read(testdata().join("runs.jsonl")).unwrap();
    let mut child = command(&testdata(), &["-", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&lines).unwrap();
    let piped = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    let named = run(&["runs.jsonl", "--json"]).out;
    assert_eq!(piped, named.replace("\"file\":\"runs.jsonl\"", "\"file\":\"-\""));
}

fn spawn(folder: &Path, args: &[&str]) -> Child {
    command(folder, args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let folder = scratch("pipe");
    fs::write(folder.join("runs.jsonl"), many_runs(1500, 3, 0)).unwrap();
    for args in [["runs.jsonl", "--json"], ["runs.jsonl", "--all"]] {
        let mut child = spawn(&folder, &args);
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut String::new()).unwrap();
        drop(out);
        let mut err = String::new();
        child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        assert_eq!(err, "");
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
}

#[cfg(unix)]
#[test]
fn an_interrupt_prints_the_totals_so_far() {
    let folder = scratch("interrupt");
    let mut child = spawn(&folder, &["-", "--all", "--jobs", "2"]);
    let mut input = child.stdin.take().unwrap();
    // Enough to be judged although the input never ends: readers take blocks of two megabytes.
    let lines = many_runs(6_000, 3, 0);
    let writer = std::thread::spawn(move || {
        input.write_all(lines.as_bytes()).unwrap();
        input
    });
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut first = String::new();
    out.read_line(&mut first).unwrap();
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    assert!(first.starts_with("RUN"));
    assert!(rest.contains("\nTotals\n"), "{rest}");
    assert!(err.contains("interrupted"), "{err}");
    // The write fails if the process ended first; that is no matter here.
    drop(writer.join());
}

#[test]
fn folders_patterns_and_hidden_files_are_found_as_documented() {
    let folder = scratch("found");
    let line = many_runs(1, 2, 0);
    for path in [
        "a/x.jsonl",
        "a/b/y.jsonl",
        "a/.git/hidden.jsonl",
        "a/.hidden.jsonl",
        ".config/z.jsonl",
        "[odd].jsonl",
    ] {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, &line).unwrap();
    }
    #[cfg(unix)]
    std::os::unix::fs::symlink("..", folder.join("a/b/loop")).unwrap();
    let cases: [(&[&str], &[&str]); 12] = [
        (&["*"], &["[odd].jsonl", "a/b/y.jsonl", "a/x.jsonl"]),
        (&["./a/*"], &["a/b/y.jsonl", "a/x.jsonl"]),
        (&["?/?"], &["a/b/y.jsonl"]),
        (&["**/y.jsonl"], &["a/b/y.jsonl"]),
        (&[".con*/*"], &[".config/z.jsonl"]),
        (&["a/.*"], &["a/.git/hidden.jsonl", "a/.hidden.jsonl"]),
        (&["a"], &["a/b/y.jsonl", "a/x.jsonl"]),
        (&[".config"], &[".config/z.jsonl"]),
        (&["a/**/*.jsonl"], &["a/b/y.jsonl", "a/x.jsonl"]),
        (&["*/x.jsonl"], &["a/x.jsonl"]),
        (&["[odd].jsonl"], &["[odd].jsonl"]),
        (&["a/x.jsonl", "a"], &["a/x.jsonl", "a/b/y.jsonl", "a/x.jsonl"]),
    ];
    for (args, expected) in cases {
        let done = run_in(&folder, &[args, &["--json"]].concat());
        let files: Vec<String> = done
            .out
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["file"].to_string())
            .collect();
        let expected: Vec<String> = expected.iter().map(|file| format!("\"{file}\"")).collect();
        assert_eq!(files, expected, "{args:?}: {}", done.err);
        assert_eq!(done.code, Some(0), "{args:?}: {}", done.err);
    }
}

#[test]
fn explanations_show_calls_signals_and_decisions() {
    for name in ["demo/rereads-a-log", "rereads-a-log", "demo/rereads", "runs.jsonl:2"] {
        let done = run(&["runs.jsonl", "--run", name, "--explain"]);
        assert_eq!(done.code, Some(0), "{name}: {}", done.err);
        for part in [
            "demo/rereads-a-log",
            "unsolved",
            "policy default",
            "✓ read_file path=build.log",
            "↻ read_file path=build.log",
            "→ ",
            "(repeated_outcome; turns ",
            "15 turns, 14 calls",
            "first decision: ",
        ] {
            assert!(done.out.contains(part), "{name}: {part} is missing in\n{}", done.out);
        }
    }
    let done = run(&["runs.jsonl", "--run", "demo/same-error"]);
    assert!(done.out.contains("✗ run command=make serve"), "{}", done.out);
    let only = run(&["hostile.jsonl", "--explain"]);
    assert_eq!(only.code, Some(0), "{}", only.err);
}

#[test]
fn text_of_a_trace_cannot_drive_the_terminal() {
    for args in
        [&["hostile.jsonl"][..], &["hostile.jsonl", "--explain"], &["hostile.jsonl", "--all"]]
    {
        let done = run(args);
        let controls = |text: &str| text.chars().any(|c| c.is_control() && c != '\n');
        assert!(!controls(&done.out) && !controls(&done.err), "{args:?}: {:?}", done.out);
    }
}

#[test]
fn colours_are_only_for_terminals_unless_asked_for() {
    let coloured = |args: &[&str]| run(args).out.contains('\x1b');
    assert!(!coloured(&["runs.jsonl"]));
    assert!(!coloured(&["runs.jsonl", "--color", "never"]));
    assert!(coloured(&["runs.jsonl", "--color", "always"]));
}

#[test]
fn measures_are_defined_where_they_are_shown() {
    let graded = run(&["runs.jsonl"]).out;
    for name in ["harm = share", "disturbance = share", "saved = share", "noticed = share"] {
        assert!(graded.contains(name), "{graded}");
    }
    let summary = run(&["runs.jsonl", "--summary-json"]).out;
    let summary: Value = serde_json::from_str(&summary).unwrap();
    assert_eq!(summary["runs"], 4);
    assert_eq!(summary["graded"]["sources"][0]["source"], "runs.jsonl");
    assert_eq!(summary["graded"]["mean"]["harm"], 0.0);
    assert_eq!(summary["graded"]["mean"]["noticed"], 1.0);
}

#[test]
fn two_policies_are_compared() {
    let done = run(&["runs.jsonl", "--policy", "default", "--shadow-diff", "classic"]);
    assert!(done.out.starts_with("A: default   B: classic\n"), "{}", done.out);
    assert!(done.out.contains("of 4 runs judged differently"), "{}", done.out);
    let same = run(&["runs.jsonl", "--shadow-diff", "default"]);
    assert!(same.out.contains("\n0 of 4 runs judged differently\n"), "{}", same.out);
}

#[test]
fn the_page_is_written_and_a_bad_place_is_an_error() {
    let folder = scratch("page");
    let file = folder.join("page.html");
    let source = testdata().join("hostile.jsonl");
    let (file, source) = (file.to_str().unwrap(), source.to_str().unwrap());
    let done = run(&[source, "--html", file]);
    assert_eq!((done.code, done.err), (Some(0), format!("wrote: {file}\n")));
    let page = fs::read_to_string(file).unwrap();
    assert!(page.contains("<svg ") && !page.contains("<img"));
    let done = run(&[source, "--html", "absent/page.html"]);
    assert_eq!(done.code, Some(1));
    assert!(done.err.contains("absent/page.html"), "{}", done.err);
}

/// With UPDATE_GOLDEN set, the blocks are written instead.
#[test]
fn the_manual_shows_real_output() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/replay.md");
    let manual = fs::read_to_string(&path).unwrap();
    let mut fresh = String::new();
    let mut rest = manual.as_str();
    let mut blocks = 0;
    while let Some((before, block)) = rest.split_once("```text\n$ steersman replay ") {
        let (command, output) = block.split_once('\n').unwrap();
        let (_, after) = output.split_once("```").unwrap();
        let done = run(&command.split(' ').collect::<Vec<_>>());
        assert_eq!(done.code, Some(0), "{command}: {}", done.err);
        fresh += &format!("{before}```text\n$ steersman replay {command}\n{}```", done.out);
        (rest, blocks) = (after, blocks + 1);
    }
    fresh += rest;
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, &fresh).unwrap();
        return;
    }
    assert!(blocks > 0);
    assert!(fresh == manual, "docs/replay.md shows old output: run the tests with UPDATE_GOLDEN=1");
}
