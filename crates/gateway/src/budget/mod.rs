//! Budgets over more than one session: of a virtual key and of the whole gateway, by day and in
//! all. What a session may use is the policy's.

mod ledger;
mod meter;
mod ticket;

use serde::{Deserialize, Serialize};

pub use ledger::Ledger;
pub(crate) use meter::{Meter, usage_of};
pub use ticket::Ticket;

/// A day, in milliseconds.
pub const DAY_MS: u64 = 86_400_000;

/// What may be used; `None` is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Budget {
    /// Tokens sent and generated, at least 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Money, in nano-dollars, at least 1. Calls whose price is not known use none of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_nanodollars: Option<u64>,
    /// Calls that a model's server took, at least 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<u64>,
}

/// What may be used by day and in all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Budgets {
    /// From midnight to midnight, UTC.
    pub per_day: Budget,
    /// Without an end.
    pub in_all: Budget,
}

impl Budgets {
    /// Whether there is no limit.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// Money as people read it: `$1.25`.
#[must_use]
pub fn dollars(nanodollars: u64) -> String {
    let (whole, rest) = (nanodollars / 1_000_000_000, nanodollars % 1_000_000_000);
    let digits = format!("{rest:09}");
    let kept = digits.trim_end_matches('0');
    format!("${whole}.{kept:0<2}")
}

#[cfg(test)]
mod tests {
    use super::dollars;

    #[test]
    fn money_is_shown_as_it_is() {
        for (nanodollars, expected) in [
            (0, "$0.00"),
            (1, "$0.000000001"),
            (1_500_000_000, "$1.50"),
            (12_345_000_000, "$12.345"),
            (u64::MAX, "$18446744073.709551615"),
        ] {
            assert_eq!(dollars(nanodollars), expected);
        }
    }
}
