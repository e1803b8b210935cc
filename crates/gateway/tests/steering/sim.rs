//! A client and a model's server around the governor, without sockets or clocks.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde_json::Value;
use steersman_engine::{Decision, Policy, StopReason};
use steersman_gateway::budget::Ticket;
use steersman_gateway::config::Config;
use steersman_gateway::keys::Grant;
use steersman_gateway::record::{Entry, Recorder, Standing};
use steersman_gateway::seam::{Act, Call, EndOfAnswer, Governor, Next, Plan, Watch};
use steersman_gateway::session::Snapshot;
use steersman_gateway::steering::Steering;
use steersman_wire::{Answer, Format, Frame, Message, Part, Request, Role, Tokens, ToolSpec};

/// Keeps everything in memory, as a store would.
#[derive(Default)]
pub(crate) struct Kept {
    entries: Mutex<Vec<(String, Entry)>>,
    snapshots: Mutex<HashMap<String, (u64, Snapshot)>>,
    /// How often a snapshot was asked for.
    pub(crate) recalled: AtomicU64,
}

impl Kept {
    /// The decisions of all sessions, in order.
    pub(crate) fn decisions(&self) -> Vec<Decision> {
        let entries = self.entries.lock().unwrap();
        let decisions = entries.iter().filter_map(|(_, entry)| match entry {
            Entry::Decided(decision) => Some((**decision).clone()),
            _ => None,
        });
        decisions.collect()
    }

    pub(crate) fn entries(&self) -> Vec<(String, Entry)> {
        self.entries.lock().unwrap().clone()
    }

    /// The kinds of entries, by session.
    pub(crate) fn kinds(&self) -> Vec<(String, &'static str)> {
        let entries = self.entries.lock().unwrap();
        entries.iter().map(|(id, entry)| (id.clone(), entry.kind())).collect()
    }

    /// Ids of sessions, in the order they were opened.
    pub(crate) fn sessions(&self) -> Vec<String> {
        let opened = self.kinds().into_iter().filter(|(_, kind)| *kind == "opened");
        opened.map(|(id, _)| id).collect()
    }

    pub(crate) fn count(&self, kind: &str) -> usize {
        self.kinds().iter().filter(|(_, it)| *it == kind).count()
    }
}

impl Recorder for Kept {
    fn record(&self, session: &str, _at_ms: u64, entry: &Entry) {
        // What is stored must be readable again.
        let text = serde_json::to_string(entry).unwrap();
        assert_eq!(serde_json::from_str::<Entry>(&text).unwrap(), *entry);
        self.entries.lock().unwrap().push((session.to_owned(), entry.clone()));
    }

    fn keep(&self, session: &str, scope: u64, make: Box<dyn FnOnce() -> Snapshot + Send>) {
        let text = serde_json::to_string(&make()).unwrap();
        let snapshot = serde_json::from_str(&text).unwrap();
        self.snapshots.lock().unwrap().insert(session.to_owned(), (scope, snapshot));
    }

    fn standing(&self, _limit: usize) -> Vec<Standing> {
        let snapshots = self.snapshots.lock().unwrap();
        let standing = snapshots.iter().map(|(id, (scope, snapshot))| Standing {
            id: id.clone(),
            scope: *scope,
            end: snapshot.memory.stands_at(),
        });
        standing.collect()
    }

    fn recall(&self, session: &str) -> Option<(Snapshot, u64)> {
        self.recalled.fetch_add(1, Ordering::SeqCst);
        let snapshots = self.snapshots.lock().unwrap();
        snapshots.get(session).map(|(scope, snapshot)| (snapshot.clone(), *scope))
    }
}

static CLOCK: AtomicU64 = AtomicU64::new(1_700_000_000_000);

/// A governor as `yaml` configures it, under the policy `default`.
pub(crate) fn steering(yaml: &str, kept: &Arc<Kept>) -> Steering {
    steering_under(yaml, Policy::default(), kept)
}

/// The same under another policy.
pub(crate) fn steering_under(yaml: &str, policy: Policy, kept: &Arc<Kept>) -> Steering {
    let config = Config::parse_bytes("gateway.yaml", yaml.as_bytes()).unwrap();
    let clock = Arc::new(|| CLOCK.fetch_add(1, Ordering::SeqCst));
    let recorder: Arc<dyn Recorder> = Arc::clone(kept) as Arc<dyn Recorder>;
    Steering::new(config, policy, recorder, clock)
}

/// What became of a request.
pub(crate) enum Sent {
    /// It went to the model's server.
    Forwarded { body: Bytes, headers: HashMap<String, String>, watch: Option<Box<dyn Watch>> },
    /// It waits.
    Held,
    /// It was answered by the gateway.
    Answered { answer: Box<Answer>, headers: HashMap<String, String> },
}

/// A client with its conversation.
pub(crate) struct Client {
    pub(crate) format: Format,
    pub(crate) stream: bool,
    pub(crate) headers: HeaderMap,
    pub(crate) messages: Vec<Message>,
    pub(crate) tools: Vec<ToolSpec>,
    pub(crate) system: String,
    pub(crate) at_ms: u64,
    /// Whether it makes up ids of its own for calls, as Gemini CLI does.
    pub(crate) renames: bool,
    /// Makes ids of calls unlike those of other clients.
    pub(crate) name: String,
    /// The name of its virtual key; empty without one.
    pub(crate) key: String,
    /// What that key allows; `None`: everything.
    pub(crate) grant: Option<Grant>,
    /// What its calls are charged to.
    pub(crate) ticket: Option<Arc<Ticket>>,
    /// How it leaves its conversation to the server (Responses).
    pub(crate) keeps: Keeps,
    /// The last response.
    pub(crate) last: Option<String>,
    /// What the model's server says an answer used.
    pub(crate) usage: Tokens,
    replies: u32,
}

/// Who keeps a conversation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keeps {
    /// The client, which sends all of it.
    Client,
    /// The server, by the last response.
    Response,
    /// The server, under a name.
    Conversation,
}

impl Client {
    pub(crate) fn new(format: Format, stream: bool, name: &str) -> Self {
        let tools = ["read", "shell", "edit"].map(|tool| ToolSpec {
            name: tool.to_owned(),
            description: "does it".to_owned(),
            parameters: serde_json::json!({"type": "object", "properties": {"path": {"type": "string"}}}),
        });
        Self {
            format,
            stream,
            headers: HeaderMap::new(),
            messages: vec![Message::user("Fix the failing test in src/lib.rs.")],
            tools: tools.into(),
            system: "You are an agent.".to_owned(),
            at_ms: 1_700_000_000_000,
            renames: false,
            name: name.to_owned(),
            key: String::new(),
            grant: None,
            ticket: None,
            keeps: Keeps::Client,
            last: None,
            usage: Tokens { input: 500, output: 20, ..Tokens::default() },
            replies: 0,
        }
    }

    pub(crate) fn kept_by(mut self, keeps: Keeps) -> Self {
        self.keeps = keeps;
        self
    }

    pub(crate) fn header(mut self, name: &'static str, value: &str) -> Self {
        let value = HeaderValue::from_str(value).unwrap();
        self.headers.insert(HeaderName::from_static(name), value);
        self
    }

    pub(crate) fn with_key(mut self, key: &str) -> Self {
        key.clone_into(&mut self.key);
        self
    }

    pub(crate) fn body(&self) -> Bytes {
        let request = Request {
            system: &self.system,
            tools: &self.tools,
            stream: self.stream,
            ..Request::new("some-model", &self.messages)
        };
        let body = self.format.body(&request);
        let name = format!("conv_{}", self.name);
        let (key, id) = match (self.keeps, &self.last) {
            (Keeps::Conversation, _) => ("conversation", &name),
            (Keeps::Response, Some(last)) => ("previous_response_id", last),
            _ => return body.into(),
        };
        let mut body: Value = serde_json::from_slice(&body).unwrap();
        let items = body["input"].as_array_mut().unwrap();
        let replied = |item: &Value| item["role"] == "assistant" || item["type"] == "function_call";
        items.drain(..items.iter().rposition(replied).map_or(0, |at| at + 1));
        body[key] = id.as_str().into();
        body.to_string().into()
    }

    /// Sends the conversation.
    pub(crate) fn ask(&mut self, steering: &Steering) -> Sent {
        let body = self.body();
        let Plan { act, headers, watch } = self.plan(steering);
        let headers = headers
            .iter()
            .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
            .collect();
        match act {
            Act::Forward => Sent::Forwarded { body, headers, watch },
            Act::ForwardBody(body) => {
                serde_json::from_slice::<Value>(&body).unwrap();
                Sent::Forwarded { body, headers, watch }
            }
            Act::Hold(_) => Sent::Held,
            Act::Answer(_, body) => Sent::Answered { answer: Box::new(self.read(&body)), headers },
        }
    }

    /// What becomes of the conversation when it is sent.
    pub(crate) fn plan(&mut self, steering: &Steering) -> Plan {
        self.at_ms += 2_000;
        let in_path = self.format == Format::Gemini;
        steering.call(&Call {
            format: self.format,
            session_prefix: None,
            headers: &self.headers,
            model_in_path: in_path.then_some("some-model"),
            stream_in_path: in_path && self.stream,
            body: &self.body(),
            key: &self.key,
            grant: self.grant.as_ref(),
            ticket: self.ticket.as_ref(),
            connection: 1,
            at_ms: self.at_ms,
        })
    }

    /// What the client makes of an answer's bytes.
    pub(crate) fn read(&self, bytes: &[u8]) -> Answer {
        if !self.stream {
            return self.format.answer(bytes).unwrap();
        }
        let mut reader = self.format.stream();
        reader.push(bytes).unwrap();
        reader.finish().unwrap()
    }

    /// The bytes of a reply as the model's server sends it.
    pub(crate) fn served(&mut self, reply: &Message) -> Vec<u8> {
        self.replies += 1;
        let mut message = reply.clone();
        for (at, part) in message.parts.iter_mut().enumerate() {
            if let Part::ToolCall { id, .. } = part {
                *id = format!("call_{}_{}_{at}", self.name, self.replies);
            }
        }
        let answer = Answer {
            message,
            stop: Some(StopReason::Stop),
            stop_word: None,
            usage: self.usage,
            model: Some("some-model".to_owned()),
            id: None,
            extra: serde_json::Map::new(),
        };
        let id = format!("id-{}-{}", self.name, self.replies);
        let frame =
            Frame { id: &id, created_s: 1_700_000_000, model: "some-model", usage_chunk: true };
        if self.stream {
            self.format.render_stream(&answer, &frame)
        } else {
            self.format.render(&answer, &frame)
        }
    }

    /// Takes in an answer, and results for its calls.
    pub(crate) fn take(&mut self, answer: &Answer, result: &str) {
        let mut message = answer.message.clone();
        for part in &mut message.parts {
            if let Part::ToolCall { id, raw, .. } = part
                && self.renames
            {
                *id = format!("own_{}", self.messages.len());
                *raw = None;
            }
        }
        let results: Vec<Part> = message
            .tool_calls()
            .map(|call| Part::ToolResult {
                call_id: call.id.to_string(),
                name: call.name.to_string(),
                content: result.to_owned(),
                is_error: false,
            })
            .collect();
        self.messages.push(message);
        if self.keeps != Keeps::Client {
            self.last.clone_from(&answer.id);
        }
        if !results.is_empty() {
            self.messages.push(Message::results(results));
        }
    }

    /// One whole turn: asks, is served `reply`, runs its calls. The bytes must reach the client as
    /// they were sent.
    pub(crate) fn turn(&mut self, steering: &Steering, reply: &Message, result: &str) -> Bytes {
        let Sent::Forwarded { body, watch, .. } = self.ask(steering) else {
            panic!("answered instead of forwarded")
        };
        let served = self.served(reply);
        let (got, again) = deliver(watch, &served, 7);
        assert!(again.is_none(), "asked again");
        assert_eq!(got, served, "not the bytes that were served");
        let answer = self.read(&got);
        self.take(&answer, result);
        body
    }
}

/// The watch of an answer that is not the end, and the body the model is asked again with.
pub(crate) type Again = (Box<dyn Watch>, Bytes);

/// Streams an answer through the watch in pieces; what the client got, the watch, and the body the
/// model is asked again with.
pub(crate) fn deliver(
    watch: Option<Box<dyn Watch>>,
    served: &[u8],
    piece: usize,
) -> (Vec<u8>, Option<Again>) {
    let Some(mut watch) = watch else { return (served.to_vec(), None) };
    let mut headers = HeaderMap::new();
    let streams = served.starts_with(b"data:") || served.starts_with(b"event:");
    let kind = if streams { "text/event-stream" } else { "application/json" };
    headers.insert("content-type", HeaderValue::from_static(kind));
    watch.head(StatusCode::OK, &headers);
    push_all(watch, served, piece)
}

/// The same for an answer that goes on where another ended.
pub(crate) fn push_all(
    mut watch: Box<dyn Watch>,
    served: &[u8],
    piece: usize,
) -> (Vec<u8>, Option<Again>) {
    let mut out = Vec::new();
    let bytes = Bytes::copy_from_slice(served);
    for at in (0..bytes.len()).step_by(piece.max(1)) {
        watch.push(bytes.slice(at..bytes.len().min(at + piece)), &mut out);
    }
    let mut got = out.concat();
    match watch.end(EndOfAnswer::Whole) {
        Next::Done(rest) | Next::Finish(rest) => {
            got.extend(rest.concat());
            (got, None)
        }
        Next::Again(body) => (got, Some((watch, body))),
    }
}

/// A reply that calls a tool.
pub(crate) fn call(name: &str, arguments: &str) -> Message {
    let (name, arguments) = (name.to_owned(), arguments.to_owned());
    Message {
        role: Role::Assistant,
        parts: vec![Part::ToolCall { id: "x".to_owned(), name, arguments, raw: None }],
    }
}
