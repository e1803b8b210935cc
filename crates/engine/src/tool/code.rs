//! Source code given to an interpreter: whether it changes something, and the tool calls in it.

use alloc::string::String;

use memchr::memmem;

use super::ToolKind;
use super::facts::Facts;
use super::scan::{LOOK_LIMIT, cut};

/// What code contains that writes, sends or removes something.
const CHANGES: &[&str] = &[
    ", 'w",
    ", \"w",
    ",'w",
    ",\"w",
    ", 'a'",
    ", \"a\"",
    "mode='w",
    "mode=\"w",
    ".write_text(",
    ".write_bytes(",
    ".to_csv(",
    ".to_excel(",
    ".to_json(",
    ".savefig(",
    ".unlink(",
    "os.remove(",
    "os.rename(",
    "os.makedirs(",
    "os.mkdir(",
    "shutil.",
    "writeFile",
    "fs.unlink",
    "fs.rm",
    "requests.post(",
    "requests.put(",
    "requests.delete(",
    ".commit()",
    ".click()",
    ".submit()",
    "dispatchEvent(",
    ".value =",
    ".value=",
];

/// Code that runs tests.
const TESTS: &[&str] = &["pytest.main(", "unittest.main(", "call_command('test'"];

/// Adds what a piece of code does; at most [`LOOK_LIMIT`] bytes are looked at.
pub(super) fn run(code: &str, facts: &mut Facts) {
    let code = cut(code, LOOK_LIMIT);
    let has = |list: &[&str]| {
        list.iter().any(|word| memmem::find(code.as_bytes(), word.as_bytes()).is_some())
    };
    facts.changes |= has(CHANGES);
    facts.is_test |= has(TESTS);
    let kind = if facts.is_test { ToolKind::Test } else { ToolKind::Execute };
    facts.merge(kind, None, None);
}

/// What an SQL statement does: reading statements search, all others change.
pub(super) fn sql(statement: &str, facts: &mut Facts) {
    let statement = statement.trim_start_matches(['(', ' ', '\n', '\t', ';']);
    let verb = statement.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
    let writes = [
        "insert", "update", "delete", "create", "drop", "alter", "replace", "truncate", "merge",
        "grant", "revoke", "commit", "rename",
    ];
    let changes = writes.iter().any(|word| verb.eq_ignore_ascii_case(word));
    facts.changes |= changes;
    facts.merge(if changes { ToolKind::Edit } else { ToolKind::Search }, None, None);
}

/// The string literals that JavaScript hands to the tools in `tools.NAME(…)`, at most eight:
/// `found` gets the tool's name and the literal.
pub(super) fn tool_calls(script: &str, mut found: impl FnMut(&str, &str)) {
    let script = cut(script, LOOK_LIMIT);
    let mut rest = script;
    for _ in 0..8 {
        let Some(at) = memmem::find(rest.as_bytes(), b"tools.") else { return };
        rest = &rest[at + "tools.".len()..];
        let Some((name, arguments)) = rest.split_once('(') else { return };
        if name.len() > 40 {
            continue;
        }
        let end = memmem::find(arguments.as_bytes(), b"tools.").unwrap_or(arguments.len());
        let arguments = &arguments[..end];
        let object = arguments.trim_ascii_start().starts_with('{');
        let literal = if object { field(arguments) } else { Some(arguments) };
        if let Some(text) = literal.and_then(string_literal) {
            found(name.trim(), &text);
        }
    }
}

/// What follows the key that holds a command or a patch.
fn field(object: &str) -> Option<&str> {
    ["cmd", "command", "input", "patch", "chars"].iter().find_map(|key| {
        object.match_indices(key).find_map(|(at, _)| {
            let after = object[at + key.len()..].trim_start_matches(['"', '\'', ' ']);
            after.strip_prefix(':')
        })
    })
}

/// The text of the string literal a piece of JavaScript begins with.
fn string_literal(script: &str) -> Option<String> {
    let script = script.trim_ascii_start();
    let script = script.strip_prefix("String.raw").unwrap_or(script);
    let quote = script.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'))?;
    let mut text = String::new();
    let mut chars = script[1..].chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next()? {
                'n' => text.push('\n'),
                't' => text.push('\t'),
                other => text.push(other),
            },
            c if c == quote => return Some(text),
            c => text.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn code_that_writes_changes_something() {
        let cases = [
            ("print(open('a').read())", false),
            ("open('a', 'w').write('x')", true),
            ("Path('a').write_text('x')", true),
            ("import os; os.remove('a')", true),
            ("document.querySelector('a').click()", true),
            ("[...document.querySelectorAll('a')].map(e => e.href)", false),
        ];
        for (source, changes) in cases {
            let mut facts = Facts::default();
            run(source, &mut facts);
            assert_eq!(facts.changes, changes, "{source}");
        }
    }

    #[test]
    fn statements_are_told_apart() {
        let cases = [
            ("SELECT 1", ToolKind::Search, false),
            ("  with x as (select 1) select * from x", ToolKind::Search, false),
            ("SHOW TABLES", ToolKind::Search, false),
            ("update t set a=1", ToolKind::Edit, true),
            ("DROP TABLE t", ToolKind::Edit, true),
        ];
        for (statement, kind, changes) in cases {
            let mut facts = Facts::default();
            sql(statement, &mut facts);
            assert_eq!((facts.kind, facts.changes), (kind, changes), "{statement}");
        }
    }

    #[test]
    fn tool_calls_in_scripts_are_found() {
        let script = "const r = await tools.exec_command({cmd: \"ls \\\"a\\\"\", yield: 1});\n\
                      await tools.apply_patch(`*** Begin\\n+x`); tools.other(5)";
        let mut calls = Vec::new();
        tool_calls(script, |name, text| calls.push((name.to_string(), text.to_string())));
        let expected = [("exec_command", "ls \"a\""), ("apply_patch", "*** Begin\n+x")];
        assert_eq!(calls, expected.map(|(name, text)| (name.to_string(), text.to_string())));
    }
}
