//! An agent that reads file after file.

use std::time::Instant;

use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::json;
use steersman_wire::{Format, Message, Part, Request as Asked, ToolSpec};

use crate::Failure;
use crate::figures::Took;

/// What a file holds that is read now, and one that was read before it is measured. Bytes.
const FILE: usize = 400;
const OLD_FILE: usize = 1700;

/// Asks a server.
#[derive(Clone, Debug)]
pub(crate) struct Asker {
    client: Client<HttpConnector, Full<Bytes>>,
    address: String,
}

/// How a request went.
pub(crate) struct Got {
    pub(crate) status: StatusCode,
    pub(crate) is_whole: bool,
    pub(crate) took: Took,
}

impl Asker {
    pub(crate) fn new(address: &str) -> Self {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        let client = Client::builder(TokioExecutor::new()).build(connector);
        Self { client, address: address.to_owned() }
    }

    /// Asks, and reads all of the answer, or of a client that `leaves` its first piece.
    pub(crate) async fn ask(
        &self,
        path: &str,
        headers: &[(&str, String)],
        body: Vec<u8>,
        leaves: bool,
    ) -> Result<Got, Failure> {
        let mut request = Request::post(format!("http://{}{path}", self.address))
            .header("content-type", "application/json");
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        let begun = Instant::now();
        let response = self.client.request(request.body(Full::new(body.into()))?).await?;
        let status = response.status();
        let mut body = response.into_body();
        let (mut first, mut is_whole) = (None, true);
        while let Some(frame) = body.frame().await {
            first.get_or_insert_with(|| begun.elapsed());
            is_whole = frame.is_ok();
            if leaves || !is_whole {
                break;
            }
        }
        let whole = begun.elapsed();
        let took = Took { first: first.unwrap_or(whole), whole };
        Ok(Got { status, is_whole, took })
    }
}

/// An agent and its conversation.
#[derive(Debug)]
pub(crate) struct Agent {
    format: Format,
    number: usize,
    stream: bool,
    named: bool,
    messages: Vec<Message>,
    tools: Vec<ToolSpec>,
    turns: usize,
    /// Whether it makes the same failing call again and again.
    pub(crate) is_stuck: bool,
    body_len: usize,
}

impl Agent {
    pub(crate) fn new(format: Format, number: usize, stream: bool, named: bool) -> Self {
        let tool = |name: &str| ToolSpec {
            name: name.to_owned(),
            description: "What it does and when to use it. ".repeat(25),
            parameters: json!({"type": "object", "properties": {"path": {"type": "string"}}}),
        };
        let tools = ["read", "edit", "search"].map(tool).to_vec();
        let messages = vec![Message::user(format!("Fix the failing test number {number}."))];
        let (turns, is_stuck, body_len) = (0, false, 0);
        Self { format, number, stream, named, messages, tools, turns, is_stuck, body_len }
    }

    pub(crate) const fn body_len(&self) -> usize {
        self.body_len
    }

    /// Turns that were taken before anybody watched.
    pub(crate) fn look_back_on(&mut self, bytes: usize) {
        for _ in 0..bytes / (OLD_FILE + 200) {
            let call = self.call();
            self.take(call, OLD_FILE);
        }
    }

    /// Asks the model, which calls a tool, and runs it.
    pub(crate) async fn turn(&mut self, asker: &Asker) -> Result<Took, Failure> {
        let kind = if self.stream { "stream" } else { "call" };
        let got = self.ask(asker, kind, false).await?;
        if !got.status.is_success() || !got.is_whole {
            let Got { status, is_whole, .. } = got;
            return Err(format!("session {}: {status}, whole: {is_whole}", self.number).into());
        }
        Ok(got.took)
    }

    /// Asks for an answer of that kind; one that is whole is a call, which is run.
    pub(crate) async fn ask(
        &mut self,
        asker: &Asker,
        kind: &str,
        leaves: bool,
    ) -> Result<Got, Failure> {
        let (id, arguments) = self.call();
        let wish = match kind {
            "stream" | "call" => format!("{kind} {id} {arguments}"),
            _ => kind.to_owned(),
        };
        let mut headers = vec![("x-mock", wish)];
        if self.named {
            headers.push(("x-steersman-session", format!("load-{}", self.number)));
        }
        let system = "You are a coding agent. ".repeat(40);
        let request = Asked {
            system: &system,
            tools: &self.tools,
            stream: self.stream,
            ..Asked::new("mock", &self.messages)
        };
        let body = self.format.body(&request);
        self.body_len = body.len();
        let got = asker.ask(self.path(), &headers, body, leaves).await?;
        if matches!(kind, "stream" | "call") && got.status.is_success() && got.is_whole && !leaves {
            self.take((id, arguments), FILE);
        }
        Ok(got)
    }

    const fn path(&self) -> &'static str {
        match self.format {
            Format::OpenAiChat => "/v1/chat/completions",
            Format::OpenAiResponses => "/v1/responses",
            Format::Anthropic => "/v1/messages",
            Format::Gemini if self.stream => "/v1beta/models/mock:streamGenerateContent?alt=sse",
            Format::Gemini => "/v1beta/models/mock:generateContent",
        }
    }

    /// The id and the arguments of the next call.
    fn call(&self) -> (String, String) {
        let file = if self.is_stuck { 0 } else { self.turns };
        let id = format!("call_{}_{}", self.number, self.turns);
        (id, format!(r#"{{"path":"src/file_{file}.rs"}}"#))
    }

    /// The model has made a call, and it has had its result.
    fn take(&mut self, (id, arguments): (String, String), size: usize) {
        let name = "read".to_owned();
        let text = Part::Text("I look at the next file.".to_owned());
        let call = Part::ToolCall { id: id.clone(), name: name.clone(), arguments, raw: None };
        self.messages.push(Message { parts: vec![text, call], ..Message::assistant("") });
        let turn = self.turns;
        let line = format!("{turn}:    let found_{turn} = parse(line, \"utf-8\")?;\n");
        let content = match self.is_stuck {
            true => "error: no such file".to_owned(),
            false => line.repeat(size.div_ceil(line.len())),
        };
        let is_error = self.is_stuck;
        let result = Part::ToolResult { call_id: id, name, content, is_error };
        self.messages.push(Message::results(vec![result]));
        self.turns += 1;
    }
}
