//! Values by name and variant: groups of rows, each row with a mark at its value and the value in words.

use plotters::style::RGBColor;

use super::canvas::{Align, Area, Canvas};
use super::font::Font;
use super::scale::Scale;
use super::{MARGIN, WIDTH, head, palette};
use crate::experiment::Stat;
use crate::number::{self, Style};

/// The rows of a chart with few of them are as thick as makes all together about this high.
const ROWS_HEIGHT: i32 = 400;
const ROW_GAP: i32 = 3;
/// Blank between groups of several rows; single rows stand closer.
const GROUP_GAP: i32 = 22;
const SINGLE_GAP: i32 = 8;
/// Blank between the legend and the first row.
const TOP: i32 = 22;
/// What is below the rows: tick labels and the axis title.
const FOOT: i32 = 66;
const NAME_WIDTH_MAX: i32 = 320;
const DOT_RADIUS: i32 = 6;
/// Half the height of the caps of an interval.
const CAP: i32 = 5;
/// Between a mark and its value.
const LABEL_GAP: i32 = 8;

/// Rows that belong together.
pub(super) struct Group {
    /// What they are about.
    pub name: String,
    /// In the order of the variants.
    pub rows: Vec<Row>,
}

/// A value.
pub(super) struct Row {
    /// The variant's colour.
    pub color: RGBColor,
    /// Where the mark is; none where the value is undefined.
    pub value: Option<f64>,
    /// The interval to draw.
    pub interval: Option<[f64; 2]>,
    /// The value in words.
    pub label: String,
}

/// How a value is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// A bar from the axis on: for values that are compared by their length.
    Bar,
    /// A dot at the end of a guide, for values on an axis without a zero.
    Dot,
}

/// The axis of the values.
pub(super) struct Axis {
    /// Values that are named, ascending; at least one.
    pub ticks: Vec<f64>,
    /// How they are written.
    pub style: Style,
    /// What is measured.
    pub title: &'static str,
    /// From values to columns.
    pub scale: Scale,
}

/// All groups with their places.
pub(super) struct Rows {
    groups: Vec<Group>,
    mark: Mark,
    axis: Axis,
    top: i32,
    left: i32,
    thickness: i32,
    /// Rows of the largest group.
    rows: i32,
}

impl Row {
    /// A mean, written as the tables write it.
    pub fn of_mean(stat: Option<&Stat>, color: RGBColor, style: Style, replicas: u32) -> Self {
        let value = stat.and_then(|stat| stat.mean);
        let label = match value {
            Some(_) => number::figure(stat, style, replicas),
            None => "undefined".to_owned(),
        };
        Self { color, value, interval: None, label }
    }
}

/// What must be said of the labels in the subtitle.
pub(super) fn remark(groups: &[Group]) -> String {
    head::explained(groups.iter().flat_map(|group| &group.rows).map(|row| row.label.as_str()))
}

impl Rows {
    /// Finds places below the row `head`. `axis` is given the columns that the marks may take. There is at least one
    /// group.
    pub fn of(groups: Vec<Group>, mark: Mark, head: i32, axis: impl FnOnce((i32, i32)) -> Axis) -> Self {
        let names = groups.iter().map(|group| Font::BODY.width(&group.name));
        let labels = groups.iter().flat_map(|group| &group.rows).map(|row| Font::BODY.width(&row.label));
        let left = MARGIN + names.max().unwrap_or(0).min(NAME_WIDTH_MAX) + 14;
        // The label of the longest bar still has its place, and the dot or cap that it stands beside.
        let right = WIDTH as i32 - MARGIN - labels.max().unwrap_or(0) - LABEL_GAP - DOT_RADIUS - 4;
        let rows = groups.iter().map(|group| group.rows.len()).max().unwrap_or(0).max(1) as i32;
        let thickness = (ROWS_HEIGHT / (groups.len() as i32 * rows)).clamp(20, 34) - ROW_GAP;
        Self { groups, mark, axis: axis((left, right)), top: head + TOP, left, thickness, rows }
    }

    /// The height of the chart.
    pub fn height(&self) -> u32 {
        (self.bottom() + FOOT) as u32
    }

    /// Draws axis and rows.
    pub fn draw(&self, canvas: &Canvas<'_>) {
        self.draw_axis(canvas);
        for (group, i) in self.groups.iter().zip(0..) {
            let top = self.top + i * self.group_height();
            let middle = top + (self.group_height() - self.gap()) / 2;
            let name = Font::BODY.shortened(&group.name, NAME_WIDTH_MAX);
            let at = (self.left - 14, middle + Font::BODY.half_capital());
            canvas.text(&name, Font::BODY, palette::TEXT, Align::Right, at);
            for (row, i) in group.rows.iter().zip(0..) {
                self.draw_row(canvas, row, top + i * (self.thickness + ROW_GAP));
            }
        }
    }

    fn gap(&self) -> i32 {
        if self.rows > 1 { GROUP_GAP } else { SINGLE_GAP }
    }

    fn group_height(&self) -> i32 {
        self.rows * (self.thickness + ROW_GAP) - ROW_GAP + self.gap()
    }

    fn bottom(&self) -> i32 {
        self.top + self.groups.len() as i32 * self.group_height()
    }

    fn draw_axis(&self, canvas: &Canvas<'_>) {
        let Axis { ticks, style, title, scale } = &self.axis;
        let bottom = self.bottom();
        for (i, &tick) in ticks.iter().enumerate() {
            let x = scale.at(tick);
            let color = if i == 0 { palette::AXIS } else { palette::MESH };
            canvas.fill(&Area { x: x - 1..x, y: self.top - TOP / 2..bottom }, color);
            let label = number::plain(tick, *style, 3);
            canvas.text(&label, Font::BODY, palette::QUIET, Align::Middle, (x, bottom + 22));
        }
        let [first, last] = [ticks[0], ticks[ticks.len() - 1]].map(|tick| scale.at(tick));
        canvas.text(title, Font::BODY, palette::TEXT, Align::Middle, ((first + last) / 2, bottom + 47));
    }

    fn draw_row(&self, canvas: &Canvas<'_>, row: &Row, top: i32) {
        let middle = top + self.thickness / 2;
        let end = match row.value {
            Some(value) => self.draw_mark(canvas, row, value, top),
            None => self.left,
        };
        let color = if row.value.is_some() { palette::TEXT } else { palette::QUIET };
        let at = (end + LABEL_GAP, middle + Font::BODY.half_capital());
        // The label's own ground: no line of the mesh runs through it.
        let ground = at.0 - 4..at.0 + Font::BODY.width(&row.label) + 4;
        canvas.fill(&Area { x: ground, y: top..top + self.thickness }, palette::GROUND);
        canvas.text(&row.label, Font::BODY, color, Align::Left, at);
    }

    /// Where it ends.
    fn draw_mark(&self, canvas: &Canvas<'_>, row: &Row, value: f64, top: i32) -> i32 {
        let (x, middle) = (self.axis.scale.at(value), top + self.thickness / 2);
        match self.mark {
            Mark::Bar => {
                // On a logarithmic axis its first value is no length at all, but it is still to be seen.
                let x = x.max(self.left + 3);
                canvas.fill(&Area { x: self.left..x, y: top..top + self.thickness }, row.color);
                x
            }
            Mark::Dot => {
                canvas.fill(&Area { x: self.left..x, y: middle..middle + 1 }, palette::MESH);
                canvas.disc((x, middle), DOT_RADIUS, row.color);
                let dot = x + DOT_RADIUS;
                row.interval.map_or(dot, |interval| dot.max(self.draw_interval(canvas, interval, middle)))
            }
        }
    }

    /// A line with a cap at each end; where it ends.
    fn draw_interval(&self, canvas: &Canvas<'_>, interval: [f64; 2], middle: i32) -> i32 {
        let [low, high] = interval.map(|end| self.axis.scale.at(end));
        canvas.fill(&Area { x: low..high + 1, y: middle..middle + 1 }, palette::TEXT);
        for cap in [low, high] {
            canvas.fill(&Area { x: cap..cap + 1, y: middle - CAP..middle + CAP + 1 }, palette::TEXT);
        }
        high
    }
}
