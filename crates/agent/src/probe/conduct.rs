//! Asking what a probe wants to know.

use std::sync::Arc;
use std::time::Duration;

use steersman_upstream::{Client, Deadlines, Endpoint};
use steersman_wire::{Answer, Delta, Failure, FailureKind};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::heard::{Came, Heard};
use super::plan::Probe;
use super::question::Question;
use super::step::Step;
use crate::json_calls::JsonCalls;
use crate::models::ServedModel;
use crate::seam::{Model, ModelCall};

/// Pieces of an answer after which one without a limit is left.
const ENOUGH: u32 = 8;

/// Longest time an answer without a limit may take.
const LIMITS: Duration = Duration::from_secs(20);

/// The way to a server.
#[derive(Clone, Debug)]
pub struct Line {
    /// The client.
    pub client: Client,
    /// The server in each format that is tried.
    pub endpoints: Vec<Endpoint>,
    /// How long each request may take.
    pub deadlines: Deadlines,
}

/// Asks until nothing more is to be asked; `on_step` is told before each request. What is kept of
/// the answers holds no key of the line. Dropping the
/// future ends the request under way, and the probe keeps what was heard.
pub async fn conduct(line: &Line, probe: &mut Probe, mut on_step: impl FnMut(&Probe, Step)) {
    while let Some(step) = probe.next() {
        on_step(probe, step);
        let heard = ask(line, probe, step).await;
        // The keys of all endpoints: a server may serve several.
        let hide = |text: &str| {
            line.endpoints.iter().fold(text.to_owned(), |text, endpoint| endpoint.hide(&text))
        };
        probe.take(step, heard.hidden(hide));
    }
}

/// How an answer came in.
struct Watch {
    began: Instant,
    pieces: u32,
    first: Option<Instant>,
}

impl Watch {
    fn start() -> Self {
        Self { began: Instant::now(), pieces: 0, first: None }
    }

    fn piece(&mut self) -> u32 {
        self.first.get_or_insert_with(Instant::now);
        self.pieces = self.pieces.saturating_add(1);
        self.pieces
    }

    fn heard(&self, came: Came) -> Heard {
        let since = |at: Instant| {
            u64::try_from(at.duration_since(self.began).as_millis()).unwrap_or(u64::MAX)
        };
        let total_ms = since(Instant::now());
        Heard { came, pieces: self.pieces, first_ms: self.first.map(since), total_ms }
    }
}

fn whole(result: Result<Answer, Failure>) -> Came {
    match result {
        Ok(answer) => Came::Answer(Box::new(answer)),
        Err(failure) => Came::Failed(Box::new(failure)),
    }
}

async fn ask(line: &Line, probe: &Probe, step: Step) -> Heard {
    let mut watch = Watch::start();
    let format = match step {
        Step::Format(format) => Some(format),
        _ => probe.format(),
    };
    let endpoint = line.endpoints.iter().find(|endpoint| Some(endpoint.format()) == format);
    let Some(endpoint) = endpoint else {
        let failure = Failure::new(FailureKind::Request, "no server for this format");
        return watch.heard(Came::Failed(Box::new(failure)));
    };
    if step == Step::Listing {
        let came = match line.client.models(endpoint, line.deadlines).await {
            Ok(models) => Came::Listed(models),
            Err(failure) => Came::Failed(Box::new(failure)),
        };
        return watch.heard(came);
    }
    let Some(question) = Question::of(step, probe) else {
        let failure = Failure::new(FailureKind::Request, "there is nothing to ask");
        return watch.heard(Came::Failed(Box::new(failure)));
    };
    let came = match step {
        Step::Limits => without_limit(line, endpoint, &question, &mut watch).await,
        Step::ObjectCall => whole(as_object(line, endpoint, &question, &mut watch).await),
        _ => {
            let request = question.request();
            let piece = |_: Delta| {
                watch.piece();
            };
            whole(line.client.send(endpoint, &request, line.deadlines, piece).await)
        }
    };
    watch.heard(came)
}

/// Asks for a call in the way of the runtime for models that cannot call tools.
async fn as_object(
    line: &Line,
    endpoint: &Endpoint,
    question: &Question,
    watch: &mut Watch,
) -> Result<Answer, Failure> {
    let served = ServedModel::new(line.client.clone(), endpoint.clone(), line.deadlines);
    let model = JsonCalls::new(Arc::new(served));
    let call = ModelCall {
        request: question.request(),
        agent: "probe",
        attempt: 1,
        failures: 0,
        heard: None,
        json_calls: true,
    };
    let mut piece = |_: &Delta| {
        watch.piece();
    };
    model.reply(call, &mut piece).await
}

/// Asks for an answer without a limit and leaves it soon after it has begun.
async fn without_limit(
    line: &Line,
    endpoint: &Endpoint,
    question: &Question,
    watch: &mut Watch,
) -> Came {
    let enough = Notify::new();
    let request = question.request();
    let total = line.deadlines.total.min(LIMITS);
    let deadlines =
        Deadlines { first_byte: line.deadlines.first_byte.min(LIMITS), total, ..line.deadlines };
    let piece = |_: Delta| {
        if watch.piece() >= ENOUGH {
            enough.notify_one();
        }
    };
    tokio::select! {
        biased;
        came = line.client.send(endpoint, &request, deadlines, piece) => whole(came),
        () = enough.notified() => Came::LeftOff,
    }
}
