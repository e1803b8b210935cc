//! One self-contained page: totals, a table of runs, a chart per run.
//!
//! Everything is drawn here; the script of the page only filters, sorts and shows tooltips. Every
//! piece of text that comes from a trace goes through [`Escaped`].

mod chart;
mod markers;
mod tables;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::report::{Interest, RunReport};
use super::top::Top;
use super::totals::{Sources, Totals};
use crate::page::{Escaped, write_foot, write_head};
use crate::text;

/// A page that is being put together.
pub(crate) struct Page {
    path: PathBuf,
    charts: Top<Interest, String>,
    rows: Top<Interest, String>,
}

impl Page {
    /// Runs with a chart.
    pub(crate) const MAX_CHARTS: usize = 200;
    /// Runs in the table.
    pub(crate) const MAX_ROWS: usize = 2_000;

    /// A page without runs.
    pub(crate) const fn new(path: PathBuf) -> Self {
        Self { path, charts: Top::new(Self::MAX_CHARTS), rows: Top::new(Self::MAX_ROWS) }
    }

    /// Where it will be written.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Takes in a run.
    pub(crate) fn add(&mut self, report: &RunReport) {
        self.rows.offer(report.interest(), || tables::run_row(report));
        self.charts.offer(report.interest(), || chart::article(report));
    }

    /// Writes the page.
    pub(crate) fn write(self, totals: &Totals, sources: &Sources) -> io::Result<()> {
        let mut out = BufWriter::new(File::create(&self.path)?);
        self.write_to(totals, sources, &mut out)?;
        out.flush()
    }

    fn write_to(self, totals: &Totals, sources: &Sources, out: &mut dyn Write) -> io::Result<()> {
        write_head("Steersman replay", "", out)?;
        let policy = totals.policies.first().map_or("", String::as_str);
        writeln!(
            out,
            "<header><h1>Steersman replay</h1>\n<p>{} judged by policy <b>{}</b></p></header>\n\
             <main>",
            text::counted(totals.runs, "run"),
            Escaped(policy),
        )?;
        tables::write_cards(totals, out)?;
        tables::write_kinds(totals, !sources.graded(0).is_empty(), out)?;
        tables::write_measures(sources, out)?;
        self.write_runs(out)?;
        writeln!(out, "</main>")?;
        write_foot(include_str!("page.js"), out)
    }

    fn write_runs(self, out: &mut dyn Write) -> io::Result<()> {
        let (no_row, no_chart) = (self.rows.left_out(), self.charts.left_out());
        tables::write_run_head(out)?;
        for (i, row) in self.rows.into_sorted().into_iter().enumerate() {
            let charted = i < Self::MAX_CHARTS;
            writeln!(out, "<tr data-i=\"{i}\"{}>{row}</tr>", flag(charted, " data-chart"))?;
        }
        writeln!(out, "</tbody></table></div>")?;
        if no_row > 0 {
            let more = text::counted(no_row, "more run");
            writeln!(out, "<p class=\"note\">… and {more}, all counted in the totals.</p>")?;
        }
        writeln!(out, "</section>\n<section aria-labelledby=\"charts\">")?;
        writeln!(out, "<h2 id=\"charts\">Course of the runs</h2>")?;
        if no_chart > 0 {
            let shown = Self::MAX_CHARTS;
            let more = text::grouped(no_chart);
            writeln!(
                out,
                "<p class=\"note\">The {shown} most interesting runs are drawn: those that would \
                 have been ended first, by what lay after. {more} are not.</p>"
            )?;
        }
        out.write_all(tables::LEGEND.as_bytes())?;
        for (i, article) in self.charts.into_sorted().into_iter().enumerate() {
            writeln!(
                out,
                "<article id=\"run-{i}\" data-i=\"{i}\" tabindex=\"-1\">{article}</article>"
            )?;
        }
        writeln!(out, "</section>")
    }
}

const fn flag(on: bool, name: &str) -> &str {
    if on { name } else { "" }
}

#[cfg(test)]
mod tests;
