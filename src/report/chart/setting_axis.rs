//! The axis of a setting below panels: to scale where its values are figures, evenly spaced where they are not.

use std::ops::Range;

use super::font::Font;
use super::foot::Foot;
use super::scale::Scale;
use super::setting::{self, GAP, Setting};
use super::ticks;
use crate::experiment::axis;

/// Between the ends of the panels and the first and last value.
const INSET: i32 = 24;
/// About so many round values are named.
const TICKS: u32 = 10;

/// The places of the values of a setting.
pub(super) struct SettingAxis {
    /// The positions of the values, and their columns, from left to right.
    pub places: Vec<(usize, i32)>,
    /// How many columns each value has, where nothing lies between two of them.
    pub slot: Option<f64>,
    /// What names them.
    pub foot: Foot,
}

impl SettingAxis {
    /// Of all values, drawn as `scale` says, over these columns.
    pub fn of(setting: &Setting<'_>, scale: axis::Scale, pixels: Range<i32>) -> Self {
        if let Some(figures) = &setting.figures
            && let Some(range) = range(figures)
        {
            Self::to_scale(setting, figures, &between(range, scale, &pixels), range, pixels)
        } else {
            Self::in_slots(setting, pixels)
        }
    }

    fn to_scale(setting: &Setting<'_>, figures: &[f64], scale: &Scale, range: [f64; 2], pixels: Range<i32>) -> Self {
        let mut order: Vec<_> = (0..figures.len()).collect();
        order.sort_by(|&a, &b| figures[a].total_cmp(&figures[b]));
        let places = order.iter().map(|&at| (at, scale.at(figures[at]))).collect();
        // A sweep of a few values is read at these, one of many at round ones.
        let ticks = if figures.len() <= 2 * TICKS as usize {
            let mut own: Vec<_> = order.iter().map(|&at| figures[at]).collect();
            own.dedup();
            fitting(&own, scale).unwrap_or_else(|| round(range, scale))
        } else {
            round(range, scale)
        };
        let room = pixels.len() as i32;
        let title = Font::BODY.ending(&setting.title(), room);
        Self { places, slot: None, foot: Foot::of(pixels, ticks, room, title) }
    }

    fn in_slots(setting: &Setting<'_>, pixels: Range<i32>) -> Self {
        let slot = pixels.len() as f64 / setting.len() as f64;
        let at = |position: usize| pixels.start + ((position as f64 + 0.5) * slot) as i32;
        let named = setting.beside_each_other(slot);
        let room = slot * named.get(1).map_or(setting.len(), |(second, _)| *second) as f64;
        let ticks: Vec<_> = named.into_iter().map(|(position, label)| (at(position), label)).collect();
        let places = (0..setting.len()).map(|position| (position, at(position))).collect();
        let title = Font::BODY.ending(&setting.title(), pixels.len() as i32);
        Self { places, slot: Some(slot), foot: Foot::of(pixels, ticks, room as i32 - GAP, title) }
    }
}

/// A range of a setting over these columns, drawn as `scale` says, with round values below it.
pub(super) fn of_range(
    (path, unit): (&str, &str),
    ends: [f64; 2],
    scale: axis::Scale,
    pixels: Range<i32>,
) -> (Scale, Foot) {
    let range = range(&ends).unwrap_or([ends[0], ends[0] + 1.0]);
    let scale = between(range, scale, &pixels);
    let room = pixels.len() as i32;
    let title = Font::BODY.ending(&setting::title(path, unit), room);
    let foot = Foot::of(pixels, round(range, &scale), room, title);
    (scale, foot)
}

/// The least and the greatest, if they are not the same.
fn range(figures: &[f64]) -> Option<[f64; 2]> {
    let (min, max) =
        figures.iter().fold((f64::MAX, f64::MIN), |(min, max), figure| (min.min(*figure), max.max(*figure)));
    (min < max).then_some([min, max])
}

/// Logarithms are of what is above zero.
fn between([min, max]: [f64; 2], scale: axis::Scale, pixels: &Range<i32>) -> Scale {
    let inner = (pixels.start + INSET, pixels.end - INSET);
    match scale {
        axis::Scale::Log if min > 0.0 => Scale::logarithmic((min, max), inner),
        axis::Scale::Linear | axis::Scale::Log => Scale::linear((min, max), inner),
    }
}

/// Round values within the range that can be written beside each other, or else its ends.
fn round([min, max]: [f64; 2], scale: &Scale) -> Vec<(i32, String)> {
    let mut ticks = if scale.is_logarithmic() { ticks::decades(min, max) } else { ticks::linear((min, max), TICKS) };
    let slack = (max - min) * 1e-9;
    ticks.retain(|tick| (min - slack..=max + slack).contains(tick));
    fitting(&ticks, scale).filter(|fitting| fitting.len() > 1).unwrap_or_else(|| labelled(&[min, max], scale))
}

/// Ascending values as they are written in their columns, if there is room for all of them.
fn fitting(values: &[f64], scale: &Scale) -> Option<Vec<(i32, String)>> {
    let labelled = labelled(values, scale);
    let end = |(x, label): &(i32, String)| x + (Font::BODY.width(label) + 1) / 2;
    let start = |(x, label): &(i32, String)| x - (Font::BODY.width(label) + 1) / 2;
    labelled.windows(2).all(|pair| end(&pair[0]) + GAP <= start(&pair[1])).then_some(labelled)
}

fn labelled(values: &[f64], scale: &Scale) -> Vec<(i32, String)> {
    values.iter().map(|&value| scale.at(value)).zip(ticks::labels(values)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::axis::Axis;

    const PIXELS: Range<i32> = 100..1_100;

    fn columns(text: &str) -> Vec<(usize, i32)> {
        let axis = Axis::parse(text).unwrap();
        SettingAxis::of(&Setting::of(&axis), axis.scale, PIXELS).places
    }

    /// The outermost values are 24 columns within the panel: 952 columns are between them.
    #[test]
    fn figures_are_to_scale_and_in_their_order_and_texts_at_equal_distances() {
        assert_eq!(columns("a=30,10,20"), [(1, 124), (2, 600), (0, 1_076)]);
        assert_eq!(columns("a=log:1..100/3"), [(0, 124), (1, 600), (2, 1_076)]);
        assert_eq!(columns("a=100ms,1s"), [(0, 124), (1, 1_076)]);
        assert_eq!(columns("a=none,full"), [(0, 350), (1, 850)]);
        assert_eq!(columns("a=5,5.0"), [(0, 350), (1, 850)], "one figure has no scale");
        assert_eq!(columns("a=-1,1"), [(0, 124), (1, 1_076)]);
    }

    #[test]
    fn a_range_without_round_values_is_named_at_its_ends() {
        let labels = |ends, kind| -> Vec<String> {
            let scale = between(ends, kind, &PIXELS);
            round(ends, &scale).into_iter().map(|(_, label)| label).collect()
        };
        assert_eq!(labels([3.0, 4.0], axis::Scale::Log), ["3", "4"]);
        assert_eq!(labels([0.0, 5.0], axis::Scale::Log)[0], "0", "zero has no logarithm");
        assert_eq!(labels([1.0, 500.0], axis::Scale::Log), ["1", "2", "5", "10", "20", "50", "100", "200", "500"]);
        assert_eq!(labels([10.0, 100.0], axis::Scale::Linear)[..2], ["10", "20"]);
    }
}
