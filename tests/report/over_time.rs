//! The charts of load, queues and what is in flight, read back pixel by pixel.

use std::ops::Range;

use stormsim::experiment::Summary;
use stormsim::report::chart;

use crate::fixture;
use crate::picture::{AXIS, Color, MESH, Picture, TEXT, VARIANTS};

/// The shade of the warm-up, and that of a fault.
const WARMUP: Color = [0xe4, 0xee, 0xf6];
const FAULT: Color = [0xed; 3];
/// The columns of the panels, without and with names of levels at their right.
const WIDE: Range<usize> = 100..1176;
const NARROW: Range<usize> = 100..1044;
/// The model lasts 60 s, and the axis one bucket more.
const END_S: f64 = 60.1;

/// The rows of each panel, from the highest line of the mesh down to its axis. In the last column there is nothing else.
fn panels(picture: &Picture, plot: &Range<usize>) -> Vec<Range<usize>> {
    let mut panels = Vec::new();
    let mut top = None;
    for y in 0..picture.height {
        match picture.at(plot.end - 1, y) {
            MESH => top = top.or(Some(y)),
            AXIS => panels.push(top.take().expect("a line of the mesh above the axis")..y),
            _ => {}
        }
    }
    panels
}

fn column(plot: &Range<usize>, seconds: f64) -> usize {
    plot.start + (seconds / END_S * plot.len() as f64) as usize
}

/// Rows above the axis of the panel at which a colour is highest at a time, in or just above the panel; none if it is
/// not there. A few columns, as lines that coincide take turns.
fn height_of(
    picture: &Picture,
    plot: &Range<usize>,
    panel: &Range<usize>,
    color: Color,
    seconds: f64,
) -> Option<usize> {
    let x = column(plot, seconds);
    (panel.start - 8..panel.end).find(|&y| picture.count(color, x..x + 16, y..y + 1) > 0).map(|y| panel.end - y)
}

fn queues() -> Picture {
    Picture::decode(&chart::queues(&fixture::overloaded()))
}

/// `cache` has no workers to wait for: two panels, both of `api`. At 17 s its queue is full in both variants, with 400
/// and with 50. 400 is the highest tick; a line lies within its own stroke and a pixel of rounding of its value.
#[test]
fn queues_are_as_long_as_they_were() {
    let picture = queues();
    let [waiting, _] = &panels(&picture, &WIDE)[..] else { panic!("two panels") };
    let [wide, tight] = [0, 1].map(|i| height_of(&picture, &WIDE, waiting, VARIANTS[i], 17.0).unwrap());
    assert!(wide.abs_diff(waiting.len()) <= 3, "{wide} of {}", waiting.len());
    assert!(tight.abs_diff(waiting.len() / 8) <= 3, "{tight} of {}", waiting.len());
    // The longer queue is empty at 40 s, ten times as late after the rush as the shorter one.
    assert!(height_of(&picture, &WIDE, waiting, VARIANTS[0], 38.0).is_some());
    assert_eq!(height_of(&picture, &WIDE, waiting, VARIANTS[0], 42.0), None);
    assert_eq!(height_of(&picture, &WIDE, waiting, VARIANTS[1], 24.0), None);
}

/// A queue in which nobody waits has no panel; the workers keep theirs.
#[test]
fn where_nobody_waits_only_the_workers_are_shown() {
    let mut summary = fixture::overloaded();
    let series = summary.variants.iter_mut().flat_map(|variant| &mut variant.timeline);
    series.flat_map(|series| &mut series.buckets).for_each(|bucket| bucket.queued = 0.0);
    let picture = Picture::decode(&chart::queues(&summary));
    let [taken] = &panels(&picture, &WIDE)[..] else { panic!("one panel") };
    assert!(height_of(&picture, &WIDE, taken, VARIANTS[0], 15.0).unwrap().abs_diff(taken.len()) <= 3);
}

/// 8 of 10 workers in calm times, all of them in the rush: the axis ends at the whole, whatever the values are.
#[test]
fn utilisation_is_a_share_of_the_whole() {
    let picture = queues();
    let [_, taken] = &panels(&picture, &WIDE)[..] else { panic!("two panels") };
    let at = |seconds| height_of(&picture, &WIDE, taken, VARIANTS[0], seconds).unwrap();
    assert!(at(15.0).abs_diff(taken.len()) <= 3, "{} of {}", at(15.0), taken.len());
    assert!((10 * at(5.0)).abs_diff(8 * taken.len()) <= 30, "{} of {}", at(5.0), taken.len());
}

/// The queue is shaded from 0 to 3 s as warm-up and from 10 to 20 s as a fault, and nowhere else.
#[test]
fn the_warmup_and_faults_are_shaded_apart() {
    let picture = queues();
    let rows = panels(&picture, &WIDE)[0].clone();
    let shade = |seconds| {
        let x = column(&WIDE, seconds);
        [WARMUP, FAULT].map(|color| picture.count(color, x..x + 1, rows.clone()) > rows.len() / 2)
    };
    let [warmup, fault, none] = [[true, false], [false, true], [false; 2]];
    assert_eq!([1.0, 2.9, 3.1, 9.9, 10.1, 19.9, 20.1].map(shade), [warmup, warmup, none, none, fault, fault, none]);
    // Inside a fault the warm-up is not seen.
    let mut summary = fixture::overloaded();
    summary.variants.iter_mut().for_each(|variant| variant.warmup_s = 12.0);
    let picture = Picture::decode(&chart::queues(&summary));
    let x = column(&WIDE, 11.0);
    assert_eq!(picture.count(WARMUP, x..x + 1, rows), 0);
}

/// A ceiling of one variant alone has its colour, in the panel and beside it; one of all has that of text. In a column
/// of a dash, ceilings of 410 and of 60 are as far apart as the lines that reach them.
#[test]
fn ceilings_are_drawn_and_named() {
    let mut summary = fixture::overloaded();
    let picture = Picture::decode(&chart::in_flight(&summary));
    let [panel] = &panels(&picture, &NARROW)[..] else { panic!("one panel: `cache` has no limit") };
    for (color, ceiling) in [(VARIANTS[0], 410.0), (VARIANTS[1], 60.0)] {
        // At 5 s, with 8 in flight, only the dashes are as high as this.
        let [dash, line] = [5.0, 17.0].map(|at| height_of(&picture, &NARROW, panel, color, at).unwrap());
        assert!(dash.abs_diff(line) <= 2, "ceiling {ceiling}: {dash}, line {line}");
        let name = picture.count(color, NARROW.end..1_200, panel.start - 20..panel.end);
        assert!(name > 20, "ceiling {ceiling}: {name}");
    }
    for variant in &mut summary.variants {
        variant.limits["api"].in_flight = Some(410);
    }
    let picture = Picture::decode(&chart::in_flight(&summary));
    let beside = |color| picture.count(color, NARROW.end..1_200, panel.start - 20..panel.end);
    assert!(beside(TEXT) > 20 && beside(VARIANTS[0]) == 0, "{} {}", beside(TEXT), beside(VARIANTS[0]));
}

/// A ceiling of a thousand times the values is not drawn: with it on the axis, lines would lie on the ground.
#[test]
fn a_ceiling_far_above_does_not_press_the_lines_flat() {
    let mut summary = fixture::overloaded();
    for variant in &mut summary.variants {
        variant.limits["api"].in_flight = Some(400_000);
    }
    let picture = Picture::decode(&chart::in_flight(&summary));
    let panel = panels(&picture, &NARROW)[0].clone();
    assert!(height_of(&picture, &NARROW, &panel, VARIANTS[0], 17.0).unwrap() > panel.len() / 2);
    assert_eq!(picture.count(TEXT, NARROW.end..1_200, panel), 0);
}

/// Both panels have one scale: the capacity of 100/s is equally high in them, although only `tight` has retries enough
/// for 400/s. In calm times the clients send 80/s and get them; in the rush they get what the capacity is.
#[test]
fn load_is_held_against_the_capacity_on_one_scale() {
    let picture = Picture::decode(&chart::load(&fixture::overloaded()));
    let found = panels(&picture, &NARROW);
    assert_eq!(found.len(), 2);
    let heights = found.iter().map(|panel| {
        let at = |color, seconds| height_of(&picture, &NARROW, panel, color, seconds).unwrap();
        let (capacity, calm, rush) = (at(TEXT, 1.0), at(VARIANTS[2], 5.0), at(VARIANTS[2], 15.0));
        assert!(capacity.abs_diff(rush) <= 2 && (10 * calm).abs_diff(8 * capacity) <= 30, "{capacity} {calm} {rush}");
        assert!(at(VARIANTS[0], 15.0).abs_diff(2 * capacity) <= 3, "first attempts are twice the capacity");
        assert!(at(VARIANTS[1], 19.0) > at(VARIANTS[0], 19.0), "attempts are more than that");
        capacity
    });
    let heights: Vec<_> = heights.collect();
    assert!(heights[0].abs_diff(heights[1]) <= 1, "{heights:?}");
}

/// Each panel has the window of its own variant behind it, and the mark of its own recovery: a line in all replicas, a
/// dashed one if some of them did not recover. No line of data is at those columns but the ones that go across.
#[test]
fn every_variant_has_its_own_fault_and_recovery_behind_its_load() {
    let mut summary = fixture::overloaded();
    for (variant, (until, at_s)) in summary.variants.iter_mut().zip([(20.0, 25.0), (40.0, 50.0)]) {
        variant.fault_windows[0].windows_s = vec![(10.0, until)];
        variant.faults = fixture::recovering().variants[0].faults.clone();
        let recovered = &mut variant.faults["slowdown"]["recovered_at_s"];
        (recovered.mean, recovered.n) = (Some(at_s), variant.replicas.len() as u32);
    }
    summary.variants[1].faults["slowdown"]["recovered_at_s"].n -= 1;
    let picture = Picture::decode(&chart::load(&summary));
    let found = panels(&picture, &NARROW);
    // The share of a panel's rows that have a colour in the column of a time.
    let share = |panel: usize, seconds: f64, color: Color| {
        let x = NARROW.start + (seconds / END_S * NARROW.len() as f64).round() as usize;
        picture.count(color, x..x + 1, found[panel].clone()) as f64 / found[panel].len() as f64
    };
    let shaded = |panel| [15.0, 30.0, 45.0].map(|seconds| share(panel, seconds, FAULT) > 0.8);
    assert_eq!([shaded(0), shaded(1)], [[true, false, false], [true, true, false]]);
    let [solid, dashed] = [share(0, 25.0, TEXT), share(1, 50.0, TEXT)];
    assert!(solid > 0.8 && (0.3..0.6).contains(&dashed), "{solid} {dashed}");
    // The dashes of the capacity may cross these columns.
    assert!(share(0, 50.0, TEXT) < 0.05 && share(1, 25.0, TEXT) < 0.05);
}

/// The capacities of two services that clients call say nothing about the sum of their loads.
#[test]
fn no_capacity_is_drawn_where_clients_call_several_services() {
    let mut summary = fixture::overloaded();
    let beside = |summary: &Summary| {
        let picture = Picture::decode(&chart::load(summary));
        picture.count(TEXT, NARROW.end + 8..1_200, 110..picture.height)
    };
    assert!(beside(&summary) > 20);
    for variant in &mut summary.variants {
        variant.limits["cache"].called_by_clients = true;
    }
    assert_eq!(beside(&summary), 0);
}
