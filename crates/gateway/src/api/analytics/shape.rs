//! What analytics tell. Fields are added, never changed.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

/// What sessions came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Analytics {
    /// From then on, in milliseconds since 1970.
    pub since_ms: u64,
    /// Until then, in milliseconds since 1970.
    pub until_ms: u64,
    /// How long a bucket is, in milliseconds.
    pub bucket_ms: u64,
    /// Sessions in which something happened in this time.
    pub sessions: u64,
    /// Entries that were read.
    pub entries: u64,
    /// Whether all that happened was read; if not, older sessions or later entries are missing.
    pub complete: bool,
    /// What happened over time; empty buckets are left out.
    pub buckets: Vec<Bucket>,
    /// Decisions, by action and reason.
    pub decisions: Vec<Count>,
    /// How the sessions stand: `answered` if the last answer called no tool, `capped` if the
    /// gateway answered itself, `broke_off`, else `open`.
    pub endings: BTreeMap<String, u64>,
    /// What followed interventions.
    pub followed: Vec<Followed>,
    /// Sessions by kind: `gateway`, `run`.
    pub kinds: BTreeMap<String, u64>,
    /// Why models stopped, by word; `unsaid` where the server did not say.
    pub stop_reasons: BTreeMap<String, u64>,
    /// Sessions by agent and model, the most sessions first, at most 200.
    pub groups: Vec<Group>,
    /// Runs that used a budget up.
    pub limits: LimitHits,
    /// Attempts that were started over.
    pub start_overs: StartOvers,
    /// Turns to the end of the sessions that were solved: a check proved the goal.
    pub turns_to_solve: Spread,
    /// What happened after the first intervention of each session that was acted on.
    pub after_warning: After,
    /// What happened after the first decision that would have ended a session and was not acted
    /// on: what acting would have saved.
    pub after_shadow_end: After,
    /// What people made of interventions.
    pub judged: Vec<Judged>,
}

/// What happened within a time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Bucket {
    /// When it begins, in milliseconds since 1970.
    pub from_ms: u64,
    /// Requests of agents.
    pub requests: u64,
    /// Answers of models.
    pub replies: u64,
    /// Decisions by action.
    pub decisions: BTreeMap<String, u64>,
    /// Times a model was asked again.
    pub rescues: u64,
    /// Calls that failed.
    pub failed_calls: u64,
    /// Tokens sent.
    pub input_tokens: u64,
    /// Tokens generated.
    pub output_tokens: u64,
    /// The price in nano-dollars of the answers whose price is known.
    pub cost_nanodollars: u64,
    /// Answers whose price is not known.
    pub unpriced_replies: u64,
}

/// How often something was decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Count {
    /// What was decided.
    pub action: String,
    /// Why.
    pub reason: String,
    /// Whether it was not to be acted on.
    pub shadow: bool,
    /// How often.
    pub count: u64,
}

/// What followed an action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Followed {
    /// What was decided.
    pub action: String,
    /// Whether it was not to be acted on: then this is what happens without it.
    pub shadow: bool,
    /// The next decision was to go on, or the model answered with calls and no decision followed.
    pub went_on: u64,
    /// The next decision was an intervention again.
    pub again: u64,
    /// The model answered without calls of tools.
    pub answered: u64,
    /// The answer broke off, or the call failed.
    pub broke_off: u64,
    /// Nothing so far.
    pub nothing: u64,
}

/// Sessions of one agent with one model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Group {
    /// `gateway` or `run`.
    pub kind: String,
    /// The agent; empty if it is not known.
    pub agent: String,
    /// The model; empty if it is not known.
    pub model: String,
    /// Sessions.
    pub sessions: u64,
    /// How they stand or ended.
    pub endings: BTreeMap<String, u64>,
    /// Of them those that a check could prove: `complete`, `refuted`, and what else ended with a
    /// check configured.
    pub judged: u64,
    /// Of these those whose goal a check proved.
    pub solved: u64,
    /// Turns to the end of the sessions that ended.
    pub turns: Spread,
    /// Sessions that used a budget up.
    pub at_limit: u64,
    /// Attempts that were started over.
    pub start_overs: u64,
    /// Interventions that were acted on.
    pub interventions: u64,
    /// Tokens sent and generated.
    pub tokens: u64,
    /// The price in nano-dollars of what has a known price.
    pub cost_nanodollars: u64,
}

/// How numbers are spread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Spread {
    /// How many numbers; the others mean nothing if there are none.
    pub count: u64,
    /// The mean.
    pub mean: f64,
    /// Half of them are at most this.
    pub median: u64,
    /// Nine tenths of them are at most this.
    pub p90: u64,
    /// The largest.
    pub max: u64,
}

/// Runs that used a budget up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LimitHits {
    /// Sessions that used one up.
    pub sessions: u64,
    /// Sessions by the budget's name.
    pub by_budget: BTreeMap<String, u64>,
}

/// Attempts that were started over.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StartOvers {
    /// Start-overs.
    pub count: u64,
    /// Sessions of runs by their number of start-overs, in decimal.
    pub sessions_by_count: BTreeMap<String, u64>,
}

/// What happened after a first decision.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct After {
    /// Sessions with such a decision.
    pub sessions: u64,
    /// Turns of these sessions.
    pub turns: u64,
    /// Of these the turns after it.
    pub turns_after: u64,
    /// Tokens sent and generated in these sessions.
    pub tokens: u64,
    /// Of these the tokens after it.
    pub tokens_after: u64,
    /// The price of these sessions in nano-dollars, as far as it is known.
    pub cost_nanodollars: u64,
    /// Of this the price of what came after it.
    pub cost_after_nanodollars: u64,
}

/// What people made of interventions of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Judged {
    /// What was decided.
    pub action: String,
    /// Why.
    pub reason: String,
    /// The template of the words; empty if there were none.
    pub template: String,
    /// Marked as helpful.
    pub helpful: u64,
    /// Marked as harmful.
    pub harmful: u64,
}
