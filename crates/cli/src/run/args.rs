//! Arguments of `steersman run`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use steersman_prompt::ToolCalls;

use crate::config::pair;

/// Take an agent to its end
///
/// Without a model and a task, a rehearsal is played: a scripted model in place of a real one, with
/// real tools, tests and decisions.
#[derive(Debug, Args)]
#[command(
    after_help = "Endings and exit codes: complete 0 (the check proves it), claimed 0 (no check \
was there), refuted 4 (the check still fails), capped 5 (the answer was forced), stopped 6, \
failed 7 (the model could not be reached), waiting 8 (the agent asks). 130 if left with Ctrl-C: \
go on with `steersman sessions resume`. 1 if the run could not begin or go on, 2 for wrong \
arguments."
)]
pub(crate) struct RunArgs {
    /// What the agent is to do; `-` reads it from standard input
    pub(super) task: Option<String>,
    /// The folder the agent works in; default: the current one, for a rehearsal one of its own
    #[arg(long, short = 'C', value_name = "DIR")]
    pub(super) workspace: Option<PathBuf>,
    /// The agent, from agents.yaml or the built-in ones; default: the registry's
    #[arg(long, value_name = "NAME")]
    pub(super) agent: Option<String>,
    #[command(flatten)]
    pub(super) model: ModelArgs,
    /// The command that proves the goal; default: found in the project
    #[arg(long, value_name = "COMMAND", conflicts_with = "no_check")]
    pub(super) check: Option<String>,
    /// Let the agent's word be enough
    #[arg(long)]
    pub(super) no_check: bool,
    /// The template of the task, or `none`; default: the one that suits the task
    #[arg(long, value_name = "NAME")]
    pub(super) template: Option<String>,
    /// Switch a feature of the prompts on; --no-feature switches it off
    #[arg(long = "feature", value_name = "NAME")]
    pub(super) features: Vec<String>,
    /// Switch a feature of the prompts off
    #[arg(long = "no-feature", value_name = "NAME")]
    pub(super) no_features: Vec<String>,
    /// A parameter of the prompts
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = pair)]
    pub(super) parameters: Vec<(String, String)>,
    /// When changes and commands need your word; default: the agent's, else `confined`
    #[arg(long, value_enum, value_name = "MODE")]
    pub(super) approve: Option<Approve>,
    /// What needs no question: a tool, or `shell(cargo *)`
    #[arg(long = "allow", value_name = "RULE")]
    pub(super) allow: Vec<String>,
    /// A JSON file with `mcpServers`: every agent may have their tools
    #[arg(long, value_name = "FILE")]
    pub(super) mcp: Option<PathBuf>,
    /// Do not begin if an MCP server does not start
    #[arg(long)]
    pub(super) mcp_required: bool,
    /// Run commands without the kernel's confinement
    #[arg(long)]
    pub(super) unconfined: bool,
    /// Play this rehearsal: a built-in name or the path of a script
    #[arg(long, value_name = "NAME", conflicts_with_all = ["name", "base_url", "provider"])]
    pub(super) rehearsal: Option<String>,
    #[command(flatten)]
    pub(super) breadth: BreadthArgs,
    /// A policy: a built-in name or a file; default: steersman.yaml if there is one
    #[arg(long, value_name = "POLICY")]
    pub(super) policy: Option<String>,
    /// Change one key of the policy
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = pair)]
    pub(super) set: Vec<(String, String)>,
    #[command(flatten)]
    pub(super) store: StoreArgs,
    #[command(flatten)]
    pub(super) show: ShowArgs,
}

/// Which model, and where it is.
#[derive(Debug, Args)]
pub(crate) struct ServerArgs {
    /// The model's name, as its server knows it; the key comes from the environment
    #[arg(long = "model", value_name = "MODEL", env = "STEERSMAN_MODEL")]
    pub(crate) name: Option<String>,
    /// The wire format of its server: openai, openai-responses, anthropic or gemini
    #[arg(long, value_name = "FORMAT", env = "STEERSMAN_PROVIDER")]
    pub(crate) provider: Option<String>,
    /// The address of its server; default: the provider's own
    #[arg(long, value_name = "URL", env = "STEERSMAN_BASE_URL")]
    pub(crate) base_url: Option<String>,
    /// The environment variable that holds the key; default: the provider's
    #[arg(long, value_name = "VARIABLE")]
    pub(crate) api_key_env: Option<String>,
}

/// Which model, where it is, and how it is spoken to.
#[derive(Debug, Args)]
pub(crate) struct ModelArgs {
    #[command(flatten)]
    pub(super) server: ServerArgs,
    /// Ask for whole replies instead of streams
    #[arg(long)]
    pub(super) no_stream: bool,
    /// How tools are called; default: what the model's profile says
    #[arg(long, value_enum, value_name = "HOW")]
    pub(super) tool_calls: Option<Calls>,
}

/// How tools are called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Calls {
    /// One call per reply
    Single,
    /// Several calls per reply
    Multi,
    /// As a JSON object, for models that cannot call tools
    Json,
}

impl From<Calls> for ToolCalls {
    fn from(calls: Calls) -> Self {
        match calls {
            Calls::Single => Self::Single,
            Calls::Multi => Self::Multi,
            Calls::Json => Self::Json,
        }
    }
}

/// How many attempts are made side by side.
#[derive(Debug, Args)]
pub(crate) struct BreadthArgs {
    /// Attempts side by side, each in a copy of the folder; the check picks the best
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=16),
        default_value_t = 1
    )]
    pub(super) attempts: u32,
    /// How many attempts work at a time; default: all, but no more than 4
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=16))]
    pub(super) jobs: Option<u32>,
    /// Let every attempt come to its end, also after one of them is proved
    #[arg(long)]
    pub(super) all: bool,
}

/// Where sessions are kept.
#[derive(Debug, Args)]
pub(crate) struct StoreArgs {
    /// The folder of sessions; default: $XDG_STATE_HOME/steersman or ~/.local/state/steersman
    #[arg(long = "state", value_name = "DIR", env = "STEERSMAN_STATE")]
    pub(crate) folder: Option<PathBuf>,
}

/// How a run is shown.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Every journal entry as a line of JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Plain lines, also on a terminal
    #[arg(long, conflicts_with = "json")]
    pub(crate) plain: bool,
    /// Show the dashboard and tell progress over WebSocket at this address, such as 127.0.0.1:7077
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<SocketAddr>,
}

/// When changes and commands need a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Approve {
    /// Do not ask where commands are confined to the workspace, elsewhere ask
    Confined,
    /// Ask, but for what is allowed
    Ask,
    /// What is allowed is done, everything else refused
    AllowList,
    /// Never ask
    Auto,
}
