//! `steersman prompt`: show the prompts that agents read, and the files they are made of.
//!
//! Exit codes: 0 all is well, 1 a file is bad, 2 wrong usage or a file that cannot be read.

use std::env;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde_json::{Value as Json, json};
use steersman_prompt::{
    Agent, Kind, Library, Origin, PromptError, PromptFile, PromptSystem, Registry, Template,
    TemplateChoice, ToolInstruction, built_in_tools, choose,
};

use crate::config::pair;
use crate::stop::{self, Stop, print, tell};

/// Shown below the help.
const EXAMPLES: &str = "\
Examples:
  steersman prompt show
  steersman prompt show reviewer --feature mailbox_protocol --param agents=coder
  steersman prompt show coder --no-shared --no-tools
  steersman prompt show coder --task 'make the tests pass' --model gpt-5
  steersman prompt list

Exit codes: 0 all is well, 1 a file is bad,
2 wrong usage or a file that cannot be read";

/// Show the prompts that agents read, and the files they are made of
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PromptArgs {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Show the prompt of an agent as the model reads it
    Show(ShowArgs),
    /// List the prompt files that hold here, and where each comes from
    List(ListArgs),
}

#[derive(Debug, Args)]
struct ShowArgs {
    /// The agent; without it, the one that begins a session
    agent: Option<String>,
    /// Switch a feature on (repeatable)
    #[arg(long, value_name = "NAME")]
    feature: Vec<String>,
    /// Switch a feature off (repeatable)
    #[arg(long, value_name = "NAME")]
    no_feature: Vec<String>,
    /// Give a parameter a value: workspace=/src (repeatable)
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    param: Vec<(String, String)>,
    /// Leave out shared parts
    #[arg(long)]
    no_shared: bool,
    /// Tell of the built-in tools that the agent has; so it is unless --no-tools is given
    #[arg(long, overrides_with = "no_tools")]
    tools: bool,
    /// Leave out the tools
    #[arg(long)]
    no_tools: bool,
    /// Add the part of a template
    #[arg(long, value_name = "NAME", conflicts_with = "task")]
    template: Option<String>,
    /// Add the part of the template that suits a task
    #[arg(long, value_name = "TEXT")]
    task: Option<String>,
    /// Add hints for a model; without it, for the agent's own
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// As JSON, with what it was made of
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct ListArgs {
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// Runs the verb: 0 all is well, 1 a file is bad, 2 wrong usage or a file that cannot be read.
pub(crate) fn run(args: PromptArgs) -> ExitCode {
    stop::finish(match args.verb {
        Verb::Show(args) => show(&args),
        Verb::List(args) => list(&args),
    })
}

/// The prompts and agents that hold in the working directory.
pub(crate) fn load_here() -> Result<(PromptSystem, Registry), PromptError> {
    let here = env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
    let (prompts, registry) = (PromptSystem::load(&here)?, Registry::load(&here)?);
    registry.check(&*prompts.library()?)?;
    Ok((prompts, registry))
}

fn show(args: &ShowArgs) -> Result<ExitCode, Stop> {
    let (prompts, registry) = load_here()?;
    let library = prompts.library()?;
    let agent = registry.agent(args.agent.as_deref().unwrap_or(registry.default_agent()))?;
    let template = template(args, agent, &library)?;
    let model = args.model.as_deref().or(agent.model.as_ref().map(|model| model.name.as_str()));
    let profile = model.map(|model| registry.profile(agent, model));
    let tools = tools(args, agent);
    let mut request = agent.request(&tools);
    request.include_shared = !args.no_shared;
    request.model = profile.as_ref();
    request.template = template;
    let switched = args.feature.iter().map(|name| (name, true));
    request.features.extend(
        switched
            .chain(args.no_feature.iter().map(|name| (name, false)))
            .map(|(name, on)| (name.clone(), on)),
    );
    request.parameters.extend(args.param.iter().cloned());
    let prompt = prompts.compose(&request)?;
    if !args.json {
        print(&prompt)?;
        return Ok(ExitCode::SUCCESS);
    }
    let shown = json!({
        "agent": agent.name,
        "model": model,
        "profile": profile,
        "template": template.map(Template::name),
        "features": request.features,
        "parameters": request.parameters,
        "tools": tools.iter().map(|tool| &tool.name).collect::<Vec<_>>(),
        "bytes": prompt.len(),
        "prompt": &*prompt,
    });
    print_json(&shown)?;
    Ok(ExitCode::SUCCESS)
}

/// The built-in tools that the agent has.
fn tools(args: &ShowArgs, agent: &Agent) -> Vec<ToolInstruction> {
    if args.no_tools && !args.tools {
        return Vec::new();
    }
    let mut tools = built_in_tools();
    tools.retain(|tool| agent.tools.allows(&tool.name));
    tools
}

/// The template that is asked for; without a task, that of the agent if it names one.
fn template<'l>(
    args: &ShowArgs,
    agent: &Agent,
    library: &'l Library,
) -> Result<Option<&'l Template>, Stop> {
    let own = match &agent.template {
        TemplateChoice::Named(name) => Some(name.as_str()),
        _ => None,
    };
    if let Some(name) = args.template.as_deref().or(own) {
        return Ok(Some(library.template(name)?));
    }
    let Some(task) = args.task.as_deref().filter(|_| agent.template == TemplateChoice::Auto) else {
        return Ok(None);
    };
    let Some(choice) = choose(task, library.templates()) else { return Ok(None) };
    tell(&format!("note: template {choice}"))?;
    Ok(Some(choice.template))
}

fn list(args: &ListArgs) -> Result<ExitCode, Stop> {
    let (prompts, _) = load_here()?;
    let files = prompts.library()?.files();
    if args.json {
        let shown: Vec<Json> = files.iter().map(file_json).collect();
        print_json(&Json::Array(shown))?;
        return Ok(ExitCode::SUCCESS);
    }
    let widest = files.iter().map(|file| file.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for kind in Kind::ALL {
        let of_kind: Vec<&PromptFile> = files.iter().filter(|file| file.kind == kind).collect();
        if of_kind.is_empty() {
            continue;
        }
        let gap = if text.is_empty() { "" } else { "\n" };
        text.push_str(&format!("{gap}{}\n", kind.folder()));
        for file in of_kind {
            let off = if file.enabled { "" } else { " (off)" };
            let origin = origin(&file.origin);
            let line = format!("  {:widest$}  {origin:8}  {}{off}", file.name, file.title);
            text.push_str(&format!("{}\n", line.trim_end()));
        }
    }
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn file_json(file: &PromptFile) -> Json {
    let folder = match &file.origin {
        Origin::Project(folder) | Origin::User(folder) => Some(folder.as_path()),
        Origin::BuiltIn => None,
    };
    let path = |folder: &Path| {
        let name = format!("{}{}", file.name, file.kind.ending());
        folder.join(file.kind.folder()).join(name).display().to_string()
    };
    json!({
        "kind": file.kind.folder(),
        "name": file.name,
        "title": file.title,
        "origin": origin(&file.origin),
        "path": folder.map(path),
        "enabled": file.enabled,
    })
}

fn origin(origin: &Origin) -> &'static str {
    match origin {
        Origin::Project(_) => "project",
        Origin::User(_) => "user",
        Origin::BuiltIn => "built-in",
    }
}

/// Writes a value to stdout.
pub(crate) fn print_json(value: &Json) -> Result<(), Stop> {
    // A JSON value serialises without fail.
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    print(&format!("{text}\n"))
}
