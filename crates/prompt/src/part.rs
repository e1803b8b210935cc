//! One prompt file: what it says about itself, its body, and where parameters go.

use std::ops::Range;
use std::path::PathBuf;

use steersman_config::Finding;
use steersman_config::document::{self, Text};

use crate::compose;
use crate::front::{Front, split};
use crate::slots::{self, Slot};

/// What a prompt file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// An agent's own prompt: `agents/NAME.prompt.md`.
    Agent,
    /// A part that every agent shares, which is a feature: `shared/NAME.md`.
    Shared,
    /// A hint for models of a profile: `models/NAME.md`.
    Model,
    /// What is said about a tool: `tools/NAME.md`.
    Tool,
    /// The text of an intervention: `interventions/NAME.md`.
    Intervention,
    /// A template for a kind of task: `templates/NAME.md`.
    Template,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 6] =
        [Self::Agent, Self::Shared, Self::Model, Self::Tool, Self::Intervention, Self::Template];

    /// The folder in which files of the kind lie.
    #[must_use]
    pub const fn folder(self) -> &'static str {
        match self {
            Self::Agent => "agents",
            Self::Shared => "shared",
            Self::Model => "models",
            Self::Tool => "tools",
            Self::Intervention => "interventions",
            Self::Template => "templates",
        }
    }

    /// How names of files of the kind end.
    #[must_use]
    pub const fn ending(self) -> &'static str {
        match self {
            Self::Agent => ".prompt.md",
            _ => ".md",
        }
    }
}

/// Where a prompt file comes from. The first one that has a file holds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// The project's `.steersman/prompts`.
    Project(PathBuf),
    /// The user's own `steersman/prompts` in the directory of user configuration.
    User(PathBuf),
    /// Compiled in.
    BuiltIn,
}

/// A prompt file that has been read.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) kind: Kind,
    pub(crate) name: String,
    pub(crate) origin: Origin,
    pub(crate) text: Text,
    pub(crate) front: Front,
    /// Bytes of the body in the text.
    pub(crate) body: Range<usize>,
    pub(crate) slots: Vec<Slot>,
}

impl Part {
    /// Reads a file of any kind but a template.
    pub(crate) fn parse(
        kind: Kind,
        name: &str,
        origin: Origin,
        text: Text,
    ) -> Result<Self, Vec<Finding>> {
        let (front_at, body) = split_text(&text)?;
        let (front, document) = document::parse::<Front>(text.clone(), Some(front_at))
            .map_err(|error| error.findings().to_vec())?;
        let mut findings = Vec::new();
        if kind != Kind::Shared {
            let given = [
                ("order", front.order.is_some()),
                ("requires", !front.requires.is_empty()),
                ("enabled", front.enabled.is_some()),
            ];
            for (key, _) in given.iter().filter(|(_, given)| *given) {
                let what = "only shared parts have it: they are features";
                findings.push(document.key_error(&[key], what));
            }
        }
        findings.extend(check_declared(&document, &front.parameters, front.defaults.keys()));
        let declared = declared(&front.parameters, front.defaults.keys());
        // The texts of interventions have parameters of their own, in single braces.
        let slots = match kind {
            Kind::Intervention => Ok(Vec::new()),
            _ => read_slots(&text, body.clone(), &declared),
        };
        match slots {
            Ok(slots) if findings.is_empty() => {
                let (name, front) = (name.to_owned(), front);
                Ok(Self { kind, name, origin, text, front, body, slots })
            }
            slots => {
                findings.extend(slots.err().unwrap_or_default());
                Err(findings)
            }
        }
    }

    /// The body as it stands in the file.
    pub(crate) fn body(&self) -> &str {
        &self.text.text()[self.body.clone()]
    }

    /// Whether it is compiled in.
    pub(crate) fn is_built_in(&self) -> bool {
        self.origin == Origin::BuiltIn
    }

    /// The parameters that it declares.
    pub(crate) fn declared(&self) -> impl Iterator<Item = &str> {
        self.front.parameters.iter().chain(self.front.defaults.keys()).map(String::as_str)
    }

    /// File and line of a slot.
    pub(crate) fn place(&self, slot: &Slot) -> String {
        place(&self.text, slot)
    }
}

/// File and line of a slot.
pub(crate) fn place(text: &Text, slot: &Slot) -> String {
    let line = text.text()[..slot.at.start].matches('\n').count() + 1;
    format!("{}:{line}", text.name())
}

/// Where front matter and body stand.
pub(crate) fn split_text(text: &Text) -> Result<(Range<usize>, Range<usize>), Vec<Finding>> {
    split(text.text()).map_err(|at| {
        let what = "front matter that is not closed by a line of `---`";
        vec![text.error(at, "", what)]
    })
}

/// The names of parameters that a file declares.
pub(crate) fn declared<'f>(
    parameters: &'f [String],
    defaults: impl Iterator<Item = &'f String>,
) -> Vec<&'f str> {
    parameters.iter().chain(defaults).map(String::as_str).collect()
}

/// What is wrong with declared names.
pub(crate) fn check_declared<'f, T>(
    document: &document::Document<T>,
    parameters: &[String],
    defaults: impl Iterator<Item = &'f String>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    let what = "not a parameter: a name is letters, digits and `_`";
    for (at, _) in parameters.iter().enumerate().filter(|(_, name)| !slots::is_name(name)) {
        let item = format!("[{at}]");
        findings.push(document.error(&["parameters", &item], what));
    }
    for name in defaults.filter(|name| !slots::is_name(name)) {
        findings.push(document.key_error(&["defaults", name], what));
    }
    findings
}

/// The slots of a body; all of them are known.
pub(crate) fn read_slots(
    text: &Text,
    body: Range<usize>,
    declared: &[&str],
) -> Result<Vec<Slot>, Vec<Finding>> {
    let slots = slots::find(text.text(), body).map_err(|bad| {
        bad.into_iter().map(|bad| text.error(bad.at, "", bad.what)).collect::<Vec<_>>()
    })?;
    let standard = compose::parameters().iter().map(|parameter| parameter.name);
    let known: Vec<&str> = declared.iter().copied().chain(standard).collect();
    let unknown = slots.iter().filter(|slot| !known.contains(&slot.name.as_str()));
    let finding = |slot: &Slot| {
        let what = format!("the parameter `{}` is not known", slot.name);
        let finding = text.error(slot.at.clone(), "", what);
        let finding = match steersman_config::nearest(&slot.name, known.iter().copied()) {
            Some(near) => finding.with_help(format!("did you mean `{near}`?")),
            None => finding,
        };
        let help = format!("known here: {}", known.join(", "));
        finding.with_help(help).with_help("front matter declares others: `defaults: {name: value}`")
    };
    let findings: Vec<Finding> = unknown.map(finding).collect();
    if findings.is_empty() { Ok(slots) } else { Err(findings) }
}
