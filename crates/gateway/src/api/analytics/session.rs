//! One session while its journal is read.

use std::collections::{BTreeMap, BTreeSet};

use steersman_engine::{Action, Decision, Reason, Usage};
use steersman_timeline::Mark;

use super::fact::Fact;

/// Most interventions of a session that can be marked; of more the latest.
const MAX_INTERVENTIONS: usize = 1000;

/// What is known of one session.
#[derive(Debug, Default)]
pub(super) struct Telling {
    /// An intervention of which it is not known yet what followed.
    pub(super) open: Option<(String, bool)>,
    /// After it the model answered with calls.
    pub(super) worked: bool,
    pub(super) ending: &'static str,
    /// Something happened in the time that is looked at.
    pub(super) any: bool,
    pub(super) agent: String,
    pub(super) model: String,
    pub(super) has_check: bool,
    pub(super) is_over: bool,
    pub(super) sum: Passed,
    /// What had passed at the first intervention that was acted on.
    pub(super) warned: Option<Passed>,
    /// What had passed at the first decision that would have ended it.
    pub(super) would_end: Option<Passed>,
    pub(super) budgets: BTreeSet<String>,
    pub(super) start_overs: u64,
    pub(super) interventions: u64,
    /// Interventions by entry: action, reason, template.
    marked: BTreeMap<u64, Intervention>,
}

#[derive(Debug)]
struct Intervention {
    kind: Kind,
    mark: Mark,
}

/// What kind of intervention: action, reason, template.
pub(super) type Kind = (String, String, String);

/// What has passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Passed {
    pub(super) turns: u64,
    pub(super) tokens: u64,
    pub(super) cost_nanodollars: u64,
}

impl Telling {
    pub(super) fn new() -> Self {
        Self { ending: "open", ..Self::default() }
    }

    /// Takes in what happened, apart from what is counted over all sessions.
    pub(super) fn take_in(&mut self, seq: u64, fact: &Fact) {
        match fact {
            Fact::Opened { agent, model, has_check } => {
                (self.agent, self.model) = (agent.clone(), model.clone());
                self.has_check = *has_check;
            }
            Fact::Replied { usage, cost_nanodollars, .. } => {
                self.replied(usage, cost_nanodollars.unwrap_or_default());
            }
            Fact::Decided(decision) => self.decided(seq, decision),
            Fact::StartedOver => self.start_overs += 1,
            Fact::Marked { seq, mark } => {
                if let Some(intervention) = self.marked.get_mut(seq) {
                    intervention.mark = *mark;
                }
            }
            Fact::Ended { ending } => {
                self.ending = ending;
                self.is_over = true;
            }
            Fact::WentOn => {
                self.ending = "open";
                self.is_over = false;
            }
            Fact::Capped => self.ending = "capped",
            Fact::Asked | Fact::Rescued | Fact::Failed { .. } | Fact::BrokeOff => {}
        }
    }

    fn replied(&mut self, usage: &Usage, cost_nanodollars: u64) {
        let tokens = usage.input_tokens.saturating_add(usage.output_tokens);
        self.sum.turns += 1;
        self.sum.tokens = self.sum.tokens.saturating_add(tokens);
        self.sum.cost_nanodollars = self.sum.cost_nanodollars.saturating_add(cost_nanodollars);
    }

    fn decided(&mut self, seq: u64, decision: &Decision) {
        if matches!(decision.action, Action::Continue | Action::Retry) {
            return;
        }
        if let Reason::Budget { budget, .. } = &decision.reason {
            self.budgets.insert(budget.clone());
        }
        if decision.shadow {
            if decision.action.ends_run() {
                self.would_end.get_or_insert(self.sum);
            }
        } else {
            self.interventions += 1;
            self.warned.get_or_insert(self.sum);
        }
        if self.marked.len() >= MAX_INTERVENTIONS {
            self.marked.pop_first();
        }
        let words = decision.intervention.as_ref();
        let kind = (
            decision.action.name().to_owned(),
            decision.reason.name().to_owned(),
            words.map(|words| words.template.clone()).unwrap_or_default(),
        );
        self.marked.insert(seq, Intervention { kind, mark: Mark::None });
    }

    /// The marks that people made, by kind of intervention.
    pub(super) fn marks(&self) -> impl Iterator<Item = (&Kind, Mark)> {
        let marked = self.marked.values().filter(|it| it.mark != Mark::None);
        marked.map(|intervention| (&intervention.kind, intervention.mark))
    }
}
