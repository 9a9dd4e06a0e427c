//! The charts, read back pixel by pixel.

use std::ops::Range;

use stormsim::experiment::Summary;
use stormsim::report::chart;

use crate::fixture;
use crate::picture::{AXIS, Color, MESH, Picture, TEXT, VARIANTS};

/// Where one fault is active, and where several are.
const SHADES: [Color; 2] = [[0xed; 3], [0xdf; 3]];
/// Of the strips of the first two faults.
const FAULTS: [Color; 2] = [[0x6e; 3], [0xb9, 0xa0, 0x78]];
/// The columns of the panels of the timeline.
const PLOT: Range<usize> = 100..1176;
/// Rows between two panels, or more if there are faults.
const HEAD: usize = 40;

/// The rows of the two panels, from the highest line of the mesh down. In the last column of the plot there are only
/// the lines of the mesh and, at the foot of each panel, its axis: the upper panel begins with the first of them, the
/// lower one with the first below an axis.
fn panels(picture: &Picture) -> [Range<usize>; 2] {
    let ruled = |y: &usize| [AXIS, MESH].contains(&picture.at(PLOT.end - 1, *y));
    let rows: Vec<_> = (0..picture.height).filter(ruled).collect();
    let axes: Vec<_> = rows.iter().copied().filter(|&y| picture.at(PLOT.end - 1, y) == AXIS).collect();
    let [upper, lower] = axes[..] else { panic!("two axes, at rows {axes:?}") };
    let second = *rows.iter().find(|&&y| y > upper).unwrap();
    [rows[0]..upper, second..lower]
}

/// The row at which the head of each panel begins: what is between it and the panel. Both panels are equally high, to a
/// row, and have equally high heads.
fn heads([upper, lower]: &[Range<usize>; 2]) -> [usize; 2] {
    [2 * upper.end - lower.end, upper.end]
}

fn timeline(summary: &Summary) -> Picture {
    Picture::decode(&chart::timeline(summary))
}

fn amplification(summary: &Summary) -> Picture {
    Picture::decode(&chart::amplification(summary))
}

fn every_summary() -> [Summary; 11] {
    [
        fixture::recovering(),
        fixture::unfinished(),
        fixture::served(1, 1),
        fixture::served(6, 20),
        fixture::single(),
        fixture::three_tier(),
        fixture::backoff(),
        fixture::outage(),
        fixture::overloaded(),
        fixture::nothing(),
        fixture::many_services(100),
    ]
}

/// Drawn in another thread, too: nothing depends on who registered or measured what before.
#[test]
fn equal_summaries_give_equal_bytes() {
    for summary in every_summary() {
        let charts = [
            chart::timeline,
            chart::load,
            chart::amplification,
            chart::latency,
            chart::peaks,
            chart::queues,
            chart::in_flight,
        ];
        let here = charts.map(|draw| draw(&summary));
        let there = std::thread::spawn(move || charts.map(|draw| draw(&summary)));
        assert!(here == there.join().unwrap());
    }
}

#[test]
fn charts_have_their_size() {
    for summary in every_summary() {
        let picture = timeline(&summary);
        assert_eq!((picture.width, picture.height), (1_200, 700));
        for draw in [chart::load, chart::amplification, chart::latency, chart::peaks] {
            let picture = Picture::decode(&draw(&summary));
            assert_eq!(picture.width, 1_200);
            assert!((200..=1_150).contains(&picture.height), "{}", picture.height);
        }
    }
}

/// A line is two pixels thick, so a variant that is active for a tenth of the plot's 1,076 columns shows more than 200
/// of its colour. The colours of further variants are nowhere.
#[test]
fn every_variant_is_seen_in_both_panels_and_no_other() {
    for (summary, variants) in [(fixture::single(), 1), (fixture::backoff(), 5), (fixture::outage(), 6)] {
        let picture = timeline(&summary);
        for (i, color) in VARIANTS.into_iter().enumerate() {
            for (panel, rows) in panels(&picture).into_iter().enumerate() {
                let pixels = picture.count(color, PLOT, rows);
                // The first variant of the outage makes no retries.
                let silent = i >= variants || (variants == 6 && (i, panel) == (0, 1));
                assert_eq!(pixels == 0, silent, "{variants} variants, number {i}, panel {panel}: {pixels}");
                assert!(silent || pixels > 200, "{variants} variants, number {i}, panel {panel}: {pixels}");
            }
        }
    }
}

/// Two ways in which a legend could cover data: its text in the plot, or lines in its strip. Text inside the panels
/// would show its colour there. Above the panels each colour covers its swatch of 26 x 6 pixels and not a pixel more.
#[test]
fn the_legend_and_the_data_keep_apart() {
    for (summary, variants) in
        [(fixture::single(), 1), (fixture::three_tier(), 3), (fixture::backoff(), 5), (fixture::outage(), 6)]
    {
        let picture = timeline(&summary);
        let panels = panels(&picture);
        let above = heads(&panels)[0] + HEAD;
        for rows in panels {
            assert_eq!(picture.count(TEXT, PLOT, rows), 0);
        }
        for color in &VARIANTS[..variants] {
            assert_eq!(picture.count(*color, 0..1_200, 0..above), 26 * 6);
        }
    }
}

/// 70 s and one bucket over 1,076 columns: 20 to 30 s are columns 407 to 560. Both panels are shaded there only.
#[test]
fn fault_windows_are_shaded() {
    let picture = timeline(&fixture::outage());
    for rows in panels(&picture) {
        let shaded = |x: usize| picture.count(SHADES[0], x..x + 1, rows.clone()) > rows.len() / 2;
        assert_eq!([200, 405, 409, 480, 558, 563, 700].map(shaded), [false, false, true, true, true, false, false]);
    }
}

/// At 35 s, which is column 637, the first variant has recovered, and at 60 s all others. Lines of data may cover a few
/// rows of a mark, but not its triangle, whose rows are 9 to 1 pixels wide: right of the middle 4, 3, 2, 2, 1. What
/// recovers where the axis has ended has no mark.
#[test]
fn recoveries_are_marked_in_both_panels() {
    let mut summary = fixture::outage();
    let marks = |summary: &Summary, seconds: f64, color: Color| {
        let picture = timeline(summary);
        let x = PLOT.start + (seconds / 70.1 * PLOT.len() as f64).round() as usize;
        let panels = panels(&picture);
        let of_panel = |(rows, head): (&Range<usize>, usize)| {
            let marked = picture.count(color, x..x + 1, rows.clone()) > rows.len() * 8 / 10;
            (marked, picture.count(color, x + 1..x + 8, head..rows.start))
        };
        panels.iter().zip(heads(&panels)).map(of_panel).collect::<Vec<_>>()
    };
    assert_eq!(marks(&summary, 35.0, VARIANTS[0]), [(false, 0); 2]);
    for (number, variant) in summary.variants.iter_mut().enumerate() {
        let mut faults = fixture::recovering().variants[0].faults.clone();
        faults["slowdown"]["recovered_at_s"].mean = Some(if number == 0 { 35.0 } else { 60.0 });
        variant.faults = faults;
    }
    assert_eq!(marks(&summary, 35.0, VARIANTS[0]), [(true, 12); 2]);
    assert_eq!(marks(&summary, 60.0, TEXT), [(true, 12); 2]);
    summary.variants[0].faults["slowdown"]["recovered_at_s"].mean = Some(1e6);
    assert_eq!(marks(&summary, 35.0, VARIANTS[0]), [(false, 0); 2]);
}

/// 0 to 40 s and 30 to 50 s on an axis of 70.1 s: each strip has the extent of its fault and no other, although both
/// panels are shaded from 0 to 50 s without a gap, and darker where both faults are active.
#[test]
fn faults_that_overlap_are_told_apart() {
    let mut summary = fixture::outage();
    for variant in &mut summary.variants {
        variant.fault_windows[0].windows_s = vec![(0.0, 40.0)];
        variant.fault_windows[1].windows_s = vec![(30.0, 50.0)];
    }
    let picture = timeline(&summary);
    let at = |seconds: f64| PLOT.start + (seconds / 70.1 * PLOT.len() as f64).round() as usize;
    let panels = panels(&picture);
    for (rows, head) in panels.iter().zip(heads(&panels)) {
        let strips = head..rows.start;
        for (color, from, until) in [(FAULTS[0], 0.0, 40.0), (FAULTS[1], 30.0, 50.0)] {
            let columns: Vec<_> =
                (PLOT.start..PLOT.end).filter(|&x| picture.count(color, x..x + 1, strips.clone()) >= 7).collect();
            assert_eq!(columns, (at(from)..at(until)).collect::<Vec<_>>(), "below row {head}");
        }
        let shade = |seconds: f64| {
            SHADES.map(|shade| picture.count(shade, at(seconds)..at(seconds) + 1, rows.clone()) > rows.len() / 2)
        };
        let [once, twice] = [[true, false], [false, true]];
        assert_eq!([10.0, 35.0, 45.0, 60.0].map(shade), [once, twice, once, [false; 2]]);
    }
}

/// The highest of all retries, 1,000, is the last tick of the axis. The line there must not be the upper edge of the
/// panel: between it and the strip of the fault there is more blank than the line is thick.
#[test]
fn a_peak_at_a_tick_keeps_away_from_the_edge_of_the_panel() {
    let picture = timeline(&fixture::backoff());
    let [_, rows] = panels(&picture);
    let peak = (rows.start - HEAD / 2..rows.end).find(|&y| picture.count(VARIANTS[0], PLOT, y..y + 1) > 0).unwrap();
    let strip = (0..rows.start).rfind(|&y| picture.count(FAULTS[0], PLOT, y..y + 1) > PLOT.len() / 2).unwrap();
    assert!(peak.abs_diff(rows.start) <= 2 && peak - strip > 8, "peak {peak}, strip {strip}, {rows:?}");
}

/// The waits of the first two variants end at the same instants, 1 s and 3 s. Both are seen there: were one on top, the
/// other would have no pixel in those columns. At 2 s only the first has a peak, at 7 s only the second.
#[test]
fn lines_that_coincide_are_both_seen() {
    let picture = timeline(&fixture::backoff());
    let [_, retries] = panels(&picture);
    let seen = |bucket: usize| {
        let x = PLOT.start + bucket * PLOT.len() / 663;
        [0, 1].map(|i| picture.count(VARIANTS[i], x - 1..x + 4, retries.start..retries.start + 100) > 50)
    };
    assert_eq!([10, 20, 30, 70].map(seen), [[true, true], [true, false], [true, true], [false, true]]);
}

/// The bars of the first variant in three-tier stand for 3, 9 and 27: each is three times as long as the one before, to
/// the pixel that rounding may take.
#[test]
fn bars_are_as_long_as_their_values() {
    let picture = amplification(&fixture::three_tier());
    // The swatch of the legend is of the same colour, but only 26 pixels wide.
    let mut lengths: Vec<_> = (0..picture.height).map(|y| picture.count(VARIANTS[0], 0..1_200, y..y + 1)).collect();
    lengths.retain(|length| *length > 26);
    lengths.dedup();
    let [gateway, orders, db] = lengths[..] else { panic!("three bars: {lengths:?}") };
    assert!(db > 900 && (3 * orders).abs_diff(db) <= 2 && (9 * gateway).abs_diff(db) <= 5, "{lengths:?}");
}

/// The label beside the bar is what the table says of the same figure: with its interval, to the same digit. Were it
/// rounded to a shorter text, both pictures would be the same.
#[test]
fn a_bar_is_labelled_with_the_interval_of_the_table() {
    let mut summary = fixture::three_tier();
    let exact = amplification(&summary);
    let stat = &mut summary.variants[0].services["db"]["amplification"];
    stat.ci95 = Some([26.997, 27.003]);
    let uncertain = amplification(&summary);
    let text = |picture: &Picture| picture.count(TEXT, 900..1_200, 100..picture.height);
    assert!(text(&uncertain) > text(&exact), "{} {}", text(&uncertain), text(&exact));
}

/// From 1 to 1,024 the axis is logarithmic: 512 is nine tenths of the longest bar, not half of it.
#[test]
fn a_wide_range_is_drawn_logarithmically() {
    let picture = amplification(&fixture::many_services(10));
    let lengths: Vec<_> = (100..picture.height).map(|y| picture.count(VARIANTS[0], 0..1_200, y..y + 1)).collect();
    let longest = *lengths.iter().max().unwrap();
    let second = *lengths.iter().filter(|length| **length < longest).max().unwrap();
    assert!((10 * second).abs_diff(9 * longest) <= 10, "{second} of {longest}");
}
