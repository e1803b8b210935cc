//! Which of several texts an intervention shows (A9).
//!
//! Thompson sampling: for each text a share of good outcomes is drawn from what is believed of it,
//! Beta(1 + good, 1 + bad), and the text with the largest one is shown (Thompson 1933; Chapelle &
//! Li 2011). A text that did well is shown often, one that is little known is still tried, and
//! one that did badly fades out.
//!
//! What is drawn follows from the policy's seed, the run, the turn and the texts' name alone: there
//! is neither state nor clock, so a recorded run shows the same texts whenever it is judged again.

use alloc::vec::Vec;

use crate::digest::{combine, hash_bytes};
use crate::draw::Draws;
use crate::policy::Policy;
use crate::texts::{alternative_texts, built_in_texts};

/// The moment at which an intervention is worded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Occasion<'a> {
    /// Identity of the run. Runs without one draw alike.
    pub run: &'a str,
    /// Turn of the intervention.
    pub turn: u32,
    /// The model's name.
    pub model: &'a str,
    /// The texts' name.
    pub template: &'a str,
    /// Interventions shown in the run before.
    pub shown_before: u32,
}

/// The texts that a policy has for a name: its own, else the built-in one and its alternatives.
/// Empty if there is none of that name.
#[must_use]
pub fn texts_of<'p>(policy: &'p Policy, template: &str) -> Vec<&'p str> {
    if let Some(own) = own(policy, template) {
        return own.iter().map(|text| &**text).collect();
    }
    let first = built_in_texts().iter().filter(|(name, _)| *name == template);
    first.map(|(_, text)| *text).chain(alternative_texts(template).iter().copied()).collect()
}

fn own<'p>(policy: &'p Policy, template: &str) -> Option<&'p [alloc::string::String]> {
    policy.texts.get(template).map(|texts| &**texts).filter(|texts| !texts.is_empty())
}

/// The position of the text that is shown among [`texts_of`] the policy.
///
/// Where outcomes were learned for model and template, or `wording.explore` is set, it is drawn.
/// Elsewhere the policy's own texts are used in turn, and of the built-in ones the first is shown.
#[must_use]
pub fn choose(policy: &Policy, occasion: &Occasion<'_>) -> u32 {
    let Some(outcomes) = policy.wording.outcomes(occasion.model, occasion.template) else {
        let own = own(policy, occasion.template).map_or(1, <[_]>::len);
        return (occasion.shown_before as usize % own) as u32;
    };
    let mut draws = Draws::new(stream(policy.wording.seed, occasion));
    let mut best = (0, -1.0);
    for at in 0..texts_of(policy, occasion.template).len() {
        let known = outcomes.get(at).copied().unwrap_or_default();
        let drawn = draws.beta(1.0 + f64::from(known.good), 1.0 + f64::from(known.bad));
        if drawn > best.1 {
            best = (at as u32, drawn);
        }
    }
    best.0
}

/// The seed of an occasion's draws.
fn stream(seed: u64, occasion: &Occasion<'_>) -> u64 {
    let run = hash_bytes(occasion.run.as_bytes());
    let template = hash_bytes(occasion.template.as_bytes());
    combine(combine(combine(seed, run), u64::from(occasion.turn)), template)
}
