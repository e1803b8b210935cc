//! The learned risk (A9): what it measures, whom it holds for, and what a decision by it shows.

mod script;

use script::Script;
use steersman_engine::policy::{RiskLine, RiskProfile, RiskTable};
use steersman_engine::risk::{self, RiskFeature};
use steersman_engine::{Action, Engine, Policy, Reason, RunInfo, Timestamp};

fn table(up_to: &[f32], add: &[f32]) -> RiskTable {
    RiskTable { up_to: up_to.to_vec(), add: add.to_vec() }
}

/// A policy whose only rule that ends runs is the risk.
fn policy(tables: &[(RiskFeature, RiskTable)], line: Option<f32>) -> Policy {
    let mut policy = Policy::default();
    for (feature, table) in tables {
        policy.risk.tables.set(*feature, table.clone());
    }
    policy.risk.others = RiskLine { usual_turns: 4.0, spread: 2.0, line, ..RiskLine::default() };
    policy
}

/// The decisions that the risk made: turn and sentence.
fn decided(policy: &Policy, run: &Script) -> Vec<(u32, String)> {
    let decisions = run.play(policy);
    let by_risk = decisions.iter().filter(|made| made.reason.name() == "risk");
    by_risk
        .inspect(|made| assert_eq!(made.action, Action::ForceSynthesis))
        .map(|made| (made.turn, made.reason.to_string()))
        .collect()
}

/// Reads of different files with one error between.
fn reading(turns: usize) -> Script {
    Script::new("look around").each(0..turns, |run, n| {
        let (arguments, output) = (format!("{{\"path\":\"f{n}\"}}"), format!("text {n}"));
        if n == 2 {
            run.failing("read", &arguments, "Error: no such file")
        } else {
            run.call("read", &arguments, &output)
        }
    })
}

/// The value of a feature after a run.
fn measured(feature: RiskFeature, run: &Script) -> f32 {
    let on = [(RiskFeature::Stale, table(&[99.0], &[0.0, 1.0]))];
    let mut engine = Engine::new(policy(&on, None), run.info.clone());
    for (n, event) in run.events.iter().enumerate() {
        engine.handle(Timestamp(1 + n as u64), event);
    }
    let values = risk::measure(engine.state());
    let found = RiskFeature::ALL.iter().zip(values).find(|(known, _)| **known == feature);
    found.map_or(f32::NAN, |(_, value)| value)
}

#[test]
fn features_are_what_they_say() {
    use RiskFeature as F;
    let edits = Script::new("t")
        .call("edit", r#"{"path":"a","old_string":"x","new_string":"y"}"#, "ok, edited a")
        .call("read", r#"{"path":"a"}"#, "y")
        .say("Nothing yet.")
        .call("read", r#"{"path":"a"}"#, "y");
    let silent = Script::new("t").say("one").say("two").call("grep", r#"{"pattern":"q"}"#, "");
    let cases = [
        (F::Length, reading(4), 0.0),
        (F::Length, reading(16), 2.0),
        (F::SeenBefore, edits.clone(), 1.0),
        (F::SinceChange, edits.clone(), 3.0),
        (F::SinceChange, reading(5), 5.0),
        (F::Changes, edits.clone(), 0.25),
        (F::WithoutTools, edits, 0.0),
        (F::WithoutTools, Script::new("t").say("one").say("two"), 2.0),
        (F::SameTool, reading(7), 7.0),
        (F::Errors, reading(4), 0.25),
        (F::Empty, silent.clone(), 1.0),
        (F::ReplyLength, silent.clone(), 2.0),
        (F::ResultLength, silent, 0.0),
        (F::ResultLength, Script::new("t").call("read", r#"{"path":"a"}"#, "12345678"), 8.0),
    ];
    for (feature, run, expected) in cases {
        let found = measured(feature, &run);
        assert!((found - expected).abs() < 1e-5, "{}: {found}, not {expected}", feature.key());
    }
}

#[test]
fn what_was_seen_before_is_remembered_across_changes() {
    let run = Script::new("t")
        .call("read", r#"{"path":"a"}"#, "text")
        .call("write", r#"{"path":"b","content":"1"}"#, "written")
        .call("read", r#"{"path":"a"}"#, "text");
    assert!((measured(RiskFeature::SeenBefore, &run) - 1.0).abs() < 1e-6);
    assert!(measured(RiskFeature::Stale, &run).abs() < 1e-6);
}

#[test]
fn nothing_is_measured_without_tables_and_nothing_ends_without_a_line() {
    let long = reading(40);
    assert_eq!(decided(&Policy::default(), &long), []);
    let mut engine = Engine::new(Policy::default(), RunInfo::default());
    engine.handle(Timestamp(1), &long.events[0]);
    assert_eq!(risk::measure(engine.state()), risk::RiskValues::default());
    let tables = [(RiskFeature::Length, table(&[0.0], &[0.0, 9.0]))];
    assert_eq!(decided(&policy(&tables, None), &long), []);
}

#[test]
fn the_first_turn_above_the_line_ends_the_run_and_says_why() {
    let tables = [
        (RiskFeature::Length, table(&[0.0, 1.0], &[-0.5, 0.4, 1.5])),
        (RiskFeature::SameTool, table(&[4.0], &[0.0, 0.75])),
        (RiskFeature::Errors, table(&[0.0], &[0.0, 0.25])),
        (RiskFeature::Changes, table(&[0.5], &[-0.1, -2.0])),
    ];
    let expected = "the risk of failing, 1.30, is above the line 1.20: 5 calls in a row of one \
                    tool (+0.8), 1.2 times the usual turns (+0.4), every call failed in 20 % of \
                    recent turns (+0.2)";
    let made = decided(&policy(&tables, Some(1.2)), &reading(9));
    assert_eq!(made, [(5, expected.to_owned())]);
}

#[test]
fn a_profile_holds_for_its_agent_and_model() {
    let tables = [(RiskFeature::SameTool, table(&[3.0], &[0.0, 1.0]))];
    let mut policy = policy(&tables, None);
    let profile = |agent: &str, model: Option<&str>, line| RiskProfile {
        agent: agent.into(),
        model: model.map(Into::into),
        line: RiskLine { line, ..RiskLine::default() },
    };
    policy.risk.profiles =
        vec![profile("known", None, Some(0.5)), profile("known", Some("m"), Some(5.0))];
    let cases = [("known", "other", 1), ("known", "m", 0), ("unknown", "m", 0), ("", "", 0)];
    for (agent, model, ends) in cases {
        let mut run = reading(6);
        (run.info.agent, run.info.model) = (agent.into(), model.into());
        assert_eq!(decided(&policy, &run).len(), ends, "{agent} {model}");
    }
}

#[test]
fn the_parts_are_in_the_decision() {
    let tables = [(RiskFeature::Length, table(&[0.0], &[0.0, 1.0]))];
    let made = reading(6).play(&policy(&tables, Some(0.5)));
    let Some(Reason::Risk { risk, line, parts }) = made.first().map(|made| &made.reason) else {
        panic!("{made:?}")
    };
    assert_eq!((*risk, *line, parts.len()), (1.0, 0.5, 1));
    assert_eq!((parts[0].feature, parts[0].adds), (RiskFeature::Length, 1.0));
    let stored = serde_json::to_string(&made[0]).unwrap();
    assert!(stored.contains(r#""kind":"risk""#) && stored.contains(r#""feature":"length""#));
}
