//! The profile that follows from what was seen.

use serde::Serialize;
use serde_json::Value;
use steersman_prompt::{ProfileSettings, ToolCalls};
use steersman_wire::Format;

use super::calls::{self, Grade};
use super::limits::limits;
use super::plan::Probe;
use super::row::{Found, Row, clean};
use super::step::Step;

/// Longest reason, in characters.
const REASON: usize = 160;

/// Longest glob that a registry takes, in bytes.
const LONGEST_GLOB: usize = 128;

/// How a model is to be used, and why.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Advice {
    /// What `agents.yaml` is to say of the model.
    pub profile: ProfileSettings,
    /// Why, in the order they are written.
    pub settings: Vec<Setting>,
    /// Why replies are to be asked for whole, with `--no-stream`; `None` if streams will do.
    pub no_stream: Option<String>,
}

/// One key of the profile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Setting {
    /// The key.
    pub key: &'static str,
    /// Its value, as it is written in the file.
    pub value: String,
    /// Why.
    pub why: String,
}

/// Where the model is, for the registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Where<'a> {
    /// The wire format.
    pub format: Format,
    /// The server's address; `None` is the provider's own.
    pub base_url: Option<&'a str>,
    /// The variable that holds the key; `None` is the provider's.
    pub api_key_env: Option<&'a str>,
}

impl Advice {
    /// The advice that follows from the rows.
    ///
    /// # Errors
    /// Why the model cannot be used for agents.
    pub(super) fn of(probe: &Probe, rows: &[Row]) -> Result<Self, String> {
        let seen = Seen(rows);
        match seen.found("reply") {
            Found::Yes | Found::Partly => {}
            _ => return Err(format!("no plain reply came: {}", seen.came("reply"))),
        }
        let (calls, why) = how_to_call(probe, &seen)?;
        let mut advice =
            Self { profile: ProfileSettings::default(), settings: vec![], no_stream: None };
        advice.profile.tool_calls = Some(calls);
        advice.put("tool_calls", name_of(calls).to_owned(), &why);
        match seen.found("structured_output") {
            Found::NotTold => {}
            found => {
                let held = found == Found::Yes;
                advice.profile.structured_output = Some(held);
                let why = if held {
                    "the answer had the shape of the schema"
                } else {
                    "the answer did not have the shape of the schema"
                };
                advice.put("structured_output", held.to_string(), why);
            }
        }
        // None in short answers does not mean that there is none.
        if seen.found("reasoning") == Found::Yes {
            advice.profile.reasoning = Some(true);
            advice.put("reasoning", "true".to_owned(), &seen.came("reasoning"));
        }
        let limits = limits(probe);
        advice.profile.context_window = limits.window;
        if let Some(tokens) = limits.window {
            advice.put("context_window", tokens.to_string(), "told by the server");
        }
        advice.profile.max_output_tokens = limits.output;
        if let Some(tokens) = limits.output {
            advice.put("max_output_tokens", tokens.to_string(), "told by the server");
        }
        advice.no_stream = no_stream(&seen, calls);
        Ok(advice)
    }

    fn put(&mut self, key: &'static str, value: String, why: &str) {
        self.settings.push(Setting { key, value, why: clean(why, REASON) });
    }

    /// How tools are to be called, and why, in one line.
    pub(super) fn calls(&self) -> String {
        let calls = self.settings.iter().find(|setting| setting.key == "tool_calls");
        calls
            .map(|calls| format!("calls: {}, because {}", calls.value, calls.why))
            .unwrap_or_default()
    }

    /// An `agents.yaml` with the model and its profile.
    #[must_use]
    pub fn registry(&self, model: &str, place: Where<'_>) -> String {
        let mut text = format!("profiles:\n  {}:\n", quoted(&glob_of(model)));
        for Setting { key, value, why } in &self.settings {
            text.push_str(&format!("    {key}: {value}  # {why}\n"));
        }
        text.push_str("agents:\n  coder:\n    model:\n");
        let mut put = |key: &str, value: &str| text.push_str(&format!("      {key}: {value}\n"));
        put("provider", place.format.name());
        put("name", &quoted(model));
        if let Some(url) = place.base_url {
            put("base_url", &quoted(url));
        }
        if let Some(variable) = place.api_key_env {
            put("api_key_env", variable);
        }
        text
    }
}

/// The rows by their ids.
struct Seen<'a>(&'a [Row]);

impl Seen<'_> {
    fn row(&self, id: &str) -> Option<&Row> {
        self.0.iter().find(|row| row.id == id)
    }

    fn found(&self, id: &str) -> Found {
        self.row(id).map_or(Found::NotTold, |row| row.found)
    }

    fn came(&self, id: &str) -> String {
        self.row(id).map(|row| row.came.clone()).unwrap_or_default()
    }
}

/// How tools are to be called, and why.
fn how_to_call(probe: &Probe, seen: &Seen<'_>) -> Result<(ToolCalls, String), String> {
    let refused = seen.found("tool_result") == Found::No;
    if probe.calls_at_once() && !refused {
        return Ok(together(probe, seen));
    }
    let partly = seen.found("tool_call") == Found::Partly;
    let why = if refused {
        "a tool call came, but its result was refused".to_owned()
    } else if partly {
        not_reliable(probe)
    } else {
        no_call(probe)
    };
    if matches!(seen.found("object_call"), Found::Yes | Found::Partly) {
        return Ok((ToolCalls::Json, format!("{why}; one came as a JSON object")));
    }
    if partly && !refused {
        return Ok((ToolCalls::Single, format!("{why}; none came as a JSON object either")));
    }
    Err(format!("{why}; none came as a JSON object either"))
}

/// Whether calls may go together, and why.
fn together(probe: &Probe, seen: &Seen<'_>) -> (ToolCalls, String) {
    let valid = probe.answer(Step::ParallelCalls).map(calls::cities);
    match (valid, seen.found("parallel_calls_streamed")) {
        (Some(2..), Found::No) => {
            (ToolCalls::Single, "two calls came in one reply, but not streamed".to_owned())
        }
        (Some(2..), _) => (ToolCalls::Multi, "two calls came in one reply".to_owned()),
        (Some(valid), _) => {
            let why = format!("of two calls that were asked for in one reply {valid} came valid");
            (ToolCalls::Single, why)
        }
        (None, _) => {
            (ToolCalls::Single, "a call came; two in one reply could not be seen".to_owned())
        }
    }
}

/// Why calls that came are not relied on.
fn not_reliable(probe: &Probe) -> String {
    let grades: Vec<Grade> = probe.tries(Step::Call).map(calls::grade).collect();
    if grades.iter().any(|grade| matches!(grade, Grade::Valid | Grade::Mended)) {
        "a valid tool call came only in the second try".to_owned()
    } else {
        "a tool call came as text only".to_owned()
    }
}

/// Why there is no call.
fn no_call(probe: &Probe) -> String {
    let grades: Vec<Grade> = probe.tries(Step::Call).map(calls::grade).collect();
    let tries = if grades.len() == 1 { "1 try" } else { "2 tries" };
    if grades.is_empty() {
        "no tool call was asked for".to_owned()
    } else if probe.refuses_tools() {
        "no tool call came, because requests with tools fail".to_owned()
    } else if grades.iter().all(|grade| *grade == Grade::Silent) {
        format!("no tool call came in {tries}")
    } else {
        format!("no valid tool call came in {tries}")
    }
}

/// Why replies are to be asked for whole.
fn no_stream(seen: &Seen<'_>, calls: ToolCalls) -> Option<String> {
    if seen.found("stream") == Found::No {
        return Some("a streamed reply did not come whole".to_owned());
    }
    let needed = calls != ToolCalls::Json && seen.found("tool_call_streamed") == Found::No;
    needed.then(|| "a tool call came whole, but not streamed".to_owned())
}

const fn name_of(calls: ToolCalls) -> &'static str {
    match calls {
        ToolCalls::Single => "single",
        ToolCalls::Multi => "multi",
        ToolCalls::Json => "json",
    }
}

/// A glob for a model's name. What a glob may not hold is any character in its place.
fn glob_of(model: &str) -> String {
    let odd = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '(' | ')');
    let mut glob = String::new();
    for c in model.chars() {
        // Globs are matched by bytes.
        let more = if odd(c) { "?".repeat(c.len_utf8()) } else { c.to_string() };
        if glob.len() + more.len() >= LONGEST_GLOB {
            glob.push('*');
            break;
        }
        glob.push_str(&more);
    }
    glob
}

/// A text as YAML: JSON is.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}
