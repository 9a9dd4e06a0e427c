//! Random retry policies.

use proptest::collection::vec;
use proptest::option::{self, of};
use proptest::prelude::*;
use proptest::sample::select;
use stormsim::policy::{Backoff, Beyond, CapOrder, DelayRule, Jitter, Refinement, ServerDelay};
use stormsim::time::Span;

use super::random_plan::{Grid, dist, retry_on};
use super::sketch::PolicySketch;

/// Mostly with none of what few policies have, so that plans stay plain; else with much of it at once.
pub(super) fn policy(grid: Grid) -> BoxedStrategy<PolicySketch> {
    prop_oneof![2 => plain(grid), 1 => refined(grid)].boxed()
}

fn plain(grid: Grid) -> BoxedStrategy<PolicySketch> {
    let orders = select(vec![CapOrder::BeforeJitter, CapOrder::AfterJitter, CapOrder::Both]);
    let times = (backoff(grid), of(grid.steps(1..=4)), orders, jitter(grid, 4));
    (limits(grid), times, retry_on(), server_delay(grid))
        .prop_map(|((max_attempts, min_attempt), (backoff, cap, cap_order, jitter), retry_on, server_delay)| {
            PolicySketch {
                max_attempts,
                backoff,
                cap,
                cap_order,
                jitter,
                refinement: Refinement::NONE,
                base_throttled: None,
                retry_on,
                min_attempt,
                max_elapsed: None,
                server_delay,
            }
        })
        .boxed()
}

fn refined(grid: Grid) -> BoxedStrategy<PolicySketch> {
    let growing = (grid.steps(1..=2), select(vec![1.5, 1.5, 2.0]))
        .prop_map(|(base, factor)| Backoff::Exponential { base, factor });
    let backoff = prop_oneof![2 => growing, 1 => backoff(grid)];
    let orders = select(vec![CapOrder::BeforeJitter, CapOrder::Both, CapOrder::Narrow, CapOrder::Narrow]);
    let caps = (option::weighted(0.7, grid.steps(1..=3)), orders);
    let times = (backoff, option::weighted(0.5, grid.steps(0..=3)), refinement(grid), jitter(grid, 2));
    let limits = (limits(grid), option::weighted(0.4, grid.steps(0..=4)));
    (limits, times, caps, (retry_on(), server_delay(grid)))
        .prop_map(
            |(
                ((max_attempts, min_attempt), max_elapsed),
                (backoff, base_throttled, refinement, jitter),
                (cap, cap_order),
                (retry_on, server_delay),
            )| PolicySketch {
                max_attempts,
                backoff,
                cap,
                cap_order,
                jitter,
                // The floor is never above the cap.
                refinement: Refinement { floor: refinement.floor.min(cap.unwrap_or(Span::LIMIT)), ..refinement },
                base_throttled,
                retry_on,
                min_attempt,
                max_elapsed,
                server_delay,
            },
        )
        .boxed()
}

/// Attempts, and the shortest useful one.
fn limits(grid: Grid) -> BoxedStrategy<(u32, Span)> {
    (prop_oneof![1 => Just(1u32), 5 => 2..=4u32], prop_oneof![3 => Just(Span::ZERO), 1 => grid.steps(1..=3)]).boxed()
}

/// Steps of the grid, and of a length that no wait is a multiple of.
fn refinement(grid: Grid) -> BoxedStrategy<Refinement> {
    let immediate = prop_oneof![3 => Just(0u32), 1 => 1..=2u32];
    let floor = prop_oneof![2 => Just(Span::ZERO), 1 => grid.steps(1..=3)];
    let granularity =
        prop_oneof![2 => Just(Span::from_ns(1)), 2 => grid.steps(1..=1), 1 => Just(Span::from_ns(300_001))];
    (immediate, floor, granularity)
        .prop_map(|(immediate, floor, granularity)| Refinement { immediate, floor, granularity })
        .boxed()
}

/// As long as the delays that servers ask for, longer and shorter.
fn server_delay(grid: Grid) -> BoxedStrategy<ServerDelay> {
    let rules = select(vec![DelayRule::Ignore, DelayRule::Floor, DelayRule::Replace]);
    let jitter = prop_oneof![
        4 => Just(Jitter::None),
        2 => dist(grid).prop_map(Jitter::Add),
        1 => select(vec![0.0, 0.5]).prop_map(Jitter::Upward),
    ];
    let longest = prop_oneof![1 => Just(Span::UNLIMITED), 2 => grid.steps(0..=3)];
    let beyond = select(vec![Beyond::Clamp, Beyond::Stop, Beyond::Ignore]);
    let over_own = prop_oneof![2 => Just(Span::UNLIMITED), 1 => grid.steps(0..=2)];
    (rules, jitter, longest, beyond, over_own, prop::bool::weighted(0.1))
        .prop_map(|(rule, jitter, at_most, beyond, over_own, required)| ServerDelay {
            rule,
            jitter,
            at_most,
            beyond,
            over_own,
            required: required && rule != DelayRule::Ignore,
        })
        .boxed()
}

fn backoff(grid: Grid) -> BoxedStrategy<Backoff> {
    prop_oneof![
        2 => Just(Backoff::None),
        2 => grid.steps(0..=3).prop_map(Backoff::Fixed),
        1 => grid.steps(0..=2).prop_map(|step| Backoff::Linear { step }),
        1 => (grid.steps(0..=2), select(vec![0.5, 1.0, 1.5, 2.0]))
            .prop_map(|(base, factor)| Backoff::Exponential { base, factor }),
        1 => (grid.steps(0..=2), select(vec![1.0, 3.0])).prop_map(|(base, factor)| Backoff::Decorrelated { base, factor }),
        1 => grid.steps(0..=2).prop_map(|base| Backoff::DecorrelatedV2 { base }),
        1 => vec(grid.steps(0..=4), 1..=3).prop_map(Backoff::Explicit),
    ]
    .boxed()
}

fn jitter(grid: Grid, none: u32) -> BoxedStrategy<Jitter> {
    prop_oneof![
        none => Just(Jitter::None),
        1 => Just(Jitter::Full),
        1 => Just(Jitter::Equal),
        1 => select(vec![0.0, 0.2, 1.0]).prop_map(Jitter::Spread),
        1 => select(vec![0.5, 1.0]).prop_map(Jitter::Upward),
        1 => dist(grid).prop_map(Jitter::Add),
    ]
    .boxed()
}
