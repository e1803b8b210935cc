//! What an agent may do without asking, and which tools it has.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use steersman_engine::policy::glob_matches;

/// When an agent asks before it does something that changes files or runs commands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalMode {
    /// It does not ask where commands are confined to the workspace; elsewhere as `ask`.
    #[default]
    Confined,
    /// It asks, but for what is allowed.
    Ask,
    /// What is allowed is done, everything else is refused without a question.
    AllowList,
    /// It never asks.
    Auto,
}

/// What an agent may do without asking.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Approval {
    /// When it asks.
    pub mode: ApprovalMode,
    /// What needs no question.
    pub allow: Vec<AllowRule>,
}

/// Tools, or commands of a tool, that need no question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AllowRule {
    /// Glob over the tool's name.
    pub tool: String,
    /// Glob over the command; `None` is any.
    pub command: Option<String>,
}

impl AllowRule {
    /// Reads `TOOL` or `TOOL(COMMAND)`; `None` if it is neither.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (tool, command) = match text.split_once('(') {
            Some((tool, rest)) => (tool, Some(rest.strip_suffix(')')?)),
            None => (text, None),
        };
        let sound = is_glob(tool) && command.is_none_or(|command| !command.trim().is_empty());
        let command = command.map(|command| command.trim().to_owned());
        sound.then(|| Self { tool: tool.to_owned(), command })
    }

    fn allows(&self, tool: &str, command: Option<&str>) -> bool {
        if !glob_matches(&self.tool, tool) {
            return false;
        }
        match (&self.command, command) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(glob), Some(_)) if glob == "*" => true,
            (Some(glob), Some(command)) => {
                is_plain(command) && glob_matches(glob, command.trim()) && same_case(glob, command)
            }
        }
    }
}

impl fmt::Display for AllowRule {
    /// As it is written: `TOOL` or `TOOL(COMMAND)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.command {
            None => f.write_str(&self.tool),
            Some(command) => write!(f, "{}({command})", self.tool),
        }
    }
}

impl Approval {
    /// The approval as it is in a run whose commands are confined to the workspace, or are not.
    #[must_use]
    pub fn settled(self, confined: bool) -> Self {
        let mode = match self.mode {
            ApprovalMode::Confined if confined => ApprovalMode::Auto,
            ApprovalMode::Confined => ApprovalMode::Ask,
            mode => mode,
        };
        Self { mode, ..self }
    }

    /// Whether a call needs no question. `command` is the command of a shell call; one that chains,
    /// pipes, redirects or substitutes is allowed by `TOOL` or `TOOL(*)` only, because a glob
    /// cannot see what it does.
    #[must_use]
    pub fn allows(&self, tool: &str, command: Option<&str>) -> bool {
        let rule = || self.allow.iter().any(|rule| rule.allows(tool, command));
        self.mode == ApprovalMode::Auto || rule()
    }
}

/// Whether a command is one program with plain arguments.
fn is_plain(command: &str) -> bool {
    let steers = |c: char| matches!(c, ';' | '&' | '|' | '<' | '>' | '`' | '$' | '(' | ')' | '\\');
    !command.trim().contains(|c: char| steers(c) || c.is_control())
}

/// Whether the command begins as the glob does up to its first wildcard, in upper and lower case:
/// globs ignore case, file systems mostly do not.
fn same_case(glob: &str, command: &str) -> bool {
    let fixed = glob.split(['*', '?']).next().unwrap_or("");
    command.trim().starts_with(fixed)
}

/// Which tools an agent has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ToolFilter {
    /// Globs of tools that it has; `None` is all.
    pub allow: Option<Vec<String>>,
    /// Globs of tools that it does not have, even if they are allowed.
    pub deny: Vec<String>,
}

impl ToolFilter {
    /// Whether the agent has a tool.
    #[must_use]
    pub fn allows(&self, tool: &str) -> bool {
        let matches = |globs: &[String]| globs.iter().any(|glob| glob_matches(glob, tool));
        self.allow.as_deref().is_none_or(matches) && !matches(&self.deny)
    }
}

/// Whether a text can be the name of a tool or a model, or a glob over names.
pub(super) fn is_glob(text: &str) -> bool {
    const LONGEST: usize = 128;
    let odd = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '(' | ')');
    !text.is_empty() && text.len() <= LONGEST && !text.contains(odd)
}

#[cfg(test)]
mod tests {
    use super::{AllowRule, Approval, ApprovalMode, ToolFilter};

    #[test]
    fn what_is_allowed_needs_no_question() {
        let rules = ["read", "shell(cargo test*)", "shell(git status)", "mcp__docs__*"];
        let allow = rules.iter().map(|rule| AllowRule::parse(rule).unwrap()).collect();
        let approval = Approval { mode: ApprovalMode::Ask, allow };
        let cases = [
            ("read", None, true),
            ("write", None, false),
            ("shell", None, false),
            ("shell", Some("cargo test -p engine"), true),
            ("shell", Some(" cargo test "), true),
            ("shell", Some("cargo test; rm -rf ."), false),
            ("shell", Some("cargo test && curl x"), false),
            ("shell", Some("cargo test $(id)"), false),
            ("shell", Some("cargo test `id`"), false),
            ("shell", Some("cargo test > out"), false),
            ("shell", Some("cargo test\nrm x"), false),
            ("shell", Some("CARGO TEST"), false),
            ("shell", Some("git status"), true),
            ("shell", Some("git status -s"), false),
            ("mcp__docs__search", None, true),
        ];
        for (tool, command, expected) in cases {
            assert_eq!(approval.allows(tool, command), expected, "{tool} {command:?}");
        }
        let auto = Approval { mode: ApprovalMode::Auto, allow: vec![] };
        assert!(auto.allows("shell", Some("a; b")));
        for bad in ["", "a b", "shell(", "shell()", "(x)", "shell(x) y"] {
            assert_eq!(AllowRule::parse(bad), None, "{bad}");
        }
        let any = AllowRule::parse("shell(*)").unwrap();
        assert!(
            Approval { mode: ApprovalMode::AllowList, allow: vec![any] }
                .allows("shell", Some("a | b"))
        );
    }

    #[test]
    fn tools_are_filtered() {
        let filter = |allow: Option<&[&str]>, deny: &[&str]| ToolFilter {
            allow: allow.map(|globs| globs.iter().map(|glob| (*glob).to_owned()).collect()),
            deny: deny.iter().map(|glob| (*glob).to_owned()).collect(),
        };
        let cases = [
            (filter(None, &[]), "shell", true),
            (filter(None, &["sh*"]), "shell", false),
            (filter(Some(&["read", "*_mail"]), &[]), "send_mail", true),
            (filter(Some(&["read", "*_mail"]), &["send_mail"]), "send_mail", false),
            (filter(Some(&[]), &[]), "read", false),
        ];
        for (filter, tool, expected) in cases {
            assert_eq!(filter.allows(tool), expected, "{filter:?} {tool}");
        }
    }
}
