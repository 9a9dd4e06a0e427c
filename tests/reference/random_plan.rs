//! Small random plans in which as much as possible happens at the same instant.
//!
//! Nearly all times of a plan are small multiples of its grid, so that service times, timeouts, waits, deadlines and
//! fault windows meet each other exactly. Everything else is drawn independently of everything else, so that a plan
//! that fails a test shrinks part by part.

use std::ops::{Range, RangeInclusive};

use proptest::collection::vec;
use proptest::option::{self, of};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use stormsim::dist::{Dist, probability};
use stormsim::failure::ErrorKind;
use stormsim::plan::{Cancel, DeadlineRule};
use stormsim::time::{Instant, Span};

use super::random_arrivals::group_arrivals;
use super::random_budget::budgets;
use super::random_capacity::{cancel, capacity};
use super::random_duplicates::impatient;
use super::random_fault::fault;
use super::random_operations::{effects, operations};
use super::random_policy::policy;
use super::random_protection::protection;
use super::sketch::{CallSketch, ChainSketch, GroupSketch, PoolSketch, ServiceSketch, Sketch, StepCallSketch};

/// A plan of 1 to 3 groups, 1 to 6 services, 1 to 3 policies, up to 3 budgets and up to 5 faults; at most a few
/// thousand events.
pub fn random_plan() -> impl Strategy<Value = Sketch> {
    // Mostly the scale that scenarios have; else that of the clock's own resolution, and hours and days.
    let nanoseconds = Grid(Span::from_ns(1));
    let milliseconds = Grid(Span::from_ms(5));
    let minutes = Grid(Span::from_s(600));
    // What is said of 100 ms happens after two steps or after twenty.
    let coarse = Grid(Span::from_ms(50));
    prop_oneof![
        12 => plan_on(milliseconds),
        8 => plan_on(coarse),
        2 => plan_on(nanoseconds),
        2 => plan_on(minutes),
        7 => impatient(plan_on(milliseconds), milliseconds),
        6 => impatient(plan_on(coarse), coarse),
    ]
}

fn plan_on(grid: Grid) -> BoxedStrategy<Sketch> {
    let parts = (vec(group(grid), 1..=3), services(grid), vec(policy(grid), 1..=3), budgets(grid));
    let horizons = (option::weighted(0.33, grid.instants(1..=24)), grid.instants(16..=32));
    let time = (horizons, measured(grid), bucket(grid));
    // Often the same for all, so that whole trees of calls end together.
    let cancel = option::weighted(0.5, prop_oneof![2 => Just(Cancel::Running), 1 => cancel()]);
    let faults = prop_oneof![1 => vec(fault(grid), 0..=1), 2 => vec(fault(grid), 2..=5)];
    let limits = (prop::bool::weighted(0.25), cancel);
    (parts, faults, limits, time)
        .prop_map(
            |((groups, services, policies, budgets), faults, (unlimited, cancel), (horizons, measured, bucket))| {
                let ((horizon, last_horizon), (warmup, windows)) = (horizons, measured);
                Sketch {
                    groups,
                    services,
                    unlimited,
                    cancel,
                    policies,
                    budgets,
                    faults,
                    horizon,
                    last_horizon,
                    warmup,
                    windows,
                    bucket,
                }
            },
        )
        .boxed()
}

/// A warmup and windows, before, within and after what happens in most plans.
fn measured(grid: Grid) -> BoxedStrategy<(Instant, Vec<Range<Instant>>)> {
    let warmup = prop_oneof![3 => Just(Instant::ZERO), 1 => grid.instants(1..=16)];
    let window = (grid.instants(0..=16), grid.steps(1..=16)).prop_map(|(from, lasts)| from..from + lasts);
    (warmup, prop_oneof![2 => vec(window.clone(), 0..=0), 1 => vec(window, 1..=3)]).boxed()
}

/// The distance of the instants at which most things happen.
#[derive(Clone, Copy)]
pub struct Grid(pub Span);

impl Grid {
    /// So many of it.
    pub fn times(self, steps: u64) -> Span {
        Span::from_ns(self.0.as_ns() * steps)
    }

    /// A span of a whole number of steps.
    pub fn steps(self, steps: RangeInclusive<u64>) -> impl Strategy<Value = Span> + Clone {
        steps.prop_map(move |steps| self.times(steps))
    }

    /// An instant a whole number of steps from the start.
    pub fn instants(self, steps: RangeInclusive<u64>) -> impl Strategy<Value = Instant> + Clone {
        self.steps(steps).prop_map(|after| Instant::ZERO + after)
    }
}

/// On the grid, beside it, and wider than most plans run.
fn bucket(grid: Grid) -> impl Strategy<Value = Span> {
    let beside = |numerator: u64| Span::from_ns(grid.times(numerator).as_ns().div_ceil(3));
    select(vec![grid.times(20), grid.times(1), beside(2), beside(5), grid.times(200)])
}

fn group(grid: Grid) -> BoxedStrategy<GroupSketch> {
    // Sometimes more than servers can take.
    let clients = prop_oneof![1 => 1..=4u32, 1 => 5..=12u32];
    (clients, group_arrivals(grid), operations(), vec((any::<u64>(), call(grid)), 1..=3))
        .prop_map(|(clients, (window, arrivals), operations, calls)| GroupSketch {
            clients,
            window,
            arrivals,
            operations,
            calls,
        })
        .boxed()
}

/// Mostly few, so that much arrives at each.
fn services(grid: Grid) -> BoxedStrategy<Vec<ServiceSketch>> {
    prop_oneof![2 => vec(service(grid), 1..=3), 1 => vec(service(grid), 4..=6)].boxed()
}

fn service(grid: Grid) -> BoxedStrategy<ServiceSketch> {
    let step = prop_oneof![1 => vec(step_call(grid), 1), 2 => vec(step_call(grid), 2..=3)];
    // Often quick, so that there is time left for calls, and for the calls of those.
    let service_time = prop_oneof![1 => Just(Dist::ZERO), 3 => dist(grid)];
    (service_time, vec(step, 1..=3), capacity(grid), effects(grid))
        .prop_map(|(service_time, steps, capacity, effects)| ServiceSketch { service_time, steps, capacity, effects })
        .boxed()
}

fn step_call(grid: Grid) -> BoxedStrategy<StepCallSketch> {
    let copies = prop_oneof![2 => Just(1u32), 3 => 2..=4u32];
    let made = prop_oneof![6 => Just(1.0), 2 => Just(0.5), 1 => Just(0.0)].prop_map(probability);
    (chain(grid), copies, 0..4u32, made, prop::bool::weighted(0.3))
        .prop_map(|(chain, copies, required, probability, optional)| StepCallSketch {
            chain,
            copies,
            required,
            probability,
            optional,
        })
        .boxed()
}

fn chain(grid: Grid) -> BoxedStrategy<ChainSketch> {
    let fallbacks = prop_oneof![1 => vec(call(grid), 0), 1 => vec(call(grid), 1..=2)];
    (call(grid), fallbacks).prop_map(|(call, fallbacks)| ChainSketch { call, fallbacks }).boxed()
}

fn call(grid: Grid) -> BoxedStrategy<CallSketch> {
    let limits =
        (option::weighted(0.5, grid.steps(1..=2)), of(grid.steps(1..=6)), option::weighted(0.6, grid.steps(1..=8)));
    let slots = (option::weighted(0.65, pool(grid)), any::<bool>());
    let retries = (any::<u8>(), option::weighted(0.8, any::<u8>()));
    (any::<u8>(), network(grid), limits, deadline(grid), retries, slots, protection(grid))
        .prop_map(|(target, network, limits, deadline, (policy, budget), (pool, avoid_previous), protection)| {
            let (breaker, throttle, hedge) = protection;
            // Hedges only take slots that are free.
            let more = u32::from(hedge.is_some());
            let pool = pool.map(|pool| PoolSketch { size: pool.size + more, ..pool });
            CallSketch {
                target: target.into(),
                network,
                connect_timeout: limits.0,
                timeout: limits.1,
                total_timeout: limits.2,
                deadline,
                policy: policy.into(),
                budget: budget.map(usize::from),
                pool,
                breaker,
                throttle,
                hedge,
                avoid_previous,
            }
        })
        .boxed()
}

/// Mostly fewer slots than attempts, and waits as long as timeouts.
fn pool(grid: Grid) -> impl Strategy<Value = PoolSketch> {
    let max_wait = prop_oneof![1 => Just(None), 2 => grid.steps(0..=4).prop_map(Some)];
    (prop_oneof![2 => Just(1u32), 1 => 2..=3u32], max_wait).prop_map(|(size, max_wait)| PoolSketch { size, max_wait })
}

/// Mostly no time at all; else as long as the connect timeouts, and often longer.
fn network(grid: Grid) -> BoxedStrategy<Dist> {
    prop_oneof![
        4 => Just(Dist::ZERO),
        2 => grid.steps(1..=3).prop_map(Dist::Constant),
        1 => dist(grid),
    ]
    .boxed()
}

/// The reserves of both kinds reach from nothing to more than there is.
fn deadline(grid: Grid) -> BoxedStrategy<DeadlineRule> {
    prop_oneof![
        1 => Just(DeadlineRule::Keep),
        1 => grid.steps(0..=3).prop_map(DeadlineRule::PassLess),
        1 => select(vec![0.0, 0.1, 0.3, 1.0]).prop_map(DeadlineRule::PassLessShare),
    ]
    .boxed()
}

/// Times that are mostly constant and on the grid; zero among them, always and sometimes.
pub fn dist(grid: Grid) -> BoxedStrategy<Dist> {
    prop_oneof![
        6 => grid.steps(0..=4).prop_map(Dist::Constant),
        2 => (grid.steps(0..=1), 1..=4u64).prop_map(move |(min, values)| Dist::Uniform { min, values, step: grid.0 }),
        1 => vec(grid.steps(0..=4), 1..=3).prop_map(Dist::Samples),
        1 => grid.steps(1..=4).prop_map(|mean| Dist::Exponential { mean }),
        1 => Just(Dist::lognormal(grid.times(1), grid.times(10))),
        1 => Just(Dist::Percentiles(vec![(0.5, grid.times(1)), (0.9, grid.times(4))])),
    ]
    .boxed()
}

/// Mostly every kind, so that calls are tried again; else any set of them.
pub(super) fn retry_on() -> BoxedStrategy<Vec<ErrorKind>> {
    prop_oneof![
        3 => Just(ErrorKind::ALL.to_vec()),
        1 => subsequence(ErrorKind::ALL.to_vec(), 0..=ErrorKind::ALL.len()),
    ]
    .boxed()
}
