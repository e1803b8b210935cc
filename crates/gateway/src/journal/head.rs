//! What lists of sessions show of one of the gateway.

use serde_json::{Map, Value, json};
use steersman_engine::Decision;
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

/// Takes an entry into the head.
pub(super) fn fold(head: &mut Head, entry: &Entry) {
    match entry {
        Entry::Opened(opened) => open(head, opened),
        Entry::Replied(replied) => {
            head.turns += 1;
            head.tool_calls += replied.calls.len() as u64;
            let used = replied.usage.input_tokens.saturating_add(replied.usage.output_tokens);
            head.tokens = Some(head.tokens.unwrap_or_default().saturating_add(used));
            // What is not known adds nothing, and makes nothing known.
            if let Some(cost) = replied.cost() {
                head.cost_nanos = Some(head.cost_nanos.unwrap_or_default().saturating_add(cost));
            }
            if !replied.model.is_empty() {
                head.model = Some(cut(&replied.model));
            }
        }
        Entry::Decided(decision) => decided(head, decision),
        Entry::Steered { course } => {
            let state = match course {
                Course::Pass | Course::Say => STATE_OPEN,
                Course::Force => "forced",
                Course::Answer => "capped",
            };
            state.clone_into(&mut head.state);
        }
        Entry::Controlled { control: Control::Pause, .. } => "paused".clone_into(&mut head.state),
        Entry::Controlled { control: Control::Resume, .. } => {
            STATE_OPEN.clone_into(&mut head.state);
        }
        _ => {}
    }
}

/// What lists show of decisions stands beside what else is told of the session.
fn decided(head: &mut Head, decision: &Decision) {
    let mut glance = Glance::of_extra(head.extra.as_deref());
    glance.decided(decision);
    let extra = head.extra.as_deref().and_then(|extra| serde_json::from_str(extra).ok());
    let mut extra: Map<String, Value> = extra.unwrap_or_default();
    extra.insert("glance".to_owned(), glance.to_value());
    head.extra = Some(Value::from(extra).to_string());
}

fn open(head: &mut Head, opened: &Opened) {
    head.state = STATE_OPEN.to_owned();
    let title = cut(opened.task.trim_start().lines().next().unwrap_or_default());
    if !title.is_empty() {
        head.title = title;
    }
    head.agent = Some(cut(&opened.client));
    head.model = Some(cut(&opened.model));
    // A session that is taken up again keeps what was decided in it.
    let glance = Glance::of_extra(head.extra.as_deref());
    let extra = json!({
        "glance": glance.to_value(),
        "kind": "gateway",
        "name": cut(&opened.name),
        "source": cut(&opened.source),
        "parent": opened.parent.as_deref().map(cut),
        "format": cut(&opened.format),
        "mode": cut(&opened.mode),
        "key": cut(&opened.key),
    });
    head.extra = Some(extra.to_string());
}

fn cut(text: &str) -> String {
    text[..text.floor_char_boundary(MAX_TEXT)].to_owned()
}
