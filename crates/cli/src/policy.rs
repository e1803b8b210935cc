//! The policies named on a command line.

use std::sync::Arc;

use steersman_config::Loaded;
use steersman_engine::Policy;

/// A policy and its name.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    /// The policy.
    pub(crate) policy: Arc<Policy>,
    /// Its name, as shown.
    pub(crate) name: Arc<str>,
}

impl Named {
    /// Loads a policy by name or path, with some keys changed; without a name, the policy file that
    /// holds here, else `default`.
    pub(crate) fn load(
        name: Option<&str>,
        set: &[(String, String)],
        notices: &mut Vec<String>,
    ) -> Result<Self, String> {
        let Loaded { policy, .. } = loaded(name, set, notices)?;
        let name = Arc::from(policy.name.as_str());
        Ok(Self { policy: Arc::new(policy), name })
    }
}

/// As [`Named::load`], with what else is known of the policy.
pub(crate) fn loaded(
    name: Option<&str>,
    set: &[(String, String)],
    notices: &mut Vec<String>,
) -> Result<Loaded, String> {
    let here = || std::env::current_dir().ok();
    let loaded = match name {
        Some(name) => steersman_config::resolve(name),
        None => match here().and_then(|here| steersman_config::find(&here)) {
            Some(path) => steersman_config::load(&path),
            None => steersman_config::resolve("default"),
        },
    };
    let mut loaded = loaded.map_err(|error| error.to_string())?;
    notices.extend(loaded.notices.iter().map(ToString::to_string));
    if !set.is_empty() {
        let set: Vec<(&str, &str)> =
            set.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        let changed = steersman_config::with_overrides(loaded.policy, &set);
        loaded.policy = changed.map_err(|error| error.to_string())?;
    }
    Ok(loaded)
}
