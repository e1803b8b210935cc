//! The learned choice of wording (A9): where texts are drawn, and that a draw is repeatable.

mod script;

use script::Script;
use steersman_engine::policy::{LearnedWording, Wording, WordingOutcome};
use steersman_engine::wording::{Occasion, choose, texts_of};
use steersman_engine::{Decision, Policy, built_in_texts};

fn learned(model: &str, template: &str, outcomes: &[(u32, u32)]) -> LearnedWording {
    let outcome = |&(good, bad): &(u32, u32)| WordingOutcome { good, bad };
    LearnedWording {
        model: model.into(),
        template: template.into(),
        outcomes: outcomes.iter().map(outcome).collect(),
    }
}

fn policy(learned: &[LearnedWording]) -> Policy {
    let mut policy = Policy::default();
    policy.wording.learned = learned.to_vec();
    policy
}

/// How often each text of `nudge_loop` is chosen over some runs.
fn counts<const TEXTS: usize>(policy: &Policy, model: &str) -> [u32; TEXTS] {
    let mut counts = [0; TEXTS];
    for run in 0..600 {
        let run = run.to_string();
        let occasion =
            Occasion { run: &run, turn: 3, model, template: "nudge_loop", shown_before: 0 };
        counts[choose(policy, &occasion) as usize] += 1;
    }
    counts
}

#[test]
fn without_learning_texts_are_used_as_ever() {
    let other = learned("other-*", "nudge_loop", &[(0, 9), (9, 0)]);
    let mut elsewhere = policy(&[other, learned("*", "nudge_errors", &[(0, 9)])]);
    assert_eq!(counts(&Policy::default(), "m"), [600]);
    assert_eq!(counts(&elsewhere, "m"), [600]);
    elsewhere.texts.insert("nudge_loop".into(), vec!["a".into(), "b".into(), "c".into()]);
    for (shown_before, expected) in [(0, 0), (1, 1), (2, 2), (3, 0), (7, 1)] {
        let occasion = Occasion { shown_before, template: "nudge_loop", ..Occasion::default() };
        assert_eq!(choose(&elsewhere, &occasion), expected);
    }
}

#[test]
fn draws_follow_what_was_learned() {
    let best = |counts: [u32; 3]| (0..3).max_by_key(|at| counts[*at]).unwrap();
    for (outcomes, expected) in [
        (&[(30, 5), (5, 30), (5, 30)][..], 0),
        (&[(5, 30), (30, 5), (5, 30)], 1),
        // What was never shown is believed in until it fails, too.
        (&[(5, 30), (5, 30)], 2),
        (&[(5, 30), (5, 30), (0, 0)], 2),
    ] {
        let found: [u32; 3] = counts(&policy(&[learned("m", "nudge_loop", outcomes)]), "m");
        assert_eq!(best(found), expected, "{outcomes:?} {found:?}");
        assert!(found[expected] > 450, "{outcomes:?} {found:?}");
    }
    let mut exploring = Policy::default();
    exploring.wording.explore = true;
    let found: [u32; 3] = counts(&exploring, "m");
    assert!(found.iter().all(|count| (150..250).contains(count)), "{found:?}");
}

#[test]
fn the_longest_glob_that_matches_the_model_holds() {
    let policy = policy(&[
        learned("*", "nudge_loop", &[(99, 0), (0, 99), (0, 99)]),
        learned("GPT-*", "nudge_loop", &[(0, 99), (99, 0), (0, 99)]),
        learned("gpt-5*", "nudge_loop", &[(0, 99), (0, 99), (99, 0)]),
    ]);
    for (model, expected) in [("qwen", [600, 0, 0]), ("gpt-4", [0, 600, 0]), ("gpt-5", [0, 0, 600])]
    {
        assert_eq!(counts(&policy, model), expected, "{model}");
    }
}

#[test]
fn seed_run_turn_and_name_give_the_draw() {
    let mut policy = Policy::default();
    policy.wording.explore = true;
    let draw = |policy: &Policy, run: &str, turn: u32, template: &str| {
        let occasion = Occasion { run, turn, template, ..Occasion::default() };
        choose(policy, &occasion)
    };
    let series = |policy: &Policy, run: &str, template: &str| -> Vec<u32> {
        (0..64).map(|turn| draw(policy, run, turn, template)).collect()
    };
    let one = series(&policy, "run", "nudge_loop");
    assert_eq!(one, series(&policy, "run", "nudge_loop"));
    assert_ne!(one, series(&policy, "another", "nudge_loop"));
    let binary = |series: Vec<u32>| series.iter().map(|at| at % 2).collect::<Vec<_>>();
    assert_ne!(
        binary(series(&policy, "run", "nudge_errors")),
        binary(series(&policy, "run", "re_evaluate"))
    );
    policy.wording.seed = 1;
    assert_ne!(one, series(&policy, "run", "nudge_loop"));
}

/// A run of reads that go nowhere, as `id`.
fn looping(id: &str) -> Script {
    let mut run = Script::new("task")
        .each(0..12, |run, _| run.call("read_file", r#"{"path":"a"}"#, "the same"));
    run.info.id = id.into();
    run.info.model = "m".into();
    run
}

/// The engine shows the text that was chosen, says which, and decides nothing else for it.
#[test]
fn the_engine_shows_what_was_chosen() {
    let plain = looping("1").play(&Policy::default());
    let mut policy = policy(&[learned("m", "nudge_loop", &[(3, 3), (3, 3), (3, 3)])]);
    let mut shown = [0; 3];
    for run in 0..40 {
        let run = looping(&run.to_string());
        let decisions = run.play(&policy);
        assert_eq!(decisions, run.play(&policy));
        let course = |made: &Decision| (made.turn, made.action, made.reason.clone());
        assert!(decisions.iter().map(course).eq(plain.iter().map(course)));
        let said: Vec<_> = decisions.iter().filter_map(|made| made.intervention.as_ref()).collect();
        assert!(said.len() >= 2, "{decisions:?}");
        let first = said.iter().find(|said| said.template == "nudge_loop").unwrap();
        shown[first.variant as usize] += 1;
        let begins = texts_of(&policy, "nudge_loop")[first.variant as usize].split('{').next();
        assert!(first.text.starts_with(begins.unwrap()), "{first:?}");
        assert!(first.text.contains("the same call had") || first.text.contains("The same call"));
    }
    assert!(shown.iter().all(|count| *count > 3), "{shown:?}");
    policy.wording = Wording::default();
    assert_eq!(looping("1").play(&policy), plain);
}

#[test]
fn every_text_fills_in_what_was_seen() {
    let policy = Policy::default();
    for (name, _) in built_in_texts() {
        let texts = texts_of(&policy, name);
        let names_reason = |text: &&str| text.contains("{reason}") || text.contains("{Reason}");
        let first = names_reason(&texts[0]);
        for text in &texts {
            assert_eq!(names_reason(text), first, "{name}: {text}");
            for parameter in ["{excerpt}", "{approaches}", "{restart}", "{tests}", "{check}"] {
                assert_eq!(text.contains(parameter), texts[0].contains(parameter), "{text}");
            }
        }
    }
    let often = "nudge_loop nudge_errors nudge_search nudge_narration re_evaluate premature_end";
    for name in often.split(' ') {
        assert!(texts_of(&policy, name).len() >= 2, "{name}");
    }
    assert!(texts_of(&policy, "no_such_text").is_empty());
}

#[test]
fn what_can_never_hold_is_refused() {
    let good = learned("m", "nudge_loop", &[(1, 2), (0, 0), (3, 4)]);
    let cases = [
        (vec![good.clone()], None),
        (vec![good.clone(), learned("m", "stop", &[(0, 0)])], None),
        (
            vec![learned(" m", "nudge_loop", &[(0, 0)])],
            Some((
                "wording.learned.0.model",
                "a glob that can match a model's name: not empty, no white space around it, * for \
                 any run of characters, ? for one",
            )),
        ),
        (
            vec![good.clone(), learned("m", "nudge_loop", &[])],
            Some(("wording.learned.1.outcomes", "1 to 3 entries, one for each text of nudge_loop")),
        ),
        (
            vec![learned("m", "stop", &[(0, 0), (0, 0)])],
            Some(("wording.learned.0.outcomes", "1 to 1 entries, one for each text of stop")),
        ),
        (
            vec![good.clone(), learned("M", "nudge_loop", &[(1, 1)])],
            Some(("wording.learned.1", "another model or template than wording.learned.0 has")),
        ),
        (vec![good; 1001], Some(("wording.learned", "at most 1000 entries"))),
    ];
    for (learned, expected) in cases {
        let errors = policy(&learned).validate().err().unwrap_or_default();
        let first = errors.first().map(|error| (error.path.as_str(), error.allowed.as_str()));
        assert_eq!(first, expected);
    }
    let unknown = policy(&[learned("m", "nudge_lop", &[(0, 0)])]).validate().unwrap_err();
    assert_eq!((unknown.len(), unknown[0].path.as_str()), (1, "wording.learned.0.template"));
    assert!(unknown[0].allowed.starts_with("the name of a text: nudge_loop, "));
    let mut own = policy(&[learned("m", "stop", &[(0, 0), (0, 0)])]);
    own.texts.insert("stop".into(), vec!["a".into(), "b".into()]);
    assert_eq!(own.validate(), Ok(()));
}
