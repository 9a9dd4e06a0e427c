//! The fault windows that a chart shades.

use indexmap::IndexMap;
use plotters::style::RGBColor;

use super::legend::{Entry, Mark};
use super::{head, palette};
use crate::experiment::Summary;

/// More faults than this are shaded but not named.
const NAMED: usize = 4;

/// The windows of a fault in any variant.
pub(super) struct ShadedFault<'a> {
    /// `[from, until)` in seconds; an open end is infinite.
    pub windows_s: Vec<(f64, f64)>,
    /// The shade.
    pub color: RGBColor,
    name: &'a str,
    /// Whether they are the same in every variant.
    shared: bool,
}

/// The faults of all variants, in file order.
pub(super) fn of(summary: &Summary) -> Vec<ShadedFault<'_>> {
    let variants = head::shown(summary);
    let mut by_name: IndexMap<&str, Vec<&[(f64, f64)]>> = IndexMap::new();
    for fault in variants.iter().flat_map(|variant| &variant.fault_windows) {
        by_name.entry(&fault.name).or_default().push(&fault.windows_s);
    }
    let colored = by_name.into_iter().zip(palette::FAULTS.into_iter().cycle());
    colored
        .map(|((name, windows), color)| ShadedFault {
            name,
            color,
            shared: windows.len() == variants.len() && windows.iter().all(|of_one| *of_one == windows[0]),
            windows_s: windows.concat(),
        })
        .collect()
}

/// Their entries in the legend.
pub(super) fn legend(faults: &[ShadedFault<'_>]) -> impl Iterator<Item = Entry> {
    let named = faults.iter().take(NAMED).map(|fault| Entry {
        mark: Mark::Window(fault.color),
        label: format!("fault: {}{}", fault.name, if fault.shared { "" } else { " (differs by variant)" }),
    });
    let more = faults.len().saturating_sub(NAMED);
    named.chain((more > 0).then(|| Entry { mark: Mark::Remark, label: format!("and {more} more") }))
}
