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

/// What the tokens of a rule are. Those of different kinds do not add up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// Those of a token bucket, of which a retry takes what its `cost` says.
    Bucket,
    /// Those of a throttle, of which a failure takes one.
    Throttle,
    /// Those of a quota, of which a retry takes several.
    Quota,
    /// Whole retries.
    Retry,
}

/// What a state of a rule holds, where that is a number which changes by what calls do and by nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holding {
    /// At the start, in the unit of the rule.
    pub initial: u64,
    /// That unit, in millionths of a token.
    pub unit: u64,
}

impl BudgetRule {
    /// What its tokens are; none if it has none.
    pub fn token_kind(&self) -> Option<TokenKind> {
        match self {
            Self::TokenBucket(_) => Some(TokenKind::Bucket),
            Self::GrpcThrottle(_) => Some(TokenKind::Throttle),
            Self::AwsQuota(_) => Some(TokenKind::Quota),
            Self::WindowedRatio(_) | Self::RatioOfRequests(_) => Some(TokenKind::Retry),
            Self::Concurrency(_) => None,
        }
    }

    /// What each of its states holds; none if they hold more than a number, such as what a window will forget.
    pub fn holding(&self) -> Option<Holding> {
        let (initial, unit) = match self {
            Self::TokenBucket(bucket) => (bucket.initial, 1),
            Self::GrpcThrottle(throttle) => (throttle.max, MICRO / 1_000),
            Self::AwsQuota(quota) => (quota.max, MICRO),
            Self::RatioOfRequests(ratio) => (ratio.floor, 1),
            Self::WindowedRatio(_) | Self::Concurrency(_) => return None,
        };
        Some(Holding { initial, unit })
    }

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
