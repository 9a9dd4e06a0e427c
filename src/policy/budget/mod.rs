//! Retry budgets: how many retries callers may send, whatever their policies would like.
//!
//! A budget is asked after the policy has decided that a failed attempt is worth another, and charged once the wait is
//! known to fit what is left of the deadline. Each rule is a state machine of its own, in a file of its own.

mod aws_quota;
mod concurrency;
mod grpc_throttle;
mod ratio_of_requests;
mod token_bucket;
mod windowed_ratio;

pub use aws_quota::AwsQuota;
pub use concurrency::{Concurrency, InProgress};
pub use grpc_throttle::GrpcThrottle;
pub use ratio_of_requests::RatioOfRequests;
pub use token_bucket::TokenBucket;
pub use windowed_ratio::{Deposit, WindowBalance, WindowedRatio};

/// Tokens are counted in millionths, so that deposits such as 0.1 add up exactly.
pub const MICRO: u64 = 1_000_000;

/// The rule of a retry budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BudgetRule {
    /// Successes put tokens in, retries take them out.
    TokenBucket(TokenBucket),
    /// Failures take tokens out, whether they are tried again or not, and successes put them in.
    GrpcThrottle(GrpcThrottle),
    /// Retries take tokens out by the class of the error, and get the last of them back if they succeed.
    AwsQuota(AwsQuota),
    /// So many retries for the requests, or the successes, of the last seconds.
    WindowedRatio(WindowedRatio),
    /// So many retries at once.
    Concurrency(Concurrency),
    /// So many retries for all requests so far.
    RatioOfRequests(RatioOfRequests),
}

impl BudgetRule {
    /// Whether it looks at more than successes and failures: at calls that begin, or at attempts under way.
    pub fn watches(&self) -> bool {
        matches!(self, Self::WindowedRatio(_) | Self::Concurrency(_) | Self::RatioOfRequests(_))
    }

    /// Whether retries that all fail use it up, so that a call without a limit on its attempts ends at last.
    pub fn runs_dry(&self) -> bool {
        match self {
            Self::TokenBucket(bucket) => bucket.cost > 0 && bucket.cost_timeout > 0,
            Self::AwsQuota(quota) => quota.cost > 0 && quota.cost_timeout > 0 && quota.cost_throttled > 0,
            Self::GrpcThrottle(_) | Self::RatioOfRequests(_) => true,
            // What was withdrawn comes back with time, and a retry that has ended makes room for another.
            Self::WindowedRatio(_) | Self::Concurrency(_) => false,
        }
    }
}
