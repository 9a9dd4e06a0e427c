//! Attempts and retries over time: two panels that share the time axis, a line per variant, the windows of faults.

use std::ops::Range;

use super::canvas::{self, Align, Area, Canvas};
use super::faults::Faults;
use super::font::Font;
use super::head::{self, Head};
use super::lines::Lines;
use super::scale::Scale;
use super::steps::{Step, steps};
use super::time_axis::{TimeAxis, scenario_buckets};
use super::{MARGIN, WIDTH, palette, ticks};
use crate::experiment::{BucketMeans, Summary};
use crate::report::number::{self, Style};

const HEIGHT: u32 = 700;
/// Rows below the lower panel: tick labels and the axis title.
const FOOT: i32 = 62;
/// Rows above each panel, and the strips of its faults, for its heading.
const PANEL_HEAD: i32 = 40;
/// The axis reaches so many times the highest value: a peak does not touch the edge of its panel.
const HEADROOM: f64 = 1.05;
/// Columns beside the panels for the labels of the values.
const LABELS: i32 = 76;
const STROKE: i32 = 2;

/// What a panel shows: its name and the value of a bucket.
type Panel = (&'static str, fn(&BucketMeans) -> f64);
const PANELS: [Panel; 2] = [("Attempts", |bucket| bucket.attempts), ("Retries", |bucket| bucket.retries)];

/// `timeline.png`: attempts above, retries below, per bucket.
pub fn timeline(summary: &Summary) -> Vec<u8> {
    let faults = Faults::of(summary);
    let entries = head::entries(summary).chain(faults.legend()).collect();
    let head = Head::of(summary, "attempts and retries over time", "", entries);
    canvas::png((WIDTH, HEIGHT), |canvas| {
        head.draw(canvas);
        let above = PANEL_HEAD + faults.height();
        let height = (HEIGHT as i32 - FOOT - head.height()) / 2 - above;
        let time = TimeAxis::of(summary, MARGIN + LABELS..WIDTH as i32 - MARGIN);
        let mut bottom = head.height();
        for panel in PANELS {
            let top = bottom + above;
            bottom = top + height;
            draw_panel(canvas, top..bottom, panel, &time, summary, &faults);
        }
        time.draw_labels(canvas, bottom);
    })
}

fn draw_panel(
    canvas: &Canvas<'_>,
    rows: Range<i32>,
    (name, value): Panel,
    time: &TimeAxis,
    summary: &Summary,
    faults: &Faults<'_>,
) {
    let variants = head::shown(summary).iter();
    let series: Vec<_> = variants.map(|variant| steps(scenario_buckets(variant), time.per_step, value)).collect();
    let max = series.iter().flatten().map(|step| step.value).fold(0.0, f64::max);
    let ticks = if max > 0.0 { ticks::linear((0.0, max), 5) } else { vec![0.0, 1.0] };
    let top = ticks[ticks.len() - 1].max(max * HEADROOM);
    let values = Scale::linear((0.0, top), (rows.end, rows.start));

    let heading = if max > 0.0 { heading(name, time, summary) } else { format!("{name}: none") };
    let strips = rows.start - faults.height();
    canvas.text(&heading, Font::HEADING, palette::TEXT, Align::Left, (MARGIN, strips - 15));
    faults.draw_strips(canvas, time, strips);
    faults.shade(canvas, time, &rows);
    for tick in ticks {
        let y = values.at(tick);
        let color = if tick == 0.0 { palette::AXIS } else { palette::MESH };
        canvas.fill(&Area { x: MARGIN + LABELS..WIDTH as i32 - MARGIN, y: y..y + 1 }, color);
        let label = number::plain(tick, Style::Count, 3);
        let at = (MARGIN + LABELS - 10, y + Font::BODY.half_capital());
        canvas.text(&label, Font::BODY, palette::QUIET, Align::Right, at);
    }
    time.draw_ticks(canvas, rows.end);

    let mut lines = Lines::within(Area { x: 0..WIDTH as i32, y: rows.start - STROKE..rows.end });
    for (number, steps) in series.iter().enumerate() {
        add_line(&mut lines, number, steps, time, &values);
    }
    lines.draw(canvas, &palette::VARIANTS);
}

fn heading(name: &str, time: &TimeAxis, summary: &Summary) -> String {
    let bucket = number::plain(summary.bucket_ms, Style::Milliseconds, 3);
    let gathered = match time.per_step {
        1 => String::new(),
        buckets => format!(", the highest of every {buckets} buckets"),
    };
    format!("{name} per {bucket}{gathered}")
}

/// Steps with risers between them; where a step has no neighbour the line returns to zero.
fn add_line(lines: &mut Lines, number: usize, steps: &[Step], time: &TimeAxis, values: &Scale) {
    // A level is drawn just above its row, so that low values do not cover the axis.
    let mut tread = |step: &Step| {
        let y = values.at(step.value);
        lines.add(number, &Area { x: time.at_bucket(step.from)..time.at_bucket(step.until), y: y - STROKE..y });
    };
    steps.iter().for_each(&mut tread);

    let zero = values.at(0.0);
    let mut riser = |bucket: u64, a: i32, b: i32| {
        let x = time.at_bucket(bucket);
        if a != b {
            lines.add(number, &Area { x: x..x + STROKE, y: a.min(b) - STROKE..a.max(b) });
        }
    };
    let mut before = Step { from: 0, until: 0, value: 0.0 };
    for &step in steps {
        let (left, right) = (values.at(before.value), values.at(step.value));
        if before.until == step.from {
            riser(step.from, left, right);
        } else {
            riser(before.until, left, zero);
            riser(step.from, zero, right);
        }
        before = step;
    }
    riser(before.until, values.at(before.value), zero);
}
