//! Why a policy could not be loaded.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::finding::{Finding, Found};

/// Why a policy could not be loaded. `Display` shows every finding, each with its source line.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file could not be read.
    #[error("{}: error: cannot read the policy: {cause}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        cause: io::Error,
    },
    /// There is neither a built-in policy nor a file of that name.
    #[error("{0}")]
    Unknown(Box<Finding>),
    /// The policy was read and is bad.
    #[error("{0}")]
    Bad(Findings),
}

impl LoadError {
    /// What is wrong, in the order of the file, at most 100 findings; empty if the file could not
    /// be read.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        match self {
            Self::Unreadable { .. } => &[],
            Self::Unknown(finding) => std::slice::from_ref(&**finding),
            Self::Bad(findings) => &findings.list,
        }
    }

    /// Findings as an error; they are put in the order of the file.
    pub(crate) fn bad(found: impl Into<Found>) -> Self {
        let Found { mut list, more } = found.into();
        list.sort_by_key(Finding::order);
        Self::Bad(Findings { list, more })
    }
}

impl From<Finding> for LoadError {
    /// An error of this one finding.
    fn from(finding: Finding) -> Self {
        Self::bad(Found::from(finding))
    }
}

/// Findings that stop a policy from being used, in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Findings {
    list: Vec<Finding>,
    more: usize,
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, finding) in self.list.iter().enumerate() {
            let gap = if at == 0 { "" } else { "\n\n" };
            write!(f, "{gap}{finding}")?;
        }
        match self.more {
            0 => Ok(()),
            more => write!(f, "\n\n… and {more} more"),
        }
    }
}
