//! What calls cost reaches the journal and the engine.

use std::sync::Arc;

use steersman_engine::{Action, Policy};
use steersman_gateway::record::Entry;
use steersman_wire::{Format, Message};

use super::sim::{Client, Kept, call, steering_under};

const GOVERN: &str = "mode: govern\nunknown_clients: govern\n";

/// What the answers of a run of two turns cost, and the decision on the first, in every format.
/// Each answer is of `some-model`, and of 500 tokens sent and 20 generated.
fn check(prices: &str, limit: Option<u64>, expected: (Option<u64>, Action)) {
    for format in Format::ALL {
        let kept = Arc::new(Kept::default());
        let mut policy = Policy::default();
        policy.limits.max_cost_nanodollars = limit;
        let steering = steering_under(&format!("{GOVERN}{prices}"), policy, &kept);
        let mut client = Client::new(format, true, "a");
        client.turn(&steering, &call("read", r#"{"path":"a"}"#), "text");
        client.turn(&steering, &Message::assistant("Done. All tests pass now."), "");
        let costs: Vec<Option<u64>> = kept
            .entries()
            .into_iter()
            .filter_map(|(_, entry)| match entry {
                Entry::Replied(replied) => Some(replied.cost()),
                _ => None,
            })
            .collect();
        assert_eq!(costs, [expected.0; 2], "{format:?} {prices}");
        let decided = kept.decisions();
        assert_eq!(decided[0].action, expected.1, "{format:?} {prices}: {:?}", decided[0].reason);
    }
}

#[test]
fn a_budget_of_money_holds_where_there_are_prices() {
    let cents = "prices: [{model: some-*, input: 2, output: 10}]\n";
    check(cents, None, (Some(1_200_000), Action::Continue));
    check(cents, Some(1_200_001), (Some(1_200_000), Action::Continue));
    check(cents, Some(1_200_000), (Some(1_200_000), Action::ForceSynthesis));
}

#[test]
fn without_a_price_nothing_is_known() {
    check("", Some(1), (None, Action::Continue));
    check("prices: [{model: other, input: 2, output: 10}]\n", Some(1), (None, Action::Continue));
    check("prices: [{model: '*', input: 0, output: 0}]\n", Some(1), (Some(0), Action::Continue));
}
