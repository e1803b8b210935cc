//! Exit codes that clients write into the text of a result.
//!
//! Each client has one place for it; nothing else in a result is searched, because outputs quote
//! other outputs.

use memchr::memrchr;

/// How far from the end of a result the trailers of Gemini CLI, Qwen and OpenHands are looked for.
const TAIL_LINES: usize = 8;
/// Lines of the header Codex puts before a command's output.
const HEADER_LINES: usize = 8;

/// The exit code a result states; `None` if it states none.
#[must_use]
pub fn exit_code(content: &str) -> Option<i32> {
    let content = content.trim_end();
    match content.as_bytes().first()? {
        b'E' => {
            claude_code(content).or_else(|| codex_header(content)).or_else(|| continue_cli(content))
        }
        b'C' | b'P' | b'W' => codex_header(content),
        b'<' => number(content.strip_prefix("<returncode>")?, "</returncode>"),
        b'{' => mini_json(content).or_else(|| codex_json(content)),
        b'[' => cline(content),
        b'e' => number(content.strip_prefix("exitcode: ")?, " ("),
        _ => None,
    }
    .or_else(|| bracket_tail(content))
    .or_else(|| gemini_tail(content))
}

/// Claude Code: the result starts with `Exit code N` on a line of its own.
fn claude_code(content: &str) -> Option<i32> {
    let line = content.lines().next()?;
    line.strip_prefix("Exit code ")?.parse().ok()
}

/// Codex: `Process exited with code N` or `Exit code: N` in the header before `Output:`.
fn codex_header(content: &str) -> Option<i32> {
    for line in content.lines().take(HEADER_LINES) {
        if line == "Output:" {
            return None;
        }
        let code = line
            .strip_prefix("Process exited with code ")
            .or_else(|| line.strip_prefix("Exit code: "));
        if let Some(code) = code {
            return code.trim().parse().ok();
        }
    }
    None
}

/// Older Codex: `{"output":"…","metadata":{"exit_code":N,…}}`.
fn codex_json(content: &str) -> Option<i32> {
    content.strip_prefix("{\"output\":")?;
    let at = content.rfind("\"metadata\":{\"exit_code\":")?;
    number(content.get(at + "\"metadata\":{\"exit_code\":".len()..)?, ",")
}

/// Continue: `Error executing tool Bash: Error (exit code N): …`.
fn continue_cli(content: &str) -> Option<i32> {
    let rest = content.strip_prefix("Error executing tool ")?;
    let line = rest.lines().next()?;
    number(line.get(line.find("(exit code ")? + "(exit code ".len()..)?, ")")
}

/// mini-swe-agent: `{"returncode": N, …}`.
fn mini_json(content: &str) -> Option<i32> {
    number(content.strip_prefix("{\"returncode\":")?.trim_start(), ",")
}

/// Cline: `[{"query":…,"error":"Command exited with code N",…}]`; the first failure counts.
fn cline(content: &str) -> Option<i32> {
    content.strip_prefix("[{\"query\":")?;
    let mark = "\"error\":\"Command exited with code ";
    number(content.get(content.find(mark)? + mark.len()..)?, "\"")
}

/// OpenHands: `[Command finished with exit code N]` among the bracketed last lines.
fn bracket_tail(content: &str) -> Option<i32> {
    if !content.ends_with(']') {
        return None;
    }
    for line in last_lines(content) {
        if !line.starts_with('[') {
            return None;
        }
        let found = line
            .strip_prefix("[Command finished with exit code ")
            .or_else(|| line.strip_prefix("[The command completed with exit code "));
        if let Some(rest) = found {
            return number(rest, "]").or_else(|| number(rest, "."));
        }
    }
    None
}

/// Gemini CLI and Qwen: `Exit Code: N` among the labelled last lines.
fn gemini_tail(content: &str) -> Option<i32> {
    const LABELS: [&str; 5] = [
        "Signal: ",
        "Background PIDs: ",
        "Process Group PGID: ",
        "Error: ",
        "</untrusted_context>",
    ];
    for line in last_lines(content) {
        if let Some(code) = line.strip_prefix("Exit Code: ") {
            return code.trim().parse().ok();
        }
        if !line.is_empty() && !LABELS.iter().any(|label| line.starts_with(label)) {
            return None;
        }
    }
    None
}

/// The last [`TAIL_LINES`] lines of a text without white space at its end, the last one first.
fn last_lines(content: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(content);
    let lines = std::iter::from_fn(move || {
        let text = rest?;
        let end = memrchr(b'\n', text.as_bytes());
        rest = end.map(|at| &text[..at]);
        let line = end.map_or(text, |at| &text[at + 1..]);
        Some(line.strip_suffix('\r').unwrap_or(line))
    });
    lines.take(TAIL_LINES)
}

/// The number before `end`.
fn number(text: &str, end: &str) -> Option<i32> {
    text.get(..text.find(end)?)?.trim().trim_end_matches('}').parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_each_client_at_its_own_place_only() {
        let cases = [
            ("Exit code 3\ncat: nope", Some(3)),
            ("Exit code 127", Some(127)),
            ("Exit code of the run was 3", None),
            (
                "Chunk ID: 4f8250\nWall time: 0.0 seconds\nProcess exited with code 3\nOutput:\nx",
                Some(3),
            ),
            ("Exit code: 1\nWall time: 0.1 seconds\nOutput:\nx", Some(1)),
            ("Chunk ID: 1\nOutput:\nProcess exited with code 3", None),
            (
                "{\"output\":\"a\\n\",\"metadata\":{\"exit_code\":2,\"duration_seconds\":0.1}}",
                Some(2),
            ),
            (
                "Output: x\nError: (none)\nExit Code: 0\nSignal: (none)\nProcess Group PGID: 7",
                Some(0),
            ),
            ("Output: x\nExit Code: 3\nProcess Group PGID: 7\n", Some(3)),
            ("Exit Code: 3\nand then more output", None),
            ("x\n[Current working directory: /w]\n[Command finished with exit code 1]", Some(1)),
            ("[Command finished with exit code 1]\nx", None),
            ("<returncode>0</returncode>\n<output>\n</output>", Some(0)),
            ("{\"returncode\": 1, \"output\": \"x\"}", Some(1)),
            (
                "[{\"query\":\"x\",\"result\":\"\",\"error\":\"Command exited with code 3\"}]",
                Some(3),
            ),
            ("Error executing tool Bash: Error (exit code 2): no", Some(2)),
            ("exitcode: 1 (execution failed)\nCode output: x", Some(1)),
            ("", None),
            ("all good", None),
            ("Exit code 99999999999", None),
        ];
        for (content, expected) in cases {
            assert_eq!(exit_code(content), expected, "{content}");
        }
    }
}
