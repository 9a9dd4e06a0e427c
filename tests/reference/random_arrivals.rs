//! Random arrivals: of every kind, on the grid, and few.

use std::ops::Range;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use stormsim::dist::Dist;
use stormsim::plan::{Arrivals, Piece, Profile};
use stormsim::time::{Instant, Span};

use super::random_plan::{Grid, dist};

/// When a group may begin requests, and when it does.
pub fn group_arrivals(grid: Grid) -> BoxedStrategy<(Range<Instant>, Arrivals)> {
    let kinds = prop_oneof![
        1 => constant(grid).boxed(),
        1 => poisson(grid).boxed(),
        1 => trace(grid).boxed(),
        1 => periodic(grid).boxed(),
    ];
    prop_oneof![2 => burst(grid).boxed(), 4 => (window(grid), kinds).boxed(), 2 => closed(grid).boxed()].boxed()
}

/// A window of the length in which arrivals that never end by themselves make a dozen requests.
fn window(grid: Grid) -> impl Strategy<Value = Range<Instant>> {
    (grid.instants(0..=3), grid.steps(1..=8)).prop_map(|(from, lasts)| from..from + lasts)
}

/// The same, or one without an end.
fn any_window(grid: Grid) -> impl Strategy<Value = Range<Instant>> {
    (window(grid), any::<bool>()).prop_map(|(window, ends)| if ends { window } else { window.start..Instant::LIMIT })
}

/// Within the group's window, at its very ends too.
fn burst(grid: Grid) -> impl Strategy<Value = (Range<Instant>, Arrivals)> {
    (grid.instants(0..=2), grid.steps(0..=2), option::of(select(vec![Span::from_ns(1), grid.times(1)]))).prop_map(
        |(from, after, rest)| {
            let at = from + after;
            (from..rest.map_or(Instant::LIMIT, |rest| at + rest), Arrivals::Burst { at })
        },
    )
}

/// Every step or two, and at instants between those of the grid.
fn constant(grid: Grid) -> impl Strategy<Value = Arrivals> {
    select(vec![0.5, 1.0, 2.0, 1.3]).prop_map(move |steps| Arrivals::Constant { rate: per_second(grid, 1.0 / steps) })
}

/// Requests per second of so many per step.
fn per_second(grid: Grid, per_step: f64) -> f64 {
    per_step / grid.0.as_s()
}

/// Steps and ramps, with pauses, from before or after the start of the group's window on.
fn poisson(grid: Grid) -> impl Strategy<Value = Arrivals> {
    let rate = || select(vec![0.0, 0.5, 1.5]).prop_map(move |per_step| per_second(grid, per_step));
    (grid.instants(0..=3), vec((grid.steps(1..=4), rate(), any::<bool>()), 0..=2), rate()).prop_map(
        |(start, stretches, last)| {
            let mut pieces = Vec::new();
            let mut from = start;
            for (index, &(lasts, rate, is_ramp)) in stretches.iter().enumerate() {
                let next = stretches.get(index + 1).map_or(last, |&(_, rate, _)| rate);
                pieces.push(Piece { from, rate, slope: if is_ramp { (next - rate) / lasts.as_s() } else { 0.0 } });
                from = from + lasts;
            }
            pieces.push(Piece { from, rate: last, slope: 0.0 });
            Arrivals::Poisson(Profile::new(pieces))
        },
    )
}

/// Some of them outside of the group's window, and some together.
fn trace(grid: Grid) -> impl Strategy<Value = Arrivals> {
    vec(grid.instants(0..=12), 0..=8).prop_map(|mut instants| {
        instants.sort_unstable();
        Arrivals::Trace(instants)
    })
}

/// With offsets within the first period and beyond it.
fn periodic(grid: Grid) -> BoxedStrategy<Arrivals> {
    (grid.steps(2..=4), dist(grid)).prop_map(|(every, offset)| Arrivals::Periodic { every, offset }).boxed()
}

/// A few requests for each client, or as many as it manages; then it thinks, lest it begins more and more at once.
fn closed(grid: Grid) -> BoxedStrategy<(Range<Instant>, Arrivals)> {
    let think = prop_oneof![1 => Just(Dist::ZERO), 3 => dist(grid)];
    let few = (any_window(grid), think, 1..=3u64);
    let many = (window(grid), grid.steps(1..=4).prop_map(Dist::Constant), Just(u64::MAX));
    let closed = |(window, think, requests)| (window, Arrivals::Closed { think, requests });
    prop_oneof![2 => few.prop_map(closed), 1 => many.prop_map(closed)].boxed()
}
