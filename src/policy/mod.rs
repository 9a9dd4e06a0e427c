//! Policies of clients and servers: small state machines and pure functions that own no clock and no generator.
//!
//! `now` and draws come in as arguments. Nothing here knows of events.

mod backoff;
mod breaker;
mod budget;
mod codel;
mod ejection;
mod limiter;
mod retry;
mod server_delay;
mod slots;
mod throttle;

pub use backoff::{Backoff, CapOrder, Drawn, Jitter, Refinement, Schedule, WaitRange};
pub use breaker::{
    Admission, Badness, Breaker, BreakerPhase, BreakerState, Counts, Ended, Over, Position, Trip, TripState,
};
pub use budget::{
    AwsQuota, BudgetRule, Concurrency, Deposit, GrpcThrottle, Holding, InProgress, MICRO, RatioOfRequests, TokenBucket,
    TokenKind, WindowBalance, WindowedRatio,
};
pub use codel::{Codel, CodelState};
pub use ejection::{Ejection, EjectionState};
pub use limiter::{Limiter, LimiterState};
pub use retry::{Attempted, RetryPolicy, Verdict};
pub use server_delay::{Beyond, DelayRule, ServerDelay};
pub use throttle::{Throttle, ThrottleRule, ThrottleState};
