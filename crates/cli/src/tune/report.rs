//! What was learned, for people and as JSON.

use std::io::{self, Write};

use serde_json::{Value, json};
use steersman_engine::risk::RiskFeature;
use steersman_evaluation::learn::validate::{ABOUT, SUBJECTS};
use steersman_evaluation::{Estimate, Evaluation};

use super::grounds::percent;
use super::session::Learned;
use crate::eval::plan::Subject;
use crate::eval::{json as measures, table};
use crate::grid::{Cell, Column, Grid};
use crate::reading::GroupBy;
use crate::screen::{Screen, Tone};
use crate::text;

/// Profiles shown; all are written.
const MAX_PROFILES: usize = 60;
/// Solved runs from which on a source's harm is held against α.
const FEWEST_SOLVED: u64 = 50;

fn subjects() -> Vec<Subject> {
    let named = SUBJECTS.iter().zip(ABOUT);
    let subject = |(name, about): (&&str, &'static str)| Subject {
        name: (*name).to_owned(),
        about: (*name == SUBJECTS[3]).then_some(about),
    };
    named.map(subject).collect()
}

/// Writes the report.
pub(crate) fn write(
    learned: &Learned,
    by: GroupBy,
    screen: Screen,
    out: &mut dyn Write,
) -> io::Result<()> {
    let heading = |text: &str| screen.paint(Tone::Heading, text);
    let evaluation = &learned.evaluation;
    writeln!(
        out,
        "{}",
        heading(&format!("Measured on runs held out: {}", table::over(evaluation, by)))
    )?;
    out.write_all(table::overview(evaluation, &subjects()).render(screen).as_bytes())?;
    if let Some(tuned) = evaluation.subjects.get(1) {
        writeln!(out, "\n{}", heading(&format!("tuned by {}", by.noun())))?;
        out.write_all(table::by_source(evaluation, tuned, by).render(screen).as_bytes())?;
    }
    writeln!(out, "\n{}", promise(learned))?;
    writeln!(out, "\n{}", heading("What the risk is made of"))?;
    out.write_all(features(learned).render(screen).as_bytes())?;
    writeln!(out, "\n{}", heading("Lines"))?;
    out.write_all(lines(learned).render(screen).as_bytes())?;
    writeln!(out)?;
    for (name, about) in SUBJECTS.iter().zip(ABOUT) {
        writeln!(out, "{name} = {about}")?;
    }
    table::write_terms(evaluation, screen, out)
}

/// Whether harm stays within α where enough solved runs were seen.
fn promise(learned: &Learned) -> String {
    let alpha = learned.alpha;
    let judged = judged(&learned.evaluation);
    let above: Vec<String> = judged
        .iter()
        .filter(|(_, harm)| harm.interval.map_or(harm.value, |(low, _)| low) > alpha)
        .map(|(source, _)| text::plain(source))
        .collect();
    let alpha = percent(alpha);
    let of = format!("sources with at least {FEWEST_SOLVED} solved runs");
    match (judged.len(), above.is_empty()) {
        (0, _) => format!("There are no {of} to hold harm against {alpha}."),
        (1, true) => format!(
            "Harm is within {alpha} on the one source with at least {FEWEST_SOLVED} solved runs, \
             taking the interval into account."
        ),
        (count, true) => {
            format!("Harm is within {alpha} on all {count} {of}, taking the interval into account.")
        }
        (_, false) => format!(
            "Harm is above {alpha} even at the lower end of its interval on {}.",
            above.join(", ")
        ),
    }
}

/// The harm of the tuned policy on sources with enough solved runs.
fn judged(evaluation: &Evaluation) -> Vec<(&str, Estimate)> {
    let Some(tuned) = evaluation.subjects.get(1) else { return Vec::new() };
    let sources = evaluation.sources.iter().zip(&tuned.by_source);
    let enough = sources.filter(|(source, _)| source.solved >= FEWEST_SOLVED);
    enough.filter_map(|(source, it)| Some((&*source.source, it.harm?))).collect()
}

fn features(learned: &Learned) -> Grid {
    let mut grid = Grid::new(vec![
        Column::left("FEATURE"),
        Column::right("LEAST"),
        Column::right("MOST"),
        Column::left("MOST WHERE"),
    ]);
    let risk = &learned.calibrated.risk;
    for feature in RiskFeature::ALL {
        let table = risk.tables.of(*feature);
        let least = table.add.iter().copied().fold(f32::INFINITY, f32::min);
        let most = table.add.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let at = table.add.iter().position(|add| *add >= most).unwrap_or(0);
        let place =
            match (at.checked_sub(1).and_then(|at| table.up_to.get(at)), table.up_to.get(at)) {
                (None, Some(end)) => format!("up to {end}"),
                (Some(start), None) => format!("above {start}"),
                (Some(start), Some(end)) => format!("above {start}, up to {end}"),
                (None, None) => String::new(),
            };
        grid.push(vec![
            Cell::new(feature.key()),
            Cell::new(format!("{least:+.2}")),
            Cell::new(format!("{most:+.2}")),
            Cell::new(place).toned(Tone::Dim),
        ]);
    }
    grid
}

fn lines(learned: &Learned) -> Grid {
    let mut grid = Grid::new(vec![
        Column::left("AGENT").cut_end(12),
        Column::left("MODEL").cut_end(12),
        Column::right("LINE"),
        Column::right("USUAL TURNS"),
        Column::right("GOOD RUNS"),
        Column::left("NOTE").cut_end(12),
    ]);
    let profiles = &learned.calibrated.risk.profiles;
    for profile in profiles.iter().take(MAX_PROFILES) {
        let model = profile.model.as_deref().unwrap_or_default();
        let shortages = learned.calibrated.shortages.iter();
        let note = shortages
            .filter(|it| it.agent == profile.agent && it.model == model)
            .map(ToString::to_string)
            .next();
        // The names stand in their own columns.
        let note = note.as_deref().and_then(|note| note.split_once(": ")).map_or("", |it| it.1);
        let line = profile.line.line.map_or_else(|| "none".to_owned(), |line| format!("{line:.2}"));
        grid.push(vec![
            Cell::new(text::plain(&profile.agent)),
            Cell::new(text::plain(model)),
            Cell::new(line),
            Cell::new(format!("{:.1}", profile.line.usual_turns)),
            Cell::number(u64::from(profile.line.good_runs)),
            Cell::new(text::plain(note)).toned(Tone::Dim),
        ]);
    }
    if profiles.len() > MAX_PROFILES {
        let more = format!("and {} more", profiles.len() - MAX_PROFILES);
        grid.push(vec![Cell::new(more).toned(Tone::Dim)]);
    }
    grid
}

/// Everything as JSON.
pub(crate) fn object(learned: &Learned, by: GroupBy) -> Value {
    let shortages: Vec<Value> = learned
        .calibrated
        .shortages
        .iter()
        .map(|it| {
            json!({
                "agent": it.agent, "model": it.model, "runs": it.runs, "good": it.good,
                "needed": it.needed, "note": it.to_string(),
            })
        })
        .collect();
    let judged = judged(&learned.evaluation);
    // Nothing can be said where no source has enough solved runs.
    let within = (!judged.is_empty()).then(|| {
        let low = |harm: &Estimate| harm.interval.map_or(harm.value, |(low, _)| low);
        judged.iter().all(|(_, harm)| low(harm) <= learned.alpha)
    });
    json!({
        "schema": 1,
        "alpha": learned.alpha,
        "within_alpha": within,
        "risk": learned.calibrated.risk,
        "shortages": shortages,
        "held_out": measures::object(&learned.evaluation, by, &subjects()),
    })
}
