//! Every rule on tiny runs.

use std::collections::BTreeSet;

use steersman_engine::{Event, Reply, ToolCall, ToolResult, UserMessage};

use super::*;

/// One turn of a tiny run.
enum Step {
    /// Calls with what they return; a result that begins with `!` is an error.
    Turn(Vec<(&'static str, String)>),
    /// A message of the user.
    User,
}
use Step::{Turn, User};

/// A turn with one call.
fn call(arguments: &'static str, result: &str) -> Step {
    Turn(vec![(arguments, result.to_owned())])
}

/// `n` turns with the same call and the same result.
fn same(n: usize, arguments: &'static str, result: &str) -> Vec<Step> {
    (0..n).map(|_| call(arguments, result)).collect()
}

/// `n` turns with the same call and other results.
fn news(n: usize, arguments: &'static str) -> Vec<Step> {
    (0..n).map(|i| call(arguments, &format!("line {i}"))).collect()
}

/// The turns of `round`, `n` times.
fn rounds(n: usize, round: &[(&'static str, &str)]) -> Vec<Step> {
    (0..n).flat_map(|_| round.iter().map(|(call_, result)| call(call_, result))).collect()
}

/// The rules that speak in a run, and the turn they do so in, as `name@turn`.
fn spoken(steps: &[Step]) -> BTreeSet<String> {
    let mut watch = Watch::new(Comparison::ALL);
    let (mut turn, mut calls) = (0, 0);
    for step in steps {
        let Turn(made) = step else {
            let event = Event::UserSpoke(UserMessage { text: "go on".into() });
            watch.handle(&event, turn, calls);
            continue;
        };
        turn += 1;
        calls += made.len() as u32;
        let tool_calls = made.iter().enumerate().map(|(i, (arguments, _))| ToolCall {
            id: format!("c{i}").into(),
            name: if arguments.starts_with("edit") { "edit_file" } else { "bash" }.into(),
            arguments: if arguments.starts_with('{') {
                (*arguments).into()
            } else {
                format!(r#"{{"command": "{arguments}"}}"#).into()
            },
            unrecorded: arguments.is_empty(),
        });
        let reply = Reply { tool_calls: tool_calls.collect(), ..Reply::default() };
        watch.handle(&Event::Replied(reply), turn, calls);
        for (i, (_, content)) in made.iter().enumerate() {
            let result = ToolResult {
                call_id: format!("c{i}").into(),
                content: content.trim_start_matches('!').into(),
                is_error: Some(content.starts_with('!')),
                ..ToolResult::default()
            };
            watch.handle(&Event::ToolReturned(result), turn, calls);
        }
        watch.handle(&Event::TurnEnded, turn, calls);
    }
    let courses = watch.finish();
    let named = Comparison::ALL.iter().zip(&courses);
    let spoken = named.filter_map(|(rule, course)| {
        assert!(course.decisions().len() <= 1, "{} speaks once", rule.name);
        course.first().map(|made| format!("{}@{}", made.reason, made.turn))
    });
    spoken.collect()
}

/// Checks which rules speak, and when.
fn check(what: &str, steps: impl IntoIterator<Item = Step>, expected: &[&str]) {
    let steps: Vec<Step> = steps.into_iter().collect();
    let expected: BTreeSet<String> = expected.iter().map(|it| (*it).to_owned()).collect();
    assert_eq!(spoken(&steps), expected, "{what}");
}

#[test]
fn the_same_call_in_a_row() {
    check("twice", news(2, "ls"), &[]);
    check("three times", news(3, "ls"), &["identical_calls_3@3"]);
    let four = ["identical_calls_3@3", "identical_calls_4@4", "command_repeats@4"];
    check("four times", news(4, "ls"), &four);
    let five = [&four[..], &["identical_calls_5@5", "call_cycles@5"]].concat();
    check("five times", news(5, "ls"), &five);
    let mut broken = news(2, "ls");
    broken.extend(news(1, "pwd"));
    broken.extend(news(2, "ls"));
    check("another call in between", broken, &["command_repeats@5"]);
    let batch = ["ls", "ls", "ls"].map(|it| (it, "a".to_owned())).to_vec();
    check("in one turn", [Turn(batch)], &["identical_calls_3@1"]);
    let keys = [r#"{"a": 1, "b": 2}"#, r#"{"b": 2, "a": 1}"#, r#"{"b":2,"a":1}"#];
    let keys = keys.iter().enumerate().map(|(i, it)| call(it, &format!("line {i}")));
    check("keys in another order", keys, &["identical_calls_3@3"]);
    let values = [r#"{"a": 1}"#, r#"{"a": 2}"#, r#"{"a": 3}"#];
    check("other values", values.map(|it| call(it, "x")), &[]);
    check("arguments that were not recorded", news(9, ""), &[]);
}

#[test]
fn the_same_turn_among_the_last_ten() {
    // Three kinds of turns, so that nothing is in a row and no cycle is short enough.
    let order = "abacabadab";
    let turn = |kind: char, news: usize| match kind {
        'a' => call("make", "same"),
        'b' => call("ls", &format!("{news}")),
        'c' => call("pwd", &format!("{news}")),
        _ => call("date", &format!("{news}")),
    };
    let turns = |order: &str| order.chars().enumerate().map(|(i, kind)| turn(kind, i)).collect();
    let five: Vec<Step> = turns(order);
    check("five of ten", five, &["command_repeats@7"]);
    let six: Vec<Step> = turns("abacabadaa");
    check("six of ten", six, &["command_repeats@7", "call_and_result_5_of_10@10"]);
    let nine: Vec<Step> = turns("abacabada");
    check("too few turns", nine, &["command_repeats@7"]);
    let talk = (0..10).map(|_| Turn(Vec::new()));
    check("turns without calls", talk, &[]);
}

#[test]
fn the_same_calls_round_and_round() {
    let round = [("a", "1"), ("b", "2"), ("c", "3"), ("d", "4"), ("e", "5")];
    check("five calls, four times", rounds(4, &round), &["command_repeats@16"]);
    check("five calls, five times", rounds(5, &round), &["command_repeats@16", "call_cycles@25"]);
    let six = [("a", "1"), ("b", "2"), ("c", "3"), ("d", "4"), ("e", "5"), ("f", "6")];
    check("six calls", rounds(5, &six), &["command_repeats@19", "cap_30@30"]);
    let mut heard = rounds(3, &round[..2]);
    heard.push(User);
    heard.extend(rounds(2, &round[..2]));
    check("the user speaks", heard, &["command_repeats@7", "action_observation@6"]);
}

#[test]
fn the_same_command_although_nothing_changed() {
    let with = |between: Step, n: usize| {
        let mut steps = Vec::new();
        for i in 0..n {
            steps.push(call("cat  log", &format!("line {i}")));
            if i == 1 {
                steps.push(match &between {
                    Turn(made) => Turn(made.clone()),
                    User => User,
                });
            }
        }
        steps
    };
    check("a look in between", with(call("ls", "x"), 4), &["command_repeats@5"]);
    check("an edit in between", with(call("edit_file", "ok"), 4), &[]);
    check(
        "an edit that failed",
        with(call("edit_file", "!no such text"), 4),
        &["command_repeats@5"],
    );
    let quiet = same(4, "test -f a", " \n");
    let rules = ["identical_calls_3@3", "identical_calls_4@4", "action_observation@4"];
    check("empty results", quiet, &rules);
    let spaced = [call("cat a", "1"), call("ls", "x"), call("cat  a", "2"), call("pwd", "y")];
    let again = [call("cat a ", "3"), call("date", "z"), call("cat   a", "4")];
    check("other blanks", spaced.into_iter().chain(again), &["command_repeats@7"]);
}

#[test]
fn actions_and_observations() {
    let four = ["identical_calls_3@3", "identical_calls_4@4", "command_repeats@4"];
    let all = [&four[..], &["action_observation@4"]].concat();
    check("the same four times", same(4, "ls", "a"), &all);
    check("other results", news(4, "ls"), &four);
    let errors = (0..3).map(|i| call("make", &format!("!error {i}")));
    check("errors", errors, &["identical_calls_3@3", "action_observation@3"]);
    let pair = [("a", "1"), ("b", "2")];
    check("five in turn", rounds(3, &pair).into_iter().take(5), &[]);
    check("six in turn", rounds(3, &pair), &["action_observation@6"]);
    let mut heard = same(2, "ls", "a");
    heard.push(User);
    heard.extend(same(2, "ls", "a"));
    check("the user speaks", heard, &four);
}

#[test]
fn caps_count_calls() {
    let turns = |n: usize, per_turn: usize| {
        (0..n).map(move |turn| Turn((0..per_turn).map(|i| ("", format!("{turn}.{i}"))).collect()))
    };
    check("29 calls", turns(29, 1), &[]);
    check("30 calls", turns(30, 1), &["cap_30@30"]);
    check("several a turn", turns(26, 4), &["cap_30@8", "cap_50@13", "cap_100@25"]);
}

#[test]
fn names_are_known_and_different() {
    let names: BTreeSet<&str> = Comparison::ALL.iter().map(|it| it.name).collect();
    assert_eq!(names.len(), Comparison::ALL.len());
    for comparison in Comparison::ALL {
        assert_eq!(Comparison::named(comparison.name), Some(*comparison));
    }
    assert_eq!(Comparison::named("cap_31"), None);
}
