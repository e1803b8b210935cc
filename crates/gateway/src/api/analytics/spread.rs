//! Numbers and how they are spread.

use super::shape::Spread;

/// Numbers that are being gathered: at most one per session that is looked at.
#[derive(Clone, Debug, Default)]
pub(super) struct Numbers(Vec<u64>);

impl Numbers {
    pub(super) fn add(&mut self, number: u64) {
        self.0.push(number);
    }

    pub(super) fn spread(mut self) -> Spread {
        self.0.sort_unstable();
        let count = self.0.len();
        // The smallest number that is not exceeded by this share of them.
        let at = |tenths: usize| {
            let place = (count * tenths).div_ceil(10).saturating_sub(1);
            self.0.get(place).copied().unwrap_or_default()
        };
        let sum: u128 = self.0.iter().map(|&number| u128::from(number)).sum();
        Spread {
            count: count as u64,
            mean: if count == 0 { 0.0 } else { sum as f64 / count as f64 },
            median: at(5),
            p90: at(9),
            max: self.0.last().copied().unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(numbers: &[u64], expected: (f64, u64, u64, u64)) {
        let mut gathered = Numbers::default();
        numbers.iter().for_each(|&number| gathered.add(number));
        let Spread { count, mean, median, p90, max } = gathered.spread();
        assert_eq!(count, numbers.len() as u64);
        assert_eq!((mean, median, p90, max), expected, "{numbers:?}");
    }

    #[test]
    fn quantiles_are_numbers_of_the_list() {
        check(&[], (0.0, 0, 0, 0));
        check(&[7], (7.0, 7, 7, 7));
        check(&[4, 2], (3.0, 2, 4, 4));
        check(&[10, 9, 8, 7, 6, 5, 4, 3, 2, 1], (5.5, 5, 9, 10));
        check(&[u64::MAX, u64::MAX], (u64::MAX as f64, u64::MAX, u64::MAX, u64::MAX));
    }
}
