//! What a session's journal keeps so that the session can be taken up again. No keys.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use steersman_prompt::{Approval, ApprovalMode, ToolCalls};

use super::approve::rules;

/// A script that says nothing.
const SILENT: &str = "task: none\nattempts: [{replies: [{text: none}]}]\n";

/// What is needed to take a session up again.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Recall {
    /// The text of the script, for a rehearsal.
    pub(crate) rehearsal: Option<String>,
    /// The model of agents that name none.
    pub(crate) model: Option<ServedBy>,
    /// Its name, as its server knows it.
    pub(crate) model_name: Option<String>,
    /// Models of agents that have their own.
    pub(crate) by_agent: BTreeMap<String, ServedBy>,
    /// When it asks: `ask`, `allow_list` or `auto`.
    pub(crate) approval: ApprovalMode,
    /// What needs no question.
    pub(crate) allow: Vec<String>,
    /// Commands run without the kernel's confinement.
    pub(crate) unconfined: bool,
    /// Replies are asked for as streams.
    pub(crate) stream: bool,
    /// How tools are called; `None` is what the models' profiles say.
    pub(crate) tool_calls: Option<ToolCalls>,
    /// Features of prompts switched for this run.
    pub(crate) features: Vec<(String, bool)>,
    /// Parameters of prompts for this run.
    pub(crate) parameters: Vec<(String, String)>,
    /// The template of the task.
    pub(crate) template: Option<String>,
    /// A file of Model Context Protocol servers, besides those of the agents.
    pub(crate) mcp: Option<String>,
    /// The session does not go on without one of its servers.
    pub(crate) mcp_required: bool,
    /// The folder whose agents and prompts hold.
    pub(crate) project: String,
    /// Which of several attempts side by side it is; `None` for a session on its own.
    pub(crate) side: Option<Beside>,
}

/// One of several attempts side by side.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Beside {
    /// The session of the group.
    pub(crate) group: String,
    /// The number of the attempt, from 1.
    pub(crate) number: u32,
    /// How many there are.
    pub(crate) of: u32,
    /// The folder that the attempts are made for.
    pub(crate) original: String,
}

/// A model behind a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ServedBy {
    /// The wire format.
    pub(crate) provider: String,
    /// The server's address; `None` is the provider's own.
    pub(crate) base_url: Option<String>,
    /// The variable that holds the key; `None` is the provider's.
    pub(crate) api_key_env: Option<String>,
}

impl Recall {
    /// The same for a session in which no model is called any more: no key is needed.
    pub(crate) fn without_model(mut self) -> Self {
        self.rehearsal = Some(SILENT.to_owned());
        self
    }

    /// What may be done without asking.
    pub(crate) fn approval(&self) -> Result<Approval, String> {
        Ok(Approval { mode: self.approval, allow: rules(&self.allow)? })
    }
}
