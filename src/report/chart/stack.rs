//! Panels one above the other, on one time axis.

use super::head::Head;
use super::panel::{Panel, Plot};
use super::time_axis::TimeAxis;
use super::{WIDTH, canvas};
use crate::experiment::Summary;

/// Rows below the lowest panel: tick labels and the axis title.
pub(super) const FOOT: i32 = 62;

/// The chart of these panels. Its time axis reaches from the start of the run to where the last line ends.
pub(super) fn chart(head: &Head, panels: &[Panel<'_>], summary: &Summary) -> Vec<u8> {
    let levels = panels.iter().any(|panel| !panel.levels.is_empty());
    let ends = panels.iter().flat_map(|panel| &panel.lines).filter_map(|line| line.points.last());
    let last = ends.map(|point| point.bucket).max();
    let time = TimeAxis::of(last, summary.bucket_ms / 1e3, Plot::columns(levels));
    let plots: Vec<_> = panels.iter().map(|panel| Plot::of(panel, &time)).collect();
    let rows: i32 = panels.iter().map(|panel| Plot::above(panel.backdrop) + panel.height).sum();
    canvas::png((WIDTH, (head.height() + rows + FOOT) as u32), |canvas| {
        head.draw(canvas);
        let bottom = Plot::draw_all(&plots, canvas, &time, head.height());
        time.draw_labels(canvas, bottom);
    })
}
