//! What a sweep measured, against the settings that it varied: lines over one of them, heat maps over two.

use super::head::Head;
use super::legend::Entry;
use super::{blank, head, heat_map, sweep_lines};
use crate::experiment::{Figures, Measure, SweepCell, SweepSummary};
use crate::number;

/// `sweep.png`: the shown measures by the values of one or two axes.
pub fn sweep(summary: &SweepSummary) -> Vec<u8> {
    let without = |sentence| blank::chart(&of(summary, "cell", "", Vec::new()), sentence);
    match &summary.axes[..] {
        _ if summary.cells.is_empty() => without("no cell of the grid is finished"),
        _ if summary.shown.is_empty() => without("nothing was measured that a chart could show"),
        [axis] => sweep_lines::chart(summary, axis),
        [up, right] => heat_map::chart(summary, up, right),
        _ => without("a chart can show a grid of one or two settings: sweep.csv has this one"),
    }
}

/// Whether there is anything to show: several cells of a grid of one or two axes.
pub fn has_sweep(summary: &SweepSummary) -> bool {
    (1..=2).contains(&summary.axes.len()) && summary.cells.len() > 1 && !summary.shown.is_empty()
}

/// The measures that tables and charts show.
pub(super) fn measures(summary: &SweepSummary) -> impl Iterator<Item = (usize, &Measure)> {
    summary.shown.iter().filter_map(|&at| Some((at, summary.measures.get(at)?)))
}

/// All variants, as the first finished cell has them: they are the same in every one.
pub(super) fn variants(summary: &SweepSummary) -> &[Figures] {
    summary.cells.first().map_or(&[], |cell| &cell.variants)
}

/// What was measured in the cell at this position of the grid, if it is finished.
pub(super) fn cell(summary: &SweepSummary, position: usize) -> Option<&SweepCell> {
    let at = summary.cells.binary_search_by_key(&position, |cell| cell.position).ok()?;
    summary.cells.get(at)
}

/// The head of a chart in which a combination of values is called a `cell`.
pub(super) fn of(summary: &SweepSummary, cell: &str, remark: &str, entries: Vec<Entry>) -> Head {
    let paths: Vec<_> = summary.axes.iter().map(|axis| &*axis.path).collect();
    let title = format!("{}: sweep of {}", summary.scenario.name, paths.join(" and "));
    Head::titled(&title, &(subtitle(summary, cell) + remark), entries)
}

/// Where the figures come from, and how many of them there are.
fn subtitle(summary: &SweepSummary, cell: &str) -> String {
    let figures = || summary.cells.iter().flat_map(|cell| &cell.variants);
    let replicas = || figures().map(|figures| figures.replicas);
    let (least, most) = (replicas().min().unwrap_or(summary.replicas), replicas().max().unwrap_or(summary.replicas));
    let [least_shown, most_shown] = [least, most].map(|count| number::whole(count as usize));
    let mut text = match most {
        0 | 1 => format!("one replica per {cell}"),
        _ if least == most => format!("{most_shown} replicas per {cell}"),
        _ => format!("{least_shown} to {most_shown} replicas per {cell}"),
    };
    text += &format!(", seed {}", summary.seed);
    let cut_short = figures().any(|figures| figures.partial);
    if summary.cells.len() < summary.grid {
        let [finished, grid] = [summary.cells.len(), summary.grid].map(number::whole);
        text += &format!(", {finished} of {grid} {cell}s finished");
    }
    if cut_short {
        text += ", some cut short";
    }
    text
}

/// What the subtitle says of measures that are not shown.
pub(super) fn measures_left_out(summary: &SweepSummary, shown: usize) -> String {
    head::left_out(shown, measures(summary).count(), "figures")
}
