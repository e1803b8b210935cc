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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewest_is_where_a_rank_begins() {
        let cases = [(0.05, 19), (0.01, 99), (0.1, 9), (0.5, 1), (0.025, 39), (0.3, 3), (0.2, 4)];
        for (alpha, expected) in cases {
            assert_eq!(fewest(alpha), expected, "{alpha}");
            assert_eq!(rank(expected, alpha), Some(expected - 1), "{alpha}");
            assert_eq!(rank(expected - 1, alpha), None, "{alpha}");
        }
    }

    #[test]
    fn ranks_are_as_computed_by_hand() {
        // ⌈(n + 1)(1 − α)⌉ − 1.
        let cases = [
            (19, 0.05, Some(18)),
            (20, 0.05, Some(19)),
            (38, 0.05, Some(37)),
            (39, 0.05, Some(37)),
            (40, 0.05, Some(38)),
            (100, 0.1, Some(90)),
            (9, 0.5, Some(4)),
            (0, 0.5, None),
        ];
        for (n, alpha, expected) in cases {
            assert_eq!(rank(n, alpha), expected, "{n} at {alpha}");
        }
    }

    #[test]
    fn a_line_is_finite_or_none() {
        let infinite = f32::INFINITY;
        let mut upwards: Vec<f32> = (0_u8..9).rev().map(f32::from).collect();
        assert_eq!(line(&mut upwards, 0.1), Some(8.0));
        assert_eq!(line(&mut upwards, 0.05), None);
        upwards[0] = infinite;
        assert_eq!(line(&mut upwards, 0.1), None);
        assert_eq!(line(&mut upwards, 0.2), Some(8.0));
        assert_eq!(line(&mut [], 0.5), None);
        // A run of a single turn has no risk: the line is below all that others have.
        assert_eq!(line(&mut [f32::NEG_INFINITY], 0.5), Some(-1e6));
    }
}
