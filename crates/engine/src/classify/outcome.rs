//! What a tool result says.

use serde::{Deserialize, Serialize};

use super::error_words::{SIGNS, Sign};
use super::essence;
use crate::retry::status_numbers;
use crate::tool::ToolKind;

/// How much of a result is looked at: this many bytes at its beginning and at its end.
pub(super) const LOOK: usize = 2048;

/// How much of the beginning and the end of a result decides whether it is an error, in bytes.
const VERDICT: usize = 512;

/// A result up to this length is a message rather than data, in bytes.
const MESSAGE: usize = 400;

/// What a tool result says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The call did what it should. Failing tests of a test run count here: they are its result.
    Ok,
    /// Nothing came back: no output, no match, an empty list.
    Empty,
    /// The call failed.
    Error {
        /// Hash of the line that says why, with numbers, quoted texts and paths masked: the same
        /// error from other arguments has the same signature.
        signature: u64,
        /// Whether trying again later may help (rate limit, timeout, network).
        transient: bool,
    },
}

/// Reads a tool result.
///
/// `is_error` and `exit_code` are what the source says (`None`: nothing); without them the text
/// decides, and only where an error is said at its beginning or end, not where the word occurs in
/// a listing. Codes that say "nothing found" or "tests failed" are no errors for kinds where that
/// is an answer. At most the first and the last 2 KiB are looked at.
#[must_use]
pub fn outcome(
    content: &str,
    is_error: Option<bool>,
    exit_code: Option<i32>,
    kind: ToolKind,
) -> Outcome {
    let result = essence::unwrap(content);
    let body = result.body.as_ref();
    let code = exit_code.or(result.exit_code);
    let failed = match (is_error, code) {
        (_, Some(code)) if code != 0 => match by_code(code, kind, body) {
            ByCode::Fine => false,
            ByCode::Nothing => return Outcome::Empty,
            ByCode::Failed => true,
        },
        (Some(true), _) => kind != ToolKind::Test || !ran(body),
        (Some(false), _) => false,
        (None, _) => says_error(body, kind, code.is_some()),
    };
    if failed {
        let line = essence::error_line(body);
        let signature = essence::signature(line);
        return Outcome::Error { signature, transient: is_transient(line) };
    }
    if says_nothing(body, kind) { Outcome::Empty } else { Outcome::Ok }
}

enum ByCode {
    Fine,
    Nothing,
    Failed,
}

fn by_code(code: i32, kind: ToolKind, body: &str) -> ByCode {
    let blank = body.trim_ascii().is_empty();
    match kind {
        // The command could not be run, was not found, or was killed.
        ToolKind::Test if matches!(code, 126 | 127) || !(0..=128).contains(&code) => ByCode::Failed,
        ToolKind::Test if ran(body) => ByCode::Fine,
        ToolKind::Search | ToolKind::Read | ToolKind::Poll if code == 1 && blank => ByCode::Nothing,
        ToolKind::Search if code == 1 && !says_error(body, kind, false) => ByCode::Fine,
        _ => ByCode::Failed,
    }
}

/// Whether a failed test run got as far as running tests.
fn ran(body: &str) -> bool {
    let (mut broken, mut tested) = (false, false);
    for part in essence::ends(body, VERDICT) {
        SIGNS.scan(part, |sign, _| match sign {
            Sign::NotRun => broken = true,
            Sign::Tested => tested = true,
            _ => {}
        });
    }
    tested || !broken
}

/// Whether a text says that the call failed.
///
/// `ended` is set if an exit code of zero is known: only a traceback at the end counts then.
fn says_error(body: &str, kind: ToolKind, ended: bool) -> bool {
    let body = body.trim_ascii();
    if body.is_empty() || kind == ToolKind::Test {
        return body.len() < MESSAGE && kind == ToolKind::Test && !ran(body);
    }
    let message = body.len() <= MESSAGE;
    let data = matches!(kind, ToolKind::Read | ToolKind::Search);
    if !ended && essence::is_json_error(body) {
        return true;
    }
    // With an exit code of zero only a traceback counts, and not in what was read.
    if ended && (data || !ends_in_exception(body)) {
        return false;
    }
    let mut first = true;
    for line in essence::head_lines(body, VERDICT).take(if data { 1 } else { 3 }) {
        match weigh(line) {
            Weight::Certain if !ended => return true,
            Weight::Traceback if !data => return true,
            Weight::Likely if !ended && message && first => return true,
            Weight::Done if first => return false,
            _ => {}
        }
        first = false;
    }
    if data || ended || kind == ToolKind::Plan {
        return false;
    }
    let mut last = essence::last_lines(body, VERDICT).take(2);
    last.any(|line| weigh(line) == Weight::Certain) || ends_in_exception(body)
}

fn ends_in_exception(body: &str) -> bool {
    essence::last_lines(body, VERDICT).take(3).any(essence::is_exception)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Weight {
    Nothing,
    /// Says error in a message; may be text in data.
    Likely,
    Done,
    Traceback,
    Certain,
}

/// How surely a line says that something failed.
fn weigh(line: &str) -> Weight {
    let line = essence::without_prefix(line);
    if essence::is_exception(line) {
        return Weight::Certain;
    }
    let mut weight = Weight::Nothing;
    SIGNS.scan(&line[..line.floor_char_boundary(200)], |sign, at| {
        let leads = at.start <= 1;
        let colon = line[at.end..].starts_with([':', '[', '!']);
        let found = match sign {
            Sign::Traceback if leads => Weight::Traceback,
            Sign::Starts if leads => Weight::Certain,
            Sign::StartsWithColon if leads && colon => Weight::Certain,
            Sign::StartsWithColon | Sign::StartsMessage if leads => Weight::Likely,
            Sign::Shell | Sign::NotRun => {
                let named = line[..at.start].trim_end().ends_with(':');
                if named || leads { Weight::Certain } else { Weight::Likely }
            }
            Sign::Within => Weight::Likely,
            Sign::Done => Weight::Done,
            _ => Weight::Nothing,
        };
        if found as u8 > weight as u8 {
            weight = found;
        }
    });
    weight
}

/// Whether an error line speaks of something that passes by itself.
fn is_transient(line: &str) -> bool {
    let mut transient = false;
    SIGNS.scan(line, |sign, _| transient |= sign == Sign::Transient);
    let mut named = status_numbers(line).filter(|status| status.announced);
    transient || named.any(|status| matches!(status.number, 408 | 429 | 500..=504 | 529))
}

/// Whether a result that did not fail is empty.
fn says_nothing(body: &str, kind: ToolKind) -> bool {
    let body = body.trim_ascii();
    if body.is_empty() || matches!(body, "[]" | "{}" | "null" | "None" | "\"\"" | "()") {
        return true;
    }
    if matches!(kind, ToolKind::Search) && essence::is_empty_list(body) {
        return true;
    }
    let head = &body[..body.floor_char_boundary(120)];
    let searches = matches!(kind, ToolKind::Search | ToolKind::Read | ToolKind::Other);
    let mut nothing = false;
    let last = if searches { 24 } else { 1 };
    SIGNS.scan_up_to(head, last, |sign, at| {
        nothing |= match sign {
            Sign::Silent => at.start <= 1 && body.len() <= MESSAGE,
            Sign::Nothing => searches,
            _ => false,
        };
    });
    nothing
}
