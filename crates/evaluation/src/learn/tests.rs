//! Learning on runs made up by a seeded generator.

use std::num::NonZeroUsize;

use steersman_engine::policy::{Ceiling, Limits, Risk, RiskTable, RuleId, Rules};
use steersman_engine::risk::RiskFeature;
use steersman_engine::{
    Action, Engine, Event, Policy, Reason, Reply, RunInfo, Timestamp, ToolCall, ToolResult, risk,
};

use super::validate::validate;
use super::*;
use crate::bootstrap::SplitMix;
use crate::samples::run;
use crate::{Decided, Options};

pub(super) fn at(feature: RiskFeature) -> usize {
    RiskFeature::ALL.iter().position(|it| *it == feature).unwrap()
}

/// A graded run of so many turns with a call each; no feature says anything.
pub(super) fn record(id: &str, solved: bool, turns: u32) -> Record {
    let mut episode = run(id).graded(solved).long(turns);
    episode.agent = "agent".to_owned();
    episode.model = "model".to_owned();
    let moment = |turn| Moment { turn, calls: turn, ..Moment::default() };
    Record { episode, moments: (1..turns).map(moment).collect() }
}

/// Runs of one kind: two of each instance, half of them solved. In failing runs turns grow stale;
/// in all of them calls come back empty at random, which says nothing.
pub(super) fn records(seed: u64, count: usize) -> Vec<Record> {
    let mut random = SplitMix::new(seed);
    let one = |i: usize| {
        let solved = random.below(2) == 0;
        let mut record = record(&format!("{seed}-{i}"), solved, 6 + random.below(12) as u32);
        record.episode.instance = format!("{seed}-task-{}", i / 2);
        let mut stale = 0;
        for moment in &mut record.moments {
            let grows = random.below(10) < if solved { 2 } else { 6 };
            stale = if grows { stale + 1 } else { 0 };
            moment.values[at(RiskFeature::Stale)] = stale as f32;
            moment.values[at(RiskFeature::Empty)] = random.below(100) as f32 / 100.0;
            // A low score of the second signal is a sign of failure, the others are noise.
            moment.signals = [0.5, 1.0 / (1.0 + stale as f32), 0.5, 0.5, 0.5];
        }
        record
    };
    (0..count).map(one).collect()
}

fn refer(records: &[Record]) -> Vec<&Record> {
    records.iter().collect()
}

fn lines(found: &Calibrated) -> Vec<Option<f32>> {
    found.risk.profiles.iter().map(|profile| profile.line.line).collect()
}

/// The first turn in which a run is above the line of its kind.
fn crossing<'r>(found: &Calibrated, record: &'r Record) -> Option<&'r Moment> {
    let line = found.risk.line_of(&record.episode.agent, &record.episode.model).line?;
    record.moments.iter().find(|moment| found.model.risk_at(record, moment) > line)
}

#[test]
fn at_most_alpha_of_good_runs_held_out_are_above_the_line() {
    const SEEDS: u64 = 5;
    for alpha in [0.05, 0.1] {
        let (mut above, mut good, mut caught, mut bad, mut spread) = (0, 0, 0, 0, 0.0);
        for seed in 0..SEEDS {
            let (train, test) = (records(seed, 120), records(seed + 1000, 200));
            let found = calibrate(&refer(&train), alpha, &fit);
            let n = train.iter().filter(|record| record.is_good()).count() as f64;
            spread += alpha * (1.0 - alpha) / (n + 2.0);
            for record in &test {
                let crossed = usize::from(crossing(&found, record).is_some());
                if record.is_good() {
                    (above, good) = (above + crossed, good + 1);
                } else {
                    (caught, bad) = (caught + crossed, bad + 1);
                }
            }
        }
        let share = above as f64 / good as f64;
        // Of the mean over the seeds: of the lines, and of the runs held out.
        let lines = spread / (SEEDS * SEEDS) as f64;
        let runs = alpha * (1.0 - alpha) / good as f64;
        let error = (lines + runs).sqrt();
        assert!(share <= alpha + 3.0 * error, "{share} above {alpha} by more than 3 × {error}");
        // A line that nothing crosses would keep that promise too.
        let caught = caught as f64 / bad as f64;
        assert!(caught > 3.0 * alpha, "{caught} of bad runs at {alpha}");
    }
}

#[test]
fn a_planted_feature_is_found_and_tables_go_their_way() {
    let runs = records(7, 160);
    let model = fit(&refer(&runs));
    let stale = &model.risk.tables.stale.add;
    let span = |adds: &[f32]| adds.last().unwrap() - adds.first().unwrap();
    assert!(span(stale) > 1.0, "{stale:?}");
    let empty = &model.risk.tables.empty.add;
    assert!(span(empty) < span(stale) / 2.0, "{empty:?} against {stale:?}");
    for feature in RiskFeature::ALL {
        let table = model.risk.tables.of(*feature);
        assert_eq!(table.add.len(), table.up_to.len() + 1, "{feature:?}");
        assert!(table.up_to.is_sorted_by(|a, b| a < b), "{feature:?}: {:?}", table.up_to);
        let differ = table.add.windows(2).all(|pair| pair[0] != pair[1]);
        assert!(differ, "{feature:?}: {:?}", table.add);
        use RiskFeature as F;
        match feature {
            F::Success | F::Changes => assert!(table.add.is_sorted_by(|a, b| a > b)),
            F::ReplyLength | F::ResultLength => {}
            _ => assert!(table.add.is_sorted_by(|a, b| a < b), "{feature:?}: {:?}", table.add),
        }
    }
}

#[test]
fn the_same_runs_give_the_same_model_and_lines() {
    let runs = records(3, 100);
    let found = calibrate(&refer(&runs), 0.1, &fit);
    let again = calibrate(&refer(&runs), 0.1, &fit);
    assert_eq!(found.risk, again.risk);
    assert_eq!(found.shortages, again.shortages);
}

#[test]
fn the_order_of_the_runs_hardly_matters() {
    let mut runs = records(3, 100);
    let found = calibrate(&refer(&runs), 0.1, &fit);
    runs.reverse();
    let reversed = calibrate(&refer(&runs), 0.1, &fit);
    // Sums of floating-point numbers depend on their order in the last digits, and the tables are
    // rounded to a hundredth: a step may come out a hundredth higher or lower.
    let near = |a: f32, b: f32| (a - b).abs() < 0.011;
    for feature in RiskFeature::ALL {
        let (a, b) = (found.risk.tables.of(*feature), reversed.risk.tables.of(*feature));
        for value in a.up_to.iter().chain(&b.up_to) {
            assert!(near(a.at(*value), b.at(*value)), "{feature:?} at {value}: {a:?}, {b:?}");
        }
    }
    for (a, b) in lines(&found).iter().zip(lines(&reversed)) {
        assert!((a.unwrap() - b.unwrap()).abs() < 0.15, "{a:?}, {b:?}");
    }
    assert_eq!(found.shortages, reversed.shortages);
}

#[test]
fn the_number_of_threads_changes_no_figure() {
    let mut runs = records(5, 80);
    runs.iter_mut().skip(40).for_each(|it| it.episode.source = "second".into());
    let options = Options { resamples: 20, seed: 1 };
    let with = |threads| validate(&runs, 0.1, options, NonZeroUsize::new(threads).unwrap());
    let (one, seven) = (with(1), with(7));
    assert_eq!(serde_json::to_value(one).unwrap(), serde_json::to_value(seven).unwrap());
}

/// A model with one table: what [`RiskFeature::Stale`] is worth.
fn as_stale(records: &[&Record]) -> Model {
    let mut risk = Risk::default();
    let up_to: Vec<f32> = (0_u8..10).map(f32::from).collect();
    let add = (0_u8..=10).map(f32::from).collect();
    risk.tables.stale = RiskTable { up_to, add };
    Model { risk, usuals: Usuals::of(records) }
}

/// Good runs whose highest risk is 0 to 9 and then again, and a bad one each.
fn ladder(count: usize) -> Vec<Record> {
    let one = |i: usize| {
        let mut record = record(&format!("run-{}", i / 2), i.is_multiple_of(2), 6);
        record.moments[2].values[at(RiskFeature::Stale)] = (i / 2 % 10) as f32;
        record
    };
    (0..2 * count).map(one).collect()
}

#[test]
fn a_line_is_the_value_of_its_rank() {
    // Of 20 good runs the 19th smallest is the line at 10 %: ⌈21 × 0.9⌉ = 19.
    let runs = ladder(20);
    let found = calibrate(&refer(&runs), 0.1, &as_stale);
    assert_eq!(lines(&found), [Some(9.0)]);
    assert_eq!(found.risk.profiles[0].line.good_runs, 20);
    assert!(found.shortages.is_empty());
    // At 50 % it is the 11th, which is 5: 0 0 1 1 2 2 3 3 4 4 5.
    assert_eq!(lines(&calibrate(&refer(&runs), 0.5, &as_stale)), [Some(5.0)]);
}

#[test]
fn a_run_that_is_ended_already_is_above_every_line() {
    let mut runs = ladder(20);
    let end = Decided { turn: 2, call: 2, action: Action::Stop, reason: "repeated_outcome" };
    // The lowest of all by its risk.
    runs[0].episode.courses[0].push(end);
    // Sorted: 0 1 1 2 2 … 9 9 ∞; the 19th is the second 9, the 11th the first that is 5 or above.
    assert_eq!(lines(&calibrate(&refer(&runs), 0.1, &as_stale)), [Some(9.0)]);
    assert_eq!(lines(&calibrate(&refer(&runs), 0.5, &as_stale)), [Some(5.0)]);
    // A second and third leave no room below 10 %: 17 finite ones, and the 19th is wanted.
    runs[2].episode.courses[0].push(end);
    runs[4].episode.courses[0].push(end);
    let found = calibrate(&refer(&runs), 0.1, &as_stale);
    assert_eq!(lines(&found), [None]);
    assert_eq!(
        found.shortages[0].to_string(),
        "agent with model: no line, the policy ends 3 of 20 good runs already"
    );
    // An ending in the last turn changes nothing.
    let mut runs = ladder(20);
    let end = Decided { turn: 6, ..end };
    (0..10).for_each(|i| runs[i].episode.courses[0].push(end));
    assert!(calibrate(&refer(&runs), 0.1, &as_stale).shortages.is_empty());
}

#[test]
fn what_a_line_rests_on_is_said() {
    // 19 good runs are wanted. "own" has them, "few" has not, and its agent has; "other" is an
    // agent that has not; "rare" and "" are hardly known.
    let kinds = [
        ("agent", "own", 20, 0),
        ("agent", "few", 12, 100),
        ("other", "few", 11, 200),
        ("rare", "few", 3, 300),
        ("", "own", 30, 400),
    ];
    let mut runs = Vec::new();
    for (agent, model, count, from) in kinds {
        for mut record in ladder(count) {
            let i: u32 = record.episode.id.strip_prefix("run-").unwrap().parse().unwrap();
            record.episode.id = format!("run-{}", from + i);
            record.episode.agent = agent.to_owned();
            record.episode.model = model.to_owned();
            runs.push(record);
        }
    }
    let found = calibrate(&refer(&runs), 0.05, &as_stale);
    let said: Vec<String> = found.shortages.iter().map(ToString::to_string).collect();
    assert_eq!(
        said,
        [
            "unnamed with own: no line, the runs do not name their agent",
            "agent with few: rests on the agent's runs: 12 of 19 good runs of its own",
            "other with few: rests on all runs: 11 of 19 good runs of its own",
            "rare with few: no line, 6 of 20 graded runs",
        ]
    );
    let rests: Vec<(&str, Option<&str>, u32)> = found
        .risk
        .profiles
        .iter()
        .map(|it| (&*it.agent, it.model.as_deref(), it.line.good_runs))
        .collect();
    assert_eq!(
        rests,
        [
            ("agent", Some("few"), 32),
            ("agent", Some("own"), 20),
            ("other", Some("few"), 76),
            ("rare", Some("few"), 0),
        ]
    );
    // Nobody else has a line, a known agent with another model included.
    for (agent, model) in [("unseen", "own"), ("agent", "unseen"), ("", "own"), ("rare", "few")] {
        assert_eq!(found.risk.line_of(agent, model).line, None, "{agent} {model}");
    }
    // The policy that holds them is a valid one.
    let policy = Policy { risk: found.risk, ..Policy::default() };
    assert_eq!(policy.validate(), Ok(()));

    let all_few = calibrate(&refer(&ladder(15)), 0.05, &as_stale);
    let said: Vec<String> = all_few.shortages.iter().map(ToString::to_string).collect();
    assert_eq!(said, ["agent with model: no line, 15 of 19 good runs"]);
}

#[test]
fn nothing_to_learn_from_gives_no_line() {
    let found = calibrate(&[], 0.05, &fit);
    assert!(found.risk.profiles.is_empty() && found.shortages.is_empty());
    let policy = Policy { risk: found.risk, ..Policy::default() };
    assert_eq!(policy.validate(), Ok(()));
    // One instance: every run is judged by a model of no run at all.
    let mut runs = records(1, 60);
    runs.iter_mut().for_each(|it| it.episode.instance = "only".to_owned());
    let found = calibrate(&refer(&runs), 0.1, &fit);
    assert!(lines(&found)[0].is_some_and(f32::is_finite), "{:?}", lines(&found));
}

#[test]
fn no_instance_is_judged_by_a_model_that_knows_it() {
    let runs = records(11, 60);
    let all = refer(&runs);
    // What every model was fitted on is noted.
    let seen = std::cell::RefCell::new(Vec::new());
    let spy = |part: &[&Record]| {
        let known: Vec<String> = part.iter().map(|it| it.episode.cluster().to_owned()).collect();
        seen.borrow_mut().push(known);
        as_stale(part)
    };
    let _ = calibrate(&all, 0.1, &spy);
    let seen = seen.into_inner();
    let whole = seen.iter().filter(|part| part.len() == runs.len()).count();
    assert_eq!(whole, 1, "one model of all runs: the one that is written");
    for record in &runs {
        let cluster = record.episode.cluster();
        let without = seen.iter().filter(|part| !part.iter().any(|it| it == cluster)).count();
        assert_eq!(without, 1, "{cluster} is left out by exactly one model");
    }
}

#[test]
fn figures_do_not_come_from_the_runs_themselves() {
    // All runs of an instance fail or none does, and only the instance's own number tells which:
    // whoever judged an instance by itself would know, whoever does not can know nothing.
    let mut random = SplitMix::new(2);
    let one = |i: usize| {
        let solved = random.below(2) == 0;
        let mut record = record(&format!("{i}"), solved, 8);
        record.episode.instance = format!("task-{i}");
        let own = random.below(1_000_000) as f32;
        record.moments.iter_mut().for_each(|it| it.values[at(RiskFeature::ReplyLength)] = own);
        record
    };
    let runs: Vec<Record> = (0..200).map(one).collect();
    let options = Options { resamples: 0, seed: 1 };
    let found = validate(&runs, 0.1, options, NonZeroUsize::MIN);
    let tuned = &found.subjects[1].mean;
    let (harm, saved) = (tuned.harm.unwrap().value, tuned.saved.unwrap().value);
    assert!(harm <= 0.1 + 3.0 * (0.09_f64 / 100.0).sqrt(), "{harm}");
    assert!(saved < 0.25, "{saved} is more than noise can tell");
}

#[test]
fn weights_sum_to_one_and_follow_the_signal() {
    for seed in 0..5 {
        let weights = fit_weights(&refer(&records(seed, 80))).unwrap();
        let all = [
            weights.progress_velocity,
            weights.stuck_loop_penalty,
            weights.token_budget,
            weights.intervention_ratio,
            weights.complexity_adjustment,
        ];
        let hundredths: i32 = all.iter().map(|weight| (weight * 100.0).round() as i32).sum();
        assert_eq!(hundredths, 100, "{weights:?}");
        assert_eq!(all.iter().sum::<f32>(), 1.0, "{weights:?}");
        assert!(weights.stuck_loop_penalty > 0.6, "{weights:?}");
        assert!(all.iter().all(|weight| *weight >= 0.0), "{weights:?}");
    }
    // All solved, all failed, none at all, and none that a signal tells apart.
    for solved in [true, false] {
        let alike: Vec<Record> = (0..9).map(|i| record(&i.to_string(), solved, 6)).collect();
        assert_eq!(fit_weights(&refer(&alike)), None);
    }
    assert_eq!(fit_weights(&[]), None);
    let silent: Vec<Record> = (0..20).map(|i| record(&i.to_string(), i % 2 == 0, 6)).collect();
    assert_eq!(fit_weights(&refer(&silent)), None);
}

/// A policy in which nothing but the risk decides.
fn by_risk_alone(risk: Risk) -> Policy {
    let mut rules = Rules::default();
    RuleId::ALL.iter().for_each(|rule| rules.set(*rule, Ceiling::Off));
    rules.set(RuleId::Risk, Ceiling::End);
    Policy { risk, rules, limits: Limits::default(), ..Policy::default() }
}

/// Plays a made-up run: failing ones repeat a failing call, and more and more of it is repeated.
fn play(engine: &mut Engine, solved: bool, seed: u64, mut seen: impl FnMut(&Engine, &Reason, u32)) {
    let mut random = SplitMix::new(seed);
    let turns = 6 + random.below(20) as u32;
    for turn in 1..=turns {
        let stuck = random.below(10) < if solved { 2 } else { 7 };
        let path = if stuck { "same".to_owned() } else { format!("file {seed} {turn}") };
        let id = turn.to_string();
        let call = ToolCall {
            id: id.as_str().into(),
            name: "read".into(),
            arguments: format!("{{\"path\":\"{path}\"}}").into(),
            ..ToolCall::default()
        };
        let reply = Reply { text: "Next.".into(), tool_calls: vec![call], ..Reply::default() };
        let content = if stuck { "error: no such file".into() } else { path.repeat(5).into() };
        let is_error = Some(stuck);
        let result =
            ToolResult { call_id: id.as_str().into(), content, is_error, ..ToolResult::default() };
        for event in [Event::Replied(reply), Event::ToolReturned(result), Event::TurnEnded] {
            let decision = engine.handle(Timestamp::UNKNOWN, &event);
            if event == Event::TurnEnded {
                seen(engine, &decision.reason, turn);
            }
        }
    }
}

#[test]
fn the_engine_stops_where_the_model_says() {
    let info =
        || RunInfo { agent: "agent".to_owned(), model: "model".to_owned(), ..RunInfo::default() };
    let mut watched = Risk::default();
    watched.tables.length = RiskTable { up_to: vec![0.0], add: vec![0.0, 0.0] };
    let mut runs = Vec::new();
    for seed in 0..80 {
        let solved = seed % 2 == 0;
        let mut moments = Vec::new();
        play(
            &mut Engine::new(by_risk_alone(watched.clone()), info()),
            solved,
            seed,
            |it, _, turn| {
                let values = risk::measure(it.state());
                moments.push(Moment { turn, calls: turn, values, ..Moment::default() });
            },
        );
        let turns = moments.len() as u32;
        moments.pop();
        let made = record(&seed.to_string(), solved, turns);
        runs.push(Record { moments, ..made });
    }
    let found = calibrate(&refer(&runs), 0.05, &fit);
    let policy = by_risk_alone(found.risk.clone());
    assert_eq!(policy.validate(), Ok(()));
    let mut stopped = 0;
    for (seed, record) in (0..).zip(&runs) {
        let mut first = None;
        let mut engine = Engine::new(policy.clone(), info());
        play(&mut engine, record.is_good(), seed, |_, reason, turn| {
            if let Reason::Risk { risk, .. } = reason {
                first.get_or_insert((turn, *risk));
            }
        });
        // What happens in the last turn is not kept of a run that is learned from.
        let first = first.filter(|(turn, _)| record.episode.is_in_time(*turn));
        let expected = crossing(&found, record);
        let expected = expected.map(|it| (it.turn, found.model.risk_at(record, it)));
        assert_eq!(first, expected, "run {seed}");
        stopped += u32::from(first.is_some());
    }
    assert!(stopped > 10, "only {stopped} of 40 bad runs were stopped");
}
