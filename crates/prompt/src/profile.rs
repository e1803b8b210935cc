//! Profiles of models: what a model can do, as far as its prompt and its replies depend on it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use steersman_engine::policy::glob_matches;

use crate::profile_table::TABLE;

/// How many tool calls a reply may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolCalls {
    /// One tool call per reply.
    Single,
    /// Several: calls that do not depend on each other go together.
    Multi,
    /// None: one call per reply is asked for as a JSON object, which the model is held to.
    Json,
}

/// How the model says whether it goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Signal {
    /// By calling the tool `report_progress`.
    ToolCall,
    /// In the field `continuation` of a structured answer.
    StructuredOutput,
    /// In a block of JSON at the end of the reply.
    Text,
}

/// What a model can do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    /// The globs that it was made from, the strongest first.
    pub globs: Vec<String>,
    /// How many tool calls a reply may hold.
    pub tool_calls: ToolCalls,
    /// Most tool calls that should go into one reply; 1 where [`ToolCalls::Single`] holds.
    pub batch: u32,
    /// Whether answers can be held to a JSON schema.
    pub structured_output: bool,
    /// How the model says whether it goes on.
    pub signal: Signal,
    /// Whether it thinks before it answers.
    pub reasoning: bool,
    /// Context window in tokens; `None` if unknown.
    pub context_window: Option<u64>,
    /// Most tokens of one reply; `None` if unknown.
    pub max_output_tokens: Option<u64>,
    /// Names of further hints: files `models/NAME.md`.
    pub hints: Vec<String>,
}

/// What is known of a model or a family of models; what is not said is taken from a weaker profile.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ProfileSettings {
    /// How many tool calls a reply may hold. Default `multi`.
    pub tool_calls: Option<ToolCalls>,
    /// Most tool calls that should go into one reply, 1–64, default 8.
    #[schemars(range(min = 1, max = 64))]
    pub batch: Option<u32>,
    /// Whether answers can be held to a JSON schema. Default false.
    pub structured_output: Option<bool>,
    /// How the model says whether it goes on. Default: `tool_call` with `multi` and `json`, else
    /// `structured_output` if the model has it, else `text`.
    pub signal: Option<Signal>,
    /// Whether it thinks before it answers. Default false.
    pub reasoning: Option<bool>,
    /// Context window in tokens. Default: unknown.
    #[schemars(range(min = 1))]
    pub context_window: Option<u64>,
    /// Most tokens of one reply. Default: unknown.
    #[schemars(range(min = 1))]
    pub max_output_tokens: Option<u64>,
    /// Names of further hints in the prompt: files `models/NAME.md`. Default: none.
    pub hints: Option<Vec<String>>,
}

impl ProfileSettings {
    /// Fills what is not said from weaker settings.
    fn or(self, weaker: &Self) -> Self {
        Self {
            tool_calls: self.tool_calls.or(weaker.tool_calls),
            batch: self.batch.or(weaker.batch),
            structured_output: self.structured_output.or(weaker.structured_output),
            signal: self.signal.or(weaker.signal),
            reasoning: self.reasoning.or(weaker.reasoning),
            context_window: self.context_window.or(weaker.context_window),
            max_output_tokens: self.max_output_tokens.or(weaker.max_output_tokens),
            hints: self.hints.or_else(|| weaker.hints.clone()),
        }
    }
}

impl Profile {
    /// The profile of a model by name: what `own` says, then the globs of `settings` that match it
    /// (the longest first), then the built-in table in the same way.
    #[must_use]
    pub fn of(
        model: &str,
        own: &ProfileSettings,
        settings: &BTreeMap<String, ProfileSettings>,
    ) -> Self {
        let mut globs = Vec::new();
        let mut merged = own.clone();
        let matching = settings.iter().filter(|(glob, _)| glob_matches(glob, model));
        for (glob, weaker) in longest_first(matching.map(|(glob, weaker)| (glob.as_str(), weaker)))
        {
            globs.push(glob.to_owned());
            merged = merged.or(weaker);
        }
        let built_in = TABLE.iter().filter(|row| glob_matches(row.glob, model));
        let built_in: Vec<_> = built_in.map(|row| (row.glob, row.settings())).collect();
        for (glob, weaker) in longest_first(built_in.iter().map(|(glob, row)| (*glob, row))) {
            globs.push(glob.to_owned());
            merged = merged.or(weaker);
        }
        Self::from_settings(globs, merged)
    }

    fn from_settings(globs: Vec<String>, settings: ProfileSettings) -> Self {
        let tool_calls = settings.tool_calls.unwrap_or(ToolCalls::Multi);
        let structured_output = settings.structured_output.unwrap_or(false);
        let signal = default_signal(tool_calls, structured_output);
        let batch = match tool_calls {
            ToolCalls::Single | ToolCalls::Json => 1,
            ToolCalls::Multi => settings.batch.unwrap_or(BATCH),
        };
        Self {
            globs,
            tool_calls,
            batch,
            structured_output,
            signal: settings.signal.unwrap_or(signal),
            reasoning: settings.reasoning.unwrap_or(false),
            context_window: settings.context_window,
            max_output_tokens: settings.max_output_tokens,
            hints: settings.hints.unwrap_or_default(),
        }
    }

    /// The profile of a model whose tools are called so, whatever else is known of it.
    #[must_use]
    pub fn with_tool_calls(self, tool_calls: ToolCalls) -> Self {
        if self.tool_calls == tool_calls {
            return self;
        }
        let signal = default_signal(tool_calls, self.structured_output);
        let batch = if tool_calls == ToolCalls::Multi { BATCH } else { 1 };
        Self { tool_calls, batch, signal, ..self }
    }
}

/// Most tool calls of a reply where nothing is known of the model.
const BATCH: u32 = 8;

/// How a model says whether it goes on where nobody says otherwise.
const fn default_signal(tool_calls: ToolCalls, structured_output: bool) -> Signal {
    match tool_calls {
        // With `Json` the whole reply is an object of its own shape: the signal is a call in it.
        ToolCalls::Multi | ToolCalls::Json => Signal::ToolCall,
        // A call for the signal would take the place of one that works.
        ToolCalls::Single if structured_output => Signal::StructuredOutput,
        ToolCalls::Single => Signal::Text,
    }
}

/// Settings by the length of their globs; among equally long ones by the alphabet.
fn longest_first<'s>(
    settings: impl Iterator<Item = (&'s str, &'s ProfileSettings)>,
) -> Vec<(&'s str, &'s ProfileSettings)> {
    let mut settings: Vec<_> = settings.collect();
    settings.sort_by_key(|(glob, _)| (std::cmp::Reverse(glob.len()), *glob));
    settings
}

#[cfg(test)]
mod tests {
    use super::{Profile, ProfileSettings, Signal, ToolCalls};
    use std::collections::BTreeMap;

    #[test]
    fn models_have_profiles() {
        use Signal::{StructuredOutput, Text, ToolCall};
        use ToolCalls::{Multi, Single};
        let cases = [
            ("claude-sonnet-4-5", Multi, 8, ToolCall, true, Some(200_000)),
            ("anthropic/claude-3-5-haiku", Multi, 8, ToolCall, false, Some(200_000)),
            ("gpt-4o-mini", Multi, 8, ToolCall, false, Some(128_000)),
            ("gpt-4.1", Multi, 8, ToolCall, false, Some(1_047_576)),
            ("gpt-5.1-codex", Multi, 8, ToolCall, true, Some(400_000)),
            ("o3", Single, 1, StructuredOutput, true, Some(200_000)),
            ("gemini-1.5-pro", Single, 1, StructuredOutput, false, Some(1_048_576)),
            ("models/gemini-2.5-flash", Multi, 8, ToolCall, true, Some(1_048_576)),
            ("llama-3.1-70b-instruct", Single, 1, Text, false, Some(128_000)),
            ("qwen2.5-coder:1.5b", Single, 1, Text, false, Some(32_768)),
            ("something-new", Multi, 8, ToolCall, false, None),
            ("", Multi, 8, ToolCall, false, None),
        ];
        for (model, calls, batch, signal, reasoning, window) in cases {
            let profile = Profile::of(model, &ProfileSettings::default(), &BTreeMap::new());
            let found = (profile.tool_calls, profile.batch, profile.signal, profile.reasoning);
            assert_eq!(found, (calls, batch, signal, reasoning), "{model}");
            assert_eq!(profile.context_window, window, "{model}");
        }
    }

    #[test]
    fn own_settings_come_first_and_the_longest_glob_next() {
        let table = BTreeMap::from([
            ("claude*".to_owned(), ProfileSettings { batch: Some(3), ..Default::default() }),
            (
                "claude-sonnet*".to_owned(),
                ProfileSettings { batch: Some(4), reasoning: Some(false), ..Default::default() },
            ),
        ]);
        let own = ProfileSettings { signal: Some(Signal::Text), ..Default::default() };
        let profile = Profile::of("claude-sonnet-4-5", &own, &table);
        assert_eq!((profile.batch, profile.reasoning, profile.signal), (4, false, Signal::Text));
        assert_eq!(profile.context_window, Some(200_000));
        assert_eq!(profile.globs[..2], ["claude-sonnet*", "claude*"]);
    }
}
