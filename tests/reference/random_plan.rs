//! Small random plans in which as much as possible happens at the same instant.
//!
//! Nearly all times are small multiples of [`GRID`], so that service times, timeouts, waits, deadlines and fault
//! windows meet each other exactly. Everything is drawn independently of everything else, so that a plan that fails
//! a test shrinks part by part.

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

const GRID: Span = Span::from_ms(5);

/// A plan of 1 to 3 groups, 1 to 5 services, 1 to 3 policies and up to 3 faults; at most a few thousand events.
pub fn random_plan() -> impl Strategy<Value = Sketch> {
    let parts = (vec(group(), 1..=3), vec(service(), 1..=5), vec(policy(), 1..=3), vec(fault(), 0..=3));
    (parts, option::weighted(0.25, 1..=24u64), bucket()).prop_map(
        |((groups, services, policies, faults), horizon, bucket)| Sketch {
            groups,
            services,
            policies,
            faults,
            horizon: horizon.map(|steps| Instant::ZERO + on_grid(steps)),
            bucket,
        },
    )
}

fn on_grid(steps: u64) -> Span {
    Span::from_ns(GRID.as_ns() * steps)
}

fn grid(steps: std::ops::RangeInclusive<u64>) -> impl Strategy<Value = Span> {
    steps.prop_map(on_grid)
}

/// On the grid, beside it, and wider than most plans run.
fn bucket() -> impl Strategy<Value = Span> {
    select(vec![Span::from_ms(100), Span::from_ms(5), Span::from_ns(3_333_333), Span::from_ms(7), Span::from_s(1)])
}

fn group() -> impl Strategy<Value = GroupSketch> {
    (1..=4u32, grid(0..=4), vec((any::<u64>(), call()), 1..=3)).prop_map(|(clients, after, calls)| GroupSketch {
        clients,
        at: Instant::ZERO + after,
        calls,
    })
}

fn service() -> impl Strategy<Value = ServiceSketch> {
    (dist(), vec(call(), 0..=3)).prop_map(|(service_time, steps)| ServiceSketch { service_time, steps })
}

fn call() -> impl Strategy<Value = CallSketch> {
    (any::<u8>(), of(grid(1..=6)), of(grid(1..=8)), any::<u8>()).prop_map(|(target, timeout, total_timeout, policy)| {
        CallSketch { target: target.into(), timeout, total_timeout, policy: policy.into() }
    })
}

/// Times that are mostly constant and on the grid; zero among them, always and sometimes.
fn dist() -> impl Strategy<Value = Dist> {
    let ms = Span::from_ms;
    prop_oneof![
        6 => grid(0..=4).prop_map(Dist::Constant),
        2 => (grid(0..=1), 1..=4u64).prop_map(|(min, values)| Dist::Uniform { min, values, step: GRID }),
        1 => vec(grid(0..=4), 1..=3).prop_map(Dist::Samples),
        1 => grid(1..=4).prop_map(|mean| Dist::Exponential { mean }),
        1 => Just(Dist::lognormal(ms(5), ms(50))),
        1 => Just(Dist::Percentiles(vec![(0.5, ms(5)), (0.9, ms(20))])),
    ]
}

fn policy() -> impl Strategy<Value = PolicySketch> {
    let times = (backoff(), of(grid(1..=4)), jitter(), prop_oneof![3 => Just(Span::ZERO), 1 => grid(1..=3)]);
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

fn backoff() -> impl Strategy<Value = Backoff> {
    prop_oneof![
        2 => Just(Backoff::None),
        2 => grid(0..=3).prop_map(Backoff::Fixed),
        1 => grid(0..=2).prop_map(|step| Backoff::Linear { step }),
        1 => (grid(0..=2), select(vec![0.5, 1.0, 1.5, 2.0]))
            .prop_map(|(base, factor)| Backoff::Exponential { base, factor }),
        1 => (grid(0..=2), select(vec![1.0, 3.0])).prop_map(|(base, factor)| Backoff::Decorrelated { base, factor }),
        1 => vec(grid(0..=4), 1..=3).prop_map(Backoff::Explicit),
    ]
}

fn jitter() -> impl Strategy<Value = Jitter> {
    prop_oneof![
        4 => Just(Jitter::None),
        1 => Just(Jitter::Full),
        1 => Just(Jitter::Equal),
        1 => select(vec![0.0, 0.2, 1.0]).prop_map(Jitter::Spread),
        1 => dist().prop_map(Jitter::Add),
    ]
}

/// Mostly every kind, so that calls are tried again; else any set of them.
fn retry_on() -> impl Strategy<Value = Vec<ErrorKind>> {
    prop_oneof![
        3 => Just(ErrorKind::ALL.to_vec()),
        1 => subsequence(ErrorKind::ALL.to_vec(), 0..=ErrorKind::ALL.len()),
    ]
}

fn fault() -> impl Strategy<Value = FaultSketch> {
    // Windows do not touch: only the first pause may be zero.
    let windows = (grid(0..=4), vec((grid(1..=4), grid(1..=4)), 1..=3)).prop_map(|(first, mut windows)| {
        windows[0].0 = first;
        windows
    });
    (vec(any::<u8>(), 1..=2), windows, prop::bool::weighted(0.2), effect()).prop_map(
        |(targets, windows, open_ended, effect)| FaultSketch {
            targets: targets.into_iter().map(usize::from).collect(),
            windows,
            open_ended,
            effect,
        },
    )
}

fn effect() -> impl Strategy<Value = Effect> {
    let bounds = [0.0, 0.5, 0.9, 1.0].map(probability).to_vec();
    let errors = vec![ErrorKind::Unavailable, ErrorKind::Refused, ErrorKind::Internal, ErrorKind::Timeout];
    prop_oneof![
        1 => Just(Effect::Refuse),
        3 => (select(bounds), select(errors), dist())
            .prop_map(|(probability, error, delay)| Effect::Fail { probability, error, delay }),
    ]
}
