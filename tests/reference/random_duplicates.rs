//! Random plans in which the attempts of an operation meet each other: clients are impatient, and what they have given
//! up goes on.

use std::ops::RangeInclusive;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use stormsim::dist::{Dist, probability};
use stormsim::failure::ErrorKind;
use stormsim::plan::{
    Balance, Cancel, Capacity, DeadlineRule, Effect, Effects, Failure, Hedge, InProgressRule, Keys, Order, Queue,
    Store, Windows,
};
use stormsim::policy::{Backoff, Jitter};
use stormsim::time::Span;

use super::random_plan::Grid;
use super::sketch::{CallSketch, FaultSketch, PolicySketch, ServiceSketch, Sketch, TargetSketch};

/// How a plan is changed.
#[derive(Clone, Debug)]
struct Changes {
    /// The keys that clients send along.
    keys: Keys,
    /// The timeout of clients.
    patience: Span,
    /// Those of services, if they have any.
    patience_of_services: Option<Span>,
    /// The wait before a retry.
    wait: Span,
    /// What the first service is like.
    first: Place,
    /// What the others are like, in turn.
    others: Vec<Place>,
    /// What happens to some servers.
    faults: Vec<FaultSketch>,
}

/// What a service is like.
#[derive(Clone, Debug)]
struct Place {
    service_time: Dist,
    capacity: Capacity,
    effects: Effects,
}

/// A plan that has been changed such that attempts meet those of the same operation.
pub fn impatient(plan: impl Strategy<Value = Sketch> + 'static, grid: Grid) -> BoxedStrategy<Sketch> {
    (plan, changes(grid))
        .prop_map(|(mut plan, changes)| {
            changes.apply(&mut plan);
            plan
        })
        .boxed()
}

fn changes(grid: Grid) -> BoxedStrategy<Changes> {
    let patience = (grid.steps(1..=2), option::weighted(0.7, grid.steps(2..=4)), grid.steps(0..=1));
    let services = (place(grid, 0.25), vec(place(grid, 0.8), 1..=2));
    let keys = prop_oneof![4 => Just(Keys::PerOperation), 1 => Just(Keys::Reused)];
    (keys, patience, services, faults(grid))
        .prop_map(|(keys, (patience, patience_of_services, wait), (first, others), faults)| Changes {
            keys,
            patience,
            patience_of_services,
            wait,
            first,
            others,
            faults,
        })
        .boxed()
}

/// What comes while another does the same mostly waits. A service without a store passes duplicates on.
fn place(grid: Grid, store: f64) -> BoxedStrategy<Place> {
    let service_time = prop_oneof![3 => Just(Dist::ZERO), 4 => times(grid)];
    let servers = (2..=3u32, select(vec![Balance::RoundRobin, Balance::LeastLoaded, Balance::Random]));
    let workers = (select(vec![Capacity::NO_LIMIT, 1, 2, 3]), any::<bool>());
    // Who comes last may be first, and gives up last.
    let orders = select(vec![Order::Fifo, Order::Lifo]);
    let limits = (workers, orders, prop_oneof![1 => Just(Cancel::Ignore), 3 => Just(Cancel::Running)]);
    let in_progress = prop_oneof![5 => Just(InProgressRule::Wait), 1 => Just(InProgressRule::Refuse)];
    let ttl = prop_oneof![1 => grid.steps(2..=6), 2 => Just(Span::UNLIMITED)];
    let store = option::weighted(store, (ttl, in_progress));
    (service_time, servers, limits, store, prop::bool::weighted(0.8))
        .prop_map(|(service_time, (instances, balance), ((workers, holds_worker), order, cancel), store, writes)| {
            Place {
                service_time,
                capacity: Capacity {
                    instances,
                    balance,
                    workers,
                    holds_worker,
                    queue: Queue { order, ..Capacity::UNLIMITED.queue },
                    cancel,
                    ..Capacity::UNLIMITED
                },
                effects: Effects { writes, store: store.map(|(ttl, in_progress)| Store { ttl, in_progress }) },
            }
        })
        .boxed()
}

/// What takes over from another may take less time than that.
fn times(grid: Grid) -> BoxedStrategy<Dist> {
    prop_oneof![
        1 => grid.steps(1..=4).prop_map(Dist::Constant),
        3 => vec(grid.steps(0..=5), 2..=3).prop_map(Dist::Samples),
    ]
    .boxed()
}

/// Work ends, or stands still, mostly on the first servers only: what waits for it on others goes on. And perhaps much
/// of what is done fails, or is slow.
fn faults(grid: Grid) -> BoxedStrategy<Vec<FaultSketch>> {
    let disaster = (0..2usize, prop_oneof![3 => Just(1u32), 1 => Just(Capacity::NO_LIMIT)]);
    let effect = prop_oneof![1 => Just(Effect::Crash), 1 => Just(Effect::Pause)];
    let disasters =
        (disaster, window(grid, 0..=8, 4), effect).prop_map(|((service, first_instances), windows, effect)| {
            FaultSketch { targets: vec![TargetSketch::Service(service)], first_instances, windows, effect }
        });
    let failures = select(vec![0.5, 1.0]).prop_map(move |share| Effect::Fail(after_work(share, grid)));
    // What is slow is in progress for longer, and where it else takes no time at all.
    let slowness = times(grid).prop_map(|add| Effect::Slow { factor: 1.0, add });
    let evils = (option::weighted(0.9, everywhere(grid, failures)), option::weighted(0.9, everywhere(grid, slowness)));
    (vec(disasters, 2..=4), evils)
        .prop_map(|(disasters, (fails, is_slow))| disasters.into_iter().chain(fails).chain(is_slow).collect())
        .boxed()
}

/// For long, on all servers of the first services.
fn everywhere(grid: Grid, effect: impl Strategy<Value = Effect> + 'static) -> BoxedStrategy<FaultSketch> {
    (window(grid, 0..=4, 16), effect)
        .prop_map(|(windows, effect)| FaultSketch {
            targets: vec![TargetSketch::Service(0), TargetSketch::Service(1)],
            first_instances: Capacity::NO_LIMIT,
            windows,
            effect,
        })
        .boxed()
}

fn window(grid: Grid, from: RangeInclusive<u64>, longest: u64) -> impl Strategy<Value = Windows> {
    (grid.instants(from), grid.steps(1..=longest)).prop_map(|(from, lasts)| Windows::Once(from..from + lasts))
}

/// This share of the work fails when it is done.
fn after_work(share: f64, grid: Grid) -> Failure {
    Failure {
        probability: probability(share),
        error: ErrorKind::Internal,
        delay: Dist::ZERO,
        works: true,
        correlation: 0,
        epoch: grid.times(1),
        retry_after: Some(grid.times(1)),
    }
}

impl Changes {
    fn apply(&self, plan: &mut Sketch) {
        (plan.unlimited, plan.cancel) = (false, None);
        for group in &mut plan.groups {
            group.operations.keys = self.keys;
            for (_, call) in &mut group.calls {
                change_call(call, Some(self.patience));
                // What they start does not know when they give up.
                (call.deadline, call.pool, call.budget) = (DeadlineRule::Keep, None, None);
            }
        }
        // Deeper trees of as many attempts would be too large.
        plan.services.truncate(3);
        for (index, service) in plan.services.iter_mut().enumerate() {
            let place = if index == 0 { &self.first } else { &self.others[index % self.others.len()] };
            change_service(service, place, self.patience_of_services);
        }
        // Whoever is called first by clients does not hear of their giving up.
        plan.services[0].capacity.cancel = Cancel::Ignore;
        plan.policies.iter_mut().for_each(|policy| self.change_policy(policy));
        plan.faults.truncate(1);
        plan.faults.extend(self.faults.iter().cloned());
    }

    fn change_policy(&self, policy: &mut PolicySketch) {
        policy.max_attempts = 3;
        (policy.backoff, policy.jitter) = (Backoff::Fixed(self.wait), Jitter::None);
        policy.retry_on = ErrorKind::ALL.to_vec();
    }
}

/// The first service that can be called is, at once and in time, whatever has become of other calls.
fn change_call(call: &mut CallSketch, timeout: Option<Span>) {
    (call.target, call.network) = (0, Dist::ZERO);
    (call.breaker, call.throttle) = (None, None);
    // With more the trees would be too large.
    call.hedge = call.hedge.map(|hedge| Hedge { copies: 1, ..hedge });
    (call.connect_timeout, call.timeout, call.total_timeout) = (None, timeout, None);
}

fn change_service(service: &mut ServiceSketch, place: &Place, timeout: Option<Span>) {
    service.service_time = place.service_time.clone();
    service.capacity = place.capacity.clone();
    service.effects = place.effects;
    for call in service.steps.iter_mut().flatten() {
        change_call(&mut call.chain.call, timeout);
        (call.copies, call.probability) = (1, probability(1.0));
    }
}
