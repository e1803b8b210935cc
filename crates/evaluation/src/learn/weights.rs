//! The weights of the hybrid score (A4), fitted on outcomes.

use steersman_engine::policy::ScoreWeights;

use super::Record;

/// The signals of the hybrid score, in the order of their weights.
pub const SIGNALS: [&str; 5] = [
    "progress_velocity",
    "stuck_loop_penalty",
    "token_budget",
    "intervention_ratio",
    "complexity_adjustment",
];

/// Rounds of the fit.
const ROUNDS: u32 = 300;
/// Length of a step.
const STEP: f64 = 0.5;

/// Weights under which a low score tells failing runs best: a logistic fit of success on the five
/// signals whose coefficients may not be negative, scaled to a sum of 1. `None` where no signal
/// tells anything.
#[must_use]
pub fn fit_weights(records: &[&Record]) -> Option<ScoreWeights> {
    let mut rows: Vec<([f64; 5], f64, f64)> = Vec::new();
    for record in records {
        let picked = record.picked();
        let (good, share) = (if record.is_good() { 1.0 } else { 0.0 }, 1.0 / picked.len() as f64);
        rows.extend(picked.map(|moment| (moment.signals.map(f64::from), good, share)));
    }
    let total = |good: f64| rows.iter().filter(|row| row.1 == good).map(|row| row.2).sum::<f64>();
    let totals = [total(0.0), total(1.0)];
    if totals.contains(&0.0) {
        return None;
    }
    // Good and bad runs count the same, or a constant would explain most.
    rows.iter_mut().for_each(|row| row.2 /= 2.0 * totals[usize::from(row.1 > 0.5)]);
    let (mut weights, mut base) = ([0.0_f64; 5], 0.0);
    for _ in 0..ROUNDS {
        let (mut slope, mut shift) = ([0.0; 5], 0.0);
        for (signals, good, weight) in &rows {
            let score: f64 = base + signals.iter().zip(&weights).map(|(s, w)| s * w).sum::<f64>();
            let miss = weight * (good - 1.0 / (1.0 + (-score).exp()));
            slope.iter_mut().zip(signals).for_each(|(slope, signal)| *slope += miss * signal);
            shift += miss;
        }
        base += 4.0 * STEP * shift;
        for (weight, slope) in weights.iter_mut().zip(slope) {
            *weight = (*weight + 4.0 * STEP * slope).max(0.0);
        }
    }
    let sum: f64 = weights.iter().sum();
    if sum <= 1e-3 {
        return None;
    }
    // To a hundredth, and exactly 1 together: the largest takes up what rounding leaves.
    let mut hundredths = weights.map(|weight| (weight / sum * 100.0).round() as i32);
    let rest = 100 - hundredths.iter().sum::<i32>();
    if let Some(largest) = hundredths.iter_mut().max() {
        *largest += rest;
    }
    let [velocity, stuck, tokens, interventions, complexity] =
        hundredths.map(|hundredth| hundredth as f32 / 100.0);
    Some(ScoreWeights {
        progress_velocity: velocity,
        stuck_loop_penalty: stuck,
        token_budget: tokens,
        intervention_ratio: interventions,
        complexity_adjustment: complexity,
    })
}
