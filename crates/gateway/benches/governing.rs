//! What it takes to govern a turn with 131 KB behind it, without sockets: the request is judged,
//! the answer read. `cargo bench -p steersman-gateway`.
#![expect(clippy::unwrap_used, reason = "a bench reports to its caller")]

use std::cell::RefCell;
use std::sync::Arc;

use bytes::Bytes;
use divan::{Bencher, black_box};
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{HeaderMap, StatusCode};
use steersman_engine::{Policy, StopReason};
use steersman_gateway::Config;
use steersman_gateway::record::{SharedRecorder, Silent};
use steersman_gateway::seam::{Call, EndOfAnswer, Governor};
use steersman_gateway::steering::Steering;
use steersman_wire::{Answer, Format, Frame, Message, Part, Request, Role, Tokens, ToolSpec};

fn main() {
    divan::main();
}

/// What stands behind a session when it begins. Bytes.
const HISTORY: usize = 131_072;
/// Bytes of the result of each call, before the session is watched and afterwards.
const OLD_RESULT: usize = 1_700;
const RESULT: usize = 400;
/// Turns before a session is watched, and the most it has.
const BEFORE: usize = HISTORY / (OLD_RESULT + 200);
const TURNS: usize = BEFORE + 20;

/// An agent that reads file after file.
struct Agent {
    format: Format,
    messages: Vec<Message>,
    tools: Vec<ToolSpec>,
    turns: usize,
}

/// A turn: the request and the answer.
struct Turn {
    body: Bytes,
    answer: Bytes,
}

impl Agent {
    fn new(format: Format, number: usize) -> Self {
        let tool = |name: &str| ToolSpec {
            name: name.to_owned(),
            description: "What it does and when to use it. ".repeat(25),
            parameters: serde_json::json!({"type": "object", "properties": {
                "path": {"type": "string"},
            }}),
        };
        let tools = ["read", "edit", "search"].map(tool).to_vec();
        let messages = vec![Message::user(format!("Fix the failing test number {number}."))];
        let mut agent = Self { format, messages, tools, turns: 0 };
        for _ in 0..BEFORE {
            let reply = agent.reply();
            agent.take(reply, OLD_RESULT);
        }
        agent
    }

    /// What the model says next.
    fn reply(&self) -> Message {
        let turn = self.turns;
        let call = Part::ToolCall {
            id: format!("call_{turn}"),
            name: "read".to_owned(),
            arguments: format!(r#"{{"path":"src/file_{turn}.rs"}}"#),
            raw: None,
        };
        let parts = vec![Part::Text("I look at the next file.".to_owned()), call];
        Message { role: Role::Assistant, parts }
    }

    fn take(&mut self, reply: Message, size: usize) {
        let line = format!("{}:    let found = parse(line, \"utf-8\")?;\n", self.turns);
        let results = reply.tool_calls().map(|call| Part::ToolResult {
            call_id: call.id.to_string(),
            name: call.name.to_string(),
            content: line.repeat(size.div_ceil(line.len())),
            is_error: false,
        });
        let results = Message::results(results.collect());
        self.messages.extend([reply, results]);
        self.turns += 1;
    }

    fn turn(&mut self) -> Turn {
        let system = "You are a coding agent. ".repeat(40);
        let request = Request {
            system: &system,
            tools: &self.tools,
            ..Request::new("some-model", &self.messages)
        };
        let body = self.format.body(&request).into();
        let reply = self.reply();
        let answer = Answer {
            message: reply.clone(),
            stop: Some(StopReason::Stop),
            stop_word: None,
            usage: Tokens { input: 30_000, output: 40, ..Tokens::default() },
            model: None,
            id: None,
            extra: serde_json::Map::new(),
        };
        let id = format!("answer_{}", self.turns);
        let frame = Frame { id: &id, created_s: 0, model: "some-model", usage_chunk: false };
        let answer = self.format.render(&answer, &frame).into();
        self.take(reply, RESULT);
        Turn { body, answer }
    }
}

/// Sessions one after the other, turn by turn. The first request of each is not measured.
struct Stage {
    steering: Steering,
    format: Format,
    headers: HeaderMap,
    agent: Option<Agent>,
    sessions: usize,
    at_ms: u64,
}

impl Stage {
    fn new(format: Format, recorder: SharedRecorder) -> Self {
        let config = "mode: govern\nunknown_clients: govern\n";
        let config = Config::parse_bytes("gateway.yaml", config.as_bytes()).unwrap();
        let steering = Steering::new(config, Policy::default(), recorder, Arc::new(|| 1_000_000));
        let (headers, agent) = (HeaderMap::new(), None);
        Self { steering, format, headers, agent, sessions: 0, at_ms: 1_000_000 }
    }

    /// The next turn, of another session where one has had its turns.
    fn next(&mut self) -> Turn {
        self.at_ms += 1_000;
        if let Some(agent) = self.agent.as_mut().filter(|agent| agent.turns < TURNS) {
            return agent.turn();
        }
        self.sessions += 1;
        let name = format!("session-{}", self.sessions);
        self.headers.insert("x-steersman-session", HeaderValue::from_str(&name).unwrap());
        let mut agent = Agent::new(self.format, self.sessions);
        let (first, next) = (agent.turn(), agent.turn());
        self.agent = Some(agent);
        self.govern(&first);
        next
    }

    /// The turn that is measured. A function of its own, so that its instructions can be counted
    /// apart: `valgrind --tool=callgrind --toggle-collect='*Stage*measured*'`.
    #[inline(never)]
    fn measured(&self, turn: &Turn) {
        self.govern(turn);
    }

    #[expect(clippy::inline_always, reason = "so that only `measured` is seen to do it")]
    #[inline(always)]
    fn govern(&self, turn: &Turn) {
        let plan = self.steering.call(&Call {
            format: self.format,
            session_prefix: None,
            headers: &self.headers,
            model_in_path: (self.format == Format::Gemini).then_some("some-model"),
            stream_in_path: false,
            body: &turn.body,
            key: "",
            grant: None,
            ticket: None,
            connection: 1,
            at_ms: self.at_ms,
        });
        let mut watch = plan.watch.unwrap();
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        watch.head(StatusCode::OK, &headers);
        let mut out = Vec::new();
        watch.push(turn.answer.clone(), &mut out);
        black_box(watch.end(EndOfAnswer::Whole));
    }
}

/// A whole turn, of which nothing is written down.
#[divan::bench(args = Format::ALL, sample_count = 200, sample_size = 1)]
fn turn(bencher: Bencher<'_, '_>, format: Format) {
    let stage = RefCell::new(Stage::new(format, Arc::new(Silent)));
    bencher
        .with_inputs(|| stage.borrow_mut().next())
        .bench_local_values(|turn| stage.borrow().measured(&turn));
}
