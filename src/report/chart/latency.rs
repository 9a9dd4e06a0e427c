//! Latency percentiles of succeeded requests: a dot per percentile and variant on a logarithmic axis, each with its
//! value.

use super::head::{self, Head};
use super::legend::Entry;
use super::rows::{self, Axis, Group, Mark, Row, Rows};
use super::scale::Scale;
use super::{WIDTH, blank, canvas, palette, ticks};
use crate::experiment::{Summary, VariantSummary};
use crate::number::{self, Style};

/// What is shown: a name, and the metric.
const PERCENTILES: [(&str, &str); 5] = [
    ("p50", "latency_p50_ms"),
    ("p90", "latency_p90_ms"),
    ("p99", "latency_p99_ms"),
    ("p99.9", "latency_p999_ms"),
    ("max", "latency_max_ms"),
];
/// The axis reaches down to this share of a value for its interval's sake, and not further.
const REACH: f64 = 1.0 / 3.0;
/// With fewer ticks a reader has nothing to measure by.
const TICKS_MIN: usize = 2;

/// `latency.png`: how long requests that succeeded took, by percentile and variant.
pub fn latency(summary: &Summary) -> Vec<u8> {
    let groups: Vec<_> = PERCENTILES.iter().map(|&(name, metric)| group(summary, name, metric)).collect();
    let what = "latency of succeeded requests";
    if groups.iter().all(|group| group.rows.is_empty()) {
        let head = Head::of(summary, what, "", Vec::new());
        return blank::chart(&head, "no request succeeded, so there is no latency to show");
    }
    let entries = head::entries(summary).zip(head::shown(summary)).map(|(entry, variant)| annotated(entry, variant));
    let mut remark = rows::remark(&groups);
    if groups.iter().flat_map(|group| &group.rows).any(|row| row.interval.is_some()) {
        remark += " (whiskers)";
    }
    let head = Head::of(summary, what, &remark, entries.collect());
    let range = range(&groups);
    let dots = Rows::of(groups, Mark::Dot, head.height(), |pixels| axis(range, pixels));
    canvas::png((WIDTH, dots.height()), |canvas| {
        head.draw(canvas);
        dots.draw(canvas);
    })
}

/// Variants without a success have no row: the legend says so once.
fn group(summary: &Summary, name: &str, metric: &str) -> Group {
    let variants = head::shown(summary).iter().zip(palette::VARIANTS);
    let row = |(variant, color): (&VariantSummary, _)| {
        let stat = variant.metrics.get(metric).filter(|stat| stat.n > 0)?;
        let row = Row::of_mean(Some(stat), color, Style::Milliseconds, variant.replicas.len() as u32);
        // Where the label has no interval there is none to draw either.
        let interval = stat.ci95.filter(|_| row.label.contains('±'));
        Some(Row { interval, ..row })
    };
    Group { name: name.to_owned(), rows: variants.filter_map(row).collect() }
}

/// Which requests the latency of a variant leaves out.
fn annotated(mut entry: Entry, variant: &VariantSummary) -> Entry {
    if variant.metrics.get("latency_max_ms").is_none_or(|stat| stat.n == 0) {
        entry.label += ": no request succeeded";
    }
    if let Some(open) = variant.metrics.get("open").and_then(|stat| stat.mean).filter(|open| *open > 0.0) {
        let requests = if open == 1.0 { "request" } else { "requests" };
        entry.label += &format!(" ({} {requests} still open)", number::plain(open, Style::Count, 4));
    }
    entry
}

/// The lowest and the highest value above zero, with the ends of the intervals; none if all are zero.
fn range(groups: &[Group]) -> Option<(f64, f64)> {
    let rows = groups.iter().flat_map(|group| &group.rows);
    let ends = rows.filter_map(|row| {
        let value = row.value.filter(|value| *value > 0.0)?;
        let [low, high] = row.interval.unwrap_or([value; 2]);
        Some((low.max(value * REACH), high))
    });
    ends.reduce(|(min, max), (low, high)| (min.min(low), max.max(high)))
}

/// A latency of zero lies at the lower end. Where there are ticks enough, none is beyond the highest value.
fn axis(range: Option<(f64, f64)>, pixels: (i32, i32)) -> Axis {
    let (min, max) = range.unwrap_or((1.0, 1.0));
    let mut ticks = ticks::durations_ms(min, max);
    let mut end = ticks[ticks.len() - 1];
    if ticks.len() > TICKS_MIN && end > max {
        ticks.pop();
        end = max;
    }
    let scale = Scale::logarithmic((ticks[0], end), pixels);
    Axis { ticks, style: Style::Milliseconds, title: "latency (logarithmic)", scale }
}
