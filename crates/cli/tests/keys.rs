//! `steersman keys` as a user runs it.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot set up its case must fail"
)]

mod command;

use std::fs;
use std::path::Path;

use command::{Done, run_in, scratch};
use serde_json::Value;

/// Runs the verb on the keys of a folder.
fn keys(folder: &Path, args: &[&str]) -> Done {
    let mut all = args.to_vec();
    all.extend(["--state", "state"]);
    run_in(folder, "keys", &all)
}

/// The text with every digit as `9`, and keys as their beginning.
fn shape(text: &str) -> String {
    let digits = |c: char| if c.is_ascii_digit() { '9' } else { c };
    let lines = text.lines().map(|line| match line.strip_prefix("sk-steersman-") {
        Some(key) => format!("sk-steersman-({} digits)", key.len()),
        None => line.chars().map(digits).collect(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// What programs are told of these keys.
fn check_json(told: &str) {
    let lines: Vec<Value> = told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["standing"], "revoked");
    let budgets = serde_json::json!({
        "per_day": {"cost_nanodollars": 2_500_000_000_u64, "calls": 7},
        "in_all": {"tokens": 1000},
    });
    assert_eq!(lines[0]["grant"]["budgets"], budgets);
    assert_eq!(lines[1]["grant"]["models"], serde_json::json!(["claude-*", "small"]));
    assert_eq!((&lines[2]["key"], &lines[2]["expires_ms"]), (&"alice".into(), &Value::Null));
}

#[test]
fn keys_are_made_listed_and_revoked() {
    let folder = scratch("keys-story");
    let check = |args: &[&str], code: i32, out: &str, err: &str| {
        let done = keys(&folder, args);
        let found = (done.code, shape(&done.out), shape(&done.err));
        assert_eq!(found, (Some(code), out.to_owned(), err.to_owned()), "{args:?}");
    };
    check(&["list"], 0, "", "no keys in state/sessions.db");
    let key = "sk-steersman-(64 digits)";
    check(
        &["create", "alice"],
        0,
        key,
        "The key `alice` holds until it is revoked: all models.\n\
         It is shown this once; state/sessions.db keeps its hash. Clients send it in the place of \
         their API key.",
    );
    check(
        &["create", "ci", "--models", "claude-*, small", "--expires", "30d", "--any-path"],
        0,
        key,
        "The key `ci` holds until 9999-99-99 99:99:99 UTC: claude-*, small, any path.\n\
         It is shown this once; state/sessions.db keeps its hash. Clients send it in the place of \
         their API key.",
    );
    check(
        &["revoke", "ci"],
        0,
        "",
        "The key `ci` is revoked; a gateway that runs knows within a second.",
    );
    check(
        &["create", "bob", "--cost-per-day", "2.50", "--tokens", "1000", "--calls-per-day", "7"],
        0,
        key,
        "The key `bob` holds until it is revoked: all models, $9.99 a day, 9 calls a day, \
         9999 tokens in all.\n\
         It is shown this once; state/sessions.db keeps its hash. Clients send it in the place of \
         their API key.",
    );
    check(
        &["revoke", "bob"],
        0,
        "",
        "The key `bob` is revoked; a gateway that runs knows within a second.",
    );
    check(&["revoke", "ci"], 0, "", "The key `ci` was revoked already: 9999-99-99 99:99:99 UTC.");
    check(
        &["list"],
        0,
        "key    standing  made (UTC)           until (UTC)          for\n\
         bob    revoked   9999-99-99 99:99:99  9999-99-99 99:99:99  all models, $9.99 a day, 9 calls a day, 9999 tokens in all\n\
         ci     revoked   9999-99-99 99:99:99  9999-99-99 99:99:99  claude-*, small, any path\n\
         alice  holds     9999-99-99 99:99:99                       all models",
        "",
    );
    check_json(&keys(&folder, &["list", "--json"]).out);
    check(
        &["create", "ci"],
        1,
        "",
        "error: a key called `ci` exists already; names are not used twice, revoked keys' neither",
    );
    check(&["revoke", "eve"], 1, "", "error: no key is called `eve` in state/sessions.db");
}

#[test]
fn what_is_wrong_is_told_and_nothing_is_made() {
    let folder = scratch("keys-wrong");
    for (args, code, message) in [
        (["create", "a b", "--models", "m"], 1, "1 to 64 letters, digits, `-`, `.`, `_`"),
        (["create", "a", "--models", ""], 2, "the name of a model has 1 to 200 bytes"),
        (["create", "a", "--cost", "0"], 2, "a limit is more than 0"),
        (["create", "a", "--expires", "soon"], 2, "allowed are 90m, 12h, 30d, 8w, or a day"),
        (["create", "a", "--expires", "2001-01-01"], 1, "is over already"),
        (["revoke", "a", "--state", "none"], 1, "none/sessions.db does not exist"),
    ] {
        let mut args = args.to_vec();
        if args[0] == "create" {
            args.extend(["--state", "state"]);
        }
        let done = run_in(&folder, "keys", &args);
        assert_eq!(done.code, Some(code), "{args:?}: {}", done.err);
        assert!(done.err.contains(message), "{args:?}: {}", done.err);
        assert_eq!(done.out, "", "{args:?}");
    }
    assert_eq!(keys(&folder, &["list"]).out, "");
}

#[test]
fn keys_lie_where_the_gateway_of_the_folder_looks() {
    let folder = scratch("keys-folder");
    fs::write(folder.join("gateway.yaml"), "state_dir: here\nkeys: required\n").unwrap();
    let done = run_in(&folder, "keys", &["create", "alice"]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert!(done.err.contains("here/sessions.db keeps its hash"), "{}", done.err);
    let secret = done.out.trim();
    for entry in fs::read_dir(folder.join("here")).unwrap() {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
        assert!(!found, "the key itself is on the disk");
    }
    fs::write(folder.join("gateway.yaml"), "keys: on\n").unwrap();
    let done = run_in(&folder, "keys", &["list"]);
    assert_eq!(done.code, Some(1));
    assert!(done.err.contains("gateway.yaml:1:7: error: keys:"), "{}", done.err);
}
