//! From what followed interventions to the section `wording` of a policy (A9).

use std::collections::BTreeMap;

use steersman_engine::Policy;
use steersman_engine::policy::{LearnedWording, Wording, WordingOutcome};
use steersman_engine::wording::texts_of;

use crate::journal::{Entry, Opinion};

/// What was learned about texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Learned {
    /// What came of each text, for `wording.learned`: by model, then by the texts' name.
    pub learned: Vec<LearnedWording>,
    /// Outcomes that say nothing because the model is not known.
    pub without_model: u64,
    /// Outcomes of texts that the policy does not have.
    pub without_text: u64,
    /// Outcomes left out because a policy holds no more than [`Wording::MAX_LEARNED`] entries;
    /// those with the most outcomes are kept.
    pub beyond_limit: u64,
}

/// Counts what came of each text of a policy, by model and name of text.
///
/// Good is that the run recovered, bad that it did not; where that is not known, a person's mark
/// stands for it. Models are told apart by their whole name, whatever its case, because globs
/// ignore case, too. The order of the entries does not matter.
#[must_use]
pub fn learn(entries: &[Entry], policy: &Policy) -> Learned {
    let mut found = Learned::default();
    let mut groups: BTreeMap<(String, &str), Vec<WordingOutcome>> = BTreeMap::new();
    for entry in entries {
        let Some(good) = is_good(entry) else { continue };
        if entry.model.trim().is_empty() {
            found.without_model += 1;
            continue;
        }
        let texts = texts_of(policy, &entry.template).len();
        let variant = entry.variant as usize;
        if variant >= texts {
            found.without_text += 1;
            continue;
        }
        let model = entry.model.trim().to_ascii_lowercase();
        let group = groups.entry((model, &entry.template));
        let outcomes = group.or_insert_with(|| vec![WordingOutcome::default(); texts]);
        let outcome = &mut outcomes[variant];
        let count = if good { &mut outcome.good } else { &mut outcome.bad };
        *count = count.saturating_add(1);
    }
    let learned = groups.into_iter().map(|((model, template), outcomes)| LearnedWording {
        model,
        template: template.to_owned(),
        outcomes,
    });
    found.learned = learned.collect();
    found.limit();
    found
}

/// Whether something good came of an intervention; `None` if that is not known.
fn is_good(entry: &Entry) -> Option<bool> {
    entry.recovered.or_else(|| entry.mark.map(|mark| mark == Opinion::Helpful))
}

impl Learned {
    /// Leaves out the entries with the fewest outcomes where there are too many.
    fn limit(&mut self) {
        let total = |learned: &LearnedWording| -> u64 {
            let outcomes = learned.outcomes.iter();
            outcomes.map(|outcome| u64::from(outcome.good) + u64::from(outcome.bad)).sum()
        };
        let key = |a: &LearnedWording, b: &LearnedWording| {
            (&a.model, &a.template).cmp(&(&b.model, &b.template))
        };
        if self.learned.len() > Wording::MAX_LEARNED {
            self.learned.sort_by(|a, b| total(b).cmp(&total(a)).then_with(|| key(a, b)));
            self.beyond_limit = self.learned.drain(Wording::MAX_LEARNED..).map(|l| total(&l)).sum();
            self.learned.sort_by(key);
        }
    }
}
