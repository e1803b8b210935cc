//! Prices and budgets as they are written, and as they are valid.

use super::file::{BudgetFile, BudgetsFile, PriceFile};
use crate::budget::{Budget, Budgets};
use crate::prices::Price;

/// Nano-dollars of a dollar.
const NANODOLLARS: f64 = 1e9;

/// The percentage from which on answers are forced, unless another is given.
pub(super) const SOFT_PERCENT: u64 = 90;

/// Dollars as whole nano-dollars, rounded to the nearest. The bounds of the file keep every sum far
/// below what fits.
pub(super) fn nanodollars(dollars: f64) -> u64 {
    (dollars * NANODOLLARS).round() as u64
}

pub(super) fn price(file: &PriceFile) -> Price {
    let or_input = |given: Option<f64>| nanodollars(given.unwrap_or(file.input));
    Price {
        model: file.model.clone(),
        input_nanodollars: nanodollars(file.input),
        cached_nanodollars: or_input(file.cached),
        cache_write_nanodollars: or_input(file.cache_write),
        output_nanodollars: nanodollars(file.output),
    }
}

/// The budgets, and the percentage of them from which on answers are forced.
pub(super) fn budgets(file: &BudgetsFile) -> (Budgets, u64) {
    let of = |file: &BudgetFile| Budget {
        tokens: file.tokens,
        cost_nanodollars: file.cost.map(nanodollars),
        calls: file.calls,
    };
    let budgets = Budgets { per_day: of(&file.per_day), in_all: of(&file.in_all) };
    let percent = file.soft_share.map_or(SOFT_PERCENT, |share| (share * 100.0).round() as u64);
    (budgets, percent)
}
