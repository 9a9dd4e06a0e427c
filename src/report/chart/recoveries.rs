//! When clients had got over faults: a thin line through the panel, named at its head.

use std::ops::Range;

use plotters::style::RGBColor;

use super::canvas::{Align, Area, Canvas};
use super::font::Font;
use super::time_axis::TimeAxis;
use super::{head, palette};
use crate::experiment::Summary;

/// Rows that a name takes, and columns between it and its line.
const ROW: i32 = 20;
const GAP: i32 = 5;
/// Further rows of names would lie before the data.
const ROWS: usize = 3;

/// The instants of recovery of all variants that a chart shows.
pub(super) struct Recoveries {
    marks: Vec<Mark>,
}

/// One of them.
struct Mark {
    /// The mean over the replicas that recovered, in seconds.
    at_s: f64,
    label: String,
    /// That of its variant, or that of text where several share it.
    color: RGBColor,
}

impl Recoveries {
    /// Of the variants that charts show, by time.
    pub fn of(summary: &Summary) -> Self {
        let mut marks: Vec<Mark> = Vec::new();
        for (variant, color) in head::colored(summary) {
            for table in variant.faults.values() {
                let Some(stat) = table.get("recovered_at_s") else { continue };
                let Some(at_s) = stat.mean else { continue };
                let replicas = variant.replicas.len();
                let label = match stat.n as usize {
                    all if all == replicas => "recovered".to_owned(),
                    some => format!("recovered in {some} of {replicas}"),
                };
                match marks.iter_mut().find(|mark| mark.at_s == at_s && mark.label == label) {
                    Some(mark) => mark.color = palette::TEXT,
                    None => marks.push(Mark { at_s, label, color }),
                }
            }
        }
        marks.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
        Self { marks }
    }

    /// Draws them through the rows of a panel. A name for which there is no room is left out.
    pub fn draw(&self, canvas: &Canvas<'_>, time: &TimeAxis, rows: &Range<i32>) {
        let mut taken = [i32::MIN; ROWS];
        for mark in &self.marks {
            let x = time.at(mark.at_s);
            if !time.pixels.contains(&x) {
                continue;
            }
            canvas.fill(&Area { x: x..x + 1, y: rows.clone() }, mark.color);
            let end = x + GAP + Font::BODY.width(&mark.label);
            let free = taken.iter().position(|&taken| taken < x).filter(|_| end <= time.pixels.end);
            if let Some(row) = free {
                taken[row] = end;
                let baseline = rows.start + row as i32 * ROW + ROW / 2 + Font::BODY.half_capital();
                canvas.text(&mark.label, Font::BODY, mark.color, Align::Left, (x + GAP, baseline));
            }
        }
    }
}
