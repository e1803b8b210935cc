//! The line that shows how a run stands, in as many columns as there are.

use std::time::Duration;

use crate::text::{cut_end, cut_start, width};

/// Columns that what is done has at least.
const DOING: usize = 16;

/// What stands between parts.
const GAP: &str = " · ";

/// A part of the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// A text that is there whole or not at all.
    Text(String),
    /// How long the run has taken.
    Time,
    /// What is done: the end of it is cut.
    Doing(String),
    /// What is said: the beginning of it is cut.
    Saying(String),
}

/// Says what is done in place of what was.
pub(super) fn set_doing(parts: &mut [Part], words: &str) {
    for part in parts {
        if matches!(part, Part::Doing(_) | Part::Saying(_)) {
            *part = Part::Saying(words.to_owned());
        }
    }
}

/// The line, at most `room` columns wide. Parts come in the order of their importance: the last
/// ones go first where there is no room.
pub(super) fn line(parts: &[Part], elapsed: Duration, room: usize) -> String {
    let seconds = elapsed.as_secs();
    let time = format!("{}:{:02}", seconds / 60, seconds % 60);
    let least = |part: &Part| match part {
        Part::Text(text) => width(text),
        Part::Time => width(&time),
        Part::Doing(text) | Part::Saying(text) => width(text).min(DOING),
    };
    let (mut used, mut fitting) = (0, Vec::new());
    for part in parts {
        let more = least(part) + if fitting.is_empty() { 0 } else { width(GAP) };
        if used + more > room {
            break;
        }
        used += more;
        fitting.push(part);
    }
    let spare = room.saturating_sub(used);
    let told = fitting.into_iter().map(|part| match part {
        Part::Text(text) => text.clone(),
        Part::Time => time.clone(),
        Part::Doing(text) => cut_end(text, least(part) + spare),
        Part::Saying(text) => cut_start(text, least(part) + spare),
    });
    told.collect::<Vec<_>>().join(GAP)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(room: usize, expected: &str) {
        let parts = [
            Part::Text("▸ turn 3".to_owned()),
            Part::Time,
            Part::Doing("shell cargo test --offline --workspace".to_owned()),
            Part::Text("2 failing, 6 passing".to_owned()),
            Part::Text("12.3k tokens".to_owned()),
        ];
        let shown = line(&parts, Duration::from_secs(65), room);
        assert_eq!(shown, expected);
        assert!(width(&shown) <= room);
    }

    #[test]
    fn the_least_important_goes_first() {
        let whole = "▸ turn 3 · 1:05 · shell cargo test --offline --workspace · \
                     2 failing, 6 passing · 12.3k tokens";
        check(120, whole);
        check(
            79,
            "▸ turn 3 · 1:05 · shell cargo test --off… · 2 failing, 6 passing · 12.3k tokens",
        );
        check(73, "▸ turn 3 · 1:05 · shell cargo test… · 2 failing, 6 passing · 12.3k tokens");
        check(49, "▸ turn 3 · 1:05 · shell cargo test --offline --w…");
        check(20, "▸ turn 3 · 1:05");
        check(3, "");
    }

    #[test]
    fn of_what_is_said_the_end_is_shown() {
        let mut parts = [Part::Text("▸".to_owned()), Part::Doing("x".to_owned())];
        set_doing(&mut parts, "one two three four five six");
        assert_eq!(line(&parts, Duration::ZERO, 20), "▸ · …e four five six");
    }
}
