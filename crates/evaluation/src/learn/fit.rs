//! Fits a model on runs.

use steersman_engine::policy::Risk;
use steersman_engine::risk;

use super::additive::Additive;
use super::samples::{Courses, Samples};
use super::{Moment, Record, Usuals, stopping};

/// A fitted model, without lines.
#[derive(Clone, Debug)]
pub struct Model {
    /// Base and tables.
    pub risk: Risk,
    /// What is usual for each agent and model.
    pub usuals: Usuals,
}

/// Fits a model on these runs.
#[must_use]
pub fn fit(records: &[&Record]) -> Model {
    let usuals = Usuals::of(records);
    let mut model = Additive::fit(&Samples::pick(records, &usuals));
    stopping::improve(&mut model, &Courses::of(records, &usuals));
    Model { risk: model.to_policy(), usuals }
}

impl Model {
    /// The risk at a moment of a run, exactly as the engine finds it.
    #[must_use]
    pub fn risk_at(&self, record: &Record, moment: &Moment) -> f32 {
        let usual = self.usuals.get(&record.episode.agent, &record.episode.model);
        risk::sum(&self.risk, &moment.values_for(usual))
    }

    /// The highest risk of a run before its last turn; lowest of all if it has but one.
    #[must_use]
    pub fn highest(&self, record: &Record) -> f32 {
        let usual = self.usuals.get(&record.episode.agent, &record.episode.model);
        let risks = record.moments.iter().map(|it| risk::sum(&self.risk, &it.values_for(usual)));
        risks.fold(f32::NEG_INFINITY, f32::max)
    }
}
