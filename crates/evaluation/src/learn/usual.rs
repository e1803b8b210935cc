//! What is usual for an agent and a model.

use std::collections::BTreeMap;

use super::Record;

/// What is usual for runs of one kind: their length where they succeed, and how often they do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Usual {
    mean: f64,
    deviation: f64,
    success: f64,
}

impl Usual {
    /// Turns that good runs usually take: their geometric mean.
    #[must_use]
    pub fn turns(&self) -> f32 {
        self.mean.exp() as f32
    }

    /// The factor by which that varies: their geometric standard deviation, above 1.
    #[must_use]
    pub fn spread(&self) -> f32 {
        self.deviation.exp() as f32
    }

    /// Log odds that such a run succeeds.
    #[must_use]
    pub fn success(&self) -> f32 {
        (self.success / (1.0 - self.success)).ln() as f32
    }
}

/// What is usual for each agent and model. Few runs say little: a model's figures lean towards its
/// agent's as if that were five runs, an agent's towards those of all as if these were three.
#[derive(Clone, Debug)]
pub struct Usuals {
    by_model: BTreeMap<(String, String), Usual>,
    by_agent: BTreeMap<String, Usual>,
    all: Usual,
}

/// Least deviation of the logarithm of a length: a handful of runs of one length is no law.
const LEAST_DEVIATION: f64 = 0.15;
/// Deviation where nothing is known.
const UNKNOWN_DEVIATION: f64 = 0.5;
/// Runs that all others count as towards an agent.
const AGENT_MASS: f64 = 3.0;
/// Runs that an agent's others count as towards one of its models.
const MODEL_MASS: f64 = 5.0;

/// Runs of one kind.
#[derive(Default)]
struct Seen {
    /// Logarithms of the lengths of good runs.
    lengths: Vec<f64>,
    runs: f64,
}

impl Seen {
    fn add(&mut self, record: &Record) {
        self.runs += 1.0;
        if record.is_good() {
            self.lengths.push(f64::from(record.episode.counts.turns.max(1)).ln());
        }
    }

    /// These runs, and what is usual for others that count as so many.
    fn usual(&self, others: &Usual, mass: f64) -> Usual {
        let n = self.lengths.len() as f64 + mass;
        let mean = (self.lengths.iter().sum::<f64>() + mass * others.mean) / n;
        let own: f64 = self.lengths.iter().map(|length| (length - mean).powi(2)).sum();
        let apart = others.deviation.powi(2) + (others.mean - mean).powi(2);
        let success = (self.lengths.len() as f64 + mass * others.success) / (self.runs + mass);
        let deviation = ((own + mass * apart) / n).sqrt().max(LEAST_DEVIATION);
        Usual { mean, deviation, success }
    }
}

impl Usuals {
    /// What is usual in these runs.
    #[must_use]
    pub fn of(records: &[&Record]) -> Self {
        let mut all = Seen::default();
        let mut agents: BTreeMap<&str, Seen> = BTreeMap::new();
        let mut models: BTreeMap<(&str, &str), Seen> = BTreeMap::new();
        for record in records {
            let (agent, model) = (&*record.episode.agent, &*record.episode.model);
            all.add(record);
            agents.entry(agent).or_default().add(record);
            models.entry((agent, model)).or_default().add(record);
        }
        let nothing = Usual { mean: 0.0, deviation: UNKNOWN_DEVIATION, success: 0.5 };
        let all = match all.lengths.len() {
            0 => Usual { success: 1.0 / (all.runs + 2.0), ..nothing },
            n => {
                let success = (n as f64 + 1.0) / (all.runs + 2.0);
                Usual { success, ..all.usual(&nothing, 0.0) }
            }
        };
        let by_agent: BTreeMap<String, Usual> = agents
            .iter()
            .map(|(agent, seen)| ((*agent).to_owned(), seen.usual(&all, AGENT_MASS)))
            .collect();
        let by_model = models.iter().map(|((agent, model), seen)| {
            let of_agent = by_agent.get(*agent).unwrap_or(&all);
            (((*agent).to_owned(), (*model).to_owned()), seen.usual(of_agent, MODEL_MASS))
        });
        let by_model = by_model.collect();
        Self { by_model, by_agent, all }
    }

    /// What is usual for an agent with a model, else for the agent, else for all.
    #[must_use]
    pub fn get(&self, agent: &str, model: &str) -> &Usual {
        self.by_model
            .get(&(agent.to_owned(), model.to_owned()))
            .or_else(|| self.by_agent.get(agent))
            .unwrap_or(&self.all)
    }

    /// What is usual for all.
    #[must_use]
    pub const fn all(&self) -> &Usual {
        &self.all
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::record;
    use super::*;

    fn assert_near(found: f32, expected: f64, what: &str) {
        assert!((f64::from(found) - expected).abs() < 1e-4, "{what}: {found}, not {expected}");
    }

    #[test]
    fn few_runs_lean_on_those_of_others() {
        // Two good runs of 4 and 16 turns and two bad ones: a geometric mean of 8.
        let runs = [
            record("1", true, 4),
            record("2", true, 16),
            record("3", false, 90),
            record("4", false, 1),
        ];
        let usuals = Usuals::of(&runs.iter().collect::<Vec<_>>());
        let all = usuals.all();
        assert_near(all.turns(), 8.0, "turns");
        // Both are a factor of 2 away; (2 + 1) of (4 + 2) succeed.
        assert_near(all.spread(), 2.0, "spread");
        assert_near(all.success(), 0.0, "success");

        // A second agent with one good run of 64 turns. The mean over all is now 4 × 16 × 64 =
        // 16³: 16 turns; (3 + 1) of (5 + 2) succeed.
        let mut other = record("5", true, 64);
        other.episode.agent = "other".to_owned();
        let runs: Vec<&Record> = runs.iter().chain([&other]).collect();
        let usuals = Usuals::of(&runs);
        assert_near(usuals.all().turns(), 16.0, "all");
        assert_near(usuals.all().success(), (4.0_f64 / 3.0).ln(), "all");
        // The agent: its run, and 16 turns three times; 1 and 3 × 4/7 of 1 + 3 succeed.
        let (two, sixteen) = (2.0_f64.ln(), 16.0_f64.ln());
        let agent_mean = (6.0 * two + 3.0 * sixteen) / 4.0;
        let agent_success: f64 = (1.0 + 3.0 * 4.0 / 7.0) / 4.0;
        let unseen = usuals.get("other", "unseen");
        assert_near(unseen.turns(), agent_mean.exp(), "agent");
        assert_near(unseen.success(), (agent_success / (1.0 - agent_success)).ln(), "agent");
        // Its model: the run again, and the agent's mean five times.
        let model_mean = (6.0 * two + 5.0 * agent_mean) / 6.0;
        assert_near(usuals.get("other", "model").turns(), model_mean.exp(), "model");
        assert_eq!(usuals.get("unseen", "model"), usuals.all());
    }

    #[test]
    fn numbers_stay_within_what_a_policy_allows() {
        let alike: Vec<Record> = (0..40).map(|i| record(&i.to_string(), true, 7)).collect();
        let failed = [record("a", false, 9)];
        let cases: [&[Record]; 3] = [&alike, &failed, &[]];
        for runs in cases {
            let usuals = Usuals::of(&runs.iter().collect::<Vec<_>>());
            for usual in [usuals.all(), usuals.get("agent", "model")] {
                assert!(usual.turns() > 0.0 && usual.spread() > 1.0, "{usual:?}");
                assert!(usual.success().is_finite(), "{usual:?}");
            }
        }
        // A single length is no law.
        let usuals = Usuals::of(&alike.iter().collect::<Vec<_>>());
        assert_near(usuals.all().spread(), 0.15_f64.exp(), "spread");
    }
}
