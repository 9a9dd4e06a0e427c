//! Fixed values that lines are held against, such as a ceiling: dashes through the panel, named at its right edge.

use plotters::style::RGBColor;

use super::canvas::{Align, Area, Canvas};
use super::font::Font;
use super::palette;
use super::scale::Scale;

/// Columns that the names take at the right edge.
pub(super) const LABELS: i32 = 132;
/// Rows that two names are apart at least.
const ROW: i32 = 20;
const DASH: i32 = 9;
const GAP: i32 = 6;
const STROKE: i32 = 2;

/// A fixed value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Level {
    /// Where it is on the axis.
    pub value: f64,
    /// What it is.
    pub label: String,
    /// That of the one variant it belongs to, or of all.
    pub color: RGBColor,
}

/// The levels of variants, given with the colours of these: one for each value. What is the same for all of them, or
/// for several, has the colour of text.
pub(super) fn of_variants(
    values: impl IntoIterator<Item = (RGBColor, Option<f64>)>,
    label: impl Fn(f64) -> String,
) -> Vec<Level> {
    let mut levels: Vec<Level> = Vec::new();
    let mut all = true;
    for (color, value) in values {
        let Some(value) = value else {
            all = false;
            continue;
        };
        match levels.iter_mut().find(|level| level.value == value) {
            Some(level) => level.color = palette::LEVEL,
            None => levels.push(Level { value, label: label(value), color }),
        }
    }
    if let ([level], true) = (&mut levels[..], all) {
        level.color = palette::LEVEL;
    }
    levels
}

/// Draws the dashes across `area`, just above their rows as lines are.
pub(super) fn draw(canvas: &Canvas<'_>, levels: &[&Level], values: &Scale, area: &Area) {
    for level in levels {
        let y = values.at(level.value);
        for x in area.x.clone().step_by((DASH + GAP) as usize) {
            canvas.fill(&Area { x: x..(x + DASH).min(area.x.end), y: y - STROKE..y }, level.color);
        }
    }
    let mut rows: Vec<_> = levels.iter().map(|level| (values.at(level.value), *level)).collect();
    rows.sort_by_key(|(y, _)| *y);
    let mut free = i32::MIN;
    for (y, level) in rows {
        let y = y.max(free);
        free = y + ROW;
        let at = (area.x.end + 8, y + Font::BODY.half_capital());
        let label = Font::BODY.shortened(&level.label, LABELS - 8);
        canvas.text(&label, Font::BODY, level.color, Align::Left, at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLUE: RGBColor = palette::VARIANTS[0];
    const RED: RGBColor = palette::VARIANTS[1];
    const GREEN: RGBColor = palette::VARIANTS[2];

    fn found(values: [Option<f64>; 3]) -> Vec<(f64, RGBColor)> {
        let levels = of_variants([BLUE, RED, GREEN].into_iter().zip(values), |value| value.to_string());
        levels.into_iter().map(|level| (level.value, level.color)).collect()
    }

    #[test]
    fn a_level_has_the_colour_of_a_variant_only_where_it_is_its_alone() {
        assert_eq!(found([Some(5.0); 3]), [(5.0, palette::LEVEL)]);
        assert_eq!(found([Some(5.0), Some(7.0), Some(5.0)]), [(5.0, palette::LEVEL), (7.0, RED)]);
        assert_eq!(found([None, None, Some(5.0)]), [(5.0, GREEN)]);
        assert_eq!(found([None; 3]), []);
    }
}
