//! Front matter: what a prompt file says about itself between two lines of `---` at its top.

use std::collections::BTreeMap;
use std::ops::Range;

use schemars::JsonSchema;
use serde::Deserialize;

/// Front matter of every prompt file but templates.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Front {
    /// Heading of a shared part; of an agent, what it is.
    pub(crate) title: Option<String>,
    /// Where a shared part stands among the others, from low to high. Default 50.
    #[schemars(range(min = -1000, max = 1000))]
    pub(crate) order: Option<i32>,
    /// Features that a shared part needs: they are switched on with it.
    pub(crate) requires: Vec<String>,
    /// Whether a shared part is on unless somebody switches it off. Default true.
    pub(crate) enabled: Option<bool>,
    /// Names of parameters that must be given.
    pub(crate) parameters: Vec<String>,
    /// Parameters with the values they have unless others are given.
    pub(crate) defaults: BTreeMap<String, String>,
}

/// Front matter of a template.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct TemplateFront {
    /// What the template is for. Default: its name.
    pub(crate) title: Option<String>,
    /// Kinds of tasks that it suits.
    pub(crate) task_types: Vec<TaskKind>,
    /// Words and phrases of tasks that it suits.
    pub(crate) words: Vec<String>,
    /// Keys of a policy file.
    pub(crate) policy: serde_json::Value,
    /// Whether a check is expected. Default `optional`.
    pub(crate) check: CheckUse,
    /// Features to switch on (true) or off.
    pub(crate) features: BTreeMap<String, bool>,
    /// Names of parameters that must be given.
    pub(crate) parameters: Vec<String>,
    /// Parameters with the values they have unless others are given.
    pub(crate) defaults: BTreeMap<String, String>,
}

/// Whether a check is expected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckUse {
    /// Without a check the goal cannot be proved: look for one, and say so if there is none.
    Expected,
    /// A check is run if there is one.
    #[default]
    Optional,
    /// There is nothing to check.
    None,
}

/// A kind of task, as the engine tells them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TaskKind {
    Edit,
    Create,
    CreateSimple,
    Search,
    Analyze,
    Research,
    Design,
    General,
}

/// Where front matter and body stand in a text. Without front matter the first range is empty.
///
/// # Errors
/// The place of an opening line that has no closing one.
pub(crate) fn split(text: &str) -> Result<(Range<usize>, Range<usize>), Range<usize>> {
    let is_rule = |line: &str| line.trim_end() == "---";
    let mut lines = text.split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| is_rule(line)) else {
        return Ok((0..0, trimmed(text, 0..text.len())));
    };
    let mut at = first.len();
    for line in lines {
        let next = at + line.len();
        if is_rule(line) {
            return Ok((first.len()..at, trimmed(text, next..text.len())));
        }
        at = next;
    }
    Err(0..first.trim_end().len())
}

/// The range without white space at its ends.
fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let part = &text[range.clone()];
    let start = range.start + (part.len() - part.trim_start().len());
    start..(start + part.trim().len())
}
