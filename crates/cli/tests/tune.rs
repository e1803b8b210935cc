//! `steersman tune` as a user runs it, on graded runs made up by the tests.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod command;

use std::fs;
use std::path::{Path, PathBuf};

use command::{run_in as run, scratch};
use serde_json::{Value, json};
use steersman_engine::{Action, Engine, Event, Reason, Reply, RunInfo, Timestamp};
use steersman_engine::{ToolCall, ToolResult};

/// A graded run of so many turns, each of which reads another file; from turn `lost` on calls fail.
struct Made {
    id: String,
    instance: String,
    turns: usize,
    lost: usize,
    solved: Option<bool>,
}

impl Made {
    fn calls(&self) -> impl Iterator<Item = (String, bool)> {
        let read = |turn| format!("{{\"path\":\"{}/part-{turn}.txt\"}}", self.id);
        (0..self.turns).map(move |turn| (read(turn), turn >= self.lost))
    }

    fn content(failed: bool, arguments: &str) -> String {
        let found = || format!("what stands in {arguments}");
        if failed { "error: permission denied".to_owned() } else { found() }
    }

    fn line(&self) -> String {
        let mut steps = vec![json!({"role": "user", "content": "Do the task."})];
        for (turn, (arguments, failed)) in self.calls().enumerate() {
            let id = format!("c{turn}");
            let call = json!({"id": id, "name": "read", "arguments": arguments});
            steps.push(json!({"role": "assistant", "content": "Next.", "tool_calls": [call]}));
            let content = Self::content(failed, &arguments);
            steps.push(
                json!({"role": "tool", "tool_call_id": id, "content": content, "error": failed}),
            );
        }
        steps.push(json!({"role": "assistant", "content": "All of it is done."}));
        let mut run = json!({
            "id": self.id, "agent": "demo-agent", "model": "demo-model", "task": "Do the task.",
            "instance": self.instance, "steps": steps,
        });
        if let Some(solved) = self.solved {
            run["outcome"] = json!({"solved": solved});
        }
        run.to_string()
    }
}

/// Runs of two instances each: the solved ones are short and go well, the others get lost.
fn made(solved: usize, unsolved: usize) -> Vec<Made> {
    let one = |i: usize| {
        let good = i < solved;
        Made {
            id: format!("run-{i}"),
            instance: format!("task-{}", i / 2),
            turns: if good { 5 + i % 4 } else { 14 + i % 5 },
            lost: if good { usize::MAX } else { 4 },
            solved: Some(good),
        }
    };
    (0..solved + unsolved).map(one).collect()
}

fn store(folder: &Path, name: &str, runs: &[Made]) {
    let lines: Vec<String> = runs.iter().map(Made::line).collect();
    fs::write(folder.join(name), lines.join("\n") + "\n").unwrap();
}

/// A folder with enough runs, as `runs.jsonl`.
fn enough(name: &str) -> PathBuf {
    let folder = scratch(name);
    store(&folder, "runs.jsonl", &made(30, 30));
    folder
}

/// A policy that decides by nothing but its risk.
const QUIET: &str = "version: 1\nrules:\n  error_streak: off\n  same_error: off\n  staleness: off\n  \
                     same_output: off\n  similar_outcome: off\n";

#[test]
fn a_policy_is_learned_that_other_verbs_take() {
    let folder = enough("tune-writes");
    let done = run(&folder, "tune", &["runs.jsonl", "--alpha", "7%"]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert_eq!(done.err, "wrote: steersman.yaml\n");
    for part in ["held out: ", "What the risk is made of", "Lines", "demo-agent", "7 %"] {
        assert!(done.out.contains(part), "{part} is missing:\n{}", done.out);
    }
    let text = fs::read_to_string(folder.join("steersman.yaml")).unwrap();
    let head = "# Learned by `steersman tune --alpha 0.07` from 60 runs: of good runs at most 7 % ";
    assert!(text.starts_with(head), "{text}");
    let left: Vec<_> = fs::read_dir(&folder).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");

    let checked = run(&folder, "config", &["check", "steersman.yaml"]);
    assert_eq!(checked.code, Some(0), "{}{}", checked.out, checked.err);
    let args = ["runs.jsonl", "--policy", "steersman.yaml", "--compare", "none", "--json"];
    let evaluated = run(&folder, "eval", &args);
    assert_eq!(evaluated.code, Some(0), "{}", evaluated.err);
    let object: Value = serde_json::from_str(&evaluated.out).unwrap();
    let mean = &object["subjects"][0]["mean"];
    assert!(mean["saved"]["value"].as_f64().unwrap() > 0.2, "{mean}");
    assert!(mean["harm"]["value"].as_f64().unwrap() <= 0.07, "{mean}");
}

#[test]
fn the_file_stops_runs_where_the_figures_say() {
    let folder = enough("tune-engine");
    fs::write(folder.join("quiet.yaml"), QUIET).unwrap();
    let args = ["runs.jsonl", "--policy", "quiet.yaml", "--out", "tuned.yaml", "--json"];
    let done = run(&folder, "tune", &args);
    assert_eq!(done.code, Some(0), "{}", done.err);
    let learned: Value = serde_json::from_str(&done.out).unwrap();
    let tuned = steersman_config::load(&folder.join("tuned.yaml")).unwrap().policy;
    // Every number comes back from the file as it was learned.
    assert_eq!(serde_json::to_value(&tuned.risk).unwrap(), learned["risk"]);
    let tuned = std::sync::Arc::new(tuned);
    let info = RunInfo {
        agent: "demo-agent".to_owned(),
        model: "demo-model".to_owned(),
        ..RunInfo::default()
    };
    let mut stopped = 0;
    for made in made(30, 30) {
        let mut engine = Engine::new(std::sync::Arc::clone(&tuned), info.clone());
        let line = tuned.risk.line_of("demo-agent", "demo-model").line.unwrap();
        for (arguments, failed) in made.calls() {
            let call = ToolCall {
                name: "read".into(),
                arguments: arguments.as_str().into(),
                ..ToolCall::default()
            };
            let reply = Reply { text: "Next.".into(), tool_calls: vec![call], ..Reply::default() };
            let content = Made::content(failed, &arguments).into();
            let result = ToolResult { content, is_error: Some(failed), ..ToolResult::default() };
            engine.handle(Timestamp::UNKNOWN, &Event::Replied(reply));
            engine.handle(Timestamp::UNKNOWN, &Event::ToolReturned(result));
            let decision = engine.handle(Timestamp::UNKNOWN, &Event::TurnEnded);
            let values = steersman_engine::risk::measure(engine.state());
            let expected = steersman_engine::risk::sum(&tuned.risk, &values);
            if let Reason::Risk { risk, .. } = decision.reason {
                assert_eq!((decision.action, risk), (Action::ForceSynthesis, expected));
                stopped += 1;
                break;
            }
            assert!(expected <= line, "{} went on at {expected}", made.id);
        }
    }
    assert!(stopped > 15, "only {stopped} runs were stopped");
}

#[test]
fn refusals_say_what_is_missing_and_write_nothing() {
    let folder = enough("tune-refuses");
    store(&folder, "solved.jsonl", &made(30, 0));
    store(&folder, "one.jsonl", &made(1, 0));
    store(&folder, "few.jsonl", &made(12, 20));
    store(&folder, "nearly.jsonl", &made(18, 20));
    let mut runs = made(30, 30);
    runs.iter_mut().for_each(|it| it.solved = None);
    store(&folder, "ungraded.jsonl", &runs);
    let mut runs = made(30, 30);
    runs.iter_mut().for_each(|it| it.instance = "only".to_owned());
    store(&folder, "alike.jsonl", &runs);
    fs::write(folder.join("later.yaml"), "version: 2\n").unwrap();
    fs::create_dir(folder.join("empty")).unwrap();
    let cases: [(&[&str], i32, &str); 17] = [
        (&["empty"], 1, "the folder holds no files"),
        (&["absent.jsonl"], 1, "absent.jsonl: no such file or folder"),
        (&["ungraded.jsonl"], 1, "no run has an outcome: to learn from them, runs must be graded"),
        (&["solved.jsonl"], 1, "all 30 runs are solved: nothing shows what failing looks like"),
        (&["one.jsonl"], 1, "the only run is solved: nothing shows"),
        (
            &["few.jsonl"],
            1,
            "takes 19 solved runs: there are 12, 7 are missing (they allow --alpha 7.7% at best)",
        ),
        (&["nearly.jsonl"], 1, "there are 18, 1 is missing (they allow --alpha 5.3% at best)"),
        (&["runs.jsonl", "--alpha", "1%"], 1, "at most 1 % of good runs cross takes 99 solved"),
        (&["alike.jsonl"], 1, "all 60 runs are of one task instance"),
        (&["runs.jsonl", "--policy", "later.yaml"], 1, "version"),
        (&["runs.jsonl", "--out", "absent/x.yaml"], 1, "there is no folder absent"),
        (&["runs.jsonl", "--out", "empty", "--force"], 1, "empty is a folder"),
        (&["runs.jsonl", "--alpha", "0"], 2, "a share is above 0 and at most 0.5"),
        (&["runs.jsonl", "--alpha", "60%"], 2, "a share is above 0 and at most 0.5"),
        (&["runs.jsonl", "--alpha", "five"], 2, "a share is above 0 and at most 0.5"),
        (&["runs.jsonl", "--sources", "cooking"], 2, "no source is called cooking; there are"),
        (&[], 2, "required arguments"),
    ];
    for (args, code, message) in cases {
        let done = run(&folder, "tune", args);
        assert_eq!(done.code, Some(code), "{args:?}: {}", done.err);
        assert!(done.err.contains(message), "{args:?}: {}", done.err);
        assert!(!done.err.contains("panicked"), "{args:?}: {}", done.err);
        assert!(done.out.is_empty(), "{args:?}: {}", done.out);
        let written = folder.join("steersman.yaml").exists();
        assert!(!written, "{args:?} wrote a policy");
    }
}

#[test]
fn a_file_that_is_there_is_kept() {
    let folder = enough("tune-keeps");
    let out = folder.join("mine.yaml");
    fs::write(&out, "version: 1\n").unwrap();
    let done = run(&folder, "tune", &["runs.jsonl", "--out", "mine.yaml"]);
    assert_eq!(done.code, Some(1), "{}", done.err);
    assert!(
        done.err.contains("mine.yaml is there already: --force writes over it"),
        "{}",
        done.err
    );
    assert_eq!(fs::read_to_string(&out).unwrap(), "version: 1\n");
    let done = run(&folder, "tune", &["runs.jsonl", "--out", "mine.yaml", "--force"]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert!(fs::read_to_string(&out).unwrap().contains("risk:"));
}

#[test]
fn runs_that_contradict_each_other_are_left_out() {
    let folder = scratch("tune-contradicts");
    let mut runs = made(30, 30);
    let again = |solved| Made { solved: Some(solved), ..made(30, 30).swap_remove(3) };
    runs.push(again(false));
    store(&folder, "runs.jsonl", &runs);
    let done = run(&folder, "tune", &["runs.jsonl", "--dry-run", "--json"]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    let note = "1 run is both solved and unsolved, and left out: run-3 of runs.jsonl is the first";
    assert!(done.err.contains(note), "{}", done.err);
    let object: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(object["held_out"]["sources"][0]["runs"], 59);
}

#[test]
fn the_object_follows_the_schema_whatever_the_number_of_threads() {
    let folder = enough("tune-json");
    let with =
        |jobs: &str| run(&folder, "tune", &["runs.jsonl", "--dry-run", "--json", "--jobs", jobs]);
    let (one, four) = (with("1"), with("4"));
    assert_eq!((one.code, one.err.as_str()), (Some(0), ""));
    assert!(one.out == four.out, "figures differ");
    assert!(!folder.join("steersman.yaml").exists());
    let object: Value = serde_json::from_str(&one.out).unwrap();
    assert_valid(&object, "tune");
    assert_valid(&object["held_out"], "eval");
    // Fewer than 50 solved runs: nothing can be said.
    assert_eq!(object["within_alpha"], Value::Null);
    assert_eq!(object["risk"]["profiles"][0]["good_runs"], 30);
}

/// An object follows the schema of that name, which describes all its fields.
fn assert_valid(object: &Value, name: &str) {
    let path = format!("{}/../../schema/{name}.schema.json", env!("CARGO_MANIFEST_DIR"));
    let schema: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(object).map(|it| format!("{}: {it}", it.instance_path())).collect();
    assert!(errors.is_empty(), "{name}: {errors:#?}");
    for field in object.as_object().unwrap().keys() {
        assert!(schema["properties"].get(field).is_some(), "{name}: {field} is not described");
    }
}
