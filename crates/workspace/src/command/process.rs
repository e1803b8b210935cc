//! One command from start to end, on a thread of its own.

use std::ffi::OsString;
use std::io::{PipeReader, Read as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::confinement::{Writable, restrict};
use super::output::Kept;
use super::{Command, CommandError, MAX_OUTPUT, Ran, stragglers};

/// How long processes get to end by themselves after they were asked to.
const GRACE: Duration = Duration::from_millis(500);
/// How long the pipe is read on after the shell has ended, for what was written is still in it.
const LAST_WORDS: Duration = Duration::from_millis(100);
/// How often processes are looked at that cannot be waited for.
const GLANCE: Duration = Duration::from_millis(10);
/// Most pieces read from the pipe before the clock is looked at again.
const READS: usize = 64;
/// How often processes are ended that start others meanwhile.
const ROUNDS: usize = 20;
/// Longest timeout: a day.
const MAX_TIMEOUT_MS: u64 = 24 * 60 * 60 * 1_000;

/// What a command needs to run.
pub(super) struct Job {
    pub(super) shell: PathBuf,
    pub(super) root: PathBuf,
    pub(super) environment: Vec<(OsString, OsString)>,
    pub(super) mark: String,
    /// `None` runs it unconfined.
    pub(super) writable: Option<Writable>,
    pub(super) command: Command,
    /// Its other end is closed when the command is to end.
    pub(super) cancel: PipeReader,
}

/// Why a command is being ended before its shell has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Why {
    Timeout,
    Cancelled,
}

/// Runs the command to its end. The thread is confined from then on.
pub(super) fn run(job: Job) -> Result<Ran, CommandError> {
    if let Some(writable) = &job.writable {
        restrict(writable).map_err(CommandError::Confine)?;
    }
    let started = Instant::now();
    let (reader, child) = start(&job)?;
    let timeout = Duration::from_millis(job.command.timeout_ms.min(MAX_TIMEOUT_MS));
    let mut running = Running {
        group: Pid::from_child(&child),
        ended: waitable(&child),
        child,
        reader: Some(reader),
        kept: Kept::new(job.command.max_output.min(MAX_OUTPUT)),
        mark: job.mark,
        status: None,
    };
    let why = running.until(Some(&job.cancel), started + timeout);
    let left_running = running.end_all(why.is_some());
    let status = running.status;
    Ok(Ran {
        exit_code: status.and_then(|status| status.code()),
        signal: status.and_then(|status| status.signal()),
        full_len: running.kept.len(),
        output: running.kept.finish(),
        timed_out: why == Some(Why::Timeout),
        cancelled: why == Some(Why::Cancelled),
        left_running: if why.is_some() { 0 } else { left_running },
        wall_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
    })
}

fn start(job: &Job) -> Result<(PipeReader, Child), CommandError> {
    let system = |what| move |source| CommandError::System { what, source };
    let (reader, writer) = std::io::pipe().map_err(system("make a pipe"))?;
    rustix::fs::fcntl_setfl(&reader, rustix::fs::OFlags::NONBLOCK)
        .map_err(|errno| system("set up the pipe")(errno.into()))?;
    let errors = writer.try_clone().map_err(system("make a pipe"))?;
    let mut command = std::process::Command::new(&job.shell);
    command
        .arg("-c")
        .arg(&job.command.line)
        .current_dir(&job.root)
        .env_clear()
        .envs(job.environment.iter().map(|(name, value)| (name, value)))
        .env(stragglers::MARK, &job.mark)
        .stdin(Stdio::null())
        .stdout(writer)
        .stderr(errors)
        .process_group(0);
    let fail = |source| CommandError::Start { shell: job.shell.clone(), source };
    // Dropping `command` closes our copies of the pipe's end, so that its end can be seen.
    Ok((reader, command.spawn().map_err(fail)?))
}

/// Something that becomes ready when the child ends, where the system has it.
#[cfg(target_os = "linux")]
fn waitable(child: &Child) -> Option<OwnedFd> {
    use rustix::process::{PidfdFlags, pidfd_open};
    pidfd_open(Pid::from_child(child), PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
fn waitable(_: &Child) -> Option<OwnedFd> {
    None
}

struct Running {
    child: Child,
    group: Pid,
    ended: Option<OwnedFd>,
    /// `None` once nobody can write to it any more.
    reader: Option<PipeReader>,
    kept: Kept,
    mark: String,
    status: Option<ExitStatus>,
}

impl Running {
    /// Reads until the shell has ended, and says why it stopped if it has not.
    fn until(&mut self, cancel: Option<&PipeReader>, deadline: Instant) -> Option<Why> {
        loop {
            let now = Instant::now();
            let polled = self.wait(cancel, deadline.saturating_duration_since(now));
            self.drain(READS);
            if self.has_ended() {
                return None;
            }
            if polled.cancelled {
                return Some(Why::Cancelled);
            }
            if Instant::now() >= deadline {
                return Some(Why::Timeout);
            }
        }
    }

    /// Waits until something can be read, the shell has ended, or the caller gives up.
    fn wait(&self, cancel: Option<&PipeReader>, at_most: Duration) -> Polled {
        let at_most = if self.ended.is_none() { at_most.min(GLANCE) } else { at_most };
        let fds: [Option<BorrowedFd<'_>>; 3] = [
            cancel.map(|fd| fd.as_fd()),
            self.reader.as_ref().map(|fd| fd.as_fd()),
            self.ended.as_ref().map(|fd| fd.as_fd()),
        ];
        let mut polled: Vec<PollFd<'_>> =
            fds.iter().flatten().map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN)).collect();
        let timeout = Timespec {
            tv_sec: i64::try_from(at_most.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: at_most.subsec_nanos().into(),
        };
        let ready = poll(&mut polled, Some(&timeout)).is_ok_and(|ready| ready > 0);
        let first = polled.first().is_some_and(|fd| !fd.revents().is_empty());
        Polled { cancelled: ready && cancel.is_some() && first }
    }

    /// Takes what is in the pipe, at most `reads` pieces of it.
    fn drain(&mut self, reads: usize) {
        let Some(reader) = &mut self.reader else { return };
        let mut piece = [0_u8; 64 * 1024];
        for _ in 0..reads {
            match reader.read(&mut piece) {
                Ok(0) => {
                    self.reader = None;
                    return;
                }
                Ok(read) => self.kept.add(&piece[..read]),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    }

    /// Ends what is left of the command, and returns how many processes outlived the shell.
    fn end_all(&mut self, early: bool) -> usize {
        if !early {
            self.last_words();
        }
        let marked = stragglers::end(&self.mark, Some(Signal::TERM));
        // The shell is not reaped yet, so the group's number cannot belong to anyone else.
        self.kill_group(Signal::TERM);
        if early || marked > 0 || self.reader.is_some() {
            self.grace();
            self.kill_group(Signal::KILL);
            self.kill_marked();
        }
        self.drain(READS);
        self.status = self.child.wait().ok();
        marked
    }

    /// Reads what was written before the shell ended, and waits only while someone still could.
    fn last_words(&mut self) {
        let deadline = Instant::now() + LAST_WORDS;
        self.drain(READS);
        while self.reader.is_some() && Instant::now() < deadline {
            self.wait_for_output();
            self.drain(READS);
        }
    }

    fn wait_for_output(&self) {
        let Some(reader) = &self.reader else { return };
        let timeout = Timespec { tv_sec: 0, tv_nsec: GLANCE.subsec_nanos().into() };
        let mut polled = [PollFd::new(reader, PollFlags::IN)];
        // Whether it is ready shows when it is read.
        let _ = poll(&mut polled, Some(&timeout));
    }

    /// Gives processes the time to end by themselves.
    fn grace(&mut self) {
        let deadline = Instant::now() + GRACE;
        while Instant::now() < deadline {
            self.drain(READS);
            let quiet = self.reader.is_none() && self.has_ended();
            if quiet && stragglers::end(&self.mark, None) == 0 {
                return;
            }
            std::thread::sleep(GLANCE);
        }
    }

    /// A process may start another while it is ended, so this goes on until nobody is left.
    fn kill_marked(&self) {
        for _ in 0..ROUNDS {
            if stragglers::end(&self.mark, Some(Signal::KILL)) == 0 {
                return;
            }
            std::thread::sleep(GLANCE);
        }
    }

    /// Whether the shell has ended. It is not reaped by asking.
    fn has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        // An error would mean that it is not our child; then there is nothing to wait for.
        !matches!(waitid(WaitId::Pid(self.group), options), Ok(None))
    }

    fn kill_group(&self, signal: Signal) {
        // That there is no such group is what is wanted.
        let _ = kill_process_group(self.group, signal);
    }
}

struct Polled {
    cancelled: bool,
}
