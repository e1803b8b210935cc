//! All prompt files that hold, whichever folder they come from.

use std::collections::BTreeMap;
use std::sync::Arc;

use steersman_config::Finding;
use steersman_engine::{Policy, built_in_texts};

use crate::built_in;
use crate::error::PromptError;
use crate::folder::Found;
use crate::part::{Kind, Origin, Part};
use crate::template::Template;

/// All prompt files that hold: of each name the one of the project, else the user's, else the
/// built-in one.
#[derive(Clone, Debug)]
pub struct Library {
    parts: BTreeMap<(Kind, String), Arc<Part>>,
    templates: Vec<Arc<Template>>,
}

/// A prompt file, as it is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptFile {
    /// What it is.
    pub kind: Kind,
    /// Its name.
    pub name: String,
    /// Its title; empty if it has none.
    pub title: String,
    /// Where it comes from.
    pub origin: Origin,
    /// Whether a feature is on unless somebody switches it off; true for everything else.
    pub enabled: bool,
}

impl Library {
    /// What is compiled in.
    pub(crate) fn built_in() -> Self {
        let parts = built_in::parts();
        let parts = parts.iter().map(|part| ((part.kind, part.name.clone()), Arc::clone(part)));
        Self { parts: parts.collect(), templates: built_in::templates().to_vec() }
    }

    /// Lays the files of a folder over what is there.
    pub(crate) fn add(&mut self, files: Vec<Found>, origin: &Origin) -> Vec<Finding> {
        let mut findings = Vec::new();
        let mut templates = Vec::new();
        for Found { kind, name, text } in files {
            if kind == Kind::Template {
                match Template::parse(&name, origin.clone(), text) {
                    Ok(template) => templates.push(Arc::new(template)),
                    Err(found) => findings.extend(found),
                }
                continue;
            }
            findings.extend(unknown_intervention(kind, &name, text.name()));
            match Part::parse(kind, &name, origin.clone(), text) {
                Ok(part) => {
                    self.parts.insert((kind, name), Arc::new(part));
                }
                Err(found) => findings.extend(found),
            }
        }
        self.templates.retain(|old| !templates.iter().any(|new| new.name() == old.name()));
        templates.append(&mut self.templates);
        self.templates = templates;
        findings
    }

    /// What is wrong between files: features that are needed and not there.
    pub(crate) fn check(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        let features: Vec<&str> = self.of(Kind::Shared).map(|part| part.name.as_str()).collect();
        for part in self.of(Kind::Shared) {
            let unknown = part.front.requires.iter().filter(|n| !features.contains(&n.as_str()));
            for name in unknown {
                let at = part.text.text().find(name.as_str()).unwrap_or(0);
                let what = format!("no feature `{name}`");
                let finding = part.text.error(at..at + name.len(), "requires", what);
                let known = features.iter().copied();
                findings.push(with_near(finding, name, known, "features"));
            }
        }
        for template in &self.templates {
            findings.extend(template.check_features(&features));
        }
        findings
    }

    /// The files of a kind by name.
    pub(crate) fn of(&self, kind: Kind) -> impl Iterator<Item = &Part> + Clone {
        let parts = self.parts.range((kind, String::new())..);
        parts.take_while(move |((found, _), _)| *found == kind).map(|(_, part)| &**part)
    }

    /// The parameters that some file declares.
    pub(crate) fn declared(&self) -> impl Iterator<Item = &str> {
        let parts = self.parts.values().flat_map(|part| part.declared());
        parts.chain(self.templates.iter().flat_map(|template| template.declared()))
    }

    /// A file.
    pub(crate) fn part(&self, kind: Kind, name: &str) -> Option<&Part> {
        self.parts.get(&(kind, name.to_owned())).map(|part| &**part)
    }

    /// A file, or the error that names those that are known.
    pub(crate) fn expect(&self, kind: Kind, name: &str) -> Result<&Part, PromptError> {
        let what = match kind {
            Kind::Agent => "prompt of an agent",
            Kind::Shared => "feature",
            Kind::Model => "hint for models",
            _ => "prompt",
        };
        let known = self.of(kind).map(|part| part.name.as_str());
        self.part(kind, name).ok_or_else(|| PromptError::unknown(what, name, known))
    }

    /// The names of the features, by name.
    pub fn features(&self) -> impl Iterator<Item = &str> + Clone {
        self.of(Kind::Shared).map(|part| part.name.as_str())
    }

    /// The names of the agents' prompts, by name.
    pub fn agents(&self) -> impl Iterator<Item = &str> + Clone {
        self.of(Kind::Agent).map(|part| part.name.as_str())
    }

    /// The templates: the project's, the user's, the built-in ones.
    #[must_use]
    pub fn templates(&self) -> &[Arc<Template>] {
        &self.templates
    }

    /// The template of a name.
    ///
    /// # Errors
    /// [`PromptError::Unknown`].
    pub fn template(&self, name: &str) -> Result<&Arc<Template>, PromptError> {
        let known = self.templates.iter().map(|template| template.name());
        let found = self.templates.iter().find(|template| template.name() == name);
        found.ok_or_else(|| PromptError::unknown("template", name, known))
    }

    /// Every file, by kind and name.
    #[must_use]
    pub fn files(&self) -> Vec<PromptFile> {
        let part = |part: &Arc<Part>| PromptFile {
            kind: part.kind,
            name: part.name.clone(),
            title: part.front.title.clone().unwrap_or_default(),
            origin: part.origin.clone(),
            enabled: part.front.enabled.unwrap_or(true),
        };
        let template = |template: &Arc<Template>| PromptFile {
            kind: Kind::Template,
            name: template.name().to_owned(),
            title: template.title().to_owned(),
            origin: template.origin().clone(),
            enabled: true,
        };
        let parts = self.parts.values().map(part);
        parts.chain(self.templates.iter().map(template)).collect()
    }

    /// The texts of interventions, as a policy names them under `texts`.
    #[must_use]
    pub fn texts(&self) -> BTreeMap<String, Vec<String>> {
        let text = |part: &Part| (part.name.clone(), vec![part.body().to_owned()]);
        self.of(Kind::Intervention).map(text).collect()
    }

    /// The policy with the texts of the intervention files; those that it names itself stay.
    #[must_use]
    pub fn with_texts(&self, mut policy: Policy) -> Policy {
        for (name, texts) in self.texts() {
            policy.texts.entry(name).or_insert(texts);
        }
        policy
    }
}

/// The finding about an intervention that the engine does not know.
fn unknown_intervention(kind: Kind, name: &str, file: &str) -> Option<Finding> {
    let known = built_in_texts().iter().map(|(known, _)| *known);
    if kind != Kind::Intervention || known.clone().any(|known| known == name) {
        return None;
    }
    let finding = Finding::of_file(file, format!("no intervention is called `{name}`"));
    Some(with_near(finding, name, known, "interventions"))
}

/// The finding with the nearest known name, and all of them.
pub(crate) fn with_near<'k>(
    finding: Finding,
    name: &str,
    known: impl Iterator<Item = &'k str> + Clone,
    what: &str,
) -> Finding {
    let finding = match steersman_config::nearest(name, known.clone()) {
        Some(near) => finding.with_help(format!("did you mean `{near}`?")),
        None => finding,
    };
    finding.with_help(format!("{what}: {}", known.collect::<Vec<_>>().join(", ")))
}
