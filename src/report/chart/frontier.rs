//! Where a condition begins to hold: its figure against the setting that varies, the bound, and the crossings.

use plotters::style::RGBColor;

use super::canvas::{self, Align, Area, Canvas};
use super::curves::{self, Curve, Spot};
use super::flags::{Flag, Flags};
use super::font::Font;
use super::head::{self, Head};
use super::legend::{Entry, Mark};
use super::level::{self, Level};
use super::scale::Scale;
use super::setting_axis;
use super::value_axis::{self, ValueAxis};
use super::{MARGIN, WIDTH, blank, palette, ticks};
use crate::experiment::{Crossing, FrontierSummary, VariantFrontier};
use crate::number::{self, Style};

/// Rows of the panel.
const HEIGHT: i32 = 440;
/// Rows above it for its heading.
const HEADING: i32 = 46;
/// A condition that changes more often is not told of change by change.
const CROSSINGS_MAX: usize = 2;
/// Rows from the interval of a crossing to that of the next variant, and half the height of its caps.
const APART: i32 = 9;
const CAP: i32 = 4;
/// So many columns of an interval can be seen beside the line of the crossing.
const INTERVAL_MIN: i32 = 5;

/// `frontier.png`: the figure of the condition by the value of the setting, with a line per variant.
pub fn frontier(summary: &FrontierSummary) -> Vec<u8> {
    let pixels = MARGIN + value_axis::LABELS..WIDTH as i32 - MARGIN - level::LABELS;
    let unit = (&*summary.path, &*summary.unit);
    let (setting, foot) = setting_axis::of_range(unit, summary.range, summary.scale, pixels.clone());
    let curves: Vec<_> = colored(summary).map(|(variant, color)| curve(summary, variant, color, &setting)).collect();
    let style = Style::of(summary.measure.metric, summary.measure.unit);
    let most = if style == Style::Share { 1.0 } else { f64::INFINITY };
    let Some((min, max)) = curves::reach(&curves, most) else {
        let sentence = format!("`{}` has no figure at any value of {}", summary.measure, summary.path);
        return blank::chart(&head(summary, &[], false), &sentence);
    };
    let flags = Flags::of(flags(summary, &setting));
    let head = head(summary, &curves, flags.has_dashed());
    let top = head.height() + HEADING + flags.height();
    let area = Area { x: pixels, y: top..top + HEIGHT };
    let axis = match style {
        // The whole of it, whatever the figures are: what does not recover at all is at the foot.
        Style::Share => ValueAxis::from_zero(summary.bound.max(1.0), style, &area.y),
        _ => ValueAxis::around((min.min(summary.bound), max.max(summary.bound)), style, &area.y),
    };
    canvas::png((WIDTH, (area.y.end + foot.height()) as u32), |canvas| {
        head.draw(canvas);
        draw_heading(canvas, summary, &axis, head.height());
        axis.draw(canvas, &area.x);
        foot.draw_ticks(canvas, (0, area.y.end));
        foot.draw_labels(canvas, (0, area.y.end));
        let label = format!("bound {}", number::plain(summary.bound, style, 4));
        let bound = Level { value: summary.bound, label, color: palette::LEVEL };
        level::draw(canvas, &[&bound], &axis.scale, &area);
        flags.draw(canvas, &area.y);
        curves::draw(canvas, &curves, &axis.scale, &area);
        draw_intervals(canvas, summary, &setting, axis.scale.at(summary.bound));
    })
}

fn colored(summary: &FrontierSummary) -> impl Iterator<Item = (&VariantFrontier, RGBColor)> {
    head::first(&summary.variants).iter().zip(palette::VARIANTS)
}

fn curve(summary: &FrontierSummary, variant: &VariantFrontier, color: RGBColor, setting: &Scale) -> Curve {
    let spots = variant.points.iter().map(|point| {
        let x = setting.at(point.at);
        Spot::of(x, &summary.measure, &point.stat, summary.replicas)
    });
    Curve::joined(color, spots, WIDTH as usize)
}

fn head(summary: &FrontierSummary, curves: &[Curve], allowance: bool) -> Head {
    let title = format!("{}: where {}", summary.scenario.name, summary.condition);
    let mut subtitle = match summary.replicas {
        0 | 1 => "one replica per value".to_owned(),
        replicas => format!("{} over {replicas} replicas per value", summary.measure.statistic.name()),
    };
    subtitle += &format!(", seed {}", summary.seed);
    let spots = || curves.iter().flat_map(Curve::spots);
    if spots().any(|spot| spot.interval.is_some()) {
        subtitle += ", shaded: 95 % interval of the mean";
    }
    if spots().any(|spot| !spot.complete) {
        subtitle += ", open dots: undefined in some replicas";
    }
    subtitle += &head::left_out(colored(summary).count(), summary.variants.len(), "variants");
    if summary.partial {
        subtitle += ", cut short";
    }
    let variants = colored(summary).map(|(variant, color)| Entry {
        mark: Mark::Series(color),
        label: format!("{}{}", variant.name, annotation(variant)),
    });
    let allowance = allowance.then(|| Entry {
        mark: Mark::Level(palette::LEVEL),
        label: "retries alone allow: capacity / attempts of a request".to_owned(),
    });
    Head::titled(&title, &subtitle, variants.chain(allowance).collect())
}

/// What there is to say where there is not one crossing.
fn annotation(variant: &VariantFrontier) -> &'static str {
    let holds = || variant.points.iter().filter_map(|point| point.holds);
    match variant.crossings.len() {
        0 if holds().count() == 0 => ": undefined at every value",
        0 if holds().all(|holds| holds) => ": holds at every value",
        0 if holds().all(|holds| !holds) => ": holds at no value",
        2.. => ": changes more than once",
        _ => "",
    }
}

fn draw_heading(canvas: &Canvas<'_>, summary: &FrontierSummary, axis: &ValueAxis, top: i32) {
    let heading = match axis.remark {
        "" => summary.measure.to_string(),
        remark => format!("{} ({remark})", summary.measure),
    };
    let heading = Font::HEADING.ending(&heading, WIDTH as i32 - 2 * MARGIN);
    canvas.text(&heading, Font::HEADING, palette::TEXT, Align::Left, (MARGIN, top + HEADING - 18));
}

/// The crossings of all variants, and what their retries alone allow.
fn flags(summary: &FrontierSummary, setting: &Scale) -> Vec<Flag> {
    let mut flags: Vec<_> =
        colored(summary).flat_map(|(variant, color)| crossings(summary, variant, color, setting)).collect();
    let allowed = |variant: &VariantFrontier| {
        let allowance = variant.allowance.as_ref()?;
        let value = allowance.capacity_rps / allowance.attempts;
        let [from, to] = summary.range;
        (from.min(to)..=from.max(to)).contains(&value).then_some(value)
    };
    let values = colored(summary).map(|(variant, color)| (color, allowed(variant)));
    let levels = level::of_variants(values, |value| format!("retries alone allow {}/s", rate(value)));
    flags.extend(levels.into_iter().map(|Level { value, label, color }| Flag {
        x: setting.at(value),
        label,
        color,
        dashed: true,
    }));
    flags
}

fn rate(value: f64) -> String {
    number::plain(value, Style::Count, 3)
}

fn crossings(summary: &FrontierSummary, variant: &VariantFrontier, color: RGBColor, setting: &Scale) -> Vec<Flag> {
    // Retries allow a number of requests per second: where there is such a number, what varies is a rate, too.
    let unit = match &*summary.unit {
        "" if variant.allowance.is_some() => "/s".to_owned(),
        "" => String::new(),
        unit => format!(" {unit}"),
    };
    let name = if summary.variants.len() > 1 { format!("{}: ", variant.name) } else { String::new() };
    let all = &variant.crossings;
    let label = |(number, crossing): (usize, &Crossing)| match (number, all.len()) {
        (_, ..=CROSSINGS_MAX) => format!("{name}{}{unit}", span(crossing.below, crossing.above)),
        (0, changes) => {
            let span = span(crossing.below, all[changes - 1].above);
            format!("{name}{changes} changes, {span}{unit}")
        }
        _ => String::new(),
    };
    let x = |crossing: &Crossing| (setting.at(crossing.below) + setting.at(crossing.above)) / 2;
    let flag = |(number, crossing)| Flag { x: x(crossing), label: label((number, crossing)), color, dashed: false };
    all.iter().enumerate().map(flag).collect()
}

/// What a reader can tell of a value between two others.
fn span(below: f64, above: f64) -> String {
    let [low, high] = [below, above].map(|value| number::plain(value, Style::Count, 3));
    if low == high { low } else { ticks::labels(&[below, above]).join(" to ") }
}

/// Between which values it is open where the condition changes: bars at the bound, where they can be seen.
fn draw_intervals(canvas: &Canvas<'_>, summary: &FrontierSummary, setting: &Scale, y: i32) {
    let count = colored(summary).count() as i32;
    for ((variant, color), number) in colored(summary).zip(0..) {
        let y = y + number * APART - (count - 1) * APART / 2;
        for crossing in &variant.crossings {
            let [low, high] = crossing.ci95.map(|end| setting.at(end));
            if high - low < INTERVAL_MIN {
                continue;
            }
            canvas.fill(&Area { x: low..high + 1, y: y - 1..y + 1 }, color);
            for x in [low, high] {
                canvas.fill(&Area { x: x..x + 2, y: y - CAP..y + CAP }, color);
            }
        }
    }
}
