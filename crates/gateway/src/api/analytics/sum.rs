//! What is being summed up.

use std::collections::BTreeMap;

use steersman_engine::Action;
use steersman_store::{Entry as Stored, Summary};
use steersman_timeline::Mark;

use super::super::types::is_gateway;
use super::Span;
use super::fact::Fact;
use super::session::{Kind, Passed, Telling};
use super::shape::{After, Analytics, Bucket, Count, Followed, Group, Judged};
use super::spread::Numbers;

/// Most groups that are told, the largest first.
const MAX_GROUPS: usize = 200;

/// What is being summed up.
pub(super) struct Sum {
    span: Span,
    made: Analytics,
    buckets: BTreeMap<u64, Bucket>,
    decisions: BTreeMap<(String, String, bool), u64>,
    followed: BTreeMap<(String, bool), Followed>,
    groups: BTreeMap<(String, String, String), (Group, Numbers)>,
    judged: BTreeMap<Kind, (u64, u64)>,
    solved: Numbers,
}

impl Sum {
    pub(super) fn new(span: Span) -> Self {
        Self {
            span,
            made: Analytics::default(),
            buckets: BTreeMap::new(),
            decisions: BTreeMap::new(),
            followed: BTreeMap::new(),
            groups: BTreeMap::new(),
            judged: BTreeMap::new(),
            solved: Numbers::default(),
        }
    }

    /// Takes in what an entry says.
    pub(super) fn fold(&mut self, stored: &Stored, fact: &Fact, course: &mut Telling) {
        course.take_in(stored.seq, fact);
        let from_ms = stored.at_ms - stored.at_ms % self.span.bucket_ms;
        let bucket =
            self.buckets.entry(from_ms).or_insert_with(|| Bucket { from_ms, ..Bucket::default() });
        match fact {
            Fact::Asked => bucket.requests += 1,
            Fact::Rescued => bucket.rescues += 1,
            Fact::Replied { calls, stop, usage, cost_nanodollars } => {
                bucket.replies += 1;
                bucket.input_tokens = bucket.input_tokens.saturating_add(usage.input_tokens);
                bucket.output_tokens = bucket.output_tokens.saturating_add(usage.output_tokens);
                match cost_nanodollars {
                    Some(cost) => {
                        bucket.cost_nanodollars = bucket.cost_nanodollars.saturating_add(*cost);
                    }
                    None => bucket.unpriced_replies += 1,
                }
                let word = stop.map_or("unsaid", steersman_engine::StopReason::name);
                *self.made.stop_reasons.entry(word.to_owned()).or_default() += 1;
                self.replied(*calls, course);
            }
            Fact::Decided(decision) => {
                let action = decision.action.name();
                *bucket.decisions.entry(action.to_owned()).or_default() += 1;
                let key = (action.to_owned(), decision.reason.name().to_owned(), decision.shadow);
                *self.decisions.entry(key).or_default() += 1;
                if decision.action == Action::Continue {
                    self.close(course, |it| &mut it.went_on);
                } else {
                    self.close(course, |it| &mut it.again);
                    course.open = Some((action.to_owned(), decision.shadow));
                }
            }
            Fact::Failed { is_retried } => {
                bucket.failed_calls += 1;
                if !is_retried {
                    self.broke_off(course);
                }
            }
            Fact::BrokeOff => self.broke_off(course),
            Fact::Opened { .. }
            | Fact::Capped
            | Fact::StartedOver
            | Fact::Marked { .. }
            | Fact::Ended { .. }
            | Fact::WentOn => {}
        }
    }

    fn replied(&mut self, calls: usize, course: &mut Telling) {
        if calls == 0 {
            course.ending = "answered";
            self.close(course, |it| &mut it.answered);
        } else {
            course.ending = "open";
            course.worked = true;
        }
    }

    fn broke_off(&mut self, course: &mut Telling) {
        course.ending = "broke_off";
        self.close(course, |it| &mut it.broke_off);
    }

    /// What followed the open intervention is known.
    fn close(&mut self, course: &mut Telling, which: impl Fn(&mut Followed) -> &mut u64) {
        course.worked = false;
        let Some((action, shadow)) = course.open.take() else { return };
        let followed = self.followed.entry((action.clone(), shadow)).or_insert_with(|| Followed {
            action,
            shadow,
            went_on: 0,
            again: 0,
            answered: 0,
            broke_off: 0,
            nothing: 0,
        });
        *which(followed) += 1;
    }

    /// A session is read, in so many entries.
    pub(super) fn end_of(&mut self, summary: &Summary, mut course: Telling, read: usize) {
        self.made.entries += read as u64;
        if !course.any {
            return;
        }
        let worked = course.worked;
        self.close(&mut course, |it| if worked { &mut it.went_on } else { &mut it.nothing });
        self.made.sessions += 1;
        let is_run = !is_gateway(summary);
        let kind = if is_run { "run" } else { "gateway" };
        *self.made.kinds.entry(kind.to_owned()).or_default() += 1;
        *self.made.endings.entry(course.ending.to_owned()).or_default() += 1;
        if !course.budgets.is_empty() {
            self.made.limits.sessions += 1;
        }
        for budget in &course.budgets {
            *self.made.limits.by_budget.entry(budget.clone()).or_default() += 1;
        }
        if is_run {
            self.made.start_overs.count += course.start_overs;
            let count = course.start_overs.to_string();
            *self.made.start_overs.sessions_by_count.entry(count).or_default() += 1;
        }
        if course.ending == "complete" {
            self.solved.add(course.sum.turns);
        }
        add_after(&mut self.made.after_warning, course.warned, course.sum);
        add_after(&mut self.made.after_shadow_end, course.would_end, course.sum);
        for (kind, mark) in course.marks() {
            let (helpful, harmful) = self.judged.entry(kind.clone()).or_default();
            *(if mark == Mark::Helpful { helpful } else { harmful }) += 1;
        }
        self.group(kind, &course);
    }

    fn group(&mut self, kind: &str, course: &Telling) {
        let key = (kind.to_owned(), course.agent.clone(), course.model.clone());
        let (group, turns) = self.groups.entry(key).or_default();
        group.sessions += 1;
        *group.endings.entry(course.ending.to_owned()).or_default() += 1;
        // A gateway's session has nobody who could prove anything.
        if course.has_check && course.is_over {
            group.judged += 1;
            group.solved += u64::from(course.ending == "complete");
        }
        if course.is_over || matches!(course.ending, "answered" | "capped") {
            turns.add(course.sum.turns);
        }
        group.at_limit += u64::from(!course.budgets.is_empty());
        group.start_overs += course.start_overs;
        group.interventions += course.interventions;
        group.tokens = group.tokens.saturating_add(course.sum.tokens);
        group.cost_nanodollars = group.cost_nanodollars.saturating_add(course.sum.cost_nanodollars);
    }

    pub(super) fn finish(self, complete: bool) -> Analytics {
        let count = |((action, reason, shadow), count)| Count { action, reason, shadow, count };
        let judged = |((action, reason, template), (helpful, harmful))| Judged {
            action,
            reason,
            template,
            helpful,
            harmful,
        };
        let group = |((kind, agent, model), (group, turns)): (_, (Group, Numbers))| Group {
            kind,
            agent,
            model,
            turns: turns.spread(),
            ..group
        };
        let mut groups: Vec<Group> = self.groups.into_iter().map(group).collect();
        groups.sort_by_key(|group| std::cmp::Reverse(group.sessions));
        groups.truncate(MAX_GROUPS);
        Analytics {
            since_ms: self.span.since_ms,
            until_ms: self.span.until_ms,
            bucket_ms: self.span.bucket_ms,
            complete,
            buckets: self.buckets.into_values().collect(),
            decisions: self.decisions.into_iter().map(count).collect(),
            followed: self.followed.into_values().collect(),
            groups,
            judged: self.judged.into_iter().map(judged).collect(),
            turns_to_solve: self.solved.spread(),
            ..self.made
        }
    }
}

/// Adds what came after a moment of a session to what came after it in others.
fn add_after(after: &mut After, moment: Option<Passed>, all: Passed) {
    let Some(before) = moment else { return };
    let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
    after.sessions += 1;
    add(&mut after.turns, all.turns);
    add(&mut after.turns_after, all.turns - before.turns);
    add(&mut after.tokens, all.tokens);
    add(&mut after.tokens_after, all.tokens - before.tokens);
    add(&mut after.cost_nanodollars, all.cost_nanodollars);
    let cost_after = all.cost_nanodollars - before.cost_nanodollars;
    add(&mut after.cost_after_nanodollars, cost_after);
}
