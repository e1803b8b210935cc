//! Why a prompt could not be had.

use std::fmt;
use std::io;
use std::path::PathBuf;

use steersman_config::{Finding, LoadError};

/// Why prompts or agents could not be loaded, or a prompt not be composed.
#[derive(Debug, thiserror::Error)]
pub enum PromptError {
    /// Files were read and are bad; at least one finding, each with file and, where there is one,
    /// line.
    #[error("{}", Lines(.0))]
    Bad(Vec<Finding>),
    /// The registry, or a policy under it, was read and is bad.
    #[error("{0}")]
    Document(#[from] LoadError),
    /// A file or folder could not be read.
    #[error("{}: error: cannot read it: {cause}", path.display())]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        #[source]
        cause: io::Error,
    },
    /// There is nothing of that name.
    #[error("no {kind} `{name}`{}", Known(near.as_deref(), known))]
    Unknown {
        /// What was looked for: `agent`, `feature`, `template`, `parameter`.
        kind: &'static str,
        /// The name that is not known.
        name: String,
        /// The known name that is probably meant.
        near: Option<String>,
        /// Every name that is known.
        known: Vec<String>,
    },
    /// The feature `core` was to be switched off.
    #[error("the feature `core` is always on; `include_shared` leaves out all shared parts")]
    CoreOff,
    /// A feature is on, and one that it needs was switched off.
    #[error("the feature `{feature}` needs `{needed}`, which is switched off")]
    Needs {
        /// The feature that is on.
        feature: String,
        /// The one that it needs.
        needed: String,
    },
    /// A parameter has neither a value nor a default.
    #[error("no value for the parameter `{name}`, which {place} uses and declares without default")]
    NoValue {
        /// The parameter.
        name: String,
        /// File and line.
        place: String,
    },
    /// The composed prompt would be too long.
    #[error("the prompt has {bytes} bytes, at most {most} are allowed")]
    TooLong {
        /// How long it would be.
        bytes: usize,
        /// How long it may be.
        most: usize,
    },
}

impl PromptError {
    /// The error about a name that is not among those that are known.
    pub(crate) fn unknown<'k>(
        kind: &'static str,
        name: &str,
        known: impl Iterator<Item = &'k str> + Clone,
    ) -> Self {
        let near = steersman_config::nearest(name, known.clone()).map(str::to_owned);
        let known = known.map(str::to_owned).collect();
        Self::Unknown { kind, name: name.to_owned(), near, known }
    }

    /// What is wrong in files; empty where the error is about something else.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        match self {
            Self::Bad(findings) => findings,
            Self::Document(error) => error.findings(),
            _ => &[],
        }
    }
}

/// Findings below each other.
struct Lines<'a>(&'a [Finding]);

impl fmt::Display for Lines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, finding) in self.0.iter().enumerate() {
            let gap = if at == 0 { "" } else { "\n\n" };
            write!(f, "{gap}{finding}")?;
        }
        Ok(())
    }
}

/// What may be meant instead.
struct Known<'a>(Option<&'a str>, &'a [String]);

impl fmt::Display for Known<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(near) = self.0 {
            write!(f, "; did you mean `{near}`?")?;
        }
        let there_are = if self.0.is_some() { " There are" } else { "; there are" };
        match self.1 {
            [] => f.write_str("; there are none"),
            known => write!(f, "{there_are} {}", known.join(", ")),
        }
    }
}
