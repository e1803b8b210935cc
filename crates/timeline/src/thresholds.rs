//! The numbers of a policy that a person may want to compare.

use schemars::JsonSchema;
use serde::Serialize;
use steersman_engine::Policy;

/// The presets that can be laid over a policy.
pub const PRESETS: [&str; 3] = ["aggressive", "standard", "lenient"];

/// The thresholds of a policy.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Thresholds {
    /// `aggressive`, `standard` or `lenient`; of the policy that decides its own name.
    pub preset: String,
    /// Whether it decides now.
    pub holds: bool,
    /// The thresholds, in the same order for every preset.
    pub values: Vec<Threshold>,
}

/// A threshold.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Threshold {
    /// Its place in the policy file.
    pub name: String,
    /// What it means, as a sentence.
    pub about: String,
    /// Its value; null: there is none, and what it is for never happens.
    pub value: Option<f64>,
}

/// The thresholds of the policy that decides, and of the presets.
#[must_use]
pub fn thresholds(policy: &Policy) -> Vec<Thresholds> {
    let own = Thresholds { preset: policy.name.clone(), holds: true, values: values(policy) };
    let presets = PRESETS.iter().filter_map(|name| {
        let preset = Policy::built_in(name)?;
        Some(Thresholds { preset: (*name).to_owned(), holds: false, values: values(&preset) })
    });
    std::iter::once(own).chain(presets).collect()
}

fn values(policy: &Policy) -> Vec<Threshold> {
    let continuation = &policy.continuation;
    let (tests, loops) = (&policy.tests, &policy.loops);
    let whole = |number: Option<u32>| number.map(f64::from);
    let share = |number: f32| Some((f64::from(number) * 1000.0).round() / 1000.0);
    let checkpoint = |at: usize| whole(tests.reevaluate_at.get(at).copied());
    [
        ("tests.check_every", "The check runs every so many turns.", whole(tests.check_every)),
        (
            "tests.stuck_after",
            "So many test results without a new low of failing tests are a standstill.",
            whole(Some(tests.stuck_after)),
        ),
        (
            "tests.start_over_after",
            "So many further ones, and the attempt is started over.",
            whole(tests.start_over_after),
        ),
        (
            "tests.reevaluate_at[0]",
            "The strategy is questioned at this turn if tests still fail.",
            checkpoint(0),
        ),
        ("tests.reevaluate_at[1]", "And at this one.", checkpoint(1)),
        (
            "loops.repeated_outcome.notice",
            "The same call with the same outcome so often brings a nudge.",
            whole(Some(loops.repeated_outcome.notice)),
        ),
        (
            "loops.repeated_outcome.end",
            "So often, and the run is ended.",
            whole(loops.repeated_outcome.end),
        ),
        (
            "loops.staleness.notice",
            "So many turns without anything new bring a nudge.",
            whole(Some(loops.staleness.notice)),
        ),
        (
            "continuation.continue_score",
            "From this score on exploration goes on untouched.",
            share(continuation.continue_score),
        ),
        (
            "continuation.synthesis_score",
            "Below this score the answer is forced.",
            share(continuation.synthesis_score),
        ),
        (
            "continuation.token_budgets.soft_limit",
            "From this share of the context window on synthesis is nudged.",
            share(continuation.token_budgets.soft_limit),
        ),
        (
            "continuation.token_budgets.hard_limit",
            "From this share of the context window on the answer is forced.",
            share(continuation.token_budgets.hard_limit),
        ),
        (
            "ladder.cooldown_turns",
            "So many turns lie between two interventions that do not end the run.",
            whole(Some(policy.ladder.cooldown_turns)),
        ),
    ]
    .into_iter()
    .map(|(name, about, value)| Threshold { name: name.to_owned(), about: about.to_owned(), value })
    .collect()
}
