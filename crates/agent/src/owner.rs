//! Who drives a session: a name that tells whether its process still lives.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::OnceLock;

/// The name of this process among drivers: machine and boot, process id, start of the process.
#[must_use]
pub(crate) fn of_this_process() -> String {
    let pid = std::process::id();
    let started = started_at(pid).unwrap_or_default();
    format!("{}/{pid}/{started}/{:016x}", boot(), random())
}

/// Whether the process behind a name is known to be gone. Not known is not gone.
#[must_use]
pub fn is_gone(owner: &str) -> bool {
    let mut parts = owner.split('/');
    let (Some(boot_then), Some(pid), Some(started)) = (parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    let (Ok(pid), true) = (pid.parse::<u32>(), boot_then == boot() && !boot_then.is_empty()) else {
        return false;
    };
    // Without /proc nothing is known.
    if started_at(std::process::id()).is_none() {
        return false;
    }
    started_at(pid).is_none_or(|now| now != started)
}

/// The process id in a driver's name; `None` if it names none.
#[must_use]
pub fn process_of(owner: &str) -> Option<u32> {
    owner.split('/').nth(1)?.parse().ok()
}

/// Ends the commands that a driver of this machine has left running. It is known to be gone.
pub(crate) fn clear_away(owner: &str) {
    // Its number may belong to another process by now, whose commands are not ours to end.
    if let Some(pid) = process_of(owner).filter(|pid| started_at(*pid).is_none()) {
        steersman_workspace::end_commands_of(pid);
    }
}

/// Which start of which machine this is; empty if the system does not say.
fn boot() -> &'static str {
    static BOOT: OnceLock<String> = OnceLock::new();
    BOOT.get_or_init(|| {
        let read = |path| std::fs::read_to_string(path).unwrap_or_default();
        let machine = read("/etc/machine-id");
        let boot = read("/proc/sys/kernel/random/boot_id");
        // Process ids mean something only among processes that see each other.
        let space = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
        let space: String = space.to_string_lossy().chars().filter(char::is_ascii_digit).collect();
        if boot.trim().is_empty() {
            String::new()
        } else {
            format!("{}.{}.{space}", machine.trim(), boot.trim())
        }
    })
}

/// When a process started, in clock ticks since boot; `None` if there is none.
fn started_at(pid: u32) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may hold anything; what follows it is numbers.
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace();
    // A zombie runs nothing any more.
    let state = fields.next()?;
    if matches!(state, "Z" | "X") {
        return None;
    }
    fields.nth(18).map(str::to_owned)
}

/// A number that no other process draws. Identity only, nothing is decided by it.
#[must_use]
pub fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use super::{is_gone, of_this_process};

    #[test]
    fn this_process_lives_and_one_that_never_was_is_gone() {
        let here = of_this_process();
        assert!(!is_gone(&here));
        let mut parts: Vec<&str> = here.split('/').collect();
        parts[2] = "1";
        assert!(is_gone(&parts.join("/")), "the same id, but another start");
        assert!(!is_gone("another machine/1/1/1"));
        assert!(!is_gone("x"));
    }
}
