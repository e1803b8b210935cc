//! How runs end: every ending, and what leads to it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot set up its case must fail"
)]

mod stage;

use stage::{Stage, play};
use steersman_agent::{CallState, Command, Ending, Entry, Session};
use steersman_config::control::{Control, Limits};
use steersman_engine::Action;
use steersman_wire::Role;

/// Plays a script over a folder; the run must end so and tell this story.
fn check(script: &str, files: &[(&str, &str)], ending: Ending, story: &[&str]) -> Stage {
    let stage = Stage::new(script, files);
    let (ended, _) = play(stage.run());
    assert_eq!(ended.ending, ending, "{ended:?} {:?}", stage.story());
    assert_eq!(stage.story(), story, "{ended:?}");
    stage
}

#[test]
fn a_claim_without_a_check_is_a_claim() {
    let script = r#"
task: Say what is in a.txt.
attempts:
  - replies:
      - calls: [{name: read, arguments: {path: a.txt}}]
      - text: The file says hello.
"#;
    check(
        script,
        &[("a.txt", "hello")],
        Ending::Claimed,
        &["continue", "continue", "ended claimed"],
    );
}

#[test]
fn a_claim_is_checked_and_proved() {
    let script = r#"
task: Make the tests pass.
check: run
attempts:
  - replies:
      - calls: [{name: write, arguments: {path: tests, content: 0/8}}]
      - calls: [{name: finish, arguments: {summary: All tests pass now.}}]
"#;
    let told = ["continue", "continue", "check passes", "continue", "ended complete"];
    check(script, &[("tests", "2/6")], Ending::Complete, &told);
}

#[test]
fn a_false_claim_is_refuted_and_the_agent_goes_on() {
    let script = r#"
task: Make the tests pass.
check: run
attempts:
  - replies:
      - calls: [{name: write, arguments: {path: tests, content: 1/7}}]
      - calls: [{name: finish, arguments: {summary: "Done, all tests pass."}}]
on:
  - to: contradicted_claim
    reply: {calls: [{name: write, arguments: {path: tests, content: 0/8}}]}
"#;
    let told = [
        "continue",
        "continue",
        "check fails",
        "nudge",
        "continue",
        "continue",
        "check passes",
        "continue",
        "ended complete",
    ];
    check(script, &[("tests", "2/6")], Ending::Complete, &told);
}

#[test]
fn a_claim_that_stays_false_is_refuted_in_the_end() {
    let script = r#"
task: Make the tests pass.
check: run
attempts:
  - replies:
      - calls: [{name: write, arguments: {path: tests, content: 1/7}}]
      - calls: [{name: finish, arguments: {summary: "Done, all tests pass."}}]
    again_from: 2
"#;
    let stage = Stage::new(script, &[("tests", "2/6")]);
    let (ended, session) = play(stage.run());
    assert_eq!(ended.ending, Ending::Refuted, "{:?}", stage.story());
    assert!(session.conversation().len() < 20);
}

#[test]
fn a_stuck_agent_starts_over_and_solves_it() {
    let script = r#"
task: Make the tests pass.
check: run
attempts:
  - replies:
      - calls: [{name: run_check}]
      - calls: [{name: write, arguments: {path: tests, content: 1/7}}, {name: run_check}]
      - calls: [{name: write, arguments: {path: notes, content: try one}}, {name: run_check}]
      - calls: [{name: write, arguments: {path: notes, content: try two}}, {name: run_check}]
      - calls: [{name: write, arguments: {path: notes, content: try three}}, {name: run_check}]
      - calls: [{name: write, arguments: {path: notes, content: try four}}, {name: run_check}]
    again_from: 3
  - replies:
      - calls: [{name: write, arguments: {path: tests, content: 0/8}}]
      - calls: [{name: finish, arguments: {summary: It works.}}]
on:
  - to: re_evaluate
    reply:
      calls: [{name: start_over, arguments: {reason: wrong design, tried: small fixes, next: rewrite}}]
"#;
    let stage = Stage::new(script, &[("tests", "2/6")]);
    let (ended, session) = play(stage.run());
    assert_eq!(ended.ending, Ending::Complete, "{:?}", stage.story());
    assert_eq!(session.attempts().len(), 1);
    let attempt = &session.attempts()[0];
    assert_eq!((attempt.failed, attempt.passed), (Some(1), Some(7)));
    assert_eq!(attempt.next, "rewrite");
    assert!(attempt.files.contains(&"notes".to_owned()), "{attempt:?}");
    assert_eq!(stage.folder.text("notes"), None, "what the attempt left is gone");
    let ledger = &session.conversation()[1];
    assert_eq!(ledger.role, Role::User);
    let told = ledger.text();
    assert!(told.contains("Attempt 2 of 3") && told.contains("small fixes"), "{told}");
}

#[test]
fn a_run_ends_no_worse_than_its_best_state() {
    let script = r#"
task: Make the tests pass.
check: run
attempts:
  - replies:
      - calls: [{name: write, arguments: {path: tests, content: 1/7}}]
      - calls: [{name: run_check}]
      - calls: [{name: write, arguments: {path: tests, content: 5/3}}]
      - calls: [{name: run_check}]
      - text: I give up here. It does not work; two tests cannot pass.
"#;
    let stage = Stage::new(script, &[("tests", "2/6")]);
    let (ended, _) = play(stage.run());
    assert_eq!(stage.folder.text("tests").as_deref(), Some("1/7"), "{:?}", stage.story());
    assert_eq!(ended.ending, Ending::Refuted);
    assert!(stage.story().contains(&"best_restored".to_owned()));
}

#[test]
fn a_deleted_failing_test_is_not_the_best_state() {
    let script = r#"
task: Make the tests pass.
check: run
attempts:
  - replies:
      - calls: [{name: run_check}]
      - calls: [{name: write, arguments: {path: tests, content: 1/5}}]
      - calls: [{name: run_check}]
      - text: I give up here. It does not work.
"#;
    let stage = Stage::new(script, &[("tests", "2/6")]);
    play(stage.run());
    assert_eq!(stage.folder.text("tests").as_deref(), Some("2/6"), "{:?}", stage.story());
}

#[test]
fn a_budget_caps_the_run() {
    let script = r#"
task: Read everything.
attempts:
  - replies:
      - calls: [{name: read, arguments: {path: a}}]
      - calls: [{name: read, arguments: {path: b}}]
      - calls: [{name: read, arguments: {path: c}}]
      - calls: [{name: read, arguments: {path: d}}]
on:
  - to: force_synthesis
    reply: {text: This is what I know so far.}
"#;
    let mut stage = Stage::new(script, &[("a", "1"), ("b", "2"), ("c", "3")]);
    stage.policy.limits.max_turns = Some(3);
    let (ended, _) = play(stage.run());
    assert_eq!(ended.ending, Ending::Capped, "{:?}", stage.story());
    assert_eq!(ended.answer, "This is what I know so far.");
    assert_eq!(stage.folder.calls.lock().unwrap().len(), 3);
}

#[test]
fn an_agent_that_ignores_the_forced_answer_is_stopped() {
    let script = r#"
task: Read everything.
attempts:
  - replies:
      - calls: [{name: read, arguments: {path: a}}]
    again_from: 1
on:
  - to: force_synthesis
    reply: {calls: [{name: read, arguments: {path: a}}]}
"#;
    let mut stage = Stage::new(script, &[("a", "1")]);
    stage.policy.limits.max_turns = Some(1);
    let (ended, _) = play(stage.run());
    assert!(matches!(ended.ending, Ending::Stopped | Ending::Capped), "{ended:?}");
    assert_eq!(stage.folder.calls.lock().unwrap().len(), 1, "withdrawn tools do not run");
}

#[test]
fn a_question_waits_for_the_user_and_the_answer_is_heard() {
    let script = r#"
task: Rename the function.
attempts:
  - replies:
      - calls: [{name: ask_user, arguments: {question: Which of the two?}}]
      - text: The second one is renamed.
"#;
    let stage = Stage::new(script, &[]);
    play(async {
        let (mut driver, _sender) = stage.begin().await;
        driver.hear(stage.script.task.clone()).await.unwrap();
        let ended = driver.run().await.unwrap().unwrap();
        assert_eq!((ended.ending, ended.answer.as_str()), (Ending::Waiting, "Which of the two?"));
        driver.hear("The second.".to_owned()).await.unwrap();
        let ended = driver.run().await.unwrap().unwrap();
        assert_eq!(ended.ending, Ending::Claimed);
    });
}

#[test]
fn failed_calls_are_retried_with_the_delays_of_the_policy() {
    let script = r#"
task: Say hello.
attempts:
  - replies:
      - text: Hello.
        fails: {times: 3, status: 503, message: overloaded}
"#;
    let stage = Stage::new(script, &[]);
    let waited = play(async {
        let begun = tokio::time::Instant::now();
        let (ended, _) = stage.run().await;
        assert_eq!(ended.ending, Ending::Claimed);
        begun.elapsed().as_secs()
    });
    assert_eq!(waited, 30 + 60 + 90, "E3");
}

#[test]
fn a_retry_after_takes_the_place_of_the_delay() {
    let script = r#"
task: Say hello.
attempts:
  - replies:
      - text: Hello.
        fails: {status: 429, message: slow down, retry_after_ms: 7000}
"#;
    let stage = Stage::new(script, &[]);
    let waited = play(async {
        let begun = tokio::time::Instant::now();
        stage.run().await;
        begun.elapsed().as_secs()
    });
    assert_eq!(waited, 7);
}

#[test]
fn a_failure_that_no_retry_can_help_ends_the_run() {
    let script = r#"
task: Say hello.
attempts:
  - replies:
      - text: Hello.
        fails: {times: 99, status: 401, message: invalid key}
"#;
    check(script, &[], Ending::Failed, &["stop", "ended failed"]);
}

#[test]
fn a_person_stops_the_run_in_the_middle_of_a_tool() {
    let script = r#"
task: Wait.
attempts:
  - replies:
      - calls: [{name: sleep}]
"#;
    let stage = Stage::new(script, &[]);
    play(async {
        let (mut driver, sender) = stage.begin().await;
        driver.hear("Wait.".to_owned()).await.unwrap();
        let stop = async {
            tokio::time::sleep(std::time::Duration::from_secs(5)).await;
            sender.send(Command::Stop { who: "test".to_owned() }).await.unwrap();
        };
        let (ended, ()) = tokio::join!(driver.run(), stop);
        assert_eq!(ended.unwrap().unwrap().ending, Ending::Stopped);
    });
    let seen = stage.seen.0.lock().unwrap();
    let told =
        seen.iter().any(|entry| matches!(entry, Entry::ToolFinished(result) if result.interrupted));
    assert!(told, "the call that was under way is told as interrupted");
    assert!(!CallState::Pending.eq(&CallState::Started));
}

/// What a person wants.
fn wish(control: Control) -> Command {
    Command::Control { who: "anna".to_owned(), control }
}

#[test]
fn a_paused_run_waits_and_the_time_does_not_count() {
    let script = r#"
task: Say hello.
attempts:
  - replies:
      - text: Hello.
"#;
    let mut stage = Stage::new(script, &[]);
    stage.policy.limits.max_wall_ms = Some(60_000);
    let waited = play(async {
        let (mut driver, sender) = stage.begin().await;
        driver.hear("Say hello.".to_owned()).await.unwrap();
        sender.send(wish(Control::Pause)).await.unwrap();
        let begun = tokio::time::Instant::now();
        let resume = async {
            tokio::time::sleep(std::time::Duration::from_secs(1000)).await;
            sender.send(wish(Control::Note { text: "Be brief.".to_owned() })).await.unwrap();
            sender.send(wish(Control::Resume)).await.unwrap();
        };
        let (ended, ()) = tokio::join!(driver.run(), resume);
        assert_eq!(ended.unwrap().unwrap().ending, Ending::Claimed);
        begun.elapsed().as_secs()
    });
    assert!(waited >= 1000, "{waited}");
    let seen = stage.seen.0.lock().unwrap();
    let kinds: Vec<&str> = seen.iter().map(Entry::kind).collect();
    let kinds = kinds.join(" ");
    assert!(kinds.contains("checkpointed controlled controlled spoke call_started"), "{kinds}");
}

#[test]
fn a_run_that_is_left_alone_says_so_of_each_decision() {
    let script = format!(
        "task: Say hello.\nattempts:\n  - replies:\n{}",
        "      - calls: [{name: list}]\n".repeat(12)
    );
    let mut stage = Stage::new(&script, &[]);
    stage.policy.limits.max_turns = Some(8);
    let ended = play(async {
        let (mut driver, sender) = stage.begin().await;
        driver.hear("Say hello.".to_owned()).await.unwrap();
        sender.send(wish(Control::Continuation { on: false })).await.unwrap();
        driver.run().await.unwrap().unwrap()
    });
    assert_eq!(ended.ending, Ending::Claimed);
    let seen = stage.seen.0.lock().unwrap();
    let decided = seen.iter().filter_map(|entry| match entry {
        Entry::Decided { decision } => Some((decision.action, decision.shadow)),
        _ => None,
    });
    let decided: Vec<(Action, bool)> = decided.collect();
    assert!(decided.iter().all(|(_, shadow)| *shadow), "{decided:?}");
    assert!(decided.iter().any(|(action, _)| *action != Action::Continue), "{decided:?}");
    assert!(!seen.iter().any(|entry| matches!(entry, Entry::Said { .. })));
}

#[test]
fn what_a_person_wants_holds_when_the_journal_is_read_again() {
    let script = "task: x\nattempts:\n  - replies:\n      - text: Hello.\n";
    let opened = Stage::new(script, &[]).opened();
    let limits = Limits { max_turns: Some(7), ..Limits::default() };
    let told = |controls: &[Control]| {
        let mut session = Session::open("s-1", opened.clone()).unwrap();
        session.fold(1, &Entry::Spoke { text: "x".to_owned() }).unwrap();
        for control in controls {
            let (who, control) = ("anna".to_owned(), control.clone());
            session.fold(2, &Entry::Controlled { who, control }).unwrap();
        }
        let policy = session.engine().policy();
        (
            session.paused().map(str::to_owned),
            session.is_left_alone(),
            policy.name.clone(),
            policy.limits.max_turns,
        )
    };
    let preset = |name: &str| Control::Aggressiveness { preset: name.to_owned() };
    let anna = Some("anna".to_owned());
    let own = "default".to_owned();
    assert_eq!(told(&[]), (None, false, own.clone(), None));
    assert_eq!(told(&[Control::Pause]), (anna, false, own.clone(), None));
    assert_eq!(told(&[Control::Pause, Control::Resume]), (None, false, own.clone(), None));
    let both = [preset("lenient"), Control::Limits(limits), Control::Continuation { on: false }];
    assert_eq!(told(&both), (None, true, "lenient".to_owned(), Some(7)));
    assert_eq!(told(&[preset("no such preset")]), (None, false, own, None));
}

#[test]
fn a_time_limit_ends_a_tool_that_hangs() {
    let script = r#"
task: Wait.
attempts:
  - replies:
      - calls: [{name: sleep}]
"#;
    let mut stage = Stage::new(script, &[]);
    stage.policy.limits.max_wall_ms = Some(60_000);
    let waited = play(async {
        let begun = tokio::time::Instant::now();
        let (ended, _) = stage.run().await;
        assert_eq!(ended.ending, Ending::Stopped);
        begun.elapsed().as_secs()
    });
    assert_eq!(waited, 60);
}

#[test]
fn another_agent_takes_over() {
    let script = r#"
task: Review it.
attempts:
  - replies:
      - calls: [{name: send_mail, arguments: {to: reviewer, text: look at a}}]
      - calls: [{name: hand_over, arguments: {to: reviewer, note: please review}}]
      - calls: [{name: read_mail}]
      - text: Reviewed.
"#;
    let stage = Stage::new(script, &[]);
    let (ended, session) = play(stage.run());
    assert_eq!(ended.ending, Ending::Claimed, "{:?}", stage.story());
    assert_eq!(session.agent().name, "reviewer");
    assert_eq!(session.mail().unread("reviewer"), 0);
    let texts: Vec<String> =
        session.conversation().iter().map(|message| message.text().into_owned()).collect();
    assert!(texts.iter().any(|text| text == "coder hands over to you: please review"), "{texts:?}");
}

#[test]
fn old_results_are_cut_when_the_window_fills() {
    let script = r#"
task: Read the big files.
attempts:
  - replies:
      - calls: [{name: big, arguments: {n: 1}}]
      - calls: [{name: big, arguments: {n: 2}}]
      - calls: [{name: big, arguments: {n: 3}}]
      - calls: [{name: big, arguments: {n: 4}}]
      - calls: [{name: big, arguments: {n: 5}}]
      - calls: [{name: big, arguments: {n: 6}}]
      - calls: [{name: big, arguments: {n: 7}}]
      - calls: [{name: big, arguments: {n: 8}}]
      - calls: [{name: big, arguments: {n: 9}}]
      - text: All of them were read.
"#;
    let mut stage = Stage::new(script, &[]);
    stage.policy.continuation.token_budgets.context_window = 128_000;
    let (ended, session) = play(stage.run());
    assert_eq!(ended.ending, Ending::Claimed, "{:?}", stage.story());
    assert!(stage.story().contains(&"pruned".to_owned()), "{:?}", stage.story());
    let size: usize = serde_json::to_string(&**session.conversation()).unwrap().len();
    assert!(size < 9 * 40_000, "{size}");
}

#[test]
fn an_agent_that_signals_to_go_on_is_told_to() {
    let script = r#"
task: Count to two.
attempts:
  - replies:
      - text: 'One. {"continuation": {"status": "CONTINUE", "reason": "two is left"}}'
      - text: 'Two. {"continuation": {"status": "TERMINATE", "reason": "done"}}'
"#;
    let stage = Stage::new(script, &[]);
    let (ended, session) = play(stage.run());
    assert_eq!(ended.ending, Ending::Claimed, "{:?}", stage.story());
    assert_eq!(session.outlook().turns, 2);
    assert_eq!(session.conversation()[2].text(), "Go on.");
}

#[test]
fn a_check_that_is_due_runs_and_its_success_is_told() {
    let script = r#"
task: Make the tests pass.
check: run
attempts:
  - replies:
      - calls: [{name: read, arguments: {path: a}}]
      - calls: [{name: write, arguments: {path: tests, content: 0/8}}]
      - calls: [{name: read, arguments: {path: b}}]
on:
  - to: check_passes
    reply: {text: "The tests pass."}
"#;
    let mut stage = Stage::new(script, &[("tests", "2/6"), ("a", "1"), ("b", "2")]);
    stage.policy.tests.check_every = Some(2);
    let (ended, session) = play(stage.run());
    assert_eq!(ended.ending, Ending::Complete, "{:?}", stage.story());
    assert_eq!(session.outlook().turns, 3, "{:?}", stage.story());
}

#[test]
fn a_state_that_nobody_looked_at_is_checked_before_the_run_ends() {
    let script = r#"
task: Make the tests pass.
check: run
attempts:
  - replies:
      - calls: [{name: run_check}]
      - calls: [{name: write, arguments: {path: tests, content: 4/4}}]
      - calls: [{name: read, arguments: {path: a}}]
on:
  - to: force_synthesis
    reply: {text: This is as far as I came.}
"#;
    let mut stage = Stage::new(script, &[("tests", "2/6"), ("a", "1")]);
    stage.policy.limits.max_turns = Some(3);
    let (ended, _) = play(stage.run());
    assert_eq!(ended.ending, Ending::Capped, "{:?}", stage.story());
    assert_eq!(stage.folder.text("tests").as_deref(), Some("2/6"), "{:?}", stage.story());
}

#[test]
fn the_best_state_is_kept_before_the_next_call_changes_it() {
    let script = r#"
task: Make the tests pass.
check: run
attempts:
  - replies:
      - calls:
          - {name: write, arguments: {path: tests, content: 1/7}}
          - {name: run_check}
          - {name: write, arguments: {path: tests, content: 6/2}}
          - {name: run_check}
      - text: I give up here. It does not work.
"#;
    let stage = Stage::new(script, &[("tests", "2/6")]);
    play(stage.run());
    assert_eq!(stage.folder.text("tests").as_deref(), Some("1/7"), "{:?}", stage.story());
}

#[test]
fn a_claim_in_the_last_turn_of_a_budget_is_still_proved() {
    let script = r#"
task: Make the tests pass.
check: run
attempts:
  - replies:
      - calls: [{name: write, arguments: {path: tests, content: 0/8}}]
      - calls: [{name: finish, arguments: {summary: All tests pass now.}}]
"#;
    let mut stage = Stage::new(script, &[("tests", "2/6")]);
    stage.policy.limits.max_turns = Some(2);
    let (ended, _) = play(stage.run());
    assert_eq!(ended.ending, Ending::Complete, "{:?}", stage.story());
}

#[test]
fn a_claim_is_checked_again_after_a_command() {
    let script = r#"
task: Make the tests pass.
check: run
attempts:
  - replies:
      - calls: [{name: run_check}]
      - calls: [{name: big}]
      - text: I could not fix it. I am done with what I could do.
"#;
    let stage = Stage::new(script, &[("tests", "2/6")]);
    let (ended, _) = play(stage.run());
    assert_eq!(ended.ending, Ending::Refuted, "a failing check is no claim: {:?}", stage.story());
}

#[test]
fn a_start_over_goes_back_to_the_last_word_of_the_user() {
    let script = r#"
task: Write one.
attempts:
  - replies:
      - calls: [{name: write, arguments: {path: one, content: "1"}}]
      - text: One is written.
      - calls: [{name: write, arguments: {path: two, content: wrong}}]
      - calls: [{name: start_over, arguments: {reason: it is wrong, next: right}}]
  - replies:
      - text: I look at it again.
      - text: One is written.
"#;
    let stage = Stage::new(script, &[("a", "1")]);
    play(async {
        let (mut driver, _sender) = stage.begin().await;
        driver.hear(stage.script.task.clone()).await.unwrap();
        driver.run().await.unwrap();
        driver.hear("Now two.".to_owned()).await.unwrap();
        driver.run().await.unwrap();
        assert_eq!(stage.folder.text("one").as_deref(), Some("1"), "{:?}", stage.story());
        assert_eq!(stage.folder.text("two"), None);
        let told: Vec<String> =
            driver.session().conversation().iter().map(|said| said.text().into_owned()).collect();
        assert!(told.contains(&"Now two.".to_owned()), "{told:?}");
    });
}

#[test]
fn replies_that_say_they_failed_are_not_asked_for_for_ever() {
    let script = r#"
task: Say hello.
attempts:
  - replies:
      - {text: "", stop: error}
    again_from: 1
"#;
    let stage = Stage::new(script, &[]);
    let waited = play(async {
        let begun = tokio::time::Instant::now();
        let (ended, _) = stage.run().await;
        assert_eq!(ended.ending, Ending::Failed, "{:?}", stage.story());
        begun.elapsed().as_secs()
    });
    assert_eq!(waited, 30 + 60 + 90 + 120 + 150, "E3");
}

#[test]
fn time_in_which_nobody_drove_is_no_working_time() {
    let script = r#"
task: Say hello.
attempts:
  - replies:
      - calls: [{name: ask_user, arguments: {question: "Shall I?"}}]
      - text: Hello.
"#;
    let mut stage = Stage::new(script, &[]);
    stage.policy.limits.max_wall_ms = Some(60_000);
    play(async {
        let (mut driver, _sender) = stage.begin().await;
        driver.hear(stage.script.task.clone()).await.unwrap();
        driver.run().await.unwrap();
        tokio::time::sleep(std::time::Duration::from_secs(86_400)).await;
        driver.hear("Yes.".to_owned()).await.unwrap();
        let ended = driver.run().await.unwrap().unwrap();
        assert_eq!(ended.ending, Ending::Claimed, "{:?}", stage.story());
    });
}
