//! The words without which a text holds no test results.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use steersman_engine::TestReport;

use super::FRAMEWORKS;

/// What a framework's output cannot do without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Marker {
    /// This text.
    Text(&'static str),
    /// A digit, then this text.
    Counted(&'static str),
}

/// One test framework.
pub(super) struct Framework {
    /// Reads cleaned output; `None` if it holds no results of this framework.
    pub(super) read: fn(&str) -> Option<TestReport>,
    /// At least one of them stands in any output that `read` understands.
    pub(super) markers: &'static [Marker],
}

/// An entry of the table.
pub(super) const fn framework(
    read: fn(&str) -> Option<TestReport>,
    markers: &'static [Marker],
) -> Framework {
    Framework { read, markers }
}

struct Finder {
    automaton: AhoCorasick,
    /// Per pattern: whether a digit must stand before it, and the frameworks it marks.
    patterns: Vec<(bool, u32)>,
}

/// `None` only if the patterns were too many for the automaton, which a test rules out.
static FINDER: LazyLock<Option<Finder>> = LazyLock::new(|| {
    let mut texts: Vec<&str> = Vec::new();
    let mut patterns: Vec<(bool, u32)> = Vec::new();
    for (index, framework) in FRAMEWORKS.iter().enumerate() {
        for marker in framework.markers {
            let (text, counted) = match *marker {
                Marker::Text(text) => (text, false),
                Marker::Counted(text) => (text, true),
            };
            match texts.iter().position(|known| *known == text) {
                Some(known) => patterns[known].1 |= 1 << index,
                None => {
                    texts.push(text);
                    patterns.push((counted, 1 << index));
                }
            }
        }
    }
    let automaton = AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostFirst)
        .kind(Some(AhoCorasickKind::DFA))
        .build(&texts)
        .ok()?;
    Some(Finder { automaton, patterns })
});

/// The frameworks whose markers a text holds, as a set of bits by their place in the table.
pub(super) fn find(text: &str) -> u32 {
    let Some(finder) = &*FINDER else { return u32::MAX };
    let mut frameworks = 0;
    for hit in finder.automaton.find_iter(text) {
        let Some(&(counted, marked)) = finder.patterns.get(hit.pattern().as_usize()) else {
            continue;
        };
        let before = hit.start().checked_sub(1).and_then(|at| text.as_bytes().get(at));
        if !counted || before.is_some_and(u8::is_ascii_digit) {
            frameworks |= marked;
        }
    }
    frameworks
}
