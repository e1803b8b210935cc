//! The journal of interventions: what was said to agents, and what followed.
//!
//! JSON Lines: one object per line, at most 1 MiB each. Blank lines and unknown keys are passed
//! over.
//!
//! ```json
//! {"run": "r-17", "turn": 9, "model": "gpt-5.5", "reason": "repeated_outcome",
//!  "template": "nudge_loop", "variant": 0, "mark": "harmful", "recovered": null}
//! ```
//!
//! | key | value |
//! |---|---|
//! | `run` | identity of the run, not empty |
//! | `turn` | turn of the intervention |
//! | `model` | the model's name; empty if it is not known |
//! | `reason` | key of the rule that spoke |
//! | `template` | name of the text; empty or left out if nothing was said |
//! | `variant` | which of the texts of that name was shown, from 0; left out: 0 |
//! | `mark` | `helpful` or `harmful` if a person said so; `null` or left out if nobody did |
//! | `recovered` | whether the run got going again; `null` or left out if that is not known |
//!
//! A journal is only ever appended to: what becomes known later is a further line that repeats what
//! it is about. There the later `recovered` holds. The same mark twice is one mark; a turn that is
//! marked as helpful and as harmful counts as not marked, and is reported.

use std::collections::HashMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use steersman_engine::built_in_texts;
use steersman_engine::policy::RuleId;

use crate::feedback::Mark;

/// Longest line in bytes.
pub const MAX_LINE: usize = 1 << 20;

/// How many errors a [`Journal`] keeps; the others are only counted.
pub const MAX_ERRORS: usize = 100;

/// What a person says of an intervention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Opinion {
    /// It was right to speak.
    Helpful,
    /// It disturbed, or ended what should have gone on.
    Harmful,
}

/// An intervention and what followed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// Identity of the run.
    pub run: String,
    /// Turn of the intervention.
    pub turn: u32,
    /// The model's name; empty if it is not known.
    pub model: String,
    /// The rule that spoke.
    pub reason: RuleId,
    /// Name of the text; empty if the agent was told nothing.
    pub template: String,
    /// Which of the texts of that name was shown, from 0.
    pub variant: u32,
    /// What a person says of it; `None` if nobody said anything, or both.
    pub mark: Option<Opinion>,
    /// Whether the run got going again; `None` if that is not known.
    pub recovered: Option<bool>,
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}; allowed is {allowed}")]
pub struct JournalError {
    /// Number of the line, from 1.
    pub line: u64,
    /// What is wrong.
    pub what: String,
    /// What is allowed, as a phrase.
    pub allowed: String,
}

/// A turn that was marked as helpful and as harmful.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contradiction {
    /// Identity of the run.
    pub run: String,
    /// The turn.
    pub turn: u32,
    /// First line that says helpful, from 1.
    pub helpful_line: u64,
    /// First line that says harmful, from 1.
    pub harmful_line: u64,
}

impl fmt::Display for Contradiction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { run, turn, helpful_line, harmful_line } = self;
        write!(
            f,
            "run {run:?}, turn {turn}: marked as helpful (line {helpful_line}) and as harmful \
             (line {harmful_line}); neither counts"
        )
    }
}

/// A journal that was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Journal {
    /// The interventions, in the order in which they first stand there.
    pub entries: Vec<Entry>,
    /// What is wrong with lines, the first [`MAX_ERRORS`]. Such lines do not count.
    pub errors: Vec<JournalError>,
    /// How many lines are wrong.
    pub error_count: u64,
    /// Turns that were marked as helpful and as harmful, in order of first appearance.
    pub contradictions: Vec<Contradiction>,
}

/// What is known of a turn while a journal is read.
#[derive(Default)]
struct Turn {
    entries: Vec<usize>,
    helpful_line: Option<u64>,
    harmful_line: Option<u64>,
}

impl Journal {
    /// Reads the lines of a journal, without their ends.
    #[must_use]
    pub fn read<I>(lines: I) -> Self
    where
        I: IntoIterator<Item: AsRef<str>>,
    {
        let mut journal = Self::default();
        let mut turns: HashMap<(String, u32), Turn> = HashMap::new();
        for (number, line) in (1..).zip(lines) {
            match parse(number, line.as_ref()) {
                Ok(None) => {}
                Ok(Some(entry)) => {
                    let turn = turns.entry((entry.run.clone(), entry.turn)).or_default();
                    journal.take(entry, number, turn);
                }
                Err(error) => {
                    journal.error_count += 1;
                    if journal.errors.len() < MAX_ERRORS {
                        journal.errors.push(error);
                    }
                }
            }
        }
        journal.settle(&turns);
        journal
    }

    /// Takes in what a line says of an intervention that may be known already.
    fn take(&mut self, entry: Entry, line: u64, turn: &mut Turn) {
        match entry.mark {
            Some(Opinion::Helpful) => _ = turn.helpful_line.get_or_insert(line),
            Some(Opinion::Harmful) => _ = turn.harmful_line.get_or_insert(line),
            None => {}
        }
        let shown = |entry: &Entry| (entry.reason, entry.variant);
        let known = turn.entries.iter().copied().find(|&at| {
            let known = &self.entries[at];
            shown(known) == shown(&entry)
                && (&known.model, &known.template) == (&entry.model, &entry.template)
        });
        if let Some(at) = known {
            let known = &mut self.entries[at];
            known.mark = entry.mark.or(known.mark);
            known.recovered = entry.recovered.or(known.recovered);
        } else {
            turn.entries.push(self.entries.len());
            self.entries.push(entry);
        }
    }

    /// Takes back contradictory marks.
    fn settle(&mut self, turns: &HashMap<(String, u32), Turn>) {
        let mut found: Vec<(usize, Contradiction)> = Vec::new();
        for ((run, number), turn) in turns {
            let (Some(helpful_line), Some(harmful_line)) = (turn.helpful_line, turn.harmful_line)
            else {
                continue;
            };
            for &at in &turn.entries {
                self.entries[at].mark = None;
            }
            let first = turn.entries.first().copied().unwrap_or_default();
            let run = run.clone();
            let contradiction = Contradiction { run, turn: *number, helpful_line, harmful_line };
            found.push((first, contradiction));
        }
        found.sort_by_key(|(first, _)| *first);
        self.contradictions = found.into_iter().map(|(_, found)| found).collect();
    }

    /// People's marks, without those that contradict each other.
    #[must_use]
    pub fn marks(&self) -> Vec<Mark> {
        let mark = |entry: &Entry| entry.mark.map(|opinion| Mark { rule: entry.reason, opinion });
        self.entries.iter().filter_map(mark).collect()
    }
}

/// Reads one line; `None` if it is blank.
///
/// # Errors
/// The line is too long, no JSON object, or a key is missing or has a value that is not allowed.
pub fn parse(number: u64, line: &str) -> Result<Option<Entry>, JournalError> {
    if line.trim().is_empty() {
        return Ok(None);
    }
    let fail = |what: String, allowed: &str| {
        Err(JournalError { line: number, what, allowed: allowed.to_owned() })
    };
    if line.len() > MAX_LINE {
        return fail(format!("{} bytes in one line", line.len()), "1 MiB (1048576 bytes)");
    }
    match serde_json::from_str(line) {
        Ok(Json::Object(members)) => Line { number, members }.entry().map(Some),
        Ok(other) => fail(shown(&other), "one JSON object per line"),
        Err(error) => {
            let what = format!("no JSON at column {}", error.column());
            fail(what, "one JSON object per line")
        }
    }
}

/// The members of one line.
struct Line {
    number: u64,
    members: Map<String, Json>,
}

impl Line {
    fn entry(&self) -> Result<Entry, JournalError> {
        let rules = || RuleId::ALL.iter().map(|rule| rule.key());
        let names = || built_in_texts().iter().map(|(name, _)| *name);
        let text = |value: &Json| value.as_str().map(str::to_owned);
        let whole = |value: &Json| value.as_u64().and_then(|whole| u32::try_from(whole).ok());
        let run = |value: &Json| text(value).filter(|run| !run.is_empty());
        let rule = |value: &Json| {
            RuleId::ALL.iter().copied().find(|rule| value.as_str() == Some(rule.key()))
        };
        let template = |value: &Json| {
            text(value).filter(|name| name.is_empty() || names().any(|known| known == name))
        };
        let whole_numbers = || format!("a whole number from 0 to {}", u32::MAX);
        Ok(Entry {
            run: self.needed("run", run, || "the identity of a run, a text".to_owned())?,
            turn: self.needed("turn", whole, whole_numbers)?,
            model: self.needed("model", text, || "the name of a model, a text".to_owned())?,
            reason: self.needed("reason", rule, || one_of("the key of a rule", rules()))?,
            template: self
                .optional("template", template, || one_of("the name of a text", names()))?
                .unwrap_or_default(),
            variant: self.optional("variant", whole, whole_numbers)?.unwrap_or_default(),
            mark: self
                .optional("mark", opinion, || "\"helpful\", \"harmful\" or null".to_owned())?,
            recovered: self
                .optional("recovered", Json::as_bool, || "true, false or null".to_owned())?,
        })
    }

    /// The value of a key that must be there.
    fn needed<T>(
        &self,
        key: &str,
        read: impl Fn(&Json) -> Option<T>,
        allowed: impl Fn() -> String,
    ) -> Result<T, JournalError> {
        let value = self.members.get(key);
        value.and_then(read).ok_or_else(|| self.error(key, value, allowed()))
    }

    /// The value of a key that may be left out or null.
    fn optional<T>(
        &self,
        key: &str,
        read: impl Fn(&Json) -> Option<T>,
        allowed: impl Fn() -> String,
    ) -> Result<Option<T>, JournalError> {
        match self.members.get(key) {
            None | Some(Json::Null) => Ok(None),
            Some(_) => self.needed(key, read, allowed).map(Some),
        }
    }

    fn error(&self, key: &str, value: Option<&Json>, allowed: String) -> JournalError {
        let what = value.map_or_else(
            || format!("`{key}` is missing"),
            |value| format!("`{key}` is {}", shown(value)),
        );
        JournalError { line: self.number, what, allowed }
    }
}

fn opinion(value: &Json) -> Option<Opinion> {
    match value.as_str()? {
        "helpful" => Some(Opinion::Helpful),
        "harmful" => Some(Opinion::Harmful),
        _ => None,
    }
}

fn one_of<'n>(what: &str, names: impl Iterator<Item = &'n str>) -> String {
    format!("{what}: {}", names.collect::<Vec<_>>().join(", "))
}

/// A value, shortened.
fn shown(value: &Json) -> String {
    const MOST: usize = 60;
    let text = value.to_string();
    let end = text.floor_char_boundary(MOST);
    if end < text.len() { format!("{}…", &text[..end]) } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"{"run":"r","turn":3,"model":"m","reason":"cycle","template":"nudge_loop","variant":1,"mark":null,"recovered":true,"more":[1]}"#;

    fn entry() -> Entry {
        Entry {
            run: "r".into(),
            turn: 3,
            model: "m".into(),
            reason: RuleId::Cycle,
            template: "nudge_loop".into(),
            variant: 1,
            mark: None,
            recovered: Some(true),
        }
    }

    /// The line of an entry, as a writer would write it.
    fn line(change: impl FnOnce(&mut Entry)) -> String {
        let mut entry = entry();
        change(&mut entry);
        serde_json::to_string(&entry).unwrap()
    }

    #[test]
    fn a_line_is_an_entry() {
        assert_eq!(parse(1, GOOD), Ok(Some(entry())));
        assert_eq!(parse(1, &line(|_| {})), Ok(Some(entry())));
        assert_eq!(parse(1, " \t"), Ok(None));
        let short = GOOD.replace(r#","mark":null,"recovered":true"#, "");
        assert_eq!(parse(1, &short), Ok(Some(Entry { recovered: None, ..entry() })));
        for mark in [Opinion::Helpful, Opinion::Harmful] {
            let marked = parse(1, &line(|entry| entry.mark = Some(mark)));
            assert_eq!(marked, Ok(Some(Entry { mark: Some(mark), ..entry() })));
        }
    }

    #[test]
    fn a_broken_line_says_what_is_wrong_and_what_is_allowed() {
        let swap = |from: &str, to: &str| GOOD.replace(from, to);
        let object = "one JSON object per line";
        let whole = "a whole number from 0 to 4294967295";
        let cases = [
            ("{".into(), "no JSON at column 1", object),
            ("[1, 2]".into(), "[1,2]", object),
            (format!("{GOOD} {GOOD}"), "no JSON at column 127", object),
            (" ".repeat(MAX_LINE) + "7", "1048577 bytes in one line", "1 MiB (1048576 bytes)"),
            (swap(r#""run":"r","#, ""), "`run` is missing", "the identity of a run, a text"),
            (swap(r#":"r""#, r#":"""#), "`run` is \"\"", "the identity of a run, a text"),
            (swap("3", "-3"), "`turn` is -3", whole),
            (swap("3", "3.5"), "`turn` is 3.5", whole),
            (swap("3", "4294967296"), "`turn` is 4294967296", whole),
            (swap(r#""m""#, "null"), "`model` is null", "the name of a model, a text"),
            (swap("null", "\"good\""), "`mark` is \"good\"", "\"helpful\", \"harmful\" or null"),
            (swap("true", "1"), "`recovered` is 1", "true, false or null"),
            (swap("1,", "\"1\","), "`variant` is \"1\"", whole),
            (
                swap("cycle", "cycles"),
                "`reason` is \"cycles\"",
                "the key of a rule: stop_requested,",
            ),
            (swap("_loop", ""), "`template` is \"nudge\"", "the name of a text: nudge_loop,"),
            (
                swap("3", &format!("\"{}\"", "ä".repeat(99))),
                &format!("`turn` is \"{}…", "ä".repeat(29)),
                whole,
            ),
        ];
        for (text, what, allowed) in cases {
            let error = parse(7, &text).unwrap_err();
            assert_eq!((error.line, error.what.as_str()), (7, what));
            assert!(error.allowed.starts_with(allowed), "{error}");
        }
        let error = parse(7, &swap("3", "-3")).unwrap_err().to_string();
        assert_eq!(error, format!("line 7: `turn` is -3; allowed is {whole}"));
    }

    #[test]
    fn broken_lines_are_counted_and_the_rest_is_read() {
        let lines = (0..250).map(|at| if at == 7 { GOOD } else { "oops" });
        let journal = Journal::read(lines);
        assert_eq!(journal.entries, [entry()]);
        assert_eq!((journal.errors.len(), journal.error_count), (MAX_ERRORS, 249));
        assert_eq!((journal.errors[0].line, journal.errors[7].line), (1, 9));
        assert_eq!(Journal::read([""; 0]), Journal::default());
    }

    #[test]
    fn what_becomes_known_later_is_added() {
        let mark = |mark| line(|entry| (entry.mark, entry.recovered) = (Some(mark), None));
        let [helpful, harmful] = [Opinion::Helpful, Opinion::Harmful].map(mark);
        let first = line(|entry| entry.recovered = None);
        let failed = line(|entry| entry.recovered = Some(false));
        let other_turn = line(|entry| (entry.turn, entry.mark) = (4, Some(Opinion::Harmful)));
        let other_run = line(|entry| entry.run = "s".into());
        let other_rule = line(|entry| {
            (entry.reason, entry.mark) = (RuleId::SameError, Some(Opinion::Harmful));
        });
        /// Lines, the marks and outcomes of the entries they make, and contradictions among them.
        type Case<'a> = (&'a [&'a String], &'a [(Option<Opinion>, Option<bool>)], u64);
        let cases: &[Case<'_>] = &[
            (&[&first], &[(None, None)], 0),
            (&[&first, &failed, &helpful], &[(Some(Opinion::Helpful), Some(false))], 0),
            (&[&helpful, &helpful], &[(Some(Opinion::Helpful), None)], 0),
            (&[&failed, &line(|_| {})], &[(None, Some(true))], 0),
            (&[&helpful, &failed, &harmful, &helpful], &[(None, Some(false))], 1),
            (
                &[&helpful, &other_turn, &other_run],
                &[
                    (Some(Opinion::Helpful), None),
                    (Some(Opinion::Harmful), Some(true)),
                    (None, Some(true)),
                ],
                0,
            ),
            // A mark is of a turn: two rules that spoke in it do not settle who is meant.
            (&[&helpful, &other_rule], &[(None, None), (None, Some(true))], 1),
        ];
        for (lines, expected, contradictions) in cases {
            let journal = Journal::read(lines.iter().copied());
            let found: Vec<_> =
                journal.entries.iter().map(|entry| (entry.mark, entry.recovered)).collect();
            assert_eq!((&*found, journal.error_count), (*expected, 0), "{lines:?}");
            assert_eq!(journal.contradictions.len() as u64, *contradictions, "{lines:?}");
            let marked = expected.iter().filter(|(mark, _)| mark.is_some()).count();
            assert_eq!(journal.marks().len(), marked);
        }
    }

    #[test]
    fn contradictions_are_told_in_order() {
        let lines: Vec<String> = (0..40)
            .map(|at| {
                line(|entry| {
                    entry.turn = at % 20;
                    entry.mark = Some(if at < 20 { Opinion::Harmful } else { Opinion::Helpful });
                })
            })
            .collect();
        let journal = Journal::read(&lines);
        let turns: Vec<u32> = journal.contradictions.iter().map(|found| found.turn).collect();
        assert_eq!(turns, (0..20).collect::<Vec<_>>());
        assert_eq!(
            journal.contradictions[4].to_string(),
            "run \"r\", turn 4: marked as helpful (line 25) and as harmful (line 5); neither counts"
        );
    }
}
