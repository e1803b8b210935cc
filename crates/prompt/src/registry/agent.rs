//! A valid agent.

use std::collections::BTreeMap;

use serde::Serialize;
use steersman_engine::Policy;

use super::approval::{Approval, ToolFilter};
use super::file::ContinuationFile;
use super::mcp::McpServer;
use super::model::Model;
use crate::compose::ComposeRequest;
use crate::error::PromptError;
use crate::profile::{Profile, ProfileSettings};
use crate::template::Template;
use crate::tools::ToolInstruction;

/// Where an agent's prompt stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentPrompt {
    /// In the file `agents/NAME.prompt.md`.
    Named(String),
    /// In the registry itself.
    Inline(String),
}

/// Which template an agent's tasks take.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TemplateChoice {
    /// The one that suits the task.
    Auto,
    /// None.
    None,
    /// This one.
    Named(String),
}

/// What proves the goal of an agent's tasks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckChoice {
    /// A command that is found in the project.
    Auto,
    /// Nothing.
    None,
    /// This command.
    Command(String),
}

/// An agent of the registry.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Agent {
    /// Its name.
    pub name: String,
    /// What it is for, in one line; may be empty.
    pub description: String,
    /// Where its prompt stands.
    pub prompt: AgentPrompt,
    /// The model it speaks with; `None` is the one that is given when a run begins.
    pub model: Option<Model>,
    /// Which tools it has.
    pub tools: ToolFilter,
    /// Features of the prompt switched on or off.
    pub features: BTreeMap<String, bool>,
    /// Values of parameters of the prompt.
    pub parameters: BTreeMap<String, String>,
    /// Keys laid over the policy of the project: dotted paths and values in YAML.
    pub policy: Vec<(String, String)>,
    /// Which template its tasks take.
    pub template: TemplateChoice,
    /// What proves the goal.
    pub check: CheckChoice,
    /// What it may do without asking.
    pub approval: Approval,
    /// Model Context Protocol servers whose tools it has, by name; those of every agent included.
    pub mcp_servers: BTreeMap<String, McpServer>,
    /// Agents to whom it may hand over its task.
    pub may_hand_over_to: Vec<String>,
    /// Whether every message begins a new conversation.
    pub stateless: bool,
}

impl Agent {
    /// The policy of the agent's runs: the project's, with the template's keys and then the
    /// agent's own laid over it.
    ///
    /// # Errors
    /// The keys are not allowed together with those of the project's policy.
    pub fn policy(
        &self,
        project: Policy,
        template: Option<&Template>,
    ) -> Result<Policy, PromptError> {
        let policy = match template {
            Some(template) => template.lay_over(project)?,
            None => project,
        };
        if self.policy.is_empty() {
            return Ok(policy);
        }
        let sets: Vec<(&str, &str)> =
            self.policy.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        Ok(steersman_config::with_overrides(policy, &sets)?)
    }

    /// The profile of a model for this agent; `profiles` are those of the registry.
    pub(super) fn profile(
        &self,
        model: &str,
        profiles: &BTreeMap<String, ProfileSettings>,
    ) -> Profile {
        let own = self.model.as_ref().filter(|own| own.name == model);
        let nothing = ProfileSettings::default();
        let mut profile = Profile::of(model, own.map_or(&nothing, |own| &own.profile), profiles);
        if let Some(own) = own {
            profile.context_window = own.context_window.or(profile.context_window);
            profile.max_output_tokens = own.max_output_tokens.or(profile.max_output_tokens);
        }
        profile
    }

    /// The request for the agent's prompt: its text, features and parameters, and the tools. Those
    /// that it does not have must be left out by the caller.
    #[must_use]
    pub fn request<'a>(&'a self, tools: &'a [ToolInstruction]) -> ComposeRequest<'a> {
        let (agent, instructions) = match &self.prompt {
            AgentPrompt::Named(name) => (name.as_str(), None),
            AgentPrompt::Inline(text) => (self.name.as_str(), Some(text.as_str())),
        };
        let mut request = ComposeRequest::new(agent);
        request.instructions = instructions;
        request.features = self.features.clone();
        request.parameters = self.parameters.clone();
        request.parameters.entry("agent".to_owned()).or_insert_with(|| self.name.clone());
        request.tools = tools;
        request
    }
}

/// The settings of continuation as keys of a policy.
pub(super) fn continuation_keys(file: &ContinuationFile) -> Vec<(String, String)> {
    let key = |name: &str, value: Option<String>| {
        value.map(|value| (format!("continuation.protocol.{name}"), value))
    };
    let seconds = file.timeout_s.map(|seconds| seconds.saturating_mul(1000).to_string());
    let keys = [
        key("require_explicit_signal", file.require_explicit_signal.map(|on| on.to_string())),
        key("max_iterations", file.max_iterations.map(|count| count.to_string())),
        key("timeout_ms", seconds),
        key("max_depth", file.max_depth.map(|depth| depth.to_string())),
    ];
    let mut keys: Vec<_> = keys.into_iter().flatten().collect();
    if file.enabled == Some(false) {
        keys.push(("rules.protocol".to_owned(), "off".to_owned()));
    }
    keys
}
