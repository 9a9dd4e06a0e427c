//! The reference interpreter: what a plan means, written to be read and not to be fast.
//!
//! It follows the rules in the documentation of `stormsim::sim` word by word, and shares with the engine only the
//! plan, the keyed draws and the policies other than those of retries, which it reckons anew. It keeps every request, call, attempt and piece of work that ever
//! was, and computes the counts from them when all is over. The engine is held against it by `tests/equivalence/`;
//! it is itself held against stories worked out by hand in `tests/engine.rs` and `stories/`.
//!
//! The limits of the simulator (`stormsim::metrics::Limit`) are not interpreted: they are no part of what a plan means.

pub mod aftermath;
mod agenda;
mod assembly;
mod balancer;
mod budgets;
mod callers;
mod clients;
mod faults;
mod fitting;
mod giving_up;
mod guards;
mod hedges;
pub mod interpreter;
mod levels;
mod operations;
mod outages;
pub mod outcome;
mod pools;
mod random_arrivals;
mod random_budget;
mod random_capacity;
mod random_duplicates;
mod random_fault;
mod random_operations;
mod random_plan;
mod random_policy;
mod random_protection;
pub mod record;
mod series;
mod servers;
mod services;
mod sketch;
mod stores;
mod tallies;
mod waits;
mod work;
mod workers;

pub use random_plan::random_plan;

use stormsim::metrics::Outcome;
use stormsim::plan::Plan;
use stormsim::sim::Note;
use stormsim::time::Instant;

/// Everything that happens in one replica of `plan`, in causal order, and what it adds up to.
pub fn interpret(plan: &Plan, seed: u64, replica: u32) -> (Vec<(Instant, Note)>, Outcome) {
    let record = interpreter::run(plan, seed, replica);
    let outcome = outcome::outcome(plan, seed, replica, &record);
    (record.notes, outcome)
}
