//! `steersman agents`: list and check the agents of a project.
//!
//! Exit codes: 0 all is well, 1 a file is bad, 2 wrong usage or a file that cannot be read.

use std::env;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde_json::json;
use steersman_prompt::{Agent, PromptSystem, Registry, agents_schema_text};

use crate::prompt::{load_here, print_json};
use crate::stop::{self, Stop, print, tell};

/// Shown below the help.
const EXAMPLES: &str = "\
Examples:
  steersman agents list
  steersman agents check
  steersman agents check .steersman/agents.yaml
  steersman agents schema > agents.schema.json

Exit codes: 0 all is well, 1 a file is bad,
2 wrong usage or a file that cannot be read";

/// List and check the agents of a project
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AgentsArgs {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List the agents that hold here
    List(ListArgs),
    /// Check the registry of agents, and the prompt files it names
    Check(CheckArgs),
    /// Print the JSON Schema of a registry
    Schema,
}

#[derive(Debug, Args)]
struct ListArgs {
    /// As JSON, with everything that is set
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct CheckArgs {
    /// The registry to check; without it, the one that holds here
    file: Option<PathBuf>,
}

/// Runs the verb: 0 all is well, 1 a file is bad, 2 wrong usage or a file that cannot be read.
pub(crate) fn run(args: AgentsArgs) -> ExitCode {
    stop::finish(match args.verb {
        Verb::List(args) => list(&args),
        Verb::Check(args) => check(&args),
        Verb::Schema => print(&agents_schema_text()).map(|()| ExitCode::SUCCESS),
    })
}

fn list(args: &ListArgs) -> Result<ExitCode, Stop> {
    let (_, registry) = load_here()?;
    if args.json {
        let file = registry.path().map(|path| path.display().to_string());
        let default = registry.default_agent();
        print_json(&json!({ "file": file, "default": default, "agents": registry.agents() }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let widest = registry.agents().iter().map(|agent| agent.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for agent in registry.agents() {
        let mark = if agent.name == registry.default_agent() { "*" } else { " " };
        let line = format!("{mark} {:widest$}  {}", agent.name, about(agent));
        text.push_str(&format!("{}\n", line.trim_end()));
    }
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// What an agent is for, its model, and to whom it may hand over.
fn about(agent: &Agent) -> String {
    let description = (!agent.description.is_empty()).then(|| agent.description.clone());
    let model = agent.model.as_ref().map(|model| format!("model {}", model.name));
    let targets = agent.may_hand_over_to.join(", ");
    let hands = (!targets.is_empty()).then(|| format!("may hand over to {targets}"));
    [description, model, hands].into_iter().flatten().collect::<Vec<_>>().join("; ")
}

fn check(args: &CheckArgs) -> Result<ExitCode, Stop> {
    let here = env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
    let prompts = PromptSystem::load(&here)?;
    let registry = match &args.file {
        Some(file) => Registry::load_file(file)?,
        None => Registry::load(&here)?,
    };
    registry.check(&*prompts.library()?)?;
    match registry.path() {
        Some(path) => {
            // Shown as the user would name it.
            let shown: &Path = path.strip_prefix(&here).unwrap_or(path);
            print(&format!("{}: ok\n", shown.display()))?;
        }
        None => tell("note: no agents.yaml here: the built-in agents hold")?,
    }
    Ok(ExitCode::SUCCESS)
}
