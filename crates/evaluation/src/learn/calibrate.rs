//! Draws the lines.

use std::collections::BTreeMap;
use std::fmt;

use steersman_engine::policy::{Risk, RiskLine, RiskProfile};

use super::lines::{fewest, line};
use super::{Model, Record, Usual};
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
    Nothing(Why),
}

/// Why there is no line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The runs do not name their agent, and a line is found by that name.
    Unnamed,
    /// The agent and model has too few graded runs.
    FewRuns,
    /// All good runs together are too few.
    FewGood {
        /// How many there are.
        all: usize,
    },
    /// The policy to build on ends more good runs already than a line may.
    Ended {
        /// Good runs it ends.
        ended: usize,
        /// Good runs that the line would have rested on.
        of: usize,
    },
}

impl fmt::Display for Shortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name =
            |name: &str| if name.is_empty() { "unnamed".to_owned() } else { name.to_owned() };
        write!(f, "{} with {}: ", name(&self.agent), name(&self.model))?;
        match self.instead {
            Instead::Nothing(Why::Unnamed) => {
                f.write_str("no line, the runs do not name their agent")
            }
            Instead::Nothing(Why::FewRuns) => {
                write!(f, "no line, {} of {FEWEST_RUNS} graded runs", self.runs)
            }
            Instead::Nothing(Why::FewGood { all }) => {
                write!(f, "no line, {all} of {} good runs", self.needed)
            }
            Instead::Nothing(Why::Ended { ended, of }) => {
                write!(f, "no line, the policy ends {ended} of {of} good runs already")
            }
            Instead::Agent | Instead::All => {
                let whose = if self.instead == Instead::Agent { "the agent's" } else { "all" };
                let (good, needed) = (self.good, self.needed);
                write!(f, "rests on {whose} runs: {good} of {needed} good runs of its own")
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
    let model = fit(records);
    let mut goods = Goods::of(records, &model, &cross_fitted(records, fit));
    let mut risk = model.risk.clone();
    risk.others = usual_line(model.usuals.all());
    let mut shortages = Vec::new();
    for ((agent, name), runs) in runs_by_kind(records) {
        let drawn = goods.draw(agent, name, runs, alpha);
        let good = goods.own(agent, name);
        if let Some(instead) = drawn.instead {
            let (agent, model) = (agent.to_owned(), name.to_owned());
            let needed = fewest(alpha);
            shortages.push(Shortage { agent, model, runs, good, needed, instead });
        }
        // A policy finds a profile by the agent's name: a run without one has no profile.
        if !agent.is_empty() && risk.profiles.len() < Risk::MAX_PROFILES {
            let line = RiskLine {
                line: drawn.line,
                good_runs: drawn.rests_on as u32,
                ..usual_line(model.usuals.get(agent, name))
            };
            let (agent, model) = (agent.to_owned(), Some(name.to_owned()));
            risk.profiles.push(RiskProfile { agent, model, line });
        }
    }
    Calibrated { model, risk, shortages }
}

/// What is usual, without a line.
fn usual_line(usual: &Usual) -> RiskLine {
    RiskLine {
        usual_turns: usual.turns(),
        spread: usual.spread(),
        success: usual.success(),
        ..RiskLine::default()
    }
}

/// How many runs each agent and model has.
fn runs_by_kind<'r>(records: &[&'r Record]) -> BTreeMap<(&'r str, &'r str), usize> {
    let mut runs = BTreeMap::new();
    for record in records {
        *runs.entry((&*record.episode.agent, &*record.episode.model)).or_default() += 1;
    }
    runs
}

/// The good runs of each agent and model, of each agent, and all.
#[derive(Default)]
struct Goods<'r> {
    by_model: BTreeMap<(&'r str, &'r str), Highest>,
    by_agent: BTreeMap<&'r str, Highest>,
    all: Highest,
}

/// A line, or why there is none.
struct Drawn {
    line: Option<f32>,
    /// Good runs that the line rests on; 0 without one.
    rests_on: usize,
    instead: Option<Instead>,
}

impl<'r> Goods<'r> {
    fn of(records: &[&'r Record], model: &Model, unseen: &[f32]) -> Self {
        let mut goods = Self::default();
        for (record, unseen) in records.iter().zip(unseen).filter(|(record, _)| record.is_good()) {
            let (agent, name) = (&*record.episode.agent, &*record.episode.model);
            let ended = *unseen == f32::INFINITY;
            let seen = if ended { *unseen } else { model.highest(record) };
            goods.by_model.entry((agent, name)).or_default().push(*unseen, seen);
            goods.by_agent.entry(agent).or_default().push(*unseen, seen);
            goods.all.push(*unseen, seen);
        }
        goods
    }

    /// How many an agent and model has.
    fn own(&self, agent: &'r str, model: &'r str) -> usize {
        self.by_model.get(&(agent, model)).map_or(0, Highest::len)
    }

    /// The line of an agent and model that has so many runs.
    fn draw(&mut self, agent: &'r str, model: &'r str, runs: usize, alpha: f64) -> Drawn {
        let enough = |it: &&mut Highest| it.len() >= fewest(alpha);
        let own = self.by_model.get_mut(&(agent, model)).filter(enough);
        let (highest, instead) = match own {
            Some(own) => (own, None),
            None => match self.by_agent.get_mut(agent).filter(enough) {
                Some(of_agent) => (of_agent, Some(Instead::Agent)),
                None => (&mut self.all, Some(Instead::All)),
            },
        };
        let why = match highest.len() {
            _ if agent.is_empty() => Why::Unnamed,
            _ if runs < FEWEST_RUNS => Why::FewRuns,
            all if all < fewest(alpha) => Why::FewGood { all },
            of => match highest.line(alpha) {
                Some(line) => return Drawn { line: Some(line), rests_on: of, instead },
                None => Why::Ended { ended: highest.ended(), of },
            },
        };
        Drawn { line: None, rests_on: 0, instead: Some(Instead::Nothing(why)) }
    }
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

    /// Those that are ended anyway.
    fn ended(&self) -> usize {
        self.unseen.iter().filter(|risk| **risk == f32::INFINITY).count()
    }

    /// The higher of two lines. The first allows for what a model makes of runs it does not know.
    /// The second allows for the models of the parts being a little off the one that is used:
    /// many runs share the same risk, and a hair decides on which side of the line they are.
    fn line(&mut self, alpha: f64) -> Option<f32> {
        let seen = line(&mut self.seen, alpha)?;
        let line = line(&mut self.unseen, alpha)?.max(seen);
        // Upwards, towards patience, to a number that a person can read.
        Some((f64::from(line) * 1000.0).ceil() as f32 / 1000.0)
    }
}

/// The highest risk of each run, by a model of runs of other instances; infinite where the run is
/// ended anyway.
fn cross_fitted(records: &[&Record], fit: &impl Fn(&[&Record]) -> Model) -> Vec<f32> {
    // Another split than the one that figures are measured by.
    let fold = |record: &&Record| fold_of(&format!("line {}", record.episode.cluster()), FOLDS);
    let folds: Vec<u32> = records.iter().map(fold).collect();
    let mut highest = vec![f32::NEG_INFINITY; records.len()];
    for part in 0..FOLDS {
        let placed = || records.iter().copied().zip(&folds);
        let others: Vec<&Record> =
            placed().filter(|(_, fold)| **fold != part).map(|(record, _)| record).collect();
        if others.len() == records.len() {
            continue;
        }
        let model = fit(&others);
        for (highest, (record, fold)) in highest.iter_mut().zip(placed()) {
            if *fold == part && record.is_good() {
                let ended = record.ended().is_some();
                *highest = if ended { f32::INFINITY } else { model.highest(record) };
            }
        }
    }
    highest
}
