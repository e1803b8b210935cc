//! The folder of a run: its check, its checkpoints.

use std::fmt::Write as _;
use std::sync::Arc;

use steersman_workspace::{Checkpoint, Checkpoints, Command, Kept, Ran, Shell};

use crate::entry::Checkpointed;
use crate::seam::{CheckOutcome, GivenUp, Site, Work};

/// How long a check may take, in milliseconds: 15 minutes.
const CHECK_TIMEOUT_MS: u64 = 900_000;

/// Most bytes of a check's output that are looked at.
const CHECK_OUTPUT: usize = 256 * 1024;

/// Most files that a given-up attempt names.
const MAX_FILES: usize = 20;

/// Most paths that a checkpoint names as not covered.
const MAX_SKIPPED: usize = 20;

/// The folder of a run.
pub struct WorkSite {
    shell: Arc<Shell>,
    checkpoints: Arc<Checkpoints>,
    check_timeout_ms: u64,
}

impl WorkSite {
    /// The folder that a shell works in and whose states are kept.
    #[must_use]
    pub fn new(shell: Arc<Shell>, checkpoints: Arc<Checkpoints>) -> Self {
        Self { shell, checkpoints, check_timeout_ms: CHECK_TIMEOUT_MS }
    }

    async fn run_check(&self, line: &str) -> CheckOutcome {
        let mut command = Command::new(line);
        command.timeout_ms = self.check_timeout_ms;
        command.max_output = CHECK_OUTPUT;
        let limit_s = command.timeout_ms / 1000;
        match self.shell.run(command, std::future::pending()).await {
            Err(error) => CheckOutcome { output: error.to_string(), ..CheckOutcome::default() },
            Ok(ran) => CheckOutcome {
                passed: ran.exit_code == Some(0),
                exit_code: ran.exit_code,
                tests: steersman_trace::reports::parse(&ran.output),
                output: tell(ran, limit_s),
            },
        }
    }

    /// Does something with the checkpoints on a thread that may block.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Checkpoints) -> Result<T, String> + Send + 'static,
    ) -> Result<T, String> {
        let checkpoints = Arc::clone(&self.checkpoints);
        let work = tokio::task::spawn_blocking(move || work(&checkpoints));
        work.await.unwrap_or_else(|error| Err(format!("keeping checkpoints broke: {error}")))
    }
}

impl Site for WorkSite {
    fn check<'a>(&'a self, command: &'a str) -> Work<'a, CheckOutcome> {
        Box::pin(self.run_check(command))
    }

    fn keep<'a>(&'a self, label: &'a str) -> Work<'a, Result<Checkpointed, String>> {
        let label = label.to_owned();
        Box::pin(self.blocking(move |checkpoints| {
            checkpoints.take(&label).map(told).map_err(|error| error.to_string())
        }))
    }

    fn go_back<'a>(
        &'a self,
        from: &'a Checkpointed,
        to: &'a Checkpointed,
        attempt: u32,
    ) -> Work<'a, Result<GivenUp, String>> {
        let (from, to) = (from.clone(), to.clone());
        Box::pin(self.blocking(move |checkpoints| {
            go_back(checkpoints, &from, &to, attempt).map_err(|error| error.to_string())
        }))
    }
}

fn go_back(
    checkpoints: &Checkpoints,
    from: &Checkpointed,
    to: &Checkpointed,
    attempt: u32,
) -> Result<GivenUp, steersman_workspace::CheckpointError> {
    let (left, wanted) = (find(checkpoints, from)?, find(checkpoints, to)?);
    let patch = checkpoints.diff(&wanted, &left, 1024 * 1024)?;
    let kept = checkpoints.keep(&format!("attempt-{attempt}"), Kept::Checkpoint(&left))?;
    checkpoints.restore(&wanted)?;
    let count = |lines: usize| u32::try_from(lines).unwrap_or(u32::MAX);
    let files = patch.files.iter().take(MAX_FILES);
    Ok(GivenUp {
        kept,
        files: files.map(|(path, _)| path.display().to_string()).collect(),
        insertions: count(patch.insertions),
        deletions: count(patch.deletions),
    })
}

fn find(
    checkpoints: &Checkpoints,
    wanted: &Checkpointed,
) -> Result<Checkpoint, steersman_workspace::CheckpointError> {
    let kept = checkpoints.list()?;
    kept.into_iter().find(|kept| kept.id == wanted.id).ok_or_else(|| {
        steersman_workspace::CheckpointError::Unknown {
            id: wanted.id.clone(),
            why: "its ref is gone".to_owned(),
        }
    })
}

fn told(checkpoint: Checkpoint) -> Checkpointed {
    let skipped = checkpoint.skipped.iter().take(MAX_SKIPPED);
    Checkpointed {
        number: checkpoint.number,
        id: checkpoint.id.clone(),
        label: checkpoint.label.clone(),
        skipped: skipped.map(|skipped| skipped.path.display().to_string()).collect(),
    }
}

/// A command's output with what else is to be known of its end.
pub(super) fn tell(ran: Ran, limit_s: u64) -> String {
    let mut text = ran.output;
    let mut note = |words: &str| {
        let gap = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        // Writing to a string cannot fail.
        let _ = write!(text, "{gap}[{words}]");
    };
    if ran.timed_out {
        note(&format!("ended after {limit_s} seconds: its time was up"));
    } else if let Some(signal) = ran.signal {
        note(&format!("ended by signal {signal}"));
    } else if let Some(code) = ran.exit_code.filter(|code| *code != 0) {
        note(&format!("exit code {code}"));
    }
    if ran.left_running > 0 {
        note(&format!("{} processes left running were ended", ran.left_running));
    }
    if text.is_empty() { "[no output]".to_owned() } else { text }
}
