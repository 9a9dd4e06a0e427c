//! What is below panels: ticks, their labels in one or several lines, and what they are about.

use std::ops::Range;

use super::canvas::{Align, Area, Canvas};
use super::font::Font;
use super::{WIDTH, palette};

const TICK: i32 = 6;
const LINE: i32 = 20;
/// From the panel to the baseline of the first line of labels, and from that of the last to that of the title.
const FIRST: i32 = 22;
const TITLE: i32 = 25;
/// Below the title.
const BLANK: i32 = 15;
/// A tick has at most so many lines of labels.
const LINES_MAX: usize = 4;

/// What is below the panels over these columns.
pub(super) struct Foot {
    pixels: Range<i32>,
    ticks: Vec<Tick>,
    title: String,
}

struct Tick {
    x: i32,
    lines: Vec<String>,
}

impl Foot {
    /// With the column and the label of each tick; a label has `room` pixels. A title that is wider than the panels
    /// reaches further to the right.
    pub fn of(pixels: Range<i32>, ticks: impl IntoIterator<Item = (i32, String)>, room: i32, title: String) -> Self {
        let tick = |(x, label): (i32, String)| Tick { x, lines: Font::BODY.wrapped(&label, room, LINES_MAX) };
        Self { ticks: ticks.into_iter().map(tick).collect(), title, pixels }
    }

    /// How many rows it takes.
    pub fn height(&self) -> i32 {
        FIRST + self.further_lines() + TITLE + BLANK
    }

    fn further_lines(&self) -> i32 {
        let lines = self.ticks.iter().map(|tick| tick.lines.len()).max().unwrap_or(1);
        (lines as i32 - 1) * LINE
    }

    /// Draws the ticks under a panel whose last row ends at `bottom`; its columns are `right` of those given.
    pub fn draw_ticks(&self, canvas: &Canvas<'_>, (right, bottom): (i32, i32)) {
        for x in self.ticks.iter().map(|tick| right + tick.x) {
            canvas.fill(&Area { x: x..x + 1, y: bottom..bottom + TICK }, palette::AXIS);
        }
    }

    /// Names them, and what they are about, likewise.
    pub fn draw_labels(&self, canvas: &Canvas<'_>, (right, bottom): (i32, i32)) {
        for tick in &self.ticks {
            for (line, baseline) in tick.lines.iter().zip((bottom + FIRST..).step_by(LINE as usize)) {
                let half = Font::BODY.width(line) / 2;
                let x = (right + tick.x).min(WIDTH as i32 - 2 - half).max(2 + half);
                canvas.text(line, Font::BODY, palette::QUIET, Align::Middle, (x, baseline));
            }
        }
        let middle = (self.pixels.start + self.pixels.end) / 2;
        let middle = right + middle.max(self.pixels.start + Font::BODY.width(&self.title) / 2);
        let at = (middle, bottom + FIRST + self.further_lines() + TITLE);
        canvas.text(&self.title, Font::BODY, palette::TEXT, Align::Middle, at);
    }
}
