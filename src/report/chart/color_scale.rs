//! From figures to colours: light for low ones, dark for high ones, with a key.
//!
//! Equal steps of a figure are equal steps of lightness, so the scale is read alike by people with any colour vision,
//! and without colours.

use plotters::style::RGBColor;

use super::canvas::{Align, Area, Canvas};
use super::font::Font;
use super::scale::Scale;
use super::value_axis::{labelled, logarithmic};
use super::{palette, ticks};
use crate::number::{self, Style};

/// Yellow, green and blue, at equal steps of lightness (CIE L*) from 94 to 18.
const STOPS: [RGBColor; 9] = [
    RGBColor(0xfd, 0xef, 0x9c),
    RGBColor(0xc0, 0xde, 0x81),
    RGBColor(0x71, 0xcc, 0x7f),
    RGBColor(0x13, 0xb4, 0x90),
    RGBColor(0x06, 0x96, 0x96),
    RGBColor(0x03, 0x79, 0x91),
    RGBColor(0x01, 0x5c, 0x8d),
    RGBColor(0x24, 0x3c, 0x84),
    RGBColor(0x30, 0x21, 0x5f),
];
/// Of text on light colours: in the midst of the scale only black stands out enough.
const INK: RGBColor = RGBColor(0, 0, 0);
/// Number of the last colour.
const LAST: i32 = 255;
/// From this one on light text is read more easily than dark text.
const DARK: i32 = 150;
/// Where values differ by a larger factor, a linear scale would give the lower ones one colour.
const LINEAR_MAX: f64 = 100.0;
/// About so many values are named.
const TICKS: u32 = 4;
/// Rows of the key's bar.
const BAR: i32 = 12;
/// Rows of the key, with its labels.
pub(super) const KEY: i32 = 44;
/// Blank between two labels of the key.
const GAP: i32 = 10;

/// The scale.
pub(super) struct ColorScale {
    scale: Scale,
    ticks: Vec<(f64, String)>,
    /// What has to be said of it; empty if it is linear.
    pub remark: &'static str,
}

impl ColorScale {
    /// For figures from `min` to `max`, with a key of so many columns.
    pub fn of((min, max): (f64, f64), style: Style, columns: i32) -> Self {
        if min > 0.0 && max > min * LINEAR_MAX {
            let ticks = logarithmic((min, max), style);
            let scale = Scale::logarithmic((ticks[0].0, ticks[ticks.len() - 1].0), (0, LAST));
            return Self { ticks: readable(ticks, &scale, columns), scale, remark: "logarithmic" };
        }
        // One value alone is the end of a scale from zero.
        let low = if max - min > max * 1e-9 { min } else { 0.0 };
        let high = if max > 0.0 { max } else { 1.0 };
        let (factor, unit) = number::scaling(high, style);
        let ticks = labelled(&ticks::linear((low * factor, high * factor), TICKS), factor, unit);
        let scale = Scale::linear((ticks[0].0, ticks[ticks.len() - 1].0), (0, LAST));
        Self { ticks: readable(ticks, &scale, columns), scale, remark: "" }
    }

    /// The colour of a figure, and one in which text on it can be read.
    pub fn colors(&self, figure: f64) -> (RGBColor, RGBColor) {
        let step = self.scale.at(figure);
        (color(step), if step < DARK { INK } else { palette::GROUND })
    }

    /// Draws the key from this corner on.
    pub fn draw_key(&self, canvas: &Canvas<'_>, (left, top): (i32, i32), columns: i32) {
        for x in 0..columns {
            let area = Area { x: left + x..left + x + 1, y: top..top + BAR };
            canvas.fill(&area, color(x * LAST / (columns - 1)));
        }
        for (tick, label) in &self.ticks {
            let x = left + column(&self.scale, *tick, columns);
            canvas.fill(&Area { x: x..x + 1, y: top + BAR..top + BAR + 4 }, palette::AXIS);
            let half = Font::BODY.width(label) / 2;
            let at = (x.clamp(left + half, left + columns - half), top + BAR + 19);
            canvas.text(label, Font::BODY, palette::QUIET, Align::Middle, at);
        }
    }
}

/// The column of a figure in a key of so many.
fn column(scale: &Scale, figure: f64, columns: i32) -> i32 {
    scale.at(figure) * (columns - 1) / LAST
}

/// All of these ticks, or every second, third, and so on, so that labels do not touch. Those at the ends are within the
/// key.
fn readable(ticks: Vec<(f64, String)>, scale: &Scale, columns: i32) -> Vec<(f64, String)> {
    let extent = |(tick, label): &(f64, String)| {
        let width = Font::BODY.width(label);
        let start = (column(scale, *tick, columns) - width / 2).clamp(0, (columns - width).max(0));
        (start, start + width)
    };
    let fit = |ticks: &Vec<(f64, String)>| ticks.windows(2).all(|pair| extent(&pair[0]).1 + GAP <= extent(&pair[1]).0);
    let last = ticks.len() - 1;
    // The ends are named in any case where both can be.
    let steps = (1..=last).filter(|step| last.is_multiple_of(*step));
    let thinned = |step| ticks.iter().step_by(step).cloned().collect::<Vec<_>>();
    steps.map(thinned).find(fit).unwrap_or_else(|| thinned(last))
}

/// The colour of this number.
fn color(step: i32) -> RGBColor {
    let position = f64::from(step) / f64::from(LAST) * (STOPS.len() - 1) as f64;
    let below = (position as usize).min(STOPS.len() - 2);
    let (from, to, share) = (STOPS[below], STOPS[below + 1], position - below as f64);
    let mix = |from: u8, to: u8| (f64::from(from) + (f64::from(to) - f64::from(from)) * share).round() as u8;
    RGBColor(mix(from.0, to.0), mix(from.1, to.1), mix(from.2, to.2))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CIE L* of a colour in sRGB (IEC 61966-2-1).
    fn lightness(RGBColor(red, green, blue): RGBColor) -> f64 {
        let linear = |channel: u8| {
            let channel = f64::from(channel) / 255.0;
            if channel <= 0.04045 { channel / 12.92 } else { libm::pow((channel + 0.055) / 1.055, 2.4) }
        };
        116.0 * libm::cbrt(0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)) - 16.0
    }

    /// 76 of lightness over 255 steps: it is nowhere off by more than a fiftieth of the scale, and each colour is
    /// darker than the one three steps before. Of single steps, 0.3 each, rounding to whole channels may take one.
    #[test]
    fn equal_steps_are_equal_steps_of_lightness() {
        for step in 0..=LAST {
            let expected = 94.0 - 76.0 * f64::from(step) / f64::from(LAST);
            let found = lightness(color(step));
            assert!((found - expected).abs() < 1.5, "{step}: {found} instead of {expected}");
            assert!(step < 3 || found < lightness(color(step - 3)), "{step}");
        }
    }

    /// 4.5 to 1 is the contrast that WCAG 2 asks of text (level AA).
    #[test]
    fn text_can_be_read_on_every_color() {
        let luminance = |color| libm::pow((lightness(color) + 16.0) / 116.0, 3.0);
        let scale = ColorScale::of((0.0, 1.0), Style::Count, 300);
        for step in 0..=100 {
            let (ground, text) = scale.colors(f64::from(step) / 100.0);
            let (dark, light) = (luminance(ground).min(luminance(text)), luminance(ground).max(luminance(text)));
            let contrast = (light + 0.05) / (dark + 0.05);
            assert!(contrast >= 4.5, "{step}: {contrast}");
        }
    }

    #[test]
    fn the_key_has_as_many_labels_as_fit() {
        let labels = |range, style, columns| -> Vec<String> {
            ColorScale::of(range, style, columns).ticks.into_iter().map(|(_, label)| label).collect()
        };
        assert_eq!(labels((0.31, 0.97), Style::Share, 300), ["20 %", "40 %", "60 %", "80 %", "100 %"]);
        assert_eq!(labels((0.31, 0.97), Style::Share, 200), ["20 %", "60 %", "100 %"]);
        assert_eq!(labels((0.31, 0.97), Style::Share, 60), ["20 %", "100 %"]);
        assert_eq!(labels((5.0, 5.0), Style::Count, 300), ["0", "2", "4", "6"]);
        assert_eq!(labels((0.0, 0.0), Style::Count, 300), ["0", "0.5", "1"]);
        assert_eq!(labels((10.0, 5_000.0), Style::Count, 320), ["10", "50", "200", "1,000", "5,000"]);
        assert_eq!(ColorScale::of((1.0, 2_000.0), Style::Count, 120).remark, "logarithmic");
    }
}
