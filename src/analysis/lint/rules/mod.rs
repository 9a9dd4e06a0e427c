//! The rules, one per file, by what they are about.

mod hot_loop;
mod layered_retries;
mod no_jitter;
mod unused_allow;

use crate::analysis::lint::Rule;

/// All rules, in the order of the reference page.
pub static RULES: &[&Rule] = &[&layered_retries::RULE, &hot_loop::RULE, &no_jitter::RULE, &unused_allow::RULE];
