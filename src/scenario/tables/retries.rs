//! Retry policies.

use crate::failure::ErrorKind;
use crate::scenario::declare::{choice, table};
use crate::scenario::field::{OrNone, OrUnlimited, Spanned};
use crate::scenario::tables::DistSetting;
use crate::scenario::unbuilt;
use crate::scenario::values::{AtLeastOne, Attempts, Duration, Positive, Retries, Share};

table! {
    /// A retry policy: when a failed attempt is tried again, how often, and after which wait.
    RetryTable is "a retry policy", unbuilt unbuilt::RETRY, exclusive &[("max_retries", "max_attempts")];
    /// Attempts allowed after the first. Required, or `max_attempts`. Example: `2` or `"unlimited"`.
    max_retries: OrUnlimited<Retries>,
    /// Attempts allowed in all. Required, or `max_retries`. Example: `3` or `"unlimited"`.
    max_attempts: OrUnlimited<Attempts>,
    /// The wait before each retry, before cap and jitter. Default: `"none"`. Example: `{ exponential = { base = "100ms" } }`.
    backoff: BackoffChoice,
    /// The longest wait. Default: `"none"`. Example: `"30s"`.
    cap: OrNone<Duration>,
    /// Where the cap applies. Default: `"before_jitter"`.
    cap_order: CapOrderChoice,
    /// What makes the waits of different clients differ. Default: `"none"`. Example: `"full"`.
    jitter: JitterChoice,
    /// The errors that are tried again. Default: `["unavailable", "refused", "timeout", "reset", "overloaded", "rate_limited"]`.
    retry_on: Vec<Spanned<ErrorKind>>,
    /// No wait for an attempt that has less than this left of the deadline. Default: `"0s"`. Example: `"60ms"`.
    min_attempt: Duration,
}

choice! {
    /// The wait before retry n.
    BackoffChoice is "a backoff", unbuilt &[];
    /// Retry at once.
    "none" => None,
    /// The same wait each time.
    "fixed" => Fixed(Duration),
    /// `step * n`.
    "linear" => Linear(LinearTable),
    /// `base * factor^(n - 1)`.
    "exponential" => Exponential(ExponentialTable),
    /// Uniform between `base` and `factor` times the wait before; draws its own jitter.
    "decorrelated" => Decorrelated(DecorrelatedTable),
    /// These waits in turn; the last one repeats.
    "explicit" => Explicit(Vec<Spanned<Duration>>),
}

table! {
    /// Waits that grow by the same step.
    LinearTable is "a linear backoff", unbuilt &[], exclusive &[];
    /// The first wait, and what each further one adds. Required. Example: `"100ms"`.
    step: Duration,
}

table! {
    /// Waits that grow by the same factor.
    ExponentialTable is "an exponential backoff", unbuilt &[], exclusive &[];
    /// The first wait. Required. Example: `"100ms"`.
    base: Duration,
    /// Growth from one wait to the next; above 0. Default: `2.0`.
    factor: Positive,
}

table! {
    /// Waits that are drawn from the wait before.
    DecorrelatedTable is "a decorrelated backoff", unbuilt &[], exclusive &[];
    /// The least wait. Required. Example: `"1s"`.
    base: Duration,
    /// How far a wait may exceed the one before; at least 1. Default: `3.0`.
    factor: AtLeastOne,
}

choice! {
    /// Where the cap applies; x is the wait of the backoff.
    CapOrderChoice is "an order", unbuilt &[];
    /// `jitter(min(cap, x))`: jitter that adds may exceed the cap.
    "before_jitter" => BeforeJitter,
    /// `min(cap, jitter(x))`.
    "after_jitter" => AfterJitter,
    /// `min(cap, jitter(min(cap, x)))`.
    "both" => Both,
}

choice! {
    /// What makes waits differ; x is the wait of the backoff.
    JitterChoice is "a jitter", unbuilt &[];
    /// x.
    "none" => None,
    /// Uniform between 0 and x.
    "full" => Full,
    /// Uniform between x / 2 and x.
    "equal" => Equal,
    /// Uniform between x (1 - s) and x (1 + s), s from 0 to 1.
    "spread" => Spread(Share),
    /// x plus a draw.
    "add" => Add(DistSetting),
}
