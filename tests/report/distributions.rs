//! The charts of latencies and of peaks, read back pixel by pixel.

use std::ops::Range;

use stormsim::experiment::{Stat, Summary};
use stormsim::report::chart;

use crate::fixture;
use crate::picture::{AXIS, Color, MESH, Picture, TEXT, VARIANTS};

/// Below title and subtitle, and below a legend of one row.
const BELOW_SUBTITLE: usize = 80;
const BELOW_LEGEND: usize = 106;

fn latency(summary: &Summary) -> Picture {
    Picture::decode(&chart::latency(summary))
}

fn peaks(summary: &Summary) -> Picture {
    Picture::decode(&chart::peaks(summary))
}

/// Columns and rows of each stretch of rows that has the colour. A whisker may take a row out of the midst of a dot.
fn marks(picture: &Picture, color: Color) -> Vec<(Range<usize>, Range<usize>)> {
    let colored = |y: usize| picture.count(color, 0..picture.width, y..y + 1) > 0;
    let rows: Vec<_> = (BELOW_LEGEND..picture.height).filter(|&y| colored(y)).collect();
    let stretches = rows.chunk_by(|a, b| b - a <= 2).map(|rows| rows[0]..rows[rows.len() - 1] + 1);
    stretches
        .map(|rows| {
            let columns = picture.columns(color, rows.clone());
            (columns[0]..columns[columns.len() - 1] + 1, rows)
        })
        .collect()
}

/// Each figure is ten times the one before, so that on a logarithmic axis the five dots are equally far apart, but for
/// the pixel that rounding may take.
#[test]
fn latencies_are_dots_on_a_logarithmic_axis() {
    let picture = latency(&fixture::served(1, 1));
    let middles: Vec<_> = marks(&picture, VARIANTS[0]).iter().map(|(x, _)| (x.start + x.end) / 2).collect();
    let steps: Vec<_> = middles.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(steps.len() == 4 && steps.iter().all(|step| *step > 100 && step.abs_diff(steps[0]) <= 1), "{middles:?}");
}

/// One dot per percentile and variant, and beside it nothing of its colour but the swatch in the legend.
#[test]
fn every_variant_has_its_five_dots() {
    for variants in [1, 3, 6] {
        let picture = latency(&fixture::served(variants, 20));
        for (i, color) in VARIANTS.into_iter().enumerate() {
            assert_eq!(marks(&picture, color).len(), if i < variants { 5 } else { 0 }, "number {i} of {variants}");
            let swatch = picture.count(color, 0..1_200, 0..BELOW_LEGEND);
            assert_eq!(swatch, if i < variants { 26 * 6 } else { 0 }, "number {i} of {variants}");
        }
    }
}

/// The interval of two replicas at 0.9 and 1.1 of the mean, by Student's t of one degree of freedom, is 1 ± 1.27: its
/// lower end is below zero, so that the whisker reaches from the axis, where without an interval there is the guide of
/// the dot.
#[test]
fn whiskers_show_the_interval_where_there_is_one() {
    for (replicas, left_of_dot) in [(1, MESH), (2, TEXT)] {
        let picture = latency(&fixture::served(1, replicas));
        // The first dot may lie on the axis itself, with nothing to its left.
        for (x, y) in marks(&picture, VARIANTS[0]).into_iter().skip(1) {
            let seen = y.clone().any(|y| picture.at(x.start - 8, y) == left_of_dot);
            assert!(seen, "{replicas} replicas, dot at {x:?}, {y:?}");
        }
    }
}

/// A variant without a success has no dot; the others stay, and keep their colours.
#[test]
fn a_variant_without_a_success_has_no_dots() {
    let mut summary = fixture::served(3, 20);
    no_latency(&mut summary, 1);
    let picture = latency(&summary);
    assert_eq!([0, 1, 2].map(|i| marks(&picture, VARIANTS[i]).len()), [5, 0, 5]);
}

/// A chart without a figure has no axis either, only a sentence.
#[test]
fn where_nothing_succeeded_a_sentence_stands_in_for_the_chart() {
    let mut summary = fixture::served(1, 20);
    no_latency(&mut summary, 0);
    let picture = latency(&summary);
    let ground = BELOW_SUBTITLE..picture.height;
    assert_eq!(picture.count(VARIANTS[0], 0..1_200, ground.clone()), 0);
    // The edges of letters have a few pixels of any grey; a line of an axis has a column full of one.
    let ruled = |x: usize| [AXIS, MESH].iter().any(|color| picture.count(*color, x..x + 1, ground.clone()) > 10);
    assert!(!(0..1_200).any(ruled));
    assert!(picture.count(TEXT, 0..1_200, ground.clone()) > 200);
}

fn no_latency(summary: &mut Summary, variant: usize) {
    for (metric, stat) in &mut summary.variants[variant].metrics {
        if metric.starts_with("latency") {
            *stat = Stat {
                mean: None,
                sd: None,
                ci95: None,
                min: None,
                p1: None,
                p50: None,
                p99: None,
                max: None,
                n: 0,
                ..*stat
            };
        }
    }
}

/// Zero is nowhere on a logarithmic axis; a request that takes no time still has its dot, at the lower end.
#[test]
fn a_latency_of_zero_has_its_dot() {
    let mut summary = fixture::served(1, 1);
    summary.variants[0].metrics["latency_p50_ms"].mean = Some(0.0);
    let dots = marks(&latency(&summary), VARIANTS[0]);
    assert!(dots.len() == 5 && dots.iter().all(|(x, _)| x.start >= dots[0].0.start), "{dots:?}");
}

/// In half of the replicas the peak is 90, in the others 110: two bars of the full height. With the same peak in all of
/// them there is one.
#[test]
fn a_bar_is_as_high_as_its_share_of_the_replicas() {
    let mut summary = fixture::served(1, 20);
    let bars = |summary: &Summary| {
        let picture = peaks(summary);
        let rows = BELOW_SUBTITLE..picture.height;
        let columns = picture.columns(VARIANTS[0], rows.clone());
        let heights: Vec<_> = columns.iter().map(|&x| picture.count(VARIANTS[0], x..x + 1, rows.clone())).collect();
        let bars: Vec<_> = columns.chunk_by(|a, b| a + 1 == *b).map(<[usize]>::len).collect();
        (bars.len(), heights)
    };
    let (count, heights) = bars(&summary);
    assert!(count == 2 && heights.iter().all(|height| *height == 240), "{count} bars: {heights:?}");

    let columns = stormsim::metrics::catalogue::columns(stormsim::metrics::catalogue::ScopeKind::Scenario);
    let peak = columns.iter().position(|column| column.name == "retry_peak").unwrap();
    // Three of twenty replicas now have the second value.
    for row in &mut summary.variants[0].replicas {
        row.values[peak] = Some(if row.replica < 3 { 110.0 } else { 90.0 });
    }
    let (count, heights) = bars(&summary);
    let [high, low] = [heights[0], heights[heights.len() - 1]];
    assert!(count == 2 && high == 240 && low.abs_diff(240 * 3 / 17) <= 1, "{count} bars: {heights:?}");

    summary.variants[0].replicas.iter_mut().for_each(|row| row.values[peak] = Some(90.0));
    let (count, heights) = bars(&summary);
    assert!(count == 1 && heights.iter().all(|height| *height == 240), "{count} bars: {heights:?}");
}

/// Each variant has a strip of its own: no row holds the colours of two.
#[test]
fn histograms_of_variants_do_not_share_a_row() {
    let picture = peaks(&fixture::backoff());
    for y in 0..picture.height {
        let colors = VARIANTS.iter().filter(|color| picture.count(**color, 0..1_200, y..y + 1) > 0).count();
        assert!(colors <= 1, "row {y} has {colors} colours");
    }
    let bars = |i: usize| picture.columns(VARIANTS[i], 0..picture.height).len();
    assert!(bars(0) > 0 && bars(0) == bars(1), "the same single peak in every replica");
    assert!(bars(2) > bars(0) && bars(4) > bars(0), "jitter spreads it");
}

/// 1,000 against 74: a linear axis would leave the lower ones a tenth of it. On the logarithmic one they take the left
/// of it, and the highest is at its right end.
#[test]
fn peaks_of_other_magnitudes_are_drawn_logarithmically() {
    let picture = peaks(&fixture::backoff());
    let first = |i: usize| picture.columns(VARIANTS[i], 0..picture.height)[0];
    // From 50 to 1,000 there are 1.3 decades on 1,052 columns: 155 is 0.49 of a decade up, 1,000 all of it.
    assert!((380..520).contains(&first(2)) && first(0) > 1_100, "{} {}", first(2), first(0));
}

/// Undefined, or none at all: a chart all the same.
#[test]
fn a_peak_that_is_undefined_has_no_bar() {
    for summary in [fixture::nothing(), fixture::many_services(3), fixture::single()] {
        let bars = peaks(&summary).columns(VARIANTS[0], 0..200).len();
        assert_eq!(bars > 0, summary.scenario.name != "cut-short", "{}", summary.scenario.name);
    }
}
