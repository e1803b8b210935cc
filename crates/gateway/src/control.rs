//! What a person can do to a session that is open, and whoever does it.

use std::sync::Arc;

use steersman_engine::{Engine, Policy};

pub use steersman_config::control::{Control, Limits, MAX_NOTE};

use crate::api::NewMark;

/// Why a control had no effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ControlError {
    /// No such session is open.
    Unknown,
    /// The control itself is wrong; the sentence says how, and what is allowed.
    Invalid(String),
    /// Nobody hears it at the moment; the sentence says what can be done.
    Deaf(String),
}

/// How a session stands.
#[derive(Clone, Debug)]
pub struct Stands {
    /// The engine, with the policy that holds for the session.
    pub engine: Engine,
    /// Who wants its requests to wait; `None`: they do not.
    pub paused: Option<String>,
    /// Whether a person wants it watched and not governed.
    pub is_left_alone: bool,
    /// The preset that a person wants; `None`: the policy holds.
    pub preset: Option<String>,
}

/// Whoever holds the sessions.
pub trait Helm: Send + Sync {
    /// Hands a control to a session. It is journalled with `who`.
    ///
    /// # Errors
    /// There is no such session, or the control makes no sense.
    fn control(&self, session: &str, who: &str, control: Control) -> Result<(), ControlError>;

    /// Writes down what a person makes of an intervention.
    ///
    /// # Errors
    /// There is no such session.
    fn mark(&self, session: &str, who: &str, mark: &NewMark) -> Result<(), ControlError> {
        let _ = (session, who, mark);
        Err(ControlError::Unknown)
    }

    /// How a session stands; `None` if it is not known.
    fn stands(&self, session: &str) -> Option<Stands> {
        let _ = session;
        None
    }

    /// The policy that decides where nobody wants another; `None` if it is not known.
    fn policy(&self) -> Option<Arc<Policy>> {
        None
    }

    /// Sessions in memory; `None` if it is not known.
    fn open_sessions(&self) -> Option<usize> {
        None
    }
}
