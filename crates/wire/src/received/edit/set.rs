//! Settings of a request.

use serde_json::{Value, json};

use super::super::scan::{Key, names};
use super::super::{Received, walk};
use super::{Edit, Patches};
use crate::{Format, formats};

impl Received<'_> {
    /// Changes the settings.
    ///
    /// # Errors
    /// If the tool to force is not offered, or cannot be forced.
    pub(super) fn set_all(
        &self,
        edits: &[Edit<'_>],
        patches: &mut Patches<'_>,
    ) -> Result<(), &'static str> {
        let last = |own: fn(&Edit<'_>) -> bool| edits.iter().rev().find(|edit| own(edit));
        match last(|edit| matches!(edit, Edit::NoTools | Edit::ForceTool(_))) {
            Some(Edit::NoTools) => self.forbid_tools(patches),
            Some(Edit::ForceTool(name)) => self.force_tool(name, patches)?,
            _ => {}
        }
        if let Some(Edit::MaxOutputTokens(limit)) =
            last(|edit| matches!(edit, Edit::MaxOutputTokens(_)))
        {
            self.limit_output(*limit, patches);
        }
        if let Some(Edit::Model(model)) = last(|edit| matches!(edit, Edit::Model(_)))
            && self.format != Format::Gemini
        {
            self.set(Key::Model, &Value::from(*model), patches);
        }
        if let Some(Edit::GoesOn { previous, .. }) =
            last(|edit| matches!(edit, Edit::GoesOn { .. }))
            && self.format == Format::OpenAiResponses
        {
            self.set(Key::Previous, &Value::from(*previous), patches);
        }
        Ok(())
    }

    fn forbid_tools(&self, patches: &mut Patches<'_>) {
        match self.format {
            Format::Gemini => {
                // A choice among tools of the provider's is refused.
                if self.tools().any(|tool| !tool.is_hosted()) {
                    self.choose_function(&json!({"mode": "NONE"}), patches);
                }
            }
            _ if self.tools().next().is_none() => {}
            Format::Anthropic => self.set(Key::ToolChoice, &json!({"type": "none"}), patches),
            _ => self.set(self.choice_key(), &json!("none"), patches),
        }
    }

    /// Where Chat Completions and Responses take the choice of a tool.
    fn choice_key(&self) -> Key {
        let old = self.field(Key::Tools).is_none();
        let old = old && self.field(Key::Functions).is_some();
        if old { Key::FunctionCall } else { Key::ToolChoice }
    }

    fn force_tool(&self, name: &str, patches: &mut Patches<'_>) -> Result<(), &'static str> {
        let offered = self.tools().find(|tool| tool.name() == name);
        let tool = offered.ok_or("the tool to force is not offered")?;
        let key = self.choice_key();
        let choice = match self.format {
            Format::Gemini if tool.is_hosted() => return Err("Gemini cannot force this tool"),
            Format::Gemini => {
                let config = json!({"mode": "ANY", "allowedFunctionNames": [name]});
                self.choose_function(&config, patches);
                return Ok(());
            }
            Format::Anthropic if self.thinks() => {
                return Err("no tool can be forced while the model thinks");
            }
            Format::Anthropic => json!({"type": "tool", "name": name}),
            _ if key == Key::FunctionCall => json!({"name": name}),
            Format::OpenAiResponses if tool.is_hosted() => json!({"type": name}),
            Format::OpenAiResponses if tool.is_free_form() => {
                json!({"type": "custom", "name": name})
            }
            Format::OpenAiResponses => json!({"type": "function", "name": name}),
            Format::OpenAiChat if tool.is_free_form() => {
                json!({"type": "custom", "custom": {"name": name}})
            }
            Format::OpenAiChat => json!({"type": "function", "function": {"name": name}}),
        };
        self.set(key, &choice, patches);
        Ok(())
    }

    /// Whether Anthropic's model thinks before it answers.
    fn thinks(&self) -> bool {
        let thinking = self.field(Key::Thinking);
        thinking.is_some_and(|thinking| !walk::says(thinking, "type", "disabled"))
    }

    /// Sets Gemini's choice among functions; names that were allowed before go with it, because
    /// they are refused in other modes.
    fn choose_function(&self, config: &Value, patches: &mut Patches<'_>) {
        let keys = &["functionCallingConfig", "function_calling_config"];
        self.set_within(Key::ToolChoice, keys, config, patches);
    }

    fn limit_output(&self, limit: u32, patches: &mut Patches<'_>) {
        match self.format {
            Format::Gemini => {
                let keys = &["maxOutputTokens", "max_output_tokens"];
                self.set_within(Key::Shape, keys, &limit.into(), patches);
            }
            Format::Anthropic => {
                let thinking = self.field(Key::Thinking);
                let budget = thinking.and_then(|own| walk::member(own, "budget_tokens"));
                let budget = budget.and_then(|budget| budget.parse::<u64>().ok()).unwrap_or(0);
                let limit = u64::from(limit);
                let limit = if limit > budget { limit } else { budget.saturating_add(limit) };
                self.set(Key::Limit, &limit.into(), patches);
            }
            Format::OpenAiResponses => self.set(Key::Limit, &limit.into(), patches),
            Format::OpenAiChat => {
                let model = self.model().unwrap_or_default();
                let usual = match formats::chat_limit_field(&model) {
                    "max_tokens" => Key::OldLimit,
                    _ => Key::Limit,
                };
                let written = [Key::Limit, Key::OldLimit].into_iter();
                let written = written.filter(|key| self.field(*key).is_some());
                let written: Vec<_> = written.collect();
                let keys = if written.is_empty() { vec![usual] } else { written };
                keys.into_iter().for_each(|key| self.set(key, &limit.into(), patches));
            }
        }
    }

    /// Sets a field of the outermost object.
    fn set(&self, key: Key, value: &Value, patches: &mut Patches<'_>) {
        match self.written(key) {
            Some(old) => patches.replace(old, value.to_string()),
            None => {
                let name = names(self.format).iter().find(|(_, own)| *own == key);
                patches.add(name.map_or("", |(name, _)| *name), &value.to_string());
            }
        }
    }

    /// Sets a field of an object that is a field of the outermost one.
    fn set_within(&self, key: Key, keys: &[&str], value: &Value, patches: &mut Patches<'_>) {
        let outer = self.written(key);
        match outer.filter(|outer| outer.starts_with('{')) {
            Some(outer) => patches.set_member(outer, keys, &value.to_string()),
            None => {
                let inner = keys.first().copied().unwrap_or_default();
                self.set(key, &json!({inner: value}), patches);
            }
        }
    }
}
