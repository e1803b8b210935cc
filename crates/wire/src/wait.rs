//! How long a server asks to wait.

use jiff::fmt::rfc2822::DateTimeParser;
use serde_json::Value;

/// Longest wait that is believed: a day. More is a broken header.
const LONGEST_MS: f64 = 86_400_000.0;

/// Buckets of tokens and requests: how much is left, and when it is filled up again.
const BUCKETS: &[(&str, &str)] = &[
    ("x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"),
    ("x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"),
    ("anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset"),
    ("anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset"),
    ("anthropic-ratelimit-input-tokens-remaining", "anthropic-ratelimit-input-tokens-reset"),
    ("anthropic-ratelimit-output-tokens-remaining", "anthropic-ratelimit-output-tokens-reset"),
    ("x-ratelimit-remaining", "x-ratelimit-reset"),
    ("ratelimit-remaining", "ratelimit-reset"),
];

/// Milliseconds to wait as the headers tell it; `None` if they do not.
///
/// `retry-after-ms` and `Retry-After` come first. Reset times of buckets count only where the
/// bucket is empty, and then the longest: the others say when a full quota is back, not when one
/// request fits again.
pub(crate) fn from_headers<'h>(
    header: &impl Fn(&str) -> Option<&'h str>,
    now_ms: u64,
) -> Option<u64> {
    let exact = header("retry-after-ms").and_then(|text| ms(text.trim().parse().ok()?));
    exact.or_else(|| moment(header("retry-after")?, now_ms)).or_else(|| {
        let empty = |name| header(name).is_some_and(|left| left.trim().parse() == Ok(0.0));
        let resets = BUCKETS.iter().filter(|(left, _)| empty(left));
        resets.filter_map(|(_, reset)| moment(header(reset)?, now_ms)).max()
    })
}

/// Milliseconds to wait as an error's body tells it; `None` if it does not.
///
/// Gemini's `RetryInfo`, and "try again in 1.2s" in the message.
pub(crate) fn from_body(error: &Value, message: &str) -> Option<u64> {
    let details = error.get("details").and_then(Value::as_array);
    let told = details.and_then(|details| {
        details.iter().find_map(|detail| duration(detail.get("retryDelay")?.as_str()?))
    });
    told.or_else(|| {
        let (_, after) = message.split_once("try again in ")?;
        let end = after.find(char::is_whitespace).unwrap_or(after.len());
        duration(after[..end].trim_end_matches(['.', ',']))
    })
}

/// A header's value: seconds, a duration (`6m0s`), seconds or milliseconds since 1970, an HTTP
/// date, or RFC 3339.
fn moment(text: &str, now_ms: u64) -> Option<u64> {
    let text = text.trim();
    if let Ok(number) = text.parse::<f64>() {
        // 10⁹ seconds are 30 years, 10¹¹ the year 5138: no wait, but a moment.
        return match number {
            n if n < 1e9 => ms(n * 1000.0),
            n if n < 1e11 => ms((n * 1000.0 - now_ms as f64).max(0.0)),
            n if n < 1e15 => ms((n - now_ms as f64).max(0.0)),
            _ => None,
        };
    }
    duration(text).or_else(|| {
        let date = DateTimeParser::new().parse_timestamp(text);
        let at = date.or_else(|_| text.parse::<jiff::Timestamp>()).ok()?;
        ms((at.as_millisecond() as f64 - now_ms as f64).max(0.0))
    })
}

/// A duration as Go writes it: `6m0s`, `1h2m3.5s`, `120ms`, `34.07s`.
fn duration(text: &str) -> Option<u64> {
    let (mut rest, mut total) = (text, 0.0);
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, after) = rest.split_at(digits);
        let end = after.find(|c: char| !c.is_alphabetic()).unwrap_or(after.len());
        let (unit, after) = after.split_at(end);
        total += number.parse::<f64>().ok()?
            * match unit {
                "ms" => 1.0,
                "s" | "sec" | "second" | "seconds" => 1000.0,
                "m" | "min" | "minute" | "minutes" => 60_000.0,
                "h" => 3_600_000.0,
                "d" => 86_400_000.0,
                "us" | "µs" | "ns" => 0.0,
                _ => return None,
            };
        rest = after;
    }
    if text.is_empty() { None } else { ms(total) }
}

/// Whole milliseconds, rounded up; `None` for what is no wait.
fn ms(number: f64) -> Option<u64> {
    (number.is_finite() && (0.0..=LONGEST_MS).contains(&number)).then(|| number.ceil() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-22T12:00:00Z.
    const NOW: u64 = 1_795_348_800_000;

    #[test]
    fn moments_are_read() {
        let cases = [
            ("2", Some(2000)),
            ("0", Some(0)),
            ("0.5", Some(500)),
            ("6m0s", Some(360_000)),
            ("1h2m3.5s", Some(3_723_500)),
            ("120ms", Some(120)),
            ("34.074824224s", Some(34_075)),
            ("Sun, 22 Nov 2026 12:00:30 GMT", Some(30_000)),
            ("Sun, 22 Nov 2026 11:00:30 GMT", Some(0)),
            ("2026-11-22T12:01:00Z", Some(60_000)),
            ("1795348805", Some(5000)),
            ("1795348805500", Some(5500)),
            ("-3", None),
            ("soon", None),
            ("", None),
            ("NaN", None),
            ("6x", None),
            ("999999", None),
        ];
        for (text, expected) in cases {
            assert_eq!(moment(text, NOW), expected, "{text}");
        }
    }

    #[test]
    fn headers_are_asked_in_order() {
        let check = |headers: &[(&str, &'static str)], expected| {
            let find = |name: &str| headers.iter().find(|h| h.0 == name).map(|h| h.1);
            assert_eq!(from_headers(&find, NOW), expected, "{headers:?}");
        };
        check(&[("retry-after", "3"), ("retry-after-ms", "2500")], Some(2500));
        check(&[("retry-after", "3")], Some(3000));
        check(
            &[
                ("x-ratelimit-remaining-requests", "0"),
                ("x-ratelimit-reset-requests", "8.64s"),
                ("x-ratelimit-remaining-tokens", "100"),
                ("x-ratelimit-reset-tokens", "6m0s"),
            ],
            Some(8640),
        );
        check(
            &[
                ("anthropic-ratelimit-input-tokens-remaining", "0"),
                ("anthropic-ratelimit-input-tokens-reset", "2026-11-22T12:00:07Z"),
            ],
            Some(7000),
        );
        check(&[("x-ratelimit-reset-tokens", "6m0s")], None);
        check(&[], None);
    }

    #[test]
    fn bodies_are_asked() {
        let error = serde_json::json!({"details": [
            {"@type": "type.googleapis.com/google.rpc.QuotaFailure"},
            {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34s"},
        ]});
        assert_eq!(from_body(&error, ""), Some(34_000));
        let message = "Rate limit reached for x. Please try again in 1.2s. Visit";
        assert_eq!(from_body(&Value::Null, message), Some(1200));
        assert_eq!(from_body(&Value::Null, "try again in a while"), None);
    }
}
