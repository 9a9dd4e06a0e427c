//! Values of a setting that stand out: lines down through a panel, each with a label above it.

use std::ops::Range;

use plotters::style::RGBColor;

use super::canvas::{Align, Area, Canvas};
use super::font::Font;
use super::{WIDTH, palette};

const ROW: i32 = 24;
/// Blank between the labels of a row, and between the lowest of them and the panel.
const GAP: i32 = 14;
const BLANK: i32 = 8;
const DASH: i32 = 6;

/// A line with its label.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Flag {
    /// Its column.
    pub x: i32,
    /// What it is; empty if another one says it.
    pub label: String,
    /// Of both.
    pub color: RGBColor,
    /// Whether the line is thin and dashed.
    pub dashed: bool,
}

/// Flags in their places.
pub(super) struct Flags {
    /// From left to right, with the row of the label, the lowest first, and its columns.
    placed: Vec<(Flag, i32, Range<i32>)>,
}

impl Flags {
    /// Finds places for the labels above these columns; each is as low as there is room for it.
    pub fn above(columns: &Range<i32>, mut flags: Vec<Flag>) -> Self {
        flags.sort_by_key(|flag| flag.x);
        let mut ends: Vec<i32> = Vec::new();
        let mut placed = Vec::new();
        for mut flag in flags {
            flag.label = Font::BODY.shortened(&flag.label, WIDTH as i32 / 2);
            let width = Font::BODY.width(&flag.label);
            let start = (flag.x - width / 2).min(columns.end - width).max(columns.start);
            let free = ends.iter().position(|end| end + GAP <= start);
            let row = if flag.label.is_empty() { 0 } else { free.unwrap_or(ends.len()) };
            if !flag.label.is_empty() {
                ends.resize(ends.len().max(row + 1), 0);
                ends[row] = start + width;
            }
            placed.push((flag, row as i32, start..start + width));
        }
        Self { placed }
    }

    /// Whether any line is dashed.
    pub fn has_dashed(&self) -> bool {
        self.placed.iter().any(|(flag, ..)| flag.dashed)
    }

    /// How many rows the labels take.
    pub fn height(&self) -> i32 {
        let labelled = self.placed.iter().filter(|(flag, ..)| !flag.label.is_empty());
        labelled.map(|(_, row, _)| (row + 1) * ROW + BLANK).max().unwrap_or(0)
    }

    /// Draws them through a panel that has these rows.
    pub fn draw(&self, canvas: &Canvas<'_>, rows: &Range<i32>) {
        for (flag, row, _) in &self.placed {
            let top = if flag.label.is_empty() { rows.start } else { rows.start - BLANK - row * ROW };
            let line = |y: Range<i32>, width: i32| canvas.fill(&Area { x: flag.x..flag.x + width, y }, flag.color);
            if flag.dashed {
                (top..rows.end).step_by(2 * DASH as usize).for_each(|y| line(y..(y + DASH).min(rows.end), 1));
            } else {
                line(top..rows.end, 2);
            }
        }
        for (flag, row, x) in &self.placed {
            let bottom = rows.start - BLANK - row * ROW;
            // The label's own ground: no line of another one runs through it.
            let ground = Area { x: x.start - 3..x.end + 3, y: bottom - ROW + 2..bottom };
            if !flag.label.is_empty() {
                canvas.fill(&ground, palette::GROUND);
                canvas.text(&flag.label, Font::BODY, flag.color, Align::Left, (x.start, bottom - 6));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_that_would_touch_are_above_each_other_and_none_leaves_the_panel() {
        let flag = |x, label: &str| Flag { x, label: label.to_owned(), color: palette::TEXT, dashed: false };
        let flags = vec![flag(505, "patient: 43/s"), flag(100, "at the left"), flag(500, "eager: 42/s"), flag(502, "")];
        let flags = Flags::above(&(100..900), flags);
        let rows: Vec<_> = flags.placed.iter().map(|(flag, row, _)| (flag.x, *row)).collect();
        assert_eq!(rows, [(100, 0), (500, 0), (502, 0), (505, 1)]);
        assert_eq!(flags.placed[0].2.start, 100);
        assert_eq!(flags.height(), 2 * ROW + BLANK);
        assert_eq!(Flags::above(&(100..900), Vec::new()).height(), 0);
    }
}
