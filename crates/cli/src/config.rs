//! `steersman config`: write, check and show policies.
//!
//! Exit codes: 0 all is well, 1 a policy is bad, 2 wrong usage or a file that cannot be read or
//! written. Results go to stdout; errors and notices go to stderr.

use std::env;
use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use steersman_config::{LoadError, Loaded, MAX_BYTES};

use crate::stop::{self, BAD, Stop, USAGE, print, tell};

/// Name of stdin in messages.
const STDIN: &str = "<stdin>";

/// Shown below the help.
const EXAMPLES: &str = "\
Examples:
  steersman config init --base classic
  steersman config check - < steersman.yaml
  steersman config show --policy classic --set loops.cycle.notice=2 --diff
  steersman config show --json

Exit codes: 0 all is well, 1 a policy is bad,
2 wrong usage or a file that cannot be read or written";

/// Write, check or show the policy that decisions follow
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Write a policy file in which every key is explained
    Init(InitArgs),
    /// Check policy files
    ///
    /// Exit code 0 if all are right, 1 if one is bad, 2 if one cannot be read.
    Check(CheckArgs),
    /// Show the policy that holds
    Show(ShowArgs),
    /// Print the JSON Schema of a policy file
    Schema,
}

#[derive(Debug, Args)]
struct InitArgs {
    /// The file to write
    #[arg(default_value = "steersman.yaml")]
    file: PathBuf,
    /// The built-in policy to start from
    #[arg(long, default_value = "default", value_name = "NAME")]
    base: String,
    /// Write over a file that is there
    #[arg(long)]
    force: bool,
}

#[derive(Debug, Args)]
struct CheckArgs {
    /// Files to check, - for stdin; without any, the file that holds here
    files: Vec<PathBuf>,
}

#[derive(Debug, Args)]
struct ShowArgs {
    /// A built-in policy or a file; without it, the file that holds here, else `default`
    #[arg(long, value_name = "NAME|FILE")]
    policy: Option<String>,
    /// Set one key: loops.cycle.notice=5 (repeatable)
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair)]
    set: Vec<(String, String)>,
    /// As JSON
    #[arg(long)]
    json: bool,
    /// Only what differs from the built-in policy it starts from
    #[arg(long, conflicts_with = "json")]
    diff: bool,
}

/// Splits `key=value`. An equals sign in quotes belongs to the key.
pub(crate) fn pair(text: &str) -> Result<(String, String), String> {
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (None, '=') => return Ok((text[..at].to_owned(), text[at + 1..].to_owned())),
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            _ => {}
        }
    }
    Err("no value: write KEY=VALUE".to_owned())
}

impl From<LoadError> for Stop {
    fn from(error: LoadError) -> Self {
        let code = code(&error);
        Self::Told(error.to_string(), code)
    }
}

fn code(error: &LoadError) -> u8 {
    match error {
        LoadError::Bad(_) => BAD,
        LoadError::Unreadable { .. } | LoadError::Unknown(_) => USAGE,
    }
}

/// Runs the verb: 0 all is well, 1 a policy is bad, 2 wrong usage or a file that cannot be read or
/// written.
pub(crate) fn run(args: ConfigArgs) -> ExitCode {
    let outcome = match args.verb {
        Verb::Init(args) => init(&args),
        Verb::Check(args) => check(&args),
        Verb::Show(args) => show(&args),
        Verb::Schema => print(&steersman_config::schema_text()).map(|()| ExitCode::SUCCESS),
    };
    stop::finish(outcome)
}

fn init(args: &InitArgs) -> Result<ExitCode, Stop> {
    let Some(text) = steersman_config::template(&args.base) else {
        let known = steersman_engine::Policy::BUILT_IN.join(", ");
        let message = format!("error: no built-in policy `{}`; there are {known}", args.base);
        return Err(Stop::Told(message, USAGE));
    };
    let mut options = OpenOptions::new();
    options.write(true);
    if args.force {
        options.create(true).truncate(true);
    } else {
        options.create_new(true);
    }
    let shown = args.file.display();
    let written = options.open(&args.file).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| {
        let message = if error.kind() == io::ErrorKind::AlreadyExists {
            format!("error: {shown} is there already\n = help: --force writes over it")
        } else {
            format!("error: cannot write {shown}: {error}")
        };
        Stop::Told(message, USAGE)
    })?;
    tell(&format!("wrote {shown}"))?;
    Ok(ExitCode::SUCCESS)
}

fn check(args: &CheckArgs) -> Result<ExitCode, Stop> {
    let mut files = args.files.clone();
    if files.is_empty() {
        files.extend(found_here());
    }
    if files.is_empty() {
        let message = "error: no policy file here\n = help: `steersman config init` writes one";
        return Err(Stop::Told(message.to_owned(), USAGE));
    }
    let mut worst = 0;
    for file in &files {
        match load(file) {
            Ok(loaded) => {
                tell_notices(&loaded)?;
                print(&format!("{}: ok\n", name(file)))?;
            }
            Err(error) => {
                tell(&error.to_string())?;
                worst = worst.max(code(&error));
            }
        }
    }
    Ok(ExitCode::from(worst))
}

fn show(args: &ShowArgs) -> Result<ExitCode, Stop> {
    let loaded = match &args.policy {
        Some(name) if name == "-" => load(Path::new("-"))?,
        Some(name) => steersman_config::resolve(name)?,
        None => match found_here() {
            Some(file) => steersman_config::load(&file)?,
            None => steersman_config::resolve("default")?,
        },
    };
    tell_notices(&loaded)?;
    let sets: Vec<(&str, &str)> =
        args.set.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    let policy = steersman_config::with_overrides(loaded.policy, &sets)?;
    let text = if args.json {
        steersman_config::to_json_text(&policy)
    } else if args.diff {
        steersman_config::to_yaml_over(&policy, loaded.base).unwrap_or_default()
    } else {
        steersman_config::to_yaml(&policy)
    };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// The name under which a file is spoken of.
fn name(file: &Path) -> String {
    if file == Path::new("-") { STDIN.to_owned() } else { file.display().to_string() }
}

/// Reads a policy file; `-` is stdin.
fn load(file: &Path) -> Result<Loaded, LoadError> {
    if file != Path::new("-") {
        return steersman_config::load(file);
    }
    let mut bytes = Vec::new();
    let limit = MAX_BYTES as u64 + 1;
    let read = io::stdin().lock().take(limit).read_to_end(&mut bytes);
    read.map_err(|cause| LoadError::Unreadable { path: STDIN.into(), cause })?;
    steersman_config::parse_bytes(STDIN, &bytes)
}

/// The policy file that holds in the working directory.
fn found_here() -> Option<PathBuf> {
    let here = env::current_dir().ok()?;
    let found = steersman_config::find(&here)?;
    // Shown and named as the user would.
    Some(found.strip_prefix(&here).map(Path::to_owned).unwrap_or(found))
}

fn tell_notices(loaded: &Loaded) -> Result<(), Stop> {
    for notice in &loaded.notices {
        tell(&notice.to_string())?;
    }
    Ok(())
}
