//! A server's program and all it starts: one process group, gone with the connection.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::{Instant, sleep};

use crate::tail::Tail;

/// What a server's environment always has, if ours has it: nothing that could be a key.
const PASSED_ON: [&str; 11] = [
    "HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ",
    "USER",
];
/// How long a program may take to end after its input was closed, and after it was asked to.
const GRACE: Duration = Duration::from_millis(1_500);
/// How often is looked whether it has ended.
const POLL: Duration = Duration::from_millis(10);

/// A running program. Dropping it kills the whole group at once.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    group: Option<Pid>,
    /// The end of its standard error.
    pub(crate) stderr: Tail,
}

impl Process {
    /// # Errors
    /// The program cannot be started.
    pub(crate) fn start(
        program: &str,
        args: &[String],
        env: &BTreeMap<String, String>,
        cwd: &Path,
    ) -> io::Result<(Self, ChildStdout, ChildStdin)> {
        let passed_on =
            PASSED_ON.iter().filter_map(|name| std::env::var_os(name).map(|value| (name, value)));
        let mut child = Command::new(program)
            .args(args)
            .env_clear()
            .envs(passed_on)
            .envs(env)
            .current_dir(cwd)
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let group = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        let pipes = (child.stdout.take(), child.stdin.take(), child.stderr.take());
        let stderr = Tail::default();
        let process = Self { child, group, stderr };
        let (Some(output), Some(input), Some(errors)) = pipes else {
            return Err(io::Error::other("a pipe to it is missing"));
        };
        tokio::spawn(process.stderr.clone().follow(errors));
        Ok((process, output, input))
    }

    /// Whether the program itself has ended. It is not reaped, so that its group's id stays ours.
    fn has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        self.group.is_none_or(|id| !matches!(waitid(WaitId::Pid(id), options), Ok(None)))
    }

    async fn ends_in_time(&self) -> bool {
        let deadline = Instant::now() + GRACE;
        while !self.has_ended() {
            if Instant::now() >= deadline {
                return false;
            }
            sleep(POLL).await;
        }
        true
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // A group that is gone already needs no signal.
            let _ = kill_process_group(group, signal);
        }
    }

    /// Ends the group, gently first: its input is closed already. Says how the program ended.
    pub(crate) async fn end(&mut self) -> String {
        if !self.ends_in_time().await {
            self.signal(Signal::TERM);
            self.ends_in_time().await;
        }
        self.kill().await
    }

    /// Ends the group at once, unless the program has ended by itself. Says how it ended.
    pub(crate) async fn kill(&mut self) -> String {
        self.signal(Signal::KILL);
        self.group = None;
        match self.child.wait().await {
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        }
    }

    /// After its output was closed: waits a little for the end that explains it.
    pub(crate) async fn explain_end(&mut self) -> String {
        if self.group.is_none() || self.ends_in_time().await {
            return self.kill().await;
        }
        self.kill().await;
        "it closed its output".to_owned()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}
