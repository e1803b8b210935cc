use std::format;
use std::string::{String, ToString};

use proptest::prelude::*;
use serde_json::json;

use super::ToolKind::{Edit, Execute, Other, Paginate, Plan, Poll, Read, Search, Test};
use super::*;

fn read(name: &str, arguments: &serde_json::Value) -> CallFacts {
    CallFacts::read(name, &arguments.to_string(), None)
}

fn shell(command: &str) -> CallFacts {
    read("Bash", &json!({ "command": command }))
}

#[test]
fn names_tell_the_kind() {
    let cases = [
        ("Read", Read, false),
        ("Edit", Edit, true),
        ("mcp__linear__list_issues", Search, false),
        ("mcp__linear__create_issue", Edit, true),
        ("mcp_gw_report_progress", Plan, false),
        ("functions.update_plan", Plan, false),
        ("get_order_details", Read, false),
        ("search_direct_flight", Search, false),
        ("cancel_reservation", Edit, true),
        ("exchange_delivered_order_items", Edit, true),
        ("transfer_to_human_agents", Edit, true),
        ("calculate", Plan, false),
        ("think", Plan, false),
        ("click", Execute, false),
        ("click_element_by_index", Execute, false),
        ("scroll", Paginate, false),
        ("navigate", Read, false),
        ("input_text", Edit, true),
        ("web_search", Search, false),
        ("Lookup", Search, false),
        ("find_and_replace_code", Edit, true),
        ("get_job_status", Poll, false),
        ("check_network_status", Read, false),
        ("TaskOutput", Poll, false),
        ("wait", Poll, false),
        ("runTests", Test, false),
        ("todowrite", Plan, false),
        ("Task", Execute, true),
        ("frobnicate", Other, false),
        ("", Other, false),
    ];
    for (name, kind, changes) in cases {
        let facts = read(name, &json!({}));
        assert_eq!((facts.kind, facts.changes), (kind, changes), "{name}");
    }
}

#[test]
fn commands_are_looked_into() {
    let cases = [
        ("cat src/a.rs", Read, false),
        ("sed -n '10,20p' a.rs", Read, false),
        ("cd /x && nl -ba a.rs | sed -n '1,5p'", Read, false),
        ("git diff HEAD~1", Read, false),
        ("ls -la 2>/dev/null", Search, false),
        ("grep rm file", Search, false),
        ("grep -rn 'echo > x' . 2>&1 | head", Search, false),
        ("rg --files | wc -l", Search, false),
        ("find . -name '*.py' -type f", Search, false),
        ("find . -name '*.pyc' -delete", Edit, true),
        ("find . -type f -exec sed -i s/a/b/ {} +", Edit, true),
        ("which mvn || (cd /w && ls -la)", Search, false),
        ("[ -f x ] && test -d y", Search, false),
        ("echo hello", Other, false),
        ("echo x > f", Edit, true),
        ("echo 'a > b'", Other, false),
        ("cat > f <<'EOF'\nrm -rf /\nEOF", Edit, true),
        ("sed -i.bak 's/a/b/' f", Edit, true),
        ("sed 's/a/b/' f", Read, false),
        ("cat a | tee b", Edit, true),
        ("make 2>&1 | tee build.log", Execute, false),
        ("rm -rf build", Edit, true),
        ("git checkout -- a", Edit, true),
        ("git stash list", Search, false),
        ("pip install -e .", Edit, true),
        ("sudo apt-get install -y jq", Edit, true),
        ("npm ci", Edit, true),
        ("cargo add serde", Edit, true),
        ("curl -s http://x/api", Read, false),
        ("curl -X POST http://x/api -d '{}'", Edit, true),
        ("curl -s http://x/health", Poll, false),
        ("python -c \"print(1)\"", Execute, false),
        ("python -c \"open('f', 'w').write('x')\"", Execute, true),
        ("python - <<'EOF'\nprint(1)\nEOF", Execute, false),
        ("python script.py", Execute, false),
        ("python3.11 -m pytest -q", Test, false),
        ("pytest -q tests/x.py 2>&1 | tail -5", Test, false),
        ("cd a && FOO=1 timeout 60 cargo test -p x", Test, false),
        ("bash -lc 'go test ./...'", Test, false),
        ("npm run test:unit -- --grep x", Test, false),
        ("./gradlew :a:test --tests X", Test, false),
        ("mvn -q -Dtest=X test", Test, false),
        ("make check", Test, false),
        ("ctest --output-on-failure", Test, false),
        ("uv run pytest", Test, false),
        ("python manage.py test app", Test, false),
        ("pytest > out.txt", Test, false),
        ("sed -i s/a/b/ f && pytest", Test, true),
        ("cargo build", Execute, false),
        ("sleep 30", Poll, false),
        ("sleep 5; kubectl get pods", Poll, false),
        ("gh run view 5", Poll, false),
        ("tail -f server.log", Read, false),
        ("while true; do squeue; sleep 1; done", Poll, false),
        ("for f in a b; do rm $f; done", Edit, true),
        ("OUT=$(pytest -q); echo $OUT", Test, false),
        ("ls | xargs rm", Edit, true),
        ("docker exec box pytest -q", Test, false),
        ("./run.sh", Execute, false),
        ("```bash\nls\n```", Search, false),
        ("", Other, false),
    ];
    for (command, kind, changes) in cases {
        let facts = shell(command);
        assert_eq!((facts.kind, facts.changes), (kind, changes), "{command}");
        assert_eq!(facts.is_test, kind == Test, "{command}");
    }
}

#[test]
fn waiting_is_seen() {
    let cases = [
        ("Bash", json!({"command": "sleep 10 && cat out.txt"}), true),
        ("Bash", json!({"command": "tail -f server.log"}), true),
        ("Bash", json!({"command": "cat out.txt"}), false),
        ("write_stdin", json!({"session_id": 1, "chars": ""}), true),
        ("write_stdin", json!({"session_id": 1, "chars": "y\n"}), false),
        ("wait", json!({"seconds": 5}), true),
        ("Read", json!({"file_path": "a"}), false),
    ];
    for (name, arguments, polls) in cases {
        assert_eq!(read(name, &arguments).polls, polls, "{name} {arguments}");
    }
}

#[test]
fn ranges_are_read() {
    const END: u32 = u32::MAX;
    let cases = [
        ("Read", json!({"file_path": "a", "offset": 10, "limit": 5}), Some((10, 14))),
        ("Read", json!({"file_path": "a"}), None),
        ("read_file", json!({"file_path": "a", "start_line": 3, "end_line": 9}), Some((3, 9))),
        ("read_file", json!({"path": "a", "offset": "7"}), Some((7, END))),
        (
            "str_replace_editor",
            json!({"command": "view", "path": "a", "view_range": [4, -1]}),
            Some((4, END)),
        ),
        ("Bash", json!({"command": "sed -n '5,9p' a"}), Some((5, 9))),
        ("Bash", json!({"command": "sed -n 5p a"}), Some((5, 5))),
        ("Bash", json!({"command": "sed -n '5,$p' a"}), Some((5, END))),
        ("Bash", json!({"command": "awk 'NR>=5 && NR<=9' a"}), Some((5, 9))),
        ("Bash", json!({"command": "head -20 a"}), Some((1, 20))),
        ("Bash", json!({"command": "head -n 20 a"}), Some((1, 20))),
        ("Bash", json!({"command": "tail -n +7 a"}), Some((7, END))),
        ("Bash", json!({"command": "tail -5 a"}), Some((END - 5, END))),
        ("Bash", json!({"command": "cat a | head -30"}), Some((1, 30))),
        ("Bash", json!({"command": "cat a | head -n -1"}), None),
        ("Bash", json!({"command": "cat a"}), None),
    ];
    for (name, arguments, range) in cases {
        assert_eq!(read(name, &arguments).range, range, "{name} {arguments}");
    }
}

#[test]
fn the_same_file_is_the_same_resource() {
    let resource = |name: &str, arguments| read(name, &arguments).resource;
    let expected = resource("Read", json!({"file_path": "/r/src/a.rs"}));
    assert!(expected.is_some());
    let same = [
        ("read_file", json!({"path": "/r/src/a.rs"})),
        ("Bash", json!({"command": "cat /r/src/a.rs"})),
        ("Bash", json!({"command": "cd /r && sed -n '1,5p' src/a.rs"})),
        ("exec_command", json!({"cmd": "cat ./src/a.rs", "workdir": "/r"})),
        ("Edit", json!({"file_path": "/r/src/a.rs", "old_string": "a", "new_string": "b"})),
        ("Bash", json!({"command": "echo x >> /r/src/a.rs"})),
        ("Bash", json!({"command": "sed -i s/a/b/ /r/src/a.rs"})),
    ];
    for (name, arguments) in same {
        assert_eq!(resource(name, arguments.clone()), expected, "{name} {arguments}");
    }
    assert_ne!(resource("Read", json!({"file_path": "/r/src/b.rs"})), expected);
}

#[test]
fn look_ups_by_arguments_are_resources() {
    let one = read("get_order_details", &json!({"order_id": "#1"}));
    let other = read("get_order_details", &json!({"order_id": "#2"}));
    assert!(one.resource.is_some());
    assert_ne!(one.resource, other.resource);
    assert_eq!(read("cancel_order", &json!({"order_id": "#1"})).resource, None);
}

#[test]
fn edits_and_their_reverse_mirror_each_other() {
    let pairs = [
        (
            "Edit",
            json!({"file_path": "a", "old_string": "x", "new_string": "y"}),
            json!({"file_path": "a", "old_string": "y", "new_string": "x"}),
        ),
        (
            "str_replace_editor",
            json!({"command": "str_replace", "path": "a", "old_str": "x", "new_str": "y"}),
            json!({"command": "str_replace", "path": "a", "old_str": "y", "new_str": "x"}),
        ),
        (
            "replace",
            json!({"file_path": "a", "old_string": "x", "new_string": "y", "instruction": "1"}),
            json!({"file_path": "a", "old_string": "y", "new_string": "x", "instruction": "2"}),
        ),
        (
            "find_and_replace_code",
            json!({"raw": "file_path: a\nfind: x\nreplace: y"}),
            json!({"raw": "file_path: a\nfind: y\nreplace: x"}),
        ),
        (
            "apply_patch",
            json!({"input": "*** Begin Patch\n*** Update File: a\n-x\n+y\n*** End Patch"}),
            json!({"input": "*** Begin Patch\n*** Update File: a\n-y\n+x\n*** End Patch"}),
        ),
        ("Bash", json!({"command": "sed -i 's/x/y/' a"}), json!({"command": "sed -i 's/y/x/' a"})),
    ];
    for (name, forth, back) in pairs {
        let (forth, back) = (read(name, &forth), read(name, &back));
        let (forth, back) = (forth.edit.unwrap(), back.edit.unwrap());
        assert_eq!(forth.resource, back.resource, "{name}");
        assert_eq!((forth.old, forth.new), (back.new, back.old), "{name}");
        assert_ne!(forth.old, forth.new, "{name}");
    }
    let write = |content| read("Write", &json!({"file_path": "a", "content": content}));
    assert_eq!(write("x").edit.unwrap().old, 0);
    assert_ne!(write("x").edit, write("y").edit);
    let here = shell("cat > a <<'EOF'\nx\nEOF");
    assert_eq!(here.edit.unwrap().resource, write("x").resource.unwrap());
}

#[test]
fn a_free_form_patch_is_an_edit() {
    let patch = "*** Begin Patch\n*** Update File: src/a.rs\n@@\n-x\n+y\n*** End Patch";
    let facts = CallFacts::read("apply_patch", patch, None);
    assert_eq!((facts.kind, facts.changes), (Edit, true));
    assert_eq!(facts.resource, read("Read", &json!({"path": "src/a.rs"})).resource);
}

#[test]
fn wrappers_are_unwrapped() {
    let cases = [
        ("tool_call", json!({"name": "read_file", "arguments": {"path": "a"}}), Read),
        ("tool_call", json!({"name": "read_file", "arguments": "{\"path\":\"a\"}"}), Read),
        ("mcp_call", json!({"tool_name": "arxiv_search", "arguments": {"query": "x"}}), Search),
        ("shell", json!({"command": ["bash", "-lc", "cat a && sed -n 1p a"]}), Read),
        ("shell", json!({"command": ["git", "commit", "-m", "a b"]}), Edit),
        ("run_commands", json!({"commands": ["ls", "pytest -q"]}), Test),
        ("computer", json!({"action": "left_click", "coordinate": [1, 2]}), Execute),
        ("computer", json!({"action": "screenshot"}), Read),
        ("go", json!({"command": "go to shelf 8"}), Read),
        ("python", json!({"command": "python x.py"}), Execute),
        ("sql", json!({"command": "SELECT 1"}), Search),
        ("sql", json!({"command": "DROP TABLE x"}), Edit),
    ];
    for (name, arguments, kind) in cases {
        assert_eq!(read(name, &arguments).kind, kind, "{name} {arguments}");
    }
    let script = "const r = await tools.exec_command({cmd: \"cargo test\", yield_time_ms: 5});";
    let facts = CallFacts::read("functions.exec", script, None);
    assert_eq!((facts.kind, facts.is_test), (Test, true));
}

#[test]
fn signatures_see_through_form() {
    let cases = [
        ("Read", r#"{"file_path":"a","limit":1}"#, r#"{ "limit": 1.0, "file_path": "a" }"#, true),
        ("Read", r#"{"file_path":"a","limit":1}"#, r#"{"file_path":"a","limit":2}"#, false),
        ("Read", r#"{"file_path":"a","pages":null}"#, r#"{"file_path":"a"}"#, true),
        (
            "Bash",
            r#"{"command":"ls","description":"List","timeout":5}"#,
            r#"{"command":" ls ","description":"Show files"}"#,
            true,
        ),
        ("Bash", r#"{"command":"ls -l"}"#, r#"{"command":"ls"}"#, false),
        ("create_issue", r#"{"description":"a"}"#, r#"{"description":"b"}"#, false),
        ("think", r#"{"thought":"a"}"#, r#"{"thought":"b"}"#, false),
        ("t", r#"{"a":{"x":1,"y":[1,2]}}"#, r#"{"a":{"y":[1,2],"x":1}}"#, true),
        ("t", r#"{"a":[1,2]}"#, r#"{"a":[2,1]}"#, false),
        ("t", r#"{"a":1,"b":2}"#, r#"{"a":2,"b":1}"#, false),
        ("t", "free  text", "free text", true),
        ("t", r#"{"a": broken"#, r#"{"a": broken"#, true),
        ("t", r#"{"a": broken"#, r#"{"b": broken"#, false),
        ("t", "", "{}", true),
    ];
    for (name, a, b, equal) in cases {
        let (one, two) = (CallFacts::read(name, a, None), CallFacts::read(name, b, None));
        assert_eq!(one.signature == two.signature, equal, "{a} against {b}");
    }
    assert_ne!(read("a", &json!({})).signature, read("b", &json!({})).signature);
    assert_eq!(read("Read", &json!({})).signature, read("read", &json!({})).signature);
}

#[test]
fn long_arguments_that_differ_only_at_the_end_stay_distinct() {
    let long = |end: &str| {
        let body = "x".repeat(200_000);
        CallFacts::read("t", &format!("{{\"a\":\"{body}{end}\"}}"), None).signature
    };
    assert_eq!(long("1"), long("1"));
    assert_ne!(long("1"), long("2"));
}

#[test]
fn declared_kinds_come_first() {
    let cases = [
        ("frobnicate", Search, Search, false),
        ("frobnicate", Edit, Edit, true),
        ("frobnicate", Execute, Execute, true),
        ("get_x", Poll, Poll, false),
        ("delete_x", Read, Read, false),
    ];
    for (name, declared, kind, changes) in cases {
        let facts = CallFacts::read(name, "{}", Some(declared));
        assert_eq!((facts.kind, facts.changes), (kind, changes), "{name} as {declared:?}");
    }
    let run = |command: &str| {
        CallFacts::read("Bash", &json!({"command": command}).to_string(), Some(Execute)).changes
    };
    assert!(run("rm a") && !run("ls"));
}

#[test]
fn labels_are_short_lines() {
    let cases = [
        ("Bash", json!({"command": "pytest  -q\n tests/x.py"}), "Bash: pytest -q tests/x.py"),
        ("mcp__db__read_table", json!({"table": "t"}), "read_table: t"),
        ("Read", json!({"file_path": "/a/b.rs"}), "Read: /a/b.rs"),
        ("scroll", json!({"down": true}), "scroll"),
    ];
    for (name, arguments, label) in cases {
        assert_eq!(read(name, &arguments).label, label);
    }
}

#[test]
fn ends_of_runs_are_seen() {
    let cases = [
        ("Bash", json!({"command": "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"}), true),
        ("final_answer", json!({"answer": "42"}), true),
        ("done", json!({"text": "x", "success": true}), true),
        ("Finish", json!({"input": "x"}), true),
        ("Bash", json!({"command": "ls"}), false),
    ];
    for (name, arguments, finishes) in cases {
        assert_eq!(read(name, &arguments).finishes, finishes, "{name}");
    }
}

fn any_json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        any::<i32>().prop_map(|n| json!(n)),
        any::<bool>().prop_map(|b| json!(b)),
        "[ -~]{0,12}".prop_map(|s| json!(s)),
    ];
    let key = prop_oneof!["[a-c]", Just("command".to_string()), Just("path".to_string())];
    leaf.prop_recursive(3, 16, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::from),
            prop::collection::btree_map(key.clone(), inner, 0..4)
                .prop_map(|map| serde_json::Value::from(serde_json::Map::from_iter(map))),
        ]
    })
}

/// Writes a value with its keys in reverse and blanks between tokens.
fn reversed(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::Object(map) => {
            let entries = map.iter().rev().map(|(k, v)| format!("{} : {}", json!(k), reversed(v)));
            format!("{{ {} }}", entries.collect::<std::vec::Vec<_>>().join(" , "))
        }
        serde_json::Value::Array(items) => {
            let items = items.iter().map(reversed);
            format!("[ {} ]", items.collect::<std::vec::Vec<_>>().join(" , "))
        }
        other => other.to_string(),
    }
}

proptest! {
    #[test]
    fn no_input_panics(name in ".{0,20}", text in ".{0,200}") {
        let facts = CallFacts::read(&name, &text, None);
        prop_assert!(facts.label.len() <= CallFacts::LABEL_MAX);
        let _ = CallFacts::read("functions.exec", &text, None);
        let _ = CallFacts::read("apply_patch", &text, None);
    }

    #[test]
    fn no_command_panics(text in r#"([a-z ]|[<>|&;()$'"`\\#\n=-]|EOF|sed -n|é){0,60}"#) {
        let facts = shell(&text);
        prop_assert!(facts.label.len() <= CallFacts::LABEL_MAX);
        let _ = CallFacts::read("bash", &text, None);
    }

    #[test]
    fn layout_of_json_is_irrelevant(map in prop::collection::btree_map("[a-c]|command|path|description", any_json(), 0..4)) {
        let value = serde_json::Value::from(serde_json::Map::from_iter(map));
        let one = CallFacts::read("t", &value.to_string(), None);
        let two = CallFacts::read("t", &reversed(&value), None);
        prop_assert_eq!(one.signature, two.signature);
    }
}
