//! The legend: entries in rows, as many as the width takes, in a strip of their own.

use plotters::style::RGBColor;

use super::canvas::{Align, Area, Canvas};
use super::font::Font;
use super::{MARGIN, WIDTH, palette, recoveries};

const ROW: i32 = 25;
const SWATCH: i32 = 26;
/// A swatch and the blank after it.
const MARK: i32 = SWATCH + 8;
const ENTRY_GAP: i32 = 28;

/// What an entry explains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// A line or bars of this colour.
    Series(RGBColor),
    /// Windows of time.
    Window(RGBColor),
    /// What has no value.
    Hatch,
    /// A fixed value: dashes.
    Level(RGBColor),
    /// Instants at which clients had got over a fault, in all replicas or in some of them.
    Recovery {
        /// Whether in all of them.
        all: bool,
    },
}

/// An entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// What it explains.
    pub mark: Mark,
    /// In words.
    pub label: String,
}

/// Entries in their places.
pub(super) struct Legend {
    entries: Vec<Entry>,
    /// Row and horizontal place of each.
    places: Vec<(i32, i32)>,
}

impl Legend {
    /// Finds places for the entries; labels wider than half the chart are shortened.
    pub fn of(mut entries: Vec<Entry>) -> Self {
        for entry in &mut entries {
            entry.label = Font::BODY.shortened(&entry.label, WIDTH as i32 / 2);
        }
        let widths: Vec<_> = entries.iter().map(|entry| MARK + Font::BODY.width(&entry.label)).collect();
        let places = flow(&widths, WIDTH as i32 - 2 * MARGIN);
        Self { entries, places }
    }

    /// How many rows of pixels it takes.
    pub fn height(&self) -> i32 {
        self.places.last().map_or(0, |&(row, _)| (row + 1) * ROW)
    }

    /// Draws it from `top` on.
    pub fn draw(&self, canvas: &Canvas<'_>, top: i32) {
        for (entry, &(row, x)) in self.entries.iter().zip(&self.places) {
            let (left, middle) = (MARGIN + x, top + row * ROW + ROW / 2);
            draw_mark(canvas, entry.mark, left, middle);
            let at = (left + MARK, middle + Font::BODY.half_capital());
            canvas.text(&entry.label, Font::BODY, palette::TEXT, Align::Left, at);
        }
    }
}

fn draw_mark(canvas: &Canvas<'_>, mark: Mark, left: i32, middle: i32) {
    let mark_of = |half_height: i32| Area { x: left..left + SWATCH, y: middle - half_height..middle + half_height };
    match mark {
        Mark::Series(color) => canvas.fill(&mark_of(3), color),
        Mark::Window(color) => {
            canvas.fill(&mark_of(7), palette::MESH);
            canvas.fill(&Area { x: left + 1..left + SWATCH - 1, y: middle - 6..middle + 6 }, color);
        }
        Mark::Hatch => canvas.hatch(&mark_of(7), palette::AXIS),
        Mark::Level(color) => {
            for x in [left, left + SWATCH - 10] {
                canvas.fill(&Area { x: x..x + 10, y: middle - 1..middle + 1 }, color);
            }
        }
        Mark::Recovery { all } => {
            recoveries::draw_mark(canvas, left + SWATCH / 2, &(middle - 2..middle + 10), all, palette::TEXT);
        }
    }
}

/// Row and horizontal place of entries of these widths.
fn flow(widths: &[i32], room: i32) -> Vec<(i32, i32)> {
    let (mut row, mut x) = (0, 0);
    let mut places = Vec::new();
    for &width in widths {
        if x > 0 && x + width > room {
            (row, x) = (row + 1, 0);
        }
        places.push((row, x));
        x += width + ENTRY_GAP;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_fill_a_row_before_the_next() {
        assert_eq!(flow(&[100, 100, 100], 228), [(0, 0), (0, 128), (1, 0)]);
        assert_eq!(flow(&[500, 10], 228), [(0, 0), (1, 0)], "one that is too wide has a row of its own");
        assert_eq!(flow(&[], 228), []);
    }
}
