//! What is said about tools.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// A tool, as the prompt tells of it. The schema of its arguments goes to the model by another way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolInstruction {
    /// The tool's name.
    pub name: Cow<'static, str>,
    /// What it does, in one line.
    pub description: Cow<'static, str>,
    /// How and when to use it. Empty takes the text of the file `tools/NAME.md`, if there is one.
    pub instructions: Cow<'static, str>,
}

impl ToolInstruction {
    /// How long its texts are.
    pub(crate) fn bytes(&self) -> usize {
        self.name.len() + self.description.len() + self.instructions.len()
    }
}

/// Name and description of every built-in tool.
pub(crate) const TOOLS: &[(&str, &str)] = &[
    ("list", "Lists files and folders below a path."),
    ("read", "Reads a file, or a range of its lines."),
    ("search", "Finds lines that match a pattern, in all files or those that match a glob."),
    ("edit", "Replaces one piece of text in a file by another."),
    ("write", "Writes a file as a whole."),
    ("shell", "Runs a command in the workspace."),
    ("run_check", "Runs the command that proves the goal, and counts its tests."),
    ("start_over", "Reverts all changes of this attempt and begins again with another approach."),
    ("finish", "Ends the task with the final answer."),
    ("ask_user", "Asks the user a question and waits for the answer."),
    ("report_progress", "Says whether you go on, and how far you have come."),
    ("send_mail", "Writes a mail to another agent."),
    ("read_mail", "Reads your unread mail."),
    ("reply_mail", "Answers a mail."),
    ("hand_over", "Gives the task to another agent."),
];

/// The built-in tools. Their instructions are empty: they stand in prompt files, so that a project
/// can write its own.
#[must_use]
pub fn built_in_tools() -> Vec<ToolInstruction> {
    let tool = |(name, description): &(&'static str, &'static str)| ToolInstruction {
        name: Cow::Borrowed(name),
        description: Cow::Borrowed(description),
        instructions: Cow::Borrowed(""),
    };
    TOOLS.iter().map(tool).collect()
}

#[cfg(test)]
mod tests {
    use super::TOOLS;
    use crate::built_in::FILES;
    use crate::part::Kind;

    #[test]
    fn every_tool_has_instructions_and_the_other_way_round() {
        let files = FILES.iter().filter(|(kind, ..)| *kind == Kind::Tool).map(|file| file.1);
        let tools: Vec<&str> = TOOLS.iter().map(|tool| tool.0).collect();
        assert_eq!(files.collect::<Vec<_>>(), tools);
    }
}
