//! A table that is continued below itself when it is wider than the page.

use comfy_table::{CellAlignment, LineStyle, Table, TableStyle};

/// A rule under the header is the only ink.
const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));
/// Blanks beside the content of a cell: its own on the left, and the one that stands for a vertical line.
const BLANKS: usize = 2;

/// A column with all of its cells.
pub(super) struct Column {
    /// Its head; lines are separated by newlines.
    pub head: String,
    /// Its cells, one per row.
    pub cells: Vec<String>,
}

impl Column {
    fn width(&self) -> usize {
        let lines = self.head.lines().chain(self.cells.iter().map(String::as_str));
        lines.map(|line| line.chars().count()).max().unwrap_or(0) + BLANKS
    }
}

/// Sets the figures beside the labels, as many of them as fit; the rest follows in further tables with the same labels.
pub(super) fn render(labels: &Column, figures: &[Column], width: usize) -> String {
    in_room(labels, figures, width.saturating_sub(labels.width()))
}

/// As [`render`], but where there are further tables, all of them are about as wide: no column is left alone at the end.
pub(super) fn evenly(labels: &Column, figures: &[Column], width: usize) -> String {
    let room = width.saturating_sub(labels.width());
    let tables = fit(figures, room).len();
    let narrowest = (1..=room).find(|&room| fit(figures, room).len() == tables);
    in_room(labels, figures, narrowest.unwrap_or(room))
}

fn in_room(labels: &Column, figures: &[Column], room: usize) -> String {
    let tables: Vec<_> = fit(figures, room)
        .into_iter()
        .map(|run| {
            let columns: Vec<_> = std::iter::once(labels).chain(run).collect();
            one_table(&columns, 1)
        })
        .collect();
    tables.join("\n")
}

/// A single table of text; none if it is wider than the page.
pub(super) fn of_text(columns: &[Column], width: usize) -> Option<String> {
    let columns: Vec<_> = columns.iter().collect();
    let taken: usize = columns.iter().map(|column| column.width()).sum();
    (taken <= width).then(|| one_table(&columns, columns.len()))
}

/// Cuts the columns into runs that fit the room, or hold a single column that does not.
fn fit(columns: &[Column], room: usize) -> Vec<&[Column]> {
    let mut runs = Vec::new();
    let (mut start, mut taken) = (0, 0);
    for (i, column) in columns.iter().enumerate() {
        if i > start && taken + column.width() > room {
            runs.push(&columns[start..i]);
            (start, taken) = (i, 0);
        }
        taken += column.width();
    }
    runs.push(&columns[start..]);
    runs
}

/// The first `left` columns are flushed left, as text is, the others right, as numbers are.
fn one_table(columns: &[&Column], left: usize) -> String {
    let mut table = Table::new();
    table.load_style(STYLE);
    table.set_header(columns.iter().map(|column| column.head.as_str()));
    for row in 0..columns[0].cells.len() {
        table.add_row(columns.iter().map(|column| column.cells[row].as_str()));
    }
    for (i, column) in table.column_iter_mut().enumerate() {
        column.set_padding((1, 0));
        column.set_cell_alignment(if i < left { CellAlignment::Left } else { CellAlignment::Right });
    }
    table.trim_fmt() + "\n"
}
