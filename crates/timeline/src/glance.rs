//! What lists of sessions show of decisions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use steersman_engine::{Action, Decision};

/// Most scores that are kept.
pub const MAX_SCORES: usize = 24;

/// What lists of sessions show of decisions. Kept with the session's head; its format stays
/// readable.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Glance {
    /// The scores of the last decisions, 0 to 1, the latest last, at most 24.
    pub scores: Vec<f32>,
    /// The last decision other than to go on; `None` if there was none.
    pub last: Option<LastDecision>,
}

/// The last decision of a session other than to go on, as lists show it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LastDecision {
    /// What was decided.
    pub action: String,
    /// Why, as a word.
    pub reason: String,
    /// The turn.
    pub turn: u32,
    /// Whether it was only told.
    pub shadow: bool,
    /// Whether a decision to go on has followed.
    pub is_over: bool,
}

impl Glance {
    /// Something was decided.
    pub fn decided(&mut self, decision: &Decision) {
        if self.scores.len() >= MAX_SCORES {
            self.scores.remove(0);
        }
        // Two places are what can be seen.
        self.scores.push((decision.score * 100.0).round() / 100.0);
        if decision.action == Action::Continue {
            if let Some(last) = &mut self.last {
                last.is_over = true;
            }
            return;
        }
        self.last = Some(LastDecision {
            action: decision.action.name().to_owned(),
            reason: decision.reason.name().to_owned(),
            turn: decision.turn,
            shadow: decision.shadow,
            is_over: false,
        });
    }

    /// As it stands in what a head has beside its fields.
    #[must_use]
    pub fn to_value(&self) -> serde_json::Value {
        // By way of its text, or scores would get the digits of a longer number.
        let text = serde_json::to_string(self).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// As it is found in what a head has beside its fields; nothing where that has none.
    #[must_use]
    pub fn of_extra(extra: Option<&str>) -> Self {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Extra {
            glance: Glance,
        }
        let extra = extra.and_then(|extra| serde_json::from_str::<Extra>(extra).ok());
        extra.unwrap_or_default().glance
    }
}
