//! The tools of the workspace, and the folder as the loop sees it.

mod approval;
mod files;
mod site;
mod specs;

use std::sync::Arc;

use steersman_workspace::{Command, Shell, Workspace};

pub use approval::{Approver, Refused, Verdict, judge};
pub use site::WorkSite;
pub use specs::{SHELL, specs};

use crate::seam::{ToolOutcome, Toolbox, Work};
use crate::session::ToolRun;

/// Most bytes of a command's output that the model is shown.
const MAX_OUTPUT: usize = 32 * 1024;

/// The longest a command may run, in milliseconds: one hour.
const MAX_TIMEOUT_MS: u64 = 3_600_000;

/// Tools from elsewhere, by a prefix of their names. Calls of them need approval whatever their
/// servers say of them.
pub trait Foreign: Send + Sync {
    /// Runs a call, beginning when it is polled; `None` if the tool is none of these.
    fn call<'a>(&'a self, run: &'a ToolRun) -> Option<Work<'a, ToolOutcome>>;
}

/// The tools of an agent that works in a folder.
pub struct WorkTools {
    workspace: Arc<Workspace>,
    shell: Arc<Shell>,
    approver: Arc<dyn Approver>,
    foreign: Vec<Box<dyn Foreign>>,
}

impl WorkTools {
    /// Tools for this folder.
    #[must_use]
    pub fn new(
        workspace: Arc<Workspace>,
        shell: Arc<Shell>,
        approver: Arc<dyn Approver>,
        foreign: Vec<Box<dyn Foreign>>,
    ) -> Self {
        Self { workspace, shell, approver, foreign }
    }

    async fn run(&self, run: &ToolRun) -> ToolOutcome {
        // What a stranger's tool is called says nothing about what it does.
        let foreign = self.foreign.iter().find_map(|tools| tools.call(run));
        if (foreign.is_some() || !run.harmless)
            && let Verdict::Refused(why) = self.approver.approve(run).await
        {
            return ToolOutcome::error(why.to_string());
        }
        if let Some(work) = foreign {
            return work.await;
        }
        if run.name == SHELL {
            return self.shell(&run.arguments).await;
        }
        let workspace = Arc::clone(&self.workspace);
        let (name, arguments) = (run.name.clone(), run.arguments.clone());
        // Files are read and written on a thread that may block.
        let work = tokio::task::spawn_blocking(move || files::call(&workspace, &name, &arguments));
        work.await.unwrap_or_else(|error| ToolOutcome::error(format!("the tool broke: {error}")))
    }

    async fn shell(&self, arguments: &str) -> ToolOutcome {
        let asked: ShellArguments = match files::parse(arguments) {
            Ok(asked) => asked,
            Err(why) => return ToolOutcome::error(why),
        };
        let mut command = Command::new(asked.command);
        command.max_output = MAX_OUTPUT;
        if let Some(seconds) = asked.timeout_s {
            command.timeout_ms = seconds.saturating_mul(1000).clamp(1000, MAX_TIMEOUT_MS);
        }
        let limit_s = command.timeout_ms / 1000;
        match self.shell.run(command, std::future::pending()).await {
            Err(error) => ToolOutcome::error(error.to_string()),
            Ok(ran) => {
                let tests = steersman_trace::reports::parse(&ran.output);
                let cut = ran.full_len > ran.output.len() as u64;
                ToolOutcome {
                    is_error: Some(ran.exit_code != Some(0)),
                    exit_code: ran.exit_code,
                    full_len: cut.then_some(ran.full_len),
                    tests,
                    content: site::tell(ran, limit_s),
                }
            }
        }
    }
}

impl Toolbox for WorkTools {
    fn call<'a>(&'a self, run: &'a ToolRun) -> Work<'a, ToolOutcome> {
        Box::pin(self.run(run))
    }
}

/// Arguments of the tool `shell`.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct ShellArguments {
    command: String,
    #[serde(default)]
    timeout_s: Option<u64>,
}
