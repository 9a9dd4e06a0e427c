//! Amplification by service: bars grouped by service, one per variant, each with its value.

use super::canvas::{self, Align, Area, Canvas};
use super::font::Font;
use super::head::{self, Head};
use super::scale::{Scale, linear_ticks, powers_of_ten};
use super::{MARGIN, WIDTH, palette};
use crate::experiment::Summary;
use crate::report::number::{self, Style};
use crate::report::services::{self, Selection};

/// More bars than this cannot be read; the services amplified most are shown.
const BARS_SHOWN: usize = 36;
/// The bars of a chart with few of them are as thick as makes it about this high.
const BARS_HEIGHT: i32 = 400;
const BAR_GAP: i32 = 3;
/// Rows between services that have a bar per variant; single bars stand closer.
const GROUP_GAP: i32 = 22;
const SINGLE_GAP: i32 = 8;
/// Rows between the legend and the bars.
const TOP: i32 = 22;
/// Rows below the bars: tick labels and the axis title.
const FOOT: i32 = 66;
const NAME_WIDTH_MAX: i32 = 320;
/// Columns to the right of the axis for the value of the longest bar.
const VALUE_WIDTH: i32 = 76;
/// Above this the axis is logarithmic: on a linear one small values could not be told apart.
const LINEAR_MAX: f64 = 100.0;

/// `amplification.png`: how many arrivals each original one became, by service and variant.
pub fn amplification(summary: &Summary) -> Vec<u8> {
    let variants = head::shown(summary);
    let services = services::most_amplified(summary, (BARS_SHOWN / variants.len().max(1)).max(1));
    let entries = head::entries(summary).collect();
    let head = Head::of(summary, "amplification by service", &remark(&services), entries);
    let bars = Bars::of(summary, &services, head.height() + TOP);
    canvas::png((WIDTH, (bars.bottom() + FOOT) as u32), |canvas| {
        head.draw(canvas);
        bars.draw(canvas);
    })
}

fn remark(services: &Selection<'_>) -> String {
    match services.hidden {
        0 => String::new(),
        hidden => format!(", the {} services amplified most ({hidden} more in summary.csv)", services.names.len()),
    }
}

/// All bars with their places.
struct Bars<'a> {
    top: i32,
    thickness: i32,
    left: i32,
    axis: Axis,
    variants: usize,
    /// By service the mean of each variant.
    groups: Vec<(&'a str, Vec<Option<f64>>)>,
}

impl<'a> Bars<'a> {
    fn of(summary: &Summary, services: &Selection<'a>, top: i32) -> Self {
        let variants = head::shown(summary);
        let groups: Vec<(&str, Vec<_>)> = services
            .names
            .iter()
            .map(|&name| (name, variants.iter().map(|variant| services::amplification(variant, name)).collect()))
            .collect();
        let names = groups.iter().map(|(name, _)| Font::BODY.width(name));
        let left = MARGIN + names.max().unwrap_or(0).min(NAME_WIDTH_MAX) + 14;
        let count = (groups.len() * variants.len()).max(1) as i32;
        let max = groups.iter().flat_map(|(_, means)| means).flatten().copied().fold(1.0, f64::max);
        let thickness = (BARS_HEIGHT / count).clamp(20, 34) - BAR_GAP;
        Self { top, thickness, left, axis: Axis::of(max, left), variants: variants.len(), groups }
    }

    fn gap(&self) -> i32 {
        if self.variants > 1 { GROUP_GAP } else { SINGLE_GAP }
    }

    fn group_height(&self) -> i32 {
        self.variants as i32 * (self.thickness + BAR_GAP) - BAR_GAP + self.gap()
    }

    fn bottom(&self) -> i32 {
        // Without any service there is still room for the sentence that says so.
        self.top + (self.groups.len() as i32 * self.group_height()).max(60)
    }

    fn draw(&self, canvas: &Canvas<'_>) {
        self.axis.draw(canvas, self.top - TOP / 2, self.bottom());
        if self.groups.is_empty() {
            let at = (self.left + 20, self.top + 30);
            canvas.text("no service was called", Font::BODY, palette::QUIET, Align::Left, at);
        }
        for (i, (name, means)) in self.groups.iter().enumerate() {
            let top = self.top + i as i32 * self.group_height();
            let middle = top + (self.group_height() - self.gap()) / 2;
            let name = Font::BODY.shortened(name, NAME_WIDTH_MAX);
            let at = (self.left - 14, middle + Font::BODY.half_capital());
            canvas.text(&name, Font::BODY, palette::TEXT, Align::Right, at);
            for ((mean, color), row) in means.iter().zip(palette::VARIANTS).zip(0..) {
                let top = top + row * (self.thickness + BAR_GAP);
                let bar = Area { x: self.left..self.end_of(*mean), y: top..top + self.thickness };
                canvas.fill(&bar, color);
                let label = mean.map_or_else(|| "undefined".to_owned(), |mean| number::plain(mean, Style::Factor, 3));
                let quiet = if mean.is_some() { palette::TEXT } else { palette::QUIET };
                let at = (bar.x.end + 8, top + self.thickness / 2 + Font::BODY.half_capital());
                // The label's own ground: no line of the mesh runs through it.
                let end = at.0 + Font::BODY.width(&label) + 4;
                canvas.fill(&Area { x: at.0 - 4..end, y: bar.y }, palette::GROUND);
                canvas.text(&label, Font::BODY, quiet, Align::Left, at);
            }
        }
    }

    /// Where a bar ends. On the logarithmic axis 1 is no length at all, but it is still to be seen.
    fn end_of(&self, mean: Option<f64>) -> i32 {
        mean.map_or(self.left, |mean| self.axis.scale.at(mean).max(self.left + 3))
    }
}

/// The axis of the values.
struct Axis {
    scale: Scale,
    ticks: Vec<f64>,
    title: &'static str,
}

impl Axis {
    fn of(max: f64, left: i32) -> Self {
        let pixels = (left, WIDTH as i32 - MARGIN - VALUE_WIDTH);
        let (scale, mut ticks, title) = if max > LINEAR_MAX {
            let title = "arrivals per original arrival (logarithmic)";
            (Scale::logarithmic(max, pixels), powers_of_ten(max), title)
        } else {
            (Scale::linear(max, pixels), linear_ticks(max, 8), "arrivals per original arrival")
        };
        // The longest bar takes the whole length; a tick beyond it would shorten it.
        ticks.retain(|tick| *tick <= max);
        Self { scale, ticks, title }
    }

    fn draw(&self, canvas: &Canvas<'_>, top: i32, bottom: i32) {
        for (i, &tick) in self.ticks.iter().enumerate() {
            let x = self.scale.at(tick);
            canvas.fill(&Area { x: x - 1..x, y: top..bottom }, if i == 0 { palette::AXIS } else { palette::MESH });
            let label = number::plain(tick, Style::Factor, 3);
            canvas.text(&label, Font::BODY, palette::QUIET, Align::Middle, (x, bottom + 22));
        }
        let [first, last] = [self.ticks[0], self.ticks[self.ticks.len() - 1]].map(|tick| self.scale.at(tick));
        canvas.text(self.title, Font::BODY, palette::TEXT, Align::Middle, ((first + last) / 2, bottom + 47));
    }
}
