//! How the peak of a replica is distributed over the replicas: a histogram per variant, all on one axis. It is that of
//! the retries, or that of all attempts where nobody retries.

use plotters::style::RGBColor;

use super::canvas::{self, Align, Area, Canvas};
use super::font::Font;
use super::head::{self, Head, Shows};
use super::histogram::Bins;
use super::{MARGIN, WIDTH, palette};
use crate::experiment::{Stat, Summary, VariantSummary};
use crate::metrics::catalogue::{self, ScopeKind};
use crate::number::{self, Style};

/// Which peak is shown.
#[derive(Clone, Copy)]
struct Peak {
    metric: &'static str,
    title: &'static str,
    axis: &'static str,
    logarithmic_axis: &'static str,
}

const OF_RETRIES: Peak = Peak {
    metric: "retry_peak",
    title: "distribution of the retry peak",
    axis: "most retries within 100 ms",
    logarithmic_axis: "most retries within 100 ms (logarithmic)",
};

const OF_ATTEMPTS: Peak = Peak {
    metric: "attempt_peak",
    title: "distribution of the peak (nobody retries)",
    axis: "most attempts within 100 ms",
    logarithmic_axis: "most attempts within 100 ms (logarithmic)",
};
/// The histograms share about so many rows of pixels.
const HISTOGRAMS_HEIGHT: i32 = 420;
/// Rows above each histogram for its heading.
const HEADING: i32 = 42;
/// Rows below the last one: tick labels and the axis title.
const FOOT: i32 = 66;
/// Columns beside the histograms for the number of replicas.
const LABELS: i32 = 60;
/// Columns to the right of the axis: half of its last label.
const RIGHT: i32 = 40;
/// Between a variant's name and its figures.
const NAME_GAP: i32 = 16;
/// Where variants differ by more than this factor, a linear axis would put the lower ones into one bar.
const LINEAR_MAX: f64 = 10.0;

/// `peaks.png`: in how many replicas the most retries (attempts, where nobody retries) within 100 ms were how many.
pub fn peaks(summary: &Summary) -> Vec<u8> {
    let somebody_retries = |variant: &VariantSummary| {
        variant.metrics.get(OF_RETRIES.metric).and_then(|stat| stat.max).is_some_and(|peak| peak > 0.0)
    };
    let peak = if head::shown(summary).iter().any(somebody_retries) { OF_RETRIES } else { OF_ATTEMPTS };
    let variants = variants(summary, peak);
    let mut remark = head::explained(variants.iter().map(|variant| variant.figures.as_str()));
    if summary.replicas > 1 {
        remark = ", bar height: number of replicas".to_owned() + &remark;
    }
    let head = Head::showing(Shows::Each, summary, peak.title, &remark, Vec::new());
    let chart = Histograms::of(variants, peak, differ_widely(head::shown(summary), peak), head.height());
    canvas::png((WIDTH, (chart.bottom() + FOOT) as u32), |canvas| {
        head.draw(canvas);
        chart.draw(canvas);
    })
}

struct Histograms<'a> {
    variants: Vec<Variant<'a>>,
    bins: Bins,
    title: &'static str,
    top: i32,
    height: i32,
}

struct Variant<'a> {
    name: &'a str,
    figures: String,
    color: RGBColor,
    sample: Vec<f64>,
}

impl<'a> Histograms<'a> {
    fn of(variants: Vec<Variant<'a>>, peak: Peak, logarithmic: bool, top: i32) -> Self {
        let samples: Vec<_> = variants.iter().map(|variant| variant.sample.clone()).collect();
        let pixels = (MARGIN + LABELS, WIDTH as i32 - MARGIN - RIGHT);
        let (bins, title) = if logarithmic {
            (Bins::logarithmic(&samples, pixels), peak.logarithmic_axis)
        } else {
            (Bins::linear(&samples, pixels), peak.axis)
        };
        let height = (HISTOGRAMS_HEIGHT / variants.len().max(1) as i32).clamp(60, 240);
        Self { variants, bins, title, top, height }
    }

    fn bottom(&self) -> i32 {
        self.top + self.variants.len() as i32 * (HEADING + self.height)
    }

    fn draw(&self, canvas: &Canvas<'_>) {
        for (variant, i) in self.variants.iter().zip(1..) {
            self.draw_histogram(canvas, variant, self.top + i * (HEADING + self.height));
        }
        for (tick, x) in self.bins.ticks() {
            let label = number::plain(tick, Style::Count, 3);
            canvas.text(&label, Font::BODY, palette::QUIET, Align::Middle, (x, self.bottom() + 22));
        }
        let middle = (MARGIN + LABELS + WIDTH as i32 - MARGIN - RIGHT) / 2;
        canvas.text(self.title, Font::BODY, palette::TEXT, Align::Middle, (middle, self.bottom() + 47));
    }

    fn draw_histogram(&self, canvas: &Canvas<'_>, variant: &Variant<'_>, bottom: i32) {
        let top = bottom - self.height;
        let room = WIDTH as i32 - 2 * MARGIN - NAME_GAP - Font::BODY.width(&variant.figures);
        let name = Font::HEADING.shortened(variant.name, room);
        let baseline = top - 12;
        canvas.text(&name, Font::HEADING, palette::TEXT, Align::Left, (MARGIN, baseline));
        let at = (MARGIN + Font::HEADING.width(&name) + NAME_GAP, baseline);
        canvas.text(&variant.figures, Font::BODY, palette::TEXT, Align::Left, at);

        for (_, x) in self.bins.ticks() {
            canvas.fill(&Area { x: x..x + 1, y: top..bottom }, palette::MESH);
        }
        let bars = self.bins.bars(&variant.sample);
        let highest = bars.iter().map(|bar| bar.count).max().unwrap_or(0);
        for bar in &bars {
            let height = (self.height as usize * bar.count).div_ceil(highest) as i32;
            // A blank column keeps neighbours apart.
            canvas.fill(&Area { x: bar.x.start..bar.x.end - 1, y: bottom - height..bottom }, variant.color);
        }
        let axis = MARGIN + LABELS..WIDTH as i32 - MARGIN - RIGHT;
        canvas.fill(&Area { x: axis, y: bottom..bottom + 1 }, palette::AXIS);
        if highest > 0 {
            let label = number::plain(highest as f64, Style::Count, 1);
            let at = (MARGIN + LABELS - 10, top + 2 * Font::BODY.half_capital());
            canvas.text(&label, Font::BODY, palette::QUIET, Align::Right, at);
        }
    }
}

fn variants(summary: &Summary, peak: Peak) -> Vec<Variant<'_>> {
    let shown = head::shown(summary).iter().zip(palette::VARIANTS);
    shown
        .map(|(variant, color)| Variant {
            name: &variant.name,
            figures: figures(variant.metrics.get(peak.metric), variant.replicas.len() as u32),
            color,
            sample: sample(variant, peak),
        })
        .collect()
}

/// The values of the replicas in which it is defined.
fn sample(variant: &VariantSummary, peak: Peak) -> Vec<f64> {
    let columns = catalogue::columns(ScopeKind::Scenario);
    let column = columns.iter().position(|column| column.name == peak.metric).expect("a metric of the catalogue");
    variant.replicas.iter().filter_map(|row| row.values[column]).collect()
}

fn figures(stat: Option<&Stat>, replicas: u32) -> String {
    let Some((stat, [min, max])) = stat.and_then(|stat| Some((stat, [stat.min?, stat.max?]))) else {
        return "undefined".to_owned();
    };
    let [low, high] = [min, max].map(|count| number::plain(count, Style::Count, 4));
    match replicas {
        1 => low,
        _ if min == max => format!("{low} in every replica"),
        _ => format!("mean {}, from {low} to {high}", number::figure(Some(stat), Style::Count, replicas)),
    }
}

/// Whether the means of variants that have a peak at all are far apart.
fn differ_widely(variants: &[VariantSummary], peak: Peak) -> bool {
    let means = variants.iter().filter_map(|variant| variant.metrics.get(peak.metric)?.mean).filter(|mean| *mean > 0.0);
    let ends = means.fold(None, |ends, mean| {
        let (min, max) = ends.unwrap_or((mean, mean));
        Some((mean.min(min), mean.max(max)))
    });
    ends.is_some_and(|(min, max): (f64, f64)| max > min * LINEAR_MAX)
}
