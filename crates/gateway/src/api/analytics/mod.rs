//! What sessions came to over time, read from their journals.

mod fact;
mod session;
mod shape;
mod spread;
mod sum;

use steersman_store::{Entry as Stored, Filter, Store, StoreError, Summary};

use super::query::Query;
use super::runs::Runs;
use super::types::is_gateway;
use session::Telling;
use sum::Sum;

pub use fact::Fact;
pub use shape::{
    After, Analytics, Bucket, Count, Followed, Group, Judged, LimitHits, Spread, StartOvers,
};

/// Most sessions that are looked at, the latest first.
const MAX_SESSIONS: usize = 2_000;
/// Most entries that are read, of all sessions.
const MAX_READ: usize = 100_000;
/// Most entries that are read of one session.
const MAX_OF_ONE: usize = 10_000;
/// Entries and sessions that are asked for at a time.
const PAGE: usize = 500;
/// Most buckets.
const MAX_BUCKETS: u64 = 1_000;
/// A day, in milliseconds.
const DAY_MS: u64 = 86_400_000;

/// Of which time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    since_ms: u64,
    until_ms: u64,
    bucket_ms: u64,
}

impl Span {
    /// # Errors
    /// What is wrong with it.
    pub(super) fn of(query: &Query, now_ms: u64) -> Result<Self, String> {
        let until_ms = query.number("until_ms").unwrap_or(now_ms);
        let since_ms = query.number("since_ms").unwrap_or(until_ms.saturating_sub(DAY_MS));
        let bucket_ms = match query.text("bucket") {
            Some("minute") => 60_000,
            Some("day") => DAY_MS,
            _ => 3_600_000,
        };
        if since_ms > until_ms {
            return Err("`since_ms` is after `until_ms`".to_owned());
        }
        if (until_ms - since_ms) / bucket_ms >= MAX_BUCKETS {
            return Err(format!("more than {MAX_BUCKETS} buckets; take longer ones"));
        }
        Ok(Self { since_ms, until_ms, bucket_ms })
    }

    const fn has(&self, at_ms: u64) -> bool {
        self.since_ms <= at_ms && at_ms <= self.until_ms
    }
}

/// Reads journals and sums them up; without `runs` those of the gateway only.
pub(super) async fn sum_up(
    store: &dyn Store,
    runs: Option<&dyn Runs>,
    span: Span,
) -> Result<Analytics, StoreError> {
    let mut reading = Reading { store, runs, span, sum: Sum::new(span), is_cut: false };
    let mut filter = Filter { limit: PAGE, ..Filter::default() };
    let (mut looked, mut read) = (0, 0);
    loop {
        let page = store.sessions(&filter).await?;
        let Some(last) = page.last() else { break };
        filter.before = Some(last.position());
        for summary in page {
            if looked == MAX_SESSIONS || read >= MAX_READ {
                return Ok(reading.sum.finish(false));
            }
            looked += 1;
            let outside = summary.updated_ms < span.since_ms || summary.created_ms > span.until_ms;
            if outside || (runs.is_none() && !is_gateway(&summary)) {
                continue;
            }
            read += reading.take_in(&summary).await?;
        }
    }
    let Reading { sum, is_cut, .. } = reading;
    Ok(sum.finish(!is_cut))
}

/// Journals being read.
struct Reading<'a> {
    store: &'a dyn Store,
    runs: Option<&'a dyn Runs>,
    span: Span,
    sum: Sum,
    is_cut: bool,
}

impl Reading<'_> {
    /// Takes in a session's journal and gives the number of entries that were read.
    async fn take_in(&mut self, summary: &Summary) -> Result<usize, StoreError> {
        let mut course = Telling::new();
        let (mut after, mut read) = (0, 0);
        loop {
            let page = match self.store.read(&summary.id, after, PAGE).await {
                // It was deleted meanwhile.
                Err(StoreError::Unknown { .. }) => break,
                page => page?,
            };
            let Some(last) = page.last() else { break };
            after = last.seq;
            read += page.len();
            for stored in &page {
                for fact in facts(summary, stored, self.runs) {
                    // What was before this time says whose session it is, and nothing else.
                    if self.span.has(stored.at_ms) {
                        course.any = true;
                        self.sum.fold(stored, &fact, &mut course);
                    } else if matches!(fact, Fact::Opened { .. }) {
                        course.take_in(stored.seq, &fact);
                    }
                }
            }
            if read >= MAX_OF_ONE {
                self.is_cut |= after < summary.last_seq;
                break;
            }
        }
        self.sum.end_of(summary, course, read);
        Ok(read)
    }
}

/// What an entry of a session says; empty if nothing, also where `runs` is `None` and it is the
/// session of a run.
#[must_use]
pub fn facts(summary: &Summary, stored: &Stored, runs: Option<&dyn Runs>) -> Vec<Fact> {
    if is_gateway(summary) {
        return fact::of_gateway(stored).into_iter().collect();
    }
    runs.map(|runs| runs.facts(stored)).unwrap_or_default()
}
