//! The line that few good runs cross (split-conformal calibration: Vovk et al. 2005; Papadopoulos
//! et al. 2002).

/// Fewest good runs that give a line for this share α: with fewer, no line can promise it.
#[must_use]
pub fn fewest(alpha: f64) -> usize {
    (1.0 / alpha - 1.0 - 1e-9).ceil().max(1.0) as usize
}

/// Which of `n` values, the smallest being 0, is the line: of n the k-th smallest, k =
/// ⌈(n + 1)(1 − α)⌉. One more value of the same kind is above it with a probability of at most α.
/// `None` if there are too few.
#[must_use]
pub fn rank(n: usize, alpha: f64) -> Option<usize> {
    // 20 × 0.95 comes out a little above 19 in floating point.
    let rank = ((n as f64 + 1.0) * (1.0 - alpha) - 1e-9).ceil() as usize;
    rank.checked_sub(1).filter(|at| *at < n)
}

/// The line for the highest risks of good runs, which are put in order. `None` if they are too few,
/// or if more of them than that are above any line (infinite).
#[must_use]
pub fn line(highest: &mut [f32], alpha: f64) -> Option<f32> {
    /// Below every risk: stands for runs without a turn to judge.
    const LOWEST: f32 = -1e6;
    highest.sort_unstable_by(f32::total_cmp);
    let found = *highest.get(rank(highest.len(), alpha)?)?;
    (found < f32::INFINITY).then_some(found.max(LOWEST))
}
