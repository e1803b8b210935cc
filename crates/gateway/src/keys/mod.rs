//! Virtual keys: who may use the gateway, and for what.
//!
//! A client sends one where its wire format puts a key. It is taken out of the request before
//! anything else is done with it, looked up by its hash, and never goes on, nor into a journal.

mod admit;
mod models;
mod presented;
mod ring;
mod secret;

use serde::{Deserialize, Serialize};
use steersman_engine::policy::glob_matches;
use steersman_store::KeyRecord;
use steersman_wire::Format;

pub(crate) use admit::{admit, forbidden};
pub use ring::{LOOK, MISS_PAUSE, Ring};
pub use secret::{KeyHash, NoRandomness, PREFIX, Secret};

use crate::api::decode;
use crate::budget::Budgets;

/// Most names of models in a grant.
pub const MAX_MODELS: usize = 64;

/// What a key allows, as it is stored. Fields are only added; a gateway that does not know one of
/// them refuses the key, because it cannot hold to it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Grant {
    /// The models that may be asked for; texts may hold `*`. At most 64. Empty: all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<String>,
    /// Whether it may ask for everything the model servers offer. By default only models may be
    /// called and listed, and tokens be counted: nothing else is held to any limit.
    #[serde(skip_serializing_if = "is_false")]
    pub any_path: bool,
    /// What may be used under it. Default: no limit.
    #[serde(skip_serializing_if = "Budgets::is_none")]
    pub budgets: Budgets,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
const fn is_false(value: &bool) -> bool {
    !*value
}

impl Grant {
    /// Whether a model may be asked for.
    pub(crate) fn fits(&self, model: &str) -> bool {
        // In a path `a/../b` is `b`.
        let is_allowed = || self.models.iter().any(|glob| glob_matches(glob, model));
        self.models.is_empty() || (!model.contains("..") && is_allowed())
    }
}

/// A key that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// Its name.
    pub name: String,
    /// From when on it does not hold, in milliseconds since 1970; `None`: it does not expire.
    pub expires_ms: Option<u64>,
    /// When it was revoked, in milliseconds since 1970; `None`: it was not.
    pub revoked_ms: Option<u64>,
    /// What it allows; `None`: a later version of the program wrote it, and it holds for nothing.
    pub grant: Option<Grant>,
}

impl From<&KeyRecord> for Key {
    fn from(record: &KeyRecord) -> Self {
        Self {
            name: record.name.clone(),
            expires_ms: record.expires_ms,
            revoked_ms: record.revoked_ms,
            grant: serde_json::from_str(&record.body).ok(),
        }
    }
}

impl Key {
    /// Whether it may ask a model with this body.
    ///
    /// # Errors
    /// Why it may not, in a sentence.
    pub(crate) fn check_model(
        &self,
        format: Format,
        body: &[u8],
        in_path: Option<&str>,
    ) -> Result<(), String> {
        let Some(grant) = &self.grant else { return Ok(()) };
        let allowed = &grant.models;
        if allowed.is_empty() {
            return Ok(());
        }
        let name = &self.name;
        let asked = match in_path.filter(|_| format == Format::Gemini) {
            Some(model) => vec![decode(model).unwrap_or_default()],
            None => models::models_of(body).map_err(|why| {
                format!("the model that the key `{name}` asks for is not clear: {why}")
            })?,
        };
        match asked.iter().find(|model| !grant.fits(model)) {
            None => Ok(()),
            Some(model) => Err(format!(
                "the key `{name}` is not for the model `{}`; allowed: {}",
                model.chars().take(100).collect::<String>(),
                allowed.join(", ")
            )),
        }
    }
}
