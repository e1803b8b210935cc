//! Tests over files: bad ones and their messages, older formats, generated files.

mod generated;
mod properties;

use std::fs;
use std::path::{Path, PathBuf};

use steersman_engine::Policy;

use crate::{LoadError, MAX_BYTES, parse, parse_bytes, resolve, to_yaml_over, with_overrides};

/// The folder of a crate's test files.
fn testdata(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(folder)
}

/// The policy files of a folder, in order: name and text.
fn files(folder: &str) -> Vec<(String, String)> {
    let mut paths: Vec<_> = fs::read_dir(testdata(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "yaml"))
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "no files in {folder}");
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    paths.iter().map(|path| (name(path), fs::read_to_string(path).unwrap())).collect()
}

/// Compares with a committed file; `UPDATE_GOLDEN=1` writes it instead.
fn check_golden(path: &Path, found: &str) {
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(path, found).unwrap();
    }
    let expected = fs::read_to_string(path).unwrap_or_default();
    assert!(
        expected == found,
        "{} is stale: UPDATE_GOLDEN=1 writes it anew; found:\n{found}",
        path.display()
    );
}

#[test]
fn bad_files_are_refused_with_these_messages() {
    for folder in ["text", "structure", "bounds"] {
        for (name, text) in files(folder) {
            let error = parse(&name, &text).expect_err(&name);
            assert!(!error.findings().is_empty(), "{name}");
            let lines: Vec<_> = error.findings().iter().map(crate::Finding::line).collect();
            assert!(lines.is_sorted(), "{name}: {lines:?}");
            check_golden(
                &testdata(folder).join(&name).with_extension("txt"),
                &format!("{error}\n"),
            );
        }
    }
}

#[test]
fn older_formats_are_read_with_these_notices() {
    for (name, text) in files("former") {
        let path = testdata("former").join(&name).with_extension("txt");
        let found = match parse(&name, &text) {
            Ok(loaded) => {
                assert!(!loaded.notices.is_empty(), "{name}");
                let notices: Vec<_> = loaded.notices.iter().map(ToString::to_string).collect();
                let difference = to_yaml_over(&loaded.policy, loaded.base).unwrap();
                format!("{}\n\n----\n{difference}", notices.join("\n\n"))
            }
            Err(error) => format!("{error}\n"),
        };
        check_golden(&path, &found);
    }
}

/// Text of a policy file, and what it must equal.
fn check(text: &str, expected: &Policy) {
    let loaded = parse("test.yaml", text).unwrap_or_else(|error| panic!("{text}\n{error}"));
    assert_eq!(loaded.policy, *expected, "{text}");
}

#[test]
fn keys_are_laid_over_the_base() {
    let of = |name: &str| Policy::built_in(name).unwrap();
    let with = |name: &str, change: fn(&mut Policy)| {
        let mut policy = of(name);
        change(&mut policy);
        policy
    };
    check("", &of("default"));
    check("# nothing but a comment\n", &of("default"));
    check("---\n...\n", &of("default"));
    check("\u{feff}mode: act\n", &of("default"));
    for name in Policy::BUILT_IN {
        check(&format!("base: {name}"), &of(name));
        check(&format!("base: \"{name}\"\nloops:\ntools: ~\n"), &of(name));
    }
    check("{loops: {cycle: {notice: 2}}}", &with("default", |p| p.loops.cycle.notice = 2));
    check(
        "base: classic\r\nloops:\r\n  cycle:\r\n    end: null\r\n",
        &with("classic", |p| p.loops.cycle.end = None),
    );
    // Lists replace, tables merge, null takes an entry out.
    check(
        "base: classic\ntests: {reevaluate_at: [7]}",
        &with("classic", |p| p.tests.reevaluate_at = vec![7]),
    );
    check(
        "base: classic\nmodel_overrides: {deepseek*: {continuation_patience: 9}}",
        &with("classic", |p| {
            p.model_overrides.get_mut("deepseek*").unwrap().continuation_patience = 9;
        }),
    );
    check(
        "base: classic\nmodel_overrides: {deepseek*: null}",
        &with("classic", |p| {
            p.model_overrides.remove("deepseek*");
        }),
    );
    check(
        "model_overrides: {\"qwen*\": {}}",
        &with("default", |p| {
            p.model_overrides.insert("qwen*".into(), Default::default());
        }),
    );
    check(
        "texts: {stop: [one, 'two']}\nname: \"7\"",
        &with("default", |p| {
            p.texts.insert("stop".into(), vec!["one".into(), "two".into()]);
            p.name = "7".into();
        }),
    );
}

#[test]
fn a_preset_sets_its_numbers_and_keys_beside_it_come_on_top() {
    let mut expected = Policy::built_in("lenient").unwrap();
    expected.name = "default".into();
    check("tests: {preset: lenient}", &expected);
    expected.tests.stuck_after = 9;
    check("tests:\n  stuck_after: 9\n  preset: lenient\n", &expected);
    let classic = Policy::classic().with_preset(steersman_engine::policy::Preset::Aggressive);
    check(
        "base: classic\ntests: {preset: aggressive}",
        &Policy { name: "classic".into(), ..classic },
    );
}

#[test]
fn the_built_in_policies_are_resolved_by_name() {
    for name in Policy::BUILT_IN {
        let loaded = resolve(name).unwrap();
        assert_eq!((loaded.policy, loaded.base), (Policy::built_in(name).unwrap(), *name));
    }
    let error = resolve("clasic").unwrap_err();
    assert!(matches!(error, LoadError::Unknown(_)));
    assert_eq!(
        error.to_string(),
        "clasic: error: neither a file nor a built-in policy\n  = help: did you mean `classic`?\n  \
         = help: built-in policies: default, classic, aggressive, standard, lenient"
    );
}

#[test]
fn what_is_no_text_is_refused() {
    let cases: [(&[u8], &str); 4] = [
        (b"mode: act\nname: \xff\n", "x: error: not UTF-8: byte 0xff in line 2"),
        (b"\xff\xfem\0o\0d\0e\0", "x: error: not UTF-8: byte 0xff in line 1"),
        (b"name: \xe2\x82", "x: error: not UTF-8: byte 0xe2 in line 1"),
        (&vec![b'#'; MAX_BYTES + 1], "x: error: larger than 1048576 bytes: a policy is not"),
    ];
    for (bytes, expected) in cases {
        assert_eq!(parse_bytes("x", bytes).unwrap_err().to_string(), expected);
    }
    let largest = "#".repeat(MAX_BYTES);
    assert_eq!(parse("x", &largest).unwrap().policy, Policy::default());
    assert!(parse("x", &(largest + "#")).is_err());
}

/// Keys set over `default`: the path and value that come out, or the message.
fn check_sets(sets: &[(&str, &str)], expected: Result<(&str, &str), &str>) {
    let found = with_overrides(Policy::default(), sets);
    match (found, expected) {
        (Ok(policy), Ok((path, value))) => {
            let json = serde_json::to_value(&policy).unwrap();
            assert_eq!(json.pointer(path).unwrap().to_string(), value, "{sets:?}");
        }
        (Err(error), Err(message)) => assert_eq!(error.to_string(), message, "{sets:?}"),
        (found, _) => panic!("{sets:?}: {found:?}"),
    }
}

#[test]
fn single_keys_are_set() {
    let patience = "model_overrides.\"gpt-4.1*\".continuation_patience";
    check_sets(&[("loops.cycle.notice", "2")], Ok(("/loops/cycle/notice", "2")));
    check_sets(&[(patience, "7")], Ok(("/model_overrides/gpt-4.1*/continuation_patience", "7")));
    check_sets(
        &[("model_overrides.gpt-*.continuation_patience", "7")],
        Ok(("/model_overrides/gpt-*/continuation_patience", "7")),
    );
    check_sets(&[("tests.reevaluate_at", "[3, 9]")], Ok(("/tests/reevaluate_at", "[3,9]")));
    check_sets(&[("tests.preset", "aggressive")], Ok(("/tests/stuck_after", "2")));
    check_sets(&[("loops.cycle", "{notice: 2, urge: 9, end: 9}")], Ok(("/loops/cycle/end", "9")));
    check_sets(&[("limits.max_turns", "null")], Ok(("/limits/max_turns", "null")));
    check_sets(&[("mode", "act"), ("mode", "shadow")], Ok(("/mode", "\"shadow\"")));
    // Only together are they in order.
    check_sets(
        &[("loops.narration.notice", "20"), ("loops.narration", "{urge: 20, end: null}")],
        Ok(("/loops/narration/urge", "20")),
    );
    check_sets(
        &[("loops.cycle.notice", "9")],
        Err("--set loops.cycle.notice=9: error: loops.cycle.notice: with this value, \
             loops.cycle.urge: 4 is not allowed: at least notice (9)\n  |\n  | \
             loops.cycle.notice=9\n  |                    ^"),
    );
    check_sets(
        &[("loops.cycle.notise", "1"), ("mode", "'act")],
        Err("--set loops.cycle.notise=1: error: loops.cycle.notise: unknown key\n  |\n  | \
             loops.cycle.notise=1\n  | ^^^^^^^^^^^^^^^^^^\n  = help: did you mean `notice`?\n  \
             = help: allowed in `loops.cycle`: `notice`, `urge`, `end`\n\n\
             --set mode='act: error: not YAML: unclosed quote\n  |\n  | mode='act\n  |      ^"),
    );
    check_sets(
        &[("loops..notice", "1")],
        Err("--set loops..notice=1: error: not a path of a key\n  |\n  | loops..notice=1\n  | \
             ^^^^^^^^^^^^^\n  = help: for example loops.cycle.notice=5"),
    );
    check_sets(
        &[("base", "classic")],
        Err("--set base=classic: error: base: cannot be set over a policy\n  |\n  \
             | base=classic\n  | ^^^^\n  = help: name the policy to start from instead"),
    );
    check_sets(
        &[(&["a"; 40].join("."), "1")],
        Err(&format!(
            "--set {path}=1: error: not a path of a key\n  |\n  | {path}=1\n  | {}\n  = help: for \
             example loops.cycle.notice=5",
            "^".repeat(79),
            path = ["a"; 40].join("."),
        )),
    );
}
