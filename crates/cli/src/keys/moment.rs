//! Until when a key holds.

/// The longest time that can be given: a hundred years.
const MAX_DAYS: u64 = 36_525;
const DAY_MS: u64 = 86_400_000;

/// When a key ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expiry {
    /// So many milliseconds from now.
    In(u64),
    /// At this moment, in milliseconds since 1970.
    At(u64),
}

impl Expiry {
    /// The moment, in milliseconds since 1970.
    pub(super) const fn moment_ms(self, now_ms: u64) -> u64 {
        match self {
            Self::In(ms) => now_ms.saturating_add(ms),
            Self::At(ms) => ms,
        }
    }
}

/// # Errors
/// What is allowed.
pub(super) fn expiry(text: &str) -> Result<Expiry, String> {
    let allowed = || "allowed are 90m, 12h, 30d, 8w, or a day as 2026-12-31".to_owned();
    if let Some(day) = day(text) {
        // The day itself is within the time.
        return Ok(Expiry::At((day + 1) * DAY_MS));
    }
    let unit_ms = match text.chars().last() {
        Some('m') => 60_000,
        Some('h') => 3_600_000,
        Some('d') => DAY_MS,
        Some('w') => 7 * DAY_MS,
        _ => return Err(allowed()),
    };
    let number: u64 = text[..text.len() - 1].parse().map_err(|_| allowed())?;
    let ms = number.checked_mul(unit_ms).filter(|ms| (1..=MAX_DAYS * DAY_MS).contains(ms));
    ms.map(Expiry::In).ok_or_else(|| "at most a hundred years, and not 0".to_owned())
}

/// The day of a date since 1970, in the Gregorian calendar; `None` if it is none.
fn day(text: &str) -> Option<u64> {
    let mut parts = text.split('-');
    let mut next = |digits: usize| -> Option<u64> {
        let part = parts.next()?;
        let plain = part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit());
        plain.then(|| part.parse().ok())?
    };
    let (year, month, day) = (next(4)?, next(2)?, next(2)?);
    let leap = year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    let length = match month {
        2 => 28 + u64::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if parts.next().is_some() || year < 1970 || !(1..=length).contains(&day) {
        return None;
    }
    // Years begin in March here, so that the leap day is the last; 400 years are an era.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let of_year = (153 * month + 2) / 5 + day - 1;
    let (era, of_era) = (year / 400, year % 400);
    Some(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

#[cfg(test)]
mod tests {
    use super::{DAY_MS, Expiry, expiry};
    use crate::run::date_and_time;

    fn check(text: &str, expected: Option<Expiry>) {
        assert_eq!(expiry(text).ok(), expected, "{text}");
    }

    #[test]
    fn times_are_read() {
        check("90m", Some(Expiry::In(5_400_000)));
        check("12h", Some(Expiry::In(43_200_000)));
        check("30d", Some(Expiry::In(30 * DAY_MS)));
        check("8w", Some(Expiry::In(56 * DAY_MS)));
        check("1970-01-01", Some(Expiry::At(DAY_MS)));
        for wrong in [
            "",
            "d",
            "0d",
            "30",
            "-1d",
            "1.5h",
            "99999999999d",
            "18446744073709551615w",
            "5ä",
            "2026-13-01",
            "2026-02-29",
            "2026-2-1",
            "2026-12-31-1",
            "1969-12-31",
            "2026-00-10",
        ] {
            check(wrong, None);
        }
    }

    #[test]
    fn days_are_those_of_the_calendar() {
        for (text, next) in [
            ("2026-12-31", "2027-01-01"),
            ("2024-02-29", "2024-03-01"),
            ("2000-02-28", "2000-02-29"),
            ("2026-11-22", "2026-11-23"),
        ] {
            let Ok(Expiry::At(ms)) = expiry(text) else { panic!("{text}") };
            assert_eq!(date_and_time(ms), format!("{next} 00:00:00"));
        }
    }
}
