//! Policies of clients and servers: small state machines and pure functions that own no clock and no generator.
//!
//! `now` and draws come in as arguments. Nothing here knows of events.

mod backoff;
mod budget;
mod codel;
mod limiter;
mod retry;
mod server_delay;

pub use backoff::{Backoff, CapOrder, Jitter, Schedule};
pub use budget::{
    AwsQuota, BudgetRule, Concurrency, Deposit, GrpcThrottle, Holding, InProgress, MICRO, RatioOfRequests, SLOTS,
    TokenBucket, TokenKind, WindowBalance, WindowedRatio,
};
pub use codel::{Codel, CodelState};
pub use limiter::{Limiter, LimiterState};
pub use retry::{Attempted, RetryPolicy, Verdict};
pub use server_delay::{Beyond, DelayRule, ServerDelay};
