//! The policy `classic`: every number of the source documents.

mod script;

use script::Script;
use steersman_engine::classify::{Complexity, TaskType};
use steersman_engine::policy::{Ceiling, Preset, Retry, RuleId};
use steersman_engine::{Action, Policy, RunInfo, Signals};

#[test]
fn a_numbers_of_document_a() {
    let section = Policy::classic().continuation;
    let classes = &section.complexity;
    let limits = [&classes.simple, &classes.medium, &classes.complex, &classes.generation]
        .map(|class| (class.max_interventions, class.max_iterations));
    assert_eq!(limits, [(5, 10), (10, 25), (20, 50), (15, 35)]);
    let budgets = &section.token_budgets;
    assert_eq!(
        (budgets.context_window, budgets.soft_limit, budgets.hard_limit),
        (128_000, 0.30, 0.70)
    );
    let weights = &section.weights;
    let weights = [
        weights.progress_velocity,
        weights.stuck_loop_penalty,
        weights.token_budget,
        weights.intervention_ratio,
        weights.complexity_adjustment,
    ];
    assert_eq!(weights, [0.30, 0.25, 0.20, 0.15, 0.10]);
    assert_eq!((section.continue_score, section.synthesis_score), (0.6, 0.3));
    assert_eq!(section.progress.max_revisits_before_nudge, 3);
    assert_eq!(section.progress.min_files_per_intervention, 0.5);
}

#[test]
fn a4_the_score_is_the_weighted_sum() {
    let policy = Policy::classic();
    let of = |velocity, stuck, tokens, ratio, complexity| Signals {
        progress_velocity: velocity,
        stuck_loop: stuck,
        token_budget: tokens,
        intervention_ratio: ratio,
        complexity,
        ..Signals::default()
    };
    let cases = [
        (of(1.0, 1.0, 1.0, 1.0, 1.0), 1.0),
        (of(0.0, 0.0, 0.0, 0.0, 0.0), 0.0),
        (of(1.0, 0.0, 0.0, 0.0, 0.0), 0.30),
        (of(0.0, 1.0, 0.0, 0.0, 0.0), 0.25),
        (of(0.0, 0.0, 1.0, 0.0, 0.0), 0.20),
        (of(0.0, 0.0, 0.0, 1.0, 0.0), 0.15),
        (of(0.0, 0.0, 0.0, 0.0, 1.0), 0.10),
        (of(0.5, 1.0, 1.0, 1.0, 0.5), 0.80),
    ];
    for (signals, expected) in cases {
        let score: f32 = signals.score(&policy);
        assert!((score - expected).abs() < 1e-6, "{score} instead of {expected}: {signals:?}");
    }
}

#[test]
fn b_numbers_of_document_b() {
    let tests = |policy: Policy| {
        (policy.tests.reevaluate_at.clone(), policy.tests.check_every, policy.tests.stuck_after)
    };
    assert_eq!(tests(Policy::classic()), (vec![20, 40], Some(5), 3));
    assert_eq!(Preset::Aggressive.numbers(), ([15, 30], 3, 2));
    assert_eq!(Preset::Standard.numbers(), ([20, 40], 5, 3));
    assert_eq!(Preset::Lenient.numbers(), ([25, 50], 7, 4));
    for (name, at) in
        [("aggressive", vec![15, 30]), ("standard", vec![20, 40]), ("lenient", vec![25, 50])]
    {
        assert_eq!(Policy::built_in(name).map(|policy| tests(policy).0), Some(at));
    }
}

#[test]
fn c_numbers_of_document_c() {
    let protocol = Policy::classic().continuation.protocol;
    assert_eq!((protocol.max_iterations, protocol.timeout_ms), (10, 300_000));
    assert_eq!((protocol.max_depth, protocol.require_explicit_signal), (3, true));
}

#[test]
fn d_numbers_of_document_d() {
    let policy = Policy::classic();
    let of = |task_type| {
        let limits = policy.task_types.of(task_type);
        (
            limits.max_exploration_iterations,
            limits.force_action_after_target_read,
            limits.tool_budget,
            limits.loop_repeat_threshold,
        )
    };
    assert_eq!(of(TaskType::Edit), (8, true, 15, 4));
    assert_eq!(of(TaskType::Analyze), (20, false, 30, 5));
    assert_eq!(policy.task_types.general.tool_budget, 50);
    let model = |name: &str| {
        let settings = &policy.model_overrides[name];
        (settings.exploration_multiplier, settings.continuation_patience)
    };
    assert_eq!((model("deepseek*"), model("claude*")), ((1.5, 5), (1.0, 3)));
    let global = &policy.global;
    assert_eq!(
        (global.max_total_iterations, global.min_content_threshold, global.signature_history_size),
        (Some(50), 150, 10)
    );
}

#[test]
fn e_numbers_of_document_e() {
    let retry = Retry::default();
    assert_eq!(retry.delays_ms, [30_000, 60_000, 90_000, 120_000, 150_000]);
    assert_eq!(retry.max_retries, 5);
}

/// The rules of document A: its test cases know nothing of document D's limits.
const DOCUMENT_A: &[RuleId] =
    &[RuleId::ComplexityLimit, RuleId::StuckLoop, RuleId::Score, RuleId::TokenBudget];

/// Plays a run under a policy and compares every decision other than continue: turn, action,
/// reason.
#[track_caller]
fn check(policy: &Policy, run: &Script, expected: &[(u32, Action, &str)]) {
    let told: Vec<_> = run
        .play(policy)
        .iter()
        .map(|decision| (decision.turn, decision.action, decision.reason.name()))
        .collect();
    assert_eq!(told, expected);
}

fn info(task_type: TaskType, complexity: Complexity) -> RunInfo {
    RunInfo {
        task: "task".into(),
        task_type: Some(task_type),
        complexity: Some(complexity),
        ..RunInfo::default()
    }
}

/// A policy with only the named rules.
fn only(rules: &[RuleId]) -> Policy {
    let mut policy = Policy::classic();
    for rule in RuleId::ALL {
        let ceiling = if rules.contains(rule) { Ceiling::End } else { Ceiling::Off };
        policy.rules.set(*rule, ceiling);
    }
    policy
}

fn read(run: Script, n: usize) -> Script {
    run.call("read_file", &format!(r#"{{"path":"src/m{n}.py"}}"#), &format!("# module {n}"))
}

fn exploring(task_type: TaskType, complexity: Complexity, turns: usize) -> Script {
    let run = Script { info: info(task_type, complexity), ..Script::default() };
    run.each(0..turns, read)
}

#[test]
fn d5_tool_budget() {
    let policy = only(&[RuleId::ToolBudget]);
    let run = exploring(TaskType::Edit, Complexity::Medium, 15);
    check(&policy, &run, &[(15, Action::ForceSynthesis, "tool_budget")]);
    check(&policy, &exploring(TaskType::Edit, Complexity::Medium, 14), &[]);
    check(&policy, &exploring(TaskType::Analyze, Complexity::Medium, 29), &[]);
}

#[test]
fn d6_effective_maximum() {
    let policy = only(&[RuleId::MaxIterations]);
    let run = exploring(TaskType::Edit, Complexity::Medium, 9);
    check(&policy, &run, &[(9, Action::ForceSynthesis, "max_iterations")]);
    check(&policy, &exploring(TaskType::Edit, Complexity::Medium, 8), &[]);
    // The model's multiplier: 8 × 1.5 = 12.
    let mut patient = exploring(TaskType::Edit, Complexity::Medium, 13);
    patient.info.model = "deepseek-chat".into();
    check(&policy, &patient, &[(13, Action::ForceSynthesis, "max_iterations")]);
    // Productivity: twice as many turns as iterations doubles the maximum, and no more.
    let talking = Script { info: info(TaskType::Edit, Complexity::Medium), ..Script::default() }
        .each(0..17, |run, n| read(run.say("Let me think about it."), n));
    check(&policy, &talking, &[(34, Action::ForceSynthesis, "max_iterations")]);
    // The total of all task types.
    let mut long = exploring(TaskType::Edit, Complexity::Medium, 50);
    long.info.model = "deepseek-chat".into();
    let mut policy = policy;
    policy.task_types.edit.max_exploration_iterations = 500;
    check(&policy, &long, &[(50, Action::ForceSynthesis, "max_iterations")]);
}

#[test]
fn d7_signature_loop() {
    let policy = only(&[RuleId::SignatureLoop]);
    let run = |turns| {
        let run = Script { info: info(TaskType::Edit, Complexity::Medium), ..Script::default() };
        run.each(0..turns, |run, n| {
            // The order of keys does not matter.
            let keys = [r#"{"path":"a.py","mode":"r"}"#, r#"{"mode":"r","path":"a.py"}"#];
            run.call("read_file", keys[n % 2], "x")
        })
    };
    check(&policy, &run(3), &[]);
    check(&policy, &run(4), &[(4, Action::ForceSynthesis, "signature_loop")]);
    // Paging through a file is no loop.
    let paging = Script { info: info(TaskType::Edit, Complexity::Medium), ..Script::default() }
        .each(0..20, |run, n| {
            let page = format!(r#"{{"path":"a.py","offset":{},"limit":100}}"#, n * 100);
            run.call("read_file", &page, &format!("page {n}"))
        });
    check(&policy, &paging, &[]);
}

#[test]
fn d5_goal_forcing() {
    let policy = only(&[RuleId::GoalForcing]);
    let run = exploring(TaskType::Edit, Complexity::Medium, 8);
    check(&policy, &run, &[(8, Action::Nudge, "goal_forcing")]);
    check(&policy, &exploring(TaskType::Analyze, Complexity::Medium, 30), &[]);
    let edit = r#"{"file_path":"a.py","old_string":"a","new_string":"b"}"#;
    let acting = Script { info: info(TaskType::Edit, Complexity::Medium), ..Script::default() }
        .call("Edit", edit, "updated")
        .each(0..10, read);
    check(&policy, &acting, &[]);
}

#[test]
fn a2_complexity_limits() {
    let policy = only(&[RuleId::ComplexityLimit]);
    let classes = [
        (Complexity::Simple, 10),
        (Complexity::Medium, 25),
        (Complexity::Complex, 50),
        (Complexity::Generation, 35),
    ];
    for (class, limit) in classes {
        check(&policy, &exploring(TaskType::General, class, limit as usize), &[]);
        let run = exploring(TaskType::General, class, limit as usize + 1);
        check(&policy, &run, &[(limit + 1, Action::ForceSynthesis, "complexity_limit")]);
    }
}

#[test]
fn a3_token_budget() {
    let policy = only(&[RuleId::TokenBudget]);
    let run = |tokens: &[u64]| {
        let mut run =
            Script { info: info(TaskType::General, Complexity::Complex), ..Script::default() };
        for (n, tokens) in tokens.iter().enumerate() {
            run = read(run, n).using(*tokens);
        }
        run
    };
    check(&policy, &run(&[10_000, 38_000]), &[]);
    check(&policy, &run(&[10_000, 38_400]), &[(2, Action::NudgeSynthesis, "token_budget")]);
    check(&policy, &run(&[10_000, 89_600]), &[(2, Action::ForceSynthesis, "token_budget")]);
}

#[test]
fn a1_stuck_loop() {
    let policy = only(&[RuleId::StuckLoop]);
    let again = |run: Script, _| run.call("read_file", r#"{"path":"a.py"}"#, "x");
    let run = Script::new("task").each(0..3, again);
    check(&policy, &run, &[]);
    check(&policy, &run.each(0..1, again), &[(4, Action::ForceSynthesis, "stuck_loop")]);
}

#[test]
fn a8_a_simple_question_ends_at_once() {
    let run = Script::new("What is 2+2?").say("2 + 2 = 4.");
    check(&Policy::classic(), &run, &[]);
    check(&Policy::default(), &run, &[]);
}

#[test]
fn a8_a_medium_task_ends_without_a_nudge() {
    let run = Script::new("Read config.py and explain it")
        .call("read_file", r#"{"path":"config.py"}"#, "DEBUG = True\nPORT = 80")
        .call("grep", r#"{"pattern":"DEBUG"}"#, "config.py:1:DEBUG = True")
        .call("read_file", r#"{"path":"main.py"}"#, "import config")
        .say("config.py holds two settings: DEBUG switches debugging on, PORT is the port.");
    check(&Policy::classic(), &run, &[]);
    check(&Policy::default(), &run, &[]);
}

#[test]
fn a8_a_complex_exploration_is_not_interrupted() {
    let run = Script::new("Analyze the entire architecture of this project").each(0..50, read);
    check(&only(DOCUMENT_A), &run, &[]);
    check(&Policy::default(), &run, &[]);
}

#[test]
fn a8_a_loop_of_rereading_is_forced_early() {
    let run = Script::new("Explain how the parser works").each(0..12, |run, n| {
        let path = format!(r#"{{"path":"src/{}.py"}}"#, ["lexer", "parser"][n % 2]);
        run.call("read_file", &path, &format!("# {}", n % 2))
    });
    for policy in [Policy::classic(), Policy::default()] {
        let decisions = run.play(&policy);
        let forced = decisions.iter().find(|decision| decision.action == Action::ForceSynthesis);
        let turn = forced.map(|decision| decision.turn);
        assert!(turn.is_some_and(|turn| turn <= 8), "{}: forced in {turn:?}", policy.name);
    }
}

#[test]
fn b2_stuck_tests_open_the_escape_hatch() {
    let policy = only(&[RuleId::StuckTests]);
    let cycle = |run: Script, n: usize| {
        let edit = format!(r#"{{"file_path":"/a.py","old_string":"v{n}","new_string":"w{n}"}}"#);
        run.call("Edit", &edit, "updated").tests("Bash", r#"{"command":"pytest"}"#, "-a -b +c")
    };
    check(&policy, &Script::new("fix it").each(0..2, cycle), &[]);
    let run = Script::new("fix it").each(0..3, cycle);
    check(&policy, &run, &[(6, Action::ReEvaluate, "stuck_tests")]);
}

#[test]
fn b3_checkpoints_while_tests_fail() {
    let policy = only(&[RuleId::StrategyCheckpoint]);
    let run =
        Script::new("fix it").tests("Bash", r#"{"command":"pytest"}"#, "-a +c").each(0..45, read);
    let expected = [
        (20, Action::ReEvaluate, "strategy_checkpoint"),
        (40, Action::ReEvaluate, "strategy_checkpoint"),
    ];
    check(&policy, &run, &expected);
    let passing =
        Script::new("fix it").tests("Bash", r#"{"command":"pytest"}"#, "+a +c").each(0..45, read);
    check(&policy, &passing, &[]);
}

/// The defects of the original implementations (B8, evidence) stay away.
#[test]
fn b8_known_defects() {
    let policy = only(&[RuleId::StuckTests]);
    let runs = |results: &[&str]| {
        results.iter().enumerate().fold(Script::new("fix it"), |run, (n, results)| {
            let edit =
                format!(r#"{{"file_path":"/a.py","old_string":"v{n}","new_string":"w{n}"}}"#);
            run.call("Edit", &edit, "updated").tests("Bash", r#"{"command":"pytest"}"#, results)
        })
    };
    let hatch = [(6, Action::ReEvaluate, "stuck_tests")];
    // Numbers count, not words: 3 passing, then 4, then 5 is progress only if failures shrink.
    check(&policy, &runs(&["-a +b", "-a +b", "-a +b"]), &hatch);
    check(&policy, &runs(&["-a -b -c", "-a -b +c", "-a +b +c"]), &[]);
    // Swapping one failing test for another is no progress.
    check(&policy, &runs(&["-a +b", "+a -b", "-a +b"]), &hatch);
    // Deleting the failing test is no progress.
    check(&policy, &runs(&["-a -b +c", "-a +c", "-a +c"]), &hatch);
    // There is no grace at the start: nothing was started over yet.
    let mut eager = policy.clone();
    eager.tests.stuck_after = 2;
    eager.tests.grace_turns = 15;
    check(&eager, &runs(&["-a", "-a"]), &[(4, Action::ReEvaluate, "stuck_tests")]);
    // After the last tier interventions go on.
    let on: Vec<_> = runs(&["-a"; 12]).play(&policy).iter().map(|decision| decision.turn).collect();
    assert_eq!(on, [6, 10, 14, 18, 22]);
}

#[test]
fn a_threshold_above_the_history_is_refused() {
    let mut policy = Policy::classic();
    policy.task_types.edit.loop_repeat_threshold = 11;
    let errors = policy.validate().unwrap_err();
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].path, "task_types.edit.loop_repeat_threshold");
    for name in Policy::BUILT_IN {
        assert_eq!(Policy::built_in(name).map(|policy| policy.validate()), Some(Ok(())));
    }
}
