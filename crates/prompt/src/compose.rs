//! Composing the prompt of an agent from its parts, in one fixed order.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write;

use steersman_config::document::Text;

use crate::error::PromptError;
use crate::library::Library;
use crate::part::{self, Kind, Part};
use crate::profile::{Profile, Signal, ToolCalls};
use crate::slots::{Slot, fill};
use crate::template::Template;
use crate::tools::ToolInstruction;

/// The longest prompt that is composed. Bytes.
pub const MAX_PROMPT_BYTES: usize = 1 << 20;

/// The feature that is always on.
const ALWAYS: &str = "core";

/// The feature after which it is told how the model signals.
const PROTOCOL: &str = "continuation_protocol";

/// The tool by which a model signals.
const SIGNAL_TOOL: &str = "report_progress";

/// The feature about tools; without tools there is nothing to say.
const TOOLS: &str = "tool_guidelines";

/// The feature that comes last of all.
const LAST: &str = "output_format";

/// A parameter that every prompt file may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name, as in `{{{name}}}`.
    pub name: &'static str,
    /// What it stands for.
    pub meaning: &'static str,
    /// What stands there if no value is given.
    pub default: &'static str,
}

/// The parameters that every prompt file may use without declaring them.
#[must_use]
pub const fn parameters() -> &'static [Parameter] {
    &[
        Parameter { name: "agent", meaning: "name of the agent", default: "" },
        Parameter {
            name: "agents",
            meaning: "names of the agents it may write to",
            default: "none yet",
        },
        Parameter {
            name: "batch",
            meaning: "tool calls that may go into one reply, from the model's profile",
            default: "8",
        },
        Parameter {
            name: "check",
            meaning: "the command that proves the goal",
            default: "the project's tests",
        },
        Parameter {
            name: "workspace",
            meaning: "the folder that the agent works in",
            default: "the current folder",
        },
    ]
}

/// What a prompt is composed of.
#[derive(Clone, Debug)]
pub struct ComposeRequest<'a> {
    /// Name of the agent's prompt file, and what `{{{agent}}}` stands for unless it is given.
    pub agent: &'a str,
    /// The agent's own text, in place of a prompt file. It may use the parameters of the request.
    pub instructions: Option<&'a str>,
    /// Features switched on (true) or off; the files say what holds for the others.
    pub features: BTreeMap<String, bool>,
    /// Values of parameters. A value is put in as it is, braces and all.
    pub parameters: BTreeMap<String, String>,
    /// The tools that the agent has, in the order in which they are shown.
    pub tools: &'a [ToolInstruction],
    /// The template of the task.
    pub template: Option<&'a Template>,
    /// Whether shared parts and hints for the model are included. Default true.
    pub include_shared: bool,
    /// The model's profile; `None` leaves hints out.
    pub model: Option<&'a Profile>,
}

impl<'a> ComposeRequest<'a> {
    /// A request for an agent's prompt with everything at its default and no tools.
    #[must_use]
    pub fn new(agent: &'a str) -> Self {
        Self {
            agent,
            instructions: None,
            features: BTreeMap::new(),
            parameters: BTreeMap::new(),
            tools: &[],
            template: None,
            include_shared: true,
            model: None,
        }
    }

    /// The content of the request as a text; requests of different content have different ones.
    pub(crate) fn key(&self) -> String {
        let tools: usize = self.tools.iter().map(ToolInstruction::bytes).sum();
        let mut key = String::with_capacity(512 + tools);
        let put = |key: &mut String, text: &str| {
            // Writing to a string cannot fail.
            let _ = write!(key, "{}:{text}", text.len());
        };
        put(&mut key, self.agent);
        put(&mut key, self.instructions.map_or("-", |_| "+"));
        put(&mut key, self.instructions.unwrap_or_default());
        for (name, on) in &self.features {
            put(&mut key, name);
            put(&mut key, if *on { "+" } else { "-" });
        }
        for (name, value) in &self.parameters {
            put(&mut key, "=");
            put(&mut key, name);
            put(&mut key, value);
        }
        for tool in self.tools {
            put(&mut key, "tool");
            put(&mut key, &tool.name);
            put(&mut key, &tool.description);
            put(&mut key, &tool.instructions);
        }
        put(&mut key, self.template.map_or("", Template::name));
        put(&mut key, if self.include_shared { "shared" } else { "" });
        if let Some(model) = self.model {
            let _ = write!(key, "{}{}{}", model.tool_calls as u8, model.signal as u8, model.batch);
            put(&mut key, if model.reasoning { "reasoning" } else { "" });
            for hint in &model.hints {
                put(&mut key, hint);
            }
        }
        key
    }
}

/// Composes a prompt: the agent's text; `core`; the other features that are on, by order and name;
/// hints for the model; tools; the template; `output_format`.
pub(crate) fn compose(
    library: &Library,
    request: &ComposeRequest<'_>,
) -> Result<String, PromptError> {
    check_parameters(library, request)?;
    let mut composer = Composer { library, request, prompt: String::with_capacity(16 << 10) };
    composer.agent()?;
    if request.include_shared {
        let features = features(library, request)?;
        for part in features.iter().filter(|part| part.name != LAST) {
            composer.section(part)?;
        }
        composer.hints()?;
    }
    composer.tools()?;
    composer.template()?;
    let last = library.part(Kind::Shared, LAST);
    if let Some(last) = last.filter(|part| request.include_shared && is_on(part, request)) {
        composer.section(last)?;
    }
    composer.prompt.push('\n');
    match composer.prompt.len() {
        bytes if bytes > MAX_PROMPT_BYTES => {
            Err(PromptError::TooLong { bytes, most: MAX_PROMPT_BYTES })
        }
        _ => Ok(composer.prompt),
    }
}

/// Every parameter that is given is known: standard, or declared by some file.
fn check_parameters(library: &Library, request: &ComposeRequest<'_>) -> Result<(), PromptError> {
    let standard = parameters().iter().map(|parameter| parameter.name);
    for name in request.parameters.keys() {
        let known = |other: &str| other == name;
        if standard.clone().any(known) || library.declared().any(known) {
            continue;
        }
        // The agent's own text declares what it uses.
        let own = request.instructions.is_some_and(|text| text.contains(&format!("{{{{{{{name}")));
        if !own {
            let mut names: Vec<&str> = standard.chain(library.declared()).collect();
            names.sort_unstable();
            names.dedup();
            return Err(PromptError::unknown("parameter", name, names.iter().copied()));
        }
    }
    Ok(())
}

/// Whether a feature is on for itself.
fn is_on(part: &Part, request: &ComposeRequest<'_>) -> bool {
    let template = || request.template.and_then(|t| t.features().get(&part.name));
    let asked = request.features.get(&part.name).or_else(template).copied();
    part.name == ALWAYS || asked.unwrap_or_else(|| part.front.enabled.unwrap_or(true))
}

/// The features that are on, in order.
fn features<'l>(
    library: &'l Library,
    request: &ComposeRequest<'_>,
) -> Result<Vec<&'l Part>, PromptError> {
    for (name, on) in &request.features {
        library.expect(Kind::Shared, name)?;
        if name == ALWAYS && !on {
            return Err(PromptError::CoreOff);
        }
    }
    let mut on: Vec<&Part> = library.of(Kind::Shared).filter(|part| is_on(part, request)).collect();
    // Each pass over the list adds what those before it need; a feature is added once.
    let mut at = 0;
    while let Some(part) = on.get(at).copied() {
        for needed in &part.front.requires {
            if on.iter().any(|other| other.name == *needed) {
                continue;
            }
            if request.features.get(needed) == Some(&false) {
                let feature = part.name.clone();
                return Err(PromptError::Needs { feature, needed: needed.clone() });
            }
            on.push(library.expect(Kind::Shared, needed)?);
        }
        at += 1;
    }
    on.retain(|part| part.name != TOOLS || !request.tools.is_empty());
    on.sort_by_key(|part| {
        (part.name != ALWAYS, part.front.order.unwrap_or(50), part.name.as_str())
    });
    Ok(on)
}

struct Composer<'l, 'r> {
    library: &'l Library,
    request: &'r ComposeRequest<'r>,
    prompt: String,
}

impl Composer<'_, '_> {
    fn agent(&mut self) -> Result<(), PromptError> {
        let Some(instructions) = self.request.instructions else {
            let part = self.library.expect(Kind::Agent, self.request.agent)?;
            return self.body(part);
        };
        let text = Text::new("<instructions>", instructions.trim(), "a prompt");
        let all = 0..text.text().len();
        let declared: Vec<&str> = self.request.parameters.keys().map(String::as_str).collect();
        let slots = part::read_slots(&text, all.clone(), &declared).map_err(PromptError::Bad)?;
        let value = |slot: &Slot| self.value(slot, None, || part::place(&text, slot));
        let mut filled = String::new();
        fill(&mut filled, (text.text(), all), &slots, value)?;
        self.prompt.push_str(&filled);
        Ok(())
    }

    /// A shared part under its heading.
    fn section(&mut self, part: &Part) -> Result<(), PromptError> {
        self.heading(part.front.title.as_deref());
        self.body(part)?;
        if part.name != PROTOCOL {
            return Ok(());
        }
        let has_tool = || self.request.tools.iter().any(|tool| tool.name == SIGNAL_TOOL);
        self.hint(match self.request.model.map(|model| model.signal) {
            Some(Signal::ToolCall) if has_tool() => "signal_tool_call",
            Some(Signal::StructuredOutput) => "signal_structured_output",
            // Text is what every model can write.
            _ => "signal_text",
        })
    }

    /// What the model's profile calls for.
    fn hints(&mut self) -> Result<(), PromptError> {
        let Some(model) = self.request.model else { return Ok(()) };
        let calls = match model.tool_calls {
            _ if self.request.tools.is_empty() => None,
            ToolCalls::Single | ToolCalls::Json => Some("single_tool"),
            ToolCalls::Multi => Some("multi_tool"),
        };
        let reasoning = model.reasoning.then_some("reasoning");
        let hints =
            calls.into_iter().chain(reasoning).chain(model.hints.iter().map(String::as_str));
        let hints: Vec<&str> = hints.collect();
        if !hints.is_empty() {
            self.heading(Some("Pace"));
            let start = self.prompt.len();
            for hint in hints {
                self.hint(hint)?;
            }
            // The heading ends with the gap that the first hint brings, too.
            self.prompt.replace_range(start..start + 2, "");
        }
        Ok(())
    }

    fn hint(&mut self, name: &str) -> Result<(), PromptError> {
        let part = self.library.expect(Kind::Model, name)?;
        self.prompt.push_str("\n\n");
        self.body(part)
    }

    fn tools(&mut self) -> Result<(), PromptError> {
        if self.request.tools.is_empty() {
            return Ok(());
        }
        self.heading(Some("Tools"));
        for (at, tool) in self.request.tools.iter().enumerate() {
            let gap = if at == 0 { "" } else { "\n\n" };
            let _ = write!(self.prompt, "{gap}### {}\n\n{}", tool.name, tool.description.trim());
            // A file of the project's or the user's comes before what the caller brings.
            let part = self.library.part(Kind::Tool, &tool.name);
            match part.filter(|part| tool.instructions.is_empty() || !part.is_built_in()) {
                Some(part) => {
                    self.prompt.push('\n');
                    self.body(part)?;
                }
                None if tool.instructions.is_empty() => {}
                None => {
                    let _ = write!(self.prompt, "\n{}", tool.instructions.trim());
                }
            }
        }
        Ok(())
    }

    fn template(&mut self) -> Result<(), PromptError> {
        let Some(template) = self.request.template else { return Ok(()) };
        let (text, body, slots) = template.body_with_slots();
        if body.is_empty() {
            return Ok(());
        }
        self.heading(Some(template.title()));
        let mut filled = String::new();
        let value = |slot: &Slot| {
            let default = template.default_of(&slot.name);
            self.value(slot, default, || part::place(text, slot))
        };
        fill(&mut filled, (text.text(), body), slots, value)?;
        self.prompt.push_str(&filled);
        Ok(())
    }

    fn heading(&mut self, title: Option<&str>) {
        self.prompt.push_str("\n\n");
        if let Some(title) = title {
            let _ = write!(self.prompt, "## {title}\n\n");
        }
    }

    fn body(&mut self, part: &Part) -> Result<(), PromptError> {
        let mut prompt = std::mem::take(&mut self.prompt);
        let value = |slot: &Slot| {
            let default = part.front.defaults.get(&slot.name).map(String::as_str);
            self.value(slot, default, || part.place(slot))
        };
        let filled = fill(&mut prompt, (part.text.text(), part.body.clone()), &part.slots, value);
        self.prompt = prompt;
        filled
    }

    /// The value of a parameter: given, the file's default, the standard one.
    fn value<'v>(
        &'v self,
        slot: &Slot,
        default: Option<&'v str>,
        place: impl Fn() -> String,
    ) -> Result<Cow<'v, str>, PromptError> {
        let name = slot.name.as_str();
        if let Some(value) = self.request.parameters.get(name) {
            return Ok(value.into());
        }
        if let Some(default) = default {
            return Ok(default.into());
        }
        if name == "agent" {
            return Ok(self.request.agent.into());
        }
        if let Some(model) = self.request.model.filter(|_| name == "batch") {
            return Ok(model.batch.to_string().into());
        }
        let standard = parameters().iter().find(|parameter| parameter.name == name);
        let no_value = || PromptError::NoValue { name: name.to_owned(), place: place() };
        standard.map(|parameter| parameter.default.into()).ok_or_else(no_value)
    }
}
