//! Processes that a command left behind.
//!
//! A process that made a session of its own is in no group of ours. On Linux it is known by a
//! variable in its environment, which only a process that means to hide gets rid of.

use rustix::process::Signal;

/// The variable that marks the processes of one command.
pub(super) const MARK: &str = "STEERSMAN_COMMAND";

/// Sends a signal, if any, to every process whose environment holds the mark. Returns how many
/// there are.
#[cfg(target_os = "linux")]
pub(super) fn end(mark: &str, signal: Option<Signal>) -> usize {
    use rustix::process::{Pid, PidfdFlags, pidfd_open, pidfd_send_signal};

    let Ok(processes) = std::fs::read_dir("/proc") else { return 0 };
    let wanted = format!("{MARK}={mark}");
    let mut ended = 0;
    for entry in processes.flatten() {
        let Some(raw) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        let environment = format!("/proc/{raw}/environ");
        if !holds(&environment, &wanted) {
            continue;
        }
        let Some(pid) = Pid::from_raw(raw) else { continue };
        let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else { continue };
        // The number may have gone to another process before it was held.
        if !holds(&environment, &wanted) {
            continue;
        }
        let sent = signal.map(|signal| pidfd_send_signal(process, signal));
        ended += usize::from(sent.is_none_or(|sent| sent.is_ok()));
    }
    ended
}

#[cfg(target_os = "linux")]
fn holds(environment: &str, wanted: &str) -> bool {
    let Ok(environment) = std::fs::read(environment) else { return false };
    environment.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes())
}

/// Other systems do not show the environment of a process.
#[cfg(not(target_os = "linux"))]
pub(super) fn end(_: &str, _: Option<Signal>) -> usize {
    0
}
