//! Built-in policies and presets.

use alloc::string::ToString;

use serde::{Deserialize, Serialize};

use super::{Ceiling, Policy};

/// The presets of document B (B6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Preset {
    /// Checkpoints 15 and 30, check every 3 turns, stuck after 2.
    Aggressive,
    /// Checkpoints 20 and 40, check every 5 turns, stuck after 3.
    Standard,
    /// Checkpoints 25 and 50, check every 7 turns, stuck after 4.
    Lenient,
}

impl Preset {
    /// The numbers of the preset: checkpoints, check interval, stuck threshold.
    #[must_use]
    pub const fn numbers(self) -> ([u32; 2], u32, u32) {
        match self {
            Self::Aggressive => ([15, 30], 3, 2),
            Self::Standard => ([20, 40], 5, 3),
            Self::Lenient => ([25, 50], 7, 4),
        }
    }
}

impl Default for Policy {
    /// The policy `default`: what the evidence shows to be better.
    fn default() -> Self {
        Self {
            version: 1,
            name: "default".to_string(),
            mode: super::Mode::default(),
            rules: super::Rules::default(),
            continuation: super::Continuation::default(),
            task_types: super::TaskTypes::default(),
            model_overrides: Default::default(),
            global: super::Global::default(),
            loops: super::Loops::default(),
            tests: super::TestProgress::default(),
            ladder: super::Ladder::default(),
            limits: super::Limits::default(),
            retry: super::Retry::default(),
            risk: super::Risk::default(),
            tools: Default::default(),
            texts: Default::default(),
            wording: super::Wording::default(),
        }
    }
}

impl Policy {
    /// The names of the built-in policies.
    pub const BUILT_IN: &'static [&'static str] =
        &["default", "classic", "aggressive", "standard", "lenient"];

    /// A built-in policy by name; `None` if there is none of that name. `aggressive`, `standard`
    /// and `lenient` are `default` with the numbers of the preset.
    #[must_use]
    pub fn built_in(name: &str) -> Option<Self> {
        match name {
            "default" => Some(Self::default()),
            "classic" => Some(Self::classic()),
            "aggressive" => Some(Self::default().with_preset(Preset::Aggressive)),
            "standard" => Some(Self::default().with_preset(Preset::Standard)),
            "lenient" => Some(Self::default().with_preset(Preset::Lenient)),
            _ => None,
        }
    }

    /// The policy `classic`: the numbers and rules of the source documents, exactly.
    #[must_use]
    pub fn classic() -> Self {
        let mut policy = Self { name: "classic".to_string(), ..Self::default() };
        policy.global.max_total_iterations = Some(50);
        for &rule in super::RuleId::ALL {
            policy.rules.set(rule, Ceiling::Off);
        }
        for rule in Self::CLASSIC_RULES {
            policy.rules.set(*rule, Ceiling::End);
        }
        policy.model_overrides.insert(
            "deepseek*".to_string(),
            super::ModelOverride {
                exploration_multiplier: 1.5,
                continuation_patience: 5,
                ..super::ModelOverride::default()
            },
        );
        policy.model_overrides.insert("claude*".to_string(), super::ModelOverride::default());
        policy.with_tests(Preset::Standard)
    }

    /// The rules that `classic` asks.
    const CLASSIC_RULES: &'static [super::RuleId] = {
        use super::RuleId as R;
        &[
            R::StopRequested,
            R::AnswerOverdue,
            R::FailedCall,
            R::Budget,
            R::ToolBudget,
            R::SignatureLoop,
            R::MaxIterations,
            R::GoalForcing,
            R::ComplexityLimit,
            R::StuckLoop,
            R::Score,
            R::TokenBudget,
            R::Protocol,
            R::StuckTests,
            R::StrategyCheckpoint,
        ]
    };

    /// This policy with the numbers of a preset, and named after it (B6).
    #[must_use]
    pub fn with_preset(self, preset: Preset) -> Self {
        let name = match preset {
            Preset::Aggressive => "aggressive",
            Preset::Standard => "standard",
            Preset::Lenient => "lenient",
        };
        let mut policy = self.with_tests(preset);
        policy.rules.strategy_checkpoint = Ceiling::Urge;
        policy.name = name.to_string();
        policy
    }

    fn with_tests(mut self, preset: Preset) -> Self {
        let (checkpoints, every, stuck) = preset.numbers();
        self.tests.reevaluate_at = checkpoints.to_vec();
        self.tests.check_every = Some(every);
        self.tests.stuck_after = stuck;
        self
    }
}
