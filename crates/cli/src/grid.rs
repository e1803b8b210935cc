//! Tables that fit the terminal.

use crate::screen::{Screen, Tone};
use crate::text;

/// A table.
#[derive(Debug)]
pub(crate) struct Grid {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
}

/// A column of a table.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    title: &'static str,
    align: Align,
    /// How narrow it may become, and where it is cut; `None` if it is never cut.
    shrink: Option<(usize, Cut)>,
    /// How narrow it may become before other columns are left out.
    comfort: usize,
    /// Columns of a higher rank are left out first; 0 is never left out.
    rank: u8,
    /// Left out whatever the width if no cell has text.
    optional: bool,
}

/// On which side text stands.
#[derive(Clone, Copy, Debug)]
enum Align {
    Left,
    Right,
}

/// Where text is cut.
#[derive(Clone, Copy, Debug)]
enum Cut {
    Middle,
    End,
}

/// A cell of a table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cell {
    text: String,
    /// Shown instead where space is short; empty if there is none.
    short: String,
    tone: Option<Tone>,
}

impl Cell {
    /// A cell with text.
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// A cell with a number.
    pub(crate) fn number(number: u64) -> Self {
        Self::new(text::grouped(number))
    }

    /// The same cell with a shorter text for narrow screens.
    pub(crate) fn or_short(mut self, short: impl Into<String>) -> Self {
        self.short = short.into();
        self
    }

    /// The same cell in a tone.
    pub(crate) fn toned(mut self, tone: Tone) -> Self {
        self.tone = Some(tone);
        self
    }

    fn text(&self, short: bool) -> &str {
        if short && !self.short.is_empty() { &self.short } else { &self.text }
    }
}

impl Column {
    const fn new(title: &'static str, align: Align) -> Self {
        Self { title, align, shrink: None, comfort: 0, rank: 0, optional: false }
    }

    /// A column of text.
    pub(crate) const fn left(title: &'static str) -> Self {
        Self::new(title, Align::Left)
    }

    /// A column of numbers.
    pub(crate) const fn right(title: &'static str) -> Self {
        Self::new(title, Align::Right)
    }

    /// May become as narrow as `columns`, by leaving out the middle.
    pub(crate) const fn cut_middle(mut self, columns: usize) -> Self {
        self.shrink = Some((columns, Cut::Middle));
        self
    }

    /// May become as narrow as `columns`, by leaving out the end.
    pub(crate) const fn cut_end(mut self, columns: usize) -> Self {
        self.shrink = Some((columns, Cut::End));
        self
    }

    /// Columns are left out rather than this one made narrower than `columns`.
    pub(crate) const fn comfort(mut self, columns: usize) -> Self {
        self.comfort = columns;
        self
    }

    /// Is left out where space is short: those of the highest rank first.
    pub(crate) const fn rank(mut self, rank: u8) -> Self {
        self.rank = rank;
        self
    }

    /// Is left out if no cell has text.
    pub(crate) const fn optional(mut self) -> Self {
        self.optional = true;
        self
    }

    fn fit(&self, text: &str, width: usize) -> String {
        let text = match self.shrink {
            Some((_, Cut::Middle)) => text::cut_middle(text, width),
            _ => text::cut_end(text, width),
        };
        match self.align {
            Align::Left => text::left(&text, width),
            Align::Right => text::right(&text, width),
        }
    }
}

/// How a table is laid out.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// Width of each column; `None` for those left out.
    widths: Vec<Option<usize>>,
    short: bool,
}

impl Layout {
    const GAP: usize = 2;

    fn total(&self) -> usize {
        let shown: Vec<usize> = self.widths.iter().copied().flatten().collect();
        shown.iter().sum::<usize>() + Self::GAP * shown.len().saturating_sub(1)
    }
}

impl Grid {
    /// A table without rows.
    pub(crate) const fn new(columns: Vec<Column>) -> Self {
        Self { columns, rows: Vec::new() }
    }

    /// Adds a row.
    pub(crate) fn push(&mut self, row: Vec<Cell>) {
        self.rows.push(row);
    }

    /// Whether there are rows.
    pub(crate) const fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// How many rows there are.
    pub(crate) const fn len(&self) -> usize {
        self.rows.len()
    }

    /// The table as lines.
    pub(crate) fn render(&self, screen: Screen) -> String {
        let layout = self.layout(screen);
        self.header(&layout, screen) + &self.body(&layout, screen)
    }

    /// The layout that fits the rows so far.
    pub(crate) fn layout(&self, screen: Screen) -> Layout {
        let mut layout = self.natural(false);
        let Some(limit) = screen.width else { return layout };
        if layout.total() <= limit {
            return layout;
        }
        layout = self.natural(true);
        let highest = self.columns.iter().map(|column| column.rank).max().unwrap_or(0);
        for rank in (1..=highest).rev() {
            if self.shrink(layout.clone(), limit, true).total() <= limit {
                break;
            }
            for (width, column) in layout.widths.iter_mut().zip(&self.columns) {
                if column.rank == rank {
                    *width = None;
                }
            }
        }
        self.shrink(layout, limit, false)
    }

    fn natural(&self, short: bool) -> Layout {
        let widths = self.columns.iter().enumerate().map(|(i, column)| {
            let cells = self.rows.iter().filter_map(|row| row.get(i));
            let widest = cells.map(|cell| text::width(cell.text(short))).max().unwrap_or(0);
            (widest > 0 || !column.optional).then(|| widest.max(text::width(column.title)))
        });
        Layout { widths: widths.collect(), short }
    }

    /// Takes columns from those that have most above their least, one at a time.
    fn shrink(&self, mut layout: Layout, limit: usize, comfortably: bool) -> Layout {
        while layout.total() > limit {
            let spare = |(width, column): &(&mut Option<usize>, &Column)| match (width, column) {
                (Some(width), Column { shrink: Some((least, _)), comfort, .. }) => {
                    let comfort = if comfortably { *comfort } else { 0 };
                    width.saturating_sub(comfort.max(*least))
                }
                _ => 0,
            };
            let columns = layout.widths.iter_mut().zip(&self.columns);
            let Some(widest) = columns.max_by_key(spare).filter(|it| spare(it) > 0) else { break };
            if let Some(width) = widest.0 {
                *width -= 1;
            }
        }
        layout
    }

    /// The line of titles.
    pub(crate) fn header(&self, layout: &Layout, screen: Screen) -> String {
        let titles = self.columns.iter().map(|column| Cell::new(column.title));
        let titles: Vec<Cell> = titles.map(|cell| cell.toned(Tone::Dim)).collect();
        self.line(&titles, layout, screen)
    }

    /// The rows as lines.
    pub(crate) fn body(&self, layout: &Layout, screen: Screen) -> String {
        self.rows.iter().map(|row| self.line(row, layout, screen)).collect()
    }

    /// Forgets the rows.
    pub(crate) fn clear(&mut self) {
        self.rows.clear();
    }

    fn line(&self, row: &[Cell], layout: &Layout, screen: Screen) -> String {
        let cells = self.columns.iter().zip(row).zip(&layout.widths);
        let shown = cells.filter_map(|((column, cell), width)| {
            width.map(|width| {
                let text = column.fit(cell.text(layout.short), width);
                (text, cell.tone.unwrap_or(Tone::Plain))
            })
        });
        let mut cells: Vec<(String, Tone)> = shown.collect();
        while let Some((last, _)) = cells.last_mut() {
            last.truncate(last.trim_end().len());
            if !last.is_empty() {
                break;
            }
            cells.pop();
        }
        let painted: Vec<String> =
            cells.iter().map(|(text, tone)| screen.paint(*tone, text)).collect();
        painted.join(&" ".repeat(Layout::GAP)) + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Grid {
        let mut grid = Grid::new(vec![
            Column::left("RUN").cut_middle(6),
            Column::right("CALLS"),
            Column::right("TOKENS").rank(1).optional(),
            Column::left("REASON").cut_end(4),
        ]);
        let long = "django__django-11019";
        grid.push(vec![
            Cell::new(long),
            Cell::number(1234),
            Cell::new("12k tokens").or_short("12k"),
            Cell::new("repeated"),
        ]);
        grid.push(vec![Cell::new("日本語"), Cell::number(7), Cell::default(), Cell::default()]);
        grid
    }

    #[test]
    fn tables_fit_the_screen() {
        let cases = [
            (
                None,
                "RUN                   CALLS      TOKENS  REASON\n\
                 django__django-11019  1,234  12k tokens  repeated\n\
                 日本語                    7\n",
            ),
            (
                Some(44),
                "RUN                  CALLS  TOKENS  REASON\n\
                 django__d…ngo-11019  1,234     12k  repeated\n\
                 日本語                   7\n",
            ),
            (
                Some(24),
                "RUN        CALLS  REASON\n\
                 djan…1019  1,234  repea…\n\
                 日本語         7\n",
            ),
        ];
        for (width, expected) in cases {
            let rendered = grid().render(Screen::plain(width));
            if let Some(width) = width {
                assert!(rendered.lines().all(|line| text::width(line) <= width), "{rendered}");
            }
            assert_eq!(rendered, expected, "at {width:?}:\n{rendered}");
        }
    }

    #[test]
    fn empty_columns_can_be_left_out() {
        let mut grid = Grid::new(vec![Column::left("A"), Column::left("B").optional()]);
        grid.push(vec![Cell::new("x"), Cell::default()]);
        assert_eq!(grid.render(Screen::plain(None)), "A\nx\n");
    }
}
