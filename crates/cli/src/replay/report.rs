//! What is kept of a judged run: a bounded summary.

use std::sync::Arc;

use steersman_engine::policy::RuleId;
use steersman_engine::{Action, Decision, Reason, Usage};
use steersman_trace::{Outcome, RunMeta};

use super::series::Series;
use super::timeline::Timeline;
use crate::reading::Source;
use crate::text;

/// A judged run.
#[derive(Debug)]
pub(crate) struct RunReport {
    /// The run's id, at most [`RunReport::MAX_NAME`] bytes, as are the other names.
    pub(crate) id: String,
    /// Where it comes from.
    pub(crate) source: Arc<Source>,
    /// Line in the input, from 1; 0 if unknown.
    pub(crate) line: u64,
    /// The agent's name; empty if unknown.
    pub(crate) agent: String,
    /// The model's name; empty if unknown.
    pub(crate) model: String,
    /// The task instance; empty if unknown.
    pub(crate) instance: String,
    /// The graded outcome.
    pub(crate) outcome: Option<Outcome>,
    /// Model replies.
    pub(crate) turns: u32,
    /// Tool calls the replies asked for.
    pub(crate) calls: u32,
    /// Tokens and money over all model calls; zero fields where unknown.
    pub(crate) usage: Usage,
    /// What the policy decided.
    pub(crate) verdict: Verdict,
    /// What the policy to compare with decided.
    pub(crate) other: Option<Verdict>,
    /// The trace breaks off inside the run.
    pub(crate) truncated: bool,
    /// What could not be read inside the run, at most [`RunReport::MAX_PROBLEMS`].
    pub(crate) problems: Vec<String>,
    /// The course of the run in few numbers, where a chart is wanted.
    pub(crate) series: Option<Box<Series>>,
    /// The course of the run turn by turn, where it is to be explained.
    pub(crate) timeline: Option<Box<Timeline>>,
}

impl RunReport {
    /// Bytes of an id or another name.
    pub(crate) const MAX_NAME: usize = 512;
    /// Problems kept per run.
    pub(crate) const MAX_PROBLEMS: usize = 16;

    /// A report of a run of which nothing has happened yet.
    pub(crate) fn begin(source: Arc<Source>, meta: &RunMeta<'_>, policy: Arc<str>) -> Self {
        let name = |text: &str| text::bounded(text, Self::MAX_NAME);
        Self {
            id: name(&meta.id),
            source,
            line: meta.line,
            agent: name(&meta.agent),
            model: name(&meta.model),
            instance: name(&meta.instance),
            outcome: meta.outcome,
            turns: 0,
            calls: 0,
            usage: Usage::default(),
            verdict: Verdict::new(policy),
            other: None,
            truncated: false,
            problems: Vec::new(),
            series: None,
            timeline: None,
        }
    }

    /// Tokens sent and generated over all model calls; 0 if unknown.
    pub(crate) const fn tokens(&self) -> u64 {
        self.usage.input_tokens.saturating_add(self.usage.output_tokens)
    }

    /// What lay after a point.
    pub(crate) const fn after(&self, point: &Point) -> After {
        After {
            calls: self.calls.saturating_sub(point.call),
            tokens: self.tokens().saturating_sub(point.tokens),
        }
    }

    /// Whether a point lies before the last turn: whether knowing it could have changed anything.
    pub(crate) fn before_last_turn(&self, point: Option<&Point>) -> bool {
        point.is_some_and(|point| point.turn < self.turns)
    }

    /// How much a reader wants to see this run.
    pub(crate) fn interest(&self) -> Interest {
        let verdict = &self.verdict;
        let after = |point: &Option<Point>| point.as_ref().map(|point| self.after(point).calls);
        Interest {
            after_ending: after(&verdict.ending),
            after_first: after(&verdict.first),
            calls: self.calls,
        }
    }
}

/// What a reader wants to see first: runs that would have been ended, by what lay after; then
/// runs with any other decision; then long ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Interest {
    after_ending: Option<u32>,
    after_first: Option<u32>,
    calls: u32,
}

/// What lay after a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct After {
    /// Tool calls.
    pub(crate) calls: u32,
    /// Tokens; 0 if unknown.
    pub(crate) tokens: u64,
}

/// What one policy decided in a run.
#[derive(Debug)]
pub(crate) struct Verdict {
    /// The policy's name.
    pub(crate) policy: Arc<str>,
    /// The decisions other than continue, at most [`Verdict::MAX_DECISIONS`], the first ones kept.
    pub(crate) decisions: Vec<Made>,
    /// How many there were.
    pub(crate) count: u32,
    /// How many of each action and reason, in order of first appearance, at most
    /// [`Verdict::MAX_KINDS`] kinds.
    pub(crate) kinds: Vec<(Kind, u32)>,
    /// The first of them.
    pub(crate) first: Option<Point>,
    /// The first that ends the run.
    pub(crate) ending: Option<Point>,
    /// The longest loop that was noticed.
    pub(crate) longest: Option<Loop>,
}

/// Action and reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Kind {
    /// What to do.
    pub(crate) action: Action,
    /// Why: the reason's name.
    pub(crate) reason: &'static str,
}

/// When something was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Point {
    /// The turn, from 1; 0 before any reply.
    pub(crate) turn: u32,
    /// Tool calls made so far.
    pub(crate) call: u32,
    /// Tokens used so far; 0 if unknown.
    pub(crate) tokens: u64,
    /// What was decided.
    pub(crate) kind: Kind,
}

/// A decision as it is kept.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Made {
    /// When and what.
    pub(crate) point: Point,
    /// The reason as a sentence.
    pub(crate) message: String,
    /// The hybrid score, 0 to 1.
    pub(crate) score: f32,
    /// The turns it rests on.
    pub(crate) turns: Vec<u32>,
    /// The call or text in question; may be empty.
    pub(crate) excerpt: String,
    /// Template and text of the message to the model, the text at most [`Made::MAX_TEXT`] bytes.
    pub(crate) intervention: Option<(String, String)>,
    /// Decided and recorded, but not to be acted on.
    pub(crate) shadow: bool,
}

impl Made {
    /// Bytes kept of the message to the model.
    pub(crate) const MAX_TEXT: usize = 1000;
    /// Bytes kept of a sentence or an excerpt.
    const MAX_LINE: usize = 300;

    /// Keeps a decision made at `point`.
    pub(crate) fn keep(decision: &Decision, point: Point) -> Self {
        let evidence = &decision.evidence;
        Self {
            point,
            message: text::bounded(&decision.reason.to_string(), Self::MAX_LINE),
            score: decision.score,
            turns: evidence.turns.iter().copied().take(64).collect(),
            excerpt: text::bounded(&evidence.excerpt, Self::MAX_LINE),
            intervention: decision.intervention.as_ref().map(|shown| {
                let template = text::bounded(&shown.template, Self::MAX_LINE);
                (template, text::bounded(&shown.text, Self::MAX_TEXT))
            }),
            shadow: decision.shadow,
        }
    }
}

/// A loop that was noticed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Loop {
    /// The rule that noticed it.
    pub(crate) rule: &'static str,
    /// How often something was repeated, as far as the rule counted.
    pub(crate) count: u32,
    /// The turns it is seen in, as far as the evidence names them.
    pub(crate) turns: Vec<u32>,
    /// What was repeated.
    pub(crate) excerpt: String,
}

impl Verdict {
    /// Decisions kept per run.
    pub(crate) const MAX_DECISIONS: usize = 256;
    /// Kinds of decisions counted per run; there are fewer than this many pairs in practice.
    pub(crate) const MAX_KINDS: usize = 128;

    /// A verdict on a run of which nothing has happened yet.
    pub(crate) const fn new(policy: Arc<str>) -> Self {
        Self {
            policy,
            decisions: Vec::new(),
            count: 0,
            kinds: Vec::new(),
            first: None,
            ending: None,
            longest: None,
        }
    }

    /// Takes in a decision other than continue, made at `point`.
    pub(crate) fn record(&mut self, decision: &Decision, point: Point) {
        self.count = self.count.saturating_add(1);
        self.first.get_or_insert(point);
        if decision.action.ends_run() {
            self.ending.get_or_insert(point);
        }
        let known = self.kinds.iter().position(|(kind, _)| *kind == point.kind);
        if let Some(at) = known {
            self.kinds[at].1 = self.kinds[at].1.saturating_add(1);
        } else if self.kinds.len() < Self::MAX_KINDS {
            self.kinds.push((point.kind, 1));
        }
        self.note_loop(decision);
        if self.decisions.len() < Self::MAX_DECISIONS {
            self.decisions.push(Made::keep(decision, point));
        }
    }

    /// Notes how long a loop went on, whether or not something was said about it this time.
    pub(crate) fn note_loop(&mut self, decision: &Decision) {
        let Reason::Counted { rule, count, .. } = &decision.reason else { return };
        let longer = self.longest.as_ref().is_none_or(|longest| *count > longest.count);
        if longer && is_loop(*rule) {
            self.longest = Some(Loop {
                rule: rule.key(),
                count: *count,
                turns: decision.evidence.turns.iter().copied().take(64).collect(),
                excerpt: text::bounded(&decision.evidence.excerpt, Made::MAX_LINE),
            });
        }
    }
}

/// Whether a rule counts repetitions.
const fn is_loop(rule: RuleId) -> bool {
    use RuleId as R;
    matches!(
        rule,
        R::SignatureLoop
            | R::StuckLoop
            | R::RepeatedOutcome
            | R::Cycle
            | R::SameOutput
            | R::SimilarOutcome
            | R::SameError
            | R::FruitlessSearch
            | R::Narration
            | R::EditRevert
            | R::Polling
    )
}
