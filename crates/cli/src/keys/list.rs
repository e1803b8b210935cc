//! `steersman keys list`.

use std::process::ExitCode;

use serde_json::json;
use steersman_gateway::keys::{Grant, Key};
use steersman_store::{Accounts, KeyRecord};

use super::args::ListArgs;
use super::{now_ms, place_of};
use crate::grid::{Cell, Column, Grid};
use crate::run::{block_on, date_and_time, shown, write};
use crate::screen::{Screen, Tone, say};
use crate::text::plain;

pub(super) fn list(args: &ListArgs, screen: Screen) -> Result<ExitCode, String> {
    let place = place_of(&args.store)?;
    // Looking does not make the file.
    let keys = if place.file().exists() {
        let store = place.open_sqlite()?;
        block_on(async { store.keys().await.map_err(|error| error.to_string()) })?
    } else {
        Vec::new()
    };
    let now_ms = now_ms();
    if args.json {
        write(&keys.iter().map(|key| as_json(key, now_ms)).collect::<Vec<_>>());
    } else if keys.is_empty() {
        say(&format!("no keys in {}", shown(&place.file())));
    } else {
        let table = table(&keys, now_ms).render(screen);
        write(&table.lines().map(str::to_owned).collect::<Vec<_>>());
    }
    Ok(ExitCode::SUCCESS)
}

/// What a key allows, in words.
pub(super) fn allows(grant: Option<&Grant>) -> String {
    let Some(grant) = grant else { return "nothing: of a later version".to_owned() };
    let models = match grant.models.as_slice() {
        [] => "all models".to_owned(),
        models => plain(&models.join(", ")),
    };
    if grant.any_path { format!("{models}, any path") } else { models }
}

fn standing(key: &KeyRecord, now_ms: u64) -> (&'static str, Tone) {
    if key.revoked_ms.is_some() {
        ("revoked", Tone::Bad)
    } else if key.expires_ms.is_some_and(|at| at <= now_ms) {
        ("expired", Tone::Warn)
    } else {
        ("holds", Tone::Good)
    }
}

fn as_json(record: &KeyRecord, now_ms: u64) -> String {
    json!({
        "key": record.name,
        "standing": standing(record, now_ms).0,
        "created_ms": record.created_ms,
        "expires_ms": record.expires_ms,
        "revoked_ms": record.revoked_ms,
        "grant": Key::from(record).grant,
    })
    .to_string()
}

fn table(keys: &[KeyRecord], now_ms: u64) -> Grid {
    let mut grid = Grid::new(vec![
        Column::left("key"),
        Column::left("standing"),
        Column::left("made (UTC)").rank(2),
        Column::left("until (UTC)").rank(1).optional(),
        Column::left("for").cut_end(10).comfort(20),
    ]);
    for record in keys {
        let (standing, tone) = standing(record, now_ms);
        let until = record.revoked_ms.or(record.expires_ms).map(date_and_time);
        grid.push(vec![
            Cell::new(&record.name),
            Cell::new(standing).toned(tone),
            Cell::new(date_and_time(record.created_ms)),
            Cell::new(until.unwrap_or_default()),
            Cell::new(allows(Key::from(record).grant.as_ref())),
        ]);
    }
    grid
}
