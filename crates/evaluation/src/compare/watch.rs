//! All rules of one run, fed together.

use steersman_engine::{Action, Event};

use super::digest::Digest;
use super::{Comparison, Rule};
use crate::{Course, Decided};

/// The rules to compare with, watching one run.
pub struct Watch {
    digest: Digest,
    rules: Vec<Watcher>,
}

struct Watcher {
    name: &'static str,
    rule: Option<Box<dyn Rule>>,
    course: Course,
}

impl Watch {
    /// Rules that have seen nothing yet.
    #[must_use]
    pub fn new(comparisons: &[Comparison]) -> Self {
        let rules = comparisons.iter().map(|comparison| Watcher {
            name: comparison.name,
            rule: comparison.make.map(|make| make()),
            course: Course::default(),
        });
        Self { digest: Digest::default(), rules: rules.collect() }
    }

    /// Takes in an event that brought the run to this turn (from 1) and this many calls.
    pub fn handle(&mut self, event: &Event<'_>, turn: u32, call: u32) {
        let Self { digest, rules } = self;
        if rules.iter().all(|watcher| watcher.rule.is_none()) {
            return;
        }
        digest.observe(event, &mut |moment| {
            for watcher in rules.iter_mut() {
                if watcher.rule.as_mut().is_some_and(|rule| rule.see(moment)) {
                    watcher.rule = None;
                    let (action, reason) = (Action::Stop, watcher.name);
                    watcher.course.push(Decided { turn, call, action, reason });
                }
            }
        });
    }

    /// What each rule decided, in the order they were given; nothing for those that have to be
    /// fitted first.
    #[must_use]
    pub fn finish(self) -> Vec<Course> {
        self.rules.into_iter().map(|watcher| watcher.course).collect()
    }
}
