//! Keys that have no effect because the rule that reads them is off.

use serde_json::Value as Json;
use steersman_engine::Policy;
use steersman_engine::policy::{Ceiling, RuleId};

use crate::finding::Notice;
use crate::load::to_json;
use crate::overlay::{Given, Overlay};
use crate::source::Source;

/// Keys (`*` stands for any name) and the rules that read them. A key of `loops` is read by the
/// rule of the same name.
const READERS: &[(&str, &[RuleId])] = {
    use RuleId as R;
    &[
        ("continuation.progress.max_revisits_before_nudge", &[R::StuckLoop, R::Score]),
        ("continuation.progress.min_files_per_intervention", &[R::Score]),
        ("continuation.complexity.*.max_interventions", &[R::ComplexityLimit, R::Score]),
        ("continuation.complexity.*.max_iterations", &[R::ComplexityLimit, R::Score]),
        ("continuation.complexity.*.tool_budget", &[R::ToolBudget]),
        ("continuation.token_budgets.soft_limit", &[R::TokenBudget, R::Score]),
        ("continuation.token_budgets.hard_limit", &[R::TokenBudget, R::Score]),
        ("continuation.token_budgets.reserve", &[R::ContextReserve]),
        ("continuation.weights", &[R::Score]),
        ("continuation.continue_score", &[R::Score]),
        ("continuation.synthesis_score", &[R::Score]),
        ("continuation.protocol.max_iterations", &[R::Protocol]),
        ("continuation.protocol.timeout_ms", &[R::Protocol]),
        ("task_types.*.max_exploration_iterations", &[R::MaxIterations, R::GoalForcing]),
        ("task_types.*.force_action_after_target_read", &[R::GoalForcing]),
        ("task_types.*.tool_budget", &[R::ToolBudget]),
        ("task_types.*.loop_repeat_threshold", &[R::SignatureLoop]),
        ("model_overrides.*.exploration_multiplier", &[R::MaxIterations, R::GoalForcing]),
        ("global.max_total_iterations", &[R::MaxIterations]),
        ("global.signature_history_size", &[R::SignatureLoop]),
        ("tests.stuck_after", &[R::StuckTests]),
        ("tests.start_over_after", &[R::StuckTests]),
        ("tests.reevaluate_at", &[R::StrategyCheckpoint]),
        ("tests.grace_turns", &[R::StuckTests]),
        ("tests.max_attempts", &[R::StuckTests]),
        ("tests.max_rejected_claims", &[R::ContradictedClaim]),
        ("loops.transient_error", &[R::RepeatedOutcome, R::SameError]),
        ("loops.confirming_turns", &[R::RepeatedOutcome]),
        ("loops.confirming_acts", &[R::RepeatedOutcome]),
        ("loops.polling_patience_ms", &[R::Polling]),
        ("risk", &[R::Risk]),
    ]
};

/// One notice for each set of rules that are off although the source changes keys that they read.
/// `before` is the policy that the source is laid over.
pub(crate) fn notices(
    source: &Source<'_>,
    before: &Json,
    policy: &Policy,
    overlay: &Overlay<'_, '_>,
) -> Vec<Notice> {
    let is_off = |rule: &RuleId| policy.rules.of(*rule) == Ceiling::Off;
    let asleep = READERS.iter().filter(|(_, rules)| rules.iter().all(is_off));
    let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
    for (pattern, rules) in asleep {
        let names: Vec<_> = rules.iter().map(|rule| format!("`{}`", rule.key())).collect();
        let names = names.join(" and ");
        match groups.iter_mut().find(|(group, _)| *group == names) {
            Some((_, patterns)) => patterns.push(pattern),
            None => groups.push((names, vec![pattern])),
        }
    }
    let by_name = RuleId::ALL.iter().filter(|rule| is_off(rule));
    let loops: Vec<_> = by_name.map(|rule| (rule.key(), format!("loops.{}", rule.key()))).collect();
    groups.extend(loops.iter().map(|(rule, path)| (format!("`{rule}`"), vec![path.as_str()])));
    let after = to_json(policy);
    let changed: Vec<(&str, &Given)> = overlay
        .given
        .iter()
        .filter(|(_, given)| at(before, given) != at(&after, given))
        .map(|(path, given)| (path.as_str(), given))
        .collect();
    let notice = |(rules, patterns): &(String, Vec<&str>)| {
        let named = |path: &str| patterns.iter().any(|pattern| matches(pattern, path));
        let given = changed.iter().filter(|(path, _)| named(path)).map(|(_, given)| *given);
        notice(source, rules, given.collect())
    };
    groups.iter().filter_map(notice).collect()
}

/// The value of a key.
fn at<'j>(policy: &'j Json, given: &Given) -> Option<&'j Json> {
    given.names.iter().try_fold(policy, |json, name| json.get(name))
}

/// The notice about keys that are read by rules that are off; `None` if there are no such keys.
fn notice(source: &Source<'_>, rules: &str, mut given: Vec<&Given>) -> Option<Notice> {
    const MOST: usize = 8;
    given.sort_by_key(|given| given.span.start);
    let (first, more) = given.split_first()?;
    let read = if rules.contains(" and ") {
        format!("the rules {rules}, which alone read it, are off")
    } else {
        format!("the rule {rules}, which alone reads it, is off")
    };
    let what = format!("has no effect: {read}");
    let notice = Notice::notice(source, first.span, first.shown.as_str(), what)
        .with_help("`base: classic` or a key under `rules` switches it on");
    if more.is_empty() {
        return Some(notice);
    }
    let paths = more.iter().take(MOST).map(|given| format!("`{}`", given.shown));
    let paths = paths.collect::<Vec<_>>().join(", ");
    let rest = if more.len() > MOST { " and more" } else { "" };
    Some(notice.with_help(format!("the same holds for {paths}{rest}")))
}

/// Whether a pattern names a path.
fn matches(pattern: &str, path: &str) -> bool {
    match pattern.split_once('*') {
        // A name in a table may hold dots itself.
        Some((before, after)) => path
            .strip_prefix(before)
            .and_then(|rest| rest.strip_suffix(after))
            .is_some_and(|name| !name.is_empty()),
        None => pattern == path,
    }
}

#[cfg(test)]
mod tests {
    use super::READERS;
    use crate::bounds::each_key;

    #[test]
    fn every_pattern_names_a_key() {
        for (pattern, rules) in READERS {
            let mut found = 0;
            each_key(|path, _, _| found += usize::from(super::matches(pattern, &path.join("."))));
            assert!(found > 0, "{pattern}");
            assert!(!rules.is_empty(), "{pattern}");
        }
    }
}
