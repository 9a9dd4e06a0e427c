//! A sweep of one setting: a panel per measure, in it a line per variant.

use super::canvas::{self, Align, Area, Canvas};
use super::curves::{self, Curve, Spot};
use super::font::Font;
use super::legend::{Entry, Mark};
use super::setting::Setting;
use super::setting_axis::SettingAxis;
use super::value_axis::{self, ValueAxis};
use super::{MARGIN, WIDTH, head, palette, sweep};
use crate::experiment::axis::Axis;
use crate::experiment::{Measure, SweepSummary};
use crate::number::Style;

/// More panels than this make a picture that no screen shows at once.
const MEASURES_SHOWN: usize = 4;
/// Rows of each panel, by their number.
const HEIGHTS: [i32; MEASURES_SHOWN] = [440, 250, 190, 160];
/// Rows above each panel for its heading.
const HEADING: i32 = 46;
/// Where nothing lies between values, the variants share so much of the room of each.
const SHARED: f64 = 0.7;
/// And are not further apart than so many columns.
const APART: f64 = 28.0;

struct Panel {
    heading: String,
    style: Style,
    curves: Vec<Curve>,
}

/// The chart.
pub(super) fn chart(summary: &SweepSummary, axis: &Axis) -> Vec<u8> {
    let pixels = MARGIN + value_axis::LABELS..WIDTH as i32 - MARGIN;
    let settings = SettingAxis::of(&Setting::of(axis), axis.scale, pixels.clone());
    let measures = sweep::measures(summary).take(MEASURES_SHOWN);
    let panels: Vec<_> = measures.map(|(at, measure)| panel(summary, &settings, at, measure, pixels.len())).collect();
    let variants = sweep::variants(summary);
    let entries = head::first(variants).iter().zip(palette::VARIANTS);
    let entries = entries.map(|(variant, color)| Entry { mark: Mark::Series(color), label: variant.variant.clone() });
    let remark = remark(&panels, settings.slot.is_some())
        + &head::left_out(head::first(variants).len(), variants.len(), "variants")
        + &sweep::measures_left_out(summary, panels.len());
    let head = sweep::of(summary, "value", &remark, entries.collect());
    let height = HEIGHTS[panels.len().clamp(1, MEASURES_SHOWN) - 1];
    let bottom = head.height() + panels.len() as i32 * (HEADING + height);
    canvas::png((WIDTH, (bottom + settings.foot.height()) as u32), |canvas| {
        head.draw(canvas);
        for (panel, top) in panels.iter().zip((head.height() + HEADING..).step_by((HEADING + height) as usize)) {
            let area = Area { x: pixels.clone(), y: top..top + height };
            panel.draw(canvas, &settings, &area);
        }
        settings.foot.draw_labels(canvas, (0, bottom));
    })
}

fn panel(summary: &SweepSummary, settings: &SettingAxis, at: usize, measure: &Measure, columns: usize) -> Panel {
    let variants = head::first(sweep::variants(summary)).len();
    let spot = |variant: usize, position: usize, x: i32| {
        let figures = sweep::cell(summary, position)?.variants.get(variant)?;
        Spot::of(x, measure, figures.stats.get(at)?, figures.replicas)
    };
    let curve = |(variant, color)| match settings.slot {
        None => {
            let spots = settings.places.iter().map(|&(position, x)| spot(variant, position, x));
            Curve::joined(color, spots, columns)
        }
        Some(slot) => {
            // Beside each other, so that none hides another.
            let apart = (slot * SHARED / variants as f64).min(APART);
            let aside = ((variant as f64 - (variants as f64 - 1.0) / 2.0) * apart).round() as i32;
            let places = settings.places.iter();
            Curve::apart(color, places.filter_map(|&(position, x)| spot(variant, position, x + aside)))
        }
    };
    Panel {
        heading: measure.to_string(),
        style: Style::of(measure.metric, measure.unit),
        curves: (0..variants).zip(palette::VARIANTS).map(curve).collect(),
    }
}

/// What the signs in the panels mean.
fn remark(panels: &[Panel], apart: bool) -> String {
    let spots = || panels.iter().flat_map(|panel| &panel.curves).flat_map(Curve::spots);
    let mut text = String::new();
    if spots().any(|spot| spot.interval.is_some()) {
        text += if apart { ", bars: 95 % interval of the mean" } else { ", shaded: 95 % interval of the mean" };
    }
    if spots().any(|spot| !spot.complete) {
        let dots = panels.iter().flat_map(|panel| &panel.curves).all(Curve::has_dots);
        let which = if dots { "open dots" } else { "in places" };
        text += &format!(", {which}: undefined in some replicas");
    }
    text
}

impl Panel {
    fn draw(&self, canvas: &Canvas<'_>, settings: &SettingAxis, area: &Area) {
        let most = if self.style == Style::Share { 1.0 } else { f64::INFINITY };
        let reach = curves::reach(&self.curves, most);
        let axis = ValueAxis::around(reach.unwrap_or((0.0, 0.0)), self.style, &area.y);
        let heading = match (reach, axis.remark) {
            (None, _) => format!("{}: undefined everywhere", self.heading),
            (_, "") => self.heading.clone(),
            (_, remark) => format!("{} ({remark})", self.heading),
        };
        let heading = Font::HEADING.ending(&heading, WIDTH as i32 - 2 * MARGIN);
        canvas.text(&heading, Font::HEADING, palette::TEXT, Align::Left, (MARGIN, area.y.start - 18));
        axis.draw(canvas, &area.x);
        settings.foot.draw_ticks(canvas, (0, area.y.end));
        curves::draw(canvas, &self.curves, &axis.scale, area);
    }
}
