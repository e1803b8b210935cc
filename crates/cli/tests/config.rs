//! `steersman config` as a user runs it.

#![expect(clippy::unwrap_used, reason = "a test that cannot set up its files must fail")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A new folder for one test, with the mark of a repository's root.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("config").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join(".git")).unwrap();
    fs::create_dir_all(folder.join("src/deep")).unwrap();
    folder
}

/// Runs `steersman config ARGS` in a folder: exit code, stdout, stderr.
fn run(folder: &Path, args: &[&str], stdin: &str) -> (i32, String, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_steersman"))
        .arg("config")
        .args(args)
        .current_dir(folder)
        .env("XDG_CONFIG_HOME", folder.join("own"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A verb that does not read stdin may be gone already.
    let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// Compares exit code, stdout and stderr.
fn check(folder: &Path, args: &[&str], stdin: &str, expected: (i32, &str, &str)) {
    let (code, out, err) = run(folder, args, stdin);
    assert_eq!((code, out.as_str(), err.as_str()), expected, "{args:?}");
}

#[test]
fn init_writes_a_file_once() {
    let folder = folder("init");
    check(&folder, &["init"], "", (0, "", "wrote steersman.yaml\n"));
    let text = fs::read_to_string(folder.join("steersman.yaml")).unwrap();
    assert_eq!(text, steersman_config::template("default").unwrap());
    let there = "error: steersman.yaml is there already\n = help: --force writes over it\n";
    check(&folder, &["init", "--base", "classic"], "", (2, "", there));
    assert_eq!(fs::read_to_string(folder.join("steersman.yaml")).unwrap(), text);
    let args = ["init", "--base", "classic", "--force"];
    check(&folder, &args, "", (0, "", "wrote steersman.yaml\n"));
    check(&folder, &["show", "--diff"], "", (0, "base: classic\n", ""));
    check(&folder, &["init", "src/own.yaml"], "", (0, "", "wrote src/own.yaml\n"));
    check(&folder, &["check"], "", (0, "steersman.yaml: ok\n", ""));
    let (code, _, err) = run(&folder, &["init", "no/folder.yaml"], "");
    assert!(code == 2 && err.starts_with("error: cannot write no/folder.yaml: "), "{err}");
    let unknown = "error: no built-in policy `clasic`; there are default, classic, aggressive, \
                   standard, lenient\n";
    check(&folder, &["init", "x.yaml", "--base", "clasic"], "", (2, "", unknown));
    assert!(!folder.join("x.yaml").exists());
}

#[test]
fn check_tells_what_is_wrong() {
    let folder = folder("check");
    let none = "error: no policy file here\n = help: `steersman config init` writes one\n";
    check(&folder, &["check"], "", (2, "", none));
    check(&folder, &["check", "-"], "mode: act\n", (0, "<stdin>: ok\n", ""));
    let empty = "<stdin>:1:1: notice: empty: the policy `default` holds\n";
    check(&folder, &["check", "-"], "", (0, "<stdin>: ok\n", empty));
    let bad = "<stdin>:1:7: error: mode: acts is not allowed: act or shadow\n  \
               |\n1 | mode: acts\n  |       ^^^^\n  = help: did you mean act?\n";
    check(&folder, &["check", "-"], "mode: acts\n", (1, "", bad));
    fs::write(folder.join("good.yaml"), "base: lenient\n").unwrap();
    fs::write(folder.join("bad.yaml"), "base: lenient\nnam: x\n").unwrap();
    let (code, out, err) = run(&folder, &["check", "bad.yaml", "good.yaml"], "");
    assert_eq!((code, out.as_str()), (1, "good.yaml: ok\n"));
    assert!(err.starts_with("bad.yaml:2:1: error: nam: unknown key\n"), "{err}");
    assert!(err.contains("did you mean `name`?"), "{err}");
    let (code, _, err) = run(&folder, &["check", "none.yaml", "bad.yaml"], "");
    assert_eq!(code, 2);
    assert!(err.starts_with("none.yaml: error: cannot read the policy: "), "{err}");
    let (code, _, err) = run(&folder, &["check", "src"], "");
    assert_eq!(code, 2, "{err}");
}

#[test]
fn show_prints_what_holds() {
    let folder = folder("show");
    check(&folder, &["show", "--diff"], "", (0, "base: default\n", ""));
    let (code, whole, _) = run(&folder, &["show"], "");
    assert_eq!(code, 0);
    check(&folder, &["check", "-"], &whole, (0, "<stdin>: ok\n", ""));
    let (_, json, _) = run(&folder, &["show", "--policy", "classic", "--json"], "");
    assert_eq!(json, steersman_config::to_json_text(&steersman_engine::Policy::classic()));
    let sets = [
        "show",
        "--diff",
        "--policy",
        "standard",
        "--set",
        "model_overrides.\"a=b.c*\".continuation_patience=5",
        "--set",
        "tests.reevaluate_at=[7]",
    ];
    let expected = "base: standard\nmodel_overrides:\n  \"a=b.c*\":\n    continuation_patience: \
                    5\ntests:\n  reevaluate_at: [7]\n";
    check(&folder, &sets, "", (0, expected, ""));
    let bad = "--set loops.cycle.notice=x: error: loops.cycle.notice: x is not allowed: a whole \
               number from 2 to 10000\n  |\n  | loops.cycle.notice=x\n  |                    ^\n";
    check(&folder, &["show", "--set", "loops.cycle.notice=x"], "", (1, "", bad));
    assert_eq!(run(&folder, &["show", "--set", "loops.cycle.notice"], "").0, 2);
    assert_eq!(run(&folder, &["show", "--policy", "clasic"], "").0, 2);
    assert_eq!(run(&folder, &["show", "--json", "--diff"], "").0, 2);
}

/// The file in the folder comes before those of parents, and those before the user's own.
#[test]
fn the_nearest_file_holds() {
    let folder = folder("nearest");
    let deep = folder.join("src/deep");
    let own = deep.join("own/steersman");
    fs::create_dir_all(&own).unwrap();
    // The file is named by the path that leads to it from the working directory.
    let cases = [
        (own.join("steersman.yml"), "own/steersman/steersman.yml: ok\n".to_owned()),
        (folder.join("steersman.yml"), format!("{}: ok\n", folder.join("steersman.yml").display())),
        (
            folder.join("steersman.yaml"),
            format!("{}: ok\n", folder.join("steersman.yaml").display()),
        ),
        (deep.join("steersman.yml"), "steersman.yml: ok\n".to_owned()),
    ];
    for (path, expected) in cases {
        fs::write(path, "mode: shadow\n").unwrap();
        check(&deep, &["check"], "", (0, &expected, ""));
    }
}

#[test]
fn schema_and_usage() {
    let folder = folder("schema");
    check(&folder, &["schema"], "", (0, &steersman_config::schema_text(), ""));
    assert_eq!(run(&folder, &[], "").0, 2);
    assert_eq!(run(&folder, &["unknown"], "").0, 2);
    let (code, help, _) = run(&folder, &["--help"], "");
    assert_eq!(code, 0);
    assert!(help.contains("--diff"), "{help}");
}
