//! Finding the session that is meant.

use std::sync::Arc;

use steersman_store::{Filter, MAX_LIMIT, SessionId, Store, Summary};

use crate::run::{Place, block_on};

/// How many names a message shows.
const SHOWN: usize = 5;

/// The store, if there is one: looking does not make it.
pub(super) fn open(place: &Place) -> Result<Option<Arc<dyn Store>>, String> {
    if place.file().exists() { place.open().map(Some) } else { Ok(None) }
}

/// The store, which must be there.
pub(super) fn open_there(place: &Place) -> Result<Arc<dyn Store>, String> {
    let file = place.file();
    open(place)?.ok_or_else(|| {
        format!(
            "there are no sessions: {} does not exist; --state names the folder",
            file.display()
        )
    })
}

/// The id of the session that is meant.
pub(super) fn id_of(place: &Place, word: &str) -> Result<SessionId, String> {
    let store = open_there(place)?;
    block_on(async { Ok(find(&*store, word).await?.id) })
}

/// The session that is meant by its id, by the beginning of it, or by `last`.
pub(super) async fn find(store: &dyn Store, word: &str) -> Result<Summary, String> {
    if word != "last"
        && let Ok(id) = word.parse::<SessionId>()
        && let Some(summary) = store.session(&id).await.map_err(|error| error.to_string())?
    {
        return Ok(summary);
    }
    let latest = word == "last";
    let filter = Filter {
        text: (!latest).then(|| word.to_owned()),
        limit: if latest { 1 } else { MAX_LIMIT },
        ..Filter::default()
    };
    let mut found = store.sessions(&filter).await.map_err(|error| error.to_string())?;
    found.retain(|summary| latest || summary.id.as_str().starts_with(word));
    if word.is_empty() {
        found.clear();
    }
    match found.len() {
        1 => Ok(found.remove(0)),
        0 if latest => Err("there are no sessions".to_owned()),
        0 => Err(format!("no session begins with {word:?}; {}", known(store).await)),
        many => Err(format!("{many} sessions begin with {word:?}: {}", names(&found))),
    }
}

async fn known(store: &dyn Store) -> String {
    let filter = Filter { limit: SHOWN, ..Filter::default() };
    match store.sessions(&filter).await {
        Ok(found) if !found.is_empty() => format!("the latest are: {}", names(&found)),
        _ => "there are none".to_owned(),
    }
}

fn names(found: &[Summary]) -> String {
    let mut names: Vec<&str> =
        found.iter().take(SHOWN).map(|summary| summary.id.as_str()).collect();
    if found.len() > SHOWN {
        names.push("…");
    }
    names.join(", ")
}
