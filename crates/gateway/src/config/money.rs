//! Prices as they are written, and as they are valid.

use super::file::PriceFile;
use crate::prices::Price;

/// Nano-dollars of a dollar.
const NANODOLLARS: f64 = 1e9;

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
