//! From a decision to what happens with the request.

use serde::{Deserialize, Serialize};
use steersman_engine::{Action, Decision};
use steersman_wire::{Edit, Received};

use crate::chain::Chain;
use crate::record::Entry;
use crate::session::{Said, Session};

/// Requests that may still come after the answer was forced, before it is given here.
const MAX_ASKED_ON: u32 = 2;
/// Most insertions of one session that are put in again.
const MAX_SAID: usize = 64;

/// Tools by which agents say that they are done. One of them is demanded where a client takes no
/// text for an end.
const FINISHING: [&str; 5] =
    ["final_answer", "finish", "submit", "attempt_completion", "task_done"];
/// What mini-swe-agent's model is told to run when it is done.
const MINI_SUBMIT: &str = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT";
/// Where it is looked for: in the first items, where the task is.
const MINI_ITEMS: usize = 2;

/// What the agent is told when a budget is nearly used up.
const WIND_UP: &str = "The budget for this work is nearly used up. Stop working, call no more \
                       tools, and give your answer now: what you found, what is done and what is \
                       not.";

/// How the client's loop takes an end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// A text without calls.
    Text,
    /// A call of this tool.
    Call(String),
    /// A command in its shell tool.
    Command,
}

impl Ending {
    /// How this request's client ends.
    #[must_use]
    pub fn of(received: &Received<'_>) -> Self {
        let names = received.tool_names();
        let finishing = FINISHING.iter().find(|known| names.iter().any(|name| name == *known));
        if received.tool_choice_is_required()
            && let Some(name) = finishing
        {
            return Self::Call((*name).to_owned());
        }
        let is_mini = names.len() == 1 && names[0] == "bash" && {
            let mut first = (0..MINI_ITEMS).map_while(|at| received.item_text(at));
            first.any(|item| item.contains(MINI_SUBMIT))
        };
        if is_mini { Self::Command } else { Self::Text }
    }

    /// The command that ends mini-swe-agent.
    #[must_use]
    pub fn command() -> String {
        format!("echo {MINI_SUBMIT}")
    }
}

/// What is done with a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Course {
    /// It goes on, with what was put in before and nothing else.
    Pass,
    /// A text is put in at its end.
    Say,
    /// The final answer is asked for: no tools, and a text that says so.
    Force,
    /// It is answered here.
    Answer,
}

impl Course {
    /// The name in journals and figures.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Say => "say",
            Self::Force => "force",
            Self::Answer => "answer",
        }
    }
}

/// A request's course and the edits that make it so.
#[derive(Debug)]
pub struct Steer<'a> {
    /// What is done.
    pub course: Course,
    /// The edits, in order; empty if the client's own bytes go on.
    pub edits: Vec<Edit<'a>>,
}

impl Session {
    /// Decides the course of a request by the decision on it, and remembers what is put in.
    /// `None` is a request without a decision of its own.
    pub fn steer(&mut self, decision: Option<&Decision>, chain: &Chain, is_resent: bool) -> Course {
        let Some(decision) = decision else { return self.course_of_rest(is_resent) };
        if !is_resent && let Some(intervention) = &decision.intervention {
            self.say(chain, &intervention.text);
        }
        match decision.action {
            Action::Stop => {
                self.memory.stopped.get_or_insert_with(|| decision.reason.to_string());
                Course::Answer
            }
            Action::ForceSynthesis => {
                self.memory.forced.get_or_insert_with(|| decision.reason.to_string());
                self.course_of_rest(is_resent)
            }
            _ if self.memory.forced.is_some() || self.memory.stopped.is_some() => {
                self.course_of_rest(is_resent)
            }
            Action::Continue | Action::Retry => Course::Pass,
            Action::Nudge | Action::NudgeSynthesis | Action::ReEvaluate | Action::StartOver => {
                if decision.intervention.is_some() {
                    Course::Say
                } else {
                    Course::Pass
                }
            }
        }
    }

    /// What holds while the answer is forced, or after the end.
    fn course_of_rest(&mut self, is_resent: bool) -> Course {
        if self.memory.stopped.is_some() {
            return Course::Answer;
        }
        if self.memory.forced.is_none() {
            return Course::Pass;
        }
        if !is_resent {
            self.memory.asked_on += 1;
        }
        if self.memory.asked_on > MAX_ASKED_ON { Course::Answer } else { Course::Force }
    }

    /// Forces the answer, because a budget over several sessions is nearly used up. What was said;
    /// `None` if the answer is being forced already, or the session is over.
    pub fn wind_up(&mut self, chain: &Chain, why: &str) -> Option<Entry> {
        if self.memory.forced.is_some() || self.memory.stopped.is_some() {
            return None;
        }
        self.memory.forced = Some(why.to_owned());
        let text = WIND_UP.to_owned();
        self.say(chain, &text);
        Some(Entry::Said { text, template: "budget".to_owned() })
    }

    /// Puts a text in at the end of this request, for good.
    pub fn say(&mut self, chain: &Chain, text: &str) {
        let said = Said { at: chain.len(), end: chain.end(), text: text.to_owned() };
        if self.memory.said.contains(&said) {
            return;
        }
        if self.memory.said.len() == MAX_SAID {
            self.memory.said.remove(0);
        }
        self.memory.said.push(said);
    }

    /// The edits of every request: what makes it go on from what the server has, and what was put
    /// in before.
    #[must_use]
    pub fn standing<'a>(&'a self, received: &Received<'_>, chain: &Chain) -> Vec<Edit<'a>> {
        let said = self.memory.said.iter().filter_map(|said| said.edit(chain));
        self.memory.elsewhere.edit(received).into_iter().chain(said).collect()
    }

    /// The edits that make a request take its course.
    #[must_use]
    pub fn edits<'a>(
        &'a self,
        course: &Course,
        received: &Received<'_>,
        chain: &Chain,
        ending: &'a Ending,
    ) -> Vec<Edit<'a>> {
        let mut edits = self.standing(received, chain);
        if *course == Course::Force {
            match ending {
                Ending::Text => edits.push(Edit::NoTools),
                Ending::Call(name) => edits.push(Edit::ForceTool(name)),
                // The text alone asks for it: a forced tool would say nothing about the command.
                Ending::Command => {}
            }
        }
        edits
    }

    /// The final answer that is given in the model's place, with what it said last.
    #[must_use]
    pub fn own_answer(&self) -> String {
        let why = self.memory.stopped.as_deref().or(self.memory.forced.as_deref());
        let why = why.unwrap_or("its limits are reached");
        let mut answer = format!("[capped] Steersman ended this run: {why}.");
        if !self.memory.last_text.trim().is_empty() {
            answer.push_str(" The task may be unfinished. The model's last words were:\n\n");
            answer.push_str(self.memory.last_text.trim());
        } else {
            answer.push_str(" The task may be unfinished.");
        }
        answer
    }
}
