//! Reads the runs, learns from them, measures that on runs held out, and writes the policy.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use steersman_engine::Policy;
use steersman_engine::policy::Ceiling;
use steersman_evaluation::Evaluation;
use steersman_evaluation::learn::validate::validate;
use steersman_evaluation::learn::{self, Calibrated, Record};

use super::plan::Plan;
use super::{grounds, report};
use crate::graded::{self, Gathered};
use crate::reading::{Ending, Pass, Pipeline, interruption};
use crate::screen::{Screen, Tone};
use crate::text;

/// What was learned.
pub(crate) struct Learned {
    /// The model and its lines.
    pub(crate) calibrated: Calibrated,
    /// The policy with them.
    pub(crate) policy: Policy,
    /// How that does on runs held out.
    pub(crate) evaluation: Evaluation,
    /// Share of good runs that may be stopped.
    pub(crate) alpha: f64,
}

/// Reads, learns, measures, writes.
pub(crate) fn run(plan: Plan, screen: Screen, errors: Screen) -> Ending {
    let interrupted = interruption();
    let mut gathered = Gathered::default();
    let mut pass = Pass::new(errors);
    if plan.progress {
        pass = pass.metered(plan.arguments.clone());
    }
    for problem in &plan.heard.problems {
        pass.complain(Tone::Warn, "skipped", problem);
    }
    if plan.arguments.is_empty() {
        return match write_heard(&plan, &mut pass) {
            Ok(()) if plan.heard.problems.is_empty() => Ending::Complete,
            Ok(()) => Ending::Partial,
            Err(error) => {
                pass.complain(Tone::Bad, "error", &error.to_string());
                Ending::Failed
            }
        };
    }
    let filter = plan.setup.filter.clone();
    let setup = plan.setup.clone();
    let mut pipeline = Pipeline::start(plan.arguments.clone(), setup, plan.jobs.get());
    let taken = pass.take_all(&mut pipeline, &interrupted, &mut gathered);
    pipeline.stop();
    pass.clear();
    let ending = match taken {
        Ok(Ending::Interrupted) => {
            pass.complain(Tone::Warn, "interrupted", "nothing was learned or written");
            return Ending::Interrupted;
        }
        Ok(ending) => ending,
        Err(error) => {
            pass.complain(Tone::Bad, "error", &error.to_string());
            return Ending::Failed;
        }
    };
    if gathered.is_empty() {
        return pass.close(ending);
    }
    if let Some(message) = gathered.unknown(&filter, plan.by) {
        pass.complain(Tone::Bad, "error", &message);
        return Ending::Unclear;
    }
    // From here on the first Ctrl-C ends the process at once: nothing is written until the end.
    interrupted.store(true, std::sync::atomic::Ordering::Relaxed);
    match conclude(gathered.records, &plan, screen, &mut pass) {
        Ok(()) => pass.close(ending),
        // Whoever reads the output has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ending::Complete,
        Err(error) => {
            let _ = pass.close(ending);
            pass.complain(Tone::Bad, "error", &error.to_string());
            Ending::Failed
        }
    }
}

/// Says and writes what a journal alone has taught.
fn write_heard(plan: &Plan, pass: &mut Pass) -> io::Result<()> {
    let found = !plan.heard.changes.is_empty();
    if let Some(path) = plan.out.as_ref().filter(|_| found) {
        write(path, "# Learned by `steersman tune --journal`.\n\n", &plan.policy, plan.base)?;
        pass.complain(Tone::Good, "wrote", &path.display().to_string());
    }
    let mut out = BufWriter::new(io::stdout().lock());
    plan.heard.changes.iter().try_for_each(|change| writeln!(out, "{change}"))?;
    if !found {
        writeln!(out, "The journal holds too little to change anything.")?;
    }
    out.flush()
}

fn conclude(records: Vec<Record>, plan: &Plan, screen: Screen, pass: &mut Pass) -> io::Result<()> {
    let (mut records, notes) = grounds::usable(records);
    for note in notes {
        pass.complain(Tone::Dim, "note", &note);
    }
    grounds::check(&records, plan.alpha).map_err(io::Error::other)?;
    graded::shorten(records.iter_mut().map(|record| &mut record.episode), plan.by);
    let learned = learn(&records, plan);
    let any_line = learned.calibrated.risk.profiles.iter().any(|p| p.line.line.is_some());
    // Written before anything is shown: who stops reading the report still gets the policy.
    if let Some(path) = plan.out.as_ref().filter(|_| any_line) {
        write(path, &heading(&learned), &learned.policy, plan.base)?;
        pass.complain(Tone::Good, "wrote", &path.display().to_string());
    }
    show(&learned, plan, screen)?;
    if any_line {
        return Ok(());
    }
    Err(io::Error::other("no agent and model has enough runs for a line: nothing was written"))
}

fn show(learned: &Learned, plan: &Plan, screen: Screen) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    if plan.json {
        serde_json::to_writer_pretty(&mut out, &report::object(learned, plan.by))?;
        writeln!(out)?;
    } else {
        plan.heard.changes.iter().try_for_each(|change| writeln!(out, "{change}"))?;
        report::write(learned, plan.by, screen, &mut out)?;
    }
    out.flush()
}

fn learn(records: &[Record], plan: &Plan) -> Learned {
    let all: Vec<&Record> = records.iter().collect();
    let calibrated = learn::calibrate(&all, plan.alpha, &learn::fit);
    let mut policy = plan.policy.clone();
    policy.risk = calibrated.risk.clone();
    policy.name = format!("{} tuned to {}", policy.name, grounds::percent(plan.alpha));
    if policy.rules.score != Ceiling::Off
        && let Some(weights) = learn::fit_weights(&all)
    {
        policy.continuation.weights = weights;
    }
    let evaluation = validate(records, plan.alpha, plan.options, plan.jobs);
    Learned { calibrated, policy, evaluation, alpha: plan.alpha }
}

/// What stands above a learned policy.
fn heading(learned: &Learned) -> String {
    let runs: u64 = learned.evaluation.sources.iter().map(|source| source.runs).sum();
    format!(
        "# Learned by `steersman tune --alpha {}` from {}: of good runs at most {} are expected\n\
         # to be stopped. `risk` holds what each feature adds, and the line of each agent and \
         model.\n\n",
        learned.alpha,
        text::counted(runs, "run"),
        grounds::percent(learned.alpha),
    )
}

/// Writes a policy beside its place and moves it there, so that no half of it is ever read.
fn write(path: &Path, heading: &str, policy: &Policy, base: &str) -> io::Result<()> {
    let place =
        |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    let body = steersman_config::to_yaml_over(policy, base)
        .ok_or_else(|| io::Error::other(format!("there is no built-in policy {base}")))?;
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    let part = path.with_file_name(name);
    fs::write(&part, format!("{heading}{body}")).map_err(place)?;
    fs::rename(&part, path).map_err(|error| {
        // Nothing is left behind; that this failed too would say nothing new.
        let _ = fs::remove_file(&part);
        place(error)
    })
}
