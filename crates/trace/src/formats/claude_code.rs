//! Session files of Claude Code, and its `stream-json` output.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use steersman_engine::{CallFailure, Reply};

use crate::content::{Content, append};
use crate::lenient::{Flag, Obj, Str, parse};
use crate::message::{reply_block, result_block};
use crate::run::RunEnd;
use crate::session::{HeldTurn, Opening, Session, add_reply};
use crate::steps::push_user;
use crate::stop::stop_reason;
use crate::time;
use crate::usage::UsageFields;
use crate::writer::{RunWriter, Spot};

/// Bytes of sub-agents' lines kept until the main run is over.
const MAX_SIDE_BYTES: usize = 32 << 20;
/// Sub-agents kept in one file.
const MAX_SIDE_RUNS: usize = 1000;
/// Lines of sub-agents whose place in the chain is remembered.
const MAX_SIDE_LINES: usize = 100_000;

/// One line as written.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Line<'a> {
    #[serde(rename = "type", borrow)]
    kind: Str<'a>,
    #[serde(borrow)]
    subtype: Str<'a>,
    #[serde(borrow)]
    message: Obj<MessageFields<'a>>,
    #[serde(borrow)]
    timestamp: Str<'a>,
    #[serde(borrow)]
    uuid: Str<'a>,
    #[serde(rename = "parentUuid", borrow)]
    parent: Str<'a>,
    #[serde(rename = "sessionId", borrow)]
    session: Str<'a>,
    #[serde(borrow)]
    session_id: Str<'a>,
    #[serde(rename = "agentId", borrow)]
    agent: Str<'a>,
    /// In `stream-json` output: the call of the main run that a sub-agent works for.
    #[serde(borrow)]
    parent_tool_use_id: Str<'a>,
    #[serde(rename = "isSidechain")]
    is_side: Flag,
    #[serde(rename = "isMeta")]
    is_meta: Flag,
    #[serde(rename = "isCompactSummary")]
    is_summary: Flag,
    #[serde(rename = "isApiErrorMessage")]
    is_api_error: Flag,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct MessageFields<'a> {
    #[serde(borrow)]
    id: Str<'a>,
    #[serde(borrow)]
    model: Str<'a>,
    #[serde(borrow)]
    content: Content<'a>,
    #[serde(borrow)]
    stop_reason: Str<'a>,
    usage: Obj<UsageFields>,
}

/// A session: the main run, then the runs of its sub-agents.
pub(crate) struct ClaudeCodeSession {
    opening: Opening,
    turn: HeldTurn,
    /// Key of the sub-agent whose own file this is; `None` until the first message is seen.
    own_side: Option<String>,
    side: SideRuns,
}

/// Lines of sub-agents, kept because runs must not interleave.
#[derive(Debug, Default)]
struct SideRuns {
    lines: BTreeMap<String, Vec<(u64, String)>>,
    /// Sub-agent of each line by its uuid: older files name no agent.
    chain: BTreeMap<String, String>,
    bytes: usize,
    dropped: u64,
}

impl ClaudeCodeSession {
    pub(crate) fn new(id: &str) -> Self {
        Self {
            opening: Opening::of(id, "Claude Code"),
            turn: HeldTurn::default(),
            own_side: None,
            side: SideRuns::default(),
        }
    }

    fn take(&mut self, line: Line<'_>, number: u64, out: &mut RunWriter<'_>) {
        let spot = Spot { at: time::iso(line.timestamp.word()), line: number };
        let Obj(message) = line.message;
        match line.kind.word() {
            "assistant" => {
                self.note_model(message.model.word());
                self.opening.ensure(number, out);
                if line.is_api_error.is_set() {
                    self.turn.flush(out);
                    out.failure(spot, api_error(&message.content.into_text()));
                } else {
                    self.assistant(message, spot, out);
                }
            }
            "user" => {
                self.opening.ensure(number, out);
                self.user(message.content, &line.is_meta, line.is_summary.is_set(), spot, out);
            }
            "system" if line.subtype.word() == "compact_boundary" => {
                self.turn.flush(out);
                out.compacted(spot, None);
            }
            _ => {}
        }
    }

    fn note_model(&mut self, model: &str) {
        // Messages that the client makes up itself carry this name.
        if self.opening.meta.model.is_empty() && model != "<synthetic>" {
            self.opening.meta.model = Cow::Owned(model.to_owned());
        }
    }

    fn assistant(&mut self, message: MessageFields<'_>, spot: Spot, out: &mut RunWriter<'_>) {
        let mut piece = Reply {
            stop: stop_reason(message.stop_reason.word()),
            usage: message.usage.0.usage(),
            ..Reply::default()
        };
        match message.content {
            Content::Blocks(blocks) => {
                for block in blocks {
                    reply_block(block, &mut piece);
                }
            }
            other => piece.text = other.into_text(),
        }
        add_reply(self.turn.reply(message.id.word(), spot, out), piece);
    }

    fn user(
        &mut self,
        content: Content<'_>,
        is_meta: &Flag,
        is_summary: bool,
        spot: Spot,
        out: &mut RunWriter<'_>,
    ) {
        let mut text = Cow::Borrowed("");
        match content {
            Content::Blocks(blocks) => {
                for block in blocks {
                    if block.kind.word() == "tool_result" {
                        self.turn.result(spot, result_block(block), out);
                    } else {
                        append(&mut text, block.into_text());
                    }
                }
            }
            other => text = other.into_text(),
        }
        if text.is_empty() || is_meta.is_set() {
            return;
        }
        self.turn.flush(out);
        if is_summary {
            out.compacted(spot, None);
        } else {
            push_user(spot, text, out);
        }
    }

    /// The sub-agent a line belongs to; empty for the main run.
    fn side_key(&mut self, line: &Line<'_>) -> String {
        if !line.is_side.is_set() && line.parent_tool_use_id.is_empty() {
            return String::new();
        }
        let named = if line.agent.is_empty() { &line.parent_tool_use_id } else { &line.agent };
        let key = match self.side.chain.get(line.parent.word()) {
            _ if !named.is_empty() => named.word().to_owned(),
            Some(key) => key.clone(),
            None => line.uuid.word().to_owned(),
        };
        if self.side.chain.len() < MAX_SIDE_LINES {
            self.side.chain.insert(line.uuid.word().to_owned(), key.clone());
        }
        key
    }
}

impl Session for ClaudeCodeSession {
    fn element(
        &mut self,
        json: &str,
        number: u64,
        out: &mut RunWriter<'_>,
    ) -> serde_json::Result<()> {
        let line = parse::<Line<'_>>(json)?;
        if !matches!(line.kind.word(), "assistant" | "user" | "system") {
            return Ok(());
        }
        let key = self.side_key(&line);
        if self.own_side.is_none() && line.kind.word() != "system" {
            let session = if line.session.is_empty() { &line.session_id } else { &line.session };
            self.opening.meta.id = match (session.is_empty(), key.is_empty()) {
                (true, _) => std::mem::take(&mut self.opening.meta.id),
                (false, true) => Cow::Owned(session.word().to_owned()),
                (false, false) => Cow::Owned(format!("{}/{key}", session.word())),
            };
            self.own_side = Some(key.clone());
        }
        if self.own_side.as_ref().is_none_or(|own| *own == key) {
            self.take(line, number, out);
        } else {
            self.side.keep(key, number, json);
        }
        Ok(())
    }

    fn preview(&mut self, _list: &str, json: &str) {
        // The model is told by the first reply, but a run begins with a user message.
        if let Ok(line) = parse::<Line<'_>>(json) {
            self.note_model(line.message.0.model.word());
        }
    }

    fn finish(&mut self, end: RunEnd, out: &mut RunWriter<'_>) {
        self.turn.flush(out);
        self.opening.close(end.clone(), out);
        if self.side.dropped > 0 {
            let limit = MAX_SIDE_BYTES >> 20;
            let what = format!(
                "{} lines of sub-agents are skipped: more than {limit} MiB or {MAX_SIDE_RUNS} \
                 sub-agents in one file",
                self.side.dropped
            );
            out.problem(0, what);
        }
        let main = std::mem::take(&mut self.opening.meta.id);
        let mut sides: Vec<_> = std::mem::take(&mut self.side.lines).into_iter().collect();
        sides.sort_by_key(|(_, lines)| lines.first().map_or(0, |(number, _)| *number));
        for (key, lines) in sides {
            let id = format!("{main}/{key}");
            self.opening = Opening::of(&id, "Claude Code");
            for (_, json) in &lines {
                self.preview("", json);
            }
            for (number, json) in lines {
                // It was parsed before: it cannot fail now.
                if let Ok(line) = parse(&json) {
                    self.take(line, number, out);
                }
            }
            self.turn.flush(out);
            self.opening.close(end.clone(), out);
        }
    }
}

impl SideRuns {
    fn keep(&mut self, key: String, number: u64, json: &str) {
        let is_new = !self.lines.contains_key(&key);
        if self.bytes + json.len() > MAX_SIDE_BYTES || is_new && self.lines.len() >= MAX_SIDE_RUNS {
            self.dropped += 1;
            return;
        }
        self.bytes += json.len();
        self.lines.entry(key).or_default().push((number, json.to_owned()));
    }
}

/// `API Error: 529 …`: the status is in the text only.
fn api_error(text: &str) -> CallFailure<'_> {
    let status = text
        .split_once("API Error: ")
        .and_then(|(_, rest)| rest.get(..3))
        .and_then(|code| code.parse().ok())
        .filter(|code| (400..600).contains(code));
    CallFailure { status, message: Cow::Borrowed(text), ..CallFailure::default() }
}
