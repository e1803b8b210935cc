//! Entries as they stand in journals: what was once written is read for ever.

#![allow(clippy::unwrap_used, reason = "a test that cannot set up its case must fail")]

use std::fs;

use serde_json::{Value, json};
use steersman_agent::{
    AgentSetup, Attempt, CheckCause, CheckFinished, Checkpointed, Ended, Ending, Entry, Failed,
    HandedOver, Opened, Prices, Replied, Side, SideEnded, SidesBegun, TakenUp, ToolFinished,
};
use steersman_config::control::Control;
use steersman_engine::{
    Action, Decision, Evidence, Intervention, Policy, Reason, Signals, StopReason, TestReport,
    Usage,
};
use steersman_prompt::{Draft, MailEntry};
use steersman_timeline::Mark;
use steersman_wire::{Message, Part, Role, ToolSpec};

/// An entry of every kind, in the order of the kinds, with everything set that can be.
fn entries() -> Vec<Entry> {
    let text = str::to_owned;
    let mut entries = vec![
        Entry::Opened(Box::new(opened())),
        Entry::TakenUp(TakenUp { program: text("0.1.0"), differing: 1 }),
        Entry::Spoke { text: text("Make the tests pass.\nAll of them.") },
        Entry::CallStarted,
        Entry::Replied(Box::new(replied())),
        Entry::CallFailed(Failed {
            status: Some(429),
            message: text("slow down"),
            retry_after_ms: Some(1500),
            stop: Some(StopReason::Interrupted),
        }),
        Entry::ToolStarted { call_id: text("call_1") },
        Entry::ToolFinished(Box::new(ToolFinished {
            call_id: text("call_1"),
            content: text("2 passed, 1 failed"),
            is_error: Some(true),
            exit_code: Some(1),
            full_len: Some(70_000),
            tests: Some(tests()),
            interrupted: true,
            took_ms: 12,
        })),
        Entry::TurnEnded,
        Entry::CheckStarted { cause: CheckCause::Due },
        Entry::CheckFinished(Box::new(CheckFinished {
            cause: CheckCause::Claim,
            passed: false,
            exit_code: Some(101),
            tests: Some(tests()),
            excerpt: text("test a ... FAILED"),
            took_ms: 1200,
        })),
        Entry::Decided { decision: Box::new(decision()) },
        Entry::Said { text: text("Look again."), template: text("re_evaluate"), variant: 1 },
    ];
    entries.extend(later());
    entries.extend(sides());
    entries
}

fn later() -> Vec<Entry> {
    let text = str::to_owned;
    let to = AgentSetup { name: text("reviewer"), model: text("m"), ..AgentSetup::default() };
    let draft = Draft { to: text("coder"), subject: text("s"), text: text("t"), in_reply_to: None };
    vec![
        Entry::Checkpointed(Checkpointed {
            number: 1,
            id: text("0123456789abcdef0123456789abcdef01234567"),
            label: text("before the run"),
            skipped: vec![text("socket")],
        }),
        Entry::CheckpointFailed { why: text("the disk is full") },
        Entry::RestoreStarted { to: 1 },
        Entry::StartedOver(Box::new(Attempt {
            number: 1,
            turns: 7,
            reason: text("wrong design"),
            tried: text("patching"),
            next: text("two phases"),
            failed: Some(1),
            passed: Some(2),
            files: vec![text("src/lib.rs")],
            insertions: 6,
            deletions: 2,
            kept: text("refs/steersman/x/kept/attempt-1"),
            restored: 1,
        })),
        Entry::StartOverRefused { why: text("no attempt is left") },
        Entry::Pruned { keep_from: 12, tokens_after: 9000 },
        Entry::WaitStarted { until_ms: 1_700_000_000_000 },
        Entry::WaitEnded,
        Entry::StopRequested { who: text("a person") },
        Entry::TimePassed,
        Entry::Mailed { mail: MailEntry::Posted { id: 1, from: text("reviewer"), draft } },
        Entry::HandedOver(Box::new(HandedOver { from: text("coder"), to, note: text("Look.") })),
        Entry::BestRestored { number: 2 },
        Entry::BestLost { number: 2, why: text("its ref is gone") },
        Entry::Ended(Box::new(Ended {
            ending: Ending::Complete,
            why: text("the check proves it"),
            answer: text("Done."),
        })),
    ]
}

fn sides() -> Vec<Entry> {
    let text = str::to_owned;
    let side = Side {
        number: 1,
        session: text("group-1"),
        folder: text("/state/attempts/group/1"),
        stance: text("smallest change"),
    };
    vec![
        Entry::SidesBegun(SidesBegun { sides: vec![side], jobs: 4, all: true }),
        Entry::SideEnded(Box::new(SideEnded {
            number: 1,
            ending: Some(Ending::Complete),
            why: text("the check proves it"),
            answer: text("Done."),
            checked: true,
            proved: true,
            tests: Some((0, 3)),
            files: 2,
            insertions: 4,
            deletions: 1,
            state: text("0123456789abcdef0123456789abcdef01234567"),
            kept: text("refs/steersman/group/kept/side-1"),
            patch: text("refs/steersman/group/kept/side-1-patch"),
            turns: 5,
            calls: 7,
            input_tokens: 1000,
            output_tokens: 50,
            cost_nanodollars: 3_750_000,
        })),
        Entry::SideChosen { number: 1, why: text("the check proves it") },
        Entry::SideApplied { number: 1 },
        Entry::SideNotApplied { number: 1, why: text("the folder was changed meanwhile: a") },
        Entry::Controlled {
            who: text("anna"),
            control: Control::Aggressiveness { preset: text("lenient") },
        },
        Entry::Controlled { who: text("anna"), control: Control::StartOver },
        Entry::Marked {
            who: text("anna"),
            seq: 7,
            mark: Mark::Helpful,
            note: Some(text("It was stuck.")),
        },
    ]
}

/// The place of an entry's kind among all; a new kind is a new line here and above.
const fn place(entry: &Entry) -> usize {
    match entry {
        Entry::Opened(_) => 0,
        Entry::TakenUp(_) => 1,
        Entry::Spoke { .. } => 2,
        Entry::CallStarted => 3,
        Entry::Replied(_) => 4,
        Entry::CallFailed(_) => 5,
        Entry::ToolStarted { .. } => 6,
        Entry::ToolFinished(_) => 7,
        Entry::TurnEnded => 8,
        Entry::CheckStarted { .. } => 9,
        Entry::CheckFinished(_) => 10,
        Entry::Decided { .. } => 11,
        Entry::Said { .. } => 12,
        Entry::Checkpointed(_) => 13,
        Entry::CheckpointFailed { .. } => 14,
        Entry::RestoreStarted { .. } => 15,
        Entry::StartedOver(_) => 16,
        Entry::StartOverRefused { .. } => 17,
        Entry::Pruned { .. } => 18,
        Entry::WaitStarted { .. } => 19,
        Entry::WaitEnded => 20,
        Entry::StopRequested { .. } => 21,
        Entry::TimePassed => 22,
        Entry::Mailed { .. } => 23,
        Entry::HandedOver(_) => 24,
        Entry::BestRestored { .. } => 25,
        Entry::BestLost { .. } => 26,
        Entry::Ended(_) => 27,
        Entry::SidesBegun(_) => 28,
        Entry::SideEnded(_) => 29,
        Entry::SideChosen { .. } => 30,
        Entry::SideApplied { .. } => 31,
        Entry::SideNotApplied { .. } => 32,
        Entry::Controlled { .. } => 33,
        Entry::Marked { .. } => 34,
    }
}

fn opened() -> Opened {
    let text = str::to_owned;
    let tool = ToolSpec {
        name: text("read"),
        description: text("Reads a file."),
        parameters: json!({"type": "object"}),
    };
    Opened {
        version: 1,
        program: text("0.1.0"),
        agent: AgentSetup {
            name: text("coder"),
            model: text("model-1"),
            system: text("You write code."),
            tools: vec![tool],
            context_window: Some(200_000),
            max_output_tokens: Some(8192),
            temperature: Some(0.5),
            prices: Prices { input: 3000, cached_input: 300, output: 15_000 },
            parallel_tool_calls: Some(true),
            json_calls: true,
        },
        workspace: Some(text("/project")),
        check: Some(text("cargo test")),
        policy: Box::new(Policy::default()),
        interactive: true,
        others: vec![text("coder"), text("reviewer")],
        extra: json!({"provider": "openai"}),
    }
}

fn replied() -> Replied {
    let text = str::to_owned;
    let call = Part::ToolCall {
        id: text("call_1"),
        name: text("read"),
        arguments: text("{\"path\":\"a\"}"),
        raw: None,
    };
    let thought = Part::Reasoning { text: text("Hm."), raw: None };
    Replied {
        message: Message {
            role: Role::Assistant,
            parts: vec![thought, Part::Text(text("I look.")), call],
        },
        stop: Some(StopReason::Stop),
        usage: Usage { input_tokens: 1000, output_tokens: 50, cost_nanodollars: 3_750_000 },
        cached_tokens: 900,
        model: Some(text("model-1-2026")),
    }
}

fn tests() -> TestReport {
    let mut tests = TestReport { passed: 2, failed: 1, ..TestReport::default() };
    tests.add_failing("a");
    tests
}

fn decision() -> Decision {
    Decision {
        action: Action::ReEvaluate,
        reason: Reason::Progressing,
        shadow: true,
        turn: 3,
        call: 5,
        score: 0.5,
        signals: Signals::default(),
        evidence: Evidence { turns: vec![2, 3], excerpt: "read a".to_owned() },
        intervention: Some(Intervention {
            text: "Look again.".to_owned(),
            template: "re_evaluate".to_owned(),
            variant: 1,
        }),
        delay_ms: Some(500),
        run_check: true,
    }
}

/// What a line says, without the policy, whose keys and defaults have golden files of their own.
fn without_policy(line: &str) -> Value {
    let mut value: Value = serde_json::from_str(line).unwrap();
    if let Some(fields) = value.as_object_mut() {
        fields.remove("policy");
    }
    value
}

#[test]
fn every_kind_of_entry_is_read_as_it_was_written() {
    let entries = entries();
    let mut places: Vec<usize> = entries.iter().map(place).collect();
    places.dedup();
    assert_eq!(places, (0..35).collect::<Vec<_>>(), "an entry of each kind, in order");

    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/entries.jsonl");
    let lines: Vec<String> =
        entries.iter().map(|entry| serde_json::to_string(entry).unwrap()).collect();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(path, lines.join("\n") + "\n").unwrap();
    }
    let golden = fs::read_to_string(path).unwrap();
    assert_eq!(golden.lines().count(), lines.len(), "UPDATE_GOLDEN=1 writes {path} anew");
    for ((old, new), entry) in golden.lines().zip(&lines).zip(&entries) {
        let hint = "a stored format has changed: add to it, do not change it";
        assert_eq!(without_policy(old), without_policy(new), "{hint}");
        let mut read: Entry = serde_json::from_str(old).unwrap();
        if let Entry::Opened(opened) = &mut read {
            *opened.policy = Policy::default();
        }
        assert_eq!(read, *entry);
        assert_eq!(without_policy(old)["entry"], entry.kind());
    }
}
