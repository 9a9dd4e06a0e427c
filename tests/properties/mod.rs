//! What must hold in every run of the engine, whatever the plan: nothing is lost, time never goes back, threads do not
//! matter, and neither does what has nothing to do with it.

pub mod accounts;
mod books;
pub mod limits;
mod neighbours;

use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, contextualize_config};
use rayon::ThreadPoolBuilder;
use stormsim::experiment::Experiment;
use stormsim::plan::{Effects, InProgressRule, Keys, Plan, Store};
use stormsim::scenario::{Overrides, Scenario};
use stormsim::sim::{Note, simulate_tapped};
use stormsim::time::{Instant, Span};

use crate::reference::random_plan;
use accounts::{diagrams, operations, protection};
use books::Books;
use neighbours::{Part, renamed, side_by_side, without_repetition};

/// The same cases every time. `PROPTEST_CASES` and `PROPTEST_RNG_SEED` lead to others.
fn config(cases: u32) -> Config {
    contextualize_config(Config { cases, rng_seed: RngSeed::Fixed(3), failure_persistence: None, ..Config::default() })
}

proptest! {
    #![proptest_config(config(10_000))]

    /// The notes are one record, the counts another; the books are kept from the notes alone. All equations are exact.
    #[test]
    fn what_comes_in_goes_out_or_is_still_there(sketch in random_plan(), seed: u64) {
        let plan = Plan { warmup: Instant::ZERO, ..sketch.plan() };
        let mut notes: Vec<(Instant, Note)> = Vec::new();
        let outcome = simulate_tapped(&plan, seed, 0, &mut notes);
        prop_assert!(notes.is_sorted_by_key(|(at, _)| *at), "time went back");
        prop_assert!(notes.last().is_none_or(|(at, _)| *at <= outcome.end), "something happened after the end");
        let books = Books::of(&plan, &notes, seed);
        books.balance_requests(&outcome)?;
        books.balance_attempts(&outcome)?;
        books.balance_arrivals(&outcome)?;
        accounts::are_balanced(&plan, &notes, &outcome, seed)?;
        operations::are_told(&plan, &notes, &outcome, seed)?;
        protection::is_told(&plan, &notes, &outcome, seed)?;
        diagrams::are_followed(&plan, &notes, seed)?;
        limits::are_respected(&plan, &notes, &outcome, seed)?;
    }

    /// Work without calls of its own has its side effect and is answered in one event: whatever ends it before, or
    /// makes its caller try again after, a store that forgets nothing lets no operation be done twice. (Work that is
    /// cancelled or reset while its calls go on has had its side effect, and is forgotten.)
    #[test]
    fn what_has_a_key_is_done_once(sketch in random_plan(), seed: u64) {
        let mut plan = Plan { warmup: Instant::ZERO, ..sketch.plan() };
        plan.groups.iter_mut().for_each(|group| group.operations.keys = Keys::PerOperation);
        for service in &mut plan.services {
            let in_progress = service.effects.store.map_or(InProgressRule::Wait, |store| store.in_progress);
            service.effects = Effects { writes: true, store: Some(Store { ttl: Span::UNLIMITED, in_progress }) };
        }
        let mut notes: Vec<(Instant, Note)> = Vec::new();
        let outcome = simulate_tapped(&plan, seed, 0, &mut notes);
        operations::are_told(&plan, &notes, &outcome, seed)?;
        for (service, tally) in plan.services.iter().zip(&outcome.services) {
            prop_assert!(!service.steps.is_empty() || tally.duplicate_effects == 0, "{:?} of {:?}", tally, service);
        }
    }

    /// Two plans in one, neither of which knows of the other: each must go as if it were alone, note by note and count
    /// by count. A draw that depends on an id, on the number of draws before it or on what else there is would show.
    #[test]
    fn what_is_unrelated_changes_nothing(one in random_plan(), other in random_plan(), seed: u64) {
        let (one, other) = (one.plan(), renamed(other.plan()));
        // What a plan has only one of is the same for both. The wider bucket: one plan may run for nanoseconds and the
        // other for days.
        let (horizon, bucket) = (one.horizon.or(other.horizon), one.bucket.max(other.bucket));
        let common = |plan: Plan| {
            let faults = plan.faults.into_iter().map(without_repetition).collect();
            Plan { warmup: Instant::ZERO, windows: Vec::new(), horizon, bucket, faults, ..plan }
        };
        let (alone, neighbour) = (common(one), common(other));
        let both = side_by_side(&alone, &neighbour);
        let mut told: Vec<(Instant, Note)> = Vec::new();
        let outcome = simulate_tapped(&both, seed, 0, &mut told);
        for (plan, part) in [(&alone, Part::first(&alone)), (&neighbour, Part::after(&alone, &neighbour))] {
            let mut expected_notes: Vec<(Instant, Note)> = Vec::new();
            let expected = simulate_tapped(plan, seed, 0, &mut expected_notes);
            prop_assert!(part.notes(&told) == expected_notes, "the notes of {part:?} differ");
            prop_assert!(part.has_outcome(plan, &outcome, &expected), "the counts of {part:?} differ");
        }
    }
}

/// Something of everything whose sums could depend on the order in which replicas end: means, percentiles over
/// replicas, histograms, a timeline, windows.
const SCENARIO: &str = r#"
version = 1
name = "threads"
bucket = "10ms"
horizon = "1s"
warmup = "50ms"

[clients.web]
count = 7
arrivals = { poisson = { rate = 300 } }
calls.front = { timeout = "60ms", retry = "policy" }

[services.front]
service_time = { exponential = { mean = "3ms" } }
calls.shard = { copies = 3, required = 2, network = { lognormal = { median = "1ms", p99 = "20ms" } }, retry = "policy" }

[services.shard]
service_time = { lognormal = { median = "5ms", p99 = "80ms" } }

[retries.policy]
max_retries = 2
backoff = { exponential = { base = "10ms" } }
jitter = "full"
budget = { token_bucket = { max = 10, per_success = 0.3 } }

[faults.flaky]
on = ["shard"]
effect = { fail = { probability = 0.2, delay = { exponential = { mean = "2ms" } } } }

[variants.jittered]

[variants.decorrelated]
"retries.policy.jitter" = "none"
"retries.policy.backoff" = { decorrelated = { base = "5ms" } }

[[expect]]
metric = "attempts"
from = "100ms"
until = "900ms"
every = "200ms"
at_least = 0
"#;

/// All that an experiment says, run by so many threads. Floating-point numbers are printed such that different ones
/// differ.
fn all_it_says(scenario: &Scenario, threads: usize) -> String {
    let pool = ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be started");
    let summary = pool.install(|| Experiment::new(scenario).run(|| ()));
    let mut text = serde_json::to_string(&summary).expect("a summary is JSON");
    for variant in &summary.variants {
        text.push_str(&format!("{:?}{:?}", variant.replicas, variant.timeline));
    }
    text
}

proptest! {
    #![proptest_config(config(50))]

    /// Eight threads take the replicas in an order of their own; one takes them as they come.
    #[test]
    fn threads_change_nothing(seed: u64, replicas in 1..=16u32, rate in 1..=600u32) {
        let set = vec![format!("clients.web.arrivals={{ poisson = {{ rate = {rate} }} }}")];
        let overrides = Overrides { set, seed: Some(seed), replicas: Some(replicas), ..Overrides::default() };
        let scenario = Scenario::parse("threads.toml", SCENARIO, Path::new(""), &overrides);
        let scenario = scenario.map_err(|wrong| TestCaseError::fail(wrong.to_string()))?;
        prop_assert!(all_it_says(&scenario, 1) == all_it_says(&scenario, 8));
    }
}
