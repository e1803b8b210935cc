//! The agents of a project, set up for their models: prompt, tools, window, prices.

use std::collections::BTreeSet;
use std::sync::Arc;

use steersman_prompt::{
    Agent, PromptError, PromptSystem, Registry, Template, ToolCalls, ToolInstruction,
    built_in_tools,
};
use steersman_wire::ToolSpec;

use crate::control;
use crate::entry::{AgentSetup, Prices};
use crate::seam::Agents;

/// The feature that lets agents write to each other.
const MAILBOX: &str = "mailbox_protocol";

/// The feature with which an agent says whether it goes on.
const CONTINUATION: &str = "continuation_protocol";

/// What a run is about, as far as prompts and tools depend on it.
#[derive(Clone, Debug, Default)]
pub struct Circumstances {
    /// The model's name, for agents that name none.
    pub model: String,
    /// The command that proves the goal; `None` if there is none.
    pub check: Option<String>,
    /// The folder the agents work in; `None` if there is none.
    pub workspace: Option<String>,
    /// How tools are called, whatever the profiles of the models say; `None` leaves it to them.
    pub tool_calls: Option<ToolCalls>,
    /// Features switched on or off for this run; they come before what agents say.
    pub features: Vec<(String, bool)>,
    /// Values of parameters of prompts for this run.
    pub parameters: Vec<(String, String)>,
    /// The template of the task; `None` for none.
    pub template: Option<Arc<Template>>,
    /// Tools besides those of the workspace and the runtime, offered to every agent that may have
    /// them.
    pub foreign: Vec<ForeignTool>,
}

/// A tool of another program.
#[derive(Clone, Debug, PartialEq)]
pub struct ForeignTool {
    /// What models are told of it.
    pub spec: ToolSpec,
    /// The agents that may have it; `None` is all.
    pub only: Option<BTreeSet<String>>,
}

/// The agents of a project under the circumstances of a run.
#[derive(Debug)]
pub struct Roster {
    registry: Registry,
    prompts: PromptSystem,
    circumstances: Circumstances,
}

impl Roster {
    /// The agents of a registry.
    #[must_use]
    pub const fn new(
        registry: Registry,
        prompts: PromptSystem,
        circumstances: Circumstances,
    ) -> Self {
        Self { registry, prompts, circumstances }
    }

    /// The registry.
    #[must_use]
    pub const fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The names of all agents.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.registry.agents().iter().map(|agent| agent.name.clone()).collect()
    }

    /// An agent as its model will see it.
    ///
    /// # Errors
    /// There is no such agent, or its prompt cannot be composed.
    pub fn setup_of(&self, name: &str) -> Result<AgentSetup, PromptError> {
        let agent = self.registry.agent(name)?;
        let around = &self.circumstances;
        let model = agent.model.as_ref().map_or(around.model.as_str(), |model| &model.name);
        let profile = self.registry.profile(agent, model);
        let profile = match around.tool_calls {
            Some(calls) => profile.with_tool_calls(calls),
            None => profile,
        };
        let features = self.features(agent);
        let tools = self.tools(agent, &features);
        let instructions = instructions(&tools);
        let mut request = agent.request(&instructions);
        request.features.extend(features);
        request.model = Some(&profile);
        request.template = around.template.as_deref();
        let mut set = |name: &str, value: String| {
            request.parameters.entry(name.to_owned()).or_insert(value);
        };
        set("agents", self.others(agent).join(", "));
        set("batch", profile.batch.to_string());
        if let Some(check) = &around.check {
            set("check", check.clone());
        }
        if let Some(workspace) = &around.workspace {
            set("workspace", workspace.clone());
        }
        request.parameters.extend(around.parameters.iter().cloned());
        let system = self.prompts.compose(&request)?;
        let own = agent.model.as_ref();
        let price = own.and_then(|model| model.price);
        Ok(AgentSetup {
            name: agent.name.clone(),
            model: model.to_owned(),
            system: system.to_string(),
            tools,
            context_window: profile.context_window,
            max_output_tokens: profile
                .max_output_tokens
                .map(|most| u32::try_from(most).unwrap_or(u32::MAX)),
            temperature: own.and_then(|model| model.temperature).map(|value| value as f32),
            prices: price.map_or_else(Prices::default, |price| Prices {
                input: price.input_nanodollars,
                cached_input: price.cached_nanodollars,
                output: price.output_nanodollars,
            }),
            parallel_tool_calls: (profile.tool_calls == ToolCalls::Single).then_some(false),
            json_calls: profile.tool_calls == ToolCalls::Json,
        })
    }

    fn others(&self, agent: &Agent) -> Vec<String> {
        let others = self.names().into_iter().filter(|name| *name != agent.name);
        others.collect()
    }

    /// The features of an agent that are switched on or off in words.
    fn features(&self, agent: &Agent) -> Vec<(String, bool)> {
        let template = self.circumstances.template.iter().flat_map(|template| template.features());
        let template = template.map(|(name, on)| (name.clone(), *on));
        let own = agent.features.iter().map(|(name, on)| (name.clone(), *on));
        let run = self.circumstances.features.iter().cloned();
        let mut features: Vec<(String, bool)> = Vec::new();
        for (name, on) in template.chain(own).chain(run) {
            features.retain(|(known, _)| *known != name);
            features.push((name, on));
        }
        features
    }

    /// The tools an agent is offered: what it may have, as far as there is something behind it.
    fn tools(&self, agent: &Agent, features: &[(String, bool)]) -> Vec<ToolSpec> {
        let around = &self.circumstances;
        let is_on = |name: &str, default: bool| {
            features.iter().find(|(known, _)| known == name).map_or(default, |(_, on)| *on)
        };
        let there = |tool: &ToolSpec| match tool.name.as_str() {
            control::START_OVER => around.workspace.is_some(),
            control::RUN_CHECK => around.check.is_some() && around.workspace.is_some(),
            control::HAND_OVER => !agent.may_hand_over_to.is_empty(),
            control::SEND_MAIL | control::READ_MAIL | control::REPLY_MAIL => {
                is_on(MAILBOX, false) && self.registry.agents().len() > 1
            }
            control::REPORT_PROGRESS => is_on(CONTINUATION, true),
            _ => true,
        };
        let files = around.workspace.iter().flat_map(|_| crate::tools::specs());
        let may = |tool: &&ForeignTool| {
            tool.only.as_ref().is_none_or(|only| only.contains(agent.name.as_str()))
        };
        let foreign = around.foreign.iter().filter(may).map(|tool| tool.spec.clone());
        let all = files.chain(control::specs()).chain(foreign);
        all.filter(|tool| there(tool) && agent.tools.allows(&tool.name)).collect()
    }
}

impl Agents for Roster {
    fn setup(&self, from: &str, to: &str) -> Result<AgentSetup, String> {
        let allowed = self.registry.agent(from).map_err(|error| error.to_string())?;
        if !allowed.may_hand_over_to.iter().any(|name| name == to) {
            let may = allowed.may_hand_over_to.join(", ");
            return Err(format!("{from} may not hand over to {to:?}; it may to: {may}."));
        }
        self.setup_of(to).map_err(|error| error.to_string())
    }
}

/// What the prompt says of the tools.
fn instructions(tools: &[ToolSpec]) -> Vec<ToolInstruction> {
    let known = built_in_tools();
    let offered = |known: &ToolInstruction| tools.iter().any(|tool| tool.name == known.name);
    known.into_iter().filter(offered).collect()
}
