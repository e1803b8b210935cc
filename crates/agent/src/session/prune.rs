//! Cutting old tool results so that the conversation fits (C12).
//!
//! Only what a model can ask for again is cut: results of tools, the oldest first. What the engine
//! knows of them stays, so that evidence of a loop survives.

use std::sync::Arc;

use steersman_engine::{Event, Timestamp};
use steersman_wire::{Message, Part, Role};

use super::Session;
use crate::entry::Entry;

/// Replies whose results stay whole: what was seen last is what is being worked on.
const KEPT_REPLIES: usize = 6;

/// Results shorter than this stay: cutting them saves next to nothing. Bytes.
const SHORT: usize = 400;

/// Share of the hard limit of the context window at which results are cut.
const BEFORE_HARD_LIMIT: f64 = 0.85;

/// Bytes that are counted as one token where nobody counts.
const BYTES_PER_TOKEN: u64 = 4;

impl Session {
    /// The entry that cuts old results; `None` if there is room, or nothing worth cutting.
    pub(super) fn pruning_due(&self) -> Option<Entry> {
        let policy = self.engine.policy();
        let state = self.engine.state();
        let window = state.context_window(policy) as f64;
        let limit = f64::from(policy.continuation.token_budgets.hard_limit) * BEFORE_HARD_LIMIT;
        let tokens = state.used.context_tokens;
        if (tokens as f64) < window * limit {
            return None;
        }
        let saved_at_least = (window * 0.05) as u64;
        self.pruning(KEPT_REPLIES, saved_at_least)
    }

    /// The entry that cuts all but the latest results, for a server that says the conversation does
    /// not fit; `None` if that would save nothing.
    #[must_use]
    pub fn pruning_for_overflow(&self) -> Option<Entry> {
        self.pruning(2, 1)
    }

    fn pruning(&self, replies: usize, saved_at_least: u64) -> Option<Entry> {
        let keep_from = self.keep_from(replies);
        let cuttable = self.conversation.iter().take(keep_from).flat_map(|message| &message.parts);
        let bytes: usize = cuttable.filter_map(cuttable_len).sum();
        let saved = bytes as u64 / BYTES_PER_TOKEN;
        if saved < saved_at_least.max(1) {
            return None;
        }
        let tokens_after = self.engine.state().used.context_tokens.saturating_sub(saved);
        let keep_from = u32::try_from(keep_from).ok()?;
        Some(Entry::Pruned { keep_from, tokens_after })
    }

    /// Where the last so many replies begin.
    fn keep_from(&self, replies: usize) -> usize {
        let is_reply = |(_, message): &(usize, &Message)| message.role == Role::Assistant;
        let replies_back = self.conversation.iter().enumerate().rev().filter(is_reply);
        replies_back.take(replies).last().map_or(0, |(at, _)| at)
    }

    pub(super) fn prune(&mut self, at: Timestamp, keep_from: u32, tokens_after: u64) {
        let keep_from = usize::try_from(keep_from).unwrap_or(usize::MAX);
        let old = Arc::make_mut(&mut self.conversation).iter_mut().take(keep_from);
        for part in old.flat_map(|message| &mut message.parts) {
            let Some(len) = cuttable_len(part) else { continue };
            if let Part::ToolResult { content, .. } = part {
                *content =
                    format!("[{len} bytes of output cut to save room; call again if needed]");
            }
        }
        let tokens_after = Some(tokens_after);
        self.engine.handle(at, &Event::ContextCompacted { tokens_after });
    }
}

/// How long a result is that may be cut; `None` for everything else.
fn cuttable_len(part: &Part) -> Option<usize> {
    match part {
        Part::ToolResult { content, .. } if content.len() > SHORT => Some(content.len()),
        _ => None,
    }
}
