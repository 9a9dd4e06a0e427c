//! The charts of frontiers, read back pixel by pixel.

use std::ops::Range;

use stormsim::experiment::axis::Scale;
use stormsim::experiment::{Crossing, FrontierSummary};
use stormsim::report::chart;

use crate::fixture::frontier;
use crate::picture::{AXIS, MESH, Picture, TEXT, VARIANTS};

/// The columns of the panel, and those of 10 and 100 requests per second.
const PLOT: Range<usize> = 100..1_044;
const ENDS: [usize; 2] = [124, 1_020];

fn picture(summary: &FrontierSummary) -> Picture {
    Picture::decode(&chart::frontier(summary))
}

/// The rows of the panel, from 100 % to 0 %.
fn panel(picture: &Picture) -> Range<usize> {
    let ruled = |y: &usize| [AXIS, MESH].contains(&picture.at(PLOT.end - 1, *y));
    let rows: Vec<_> = (0..picture.height).filter(ruled).collect();
    rows[0]..rows[rows.len() - 1]
}

fn column(rate: f64) -> usize {
    ENDS[0] + ((rate - 10.0) / 90.0 * (ENDS[1] - ENDS[0]) as f64).round() as usize
}

/// The columns in which a colour has at least this share of the rows of the panel.
fn upright(picture: &Picture, color: [u8; 3], share: f64) -> Vec<usize> {
    let rows = panel(picture);
    let is_line = |x: &usize| picture.count(color, *x..*x + 1, rows.clone()) as f64 >= share * rows.len() as f64;
    PLOT.filter(is_line).collect()
}

#[test]
fn equal_frontiers_give_equal_bytes_and_have_their_size() {
    let mut logarithmic = frontier(&[42.3]);
    logarithmic.scale = Scale::Log;
    let mut empty = frontier(&[42.3]);
    empty.variants[0].points.clear();
    let mut flat = frontier(&[42.3]);
    flat.range = [10.0, 10.0];
    let eleven: Vec<_> = (0..11).map(|number| 12.0 + 7.0 * f64::from(number)).collect();
    for summary in [frontier(&[]), frontier(&[42.3]), frontier(&eleven), logarithmic, empty, flat] {
        let here = chart::frontier(&summary);
        let picture = Picture::decode(&here);
        assert_eq!(picture.width, 1_200);
        assert!((200..=1_000).contains(&picture.height), "{}", picture.height);
        let there = std::thread::spawn(move || chart::frontier(&summary));
        assert!(here == there.join().unwrap());
    }
}

/// The variant ceases to recover at 42.3 requests per second: there its line is, from the foot of the panel up and
/// beyond it, and nowhere else. The curve itself falls within a few columns, and fills none of them.
#[test]
fn a_crossing_has_a_line_at_its_value() {
    let lines = upright(&picture(&frontier(&[42.3])), VARIANTS[0], 0.9);
    assert!(!lines.is_empty() && lines.iter().all(|x| x.abs_diff(column(42.3)) <= 3), "{lines:?}");
    for never in [500.0, 5.0] {
        assert_eq!(upright(&picture(&frontier(&[never])), VARIANTS[0], 0.5), [0; 0]);
    }
}

/// Every change has its line, even where there are too many for labels.
#[test]
fn a_condition_that_is_not_monotone_has_a_line_for_each_change() {
    let mut summary = frontier(&[500.0]);
    let rates = [20.5, 40.5, 60.5, 80.5];
    let crossing = |rate: f64| Crossing {
        below: rate - 0.5,
        above: rate + 0.5,
        holds_above: rate == 20.5,
        ci95: [rate - 0.5, rate + 0.5],
        settled: true,
    };
    summary.variants[0].crossings = rates.map(crossing).to_vec();
    let lines = upright(&picture(&summary), VARIANTS[0], 0.9);
    assert!(rates.iter().all(|&rate| lines.iter().any(|x| x.abs_diff(column(rate)) <= 1)), "{lines:?}");
    assert_eq!(lines.len(), 2 * rates.len(), "each is two columns wide: {lines:?}");
}

/// 160 attempts per second at four attempts for each request are 40 requests: half of the rows there have a dash. Where
/// nothing is known of what retries allow, or it is beyond the range, there is none.
#[test]
fn what_retries_alone_allow_has_a_dashed_line() {
    let dashes = |change: fn(&mut FrontierSummary)| {
        let mut summary = frontier(&[500.0]);
        change(&mut summary);
        upright(&picture(&summary), TEXT, 0.4)
    };
    assert_eq!(dashes(|_| {}), [column(40.0)]);
    assert_eq!(dashes(|summary| summary.variants[0].allowance = None), [0; 0]);
    assert_eq!(dashes(|summary| summary.variants[0].allowance.as_mut().unwrap().attempts = 100.0), [0; 0]);
}

/// The axis of a share is all of it, whatever the figures are: the bound of 50 % is in the middle where all replicas
/// recover, and where none does.
#[test]
fn the_bound_is_where_it_belongs() {
    for rate in [500.0, 5.0, 42.3] {
        let picture = picture(&frontier(&[rate]));
        let rows = panel(&picture);
        let dashed = |y: &usize| picture.count(TEXT, PLOT, *y..*y + 1) > PLOT.len() / 2;
        let found: Vec<_> = rows.clone().filter(dashed).collect();
        let middle = (rows.start + rows.end) / 2;
        assert!(!found.is_empty() && found.iter().all(|y| y.abs_diff(middle) <= 2), "{rate}: {found:?} in {rows:?}");
    }
}

/// Between which values a crossing is open shows as a bar at the bound: from 30 to 60 there, beside the dashes.
#[test]
fn the_interval_of_a_crossing_is_a_bar_at_the_bound() {
    let mut summary = frontier(&[42.3]);
    summary.variants[0].crossings[0].ci95 = [30.0, 60.0];
    let picture = picture(&summary);
    let rows = panel(&picture);
    let middle = (rows.start + rows.end) / 2;
    let covered = picture.columns(VARIANTS[0], middle - 2..middle + 3);
    assert!(covered.len() > 250 && covered[0] == column(30.0), "{covered:?}");
    assert!(covered[covered.len() - 1].abs_diff(column(60.0)) <= 1, "{covered:?}");
}
