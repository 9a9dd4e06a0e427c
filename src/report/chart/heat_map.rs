//! A sweep of two settings: the grid in colours, a panel per measure and variant.

use super::canvas::{self, Canvas};
use super::color_scale::ColorScale;
use super::heat_panel::{Layout, Panel};
use super::legend::{Entry, Mark};
use super::{WIDTH, head, palette, sweep};
use crate::experiment::axis::Axis;
use crate::experiment::{Measure, SweepCell, SweepSummary};
use crate::number::{INCOMPLETE, Style};

/// More panels than this make a picture that no screen shows at once.
const PANELS_MAX: usize = 6;

/// A cell of a panel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Tile {
    /// It is not finished.
    Missing,
    /// The figure is undefined in every replica.
    Undefined,
    /// The figure.
    Figure {
        /// Its value.
        value: f64,
        /// Whether it is defined in all replicas.
        complete: bool,
    },
}

/// Which measure of which variant is shown: their positions.
#[derive(Clone, Copy)]
pub(super) struct Choice<'a> {
    /// The measure.
    pub measure: &'a Measure,
    measure_at: usize,
    variant: usize,
}

impl<'a> Choice<'a> {
    /// What is at this position of the grid.
    pub fn tile(self, summary: &SweepSummary, position: usize) -> Tile {
        sweep::cell(summary, position).map_or(Tile::Missing, |cell| self.of(cell))
    }

    /// The cells that are finished.
    fn tiles(self, summary: &'a SweepSummary) -> impl Iterator<Item = Tile> + Clone {
        summary.cells.iter().map(move |cell| self.of(cell))
    }

    fn of(self, cell: &SweepCell) -> Tile {
        let figures = cell.variants.get(self.variant);
        let stat = figures.and_then(|figures| Some((figures.replicas, figures.stats.get(self.measure_at)?)));
        let value = |(replicas, stat)| Some((replicas, stat, self.measure.statistic.of(stat)?));
        match stat.and_then(value) {
            Some((replicas, stat, value)) if value.is_finite() => Tile::Figure { value, complete: stat.n >= replicas },
            _ => Tile::Undefined,
        }
    }
}

/// The chart: the values of one axis upwards, those of the other to the right.
pub(super) fn chart(summary: &SweepSummary, up: &Axis, right: &Axis) -> Vec<u8> {
    let variants = sweep::variants(summary);
    let variants_shown = variants.len().min(PANELS_MAX);
    let measures_shown = (PANELS_MAX / variants_shown.max(1)).max(1);
    let measures: Vec<_> = sweep::measures(summary).take(measures_shown).collect();
    let layout = Layout::of(up, right, columns(measures.len(), variants_shown), variants.len() > 1);
    let mut seen = Seen::default();
    let mut panels = Vec::new();
    for &(measure_at, measure) in &measures {
        let choices = (0..variants_shown).map(|variant| Choice { measure, measure_at, variant });
        let mut seen_of = Seen { missing: summary.cells.len() < summary.grid, ..Seen::default() };
        choices.clone().for_each(|choice| seen_of.look_at(summary, choice));
        let style = Style::of(measure.metric, measure.unit);
        let tiles = choices.clone().flat_map(|choice| choice.tiles(summary));
        let digits = layout.digits(tiles, style);
        panels.extend(choices.map(|choice| Panel {
            choice,
            variant: (variants.len() > 1).then(|| &*variants[choice.variant].variant),
            style,
            colors: seen_of.range.map(|range| ColorScale::of(range, style, layout.key_columns())),
            digits,
        }));
        seen = seen.and(seen_of);
    }
    let remark = seen.remark(panels.iter().all(|panel| panel.digits.is_some()))
        + &head::left_out(variants_shown, variants.len(), "variants")
        + &sweep::measures_left_out(summary, measures.len());
    let head = sweep::of(summary, "cell", &remark, seen.legend());
    let bottom = head.height() + layout.height(panels.len());
    canvas::png((WIDTH, bottom as u32), |canvas: &Canvas<'_>| {
        head.draw(canvas);
        for (number, panel) in panels.iter().enumerate() {
            panel.draw(canvas, summary, &layout, layout.corner(number, head.height()));
        }
    })
}

/// How many panels are beside each other: where it can be so, the variants of a measure.
fn columns(measures: usize, variants: usize) -> usize {
    match (variants, measures * variants) {
        (2 | 3, _) => variants,
        (_, panels @ ..=3) => panels.max(1),
        (_, 4) => 2,
        _ => 3,
    }
}

/// What occurs in panels.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    range: Option<(f64, f64)>,
    missing: bool,
    undefined: bool,
    incomplete: bool,
}

impl Seen {
    fn look_at<'a>(&mut self, summary: &'a SweepSummary, choice: Choice<'a>) {
        for tile in choice.tiles(summary) {
            match tile {
                Tile::Missing => self.missing = true,
                Tile::Undefined => self.undefined = true,
                Tile::Figure { value, complete } => {
                    let (min, max) = self.range.unwrap_or((value, value));
                    self.range = Some((min.min(value), max.max(value)));
                    self.incomplete |= !complete;
                }
            }
        }
    }

    fn and(self, other: Self) -> Self {
        Self {
            range: None,
            missing: self.missing || other.missing,
            undefined: self.undefined || other.undefined,
            incomplete: self.incomplete || other.incomplete,
        }
    }

    fn legend(self) -> Vec<Entry> {
        let missing = Entry { mark: Mark::Window(palette::GROUND), label: "not finished".to_owned() };
        let undefined = Entry { mark: Mark::Hatch, label: "undefined in every replica".to_owned() };
        self.missing.then_some(missing).into_iter().chain(self.undefined.then_some(undefined)).collect()
    }

    fn remark(self, writes_figures: bool) -> String {
        match (self.incomplete, writes_figures) {
            (false, _) => String::new(),
            (true, true) => format!(", {INCOMPLETE} undefined in some replicas"),
            (true, false) => ", in places undefined in some replicas".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variants_of_a_measure_are_side_by_side() {
        let of_one: Vec<_> = (1..=6).map(|measures| columns(measures, 1)).collect();
        assert_eq!(of_one, [1, 2, 3, 2, 3, 3]);
        assert_eq!([columns(3, 2), columns(2, 3), columns(1, 4), columns(1, 5), columns(1, 6)], [2, 3, 2, 3, 3]);
        assert_eq!(columns(1, 0), 1);
    }
}
