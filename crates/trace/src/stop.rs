//! Providers' words for why a model stopped.

use steersman_engine::StopReason;

/// Maps a provider's word; `None` if there is none.
pub(crate) fn stop_reason(word: &str) -> Option<StopReason> {
    Some(match word.to_ascii_lowercase().as_str() {
        "" => return None,
        "stop" | "end_turn" | "tool_calls" | "tool_use" | "tool-calls" | "function_call"
        | "stop_sequence" | "completed" | "complete" | "eos" | "pause_turn" => StopReason::Stop,
        "length" | "max_tokens" | "max_output_tokens" | "incomplete" => StopReason::Length,
        "tool_limit" | "max_tool_calls" => StopReason::ToolLimit,
        "time_limit" | "timeout" => StopReason::TimeLimit,
        "error" | "failed" => StopReason::Error,
        "interrupted" | "cancelled" | "canceled" | "aborted" => StopReason::Interrupted,
        "insufficient_context" | "model_context_window_exceeded" | "context_length_exceeded" => {
            StopReason::InsufficientContext
        }
        _ => StopReason::Unknown,
    })
}
