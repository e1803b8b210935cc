//! Properties that hold for any sequence of events: determinism, resumption, bounds.
#![expect(clippy::unwrap_used, reason = "strategies run in tests only")]

use std::borrow::Cow;
use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;
use steersman_engine::policy::RiskTable;
use steersman_engine::risk::RiskFeature;
use steersman_engine::{
    CallFailure, CheckReport, Decision, Engine, Event, Policy, Reply, RunInfo, State, StopReason,
    TestReport, Timestamp, ToolCall, ToolResult, Usage, UserMessage,
};

fn text() -> impl Strategy<Value = Cow<'static, str>> {
    prop_oneof![
        Just(Cow::Borrowed("")),
        Just(Cow::Borrowed("I will now read the file.")),
        Just(Cow::Borrowed("Done. All tests pass.")),
        Just(Cow::Borrowed(r#"{"continuation":{"status":"CONTINUE","reason":"more"}}"#)),
        Just(Cow::Borrowed("Error: rate limit (429)")),
        "[a-z \u{e9}\n.?]{0,60}".prop_map(Cow::Owned),
        (1_usize..200).prop_map(|n| Cow::Owned("The same sentence again and again.\n".repeat(n))),
    ]
}

fn call() -> impl Strategy<Value = ToolCall<'static>> {
    let tools = ["bash", "Read", "Edit", "grep", "get_job", "click", "", "mcp__x__y"];
    let arguments = prop_oneof![
        (0_u8..4).prop_map(|n| format!(r#"{{"path":"src/m{n}.py"}}"#)),
        (0_u8..4).prop_map(|n| format!(r#"{{"command":"pytest -q tests/t{n}.py"}}"#)),
        (0_u8..4)
            .prop_map(|n| format!(r#"{{"file_path":"a","old_string":"{n}","new_string":"x"}}"#)),
        Just("{\"command\":".to_owned()),
        Just(String::new()),
        "[\\[\\]{}\":,a-z0-9 ]{0,40}",
    ];
    ((0_u8..6), proptest::sample::select(tools.to_vec()), arguments, any::<bool>()).prop_map(
        |(id, name, arguments, unrecorded)| ToolCall {
            id: Cow::Owned(format!("c{id}")),
            name: Cow::Borrowed(name),
            arguments: Cow::Owned(arguments),
            unrecorded,
        },
    )
}

fn report() -> impl Strategy<Value = TestReport> {
    (0_u32..5, vec(0_u8..4, 0..4), any::<bool>()).prop_map(|(passed, failing, broken)| {
        let mut report = TestReport { passed, broken, ..TestReport::default() };
        for name in failing {
            report.failed += 1;
            report.add_failing(&format!("t{name}"));
        }
        report
    })
}

fn stop() -> impl Strategy<Value = Option<StopReason>> {
    proptest::option::of(proptest::sample::select(StopReason::ALL.to_vec()))
}

fn event() -> impl Strategy<Value = Event<'static>> {
    let reply = (text(), vec(call(), 0..4), stop(), 0_u64..200_000).prop_map(
        |(text, tool_calls, stop, input_tokens)| {
            let usage = Usage { input_tokens, ..Usage::default() };
            Event::Replied(Reply { text, tool_calls, stop, usage, ..Reply::default() })
        },
    );
    let result = ((0_u8..6), text(), any::<Option<bool>>(), proptest::option::of(report()))
        .prop_map(|(id, content, is_error, tests)| {
            let call_id = Cow::Owned(format!("c{id}"));
            Event::ToolReturned(ToolResult {
                call_id,
                content,
                is_error,
                tests,
                ..ToolResult::default()
            })
        });
    let failure =
        (proptest::option::of(400_u16..600), text(), stop()).prop_map(|(status, message, stop)| {
            Event::CallFailed(CallFailure { status, message, stop, ..CallFailure::default() })
        });
    let check = (any::<bool>(), proptest::option::of(report())).prop_map(|(passed, tests)| {
        Event::CheckReported(CheckReport { passed, tests, ..CheckReport::default() })
    });
    prop_oneof![
        6 => reply,
        6 => result,
        6 => Just(Event::TurnEnded),
        1 => text().prop_map(|text| Event::UserSpoke(UserMessage { text })),
        1 => failure,
        1 => check,
        1 => Just(Event::StartedOver),
        1 => Just(Event::ContextCompacted { tokens_after: None }),
        1 => Just(Event::StopRequested),
        1 => Just(Event::TimePassed),
    ]
}

fn policies() -> impl Strategy<Value = Arc<Policy>> {
    let names = proptest::sample::select(Policy::BUILT_IN.to_vec());
    (names, proptest::option::of(-1.0_f32..4.0)).prop_map(|(name, line)| {
        let mut policy = Policy::built_in(name).unwrap();
        if let Some(line) = line {
            let table = RiskTable { up_to: vec![0.5, 2.0], add: vec![0.0, 0.4, 1.0] };
            for feature in RiskFeature::ALL {
                policy.risk.tables.set(*feature, table.clone());
            }
            policy.risk.others.line = Some(line);
        }
        Arc::new(policy)
    })
}

fn play(engine: &mut Engine, from: usize, events: &[Event<'_>]) -> Vec<Decision> {
    let at = |n: usize| Timestamp(1 + (from + n) as u64 * 700);
    events.iter().enumerate().map(|(n, event)| engine.handle(at(n), event)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    /// The same events give the same decisions, in any order and without a panic.
    #[test]
    fn same_events_same_decisions(policy in policies(), events in vec(event(), 0..120)) {
        let info = RunInfo { has_check: true, can_start_over: true, ..RunInfo::default() };
        let mut one = Engine::new(Arc::clone(&policy), info.clone());
        let mut other = Engine::new(policy, info);
        prop_assert_eq!(play(&mut one, 0, &events), play(&mut other, 0, &events));
        prop_assert!(one.state() == other.state(), "the states differ");
    }

    /// Saving and loading at any event changes no later decision.
    #[test]
    fn resuming_changes_nothing(
        policy in policies(),
        events in vec(event(), 1..120),
        cut in any::<prop::sample::Index>(),
    ) {
        let cut = cut.index(events.len());
        let mut whole = Engine::new(Arc::clone(&policy), RunInfo::default());
        let mut first = Engine::new(Arc::clone(&policy), RunInfo::default());
        play(&mut whole, 0, &events[..cut]);
        play(&mut first, 0, &events[..cut]);
        let saved = serde_json::to_string(first.state()).unwrap();
        let loaded: State = serde_json::from_str(&saved).unwrap();
        prop_assert!(&loaded == first.state(), "the states differ");
        let mut resumed = Engine::resume(policy, loaded);
        let (rest, other) = (play(&mut whole, cut, &events[cut..]), &events[cut..]);
        prop_assert_eq!(rest, play(&mut resumed, cut, other));
        prop_assert!(whole.state() == resumed.state(), "the states differ");
    }

    /// Every event can be stored and read back.
    #[test]
    fn events_survive_storage(event in event()) {
        let stored = serde_json::to_string(&event).unwrap();
        let read: Event<'_> = serde_json::from_str(&stored).unwrap();
        prop_assert_eq!(read, event);
    }
}

/// The state stays within its bound over 100,000 events of a run that never repeats itself, calls
/// many tools at once and names many failing tests.
#[test]
fn the_state_is_bounded() {
    let mut engine = Engine::new(Policy::default(), RunInfo::default());
    let mut largest = 0;
    let report = |n: u64| {
        let mut report = TestReport { failed: 200, ..TestReport::default() };
        for test in 0..200 {
            report.add_failing(&format!("test {n} {test}"));
        }
        report
    };
    let mut events = 0_u64;
    let mut turn = 0_u64;
    while events < 100_000 {
        turn += 1;
        let calls = if turn.is_multiple_of(97) { 100 } else { 2 };
        let tool_calls = (0..calls).map(|n| ToolCall {
            id: Cow::Owned(format!("c{n}")),
            name: Cow::Owned(format!("tool{}", turn % 500)),
            arguments: Cow::Owned(format!(
                r#"{{"path":"src/{turn}/{n}.py","command":"pytest {turn}"}}"#
            )),
            ..ToolCall::default()
        });
        let reply = Reply { tool_calls: tool_calls.collect(), ..Reply::default() };
        engine.handle(Timestamp(turn * 1000), &Event::Replied(reply));
        for n in 0..calls {
            engine.handle(
                Timestamp(turn * 1000),
                &Event::ToolReturned(ToolResult {
                    call_id: Cow::Owned(format!("c{n}")),
                    content: Cow::Owned(format!("output {turn} {n} ").repeat(20)),
                    tests: (n == 0).then(|| report(turn)),
                    ..ToolResult::default()
                }),
            );
        }
        engine.handle(Timestamp(turn * 1000), &Event::TurnEnded);
        events += calls as u64 + 2;
        if turn.is_multiple_of(1000) || calls == 100 {
            largest = largest.max(serde_json::to_vec(engine.state()).unwrap().len());
        }
    }
    assert!(largest <= State::MAX_BYTES, "{largest} bytes");
    assert!(largest > 1000);
}
