//! When clients had got over faults: a thin line through the panel below a triangle, which lines of data do not hide.

use std::ops::Range;

use plotters::style::RGBColor;

use super::canvas::{Area, Canvas};
use super::legend::{self, Entry};
use super::time_axis::TimeAxis;
use super::{head, palette};
use crate::experiment::{Summary, VariantSummary};

/// Of the triangle.
const HEIGHT: i32 = 7;
/// Of the lines of recoveries that some replicas have not seen.
const DASH: i32 = 6;

/// The instants of recovery that a panel shows.
pub(super) struct Recoveries {
    marks: Vec<Mark>,
}

/// One of them.
struct Mark {
    /// The mean over the replicas that recovered, in seconds.
    at_s: f64,
    /// Whether all of them did.
    all: bool,
    /// That of its variant, or that of text where several share it.
    color: RGBColor,
}

impl Recoveries {
    /// Of the variants that charts show, in their colours.
    pub fn of(summary: &Summary) -> Self {
        Self::of_colored(head::colored(summary))
    }

    /// Of a variant that has a panel of its own.
    pub fn of_variant(variant: &VariantSummary) -> Self {
        Self::of_colored([(variant, palette::TEXT)])
    }

    fn of_colored<'a>(variants: impl IntoIterator<Item = (&'a VariantSummary, RGBColor)>) -> Self {
        let mut marks: Vec<Mark> = Vec::new();
        for (variant, color) in variants {
            for table in variant.faults.values() {
                let Some(stat) = table.get("recovered_at_s") else { continue };
                let Some(at_s) = stat.mean else { continue };
                let all = stat.n as usize == variant.replicas.len();
                match marks.iter_mut().find(|mark| mark.at_s == at_s && mark.all == all) {
                    Some(mark) => mark.color = palette::TEXT,
                    None => marks.push(Mark { at_s, all, color }),
                }
            }
        }
        Self { marks }
    }

    /// Their entries in the legend.
    pub fn legend(&self) -> impl Iterator<Item = Entry> {
        let kinds = [(true, "recovered"), (false, "recovered in some of the replicas, mean of these")];
        let there = kinds.into_iter().filter(|(all, _)| self.marks.iter().any(|mark| mark.all == *all));
        there.map(|(all, label)| Entry { mark: legend::Mark::Recovery { all }, label: label.to_owned() })
    }

    /// Draws them through the rows of a panel, with their triangles above it.
    pub fn draw(&self, canvas: &Canvas<'_>, time: &TimeAxis, rows: &Range<i32>) {
        for mark in &self.marks {
            let x = time.at(mark.at_s);
            if time.pixels.contains(&x) {
                draw_mark(canvas, x, rows, mark.all, mark.color);
            }
        }
    }
}

/// A mark at a column.
pub(super) fn draw_mark(canvas: &Canvas<'_>, x: i32, rows: &Range<i32>, all: bool, color: RGBColor) {
    for row in 0..HEIGHT {
        let half = (HEIGHT - 1 - row) * 2 / 3;
        let y = rows.start - HEIGHT + row;
        canvas.fill(&Area { x: x - half..x + half + 1, y: y..y + 1 }, color);
    }
    let step = if all { rows.len() as i32 } else { 2 * DASH };
    for y in rows.clone().step_by(step.max(1) as usize) {
        let end = if all { rows.end } else { (y + DASH).min(rows.end) };
        canvas.fill(&Area { x: x..x + 1, y: y..end }, color);
    }
}
