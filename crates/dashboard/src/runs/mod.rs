//! Sessions of `steersman run`: told turn by turn, and steered through the store.

mod diff;
mod facts;
mod fold;
mod helm;

use std::path::PathBuf;
use std::sync::Arc;

use steersman_gateway::api::{Answer, Fact, NewMark, Runs, Wish};
use steersman_gateway::control::{Control, ControlError};
use steersman_store::{Entry as Stored, Store, Summary};
use steersman_timeline::{Timeline, Wanted};

/// Who knows sessions of `steersman run`, for the API.
#[derive(Clone, Debug)]
pub struct RunSessions {
    /// Where the store is, and beside it states of workspaces.
    folder: PathBuf,
}

impl RunSessions {
    /// Sessions whose store is in this folder.
    #[must_use]
    pub const fn new(folder: PathBuf) -> Self {
        Self { folder }
    }
}

impl Runs for RunSessions {
    fn timeline<'a>(
        &'a self,
        store: &'a Arc<dyn Store>,
        summary: &'a Summary,
        wanted: Wanted,
    ) -> Answer<'a, Result<Timeline, String>> {
        Box::pin(fold::timeline(store, &self.folder, summary, wanted))
    }

    fn control<'a>(
        &'a self,
        store: &'a Arc<dyn Store>,
        summary: &'a Summary,
        wish: Wish<'a, Control>,
    ) -> Answer<'a, Result<(), ControlError>> {
        Box::pin(helm::control(store, summary, wish))
    }

    fn mark<'a>(
        &'a self,
        store: &'a Arc<dyn Store>,
        summary: &'a Summary,
        wish: Wish<'a, NewMark>,
    ) -> Answer<'a, Result<(), ControlError>> {
        Box::pin(helm::mark(store, summary, wish))
    }

    fn is_driven(&self, summary: &Summary, now_ms: u64) -> bool {
        helm::is_driven(summary, now_ms)
    }

    fn facts(&self, entry: &Stored) -> Vec<Fact> {
        facts::of(entry)
    }
}
