//! The rules, one per file, by what they are about; those about files that are imported are in one.

mod attempts_never_fit;
mod breaker_below_error_rate;
mod breaker_never_opens;
mod breaker_opens_on_one_call;
mod breaker_window_short;
mod budget_floor;
mod budget_shared_unrelated;
mod ejection_may_empty_pool;
mod half_open_unlimited;
mod hedge_without_cap;
mod hot_loop;
mod imports;
mod jitter_exceeds_cap;
mod jitter_lost_at_cap;
mod key_per_attempt;
mod layered_retries;
mod long_wait;
mod metastable;
mod narrow_jitter;
mod no_budget;
mod no_cancellation;
mod no_jitter;
mod no_timeout;
mod no_total_timeout;
mod overloaded;
mod quantised_jitter;
mod retry_after_replaces_jitter;
mod retry_deterministic;
mod retry_local_refusals;
mod retry_writes;
mod synchronised_start;
mod timeout_above_caller;
mod timeout_below_p99;
mod timeout_never_enough;
mod try_uses_up_total;
mod unbounded_fifo;
mod uncapped_backoff;
mod unused_allow;

use crate::analysis::lint::Rule;

/// All rules, in the order of the reference page.
pub static RULES: &[&Rule] = &[
    &layered_retries::RULE,
    &hot_loop::RULE,
    &no_jitter::RULE,
    &narrow_jitter::RULE,
    &jitter_lost_at_cap::RULE,
    &jitter_exceeds_cap::RULE,
    &retry_after_replaces_jitter::RULE,
    &quantised_jitter::RULE,
    &synchronised_start::RULE,
    &uncapped_backoff::RULE,
    &long_wait::RULE,
    &no_timeout::RULE,
    &no_total_timeout::RULE,
    &try_uses_up_total::RULE,
    &timeout_above_caller::RULE,
    &timeout_never_enough::RULE,
    &timeout_below_p99::RULE,
    &no_cancellation::RULE,
    &attempts_never_fit::RULE,
    &no_budget::RULE,
    &budget_floor::RULE,
    &budget_shared_unrelated::RULE,
    &retry_deterministic::RULE,
    &retry_writes::RULE,
    &key_per_attempt::RULE,
    &retry_local_refusals::RULE,
    &breaker_never_opens::RULE,
    &breaker_opens_on_one_call::RULE,
    &breaker_window_short::RULE,
    &breaker_below_error_rate::RULE,
    &half_open_unlimited::RULE,
    &overloaded::RULE,
    &metastable::RULE,
    &unbounded_fifo::RULE,
    &hedge_without_cap::RULE,
    &ejection_may_empty_pool::RULE,
    &imports::SURPRISE,
    &imports::LEFT_OUT,
    &imports::UNKNOWN,
    &unused_allow::RULE,
];
