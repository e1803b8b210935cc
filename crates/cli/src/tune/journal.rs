//! What people said of interventions, and what came of them.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use steersman_engine::Policy;
use steersman_evaluation::journal::{Journal, MAX_LINE};
use steersman_evaluation::{feedback, wording};

use crate::text;

/// What was learned from a journal, in sentences.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    /// What the policy holds now.
    pub(crate) changes: Vec<String>,
    /// What could not be used, and why.
    pub(crate) problems: Vec<String>,
}

/// Changes a policy by a journal.
pub(crate) fn hear(path: &Path, policy: &mut Policy) -> Result<Heard, String> {
    let fail = |error: std::io::Error| format!("{}: {error}", path.display());
    let file = BufReader::new(File::open(path).map_err(fail)?);
    let journal = Journal::read(lines(file).collect::<Result<Vec<_>, _>>().map_err(fail)?);
    if journal.entries.is_empty() && journal.error_count == 0 {
        return Err(format!("{}: there is no intervention in it", path.display()));
    }
    let mut heard = Heard::default();
    let shown = journal.errors.iter().map(|error| format!("{}: {error}", path.display()));
    heard.problems.extend(shown);
    let more = journal.error_count - journal.errors.len() as u64;
    if more > 0 {
        heard.problems.push(format!("{} more are wrong", text::counted(more, "line")));
    }
    heard.problems.extend(journal.contradictions.iter().map(ToString::to_string));
    if journal.entries.is_empty() {
        return Err(format!(
            "{}: no line of it can be read:\n{}",
            path.display(),
            heard.problems[0]
        ));
    }
    for moved in feedback::apply(policy, &journal.marks()) {
        let feedback::Move { path, from, to, why, .. } = moved;
        heard.changes.push(format!("{path}: {from} becomes {to}, because {why}"));
    }
    let learned = wording::learn(&journal.entries, policy);
    for (count, why) in [
        (learned.without_model, "of no model that is known"),
        (learned.without_text, "of texts that the policy does not have"),
        (learned.beyond_limit, "beyond what a policy can hold"),
    ] {
        if count > 0 {
            heard.problems.push(format!("{} {why}: left out", text::counted(count, "outcome")));
        }
    }
    for known in &learned.learned {
        let tries = known.outcomes.iter().map(|it| format!("{} of {}", it.good, it.good + it.bad));
        let tries = tries.collect::<Vec<_>>().join(", ");
        heard.changes.push(format!(
            "{} with {}: its texts helped {tries} times",
            known.template,
            text::plain(&known.model)
        ));
    }
    policy.wording.learned = learned.learned;
    Ok(heard)
}

/// The lines of a journal; of one that is too long only as much as shows that it is.
fn lines(mut from: impl BufRead) -> impl Iterator<Item = std::io::Result<String>> {
    std::iter::from_fn(move || {
        let mut line = Vec::new();
        let limit = MAX_LINE as u64 + 2;
        match from.by_ref().take(limit).read_until(b'\n', &mut line) {
            Ok(0) => return None,
            Ok(_) => {}
            Err(error) => return Some(Err(error)),
        }
        if line.last() == Some(&b'\n') {
            line.pop();
        } else if line.len() as u64 == limit
            && let Err(error) = from.skip_until(b'\n')
        {
            return Some(Err(error));
        }
        Some(Ok(String::from_utf8_lossy(&line).into_owned()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_too_long_does_not_fill_memory() {
        let long = "x".repeat(3 * MAX_LINE);
        let text = format!("a\n{long}\nb");
        let found: Vec<usize> = lines(text.as_bytes()).flatten().map(|line| line.len()).collect();
        assert_eq!(found, [1, MAX_LINE + 2, 1]);
    }
}
