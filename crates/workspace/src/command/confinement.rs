//! What commands may write, and how the kernel is made to hold them to it.
//!
//! Landlock restricts a thread and what it starts. Each command gets a thread of its own that
//! restricts itself and then starts the shell, so this process stays as it is.

use std::fmt;
use std::path::{Path, PathBuf};

/// Whether commands may use the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Network {
    /// As the user may.
    #[default]
    Open,
    /// No TCP connections in or out. UDP and Unix sockets are not held back.
    NoTcp,
}

/// What holds commands within the workspace. Its text tells the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Confinement {
    /// The kernel refuses writes elsewhere.
    Landlock {
        /// The version of the kernel's interface, as used.
        abi: i32,
    },
    /// Nothing does: commands may write wherever the user may.
    Unavailable {
        /// Why.
        why: String,
    },
}

impl fmt::Display for Confinement {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Landlock { abi } => {
                write!(
                    out,
                    "commands write only in the workspace, a temporary folder and caches of build \
                     tools; they may read what you may (Landlock ABI {abi}"
                )?;
                if *abi < 3 {
                    out.write_str(", which lets them shorten files elsewhere with truncate")?;
                }
                out.write_str(")")
            }
            Self::Unavailable { why } => {
                write!(out, "commands are not confined and write wherever you may: {why}")
            }
        }
    }
}

/// The folders that a confined command may write.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Writable {
    pub(super) paths: Vec<PathBuf>,
    pub(super) network: Network,
}

/// The caches of build tools that exist for this user, which builds need to write: what was
/// downloaded and built, not the tools themselves, their settings or credentials.
///
/// The folder of `CARGO_TARGET_DIR` is made if it is not there: Cargo could not make it itself.
pub fn known_caches() -> Vec<PathBuf> {
    let from = |name: &str| std::env::var_os(name).map(PathBuf::from);
    if let Some(target) = from("CARGO_TARGET_DIR").filter(|target| target.is_absolute()) {
        // Where that fails, Cargo says so.
        let _ = std::fs::create_dir_all(target);
    }
    let caches = caches(from);
    caches.into_iter().filter(|path| path.is_absolute() && path.exists()).collect()
}

/// The caches of build tools as variables name them, whether they are there or not.
fn caches(from: impl Fn(&str) -> Option<PathBuf>) -> Vec<PathBuf> {
    let named = ["CARGO_TARGET_DIR", "GOCACHE", "GOMODCACHE", "PIP_CACHE_DIR", "UV_CACHE_DIR"];
    let named = named.into_iter().filter_map(&from);
    let Some(home) = from("HOME") else { return named.collect() };
    let cargo = from("CARGO_HOME").unwrap_or_else(|| home.join(".cargo"));
    let go = from("GOPATH").unwrap_or_else(|| home.join("go"));
    let usual = [
        cargo.join("registry"),
        cargo.join("git"),
        // Cargo locks its caches through these files, and keeps in the last when what was used.
        cargo.join(".package-cache"),
        cargo.join(".package-cache-mutate"),
        cargo.join(".global-cache"),
        from("XDG_CACHE_HOME").unwrap_or_else(|| home.join(".cache")),
        home.join(".npm"),
        home.join(".gradle/caches"),
        home.join(".m2/repository"),
        go.join("pkg"),
    ];
    named.chain(usual).collect()
}

#[cfg(target_os = "linux")]
pub(super) use landlocked::{probe, restrict};

#[cfg(target_os = "linux")]
mod landlocked {
    use landlock::{
        ABI, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, LandlockStatus, PathBeneath,
        PathFd, RestrictionStatus, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError,
        RulesetStatus, Scope,
    };

    use super::{Confinement, Network, Path, Writable};

    /// The newest version whose rights are asked for; an older kernel gives what it has.
    const NEWEST: ABI = ABI::V6;
    /// What programs open for writing wherever they run.
    const DEVICES: [&str; 9] = [
        "/dev/null",
        "/dev/zero",
        "/dev/full",
        "/dev/random",
        "/dev/urandom",
        "/dev/tty",
        "/dev/ptmx",
        "/dev/pts",
        "/dev/shm",
    ];

    /// Restricts the calling thread and whatever it starts, for good.
    pub(in crate::command) fn restrict(writable: &Writable) -> Result<(), String> {
        let status = apply(writable).map_err(|error| error.to_string())?;
        match status.ruleset {
            RulesetStatus::NotEnforced => Err("the kernel did not enforce it".into()),
            _ => Ok(()),
        }
    }

    fn apply(writable: &Writable) -> Result<RestrictionStatus, RulesetError> {
        let writes = AccessFs::from_write(NEWEST);
        let mut ruleset = Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(writes)?
            .scope(Scope::Signal)?;
        if writable.network == Network::NoTcp {
            ruleset = ruleset.handle_access(AccessNet::BindTcp | AccessNet::ConnectTcp)?;
        }
        let mut created = ruleset.create()?;
        let devices = DEVICES.iter().map(Path::new);
        for path in writable.paths.iter().map(|path| path.as_path()).chain(devices) {
            // What does not exist, or no more, cannot be written either.
            let Ok(opened) = PathFd::new(path) else { continue };
            created = created.add_rule(PathBeneath::new(opened, rights(path, writes)))?;
        }
        created.restrict_self()
    }

    /// A rule about a file may name only the rights that a file has.
    fn rights(path: &Path, writes: BitFlags<AccessFs>) -> BitFlags<AccessFs> {
        if path.is_dir() { writes } else { writes & AccessFs::from_file(NEWEST) }
    }

    /// What the kernel can do, tried out on a thread that ends right after.
    pub(in crate::command) fn probe(network: Network) -> (Confinement, Result<(), String>) {
        let tried = std::thread::spawn(move || {
            let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
            let status = apply(&Writable { paths: Vec::new(), network })
                .map_err(|error| error.to_string())?;
            let held = std::fs::write(folder.path().join("probe"), b"").is_err();
            let folder = folder.keep();
            Ok::<_, String>((status, held, folder))
        });
        let (status, held, folder) = match tried.join() {
            Ok(Ok(tried)) => tried,
            Ok(Err(why)) => return unavailable(why),
            Err(_) => return unavailable("trying it out failed".into()),
        };
        // The thread could not remove its folder.
        let _ = std::fs::remove_dir_all(folder);
        let abi = match status.landlock {
            LandlockStatus::NotImplemented => {
                return unavailable(
                    "this kernel has no Landlock (Linux 5.13 and newer may)".into(),
                );
            }
            LandlockStatus::NotEnabled => {
                return unavailable("Landlock is switched off (kernel parameter `lsm=`)".into());
            }
            LandlockStatus::Available { effective_abi, .. } => effective_abi as i32,
        };
        if abi < 2 {
            let why = "Landlock ABI 1 forbids moving files between folders; Linux 5.19 has ABI 2";
            return unavailable(why.into());
        }
        if !held {
            return unavailable("Landlock is there but let a forbidden write through".into());
        }
        let network = match network {
            Network::NoTcp if abi < 4 => {
                Err(format!("Landlock ABI {abi} cannot; Linux 6.7 has ABI 4"))
            }
            _ => Ok(()),
        };
        (Confinement::Landlock { abi }, network)
    }

    fn unavailable(why: String) -> (Confinement, Result<(), String>) {
        (Confinement::Unavailable { why: why.clone() }, Err(why))
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn restrict(_: &Writable) -> Result<(), String> {
    Err(ELSEWHERE.into())
}

#[cfg(not(target_os = "linux"))]
pub(super) fn probe(_: Network) -> (Confinement, Result<(), String>) {
    (Confinement::Unavailable { why: ELSEWHERE.into() }, Err(ELSEWHERE.into()))
}

#[cfg(not(target_os = "linux"))]
const ELSEWHERE: &str = "Landlock is a part of Linux";

#[cfg(test)]
mod tests {
    use super::*;

    fn check(variables: &[(&str, &str)], there: &[&str], not_there: &[&str]) {
        let from = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| PathBuf::from(value))
        };
        let caches = caches(from);
        for path in there {
            assert!(caches.contains(&PathBuf::from(path)), "{path} of {caches:?}");
        }
        for path in not_there {
            assert!(!caches.contains(&PathBuf::from(path)), "{path} of {caches:?}");
        }
    }

    #[test]
    fn caches_are_where_their_tools_look_for_them() {
        check(&[], &[], &[""]);
        check(&[("HOME", "/h")], &["/h/.cargo/registry", "/h/.cache", "/h/go/pkg"], &["/h"]);
        let home = [("HOME", "/h"), ("CARGO_HOME", "/c"), ("XDG_CACHE_HOME", "/x")];
        check(&home, &["/c/registry", "/x"], &["/c", "/h/.cache", "/h/.cargo/registry"]);
        check(&[("CARGO_TARGET_DIR", "/t"), ("GOCACHE", "/g")], &["/t", "/g"], &[]);
    }
}
