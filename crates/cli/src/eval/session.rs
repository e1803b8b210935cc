//! Gathers episodes, measures them, and shows what came out.

use std::io::{self, BufWriter, Write};

use steersman_evaluation::compare::conformal;
use steersman_evaluation::{Episode, Evaluation, evaluate};

use super::plan::{Plan, Subject};
use super::{html, json, table};
use crate::graded::{self, Filter, Gathered};
use crate::reading::{Ending, GroupBy, Pass, Pipeline, interruption};
use crate::screen::{Screen, Tone};

/// Judges, measures and shows.
pub(crate) fn run(plan: Plan, screen: Screen, errors: Screen) -> Ending {
    let interrupted = interruption();
    let mut gathered = Gathered::default();
    let mut pass = Pass::new(errors);
    if plan.progress {
        pass = pass.metered(plan.arguments.clone());
    }
    let filter = plan.setup.filter.clone();
    let mut pipeline = Pipeline::start(plan.arguments.clone(), plan.setup, plan.jobs);
    let shown = Shown {
        subjects: plan.subjects,
        by: plan.by,
        json: plan.json,
        html: plan.html,
        options: plan.options,
    };
    let taken = pass.take_all(&mut pipeline, &interrupted, &mut gathered);
    pipeline.stop();
    pass.clear();
    match taken.and_then(|ending| finish(gathered, &filter, &shown, screen, &mut pass, ending)) {
        Ok(ending) => ending,
        // Whoever reads the output has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ending::Complete,
        Err(error) => {
            pass.complain(Tone::Bad, "error", &format!("cannot write: {error}"));
            Ending::Failed
        }
    }
}

/// What is shown, and how.
struct Shown {
    subjects: Vec<Subject>,
    by: GroupBy,
    json: bool,
    html: Option<std::path::PathBuf>,
    options: steersman_evaluation::Options,
}

fn finish(
    gathered: Gathered,
    filter: &Filter,
    shown: &Shown,
    screen: Screen,
    pass: &mut Pass,
    ending: Ending,
) -> io::Result<Ending> {
    if gathered.is_empty() {
        return Ok(pass.close(ending));
    }
    if let Some(message) = gathered.unknown(filter, shown.by) {
        pass.complain(Tone::Bad, "error", &message);
        return Ok(Ending::Unclear);
    }
    let records = gathered.records.into_iter();
    let mut episodes: Vec<Episode> = records.map(|record| record.episode).collect();
    graded::shorten(&mut episodes, shown.by);
    if let Err(message) = check(&episodes) {
        let _ = pass.close(ending);
        pass.complain(Tone::Bad, "error", &message);
        return Ok(Ending::Failed);
    }
    let evaluation = measure(&mut episodes, shown);
    show(&evaluation, shown, screen)?;
    if let Some(path) = &shown.html {
        html::write(path, &evaluation, shown.by, &shown.subjects).map_err(|error| {
            io::Error::new(error.kind(), format!("{}: {error}", path.display()))
        })?;
        pass.complain(Tone::Good, "wrote", &path.display().to_string());
    }
    for note in notes(&evaluation) {
        pass.complain(Tone::Dim, "note", &note);
    }
    Ok(pass.close(ending))
}

fn measure(episodes: &mut [Episode], shown: &Shown) -> Evaluation {
    let fitted =
        shown.subjects.iter().position(|it| it.about.is_some() && it.name == conformal::NAME);
    if let Some(position) = fitted {
        conformal::decide(episodes, position);
    }
    let names: Vec<String> = shown.subjects.iter().map(|subject| subject.name.clone()).collect();
    evaluate(episodes, &names, shown.options)
}

fn show(evaluation: &Evaluation, shown: &Shown, screen: Screen) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    if shown.json {
        let value = json::object(evaluation, shown.by, &shown.subjects);
        serde_json::to_writer_pretty(&mut out, &value)?;
        writeln!(out)?;
    } else {
        table::write(evaluation, shown.by, &shown.subjects, screen, &mut out)?;
    }
    out.flush()
}

/// What stands in the way of measuring anything at all.
fn check(episodes: &[Episode]) -> Result<(), String> {
    if episodes.is_empty() {
        return Err("every source was left out".to_owned());
    }
    let graded = episodes.iter().any(|episode| episode.solved.is_some());
    let labelled = || episodes.iter().flat_map(|it| &it.labels).any(|label| label.is_onset());
    if graded || labelled() {
        return Ok(());
    }
    let runs = match episodes.len() {
        1 => "the only run has no outcome".to_owned(),
        runs => format!("none of the {runs} runs has an outcome"),
    };
    Err(format!(
        "{runs}: to measure decisions, runs must be graded solved or unsolved, \
         e.g. \"outcome\": {{\"solved\": true}} (docs/traces.md says where each format has it)"
    ))
}

/// What cannot be measured on these runs, and why.
fn notes(evaluation: &Evaluation) -> Vec<String> {
    let sum = |of: fn(&steersman_evaluation::SourceRow) -> u64| {
        evaluation.sources.iter().map(of).sum::<u64>()
    };
    let (solved, unsolved) = (sum(|it| it.solved), sum(|it| it.unsolved));
    let mut notes = Vec::new();
    match (solved, unsolved) {
        (0, 0) => {
            notes.push("no run has an outcome: only the delay after labels was measured".to_owned())
        }
        (0, _) => notes.push(
            "no run is solved: harm and disturbance need solved runs, precision needs both"
                .to_owned(),
        ),
        (_, 0) => notes.push(
            "no run is unsolved: saved and noticed need unsolved runs, precision needs both"
                .to_owned(),
        ),
        _ => {}
    }
    notes
}
