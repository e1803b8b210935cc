//! Which format an input has, told by its content.

use memchr::memchr;

use crate::format::Format;
use crate::shape::Shape;

/// Values at the beginning of a file that are looked at: session files begin with bookkeeping.
const MAX_VALUES: usize = 64;

/// How the runs of an input lie in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// One run per line.
    RunPerLine,
    /// One run spread over lines.
    RunOverLines,
    /// One run per JSON document, however that is broken into lines; also a list of them.
    Documents,
    /// One run whose entries are JSON documents, in a list or one after the other.
    Entries,
}

/// Tells format and layout from the beginning of an input. `is_all` says that nothing follows.
///
/// # Errors
/// What the input is instead, to be put after "is".
pub(crate) fn detect(head: &[u8], is_all: bool) -> Result<(Format, Layout), &'static str> {
    let start = head.iter().position(|b| !b.is_ascii_whitespace()).unwrap_or(head.len());
    let text = head.get(start..).unwrap_or(b"");
    if text.is_empty() {
        return Err("empty");
    }
    if text.starts_with(&[0xff, 0xfe]) || text.starts_with(&[0xfe, 0xff]) {
        return Err("UTF-16 text, not UTF-8");
    }
    if memchr(0, text).is_some() {
        return Err("binary");
    }
    if !matches!(text.first(), Some(b'{' | b'[')) {
        return Err("not JSON");
    }
    let first = Shape::of(text);
    if let Some(kind) = list_kind(&first) {
        let layout = if matches!(kind, Kind::Run(_)) { Layout::Documents } else { Layout::Entries };
        return Ok((kind.format(), layout));
    }
    let spans_lines =
        memchr(b'\n', text.get(..first.len.unwrap_or(text.len())).unwrap_or(text)).is_some();
    let mut rest = text;
    for _ in 0..MAX_VALUES {
        let shape = Shape::of(rest);
        let is_only = rest.len() == text.len()
            && shape.len.is_some_and(|len| is_all && text.get(len..).is_none_or(is_blank));
        if let Some(kind) = object_kind(&shape) {
            return Ok((kind.format(), kind.layout(spans_lines, is_only)));
        }
        // A line that cannot be read hides nothing: the next one may tell.
        let next = memchr(b'\n', rest).map(|at| at + 1).filter(|_| shape.is_broken);
        let Some(end) = next.or(shape.len) else { break };
        rest = rest.get(end..).unwrap_or(b"").trim_ascii_start();
        if rest.is_empty() {
            break;
        }
    }
    Err("JSON of an unknown kind")
}

fn is_blank(bytes: &[u8]) -> bool {
    bytes.trim_ascii().is_empty()
}

/// What a JSON object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A whole run.
    Run(Format),
    /// One entry of a run.
    Entry(Format),
}

impl Kind {
    fn format(self) -> Format {
        match self {
            Self::Run(format) | Self::Entry(format) => format,
        }
    }

    fn layout(self, spans_lines: bool, is_only: bool) -> Layout {
        match self {
            Self::Entry(_) if spans_lines => Layout::Entries,
            Self::Entry(_) => Layout::RunOverLines,
            Self::Run(_) if spans_lines => Layout::Documents,
            Self::Run(Format::Runs | Format::Chat) if !is_only => Layout::RunPerLine,
            Self::Run(_) => Layout::Documents,
        }
    }
}

/// What the elements of a list are; `None` if the value is no list, or of nothing known.
fn list_kind(shape: &Shape) -> Option<Kind> {
    if shape.has("[]") || shape.is_one_of("", &["["]) {
        object_kind(&shape.element())
    } else {
        None
    }
}

/// What an object is, by the keys that only one format has.
fn object_kind(shape: &Shape) -> Option<Kind> {
    run_kind(shape).map(Kind::Run).or_else(|| entry_kind(shape).map(Kind::Entry))
}

fn run_kind(shape: &Shape) -> Option<Format> {
    if shape.scalars(".schema_version").any(|version| version.starts_with("ATIF")) {
        return Some(Format::Atif);
    }
    if shape.has(".steps[].role") {
        return Some(Format::Runs);
    }
    if shape.has(".steps") && (shape.has(".outcome") || shape.has(".correct")) {
        return Some(Format::Runs);
    }
    if shape.has(".trajectory[].action") || shape.has(".trajectory[].observation") {
        return Some(Format::SweAgent);
    }
    if shape.has(".history[].role") && shape.has(".history[].agent") {
        return Some(Format::SweAgent);
    }
    let is_mini = shape.scalars(".trajectory_format").any(|f| f.starts_with("mini-swe-agent"));
    if is_mini
        || (shape.has(".info.mini_version") || shape.has(".info.model_stats"))
            && shape.has(".messages")
    {
        return Some(Format::MiniSweAgent);
    }
    if shape.has(".messages[].info.role") || shape.has(".messages[].parts") && shape.has(".info") {
        return Some(Format::Opencode);
    }
    if shape.has(".messages[].type") && (shape.has(".sessionId") || shape.has(".projectHash")) {
        return Some(Format::GeminiCli);
    }
    if shape.has(".messages[].role") {
        return Some(Format::Chat);
    }
    if shape.has(".input[].role")
        || shape.has(".input[].type")
        || shape.is_one_of(".object", &["response"])
    {
        return Some(Format::Responses);
    }
    None
}

fn entry_kind(shape: &Shape) -> Option<Format> {
    const ROLES: [&str; 8] =
        ["system", "developer", "user", "assistant", "tool", "function", "model", "human"];
    const CALLS: [&str; 6] = [
        "function_call",
        "function_call_output",
        "custom_tool_call",
        "custom_tool_call_output",
        "local_shell_call",
        "local_shell_call_output",
    ];
    const BLOCKS: [&str; 4] = ["text", "thinking", "tool_use", "tool_result"];
    const ROLLOUT: [&str; 7] = [
        "session_meta",
        "response_item",
        "event_msg",
        "turn_context",
        "world_state",
        "compacted",
        "token_usage_record",
    ];
    if shape.is_one_of(".type", &ROLLOUT) && shape.has(".payload") {
        return Some(Format::Codex);
    }
    if is_qwen(shape) {
        return Some(Format::QwenCode);
    }
    if is_claude_code(shape) {
        return Some(Format::ClaudeCode);
    }
    if is_gemini(shape) {
        return Some(Format::GeminiCli);
    }
    let is_event = shape.scalars(".kind").any(|kind| kind.ends_with("Event"));
    if is_event && (shape.has(".source") || shape.has(".timestamp")) {
        return Some(Format::OpenHands);
    }
    // Anthropic's replies call themselves messages as well.
    let is_anthropic = shape.has(".stop_reason") || shape.is_one_of(".content[].type", &BLOCKS);
    if shape.is_one_of(".type", &CALLS)
        || (shape.is_one_of(".type", &["message", "reasoning"]) && !is_anthropic)
    {
        return Some(Format::Responses);
    }
    if shape.is_one_of(".role", &ROLES) {
        return Some(Format::Chat);
    }
    None
}

fn is_qwen(shape: &Shape) -> bool {
    let talks = shape.is_one_of(".type", &["user", "assistant", "tool_result"]);
    (talks && shape.has(".message.parts") && !shape.has(".message.content"))
        || (shape.is_one_of(".type", &["system"]) && shape.has(".systemPayload"))
}

fn is_claude_code(shape: &Shape) -> bool {
    let talks = shape.is_one_of(".type", &["user", "assistant"]) && shape.has(".message.role");
    let has_session = shape.has(".sessionId") || shape.has(".session_id");
    let is_stream = shape.is_one_of(".type", &["system"]) && shape.is_one_of(".subtype", &["init"]);
    (talks && (has_session || shape.has(".uuid") || shape.has(".parentUuid")))
        || (is_stream && has_session)
}

fn is_gemini(shape: &Shape) -> bool {
    let is_meta = shape.has(".sessionId") && shape.has(".projectHash") && !shape.has(".type");
    let talks = shape.is_one_of(".type", &["user", "gemini", "model"])
        && shape.has(".id")
        && (shape.has(".content") || shape.has(".toolCalls"));
    is_meta || talks
}
