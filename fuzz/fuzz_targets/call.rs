//! No tool call makes the reader panic, and reading is repeatable.
#![no_main]

use libfuzzer_sys::fuzz_target;
use steersman_engine::tool::CallFacts;

const NAMES: &[&str] = &[
    "Bash", "Edit", "apply_patch", "functions.exec", "mcp__a__get_b", "sql", "str_replace_editor",
    "tool_call", "write_stdin",
];

fuzz_target!(|input: (u8, &str)| {
    let (name, arguments) = input;
    let name = NAMES[usize::from(name) % NAMES.len()];
    let facts = CallFacts::read(name, arguments, None);
    assert!(facts.label.len() <= CallFacts::LABEL_MAX);
    assert_eq!(facts, CallFacts::read(name, arguments, None));
});
