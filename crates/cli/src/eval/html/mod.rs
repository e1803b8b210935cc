//! One self-contained page.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use steersman_evaluation::Evaluation;

use super::plan::Subject;
use crate::page::{write_foot, write_head};
use crate::reading::GroupBy;

/// Writes the page.
pub(crate) fn write(
    path: &Path,
    evaluation: &Evaluation,
    by: GroupBy,
    subjects: &[Subject],
) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    write_head("Steersman eval", "", &mut out)?;
    let _ = (evaluation, by, subjects);
    write_foot("", &mut out)?;
    out.flush()
}
