//! `steersman probe` as a user meets it: table, JSON, exit codes, what is refused.

#![allow(clippy::unwrap_used, reason = "a test that cannot set up its case must fail")]

mod command;

use std::fs;
use std::process::{Command, Stdio};

use command::{Done, command, scratch};
use serde_json::Value;
use steersman_prompt::{Registry, ToolCalls};
use steersman_scripted_server::{Reply, ScriptedServer};

const KEY: &str = "very-secret-key";
const NUMBERS: &str = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25";
const OBJECT: &str = r#"{"thought": "I ask.", "tool": "get_weather", "with": {"city": "Oslo"}}"#;

fn call() -> Reply {
    Reply::call("get_weather", r#"{"city": "Oslo"}"#)
}

fn json(body: &str) -> Reply {
    Reply::raw("application/json", body)
}

fn missing() -> Reply {
    Reply { text: "Not Found".into(), ..Reply::status(404) }
}

/// A server that speaks Chat Completions and can do everything.
fn able() -> Vec<Reply> {
    let length = Reply { usage: (31, 16), ..Reply::text("1 2 3 4 5 6 7 8").stop("length") };
    vec![
        Reply::text("pelican"),
        missing(),
        missing(),
        missing(),
        json(r#"{"data": [{"id": "able", "max_model_len": 32768}, {"id": "other"}]}"#),
        Reply { text: "the model does not exist".into(), ..Reply::status(404) },
        length,
        Reply::text(NUMBERS),
        call(),
        Reply::text("It is -3 °C and it snows."),
        call(),
        call().and_call("get_weather", r#"{"city": "Lima"}"#),
        call().and_call("get_weather", r#"{"city": "Lima"}"#),
        Reply::text("I cannot look."),
        call(),
        Reply::text(r#"{"animal": "spider", "legs": 8}"#),
        Reply::text(OBJECT),
        Reply {
            text: "max_tokens is too large: this model supports at most 4096 tokens".into(),
            ..Reply::status(400)
        },
    ]
}

/// A server whose model cannot call tools, and whose streams break off.
fn weak() -> Vec<Reply> {
    let cut = Reply { cut: true, ..Reply::text(NUMBERS) };
    let untold = |text: &str| Reply { usage: (0, 0), ..Reply::text(text) };
    vec![
        untold("I do not know \u{1b}[2J\u{202e}any\ncode word."),
        missing(),
        missing(),
        missing(),
        missing(),
        untold("Hello!"),
        untold("1 2 3 4 5 6 7 8").stop("length"),
        cut,
        untold("It is cold in Oslo."),
        // So long that the key is where the quotation is cut.
        untold(&format!("{}{KEY}", "x".repeat(50))),
        untold("It is cold."),
        untold("It is cold."),
        untold("It is cold."),
        untold("Hello!"),
        untold("Eight."),
        untold(OBJECT),
        untold("Hello!"),
    ]
}

/// Runs the command against a server with a script, with a key in the environment.
async fn probed(name: &str, replies: Vec<Reply>, args: &[&str]) -> (Done, String) {
    let server = ScriptedServer::start(replies).await.unwrap();
    let url = server.base_url();
    let all = [&["--base-url", url.as_str()], args].concat();
    let done = run(name, &all).await;
    assert_eq!(server.left(), 0, "{}{}", done.out, done.err);
    let shown = format!("{}{}", done.out, done.err);
    assert!(!shown.contains(&KEY[..6]) && !shown.contains('\u{1b}'), "{shown}");
    (done, url)
}

async fn run(name: &str, args: &[&str]) -> Done {
    let mut command = prepared(name, args);
    let run = move || command.output().unwrap();
    let output = tokio::task::spawn_blocking(run).await.unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Done { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

fn prepared(name: &str, args: &[&str]) -> Command {
    let folder = scratch(&format!("probe-{name}"));
    let mut command = command(&folder, "probe", args);
    for name in ["STEERSMAN_MODEL", "STEERSMAN_PROVIDER", "STEERSMAN_BASE_URL", "ANTHROPIC_API_KEY"]
    {
        command.env_remove(name);
    }
    command.env_remove("OPENAI_API_KEY").env_remove("GEMINI_API_KEY").env_remove("GOOGLE_API_KEY");
    command.env("STEERSMAN_API_KEY", KEY);
    command
}

/// Compares with the golden file of that name; with UPDATE_GOLDEN set, writes it instead.
fn check_golden(name: &str, written: &str, url: &str) {
    // The port and the time are those of this run.
    let written = written.replace(url, "http://SERVER");
    let (mut fixed, mut rest) = (String::new(), written.as_str());
    for mark in ["first piece after ", "\"first_ms\": ", "first piece after "] {
        let Some(at) = rest.find(mark).map(|at| at + mark.len()) else { continue };
        fixed.push_str(&rest[..at]);
        fixed.push('N');
        rest = rest[at..].trim_start_matches(|c: char| c.is_ascii_digit());
    }
    fixed.push_str(rest);
    let path = format!("{}/testdata/golden/{name}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, &fixed).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(fixed, expected, "UPDATE_GOLDEN=1 cargo test -p steersman writes {path} anew");
}

#[tokio::test]
async fn tables_look_like_this() {
    let cases = [("able", able as fn() -> Vec<Reply>, 0), ("weak", weak, 0)];
    for (model, script, code) in cases {
        let (done, url) = probed(model, script(), &["--model", model]).await;
        assert_eq!((done.code, done.err.as_str()), (Some(code), ""), "{}", done.out);
        check_golden(&format!("probe-{model}.txt"), &done.out, &url);
    }
}

#[tokio::test]
async fn documents_look_like_this_and_their_profile_is_read_by_the_loader() {
    let cases = [
        ("able", able as fn() -> Vec<Reply>, ToolCalls::Multi, Some(32_768), Some(4096)),
        ("weak", weak, ToolCalls::Json, None, None),
    ];
    for (model, script, calls, window, output) in cases {
        let name = format!("{model}-json");
        let (done, url) = probed(&name, script(), &["--model", model, "--json"]).await;
        assert_eq!((done.code, done.err.as_str()), (Some(0), ""), "{}", done.out);
        check_golden(&format!("probe-{model}.json"), &done.out, &url);
        let document: Value = serde_json::from_str(&done.out).unwrap();
        let text = document["profile"]["agents_yaml"].as_str().unwrap();
        let registry = Registry::parse_bytes("agents.yaml", text.as_bytes()).unwrap();
        let agent = registry.agent("coder").unwrap();
        let place = agent.model.as_ref().unwrap();
        assert_eq!((place.name.as_str(), place.base_url.as_deref()), (model, Some(url.as_str())));
        let profile = registry.profile(agent, model);
        assert_eq!(profile.tool_calls, calls);
        assert_eq!((profile.context_window, profile.max_output_tokens), (window, output));
    }
}

#[tokio::test]
async fn what_answers_nothing_is_told_with_its_address() {
    let page = || Reply::raw("text/html", "<html><title>Welcome!</title></html>");
    let refused = || Reply { text: format!("bad key {KEY}"), ..Reply::status(401) };
    let hang = Reply { stall: true, ..Reply::text("pelican") };
    let cases = [
        ("page", vec![page(), page(), page(), page()], "an HTML page, \"Welcome!\""),
        (
            "refused",
            vec![refused(), refused(), refused(), refused()],
            "the model server refused the key (HTTP 401): bad key [key]",
        ),
        ("missing", vec![missing(), missing(), missing(), missing()], "(HTTP 404): Not Found"),
        ("hang", vec![hang], "timed out: the answer was not whole within 1s"),
    ];
    for (name, replies, expected) in cases {
        let (done, url) = probed(name, replies, &["--model", "m", "--timeout", "1"]).await;
        assert_eq!(done.code, Some(3), "{}{}", done.out, done.err);
        assert!(done.err.starts_with(&format!("error: {url}: no answer came; in openai: ")));
        assert!(done.err.contains(expected), "{}", done.err);
    }
}

#[tokio::test]
async fn a_model_that_agents_cannot_use_is_told_by_the_exit_code() {
    let mut script = weak();
    script[7] = Reply::text(NUMBERS);
    script[15] = Reply::text("Cold.");
    script.insert(15, Reply::text("Cold."));
    let (done, _) = probed("unusable", script, &["--model", "m"]).await;
    assert_eq!((done.code, done.err.as_str()), (Some(1), ""), "{}", done.out);
    let expected = "Agents cannot use it; no tool call came in 2 tries; none came as a JSON object";
    assert!(done.out.contains(expected), "{}", done.out);
}

#[tokio::test]
async fn wrong_arguments_are_refused_before_anything_is_sent() {
    let here = ["--base-url", "http://127.0.0.1:1"];
    let cases: [(&[&str], &str); 8] = [
        (&[], "error: no model: name it with --model"),
        (&["--model", " "], "error: no model: name it with --model"),
        (&["--model", "m"], "error: no server: name it with --base-url"),
        (&["--model", "m", "--provider", "gpt"], "error: --provider: `gpt` is no wire format; one"),
        (&["--model", "m", "--base-url", "localhost"], "error: `localhost` is no base URL"),
        (
            &["--model", "m", "--provider", "openai", "--api-key-env", "NO_SUCH_KEY"],
            "error: --api-key-env: the environment variable NO_SUCH_KEY is not set",
        ),
        (&["--model", "m", "--timeout", "0"], "error: invalid value '0' for '--timeout"),
        (
            &["--model", "m", "--output-tokens", "9"],
            "error: invalid value '9' for '--output-tokens",
        ),
    ];
    for (args, expected) in cases {
        let done = run("arguments", args).await;
        assert_eq!(done.code, Some(2), "{args:?}: {}", done.out);
        assert!(done.err.starts_with(expected), "{args:?}: {}", done.err);
        assert_eq!(done.out, "");
    }
    let done = run("nobody", &[&here[..], &["--model", "m"]].concat()).await;
    assert_eq!(done.code, Some(3));
    assert!(done.err.contains("http://127.0.0.1:1: no connection"), "{}", done.err);
}

#[tokio::test]
async fn a_server_of_unknown_kind_gets_no_provider_s_key() {
    let server = ScriptedServer::start(vec![missing(), missing(), missing(), missing()]).await;
    let server = server.unwrap();
    let url = server.base_url();
    let mut command = prepared("keys", &["--model", "m", "--base-url", &url]);
    command.env_remove("STEERSMAN_API_KEY");
    for name in ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"] {
        command.env(name, KEY);
    }
    let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    assert_eq!(output.status.code(), Some(3));
    let requests = server.requests();
    assert_eq!(requests.len(), 4);
    for request in requests {
        assert!(request.headers.iter().all(|(_, value)| !value.contains(KEY)), "{request:?}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn ctrl_c_ends_with_what_was_found_so_far() {
    let hang = Reply { stall: true, ..Reply::text("pelican") };
    let server = ScriptedServer::start(vec![Reply::text("pelican"), hang]).await.unwrap();
    let url = server.base_url();
    let mut command = prepared("left", &["--model", "m", "--base-url", &url]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    server.until(|progress| progress.requests == 2).await;
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let ended = tokio::task::spawn_blocking(move || child.wait_with_output().unwrap());
    let output = ended.await.unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(130), "{out}");
    assert!(out.contains("speaks openai-responses          not told  not asked: left"), "{out}");
    assert!(out.contains("Ended early: left with Ctrl-C"), "{out}");
}
