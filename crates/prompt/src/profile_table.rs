//! What is known of families of models, by glob over the model's name.
//!
//! Windows, limits and parallel calls are what was known of these families in autumn 2026, not
//! checked model by model; for small open models they are what recorded runs show. A longer glob in
//! `agents.yaml` comes before every row.

use crate::profile::{ProfileSettings, ToolCalls};

/// A row of the table.
pub(crate) struct Row {
    pub(crate) glob: &'static str,
    single: Option<bool>,
    structured: Option<bool>,
    reasoning: Option<bool>,
    context_window: Option<u64>,
    small: bool,
}

impl Row {
    const fn new(glob: &'static str) -> Self {
        let (single, structured, reasoning) = (None, None, None);
        Self { glob, single, structured, reasoning, context_window: None, small: false }
    }

    const fn single(self) -> Self {
        Self { single: Some(true), ..self }
    }

    const fn structured(self) -> Self {
        Self { structured: Some(true), ..self }
    }

    const fn thinks(self, reasoning: bool) -> Self {
        Self { reasoning: Some(reasoning), ..self }
    }

    const fn window(self, tokens: u64) -> Self {
        Self { context_window: Some(tokens), ..self }
    }

    const fn small(self) -> Self {
        Self { small: true, single: Some(true), ..self }
    }

    /// The row as settings.
    pub(crate) fn settings(&self) -> ProfileSettings {
        let calls = |single| if single { ToolCalls::Single } else { ToolCalls::Multi };
        ProfileSettings {
            tool_calls: self.single.map(calls),
            structured_output: self.structured,
            reasoning: self.reasoning,
            context_window: self.context_window,
            hints: self.small.then(|| vec!["small_model".to_owned()]),
            ..ProfileSettings::default()
        }
    }
}

/// The table; of several globs that match, the longest is the strongest.
pub(crate) const TABLE: &[Row] = &[
    Row::new("*claude*").window(200_000).thinks(true),
    Row::new("*claude-3*").thinks(false),
    Row::new("*claude-3-7*").thinks(true),
    Row::new("*gpt-4*").window(128_000).structured(),
    Row::new("*gpt-4.1*").window(1_047_576),
    Row::new("*gpt-5*").window(400_000).structured().thinks(true),
    Row::new("*gpt-oss*").window(131_072).single().thinks(true),
    Row::new("o1*").window(200_000).structured().single().thinks(true),
    Row::new("o3*").window(200_000).structured().single().thinks(true),
    Row::new("o4*").window(200_000).structured().single().thinks(true),
    Row::new("*gemini*").window(1_048_576).structured().thinks(true),
    Row::new("*gemini-1*").single().thinks(false),
    Row::new("*gemini-2.0*").single().thinks(false),
    Row::new("*deepseek*").window(128_000),
    Row::new("*deepseek-r1*").single().thinks(true),
    Row::new("*deepseek-reasoner*").thinks(true),
    Row::new("*qwen*").window(131_072),
    Row::new("*qwen2.5*").window(32_768).single(),
    Row::new("*qwen3*").window(262_144),
    Row::new("*llama*").window(128_000).single(),
    Row::new("*llama-4*").window(1_000_000),
    Row::new("*mistral*").window(128_000),
    Row::new("*devstral*").window(128_000),
    Row::new("*codestral*").window(256_000),
    Row::new("*kimi*").window(256_000),
    Row::new("*glm-4*").window(128_000),
    Row::new("*grok*").window(131_072).thinks(true),
    Row::new("*gemma*").window(8_192).single(),
    Row::new("*gemma-3*").window(128_000),
    Row::new("*phi-*").window(16_384).small(),
    Row::new("*0.5b*").small(),
    Row::new("*0.6b*").small(),
    Row::new("*1b-instruct*").small(),
    Row::new("*:1b*").small(),
    Row::new("*1.5b*").small(),
    Row::new("*1.7b*").small(),
    Row::new("*-3b*").small(),
    Row::new("*:3b*").small(),
];
