//! Recorded runs, judged as `steersman replay` does.

use std::sync::Arc;

use http::{StatusCode, request};
use schemars::JsonSchema;
use serde::Serialize;
use steersman_engine::Policy;
use steersman_timeline::{Recorded, RunLine, Timeline, read_runs};
use tokio::task::spawn_blocking;

use super::Api;
use super::body::{Incoming, whole};
use super::query::Query;
use super::reply::{Refused, Reply, json};

/// A file of recorded runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Replayed {
    /// The format that its content has.
    pub format: String,
    /// Its runs in order, at most 1,000.
    pub runs: Vec<RunLine>,
    /// Runs that are left out of the list.
    pub more_runs: u64,
    /// The run that was asked for, or the first; null if there is none of that id.
    pub timeline: Option<Timeline>,
    /// What could not be read, at most 20 sentences.
    pub problems: Vec<String>,
}

/// Most bytes of a file.
const MAX_FILE: usize = 64 << 20;
/// Most files that are judged at a time; each may take its size in memory, and a processor.
pub(super) const MAX_REPLAYS: usize = 2;
/// What runs of a file without a name are called after.
const NAMELESS: &str = "dropped";

impl Api {
    pub(super) async fn replay<B: Incoming>(
        &self,
        query: &Query,
        head: &request::Parts,
        body: B,
    ) -> Result<Reply, Refused> {
        let Ok(place) = Arc::clone(&self.replays).try_acquire_owned() else {
            let why = format!("{MAX_REPLAYS} files are being judged already; try again");
            return Err(Refused::new(StatusCode::SERVICE_UNAVAILABLE, "too_many", why));
        };
        let content = whole(head, body, "application/octet-stream", MAX_FILE).await?;
        let policy = match query.text("policy") {
            Some(name) => Policy::built_in(name).map(Arc::new),
            None => self.with.helm.as_ref().and_then(|helm| helm.policy()),
        };
        let policy = policy.unwrap_or_default();
        let name = query.text("name").unwrap_or(NAMELESS).to_owned();
        let run = query.text("run").map(str::to_owned);
        let judged = spawn_blocking(move || {
            let judged = read_runs(&name, content.into(), &policy, run.as_deref());
            drop(place);
            judged
        });
        let failed = |_| {
            let why = "judging the file failed";
            Refused::new(StatusCode::INTERNAL_SERVER_ERROR, "failed", why)
        };
        let judged = judged.await.map_err(failed)?;
        let judged = judged.map_err(|error| {
            Refused::new(StatusCode::UNPROCESSABLE_ENTITY, "no_trace", error.to_string())
        })?;
        let Recorded { format, runs, more_runs, timeline, problems } = judged;
        if run_is_missing(query, timeline.as_ref()) {
            let why = "the file has no run of this id";
            return Err(Refused::new(StatusCode::NOT_FOUND, "unknown_run", why));
        }
        Ok(json(&Replayed { format, runs, more_runs, timeline, problems }))
    }
}

fn run_is_missing(query: &Query, timeline: Option<&Timeline>) -> bool {
    query.text("run").is_some() && timeline.is_none()
}
