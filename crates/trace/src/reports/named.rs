//! The names behind the identities of failing tests.

use steersman_engine::{TestReport, test_id};

/// Most lines that are searched for names.
const MAX_LINES: usize = 2000;
/// Longest line that is searched, in bytes.
const MAX_LINE: usize = 400;
/// Most words of a line, and of a name.
const MAX_WORDS: usize = 14;

/// The names of failing tests as the output has them, with their identities: those that stand in
/// one line. At most [`TestReport::MAX_FAILING`]; of an output of more than 2,000 lines the last
/// ones are searched.
///
/// A name is what has the identity, so that none is wrong; one that the output spreads over
/// several lines is not found.
#[must_use]
pub fn failing_names(output: &str, report: &TestReport) -> Vec<(u64, String)> {
    let mut wanted = report.failing.clone();
    let mut found = Vec::new();
    for line in output.lines().rev().take(MAX_LINES) {
        if wanted.is_empty() {
            break;
        }
        if line.len() <= MAX_LINE {
            search(line, &mut wanted, &mut found);
        }
    }
    found
}

fn search(line: &str, wanted: &mut Vec<u64>, found: &mut Vec<(u64, String)>) {
    let line = super::log::clean(line.into());
    let mut cuts: Vec<(usize, usize)> = Vec::with_capacity(MAX_WORDS);
    let mut rest = 0;
    for word in line.split_whitespace().take(MAX_WORDS) {
        let Some(at) = line[rest..].find(word) else { break };
        cuts.push((rest + at, rest + at + word.len()));
        rest += at + word.len();
    }
    for (at, (begin, _)) in cuts.iter().enumerate() {
        for (_, end) in cuts.iter().skip(at) {
            let Some(name) = line.get(*begin..*end) else { continue };
            let bare = name.trim_matches(|c: char| ",;:'\"`()".contains(c));
            for name in [name, bare] {
                let id = test_id(&super::name::stable(name));
                if let Some(place) = wanted.iter().position(|one| *one == id) {
                    wanted.remove(place);
                    found.push((id, name.to_owned()));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(output: &str, expected: &[&str]) {
        let Some(report) = super::super::parse(output) else { panic!("no report: {output}") };
        let mut names: Vec<String> =
            failing_names(output, &report).into_iter().map(|(_, name)| name).collect();
        names.sort();
        assert_eq!(names, expected, "{output}");
    }

    #[test]
    fn names_are_those_of_the_identities() {
        check(
            "running 2 tests\ntest a::works ... ok\ntest a::breaks ... FAILED\n\nfailures:\n\n\
             failures:\n    a::breaks\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\n",
            &["a::breaks"],
        );
        check(
            "FAILED tests/test_a.py::test_one - assert 1 == 2\n\
             FAILED tests/test_a.py::test_two[x y] - ValueError\n\
             === 2 failed, 1 passed in 0.12s ===\n",
            &["tests/test_a.py::test_one", "tests/test_a.py::test_two[x y]"],
        );
        // Its package, which is part of the name, stands in another line.
        check("--- FAIL: TestSum (0.00s)\nFAIL\nFAIL\texample.com/sum\t0.1s\n", &[]);
        check("=== 3 passed in 0.12s ===\n", &[]);
    }
}
