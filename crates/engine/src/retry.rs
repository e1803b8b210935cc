//! Retries of failed model calls (document E).

use crate::policy::Retry;
use crate::stop_reason::StopReason;
use crate::tool::hash_text;

/// How much of an error message is looked at, in bytes.
const LOOK: usize = 2048;

/// What makes a failed call worth a retry, anywhere in its message and also inside longer words
/// (`ReadTimeout`), in lower case.
const RETRYABLE: &[&str] = &[
    "rate limit",
    "rate_limit",
    "rate-limit",
    "ratelimit",
    "too many requests",
    "timeout",
    "timed out",
    "connection",
    "network",
];

/// Whether a model call is worth a retry (E2).
///
/// * A stop reason that says why the answer is what it is (everything but `Error` and `Unknown`)
///   is never retried, failed or not.
/// * `Error` and `Unknown` are retried if the call did not fail as such; if it did, the failure
///   decides: rate limit, timeout, connection, network, 429, 502, 503, 504, and nothing else.
/// * Without a stop reason a call that succeeded is not retried. One that failed is: by its HTTP
///   status and message if there is a status, always if there is none (servers of old told
///   neither).
///
/// Numbers in the message count only where they stand alone. 2 KiB of it are looked at.
#[must_use]
pub fn should_retry(
    stop: Option<StopReason>,
    failed: bool,
    status: Option<u16>,
    message: &str,
) -> bool {
    match (stop, failed) {
        (Some(StopReason::Error | StopReason::Unknown), false) => true,
        (Some(StopReason::Error | StopReason::Unknown), true) => is_passing(status, message),
        (Some(_), _) | (None, false) => false,
        (None, true) => status.is_none() || is_passing(status, message),
    }
}

/// Whether a failure passes by itself.
fn is_passing(status: Option<u16>, message: &str) -> bool {
    let retryable = |status: u16| matches!(status, 429 | 502 | 503 | 504);
    let message = &message[..message.floor_char_boundary(LOOK)];
    status.is_some_and(retryable)
        || RETRYABLE.iter().any(|word| contains(message, word))
        || status_numbers(message).any(|found| retryable(found.number))
}

fn contains(text: &str, lower: &str) -> bool {
    text.as_bytes().windows(lower.len()).any(|part| part.eq_ignore_ascii_case(lower.as_bytes()))
}

/// How long to wait before a retry, in milliseconds (E3); `None` if it must not be made.
///
/// `attempt` counts retries of one call from 1 (0 is taken as 1). A `Retry-After` takes the place
/// of the policy's delay; one that is longer than the policy waits for forbids the retry. Jitter
/// is added on top, the same for the same run and attempt.
#[must_use]
pub fn delay_ms(
    policy: &Retry,
    attempt: u32,
    retry_after_ms: Option<u64>,
    run_id: &str,
) -> Option<u64> {
    let attempt = attempt.max(1);
    if attempt > policy.max_retries {
        return None;
    }
    let delay = match retry_after_ms {
        Some(asked) if asked > policy.max_retry_after_ms => return None,
        Some(asked) => asked,
        None => {
            let last = policy.delays_ms.len().checked_sub(1)?;
            let at = usize::try_from(attempt - 1).map_or(last, |at| at.min(last));
            policy.delays_ms[at]
        }
    };
    let hash = crate::digest::combine(hash_text(run_id), u64::from(attempt));
    let most = delay / 100 * u64::from(policy.jitter_percent.min(100));
    let jitter = if most == 0 { 0 } else { hash % (most + 1) };
    Some(delay.saturating_add(jitter))
}

/// Words after which a number is no status code.
const COUNTED: &[&str] = &["column", "id", "line", "lines", "port", "step", "took"];

/// Words that announce a status code.
const LABELS: &[&str] = &["code", "error", "http", "response", "status", "statuscode"];

/// A number of three digits that stands alone in a text and may be a status code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StatusNumber {
    pub(crate) number: u16,
    /// Whether it begins the text or a word such as `status` stands before it.
    pub(crate) announced: bool,
}

/// The status codes that a text may name; line numbers, ports and sizes are left out.
pub(crate) fn status_numbers(text: &str) -> impl Iterator<Item = StatusNumber> {
    let separates = |c: char| c.is_whitespace() || "()[]{}<>\"'`,;=|/\u{2014}".contains(c);
    let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
    let mut before = "";
    let words = if has_digit { text } else { "" }.split(separates).filter(|word| !word.is_empty());
    words.filter_map(move |word| {
        let previous = core::mem::replace(&mut before, word);
        let bare = word.trim_end_matches(['.', ':', '!', '?']);
        let (label, digits) = bare.rsplit_once(':').unwrap_or(("", bare));
        let plain = digits.len() == 3 && digits.bytes().all(|byte| byte.is_ascii_digit());
        let labelled = is_in(LABELS, label);
        if !plain || !(label.is_empty() || labelled) || is_in(COUNTED, previous) {
            return None;
        }
        let told = is_in(LABELS, previous.trim_end_matches(':')) || previous.starts_with("HTTP");
        let announced = labelled || told || previous.is_empty();
        Some(StatusNumber { number: digits.parse().ok()?, announced })
    })
}

fn is_in(list: &[&str], word: &str) -> bool {
    list.iter().any(|known| known.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn the_matrix_of_document_e_holds() {
        use StopReason::{
            Error, InsufficientContext, Interrupted, Length, Stop, TimeLimit, ToolLimit, Unknown,
        };
        let cases = [
            (Some(Stop), false, None, "", false),
            (Some(Length), false, None, "", false),
            (Some(ToolLimit), false, None, "", false),
            (Some(TimeLimit), false, None, "", false),
            (Some(Interrupted), false, None, "", false),
            (Some(InsufficientContext), false, None, "", false),
            (Some(Error), false, None, "", true),
            (Some(Unknown), false, None, "", true),
            (None, false, None, "", false),
            (None, true, None, "", true),
            (None, true, None, "invalid api key", true),
            (None, true, Some(400), "bad request", false),
            (None, true, Some(401), "", false),
            (None, true, Some(500), "oops", false),
            (None, true, Some(429), "", true),
            (None, true, Some(502), "", true),
            (None, true, Some(503), "", true),
            (None, true, Some(504), "", true),
            (None, true, Some(400), "upstream connection reset", true),
            (Some(Length), true, None, "timeout", false),
            (Some(Error), true, None, "Rate limit reached", true),
            (Some(Error), true, None, "rate_limit_error", true),
            (Some(Error), true, None, "ReadTimeout", true),
            (Some(Error), true, None, "Network is unreachable", true),
            (Some(Error), true, None, "HTTP 503", true),
            (Some(Error), true, None, "error code: 429", true),
            (Some(Error), true, None, "status:502", true),
            (Some(Error), true, None, "HTTP/1.1 504", true),
            (Some(Error), true, None, "4291 items", false),
            (Some(Error), true, None, "a.py:503 failed", false),
            (Some(Error), true, None, "at line 503", false),
            (Some(Error), true, None, "took 1.503 s", false),
            (Some(Error), true, None, "name 'x' is not defined", false),
            (Some(Error), true, None, "", false),
        ];
        for (stop, failed, status, message, expected) in cases {
            let found = should_retry(stop, failed, status, message);
            assert_eq!(found, expected, "{stop:?} {failed} {status:?} {message:?}");
        }
    }

    #[test]
    fn delays_escalate_and_honour_retry_after() {
        let policy = Retry::default();
        let delays: Vec<_> = (0..7).map(|n| delay_ms(&policy, n, None, "r")).collect();
        let thousands = [30, 30, 60, 90, 120, 150].map(|s| Some(s * 1000));
        assert_eq!(delays[..6], thousands);
        assert_eq!(delays[6], None);
        let cases = [(Some(2_000), Some(2_000)), (Some(3_600_001), None), (Some(0), Some(0))];
        for (asked, expected) in cases {
            assert_eq!(delay_ms(&policy, 1, asked, "r"), expected, "{asked:?}");
        }
    }

    #[test]
    fn jitter_is_bounded_and_repeatable() {
        let policy = Retry { jitter_percent: 20, max_retries: 50, ..Retry::default() };
        let mut seen = Vec::new();
        for attempt in 1..50 {
            let delay = delay_ms(&policy, attempt, None, "run").unwrap();
            assert_eq!(Some(delay), delay_ms(&policy, attempt, None, "run"));
            let base = delay_ms(&Retry { jitter_percent: 0, ..policy.clone() }, attempt, None, "");
            let base = base.unwrap();
            assert!((base..=base + base / 5).contains(&delay), "{attempt}: {delay}");
            seen.push(delay - base);
        }
        seen.dedup();
        assert!(seen.len() > 20);
    }
}
