//! The rules, one per file, by what they are about.

mod attempts_never_fit;
mod breaker_below_error_rate;
mod breaker_never_opens;
mod breaker_opens_on_one_call;
mod breaker_window_short;
mod half_open_unlimited;
mod hot_loop;
mod layered_retries;
mod no_cancellation;
mod no_jitter;
mod no_timeout;
mod no_total_timeout;
mod timeout_above_caller;
mod timeout_below_p99;
mod try_uses_up_total;
mod unused_allow;

use crate::analysis::lint::Rule;

/// All rules, in the order of the reference page.
pub static RULES: &[&Rule] = &[
    &layered_retries::RULE,
    &hot_loop::RULE,
    &no_jitter::RULE,
    &no_timeout::RULE,
    &no_total_timeout::RULE,
    &try_uses_up_total::RULE,
    &timeout_above_caller::RULE,
    &timeout_below_p99::RULE,
    &no_cancellation::RULE,
    &attempts_never_fit::RULE,
    &breaker_never_opens::RULE,
    &breaker_opens_on_one_call::RULE,
    &breaker_window_short::RULE,
    &breaker_below_error_rate::RULE,
    &half_open_unlimited::RULE,
    &unused_allow::RULE,
];
