//! Processes that a command left behind.
//!
//! A process that made a session of its own is in no group of ours. On Linux it is known by a
//! variable in its environment, which only a process that means to hide gets rid of.

use rustix::process::Signal;

/// The variable that marks the processes of one command.
pub(super) const MARK: &str = "STEERSMAN_COMMAND";

/// How often processes are ended that start others meanwhile.
const ROUNDS: usize = 20;

/// Ends every command that a process has started and that still runs; the process itself may be
/// gone. Returns how many processes were ended. Elsewhere than on Linux it does nothing.
pub fn end_commands_of(process: u32) -> usize {
    let wanted = format!("{MARK}={process}-");
    let wanted = |variable: &[u8]| variable.starts_with(wanted.as_bytes());
    let mut ended = 0;
    for _ in 0..ROUNDS {
        match signal_all(wanted, Some(Signal::KILL)) {
            0 => break,
            more => ended += more,
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    ended
}

/// Sends a signal, if any, to every process whose environment holds the mark. Returns how many
/// there are.
pub(super) fn end(mark: &str, signal: Option<Signal>) -> usize {
    let wanted = format!("{MARK}={mark}");
    signal_all(|variable| variable == wanted.as_bytes(), signal)
}

#[cfg(target_os = "linux")]
fn signal_all(wanted: impl Fn(&[u8]) -> bool, signal: Option<Signal>) -> usize {
    use rustix::process::{Pid, PidfdFlags, pidfd_open, pidfd_send_signal};

    let Ok(processes) = std::fs::read_dir("/proc") else { return 0 };
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
fn holds(environment: &str, wanted: &impl Fn(&[u8]) -> bool) -> bool {
    let Ok(environment) = std::fs::read(environment) else { return false };
    environment.split(|byte| *byte == 0).any(wanted)
}

/// Other systems do not show the environment of a process.
#[cfg(not(target_os = "linux"))]
fn signal_all(_: impl Fn(&[u8]) -> bool, _: Option<Signal>) -> usize {
    0
}
