//! Rollout files of Codex.

use std::borrow::Cow;

use serde::Deserialize;
use steersman_engine::{CallFailure, Usage};

use crate::formats::responses::{Item, Items};
use crate::lenient::{Count, Obj, Raw, Str};
use crate::run::RunEnd;
use crate::session::{Opening, Session};
use crate::time;
use crate::usage::UsageFields;
use crate::writer::{RunWriter, Spot};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Line<'a> {
    #[serde(borrow)]
    timestamp: Str<'a>,
    ordinal: Count,
    #[serde(rename = "type", borrow)]
    kind: Str<'a>,
    #[serde(borrow)]
    payload: Raw<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Meta<'a> {
    #[serde(borrow)]
    id: Str<'a>,
    #[serde(borrow)]
    session_id: Str<'a>,
    #[serde(borrow)]
    model: Str<'a>,
    model_context_window: Count,
    /// A sub-agent's file begins with a copy of its parent's history, up to this line.
    subagent_history_start_ordinal: Count,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct EventMessage<'a> {
    #[serde(rename = "type", borrow)]
    kind: Str<'a>,
    #[serde(borrow)]
    message: Str<'a>,
    info: Obj<TokenInfo>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
struct TokenInfo {
    last_token_usage: Obj<UsageFields>,
}

/// A thread of Codex.
pub(crate) struct CodexSession {
    opening: Opening,
    items: Items,
    named: bool,
    history_until: i64,
}

impl CodexSession {
    pub(crate) fn new(id: &str) -> Self {
        Self {
            opening: Opening::of(id, "Codex"),
            items: Items::default(),
            named: false,
            history_until: 0,
        }
    }

    fn meta(&mut self, json: &str) {
        let Ok(meta) = serde_json::from_str::<Meta<'_>>(json) else { return };
        let id = if meta.id.is_empty() { meta.session_id } else { meta.id };
        if !id.is_empty() && !self.named {
            self.named = true;
            self.opening.meta.id = Cow::Owned(id.0.into_owned());
        }
        if !meta.model.is_empty() && self.opening.meta.model.is_empty() {
            self.opening.meta.model = Cow::Owned(meta.model.0.into_owned());
        }
        self.opening.meta.context_window =
            meta.model_context_window.positive().or(self.opening.meta.context_window);
        if let Count(Some(start)) = meta.subagent_history_start_ordinal {
            self.history_until = start;
        }
    }

    fn event(&mut self, json: &str, spot: Spot, out: &mut RunWriter<'_>) {
        let Ok(event) = serde_json::from_str::<EventMessage<'_>>(json) else { return };
        match &*event.kind {
            "token_count" => {
                let usage = event.info.0.last_token_usage.0.usage();
                // The count is repeated when nothing was called: it belongs to one reply only.
                if let Some(reply) = self.items.turn.current()
                    && reply.usage == Usage::default()
                {
                    reply.usage = usage;
                }
            }
            "error" | "stream_error" if self.opening.is_open() => {
                self.items.turn.flush(out);
                let message = event.message.0;
                out.failure(spot, CallFailure { message, ..CallFailure::default() });
            }
            _ => {}
        }
    }
}

impl Session for CodexSession {
    fn element(
        &mut self,
        json: &str,
        number: u64,
        out: &mut RunWriter<'_>,
    ) -> serde_json::Result<()> {
        let line = serde_json::from_str::<Line<'_>>(json)?;
        let Some(payload) = line.payload else { return Ok(()) };
        let spot = Spot { at: time::iso(&line.timestamp), line: number };
        if line.ordinal.0.is_some_and(|ordinal| ordinal < self.history_until) {
            return Ok(());
        }
        match &*line.kind {
            "session_meta" | "turn_context" => self.meta(payload.get()),
            "response_item" => {
                let item = serde_json::from_str::<Item<'_>>(payload.get())?;
                self.opening.ensure(number, out);
                self.items.take(item, spot, out);
            }
            "event_msg" => self.event(payload.get(), spot, out),
            "compacted" if self.opening.is_open() => {
                self.items.turn.flush(out);
                out.compacted(spot, None);
            }
            _ => {}
        }
        Ok(())
    }

    fn preview(&mut self, _list: &str, json: &str) {
        if let Ok(line) = serde_json::from_str::<Line<'_>>(json)
            && matches!(&*line.kind, "session_meta" | "turn_context")
            && let Some(payload) = line.payload
        {
            self.meta(payload.get());
        }
    }

    fn finish(&mut self, end: RunEnd, out: &mut RunWriter<'_>) {
        self.items.turn.flush(out);
        self.opening.close(end, out);
    }
}
