//! Templates: what a kind of task needs of policy and prompt.

use std::collections::BTreeMap;
use std::ops::Range;

use serde_json::Value as Json;
use steersman_config::document::{self, Document, Text};
use steersman_config::{Finding, LoadError};
use steersman_engine::Policy;
use steersman_engine::classify::TaskType;

pub use crate::front::CheckUse;
use crate::front::{TaskKind, TemplateFront};
use crate::library::with_near;
use crate::part::{Origin, check_declared, declared, read_slots, split_text};
use crate::slots::Slot;

/// Most words and phrases of a template.
const MAX_WORDS: usize = 200;

/// Longest word or phrase. Bytes.
const MAX_WORD: usize = 80;

/// What a kind of task needs: keys laid over the policy, a part of the prompt, features, and
/// whether a check is expected.
#[derive(Clone, Debug)]
pub struct Template {
    name: String,
    origin: Origin,
    front: TemplateFront,
    document: Document<TemplateFront>,
    body: Range<usize>,
    slots: Vec<Slot>,
    task_types: Vec<TaskType>,
    words: Vec<String>,
}

impl Template {
    /// Reads a template's file.
    pub(crate) fn parse(name: &str, origin: Origin, text: Text) -> Result<Self, Vec<Finding>> {
        let (front_at, body) = split_text(&text)?;
        let (front, document) = document::parse::<TemplateFront>(text.clone(), Some(front_at))
            .map_err(|error| error.findings().to_vec())?;
        let mut findings = check_declared(&document, &front.parameters, front.defaults.keys());
        findings.extend(check_words(&document, &front.words));
        if let Err(error) = document.lay_over(Policy::default(), &["policy"]) {
            findings.extend(error.findings().iter().cloned());
        }
        let declared = declared(&front.parameters, front.defaults.keys());
        let slots = read_slots(&text, body.clone(), &declared).unwrap_or_else(|found| {
            findings.extend(found);
            Vec::new()
        });
        if !findings.is_empty() {
            return Err(findings);
        }
        let task_types = front.task_types.iter().copied().map(TaskType::from).collect();
        let words = front.words.iter().map(|word| normal(word)).collect();
        let name = name.to_owned();
        Ok(Self { name, origin, front, document, body, slots, task_types, words })
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it is for; its name if it does not say.
    #[must_use]
    pub fn title(&self) -> &str {
        self.front.title.as_deref().unwrap_or(&self.name)
    }

    /// Where it comes from.
    #[must_use]
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Kinds of tasks that it suits.
    #[must_use]
    pub fn task_types(&self) -> &[TaskType] {
        &self.task_types
    }

    /// Words and phrases that it suits, in lower case.
    #[must_use]
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// Whether a check is expected.
    #[must_use]
    pub fn check(&self) -> CheckUse {
        self.front.check
    }

    /// Features that it switches on (true) or off, unless an agent or a user says otherwise.
    #[must_use]
    pub fn features(&self) -> &BTreeMap<String, bool> {
        &self.front.features
    }

    /// The keys that it lays over a policy, as JSON; null if there are none.
    #[must_use]
    pub fn policy_keys(&self) -> &Json {
        &self.front.policy
    }

    /// The part of the prompt as it stands in the file; may be empty.
    #[must_use]
    pub fn body(&self) -> &str {
        &self.document.text().text()[self.body.clone()]
    }

    /// The policy with the template's keys laid over it.
    ///
    /// # Errors
    /// The keys are not allowed together with those of the policy.
    pub fn lay_over(&self, policy: Policy) -> Result<Policy, LoadError> {
        self.document.lay_over(policy, &["policy"])
    }

    /// The text, the place of the body in it, and where parameters go.
    pub(crate) fn body_with_slots(&self) -> (&Text, Range<usize>, &[Slot]) {
        (self.document.text(), self.body.clone(), &self.slots)
    }

    /// The default of a parameter.
    pub(crate) fn default_of(&self, name: &str) -> Option<&str> {
        self.front.defaults.get(name).map(String::as_str)
    }

    /// The parameters that it declares.
    pub(crate) fn declared(&self) -> impl Iterator<Item = &str> {
        self.front.parameters.iter().chain(self.front.defaults.keys()).map(String::as_str)
    }

    /// What is wrong with the features that it names.
    pub(crate) fn check_features(&self, known: &[&str]) -> Vec<Finding> {
        let mut findings = Vec::new();
        for (name, on) in self.features() {
            let path = ["features", name.as_str()];
            if !known.contains(&name.as_str()) {
                let finding = self.document.key_error(&path, "no such feature");
                findings.push(with_near(finding, name, known.iter().copied(), "features"));
            } else if name == "core" && !on {
                findings.push(self.document.error(&path, "`core` is always on"));
            }
        }
        findings
    }
}

/// What is wrong with the words of a template.
fn check_words(document: &Document<TemplateFront>, words: &[String]) -> Vec<Finding> {
    let mut findings = Vec::new();
    if words.len() > MAX_WORDS {
        findings.push(document.error(&["words"], format!("more than {MAX_WORDS} words")));
    }
    for (at, word) in words.iter().enumerate().take(MAX_WORDS) {
        if normal(word).is_empty() || word.len() > MAX_WORD {
            let what = format!("{word:?} is not allowed: a word of at most {MAX_WORD} bytes");
            findings.push(document.error(&["words", &format!("[{at}]")], what));
        }
    }
    findings
}

/// Words in lower case, one space between them, everything else left out.
pub(crate) fn normal(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

impl From<TaskKind> for TaskType {
    fn from(kind: TaskKind) -> Self {
        match kind {
            TaskKind::Edit => Self::Edit,
            TaskKind::Create => Self::Create,
            TaskKind::CreateSimple => Self::CreateSimple,
            TaskKind::Search => Self::Search,
            TaskKind::Analyze => Self::Analyze,
            TaskKind::Research => Self::Research,
            TaskKind::Design => Self::Design,
            TaskKind::General => Self::General,
        }
    }
}
