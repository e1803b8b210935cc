//! What became of the keys of older formats.

/// What a change takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Takes {
    /// A scalar or a list.
    Value,
    /// A mapping.
    Section,
    /// Both.
    Anything,
}

/// How a value is converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Convert {
    /// Not at all.
    Nothing,
    /// From seconds to milliseconds.
    SecondsToMilliseconds,
}

/// One old key and what became of it.
pub(super) struct Change {
    /// Its path; `*` stands for any name.
    pub(super) from: String,
    /// Today's paths, none if it was dropped; `{1}` stands for what the star stood for, `{all}` for
    /// every key of the section.
    pub(super) to: Vec<String>,
    /// Why, or what it means today.
    pub(super) why: &'static str,
    /// What it takes.
    pub(super) takes: Takes,
    /// How the value is converted.
    pub(super) convert: Convert,
}

/// The four coarse task types of the former loop detector (and one of the former milestone
/// monitor), and today's types that they cover.
const COARSE: [(&str, &[&str]); 5] = [
    ("default", &["general", "design"]),
    ("analysis", &["search", "analyze"]),
    ("action", &["edit", "create", "create_simple"]),
    ("research", &["research"]),
    ("analysis_deep", &["analyze"]),
];

/// Every change, in the order in which they are applied.
pub(super) fn all() -> Vec<Change> {
    let mut changes = Vec::new();
    adaptive_continuation(&mut changes);
    milestone_monitor(&mut changes);
    loop_detector(&mut changes);
    local_minimum(&mut changes);
    agent_continuation(&mut changes);
    changes
}

fn value(from: impl Into<String>, to: &str, why: &'static str) -> Change {
    let (takes, convert) = (Takes::Value, Convert::Nothing);
    Change { from: from.into(), to: vec![to.to_owned()], why, takes, convert }
}

fn section(from: &str, to: &[&str], why: &'static str) -> Change {
    let to = to.iter().map(|&to| to.to_owned()).collect();
    Change { from: from.into(), to, why, takes: Takes::Section, convert: Convert::Nothing }
}

fn dropped(from: impl Into<String>, why: &'static str) -> Change {
    let (takes, convert) = (Takes::Anything, Convert::Nothing);
    Change { from: from.into(), to: vec![], why, takes, convert }
}

/// The YAML of the adaptive continuation strategy, first as proposed, then as implemented.
fn adaptive_continuation(changes: &mut Vec<Change>) {
    const HARD: &str = "the share of the window at which synthesis is forced";
    const SOFT: &str = "the share of the window at which synthesis is nudged";
    const RESERVE: &str = "the share of the window that is kept free for the answer";
    let moves = [
        ("exploration", "hard_limit", HARD),
        ("exploration_budget", "hard_limit", HARD),
        ("hard_limit_pct", "hard_limit", HARD),
        ("soft_limit_pct", "soft_limit", SOFT),
        ("exploration_soft_limit", "soft_limit", SOFT),
        ("synthesis", "reserve", RESERVE),
        ("synthesis_budget", "reserve", RESERVE),
    ];
    let path = |name: &str| format!("continuation.token_budgets.{name}");
    changes.extend(moves.map(|(from, to, why)| value(path(from), &path(to), why)));
    changes.push(dropped(path("buffer"), "it is what the other shares leave"));
    changes.push(dropped(
        path("synthesis_soft_limit"),
        "the answer has one share, `continuation.token_budgets.reserve`",
    ));
}

/// The file of the milestone monitor: task types with tools, stages and hints.
fn milestone_monitor(changes: &mut Vec<Change>) {
    const TOOLS: &str =
        "which tools an agent has is the agent's affair; what they do is said under `tools`";
    changes.push(section("task_configs", &["task_types"], ""));
    for (coarse, fine) in COARSE.iter().filter(|(coarse, fine)| *fine != [*coarse]) {
        let to: Vec<String> = fine.iter().map(|fine| format!("task_types.{fine}")).collect();
        let to: Vec<&str> = to.iter().map(String::as_str).collect();
        changes.push(section(&format!("task_types.{coarse}"), &to, ""));
    }
    let moves = [
        ("max_exploration", "max_exploration_iterations"),
        ("max_iterations", "max_exploration_iterations"),
        ("repeat_threshold", "loop_repeat_threshold"),
    ];
    for (from, to) in moves {
        changes.push(value(format!("task_types.*.{from}"), &format!("task_types.{{1}}.{to}"), ""));
    }
    let drops = [
        ("description", "the task types are fixed and described in the reference"),
        ("required_tools", TOOLS),
        ("stage_tools", TOOLS),
        ("needs_tools", TOOLS),
        ("skip_exploration", "a small `max_exploration_iterations` does it"),
        ("completion_milestones", "milestones follow from what the tools did"),
        ("force_action_hints", "texts of interventions stand under `texts`"),
    ];
    changes.extend(drops.map(|(from, why)| dropped(format!("task_types.*.{from}"), why)));
    changes.push(dropped("milestones", "milestones follow from what the tools did: see `tools`"));
    changes.push(dropped("stage_progression", "stages follow from the milestones"));
    changes.push(dropped("tool_priorities", TOOLS));
}

/// Where the settings of the loop detector stood.
const PREFIXES: [&str; 2] = ["", "loop_detection."];

/// The settings of the loop detector, at the top or in `loop_detection`.
fn loop_detector(changes: &mut Vec<Change>) {
    // Numbers kept per task type: its name there, today's name, and whether a single number held
    // for all task types.
    let names = [
        ("budgets", "tool_budget", false),
        ("tool_budgets", "tool_budget", false),
        ("tool_budget", "tool_budget", true),
        ("budgets.tool_budget", "tool_budget", true),
        ("loop_repeat_threshold", "loop_repeat_threshold", true),
        ("repeat_threshold", "loop_repeat_threshold", true),
        ("max_iterations", "max_exploration_iterations", false),
        ("max_exploration_iterations", "max_exploration_iterations", true),
    ];
    for prefix in PREFIXES {
        for (from, to, _) in names {
            per_task_type(changes, &format!("{prefix}{from}"), to);
        }
        let to = "task_types.research.max_exploration_iterations";
        changes.push(value(format!("{prefix}max_research_iterations"), to, ""));
    }
    // What was said of one task type comes before what was said of all.
    for prefix in PREFIXES {
        for (from, to, _) in names.iter().filter(|(_, _, one_for_all)| *one_for_all) {
            let to = format!("task_types.{{all}}.{to}");
            changes.push(value(format!("{prefix}{from}"), &to, "for every task type"));
        }
        for_all_types(changes, prefix);
    }
    const EVERY: &str = "for every model without an override of its own";
    let to = "model_overrides.*.loop_detection";
    changes.push(value("loop_detection.enabled", to, EVERY));
    changes.push(value("loop_detection", to, EVERY));
}

/// `name.action` and `name_action` for each coarse task type.
fn per_task_type(changes: &mut Vec<Change>, name: &str, to: &str) {
    for (coarse, fine) in COARSE {
        for joint in [".", "_"] {
            let mut change = value(format!("{name}{joint}{coarse}"), "", "");
            change.to = fine.iter().map(|fine| format!("task_types.{fine}.{to}")).collect();
            changes.push(change);
        }
    }
}

/// Settings that hold for every task type.
fn for_all_types(changes: &mut Vec<Change>, prefix: &str) {
    let global = [
        ("signature_history_size", "signature_history_size"),
        ("min_content_threshold", "min_content_threshold"),
        ("max_total_iterations", "max_total_iterations"),
        ("max_iterations", "max_total_iterations"),
    ];
    for (from, to) in global {
        changes.push(value(format!("{prefix}{from}"), &format!("global.{to}"), ""));
    }
    let drops = [
        ("signature_lookback_for_warning", "how warnings fade is said by `ladder`"),
        ("max_overlapping_reads_per_file", "reading the same again is seen by the loop rules"),
        ("max_searches_per_query_prefix", "searches in vain are seen by `loops.fruitless_search`"),
    ];
    changes.extend(drops.map(|(from, why)| dropped(format!("{prefix}{from}"), why)));
}

/// Whether the name is one of the coarse task types.
pub(super) fn is_coarse(name: &str) -> bool {
    COARSE.iter().any(|(coarse, _)| *coarse == name)
}

/// The name of an old key, with `*` where it ends in a coarse task type.
pub(super) fn short(name: &str) -> String {
    let coarse = COARSE.iter().find_map(|(coarse, _)| name.strip_suffix(coarse)?.strip_suffix('_'));
    coarse.map_or_else(|| name.to_owned(), |stem| format!("{stem}_*"))
}

/// The constants of the local-minimum fixes, at the top or in `local_minimum`.
fn local_minimum(changes: &mut Vec<Change>) {
    let moves = [
        ("STRATEGY_REEVAL_CHECKPOINTS", "tests.reevaluate_at", ""),
        ("TEST_CHECK_INTERVAL", "tests.check_every", ""),
        ("STUCK_THRESHOLD", "tests.stuck_after", ""),
        ("MAX_STEPS", "limits.max_turns", ""),
    ];
    for (from, to, why) in moves {
        for prefix in ["", "local_minimum."] {
            changes.push(value(format!("{prefix}{from}"), to, why));
            changes.push(value(format!("{prefix}{}", from.to_lowercase()), to, why));
        }
    }
    changes.push(value("local_minimum.preset", "tests.preset", ""));
}

/// An agent's `continuation_config`.
fn agent_continuation(changes: &mut Vec<Change>) {
    let path = |name: &str| format!("continuation_config.{name}");
    let moves = [
        ("max_iterations", "max_iterations"),
        ("require_explicit_signal", "require_explicit_signal"),
        ("max_depth", "max_depth"),
        ("max_continuation_depth", "max_depth"),
    ];
    for (from, to) in moves {
        changes.push(value(path(from), &format!("continuation.protocol.{to}"), ""));
    }
    let why = "in milliseconds, where it was in seconds";
    let mut timeout = value(path("timeout"), "continuation.protocol.timeout_ms", why);
    timeout.convert = Convert::SecondsToMilliseconds;
    changes.push(timeout);
    for name in ["patterns", "continuation_patterns", "termination_patterns"] {
        let why = "the patterns are built in; \
                   `continuation.protocol.require_explicit_signal` switches them";
        changes.push(dropped(path(name), why));
    }
}
