//! What people make of interventions.

use http::{StatusCode, request};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use steersman_store::SessionId;
use steersman_timeline::Mark;

use super::body::{Incoming, json_body};
use super::reply::{Refused, Reply, json};
use super::runs::Wish;
use super::types::is_gateway;
use super::{Api, not_governing, refused, who};

/// What a person makes of an intervention.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewMark {
    /// The journal's entry of the decision, or of the words that were said.
    pub seq: u64,
    /// What is made of it; `none` takes an earlier mark back.
    pub mark: Mark,
    /// Why, at most 1 KiB.
    #[serde(default)]
    pub note: Option<String>,
}

/// A mark that was written down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Marked {
    /// The session.
    pub session: String,
    /// Who made it.
    pub who: String,
    /// The mark.
    #[serde(flatten)]
    pub mark: NewMark,
}

/// Longest note of a mark, in bytes.
const MAX_NOTE: usize = 1 << 10;
/// Entries that can be marked.
const MARKED: [&str; 3] = ["decided", "said", "rescued"];

impl Api {
    pub(super) async fn mark<B: Incoming>(
        &self,
        id: &SessionId,
        head: &request::Parts,
        body: B,
    ) -> Result<Reply, Refused> {
        let mark: NewMark = json_body(head, body).await?;
        if mark.note.as_ref().is_some_and(|note| note.len() > MAX_NOTE) {
            return Err(Refused::bad(format!("`note` has at most {MAX_NOTE} bytes")));
        }
        let store = &self.with.store;
        let summary = store.session(id).await?.ok_or_else(|| Refused::unknown(id.as_str()))?;
        let before = mark.seq.checked_sub(1);
        let found = match before {
            Some(before) => store.read(id, before, 1).await?.pop(),
            None => None,
        };
        if !found.is_some_and(|entry| MARKED.contains(&entry.kind.as_str())) {
            let why =
                format!("entry {} is no intervention: neither a decision nor words", mark.seq);
            return Err(Refused::new(StatusCode::NOT_FOUND, "unknown_entry", why));
        }
        let (who, at_ms) = (who(head), (self.with.clock)());
        if is_gateway(&summary) {
            let helm = self.with.helm.as_ref().ok_or_else(not_governing)?;
            helm.mark(id.as_str(), &who, &mark).map_err(|error| refused(id, error))?;
        } else {
            let runs = self.with.runs.as_ref().ok_or_else(not_governing)?;
            let wish = Wish { who: &who, what: &mark, at_ms };
            runs.mark(store, &summary, wish).await.map_err(|error| refused(id, error))?;
        }
        Ok(json(&Marked { session: id.to_string(), who, mark }))
    }
}
