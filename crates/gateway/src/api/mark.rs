//! What people make of interventions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use steersman_timeline::Mark;

/// What a person makes of an intervention.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewMark {
    /// The journal's entry of the decision, or of the words that were said.
    pub seq: u64,
    /// What is made of it; `none` takes an earlier mark back.
    pub mark: Mark,
    /// Why, at most 1 KiB.
    #[serde(default)]
    pub note: Option<String>,
}

/// A mark that was written down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Marked {
    /// The session.
    pub session: String,
    /// Who made it.
    pub who: String,
    /// The mark.
    #[serde(flatten)]
    pub mark: NewMark,
}
