//! What counts say about a share.
//!
//! With every share as likely as any other beforehand, `hits` and `misses` leave the belief
//! Beta(1 + hits, 1 + misses). Logarithms come from `libm`, so that every platform finds the same.

/// The share below which the true one lies with probability `level`, given these counts.
pub(crate) fn quantile(level: f64, hits: u32, misses: u32) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    // Each step halves the interval: after 52 there is nothing left to halve.
    for _ in 0..52 {
        let middle = 0.5 * (low + high);
        if below(middle, hits, misses) < level {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// The probability that the true share is below `share`: the regularised incomplete beta function.
fn below(share: f64, hits: u32, misses: u32) -> f64 {
    if share <= 0.0 || share >= 1.0 {
        return if share <= 0.0 { 0.0 } else { 1.0 };
    }
    let (a, b) = (1.0 + f64::from(hits), 1.0 + f64::from(misses));
    // The fraction converges fast on this side of the mean; the other side is its mirror image.
    if share < (a + 1.0) / (a + b + 2.0) {
        factor(share, a, b) * fraction(share, a, b) / a
    } else {
        1.0 - factor(1.0 - share, b, a) * fraction(1.0 - share, b, a) / b
    }
}

/// xᵃ (1 − x)ᵇ / B(a, b).
fn factor(x: f64, a: f64, b: f64) -> f64 {
    let beta = libm::lgamma(a) + libm::lgamma(b) - libm::lgamma(a + b);
    libm::exp(a * libm::log(x) + b * libm::log1p(-x) - beta)
}

/// The continued fraction of the incomplete beta function, by Lentz's method (Press et al.,
/// Numerical Recipes, 6.4).
fn fraction(x: f64, a: f64, b: f64) -> f64 {
    const TINY: f64 = 1e-300;
    // The steps needed grow with the root of the counts.
    const STEPS: u32 = 200_000;
    let held = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / held(1.0 - (a + b) * x / (a + 1.0));
    let mut product = d;
    for step in 1..STEPS {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let before = product;
        for term in [even, odd] {
            d = 1.0 / held(1.0 + term * d);
            c = held(1.0 + term / c);
            product *= d * c;
        }
        if (product - before).abs() <= 1e-15 * product.abs() {
            break;
        }
    }
    product
}

#[cfg(test)]
mod tests {
    use super::{below, quantile};

    /// With whole numbers the function is a tail of the binomial distribution.
    fn by_sum(share: f64, hits: u32, misses: u32) -> f64 {
        let n = hits + misses + 1;
        let mut term = (1.0 - share).powi(n as i32);
        let mut sum = 0.0;
        for k in 0..=n {
            if k > hits {
                sum += term;
            }
            term *= f64::from(n - k) / f64::from(k + 1) * share / (1.0 - share);
        }
        sum
    }

    #[test]
    fn probabilities_are_those_of_the_binomial_distribution() {
        for hits in [0, 1, 2, 5, 40] {
            for misses in [0, 1, 3, 17, 60] {
                for share in [0.01, 0.2, 1.0 / 3.0, 0.5, 0.9, 0.999] {
                    let (found, expected) =
                        (below(share, hits, misses), by_sum(share, hits, misses));
                    assert!((found - expected).abs() < 1e-10, "{hits}:{misses} below {share}");
                }
            }
        }
    }

    #[test]
    fn quantiles_of_unanimous_counts_are_roots() {
        for n in [0, 1, 2, 5, 30, 1000, 1_000_000] {
            let root = 1.0 / (1.0 + f64::from(n));
            assert!((quantile(0.1, n, 0) - 0.1_f64.powf(root)).abs() < 1e-9, "{n}");
            assert!((quantile(0.9, 0, n) - (1.0 - 0.1_f64.powf(root))).abs() < 1e-9, "{n}");
        }
        assert!((quantile(0.5, 77_777, 77_777) - 0.5).abs() < 1e-9);
    }
}
