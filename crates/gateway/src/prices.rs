//! What calls cost: prices by model, and the cost of what a server says was used.

use std::sync::Arc;

use steersman_engine::policy::glob_matches;
use steersman_wire::Tokens;

/// Prices are told for so many tokens.
const PER_TOKENS: u128 = 1_000_000;

/// What tokens of some models cost. Nano-dollars (10⁻⁹ USD) per million tokens, at most 10¹³ each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Price {
    /// The model's name; `*` stands for any characters.
    pub model: String,
    /// Of tokens sent.
    pub input_nanodollars: u64,
    /// Of tokens sent that the server had in its cache.
    pub cached_nanodollars: u64,
    /// Of tokens sent that the server wrote into its cache.
    pub cache_write_nanodollars: u64,
    /// Of tokens generated.
    pub output_nanodollars: u64,
}

impl Price {
    /// What a call costs, in nano-dollars, rounded to the nearest.
    #[must_use]
    pub fn cost(&self, used: &Tokens) -> u64 {
        let cached = used.cached_input.min(used.input);
        let written = used.cache_write.min(used.input - cached);
        let of = |tokens: u64, price: u64| u128::from(tokens) * u128::from(price);
        // Four products below 2¹²⁸ / 2²⁰: the sum cannot overflow.
        let sum = of(used.input - cached - written, self.input_nanodollars)
            .saturating_add(of(cached, self.cached_nanodollars))
            .saturating_add(of(written, self.cache_write_nanodollars))
            .saturating_add(of(used.output, self.output_nanodollars));
        u64::try_from(sum.saturating_add(PER_TOKENS / 2) / PER_TOKENS).unwrap_or(u64::MAX)
    }
}

/// The prices of all models that have one; the first that matches holds. Clones share them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prices(Arc<[Price]>);

impl From<Vec<Price>> for Prices {
    fn from(prices: Vec<Price>) -> Self {
        Self(prices.into())
    }
}

impl Prices {
    /// What a call cost, in nano-dollars. `None`: it is not known, because the server told no use,
    /// or because neither it nor this table has a price.
    ///
    /// What the server says a call cost goes before the table. A price is looked for under the name
    /// of the model that answered, and then under the one that was asked for.
    #[must_use]
    pub fn cost(&self, answered: &str, asked: &str, used: &Tokens) -> Option<u64> {
        if used.cost_nanodollars > 0 {
            return Some(used.cost_nanodollars);
        }
        if !used.is_told() {
            return None;
        }
        let price = self.find(answered).or_else(|| self.find(asked))?;
        Some(price.cost(used))
    }

    fn find(&self, model: &str) -> Option<&Price> {
        let model = model.trim_start_matches("models/");
        let known = !model.is_empty();
        self.0.iter().find(|price| known && glob_matches(&price.model, model))
    }
}

#[cfg(test)]
mod tests {
    use super::{Price, Prices};
    use proptest::prelude::*;
    use steersman_wire::Tokens;

    fn price(model: &str, prices: [u64; 4]) -> Price {
        let [input, cached, write, output] = prices;
        Price {
            model: model.to_owned(),
            input_nanodollars: input,
            cached_nanodollars: cached,
            cache_write_nanodollars: write,
            output_nanodollars: output,
        }
    }

    fn used(input: u64, cached_input: u64, cache_write: u64, output: u64) -> Tokens {
        Tokens { input, cached_input, cache_write, output, ..Tokens::default() }
    }

    /// What a call of a model that was asked for as `asked` and answered as `answered` cost.
    fn check(answered: &str, asked: &str, used: Tokens, expected: Option<u64>) {
        let dollar = 1_000_000_000;
        let prices = Prices::from(vec![
            price("claude-*", [3 * dollar, 300_000_000, 3_750_000_000, 15 * dollar]),
            price("free", [0; 4]),
            price("tiny", [1, 1, 1, 1]),
        ]);
        assert_eq!(prices.cost(answered, asked, &used), expected, "{answered} {asked} {used:?}");
    }

    #[test]
    fn calls_cost_what_their_model_costs() {
        check("claude-x", "", used(1_000_000, 0, 0, 0), Some(3_000_000_000));
        check("claude-x", "", used(100, 60, 30, 10), Some(30_000 + 18_000 + 112_500 + 150_000));
        check("", "claude-x", used(1, 0, 0, 0), Some(3_000));
        check("renamed-by-the-server", "claude-x", used(1, 0, 0, 0), Some(3_000));
        check("models/claude-x", "", used(0, 0, 0, 1), Some(15_000));
        check("free", "claude-x", used(5, 0, 0, 5), Some(0));
        check("tiny", "", used(499_999, 0, 0, 0), Some(0));
        check("tiny", "", used(500_000, 0, 0, 0), Some(1));
    }

    #[test]
    fn what_is_not_known_is_not_nothing() {
        check("gpt", "gpt", used(5, 0, 0, 5), None);
        check("", "", used(5, 0, 0, 5), None);
        check("claude-x", "", used(0, 0, 0, 0), None);
        let told = Tokens { cost_nanodollars: 7, ..used(5, 0, 0, 5) };
        check("gpt", "", told, Some(7));
        check("claude-x", "", told, Some(7));
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn no_count_is_too_large(counts in any::<[u64; 4]>(), prices in any::<[u64; 4]>()) {
            let [input, cached, write, output] = counts;
            let dearest = prices.iter().max().copied().unwrap();
            let most = input.max(1).saturating_add(output).saturating_mul(dearest);
            prop_assert!(price("*", prices).cost(&used(input, cached, write, output)) <= most);
        }
    }
}
