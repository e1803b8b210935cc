//! `steersman probe`: what a server and its model can really do.
//!
//! Exit codes: 0 usable for agents, 1 not usable, 2 wrong usage, 3 no answer, 130 left.

mod args;
mod json;
mod table;

use std::io::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use steersman_agent::probe::{Line, MAX_REQUESTS, Probe, Report, Standing, Step, Where, conduct};
use steersman_upstream::{Client, Deadlines, Endpoint, EndpointError, Options};
use steersman_wire::{Format, FormatError};

pub(crate) use args::ProbeArgs;

use crate::run::{block_on, endpoint};
use crate::screen::{Colour, Screen, Tone};
use crate::stop::{self, BAD, Stop, USAGE, print};
use crate::text;

/// No answer came in any format, or the probe ended too early to tell.
const UNANSWERED: u8 = 3;

/// Left with Ctrl-C.
const LEFT: u8 = 130;

/// The variable that holds a key for any server.
const ANY_KEY: &str = "STEERSMAN_API_KEY";

/// What was found, and where.
struct Findings<'a> {
    report: Report,
    /// The address that was asked.
    server: &'a str,
    has_key: bool,
    /// Where the model is, for the registry; `None` if no format was answered in.
    place: Option<Where<'a>>,
}

impl Findings<'_> {
    /// The `agents.yaml`; `None` if the model is of no use for agents.
    fn registry(&self) -> Option<String> {
        let advice = self.report.advice.as_ref()?;
        Some(advice.registry(&self.report.model, self.place?))
    }
}

/// Runs the verb.
pub(crate) fn run(args: &ProbeArgs, colour: Colour) -> ExitCode {
    stop::finish(ask(args, colour))
}

fn ask(args: &ProbeArgs, colour: Colour) -> Result<ExitCode, Stop> {
    let usage = |message: String| Stop::Told(format!("error: {message}"), USAGE);
    let model = args.server.name.as_deref().unwrap_or_default().trim();
    if model.is_empty() {
        return Err(usage("no model: name it with --model, as its server knows it".to_owned()));
    }
    let formats = formats(args).map_err(usage)?;
    let endpoints = endpoints(args, &formats).map_err(usage)?;
    let client = Client::new(&Options::from_env()).map_err(|error| usage(error.to_string()))?;
    let limit = Duration::from_secs(args.timeout);
    let deadlines = Deadlines { first_byte: limit, between_bytes: limit, total: limit };
    let line = Line { client, endpoints, deadlines };
    let mut probe = Probe::new(model, &formats, args.output_tokens);
    let progress = Progress(Screen::stderr(colour));
    let left = block_on(async {
        let asked = conduct(&line, &mut probe, |probe, step| progress.tell(probe, step));
        Ok(tokio::select! {
            () = asked => false,
            _ = tokio::signal::ctrl_c() => true,
        })
    });
    progress.clear();
    if left.map_err(usage)? {
        probe.leave();
    }
    conclude(args, &line.endpoints, Report::of(&probe), colour)
}

fn conclude(
    args: &ProbeArgs,
    endpoints: &[Endpoint],
    report: Report,
    colour: Colour,
) -> Result<ExitCode, Stop> {
    let spoken = endpoints.iter().find(|endpoint| Some(endpoint.format()) == report.format);
    let asked = spoken.or(endpoints.first());
    let findings = Findings {
        server: asked.map_or("", Endpoint::base_url),
        has_key: asked.is_some_and(Endpoint::has_key),
        place: spoken.map(|endpoint| Where {
            format: endpoint.format(),
            base_url: args.server.base_url.as_ref().map(|_| endpoint.base_url()),
            api_key_env: args.server.api_key_env.as_deref(),
        }),
        report,
    };
    if args.json {
        print(&json::document(&findings)?)?;
    } else {
        print(&table::render(&findings, Screen::stdout(colour)))?;
    }
    let (report, server) = (&findings.report, text::plain(findings.server));
    if report.halted.as_deref() == Some(Probe::LEFT) {
        return Ok(ExitCode::from(LEFT));
    }
    let message = match report.standing {
        Standing::Usable => return Ok(ExitCode::SUCCESS),
        Standing::Unusable => return Ok(ExitCode::from(BAD)),
        Standing::Unfinished => return Ok(ExitCode::from(UNANSWERED)),
        Standing::Unanswered => format!("error: {server}: {}", text::plain(&report.why)),
    };
    let hint = if report.refused_key && !findings.has_key {
        format!("\nhelp: no key was sent: set {ANY_KEY}, or name its variable with --api-key-env")
    } else {
        String::new()
    };
    Err(Stop::Told(message + &hint, UNANSWERED))
}

/// The formats that are tried, the best first.
fn formats(args: &ProbeArgs) -> Result<Vec<Format>, String> {
    match (args.server.provider.as_deref(), &args.server.base_url) {
        (Some(provider), _) => {
            let format =
                provider.parse().map_err(|error: FormatError| format!("--provider: {error}"))?;
            Ok(vec![format])
        }
        (None, Some(_)) => Ok(Format::ALL.to_vec()),
        (None, None) => Err("no server: name it with --base-url, or with --provider the one of a \
             provider"
            .to_owned()),
    }
}

fn endpoints(args: &ProbeArgs, formats: &[Format]) -> Result<Vec<Endpoint>, String> {
    let (base_url, named) = (args.server.base_url.as_deref(), args.server.api_key_env.as_deref());
    if let Some(variable) = named
        && std::env::var(variable).map_or(true, |key| key.trim().is_empty())
    {
        return Err(format!("--api-key-env: the environment variable {variable} is not set"));
    }
    let one = |format: &Format| -> Result<Endpoint, EndpointError> {
        let own = base_url.is_none_or(|url| url.trim_end_matches('/') == format.default_base_url());
        if named.is_some() || own || formats.len() == 1 {
            return endpoint(*format, base_url, named);
        }
        // A server of unknown kind is not sent the keys of every provider.
        let any = |name: &str| if name == ANY_KEY { std::env::var(name).ok() } else { None };
        Endpoint::from_variables(*format, base_url, any)
    };
    formats.iter().map(one).collect::<Result<_, _>>().map_err(|error| match named {
        Some(variable) => format!("{error} (the key is the one in {variable})"),
        None => error.to_string(),
    })
}

/// A line on a terminal that tells what is asked.
struct Progress(Screen);

impl Progress {
    fn tell(&self, probe: &Probe, step: Step) {
        let Some(width) = self.0.width else { return };
        let line = format!("{} of at most {MAX_REQUESTS}: {}", probe.asked() + 1, step.sent());
        let line = text::cut_end(&line, width.saturating_sub(1));
        let mut stream = std::io::stderr().lock();
        // What cannot be shown is no reason to stop.
        let _ = write!(stream, "\r{}\x1b[K", self.0.paint(Tone::Dim, &line));
        let _ = stream.flush();
    }

    fn clear(&self) {
        if self.0.width.is_some() {
            let _ = write!(std::io::stderr().lock(), "\r\x1b[K");
        }
    }
}
