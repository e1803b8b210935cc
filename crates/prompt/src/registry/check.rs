//! What a schema cannot say about a registry.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;
use steersman_config::Finding;
use steersman_config::document::{Document, Text};
use steersman_engine::Policy;

use super::agent::{Agent, AgentPrompt, CheckChoice, TemplateChoice, continuation_keys};
use super::approval::{AllowRule, Approval, ApprovalMode, ToolFilter, is_glob};
use super::file::{AgentFile, AgentsFile, ApprovalFile, ToolsFile};
use super::findings_of;
use super::mcp::{self, McpServer};
use super::model::Model;
use crate::folder::{MAX_FILE_BYTES, refuse_name};
use crate::library::with_near;
use crate::part::read_slots;
use crate::profile::ProfileSettings;
use crate::tools::TOOLS;

/// Most agents.
const MAX_AGENTS: usize = 200;

/// The agents of a file, with what is wrong.
pub(super) fn agents(
    file: &mut AgentsFile,
    document: &Document<AgentsFile>,
    findings: &mut Vec<Finding>,
) -> Vec<Agent> {
    let names: Vec<String> = file.agents.keys().cloned().collect();
    if names.is_empty() {
        let finding = document.key_error(&["agents"], "no agents");
        findings.push(finding.with_help("`agents: {coder: {}}` is a registry of one"));
    }
    if names.len() > MAX_AGENTS {
        findings.push(document.key_error(&["agents"], format!("more than {MAX_AGENTS} agents")));
        return Vec::new();
    }
    let shared = std::mem::take(&mut file.mcp_servers);
    let shared = mcp::read(&["mcpServers"], shared, document, findings);
    let mut reader = Reader { document, findings, shared, names: &names };
    let agents: Vec<Agent> = names
        .iter()
        .filter_map(|name| {
            let agent = std::mem::take(file.agents.get_mut(name)?);
            Some(reader.agent(name, agent))
        })
        .collect();
    check_circles(&agents, document, findings);
    agents
}

struct Reader<'r> {
    document: &'r Document<AgentsFile>,
    findings: &'r mut Vec<Finding>,
    shared: BTreeMap<String, McpServer>,
    names: &'r [String],
}

impl Reader<'_> {
    fn agent(&mut self, name: &str, file: AgentFile) -> Agent {
        if let Some(what) = refuse_name(name) {
            self.findings.push(self.document.key_error(&["agents", name], what));
        }
        let policy = self.policy(name, &file);
        let parameters: Vec<&str> = file.parameters.keys().map(String::as_str).collect();
        let prompt = self.prompt(name, file.prompt, file.instructions, &parameters);
        let model = file.model.map(|model| Model::read(name, model, self.document, self.findings));
        let mut servers = self.shared.clone();
        let path = ["agents", name, "mcpServers"];
        servers.extend(mcp::read(&path, file.mcp_servers, self.document, self.findings));
        let mut features = file.features;
        if features.get("core") == Some(&false) {
            let path = ["agents", name, "features", "core"];
            self.findings.push(self.document.error(&path, "`core` is always on"));
        }
        if file.continuation.enabled == Some(false) {
            features.entry("continuation_protocol".to_owned()).or_insert(false);
        }
        let check = self.word(name, "check", file.check.as_deref());
        self.hand_over(name, &file.may_hand_over_to);
        Agent {
            name: name.to_owned(),
            description: file.description,
            prompt,
            model,
            tools: self.tools(name, file.tools, !servers.is_empty()),
            features,
            parameters: file.parameters,
            policy,
            template: match self.word(name, "template", file.template.as_deref()) {
                None => TemplateChoice::Auto,
                Some("auto") => TemplateChoice::Auto,
                Some("none") => TemplateChoice::None,
                Some(name) => TemplateChoice::Named(name.to_owned()),
            },
            check: match check {
                None | Some("auto") => CheckChoice::Auto,
                Some("none") => CheckChoice::None,
                Some(command) => CheckChoice::Command(command.to_owned()),
            },
            approval: self.approval(name, file.approval),
            mcp_servers: servers,
            may_hand_over_to: file.may_hand_over_to,
            stateless: file.stateless,
        }
    }

    /// A text that must not be empty.
    fn word<'w>(&mut self, agent: &str, key: &str, text: Option<&'w str>) -> Option<&'w str> {
        if text.is_some_and(|text| text.trim().is_empty()) {
            let what = "\"\" is not allowed: leave the key out, or write none";
            self.findings.push(self.document.error(&["agents", agent, key], what));
        }
        text.map(str::trim)
    }

    /// The keys that the agent lays over a policy, checked over `default`.
    fn policy(&mut self, name: &str, file: &AgentFile) -> Vec<(String, String)> {
        let path = ["agents", name, "policy"];
        if let Err(error) = self.document.lay_over(Policy::default(), &path) {
            self.findings.extend(findings_of(&error));
        }
        let mut keys = Vec::new();
        if let Json::Object(members) = &file.policy {
            keys.extend(members.iter().map(|(key, value)| (key.clone(), value.to_string())));
        }
        keys.extend(continuation_keys(&file.continuation));
        keys
    }

    fn prompt(
        &mut self,
        agent: &str,
        prompt: Option<String>,
        instructions: Option<String>,
        parameters: &[&str],
    ) -> AgentPrompt {
        let path = ["agents", agent, "instructions"];
        let Some(text) = instructions else {
            return AgentPrompt::Named(prompt.unwrap_or_else(|| agent.to_owned()));
        };
        if prompt.is_some() {
            let what = "`prompt` and `instructions` exclude each other";
            self.findings.push(self.document.error(&path, what));
        }
        if text.trim().is_empty() || text.len() > MAX_FILE_BYTES {
            let what = format!("not allowed: a text of 1 to {MAX_FILE_BYTES} bytes");
            self.findings.push(self.document.error(&path, what));
        }
        let inline = Text::new("", &text, "a prompt");
        if let Err(found) = read_slots(&inline, 0..inline.text().len(), parameters) {
            for finding in found {
                self.findings.push(self.document.error(&path, finding.what()));
            }
        }
        AgentPrompt::Inline(text)
    }

    fn tools(&mut self, agent: &str, file: ToolsFile, has_servers: bool) -> ToolFilter {
        let lists = [("allow", file.allow.as_deref().unwrap_or_default()), ("deny", &file.deny)];
        for (key, globs) in lists {
            for (at, glob) in globs.iter().enumerate() {
                let item = format!("[{at}]");
                let path = ["agents", agent, "tools", key, &item];
                if !is_glob(glob) {
                    let what = format!("{glob:?} is not allowed: a tool's name, or a glob");
                    self.findings.push(self.document.error(&path, what));
                } else if !has_servers {
                    self.findings.extend(unknown_tool(self.document, &path, glob));
                }
            }
        }
        ToolFilter { allow: file.allow, deny: file.deny }
    }

    fn approval(&mut self, agent: &str, file: ApprovalFile) -> Approval {
        let path = ["agents", agent, "approval", "allow"];
        if file.mode == ApprovalMode::Auto && !file.allow.is_empty() {
            let what = "has no effect: with `mode: auto` everything is allowed";
            self.findings.push(self.document.error(&path, what));
        }
        let mut allow = Vec::new();
        for (at, text) in file.allow.iter().enumerate() {
            match AllowRule::parse(text) {
                Some(rule) => allow.push(rule),
                None => {
                    let what = format!("{text:?} is not allowed: TOOL or TOOL(COMMAND)");
                    let item = format!("[{at}]");
                    let path: Vec<&str> = path.iter().copied().chain([item.as_str()]).collect();
                    let finding = self.document.error(&path, what);
                    self.findings.push(finding.with_help("for example `shell(cargo test*)`"));
                }
            }
        }
        Approval { mode: file.mode, allow }
    }

    fn hand_over(&mut self, agent: &str, targets: &[String]) {
        let mut seen = BTreeSet::new();
        for (at, target) in targets.iter().enumerate() {
            let item = format!("[{at}]");
            let path = ["agents", agent, "may_hand_over_to", &item];
            let known = self.names.iter().map(String::as_str);
            if !self.names.contains(target) {
                let finding = self.document.error(&path, format!("no agent `{target}`"));
                self.findings.push(with_near(finding, target, known, "agents"));
            } else if target == agent {
                let what = format!("`{target}` is the agent itself");
                self.findings.push(self.document.error(&path, what));
            } else if !seen.insert(target) {
                self.findings.push(self.document.error(&path, format!("`{target}` stands twice")));
            }
        }
    }
}

/// The finding about a name that is neither a built-in tool nor a glob.
fn unknown_tool(document: &Document<AgentsFile>, path: &[&str], name: &str) -> Option<Finding> {
    let known = TOOLS.iter().map(|(name, _)| *name);
    let is_known = name.contains(['*', '?']) || known.clone().any(|known| known == name);
    (!is_known).then(|| {
        let finding = document.error(path, format!("no tool `{name}`"));
        with_near(finding, name, known, "built-in tools")
    })
}

/// Profiles have globs for names.
pub(super) fn profiles(
    profiles: &BTreeMap<String, ProfileSettings>,
    document: &Document<AgentsFile>,
    findings: &mut Vec<Finding>,
) {
    for glob in profiles.keys().filter(|glob| !is_glob(glob)) {
        let what = format!("{glob:?} is not allowed: a glob over a model's name");
        findings.push(document.key_error(&["profiles", glob], what));
    }
}

/// Agents without memory that hand a task over to each other in a circle would never end: none of
/// them can know that it had the task before.
fn check_circles(agents: &[Agent], document: &Document<AgentsFile>, findings: &mut Vec<Finding>) {
    let stateless = |name: &str| agents.iter().find(|agent| agent.stateless && agent.name == name);
    for agent in agents.iter().filter(|agent| agent.stateless) {
        // Who can be reached, with the way that leads there.
        let mut ways: Vec<Vec<&str>> = vec![vec![agent.name.as_str()]];
        let mut seen = BTreeSet::new();
        while let Some(way) = ways.pop() {
            let Some(last) = way.last().and_then(|name| stateless(name)) else { continue };
            for next in &last.may_hand_over_to {
                // Each circle is told once, at the agent that comes first by name.
                if *next == agent.name && way.len() > 1 && way.iter().all(|name| *name >= next) {
                    let path = ["agents", next.as_str(), "may_hand_over_to"];
                    let what = format!("a circle of stateless agents: {}", circle(&way));
                    let finding = document.error(&path, what);
                    findings.push(finding.with_help("let one of them keep its conversation"));
                    seen.insert(next.as_str());
                } else if stateless(next).is_some() && seen.insert(next) {
                    ways.push(way.iter().copied().chain([next.as_str()]).collect());
                }
            }
        }
    }
}

fn circle(way: &[&str]) -> String {
    way.iter().chain(way.first()).copied().collect::<Vec<_>>().join(" → ")
}
