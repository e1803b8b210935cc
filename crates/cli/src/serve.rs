//! `steersman serve`: a gateway between agents and their model servers.
//!
//! Exit codes: 0 it was told to end, 1 the configuration is bad, 2 wrong usage, a file that cannot
//! be read, or an address that cannot be listened on.

mod keeping;

use std::env;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;

use clap::Args;
use steersman_gateway::steering::policy_of;
use steersman_gateway::{Config, ConfigError, Ended, Handle, Mode, Server, Upstream};
use steersman_upstream::Options;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::stop::{self, BAD, Stop, USAGE, print, tell};
use keeping::Keeping;

/// Shown below the help.
const EXAMPLES: &str = "\
Examples:
  steersman serve
  steersman serve --upstream http://localhost:8080
  steersman serve --config gateway.yaml --mode off
  steersman serve --schema > gateway.schema.json

Signals: SIGHUP reads the configuration again; SIGINT and SIGTERM end the gateway once the answers
that are streaming are at their end, a second one ends it at once.
Exit codes: 0 it was told to end, 1 the configuration is bad,
2 wrong usage, a file that cannot be read, an address that cannot be listened on";

/// Stand between agents and their model servers
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ServeArgs {
    /// The configuration [default: gateway.yaml where it is there, else every default]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Address and port to listen on
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// The model server for every wire format
    #[arg(long, value_name = "URL")]
    upstream: Option<String>,
    /// What is done with calls, whatever the configuration's rules say
    #[arg(long, value_enum)]
    mode: Option<ModeArg>,
    /// Check the configuration and end
    #[arg(long)]
    check: bool,
    /// Print the JSON Schema of a configuration and end
    #[arg(long)]
    schema: bool,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum ModeArg {
    /// Calls are judged and what is decided is done
    Govern,
    /// Calls are judged and what would have been done is told
    Shadow,
    /// Calls pass through unread
    Off,
}

impl From<ModeArg> for Mode {
    fn from(mode: ModeArg) -> Self {
        match mode {
            ModeArg::Govern => Self::Govern,
            ModeArg::Shadow => Self::Shadow,
            ModeArg::Off => Self::Off,
        }
    }
}

impl From<ConfigError> for Stop {
    fn from(error: ConfigError) -> Self {
        let code = if matches!(error, ConfigError::Bad(_)) { BAD } else { USAGE };
        Self::Told(error.to_string(), code)
    }
}

/// Runs the verb.
pub(crate) fn run(args: &ServeArgs) -> ExitCode {
    stop::finish(serve(args))
}

fn serve(args: &ServeArgs) -> Result<ExitCode, Stop> {
    if args.schema {
        print(&steersman_gateway::schema_text())?;
        return Ok(ExitCode::SUCCESS);
    }
    let config = configuration(args)?;
    if args.check {
        print("the configuration is right\n")?;
        return Ok(ExitCode::SUCCESS);
    }
    let failed = |error: std::io::Error| Stop::Told(format!("error: {error}"), USAGE);
    // Connections have threads of their own; what is left is the journal, events and signals.
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let runtime = builder.worker_threads(2).enable_all().build();
    runtime.map_err(failed)?.block_on(listen(args, config))
}

/// The configuration of the file, with what the command line says laid over it.
fn configuration(args: &ServeArgs) -> Result<Config, Stop> {
    let mut config = match &args.config {
        Some(path) => Config::load(path)?,
        None if Path::new(FILE).exists() => Config::load(Path::new(FILE))?,
        None => Config::default(),
    };
    let wrong = |message: String| Stop::Told(format!("error: {message}"), USAGE);
    if let Some(url) = &args.upstream {
        config.upstreams = vec![Upstream::for_all(url).map_err(wrong)?];
    }
    if let Some(listen) = args.listen {
        config.listen = listen;
    }
    if let Some(mode) = args.mode {
        config.mode = mode.into();
        config.unknown_clients = mode.into();
        config.rules.clear();
    }
    config.check_listen().map_err(wrong)?;
    Ok(config)
}

/// The configuration that is read if none is named.
pub(crate) const FILE: &str = "gateway.yaml";

fn variable(name: &str) -> Option<String> {
    env::var(name).ok()
}

async fn listen(args: &ServeArgs, config: Config) -> Result<ExitCode, Stop> {
    let told = |message: String| Stop::Told(format!("error: {message}"), USAGE);
    // From here on a signal is an order and no accident.
    let signals = Signals::new().map_err(|error| told(error.to_string()))?;
    let wrong = |message: String| Stop::Told(format!("error: {message}"), BAD);
    let policy = policy_of(&config).map_err(wrong)?;
    let keeping = Keeping::begin(&config, policy, variable).await.map_err(told)?;
    let (governor, upstreams) = (Arc::clone(&keeping.governor), config.upstreams.clone());
    let server = Server::bind(config, governor, &Options::from_env(), variable).await;
    let server = server.map_err(|error| told(error.to_string()))?;
    let threads = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let server = server.with_threads(threads);
    let server = server.map_err(|error| told(format!("no threads: {error}")))?;
    let server = server.with_api(keeping.api.clone()).with_keys(Arc::clone(&keeping.ring));
    let server = server.with_ledger(Arc::clone(&keeping.ledger));
    let server = server.with_pages(steersman_dashboard::answer);
    print(&greeting(server.address(), &upstreams))?;
    let handle = server.handle();
    let running = tokio::spawn(server.run());
    let ended = signals.follow(args, &handle, running).await?;
    match keeping.end().await {
        0 => {}
        lost => tell(&format!("{lost} entries of journals could not be written"))?,
    }
    match ended.cut {
        0 => tell("ended")?,
        cut => tell(&format!("ended; answers on {cut} connections were cut off"))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// What is printed once the gateway listens.
fn greeting(address: SocketAddr, upstreams: &[Upstream]) -> String {
    let mut text = format!("listening on http://{address}\n\n");
    for Upstream { name, base_url, formats, .. } in upstreams {
        let formats = formats.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        text.push_str(&format!("  {formats} -> {base_url} ({name})\n"));
    }
    text.push_str(&format!("\nThe dashboard: http://{address}{}\n", steersman_dashboard::PATH));
    text.push_str(&format!(
        "\nPoint agents here; put /s/NAME behind the port to name a session:\n  \
         export ANTHROPIC_BASE_URL=http://{address}\n  \
         export OPENAI_BASE_URL=http://{address}/v1\n  \
         export OPENAI_API_BASE=http://{address}/v1\n  \
         export GOOGLE_GEMINI_BASE_URL=http://{address}\n"
    ));
    text
}

struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl Signals {
    fn new() -> std::io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// Does what signals say until the gateway has ended.
    async fn follow(
        mut self,
        args: &ServeArgs,
        handle: &Handle,
        mut running: tokio::task::JoinHandle<Ended>,
    ) -> Result<Ended, Stop> {
        let mut told_to_end = false;
        loop {
            tokio::select! {
                ended = &mut running => {
                    let failed = |error| Stop::Told(format!("error: {error}"), USAGE);
                    return ended.map_err(failed);
                }
                _ = self.hangup.recv() => reload(args, handle)?,
                _ = async { tokio::select! {
                    _ = self.interrupt.recv() => {}
                    _ = self.terminate.recv() => {}
                } } => {
                    if told_to_end {
                        handle.stop();
                    } else {
                        told_to_end = true;
                        tell("ending: answers that are streaming go on; once more ends at once")?;
                        handle.drain();
                    }
                }
            }
        }
    }
}

/// Reads the configuration again. A bad one is told, and the one before holds.
fn reload(args: &ServeArgs, handle: &Handle) -> Result<(), Stop> {
    let message = match configuration(args) {
        Ok(config) => match handle.reload(config, variable) {
            Ok(()) => "the configuration was read again".to_owned(),
            Err(error) => format!("error: {error}; the configuration before holds"),
        },
        Err(Stop::Told(error, _)) => format!("{error}\nthe configuration before holds"),
        Err(Stop::Output(error)) => return Err(Stop::Output(error)),
    };
    tell(&message)
}
