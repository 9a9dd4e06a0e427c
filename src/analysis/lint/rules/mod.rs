//! The rules, one per file, by what they are about.

mod hot_loop;
mod jitter_exceeds_cap;
mod jitter_lost_at_cap;
mod layered_retries;
mod long_wait;
mod narrow_jitter;
mod no_jitter;
mod quantised_jitter;
mod retry_after_replaces_jitter;
mod synchronised_start;
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
    &retry_after_replaces_jitter::RULE,
    &quantised_jitter::RULE,
    &synchronised_start::RULE,
    &long_wait::RULE,
    &uncapped_backoff::RULE,
    &jitter_exceeds_cap::RULE,
    &unused_allow::RULE,
];
