//! What lies behind the lines of every panel over time: the warm-up, the windows of faults, and where clients had
//! recovered from them.

use std::ops::Range;

use super::canvas::{Area, Canvas};
use super::faults::Faults;
use super::legend::{Entry, Mark};
use super::recoveries::Recoveries;
use super::time_axis::TimeAxis;
use super::{head, palette};
use crate::experiment::{Summary, VariantSummary};

/// The warm-up and the faults of all variants that a chart shows.
pub(super) struct Backdrop<'a> {
    faults: Faults<'a>,
    /// The longest of any variant.
    warmup_s: f64,
    /// Whether it is the same in every variant.
    shared: bool,
    /// In charts that mark them.
    recoveries: Option<Recoveries>,
}

impl<'a> Backdrop<'a> {
    /// Of the variants that charts show.
    pub fn of(summary: &'a Summary) -> Self {
        let warmups = || head::shown(summary).iter().map(|variant| variant.warmup_s);
        let warmup_s = warmups().fold(0.0, f64::max);
        Self { faults: Faults::of(summary), warmup_s, shared: warmups().all(|one| one == warmup_s), recoveries: None }
    }

    /// The same with marks where clients had recovered from faults, each in the colour of its variant.
    pub fn with_recoveries(summary: &'a Summary) -> Self {
        Self { recoveries: Some(Recoveries::of(summary)), ..Self::of(summary) }
    }

    /// For panels of one variant each: those of the variants that charts show, one by one. A fault has its strip in the
    /// same place in all of them.
    pub fn of_each(summary: &'a Summary) -> Vec<Self> {
        let faults = Faults::of(summary);
        let of_variant = |variant: &'a VariantSummary| Self {
            faults: faults.of_variant(variant),
            warmup_s: variant.warmup_s,
            shared: true,
            recoveries: Some(Recoveries::of_variant(variant)),
        };
        head::shown(summary).iter().map(of_variant).collect()
    }

    /// Their entries in the legend.
    pub fn legend(&self) -> impl Iterator<Item = Entry> {
        let differs = if self.shared { "" } else { " (differs by variant)" };
        let warmup = Entry { mark: Mark::Window(palette::WARMUP), label: format!("warm-up, not measured{differs}") };
        let recoveries = self.recoveries.iter().flat_map(Recoveries::legend);
        (self.warmup_s > 0.0).then_some(warmup).into_iter().chain(self.faults.legend()).chain(recoveries)
    }

    /// How many rows the strips above a panel take.
    pub fn height(&self) -> i32 {
        self.faults.height()
    }

    /// Draws the strips, and shades the rows of the panel below them. A fault covers the warm-up.
    pub fn draw(&self, canvas: &Canvas<'_>, time: &TimeAxis, rows: &Range<i32>) {
        self.faults.draw_strips(canvas, time, rows.start - self.height());
        canvas.fill(&Area { x: time.pixels.start..time.at(self.warmup_s), y: rows.clone() }, palette::WARMUP);
        self.faults.shade(canvas, time, rows);
        if let Some(recoveries) = &self.recoveries {
            recoveries.draw(canvas, time, rows);
        }
    }
}
