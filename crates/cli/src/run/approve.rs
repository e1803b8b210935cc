//! Asking the person at the terminal before something is done.

use std::io::{IsTerminal, Write};
use std::sync::Arc;

use steersman_agent::tools::{Approver, Refused, Verdict, judge};
use steersman_agent::{ToolRun, Work};
use steersman_prompt::{AllowRule, Approval, ApprovalMode};
use tokio::sync::Mutex;

use crate::text::{cut_end, plain};

/// Columns of a call that is asked about.
const SHOWN: usize = 400;

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
pub(super) fn approver(approval: Approval) -> Arc<dyn Approver> {
    let asks = approval.mode == ApprovalMode::Ask;
    if asks && std::io::stdin().is_terminal() && std::io::stderr().is_terminal() {
        Arc::new(AtTerminal { approval })
    } else {
        Arc::new(approval)
    }
}

/// One question at a time, whichever session asks.
static ASKING: Mutex<()> = Mutex::const_new(());

/// Asks at the terminal.
struct AtTerminal {
    approval: Approval,
}

impl Approver for AtTerminal {
    fn approve<'a>(&'a self, run: &'a ToolRun) -> Work<'a, Verdict> {
        Box::pin(async move {
            if let Some(verdict) = judge(&self.approval, run) {
                return verdict;
            }
            let _one_at_a_time = ASKING.lock().await;
            let call = cut_end(&plain(&format!("{} {}", run.name, run.arguments)), SHOWN);
            let asked = tokio::task::spawn_blocking(move || ask(&call));
            asked.await.unwrap_or(Verdict::Refused(Refused::NobodyToAsk))
        })
    }
}

fn ask(call: &str) -> Verdict {
    let mut screen = std::io::stderr().lock();
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
