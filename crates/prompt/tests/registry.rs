//! `agents.yaml`: what is right becomes agents, what is wrong is told.

#![allow(clippy::unwrap_used, reason = "a test that cannot set up its case must fail")]

mod files;

use std::fs;

use files::{check_golden, project, testdata, write};
use steersman_engine::Policy;
use steersman_engine::policy::Ceiling;
use steersman_prompt::{
    AgentPrompt, CheckChoice, McpTransport, Price, PromptSystem, Provider, Registry, Signal,
    TemplateChoice, ToolCalls,
};

#[test]
fn bad_files_are_refused_with_these_messages() {
    let mut paths: Vec<_> = fs::read_dir(testdata("agents"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "yaml"))
        .collect();
    paths.sort();
    assert!(!paths.is_empty());
    let system = PromptSystem::built_in();
    let library = system.library().unwrap();
    for path in paths {
        let name = path.file_name().unwrap().to_str().unwrap();
        let error = Registry::parse_bytes(name, &fs::read(&path).unwrap())
            .and_then(|registry| registry.check(&library).map(|()| registry))
            .expect_err(name);
        assert!(!error.findings().is_empty(), "{name}");
        check_golden(&path.with_extension("txt"), &format!("{error}\n"));
    }
}

#[test]
fn a_file_becomes_agents() {
    let text = include_str!("../testdata/full.yaml");
    let registry = Registry::parse_bytes("full.yaml", text.as_bytes()).unwrap();
    let names: Vec<_> = registry.agents().iter().map(|agent| agent.name.as_str()).collect();
    assert_eq!((names, registry.default_agent()), (vec!["fixer", "scribe"], "fixer"));
    let fixer = registry.agent("fixer").unwrap();
    let model = fixer.model.as_ref().unwrap();
    assert_eq!((model.provider, model.name.as_str()), (Provider::OpenaiResponses, "gpt-5.1"));
    assert_eq!(model.base_url.as_deref(), Some("https://models.example.com/v1"));
    assert_eq!(model.api_key_env, "OPENAI_API_KEY");
    let price =
        Price { input_nanodollars: 1250, output_nanodollars: 10_000, cached_nanodollars: 125 };
    assert_eq!(model.price, Some(price));
    let profile = registry.profile(fixer, "gpt-5.1");
    assert_eq!((profile.tool_calls, profile.signal), (ToolCalls::Single, Signal::StructuredOutput));
    assert_eq!((profile.context_window, profile.max_output_tokens), (Some(300_000), Some(8192)));
    assert_eq!(registry.profile(fixer, "local-model").batch, 2);
    let policy = fixer.policy(Policy::classic(), None).unwrap();
    let protocol = &policy.continuation.protocol;
    assert_eq!((protocol.max_iterations, protocol.timeout_ms, protocol.max_depth), (20, 60_000, 3));
    assert!(!protocol.require_explicit_signal);
    assert_eq!((policy.loops.cycle.notice, policy.name.as_str()), (3, "classic"));
    assert_eq!(fixer.check, CheckChoice::Command("cargo test".to_owned()));
    assert_eq!(fixer.template, TemplateChoice::Named("fix_failing_tests".to_owned()));
    assert!(fixer.approval.allows("shell", Some("cargo test -q")));
    assert!(!fixer.approval.allows("shell", Some("rm -rf .")));
    assert_eq!(fixer.mcp_servers.keys().collect::<Vec<_>>(), ["docs", "files"]);
    let stdio = matches!(fixer.mcp_servers["files"].transport, McpTransport::Stdio { .. });
    assert!(stdio && fixer.mcp_servers["docs"].timeout_ms == 5000);
    let scribe = registry.agent("scribe").unwrap();
    assert_eq!(scribe.mcp_servers.keys().collect::<Vec<_>>(), ["docs"]);
    assert_eq!(scribe.policy(Policy::default(), None).unwrap().rules.protocol, Ceiling::Off);
    assert!(scribe.stateless && !scribe.tools.allows("shell") && scribe.tools.allows("read"));
    assert!(matches!(&scribe.prompt, AgentPrompt::Inline(text) if text.starts_with("You write")));
    let system = PromptSystem::built_in();
    registry.check(&system.library().unwrap()).unwrap();
    let prompt = system.compose(&scribe.request(&[])).unwrap();
    assert!(prompt.starts_with("You write release notes for people who use cells.\n"), "{prompt}");
    assert!(prompt.contains("You are the agent `scribe`.") && !prompt.contains("Going on"));
}

#[test]
fn a_template_comes_between_the_project_and_the_agent() {
    let text = "agents: {a: {prompt: coder, policy: {tests: {stuck_after: 7}}}}";
    let registry = Registry::parse_bytes("x", text.as_bytes()).unwrap();
    let system = PromptSystem::built_in();
    let library = system.library().unwrap();
    let template = library.template("fix_failing_tests").unwrap();
    let mut project = Policy::default();
    (project.tests.check_every, project.tests.stuck_after) = (Some(9), 9);
    project.tests.grace_turns = 9;
    let policy = registry.agents()[0].policy(project, Some(template)).unwrap();
    let tests = (policy.tests.check_every, policy.tests.stuck_after, policy.tests.grace_turns);
    assert_eq!(tests, (Some(5), 7, 9));
}

#[test]
fn the_nearest_registry_holds() {
    let folder = project("registry");
    let deep = folder.join("src/deep");
    fs::create_dir_all(&deep).unwrap();
    let agents = |expected: &[&str]| {
        let registry = Registry::load(&deep).unwrap();
        let names: Vec<_> = registry.agents().iter().map(|agent| agent.name.as_str()).collect();
        assert_eq!(names, expected);
        registry.path().is_some()
    };
    assert!(!agents(&["coder", "explorer", "reviewer"]));
    write(&folder, "agents.yaml", "agents: {root: {prompt: coder}}");
    assert!(agents(&["root"]));
    write(&folder, ".steersman/agents.yaml", "agents: {hidden: {prompt: coder}}");
    assert!(agents(&["hidden"]));
    write(&deep, "agents.yml", "agents: {deep: {prompt: coder}}");
    assert!(agents(&["deep"]));
    let error = Registry::load(&deep).unwrap().agent("dep").unwrap_err().to_string();
    assert_eq!(error, "no agent `dep`; did you mean `deep`? There are deep");
}
