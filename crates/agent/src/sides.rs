//! Attempts side by side: what the journal of their group says of them, and which one is chosen.

use serde::{Deserialize, Serialize};

use crate::ending::Ending;

/// Several attempts at one task begin side by side, each a session of its own in a copy of the
/// workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SidesBegun {
    /// The attempts, by number.
    pub sides: Vec<Side>,
    /// How many of them work at a time.
    pub jobs: u32,
    /// Whether the others go on after one of them is proved.
    pub all: bool,
}

/// One of several attempts side by side.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Side {
    /// Its number, from 1.
    pub number: u32,
    /// Its session.
    pub session: String,
    /// The copy of the workspace that it works in.
    pub folder: String,
    /// The approach it is asked to take, in a few words.
    pub stance: String,
}

/// An attempt came to its end and was judged.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SideEnded {
    /// Its number.
    pub number: u32,
    /// How its session ended; `None` if it was never begun.
    pub ending: Option<Ending>,
    /// Why, as a sentence.
    pub why: String,
    /// Its answer; empty if there is none.
    pub answer: String,
    /// Whether the check was run once more on its last state; not for one that was stopped.
    pub checked: bool,
    /// Whether that check passed.
    pub proved: bool,
    /// Failing and passing tests of its last state; `None` if none were seen.
    pub tests: Option<(u32, u32)>,
    /// Files that differ from the state before the run.
    pub files: u32,
    /// Lines it added.
    pub insertions: u32,
    /// Lines it removed.
    pub deletions: u32,
    /// The git commit that holds its last state; empty if it could not be kept.
    pub state: String,
    /// The ref of that commit.
    pub kept: String,
    /// The ref of its difference from the state before the run, as a patch.
    pub patch: String,
    /// Model replies.
    pub turns: u32,
    /// Tool calls.
    pub calls: u32,
    /// Tokens sent.
    pub input_tokens: u64,
    /// Tokens generated.
    pub output_tokens: u64,
    /// Nano-dollars.
    pub cost_nanodollars: u64,
}

impl SideEnded {
    /// Lines added and removed.
    #[must_use]
    pub const fn lines(&self) -> u64 {
        self.insertions as u64 + self.deletions as u64
    }

    /// How it ended in the light of the check on its last state.
    #[must_use]
    pub const fn ending(&self) -> Option<Ending> {
        match self.ending {
            Some(_) if self.proved => Some(Ending::Complete),
            // It was proved once, and is not any more.
            Some(Ending::Complete) if self.checked => Some(Ending::Refuted),
            ending => ending,
        }
    }

    /// Whether the tests of another one are better: fewer fail or more pass, and neither is worse.
    fn is_beaten_by(&self, other: &Self) -> bool {
        match (self.tests, other.tests) {
            (None, Some(_)) => true,
            (_, None) => false,
            (Some(mine), Some(theirs)) => {
                theirs.0 <= mine.0 && theirs.1 >= mine.1 && theirs != mine
            }
        }
    }
}

/// What the journal of a group says of its attempts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sides {
    /// What was begun.
    pub begun: SidesBegun,
    /// Those that ended, in the order in which they did.
    pub ended: Vec<SideEnded>,
    /// The number of the chosen one; `None` until one is.
    pub chosen: Option<u32>,
    /// The workspace holds the chosen state.
    pub applied: bool,
}

impl Sides {
    /// The attempts that have not ended.
    pub fn open(&self) -> impl Iterator<Item = &Side> {
        let ended = |side: &Side| self.ended.iter().any(|end| end.number == side.number);
        self.begun.sides.iter().filter(move |side| !ended(side))
    }

    /// How the chosen one ended.
    #[must_use]
    pub fn winner(&self) -> Option<&SideEnded> {
        self.ended.iter().find(|end| Some(end.number) == self.chosen)
    }
}

/// Chooses among attempts that ended: its number, and why in words. `None` if the state of none
/// is kept.
///
/// One that the check proves comes before one that it does not; one whose run did not fail before
/// one whose model could not be reached. Of these remain all whose tests no other one's beat in
/// both numbers; then the smallest change wins, then the lowest number.
#[must_use]
pub fn choose(ends: &[SideEnded]) -> Option<(u32, String)> {
    let mut left: Vec<&SideEnded> = ends.iter().filter(|end| !end.state.is_empty()).collect();
    left.sort_by_key(|end| end.number);
    let mut why = Vec::new();
    let mut narrow =
        |left: &mut Vec<&SideEnded>, words: &str, wanted: &dyn Fn(&SideEnded) -> bool| {
            let before = left.len();
            if left.iter().any(|end| wanted(end)) {
                left.retain(|end| wanted(end));
            }
            if left.len() < before {
                why.push(words.to_owned());
            }
        };
    narrow(&mut left, "the check proves it", &|end| end.proved);
    narrow(&mut left, "its run did not fail", &|end| end.ending != Some(Ending::Failed));
    let rivals = left.clone();
    narrow(&mut left, "no other one's tests are better", &|end| {
        !rivals.iter().any(|other| end.is_beaten_by(other))
    });
    let smallest = left.iter().map(|end| end.lines()).min()?;
    narrow(&mut left, "its change is the smallest", &|end| end.lines() == smallest);
    let first = left.first()?.number;
    narrow(&mut left, "it is the first of equals", &|end| end.number == first);
    if why.is_empty() {
        why.push("it is the only one".to_owned());
    }
    Some((first, why.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::{SideEnded, choose};
    use crate::ending::Ending;

    fn end(number: u32, proved: bool, tests: Option<(u32, u32)>, lines: u32) -> SideEnded {
        SideEnded {
            number,
            ending: Some(if proved { Ending::Complete } else { Ending::Refuted }),
            checked: true,
            proved,
            tests,
            insertions: lines,
            state: "x".to_owned(),
            ..SideEnded::default()
        }
    }

    fn check(ends: &[SideEnded], expected: (u32, &str)) {
        let (number, why) = choose(ends).unwrap();
        assert_eq!((number, why.as_str()), expected);
    }

    #[test]
    fn proof_comes_before_tests_and_tests_before_size() {
        let proof = end(3, true, Some((0, 5)), 90);
        check(
            &[end(1, false, Some((1, 9)), 1), end(2, false, None, 0), proof.clone()],
            (3, "the check proves it"),
        );
        check(
            &[end(1, false, Some((2, 3)), 1), end(2, false, Some((1, 4)), 50)],
            (2, "no other one's tests are better"),
        );
        check(
            &[proof, end(2, true, Some((0, 5)), 80), end(1, false, Some((0, 9)), 1)],
            (2, "the check proves it, its change is the smallest"),
        );
    }

    #[test]
    fn fewer_failing_tests_are_no_better_if_fewer_pass() {
        let deleted = end(1, false, Some((0, 1)), 40);
        let honest = end(2, false, Some((2, 8)), 10);
        check(&[deleted, honest], (2, "its change is the smallest"));
    }

    #[test]
    fn an_order_of_arrival_does_not_matter() {
        let ends = [end(2, false, None, 4), end(1, false, None, 4)];
        check(&ends, (1, "it is the first of equals"));
        check(&ends[..1], (2, "it is the only one"));
    }

    #[test]
    fn one_that_could_not_work_or_is_not_kept_is_not_chosen() {
        let mut failed = end(1, false, None, 0);
        failed.ending = Some(Ending::Failed);
        check(&[failed, end(2, false, None, 9)], (2, "its run did not fail"));
        let mut lost = end(1, true, None, 0);
        lost.state.clear();
        assert_eq!(choose(&[lost]), None);
    }

    #[test]
    fn what_the_check_says_last_is_how_it_ended() {
        let mut complete = end(1, true, None, 0);
        complete.proved = false;
        assert_eq!(complete.ending(), Some(Ending::Refuted));
        complete.checked = false;
        assert_eq!(complete.ending(), Some(Ending::Complete));
        complete.ending = Some(Ending::Capped);
        complete.proved = true;
        assert_eq!(complete.ending(), Some(Ending::Complete));
    }
}
