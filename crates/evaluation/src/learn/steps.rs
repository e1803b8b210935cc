//! Where the steps of each feature's table lie, and which way it may go.
//!
//! Fixed steps rather than quantiles: the values that matter most are rare, and quantiles merge
//! them. A table that may only rise (or fall) cannot learn that an error more is a good sign.

use steersman_engine::risk::RiskFeature;

/// Which way a table may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// More is a worse sign.
    Rises,
    /// More is a better sign.
    Falls,
    /// Either.
    Free,
}

const SHARES: &[f32] = &[0.0, 0.03, 0.06, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];
const COUNTS: &[f32] =
    &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 12.0, 16.0, 24.0, 32.0, 48.0];
const SPREADS: &[f32] =
    &[-4.0, -3.0, -2.5, -2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0];
const ODDS: &[f32] = &[-2.5, -2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0];

/// Steps of a table without fixed ones.
const QUANTILES: usize = 12;

/// The way of a feature's table.
pub(super) const fn way(feature: RiskFeature) -> Way {
    use RiskFeature as F;
    match feature {
        F::Success | F::Changes => Way::Falls,
        F::ReplyLength | F::ResultLength => Way::Free,
        _ => Way::Rises,
    }
}

/// The upper ends of a feature's steps; quantiles of the values where none are fixed.
pub(super) fn ends(feature: RiskFeature, values: &[f32], weights: &[f64]) -> Vec<f32> {
    use RiskFeature as F;
    let fixed = match feature {
        F::Length => SPREADS,
        F::Success => ODDS,
        F::Errors | F::Changes | F::Empty => SHARES,
        F::SeenBefore | F::Stale | F::SinceChange | F::WithoutTools | F::SameTool => COUNTS,
        F::ReplyLength | F::ResultLength => return quantiles(values, weights),
    };
    fixed.to_vec()
}

/// Weighted quantiles, rounded so that a person can read them.
fn quantiles(values: &[f32], weights: &[f64]) -> Vec<f32> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let total: f64 = weights.iter().sum();
    let mut ends: Vec<f32> = Vec::new();
    let mut before = 0.0;
    for at in order {
        before += weights[at];
        let due = (ends.len() + 1) as f64 * total / QUANTILES as f64;
        if before >= due && ends.len() + 1 < QUANTILES {
            ends.push(values[at].round());
        }
    }
    ends.dedup();
    ends
}
