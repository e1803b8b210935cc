//! Marks and what becomes of thresholds.

use std::iter::repeat_n;

use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::*;
use crate::journal::Journal;

fn marks(rule: RuleId, harmful: u32, helpful: u32) -> Vec<Mark> {
    let of = |opinion, count: u32| repeat_n(Mark { rule, opinion }, count as usize);
    of(Opinion::Harmful, harmful).chain(of(Opinion::Helpful, helpful)).collect()
}

/// What becomes of a policy.
fn after(policy: &Policy, marks: &[Mark]) -> (Policy, Vec<Move>) {
    let mut policy = policy.clone();
    let moves = apply(&mut policy, marks);
    (policy, moves)
}

fn cycle(start: Steps, harmful: u32, helpful: u32) -> Steps {
    let mut policy = Policy::default();
    policy.loops.cycle = start;
    after(&policy, &marks(RuleId::Cycle, harmful, helpful)).0.loops.cycle
}

/// The table of the documentation, with thresholds of 3, 4 and 6.
#[test]
fn thresholds_move_by_the_evidence() {
    let shipped = Loops::default().cycle;
    assert_eq!(shipped, Steps::ending(3, 4, 6));
    let cases = [
        ((0, 0), (3, 4, 6)),
        ((1, 0), (3, 4, 6)),
        ((2, 0), (4, 5, 8)),
        ((4, 1), (4, 5, 8)),
        ((10, 0), (6, 7, 11)),
        ((1000, 0), (6, 8, 12)),
        ((5, 5), (3, 4, 6)),
        ((50, 50), (4, 5, 7)),
        ((0, 4), (3, 4, 6)),
        ((0, 5), (2, 4, 6)),
        ((1, 8), (3, 4, 6)),
        ((1, 9), (2, 4, 6)),
        ((0, 1000), (2, 4, 6)),
    ];
    for ((harmful, helpful), (notice, urge, end)) in cases {
        let found = cycle(shipped, harmful, helpful);
        assert_eq!(found, Steps::ending(notice, urge, end), "{harmful}:{helpful}");
    }
}

#[test]
fn the_intervals_are_those_of_the_documentation() {
    let cases = [
        ((1, 0), (32, 95), 10),
        ((2, 0), (46, 97), 12),
        ((4, 1), (49, 91), 13),
        ((10, 0), (81, 99), 18),
        ((5, 5), (32, 68), 10),
        ((0, 5), (2, 32), 9),
    ];
    let ten = Steps::advising(10, 10);
    for ((harmful, helpful), interval, notice) in cases {
        let percent = |level| (100.0 * quantile(level, harmful, helpful)).round() as u32;
        assert_eq!((percent(0.1), percent(0.9)), interval, "{harmful}:{helpful}");
        let verdict = Tally { harmful, helpful }.verdict();
        let moved = verdict.map_or(ten, |verdict| moved_steps(ten, ten, verdict));
        assert_eq!((moved.notice, moved.urge), (notice, notice.max(10)));
    }
}

#[test]
fn values_set_by_hand_are_respected() {
    let cases = [
        // Twice the shipped values and more is patient enough.
        (Steps::ending(6, 8, 12), (1000, 0), Steps::ending(6, 8, 12)),
        (Steps::ending(9, 9, 30), (1000, 0), Steps::ending(9, 9, 30)),
        (Steps::advising(3, 4), (1000, 0), Steps::advising(6, 8)),
        (Steps::ending(2, 2, 2), (2, 0), Steps::ending(4, 5, 8)),
        // What marks can have raised goes back, what they cannot stays.
        (Steps::ending(6, 8, 12), (0, 1000), Steps::ending(4, 5, 7)),
        (Steps::ending(6, 8, 12), (0, 8), Steps::ending(6, 7, 11)),
        (Steps::ending(7, 8, 12), (0, 1000), Steps::ending(7, 7, 7)),
        (Steps::ending(7, 9, 13), (0, 1000), Steps::ending(7, 9, 13)),
        (Steps::ending(2, 3, 5), (0, 1000), Steps::ending(2, 3, 5)),
    ];
    for (start, (harmful, helpful), expected) in cases {
        let found = cycle(start, harmful, helpful);
        assert_eq!(found, expected, "{start:?} {harmful}:{helpful}");
    }
    // An end that the shipped rule does not have stays behind its urge.
    let mut policy = Policy::default();
    policy.loops.staleness.end = Some(13);
    let (policy, _) = after(&policy, &marks(RuleId::Staleness, 1000, 0));
    assert_eq!(policy.loops.staleness, Steps::ending(16, 24, 24));
}

#[test]
fn rules_without_thresholds_lose_their_strongest_action() {
    use Ceiling as C;
    let cases = [
        (RuleId::Risk, C::End, (1, 0), C::End),
        (RuleId::Risk, C::End, (2, 0), C::Urge),
        (RuleId::Risk, C::End, (5, 0), C::Nudge),
        (RuleId::Risk, C::Nudge, (1000, 0), C::Nudge),
        (RuleId::Risk, C::Off, (1000, 0), C::Off),
        (RuleId::Risk, C::Urge, (0, 1000), C::Urge),
        (RuleId::StuckTests, C::Urge, (2, 0), C::Urge),
        (RuleId::StuckTests, C::Urge, (5, 0), C::Nudge),
        (RuleId::PrematureEnd, C::Nudge, (1000, 0), C::Nudge),
        (RuleId::Budget, C::End, (1000, 0), C::End),
        (RuleId::StopRequested, C::End, (1000, 0), C::End),
        (RuleId::Protocol, C::End, (1000, 0), C::End),
    ];
    for (rule, start, (harmful, helpful), expected) in cases {
        let mut policy = Policy::default();
        policy.rules.set(rule, start);
        let (moved, moves) = after(&policy, &marks(rule, harmful, helpful));
        assert_eq!(moved.rules.of(rule), expected, "{rule:?} {harmful}:{helpful}");
        assert_eq!(moves.len(), usize::from(start != expected));
    }
}

#[test]
fn moves_say_what_and_why() {
    let mut all = marks(RuleId::Risk, 5, 0);
    all.extend(marks(RuleId::Cycle, 9, 1));
    all.extend(marks(RuleId::Polling, 4, 0));
    all.extend(marks(RuleId::Narration, 1, 20));
    all.extend(marks(RuleId::SameError, 1, 0));
    let (_, moves) = after(&Policy::default(), &all);
    let told: Vec<_> = moves
        .iter()
        .map(|moved| (moved.path.as_str(), moved.from.as_str(), moved.to.as_str()))
        .collect();
    let expected = [
        ("loops.cycle.notice", "3", "5"),
        ("loops.cycle.urge", "4", "7"),
        ("loops.cycle.end", "6", "10"),
        ("loops.narration.notice", "3", "2"),
        ("rules.risk", "end", "nudge"),
        ("loops.polling.notice", "20", "29"),
        ("loops.polling.urge", "60", "87"),
        ("loops.polling_patience_ms", "1800000", "2603585"),
    ];
    assert_eq!(told, expected);
    assert_eq!(
        moves[0].why,
        "9 of 10 marks call it harmful: at least 69 % of its interventions are likely to be \
         harmful, more than the third that is put up with"
    );
    assert_eq!(
        moves[3].why,
        "20 of 21 marks call it helpful: at most 17 % of its interventions are likely to be \
         harmful, less than the third that is put up with"
    );
}

/// How patient a policy is: every number and ceiling that marks can move, larger is more so.
fn patience(policy: &Policy) -> Vec<u64> {
    let mut loops = policy.loops.clone();
    let mut all = vec![loops.polling_patience_ms];
    for &rule in RuleId::ALL {
        if let Some(steps) = steps_of(&mut loops, rule) {
            let end = steps.end.map_or(u64::MAX, u64::from);
            all.extend([steps.notice.into(), steps.urge.into(), end]);
        }
        all.push(3 - policy.rules.of(rule) as u64);
    }
    all
}

fn more_patient(later: &Policy, earlier: &Policy) -> bool {
    patience(later).iter().zip(patience(earlier)).all(|(later, earlier)| *later >= earlier)
}

fn opinion() -> impl Strategy<Value = Opinion> {
    prop_oneof![Just(Opinion::Helpful), Just(Opinion::Harmful)]
}

/// Marks in bulk: few rules and many of each, so that the evidence is enough for moves.
fn some_marks() -> impl Strategy<Value = Vec<Mark>> {
    let bulk = (select(RuleId::ALL), opinion(), 0_usize..40)
        .prop_map(|(rule, opinion, count)| vec![Mark { rule, opinion }; count]);
    prop::collection::vec(bulk, 0..40).prop_map(|marks| marks.concat())
}

/// A valid policy with thresholds and ceilings of all kinds.
fn some_policy() -> impl Strategy<Value = Policy> {
    let steps = (2_u32..60, 0_u32..60, prop::option::of(0_u32..60));
    let ceiling = select(&[Ceiling::Off, Ceiling::Nudge, Ceiling::Urge, Ceiling::End][..]);
    let one = (prop::option::of(steps), ceiling);
    let all = prop::collection::vec(one, RuleId::ALL.len());
    (all, 0_u64..5_000_000).prop_map(|(all, polling)| {
        let mut policy = Policy::default();
        policy.loops.polling_patience_ms = polling;
        for (&rule, (given, ceiling)) in RuleId::ALL.iter().zip(all) {
            policy.rules.set(rule, ceiling);
            let place = steps_of(&mut policy.loops, rule);
            if let (Some(place), Some((notice, more, end))) = (place, given) {
                let urge = notice + more;
                *place = Steps { notice, urge, end: end.map(|end| urge + end) };
            }
        }
        policy
    })
}

/// A journal line about rule and turn of a run.
fn line(&(rule, opinion, turn): &(RuleId, Opinion, u32)) -> String {
    let entry = crate::journal::Entry {
        run: "r".into(),
        turn,
        model: "m".into(),
        reason: rule,
        template: "nudge_loop".into(),
        variant: 0,
        mark: Some(opinion),
        recovered: None,
    };
    serde_json::to_string(&entry).unwrap_or_default()
}

proptest! {
    #[test]
    fn a_harmful_mark_never_lowers_patience(
        policy in some_policy(), marks in some_marks(), rule in select(RuleId::ALL),
    ) {
        let (before, _) = after(&policy, &marks);
        let harmful = Mark { rule, opinion: Opinion::Harmful };
        let (more, _) = after(&policy, &[&*marks, &[harmful]].concat());
        prop_assert!(more_patient(&more, &before));
        let only: Vec<Mark> =
            marks.iter().copied().filter(|mark| mark.opinion == Opinion::Harmful).collect();
        prop_assert!(more_patient(&after(&policy, &only).0, &policy));
    }

    #[test]
    fn the_order_of_marks_does_not_matter(
        marks in some_marks(), swaps in prop::collection::vec(any::<(Index, Index)>(), 0..200),
    ) {
        let expected = after(&Policy::default(), &marks);
        let mut shuffled = marks;
        if !shuffled.is_empty() {
            for (a, b) in swaps {
                let (a, b) = (a.index(shuffled.len()), b.index(shuffled.len()));
                shuffled.swap(a, b);
            }
        }
        prop_assert_eq!(after(&Policy::default(), &shuffled), expected);
    }

    #[test]
    fn policies_stay_valid_and_within_bounds(policy in some_policy(), marks in some_marks()) {
        prop_assert_eq!(policy.validate(), Ok(()));
        let (mut moved, moves) = after(&policy, &marks);
        prop_assert_eq!(moved.validate(), Ok(()));
        prop_assert_eq!(moves.is_empty(), moved == policy);
        let (mut start, mut shipped) = (policy.loops.clone(), Loops::default());
        for &rule in RuleId::ALL {
            prop_assert!(moved.rules.of(rule) <= policy.rules.of(rule));
            let parts = (
                steps_of(&mut moved.loops, rule),
                steps_of(&mut start, rule),
                steps_of(&mut shipped, rule),
            );
            let (Some(moved), Some(start), Some(shipped)) = parts else { continue };
            prop_assert!(moved.notice <= start.notice.max(2 * shipped.notice));
            prop_assert!(moved.notice >= start.notice.min((shipped.notice - 1).max(2)));
            prop_assert!(moved.urge <= start.urge.max(2 * shipped.urge));
            prop_assert!(moved.urge >= start.urge.min(shipped.urge));
            prop_assert_eq!(moved.end.is_some(), start.end.is_some());
        }
    }

    /// Marks that were taken in already raise nothing when they come again.
    #[test]
    fn the_same_harmful_marks_again_raise_nothing(
        policy in some_policy(), rule in select(RuleId::ALL), count in 0_u32..50,
    ) {
        let marks = marks(rule, count, 0);
        let (once, _) = after(&policy, &marks);
        prop_assert_eq!(after(&once, &marks), (once, vec![]));
    }

    /// The same from the journal on, where a mark may contradict an earlier one.
    #[test]
    fn a_harmful_line_never_lowers_patience(
        policy in some_policy(),
        marked in prop::collection::vec(
            (select(&RuleId::ALL[16..22]), opinion(), 0_u32..40), 0..80,
        ),
        more in (select(&RuleId::ALL[16..22]), Just(Opinion::Harmful), 0_u32..45),
        at: Index,
    ) {
        let mut lines: Vec<String> = marked.iter().map(line).collect();
        let before = Journal::read(&lines);
        lines.insert(at.index(lines.len() + 1), line(&more));
        let later = Journal::read(&lines);
        prop_assert_eq!(later.error_count, 0);
        let [before, later] = [before, later].map(|read| after(&policy, &read.marks()).0);
        prop_assert!(more_patient(&later, &before));
    }
}
