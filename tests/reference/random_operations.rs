//! Random operations: keys of every kind, and stores that remember for longer and for shorter than retries take.

use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use stormsim::plan::{Effects, InProgressRule, Keys, Operations, Store};
use stormsim::time::Span;

use super::random_plan::Grid;

/// Mostly keys that tell operations apart, as they should.
pub fn operations() -> BoxedStrategy<Operations> {
    let keys = prop_oneof![
        1 => Just(Keys::None),
        5 => Just(Keys::PerOperation),
        1 => Just(Keys::PerAttempt),
        2 => Just(Keys::Reused),
    ];
    (keys, any::<bool>()).prop_map(|(keys, dead_letters)| Operations { keys, dead_letters }).boxed()
}

/// A store may be there without anything being written, and the other way round.
pub fn effects(grid: Grid) -> BoxedStrategy<Effects> {
    let both = (any::<bool>(), option::weighted(0.8, store(grid)));
    prop_oneof![
        1 => Just(Effects::NONE),
        1 => both.prop_map(|(writes, store)| Effects { writes, store }),
    ]
    .boxed()
}

/// Some results are gone by the next attempt.
fn store(grid: Grid) -> impl Strategy<Value = Store> {
    let ttl = prop_oneof![1 => grid.steps(1..=4), 1 => Just(Span::UNLIMITED)];
    (ttl, select(vec![InProgressRule::Wait, InProgressRule::Refuse]))
        .prop_map(|(ttl, in_progress)| Store { ttl, in_progress })
}
