//! Figures of the gateway in the text format of Prometheus.
//!
//! Written by hand: counters and one histogram are a map and a sum, and nothing here needs what a
//! library brings along. Sessions are never labels, so that a scrape stays small.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use http::StatusCode;
use steersman_engine::Action;
use steersman_store::Spending;

use crate::config::Config;
use crate::journal::Health;
use crate::record::{Entry, Recorder, Standing};
use crate::seam::{Act, Call, Governor, Plan};
use crate::session::Snapshot;

/// Most models, and most keys, that are told apart; further ones are `other`.
const MAX_MODELS: usize = 64;
/// Most bytes of a model's name.
const MAX_MODEL: usize = 100;
/// Upper bounds of the histogram's buckets, in microseconds.
const BUCKETS_US: [u64; 10] = [50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 50_000, 250_000];

/// A family of counters: name, what it counts, names of its labels.
struct Family {
    name: &'static str,
    help: &'static str,
    labels: &'static [&'static str],
}

const REQUESTS: Family = Family {
    name: "steersman_requests_total",
    help: "Requests that were answered, by wire format, kind and status.",
    labels: &["format", "kind", "status"],
};
const DECISIONS: Family = Family {
    name: "steersman_decisions_total",
    help: "Decisions of the engine, by action and reason; in shadow they are not acted on.",
    labels: &["action", "reason", "shadow"],
};
const COURSES: Family = Family {
    name: "steersman_courses_total",
    help: "What was done with requests of agents.",
    labels: &["course"],
};
const RESCUES: Family = Family {
    name: "steersman_rescues_total",
    help: "Times a model was asked again because its answer was not the end.",
    labels: &[],
};
const FAILED_CALLS: Family = Family {
    name: "steersman_failed_calls_total",
    help: "Calls that the model's server refused or did not answer, by what followed.",
    labels: &["status", "retried"],
};
const FALLBACKS: Family = Family {
    name: "steersman_fallbacks_total",
    help: "Calls in which another model was asked in the place of one that failed.",
    labels: &[],
};
const BROKEN: Family = Family {
    name: "steersman_broken_answers_total",
    help: "Answers that broke off.",
    labels: &["how"],
};
const OPENED: Family = Family {
    name: "steersman_sessions_opened_total",
    help: "Sessions that were opened, by client and mode.",
    labels: &["client", "mode"],
};
const FAILED_OPEN: Family = Family {
    name: "steersman_failed_open_total",
    help: "Requests that passed as they came because the gateway itself failed.",
    labels: &[],
};
const CONTROLS: Family = Family {
    name: "steersman_controls_total",
    help: "What people wanted of sessions.",
    labels: &[],
};
const TOKENS: Family = Family {
    name: "steersman_tokens_total",
    help: "Tokens of agents' turns, by model and direction.",
    labels: &["model", "direction"],
};

const COST: Family = Family {
    name: "steersman_cost_nanodollars_total",
    help: "Price of agents' turns by model, as far as it is known.",
    labels: &["model"],
};
const UNPRICED: Family = Family {
    name: "steersman_unpriced_replies_total",
    help: "Answers to agents' turns whose price is not known, by model.",
    labels: &["model"],
};

const REFUSALS: Family = Family {
    name: "steersman_refusals_total",
    help: "Requests that the gateway itself refused, by why.",
    labels: &["why"],
};
const KEY_CALLS: Family = Family {
    name: "steersman_key_calls_total",
    help: "Calls that model servers took, by virtual key.",
    labels: &["key"],
};
const KEY_TOKENS: Family = Family {
    name: "steersman_key_tokens_total",
    help: "Tokens of all calls, by virtual key and direction.",
    labels: &["key", "direction"],
};
const KEY_COST: Family = Family {
    name: "steersman_key_cost_nanodollars_total",
    help: "Price of all calls by virtual key, as far as it is known.",
    labels: &["key"],
};

const SPANS: Family = Family {
    name: "steersman_otlp_spans_total",
    help: "Finished spans of model calls, by what became of them.",
    labels: &["outcome"],
};

/// In the order in which they are shown.
const FAMILIES: [&Family; 18] = [
    &REQUESTS,
    &DECISIONS,
    &COURSES,
    &RESCUES,
    &FAILED_CALLS,
    &FALLBACKS,
    &BROKEN,
    &OPENED,
    &FAILED_OPEN,
    &CONTROLS,
    &TOKENS,
    &COST,
    &UNPRICED,
    &REFUSALS,
    &KEY_CALLS,
    &KEY_TOKENS,
    &KEY_COST,
    &SPANS,
];

#[derive(Debug, Default)]
struct Counts {
    /// By family and values of the labels.
    counters: BTreeMap<(&'static str, Vec<String>), u64>,
    models: Vec<String>,
    keys: Vec<String>,
    buckets: [u64; BUCKETS_US.len()],
    times: u64,
    time_sum: Duration,
}

/// What a scrape shows beside what was counted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Gauges<'a> {
    /// Sessions in memory; `None` if it is not known.
    pub open_sessions: Option<usize>,
    /// How the journal fares; `None` if there is none.
    pub journal: Option<&'a Health>,
}

/// Counts what happens.
#[derive(Debug, Default)]
pub struct Figures(Mutex<Counts>);

impl Figures {
    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count(&self, family: &Family, values: &[&str], by: u64) {
        let values = values.iter().map(|value| (*value).to_owned()).collect();
        *self.lock().counters.entry((family.name, values)).or_default() += by;
    }

    /// A request was answered. `kind` is `turn` for one of an agent's conversation, else `other`.
    pub fn answered(&self, format: &str, kind: &str, status: StatusCode) {
        self.count(&REQUESTS, &[format, kind, status.as_str()], 1);
    }

    /// The gateway itself failed over a request, which passed as it came.
    pub fn failed_open(&self) {
        self.count(&FAILED_OPEN, &[], 1);
    }

    /// The gateway itself refused a request.
    pub(crate) fn refused(&self, why: &str) {
        self.count(&REFUSALS, &[why], 1);
    }

    /// A call under a virtual key used this.
    pub(crate) fn spent(&self, key: &str, what: &Spending) {
        let key = self.label(key, |counts| &mut counts.keys);
        self.count(&KEY_CALLS, &[&key], what.calls);
        self.count(&KEY_TOKENS, &[&key, "input"], what.input_tokens);
        self.count(&KEY_TOKENS, &[&key, "output"], what.output_tokens);
        self.count(&KEY_COST, &[&key], what.cost_nanodollars);
    }

    /// So many spans were `sent` to the collector, or `dropped`.
    pub fn spans(&self, outcome: &str, count: u64) {
        if count > 0 {
            self.count(&SPANS, &[outcome], count);
        }
    }

    /// So long a call was looked at before it went on.
    pub fn took(&self, time: Duration) {
        let mut counts = self.lock();
        let us = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        if let Some(at) = BUCKETS_US.iter().position(|bound| us <= *bound) {
            counts.buckets[at] += 1;
        }
        counts.times += 1;
        counts.time_sum += time;
    }

    /// Something happened in a session.
    pub fn take_in(&self, entry: &Entry) {
        match entry {
            Entry::Opened(opened) => self.count(&OPENED, &[&opened.client, &opened.mode], 1),
            Entry::Decided(decision) => {
                let shadow = if decision.shadow { "true" } else { "false" };
                let (action, reason) = (decision.action.name(), decision.reason.name());
                // Going on is what mostly happens, and its reason is always the same.
                let reason = if decision.action == Action::Continue { "" } else { reason };
                self.count(&DECISIONS, &[action, reason, shadow], 1);
            }
            Entry::Steered { course } => self.count(&COURSES, &[course.name()], 1),
            Entry::Replied(replied) => {
                let model = self.label(&replied.model, |counts| &mut counts.models);
                let usage = &replied.usage;
                self.count(&TOKENS, &[&model, "input"], usage.input_tokens);
                self.count(&TOKENS, &[&model, "output"], usage.output_tokens);
                match replied.cost() {
                    Some(cost) => self.count(&COST, &[&model], cost),
                    None => self.count(&UNPRICED, &[&model], 1),
                }
            }
            Entry::Rescued { .. } => self.count(&RESCUES, &[], 1),
            Entry::CallFailed { status, retry_ms, .. } => {
                let status = status.map_or_else(|| "none".to_owned(), |status| status.to_string());
                let retried = if retry_ms.is_some() { "true" } else { "false" };
                self.count(&FAILED_CALLS, &[&status, retried], 1);
            }
            Entry::FellBack { .. } => self.count(&FALLBACKS, &[], 1),
            Entry::BrokeOff { how } => self.count(&BROKEN, &[how], 1),
            Entry::FailedOpen { .. } => self.failed_open(),
            Entry::Controlled { .. } => self.count(&CONTROLS, &[], 1),
            Entry::Asked { .. }
            | Entry::Said { .. }
            | Entry::Returned(_)
            | Entry::Marked { .. }
            | Entry::Held
            | Entry::Lost { .. } => {}
        }
    }

    /// A model's or a key's name as a label, one of those of its list.
    fn label(&self, name: &str, list: impl Fn(&mut Counts) -> &mut Vec<String>) -> String {
        let name = if name.is_empty() { "unknown" } else { name };
        let name = &name[..name.floor_char_boundary(MAX_MODEL)];
        let mut counts = self.lock();
        let names = list(&mut counts);
        let known = names.iter().any(|known| known == name);
        if !known && names.len() >= MAX_MODELS {
            return "other".to_owned();
        }
        if !known {
            names.push(name.to_owned());
        }
        name.to_owned()
    }

    /// All figures in the text format of Prometheus, version 0.0.4.
    #[must_use]
    pub fn text(&self, gauges: Gauges<'_>) -> String {
        let mut text = String::new();
        let counts = self.lock();
        for family in FAMILIES {
            show(&mut text, family, &counts);
        }
        histogram(&mut text, &counts);
        drop(counts);
        if let Some(open) = gauges.open_sessions {
            single(
                &mut text,
                "steersman_open_sessions",
                "gauge",
                "Sessions in memory.",
                open as u64,
            );
        }
        if let Some(journal) = gauges.journal {
            show_journal(&mut text, journal);
        }
        text
    }
}

/// Writing to a text cannot fail.
macro_rules! put {
    ($text:expr, $($arg:tt)*) => { let _ = writeln!($text, $($arg)*); };
}

fn show(text: &mut String, family: &Family, counts: &Counts) {
    let Family { name, help, labels } = family;
    put!(text, "# HELP {name} {help}");
    put!(text, "# TYPE {name} counter");
    let from = (*name, Vec::new());
    let of_family = counts.counters.range(from..).take_while(|((family, _), _)| family == name);
    for ((_, values), count) in of_family {
        let pairs: Vec<String> = labels
            .iter()
            .zip(values)
            .map(|(label, value)| format!("{label}=\"{}\"", escape(value)))
            .collect();
        if pairs.is_empty() {
            put!(text, "{name} {count}");
        } else {
            put!(text, "{name}{{{}}} {count}", pairs.join(","));
        }
    }
}

/// A label's value as the format wants it.
fn escape(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

fn histogram(text: &mut String, counts: &Counts) {
    let name = "steersman_added_seconds";
    put!(text, "# HELP {name} Time a call was looked at before it went on.");
    put!(text, "# TYPE {name} histogram");
    let mut sum = 0;
    for (bound, count) in BUCKETS_US.iter().zip(counts.buckets) {
        sum += count;
        let seconds = Duration::from_micros(*bound).as_secs_f64();
        put!(text, "{name}_bucket{{le=\"{seconds}\"}} {sum}");
    }
    put!(text, "{name}_bucket{{le=\"+Inf\"}} {}", counts.times);
    put!(text, "{name}_sum {}", counts.time_sum.as_secs_f64());
    put!(text, "{name}_count {}", counts.times);
}

fn single(text: &mut String, name: &str, kind: &str, help: &str, value: u64) {
    put!(text, "# HELP {name} {help}");
    put!(text, "# TYPE {name} {kind}");
    put!(text, "{name} {value}");
}

fn show_journal(text: &mut String, journal: &Health) {
    let counters = [
        ("written", "Entries of the journal that were written.", journal.written()),
        ("lost", "Entries of the journal that were lost.", journal.lost()),
        ("kept", "States of sessions that were written.", journal.kept()),
        ("not_kept", "States of sessions that the store did not take.", journal.not_kept()),
    ];
    for (name, help, value) in counters {
        single(text, &format!("steersman_journal_{name}_total"), "counter", help, value);
    }
    let works = u64::from(journal.fault().is_none());
    let help = "1 if the store took what was written last, else 0.";
    single(text, "steersman_journal_works", "gauge", help, works);
}

/// A recorder that counts what it hands on.
pub struct Counted<R> {
    figures: Arc<Figures>,
    inner: R,
}

impl<R> Counted<R> {
    /// Counts in `figures` what is handed to `inner`.
    pub const fn new(figures: Arc<Figures>, inner: R) -> Self {
        Self { figures, inner }
    }
}

impl<R: std::ops::Deref<Target: Recorder> + Send + Sync + 'static> Recorder for Counted<R> {
    fn record(&self, session: &str, at_ms: u64, entry: &Entry) {
        self.figures.take_in(entry);
        self.inner.record(session, at_ms, entry);
    }

    fn keep(&self, session: &str, scope: u64, snapshot: Box<dyn FnOnce() -> Snapshot + Send>) {
        self.inner.keep(session, scope, snapshot);
    }

    fn standing(&self, limit: usize) -> Vec<Standing> {
        self.inner.standing(limit)
    }

    fn recall(&self, session: &str) -> Option<(Snapshot, u64)> {
        self.inner.recall(session)
    }
}

/// A governor whose time is measured.
pub struct Timed {
    figures: Arc<Figures>,
    inner: Arc<dyn Governor>,
}

impl Timed {
    /// Measures in `figures` how long `inner` takes.
    #[must_use]
    pub fn new(figures: Arc<Figures>, inner: Arc<dyn Governor>) -> Self {
        Self { figures, inner }
    }
}

impl Governor for Timed {
    fn call(&self, call: &Call<'_>) -> Plan {
        let begun = Instant::now();
        let plan = self.inner.call(call);
        if !matches!(plan.act, Act::Answer(..)) {
            self.figures.took(begun.elapsed());
        }
        plan
    }

    fn reload(&self, config: &Config) -> Result<(), String> {
        self.inner.reload(config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Opened, Replied};
    use steersman_engine::Usage;

    fn replied(model: &str) -> Entry {
        let usage = Usage { input_tokens: 7, output_tokens: 3, ..Usage::default() };
        let model = model.to_owned();
        Entry::Replied(Box::new(Replied { model, usage, ..Replied::default() }))
    }

    #[test]
    fn figures_are_written_as_prometheus_reads_them() {
        let figures = Figures::default();
        figures.answered("anthropic", "turn", StatusCode::OK);
        figures.answered("anthropic", "turn", StatusCode::OK);
        figures.take_in(&Entry::Rescued { text: "x".to_owned() });
        figures.take_in(&replied("a \"b\"\\\n"));
        let opened = Opened { client: "codex".to_owned(), ..Opened::default() };
        figures.take_in(&Entry::Opened(Box::new(opened)));
        figures.take_in(&Entry::CallFailed {
            status: Some(429),
            message: "secret".to_owned(),
            retry_ms: Some(5),
        });
        figures.took(Duration::from_micros(60));
        figures.took(Duration::from_secs(2));
        let health = Health::default();
        let gauges = Gauges { open_sessions: Some(4), journal: Some(&health) };
        let text = figures.text(gauges);
        for line in [
            "steersman_requests_total{format=\"anthropic\",kind=\"turn\",status=\"200\"} 2",
            "steersman_rescues_total 1",
            "steersman_tokens_total{model=\"a \\\"b\\\"\\\\\\n\",direction=\"input\"} 7",
            "steersman_sessions_opened_total{client=\"codex\",mode=\"\"} 1",
            "steersman_failed_calls_total{status=\"429\",retried=\"true\"} 1",
            "steersman_added_seconds_bucket{le=\"0.00005\"} 0",
            "steersman_added_seconds_bucket{le=\"0.0001\"} 1",
            "steersman_added_seconds_bucket{le=\"0.25\"} 1",
            "steersman_added_seconds_bucket{le=\"+Inf\"} 2",
            "steersman_added_seconds_count 2",
            "steersman_open_sessions 4",
            "steersman_journal_lost_total 0",
            "steersman_journal_works 1",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
        }
        assert!(!text.contains("secret"));
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let (_, number) = line.rsplit_once(' ').unwrap();
            assert!(number.parse::<f64>().is_ok(), "{line}");
        }
    }

    #[test]
    fn models_beyond_the_bound_are_one() {
        let figures = Figures::default();
        for at in 0..MAX_MODELS + 10 {
            figures.take_in(&replied(&format!("model-{at}")));
        }
        let text = figures.text(Gauges::default());
        assert_eq!(text.matches("direction=\"input\"").count(), MAX_MODELS + 1);
        assert!(text.contains("{model=\"other\",direction=\"input\"} 70"));
    }
}
