//! What calls cost reaches the journal and the engine, and budgets over sessions the agent.

use std::sync::Arc;

use steersman_engine::{Action, Policy};
use steersman_gateway::budget::{Budget, Budgets, Ledger};
use steersman_gateway::figures::Figures;
use steersman_gateway::record::Entry;
use steersman_store::MemoryStore;
use steersman_wire::{Format, Message};

use super::sim::{Client, Kept, Sent, call, steering, steering_under};

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

/// A key of which nearly all is used has its agents give their answers, once they have worked.
#[tokio::test]
async fn a_budget_that_is_nearly_used_up_forces_the_answer() {
    let clock = Arc::new(|| 1_700_000_000_000);
    for (mode, forced) in [("govern", true), ("shadow", false)] {
        let store = Arc::new(MemoryStore::new());
        let ledger =
            Ledger::begin(store, clock.clone(), Arc::new(Figures::default())).await.unwrap();
        let per_day = Budget { calls: Some(100), ..Budget::default() };
        let whole = Budgets { per_day, in_all: Budget::default() };
        for _ in 0..90 {
            ledger.admit(None, &whole, 90).unwrap().begin();
        }
        for format in Format::ALL {
            let kept = Arc::new(Kept::default());
            let steering = steering(&format!("mode: {mode}\nunknown_clients: {mode}\n"), &kept);
            let mut client = Client::new(format, true, "a");
            client.ticket = Some(ledger.admit(None, &whole, 90).unwrap());
            let body = client.body();
            let first = client.turn(&steering, &call("read", r#"{"path":"a"}"#), "text");
            assert_eq!(first, body, "{format:?}: a task that begins is left alone");
            let own = client.body();
            let Sent::Forwarded { body, .. } = client.ask(&steering) else { panic!("{format:?}") };
            let told = String::from_utf8_lossy(&body).contains("budget for this work is nearly");
            assert_eq!((told, body != own), (forced, forced), "{format:?} {mode}");
            let said = kept.entries().into_iter().any(
                |(_, entry)| matches!(entry, Entry::Said { template, .. } if template == "budget"),
            );
            assert_eq!(said, forced, "{format:?} {mode}");
        }
    }
}
