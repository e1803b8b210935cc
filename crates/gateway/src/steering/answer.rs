//! Answers in the model's place.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use steersman_engine::StopReason;
use steersman_wire::{Answer, Format, Frame, Message, Part, Role, Tokens};

use super::{Steering, Turn, header};
use crate::chain::place_of;
use crate::govern::Ending;
use crate::seam::{Act, Plan};
use crate::session::Session;
use crate::sessions::{Shared, lock, scope_of};

impl Steering {
    /// Gives a final answer in the model's place.
    pub(super) fn answer(
        &self,
        turn: &Turn<'_>,
        shared: Shared,
        ending: &Ending,
        headers: Vec<(HeaderName, HeaderValue)>,
        id: &str,
    ) -> Plan {
        let mut session = lock(&shared);
        session.memory.in_flight = false;
        let (plan, told) = answer(turn, &mut session, ending, headers, id);
        drop(session);
        if let Some(told) = told {
            self.lock_sessions().answered(id, place_of(&told));
        }
        let scope = scope_of(turn.call.key, turn.named.as_ref());
        self.recorder.keep(id, scope, Box::new(move || lock(&shared).snapshot()));
        plan
    }
}

/// A final answer of our own, in the client's format, and the id of the response if the client may
/// go on from it.
fn answer(
    turn: &Turn<'_>,
    session: &mut Session,
    ending: &Ending,
    mut headers: Vec<(HeaderName, HeaderValue)>,
    id: &str,
) -> (Plan, Option<String>) {
    let format = turn.call.format;
    let streams = turn.received.stream() || turn.call.stream_in_path;
    let answer = own_answer(session, ending, id, turn.chain.len());
    // Of a conversation that the server keeps, the number of items tells answers not apart.
    let frame_id = match turn.chain.is_rest() {
        true => format!("{id}-{:016x}", turn.chain.end()),
        false => format!("{id}-{}", turn.chain.len()),
    };
    let frame = Frame {
        id: &frame_id,
        created_s: turn.call.at_ms / 1000,
        model: &turn.model,
        usage_chunk: false,
    };
    let (kind, body) = if streams {
        ("text/event-stream", format.render_stream(&answer, &frame))
    } else {
        ("application/json", format.render(&answer, &frame))
    };
    let told = match format {
        Format::OpenAiResponses => {
            let elsewhere = &mut session.memory.elsewhere;
            elsewhere.answered_here(frame_id.clone(), &turn.received, &answer.message);
            Some(frame_id)
        }
        _ => None,
    };
    headers.push(header("x-steersman-capped", "true"));
    let mut response = http::Response::new(());
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    let (parts, ()) = response.into_parts();
    let act = Act::Answer(Box::new(parts), Bytes::from(body));
    (Plan { act, headers, watch: None }, told)
}

/// What the answer says: a text, or the call by which this client's loop ends.
fn own_answer(session: &Session, ending: &Ending, id: &str, items: usize) -> Answer {
    let text = session.own_answer();
    let call = |name: &str, arguments: serde_json::Value| Part::ToolCall {
        id: format!("call_{}_{items}", id.trim_start_matches("gw-")),
        name: name.to_owned(),
        arguments: arguments.to_string(),
        raw: None,
    };
    let (parts, stop) = match ending {
        Ending::Text => (vec![Part::Text(text)], StopReason::Stop),
        Ending::Call(name) => {
            let arguments = serde_json::json!({"answer": text, "result": text, "message": text});
            (vec![call(name, arguments)], StopReason::Stop)
        }
        Ending::Command => {
            let arguments = serde_json::json!({"command": Ending::command()});
            (vec![Part::Text(text), call("bash", arguments)], StopReason::Stop)
        }
    };
    Answer {
        message: Message { role: Role::Assistant, parts },
        stop: Some(stop),
        stop_word: None,
        usage: Tokens::default(),
        model: None,
        id: None,
        extra: serde_json::Map::new(),
    }
}
