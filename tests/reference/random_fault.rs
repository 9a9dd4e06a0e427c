//! Random faults: of every effect, on whatever it fits, in windows of every kind.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use stormsim::dist::{Dist, probability};
use stormsim::failure::ErrorKind;
use stormsim::plan::{Capacity, Direction, Effect, Failure, Windows};
use stormsim::time::{Instant, Span};

use super::random_plan::{Grid, dist};
use super::sketch::{FaultSketch, TargetSketch};

/// One or two targets, which often are the same.
pub fn fault(grid: Grid) -> BoxedStrategy<FaultSketch> {
    let first_instances = prop_oneof![2 => Just(Capacity::NO_LIMIT), 1 => 1..=2u32];
    (target_and_effect(grid), windows(grid), first_instances)
        .prop_map(|((targets, effect), windows, first_instances)| FaultSketch {
            targets,
            first_instances,
            windows,
            effect,
        })
        .boxed()
}

fn target_and_effect(grid: Grid) -> BoxedStrategy<(Vec<TargetSketch>, Effect)> {
    // Often the first one, so that several meet, and where calls are made.
    let number = || prop_oneof![1 => Just(0), 1 => any::<u8>().prop_map(usize::from)];
    let service = || number().prop_map(TargetSketch::Service);
    let call = || number().prop_map(TargetSketch::Call);
    let group = number().prop_map(TargetSketch::Group);
    let services = || vec(service(), 1..=2);
    let anywhere = || vec(prop_oneof![service(), call()], 1..=2);
    prop_oneof![
        4 => (services(), at_services(grid)),
        4 => (anywhere(), anywhere_on_the_way(grid)),
        1 => (vec(call(), 1..=2), loss()),
        1 => (vec(group, 1..=2), select(vec![0.0, 0.5, 2.0, 3.0]).prop_map(|factor| Effect::Load { factor })),
    ]
    .boxed()
}

/// What only services suffer.
fn at_services(grid: Grid) -> BoxedStrategy<Effect> {
    let add = prop_oneof![Just(Dist::ZERO), dist(grid)];
    let slow = (select(vec![0.5, 2.0, 1.3]), add).prop_map(|(factor, add)| Effect::Slow { factor, add });
    prop_oneof![
        1 => Just(Effect::Refuse),
        7 => Just(Effect::Crash),
        6 => Just(Effect::Pause),
        3 => slow,
        9 => select(vec![0.0, 0.4, 0.5, 0.9]).prop_map(|factor| Effect::Capacity { factor }),
        3 => failure(grid).prop_map(|failure| Effect::Fail(Failure { works: true, ..failure })),
    ]
    .boxed()
}

/// What services and calls suffer.
fn anywhere_on_the_way(grid: Grid) -> BoxedStrategy<Effect> {
    prop_oneof![
        5 => failure(grid).prop_map(Effect::Fail),
        5 => Just(Effect::BlackHole),
        2 => dist(grid).prop_map(|add| Effect::Slow { factor: 1.0, add }),
    ]
    .boxed()
}

fn loss() -> impl Strategy<Value = Effect> {
    (select([0.3, 1.0].map(probability).to_vec()), select(vec![Direction::Request, Direction::Response]))
        .prop_map(|(probability, direction)| Effect::Loss { probability, direction })
}

/// Of an attempt for itself, of all in an epoch, and in between. Epochs begin within windows and go on beyond them.
fn failure(grid: Grid) -> BoxedStrategy<Failure> {
    let bounds = [0.0, 0.5, 0.9, 1.0].map(probability).to_vec();
    let errors = vec![ErrorKind::Unavailable, ErrorKind::Refused, ErrorKind::Internal, ErrorKind::Timeout];
    let correlations = [0.0, 0.5, 1.0].map(probability).to_vec();
    let luck = (select(bounds), select(correlations), grid.steps(1..=3));
    (luck, select(errors), dist(grid), option::of(grid.steps(0..=4)))
        .prop_map(|((probability, correlation, epoch), error, delay, retry_after)| Failure {
            probability,
            error,
            delay,
            works: false,
            correlation,
            epoch,
            retry_after,
        })
        .boxed()
}

fn windows(grid: Grid) -> BoxedStrategy<Windows> {
    let from = || grid.instants(0..=6);
    let once = (from(), option::weighted(0.8, grid.steps(1..=6))).prop_map(|(from, lasts)| {
        let until = lasts.map_or(Instant::LIMIT, |lasts| from + lasts);
        Windows::Once(from..until)
    });
    let repeated = (from(), grid.steps(1..=2), grid.steps(1..=4))
        .prop_map(|(from, lasts, rest)| Windows::Repeated { first: from..from + lasts, every: lasts + rest });
    prop_oneof![3 => once.boxed(), 2 => repeated.boxed(), 1 => random_windows(grid).boxed()].boxed()
}

/// They touch each other where it is good for no time at all, and are cut off after some.
fn random_windows(grid: Grid) -> BoxedStrategy<Windows> {
    let up = prop_oneof![
        grid.steps(1..=4).prop_map(Dist::Constant),
        (1..=4u64).prop_map(move |values| Dist::Uniform { min: Span::ZERO, values: values + 1, step: grid.0 }),
    ];
    (grid.instants(0..=4), grid.steps(4..=40), up, dist(grid))
        .prop_map(|(from, lasts, up, down)| Windows::Random { within: from..from + lasts, up, down })
        .boxed()
}
