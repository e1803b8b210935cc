//! Token and cost fields in every provider's shape.

use serde::{Deserialize, Deserializer};
use steersman_engine::Usage;

use crate::lenient::{Count, Dollars, Obj};

/// Usage as OpenAI, Anthropic, ATIF, and the runs format write it.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default)]
pub(crate) struct UsageFields {
    input_tokens: Count,
    output_tokens: Count,
    prompt_tokens: Count,
    completion_tokens: Count,
    // Anthropic counts cached tokens apart; OpenAI's `cached_tokens` are part of the input.
    cache_read_input_tokens: Count,
    cache_creation_input_tokens: Count,
    cost: Dollars,
    cost_usd: Dollars,
    completion_cost: Dollars,
}

impl UsageFields {
    /// Tokens with the cached ones, and the cost; zero where unknown.
    pub(crate) fn usage(self) -> Usage {
        let first = |a: Count, b: Count| if a.amount() > 0 { a.amount() } else { b.amount() };
        let cached = self
            .cache_read_input_tokens
            .amount()
            .saturating_add(self.cache_creation_input_tokens.amount());
        let cost = [self.cost, self.cost_usd, self.completion_cost];
        Usage {
            input_tokens: first(self.input_tokens, self.prompt_tokens).saturating_add(cached),
            output_tokens: first(self.output_tokens, self.completion_tokens),
            cost_nanodollars: cost.iter().map(|c| c.0).find(|&c| c > 0).unwrap_or(0),
        }
    }
}

/// What [`UsageFields`] amount to; anything but an object counts as nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spent(pub(crate) Usage);

impl<'de> Deserialize<'de> for Spent {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        Ok(Self(Obj::<UsageFields>::deserialize(d)?.0.usage()))
    }
}

/// Usage as the Gemini API writes it (`usageMetadata`).
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct GeminiUsage {
    prompt_token_count: Count,
    candidates_token_count: Count,
    thoughts_token_count: Count,
}

impl GeminiUsage {
    /// Tokens, thoughts being part of the output.
    pub(crate) fn usage(self) -> Usage {
        Usage {
            input_tokens: self.prompt_token_count.amount(),
            output_tokens: self
                .candidates_token_count
                .amount()
                .saturating_add(self.thoughts_token_count.amount()),
            cost_nanodollars: 0,
        }
    }
}

/// Usage as Gemini CLI's session files and opencode write it (`tokens`).
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct TokenFields {
    input: Count,
    output: Count,
    thoughts: Count,
    reasoning: Count,
    cache: Obj<CacheFields>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
#[serde(default)]
struct CacheFields {
    read: Count,
    write: Count,
}

impl TokenFields {
    /// Tokens; opencode counts cached ones apart, Gemini CLI as part of the input.
    pub(crate) fn usage(self, cost: Dollars) -> Usage {
        let cache = self.cache.0;
        Usage {
            input_tokens: self
                .input
                .amount()
                .saturating_add(cache.read.amount())
                .saturating_add(cache.write.amount()),
            output_tokens: self
                .output
                .amount()
                .saturating_add(self.thoughts.amount())
                .saturating_add(self.reasoning.amount()),
            cost_nanodollars: cost.0,
        }
    }
}
