//! What each of several attempts is told beside the task.

/// Approaches that differ in kind: a few words for people, and a sentence for the agent.
const STANCES: &[(&str, &str)] = &[
    (
        "smallest change",
        "Make the smallest change that does what is asked, and leave everything else as it is.",
    ),
    (
        "from the cause",
        "Find out first why things are as they are: reproduce it, follow the data through the \
         code, and change what lies at the root.",
    ),
    (
        "redesign",
        "Look for the part whose design makes this hard, and rewrite that part so that it becomes \
         easy.",
    ),
    (
        "tests first",
        "Begin with the tests: work out from them, one by one, what exactly is demanded, before \
         you change anything.",
    ),
    (
        "interfaces first",
        "Begin with types and interfaces: settle what they have to be, then fill in what lies \
         behind them.",
    ),
    (
        "known pattern",
        "Look for a known algorithm, a library that is already there, or a pattern in this code \
         that solves it, and use that.",
    ),
    (
        "simplify first",
        "Simplify first: take away what stands in the way, then make the change where it has \
         become easy.",
    ),
    (
        "anew beside the old",
        "Write the part anew beside the old one, make it work there, then switch over and remove \
         the old one.",
    ),
];

/// The approach of an attempt, counted from 1, in a few words.
pub(super) fn stance(number: u32) -> &'static str {
    of(number).0
}

/// The task as one of `all` attempts is told it.
pub(super) fn told(task: &str, number: u32, all: u32) -> String {
    let again = if number as usize > STANCES.len() {
        " Another attempt was told the same: go a less obvious way."
    } else {
        ""
    };
    format!(
        "{task}\n\n---\nThis is attempt {number} of {all} at this task. They are made side by \
         side, each in a copy of the project of its own, and the best one by the check is taken. \
         Approaches that differ in kind are worth more than the same one {all} times. Yours: \
         {}{again} If that does not fit the task, take another approach that the other attempts \
         are unlikely to take. Nobody answers questions.",
        of(number).1
    )
}

fn of(number: u32) -> (&'static str, &'static str) {
    STANCES[(number.max(1) - 1) as usize % STANCES.len()]
}

#[cfg(test)]
mod tests {
    use super::{stance, told};

    #[test]
    fn each_attempt_is_told_another_approach() {
        let mut seen: Vec<&str> = (1..=8).map(stance).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 8);
        assert_eq!(stance(9), stance(1));
        let text = told("Do it.", 9, 16);
        assert!(text.starts_with("Do it.\n\n---\nThis is attempt 9 of 16"), "{text}");
        assert!(text.contains("a less obvious way"), "{text}");
        assert!(!told("Do it.", 1, 2).contains("less obvious"));
    }
}
