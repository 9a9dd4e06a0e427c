//! The time axis that the panels share.

use std::ops::Range;

use super::canvas::{Align, Area, Canvas};
use super::font::Font;
use super::scale::Scale;
use super::{palette, ticks};
use crate::number::{self, Style};

/// With fewer buckets each of them would be as wide as a panel.
const BUCKETS_MIN: u64 = 10;
const TICK: i32 = 6;

/// From the start of the run to where what is shown ends.
pub(super) struct TimeAxis {
    /// How many buckets share a step, so that none is narrower than a pixel.
    pub per_step: u64,
    buckets: u64,
    bucket_s: f64,
    scale: Scale,
    /// The columns of the panels.
    pub pixels: Range<i32>,
}

impl TimeAxis {
    /// The axis over these columns, up to the last bucket that shows something, if any does.
    pub fn of(last: Option<u64>, bucket_s: f64, pixels: Range<i32>) -> Self {
        // One more than that, so that the return to zero is seen.
        let buckets = last.map_or(0, |last| last + 2).max(BUCKETS_MIN);
        Self {
            per_step: buckets.div_ceil(pixels.len() as u64),
            buckets,
            bucket_s,
            scale: Scale::linear((0.0, buckets as f64 * bucket_s), (pixels.start, pixels.end)),
            pixels,
        }
    }

    /// The column of a time in seconds.
    pub fn at(&self, seconds: f64) -> i32 {
        self.scale.at(seconds)
    }

    /// The column where a bucket starts.
    pub fn at_bucket(&self, bucket: u64) -> i32 {
        self.scale.at(bucket as f64 * self.bucket_s)
    }

    /// Draws the ticks under a panel whose last row ends at `bottom`.
    pub fn draw_ticks(&self, canvas: &Canvas<'_>, bottom: i32) {
        for (x, _) in self.ticks() {
            canvas.fill(&Area { x: x..x + 1, y: bottom..bottom + TICK }, palette::AXIS);
        }
    }

    /// Names the ticks, and the axis, below `bottom`.
    pub fn draw_labels(&self, canvas: &Canvas<'_>, bottom: i32) {
        for (x, label) in self.ticks() {
            canvas.text(&label, Font::BODY, palette::QUIET, Align::Middle, (x, bottom + 22));
        }
        let middle = (self.pixels.start + self.pixels.end) / 2;
        let title = format!("time since the start ({})", self.unit().0);
        canvas.text(&title, Font::BODY, palette::TEXT, Align::Middle, (middle, bottom + 47));
    }

    fn ticks(&self) -> impl Iterator<Item = (i32, String)> {
        let (_, unit_s) = self.unit();
        let within = move |tick: &f64| tick * unit_s <= self.end_s() * (1.0 + 1e-9);
        let ticks = ticks::linear((0.0, self.end_s() / unit_s), 12).into_iter().filter(within);
        ticks.map(move |tick| (self.at(tick * unit_s), number::plain(tick, Style::Count, 3)))
    }

    fn end_s(&self) -> f64 {
        self.buckets as f64 * self.bucket_s
    }

    /// The unit: its name and its length in seconds.
    fn unit(&self) -> (&'static str, f64) {
        match self.end_s() {
            end if end < 1.0 => ("ms", 1e-3),
            end if end < 600.0 => ("s", 1.0),
            end if end < 14_400.0 => ("min", 60.0),
            end if end < 345_600.0 => ("h", 3_600.0),
            _ => ("d", 86_400.0),
        }
    }
}
