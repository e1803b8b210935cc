//! `steersman run --attempts` as a user runs it, with scripted models.
#![expect(clippy::unwrap_used, reason = "a test that cannot set up its files must fail")]

mod command;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use command::{Done, command, run_in, scratch};
use serde_json::Value;

/// Passes once `done.txt` holds a, b and c; tells its tests as TAP.
const CHECK: &str = "echo 1..3; n=0; left=0; for w in a b c; do n=$((n+1)); if grep -q $w done.txt \
                     2>/dev/null; then echo \"ok $n - $w\"; else echo \"not ok $n - $w\"; left=1; \
                     fi; done; exit $left\n";

/// A reply that runs a command.
fn shell(line: &str) -> String {
    let line = serde_json::to_string(line).unwrap();
    format!("{{text: Working., calls: [{{name: shell, arguments: {{command: {line}}}}}]}}")
}

/// An attempt that runs these commands, then says that it is done.
fn side(lines: &[&str], more: &str) -> String {
    let replies: Vec<String> = lines.iter().map(|line| shell(line)).collect();
    format!("- {{attempts: [{{replies: [{}]}}]{more}}}", replies.join(", "))
}

/// A folder with the user's project in `project` and the script in `script.yaml`.
fn stage(name: &str, sides: &[String]) -> PathBuf {
    let folder = scratch(name);
    let project = folder.join("project");
    fs::create_dir_all(&project).unwrap();
    fs::write(project.join("check.sh"), CHECK).unwrap();
    fs::write(project.join("README"), "mine\n").unwrap();
    let script = format!(
        "task: Put a, b and c into done.txt.\ncheck: sh check.sh\nattempts: [{{replies: \
         [{{text: Done.}}]}}]\nsides:\n{}\n",
        sides.join("\n")
    );
    fs::write(folder.join("script.yaml"), script).unwrap();
    folder
}

const RUN: &[&str] = &["--rehearsal", "script.yaml", "-C", "project", "--state", "state"];

fn args<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [RUN, more].concat()
}

fn run(folder: &Path, more: &[&str]) -> Done {
    run_in(folder, "run", &args(more))
}

/// Every file of a folder but git's own, with its content.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let walk = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter();
    let walk = walk.filter_entry(|entry| entry.file_name() != ".git");
    let files = walk.map(Result::unwrap).filter(|entry| entry.file_type().is_file());
    files.map(|entry| (entry.path().to_owned(), fs::read(entry.path()).unwrap())).collect()
}

fn git(folder: &Path, args: &[&str]) -> String {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(args).current_dir(folder);
    let done = git.env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap();
    assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

fn of_kind<'a>(entries: &'a [Value], kind: &'a str) -> impl Iterator<Item = &'a Value> {
    entries.iter().filter(move |line| line["entry"]["entry"] == kind)
}

const SLOW: &str = ", reply_ms: 600000";

#[test]
fn the_one_that_is_proved_is_taken_and_the_others_are_stopped() {
    let sides = [
        side(&["echo a > done.txt"], SLOW),
        side(&["echo a b c > done.txt; mkdir new; echo x > new/file"], ""),
        side(&["echo b > done.txt"], SLOW),
    ];
    let folder = stage("attempts-proved", &sides);
    let Done { code, out, err } = run(&folder, &["--attempts", "3"]);
    assert_eq!(code, Some(0), "{out}{err}");
    let project = folder.join("project");
    assert_eq!(fs::read_to_string(project.join("done.txt")).unwrap(), "a b c\n");
    assert_eq!(fs::read_to_string(project.join("new/file")).unwrap(), "x\n");
    assert!(out.contains("attempt 2 is chosen: the check proves it"), "{out}");
    assert!(out.contains("[1] ■ attempt 2, which is proved, stops the run"), "{out}");
    let row = out.lines().find(|line| line.contains("← chosen")).unwrap();
    assert!(row.contains("complete") && row.contains("2 files, +2 −0"), "{row}");
    assert!(out.contains("complete: attempt 2 is taken"), "{out}");
    let copies = fs::read_dir(folder.join("state/attempts")).unwrap();
    assert_eq!(copies.count(), 0, "copies are removed");
}

#[test]
fn the_best_by_its_tests_is_taken_if_none_is_proved() {
    let sides = [
        side(&["echo a > done.txt"], ""),
        side(&["echo z > done.txt"], ""),
        side(&["echo a b > done.txt; seq 50 > more.txt"], ""),
    ];
    let folder = stage("attempts-best", &sides);
    let Done { code, out, err } = run(&folder, &["--attempts", "3", "--json"]);
    assert_eq!(code, Some(4), "refuted: {err}");
    let project = folder.join("project");
    assert_eq!(fs::read_to_string(project.join("done.txt")).unwrap(), "a b\n");
    assert!(project.join("more.txt").is_file());
    let entries: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let schema = fs::read_to_string("../../schema/run.schema.json").unwrap();
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    for line in entries
        .iter()
        .filter(|line| line["entry"]["entry"].as_str().is_some_and(|kind| kind.starts_with("side")))
    {
        assert!(schema.is_valid(line), "{line}");
    }
    let of = |kind| of_kind(&entries, kind);
    let chosen = of("side_chosen").next().unwrap();
    assert_eq!(chosen["entry"]["number"], 3);
    assert_eq!(chosen["entry"]["why"], "no other one's tests are better");
    let tests: Vec<&Value> = of("side_ended").map(|line| &line["entry"]["tests"]).collect();
    assert_eq!(tests.len(), 3);
    assert!(tests.contains(&&serde_json::json!([1, 2])), "{tests:?}");
    let group = chosen["session"].as_str().unwrap();
    let opened: Vec<&str> = of("opened").map(|line| line["session"].as_str().unwrap()).collect();
    for session in [group.to_owned(), format!("{group}-1"), format!("{group}-3")] {
        assert!(opened.contains(&session.as_str()), "{session} in {opened:?}");
    }
}

#[test]
fn a_folder_that_was_changed_meanwhile_is_left_alone() {
    let folder = scratch("attempts-changed");
    let theirs = folder.join("project/README");
    let line = format!("echo a b c > done.txt; echo theirs > '{}'", theirs.display());
    let folder = stage("attempts-changed", &[side(&[&line], "")]);
    let Done { code, out, err } = run(&folder, &["--attempts", "2", "--unconfined", "--all"]);
    assert_eq!(code, Some(8), "{out}{err}");
    assert_eq!(fs::read_to_string(&theirs).unwrap(), "theirs\n");
    assert!(!folder.join("project/done.txt").exists());
    assert!(out.contains("the folder was changed meanwhile: README"), "{out}");
    // What is told to do does it, once the folder is as it was.
    let told = out.lines().find_map(|line| line.strip_prefix("or with plain git: ")).unwrap();
    fs::write(&theirs, "mine\n").unwrap();
    let shell = Command::new("sh").args(["-c", told]).current_dir(&folder).status().unwrap();
    assert!(shell.success(), "{told}");
    assert_eq!(fs::read_to_string(folder.join("project/done.txt")).unwrap(), "a b c\n");
}

#[test]
fn what_the_user_has_in_git_stays_as_it_is() {
    let sides = [side(&["echo a b c > done.txt"], ""), side(&["sleep 60"], "")];
    let folder = stage("attempts-git", &sides);
    let project = folder.join("project");
    git(&project, &["init", "-q", "-b", "main"]);
    fs::write(project.join(".gitignore"), "built/\n").unwrap();
    git(&project, &["add", "."]);
    git(&project, &["commit", "-q", "-m", "one"]);
    fs::write(project.join("README"), "stashed\n").unwrap();
    git(&project, &["stash", "-q"]);
    fs::write(project.join("README"), "staged\n").unwrap();
    git(&project, &["add", "README"]);
    fs::write(project.join("README"), "dirty\n").unwrap();
    fs::write(project.join("untracked"), "u\n").unwrap();
    fs::create_dir(project.join("built")).unwrap();
    fs::write(project.join("built/big"), "b\n").unwrap();
    let before = files(&project);
    let index = fs::read(project.join(".git/index")).unwrap();
    let known = |folder: &Path| {
        let refs = git(folder, &["for-each-ref", "--exclude=refs/steersman"]);
        (git(folder, &["rev-parse", "HEAD"]), git(folder, &["stash", "list"]), refs)
    };
    let said = known(&project);
    let Done { code, out, err } = run(&folder, &["--attempts", "2"]);
    assert_eq!(code, Some(0), "{out}{err}");
    assert_eq!(fs::read(project.join(".git/index")).unwrap(), index);
    assert_eq!(known(&project), said);
    let mut after = files(&project);
    after.retain(|(path, _)| !path.ends_with("done.txt"));
    assert_eq!(after, before, "only the attempt's file differs");
    let kept = git(&project, &["for-each-ref", "--format=%(refname)", "refs/steersman"]);
    assert!(kept.contains("/kept/side-1\n"), "{kept}");
    let shown = kept.lines().find(|line| line.ends_with("/kept/side-1")).unwrap();
    assert_eq!(git(&project, &["show", &format!("{shown}:done.txt")]), "a b c\n");
}

#[test]
fn the_folder_is_untouched_until_the_end_also_if_the_program_is_killed() {
    let sides = [side(&["echo a > done.txt", "sleep 600"], ""), side(&["sleep 600"], "")];
    let folder = stage("attempts-killed", &sides);
    let before = files(&folder.join("project"));
    let mut child = command(&folder, "run", &args(&["--attempts", "2"]));
    let mut child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let since = Instant::now();
    let copied = || {
        let groups = fs::read_dir(folder.join("state/attempts")).ok()?;
        groups.flatten().map(|group| group.path().join("1/done.txt")).find(|path| path.is_file())
    };
    while copied().is_none() {
        assert!(since.elapsed() < Duration::from_secs(60), "the attempt does not get there");
        std::thread::sleep(Duration::from_millis(50));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(files(&folder.join("project")), before);
    assert!(copied().is_some(), "the copies stay for going on");
}

#[test]
fn a_group_that_was_killed_is_gone_on_with_and_judged() {
    let slow = "if [ -e .mark ]; then rm .mark; else touch .mark; sleep 600; fi";
    let sides = [
        side(&["echo a > done.txt", slow, "echo a b > done.txt"], ""),
        side(&["echo c > done.txt", slow, "echo a b c > done.txt"], ""),
    ];
    let folder = stage("attempts-resumed", &sides);
    let mut child = command(&folder, "run", &args(&["--attempts", "2", "--all"]));
    let mut child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let since = Instant::now();
    let marks = || {
        let groups = fs::read_dir(folder.join("state/attempts")).into_iter().flatten().flatten();
        let copies = groups.flat_map(|group| ["1", "2"].map(|side| group.path().join(side)));
        copies.filter(|copy| copy.join(".mark").is_file()).count()
    };
    while marks() < 2 {
        assert!(since.elapsed() < Duration::from_secs(60), "the attempts do not get there");
        std::thread::sleep(Duration::from_millis(50));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let group = fs::read_dir(folder.join("state/attempts")).unwrap().next().unwrap().unwrap();
    let group = group.file_name().into_string().unwrap();
    let resume = ["resume", group.as_str(), "--state", "state"];
    let Done { code, out, err } = run_in(&folder, "sessions", &resume);
    assert_eq!(code, Some(0), "{out}{err}");
    assert!(out.contains("attempt 2 is chosen: the check proves it"), "{out}");
    assert_eq!(fs::read_to_string(folder.join("project/done.txt")).unwrap(), "a b c\n");
    let Done { code, err, .. } = run_in(&folder, "sessions", &resume);
    assert_eq!(code, Some(1));
    assert!(err.contains("was a group of attempts and is over"), "{err}");
}

#[test]
fn without_a_check_or_room_for_copies_it_is_refused() {
    let folder = stage("attempts-refused", &[side(&["true"], "")]);
    let Done { code, err, .. } = run(&folder, &["--attempts", "2", "--no-check"]);
    assert_eq!(code, Some(1));
    assert!(err.contains("--attempts needs a check to judge by"), "{err}");
    let inside = ["--rehearsal", "script.yaml", "-C", ".", "--state", "state", "--attempts", "2"];
    let Done { code, err, .. } = run_in(&folder, "run", &inside);
    assert_eq!(code, Some(1));
    assert!(err.contains("would lie inside of the folder"), "{err}");
    let Done { code, .. } = run(&folder, &["--attempts", "17"]);
    assert_eq!(code, Some(2));
}
