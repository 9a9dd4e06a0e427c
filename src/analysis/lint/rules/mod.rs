//! The rules, one per file, by what they are about.

mod budget_floor;
mod budget_shared_unrelated;
mod ejection_may_empty_pool;
mod hedge_without_cap;
mod hot_loop;
mod key_per_attempt;
mod layered_retries;
mod metastable;
mod no_budget;
mod no_jitter;
mod retry_deterministic;
mod retry_local_refusals;
mod retry_writes;
mod unbounded_fifo;
mod unused_allow;

use crate::analysis::lint::Rule;

/// All rules, in the order of the reference page.
pub static RULES: &[&Rule] = &[
    &layered_retries::RULE,
    &hot_loop::RULE,
    &no_jitter::RULE,
    &no_budget::RULE,
    &budget_floor::RULE,
    &budget_shared_unrelated::RULE,
    &retry_deterministic::RULE,
    &retry_writes::RULE,
    &key_per_attempt::RULE,
    &retry_local_refusals::RULE,
    &metastable::RULE,
    &unbounded_fifo::RULE,
    &hedge_without_cap::RULE,
    &ejection_may_empty_pool::RULE,
    &unused_allow::RULE,
];
