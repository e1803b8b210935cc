//! A turn: a reply of the model, its calls and what they came to.

use schemars::JsonSchema;
use serde::Serialize;
use steersman_engine::tool::ToolKind;

use crate::decided::{Decided, Note, Said};

/// One reply of the model and what followed until the next.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Turn {
    /// Its number, from 1, as decisions and evidence count.
    pub number: u32,
    /// The attempt it belongs to, from 1.
    pub attempt: u32,
    /// The journal's entry of the reply; null in recordings.
    pub seq: Option<u64>,
    /// When the reply was in, in milliseconds since 1970; null if that is not known.
    pub at_ms: Option<u64>,
    /// From the request to the end of the reply, in milliseconds; null if that is not known.
    pub took_ms: Option<u64>,
    /// The beginning of the reply's text, at most 4 KiB; of one without, of its reasoning.
    pub text: String,
    /// The model that answered; null if it did not say.
    pub model: Option<String>,
    /// Why the model stopped, as a word; null if the server did not say.
    pub stop: Option<String>,
    /// Its calls, at most 64.
    pub calls: Vec<Call>,
    /// Calls that are left out.
    pub more_calls: u32,
    /// Test results seen last in it; null if none were.
    pub tests: Option<TestResults>,
    /// Checks that ran in it, at most 16.
    pub checks: Vec<CheckRun>,
    /// The score of its last decision, 0 (stop exploring) to 1 (go on); null without one.
    pub score: Option<f32>,
    /// The signals at its last decision; null without one.
    pub signals: Option<Signals>,
    /// What was decided in it, at most 40; to go on without a word is left out.
    pub decisions: Vec<Decided>,
    /// What was put into the conversation in it, at most 40.
    pub said: Vec<Said>,
    /// What the agent says of its progress; null if it says nothing. Only a claim.
    pub claimed: Option<Claimed>,
    /// What the call of the model used; null if that is not known.
    pub spent: Option<Spent>,
    /// What else happened, at most 40: controls, failures, rescues.
    pub notes: Vec<Note>,
}

/// A call of a tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Call {
    /// The tool's name, at most 128 bytes.
    pub name: String,
    /// Tool and target in one line, at most 96 bytes.
    pub label: String,
    /// The beginning of its arguments, at most 1 KiB.
    pub arguments: String,
    /// What the call does.
    pub kind: Kind,
    /// Whether it changes something outside if it succeeds.
    pub changes: bool,
    /// How it went; null if there is no result, or none so far.
    pub outcome: Option<Outcome>,
    /// Of an error: equal for the same error from other arguments; else null.
    pub error: Option<String>,
    /// The exit code of a command; null if there is none.
    pub exit_code: Option<i32>,
    /// The beginning of what it returned, at most 512 bytes.
    pub excerpt: String,
    /// How often the same call has had the same outcome by now while nothing was changed, this
    /// time included; 0 if that is not counted.
    pub times: u32,
    /// Whether it brought something new: another outcome than the same call had before.
    pub novel: bool,
    /// How long it took, in milliseconds; null if that is not known.
    pub took_ms: Option<u64>,
}

/// What a call does, as far as progress is concerned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Reads one resource.
    Read,
    /// Looks for something.
    Search,
    /// Changes something on purpose.
    Edit,
    /// Runs a command that may change anything.
    Execute,
    /// Runs tests or another check.
    Test,
    /// Waits for something outside.
    Poll,
    /// Fetches the next part of something.
    Paginate,
    /// Thinks or plans.
    Plan,
    /// Not known.
    #[default]
    Other,
}

impl From<ToolKind> for Kind {
    fn from(kind: ToolKind) -> Self {
        match kind {
            ToolKind::Read => Self::Read,
            ToolKind::Search => Self::Search,
            ToolKind::Edit => Self::Edit,
            ToolKind::Execute => Self::Execute,
            ToolKind::Test => Self::Test,
            ToolKind::Poll => Self::Poll,
            ToolKind::Paginate => Self::Paginate,
            ToolKind::Plan => Self::Plan,
            ToolKind::Other => Self::Other,
        }
    }
}

/// How a call went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It did what it should. Failing tests of a test run count here: they are its result.
    Ok,
    /// It failed.
    Error,
    /// Nothing came back: no output, no match, an empty list.
    Empty,
}

/// Results of tests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TestResults {
    /// Tests that passed.
    pub passed: u32,
    /// Tests that failed.
    pub failed: u32,
    /// Tests that were skipped.
    pub skipped: u32,
    /// Whether something could not be built or loaded: its tests are missing from the counts.
    pub broken: bool,
    /// The failing tests that the output names, at most 64.
    pub failing: Vec<FailingTest>,
}

/// A failing test.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FailingTest {
    /// Its identity: a hash of its full name, in hexadecimal.
    pub id: String,
    /// Its name, at most 200 bytes; null if only the identity was kept.
    pub name: Option<String>,
}

/// A run of the check that proves the goal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CheckRun {
    /// The journal's entry; null in recordings.
    pub seq: Option<u64>,
    /// Why it ran: `due`, `claim`, `asked`, `closing`; in recordings its name.
    pub cause: String,
    /// Whether the goal is proved.
    pub passed: bool,
    /// How long it took, in milliseconds; null if that is not known.
    pub took_ms: Option<u64>,
    /// The last lines of its output, at most 1 KiB.
    pub excerpt: String,
    /// Test results read from it; null if it holds none.
    pub tests: Option<TestResults>,
}

/// Measured quantities of the run, each from 0 to 1; 1 speaks for going on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Signals {
    /// New resources per iteration against the velocity that counts as full.
    pub progress_velocity: f32,
    /// Share of the last turns with tools that brought something new.
    pub novelty: f32,
    /// 1 without consecutive revisits or repeats, 0 in a stuck loop.
    pub stuck_loop: f32,
    /// Room in the context window between soft and hard limit.
    pub token_budget: f32,
    /// Share of the tightest budget of the run that is left; 1 without budgets.
    pub budget_left: f32,
    /// Interventions not yet used up.
    pub intervention_ratio: f32,
    /// Patience that the task's complexity earns.
    pub complexity: f32,
    /// 1 while failing tests reach new lows, 0 when stuck.
    pub test_trend: f32,
    /// Share of the last turns in which every call failed; here 0 is best.
    pub error_rate: f32,
}

impl From<steersman_engine::Signals> for Signals {
    fn from(it: steersman_engine::Signals) -> Self {
        Self {
            progress_velocity: it.progress_velocity,
            novelty: it.novelty,
            stuck_loop: it.stuck_loop,
            token_budget: it.token_budget,
            budget_left: it.budget_left,
            intervention_ratio: it.intervention_ratio,
            complexity: it.complexity,
            test_trend: it.test_trend,
            error_rate: it.error_rate,
        }
    }
}

/// What an agent says of its progress. A claim: no decision rests on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Claimed {
    /// In percent; null if it does not say.
    pub percent: Option<f32>,
    /// The step it is at; null if it does not say.
    pub step: Option<u32>,
    /// How many steps there are; null if it does not say.
    pub steps: Option<u32>,
}

/// What calls of models used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Spent {
    /// Tokens sent, cached ones included.
    pub input_tokens: u64,
    /// Of these, from the server's cache; null if that is not known.
    pub cached_tokens: Option<u64>,
    /// Tokens generated.
    pub output_tokens: u64,
    /// The price in nano-dollars; null if it is not known.
    pub cost_nanodollars: Option<u64>,
}
