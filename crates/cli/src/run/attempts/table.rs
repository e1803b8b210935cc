//! All attempts in a table.

use steersman_agent::{Ending, Side, SideEnded, Sides};

use super::super::face::{money, tokens};
use crate::grid::{Cell, Column, Grid};
use crate::screen::{Screen, Tone};

/// All attempts in a table, and where their states are.
pub(super) fn lines(sides: &Sides, screen: Screen) -> Vec<String> {
    let mut grid = Grid::new(vec![
        Column::right("attempt"),
        Column::left("approach").cut_end(8).rank(2),
        Column::left("ended"),
        Column::left("tests").optional(),
        Column::left("change"),
        Column::right("turns").rank(1),
        Column::right("tokens").rank(1),
        Column::right("cost").optional().rank(1),
        Column::left("").optional(),
    ]);
    for side in &sides.begun.sides {
        let Some(end) = sides.ended.iter().find(|end| end.number == side.number) else { continue };
        let chosen = sides.chosen == Some(side.number);
        let mark = if chosen { Cell::new("← chosen").toned(Tone::Good) } else { Cell::default() };
        let cost =
            if end.cost_nanodollars > 0 { money(end.cost_nanodollars) } else { String::new() };
        grid.push(vec![
            Cell::number(side.number.into()),
            Cell::new(&side.stance),
            ended(end),
            Cell::new(tests(end)),
            Cell::new(change(end)),
            Cell::number(end.turns.into()),
            Cell::new(tokens(end.input_tokens.saturating_add(end.output_tokens))),
            Cell::new(cost),
            mark,
        ]);
    }
    let mut lines = vec![String::new()];
    lines.extend(grid.render(screen).lines().map(|line| line.trim_end().to_owned()));
    lines.push(String::new());
    let ended = |side: &Side| sides.ended.iter().find(|end| end.number == side.number);
    let ends = sides.begun.sides.iter().filter_map(ended);
    for end in ends.filter(|end| !end.kept.is_empty()) {
        let what = format!("attempt {} is kept as {}", end.number, end.kept);
        lines.push(screen.paint(Tone::Dim, &what));
    }
    lines
}

fn ended(end: &SideEnded) -> Cell {
    match end.ending() {
        None => Cell::new("not begun").toned(Tone::Dim),
        Some(Ending::Complete) => Cell::new("complete").toned(Tone::Good),
        Some(ending) => Cell::new(ending.name()),
    }
}

fn tests(end: &SideEnded) -> String {
    let tests = |(failed, passed)| format!("{failed} failing, {passed} passing");
    end.tests.map_or_else(String::new, tests)
}

fn change(end: &SideEnded) -> String {
    if end.state.is_empty() {
        return String::new();
    }
    let files = super::super::face::count(end.files.into(), "file");
    format!("{files}, +{} −{}", end.insertions, end.deletions)
}
