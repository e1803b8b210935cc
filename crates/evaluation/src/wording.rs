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
    /// Outcomes left out because the model is not known, or its name can be no glob: it has white
    /// space around it, or a line break or tab.
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
        let Some(good) = is_good(entry).filter(|_| !entry.template.is_empty()) else { continue };
        if !can_be_glob(&entry.model) {
            found.without_model += 1;
            continue;
        }
        let texts = texts_of(policy, &entry.template).len();
        let variant = entry.variant as usize;
        if variant >= texts {
            found.without_text += 1;
            continue;
        }
        let model = entry.model.to_ascii_lowercase();
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

/// Whether a model's name may stand as a glob in a policy.
fn can_be_glob(model: &str) -> bool {
    !model.is_empty() && model.trim() == model && !model.contains(['\n', '\t'])
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

#[cfg(test)]
mod tests {
    use steersman_engine::digest::mix;
    use steersman_engine::policy::RuleId;
    use steersman_engine::wording::{Occasion, choose};

    use super::*;

    fn entry(model: &str, template: &str, variant: u32, recovered: Option<bool>) -> Entry {
        Entry {
            run: "r".into(),
            turn: 1,
            model: model.into(),
            reason: RuleId::RepeatedOutcome,
            template: template.into(),
            variant,
            mark: None,
            recovered,
        }
    }

    /// Model, texts' name and counts of what was learned.
    type Row<'a> = (&'a str, &'a str, Vec<(u32, u32)>);

    fn rows(learned: &Learned) -> Vec<Row<'_>> {
        let outcomes = |known: &LearnedWording| {
            known.outcomes.iter().map(|outcome| (outcome.good, outcome.bad)).collect()
        };
        let rows = learned.learned.iter();
        rows.map(|known| (&*known.model, &*known.template, outcomes(known))).collect()
    }

    #[test]
    fn outcomes_are_counted_by_model_and_text() {
        let marked =
            |mark, recovered| Entry { mark: Some(mark), ..entry("b", "nudge_loop", 1, recovered) };
        let mut entries = vec![
            entry("b", "nudge_loop", 0, Some(true)),
            entry("a", "nudge_loop", 2, Some(false)),
            entry("B", "nudge_loop", 0, Some(false)),
            entry("b", "nudge_loop", 0, None),
            entry("b", "stop", 0, Some(true)),
            entry("", "stop", 0, Some(true)),
            entry("b\t", "stop", 0, Some(true)),
            entry("", "stop", 0, None),
            entry("b", "stop", 1, Some(true)),
            marked(Opinion::Helpful, None),
            marked(Opinion::Harmful, None),
            // What happened counts before what somebody thinks of it.
            marked(Opinion::Harmful, Some(true)),
        ];
        let mut policy = Policy::default();
        let found = learn(&entries, &policy);
        let expected: [Row<'_>; 3] = [
            ("a", "nudge_loop", vec![(0, 0), (0, 0), (0, 1)]),
            ("b", "nudge_loop", vec![(1, 1), (2, 1), (0, 0)]),
            ("b", "stop", vec![(1, 0)]),
        ];
        assert_eq!(rows(&found), expected);
        assert_eq!((found.without_model, found.without_text, found.beyond_limit), (2, 1, 0));
        entries.reverse();
        assert_eq!(learn(&entries, &policy), found);
        policy.texts.insert("stop".into(), vec!["a".into(), "b".into()]);
        let found = learn(&entries, &policy);
        assert_eq!(rows(&found)[2], ("b", "stop", vec![(1, 0), (1, 0)]));
        policy.wording.learned = found.learned;
        assert_eq!(policy.validate(), Ok(()));
    }

    #[test]
    fn too_many_models_leave_the_rarest_out() {
        let name = |at: u32| format!("m{at:04}");
        let entries: Vec<Entry> = (0..1003)
            .flat_map(|at| {
                let times = if [5, 6, 7].contains(&at) { 1 } else { 2 };
                (0..times).map(move |_| entry(&name(at), "stop", 0, Some(true)))
            })
            .collect();
        let mut policy = Policy::default();
        let found = learn(&entries, &policy);
        assert_eq!((found.learned.len(), found.beyond_limit), (1000, 3));
        assert!(found.learned.iter().all(|known| known.outcomes[0].good == 2));
        assert!(found.learned.is_sorted_by_key(|known| known.model.clone()));
        policy.wording.learned = found.learned;
        assert_eq!(policy.validate(), Ok(()));
    }

    /// A number from 0 to 1 that belongs to a seed and a step.
    fn chance(seed: u64, step: u64) -> f64 {
        mix(mix(seed ^ 0x5eed).wrapping_add(step)) as f64 / u64::MAX as f64
    }

    /// Interventions with simulated outcomes: the model of each and the rate at which each text
    /// succeeds with it. What was learned is written into the policy after every 20. Gives the text
    /// that was shown each time.
    fn simulate(seed: u64, count: u64, rates: &[(&str, &[f64])]) -> Vec<u32> {
        let mut policy = Policy::default();
        policy.wording.explore = true;
        policy.wording.seed = seed;
        let mut entries: Vec<Entry> = Vec::new();
        for step in 0..count {
            let (model, rates) = rates[step as usize % rates.len()];
            let run = format!("run-{step}");
            let occasion =
                Occasion { run: &run, turn: 9, model, template: "nudge_loop", shown_before: 0 };
            let variant = choose(&policy, &occasion);
            let recovered = chance(seed, step) < rates[variant as usize];
            entries.push(Entry { run, ..entry(model, "nudge_loop", variant, Some(recovered)) });
            if step % 20 == 19 {
                policy.wording.learned = learn(&entries, &policy).learned;
            }
        }
        entries.iter().map(|entry| entry.variant).collect()
    }

    /// Of the last 500 interventions the share that showed this text.
    fn share_of(text: u32, shown: &[u32]) -> f64 {
        let last = &shown[shown.len() - 500..];
        last.iter().filter(|variant| **variant == text).count() as f64 / 500.0
    }

    #[test]
    fn the_best_text_prevails() {
        let orders: [(&[f64], u32); 3] =
            [(&[0.35, 0.5, 0.65], 2), (&[0.65, 0.35, 0.5], 0), (&[0.5, 0.65, 0.35], 1)];
        for seed in 0..5 {
            for (rates, best) in orders {
                let shown = simulate(seed, 2000, &[("m", rates)]);
                let share = share_of(best, &shown);
                assert!(share > 0.8, "seed {seed}, best {best}: {share}");
                // Every text was given a chance.
                assert!((0..3).all(|text| shown[..200].contains(&text)), "seed {seed}");
            }
        }
    }

    #[test]
    fn the_same_seed_shows_the_same_texts() {
        let rates: [(&str, &[f64]); 1] = [("m", &[0.35, 0.5, 0.65])];
        let [one, again, other] = [7, 7, 8].map(|seed| simulate(seed, 2000, &rates));
        assert_eq!(one, again);
        assert_ne!(one, other);
        assert_ne!(one[..20], other[..20]);
    }

    #[test]
    fn each_model_has_its_own_best_text() {
        for seed in 0..3 {
            let rates: [(&str, &[f64]); 2] = [("a", &[0.7, 0.4, 0.4]), ("b", &[0.4, 0.7, 0.4])];
            let shown = simulate(seed, 4000, &rates);
            let of =
                |model: usize| shown.iter().copied().skip(model).step_by(2).collect::<Vec<_>>();
            for (model, best) in [(0, 0), (1, 1)] {
                let share = share_of(best, &of(model));
                assert!(share > 0.8, "seed {seed}, model {model}: {share}");
            }
        }
    }
}
