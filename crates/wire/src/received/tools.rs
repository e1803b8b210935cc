//! The tools of a request, wherever a client puts them.

use std::borrow::Cow;

use super::scan::Key;
use super::{Received, walk};
use crate::Format;

/// Namespaces inside namespaces deeper than this are not looked into; one level was seen.
const MAX_DEPTH: usize = 4;

/// One tool, as its JSON text; one that Gemini runs is its name alone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tool<'a>(&'a str);

impl<'a> Tool<'a> {
    /// Its name; its type if the provider runs it and it has none.
    pub(super) fn name(&self) -> Cow<'a, str> {
        let mut kind = None;
        for (key, value) in walk::members(self.0) {
            let found = if walk::is_key(key, "name") {
                walk::text(value)
            } else if walk::is_key(key, "function") || walk::is_key(key, "custom") {
                walk::text_at(value, "name")
            } else {
                if walk::is_key(key, "type") {
                    kind = walk::text(value);
                }
                None
            };
            if let Some(name) = found {
                return name;
            }
        }
        kind.or_else(|| walk::text(self.0)).unwrap_or_default()
    }

    /// Whether its calls are free text.
    pub(super) fn is_free_form(&self) -> bool {
        walk::says(self.0, "type", "custom")
    }

    /// Whether the provider runs it: it has no name of its own.
    pub(super) fn is_hosted(&self) -> bool {
        let parts = ["name", "function", "custom"];
        parts.into_iter().all(|key| walk::member(self.0, key).is_none())
    }
}

impl<'a> Received<'a> {
    /// Every tool, in the order in which the model is told of them.
    pub(super) fn tools(&self) -> impl Iterator<Item = Tool<'a>> {
        let mut tools = Vec::new();
        if let Some(list) = self.field(Key::Tools) {
            self.add_tools(list, &mut tools);
        }
        if let Some(list) = self.field(Key::Functions) {
            tools.extend(walk::elements(list).map(Tool));
        }
        if self.format == Format::OpenAiResponses {
            // Codex sends some models their tools as the first item of the input.
            let first = (0..).map_while(|at| self.item_text(at));
            for item in first.take_while(|item| walk::says(item, "type", "additional_tools")) {
                let list = walk::member(item, "tools").unwrap_or_default();
                add_namespace(list, MAX_DEPTH, &mut tools);
            }
        }
        tools.into_iter()
    }

    fn add_tools(&self, list: &'a str, tools: &mut Vec<Tool<'a>>) {
        match self.format {
            Format::Gemini => {
                for own in walk::elements(list) {
                    let keys = ["functionDeclarations", "function_declarations"];
                    match walk::member_of(own, keys) {
                        Some(list) => tools.extend(walk::elements(list).map(Tool)),
                        // A tool of the provider's is an object under its name.
                        None => tools.extend(walk::members(own).map(|(name, _)| Tool(name))),
                    }
                }
            }
            Format::OpenAiResponses => add_namespace(list, MAX_DEPTH, tools),
            _ => tools.extend(walk::elements(list).map(Tool)),
        }
    }
}

fn add_namespace<'a>(list: &'a str, levels: usize, tools: &mut Vec<Tool<'a>>) {
    for tool in walk::elements(list) {
        match walk::member(tool, "tools") {
            Some(inner) if levels > 0 && walk::says(tool, "type", "namespace") => {
                add_namespace(inner, levels - 1, tools);
            }
            _ => tools.push(Tool(tool)),
        }
    }
}
