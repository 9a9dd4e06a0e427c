//! Retry policies: small state machines and pure functions that own no clock and no generator.
//!
//! `now` and draws come in as arguments. Nothing here knows of events.

mod backoff;
mod budget;
mod retry;

pub use backoff::{Backoff, CapOrder, Jitter, Schedule};
pub use budget::{MICRO, TokenBucket};
pub use retry::{Attempted, RetryPolicy, Verdict};
