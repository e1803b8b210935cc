//! What a probe came to.

use serde::Serialize;
use steersman_wire::{FailureKind, Format};

use super::advice::Advice;
use super::heard::{Came, Heard};
use super::plan::Probe;
use super::row::Row;
use super::step::Step;
use super::{calls, limits, replies, shapes};

/// What a probe came to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The model's name, as it was asked.
    pub model: String,
    /// The format that everything else was asked in; `None` if none was answered in.
    pub format: Option<Format>,
    /// What it is good for.
    pub standing: Standing,
    /// Why, in one line.
    pub why: String,
    /// Whether something was not asked any more; why. `None` if everything was asked.
    pub halted: Option<String>,
    /// Whether the server refused the key, or that there was none.
    pub refused_key: bool,
    /// Every ability, in order; only those of the formats if none was answered in.
    pub rows: Vec<Row>,
    /// How to use the model; `None` if it is of no use for agents.
    pub advice: Option<Advice>,
    /// How fast it came; `None` if no streamed reply came.
    pub speed: Option<Speed>,
    /// What it cost.
    pub cost: Cost,
}

/// What a model is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// Agents can use it.
    Usable,
    /// It answers, but agents cannot use it.
    Unusable,
    /// The probe ended before that was seen.
    Unfinished,
    /// It did not answer in any format that was tried.
    Unanswered,
}

/// How fast a streamed reply came.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Speed {
    /// Milliseconds until the first piece.
    pub first_ms: u64,
    /// Tokens per second behind it; `None` if they were not told or came too fast to measure.
    pub tokens_per_second: Option<f64>,
}

/// What a probe cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Cost {
    /// Requests that were sent, those without an answer included.
    pub requests: usize,
    /// Tokens sent, as far as the server told them.
    pub input_tokens: u64,
    /// Tokens generated, as far as the server told them.
    pub output_tokens: u64,
    /// Answers whose tokens were not told, because the server does not or they broke off.
    pub untold: usize,
}

impl Report {
    /// What the probe came to so far.
    #[must_use]
    pub fn of(probe: &Probe) -> Self {
        let format = probe.format();
        let mut rows = replies::formats(probe);
        if let Some(format) = format {
            rows.extend(replies::rows(probe, format));
            rows.extend(calls::rows(probe));
            rows.push(shapes::row(probe));
            rows.extend(limits::rows(probe));
            rows.push(replies::pace(probe));
        }
        let advice = match format {
            Some(_) => Advice::of(probe, &rows),
            None => Err(unanswered(probe)),
        };
        let (standing, why) = match (&advice, format, probe.halted()) {
            (Ok(advice), _, _) => (Standing::Usable, advice.calls()),
            (Err(_), Some(_), Some(_)) => {
                (Standing::Unfinished, "the probe ended before a way to call tools came".to_owned())
            }
            (Err(why), Some(_), None) => (Standing::Unusable, why.clone()),
            (Err(why), None, _) => (Standing::Unanswered, why.clone()),
        };
        Self {
            model: probe.model().to_owned(),
            format,
            standing,
            why,
            halted: probe.halted(),
            refused_key: probe.heard().iter().any(|(_, heard)| {
                let refused = FailureKind::Authentication;
                heard.failure().is_some_and(|failure| failure.kind == refused)
            }),
            rows,
            advice: advice.ok(),
            speed: replies::speed(probe),
            cost: cost(probe),
        }
    }
}

/// Why no format was answered in: what the first one that says more than "no such address" said.
fn unanswered(probe: &Probe) -> String {
    let failures = probe.heard().iter().filter_map(|(step, heard)| match (step, heard.failure()) {
        (Step::Format(format), Some(failure)) => Some((format, failure)),
        _ => None,
    });
    let failures: Vec<_> = failures.collect();
    let missing = |status: Option<u16>| matches!(status, Some(404 | 405));
    let telling = failures.iter().find(|(_, failure)| !missing(failure.status));
    match telling.or(failures.first()) {
        Some((format, failure)) => format!("no answer came; in {format}: {failure}"),
        None => "nothing was asked".to_owned(),
    }
}

fn cost(probe: &Probe) -> Cost {
    let mut cost = Cost { requests: probe.heard().len(), ..Cost::default() };
    for (_, heard) in probe.heard() {
        let usage = match &heard.came {
            Came::Answer(answer) => answer.usage,
            Came::Failed(failure) => match &failure.partial {
                Some(partial) => partial.usage,
                None => continue,
            },
            Came::LeftOff => Default::default(),
            Came::Listed(_) => continue,
        };
        cost.input_tokens = cost.input_tokens.saturating_add(usage.input);
        cost.output_tokens = cost.output_tokens.saturating_add(usage.output);
        cost.untold += usize::from(usage.output == 0);
    }
    cost
}

impl Probe {
    /// Whether the first try of a call came as a call, if need be with arguments to mend.
    pub(super) fn calls_at_once(&self) -> bool {
        let first: Option<&Heard> = self.tries(Step::Call).next();
        first.is_some_and(|heard| {
            matches!(calls::grade(heard), calls::Grade::Valid | calls::Grade::Mended)
        })
    }
}
