//! The charts of sweeps, read back pixel by pixel.

use std::ops::Range;

use stormsim::experiment::SweepSummary;
use stormsim::report::chart;

use crate::fixture::{At, swept};
use crate::picture::{AXIS, Color, MESH, Picture, VARIANTS};

/// The columns of the panels of lines, and those of the first and last value.
const PLOT: Range<usize> = 100..1_176;
const ENDS: [usize; 2] = [124, 1_152];
const GROUND: Color = [0xff; 3];
const RATE: &str = "clients.web.arrivals.poisson.rate=10..100/10";
const WORKERS: &str = "services.db.workers=1..4/4";
const NAMES: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];
const MEASURES: [&str; 5] =
    ["success_ratio", "retry_peak", "services.db.amplification", "latency_p99_ms.p99", "faults.outage.recovery_s"];

/// Falls from 1 to less than that along the axes, faster in later variants, and is the less sure the further it is.
fn falling(at: At<'_>) -> Option<f64> {
    let along = at.share.iter().sum::<f64>() / at.share.len() as f64;
    Some(1.0 - along * (0.3 + 0.08 * at.variant as f64) + 0.1 * along * at.luck + at.measure as f64)
}

fn picture(summary: &SweepSummary) -> Picture {
    Picture::decode(&chart::sweep(summary))
}

/// The rows of the one panel of lines on an axis from zero, from its highest tick to zero.
fn panel(picture: &Picture) -> Range<usize> {
    let ruled = |y: &usize| [AXIS, MESH].contains(&picture.at(PLOT.end - 1, *y));
    let rows: Vec<_> = (0..picture.height).filter(ruled).collect();
    rows[0]..rows[rows.len() - 1]
}

/// Those of a colour in a column: the first and the last.
fn rows(picture: &Picture, color: Color, x: usize) -> Option<(usize, usize)> {
    let mut rows = (100..picture.height).filter(|&y| picture.at(x, y) == color);
    let first = rows.next()?;
    Some((first, rows.next_back().unwrap_or(first)))
}

fn every_sweep() -> Vec<SweepSummary> {
    let texts = "clients.web.calls.db.retry=none,\"a-policy-with-a-name-of-forty-characters\",{ max_attempts = 2 }";
    let mut cut = swept(&[WORKERS, RATE], &NAMES[..2], &MEASURES[..2], falling);
    cut.cells.truncate(23);
    cut.partial = true;
    vec![
        swept(&[RATE], &NAMES[..1], &MEASURES[..1], falling),
        swept(&["services.db.workers=log:1..1000/100"], &NAMES, &MEASURES, falling),
        swept(&[texts], &NAMES, &MEASURES[..2], falling),
        swept(&["services.db.workers=5,5.0"], &NAMES[..1], &MEASURES[..1], falling),
        swept(&[WORKERS, texts], &NAMES, &MEASURES, falling),
        swept(&["services.db.workers=1", RATE], &NAMES[..3], &MEASURES, falling),
        cut,
    ]
}

#[test]
fn equal_sweeps_give_equal_bytes() {
    for summary in every_sweep() {
        let here = chart::sweep(&summary);
        let there = std::thread::spawn(move || chart::sweep(&summary));
        assert!(here == there.join().unwrap());
    }
}

#[test]
fn charts_of_sweeps_have_their_size() {
    for summary in every_sweep() {
        let picture = picture(&summary);
        assert_eq!(picture.width, 1_200);
        assert!((250..=1_500).contains(&picture.height), "{}", picture.height);
    }
}

/// What has nothing to show says so and does not fail.
#[test]
fn only_grids_of_one_or_two_axes_with_several_cells_have_a_chart() {
    let whole = swept(&[RATE, WORKERS], &NAMES[..1], &MEASURES[..1], falling);
    let changed = |change: fn(&mut SweepSummary)| {
        let mut summary = whole.clone();
        change(&mut summary);
        summary
    };
    assert!(chart::has_sweep(&whole));
    assert!(chart::has_sweep(&changed(|summary| drop(summary.axes.pop()))));
    for without in [
        changed(|summary| summary.axes.push(summary.axes[0].clone())),
        changed(|summary| summary.axes.clear()),
        changed(|summary| summary.cells.truncate(1)),
        changed(|summary| summary.cells.clear()),
        changed(|summary| summary.shown.clear()),
    ] {
        assert!(!chart::has_sweep(&without));
        assert_eq!(picture(&without).width, 1_200);
    }
}

/// Where no figure is defined there is still a chart, of either kind.
#[test]
fn figures_may_be_undefined_everywhere() {
    for axes in [&[RATE][..], &[RATE, WORKERS]] {
        let picture = picture(&swept(axes, &NAMES[..2], &MEASURES[..2], |_| None));
        assert_eq!(picture.count(VARIANTS[1], PLOT, 110..picture.height), 0, "{axes:?}");
    }
}

/// Seven of eight variants have a line, each in its own colour. A line is two pixels thick and crosses the whole plot.
#[test]
fn as_many_variants_as_there_are_colours_have_a_line() {
    for shown in [1, 2, 8] {
        let picture = picture(&swept(&[RATE], &NAMES[..shown], &MEASURES[..1], falling));
        for (number, color) in VARIANTS.into_iter().enumerate() {
            let pixels = picture.count(color, PLOT, panel(&picture));
            assert_eq!(pixels > 500, number < shown, "{shown} variants, number {number}: {pixels}");
        }
    }
}

/// 100 % at the first value and 60 % at the last: the dot there is at the tick, and at three fifths of its height.
#[test]
fn figures_are_to_scale() {
    let picture = picture(&swept(&[RATE], &NAMES[..1], &MEASURES[..1], |at| Some(1.0 - 0.4 * at.share[0])));
    let rows_of = |x| rows(&picture, VARIANTS[0], x).unwrap();
    let middle = |x| {
        let (first, last) = rows_of(x);
        (first + last) / 2
    };
    let panel = panel(&picture);
    assert_eq!(middle(ENDS[0]), panel.start);
    let height = panel.end - middle(ENDS[1]);
    assert!((10 * height).abs_diff(6 * panel.len()) <= 10, "{height} of {}", panel.len());
}

/// 10 lies in the middle of 1 to 100 where factors count, and at a tenth of the way where differences do: where the
/// line has its peak.
#[test]
fn a_logarithmic_axis_has_equal_factors_at_equal_distances() {
    let peak = |values: &str| {
        let axis = format!("services.db.workers={values}");
        let peaked = |at: At<'_>| Some(f64::from(u8::from(at.value[0] == 1)));
        let picture = picture(&swept(&[&axis], &NAMES[..1], &MEASURES[..1], peaked));
        let top = panel(&picture).start;
        let columns = picture.columns(VARIANTS[0], top..top + 1);
        columns[columns.len() / 2]
    };
    let [left, right] = ENDS;
    assert!(peak("log:1..100/3").abs_diff((left + right) / 2) <= 1);
    assert!(peak("1,10.9,100").abs_diff(left + (right - left) / 10) <= 1);
}

/// The fifth value is undefined, the eighth not finished: there is no line from the fourth to the sixth, and none from
/// the seventh to the ninth.
#[test]
fn what_is_missing_is_a_gap() {
    let mut summary =
        swept(&[RATE], &NAMES[..1], &MEASURES[..1], |at| if at.value[0] == 4 { None } else { falling(at) });
    summary.cells.remove(7);
    summary.partial = true;
    let picture = picture(&summary);
    let step = (ENDS[1] - ENDS[0]) as f64 / 9.0;
    let is_drawn = |half: usize| rows(&picture, VARIANTS[0], ENDS[0] + (step * (half as f64 + 0.5)) as usize).is_some();
    let gaps: Vec<_> = (0..9).filter(|half| !is_drawn(*half)).collect();
    assert_eq!(gaps, [3, 4, 6, 7]);
}

/// A mean of replicas that differ has a band, lighter than its line; one of replicas that agree, and a percentile, have
/// none.
#[test]
fn means_have_a_band_and_percentiles_have_none() {
    let band = |measure: &str, figure: fn(At<'_>) -> Option<f64>| {
        let picture = picture(&swept(&[RATE], &NAMES[..1], &[measure], figure));
        let is_pale_blue = |[red, _, blue]: Color| (200..240).contains(&red) && blue > red;
        panel(&picture).map(|y| PLOT.filter(|&x| is_pale_blue(picture.at(x, y))).count()).sum::<usize>()
    };
    let uncertain = |at: At<'_>| Some(1.0 + at.luck);
    // A line alone has pale edges, one row above it and one below.
    let edges = 2 * PLOT.len();
    assert!(band("retry_peak", uncertain) > 10 * edges);
    assert!(band("retry_peak.p50", uncertain) <= edges);
    assert!(band("retry_peak", |_| Some(1.0)) <= edges);
}

/// A dot stands for replicas that all have the figure; it is open where some do not.
#[test]
fn figures_that_replicas_lack_have_open_dots() {
    let figure = |at: At<'_>| (at.luck > -0.9 || at.value[0] > 0).then_some(1.0);
    let picture = picture(&swept(&["clients.web.calls.db.retry=none,patient"], &NAMES[..1], &["retry_peak"], figure));
    let top = panel(&picture).start;
    let middles = [369, 907].map(|x| picture.at(x, top) == VARIANTS[0]);
    assert_eq!(middles, [false, true]);
}

/// A light cell is a low figure. Those of the first axis go upwards, those of the second to the right: from the lower
/// left corner figures rise in both directions.
#[test]
fn heat_maps_are_darker_where_figures_are_higher() {
    let figure = |at: At<'_>| Some((at.value[0] + 4 * at.value[1]) as f64);
    let picture =
        picture(&swept(&[WORKERS, "clients.web.arrivals.poisson.rate=1,2"], &NAMES[..1], &["attempts"], figure));
    let cells = cells(&picture);
    let brightness = |(x, y): (usize, usize)| picture.at(x, y).map(u32::from).iter().sum::<u32>();
    let by_figure: Vec<_> = (0..2).flat_map(|column| (0..4).map(move |row| (column, row))).collect();
    let found: Vec<_> =
        by_figure.iter().map(|&(column, row)| brightness((cells.0[column], cells.1[3 - row]))).collect();
    assert!(found.is_sorted_by(|low, high| low > high), "{found:?}");
}

/// A column in each cell of the lowest row, and a row in each of the first column: a few pixels from the lower left
/// corner of the cell, where nothing is written. Between cells is the colour of the mesh.
fn cells(picture: &Picture) -> (Vec<usize>, Vec<usize>) {
    let is_frame = |x: usize, y: usize| picture.at(x, y) == MESH;
    let left = (0..300).find(|&x| (0..picture.height - 100).filter(|&y| is_frame(x, y)).count() > 60).unwrap() + 3;
    let rows: Vec<_> = (0..picture.height).filter(|&y| is_frame(left, y)).collect();
    let rows: Vec<_> = rows.windows(2).filter(|pair| pair[1] - pair[0] > 5).map(|pair| pair[1] - 3).collect();
    let lowest = rows[rows.len() - 1];
    let columns: Vec<_> = (left - 5..picture.width).filter(|&x| is_frame(x, lowest)).collect();
    let columns = columns.windows(2).filter(|pair| pair[1] - pair[0] > 5).map(|pair| pair[0] + 3).collect();
    (columns, rows)
}

/// Of four cells of one figure two are not finished, and blank, and one is undefined, and hatched.
#[test]
fn what_a_heat_map_lacks_is_told_apart() {
    let figure = |at: At<'_>| (at.value[1] > 0).then_some(5.0);
    let axes = ["services.db.workers=1,2", "clients.web.arrivals.poisson.rate=1,2"];
    let mut summary = swept(&axes, &NAMES[..1], &["attempts"], figure);
    let whole = picture(&summary);
    let (columns, rows) = cells(&whole);
    let shades = |picture: &Picture, x: usize, y: usize| {
        let pixels = (x..x + 12).map(|x| picture.at(x, y));
        [pixels.clone().filter(|&color| color == GROUND).count(), pixels.filter(|&color| color == AXIS).count()]
    };
    assert_eq!(shades(&whole, columns[0], rows[1]), [8, 4], "two of six pixels are hatched");
    assert_eq!(shades(&whole, columns[1], rows[1]), [0, 0]);
    summary.cells.truncate(2);
    let cut = picture(&summary);
    // The legend has one more entry in the same row.
    assert_eq!(cut.height, whole.height);
    assert_eq!(shades(&cut, columns[0], rows[0]), [12, 0]);
    assert_eq!(shades(&cut, columns[0], rows[1]), [8, 4]);
}

/// Each cell of a million has its pixel: the last figure is twice the one before, and the only one that is not the same
/// as all others. Where there is less room, some are left out, and the picture does not grow.
#[test]
fn a_million_cells_have_a_pixel_each() {
    let values = "1..1000/1000";
    let axes = [format!("services.db.workers={values}"), format!("clients.web.arrivals.poisson.rate={values}")];
    let mut summary = swept(&["services.db.workers=1"], &NAMES[..1], &["attempts"], |_| Some(1.0));
    let cell = summary.cells.remove(0);
    summary = SweepSummary {
        grid: 1_000_000,
        axes: axes.iter().map(|axis| stormsim::experiment::axis::Axis::parse(axis).unwrap()).collect(),
        cells: (0..1_000_000).map(|position| stormsim::experiment::SweepCell { position, ..cell.clone() }).collect(),
        ..summary
    };
    summary.cells[999_999].variants[0].stats[0].mean = Some(2.0);
    let one = picture(&summary);
    assert!(one.height <= 1_300, "{}", one.height);
    let lowest = [0xfd, 0xef, 0x9c];
    assert!(one.count(lowest, 0..1_200, 180..one.height) >= 999_999);
    let darkest = [0x30, 0x21, 0x5f];
    assert_eq!(one.count(darkest, 0..1_200, 150..one.height), 1);

    for cell in &mut summary.cells {
        cell.variants = vec![cell.variants[0].clone(); 3];
    }
    assert!(picture(&summary).height <= 700);
}
