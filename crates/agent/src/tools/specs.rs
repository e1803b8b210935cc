//! The tools of the workspace, as the model is told of them.

use serde_json::json;
use steersman_wire::ToolSpec;

use crate::control::spec;

/// Runs a command.
pub const SHELL: &str = "shell";

/// The tools of the workspace.
#[must_use]
pub fn specs() -> Vec<ToolSpec> {
    let text = |what: &str| json!({"type": "string", "description": what});
    let number = |what: &str| json!({"type": "integer", "minimum": 1, "description": what});
    let flag = |what: &str| json!({"type": "boolean", "description": what});
    vec![
        spec(
            "list",
            "List files and folders below a folder, as ignore rules leave them.",
            json!({
                "path": text("The folder; the workspace by default"),
                "depth": number("How many levels; 2 by default, at most 20"),
                "ignored": flag("Show what ignore rules hide, too"),
                "max_entries": number("Most entries; 500 by default, at most 1,000"),
            }),
            &[],
        ),
        spec(
            "read",
            "Read a file or a range of its lines.",
            json!({
                "path": text("The file, from the workspace's root"),
                "first_line": number("The first line; 1 by default"),
                "lines": number("How many lines; 1,000 by default"),
                "numbered": flag("Put its number before each line"),
            }),
            &["path"],
        ),
        spec(
            "search",
            "Find lines that match a regular expression, in files as ignore rules leave them.",
            json!({
                "pattern": text("The regular expression, or plain text with `literal`"),
                "literal": flag("Take the pattern as plain text"),
                "path": text("The folder or file; the workspace by default"),
                "glob": text("Which files, such as *.rs or !tests/**"),
                "ignore_case": flag("Ignore case; by default only if the pattern has no capitals"),
                "context": json!({"type": "integer", "minimum": 0, "maximum": 20,
                                  "description": "Lines shown around each match"}),
                "max_matches": number("Most lines; 100 by default, at most 1,000"),
            }),
            &["pattern"],
        ),
        spec(
            "edit",
            "Replace a piece of text in a file. It must stand there exactly once, unless \
             `replace_all` is set.",
            json!({
                "path": text("The file"),
                "old": text("The text to replace, exactly as it stands in the file"),
                "new": text("What to put in its place"),
                "replace_all": flag("Replace every occurrence"),
            }),
            &["path", "old", "new"],
        ),
        spec(
            "write",
            "Write a whole file; missing folders are made.",
            json!({"path": text("The file"), "content": text("All of its content")}),
            &["path", "content"],
        ),
        spec(
            SHELL,
            "Run a command line in the workspace. It has no input and must end by itself; what it \
             leaves running is ended.",
            json!({
                "command": text("The command line, for bash"),
                "timeout_s": number("Seconds it may take; 120 by default, at most 3,600"),
            }),
            &["command"],
        ),
    ]
}
