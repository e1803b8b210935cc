//! Running command lines in the workspace.

mod confinement;
mod environment;
mod output;
mod process;
mod stragglers;

pub use confinement::{Confinement, Network, known_caches};
pub use stragglers::end_commands_of;

use std::ffi::OsString;
use std::future::poll_fn;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{SystemTime, UNIX_EPOCH};

use confinement::Writable;

use crate::Workspace;

/// How long a command may take when it does not say: two minutes.
pub(crate) const DEFAULT_TIMEOUT_MS: u64 = 120_000;
/// How much output is kept when a command does not say: 64 KiB.
pub(crate) const DEFAULT_MAX_OUTPUT: usize = 64 * 1024;
/// The most output that is kept: 4 MiB.
pub(crate) const MAX_OUTPUT: usize = 4 * 1024 * 1024;

/// A command line to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The line, for `bash -c` where there is bash, else `/bin/sh -c`.
    pub line: String,
    /// How long it may take, with everything it starts; 120,000 by default.
    pub timeout_ms: u64,
    /// How many bytes of its output are kept, half from the start and half from the end;
    /// 65,536 by default, at most 4 MiB.
    pub max_output: usize,
}

impl Command {
    /// The command line `line` with the default bounds.
    pub fn new(line: impl Into<String>) -> Self {
        Self { line: line.into(), timeout_ms: DEFAULT_TIMEOUT_MS, max_output: DEFAULT_MAX_OUTPUT }
    }
}

/// What came of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// What the shell exited with; `None` when a signal ended it.
    pub exit_code: Option<i32>,
    /// The signal that ended the shell; `None` when it exited.
    pub signal: Option<i32>,
    /// Standard output and standard error in the order written, as valid UTF-8. When it was longer
    /// than asked for, a line in the middle says how much was left out.
    pub output: String,
    /// Bytes written in all.
    pub full_len: u64,
    /// Whether it was ended because its time was up.
    pub timed_out: bool,
    /// Whether it was ended because the caller asked.
    pub cancelled: bool,
    /// Processes that were still running in the background when the shell ended, and were ended.
    /// On Linux this counts those that left the process group as well.
    pub left_running: usize,
    /// How long it took.
    pub wall_ms: u64,
}

/// Why a command could not be run. That it failed is no error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommandError {
    /// The line holds a NUL byte.
    #[error("the command line holds a NUL byte")]
    Nul,
    /// The shell could not be started.
    #[error("cannot run `{}`: {source}", shell.display())]
    Start {
        /// The shell.
        shell: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The confinement that was there when the shell was made could not be put on.
    #[error("cannot confine the command, so it was not run: {0}")]
    Confine(String),
    /// Blocking the network was asked for, and the kernel cannot.
    #[error("cannot block the network for commands: {0}")]
    Network(String),
    /// The folder for temporary files could not be made.
    #[error("cannot make a folder for temporary files: {0}")]
    Scratch(io::Error),
    /// A system call that has no reason to fail did.
    #[error("cannot {what}: {source}")]
    System {
        /// What was tried.
        what: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

/// How commands are run.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ShellOptions {
    /// Where commands may write besides the workspace and their temporary folder. Paths that do
    /// not exist are passed over. [`known_caches`] by default.
    pub extra_writable: Vec<PathBuf>,
    /// Variables that stay although their name looks like that of a secret. None by default.
    pub allowed_variables: Vec<String>,
    /// Variables to set. None by default.
    pub variables: Vec<(String, String)>,
    /// Whether commands may use the network. [`Network::Open`] by default.
    pub network: Network,
    /// Whether to confine commands at all, where the kernel can; `true` by default.
    pub confined: bool,
}

impl Default for ShellOptions {
    fn default() -> Self {
        Self {
            extra_writable: known_caches(),
            allowed_variables: Vec::new(),
            variables: Vec::new(),
            network: Network::Open,
            confined: true,
        }
    }
}

/// Runs command lines in a workspace, each confined and within its bounds.
#[derive(Debug)]
pub struct Shell {
    root: PathBuf,
    shell: PathBuf,
    scratch: tempfile::TempDir,
    environment: Vec<(OsString, OsString)>,
    writable: Writable,
    confinement: Confinement,
    /// The threads of commands that may still be under way.
    threads: Mutex<Vec<JoinHandle<()>>>,
}

/// Waits until the commands whose futures were dropped have ended: nothing of them is left behind.
impl Drop for Shell {
    fn drop(&mut self) {
        let threads = self.threads.get_mut().unwrap_or_else(PoisonError::into_inner);
        for thread in threads.drain(..) {
            // One that panicked has said so; there is nothing left to wait for.
            let _ = thread.join();
        }
    }
}

impl Shell {
    /// Prepares to run commands in `workspace`, and tries out how they can be confined.
    ///
    /// # Errors
    /// The temporary folder could not be made, or the network could not be blocked as asked.
    pub fn new(workspace: &Workspace, options: ShellOptions) -> Result<Self, CommandError> {
        let (confinement, network) = if options.confined {
            confinement::probe(options.network)
        } else {
            let why = "switched off".to_owned();
            (Confinement::Unavailable { why: why.clone() }, Err(why))
        };
        if options.network == Network::NoTcp {
            network.map_err(CommandError::Network)?;
        }
        let scratch = tempfile::Builder::new().prefix("steersman-").tempdir();
        let scratch = scratch.map_err(CommandError::Scratch)?;
        let environment = environment::environment(std::env::vars_os(), scratch.path(), &options);
        let root = workspace.root().to_owned();
        let mut writable = options.extra_writable;
        writable.extend([root.clone(), scratch.path().to_owned()]);
        let writable = Writable { paths: writable, network: options.network };
        let (shell, threads) = (find_shell(), Mutex::default());
        Ok(Self { root, shell, scratch, environment, writable, confinement, threads })
    }

    /// What holds its commands.
    pub fn confinement(&self) -> &Confinement {
        &self.confinement
    }

    /// The temporary folder its commands get as `TMPDIR`; removed with the shell.
    pub fn scratch(&self) -> &Path {
        self.scratch.path()
    }

    /// Runs a command to its end, until its time is up, or until `cancel` is ready. Dropping the
    /// future ends the command too. It needs no particular runtime.
    ///
    /// What is still running in the background when the shell ends is ended with it.
    ///
    /// # Errors
    /// The command could not be started or confined.
    pub async fn run(
        &self,
        command: Command,
        cancel: impl Future<Output = ()>,
    ) -> Result<Ran, CommandError> {
        if command.line.contains('\0') {
            return Err(CommandError::Nul);
        }
        let system = |what| move |source| CommandError::System { what, source };
        let (woken, wake) = std::io::pipe().map_err(system("make a pipe"))?;
        let job = self.job(command, woken);
        let (send, mut result) = tokio::sync::oneshot::channel();
        let thread = std::thread::Builder::new()
            .name("command".into())
            // The caller may have gone; then nobody wants the result.
            .spawn(move || drop(send.send(process::run(job))))
            .map_err(system("start a thread"))?;
        {
            let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
            threads.retain(|thread| !thread.is_finished());
            threads.push(thread);
        }
        let mut wake = Some(wake);
        let mut cancel = pin!(cancel);
        let result = poll_fn(|context| {
            if wake.is_some() && cancel.as_mut().poll(context).is_ready() {
                wake = None;
            }
            Pin::new(&mut result).poll(context)
        });
        let lost = |_| system("run the command")(io::Error::other("its thread ended early"));
        result.await.map_err(lost)?
    }

    fn job(&self, command: Command, cancel: io::PipeReader) -> process::Job {
        let confined = matches!(self.confinement, Confinement::Landlock { .. });
        process::Job {
            shell: self.shell.clone(),
            root: self.root.clone(),
            environment: self.environment.clone(),
            mark: mark(),
            writable: confined.then(|| self.writable.clone()),
            command,
            cancel,
        }
    }
}

/// Models write for bash; `/bin/sh` is always there.
fn find_shell() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join("bash"));
    let usual = PathBuf::from("/bin/bash");
    found
        .chain([usual])
        .find(|bash| bash.is_absolute() && bash.is_file())
        .unwrap_or_else(|| "/bin/sh".into())
}

/// A word that no other command has.
fn mark() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{}-{count}-{}", std::process::id(), since.as_nanos())
}
