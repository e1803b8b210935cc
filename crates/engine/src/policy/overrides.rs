//! Section `model_overrides` (document D).

use serde::{Deserialize, Serialize};

/// Settings of one model or family of models (D2, D8).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ModelOverride {
    /// Factor on `task_types.*.max_exploration_iterations`, above 0 to 10, default 1.0 (D6).
    pub exploration_multiplier: f32,
    /// Turns without tool calls that are tolerated, 1–100, default 3.
    pub continuation_patience: u32,
    /// Whether loops are looked for at all, default true (D8).
    pub loop_detection: bool,
    /// Context window in tokens; `None` takes the run's or the policy's. Default `None`.
    pub context_window: Option<u64>,
}

impl Default for ModelOverride {
    fn default() -> Self {
        Self {
            exploration_multiplier: 1.0,
            continuation_patience: 3,
            loop_detection: true,
            context_window: None,
        }
    }
}

/// Whether `glob` matches `name`, ignoring ASCII case. `*` stands for any run of characters, `?`
/// for one; everything else stands for itself.
#[must_use]
pub fn glob_matches(glob: &str, name: &str) -> bool {
    let (glob, name) = (glob.as_bytes(), name.as_bytes());
    let (mut g, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        let matched = g < glob.len()
            && glob[g] != b'*'
            && (glob[g] == b'?' || glob[g].eq_ignore_ascii_case(&name[n]));
        if matched {
            (g, n) = (g + 1, n + 1);
        } else if g < glob.len() && glob[g] == b'*' {
            star = Some((g, n));
            g += 1;
        } else if let Some((at, from)) = star {
            star = Some((at, from + 1));
            (g, n) = (at + 1, from + 1);
        } else {
            return false;
        }
    }
    glob[g..].iter().all(|&byte| byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::glob_matches;

    #[test]
    fn globs_match_whole_names() {
        let cases = [
            ("deepseek*", "deepseek-chat", true),
            ("deepseek*", "my-deepseek", false),
            ("*claude*", "anthropic/Claude-Opus", true),
            ("gpt-?", "gpt-5", true),
            ("gpt-?", "gpt-5.5", false),
            ("*", "", true),
            ("a*b*c", "aXXbYYbZc", true),
            ("a*b*c", "aXXbYYbZ", false),
            ("", "", true),
            ("", "x", false),
        ];
        for (glob, name, expected) in cases {
            assert_eq!(glob_matches(glob, name), expected, "{glob} against {name}");
        }
    }
}
