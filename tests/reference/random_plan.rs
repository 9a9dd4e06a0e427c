//! Small random plans in which as much as possible happens at the same instant.
//!
//! Nearly all times of a plan are small multiples of its grid, so that service times, timeouts, waits, deadlines and
//! fault windows meet each other exactly. Everything else is drawn independently of everything else, so that a plan
//! that fails a test shrinks part by part.

use std::ops::RangeInclusive;

use proptest::collection::vec;
use proptest::option::{self, of};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use stormsim::dist::{Dist, probability};
use stormsim::failure::ErrorKind;
use stormsim::plan::Effect;
use stormsim::policy::{Backoff, CapOrder, Jitter};
use stormsim::time::{Instant, Span};

use super::sketch::{CallSketch, FaultSketch, GroupSketch, PolicySketch, ServiceSketch, Sketch};

/// A plan of 1 to 3 groups, 1 to 5 services, 1 to 3 policies and up to 3 faults; at most a few thousand events.
pub fn random_plan() -> impl Strategy<Value = Sketch> {
    // Mostly the scale that scenarios have; else that of the clock's own resolution, and days.
    let nanoseconds = Grid(Span::from_ns(1));
    let milliseconds = Grid(Span::from_ms(5));
    let hours = Grid(Span::from_s(3_600));
    prop_oneof![8 => plan_on(milliseconds), 1 => plan_on(nanoseconds), 1 => plan_on(hours)]
}

fn plan_on(grid: Grid) -> impl Strategy<Value = Sketch> {
    let parts = (vec(group(grid), 1..=3), vec(service(grid), 1..=5), vec(policy(grid), 1..=3), vec(fault(grid), 0..=3));
    (parts, option::weighted(0.25, grid.steps(1..=24)), bucket(grid)).prop_map(
        |((groups, services, policies, faults), horizon, bucket)| Sketch {
            groups,
            services,
            policies,
            faults,
            horizon: horizon.map(|after| Instant::ZERO + after),
            bucket,
        },
    )
}

/// The distance of the instants at which most things happen.
#[derive(Clone, Copy)]
struct Grid(Span);

impl Grid {
    /// So many of it.
    fn times(self, steps: u64) -> Span {
        Span::from_ns(self.0.as_ns() * steps)
    }

    /// A span of a whole number of steps.
    fn steps(self, steps: RangeInclusive<u64>) -> impl Strategy<Value = Span> {
        steps.prop_map(move |steps| self.times(steps))
    }
}

/// On the grid, beside it, and wider than most plans run.
fn bucket(grid: Grid) -> impl Strategy<Value = Span> {
    let beside = |numerator: u64| Span::from_ns(grid.times(numerator).as_ns().div_ceil(3));
    select(vec![grid.times(20), grid.times(1), beside(2), beside(5), grid.times(200)])
}

fn group(grid: Grid) -> impl Strategy<Value = GroupSketch> {
    (1..=4u32, grid.steps(0..=4), vec((any::<u64>(), call(grid)), 1..=3))
        .prop_map(|(clients, after, calls)| GroupSketch { clients, at: Instant::ZERO + after, calls })
}

fn service(grid: Grid) -> impl Strategy<Value = ServiceSketch> {
    (dist(grid), vec(call(grid), 0..=3)).prop_map(|(service_time, steps)| ServiceSketch { service_time, steps })
}

fn call(grid: Grid) -> impl Strategy<Value = CallSketch> {
    (any::<u8>(), of(grid.steps(1..=6)), of(grid.steps(1..=8)), any::<u8>()).prop_map(
        |(target, timeout, total_timeout, policy)| CallSketch {
            target: target.into(),
            timeout,
            total_timeout,
            policy: policy.into(),
        },
    )
}

/// Times that are mostly constant and on the grid; zero among them, always and sometimes.
fn dist(grid: Grid) -> impl Strategy<Value = Dist> {
    prop_oneof![
        6 => grid.steps(0..=4).prop_map(Dist::Constant),
        2 => (grid.steps(0..=1), 1..=4u64).prop_map(move |(min, values)| Dist::Uniform { min, values, step: grid.0 }),
        1 => vec(grid.steps(0..=4), 1..=3).prop_map(Dist::Samples),
        1 => grid.steps(1..=4).prop_map(|mean| Dist::Exponential { mean }),
        1 => Just(Dist::lognormal(grid.times(1), grid.times(10))),
        1 => Just(Dist::Percentiles(vec![(0.5, grid.times(1)), (0.9, grid.times(4))])),
    ]
}

fn policy(grid: Grid) -> impl Strategy<Value = PolicySketch> {
    let times = (
        backoff(grid),
        of(grid.steps(1..=4)),
        jitter(grid),
        prop_oneof![3 => Just(Span::ZERO), 1 => grid.steps(1..=3)],
    );
    let orders = select(vec![CapOrder::BeforeJitter, CapOrder::AfterJitter, CapOrder::Both]);
    (prop_oneof![1 => Just(1u32), 4 => 2..=4u32], times, orders, retry_on()).prop_map(
        |(max_attempts, (backoff, cap, jitter, min_attempt), cap_order, retry_on)| PolicySketch {
            max_attempts,
            backoff,
            cap,
            cap_order,
            jitter,
            retry_on,
            min_attempt,
        },
    )
}

fn backoff(grid: Grid) -> impl Strategy<Value = Backoff> {
    prop_oneof![
        2 => Just(Backoff::None),
        2 => grid.steps(0..=3).prop_map(Backoff::Fixed),
        1 => grid.steps(0..=2).prop_map(|step| Backoff::Linear { step }),
        1 => (grid.steps(0..=2), select(vec![0.5, 1.0, 1.5, 2.0]))
            .prop_map(|(base, factor)| Backoff::Exponential { base, factor }),
        1 => (grid.steps(0..=2), select(vec![1.0, 3.0])).prop_map(|(base, factor)| Backoff::Decorrelated { base, factor }),
        1 => vec(grid.steps(0..=4), 1..=3).prop_map(Backoff::Explicit),
    ]
}

fn jitter(grid: Grid) -> impl Strategy<Value = Jitter> {
    prop_oneof![
        4 => Just(Jitter::None),
        1 => Just(Jitter::Full),
        1 => Just(Jitter::Equal),
        1 => select(vec![0.0, 0.2, 1.0]).prop_map(Jitter::Spread),
        1 => dist(grid).prop_map(Jitter::Add),
    ]
}

/// Mostly every kind, so that calls are tried again; else any set of them.
fn retry_on() -> impl Strategy<Value = Vec<ErrorKind>> {
    prop_oneof![
        3 => Just(ErrorKind::ALL.to_vec()),
        1 => subsequence(ErrorKind::ALL.to_vec(), 0..=ErrorKind::ALL.len()),
    ]
}

fn fault(grid: Grid) -> impl Strategy<Value = FaultSketch> {
    // Windows do not touch: only the first pause may be zero.
    let windows =
        (grid.steps(0..=4), vec((grid.steps(1..=4), grid.steps(1..=4)), 1..=3)).prop_map(|(first, mut windows)| {
            windows[0].0 = first;
            windows
        });
    (vec(any::<u8>(), 1..=2), windows, prop::bool::weighted(0.2), effect(grid)).prop_map(
        |(targets, windows, open_ended, effect)| FaultSketch {
            targets: targets.into_iter().map(usize::from).collect(),
            windows,
            open_ended,
            effect,
        },
    )
}

fn effect(grid: Grid) -> impl Strategy<Value = Effect> {
    let bounds = [0.0, 0.5, 0.9, 1.0].map(probability).to_vec();
    let errors = vec![ErrorKind::Unavailable, ErrorKind::Refused, ErrorKind::Internal, ErrorKind::Timeout];
    prop_oneof![
        1 => Just(Effect::Refuse),
        3 => (select(bounds), select(errors), dist(grid))
            .prop_map(|(probability, error, delay)| Effect::Fail { probability, error, delay }),
    ]
}
