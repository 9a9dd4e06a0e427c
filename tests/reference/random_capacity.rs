//! Random servers: few, of few workers, with short queues, so that most of what arrives meets a limit.

use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use stormsim::plan::{Balance, Cancel, Capacity, Contention, DropRule, Order, Queue};
use stormsim::policy::{Codel, Ejection, Limiter};
use stormsim::time::Span;

use super::random_plan::Grid;
use super::random_protection::failure_on;

/// What becomes of work whose caller has given up.
pub fn cancel() -> impl Strategy<Value = Cancel> {
    select(vec![Cancel::Ignore, Cancel::Queued, Cancel::Running])
}

/// What a service can do at once; without any limit every third time.
pub fn capacity(grid: Grid) -> BoxedStrategy<Capacity> {
    let workers =
        (prop_oneof![1 => Just(Capacity::NO_LIMIT), 6 => Just(1u32), 3 => 2..=3u32], any::<bool>(), contention());
    let limited = (limiter(grid), option::of(grid.steps(0..=4)));
    let limits = (queue(grid), prop_oneof![4 => Just(Capacity::NO_LIMIT), 1 => 1..=4u32], limited);
    let finite = (servers(grid), workers, limits, cancel()).prop_map(
        |(
            (instances, balance, ejection),
            (workers, holds_worker, contention),
            (queue, max_in_flight, limited),
            cancel,
        )| {
            let (limiter, retry_after) = limited;
            let limits = Capacity { queue, max_in_flight, limiter, retry_after, ..Capacity::UNLIMITED };
            Capacity { instances, balance, ejection, workers, holds_worker, contention, cancel, ..limits }
        },
    );
    prop_oneof![1 => Just(Capacity::UNLIMITED), 2 => finite].boxed()
}

/// How many, who picks one of them, and whom not.
fn servers(grid: Grid) -> BoxedStrategy<(u32, Balance, Option<Ejection>)> {
    let balances = vec![
        Balance::RoundRobin,
        Balance::Random,
        Balance::LeastLoaded,
        Balance::TwoChoices,
        Balance::Primary,
        Balance::ByCopy,
    ];
    let instances = prop_oneof![1 => Just(1u32), 1 => Just(2u32), 1 => Just(3u32)];
    (instances, select(balances), option::weighted(0.5, ejection(grid)))
        .prop_map(|(instances, balance, ejection)| {
            let of_them = |(share, rule)| Ejection { most: Ejection::most_of(share, instances), ..rule };
            (instances, balance, ejection.map(of_them))
        })
        .boxed()
}

/// Soon, and for so short a time that it ends within most plans; with the largest share of the servers.
fn ejection(grid: Grid) -> BoxedStrategy<(u64, Ejection)> {
    let shares = select(vec![0, 340_000, 500_000, 1_000_000, 1_000_000]);
    let consecutive = prop_oneof![2 => Just(1u32), 1 => 2..=3u32];
    (shares, consecutive, grid.steps(1..=6), grid.steps(0..=12), failure_on())
        .prop_map(|(share, consecutive, ejected_for, more, failure_on)| {
            let rule = Ejection { consecutive, ejected_for, longest: ejected_for + more, most: 0, failure_on };
            (share, rule)
        })
        .boxed()
}

fn queue(grid: Grid) -> BoxedStrategy<Queue> {
    let limit = prop_oneof![3 => Just(Capacity::NO_LIMIT), 1 => Just(1u32), 1 => 2..=3u32];
    (limit, select(vec![Order::Fifo, Order::Lifo, Order::AdaptiveLifo]), drop_rule(grid))
        .prop_map(|(limit, order, drop_rule)| Queue { limit, order, drop_rule })
        .boxed()
}

/// Targets and intervals of CoDel are no longer than service times, so that some queues do not become short.
fn drop_rule(grid: Grid) -> BoxedStrategy<DropRule> {
    let targets = vec![Span::from_ns(1), grid.times(1)];
    let intervals = vec![Span::from_ns(1), grid.times(1), grid.times(3)];
    prop_oneof![
        1 => Just(DropRule::Never),
        1 => Just(DropRule::Expired),
        1 => Just(DropRule::DeadlineAware),
        2 => (select(targets), select(intervals))
            .prop_map(|(target, interval)| DropRule::Codel(Codel { target, interval })),
    ]
    .boxed()
}

/// About one in a step of time, more or less.
fn limiter(grid: Grid) -> BoxedStrategy<Limiter> {
    prop_oneof![
        4 => Just(Limiter::Unlimited),
        1 => (1..=3u64, grid.steps(1..=6)).prop_map(|(limit, every)| Limiter::FixedWindow { limit, every }),
        1 => (select(vec![0.3, 1.0]), 1..=3u64)
            .prop_map(move |(per_step, burst)| Limiter::TokenBucket { rate: per_step / grid.0.as_s(), burst }),
    ]
    .boxed()
}

fn contention() -> impl Strategy<Value = Contention> {
    let slows_down = (0..=2u32, select(vec![0.3, 1.0])).prop_map(|(knee, slope)| Contention { knee, slope });
    prop_oneof![2 => Just(Contention::NONE), 1 => slows_down]
}
