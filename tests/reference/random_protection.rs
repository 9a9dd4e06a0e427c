//! Random breakers, throttles and hedges: such as act after a few attempts, and for a few steps of the grid.

use proptest::option;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use stormsim::failure::{ErrorKind, ErrorSet};
use stormsim::plan::{Capacity, Guard, Hedge};
use stormsim::policy::{
    Backoff, Badness, Breaker, CapOrder, Counts, Jitter, Over, Position, Schedule, Throttle, ThrottleRule, Trip,
};
use stormsim::time::Span;

use super::random_plan::{Grid, dist};

/// What a call has of them.
type Protection = (Option<Guard<Breaker>>, Option<Guard<Throttle>>, Option<Hedge<Span>>);

/// Most calls have none, lest little is sent.
pub fn protection(grid: Grid) -> BoxedStrategy<Protection> {
    (
        option::weighted(0.4, guard(breaker(grid))),
        option::weighted(0.15, guard(throttle(grid))),
        option::weighted(0.35, hedge(grid)),
    )
        .boxed()
}

/// Mostly one state for all, so that more happens to it.
fn guard<R: std::fmt::Debug + 'static>(rule: impl Strategy<Value = R> + 'static) -> BoxedStrategy<Guard<R>> {
    (rule, prop::bool::weighted(0.3)).prop_map(|(rule, by_instance)| Guard { rule, by_instance }).boxed()
}

/// Mostly what is a failure unless it is said otherwise; else any set of errors.
pub fn failure_on() -> BoxedStrategy<ErrorSet> {
    prop_oneof![
        3 => Just(ErrorSet::FAILURES),
        1 => subsequence(ErrorKind::ALL.to_vec(), 0..=ErrorKind::ALL.len()).prop_map(ErrorSet::from_iter),
    ]
    .boxed()
}

fn breaker(grid: Grid) -> BoxedStrategy<Breaker> {
    let half_open = prop_oneof![2 => Just(1u32), 4 => 2..=3u32, 1 => Just(Breaker::NO_LIMIT)];
    let counts = select(vec![Counts::Attempts, Counts::Attempts, Counts::Calls]);
    let position = select(vec![Position::Inside, Position::Inside, Position::Outside]);
    (trip(grid), failure_on(), open_times(grid), half_open, counts, position)
        .prop_map(|(trip, failure_on, open, half_open, counts, position)| Breaker {
            trip,
            failure_on,
            open,
            half_open,
            counts,
            position,
        })
        .boxed()
}

/// From the first failure on, mostly.
fn trip(grid: Grid) -> BoxedStrategy<Trip> {
    let few = || prop_oneof![2 => Just(1u32), 1 => 2..=3u32];
    let bad = prop_oneof![Just(Badness::Failure), grid.steps(0..=3).prop_map(Badness::SlowerThan)];
    let over = prop_oneof![
        1 => (1..=4u32).prop_map(Over::Calls),
        1 => windows(grid).prop_map(Over::Time),
    ];
    prop_oneof![
        2 => few().prop_map(Trip::Consecutive),
        2 => (few(), grid.steps(1..=6), any::<bool>())
            .prop_map(|(failures, window, sliding)| Trip::Count { failures, window, sliding }),
        4 => (bad, select(vec![1, 330_000, 500_000, 1_000_000]), over, few()).prop_map(|(of, share, over, least)| {
            let min_calls = if let Over::Calls(calls) = over { least.min(calls) } else { least };
            Trip::Ratio { of, share, over, min_calls }
        }),
    ]
    .boxed()
}

/// Of which a tenth is less than a step of the grid, and more.
fn windows(grid: Grid) -> impl Strategy<Value = Span> {
    select(vec![2, 5, 10, 20]).prop_map(move |steps| grid.times(steps))
}

/// The same each time, or longer each time, and drawn.
fn open_times(grid: Grid) -> BoxedStrategy<Schedule> {
    let jitter = prop_oneof![
        3 => Just(Jitter::None),
        1 => Just(Jitter::Full),
        1 => select(vec![0.2, 1.0]).prop_map(Jitter::Spread),
        1 => dist(grid).prop_map(Jitter::Add),
    ];
    let cap = prop_oneof![1 => Just(Span::UNLIMITED), 1 => grid.steps(2..=6)];
    (grid.steps(1..=4), select(vec![1.0, 1.0, 1.5, 2.0]), cap, jitter)
        .prop_map(|(base, factor, cap, jitter)| {
            Schedule::new(Backoff::Exponential { base, factor }, cap, CapOrder::BeforeJitter, jitter)
        })
        .boxed()
}

fn throttle(grid: Grid) -> BoxedStrategy<Throttle> {
    let admission = (select(vec![0.5, 0.95, 1.0]), select(vec![1.0, 2.0]), select(vec![0.5, 0.8, 1.0]));
    let rule = prop_oneof![
        1 => select(vec![1.0, 1.1, 2.0]).prop_map(|k| ThrottleRule::Adaptive { k }),
        1 => admission
            .prop_map(|(success, aggression, max)| ThrottleRule::Admission { success, aggression, max }),
    ];
    (rule, failure_on(), windows(grid))
        .prop_map(|(rule, failure_on, window)| Throttle { rule, failure_on, window })
        .boxed()
}

/// Soon, and often fewer than are due.
fn hedge(grid: Grid) -> BoxedStrategy<Hedge<Span>> {
    let copies = prop_oneof![2 => Just(1u32), 1 => 2..=3u32];
    let in_flight = prop_oneof![2 => Just(Capacity::NO_LIMIT), 2 => Just(1u32), 1 => 2..=3u32];
    (grid.steps(1..=2), copies, in_flight, any::<bool>(), any::<bool>())
        .prop_map(|(after, copies, in_flight, by_instance, cancel_losers)| Hedge {
            after,
            copies,
            in_flight,
            by_instance,
            cancel_losers,
        })
        .boxed()
}
