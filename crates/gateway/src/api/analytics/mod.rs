//! What sessions came to over time, read from their journals.

mod shape;

use std::collections::BTreeMap;

use steersman_engine::Action;
use steersman_store::{Filter, Store, StoreError, Summary};

use super::query::Query;
use crate::govern::Course;
use crate::record::Entry;

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

/// Reads journals and sums them up.
pub(super) async fn sum_up(store: &dyn Store, span: Span) -> Result<Analytics, StoreError> {
    let mut sum = Sum::new(span);
    let mut filter = Filter { limit: PAGE, text: Some("gw-".to_owned()), ..Filter::default() };
    let (mut looked, mut read) = (0, 0);
    loop {
        let page = store.sessions(&filter).await?;
        let Some(last) = page.last() else { return Ok(sum.finish(true)) };
        filter.before = Some(last.position());
        for summary in page {
            if looked == MAX_SESSIONS || read >= MAX_READ {
                return Ok(sum.finish(false));
            }
            looked += 1;
            let outside = summary.updated_ms < span.since_ms || summary.created_ms > span.until_ms;
            if outside || !summary.id.as_str().starts_with("gw-") {
                continue;
            }
            read += sum.take_in(store, &summary).await?;
        }
    }
}

/// What is being summed up.
struct Sum {
    span: Span,
    sessions: u64,
    entries: u64,
    is_cut: bool,
    buckets: BTreeMap<u64, Bucket>,
    decisions: BTreeMap<(String, String, bool), u64>,
    endings: BTreeMap<String, u64>,
    followed: BTreeMap<(String, bool), Followed>,
}

/// One session while it is read.
#[derive(Default)]
struct Telling {
    /// An intervention of which it is not known yet what followed.
    open: Option<(String, bool)>,
    /// After it the model answered with calls.
    worked: bool,
    ending: &'static str,
    any: bool,
}

impl Sum {
    const fn new(span: Span) -> Self {
        Self {
            span,
            sessions: 0,
            entries: 0,
            is_cut: false,
            buckets: BTreeMap::new(),
            decisions: BTreeMap::new(),
            endings: BTreeMap::new(),
            followed: BTreeMap::new(),
        }
    }

    /// Takes in a session's journal and gives the number of entries that were read.
    async fn take_in(&mut self, store: &dyn Store, summary: &Summary) -> Result<usize, StoreError> {
        let mut course = Telling { ending: "open", ..Telling::default() };
        let (mut after, mut read) = (0, 0);
        loop {
            let page = match store.read(&summary.id, after, PAGE).await {
                // It was deleted meanwhile.
                Err(StoreError::Unknown { .. }) => break,
                page => page?,
            };
            let Some(last) = page.last() else { break };
            after = last.seq;
            read += page.len();
            let span = self.span;
            for stored in page.iter().filter(|stored| span.has(stored.at_ms)) {
                // An entry of a later version says nothing to this one.
                if let Ok(entry) = serde_json::from_str::<Entry>(&stored.body) {
                    course.any = true;
                    self.fold(stored.at_ms, &entry, &mut course);
                }
            }
            if read >= MAX_OF_ONE {
                self.is_cut = after < summary.last_seq;
                break;
            }
        }
        self.entries += read as u64;
        if course.any {
            self.sessions += 1;
            *self.endings.entry(course.ending.to_owned()).or_default() += 1;
            let worked = course.worked;
            self.close(&mut course, |it| if worked { &mut it.went_on } else { &mut it.nothing });
        }
        Ok(read)
    }

    fn fold(&mut self, at_ms: u64, entry: &Entry, course: &mut Telling) {
        let from_ms = at_ms - at_ms % self.span.bucket_ms;
        let bucket =
            self.buckets.entry(from_ms).or_insert_with(|| Bucket { from_ms, ..Bucket::default() });
        match entry {
            Entry::Asked { .. } => bucket.requests += 1,
            Entry::Rescued { .. } => bucket.rescues += 1,
            Entry::Replied(replied) => {
                bucket.replies += 1;
                bucket.input_tokens += replied.usage.input_tokens;
                bucket.output_tokens += replied.usage.output_tokens;
                match replied.cost() {
                    Some(cost) => bucket.cost_nanodollars += cost,
                    None => bucket.unpriced_replies += 1,
                }
                if replied.calls.is_empty() {
                    course.ending = "answered";
                    self.close(course, |it| &mut it.answered);
                } else {
                    course.ending = "open";
                    course.worked = true;
                }
            }
            Entry::Decided(decision) => {
                let action = decision.action.name();
                *bucket.decisions.entry(action.to_owned()).or_default() += 1;
                let key = (action.to_owned(), decision.reason.name().to_owned(), decision.shadow);
                *self.decisions.entry(key).or_default() += 1;
                if decision.action == Action::Continue {
                    self.close(course, |it| &mut it.went_on);
                } else {
                    self.close(course, |it| &mut it.again);
                    course.open = Some((action.to_owned(), decision.shadow));
                }
            }
            Entry::Steered { course: Course::Answer } => course.ending = "capped",
            Entry::CallFailed { retry_ms, .. } => {
                bucket.failed_calls += 1;
                if retry_ms.is_none() {
                    self.broke_off(course);
                }
            }
            Entry::BrokeOff { .. } => self.broke_off(course),
            _ => {}
        }
    }

    fn broke_off(&mut self, course: &mut Telling) {
        course.ending = "broke_off";
        self.close(course, |it| &mut it.broke_off);
    }

    /// What followed the open intervention is known.
    fn close(&mut self, course: &mut Telling, which: impl Fn(&mut Followed) -> &mut u64) {
        course.worked = false;
        let Some((action, shadow)) = course.open.take() else { return };
        let followed = self.followed.entry((action.clone(), shadow)).or_insert_with(|| Followed {
            action,
            shadow,
            went_on: 0,
            again: 0,
            answered: 0,
            broke_off: 0,
            nothing: 0,
        });
        *which(followed) += 1;
    }

    fn finish(self, all: bool) -> Analytics {
        let count = |((action, reason, shadow), count)| Count { action, reason, shadow, count };
        Analytics {
            since_ms: self.span.since_ms,
            until_ms: self.span.until_ms,
            bucket_ms: self.span.bucket_ms,
            sessions: self.sessions,
            entries: self.entries,
            complete: all && !self.is_cut,
            buckets: self.buckets.into_values().collect(),
            decisions: self.decisions.into_iter().map(count).collect(),
            endings: self.endings,
            followed: self.followed.into_values().collect(),
            ..Analytics::default()
        }
    }
}
