//! `steersman prompt` and `steersman agents` as a user runs them.
#![expect(clippy::unwrap_used, reason = "a test that cannot set up its files must fail")]

mod command;

use std::fs;
use std::path::{Path, PathBuf};

use command::{Done, run_in, scratch};
use serde_json::Value;

/// A folder of its own, the root of a repository.
fn folder(name: &str) -> PathBuf {
    let folder = scratch(name);
    fs::create_dir_all(folder.join(".git")).unwrap();
    folder
}

fn write(folder: &Path, file: &str, text: &str) {
    let path = folder.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Compares exit code, stdout and stderr.
fn check(folder: &Path, verb: &str, args: &[&str], expected: (i32, &str, &str)) {
    let Done { code, out, err } = run_in(folder, verb, args);
    assert_eq!((code.unwrap(), out.as_str(), err.as_str()), expected, "{verb} {args:?}");
}

#[test]
fn a_prompt_is_shown() {
    let folder = folder("prompt-show");
    write(
        &folder,
        ".steersman/prompts/agents/me.prompt.md",
        "I am {{{agent}}} in {{{workspace}}}.",
    );
    write(&folder, ".steersman/prompts/shared/core.md", "Core.");
    write(&folder, ".steersman/prompts/shared/extra.md", "---\nenabled: false\n---\nExtra.");
    write(
        &folder,
        "agents.yaml",
        "agents:\n  me:\n    features: {continuation_protocol: false, output_format: false}\n    \
         tools: {allow: [finish]}\n",
    );
    let plain = "I am me in the current folder.\n\nCore.\n";
    check(&folder, "prompt", &["show", "me", "--no-tools"], (0, plain, ""));
    check(&folder, "prompt", &["show", "--no-tools"], (0, plain, ""));
    let args =
        ["show", "me", "--no-tools", "--feature", "extra", "--param", "workspace={{{agent}}}"];
    check(&folder, "prompt", &args, (0, "I am me in {{{agent}}}.\n\nCore.\n\nExtra.\n", ""));
    let args = ["show", "me", "--no-tools", "--no-shared"];
    check(&folder, "prompt", &args, (0, "I am me in the current folder.\n", ""));
    let Done { out, .. } = run_in(&folder, "prompt", &["show"]);
    assert!(out.contains("## Using tools") && out.contains("### finish"), "{out}");
    assert!(!out.contains("### shell"), "{out}");
    let args = ["show", "--task", "make the tests pass", "--model", "gpt-4o", "--json"];
    let Done { out, err, .. } = run_in(&folder, "prompt", &args);
    let shown: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(shown["template"], "fix_failing_tests");
    assert_eq!(shown["profile"]["tool_calls"], "multi");
    assert_eq!(shown["bytes"], shown["prompt"].as_str().unwrap().len());
    assert!(err.starts_with("note: template fix_failing_tests: the task says "), "{err}");
    let unknown = "error: no feature `extr`; did you mean `extra`? There are \
                   continuation_protocol, core, extra, mailbox_protocol, output_format, \
                   tool_guidelines\n";
    check(&folder, "prompt", &["show", "--feature", "extr"], (2, "", unknown));
    let unknown = "error: no agent `you`; there are me\n";
    check(&folder, "prompt", &["show", "you"], (2, "", unknown));
    let off = "error: the feature `core` is always on; `include_shared` leaves out all shared \
               parts\n";
    check(&folder, "prompt", &["show", "--no-feature", "core"], (2, "", off));
    let unknown = "error: no parameter `x`; there are agent, agents, batch, check, workspace\n";
    check(&folder, "prompt", &["show", "--param", "x=1"], (2, "", unknown));
}

#[test]
fn prompts_are_listed() {
    let folder = folder("prompt-list");
    write(&folder, ".steersman/prompts/shared/rules.md", "---\ntitle: Our rules\n---\nx");
    let Done { code, out, err } = run_in(&folder, "prompt", &["list"]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    for expected in [
        "agents\n  coder                     built-in  Coder, works on code until the check passes\n",
        "  rules                     project   Our rules\n",
        "  mailbox_protocol          built-in  Mail between agents (off)\n",
        "templates\n  fix_failing_tests         built-in  Make failing tests pass\n",
    ] {
        assert!(out.contains(expected), "{expected}\n{out}");
    }
    let Done { out, .. } = run_in(&folder, "prompt", &["list", "--json"]);
    let files: Value = serde_json::from_str(&out).unwrap();
    let rules = files.as_array().unwrap().iter().find(|file| file["name"] == "rules").unwrap();
    let path = folder.join(".steersman/prompts/shared/rules.md");
    assert_eq!(rules["path"], path.to_str().unwrap());
}

#[test]
fn agents_are_listed_and_checked() {
    let folder = folder("agents");
    let built_in = "* coder     works on code until the check passes; may hand over to reviewer, \
                    explorer\n  explorer  answers questions about code and changes nothing; may \
                    hand over to coder\n  reviewer  judges a change and changes no files; may \
                    hand over to coder\n";
    check(&folder, "agents", &["list"], (0, built_in, ""));
    let note = "note: no agents.yaml here: the built-in agents hold\n";
    check(&folder, "agents", &["check"], (0, "", note));
    write(&folder, ".steersman/agents.yaml", "agents: {coder: {check: make test}}\n");
    check(&folder, "agents", &["check"], (0, ".steersman/agents.yaml: ok\n", ""));
    let Done { out, .. } = run_in(&folder, "agents", &["list", "--json"]);
    let listed: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(listed["agents"][0]["check"]["command"], "make test");
    write(&folder, "bad.yaml", "agents: {coder: {prompt: codr, tool: {}}}\n");
    let Done { code, err, .. } = run_in(&folder, "agents", &["check", "bad.yaml"]);
    assert_eq!(code, Some(1));
    assert!(err.starts_with("bad.yaml:1:32: error: agents.coder.tool: unknown key\n"), "{err}");
    assert!(err.contains("did you mean `tools`?"), "{err}");
    let Done { code, err, .. } = run_in(&folder, "agents", &["check", "none.yaml"]);
    assert_eq!(code, Some(2));
    assert!(err.starts_with("none.yaml: error: cannot read it: "), "{err}");
    let Done { out, .. } = run_in(&folder, "agents", &["schema"]);
    assert_eq!(out, steersman_prompt::agents_schema_text());
}
