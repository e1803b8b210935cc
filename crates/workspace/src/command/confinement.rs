//! What commands may write.

use std::fmt;
use std::path::PathBuf;

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
                write!(out, "commands write only in the workspace (Landlock ABI {abi})")
            }
            Self::Unavailable { why } => {
                write!(out, "commands are not confined and write wherever you may: {why}")
            }
        }
    }
}

/// The caches of build tools that exist for this user, which builds need to write.
pub fn known_caches() -> Vec<PathBuf> {
    Vec::new()
}
