//! Which run is to be explained.

use super::report::RunReport;

/// Which run is to be explained.
#[derive(Clone, Debug)]
pub(crate) enum Wanted {
    /// The only one.
    TheOnly,
    /// The one with this id, or whose id alone begins or ends like this.
    Named(String),
}

/// How well a run fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fit {
    /// It is the one.
    Exact,
    /// It is, if no other fits.
    Partial,
}

impl Wanted {
    /// How well a run fits; `None` if it does not.
    pub(crate) fn matches(&self, report: &RunReport) -> Option<Fit> {
        let Self::Named(name) = self else { return Some(Fit::Partial) };
        if report.id == *name || *name == place(report) {
            Some(Fit::Exact)
        } else if report.id.starts_with(name) || report.id.ends_with(name) {
            Some(Fit::Partial)
        } else {
            None
        }
    }
}

/// Where a run begins: `file:line`.
pub(crate) fn place(report: &RunReport) -> String {
    format!("{}:{}", report.source.name, report.line)
}
