//! When faults were active: a strip per fault above each panel, and a shade through the panel while any of them is.

use std::ops::Range;

use indexmap::IndexMap;
use plotters::style::RGBColor;

use super::canvas::{Area, Canvas};
use super::legend::{Entry, Mark};
use super::time_axis::TimeAxis;
use super::{head, palette};
use crate::experiment::{Summary, VariantSummary};

const STRIP: i32 = 7;
const STRIP_GAP: i32 = 2;
/// However short a window is, so many columns of it are seen.
const COLUMNS_MIN: i32 = 2;

/// The faults of all variants, in file order. The first ones have a strip each, all further ones share one.
pub(super) struct Faults<'a> {
    faults: Vec<Fault<'a>>,
}

struct Fault<'a> {
    name: &'a str,
    /// In any variant: `[from, until)` in seconds; an open end is infinite.
    windows_s: Vec<(f64, f64)>,
    /// Whether they are the same in every variant.
    shared: bool,
}

impl<'a> Faults<'a> {
    /// Of the variants that charts show.
    pub fn of(summary: &'a Summary) -> Self {
        let variants = head::shown(summary);
        let mut by_name: IndexMap<&str, Vec<&[(f64, f64)]>> = IndexMap::new();
        for fault in variants.iter().flat_map(|variant| &variant.fault_windows) {
            by_name.entry(&fault.name).or_default().push(&fault.windows_s);
        }
        let fault = |(name, windows): (&'a str, Vec<&[(f64, f64)]>)| Fault {
            name,
            shared: windows.len() == variants.len() && windows.iter().all(|of_one| *of_one == windows[0]),
            windows_s: windows.concat(),
        };
        Self { faults: by_name.into_iter().map(fault).collect() }
    }

    /// The same faults, each in the place that it has there, with the windows of one variant only.
    pub fn of_variant(&self, variant: &'a VariantSummary) -> Self {
        let of_it = |fault: &Fault<'a>| {
            let windows = variant.fault_windows.iter().filter(|windows| windows.name == fault.name);
            Fault { windows_s: windows.flat_map(|windows| &windows.windows_s).copied().collect(), ..*fault }
        };
        Self { faults: self.faults.iter().map(of_it).collect() }
    }

    /// Their entries in the legend, in the order of the strips.
    pub fn legend(&self) -> impl Iterator<Item = Entry> {
        let named = self.faults.iter().zip(palette::FAULTS).map(|(fault, color)| Entry {
            mark: Mark::Window(color),
            label: format!("fault: {}{}", fault.name, if fault.shared { "" } else { " (differs by variant)" }),
        });
        let more = self.faults.len().saturating_sub(palette::FAULTS.len());
        let mark = Mark::Window(palette::FURTHER_FAULTS);
        named.chain(
            (more > 0).then(|| Entry { mark, label: format!("{more} more fault{}", if more == 1 { "" } else { "s" }) }),
        )
    }

    /// How many rows the strips take.
    pub fn height(&self) -> i32 {
        self.strips().count() as i32 * (STRIP + STRIP_GAP)
    }

    /// The strips from top to bottom: what is in each, and its colour.
    fn strips(&self) -> impl Iterator<Item = (&[Fault<'a>], RGBColor)> {
        let (named, further) = self.faults.split_at(self.faults.len().min(palette::FAULTS.len()));
        let named = named.chunks(1).zip(palette::FAULTS);
        named.chain((!further.is_empty()).then_some((further, palette::FURTHER_FAULTS)))
    }

    /// Draws the strips from the row `top` on.
    pub fn draw_strips(&self, canvas: &Canvas<'_>, time: &TimeAxis, top: i32) {
        for ((faults, color), row) in self.strips().zip(0..) {
            let top = top + row * (STRIP + STRIP_GAP);
            for x in faults.iter().flat_map(|fault| fault.columns(time)) {
                canvas.fill(&Area { x, y: top..top + STRIP }, color);
            }
        }
    }

    /// Shades the rows of a panel, darker where several faults are active.
    pub fn shade(&self, canvas: &Canvas<'_>, time: &TimeAxis, rows: &Range<i32>) {
        let active = self.active(time);
        let mut x = time.pixels.start;
        for run in active.chunk_by(|a, b| a == b) {
            let end = x + run.len() as i32;
            if let Some(shade) = run[0].checked_sub(1) {
                canvas.fill(&Area { x: x..end, y: rows.clone() }, palette::SHADES[shade.min(1)]);
            }
            x = end;
        }
    }

    /// By column of the panels how many faults are active there.
    fn active(&self, time: &TimeAxis) -> Vec<usize> {
        let mut active = vec![0; time.pixels.len()];
        for fault in &self.faults {
            // Windows that variants do not share may overlap: they are still one fault.
            let mut here = vec![false; active.len()];
            for columns in fault.columns(time) {
                let [start, end] = [columns.start, columns.end].map(|x| (x - time.pixels.start) as usize);
                here[start..end].fill(true);
            }
            active.iter_mut().zip(here).for_each(|(active, here)| *active += usize::from(here));
        }
        active
    }
}

impl Fault<'_> {
    /// The columns of its windows, within those of the panels. A window that begins beyond the axis has none.
    fn columns(&self, time: &TimeAxis) -> impl Iterator<Item = Range<i32>> {
        let end = time.pixels.end;
        self.windows_s.iter().filter_map(move |&(from, until)| {
            let from = time.at(from);
            (from < end).then(|| from..time.at(until).max(from + COLUMNS_MIN).min(end))
        })
    }
}
