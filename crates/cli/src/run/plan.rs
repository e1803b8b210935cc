//! What a run is to be, out of arguments, files and the project.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use steersman_agent::rehearsal::{Sample, Script};
use steersman_agent::{AgentSetup, Circumstances, Entry, Opened, Roster, VERSION, discover_check};
use steersman_engine::Policy;
use steersman_prompt::{
    ApprovalMode, CheckChoice, CheckUse, Library, PromptSystem, Registry, Template, TemplateChoice,
    choose,
};
use steersman_store::SessionId;
use steersman_wire::Format;

use super::args::{Approve, RunArgs, ServerArgs};
use super::mcp::{Servers, Wish};
use super::parts::Team;
use super::place::Place;
use super::recall::{Recall, ServedBy};

/// Most bytes of a task.
const MAX_TASK: u64 = 1024 * 1024;

/// What a run is to be.
pub(super) struct Plan {
    /// What the agent is to do.
    pub(super) task: String,
    /// The folder the agent works in.
    pub(super) workspace: PathBuf,
    /// The agent that begins, set up.
    pub(super) agent: AgentSetup,
    /// Every agent.
    pub(super) roster: Arc<Roster>,
    pub(super) policy: Policy,
    pub(super) check: Option<String>,
    pub(super) recall: Recall,
    /// Tools of other programs.
    pub(super) servers: Arc<Servers>,
    /// What the user should know before the run begins.
    pub(super) notices: Vec<String>,
}

impl Plan {
    /// Reads what the arguments name.
    pub(super) async fn read(
        args: &RunArgs,
        place: &Place,
        id: &SessionId,
    ) -> Result<Self, String> {
        match script_of(args)? {
            Some((script, text)) => rehearse(args, &place.rehearsal(id), script, text).await,
            None => serve(args).await,
        }
    }

    /// Who acts besides the model.
    pub(super) fn team(&self) -> Team {
        Team { roster: Arc::clone(&self.roster), servers: Arc::clone(&self.servers) }
    }

    /// The entry that opens the session.
    pub(super) fn opened(&self) -> Result<Entry, String> {
        let extra = serde_json::to_value(&self.recall).map_err(|error| error.to_string())?;
        Ok(Entry::Opened(Box::new(Opened {
            version: VERSION,
            program: env!("CARGO_PKG_VERSION").to_owned(),
            agent: self.agent.clone(),
            workspace: Some(self.workspace.display().to_string()),
            check: self.check.clone(),
            policy: Box::new(self.policy.clone()),
            interactive: false,
            others: self.roster.names(),
            extra,
        })))
    }
}

/// The script that is to be played, and its text; `None` for a run with a model.
fn script_of(args: &RunArgs) -> Result<Option<(Script, String)>, String> {
    let name = match &args.rehearsal {
        Some(name) => name.as_str(),
        None if args.model.server.name.is_some() => return Ok(None),
        None if args.task.is_none() => Sample::DEFAULT,
        // An agent of the registry may name its own model.
        None => return Ok(None),
    };
    let path = Path::new(name);
    let (shown, text) = if path.is_file() {
        let text = std::fs::read_to_string(path)
            .map_err(|error| format!("{}: {error}", path.display()))?;
        (name.to_owned(), text)
    } else {
        let text = Sample::text(name).map_err(|error| error.to_string())?;
        (format!("<built-in>/{name}.yaml"), text.to_owned())
    };
    let script = Script::parse(&shown, &text).map_err(|error| error.to_string())?;
    Ok(Some((script, text)))
}

async fn rehearse(
    args: &RunArgs,
    workspace: &Path,
    script: Script,
    text: String,
) -> Result<Plan, String> {
    let workspace = match &args.workspace {
        // Such a script brings no project of its own: it is played in the user's.
        Some(own) if script.project.is_empty() => folder(own)?,
        _ => {
            Sample::lay_out(&script, workspace).map_err(|error| error.to_string())?;
            folder(workspace)?
        }
    };
    let mut notices = Vec::new();
    let sets = script.policy.iter().map(|(key, value)| (key.clone(), value.to_string()));
    let sets: Vec<_> = sets.chain(args.set.iter().cloned()).collect();
    let policy = super::policy(args.policy.as_deref().or(Some("default")), &sets, &mut notices)?;
    let registry = Registry::built_in().map_err(|error| error.to_string())?;
    let check = args.check.clone().or_else(|| script.check.clone()).filter(|_| !args.no_check);
    let recall = Recall {
        rehearsal: Some(text),
        approval: approval_of(args).unwrap_or(ApprovalMode::Auto),
        allow: args.allow.clone(),
        stream: false,
        unconfined: args.unconfined,
        mcp: mcp_file(args)?,
        mcp_required: args.mcp_required,
        project: workspace.display().to_string(),
        ..Recall::default()
    };
    let servers = servers(None, &recall, &workspace, &mut notices).await?;
    let around = Circumstances {
        model: "rehearsal".to_owned(),
        check: check.clone(),
        workspace: Some(workspace.display().to_string()),
        foreign: servers.offers(),
        ..Circumstances::default()
    };
    let roster = Arc::new(Roster::new(registry, PromptSystem::built_in(), around));
    let agent = roster.setup_of("coder").map_err(|error| error.to_string())?;
    let task = script.task.clone();
    Ok(Plan { task, workspace, agent, roster, policy, check, recall, servers, notices })
}

async fn serve(args: &RunArgs) -> Result<Plan, String> {
    let Some(task) = args.task.as_deref() else {
        return Err("there is no task: steersman run \"what the agent is to do\"".to_owned());
    };
    let task = read_task(task)?;
    let workspace = folder(args.workspace.as_deref().unwrap_or(Path::new(".")))?;
    let mut notices = Vec::new();
    let prompts = PromptSystem::load(&workspace).map_err(|error| error.to_string())?;
    let library = prompts.library().map_err(|error| error.to_string())?;
    let registry = Registry::load(&workspace).map_err(|error| error.to_string())?;
    registry.check(&library).map_err(|error| error.to_string())?;
    let name = args.agent.as_deref().unwrap_or_else(|| registry.default_agent()).to_owned();
    let agent = registry.agent(&name).map_err(|error| error.to_string())?.clone();
    let (model, own) = models(args, &registry, &name)?;

    let template = template_of(args, &agent.template, &task, &library, &mut notices)?;
    let check = check_of(args, &agent.check, template.as_deref(), &workspace, &mut notices);

    let project = super::policy(args.policy.as_deref(), &[], &mut notices)?;
    let project = library.with_texts(project);
    let policy = agent.policy(project, template.as_deref()).map_err(|error| error.to_string())?;
    let sets: Vec<(&str, &str)> =
        args.set.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    let policy =
        steersman_config::with_overrides(policy, &sets).map_err(|error| error.to_string())?;

    let features: Vec<(String, bool)> = args
        .features
        .iter()
        .map(|name| (name.clone(), true))
        .chain(args.no_features.iter().map(|name| (name.clone(), false)))
        .collect();
    let mut allow = args.allow.clone();
    allow.extend(agent.approval.allow.iter().map(ToString::to_string));
    let recall = Recall {
        rehearsal: None,
        model,
        model_name: args.model.server.name.clone(),
        by_agent: own,
        approval: approval_of(args).unwrap_or(agent.approval.mode),
        allow,
        unconfined: args.unconfined,
        stream: !args.model.no_stream,
        tool_calls: args.model.tool_calls.map(Into::into),
        features,
        parameters: args.parameters.clone(),
        template: template.as_ref().map(|template| template.name().to_owned()),
        mcp: mcp_file(args)?,
        mcp_required: args.mcp_required,
        project: workspace.display().to_string(),
        side: None,
    };
    let servers = servers(Some((&registry, &name)), &recall, &workspace, &mut notices).await?;
    let around = Circumstances {
        model: args.model.server.name.clone().unwrap_or_default(),
        check: check.clone(),
        workspace: Some(workspace.display().to_string()),
        tool_calls: recall.tool_calls,
        features: recall.features.clone(),
        parameters: recall.parameters.clone(),
        template,
        foreign: servers.offers(),
    };
    let roster = Arc::new(Roster::new(registry, prompts, around));
    let agent = roster.setup_of(&name).map_err(|error| error.to_string())?;
    Ok(Plan { task, workspace, agent, roster, policy, check, recall, servers, notices })
}

/// The template of the task: the one that is named, else the one that suits it.
fn template_of(
    args: &RunArgs,
    agent: &TemplateChoice,
    task: &str,
    library: &Library,
    notices: &mut Vec<String>,
) -> Result<Option<Arc<Template>>, String> {
    let named = match (args.template.as_deref(), agent) {
        (Some("none"), _) | (None, TemplateChoice::None) => return Ok(None),
        (Some(named), _) => named,
        (None, TemplateChoice::Named(named)) => named,
        (None, TemplateChoice::Auto) => {
            let Some(choice) = choose(task, library.templates()) else { return Ok(None) };
            notices.push(format!("template {choice}"));
            return Ok(Some(Arc::clone(choice.template)));
        }
    };
    let found = library.template(named).map_err(|error| error.to_string())?;
    Ok(Some(Arc::clone(found)))
}

fn approval_of(args: &RunArgs) -> Option<ApprovalMode> {
    args.approve.map(|approve| match approve {
        Approve::Confined => ApprovalMode::Confined,
        Approve::Ask => ApprovalMode::Ask,
        Approve::AllowList => ApprovalMode::AllowList,
        Approve::Auto => ApprovalMode::Auto,
    })
}

/// Who acts in a session that is taken up again, beginning with `acting`; `None` if nobody acts any
/// more: no server is started then.
pub(super) async fn recalled(
    opened: &Opened,
    recall: &Recall,
    acting: Option<&str>,
    notices: &mut Vec<String>,
) -> Result<Team, String> {
    let folder = opened.workspace.as_deref().unwrap_or(&recall.project);
    let around = |template: Option<Arc<Template>>, servers: &Servers| Circumstances {
        model: recall.model_name.clone().unwrap_or_else(|| opened.agent.model.clone()),
        check: opened.check.clone(),
        workspace: opened.workspace.clone(),
        tool_calls: recall.tool_calls,
        features: recall.features.clone(),
        parameters: recall.parameters.clone(),
        template,
        foreign: servers.offers(),
    };
    if recall.rehearsal.is_some() {
        let registry = Registry::built_in().map_err(|error| error.to_string())?;
        let servers = match acting {
            Some(_) => servers(None, recall, Path::new(folder), notices).await?,
            None => Arc::default(),
        };
        let roster = Roster::new(registry, PromptSystem::built_in(), around(None, &servers));
        return Ok(Team { roster: Arc::new(roster), servers });
    }
    let project = Path::new(&recall.project);
    let prompts = PromptSystem::load(project).map_err(|error| error.to_string())?;
    let library = prompts.library().map_err(|error| error.to_string())?;
    let registry = Registry::load(project).map_err(|error| error.to_string())?;
    let template = match &recall.template {
        Some(name) => Some(library.template(name).map_err(|error| error.to_string())?.clone()),
        None => None,
    };
    let servers = match acting {
        Some(agent) => {
            servers(Some((&registry, agent)), recall, Path::new(folder), notices).await?
        }
        None => Arc::default(),
    };
    let roster = Arc::new(Roster::new(registry, prompts, around(template, &servers)));
    Ok(Team { roster, servers })
}

/// The servers of a session; those of the registry are wanted for the agent that acts.
async fn servers(
    acting: Option<(&Registry, &str)>,
    recall: &Recall,
    folder: &Path,
    notices: &mut Vec<String>,
) -> Result<Arc<Servers>, String> {
    let mut wish = Wish::default();
    if let Some(path) = &recall.mcp {
        wish.file(Path::new(path))?;
    }
    if let Some((registry, agent)) = acting {
        wish.registry(registry, agent)?;
    }
    Servers::start(wish, folder, recall.mcp_required, notices).await
}

/// The file of servers, so that it is found from elsewhere, too.
fn mcp_file(args: &RunArgs) -> Result<Option<String>, String> {
    let Some(path) = &args.mcp else { return Ok(None) };
    let full = std::path::absolute(path).map_err(|error| format!("--mcp: {error}"))?;
    Ok(Some(full.display().to_string()))
}

/// The model of agents that name none, and the models of those that do.
fn models(
    args: &RunArgs,
    registry: &Registry,
    begins: &str,
) -> Result<(Option<ServedBy>, BTreeMap<String, ServedBy>), String> {
    let mut own = BTreeMap::new();
    for agent in registry.agents() {
        let Some(model) = &agent.model else { continue };
        own.insert(
            agent.name.clone(),
            ServedBy {
                provider: model.provider.to_string(),
                base_url: model.base_url.clone(),
                api_key_env: Some(model.api_key_env.clone()),
            },
        );
    }
    if args.model.server.name.is_some() {
        return Ok((Some(served_by(&args.model.server)?), own));
    }
    if own.contains_key(begins) {
        return Ok((None, own));
    }
    Err("no model is configured: name one with --model (and --provider, --base-url), with \
         STEERSMAN_MODEL, or in agents.yaml; without a task, `steersman run` plays a rehearsal"
        .to_owned())
}

fn served_by(args: &ServerArgs) -> Result<ServedBy, String> {
    let provider = args.provider.as_deref().unwrap_or("openai");
    let format: Format = provider
        .parse()
        .map_err(|error: steersman_wire::FormatError| format!("--provider: {error}"))?;
    Ok(ServedBy {
        provider: format.to_string(),
        base_url: args.base_url.clone(),
        api_key_env: args.api_key_env.clone(),
    })
}

/// The command that proves the goal: what is said, else what is found, where a check is of use.
fn check_of(
    args: &RunArgs,
    agent: &CheckChoice,
    template: Option<&Template>,
    workspace: &Path,
    notices: &mut Vec<String>,
) -> Option<String> {
    if args.no_check {
        return None;
    }
    if let Some(check) = &args.check {
        return Some(check.clone());
    }
    let unwanted = template.is_some_and(|template| template.check() == CheckUse::None);
    match agent {
        CheckChoice::Command(check) => Some(check.clone()),
        CheckChoice::None => None,
        CheckChoice::Auto if unwanted => None,
        CheckChoice::Auto => {
            let found = discover_check(workspace)?;
            notices.push(format!("check `{found}`, found in the project"));
            Some(found.to_owned())
        }
    }
}

fn read_task(task: &str) -> Result<String, String> {
    let mut text = task.to_owned();
    if task == "-" {
        text.clear();
        let read = std::io::stdin().lock().take(MAX_TASK + 1).read_to_string(&mut text);
        read.map_err(|error| format!("the task cannot be read from standard input: {error}"))?;
    }
    if text.trim().is_empty() {
        return Err("the task is empty".to_owned());
    }
    if text.len() as u64 > MAX_TASK {
        return Err(format!("the task is longer than {MAX_TASK} bytes"));
    }
    Ok(text)
}

fn folder(path: &Path) -> Result<PathBuf, String> {
    let shown = path.display();
    let full = path.canonicalize().map_err(|error| format!("--workspace {shown}: {error}"))?;
    if full.is_dir() { Ok(full) } else { Err(format!("--workspace {shown}: not a folder")) }
}
