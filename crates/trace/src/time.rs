//! Timestamps as the sources write them.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use steersman_engine::Timestamp;

/// Reads an ISO 8601 time; without an offset it is taken as UTC. Unknown if it is none, or lies
/// before 1970.
pub(crate) fn iso(text: &str) -> Timestamp {
    if text.is_empty() {
        return Timestamp::UNKNOWN;
    }
    let ms = text.parse::<jiff::Timestamp>().or_else(|_| {
        text.parse::<DateTime>().and_then(|t| t.to_zoned(TimeZone::UTC)).map(|t| t.timestamp())
    });
    Timestamp(ms.map_or(0, |t| u64::try_from(t.as_millisecond()).unwrap_or(0)))
}

/// Reads a time that is either ISO 8601, or a number of seconds or milliseconds since 1970.
pub(crate) fn any(text: &str) -> Timestamp {
    match text.parse::<f64>() {
        Ok(number) => from_epoch(number),
        Err(_) => iso(text),
    }
}

/// Seconds or milliseconds since 1970; 10¹¹ seconds are beyond the year 5000, so above is
/// milliseconds.
fn from_epoch(number: f64) -> Timestamp {
    if !number.is_finite() || number <= 0.0 || number > 1e15 {
        return Timestamp::UNKNOWN;
    }
    let ms = if number < 1e11 { number * 1000.0 } else { number };
    Timestamp(ms as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_sources_write() {
        let cases = [
            ("2026-02-11T15:31:21.085Z", 1_770_823_881_085),
            ("2026-02-11T16:31:21.085+01:00", 1_770_823_881_085),
            ("2026-02-11T15:31:21.085123", 1_770_823_881_085),
            ("2026-02-11 15:31:21", 1_770_823_881_000),
            ("1775785607.0704129", 1_775_785_607_070),
            ("1775785607070", 1_775_785_607_070),
            ("yesterday", 0),
            ("", 0),
            ("1969-12-31T23:59:59Z", 0),
            ("NaN", 0),
            ("-5", 0),
        ];
        for (text, expected) in cases {
            assert_eq!(any(text), Timestamp(expected), "{text}");
        }
    }
}
