//! `steersman keys list`.

use std::process::ExitCode;

use serde_json::json;
use steersman_gateway::budget::{DAY_MS, dollars};
use steersman_gateway::keys::{Grant, Key};
use steersman_store::{Accounts, KeyRecord, Spending, SqliteStore, StoreError};

use super::args::ListArgs;
use super::{now_ms, place_of};
use crate::grid::{Cell, Column, Grid};
use crate::run::{block_on, date_and_time, money, shown, tokens, write};
use crate::screen::{Screen, Tone, say};
use crate::text::plain;

pub(super) fn list(args: &ListArgs, screen: Screen) -> Result<ExitCode, String> {
    let place = place_of(&args.store)?;
    // Looking does not make the file.
    let now_ms = now_ms();
    let keys = if place.file().exists() {
        let store = place.open_sqlite()?;
        let read = async { read(&store, now_ms / DAY_MS).await };
        block_on(async { read.await.map_err(|error| error.to_string()) })?
    } else {
        Vec::new()
    };
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

/// A key and what was used under it.
struct Line {
    record: KeyRecord,
    today: Spending,
    in_all: Spending,
}

async fn read(store: &SqliteStore, day: u64) -> Result<Vec<Line>, StoreError> {
    let (today, in_all) = (store.spent(day).await?, store.spent(0).await?);
    let of = |list: &[Spending], name: &str| {
        list.iter().find(|one| one.account == name).cloned().unwrap_or_default()
    };
    let line = |record: KeyRecord| Line {
        today: of(&today, &record.name),
        in_all: of(&in_all, &record.name),
        record,
    };
    Ok(store.keys().await?.into_iter().map(line).collect())
}

/// What a key allows, in words.
pub(super) fn allows(grant: Option<&Grant>) -> String {
    let Some(grant) = grant else { return "nothing: of a later version".to_owned() };
    let models = match grant.models.as_slice() {
        [] => "all models".to_owned(),
        models => plain(&models.join(", ")),
    };
    let mut words = vec![models];
    if grant.any_path {
        words.push("any path".to_owned());
    }
    for (budget, span) in [(&grant.budgets.per_day, "a day"), (&grant.budgets.in_all, "in all")] {
        let limits = [
            budget.tokens.map(|limit| format!("{limit} tokens")),
            budget.cost_nanodollars.map(dollars),
            budget.calls.map(|limit| format!("{limit} calls")),
        ];
        words.extend(limits.into_iter().flatten().map(|limit| format!("{limit} {span}")));
    }
    words.join(", ")
}

/// What was used, in words; empty if nothing was.
fn used(spent: &Spending) -> String {
    if spent.calls == 0 {
        return String::new();
    }
    let mut words = tokens(spent.input_tokens.saturating_add(spent.output_tokens));
    if spent.cost_nanodollars > 0 {
        words.push_str(&format!(" {}", money(spent.cost_nanodollars)));
    }
    // What is not known is no nothing.
    if spent.untold_calls > 0 || spent.unpriced_calls > 0 && spent.cost_nanodollars > 0 {
        words.push('+');
    }
    words
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

fn as_json(Line { record, today, in_all }: &Line, now_ms: u64) -> String {
    let used = |spent: &Spending| {
        json!({
            "calls": spent.calls,
            "input_tokens": spent.input_tokens,
            "output_tokens": spent.output_tokens,
            "cost_nanodollars": spent.cost_nanodollars,
            "untold_calls": spent.untold_calls,
            "unpriced_calls": spent.unpriced_calls,
        })
    };
    json!({
        "key": record.name,
        "standing": standing(record, now_ms).0,
        "created_ms": record.created_ms,
        "expires_ms": record.expires_ms,
        "revoked_ms": record.revoked_ms,
        "grant": Key::from(record).grant,
        "today": used(today),
        "in_all": used(in_all),
    })
    .to_string()
}

fn table(keys: &[Line], now_ms: u64) -> Grid {
    let mut grid = Grid::new(vec![
        Column::left("key"),
        Column::left("standing"),
        Column::left("made (UTC)").rank(2),
        Column::left("until (UTC)").rank(1).optional(),
        Column::right("used today").rank(3).optional(),
        Column::right("in all").rank(4).optional(),
        Column::left("for").cut_end(10).comfort(20),
    ]);
    for Line { record, today, in_all } in keys {
        let (standing, tone) = standing(record, now_ms);
        let until = record.revoked_ms.or(record.expires_ms).map(date_and_time);
        grid.push(vec![
            Cell::new(&record.name),
            Cell::new(standing).toned(tone),
            Cell::new(date_and_time(record.created_ms)),
            Cell::new(until.unwrap_or_default()),
            Cell::new(used(today)),
            Cell::new(used(in_all)),
            Cell::new(allows(Key::from(record).grant.as_ref())),
        ]);
    }
    grid
}
