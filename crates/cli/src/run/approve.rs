//! Asking the person at the terminal before something is done.

use std::collections::BTreeSet;
use std::io::{IsTerminal, Write};
use std::sync::Arc;

use steersman_agent::tools::{Approver, Refused, Verdict, judge};
use steersman_agent::{ToolRun, Work};
use steersman_prompt::{AllowRule, Approval};
use tokio::sync::Mutex;

use super::face::Below;
use super::mcp::PREFIX;
use crate::screen::Screen;
use crate::text::{hang, plain};

/// Lines of a call that is asked about.
const SHOWN: usize = 60;

/// Rules out of `--allow`.
pub(super) fn rules(texts: &[String]) -> Result<Vec<AllowRule>, String> {
    let read = |text: &String| {
        AllowRule::parse(text).ok_or_else(|| {
            format!("--allow {text}: expected a tool such as `edit`, or `shell(cargo *)`")
        })
    };
    texts.iter().map(read).collect()
}

/// Whoever approves calls in this run.
///
/// `confined` says whether commands are held in the workspace. Tools of other programs never are;
/// `read_only` are those of them that are said to change nothing.
pub(super) fn approver(
    approval: Approval,
    confined: bool,
    read_only: BTreeSet<String>,
    below: Option<Arc<Below>>,
) -> Arc<dyn Approver> {
    let outside = approval.clone().settled(false);
    let approval = approval.settled(confined);
    let terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    Arc::new(Judge { approval, outside, read_only, terminal, below })
}

/// One question at a time, whichever session asks.
static ASKING: Mutex<()> = Mutex::const_new(());

/// Goes by the list, and asks at the terminal where the list leaves it to a person.
struct Judge {
    approval: Approval,
    /// For tools of other programs.
    outside: Approval,
    read_only: BTreeSet<String>,
    terminal: bool,
    below: Option<Arc<Below>>,
}

impl Approver for Judge {
    fn approve<'a>(&'a self, run: &'a ToolRun) -> Work<'a, Verdict> {
        Box::pin(async move {
            let outside = run.name.starts_with(PREFIX);
            let approval = if outside { &self.outside } else { &self.approval };
            if let Some(verdict) = judge(approval, run) {
                return verdict;
            }
            if !self.terminal {
                return Verdict::Refused(Refused::NobodyToAsk);
            }
            let _one_at_a_time = ASKING.lock().await;
            let mut quiet = Quiet::new(self.below.clone());
            let mut question = describe(&run.name, &run.arguments);
            if self.read_only.contains(&run.name) {
                question.push("Its server says that it changes nothing.".to_owned());
            }
            let asked = tokio::task::spawn_blocking(move || ask(&question));
            let verdict = asked.await.unwrap_or(Verdict::Refused(Refused::NobodyToAsk));
            quiet.answered = true;
            verdict
        })
    }
}

/// Nothing is written below while it lives.
struct Quiet {
    below: Option<Arc<Below>>,
    answered: bool,
}

impl Quiet {
    fn new(below: Option<Arc<Below>>) -> Self {
        if let Some(below) = &below {
            below.ask();
        }
        Self { below, answered: false }
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        if !self.answered {
            // Nobody ended the line of the question.
            crate::screen::say("");
        }
        if let Some(below) = &self.below {
            below.answered();
        }
    }
}

/// A call as lines, whole as far as a person reads: what is approved has to be seen.
fn describe(name: &str, arguments: &str) -> Vec<String> {
    let columns = Screen::columns_now().unwrap_or(80);
    let mut lines = vec![plain(name)];
    match serde_json::from_str(arguments) {
        Ok(serde_json::Value::Object(fields)) => {
            for (key, value) in &fields {
                let value = match value {
                    serde_json::Value::String(text) => text.clone(),
                    value => value.to_string(),
                };
                let mut parts = value.lines();
                let first = parts.next().unwrap_or_default();
                let key = format!("  {}: ", plain(key));
                lines.extend(whole(&key, first, columns));
                for part in parts {
                    lines.extend(whole("    ", part, columns));
                }
            }
        }
        _ => lines.extend(whole("  ", arguments, columns)),
    }
    let more = lines.len().saturating_sub(SHOWN);
    if more > 0 {
        lines.truncate(SHOWN);
        lines.push(format!("  … {more} more lines are NOT shown"));
    }
    lines
}

fn whole(mark: &str, text: &str, columns: usize) -> Vec<String> {
    let lines = hang(mark, &plain(text), columns);
    if lines.is_empty() { vec![mark.to_owned()] } else { lines }
}

fn ask(question: &[String]) -> Verdict {
    let mut screen = std::io::stderr().lock();
    let call = question.join("\n");
    let _ = write!(screen, "\n{call}\nAllow this? [y]es, [n]o, or say why not: ");
    let _ = screen.flush();
    drop(screen);
    let mut line = String::new();
    match std::io::stdin().read_line(&mut line) {
        Ok(0) | Err(_) => Verdict::Refused(Refused::NobodyToAsk),
        Ok(_) => match line.trim() {
            "y" | "Y" | "yes" => Verdict::Approved,
            "n" | "N" | "no" | "" => Verdict::Refused(Refused::ByUser(String::new())),
            words => Verdict::Refused(Refused::ByUser(words.to_owned())),
        },
    }
}
