//! What was found as JSON. Its shape is told in docs/probe.md; fields are only ever added.

use serde::Serialize;
use steersman_agent::probe::{Cost, Row, Setting, Speed, Standing};
use steersman_wire::Format;

use super::Findings;
use crate::stop::{Stop, USAGE};

/// The version of the shape.
const VERSION: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    probe: u32,
    server: &'a str,
    model: &'a str,
    format: Option<Format>,
    key_sent: bool,
    standing: Standing,
    why: &'a str,
    halted: Option<&'a str>,
    checks: &'a [Row],
    speed: Option<Speed>,
    cost: Cost,
    profile: Option<Profile<'a>>,
}

#[derive(Serialize)]
struct Profile<'a> {
    settings: &'a [Setting],
    no_stream: Option<&'a str>,
    agents_yaml: String,
}

/// The document, with a line end.
pub(super) fn document(findings: &Findings<'_>) -> Result<String, Stop> {
    let report = &findings.report;
    let profile = match (&report.advice, findings.registry()) {
        (Some(advice), Some(agents_yaml)) => Some(Profile {
            settings: &advice.settings,
            no_stream: advice.no_stream.as_deref(),
            agents_yaml,
        }),
        _ => None,
    };
    let document = Document {
        probe: VERSION,
        server: findings.server,
        model: &report.model,
        format: report.format,
        key_sent: findings.has_key,
        standing: report.standing,
        why: &report.why,
        halted: report.halted.as_deref(),
        checks: &report.rows,
        speed: report.speed,
        cost: report.cost,
        profile,
    };
    let text = serde_json::to_string_pretty(&document);
    let text = text.map_err(|error| Stop::Told(format!("error: {error}"), USAGE))?;
    Ok(text + "\n")
}
