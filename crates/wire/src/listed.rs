//! What a server tells of its models.

use serde_json::Value;

use crate::json::{count, text};
use crate::stream::{not_json, parse};
use crate::{Format, WireError};

/// Most models that are read from one list.
const MAX_MODELS: usize = 10_000;

/// A model as its server lists it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListedModel {
    /// Its name.
    pub name: String,
    /// Context window as it is served, in tokens; `None` if the server does not say.
    pub context_window: Option<u64>,
    /// Most tokens of one reply; `None` if the server does not say.
    pub max_output_tokens: Option<u64>,
    /// Context window it was trained with, in tokens, which may be more than what is served;
    /// `None` if the server does not say.
    pub trained_window: Option<u64>,
}

/// Where servers tell the context window: vLLM, llama.cpp, LM Studio, `OpenRouter`, Groq, Mistral,
/// Anthropic and `LiteLLM`, Gemini.
const WINDOW: &[&str] = &[
    "/max_model_len",
    "/meta/n_ctx",
    "/loaded_context_length",
    "/context_length",
    "/context_window",
    "/max_context_length",
    "/max_input_tokens",
    "/inputTokenLimit",
];

/// Where they tell the most tokens of a reply.
const OUTPUT: &[&str] = &[
    "/max_output_tokens",
    "/max_completion_tokens",
    "/top_provider/max_completion_tokens",
    "/outputTokenLimit",
];

/// Where they tell what the model was trained with.
const TRAINED: &[&str] = &["/meta/n_ctx_train"];

impl Format {
    /// Reads the list of a server's models, at most 10,000. Every server's shape is understood
    /// whatever the format, because gateways mix them.
    ///
    /// # Errors
    /// If it is no JSON, or no list of models.
    pub fn models(self, body: &[u8]) -> Result<Vec<ListedModel>, WireError> {
        let list = parse(body).map_err(|problem| not_json("the list", problem, body))?;
        let entries = ["data", "models"].into_iter().find_map(|key| list.get(key)?.as_array());
        let problem = "it lists no models";
        let entries = entries
            .or_else(|| list.as_array())
            .ok_or(WireError::NotAnAnswer { format: self, problem })?;
        Ok(entries.iter().take(MAX_MODELS).map(ListedModel::read).collect())
    }
}

impl ListedModel {
    fn read(entry: &Value) -> Self {
        let name = ["id", "name", "model"].map(|key| text(entry, key));
        let name = name.into_iter().find(|name| !name.is_empty()).unwrap_or_default();
        let first = |pointers: &[&str]| {
            let numbers = pointers.iter().map(|pointer| count(entry, pointer));
            numbers.into_iter().find(|number| *number > 0)
        };
        Self {
            name: name.strip_prefix("models/").unwrap_or(name).to_owned(),
            context_window: first(WINDOW),
            max_output_tokens: first(OUTPUT),
            trained_window: first(TRAINED),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A name, its window, its longest reply, and the window it was trained with.
    type Row<'a> = (&'a str, Option<u64>, Option<u64>, Option<u64>);

    fn check(body: &str, expected: &[Row<'_>]) {
        let found = Format::OpenAiChat.models(body.as_bytes()).unwrap();
        let found: Vec<_> = found
            .iter()
            .map(|one| {
                (one.name.as_str(), one.context_window, one.max_output_tokens, one.trained_window)
            })
            .collect();
        assert_eq!(found, expected, "{body}");
    }

    #[test]
    fn lists_of_every_server_are_read() {
        check(
            r#"{"object": "list", "data": [{"id": "a", "max_model_len": 4096}, {"id": "b"}]}"#,
            &[("a", Some(4096), None, None), ("b", None, None, None)],
        );
        check(
            r#"{"models": [{"name": "models/gemini-x", "inputTokenLimit": 1048576,
                "outputTokenLimit": 65536}]}"#,
            &[("gemini-x", Some(1_048_576), Some(65_536), None)],
        );
        check(
            r#"{"models": [{"name": "q"}], "data": [{"id": "q", "meta": {"n_ctx_train": 32768}}]}"#,
            &[("q", None, None, Some(32_768))],
        );
        check(
            r#"{"data": [{"id": "r", "context_length": 1000.0,
                "top_provider": {"max_completion_tokens": 7}}, {"id": 5, "context_length": "x"}]}"#,
            &[("r", Some(1000), Some(7), None), ("", None, None, None)],
        );
        check(r#"[{"id": "together", "context_length": 8}]"#, &[("together", Some(8), None, None)]);
    }

    #[test]
    fn what_is_no_list_is_told() {
        let cases = [
            ("<html><title>Nginx</title>", "the list is not JSON"),
            (r#"{"ok": true}"#, "no openai answer: it lists no models"),
            ("", "the list is not JSON"),
        ];
        for (body, expected) in cases {
            let error = Format::OpenAiChat.models(body.as_bytes()).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
