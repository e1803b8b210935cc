//! Arguments of `steersman keys`.

use clap::{Args, Subcommand};
use steersman_gateway::keys::{Grant, MAX_MODELS};

use super::moment::{Expiry, expiry};
use crate::run::StoreArgs;

/// Shown below the help.
const EXAMPLES: &str = "\
Examples:
  steersman keys create alice
  steersman keys create ci --models 'claude-haiku-*,gpt-*-mini' --expires 30d
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
        Ok(Grant { models: self.models.clone(), any_path: self.any_path })
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
