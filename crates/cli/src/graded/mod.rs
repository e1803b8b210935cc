//! Graded runs, for the verbs that measure or learn: each run is judged as it is read and folded to
//! a record.

mod judge;
mod names;

use std::io;
use std::sync::Arc;

use steersman_evaluation::learn::Record;

pub(crate) use judge::{Judged, Setup};
pub(crate) use names::{Filter, short, shorten};

use crate::reading::{GroupBy, Taker};
use crate::text;

/// What was read.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    /// The runs, in the order of the input.
    pub(crate) records: Vec<Record>,
    left_out: Vec<Arc<str>>,
}

impl Taker<Judged> for Gathered {
    fn take(&mut self, run: Box<Judged>) -> io::Result<bool> {
        match *run {
            Judged::Kept(record) => self.records.push(*record),
            Judged::LeftOut(source) => {
                if !self.left_out.contains(&source) {
                    self.left_out.push(source);
                }
            }
        }
        Ok(false)
    }
}

impl Gathered {
    /// Whether nothing was read at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.records.is_empty() && self.left_out.is_empty()
    }

    /// What is wrong with the names of a filter: one that no source has.
    pub(crate) fn unknown(&self, filter: &Filter, by: GroupBy) -> Option<String> {
        let mut sources = self.left_out.clone();
        sources.extend(self.records.iter().map(|record| Arc::clone(&record.episode.source)));
        sources.sort_unstable();
        sources.dedup();
        let unknown = filter.unknown(&sources)?;
        let names: Vec<String> =
            short(&sources, by).into_values().map(|it| text::plain(&it)).collect();
        Some(format!("no source is called {unknown}; there are {}", names.join(", ")))
    }
}
