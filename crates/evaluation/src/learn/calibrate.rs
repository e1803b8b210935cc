//! Draws the lines.

use std::collections::BTreeMap;
use std::fmt;

use steersman_engine::policy::{Risk, RiskLine, RiskProfile};

use super::lines::{fewest, line};
use super::{Model, Record};
use crate::folds::fold_of;

/// Parts of the runs that take turns at being judged by a model of the others.
const FOLDS: u32 = 4;

/// Graded runs of an agent and model from which on it may have a line: below, it is not known well
/// enough that the line of others could be its own.
const FEWEST_RUNS: usize = 20;

/// A model with lines.
#[derive(Clone, Debug)]
pub struct Calibrated {
    /// The model.
    pub model: Model,
    /// The same as a section of a policy, with a profile per agent and model.
    pub risk: Risk,
    /// Agents and models that rest on the runs of others, or have no line.
    pub shortages: Vec<Shortage>,
}

/// An agent and model without enough good runs for a line of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortage {
    /// The agent; empty if unknown.
    pub agent: String,
    /// The model; empty if unknown.
    pub model: String,
    /// Its graded runs.
    pub runs: usize,
    /// Those that are good.
    pub good: usize,
    /// Good runs that a line of its own takes.
    pub needed: usize,
    /// What it rests on instead.
    pub instead: Instead,
}

/// What a line rests on instead of an agent and model's own runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instead {
    /// Good runs of the agent with any model.
    Agent,
    /// Good runs of all.
    All,
    /// Nothing: it is never stopped by its risk.
    Nothing,
}

impl fmt::Display for Shortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name =
            |name: &str| if name.is_empty() { "unnamed".to_owned() } else { name.to_owned() };
        write!(f, "{} with {}: ", name(&self.agent), name(&self.model))?;
        match self.instead {
            Instead::Nothing if self.runs < FEWEST_RUNS => {
                write!(f, "no line, {} of {FEWEST_RUNS} graded runs", self.runs)
            }
            Instead::Nothing => write!(f, "no line, {} of its good runs end already", self.good),
            Instead::Agent | Instead::All => {
                let missing = self.needed.saturating_sub(self.good);
                let whose = if self.instead == Instead::Agent { "the agent's" } else { "all" };
                write!(f, "{missing} good runs short of a line of its own; rests on {whose} runs")
            }
        }
    }
}

/// Fits by `fit` and draws a line for each agent and model, so that of its good runs at most a
/// share `alpha` is expected above it.
///
/// Every run is judged by a model that knows no run of its instance (cross-fitting). A line rests
/// on the good runs of the agent and model; where they are too few, on those of the agent, else on
/// all. A good run that the policy to build on ends already counts as above every line, so that
/// both together keep the promise.
#[must_use]
pub fn calibrate(
    records: &[&Record],
    alpha: f64,
    fit: &impl Fn(&[&Record]) -> Model,
) -> Calibrated {
    let unseen = cross_fitted(records, fit);
    let model = fit(records);
    let mut pools: BTreeMap<(&str, &str), Pool> = BTreeMap::new();
    let mut agents: BTreeMap<&str, Highest> = BTreeMap::new();
    let mut all = Highest::default();
    for (record, unseen) in records.iter().zip(unseen) {
        let (agent, name) = (&*record.episode.agent, &*record.episode.model);
        let pool = pools.entry((agent, name)).or_default();
        pool.runs += 1;
        if record.is_good() {
            let seen = if unseen == f32::INFINITY { unseen } else { model.highest(record) };
            pool.good.push(unseen, seen);
            agents.entry(agent).or_default().push(unseen, seen);
            all.push(unseen, seen);
        }
    }
    let needed = fewest(alpha);
    let mut risk = model.risk.clone();
    let everyone = model.usuals.all();
    risk.others = RiskLine {
        usual_turns: everyone.turns(),
        spread: everyone.spread(),
        success: everyone.success(),
        ..RiskLine::default()
    };
    let mut shortages = Vec::new();
    for ((agent, name), pool) in &mut pools {
        let (runs, good) = (pool.runs, pool.good.len());
        let of_agent = agents.get_mut(agent).filter(|it| it.len() >= needed);
        let (highest, instead) = match of_agent {
            _ if good >= needed => (&mut pool.good, None),
            Some(of_agent) => (of_agent, Some(Instead::Agent)),
            None => (&mut all, Some(Instead::All)),
        };
        let found = highest.line(alpha).filter(|_| runs >= FEWEST_RUNS);
        let rests_on = highest.len();
        if instead.is_some() || found.is_none() {
            let instead =
                if found.is_none() { Instead::Nothing } else { instead.unwrap_or(Instead::All) };
            let (agent, model) = ((*agent).to_owned(), (*name).to_owned());
            shortages.push(Shortage { agent, model, runs, good, needed, instead });
        }
        let usual = model.usuals.get(agent, name);
        let line = RiskLine {
            usual_turns: usual.turns(),
            spread: usual.spread(),
            success: usual.success(),
            line: found,
            good_runs: if found.is_some() { rests_on as u32 } else { 0 },
        };
        if risk.profiles.len() < Risk::MAX_PROFILES {
            let (agent, model) = ((*agent).to_owned(), Some((*name).to_owned()));
            risk.profiles.push(RiskProfile { agent, model, line });
        }
    }
    Calibrated { model, risk, shortages }
}

#[derive(Default)]
struct Pool {
    runs: usize,
    good: Highest,
}

/// The highest risk of each of some good runs: by a model that does not know the run, and by the
/// model that will be used.
#[derive(Default)]
struct Highest {
    unseen: Vec<f32>,
    seen: Vec<f32>,
}

impl Highest {
    fn push(&mut self, unseen: f32, seen: f32) {
        self.unseen.push(unseen);
        self.seen.push(seen);
    }

    fn len(&self) -> usize {
        self.unseen.len()
    }

    /// The higher of two lines. The first allows for what a model makes of runs it does not know.
    /// The second allows for the models of the parts being a little off the one that is used:
    /// many runs share the same risk, and a hair decides on which side of the line they are.
    fn line(&mut self, alpha: f64) -> Option<f32> {
        let seen = line(&mut self.seen, alpha)?;
        Some(line(&mut self.unseen, alpha)?.max(seen))
    }
}

/// The highest risk of each run, by a model of runs of other instances; infinite where the run is
/// ended anyway.
fn cross_fitted(records: &[&Record], fit: &impl Fn(&[&Record]) -> Model) -> Vec<f32> {
    // Another split than the one that figures are measured by.
    let fold = |record: &Record| fold_of(&format!("line {}", record.episode.cluster()), FOLDS);
    let mut highest = vec![f32::NEG_INFINITY; records.len()];
    for part in 0..FOLDS {
        let others: Vec<&Record> =
            records.iter().copied().filter(|record| fold(record) != part).collect();
        if others.len() == records.len() {
            continue;
        }
        let model = fit(&others);
        for (highest, record) in highest.iter_mut().zip(records) {
            if fold(record) == part && record.is_good() {
                let ended = record.ended().is_some();
                *highest = if ended { f32::INFINITY } else { model.highest(record) };
            }
        }
    }
    highest
}
