//! Everything that was measured, as one JSON object.
//!
//! The format is described in `docs/evaluation.md` and `schema/eval.schema.json`. Fields may be
//! added; what is there keeps name and meaning as long as [`SCHEMA`] stays the same.

use serde_json::{Value, json};
use steersman_evaluation::delay::{DelayRow, WITHIN};
use steersman_evaluation::{Evaluation, Measured, SubjectRow};

use super::plan::Subject;
use crate::reading::GroupBy;

/// Version of the format.
const SCHEMA: u32 = 1;

/// The evaluation as JSON.
pub(crate) fn object(evaluation: &Evaluation, by: GroupBy, subjects: &[Subject]) -> Value {
    let rows = evaluation.subjects.iter().zip(subjects);
    json!({
        "schema": SCHEMA,
        "by": by,
        "resamples": evaluation.options.resamples,
        "seed": evaluation.options.seed,
        "sources": evaluation.sources,
        "subjects": rows.map(|(row, subject)| object_of(evaluation, row, subject))
            .collect::<Vec<Value>>(),
    })
}

fn object_of(evaluation: &Evaluation, row: &SubjectRow, subject: &Subject) -> Value {
    let sources = evaluation.sources.iter().zip(&row.by_source);
    let by_source: Vec<Value> = sources
        .map(|(source, measured)| {
            let mut object = measures(measured);
            object["source"] = json!(source.source);
            object
        })
        .collect();
    json!({
        "name": row.name,
        "kind": if subject.about.is_some() { "comparison" } else { "policy" },
        "about": subject.about,
        "mean": measures(&row.mean),
        "sources": by_source,
        "reasons": row.reasons,
        "delays": row.delays.iter().map(delay).collect::<Vec<Value>>(),
    })
}

fn measures(measured: &Measured) -> Value {
    json!(measured)
}

fn delay(row: &DelayRow) -> Value {
    let mut object = json!(row);
    let within = row.within.iter().zip(WITHIN);
    object["within"] =
        within.map(|(share, turns)| json!({ "turns": turns, "share": share })).collect();
    object
}
