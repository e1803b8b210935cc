//! Whether a session is governed, watched, or left alone.

use steersman_engine::policy::glob_matches;

use crate::client::Client;
use crate::config::{Config, Mode, Rule};

/// What the rules of the configuration look at.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The program.
    pub client: Client,
    /// The agent's name: that of a sub-agent, else the program's.
    pub agent: &'a str,
    /// The model that was asked for.
    pub model: &'a str,
    /// The name of the virtual key; empty without one.
    pub key: &'a str,
    /// The client's name for the session; empty if it has none.
    pub session: &'a str,
}

/// The mode for a session: the first rule that fits, else the mode for all. A client whose
/// reactions are not known is never governed by the mode for all alone.
#[must_use]
pub fn mode_of(config: &Config, subject: &Subject<'_>) -> Mode {
    if let Some(rule) = config.rules.iter().find(|rule| fits(rule, subject)) {
        return rule.mode;
    }
    if subject.client.is_known() || config.mode != Mode::Govern {
        return config.mode;
    }
    config.unknown_clients
}

fn fits(rule: &Rule, subject: &Subject<'_>) -> bool {
    let pairs = [
        (&rule.client, subject.client.name()),
        (&rule.agent, subject.agent),
        (&rule.model, subject.model),
        (&rule.key, subject.key),
        (&rule.session, subject.session),
    ];
    pairs
        .into_iter()
        .all(|(pattern, value)| pattern.as_ref().is_none_or(|pattern| glob_matches(pattern, value)))
}
