//! The essential part of a tool result: without its envelope, and the line that names an error.

use alloc::borrow::Cow;
use alloc::string::String;

use memchr::{memchr, memchr_iter, memmem, memrchr};

use super::outcome::LOOK;
use crate::tool::Fold;

/// A result without its envelope.
pub(super) struct Unwrapped<'a> {
    pub(super) exit_code: Option<i32>,
    pub(super) body: Cow<'a, str>,
}

/// Takes off what clients put around the output of a command, and reads the exit code from it.
pub(super) fn unwrap(content: &str) -> Unwrapped<'_> {
    let body = content.trim_ascii();
    if let Some(rest) = body.strip_prefix("<returncode>") {
        let (code, rest) = rest.split_once("</returncode>").unwrap_or((rest, ""));
        let rest = rest.trim_ascii();
        let rest = rest.strip_prefix("<output>").unwrap_or(rest);
        let rest = rest.strip_suffix("</output>").unwrap_or(rest).trim_ascii();
        return Unwrapped { exit_code: code.trim().parse().ok(), body: rest.into() };
    }
    if let Some(rest) = body.strip_prefix("{\"returncode\"") {
        let code = rest.trim_ascii_start().strip_prefix(':').and_then(leading_integer);
        let output = rest.split_once("\"output\":").map_or("", |(_, output)| output);
        let output = output.trim_ascii();
        let output = output.strip_prefix('"').unwrap_or(output);
        let output = output.strip_suffix("\"}").unwrap_or(output);
        return Unwrapped { exit_code: code, body: Cow::Owned(unescaped_ends(output)) };
    }
    let (exit_code, body) = without_headers(without_reminders(body));
    let exit_code = exit_code.or_else(|| exit_code_at_end(body));
    Unwrapped { exit_code, body: body.into() }
}

/// A text without the lines that a client put above it, and the exit code they tell.
fn without_headers(mut body: &str) -> (Option<i32>, &str) {
    let mut exit_code = None;
    for _ in 0..8 {
        let end = memchr(b'\n', body.as_bytes());
        let (line, rest) = end.map_or((body, ""), |at| (&body[..at], &body[at + 1..]));
        let line = line.trim_ascii();
        if let Some(code) = exit_code_above(line) {
            exit_code = exit_code.or(Some(code));
        } else if !is_header(line) {
            break;
        }
        body = rest.trim_start();
        body = body.strip_prefix("Code output:").unwrap_or(body).trim_start();
    }
    (exit_code, body)
}

/// Beginning and end of a JSON text with its line ends, quotes and tabs resolved.
fn unescaped_ends(text: &str) -> String {
    let mut to = String::new();
    for part in ends(text, LOOK) {
        let mut chars = part.chars();
        while let Some(c) = chars.next() {
            match c {
                '\\' => to.extend(chars.next().map(|c| match c {
                    'n' | 'r' => '\n',
                    't' => '\t',
                    other => other,
                })),
                c => to.push(c),
            }
        }
        to.push('\n');
    }
    to
}

/// The code that a line above the output tells: `Exit code 3`.
fn exit_code_above(line: &str) -> Option<i32> {
    const FORMS: &[&str] =
        &["Exit code ", "Exit code: ", "exitcode: ", "Process exited with code ", "[exit code: "];
    FORMS
        .iter()
        .find_map(|form| leading_integer(line.strip_prefix(form)?))
        .or_else(|| exit_code_below(line))
}

/// The code that a line below the output tells. Words that programs say as well are left out.
fn exit_code_below(line: &str) -> Option<i32> {
    const FORMS: &[&str] = &["Exit Code: ", "[Command finished with exit code "];
    FORMS.iter().find_map(|form| leading_integer(line.strip_prefix(form)?))
}

/// The code that one of the last four lines tells.
fn exit_code_at_end(body: &str) -> Option<i32> {
    const NEAR: usize = 256;
    let end = &body.as_bytes()[body.len().saturating_sub(NEAR)..];
    // Both forms hold these letters; most outputs do not, and need not be cut into lines.
    let may_tell = memchr_iter(b'x', end).any(|at| end[at..].starts_with(b"xit "));
    if !may_tell {
        return None;
    }
    last_lines(body, NEAR).take(4).find_map(exit_code_below)
}

/// Lines that clients put above the output.
fn is_header(line: &str) -> bool {
    const FORMS: &[&str] = &[
        "Chunk ID: ",
        "Wall time: ",
        "Original token count: ",
        "Output:",
        "Command: ",
        "Directory: ",
        "Process Group PGID: ",
        "--- Observation",
        "Observation:",
        "OBSERVATION:",
    ];
    FORMS.iter().any(|form| line.starts_with(form))
        || (line.len() > 8 && line.bytes().all(|byte| byte == b'-'))
}

fn leading_integer(text: &str) -> Option<i32> {
    let text = text.trim_ascii_start();
    let sign = usize::from(text.starts_with('-'));
    let digits = text[sign..].bytes().take_while(u8::is_ascii_digit).count();
    text[..sign + digits].parse().ok()
}

/// Notes of the client at the end of a result are not part of it.
fn without_reminders(body: &str) -> &str {
    if !body.ends_with("</system-reminder>") {
        return body;
    }
    let from = body.floor_char_boundary(body.len().saturating_sub(LOOK));
    match body[from..].find("<system-reminder>") {
        Some(at) => body[..from + at].trim_ascii(),
        None => body,
    }
}

/// The beginning and the end of a text, each at most `limit` bytes; they do not overlap.
pub(super) fn ends(body: &str, limit: usize) -> [&str; 2] {
    let head = body.floor_char_boundary(limit);
    let tail = body.ceil_char_boundary(body.len().saturating_sub(limit)).max(head);
    [&body[..head], &body[tail..]]
}

/// Lines with something on them, from the first `limit` bytes.
pub(super) fn head_lines(body: &str, limit: usize) -> impl Iterator<Item = &str> {
    let mut rest = Some(&body[..body.floor_char_boundary(limit)]);
    let lines = core::iter::from_fn(move || {
        let text = rest?;
        let end = memchr(b'\n', text.as_bytes());
        rest = end.map(|at| &text[at + 1..]);
        Some(text[..end.unwrap_or(text.len())].trim_ascii())
    });
    lines.filter(says)
}

/// Lines with something on them, from the last `limit` bytes, the last one first.
pub(super) fn last_lines(body: &str, limit: usize) -> impl Iterator<Item = &str> {
    let from = body.ceil_char_boundary(body.len().saturating_sub(limit));
    let mut rest = Some(&body[from..]);
    let lines = core::iter::from_fn(move || {
        let text = rest?;
        let end = memrchr(b'\n', text.as_bytes());
        rest = end.map(|at| &text[..at]);
        Some(text[end.map_or(0, |at| at + 1)..].trim_ascii())
    });
    lines.filter(says)
}

fn says(line: &&str) -> bool {
    line.bytes().any(|byte| byte.is_ascii_alphanumeric() || byte >= 0x80)
}

/// A line without brackets, prompts and file positions in front of it.
pub(super) fn without_prefix(line: &str) -> &str {
    if line.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return line.strip_prefix("E   ").unwrap_or(line).trim_ascii_start();
    }
    let line =
        line.trim_start_matches(['>', '#', '*', '-', ' ', '\t', '"', '\'', '`', '❌', '✗', '×']);
    line.strip_prefix("E   ").unwrap_or(line).trim_ascii_start()
}

/// Whether a line names an exception: `ValueError: x`, `java.io.IOException`.
pub(super) fn is_exception(line: &str) -> bool {
    let line = line.strip_prefix("E ").unwrap_or(line).trim_ascii_start();
    let end = line
        .bytes()
        .take(96)
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'$'))
        .count();
    let (name, rest) = line.split_at(end);
    let named = ["Error", "Exception", "Fault"].iter().any(|kind| name.ends_with(kind));
    let class = name.rsplit('.').next().unwrap_or(name);
    let proper = class.len() > 5 && class.starts_with(|c: char| c.is_ascii_uppercase());
    named && proper && (rest.is_empty() || rest.starts_with([':', '(']) || rest.starts_with(" ["))
}

/// Whether a JSON result says that it failed: `{"error": …}`, `"success": false`.
pub(super) fn is_json_error(body: &str) -> bool {
    if !body.starts_with(['{', '[']) {
        return false;
    }
    let head = &body[..body.floor_char_boundary(1024)];
    let value = |key: &str| {
        let at = memmem::find(head.as_bytes(), key.as_bytes())?;
        let rest = head.get(at + key.len()..)?;
        Some(rest.trim_ascii_start().strip_prefix(':')?.trim_ascii_start())
    };
    let starts = head.trim_start_matches(['{', '[', ' ', '\n', '\t']);
    if starts.starts_with("\"error\"") || starts.starts_with("\"Error\"") {
        let said = value("\"error\"").or_else(|| value("\"Error\"")).unwrap_or_default();
        let none = ["null", "false", "\"\"", "[]", "{}", "0"];
        return !said.is_empty() && !none.iter().any(|empty| said.starts_with(empty));
    }
    let says = |key: &str, wanted: &str| value(key).is_some_and(|said| said.starts_with(wanted));
    says("\"success\"", "false")
        || says("\"isError\"", "true")
        || says("\"is_error\"", "true")
        || (starts.starts_with("\"status\"") && says("\"status\"", "\"error\""))
}

/// Whether a JSON result is a list, or begins with a list, that has no entries.
pub(super) fn is_empty_list(body: &str) -> bool {
    let head = &body[..body.floor_char_boundary(96)];
    head.starts_with('{')
        && head.split_once(':').is_some_and(|(_, value)| value.trim_ascii_start().starts_with("[]"))
}

/// The line that says why a call failed.
pub(super) fn error_line(body: &str) -> &str {
    let trimmed = body.trim_ascii();
    let traced = head_lines(trimmed, LOOK).any(|line| line.starts_with("Traceback"));
    let exception = || last_lines(trimmed, LOOK).find(|line| is_exception(line));
    let named = || {
        let mut lines = head_lines(trimmed, LOOK);
        lines.find(|line| !line.starts_with("Traceback") && names_error(line))
    };
    let late = || last_lines(trimmed, LOOK).find(|line| names_error(line));
    let line = if traced { exception() } else { None };
    let line = line.or_else(named).or_else(exception).or_else(late);
    let line = line.or_else(|| last_lines(trimmed, LOOK).next()).unwrap_or_default();
    &line[..line.floor_char_boundary(300)]
}

fn names_error(line: &str) -> bool {
    use super::error_words::{SIGNS, Sign};
    let line = without_prefix(line);
    let mut found = is_exception(line);
    SIGNS.scan(&line[..line.floor_char_boundary(160)], |sign, at| {
        found |= match sign {
            Sign::Starts | Sign::StartsWithColon | Sign::StartsMessage => at.start <= 1,
            Sign::Shell | Sign::NotRun | Sign::Within => true,
            _ => false,
        };
    });
    found || line.contains("error:") || line.contains("error[") || line.contains("ERROR")
}

/// Hash of an error line in which numbers, hex, quoted texts and paths are masked.
pub(super) fn signature(line: &str) -> u64 {
    let mut fold = Fold::new(12);
    let mut masked = String::with_capacity(line.len());
    // What a program's exception quotes tells errors apart; what a tool's message quotes is
    // mostly the argument.
    let quotes = if is_exception(line) { Quotes::KeepNames } else { Quotes::Mask };
    mask(line, quotes, &mut masked);
    for word in masked.split_ascii_whitespace() {
        fold.piece(word.as_bytes());
    }
    fold.end()
}

/// What happens to quoted texts of an error line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quotes {
    Mask,
    KeepNames,
}

/// Writes a line with what varies between calls replaced: `"` a quoted text, `/` a path, `#` a
/// number.
fn mask(line: &str, quotes: Quotes, to: &mut String) {
    let mut rest = line.trim_ascii();
    while let Some(c) = rest.chars().next() {
        if matches!(c, '"' | '\'' | '`')
            && let Some(end) = rest[1..].find(c)
            && (c != '\'' || !to.ends_with(|c: char| c.is_alphanumeric()))
        {
            let quoted = &rest[1..=end];
            let name = quoted.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_');
            to.push('"');
            if quotes == Quotes::KeepNames && name {
                to.push_str(quoted);
            }
            rest = &rest[end + 2..];
            continue;
        }
        let len = rest
            .bytes()
            .take_while(|b| {
                b.is_ascii_alphanumeric() || matches!(b, b'_' | b'/' | b'.' | b'#' | b'-')
            })
            .count();
        if len == 0 {
            to.push(c.to_ascii_lowercase());
            rest = &rest[c.len_utf8()..];
            continue;
        }
        let (word, after) = rest.split_at(len);
        rest = after;
        let bare = word.trim_end_matches(['.', '-']);
        if bare.contains('/') || is_file_name(bare) {
            to.push('/');
        } else if bare.bytes().any(|byte| byte.is_ascii_digit()) || bare.starts_with('#') {
            mask_number(word, to);
        } else {
            to.extend(word.chars().map(|c| c.to_ascii_lowercase()));
        }
    }
}

fn is_file_name(word: &str) -> bool {
    let Some((stem, ending)) = word.rsplit_once('.') else { return false };
    let known = [
        "c", "cfg", "go", "h", "java", "js", "json", "md", "py", "rs", "sh", "toml", "ts", "txt",
        "yaml", "yml",
    ];
    !stem.is_empty() && known.contains(&ending)
}

/// An identifier with digits keeps its letters (`E0432` is another error than `W12`); ids and hex
/// become one mark.
fn mask_number(word: &str, to: &mut String) {
    let hex = word.len() >= 8 && word.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
    if hex || word.starts_with("0x") || word.starts_with('#') {
        to.push('#');
        return;
    }
    let code = word.len() <= 6 && word.starts_with(|c: char| c.is_ascii_uppercase());
    let mut digits = false;
    for c in word.chars() {
        if c.is_ascii_digit() && !code {
            if !digits {
                to.push('#');
            }
            digits = true;
        } else {
            digits = false;
            to.push(c.to_ascii_lowercase());
        }
    }
}
