//! What lists of sessions show of one of the gateway.

use serde::Serialize;
use serde_json::{Map, Value};
use steersman_store::Head;
use steersman_timeline::Glance;

use crate::control::Control;
use crate::govern::Course;
use crate::record::{Entry, Opened};

/// The state of a session that may go on. Others: `paused`, `forced` while the final answer is
/// asked for, `capped` after an answer of the gateway's own.
pub const STATE_OPEN: &str = "open";

/// Most bytes of a text in lists.
const MAX_TEXT: usize = 1000;

/// A head that entries are taken into. What it has beside its fields is JSON, which is read and
/// written once for many entries.
#[derive(Clone, Debug)]
pub(super) struct Folded {
    head: Head,
    glance: Glance,
    beside: Map<String, Value>,
    /// Whether what stands beside the fields is to be written anew.
    is_stale: bool,
}

/// What stands beside a head's fields.
#[derive(Serialize)]
struct Beside<'a> {
    glance: &'a Glance,
    #[serde(flatten)]
    rest: &'a Map<String, Value>,
}

impl Folded {
    /// Goes on from what the store has.
    pub(super) fn new(head: Head) -> Self {
        let glance = Glance::of_extra(head.extra.as_deref());
        let beside = head.extra.as_deref().and_then(|extra| serde_json::from_str(extra).ok());
        let mut beside: Map<String, Value> = beside.unwrap_or_default();
        beside.remove("glance");
        Self { head, glance, beside, is_stale: false }
    }

    /// The head as it is to be stored.
    pub(super) fn head(&mut self) -> Head {
        if std::mem::take(&mut self.is_stale) {
            let beside = Beside { glance: &self.glance, rest: &self.beside };
            self.head.extra = serde_json::to_string(&beside).ok();
        }
        self.head.clone()
    }

    /// Takes an entry in.
    pub(super) fn fold(&mut self, entry: &Entry) {
        let head = &mut self.head;
        match entry {
            Entry::Opened(opened) => self.open(opened),
            Entry::Replied(replied) => {
                head.turns += 1;
                head.tool_calls += replied.calls.len() as u64;
                let used = replied.usage.input_tokens.saturating_add(replied.usage.output_tokens);
                head.tokens = Some(head.tokens.unwrap_or_default().saturating_add(used));
                // What is not known adds nothing, and makes nothing known.
                if let Some(cost) = replied.cost() {
                    let before = head.cost_nanos.unwrap_or_default();
                    head.cost_nanos = Some(before.saturating_add(cost));
                }
                if !replied.model.is_empty() {
                    head.model = Some(cut(&replied.model));
                }
            }
            Entry::Decided(decision) => {
                self.glance.decided(decision);
                self.is_stale = true;
            }
            Entry::Steered { course } => {
                let state = match course {
                    Course::Pass | Course::Say => STATE_OPEN,
                    Course::Force => "forced",
                    Course::Answer => "capped",
                };
                state.clone_into(&mut head.state);
            }
            Entry::Controlled { control: Control::Pause, .. } => {
                "paused".clone_into(&mut head.state);
            }
            Entry::Controlled { control: Control::Resume, .. } => {
                STATE_OPEN.clone_into(&mut head.state);
            }
            _ => {}
        }
    }

    /// A session that is taken up again keeps what was decided in it.
    fn open(&mut self, opened: &Opened) {
        let head = &mut self.head;
        head.state = STATE_OPEN.to_owned();
        let title = cut(opened.task.trim_start().lines().next().unwrap_or_default());
        if !title.is_empty() {
            head.title = title;
        }
        head.agent = Some(cut(&opened.client));
        head.model = Some(cut(&opened.model));
        let told = [
            ("kind", "gateway"),
            ("name", &opened.name),
            ("source", &opened.source),
            ("format", &opened.format),
            ("mode", &opened.mode),
            ("key", &opened.key),
        ];
        let told = told.into_iter().map(|(key, value)| (key.to_owned(), cut(value).into()));
        self.beside = told.collect();
        self.beside.insert("parent".to_owned(), opened.parent.as_deref().map(cut).into());
        self.is_stale = true;
    }
}

fn cut(text: &str) -> String {
    text[..text.floor_char_boundary(MAX_TEXT)].to_owned()
}
