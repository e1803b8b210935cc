//! What kind of task a text states, and how complex it is.

use super::task_words::{HINTS, Hint};
use super::{Complexity, TaskType};

/// How much of a task is looked at, in bytes: issues begin with what is wanted and go on with
/// logs and code.
const LOOK: usize = 2048;

/// Words up to here count twice, in bytes.
const OPENING: usize = 160;

/// A score below this says nothing.
const LEAST: u16 = 4;

/// Context from which an analysis is of a large code base (document A), in tokens.
const LARGE_CONTEXT: u64 = 100_000;

const TYPES: [TaskType; 7] = [
    TaskType::Edit,
    TaskType::Create,
    TaskType::CreateSimple,
    TaskType::Search,
    TaskType::Analyze,
    TaskType::Research,
    TaskType::Design,
];

/// What is counted in a task's text.
#[derive(Clone, Copy, Debug, Default)]
struct Scores {
    types: [u16; TYPES.len()],
    complex: u16,
    asks: bool,
}

impl Scores {
    fn of(text: &str) -> Self {
        let text = text.trim_start();
        let mut scores = Self::default();
        let mut first = true;
        HINTS.scan(&text[..text.floor_char_boundary(LOOK)], |hint, at| {
            let factor = match at.start {
                _ if first && at.start < 12 => 3,
                start if start < OPENING => 2,
                _ => 1,
            };
            match hint {
                Hint::Is(kind, weight) => {
                    first = false;
                    scores.types[kind as usize] += u16::from(weight) * factor;
                }
                Hint::Complex(weight) => scores.complex += u16::from(weight),
                Hint::AnalyzeLarge(weight) => {
                    first = false;
                    scores.complex += u16::from(weight);
                    scores.types[TaskType::Analyze as usize] += u16::from(weight) * factor;
                }
                Hint::Asks => scores.asks |= at.start < 24,
            }
        });
        scores
    }

    fn task_type(&self) -> TaskType {
        let (at, best) =
            self.types.iter().enumerate().fold((0, 0), |found, (at, &score)| {
                if score > found.1 { (at, score) } else { found }
            });
        if best < LEAST { TaskType::General } else { TYPES[at] }
    }
}

/// What kind of task a text states (D1). The first 2 KiB are looked at.
#[must_use]
pub fn task_type(text: &str) -> TaskType {
    Scores::of(text).task_type()
}

/// How complex a task is (A2), by its text and the size of the conversation it comes with in
/// tokens (`None` if unknown). The first 2 KiB are looked at.
#[must_use]
pub fn complexity(text: &str, context_size: Option<u64>) -> Complexity {
    read(text, context_size).1
}

/// [`task_type`] and [`complexity`] in one pass over the text.
pub(crate) fn read(text: &str, context_size: Option<u64>) -> (TaskType, Complexity) {
    let text = text.trim();
    let scores = Scores::of(text);
    let kind = scores.task_type();
    (kind, complexity_of(text, kind, &scores, context_size))
}

fn complexity_of(
    text: &str,
    kind: TaskType,
    scores: &Scores,
    context_size: Option<u64>,
) -> Complexity {
    let analysis = matches!(kind, TaskType::Analyze | TaskType::Search | TaskType::Design);
    let large = context_size.is_some_and(|size| size > LARGE_CONTEXT);
    // The numbered lists of issues are steps to reproduce.
    let many = kind != TaskType::Edit && deliverables(text) >= 4;
    if scores.complex >= 4 || (analysis && large) || many {
        return Complexity::Complex;
    }
    if matches!(kind, TaskType::Create | TaskType::CreateSimple) {
        return Complexity::Generation;
    }
    let question = scores.asks || text.ends_with('?');
    let plain = matches!(kind, TaskType::General | TaskType::Research);
    if plain && scores.complex == 0 && ((question && text.len() <= 200) || text.len() <= 24) {
        return Complexity::Simple;
    }
    Complexity::Medium
}

/// Entries of numbered lists and lists of dashes in the first 2 KiB that are not part of code.
fn deliverables(text: &str) -> usize {
    let head = &text[..text.floor_char_boundary(LOOK)];
    let mut code = false;
    let entries = head.lines().filter(|line| {
        let line = line.trim_start();
        code ^= line.starts_with("```");
        let digits = line.bytes().take_while(u8::is_ascii_digit).count();
        !code && (1..3).contains(&digits) && line[digits..].starts_with(['.', ')'])
    });
    entries.count()
}
