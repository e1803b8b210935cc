//! `agents.yaml` as it is written. What is valid is in the modules beside this one.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value as Json;

use super::mcp::McpFile;
use super::model::Provider;
use crate::profile::ProfileSettings;

/// The file.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct AgentsFile {
    /// The agent that begins a session. Default: the only one, else `coder`.
    pub(super) default: Option<String>,
    /// What models can do, by glob over the model's name; they come before the built-in table, and
    /// the longest glob that matches before the others.
    pub(super) profiles: BTreeMap<String, ProfileSettings>,
    /// Model Context Protocol servers whose tools every agent has, by name.
    #[serde(rename = "mcpServers")]
    pub(super) mcp_servers: BTreeMap<String, McpFile>,
    /// The agents by name: letters, digits, `_` and `-`.
    pub(super) agents: BTreeMap<String, AgentFile>,
}

/// An agent.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct AgentFile {
    /// What the agent is for, in one line.
    pub(super) description: String,
    /// Name of its prompt, the file `prompts/agents/NAME.prompt.md`. Default: the agent's name.
    pub(super) prompt: Option<String>,
    /// Its prompt, written here instead of in a file.
    pub(super) instructions: Option<String>,
    /// The model it speaks with. Default: the one that is given when a run begins.
    pub(super) model: Option<ModelFile>,
    /// Tools that it has. Default: all.
    pub(super) tools: ToolsFile,
    /// Features of the prompt switched on (true) or off.
    pub(super) features: BTreeMap<String, bool>,
    /// Values of parameters of the prompt.
    pub(super) parameters: BTreeMap<String, String>,
    /// Whether and how long it goes on by itself.
    pub(super) continuation: ContinuationFile,
    /// Keys of a policy file, laid over the policy of the project.
    pub(super) policy: Json,
    /// Template of its tasks: `auto` chooses by the task, `none` takes none, else a name. Default
    /// `auto`.
    pub(super) template: Option<String>,
    /// The command that proves the goal; `auto` finds one, `none` runs none. Default `auto`.
    pub(super) check: Option<String>,
    /// What it may do without asking.
    pub(super) approval: ApprovalFile,
    /// Model Context Protocol servers whose tools it has besides those of every agent, by name.
    #[serde(rename = "mcpServers")]
    pub(super) mcp_servers: BTreeMap<String, McpFile>,
    /// Agents to whom it may hand over its task. Default: none.
    pub(super) may_hand_over_to: Vec<String>,
    /// Whether every message begins a new conversation. Default false.
    pub(super) stateless: bool,
}

/// The model of an agent.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ModelFile {
    /// The wire format that the server speaks.
    pub(super) provider: Provider,
    /// The model's name, as the server knows it.
    pub(super) name: String,
    /// Address of the server. Default: that of the provider.
    #[serde(default)]
    pub(super) base_url: Option<String>,
    /// Name of the environment variable that holds the key. Default: that of the provider.
    #[serde(default)]
    pub(super) api_key_env: Option<String>,
    /// Most tokens of one reply. Default: that of the profile, else of the provider.
    #[serde(default)]
    #[schemars(range(min = 1, max = 10_000_000))]
    pub(super) max_output_tokens: Option<u64>,
    /// 0–2. Default: that of the provider.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 2.0))]
    pub(super) temperature: Option<f64>,
    /// Context window in tokens. Default: that of the profile.
    #[serde(default)]
    #[schemars(range(min = 1, max = 100_000_000))]
    pub(super) context_window: Option<u64>,
    /// What tokens cost. Default: unknown.
    #[serde(default)]
    pub(super) price: Option<PriceFile>,
    /// What the model can do, where `profiles` does not say it.
    #[serde(default)]
    pub(super) profile: ProfileSettings,
}

/// Prices in US dollars per million tokens.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PriceFile {
    /// Of tokens sent.
    #[schemars(range(min = 0.0, max = 10_000.0))]
    pub(super) input: f64,
    /// Of tokens generated.
    #[schemars(range(min = 0.0, max = 10_000.0))]
    pub(super) output: f64,
    /// Of tokens sent that the server had in its cache. Default: as `input`.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 10_000.0))]
    pub(super) cached: Option<f64>,
}

/// Tools by name or glob.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ToolsFile {
    /// Names or globs of tools that it has. Default: all.
    pub(super) allow: Option<Vec<String>>,
    /// Names or globs of tools that it does not have, even if they are allowed. Default: none.
    pub(super) deny: Vec<String>,
}

/// Whether and how long an agent goes on by itself.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ContinuationFile {
    /// Whether the continuation protocol is used. Default true.
    pub(super) enabled: Option<bool>,
    /// Only an explicit signal continues a reply without tool calls. Default: the policy's.
    pub(super) require_explicit_signal: Option<bool>,
    /// Continuations in a row after which the run is forced to end. Default: the policy's.
    #[schemars(range(min = 1, max = 1000))]
    pub(super) max_iterations: Option<u32>,
    /// Time from the first continuation after which the run is forced to end. Seconds. Default: the
    /// policy's.
    #[schemars(range(min = 1, max = 31_536_000))]
    pub(super) timeout_s: Option<u64>,
    /// Nested agents. Default: the policy's.
    #[schemars(range(min = 1, max = 32))]
    pub(super) max_depth: Option<u32>,
}

/// What an agent may do without asking.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ApprovalFile {
    /// When it asks. Default `confined`.
    pub(super) mode: super::approval::ApprovalMode,
    /// What needs no question: names or globs of tools, `shell(cargo test*)` for commands.
    pub(super) allow: Vec<String>,
}
