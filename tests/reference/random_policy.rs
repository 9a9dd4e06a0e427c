//! Random retry policies.

use proptest::collection::vec;
use proptest::option::{self, of};
use proptest::prelude::*;
use proptest::sample::select;
use stormsim::policy::{Backoff, Beyond, CapOrder, DelayRule, Jitter, Refinement, ServerDelay};
use stormsim::time::Span;

use super::random_plan::{Grid, dist, retry_on};
use super::sketch::PolicySketch;

pub(super) fn policy(grid: Grid) -> BoxedStrategy<PolicySketch> {
    let limits = (
        prop_oneof![1 => Just(1u32), 5 => 2..=4u32],
        prop_oneof![3 => Just(Span::ZERO), 1 => grid.steps(1..=3)],
        option::weighted(0.25, grid.steps(0..=4)),
    );
    let times = (backoff(grid), option::weighted(0.5, grid.steps(0..=3)), refinement(grid), jitter(grid));
    let caps = (
        of(grid.steps(1..=4)),
        select(vec![CapOrder::BeforeJitter, CapOrder::AfterJitter, CapOrder::Both, CapOrder::Narrow]),
    );
    (limits, times, caps, (retry_on(), server_delay(grid)))
        .prop_map(
            |(
                (max_attempts, min_attempt, max_elapsed),
                (backoff, base_throttled, refinement, jitter),
                (cap, cap_order),
                (retry_on, server_delay),
            )| PolicySketch {
                max_attempts,
                backoff,
                cap,
                cap_order,
                jitter,
                refinement: Refinement {
                    floor: cap.map_or(refinement.floor, |cap| refinement.floor.min(cap)),
                    ..refinement
                },
                base_throttled,
                retry_on,
                min_attempt,
                max_elapsed,
                server_delay,
            },
        )
        .boxed()
}

/// Mostly none, so that plans stay plain; and steps of the grid, or of parts of it that no wait is a multiple of.
fn refinement(grid: Grid) -> BoxedStrategy<Refinement> {
    let immediate = prop_oneof![4 => Just(0u32), 1 => 1..=2u32];
    let floor = prop_oneof![3 => Just(Span::ZERO), 1 => grid.steps(1..=3)];
    let granularity =
        prop_oneof![3 => Just(Span::from_ns(1)), 1 => grid.steps(1..=1), 1 => Just(Span::from_ns(300_001))];
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

fn jitter(grid: Grid) -> BoxedStrategy<Jitter> {
    prop_oneof![
        4 => Just(Jitter::None),
        1 => Just(Jitter::Full),
        1 => Just(Jitter::Equal),
        1 => select(vec![0.0, 0.2, 1.0]).prop_map(Jitter::Spread),
        1 => select(vec![0.5, 1.0]).prop_map(Jitter::Upward),
        1 => dist(grid).prop_map(Jitter::Add),
    ]
    .boxed()
}
