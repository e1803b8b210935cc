//! Checking a policy once, when it is loaded.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::risk::RiskFeature;
use crate::wording::texts_of;

use super::{Policy, Risk, RiskLine, RiskTable, Steps, TaskLimits, Wording};

/// What is wrong with a policy, and what is allowed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {value} is not allowed: {allowed}")]
pub struct PolicyError {
    /// Path of the key, dotted: `loops.cycle.notice`.
    pub path: String,
    /// The value found there.
    pub value: String,
    /// What is allowed, as a phrase.
    pub allowed: String,
}

/// Collects what is wrong.
#[derive(Default)]
struct Findings(Vec<PolicyError>);

impl Findings {
    fn expect(&mut self, ok: bool, path: &str, value: impl ToString, allowed: &str) {
        if !ok {
            self.0.push(PolicyError {
                path: path.to_string(),
                value: value.to_string(),
                allowed: allowed.to_string(),
            });
        }
    }

    fn share(&mut self, path: &str, value: f32) {
        self.expect((0.0..=1.0).contains(&value), path, value, "a number from 0 to 1");
    }

    fn between(&mut self, path: &str, value: u32, low: u32, high: u32) {
        let allowed = format!("a whole number from {low} to {high}");
        self.expect((low..=high).contains(&value), path, value, &allowed);
    }

    fn at_least_one(&mut self, path: &str, value: Option<u64>) {
        if let Some(value) = value {
            self.expect(value >= 1, path, value, "a whole number of at least 1, or null");
        }
    }
}

impl Policy {
    /// Checks every number against its bounds.
    ///
    /// # Errors
    /// Everything that is out of bounds, in the order of the file.
    pub fn validate(&self) -> Result<(), Vec<PolicyError>> {
        let mut found = Findings::default();
        found.expect(self.version == 1, "version", self.version, "1");
        self.check_continuation(&mut found);
        self.check_task_types(&mut found);
        self.check_overrides(&mut found);
        self.check_loops(&mut found);
        self.check_tests(&mut found);
        self.check_budgets(&mut found);
        self.check_texts(&mut found);
        self.check_risk(&mut found);
        self.check_wording(&mut found);
        if found.0.is_empty() { Ok(()) } else { Err(found.0) }
    }

    fn check_continuation(&self, found: &mut Findings) {
        let section = &self.continuation;
        let files = section.progress.min_files_per_intervention;
        found.expect(
            files > 0.0 && files <= 10.0,
            "continuation.progress.min_files_per_intervention",
            files,
            "a number above 0, up to 10",
        );
        let revisits = section.progress.max_revisits_before_nudge;
        found.between("continuation.progress.max_revisits_before_nudge", revisits, 1, 64);
        let idle = section.progress.max_iterations_without_tools;
        found.between("continuation.progress.max_iterations_without_tools", idle, 1, 64);
        let classes = [
            ("simple", &section.complexity.simple),
            ("medium", &section.complexity.medium),
            ("complex", &section.complexity.complex),
            ("generation", &section.complexity.generation),
        ];
        for (name, limits) in classes {
            let path = format!("continuation.complexity.{name}");
            let interventions = limits.max_interventions;
            found.between(&format!("{path}.max_interventions"), interventions, 1, 100_000);
            found.between(&format!("{path}.max_iterations"), limits.max_iterations, 1, 100_000);
            let budget = limits.tool_budget.map(u64::from);
            found.at_least_one(&format!("{path}.tool_budget"), budget);
        }
        let tokens = &section.token_budgets;
        let window = tokens.context_window;
        let path = "continuation.token_budgets.context_window";
        found.expect(window >= 1, path, window, "a whole number of at least 1");
        found.share("continuation.token_budgets.soft_limit", tokens.soft_limit);
        found.share("continuation.token_budgets.hard_limit", tokens.hard_limit);
        found.share("continuation.token_budgets.reserve", tokens.reserve);
        found.expect(
            tokens.soft_limit <= tokens.hard_limit,
            "continuation.token_budgets.soft_limit",
            tokens.soft_limit,
            &format!("at most hard_limit ({})", tokens.hard_limit),
        );
        self.check_score(found);
    }

    fn check_score(&self, found: &mut Findings) {
        let section = &self.continuation;
        let weights = &section.weights;
        let named = [
            ("progress_velocity", weights.progress_velocity),
            ("stuck_loop_penalty", weights.stuck_loop_penalty),
            ("token_budget", weights.token_budget),
            ("intervention_ratio", weights.intervention_ratio),
            ("complexity_adjustment", weights.complexity_adjustment),
        ];
        for (name, weight) in named {
            found.share(&format!("continuation.weights.{name}"), weight);
        }
        let sum = weights.sum();
        found.expect(
            (sum - 1.0).abs() < 1e-3,
            "continuation.weights",
            format!("a sum of {sum}"),
            "five weights that sum to 1",
        );
        found.share("continuation.continue_score", section.continue_score);
        found.share("continuation.synthesis_score", section.synthesis_score);
        found.expect(
            section.synthesis_score <= section.continue_score,
            "continuation.synthesis_score",
            section.synthesis_score,
            &format!("at most continue_score ({})", section.continue_score),
        );
        let protocol = &section.protocol;
        let path = "continuation.protocol";
        found.between(&format!("{path}.max_iterations"), protocol.max_iterations, 1, 1000);
        found.at_least_one(&format!("{path}.timeout_ms"), Some(protocol.timeout_ms));
        found.between(&format!("{path}.max_depth"), protocol.max_depth, 1, 32);
    }

    fn check_task_types(&self, found: &mut Findings) {
        let types = &self.task_types;
        let named = [
            ("edit", &types.edit),
            ("create", &types.create),
            ("create_simple", &types.create_simple),
            ("search", &types.search),
            ("analyze", &types.analyze),
            ("research", &types.research),
            ("design", &types.design),
            ("general", &types.general),
        ];
        for (name, limits) in named {
            self.check_task_limits(found, &format!("task_types.{name}"), limits);
        }
        let history = self.global.signature_history_size;
        found.between("global.signature_history_size", history, 1, 64);
        let total = self.global.max_total_iterations.map(u64::from);
        found.at_least_one("global.max_total_iterations", total);
    }

    fn check_task_limits(&self, found: &mut Findings, path: &str, limits: &TaskLimits) {
        let iterations = limits.max_exploration_iterations;
        found.between(&format!("{path}.max_exploration_iterations"), iterations, 1, 100_000);
        found.between(&format!("{path}.tool_budget"), limits.tool_budget, 1, 100_000);
        // A threshold above the history could never fire (D7).
        let history = self.global.signature_history_size;
        let repeats = limits.loop_repeat_threshold;
        let allowed = format!(
            "a whole number from 2 to global.signature_history_size ({history}), or it never fires"
        );
        let ok = (2..=history).contains(&repeats);
        found.expect(ok, &format!("{path}.loop_repeat_threshold"), repeats, &allowed);
    }

    fn check_overrides(&self, found: &mut Findings) {
        for (glob, settings) in &self.model_overrides {
            let path = format!("model_overrides.{glob}");
            check_glob(found, &path, glob, "a model's name");
            let factor = settings.exploration_multiplier;
            let ok = factor > 0.0 && factor <= 10.0;
            let key = format!("{path}.exploration_multiplier");
            found.expect(ok, &key, factor, "a number above 0, up to 10");
            let patience = settings.continuation_patience;
            found.between(&format!("{path}.continuation_patience"), patience, 1, 100);
            found.at_least_one(&format!("{path}.context_window"), settings.context_window);
        }
        for glob in self.tools.keys() {
            check_glob(found, &format!("tools.{glob}"), glob, "a tool's name");
        }
    }

    fn check_loops(&self, found: &mut Findings) {
        let loops = &self.loops;
        let named: [(&str, Steps); 13] = [
            ("repeated_outcome", loops.repeated_outcome),
            ("transient_error", loops.transient_error),
            ("cycle", loops.cycle),
            ("same_output", loops.same_output),
            ("similar_outcome", loops.similar_outcome),
            ("same_error", loops.same_error),
            ("error_streak", loops.error_streak),
            ("fruitless_search", loops.fruitless_search),
            ("narration", loops.narration),
            ("edit_revert", loops.edit_revert),
            ("chanting", loops.chanting),
            ("staleness", loops.staleness),
            ("polling", loops.polling),
        ];
        for (name, steps) in named {
            let path = format!("loops.{name}");
            found.between(&format!("{path}.notice"), steps.notice, 2, 10_000);
            let allowed = format!("at least notice ({})", steps.notice);
            found.expect(steps.urge >= steps.notice, &format!("{path}.urge"), steps.urge, &allowed);
            if let Some(end) = steps.end {
                let allowed = format!("at least urge ({}), or null", steps.urge);
                found.expect(end >= steps.urge, &format!("{path}.end"), end, &allowed);
            }
        }
        found.between("loops.confirming_turns", loops.confirming_turns, 1, 64);
        found.between("loops.confirming_acts", loops.confirming_acts, 1, 64);
        let alike = loops.similarity;
        let ok = (0.5..=1.0).contains(&alike);
        found.expect(ok, "loops.similarity", alike, "a number from 0.5 to 1");
    }

    fn check_tests(&self, found: &mut Findings) {
        let tests = &self.tests;
        if let Some(every) = tests.check_every {
            found.between("tests.check_every", every, 1, 1000);
        }
        found.between("tests.stuck_after", tests.stuck_after, 2, 64);
        if let Some(after) = tests.start_over_after {
            found.between("tests.start_over_after", after, 1, 64);
        }
        let ascending = tests.reevaluate_at.is_sorted_by(|a, b| a < b);
        let shown = format!("{:?}", tests.reevaluate_at);
        found.expect(ascending, "tests.reevaluate_at", shown, "turn numbers in ascending order");
        found.between("tests.max_attempts", tests.max_attempts, 1, 16);
        found.between("tests.grace_turns", tests.grace_turns, 0, 100);
        found.between("tests.max_rejected_claims", tests.max_rejected_claims, 0, 16);
    }

    fn check_budgets(&self, found: &mut Findings) {
        let ladder = &self.ladder;
        found.between("ladder.cooldown_turns", ladder.cooldown_turns, 0, 100);
        found.between("ladder.forget_after_turns", ladder.forget_after_turns, 1, 1000);
        found.between("ladder.max_interventions", ladder.max_interventions, 0, 1000);
        found.between("ladder.answer_turns", ladder.answer_turns, 1, 10);
        let limits = &self.limits;
        found.at_least_one("limits.max_turns", limits.max_turns.map(u64::from));
        found.at_least_one("limits.max_tool_calls", limits.max_tool_calls.map(u64::from));
        found.at_least_one("limits.max_total_tokens", limits.max_total_tokens);
        found.at_least_one("limits.max_output_tokens", limits.max_output_tokens);
        found.at_least_one("limits.max_cost_nanodollars", limits.max_cost_nanodollars);
        found.at_least_one("limits.max_wall_ms", limits.max_wall_ms);
        found.at_least_one("limits.max_working_ms", limits.max_working_ms);
        found.between("retry.max_retries", self.retry.max_retries, 0, 100);
        let delays = &self.retry.delays_ms;
        let shown = format!("{delays:?}");
        found.expect(!delays.is_empty(), "retry.delays_ms", shown, "at least one delay");
        found.between("retry.jitter_percent", self.retry.jitter_percent, 0, 100);
    }
}

impl Policy {
    fn check_texts(&self, found: &mut Findings) {
        for (name, texts) in &self.texts {
            let path = format!("texts.{name}");
            check_template(found, &path, name);
            found.expect(!texts.is_empty(), &path, "[]", "at least one text");
        }
    }
}

impl Policy {
    fn check_risk(&self, found: &mut Findings) {
        let risk = &self.risk;
        let finite = |found: &mut Findings, path: &str, value: f32| {
            found.expect(value.is_finite(), path, value, "a number");
        };
        finite(found, "risk.base", risk.base);
        for feature in RiskFeature::ALL {
            let table = risk.tables.of(*feature);
            let path = format!("risk.tables.{}", feature.key());
            let (ends, adds) = (&table.up_to, &table.add);
            let rising = ends.windows(2).all(|pair| pair[0] < pair[1]);
            let ok = rising && ends.iter().all(|end| end.is_finite());
            let most = RiskTable::MAX_STEPS;
            let allowed = format!("rising numbers, at most {most}");
            let count = ends.len();
            found.expect(ok && count <= most, &format!("{path}.up_to"), list(ends), &allowed);
            let ok = adds.len() == count + 1 && adds.iter().all(|add| add.is_finite());
            let allowed = format!("{} numbers, one more than `up_to` has", count + 1);
            found.expect(ok, &format!("{path}.add"), list(adds), &allowed);
        }
        let profiles = risk.profiles.len();
        let allowed = format!("at most {} profiles", Risk::MAX_PROFILES);
        found.expect(profiles <= Risk::MAX_PROFILES, "risk.profiles", profiles, &allowed);
        check_line(found, "risk.others", &risk.others);
        for (at, profile) in risk.profiles.iter().enumerate() {
            let path = format!("risk.profiles.{at}");
            let named = !profile.agent.is_empty();
            found.expect(named, &format!("{path}.agent"), "\"\"", "the name of an agent");
            check_line(found, &path, &profile.line);
        }
    }
}

impl Policy {
    fn check_wording(&self, found: &mut Findings) {
        let learned = &self.wording.learned;
        let (count, most) = (learned.len(), Wording::MAX_LEARNED);
        let allowed = format!("at most {most} entries");
        found.expect(count <= most, "wording.learned", count, &allowed);
        let mut before = BTreeMap::new();
        for (at, known) in learned.iter().take(most).enumerate() {
            let path = format!("wording.learned.{at}");
            check_glob(found, &format!("{path}.model"), &known.model, "a model's name");
            let texts = texts_of(self, &known.template).len();
            check_template(found, &format!("{path}.template"), &known.template);
            let count = known.outcomes.len();
            let allowed = format!("1 to {texts} entries, one for each text of {}", known.template);
            let ok = (1..=texts).contains(&count) || texts == 0;
            let shown = format!("a list of {count}");
            found.expect(ok, &format!("{path}.outcomes"), shown, &allowed);
            // Globs ignore case, and so does their comparison.
            let names = (known.model.to_ascii_lowercase(), &known.template);
            if let Some(first) = before.insert(names, at) {
                let allowed = format!("another model or template than wording.learned.{first} has");
                let shown = format!("{:?} with {:?}", known.model, known.template);
                found.expect(false, &path, shown, &allowed);
            }
        }
    }
}

/// A text of a name that no template has would never be shown.
fn check_template(found: &mut Findings, path: &str, name: &str) {
    let mut known = crate::texts::built_in_texts().iter().map(|(known, _)| *known);
    if !known.clone().any(|known| known == name) {
        let names: Vec<&str> = known.by_ref().collect();
        let allowed = format!("the name of a text: {}", names.join(", "));
        found.expect(false, path, format!("{name:?}"), &allowed);
    }
}

fn check_line(found: &mut Findings, path: &str, line: &RiskLine) {
    let (usual, spread, success) = (line.usual_turns, line.spread, line.success);
    let ok = usual > 0.0 && usual.is_finite();
    found.expect(ok, &format!("{path}.usual_turns"), usual, "a number above 0");
    let ok = spread > 1.0 && spread.is_finite();
    found.expect(ok, &format!("{path}.spread"), spread, "a number above 1");
    found.expect(success.is_finite(), &format!("{path}.success"), success, "a number");
    let value = line.line.unwrap_or_default();
    found.expect(value.is_finite(), &format!("{path}.line"), value, "a number, or null");
}

fn list(numbers: &[f32]) -> String {
    let numbers: Vec<String> = numbers.iter().take(8).map(ToString::to_string).collect();
    format!("[{}]", numbers.join(", "))
}

/// A glob with white space around it, or an empty one, can match no name.
fn check_glob(found: &mut Findings, path: &str, glob: &str, what: &str) {
    let ok = !glob.is_empty() && glob.trim() == glob && !glob.contains(['\n', '\t']);
    let allowed = format!(
        "a glob that can match {what}: not empty, no white space around it, * for any run of \
         characters, ? for one"
    );
    found.expect(ok, path, format!("{glob:?}"), &allowed);
}
