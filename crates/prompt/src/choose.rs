//! Choosing the template for a task, from its words and its kind.

use std::fmt;
use std::sync::Arc;

use steersman_engine::classify::{TaskType, task_type};

use crate::part::Origin;
use crate::template::{Template, normal};

/// How much of a task is looked at, in bytes: what is wanted stands at the beginning.
const LOOK: usize = 2048;

/// Words up to here count twice, in bytes: the sentence that says what to do.
const OPENING: usize = 100;

/// Points for the kind of task: less than for any word in the opening.
const KIND: u32 = 1;

/// Points from which a template is taken.
const LEAST: u32 = 1;

/// The template that is taken if none suits.
const FALLBACK: &str = "general";

/// A template and why it was taken.
#[derive(Clone, Debug)]
pub struct Choice<'t> {
    /// The template.
    pub template: &'t Arc<Template>,
    /// The words of the task that speak for it, at most 8.
    pub words: Vec<&'t str>,
    /// The kind of task, if it speaks for the template.
    pub task_type: Option<TaskType>,
}

impl fmt::Display for Choice<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.template.name())?;
        let words: Vec<_> = self.words.iter().map(|word| format!("\"{word}\"")).collect();
        match (words.is_empty(), self.task_type) {
            (true, None) => f.write_str("no other template suits the task"),
            (true, Some(kind)) => write!(f, "the task is of the kind {}", name(kind)),
            (false, None) => write!(f, "the task says {}", words.join(", ")),
            (false, Some(kind)) => {
                write!(f, "the task says {} and is of the kind {}", words.join(", "), name(kind))
            }
        }
    }
}

/// The kind of task as files name it.
fn name(kind: TaskType) -> &'static str {
    match kind {
        TaskType::Edit => "edit",
        TaskType::Create => "create",
        TaskType::CreateSimple => "create_simple",
        TaskType::Search => "search",
        TaskType::Analyze => "analyze",
        TaskType::Research => "research",
        TaskType::Design => "design",
        TaskType::General => "general",
    }
}

/// The template that suits a task best, by its words and its kind; the project's and the user's
/// own come before the built-in ones, and `general` is taken if none suits. `None` if there are no
/// templates. The same task and templates always give the same choice.
///
/// A phrase counts as many points as it has words, twice in the task's first 100 bytes; the kind
/// of task counts 1. The first 2 KiB of the task are looked at.
#[must_use]
pub fn choose<'t>(task: &str, templates: &'t [Arc<Template>]) -> Option<Choice<'t>> {
    let task = &task[..task.floor_char_boundary(LOOK)];
    let kind = task_type(task);
    let opening = format!(" {} ", normal(&task[..task.floor_char_boundary(OPENING)]));
    let all = format!(" {} ", normal(task));
    let judged: Vec<Judged<'t>> =
        templates.iter().map(|template| judge(template, (&opening, &all), kind)).collect();
    let best = |own: bool| {
        let of_origin = |judged: &&Judged<'t>| {
            judged.points >= LEAST && (*judged.template.origin() != Origin::BuiltIn) == own
        };
        // Among equals the first: `max_by_key` would take the last.
        judged.iter().rev().filter(of_origin).max_by_key(|judged| judged.points)
    };
    // The kind alone is not reason enough to prefer one's own template.
    let own = best(true).filter(|judged| !judged.words.is_empty());
    let fallback = || judged.iter().find(|judged| judged.template.name() == FALLBACK);
    let found = own.or_else(|| best(false)).or_else(|| best(true));
    let found = found.or_else(fallback).or(judged.first())?;
    let speaks = kind != TaskType::General && found.template.task_types().contains(&kind);
    let task_type = speaks.then_some(kind);
    Some(Choice { template: found.template, words: found.words.clone(), task_type })
}

/// A template with what speaks for it.
struct Judged<'t> {
    template: &'t Arc<Template>,
    points: u32,
    words: Vec<&'t str>,
}

fn judge<'t>(template: &'t Arc<Template>, task: (&str, &str), kind: TaskType) -> Judged<'t> {
    const MOST: usize = 8;
    let (opening, all) = task;
    let mut words: Vec<&str> = Vec::new();
    let mut points = 0;
    for word in template.words() {
        let padded = format!(" {word} ");
        if !all.contains(&padded) {
            continue;
        }
        let twice = if opening.contains(&padded) { 2 } else { 1 };
        points += twice * (word.split(' ').count().min(4) as u32);
        if words.len() < MOST {
            words.push(word);
        }
    }
    if template.task_types().contains(&kind) && kind != TaskType::General {
        points += KIND;
    }
    Judged { template, points, words }
}
