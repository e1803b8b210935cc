//! `steersman eval` as a user runs it.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod command;

use std::fs;
use std::path::{Path, PathBuf};

use command::{Done, run_in, scratch};
use serde_json::Value;

fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/eval")
}

fn run(args: &[&str]) -> Done {
    run_in(&testdata(), "eval", args)
}

fn json(args: &[&str]) -> Value {
    let done = run(&[args, &["--json"]].concat());
    assert!(done.code == Some(0), "{args:?}: {}", done.err);
    serde_json::from_str(&done.out).unwrap()
}

/// The fixtures that have everything: solved, unsolved and labelled runs.
const ALL: [&str; 3] = ["coding.jsonl", "service.jsonl", "labelled.jsonl"];

/// Compares with the golden file of that name; with UPDATE_GOLDEN set, writes it instead.
fn check_golden(name: &str, written: &str) {
    let path = format!("{}/testdata/golden/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, written).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(written, expected, "{path} should hold\n{written}");
}

#[test]
fn reports_look_like_this() {
    let done = run(&ALL);
    assert_eq!((done.code, done.err.as_str()), (Some(0), ""));
    check_golden("eval", &done.out);
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let args = ["testdata/local-model", "--policy", "default", "--compare", "identical_calls_3"];
    let done = run_in(&shipped, "eval", &args);
    assert_eq!(done.code, Some(0), "{}", done.err);
    check_golden("eval-local-model", &done.out);
}

#[test]
fn exit_codes_and_messages_say_what_is_missing() {
    let empty = scratch("eval-empty");
    let empty = empty.to_str().unwrap();
    let cases: [(&[&str], i32, &str); 18] = [
        (&ALL, 0, ""),
        (&["."], 0, ""),
        (&["one-sided/solved.jsonl"], 0, "no run is unsolved: saved and noticed need"),
        (&["one-sided/unsolved.jsonl"], 0, "no run is solved: harm and disturbance need"),
        (&["one-sided"], 0, ""),
        (&["coding.jsonl", "absent.jsonl"], 3, "absent.jsonl: no such file or folder"),
        (&["ungraded.jsonl"], 1, "none of the 3 runs has an outcome: to measure"),
        (&["absent.jsonl"], 1, "error: there was no run to judge"),
        (&[empty], 1, "the folder holds no files"),
        (&["coding.jsonl", "--policy", "absent"], 1, "neither a file nor a built-in policy"),
        (&["coding.jsonl", "--set", "limits.max_turns=none"], 1, "max_turns"),
        (&["coding.jsonl", "--exclude", "coding"], 1, "every source was left out"),
        (&["coding.jsonl", "--html", "absent/page.html"], 1, "absent/page.html"),
        (&[], 2, "required arguments"),
        (&["coding.jsonl", "--compare", "cap_31"], 2, "there are all, none, identical_calls_3, "),
        (&["coding.jsonl", "--resamples", "10001"], 2, "10001 is not in"),
        (&["coding.jsonl", "--sources", "cooking"], 2, "no source is called cooking; there are c"),
        (&["coding.jsonl", "service.jsonl", "--exclude", "x"], 2, "there are coding, service"),
    ];
    for (args, code, message) in cases {
        let done = run(args);
        assert_eq!(done.code, Some(code), "{args:?}: {}", done.err);
        assert!(done.err.contains(message), "{args:?}: {}", done.err);
        assert!(!done.err.contains("panicked"), "{args:?}: {}", done.err);
    }
}

#[test]
fn labels_without_outcomes_are_enough() {
    let folder = scratch("eval-labels");
    let line = r#"{"id":"a","labels":[{"kind":"mistake","step":0,"by":"human"}],"steps":[{"role":"assistant","content":"one"},{"role":"user","content":"go on"},{"role":"assistant","content":"two"}]}"#;
    fs::write(folder.join("a.jsonl"), line).unwrap();
    let done = run_in(&folder, "eval", &["a.jsonl"]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert!(done.err.contains("no run has an outcome: only the delay after labels"));
    assert!(done.out.contains("mistake"), "{}", done.out);
}

#[test]
fn the_object_follows_the_schema() {
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema/eval.schema.json");
    let schema: Value = serde_json::from_str(&fs::read_to_string(schema).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let part = |name: &str| schema["$defs"][name].clone();
    let cases: [&[&str]; 3] = [
        &ALL,
        &["one-sided/solved.jsonl", "--resamples", "0", "--by", "agent"],
        &["labelled.jsonl", "--compare", "none", "--policy", "classic"],
    ];
    let mut rows = 0;
    for args in cases {
        let object = json(args);
        let errors: Vec<String> = validator
            .iter_errors(&object)
            .map(|it| format!("{}: {it}", it.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{args:?}: {errors:#?}");
        assert_described(&object, &schema);
        for subject in object["subjects"].as_array().unwrap() {
            assert_described(subject, &part("subject"));
            assert_described(&subject["mean"], &part("measures"));
            for (list, described) in [("reasons", "reason"), ("delays", "delay")] {
                for row in subject[list].as_array().unwrap() {
                    assert_described(row, &part(described));
                    rows += 1;
                }
            }
        }
    }
    assert!(rows > 0, "nothing was noticed in the fixtures");
}

/// Every field of an object is described by its schema.
fn assert_described(object: &Value, schema: &Value) {
    for name in object.as_object().unwrap().keys() {
        assert!(schema["properties"].get(name).is_some(), "{name} is not described");
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let with = |jobs: &str| {
        let page = scratch(&format!("eval-jobs-{jobs}")).join("page.html");
        let args = [".", "--json", "--jobs", jobs, "--html", page.to_str().unwrap()];
        (run(&args).out, fs::read_to_string(page).unwrap())
    };
    let (one, four) = (with("1"), with("4"));
    assert!(!one.0.is_empty() && one.1.contains("<svg "));
    assert!(one == four, "figures or page differ");
}

#[test]
fn seeds_move_intervals_and_nothing_else() {
    let of = |seed: &str| json(&[&ALL[..], &["--seed", seed, "--compare", "none"]].concat());
    let (a, again, b) = (of("1"), of("1"), of("2"));
    assert_eq!(a, again);
    let saved = |it: &Value| it["subjects"][0]["mean"]["saved"].clone();
    assert_eq!(saved(&a)["value"], saved(&b)["value"]);
    assert_ne!(saved(&a)["low"], saved(&b)["low"]);
}

#[test]
fn eval_and_replay_give_the_same_figures() {
    for policy in ["default", "classic", "aggressive"] {
        let args = ["coding.jsonl", "service.jsonl", "labelled.jsonl", "--policy", policy];
        let evaluated = json(&[&args[..], &["--compare", "none", "--resamples", "0"]].concat());
        let done = run_in(&testdata(), "replay", &[&args[..], &["--summary-json"]].concat());
        let replayed: Value = serde_json::from_str(&done.out).unwrap();
        let subject = &evaluated["subjects"][0];
        for measure in ["harm", "disturbance", "saved", "noticed"] {
            let mean = &subject["mean"][measure]["value"];
            assert_eq!(mean, &replayed["graded"]["mean"][measure], "{policy}: {measure}");
            let sources = replayed["graded"]["sources"].as_array().unwrap();
            for (evaluated, replayed) in subject["sources"].as_array().unwrap().iter().zip(sources)
            {
                assert_eq!(evaluated[measure]["value"], replayed[measure], "{policy}: {measure}");
            }
        }
    }
}

#[test]
fn policies_and_sources_are_chosen() {
    let names = |object: &Value| -> Vec<String> {
        let subjects = object["subjects"].as_array().unwrap();
        subjects.iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect()
    };
    let of = |args: &[&str]| names(&json(&[&["coding.jsonl", "--resamples", "0"], args].concat()));
    assert_eq!(of(&["--compare", "none"]), ["default", "classic", "aggressive", "lenient"]);
    assert_eq!(
        of(&["--policy", "lenient", "--compare", "cap_50,cap_30"]),
        ["lenient", "cap_30", "cap_50"]
    );
    let changed = of(&["--policy", "default", "--set", "limits.max_turns=2", "--compare", "none"]);
    assert_eq!(changed, ["default with limits.max_turns=2"]);
    let beside = of(&["--set", "limits.max_turns=2", "--compare", "none"]);
    assert_eq!(beside[..2], ["default with limits.max_turns=2", "default"]);
    let twice = of(&["--policy", "default", "--policy", "default", "--compare", "none"]);
    assert_eq!(twice, ["default", "default (default)"]);

    let sources = |args: &[&str]| -> Vec<String> {
        let object = json(&[&ALL[..], &["--resamples", "0"], args].concat());
        let sources = object["sources"].as_array().unwrap();
        sources.iter().map(|it| it["source"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(sources(&[]), ["coding", "service", "labelled"]);
    assert_eq!(sources(&["--exclude", "coding.jsonl,labelled"]), ["service"]);
    assert_eq!(sources(&["--sources", "labelled,coding"]), ["coding", "labelled"]);
    assert_eq!(sources(&["--by", "agent"]), ["demo-agent", "desk"]);
}

#[test]
fn the_page_is_written() {
    let page = scratch("eval-page").join("page.html");
    let file = page.to_str().unwrap();
    let done = run(&[&ALL[..], &["--html", file]].concat());
    assert_eq!((done.code, done.err), (Some(0), format!("wrote: {file}\n")));
    let page = fs::read_to_string(page).unwrap();
    for part in ["<svg ", "conformal_steps", "went wrong", "repeated_outcome", "labelled"] {
        assert!(page.contains(part), "{part} is missing");
    }
}
