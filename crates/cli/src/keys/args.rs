//! Arguments of `steersman keys`.

use clap::{Args, Subcommand};
use steersman_gateway::budget::{Budget, Budgets};
use steersman_gateway::keys::{Grant, MAX_MODELS};

use super::moment::{Expiry, expiry};
use crate::run::StoreArgs;

/// Shown below the help.
const EXAMPLES: &str = "\
Examples:
  steersman keys create alice
  steersman keys create ci --models 'claude-haiku-*,gpt-*-mini' --expires 30d
  steersman keys create bob --cost-per-day 5 --tokens 2000000
  steersman keys list
  steersman keys revoke ci

Keys lie in the folder of sessions: --state, else `state_dir` of the gateway.yaml that is here. A
gateway that runs knows a new key at once, and of a revoked one within a second.
Exit codes: 0 done, 1 it could not be done, 2 wrong arguments.";

/// Make, list and revoke the keys by which clients use the gateway
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct KeysArgs {
    #[command(subcommand)]
    pub(super) verb: Verb,
}

#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    /// Make a key; it is printed this once and kept only as a hash
    Create(CreateArgs),
    /// List keys, the latest first
    List(ListArgs),
    /// Take a key back; its name is not given again
    Revoke(RevokeArgs),
}

#[derive(Debug, Args)]
pub(super) struct CreateArgs {
    /// Its name: 1 to 64 letters, digits, `-`, `.`, `_`; it stands in journals and figures
    pub(super) name: String,
    /// The models it is for, with commas between them; `*` stands for any characters [default: all]
    #[arg(long, value_name = "MODEL,...", value_delimiter = ',', value_parser = model)]
    models: Vec<String>,
    /// How long it holds, as 90m, 12h, 30d or 8w, or the day it ends with (UTC), as 2026-12-31
    /// [default: until it is revoked]
    #[arg(long, value_name = "TIME", value_parser = expiry)]
    pub(super) expires: Option<Expiry>,
    /// Let it ask for everything the model servers offer, which no limit holds: files, batches,
    /// embeddings [default: only call and list models, and count tokens]
    #[arg(long)]
    any_path: bool,
    #[command(flatten)]
    pub(super) store: StoreArgs,
    #[command(flatten)]
    limits: LimitArgs,
}

/// What may be used under the key; a limit that is not given is none.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits")]
struct LimitArgs {
    /// Tokens sent and generated from midnight to midnight, UTC
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    tokens_per_day: Option<u64>,
    /// US dollars from midnight to midnight, UTC; needs `prices` in gateway.yaml
    #[arg(long, value_name = "USD", value_parser = dollars)]
    cost_per_day: Option<u64>,
    /// Calls of models from midnight to midnight, UTC
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    calls_per_day: Option<u64>,
    /// Tokens sent and generated, in all
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    tokens: Option<u64>,
    /// US dollars, in all; needs `prices` in gateway.yaml
    #[arg(long, value_name = "USD", value_parser = dollars)]
    cost: Option<u64>,
    /// Calls of models, in all
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    calls: Option<u64>,
}

impl LimitArgs {
    const fn budgets(&self) -> Budgets {
        Budgets {
            per_day: Budget {
                tokens: self.tokens_per_day,
                cost_nanodollars: self.cost_per_day,
                calls: self.calls_per_day,
            },
            in_all: Budget { tokens: self.tokens, cost_nanodollars: self.cost, calls: self.calls },
        }
    }
}

impl CreateArgs {
    /// What the key allows.
    ///
    /// # Errors
    /// Too many models.
    pub(super) fn grant(&self) -> Result<Grant, String> {
        let count = self.models.len();
        if count > MAX_MODELS {
            return Err(format!("{count} models are too many: at most {MAX_MODELS}"));
        }
        let budgets = self.limits.budgets();
        Ok(Grant { models: self.models.clone(), any_path: self.any_path, budgets })
    }
}

#[derive(Debug, Args)]
pub(super) struct ListArgs {
    /// One JSON object per key and line
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) store: StoreArgs,
}

#[derive(Debug, Args)]
pub(super) struct RevokeArgs {
    /// The key's name
    pub(super) name: String,
    #[command(flatten)]
    pub(super) store: StoreArgs,
}

fn model(text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.is_empty() || text.len() > 200 {
        return Err("the name of a model has 1 to 200 bytes".to_owned());
    }
    Ok(text.to_owned())
}

/// Dollars as nano-dollars.
fn dollars(text: &str) -> Result<u64, String> {
    let allowed = || "allowed are dollars as 5 or 0.25, with at most 9 digits behind it".to_owned();
    let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || whole.len() > 9 || rest.len() > 9 || !digits(whole) || !digits(rest) {
        return Err(allowed());
    }
    let nanodollars: u64 = format!("{whole}{rest:0<9}").parse().map_err(|_| allowed())?;
    if nanodollars == 0 { Err("a limit is more than 0".to_owned()) } else { Ok(nanodollars) }
}

#[cfg(test)]
mod tests {
    use super::dollars;

    #[test]
    fn dollars_are_read_to_the_last_digit() {
        for (text, expected) in [
            ("5", Some(5_000_000_000)),
            ("0.25", Some(250_000_000)),
            ("999999999.999999999", Some(999_999_999_999_999_999)),
            ("0", None),
            ("0.0000000001", None),
            ("1e3", None),
            ("-1", None),
            (".5", None),
            ("1.2.3", None),
            ("", None),
        ] {
            assert_eq!(dollars(text).ok(), expected, "{text}");
        }
    }
}
