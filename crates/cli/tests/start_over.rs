//! Starting over in a repository as people leave them: what is the user's is as it was.

#![allow(clippy::unwrap_used, reason = "a test that cannot set up its case must fail")]

mod command;
#[path = "../../workspace/tests/support/mod.rs"]
mod support;

use std::fs;

use command::run_in;
use serde_json::{Value, json};
use steersman_scripted_server::{Reply, ScriptedServer};
use support::{Place, fingerprint, git_in, try_git_in, users_state};

/// A repository in the middle of a merge, with something of every kind in it.
fn left_as_people_do() -> Option<(Place, Place)> {
    let place = Place::with_git()?;
    let other = Place::with_git()?;
    place.git(&["submodule", "add", "-q", other.root.to_str()?, "module"]);
    place.git(&["commit", "-qm", "module"]);
    place.git(&["checkout", "-q", "-b", "other"]);
    place.write("src/lib.rs", "theirs\n");
    place.git(&["commit", "-qam", "theirs"]);
    place.git(&["checkout", "-q", "main"]);
    place.write("src/lib.rs", "ours\n");
    place.git(&["commit", "-qam", "ours"]);
    place.write("stashed.txt", "stashed\n");
    place.git(&["add", "stashed.txt"]);
    place.git(&["stash", "-q"]);
    assert!(!try_git_in(&place.root, &["merge", "other"]).0);
    place.write("staged.txt", "staged\n");
    place.git(&["add", "staged.txt"]);
    place.write("staged.txt", "staged, then changed\n");
    place.write("untracked.txt", "untracked\n");
    place.write("target/out", "built\n");
    place.write(".env", "SECRET=1\n");
    fs::create_dir_all(place.path("empty/folder")).unwrap();
    place.write("module/src/lib.rs", "changed in the module\n");
    place.link("/etc/passwd", "outside");
    place.link("../../..", "upwards");
    place.write("unreadable.txt", "nobody reads this\n");
    place.mode("unreadable.txt", 0o000);
    Some((place, other))
}

fn write(path: &str) -> Reply {
    Reply::call("write", json!({"path": path, "content": "the agent's\n"}).to_string())
}

/// An agent that spoils what it can reach, starts over, and then changes nothing.
fn script() -> Vec<Reply> {
    let spoil = "rm -f untracked.txt script.sh; mkdir -p made/deep; echo x > made/deep/file; \
                 echo more >> staged.txt; chmod 600 crlf.txt; rm -rf empty; echo n > src/new.rs";
    let over = json!({"reason": "wrong way", "tried": "spoiling files", "next": "nothing at all"});
    vec![
        write("wrong.txt"),
        write("src/lib.rs")
            .and_call("write", json!({"path": "module/src/lib.rs", "content": "x"}).to_string()),
        // Links out of the tree lead nowhere.
        write("outside")
            .and_call("write", json!({"path": "upwards/x", "content": "x"}).to_string()),
        Reply::call("shell", json!({"command": spoil}).to_string()),
        Reply::call("start_over", over.to_string()),
        Reply::call("run_check", "{}"),
        Reply::call("finish", json!({"summary": "The wrong file is gone."}).to_string()),
    ]
}

fn entries<'a>(journal: &'a [Value], kind: &str) -> Vec<&'a Value> {
    journal.iter().map(|line| &line["entry"]).filter(|entry| entry["entry"] == kind).collect()
}

#[test]
fn what_is_the_users_is_as_it_was() {
    let Some((place, _other)) = left_as_people_do() else { return };
    let folder = place.private.clone();
    fs::create_dir_all(&folder).unwrap();
    let before = (fingerprint(&place.root, &[".git"]), users_state(&place.root));
    let module = users_state(&place.path("module"));
    let stash = place.git(&["stash", "list"]);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let server = runtime.block_on(ScriptedServer::start(script())).unwrap();
    let state = folder.join("state");
    let state = state.to_str().unwrap();
    let url = server.base_url();
    let args =
        ["Remove the wrong file", "--model", "m", "--provider", "openai", "--base-url", &url];
    let check = ["--check", "test ! -e wrong.txt", "--approve", "auto", "--state", state, "--json"];
    let done = run_in(&place.root, "run", &[&args[..], &check[..]].concat());
    assert_eq!(done.code, Some(0), "{}{}", done.out, done.err);
    let journal: Vec<Value> =
        done.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(entries(&journal, "started_over").len(), 1, "{}", done.out);
    assert_eq!(entries(&journal, "ended")[0]["ending"], "complete");
    let spoiled: Vec<_> = entries(&journal, "tool_finished")
        .iter()
        .map(|entry| entry["is_error"].as_bool().unwrap())
        .collect();
    // Only what leads out of the tree is refused.
    assert_eq!(spoiled[..6], [false, false, false, true, true, false], "{}", done.out);
    assert_eq!(fingerprint(&place.root, &[".git"]), before.0);
    assert_eq!(users_state(&place.root), before.1);
    assert_eq!(users_state(&place.path("module")), module);
    assert_eq!(place.git(&["stash", "list"]), stash);
    assert!(place.path(".git/MERGE_HEAD").exists());
    let (sound, said) = try_git_in(&place.root, &["fsck", "--full"]);
    assert!(sound, "{said}");
    assert!(git_in(&place.root, &["for-each-ref", "refs/steersman"]).contains("refs/steersman/"));
}
