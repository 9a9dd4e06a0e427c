//! Values of a setting that stand out: lines down through a panel, each with a label beside its upper end.

use std::cmp::Reverse;
use std::ops::Range;

use plotters::style::RGBColor;

use super::canvas::{Align, Area, Canvas};
use super::font::Font;
use super::{MARGIN, WIDTH, palette};

const ROW: i32 = 24;
/// Blank between the labels of a row, and between the lowest of them and the panel.
const GAP: i32 = 14;
const BLANK: i32 = 8;
/// From a line to its label.
const BESIDE: i32 = 7;
const DASH: i32 = 6;

/// A line with its label.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Flag {
    /// Its column.
    pub x: i32,
    /// What it is; empty if another one says it.
    pub label: String,
    /// That of the line.
    pub color: RGBColor,
    /// Whether the line is thin and dashed.
    pub dashed: bool,
}

/// Flags in their places.
pub(super) struct Flags {
    placed: Vec<Placed>,
}

struct Placed {
    flag: Flag,
    /// That of the label; the lowest is 0.
    row: i32,
    /// Where the label begins.
    start: i32,
}

impl Flags {
    /// Finds places for the labels, each at the right of its line where the chart does not end there. The further left
    /// a line is the higher is its label, so that no line runs through that of another.
    pub fn of(mut flags: Vec<Flag>) -> Self {
        flags.sort_by_key(|flag| Reverse(flag.x));
        let mut placed: Vec<Placed> = Vec::new();
        for mut flag in flags {
            flag.label = Font::BODY.shortened(&flag.label, WIDTH as i32 / 2);
            let width = Font::BODY.width(&flag.label);
            let start = (flag.x + BESIDE).min(WIDTH as i32 - MARGIN - width);
            let reaches = |other: &&Placed| other.flag.x.min(other.start) < start + width + GAP;
            let lower = placed.iter().filter(|other| !other.flag.label.is_empty()).filter(reaches);
            let row = lower.map(|other| other.row + 1).max().filter(|_| width > 0).unwrap_or(0);
            placed.push(Placed { flag, row, start });
        }
        Self { placed }
    }

    /// Whether any line is dashed.
    pub fn has_dashed(&self) -> bool {
        self.placed.iter().any(|placed| placed.flag.dashed)
    }

    /// How many rows the labels take.
    pub fn height(&self) -> i32 {
        let labelled = self.placed.iter().filter(|placed| !placed.flag.label.is_empty());
        labelled.map(|placed| (placed.row + 1) * ROW + BLANK).max().unwrap_or(0)
    }

    /// Draws them through a panel that has these rows.
    pub fn draw(&self, canvas: &Canvas<'_>, rows: &Range<i32>) {
        for Placed { flag, row, .. } in &self.placed {
            let top = if flag.label.is_empty() { rows.start } else { rows.start - BLANK - (row + 1) * ROW + 4 };
            let line = |y: Range<i32>, width: i32| canvas.fill(&Area { x: flag.x..flag.x + width, y }, flag.color);
            if flag.dashed {
                (top..rows.end).step_by(2 * DASH as usize).for_each(|y| line(y..(y + DASH).min(rows.end), 1));
            } else {
                line(top..rows.end, 2);
            }
        }
        for Placed { flag, row, start } in &self.placed {
            let bottom = rows.start - BLANK - row * ROW;
            // At the right edge of the chart a label may lie on lines.
            let ground = *start - 2..start + Font::BODY.width(&flag.label);
            if !flag.label.is_empty() {
                canvas.fill(&Area { x: ground, y: bottom - ROW + 4..bottom }, palette::GROUND);
                canvas.text(&flag.label, Font::BODY, palette::TEXT, Align::Left, (*start, bottom - 6));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(flags: &[(i32, &str)]) -> Flags {
        let flag = |&(x, label): &(i32, &str)| Flag { x, label: label.to_owned(), color: palette::TEXT, dashed: false };
        Flags::of(flags.iter().map(flag).collect())
    }

    #[test]
    fn labels_that_would_touch_are_above_each_other() {
        let flags = placed(&[(505, "patient: 43/s"), (100, "at the left"), (500, "eager: 42/s"), (502, "")]);
        let rows: Vec<_> = flags.placed.iter().map(|placed| (placed.flag.x, placed.row)).collect();
        assert_eq!(rows, [(505, 0), (502, 0), (500, 1), (100, 0)]);
        assert_eq!(flags.height(), 2 * ROW + BLANK);
        assert_eq!(placed(&[]).height(), 0);
    }

    /// A line goes up to its own label: where that is higher, and the line within the columns of another label, it
    /// would cross this.
    #[test]
    fn no_line_crosses_a_label() {
        let flags: Vec<_> = (0..40).map(|number| (100 + 613 * number % 877, "some-variant: 43/s")).collect();
        let flags = placed(&flags).placed;
        for label in &flags {
            let columns = label.start..label.start + Font::BODY.width(&label.flag.label);
            let crosses = |line: &&Placed| columns.contains(&line.flag.x) && line.row >= label.row;
            assert!(!flags.iter().any(|line| crosses(&line)), "{}", label.flag.x);
        }
    }

    #[test]
    fn no_label_leaves_the_chart() {
        let flags = placed(&[(WIDTH as i32 - 100, "a-variant-with-a-long-name: 43/s")]);
        let end = flags.placed[0].start + Font::BODY.width(&flags.placed[0].flag.label);
        assert_eq!(end, WIDTH as i32 - MARGIN);
    }
}
