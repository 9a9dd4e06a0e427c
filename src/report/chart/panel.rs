//! A panel: values over time as lines, below a heading, before the windows of faults.

use std::ops::Range;

use plotters::style::RGBColor;

use super::backdrop::Backdrop;
use super::canvas::{Align, Area, Canvas};
use super::font::Font;
use super::level::{self, Level};
use super::lines::Lines;
use super::scale::Scale;
use super::steps::{Gather, Point, Step, steps};
use super::time_axis::TimeAxis;
use super::value_axis::{self, ValueAxis};
use super::{MARGIN, WIDTH, palette};
use crate::number::Style;

/// Rows above each panel, and the strips of its faults, for its heading.
const HEAD: i32 = 40;
/// A level further up than so many times the values would press their lines flat: it is only told of.
const LEVEL_REACH: f64 = 3.0;
const STROKE: i32 = 2;

/// What a panel shows.
pub(super) struct Panel<'a> {
    /// What lies behind its lines.
    pub backdrop: &'a Backdrop<'a>,
    /// What the values are.
    pub heading: String,
    /// The same where there is no value.
    pub heading_of_none: String,
    /// Rows from the highest tick to the axis.
    pub height: i32,
    /// How far its axis reaches.
    pub reach: Reach,
    /// What kind of figures the values are.
    pub style: Style,
    /// What stands for several buckets.
    pub gather: Gather,
    /// The lines; at most 8.
    pub lines: Vec<Line>,
    /// What they are held against.
    pub levels: Vec<Level>,
}

/// How far the axis of a panel reaches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Reach {
    /// To its own highest value.
    Own,
    /// To the highest value of all panels like it, so that they can be compared.
    Shared,
    /// To 1, whatever the values are.
    Whole,
}

/// A line of a panel.
pub(super) struct Line {
    /// Its colour.
    pub color: RGBColor,
    /// What it shows, ascending by bucket; buckets without a value are left out.
    pub points: Vec<Point>,
}

/// A panel on a time axis: its lines as steps.
pub(super) struct Plot<'a> {
    panel: &'a Panel<'a>,
    lines: Vec<Vec<Step>>,
    max: f64,
}

impl<'a> Plot<'a> {
    /// How many rows are above those of the panel itself.
    pub fn above(backdrop: &Backdrop<'_>) -> i32 {
        HEAD + backdrop.height()
    }

    /// The columns of panels that leave room for levels.
    pub fn columns(levels: bool) -> Range<i32> {
        MARGIN + value_axis::LABELS..WIDTH as i32 - MARGIN - if levels { level::LABELS } else { 0 }
    }

    /// The panel on this axis.
    pub fn of(panel: &'a Panel<'a>, time: &TimeAxis) -> Self {
        let line = |line: &Line| steps(&line.points, time.per_step, panel.gather);
        let lines: Vec<_> = panel.lines.iter().map(line).collect();
        let max = lines.iter().flatten().map(|step| step.value).fold(0.0, f64::max);
        Self { panel, lines, max }
    }

    /// Draws them one below the other, each with its heading above it. Returns the row below the last.
    pub fn draw_all(plots: &[Self], canvas: &Canvas<'_>, time: &TimeAxis, top: i32) -> i32 {
        let shared = || plots.iter().filter(|plot| plot.panel.reach == Reach::Shared);
        let shared_max = shared().map(|plot| plot.max).fold(0.0, f64::max);
        let shared_end = shared().map(|plot| plot.end(shared_max)).fold(0.0, f64::max);
        let mut bottom = top;
        for plot in plots {
            let top = bottom + Self::above(plot.panel.backdrop);
            bottom = top + plot.panel.height;
            let (max, end) = match plot.panel.reach {
                Reach::Own => (plot.max, plot.end(plot.max)),
                Reach::Shared => (shared_max, shared_end),
                Reach::Whole => (1.0, 1.0),
            };
            plot.draw(canvas, &(top..bottom), (max, end), time);
        }
        bottom
    }

    /// How far the axis must reach where the values do so up to `max`.
    fn end(&self, max: f64) -> f64 {
        self.levels(max).fold(max, |end, level| end.max(level.value))
    }

    /// The levels that can be drawn beside such values.
    fn levels(&self, max: f64) -> impl Iterator<Item = &'a Level> {
        self.panel.levels.iter().filter(move |level| level.value <= LEVEL_REACH * max)
    }

    fn draw(&self, canvas: &Canvas<'_>, rows: &Range<i32>, (max, end): (f64, f64), time: &TimeAxis) {
        let panel = self.panel;
        let axis = ValueAxis::from_zero(end, panel.style, rows);

        let heading = Font::HEADING.shortened(&self.heading(max, time), WIDTH as i32 - 2 * MARGIN);
        let baseline = rows.start - panel.backdrop.height() - 15;
        canvas.text(&heading, Font::HEADING, palette::TEXT, Align::Left, (MARGIN, baseline));
        panel.backdrop.draw(canvas, time, rows);
        axis.draw(canvas, &time.pixels);
        time.draw_ticks(canvas, rows.end);
        let levels: Vec<_> = self.levels(max).collect();
        level::draw(canvas, &levels, &axis.scale, &Area { x: time.pixels.clone(), y: rows.clone() });

        let mut lines = Lines::within(Area { x: 0..time.pixels.end + STROKE, y: rows.start - STROKE..rows.end });
        for (number, steps) in self.lines.iter().enumerate() {
            add_line(&mut lines, number, steps, time, &axis.scale);
        }
        let colors: Vec<_> = panel.lines.iter().map(|line| line.color).collect();
        lines.draw(canvas, &colors);
    }

    fn heading(&self, max: f64, time: &TimeAxis) -> String {
        let panel = self.panel;
        if self.max == 0.0 {
            return panel.heading_of_none.clone();
        }
        let mut heading = panel.heading.clone();
        if time.per_step > 1 {
            let stands = match panel.gather {
                Gather::Highest => "highest",
                Gather::Mean => "mean",
            };
            heading += &format!(", the {stands} of every {} buckets", time.per_step);
        }
        for level in panel.levels.iter().filter(|level| level.value > LEVEL_REACH * max) {
            heading += &format!(", {} far above", level.label);
        }
        heading
    }
}

/// Steps with risers between them; where a step has no neighbour the line returns to zero.
fn add_line(lines: &mut Lines, number: usize, steps: &[Step], time: &TimeAxis, values: &Scale) {
    // A level is drawn just above its row, so that low values do not cover the axis.
    let mut tread = |step: &Step| {
        let y = values.at(step.value);
        lines.add(number, &Area { x: time.at_bucket(step.from)..time.at_bucket(step.until), y: y - STROKE..y });
    };
    steps.iter().for_each(&mut tread);

    let zero = values.at(0.0);
    let mut riser = |bucket: u64, a: i32, b: i32| {
        let x = time.at_bucket(bucket);
        if a != b {
            lines.add(number, &Area { x: x..x + STROKE, y: a.min(b) - STROKE..a.max(b) });
        }
    };
    let mut before = Step { from: 0, until: 0, value: 0.0 };
    for &step in steps {
        let (left, right) = (values.at(before.value), values.at(step.value));
        if before.until == step.from {
            riser(step.from, left, right);
        } else {
            riser(before.until, left, zero);
            riser(step.from, zero, right);
        }
        before = step;
    }
    riser(before.until, values.at(before.value), zero);
}
