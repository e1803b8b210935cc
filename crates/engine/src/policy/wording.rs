//! Section `wording`: which of several texts an intervention shows.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::glob_matches;

/// Which of several texts an intervention shows, and what came of each so far.
///
/// Where something was learned for the run's model and the intervention's name, the text is drawn
/// by how well each did: the better one is shown more often, the little known one is still tried.
/// Everywhere else several texts of the policy are used in turn, and of the built-in ones the first
/// is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Wording {
    /// Whether texts are drawn also where nothing was learned yet: at first each is as likely as
    /// the others. Default false.
    pub explore: bool,
    /// Where the draws begin. The same seed, run, turn and name of text give the same draw.
    /// Default 0.
    pub seed: u64,
    /// What came of each text, by model and name of text. At most 1,000. Default: none.
    pub learned: Vec<LearnedWording>,
}

/// What came of the texts of one name with one model or family of models.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LearnedWording {
    /// Glob over the model's name; the longest that matches wins.
    pub model: String,
    /// The texts' name, as under `texts`.
    pub template: String,
    /// What came of each text, in the order of the texts. A text that is not counted here was not
    /// shown yet.
    pub outcomes: Vec<WordingOutcome>,
}

/// How often a text was followed by something good and by something bad.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct WordingOutcome {
    /// Times the agent recovered, or a person called the intervention helpful. Default 0.
    pub good: u32,
    /// Times the agent did not recover, or a person called the intervention harmful. Default 0.
    pub bad: u32,
}

impl Wording {
    /// Most entries of `learned`.
    pub const MAX_LEARNED: usize = 1000;

    /// What came of the texts of this name with this model; `None` where the texts are not drawn.
    #[must_use]
    pub fn outcomes(&self, model: &str, template: &str) -> Option<&[WordingOutcome]> {
        let matching = self
            .learned
            .iter()
            .filter(|known| known.template == template && glob_matches(&known.model, model));
        let longest = matching.max_by_key(|known| known.model.len());
        let unknown: &[WordingOutcome] = &[];
        longest.map(|known| &*known.outcomes).or(self.explore.then_some(unknown))
    }
}
