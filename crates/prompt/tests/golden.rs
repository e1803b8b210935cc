//! The prompts of the built-in agents, word for word, and the generated schema.

#![allow(clippy::unwrap_used, reason = "a test that cannot set up its case must fail")]

mod files;

use std::path::Path;

use files::{check_golden, testdata};
use serde_json::{Value as Json, json};
use steersman_prompt::{PromptSystem, Registry, agents_schema, agents_schema_text, built_in_tools};

/// Agent, model, whether it writes mail, template.
const CASES: [(&str, Option<&str>, bool, Option<&str>); 5] = [
    ("coder", Some("claude-sonnet-4-5"), false, Some("fix_failing_tests")),
    ("explorer", Some("llama-3.1-8b-instruct"), false, None),
    ("reviewer", None, true, Some("review")),
    ("coder", Some("qwen2.5-coder:1.5b"), false, None),
    ("coder", Some("o3"), false, None),
];

#[test]
fn prompts_of_the_built_in_agents() {
    let (registry, system) = (Registry::built_in().unwrap(), PromptSystem::built_in());
    let library = system.library().unwrap();
    registry.check(&library).unwrap();
    for (name, model, mail, template) in CASES {
        let agent = registry.agent(name).unwrap();
        let mut tools = built_in_tools();
        tools
            .retain(|tool| agent.tools.allows(&tool.name) && (mail || !tool.name.contains("mail")));
        let profile = model.map(|model| registry.profile(agent, model));
        let mut request = agent.request(&tools);
        request.model = profile.as_ref();
        request.template = template.map(|name| &**library.template(name).unwrap());
        if mail {
            request.features.insert("mailbox_protocol".to_owned(), true);
            request.parameters.insert("agents".to_owned(), "coder, explorer".to_owned());
        }
        let prompt = system.compose(&request).unwrap();
        assert!(!prompt.contains("{{{") && !prompt.contains("\n\n\n"), "{prompt}");
        let file = format!("{name}-{}.txt", model.unwrap_or("any").replace(':', "-"));
        check_golden(&testdata("golden").join(file), &prompt);
    }
}

#[test]
fn the_schema_is_fresh_and_accepts_what_is_right() {
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema/agents.schema.json");
    check_golden(&schema, &agents_schema_text());
    let schema = agents_schema();
    assert!(jsonschema::meta::is_valid(&schema));
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let cases: [(Json, bool); 10] = [
        (json!({"agents": {"coder": {}}}), true),
        (json!({"agents": {"a": {"model": {"provider": "openai", "name": "x"}}}}), true),
        (json!({"agents": {"a": {"model": {"provider": "openai"}}}}), false),
        (json!({"agents": {"a": {"model": {"provider": "open", "name": "x"}}}}), false),
        (json!({"agents": {"a": {"policy": {"loops": {"cycle": {"notice": 3}}}}}}), true),
        (json!({"agents": {"a": {"policy": {"loops": {"cycle": {"notise": 3}}}}}}), false),
        (json!({"agents": {"a": {"continuation": {"max_iterations": 0}}}}), false),
        (json!({"agents": {"a": {"tool": {}}}}), false),
        (json!({"mcpServers": {"x": {"command": "x", "args": ["y"]}}}), true),
        (json!({"profiles": {"x*": {"tool_calls": "many"}}}), false),
    ];
    for (case, expected) in cases {
        assert_eq!(validator.is_valid(&case), expected, "{case}");
    }
}
