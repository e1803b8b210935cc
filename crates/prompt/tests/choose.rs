//! Which template a task gets.

#![allow(clippy::unwrap_used, reason = "a test that cannot set up its case must fail")]

mod files;

use files::{project, write};
use steersman_prompt::{PromptSystem, choose};

const TASKS: &[(&str, &str)] = &[
    ("Fix the failing tests in crates/engine", "fix_failing_tests"),
    ("Make the tests pass", "fix_failing_tests"),
    ("test_parse_dates fails since yesterday, tests fail on CI, please fix", "fix_failing_tests"),
    ("The build fails with error E0308, repair it", "fix_failing_tests"),
    ("CI is red. Find out why and get it green again", "fix_failing_tests"),
    ("There is a flaky test in tests/network.py; fix it", "fix_failing_tests"),
    ("Two failing tests remain in the cart module", "fix_failing_tests"),
    ("Implement the reactive cells so that the test suite passes", "fix_failing_tests"),
    ("Add a --json flag to the export command", "add_feature"),
    ("Implement pagination for the users endpoint", "add_feature"),
    ("Add support for TOML config files", "add_feature"),
    ("Build a small REST API for todo items", "add_feature"),
    ("We need a new feature: dark mode in the settings page", "add_feature"),
    ("Introduce rate limiting for the login route", "add_feature"),
    ("Create a function that validates IBANs", "add_feature"),
    ("Extend the parser to support nested comments", "add_feature"),
    ("Refactor the payment module to use the strategy pattern", "refactor"),
    ("Rename UserManager to Accounts everywhere", "refactor"),
    ("Clean up the duplication between the two exporters", "refactor"),
    ("Split utils.py into smaller modules", "refactor"),
    ("Extract the retry logic into a function of its own", "refactor"),
    ("Migrate the callbacks to async/await", "refactor"),
    ("Simplify the control flow in scheduler.go", "refactor"),
    ("Write documentation for the public API", "write_docs"),
    ("Update the README with installation steps", "write_docs"),
    ("Add docstrings to every function in geometry.py", "write_docs"),
    ("Write a tutorial for newcomers", "write_docs"),
    ("Document the configuration options in docs/config.md", "write_docs"),
    ("Explain how the scheduler picks the next task", "explore_and_explain"),
    ("Where is the session cookie set?", "explore_and_explain"),
    ("How does authentication work in this project?", "explore_and_explain"),
    ("Find all places that call deprecated_login", "explore_and_explain"),
    ("Give me an overview of the architecture", "explore_and_explain"),
    (
        "Why does the cache miss on every request? Just explain, do not change",
        "explore_and_explain",
    ),
    ("What does the macro in lib.rs do?", "explore_and_explain"),
    ("Which function writes the log file header?", "explore_and_explain"),
    ("Review this pull request for security problems", "review"),
    ("Do a code review of the last commit", "review"),
    ("Audit the upload handler for vulnerabilities", "review"),
    ("Look over the diff and tell me what is wrong", "review"),
    ("Research the alternatives to Redis for our queue", "research"),
    (
        "Which library is best for PDF rendering in Rust? Compare libraries and cite sources",
        "research",
    ),
    ("Survey the literature on loop detection in agents", "research"),
    ("What are best practices for storing refresh tokens?", "research"),
    ("Compute the average order value per month from orders.csv", "data_task"),
    ("Plot a histogram of response times in access.log", "data_task"),
    ("Convert the data in results.jsonl to parquet", "data_task"),
    ("Clean the data: drop duplicates in customers.csv with pandas", "data_task"),
    ("Aggregate the spreadsheet by region and give the median", "data_task"),
    ("Hello", "general"),
    ("", "general"),
    ("Book a table", "general"),
    ("Erledige das bitte bis morgen", "general"),
    ("42", "general"),
];

#[test]
fn tasks_get_the_template_that_suits_them() {
    let system = PromptSystem::built_in();
    let library = system.library().unwrap();
    let mut wrong = Vec::new();
    for (task, expected) in TASKS {
        let choice = choose(task, library.templates()).unwrap();
        if choice.template.name() != *expected {
            wrong.push(format!("{task:?}: {choice}, not {expected}"));
        }
        let again = choose(task, library.templates()).unwrap();
        assert_eq!(again.to_string(), choice.to_string());
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), TASKS.len(), wrong.join("\n"));
    assert!(choose("Fix the tests", &[]).is_none());
}

#[test]
fn the_reason_is_told() {
    let system = PromptSystem::built_in();
    let library = system.library().unwrap();
    let cases = [
        ("Fix the failing tests", "fix_failing_tests: the task says \"failing tests\""),
        (
            "Explain how the scheduler works",
            "explore_and_explain: the task says \"explain\" and is of the kind analyze",
        ),
        ("Hello", "general: no other template suits the task"),
    ];
    for (task, expected) in cases {
        let choice = choose(task, library.templates()).unwrap().to_string();
        assert_eq!(choice, expected);
    }
}

#[test]
fn own_templates_come_first() {
    let folder = project("own-templates");
    let text = "---\ntitle: Ship it\nwords: [release]\npolicy: {limits: {max_turns: 30}}\n---\n\
                Follow RELEASING.md.\n";
    write(&folder, ".steersman/prompts/templates/release.md", text);
    let text = "---\ntask_types: [research]\n---\n";
    write(&folder, ".steersman/prompts/templates/vague.md", text);
    let system = PromptSystem::load_with_home(&folder, None).unwrap();
    let library = system.library().unwrap();
    let name = |task: &str| choose(task, library.templates()).unwrap().template.name().to_owned();
    assert_eq!(name("Prepare the release and fix the failing tests"), "release");
    assert_eq!(name("Fix the failing tests"), "fix_failing_tests");
    assert_eq!(name("Research the alternatives to Redis"), "research");
    let template = library.template("release").unwrap();
    let policy = template.lay_over(steersman_engine::Policy::default()).unwrap();
    assert_eq!(policy.limits.max_turns, Some(30));
    assert_eq!(template.body(), "Follow RELEASING.md.");
}
