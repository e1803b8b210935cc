//! The timeline of a session.

use http::StatusCode;
use steersman_engine::Usage;
use steersman_store::{Entry as Stored, SessionId, StoreError};
use steersman_timeline::{
    About, Back, Concluded, Draft, Outcome, Place, Source, Spent, TestNames, Timeline, Turn,
    Wanted, call_of,
};

use super::Api;
use super::query::Query;
use super::reply::{Refused, Reply, json};
use super::types::is_gateway;
use crate::govern::Course;
use crate::record::{self, Entry, Replied, Returned};

/// Turns of an answer, unless another number is asked for.
const TURNS: u64 = 500;
/// Entries that are read at a time.
const PAGE: usize = 1000;
/// Most entries of a session that are read.
const MAX_READ: usize = 200_000;
/// The controls that a session of the gateway takes.
const CONTROLS: [&str; 9] = [
    "pause",
    "resume",
    "continuation",
    "aggressiveness",
    "limits",
    "note",
    "re_evaluate",
    "force_synthesis",
    "stop",
];

impl Api {
    pub(super) async fn timeline(&self, id: &SessionId, query: &Query) -> Result<Reply, Refused> {
        let summary = self.with.store.session(id).await?;
        let summary = summary.ok_or_else(|| Refused::unknown(id.as_str()))?;
        let after = query.number("after_turn").unwrap_or_default();
        let limit = query.number("limit").unwrap_or(TURNS);
        let wanted = Wanted {
            after_turn: u32::try_from(after).unwrap_or(u32::MAX),
            limit: usize::try_from(limit).unwrap_or(1),
        };
        if is_gateway(&summary) {
            return Ok(json(&self.watched(id, wanted).await?));
        }
        let Some(runs) = &self.with.runs else {
            let why = "sessions of runs are not told turn by turn here";
            return Err(Refused::new(StatusCode::CONFLICT, "not_told", why));
        };
        let told = runs.timeline(&self.with.store, &summary, wanted).await;
        told.map(|timeline| json(&timeline))
            .map_err(|why| Refused::new(StatusCode::CONFLICT, "unreadable", why))
    }

    /// The timeline of a session of the gateway.
    async fn watched(&self, id: &SessionId, wanted: Wanted) -> Result<Timeline, StoreError> {
        let mut fold = Fold::new(id, wanted);
        let (mut after, mut read) = (0, 0);
        loop {
            let page = self.with.store.read(id, after, PAGE).await?;
            let Some(last) = page.last() else { break };
            after = last.seq;
            read += page.len();
            page.iter().for_each(|stored| fold.take_in(stored));
            if read >= MAX_READ {
                fold.draft.problem("the journal is longer than what is read of it");
                break;
            }
            // Each page is work of its own: others have their turn.
            tokio::task::yield_now().await;
        }
        let Fold { mut draft, ending, .. } = fold;
        draft.ended(ending);
        match self.with.helm.as_ref().and_then(|helm| helm.stands(id.as_str())) {
            Some(stands) => {
                draft.stands(&stands.engine);
                if let Some(standing) = draft.standing() {
                    standing.paused = stands.paused;
                    standing.is_left_alone = stands.is_left_alone;
                    standing.preset = stands.preset;
                }
                draft.takes(&CONTROLS, None);
            }
            None => draft.takes(&[], Some("the gateway that is asked does not hold the session")),
        }
        Ok(draft.finish())
    }
}

/// A session of the gateway as its journal tells it.
struct Fold {
    draft: Draft,
    ending: Option<Concluded>,
    /// The files that the calls of the turn under way read or change.
    files: Vec<Option<String>>,
    is_open: bool,
}

impl Fold {
    fn new(id: &SessionId, wanted: Wanted) -> Self {
        let draft = Draft::new(Source::Gateway, id.as_str(), wanted);
        Self { draft, ending: None, files: Vec::new(), is_open: false }
    }

    fn take_in(&mut self, stored: &Stored) {
        self.draft.told(stored.seq);
        let place = Place { seq: Some(stored.seq), at_ms: Some(stored.at_ms) };
        match serde_json::from_str::<Entry>(&stored.body) {
            Ok(entry) => self.happened(place, entry),
            // Of a later version of the program.
            Err(_) => self.draft.note(place, &stored.kind, "", None),
        }
    }

    fn happened(&mut self, place: Place, entry: Entry) {
        let draft = &mut self.draft;
        match entry {
            Entry::Opened(opened) => {
                draft.about(&About {
                    task: opened.task,
                    agent: opened.client,
                    model: opened.model,
                });
                if self.is_open || opened.taken_up {
                    draft.note(place, "taken_up", "the session was taken up again", None);
                }
                self.is_open = true;
            }
            Entry::Asked { .. } => {}
            Entry::Returned(returned) => self.returned(&returned),
            Entry::Decided(decision) => draft.decided(place, &decision),
            Entry::Said { text, template } => draft.said(place, &text, &template),
            Entry::Rescued { text } => draft.said(place, &text, "rescue"),
            Entry::Replied(replied) => self.replied(place, *replied),
            Entry::Marked { who, seq, mark, note } => {
                draft.marked(seq, mark, note.as_deref());
                let text = format!("entry {seq}: {mark}");
                draft.note(place, "marked", &text, Some(&who));
            }
            Entry::Controlled { who, control } => {
                draft.note(place, "control", &control.to_string(), Some(&who));
            }
            other => self.noted(place, &other),
        }
    }

    fn noted(&mut self, place: Place, entry: &Entry) {
        let text = match entry {
            Entry::Steered { course: Course::Answer } => {
                self.ending =
                    Some(concluded("capped", "the gateway answered in the model's place"));
                "the gateway answered in the model's place".to_owned()
            }
            Entry::Steered { course: Course::Force } => {
                "the tools were withdrawn and the answer asked for".to_owned()
            }
            Entry::CallFailed { status, message, retry_ms } => {
                let status = status.map_or_else(|| "no answer".to_owned(), |it| it.to_string());
                let then = match retry_ms {
                    Some(ms) => format!("; again in {ms} ms"),
                    None => String::new(),
                };
                format!("{status}: {message}{then}")
            }
            Entry::FellBack { model } => format!("{model} was asked instead"),
            Entry::BrokeOff { how } => {
                self.ending = Some(concluded("broke_off", how));
                format!("the answer broke off: {how}")
            }
            Entry::Held => "a request waits: the session is paused".to_owned(),
            Entry::FailedOpen { why } => format!("passed as it came: {why}"),
            Entry::Lost { entries } => format!("{entries} entries are missing here"),
            _ => return,
        };
        self.draft.note(place, entry.kind(), &text, None);
    }

    fn replied(&mut self, place: Place, replied: Replied) {
        self.ending = replied.calls.is_empty().then(|| Concluded {
            answer: replied.text.clone(),
            ..concluded("answered", "the model's answer calls no tool")
        });
        self.files = replied.tools.iter().map(|tool| tool.file.clone()).collect();
        let mut tools = replied.tools.into_iter();
        let calls = replied.calls.iter().map(|name| {
            let told = tools.next().unwrap_or_default();
            let mut call = call_of(name, &told.arguments, None);
            if !told.label.is_empty() {
                call.label = told.label;
            }
            call.kind = told.kind.into();
            call.changes = told.changes;
            call
        });
        let cost = replied.cost_nanodollars;
        let usage = replied.usage;
        let spent = (usage != Usage::default() || cost.is_some()).then_some(Spent {
            input_tokens: usage.input_tokens,
            cached_tokens: None,
            output_tokens: usage.output_tokens,
            cost_nanodollars: cost
                .or_else(|| (usage.cost_nanodollars > 0).then_some(usage.cost_nanodollars)),
        });
        self.draft.begin_turn(Turn {
            number: replied.turn,
            seq: place.seq,
            at_ms: place.at_ms,
            took_ms: Some(replied.took_ms),
            text: replied.text,
            model: (!replied.model.is_empty()).then_some(replied.model),
            stop: replied.stop.map(|stop| stop.name().to_owned()),
            calls: calls.collect(),
            spent,
            ..Turn::default()
        });
    }

    fn returned(&mut self, returned: &Returned) {
        for (position, back) in returned.results.iter().enumerate() {
            if let Some(call) = self.draft.call(position) {
                fill(call, back);
            }
            let names: TestNames = back.names.iter().cloned().collect();
            let file = self.files.get(position).cloned().flatten();
            let back = Back { position, file, tests: back.tests.as_ref() };
            self.draft.returned(&back, &names);
        }
    }
}

fn fill(call: &mut steersman_timeline::Call, back: &record::Back) {
    use steersman_engine::classify::Outcome as Says;
    (call.outcome, call.error) = match back.outcome {
        None => (None, None),
        Some(Says::Ok) => (Some(Outcome::Ok), None),
        Some(Says::Empty) => (Some(Outcome::Empty), None),
        Some(Says::Error { signature, .. }) => {
            (Some(Outcome::Error), Some(format!("{signature:016x}")))
        }
    };
    call.exit_code = back.exit_code;
    call.excerpt.clone_from(&back.excerpt);
    call.times = back.times;
    call.novel = call.outcome.is_some() && back.times <= 1;
}

fn concluded(ending: &str, why: &str) -> Concluded {
    Concluded { ending: ending.to_owned(), why: why.to_owned(), answer: String::new() }
}
