//! The axis of the values of a panel: upwards, with labels at its left and lines through the panel.

use std::ops::Range;

use super::canvas::{Align, Area, Canvas};
use super::font::Font;
use super::scale::Scale;
use super::{palette, ticks};
use crate::number::{self, Style};

/// Columns beside the panels for the labels of the values.
pub(super) const LABELS: i32 = 76;
/// The axis reaches so many times the highest value: a peak does not touch the edge of its panel.
const HEADROOM: f64 = 1.05;
/// And a logarithmic one so many times below the lowest, too.
const LOGARITHMIC_HEADROOM: f64 = 1.2;
/// An axis has a tick in so many rows at most, and not more than so many of them.
const TICK_ROWS: i32 = 30;
const TICKS_MAX: u32 = 5;
/// With one besides zero a scale can be read.
const TICKS_MIN: usize = 2;
/// Where values differ by a larger factor, a linear axis would press the lower ones flat.
const LINEAR_MAX: f64 = 100.0;
/// Where they differ by a smaller share of the highest, they would be one line on an axis from zero.
const TIGHT_MAX: f64 = 0.25;
/// A smaller share is what rounding leaves.
const NOISE: f64 = 1e-9;

/// The axis.
pub(super) struct ValueAxis {
    /// From values to rows.
    pub scale: Scale,
    /// What has to be said of it; empty of a linear axis from zero.
    pub remark: &'static str,
    ticks: Vec<(f64, String)>,
    /// The row below the panel.
    bottom: i32,
}

impl ValueAxis {
    /// From zero to a bit above `end`, on these rows.
    pub fn from_zero(end: f64, style: Style, rows: &Range<i32>) -> Self {
        let (factor, unit) = number::scaling(if end > 0.0 { end } else { 1.0 }, style);
        let mut ticks = if end > 0.0 { ticks::linear((0.0, end * factor), count(rows)) } else { vec![0.0, factor] };
        let reach = end * factor * HEADROOM;
        if ticks.len() > TICKS_MIN && ticks[ticks.len() - 1] > reach {
            // Without the last one the lines have the whole panel.
            ticks.pop();
        }
        let top = ticks[ticks.len() - 1].max(reach) / factor;
        Self {
            scale: Scale::linear((0.0, top), (rows.end, rows.start)),
            remark: "",
            ticks: labelled(&ticks, factor, unit),
            bottom: rows.end,
        }
    }

    /// Around values from `min` to `max`: from zero, unless they are of very different size, or nearly the same.
    pub fn around((min, max): (f64, f64), style: Style, rows: &Range<i32>) -> Self {
        let pixels = (rows.end, rows.start);
        let spread = (max - min) / max;
        // Shares are compared by their differences: half of a success is half of it.
        if style != Style::Share && min > 0.0 && max > min * LINEAR_MAX {
            let (low, high) = (min / LOGARITHMIC_HEADROOM, max * LOGARITHMIC_HEADROOM);
            let mut ticks = logarithmic((min, max), style);
            ticks.retain(|(tick, _)| (low..=high).contains(tick));
            return Self {
                scale: Scale::logarithmic((low, high), pixels),
                remark: "logarithmic",
                ticks,
                bottom: rows.end,
            };
        }
        if max > 0.0 && NOISE < spread && spread < TIGHT_MAX {
            let (factor, unit) = number::scaling(max, style);
            let ticks = labelled(&ticks::linear((min * factor, max * factor), count(rows)), factor, unit);
            let ends = (ticks[0].0, ticks[ticks.len() - 1].0);
            return Self { scale: Scale::linear(ends, pixels), remark: "not from zero", ticks, bottom: rows.end };
        }
        Self::from_zero(max, style, rows)
    }

    /// Draws the lines across these columns, and the labels.
    pub fn draw(&self, canvas: &Canvas<'_>, columns: &Range<i32>) {
        // A logarithmic axis need not end at a tick.
        canvas.fill(&Area { x: columns.clone(), y: self.bottom..self.bottom + 1 }, palette::MESH);
        for (tick, label) in &self.ticks {
            let y = self.scale.at(*tick);
            let color = if *tick == 0.0 { palette::AXIS } else { palette::MESH };
            canvas.fill(&Area { x: columns.clone(), y: y..y + 1 }, color);
            let label = Font::BODY.shortened(label, LABELS);
            let at = (columns.start - 10, y + Font::BODY.half_capital());
            canvas.text(&label, Font::BODY, palette::QUIET, Align::Right, at);
        }
    }
}

/// About how many ticks there should be on these rows.
fn count(rows: &Range<i32>) -> u32 {
    (rows.len() as i32 / TICK_ROWS).clamp(2, TICKS_MAX as i32) as u32
}

/// Ticks that enclose values above zero, with their labels.
pub(super) fn logarithmic((min, max): (f64, f64), style: Style) -> Vec<(f64, String)> {
    let in_ms = match style {
        Style::Seconds => 1e3,
        Style::Milliseconds => 1.0,
        Style::Count | Style::Factor | Style::Share => {
            let (factor, unit) = number::scaling(max, style);
            return labelled(&ticks::decades(min * factor, max * factor), factor, unit);
        }
    };
    let ticks = ticks::durations_ms(min * in_ms, max * in_ms).into_iter();
    ticks.map(|ms| (ms / in_ms, number::plain(ms, Style::Milliseconds, 3))).collect()
}

/// Ticks in units of which a value has `factor`, as values and with their labels.
pub(super) fn labelled(ticks: &[f64], factor: f64, unit: &str) -> Vec<(f64, String)> {
    let labels = ticks::labels(ticks).into_iter();
    ticks.iter().zip(labels).map(|(tick, label)| (tick / factor, label + unit)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: Range<i32> = 100..300;

    fn labels(axis: &ValueAxis) -> Vec<&str> {
        axis.ticks.iter().map(|(_, label)| &**label).collect()
    }

    #[test]
    fn an_axis_from_zero_keeps_its_highest_value_from_the_edge() {
        let axis = ValueAxis::from_zero(100.0, Style::Count, &ROWS);
        assert_eq!(labels(&axis), ["0", "20", "40", "60", "80", "100"]);
        assert_eq!((axis.scale.at(0.0), axis.scale.at(100.0)), (300, 110));
        assert_eq!(labels(&ValueAxis::from_zero(0.0, Style::Share, &ROWS)), ["0 %", "100 %"]);
        assert_eq!(labels(&ValueAxis::from_zero(400_000.0, Style::Milliseconds, &ROWS))[1], "2 min");
    }

    /// 1 to 90 differ by less than the factor from which on an axis is logarithmic, 80 and 90 by a ninth.
    #[test]
    fn the_axis_follows_how_far_values_are_apart() {
        let around = |min, max, style| ValueAxis::around((min, max), style, &ROWS);
        assert_eq!(around(1.0, 90.0, Style::Count).remark, "");
        let wide = around(0.5, 90.0, Style::Count);
        assert_eq!((wide.remark, labels(&wide)), ("logarithmic", vec!["0.5", "1", "2", "5", "10", "20", "50", "100"]));
        assert_eq!(around(0.0, 90.0, Style::Count).remark, "", "zero has no place on a logarithmic axis");
        let tight = around(0.9921, 0.9989, Style::Share);
        assert_eq!(
            (tight.remark, labels(&tight)),
            ("not from zero", vec!["99.2 %", "99.4 %", "99.6 %", "99.8 %", "100 %"])
        );
        assert_eq!(around(7.0, 7.0, Style::Count).remark, "");
        assert_eq!(labels(&around(1.0, 700_000.0, Style::Milliseconds))[0], "1 ms");
    }
}
