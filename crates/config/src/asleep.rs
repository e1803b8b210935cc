//! Keys that have no effect because the rule that reads them is off.

use steersman_engine::Policy;
use steersman_engine::policy::{Ceiling, RuleId};

use crate::finding::Notice;
use crate::overlay::Overlay;
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
        ("global.signature_history_size", &[R::SignatureLoop]),
        ("tests.stuck_after", &[R::StuckTests]),
        ("tests.start_over_after", &[R::StuckTests]),
        ("tests.reevaluate_at", &[R::StrategyCheckpoint]),
        ("loops.transient_error", &[R::RepeatedOutcome]),
    ]
};

/// One notice for each set of rules that are off although the source gives keys for them.
pub(crate) fn notices(
    source: &Source<'_>,
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
    groups.iter().filter_map(|(rules, patterns)| notice(source, overlay, rules, patterns)).collect()
}

/// The notice about the first key that one of the patterns names, if the source gives any.
fn notice(
    source: &Source<'_>,
    overlay: &Overlay<'_, '_>,
    rules: &str,
    patterns: &[&str],
) -> Option<Notice> {
    let named = |path: &str| patterns.iter().any(|pattern| matches(pattern, path));
    let given = overlay.given.iter().filter(|(path, _)| named(path)).map(|(_, given)| given);
    let mut given: Vec<_> = given.collect();
    given.sort_by_key(|given| given.span.start);
    let (first, more) = given.split_first()?;
    let s = if rules.contains(" and ") { "s" } else { "" };
    let are = if s.is_empty() { "is" } else { "are" };
    let what = format!("has no effect: the rule{s} {rules}, which alone read it, {are} off");
    let what = if s.is_empty() { what.replace("read it", "reads it") } else { what };
    let notice = Notice::notice(source, first.span, first.shown.as_str(), what)
        .with_help("`base: classic` or a key under `rules` switches it on");
    if more.is_empty() {
        return Some(notice);
    }
    let paths: Vec<_> = more.iter().map(|given| format!("`{}`", given.shown)).collect();
    Some(notice.with_help(format!("the same holds for {}", paths.join(", "))))
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
