//! The registry of agents: `agents.yaml`.

mod agent;
mod approval;
mod check;
mod file;
mod mcp;
mod model;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use steersman_config::document::{self, Document, Text};
use steersman_config::{Finding, LoadError};

pub use agent::{Agent, AgentPrompt, CheckChoice, TemplateChoice};
pub use approval::{AllowRule, Approval, ApprovalMode, ToolFilter};
pub use mcp::{McpServer, McpTransport};
pub use model::{Model, Price, Provider};

use crate::compose;
use crate::error::PromptError;
use crate::folder::read_file;
use crate::library::{Library, with_near};
use crate::part::Kind;
use crate::profile::{Profile, ProfileSettings};
use crate::slots;
use file::AgentsFile;

/// Where the registry lies below a folder, the first one first.
const FILE_NAMES: [&str; 4] =
    [".steersman/agents.yaml", ".steersman/agents.yml", "agents.yaml", "agents.yml"];

/// The largest registry. Bytes.
const MAX_BYTES: usize = 1 << 20;

/// The agent that begins a session where no other is named.
const DEFAULT: &str = "coder";

/// The registry that holds where there is no file.
const BUILT_IN: &str = include_str!("../../prompts/agents.yaml");

/// The agents that there are, and what is known of models.
#[derive(Clone, Debug)]
pub struct Registry {
    agents: Vec<Agent>,
    default: String,
    profiles: BTreeMap<String, ProfileSettings>,
    path: Option<PathBuf>,
    document: Document<AgentsFile>,
}

impl Registry {
    /// The registry of a project: `.steersman/agents.yaml`, else `agents.yaml`, in the project's
    /// folder or the nearest parent up to the root of the repository that has one; else the
    /// built-in agents `coder`, `explorer` and `reviewer`.
    ///
    /// # Errors
    /// The file cannot be read, or everything that is wrong with it.
    pub fn load(project: &Path) -> Result<Self, PromptError> {
        let folders = steersman_config::folders(project);
        let files = folders.iter().flat_map(|folder| FILE_NAMES.map(|name| folder.join(name)));
        match files.into_iter().find(|path| path.exists()) {
            Some(path) => Self::load_file(&path),
            None => Self::built_in(),
        }
    }

    /// The registry in a file of at most 1 MiB.
    ///
    /// # Errors
    /// As [`Registry::load`].
    pub fn load_file(path: &Path) -> Result<Self, PromptError> {
        let bytes = read_file(path, MAX_BYTES)?;
        let registry = Self::parse_bytes(&path.display().to_string(), &bytes)?;
        Ok(Self { path: Some(path.to_owned()), ..registry })
    }

    /// The built-in agents.
    ///
    /// # Errors
    /// None: that the built-in file can be read is tested.
    pub fn built_in() -> Result<Self, PromptError> {
        Self::parse_bytes("<built-in>/agents.yaml", BUILT_IN.as_bytes())
    }

    /// The registry in a text; `name` stands before every finding.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn parse_bytes(name: &str, bytes: &[u8]) -> Result<Self, PromptError> {
        let text = Text::from_bytes(name, bytes, MAX_BYTES, "a registry of agents")
            .map_err(|finding| PromptError::Bad(vec![*finding]))?;
        let (mut file, document) = document::parse::<AgentsFile>(text, None)?;
        let mut findings = Vec::new();
        let agents = check::agents(&mut file, &document, &mut findings);
        check::profiles(&file.profiles, &document, &mut findings);
        let default = default(&file, &agents, &document, &mut findings);
        document::refuse(findings).map_err(PromptError::Document)?;
        Ok(Self { agents, default, profiles: file.profiles, path: None, document })
    }

    /// The file that it was read from; `None` for the built-in agents.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// The agents by name.
    #[must_use]
    pub fn agents(&self) -> &[Agent] {
        &self.agents
    }

    /// The name of the agent that begins a session.
    #[must_use]
    pub fn default_agent(&self) -> &str {
        &self.default
    }

    /// The agent of a name.
    ///
    /// # Errors
    /// [`PromptError::Unknown`], with the agents that there are.
    pub fn agent(&self, name: &str) -> Result<&Agent, PromptError> {
        let known = self.agents.iter().map(|agent| agent.name.as_str());
        let found = self.agents.iter().find(|agent| agent.name == name);
        found.ok_or_else(|| PromptError::unknown("agent", name, known))
    }

    /// The profile of a model when an agent speaks with it.
    #[must_use]
    pub fn profile(&self, agent: &Agent, model: &str) -> Profile {
        agent.profile(model, &self.profiles)
    }

    /// Checks what the registry names in prompt files: prompts, features, templates, parameters,
    /// hints.
    ///
    /// # Errors
    /// Every name that is not there, at its place in the registry.
    pub fn check(&self, library: &Library) -> Result<(), PromptError> {
        let mut findings = Vec::new();
        for agent in &self.agents {
            self.check_agent(agent, library, &mut findings);
        }
        let settings = self.profiles.iter().map(|(glob, settings)| {
            (vec!["profiles", glob.as_str(), "hints"], settings.hints.as_deref())
        });
        let of_models = self.agents.iter().filter_map(|agent| {
            let hints = agent.model.as_ref()?.profile.hints.as_deref();
            Some((vec!["agents", &agent.name, "model", "profile", "hints"], hints))
        });
        for (path, hints) in settings.chain(of_models) {
            for hint in hints.unwrap_or_default() {
                if library.part(Kind::Model, hint).is_none() {
                    let finding = self.document.error(&path, format!("no hint `{hint}`"));
                    let known = library.of(Kind::Model).map(|part| part.name.as_str());
                    findings.push(with_near(finding, hint, known, "hints"));
                }
            }
        }
        document::refuse(findings).map_err(PromptError::Document)
    }

    fn check_agent(&self, agent: &Agent, library: &Library, findings: &mut Vec<Finding>) {
        let name = agent.name.as_str();
        let path = |key: &'static str| vec!["agents", name, key];
        if let AgentPrompt::Named(prompt) = &agent.prompt
            && library.part(Kind::Agent, prompt).is_none()
        {
            let what = format!("no prompt `{prompt}`: there is no file agents/{prompt}.prompt.md");
            let finding = self.document.error(&path("prompt"), what);
            findings.push(with_near(finding, prompt, library.agents(), "prompts"));
        }
        for feature in agent.features.keys() {
            if library.part(Kind::Shared, feature).is_none() {
                let place = ["agents", name, "features", feature];
                let finding = self.document.key_error(&place, "no such feature");
                findings.push(with_near(finding, feature, library.features(), "features"));
            }
        }
        if let TemplateChoice::Named(template) = &agent.template
            && library.template(template).is_err()
        {
            let finding =
                self.document.error(&path("template"), format!("no template `{template}`"));
            let known = library.templates().iter().map(|template| template.name());
            findings.push(with_near(finding, template, known.chain(["auto", "none"]), "templates"));
        }
        let own = match &agent.prompt {
            AgentPrompt::Inline(text) => slots::find(text, 0..text.len()).unwrap_or_default(),
            AgentPrompt::Named(_) => Vec::new(),
        };
        for parameter in agent.parameters.keys() {
            let standard = compose::parameters().iter().map(|parameter| parameter.name);
            let known =
                standard.chain(library.declared()).chain(own.iter().map(|slot| slot.name.as_str()));
            let mut known: Vec<&str> = known.collect();
            if !known.contains(&parameter.as_str()) {
                known.sort_unstable();
                known.dedup();
                let place = ["agents", name, "parameters", parameter];
                let finding = self.document.key_error(&place, "no prompt has this parameter");
                findings.push(with_near(finding, parameter, known.into_iter(), "parameters"));
            }
        }
    }
}

/// The agent that begins a session.
fn default(
    file: &AgentsFile,
    agents: &[Agent],
    document: &Document<AgentsFile>,
    findings: &mut Vec<Finding>,
) -> String {
    let known = file.agents.keys().map(String::as_str);
    match (&file.default, agents) {
        (Some(name), _) => {
            if !file.agents.contains_key(name) {
                let finding = document.error(&["default"], format!("no agent `{name}`"));
                findings.push(with_near(finding, name, known, "agents"));
            }
            name.clone()
        }
        (None, [only]) => only.name.clone(),
        (None, agents) => {
            if !agents.is_empty() && !file.agents.contains_key(DEFAULT) {
                let what = "several agents, and none is the default";
                let finding = document.key_error(&["agents"], what);
                let help = format!("name one: `default: {}`", agents[0].name);
                findings.push(finding.with_help(help));
            }
            DEFAULT.to_owned()
        }
    }
}

/// The JSON Schema (draft 2020-12) of a registry, for editors.
#[must_use]
pub fn agents_schema() -> Json {
    let description = "The agents of a project: the file agents.yaml.";
    document::schema_of::<AgentsFile>("Steersman agents", description)
}

/// The schema as text, with a newline at its end.
#[must_use]
pub fn agents_schema_text() -> String {
    // A JSON value serialises without fail.
    let mut text = serde_json::to_string_pretty(&agents_schema()).unwrap_or_default();
    text.push('\n');
    text
}

/// The findings of an error about a document.
fn findings_of(error: &LoadError) -> Vec<Finding> {
    error.findings().to_vec()
}
