//! The risk that a run fails: what is measured, and what a policy's tables make of it.
//!
//! Everything is read from the state in constant time. Without tables in the section `risk` of the
//! policy nothing is measured; with them every decision they lead to shows the largest parts of the
//! sum.

use alloc::vec::Vec;
use core::fmt;

use serde::{Deserialize, Serialize};

use crate::policy::{Policy, Risk, RiskTable};
use crate::state::State;

macro_rules! features {
    ($($(#[$doc:meta])* $id:ident $key:ident,)*) => {
        /// What the risk is read from.
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(rename_all = "snake_case")]
        pub enum RiskFeature { $($(#[$doc])* $id,)* }

        impl RiskFeature {
            /// Every feature, in order.
            pub const ALL: &'static [Self] = &[$(Self::$id,)*];

            /// The feature's key in the policy file.
            #[must_use]
            pub const fn key(self) -> &'static str {
                match self { $(Self::$id => stringify!($key),)* }
            }
        }

        /// What each feature adds to the risk. Default: nothing.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(default, deny_unknown_fields)]
        pub struct RiskTables { $($(#[$doc])* pub $key: RiskTable,)* }

        impl RiskTables {
            /// The table of a feature.
            #[must_use]
            pub const fn of(&self, feature: RiskFeature) -> &RiskTable {
                match feature { $(RiskFeature::$id => &self.$key,)* }
            }

            /// Sets the table of a feature.
            pub fn set(&mut self, feature: RiskFeature, table: RiskTable) {
                match feature { $(RiskFeature::$id => self.$key = table,)* }
            }
        }
    };
}

features! {
    /// Turns so far against what is usual: (ln turns − ln usual) / ln spread.
    Length length,
    /// Log odds that a run of this agent and model succeeds; the same all through a run.
    Success success,
    /// Of the last 16 turns those whose calls brought nothing that was not seen before in the run.
    SeenBefore seen_before,
    /// Turns in a row that brought nothing new since the last change.
    Stale stale,
    /// Share of the last 16 turns with tools in which every call failed.
    Errors errors,
    /// Turns since something was changed last; since the start if nothing was.
    SinceChange since_change,
    /// Changes per turn.
    Changes changes,
    /// Turns in a row without a tool call.
    WithoutTools without_tools,
    /// Calls in a row of the same tool.
    SameTool same_tool,
    /// Share of the calls that came back empty.
    Empty empty,
    /// Mean length of the replies' texts in bytes.
    ReplyLength reply_length,
    /// Mean length of the results in bytes.
    ResultLength result_length,
}

/// Values of every feature, in the order of [`RiskFeature::ALL`].
pub type RiskValues = [f32; RiskFeature::ALL.len()];

/// Measures a run. All zero where the section `risk` has no tables.
#[must_use]
pub fn measure(state: &State) -> RiskValues {
    let Some(track) = &state.risk else { return RiskValues::default() };
    let per_turn = |count: f64| (count / f64::from(state.turns.max(1))) as f32;
    core::array::from_fn(|at| match RiskFeature::ALL[at] {
        RiskFeature::Length => length(state.turns, track.line.usual_turns, track.line.spread),
        RiskFeature::Success => track.line.success,
        RiskFeature::SeenBefore => track.seen_before() as f32,
        RiskFeature::Stale => state.loops.stale.count as f32,
        RiskFeature::Errors => state.loops.error_rate(),
        RiskFeature::SinceChange => state.turns.saturating_sub(track.last_change) as f32,
        RiskFeature::Changes => per_turn(f64::from(state.loops.changes)),
        RiskFeature::WithoutTools => state.turns_without_tools as f32,
        RiskFeature::SameTool => track.same_tool as f32,
        RiskFeature::Empty => track.empty as f32 / state.tool_calls.max(1) as f32,
        RiskFeature::ReplyLength => per_turn(track.reply_bytes as f64),
        RiskFeature::ResultLength => track.result_bytes as f32 / track.results.max(1) as f32,
    })
}

/// Turns against what is usual, in spreads.
#[must_use]
pub fn length(turns: u32, usual: f32, spread: f32) -> f32 {
    (libm::logf(turns.max(1) as f32) - libm::logf(usual)) / libm::logf(spread)
}

/// One part of a risk.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RiskPart {
    /// What was measured.
    pub feature: RiskFeature,
    /// Its value; for [`RiskFeature::Length`] the turns as a multiple of the usual ones.
    pub value: f32,
    /// What it adds to the risk.
    pub adds: f32,
}

/// The risk of a run and what it is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct Assessment {
    /// The sum.
    pub risk: f32,
    /// What was added, the largest first.
    pub parts: Vec<RiskPart>,
}

/// Assesses a run by the section `risk` of a policy; `None` where it has no
/// tables.
#[must_use]
pub fn assess(state: &State, policy: &Policy) -> Option<Assessment> {
    let model = &policy.risk;
    let track = state.risk.as_ref()?;
    let values = measure(state);
    let mut parts: Vec<RiskPart> = RiskFeature::ALL
        .iter()
        .zip(values)
        .filter(|(feature, _)| !model.tables.of(**feature).is_empty())
        .map(|(feature, value)| {
            let adds = model.tables.of(*feature).at(value);
            let shown = match feature {
                RiskFeature::Length => state.turns as f32 / track.line.usual_turns,
                _ => value,
            };
            RiskPart { feature: *feature, value: shown, adds }
        })
        .collect();
    parts.sort_by(|a, b| b.adds.total_cmp(&a.adds));
    Some(Assessment { risk: sum(model, &values), parts })
}

/// The risk of a run, from the values of its features. Summed in the order of the features, so that
/// the same values always give the same number.
#[must_use]
pub fn sum(model: &Risk, values: &RiskValues) -> f32 {
    RiskFeature::ALL
        .iter()
        .zip(values)
        .fold(model.base, |risk, (feature, value)| risk + model.tables.of(*feature).at(*value))
}

impl fmt::Display for RiskPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { feature, value, adds } = self;
        let percent = value * 100.0;
        let turns = if *value == 1.0 { "turn" } else { "turns" };
        match feature {
            RiskFeature::Length => write!(f, "{value:.1} times the usual turns"),
            RiskFeature::Success => {
                let share = 100.0 / (1.0 + libm::expf(-value));
                write!(f, "{share:.0} % of such runs succeed")
            }
            RiskFeature::SeenBefore => {
                write!(f, "{value:.0} of the last 16 turns brought only what was seen before")
            }
            RiskFeature::Stale => write!(f, "{value:.0} {turns} in a row brought nothing new"),
            RiskFeature::Errors => write!(f, "every call failed in {percent:.0} % of recent turns"),
            RiskFeature::SinceChange => write!(f, "{value:.0} {turns} since the last change"),
            RiskFeature::Changes => write!(f, "{value:.2} changes per turn"),
            RiskFeature::WithoutTools => {
                write!(f, "{value:.0} {turns} in a row without a tool call")
            }
            RiskFeature::SameTool => write!(f, "{value:.0} calls in a row of one tool"),
            RiskFeature::Empty => write!(f, "{percent:.0} % of the calls came back empty"),
            RiskFeature::ReplyLength => write!(f, "replies of {value:.0} bytes on average"),
            RiskFeature::ResultLength => write!(f, "results of {value:.0} bytes on average"),
        }?;
        write!(f, " ({adds:+.1})")
    }
}
