//! Arguments of `steersman probe`.

use clap::Args;

use crate::run::ServerArgs;

/// Ask a server and its model what they can really do
///
/// Sends at most 21 small requests, one after the other: a plain reply in each wire format, then
/// streams, tool calls, schemas, limits. Each reply is bounded by --output-tokens; what it cost is
/// told at the end. The profile that follows is printed as agents.yaml takes it.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ProbeArgs {
    #[command(flatten)]
    pub(super) server: ServerArgs,
    /// Most tokens of each reply; models that think long before they answer need more
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(64..=8192),
        default_value_t = 512
    )]
    pub(super) output_tokens: u32,
    /// How long each request may take
    #[arg(
        long,
        value_name = "SECONDS",
        value_parser = clap::value_parser!(u64).range(1..=3600),
        default_value_t = 120
    )]
    pub(super) timeout: u64,
    /// As JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// Shown below the help.
const EXAMPLES: &str = "\
Without --provider every wire format is tried; then only STEERSMAN_API_KEY or the variable
named with --api-key-env is sent, never the keys of other providers.

Examples:
  steersman probe --model qwen3-coder --base-url http://localhost:8080
  steersman probe --model claude-sonnet-4-5 --provider anthropic
  steersman probe --model x --base-url http://localhost:8080 --json | jq -r .profile.agents_yaml

Exit codes:
  0    agents can use the model
  1    the model answers, but agents cannot use it
  2    wrong arguments, or no key where one is needed
  3    no answer came in any format (not reached, key refused, no such model, something else than
       an answer), or the probe ended too early to tell
  130  interrupted; what was found so far was printed";
