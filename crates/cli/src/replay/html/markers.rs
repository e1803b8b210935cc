//! Decisions as a reader wants to see them: the same one over and over is one.

use crate::replay::report::{Made, Verdict};

/// A decision, or the same one in turns that follow each other.
#[derive(Clone, Debug)]
pub(super) struct Marker<'a> {
    /// The first of them.
    pub(super) made: &'a Made,
    /// The turn of the last.
    pub(super) until: u32,
    /// How many there are.
    pub(super) times: u32,
}

/// Markers per run.
pub(super) const MAX: usize = 64;

/// The decisions of a run, those that follow each other joined; at most [`MAX`].
pub(super) fn markers(verdict: &Verdict) -> Vec<Marker<'_>> {
    let mut markers: Vec<Marker<'_>> = Vec::new();
    for made in &verdict.decisions {
        if let Some(last) = markers.last_mut()
            && last.made.point.kind == made.point.kind
            && made.point.turn <= last.until.saturating_add(1)
        {
            last.until = made.point.turn;
            last.times += 1;
        } else if markers.len() < MAX {
            markers.push(Marker { made, until: made.point.turn, times: 1 });
        } else {
            break;
        }
    }
    markers
}

impl Marker<'_> {
    /// The turns in words.
    pub(super) fn turns(&self) -> String {
        let first = self.made.point.turn;
        if self.until > first {
            format!("turns {first}–{}", self.until)
        } else {
            format!("turn {first}")
        }
    }
}
