//! Random draws that are the same on every platform.
//!
//! Logarithm, cosine and square root come from `libm`, not from the platform, and every loop is
//! bounded.

/// Increment of splitmix64, from its publication (Steele, Lea & Flood 2014).
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Tries of one gamma draw. Each succeeds with more than 95 % (Marsaglia & Tsang 2000), so that all
/// of them fail less than once in 10⁸³ draws.
const TRIES: u32 = 64;

/// A stream of pseudo-random numbers (splitmix64): the same seed, the same stream.
#[derive(Clone, Debug)]
pub(crate) struct Draws(u64);

impl Draws {
    /// The stream of a seed.
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub(crate) const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From the uniform distribution over 0 to 1, the ends excluded.
    fn unit(&mut self) -> f64 {
        const SCALE: f64 = 1.0 / (1_u64 << 52) as f64;
        ((self.next() >> 12) as f64 + 0.5) * SCALE
    }

    /// From the standard normal distribution (Box & Muller 1958).
    fn normal(&mut self) -> f64 {
        let (radius, turn) = (self.unit(), self.unit());
        libm::sqrt(-2.0 * libm::log(radius)) * libm::cos(core::f64::consts::TAU * turn)
    }

    /// From the gamma distribution with this shape, at least 1, and scale 1 (Marsaglia & Tsang
    /// 2000).
    fn gamma(&mut self, shape: f64) -> f64 {
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / libm::sqrt(9.0 * d);
        for _ in 0..TRIES {
            let x = self.normal();
            let root = 1.0 + c * x;
            let u = self.unit();
            if root <= 0.0 {
                continue;
            }
            let v = root * root * root;
            if libm::log(u) < 0.5 * x * x + d * (1.0 - v + libm::log(v)) {
                return d * v;
            }
        }
        shape
    }

    /// From the beta distribution with these parameters, each at least 1.
    pub(crate) fn beta(&mut self, a: f64, b: f64) -> f64 {
        let (x, y) = (self.gamma(a), self.gamma(b));
        x / (x + y)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use std::vec::Vec;

    use super::Draws;

    /// Mean and variance of some draws.
    fn moments(count: u32, mut draw: impl FnMut() -> f64) -> (f64, f64) {
        let values: Vec<f64> = (0..count).map(|_| draw()).collect();
        let count = f64::from(count);
        let mean = values.iter().sum::<f64>() / count;
        let squares = values.iter().map(|value| (value - mean) * (value - mean));
        (mean, squares.sum::<f64>() / count)
    }

    #[test]
    fn the_stream_is_the_published_one() {
        let mut draws = Draws::new(1_234_567);
        let first = [draws.next(), draws.next(), draws.next()];
        let published =
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!(first, published);
    }

    /// The very bits: a platform or a version of `libm` that rounds in another way is found here.
    #[test]
    fn draws_are_the_same_everywhere() {
        let mut draws = Draws::new(7);
        let cases = [(1.0, 1.0), (1.0, 40.0), (12.0, 3.0), (4_294_967_296.0, 1.0)];
        let found = cases.map(|(a, b)| draws.beta(a, b).to_bits());
        let expected = [
            4_606_707_334_836_416_901,
            4_573_912_268_179_007_365,
            4_604_943_076_799_573_984,
            4_607_182_418_799_824_152,
        ];
        assert_eq!(found, expected);
    }

    /// Mean and variance of the gamma distribution are those of the theory, within five standard
    /// errors.
    #[test]
    fn gamma_draws_have_the_moments_of_the_theory() {
        const COUNT: u32 = 4000;
        for (seed, shape) in [1.0, 1.5, 2.0, 5.0, 33.0, 1e3, 1e6, 4e9].into_iter().enumerate() {
            let mut draws = Draws::new(seed as u64);
            let (mean, variance) = moments(COUNT, || draws.gamma(shape));
            let error = (shape / f64::from(COUNT)).sqrt();
            assert!((mean - shape).abs() < 5.0 * error, "mean {mean} of shape {shape}");
            // The fourth central moment is 3 shape² + 6 shape.
            let error = ((2.0 * shape * shape + 6.0 * shape) / f64::from(COUNT)).sqrt();
            assert!((variance - shape).abs() < 5.0 * error, "variance {variance} of {shape}");
        }
    }

    #[test]
    fn beta_draws_have_the_moments_of_the_theory() {
        const COUNT: u32 = 4000;
        let outcomes = [0_u32, 1, 2, 7, 50, 1000];
        let pairs = outcomes.iter().flat_map(|good| outcomes.map(|bad| (*good, bad)));
        for (seed, (good, bad)) in (0..).zip(pairs) {
            let (a, b) = (1.0 + f64::from(good), 1.0 + f64::from(bad));
            let mut draws = Draws::new(seed);
            let (mean, variance) = moments(COUNT, || draws.beta(a, b));
            let (sum, true_mean) = (a + b, a / (a + b));
            let true_variance = a * b / (sum * sum * (sum + 1.0));
            let error = (true_variance / f64::from(COUNT)).sqrt();
            assert!((mean - true_mean).abs() < 5.0 * error, "{good}:{bad} {mean}");
            // With both parameters of at least 1 the kurtosis is at most 9.
            let error = true_variance * (8.0 / f64::from(COUNT)).sqrt();
            assert!((variance - true_variance).abs() < 5.0 * error, "{good}:{bad} {variance}");
        }
    }

    proptest! {
        #[test]
        fn beta_draws_lie_between_0_and_1(seed: u64, good: u32, bad: u32) {
            let mut draws = Draws::new(seed);
            for _ in 0..64 {
                let drawn = draws.beta(1.0 + f64::from(good), 1.0 + f64::from(bad));
                prop_assert!((0.0..=1.0).contains(&drawn), "{drawn}");
            }
        }
    }
}
