//! What a call is charged to.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use steersman_store::Spending;
use steersman_wire::Tokens;

use super::Ledger;

/// A call that was let in. It counts as one once the server has taken it, however often it was
/// sent; what its answers used is added when each is at its end. Dropped before, it counts nothing.
pub struct Ticket {
    ledger: Arc<Ledger>,
    accounts: Vec<String>,
    soft: Option<String>,
    taken: AtomicBool,
}

impl fmt::Debug for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ticket").field("accounts", &self.accounts).finish_non_exhaustive()
    }
}

impl Ticket {
    pub(super) fn new(ledger: Arc<Ledger>, accounts: Vec<String>, soft: Option<String>) -> Self {
        Self { ledger, accounts, soft, taken: AtomicBool::new(false) }
    }

    /// Which budget is nearly used up, in a sentence; `None`: none is.
    #[must_use]
    pub fn soft(&self) -> Option<&str> {
        self.soft.as_deref()
    }

    /// The server has taken the call: its answer begins. Only the first time counts.
    pub fn begin(&self) {
        if !self.taken.swap(true, Ordering::AcqRel) {
            self.ledger.arrived(&self.accounts);
            self.ledger.charge(&self.accounts, &Spending { calls: 1, ..Spending::default() });
        }
    }

    /// An answer has come to its end, or as far as it came: this is what the server told. Nothing
    /// is added for a call that the server has not taken.
    pub fn charge(&self, used: &Tokens, cost_nanodollars: Option<u64>) {
        if !self.taken.load(Ordering::Acquire) {
            return;
        }
        let told = used.is_told();
        self.ledger.charge(
            &self.accounts,
            &Spending {
                input_tokens: used.input,
                output_tokens: used.output,
                cost_nanodollars: cost_nanodollars.unwrap_or_default(),
                untold_calls: u64::from(!told),
                unpriced_calls: u64::from(cost_nanodollars.is_none()),
                ..Spending::default()
            },
        );
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if !*self.taken.get_mut() {
            self.ledger.arrived(&self.accounts);
        }
    }
}
