//! The span of one model call, from the request to the end of its answer.

use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, StatusCode, Uri};
use steersman_engine::StopReason;
use steersman_wire::{Format, Tokens};

use super::Tracer;
use super::parent::Parent;
use crate::record::{Entry, Replied};

/// Most events of a span; further ones are counted.
const MAX_EVENTS: usize = 32;
/// Longest text of an attribute, in bytes.
const MAX_TEXT: usize = 256;

/// A finished span.
#[derive(Debug)]
pub(super) struct Span {
    pub(super) ids: Ids,
    pub(super) name: String,
    pub(super) begun_ms: u64,
    pub(super) ended_ms: u64,
    pub(super) attributes: Vec<Attribute>,
    pub(super) events: Vec<Event>,
    pub(super) events_dropped: u32,
    /// What failed; `None` if nothing did.
    pub(super) error: Option<String>,
}

/// Where a span belongs.
#[derive(Debug)]
pub(super) struct Ids {
    pub(super) trace: u128,
    pub(super) id: u64,
    pub(super) parent: Option<Parent>,
}

pub(super) type Attribute = (&'static str, Value);

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Text(String),
    Int(u64),
    Double(f64),
    Flag(bool),
    Texts(Vec<String>),
}

/// Something that happened during the call.
#[derive(Debug)]
pub(super) struct Event {
    pub(super) at_ms: u64,
    pub(super) name: &'static str,
    pub(super) attributes: Vec<Attribute>,
}

/// What is known of a call when it is asked.
pub(crate) struct Asking<'a> {
    pub(crate) session: &'a str,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) format: Format,
    pub(crate) client: &'a str,
    pub(crate) model: &'a str,
    pub(crate) mode: &'static str,
    pub(crate) stream: bool,
    /// The base URL of the model's server; `None` if there is none.
    pub(crate) server: Option<&'a str>,
    pub(crate) at_ms: u64,
}

/// The span of a call that goes on. It ends, and is sent, when it is dropped: whatever becomes of
/// the answer, nobody follows it any more then.
pub(crate) struct CallSpan {
    tracer: Arc<Tracer>,
    span: Span,
    used: Option<Used>,
    /// When the first piece of a stream came.
    first_piece_ms: Option<u64>,
    /// When the answer was whole or broke off; `None`: it goes on.
    ended_ms: Option<u64>,
}

/// What a call used, all its answers together.
#[derive(Clone, Copy, Debug)]
struct Used {
    tokens: Tokens,
    /// In nano-dollars; `None` if it is not known of one of them.
    cost: Option<u64>,
}

impl Used {
    fn and(self, other: Self) -> Self {
        let sum = u64::saturating_add;
        let (one, two) = (self.tokens, other.tokens);
        let tokens = Tokens {
            input: sum(one.input, two.input),
            output: sum(one.output, two.output),
            cached_input: sum(one.cached_input, two.cached_input),
            cache_write: sum(one.cache_write, two.cache_write),
            reasoning: sum(one.reasoning, two.reasoning),
            cost_nanodollars: sum(one.cost_nanodollars, two.cost_nanodollars),
        };
        Self { tokens, cost: self.cost.zip(other.cost).map(|(one, two)| sum(one, two)) }
    }
}

impl CallSpan {
    pub(super) fn begin(tracer: Arc<Tracer>, asking: &Asking<'_>, ids: Ids) -> Self {
        let operation = match asking.format {
            Format::Gemini => "generate_content",
            _ => "chat",
        };
        let mut attributes = vec![
            ("gen_ai.operation.name", text(operation)),
            ("gen_ai.provider.name", text(provider(asking.format))),
            ("gen_ai.request.model", text(asking.model)),
            ("gen_ai.conversation.id", text(asking.session)),
            ("steersman.client", text(asking.client)),
            ("steersman.mode", text(asking.mode)),
        ];
        if asking.stream {
            attributes.push(("gen_ai.request.stream", Value::Flag(true)));
        }
        if let Some((host, port)) = asking.server.and_then(place) {
            attributes.push(("server.address", Value::Text(host)));
            attributes.push(("server.port", Value::Int(port.into())));
        }
        let span = Span {
            ids,
            name: format!("{operation} {}", short(asking.model)).trim_end().to_owned(),
            begun_ms: asking.at_ms,
            ended_ms: asking.at_ms,
            attributes,
            events: Vec::new(),
            events_dropped: 0,
            error: None,
        };
        Self { tracer, span, used: None, first_piece_ms: None, ended_ms: None }
    }

    /// Takes in what the session's journal is told. Texts stay out.
    pub(crate) fn note(&mut self, at_ms: u64, entry: &Entry) {
        match entry {
            Entry::Asked { resent: true, .. } => self.set("steersman.resent", Value::Flag(true)),
            Entry::Decided(decision) => {
                let action = decision.action.name();
                let reason = decision.reason.name();
                let told =
                    vec![("steersman.decision", text(action)), ("steersman.reason", text(reason))];
                for (name, value) in &told {
                    self.set(name, value.clone());
                }
                self.event(at_ms, "steersman.decision", told);
            }
            Entry::Steered { course } => self.set("steersman.course", text(course.name())),
            Entry::Said { template, .. } => {
                let told = vec![("steersman.template", text(template))];
                self.event(at_ms, "steersman.said", told);
            }
            Entry::FellBack { model } => {
                let told = vec![("gen_ai.request.model", text(model))];
                self.event(at_ms, "steersman.fell_back", told);
            }
            Entry::Rescued { .. } => self.event(at_ms, "steersman.rescued", Vec::new()),
            Entry::CallFailed { status, retry_ms, .. } => {
                self.failed(at_ms, *status, *retry_ms);
            }
            Entry::Replied(replied) => self.replied(at_ms, replied),
            Entry::BrokeOff { how } => {
                self.fail(how);
                self.ended_ms = Some(at_ms);
            }
            _ => {}
        }
    }

    /// What an answer used, and what that cost in nano-dollars, if it is known. An answer that was
    /// asked for again is two, and both were paid for.
    pub(crate) fn used(&mut self, tokens: &Tokens, cost: Option<u64>) {
        if tokens.is_told() {
            let this = Used { tokens: *tokens, cost };
            self.used = Some(self.used.map_or(this, |before| before.and(this)));
        }
    }

    /// A piece of a stream has come; only the first one counts.
    pub(crate) fn piece(&mut self, clock: impl FnOnce() -> u64) {
        if self.first_piece_ms.is_none() {
            self.first_piece_ms = Some(clock());
        }
    }

    /// The head that the client gets.
    pub(crate) fn head(&mut self, status: StatusCode) {
        if !status.is_success() {
            self.set("http.response.status_code", Value::Int(status.as_u16().into()));
            self.fail(status.as_str());
        }
    }

    fn failed(&mut self, at_ms: u64, status: Option<u16>, retry_ms: Option<u64>) {
        let error = status.map_or_else(|| "unreachable".to_owned(), |status| status.to_string());
        match retry_ms {
            Some(wait_ms) => {
                let told = vec![
                    ("error.type", Value::Text(error)),
                    ("steersman.retry_ms", Value::Int(wait_ms)),
                ];
                self.event(at_ms, "steersman.retry", told);
            }
            None => {
                if let Some(status) = status {
                    self.set("http.response.status_code", Value::Int(status.into()));
                }
                self.fail(&error);
                self.ended_ms = Some(at_ms);
            }
        }
    }

    fn replied(&mut self, at_ms: u64, replied: &Replied) {
        if !replied.model.is_empty() {
            self.set("gen_ai.response.model", text(&replied.model));
        }
        if let Some(stop) = replied.stop {
            let calls = stop == StopReason::Stop && !replied.calls.is_empty();
            let why = if calls { "tool_call" } else { stop.name() };
            self.set("gen_ai.response.finish_reasons", Value::Texts(vec![why.to_owned()]));
        }
        self.ended_ms = Some(at_ms);
    }

    fn tell_usage(&mut self, used: Used) {
        let Tokens { input, output, cached_input, cache_write, reasoning, .. } = used.tokens;
        if input > 0 || output > 0 {
            self.set("gen_ai.usage.input_tokens", Value::Int(input));
            self.set("gen_ai.usage.output_tokens", Value::Int(output));
        }
        let parts = [
            ("gen_ai.usage.cache_read.input_tokens", cached_input),
            ("gen_ai.usage.cache_creation.input_tokens", cache_write),
            ("gen_ai.usage.reasoning.output_tokens", reasoning),
        ];
        // Zero is also what servers that do not count them apart come out as.
        for (name, count) in parts.into_iter().filter(|(_, count)| *count > 0) {
            self.set(name, Value::Int(count));
        }
        if let Some(cost) = used.cost {
            self.set("steersman.cost_nanodollars", Value::Int(cost));
        }
    }

    fn fail(&mut self, error: &str) {
        self.set("error.type", text(error));
        self.span.error = Some(short(error).to_owned());
    }

    fn set(&mut self, name: &'static str, value: Value) {
        match self.span.attributes.iter_mut().find(|(known, _)| *known == name) {
            Some(place) => place.1 = value,
            None => self.span.attributes.push((name, value)),
        }
    }

    fn event(&mut self, at_ms: u64, name: &'static str, attributes: Vec<Attribute>) {
        if self.span.events.len() < MAX_EVENTS {
            self.span.events.push(Event { at_ms, name, attributes });
        } else {
            self.span.events_dropped = self.span.events_dropped.saturating_add(1);
        }
    }
}

impl Drop for CallSpan {
    fn drop(&mut self) {
        if let Some(used) = self.used {
            self.tell_usage(used);
        }
        if let Some(first_ms) = self.first_piece_ms {
            let waited_ms = first_ms.saturating_sub(self.span.begun_ms);
            let seconds = Duration::from_millis(waited_ms).as_secs_f64();
            self.set("gen_ai.response.time_to_first_chunk", Value::Double(seconds));
        }
        let ended_ms = self.ended_ms.unwrap_or_else(|| self.tracer.now_ms());
        let none = Ids { trace: 0, id: 0, parent: None };
        let span = Span {
            ids: std::mem::replace(&mut self.span.ids, none),
            name: std::mem::take(&mut self.span.name),
            begun_ms: self.span.begun_ms,
            ended_ms: ended_ms.max(self.span.begun_ms),
            attributes: std::mem::take(&mut self.span.attributes),
            events: std::mem::take(&mut self.span.events),
            events_dropped: self.span.events_dropped,
            error: self.span.error.take(),
        };
        self.tracer.finished(span);
    }
}

fn text(text: &str) -> Value {
    Value::Text(short(text).to_owned())
}

fn short(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_TEXT)]
}

/// Who makes models that speak a format. Who else serves them cannot be seen here.
const fn provider(format: Format) -> &'static str {
    match format {
        Format::OpenAiChat | Format::OpenAiResponses => "openai",
        Format::Anthropic => "anthropic",
        Format::Gemini => "gcp.gemini",
    }
}

/// Host and port of a base URL.
fn place(url: &str) -> Option<(String, u16)> {
    let uri: Uri = url.parse().ok()?;
    let default = if uri.scheme_str() == Some("https") { 443 } else { 80 };
    Some((uri.host()?.to_owned(), uri.port_u16().unwrap_or(default)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_a_call_are_summed() {
        let used = |output, cost| Used { tokens: Tokens { output, ..Tokens::default() }, cost };
        let check = |one, two, expected: (u64, Option<u64>)| {
            let both = used(10, one).and(used(u64::MAX, two));
            assert_eq!((both.tokens.output, both.cost), expected);
        };
        check(Some(3), Some(4), (u64::MAX, Some(7)));
        // What one of them cost is not what the call cost.
        check(Some(3), None, (u64::MAX, None));
        check(None, Some(4), (u64::MAX, None));
    }
}
