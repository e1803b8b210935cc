//! A run survives the sudden end of its process at any moment.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot set up its case must fail"
)]

mod command;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use command::{command, rehearsal, run_in, scratch};
use serde_json::Value;
use steersman_workspace::{Checkpoints, CopyLimits, Workspace};

const KILLS: usize = 50;
const AT_ONCE: usize = 4;

/// The files of a folder with their contents.
fn tree(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(at) = open.pop() {
        for entry in fs::read_dir(&at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_owned();
                files.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    files
}

/// The only folder in a folder.
fn only(folder: &Path) -> PathBuf {
    let mut found = fs::read_dir(folder).unwrap();
    let first = found.next().unwrap().unwrap().path();
    assert!(found.next().is_none(), "{}", folder.display());
    first
}

fn entries(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn kind(line: &Value) -> &str {
    line["entry"]["entry"].as_str().unwrap()
}

/// The ids of calls in entries of a kind.
fn calls(journal: &[Value], wanted: &str) -> Vec<String> {
    let found = journal.iter().filter(|line| kind(line) == wanted);
    found.map(|line| line["entry"]["call_id"].as_str().unwrap().to_owned()).collect()
}

/// Numbers that look random and are the same in every run of the test.
fn numbers() -> impl FnMut() -> u64 {
    let mut state: u64 = 0x005e_ed0f_57ee_25ba;
    move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    }
}

/// What an undisturbed run ends with, and how long it takes.
fn undisturbed(folder: &Path) -> (BTreeMap<PathBuf, Vec<u8>>, Duration) {
    let script = rehearsal("sorted-words");
    let begun = Instant::now();
    let done = run_in(folder, "run", &["--rehearsal", &script, "--state", "state", "--json"]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    (tree(&only(&folder.join("state/rehearsals"))), begun.elapsed())
}

/// Kills a run after a while, and gives what it had printed.
fn kill_after(folder: &Path, wait: Duration) -> String {
    let script = rehearsal("sorted-words");
    let args = ["--rehearsal", script.as_str(), "--state", "state", "--json"];
    let mut child = command(folder, "run", &args).stdout(Stdio::piped()).spawn().unwrap();
    let mut out = child.stdout.take().unwrap();
    let reader = thread::spawn(move || std::io::read_to_string(&mut out).unwrap());
    // The moment is what is tested; nothing is waited for.
    thread::sleep(wait);
    child.kill().unwrap();
    child.wait().unwrap();
    reader.join().unwrap()
}

/// What the list of words may hold, by what the journal says was done to it. A call that was
/// interrupted may have had its effect or not.
struct Words {
    now: Vec<String>,
    kept: BTreeMap<u64, String>,
    asked: BTreeMap<String, String>,
}

impl Words {
    const FIRST: &str = "pear\napple\nfig\n";
    const SORTED: &str = "apple\nfig\npear\n";

    fn new() -> Self {
        let now = vec![Self::FIRST.to_owned()];
        Self { now, kept: BTreeMap::new(), asked: BTreeMap::new() }
    }

    /// What a call makes of the list, if anything.
    fn effect(call: &Value) -> Option<String> {
        let arguments = call["arguments"].as_str().unwrap();
        let arguments: Value = serde_json::from_str(arguments).unwrap();
        match call["name"].as_str().unwrap() {
            "write" => Some(arguments["content"].as_str().unwrap().to_owned()),
            "shell" if arguments["command"].as_str().unwrap().starts_with("sort ") => {
                Some(Self::SORTED.to_owned())
            }
            _ => None,
        }
    }

    fn hear(&mut self, entry: &Value) {
        match entry["entry"].as_str().unwrap() {
            "replied" => {
                let parts = entry["message"]["parts"].as_array().unwrap();
                for call in parts.iter().filter_map(|part| part.get("tool_call")) {
                    if let Some(content) = Self::effect(call) {
                        self.asked.insert(call["id"].as_str().unwrap().to_owned(), content);
                    }
                }
            }
            "tool_finished" => {
                let id = entry["call_id"].as_str().unwrap();
                let Some(content) = self.asked.get(id) else { return };
                // The move may find that the interrupted call has made it.
                if entry["interrupted"] == false && entry["is_error"] == false {
                    self.now.clear();
                }
                self.now.push(content.clone());
            }
            "restore_started" => {
                self.now = vec![self.kept[&entry["to"].as_u64().unwrap()].clone()];
            }
            _ => {}
        }
    }
}

/// Every kept state can be restored, and is byte by byte what the project was at that moment.
fn check_states(folder: &Path, journal: &[Value]) {
    let project = only(&folder.join("state/rehearsals"));
    let id = project.file_name().unwrap().to_str().unwrap().to_owned();
    let workspace = Workspace::open(&project).unwrap();
    let private = folder.join("state/checkpoints").join(&id);
    let kept = Checkpoints::open(&workspace, &id, &private).unwrap();
    let known = kept.list().unwrap();
    let check = fs::read(project.join("check.sh")).unwrap();
    let mut words = Words::new();
    let mut states = 0;
    for line in journal {
        words.hear(&line["entry"]);
        assert_ne!(kind(line), "checkpoint_failed", "{line}");
        if kind(line) != "checkpointed" {
            continue;
        }
        let wanted = line["entry"]["id"].as_str().unwrap();
        let found = known.iter().find(|state| state.id == wanted);
        let found = found.unwrap_or_else(|| panic!("state {wanted} is gone"));
        let copy = folder.join("copies").join(&found.id);
        kept.copy_to(found, &copy, CopyLimits::default()).unwrap();
        let files = tree(&copy);
        kept.restore(found).unwrap();
        assert_eq!(tree(&project), files, "restored and copied differ");
        let list = String::from_utf8(files[Path::new("words.txt")].clone()).unwrap();
        assert!(words.now.contains(&list), "{list:?} is none of {:?}", words.now);
        assert_eq!(files[Path::new("check.sh")], check);
        if states == 0 {
            assert_eq!(files.len(), 2, "{:?}", files.keys());
        }
        words.kept.insert(u64::from(found.number), list);
        states += 1;
    }
    assert!(states > 0, "no state was kept");
}

/// Kills a run once and takes it up again; false if it had not begun, or had ended.
fn survive(folder: &Path, wait: Duration, expected: &BTreeMap<PathBuf, Vec<u8>>) -> bool {
    let printed = kill_after(folder, wait);
    // The last line may have been cut by the kill.
    let printed: Vec<&str> =
        printed.split_inclusive('\n').filter(|it| it.ends_with('\n')).collect();
    let before = run_in(folder, "sessions", &["show", "last", "--json", "--state", "state"]);
    if before.code != Some(0) {
        assert!(printed.is_empty(), "{} lines, then: {}", printed.len(), before.err);
        return false;
    }
    let journal = entries(&before.out);
    for line in printed {
        assert!(before.out.contains(line), "printed, but not in the journal: {line}");
    }
    let ended = journal.last().is_some_and(|line| kind(line) == "ended");
    let list = run_in(folder, "sessions", &["list", "--json", "--state", "state"]);
    let standing = entries(&list.out)[0]["standing"].clone();
    assert_eq!(standing, if ended { "complete" } else { "interrupted" });
    let resumed = run_in(folder, "sessions", &["resume", "last", "--json", "--state", "state"]);
    if ended {
        assert_eq!(resumed.code, Some(1));
        assert!(resumed.err.contains("has ended (complete)"), "{}", resumed.err);
    } else {
        assert_eq!(resumed.code, Some(0), "{}", resumed.err);
    }
    let after = run_in(folder, "sessions", &["show", "last", "--json", "--state", "state"]);
    assert!(after.out.starts_with(&before.out), "entries are only added");
    check_end(folder, &journal, &entries(&after.out), expected);
    !ended
}

fn check_end(
    folder: &Path,
    before: &[Value],
    after: &[Value],
    expected: &BTreeMap<PathBuf, Vec<u8>>,
) {
    let last = after.last().unwrap();
    assert_eq!((kind(last), last["entry"]["ending"].as_str()), ("ended", Some("complete")));
    assert_eq!(tree(&only(&folder.join("state/rehearsals"))), *expected);
    for (place, line) in after.iter().enumerate() {
        assert_eq!(line["seq"].as_u64(), Some(place as u64 + 1));
    }
    let started = calls(after, "tool_started");
    let unique: BTreeSet<&String> = started.iter().collect();
    assert_eq!(unique.len(), started.len(), "a call was started twice: {started:?}");
    let returned = calls(before, "tool_finished");
    for call in calls(before, "tool_started").iter().filter(|call| !returned.contains(call)) {
        let results: Vec<&Value> = after
            .iter()
            .filter(|line| kind(line) == "tool_finished" && line["entry"]["call_id"] == **call)
            .collect();
        assert_eq!(results.len(), 1, "{call}");
        assert_eq!(results[0]["entry"]["interrupted"], true, "{call}");
    }
    check_states(folder, after);
}

#[test]
fn a_killed_run_ends_as_if_nothing_had_happened() {
    let (expected, takes) = undisturbed(&scratch("kill-not"));
    let mut next = numbers();
    let micros = u64::try_from(takes.as_micros()).unwrap();
    // One moment in each of as many parts of the run.
    let moments: Vec<Duration> = (0..KILLS as u64)
        .map(|part| {
            Duration::from_micros((part * 1000 + next() % 1000) * micros / (KILLS as u64 * 1000))
        })
        .collect();
    let (at, resumed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let place = at.fetch_add(1, Ordering::SeqCst);
                    let Some(wait) = moments.get(place) else { return };
                    let folder = scratch(&format!("kill-{place}"));
                    let went_on = survive(&folder, *wait, &expected);
                    resumed.fetch_add(usize::from(went_on), Ordering::SeqCst);
                    fs::remove_dir_all(&folder).unwrap();
                }
            });
        }
    });
    let resumed = resumed.into_inner();
    assert!(resumed > KILLS / 2, "only {resumed} of {KILLS} kills met a run under way");
}
