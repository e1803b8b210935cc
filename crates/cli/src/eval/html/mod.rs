//! One self-contained page: the frontier of harm and saved calls, and the tables.
//!
//! Everything is drawn here; the script of the page only shows tooltips. Every piece of text that
//! comes from a trace or a policy goes through [`Escaped`].

mod frontier;
mod labels;
mod panel;
mod tables;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use steersman_evaluation::Evaluation;

use super::plan::Subject;
use super::table::over;
use crate::page::{Escaped, write_foot, write_head};
use crate::reading::GroupBy;

/// Writes the page.
pub(crate) fn write(
    path: &Path,
    evaluation: &Evaluation,
    by: GroupBy,
    subjects: &[Subject],
) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    write_to(evaluation, by, subjects, &mut out)?;
    out.flush()
}

fn write_to(
    evaluation: &Evaluation,
    by: GroupBy,
    subjects: &[Subject],
    out: &mut dyn Write,
) -> io::Result<()> {
    write_head("Steersman eval", include_str!("eval.css"), out)?;
    writeln!(
        out,
        "<header><h1>Steersman eval</h1>\n<p>{}</p></header>\n<main>",
        Escaped(&over(evaluation, by)),
    )?;
    frontier::write(evaluation, subjects, out)?;
    tables::write(evaluation, by, subjects, out)?;
    writeln!(out, "</main>")?;
    write_foot(include_str!("eval.js"), out)
}

#[cfg(test)]
mod tests;
