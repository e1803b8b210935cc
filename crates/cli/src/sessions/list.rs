//! `steersman sessions list`.

use std::process::ExitCode;

use serde_json::json;
use steersman_store::{Filter, Store, Summary};

use super::args::ListArgs;
use super::find;
use super::standing::Standing;
use crate::grid::{Cell, Column, Grid};
use crate::run::{Place, block_on, date_and_time, money, shown, tokens, write};
use crate::screen::Screen;
use crate::text::plain;

/// How many sessions are looked at in one go.
const PAGE: usize = 500;

pub(super) fn list(args: &ListArgs, screen: Screen) -> Result<ExitCode, String> {
    let place = Place::of(&args.store)?;
    let found = match find::open(&place)? {
        Some(store) => block_on(async { wanted(&*store, args).await })?,
        None => Vec::new(),
    };
    if args.json {
        let lines: Vec<String> = found.iter().map(as_json).collect();
        write(&lines);
    } else if found.is_empty() {
        crate::screen::say(&format!("no such sessions in {}", shown(&place.file())));
    } else {
        let table = table(&found).render(screen);
        write(&table.lines().map(str::to_owned).collect::<Vec<_>>());
    }
    Ok(ExitCode::SUCCESS)
}

async fn wanted(store: &dyn Store, args: &ListArgs) -> Result<Vec<(Summary, Standing)>, String> {
    let limit = usize::try_from(args.limit).unwrap_or(usize::MAX);
    let mut filter = Filter { text: args.text.clone(), limit: PAGE, ..Filter::default() };
    let mut found = Vec::new();
    loop {
        let page = store.sessions(&filter).await.map_err(|error| error.to_string())?;
        let Some(last) = page.last() else { return Ok(found) };
        filter.before = Some(last.position());
        for summary in page {
            let standing = Standing::of(&summary);
            let fits = (!args.running || standing == Standing::Running)
                && (!args.ended || standing.is_ended());
            if fits {
                found.push((summary, standing));
            }
            if found.len() == limit {
                return Ok(found);
            }
        }
    }
}

fn as_json((summary, standing): &(Summary, Standing)) -> String {
    let head = &summary.head;
    json!({
        "session": summary.id.as_str(),
        "standing": standing.name(),
        "created_ms": summary.created_ms,
        "updated_ms": summary.updated_ms,
        "entries": summary.last_seq,
        "task": head.title,
        "agent": head.agent,
        "model": head.model,
        "workspace": head.workspace,
        "turns": head.turns,
        "calls": head.tool_calls,
        "tokens": head.tokens,
        "cost_nanodollars": head.cost_nanos,
    })
    .to_string()
}

fn table(found: &[(Summary, Standing)]) -> Grid {
    let mut grid = Grid::new(vec![
        Column::left("session"),
        Column::left("standing"),
        Column::left("began (UTC)").rank(3),
        Column::right("turns").rank(1),
        Column::right("calls").rank(2),
        Column::right("tokens").rank(2),
        Column::right("cost").rank(4).optional(),
        Column::left("agent").rank(3).optional(),
        Column::left("task").cut_end(20).comfort(30),
    ]);
    for (summary, standing) in found {
        let head = &summary.head;
        let cost = head.cost_nanos.filter(|cost| *cost > 0).map(money);
        grid.push(vec![
            Cell::new(summary.id.as_str()),
            Cell::new(standing.name()).toned(standing.tone()),
            Cell::new(date_and_time(summary.created_ms)),
            Cell::number(head.turns),
            Cell::number(head.tool_calls),
            Cell::new(head.tokens.map_or_else(String::new, tokens)),
            Cell::new(cost.unwrap_or_default()),
            Cell::new(plain(head.agent.as_deref().unwrap_or_default())),
            Cell::new(plain(&head.title)),
        ]);
    }
    grid
}
