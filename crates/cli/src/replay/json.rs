//! One JSON object per run.
//!
//! The format is described in `docs/replay.md` and `schema/replay.schema.json`. Fields may be
//! added; what is there keeps name and meaning as long as [`SCHEMA`] stays the same.

use std::io::{self, Write};

use serde::Serialize;
use steersman_trace::Outcome;

use super::report::{Made, Point, RunReport, Verdict};

/// Version of the format.
pub(crate) const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct Run<'a> {
    schema: u32,
    id: &'a str,
    file: &'a str,
    line: u64,
    format: &'a str,
    agent: &'a str,
    model: &'a str,
    instance: &'a str,
    outcome: Option<&'static str>,
    turns: u32,
    calls: u32,
    tokens: Tokens,
    cost_nanodollars: u64,
    #[serde(flatten)]
    verdict: Judged<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shadow_diff: Option<Judged<'a>>,
    truncated: bool,
    problems: &'a [String],
}

#[derive(Serialize)]
struct Tokens {
    input: u64,
    output: u64,
}

#[derive(Serialize)]
struct Judged<'a> {
    policy: &'a str,
    decisions: Vec<Decided<'a>>,
    decision_count: u32,
    first_ending: Option<Moment>,
    calls_after_ending: Option<u32>,
}

#[derive(Serialize)]
struct Moment {
    turn: u32,
    call: u32,
}

#[derive(Serialize)]
struct Decided<'a> {
    turn: u32,
    call: u32,
    action: &'static str,
    reason: &'static str,
    message: &'a str,
    score: f32,
    evidence: Evidence<'a>,
    intervention: Option<Intervention<'a>>,
    shadow: bool,
}

#[derive(Serialize)]
struct Evidence<'a> {
    turns: &'a [u32],
    excerpt: &'a str,
}

#[derive(Serialize)]
struct Intervention<'a> {
    template: &'a str,
    text: &'a str,
}

/// The outcome's name in files.
pub(crate) fn outcome_name(outcome: Option<Outcome>) -> Option<&'static str> {
    outcome.map(|outcome| match outcome {
        Outcome::Solved => "solved",
        Outcome::Unsolved => "unsolved",
    })
}

/// Writes a run as one line.
pub(crate) fn write_run(report: &RunReport, out: &mut dyn Write) -> io::Result<()> {
    let run = Run {
        schema: SCHEMA,
        id: &report.id,
        file: &report.source.name,
        line: report.line,
        format: &report.source.format,
        agent: &report.agent,
        model: &report.model,
        instance: &report.instance,
        outcome: outcome_name(report.outcome),
        turns: report.turns,
        calls: report.calls,
        tokens: Tokens { input: report.usage.input_tokens, output: report.usage.output_tokens },
        cost_nanodollars: report.usage.cost_nanodollars,
        verdict: judged(report, &report.verdict),
        shadow_diff: report.other.as_ref().map(|other| judged(report, other)),
        truncated: report.truncated,
        problems: &report.problems,
    };
    serde_json::to_writer(&mut *out, &run)?;
    out.write_all(b"\n")
}

fn judged<'a>(report: &RunReport, verdict: &'a Verdict) -> Judged<'a> {
    Judged {
        policy: &verdict.policy,
        decisions: verdict.decisions.iter().map(decided).collect(),
        decision_count: verdict.count,
        first_ending: verdict
            .ending
            .as_ref()
            .map(|&Point { turn, call, .. }| Moment { turn, call }),
        calls_after_ending: verdict.ending.as_ref().map(|ending| report.after(ending).calls),
    }
}

fn decided(made: &Made) -> Decided<'_> {
    Decided {
        turn: made.point.turn,
        call: made.point.call,
        action: made.point.kind.action.name(),
        reason: made.point.kind.reason,
        message: &made.message,
        score: made.score,
        evidence: Evidence { turns: &made.turns, excerpt: &made.excerpt },
        intervention: made
            .intervention
            .as_ref()
            .map(|(template, text)| Intervention { template, text }),
        shadow: made.shadow,
    }
}
