//! Retry policies.

use crate::failure::ErrorKind;
use crate::scenario::declare::{choice, table};
use crate::scenario::field::{OrIgnore, OrNone, OrUnlimited, Spanned};
use crate::scenario::tables::{BudgetChoice, DistSetting, SharedByChoice, SharedOverChoice};
use crate::scenario::values::{AtLeastOne, Attempts, Duration, NotNegative, Positive, PresetName, Retries, Share};

table! {
    /// A retry policy: when a failed attempt is tried again, how often, and after which wait.
    RetryTable is "a retry policy", unbuilt &[], exclusive &[("max_retries", "max_attempts")];
    /// The retry behaviour of a product, for all that this table does not say itself: `stormsim presets` lists them. A call may name a preset as its policy without a table, too. Default: none. Example: `"envoy"`.
    preset: PresetName,
    /// Attempts allowed after the first. Required, or `max_attempts`. Example: `2` or `"unlimited"`.
    max_retries: OrUnlimited<Retries>,
    /// Attempts allowed in all. Required, or `max_retries`. Example: `3` or `"unlimited"`.
    max_attempts: OrUnlimited<Attempts>,
    /// The wait before each retry, before cap and jitter. Default: `"none"`. Example: `{ exponential = { base = "100ms" } }`.
    backoff: BackoffChoice,
    /// So many of the first retries come at once, without wait, cap, jitter or floor; the others keep their numbers. Default: `0`. Example: `1`.
    immediate: Retries,
    /// The longest wait. Default: `"none"`. Example: `"30s"`.
    cap: OrNone<Duration>,
    /// Where the cap applies. Default: `"before_jitter"`. Example: `"both"`.
    cap_order: CapOrderChoice,
    /// The least wait: what of the jitter's window lies below it is cut off, and the wait is drawn from what is left. Default: `"0s"`. Example: `"1s"`.
    floor: Duration,
    /// What makes the waits of different clients differ. Default: `"none"`. Example: `"full"`.
    jitter: JitterChoice,
    /// Waits of the backoff are whole multiples of this: cut down when they have been drawn, and an exponential one at each step of its growth (up to 64 of them). Default: `"1ns"`. Example: `"1ms"`.
    granularity: Duration,
    /// The errors that are tried again. Default: `["unavailable", "refused", "timeout", "reset", "overloaded", "rate_limited"]`. Example: `["timeout", "unavailable"]`.
    retry_on: Vec<Spanned<ErrorKind>>,
    /// No wait for an attempt that has less than this left of the deadline. Default: `"0s"`. Example: `"60ms"`.
    min_attempt: Duration,
    /// No retry begins later than this after its call; attempts are not cut by it. Default: `"none"`. Example: `"15m"`.
    max_elapsed: OrNone<Duration>,
    /// What is made of a server's word on when to try again (`Retry-After`). Default: `"ignore"`. Example: `{ rule = "replace", jitter = { uniform = { min = "0s", max = "6s" } } }`.
    retry_after: OrNone<OrIgnore<RetryAfterTable>>,
    /// What retries must be paid from. Default: `"none"`. Example: `{ token_bucket = { max = 10, per_success = 0.1 } }`.
    budget: BudgetChoice,
    /// Who shares the budget's state. Default: `"instance"`. Example: `"group"`.
    shared_by: SharedByChoice,
    /// Which calls of theirs share it. Default: `"call"`. Example: `"target"`.
    shared_over: SharedOverChoice,
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
    /// Steps along a curve that doubles with each retry, each to a point drawn from its next piece: Polly's exponential backoff with jitter.
    "decorrelated_v2" => DecorrelatedV2(DecorrelatedV2Table),
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
    /// Growth from one wait to the next; above 0. Default: `2.0`. Example: `1.5`.
    factor: Positive,
    /// The first wait after the errors `rate_limited` and `throttled`; retries are counted together with the others. Default: `base`. Example: `"1s"`.
    base_throttled: Duration,
}

table! {
    /// Waits that are drawn from the wait before.
    DecorrelatedTable is "a decorrelated backoff", unbuilt &[], exclusive &[];
    /// The least wait. Required. Example: `"1s"`.
    base: Duration,
    /// How far a wait may exceed the one before; at least 1. Default: `3.0`. Example: `2.0`.
    factor: AtLeastOne,
}

table! {
    /// Waits that lead along a curve.
    DecorrelatedV2Table is "a decorrelated backoff of version 2", unbuilt &[], exclusive &[];
    /// About the median of the first wait; that of the others doubles. Required. Example: `"2s"`.
    base: Duration,
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
    /// Before the jitter, and what of its window lies above the cap is cut off: the wait is drawn from what is left.
    "narrow" => Narrow,
}

choice! {
    /// What makes waits differ; x is the wait of the backoff, or the time for which a breaker opens.
    JitterChoice is "a jitter", unbuilt &[];
    /// x.
    "none" => None,
    /// Uniform between 0 and x.
    "full" => Full,
    /// Uniform between x / 2 and x.
    "equal" => Equal,
    /// Uniform between x (1 - s) and x (1 + s), s from 0 to 1.
    "spread" => Spread(Share),
    /// Uniform between x and x (1 + s), s of at least 0.
    "upward" => Upward(NotNegative),
    /// x plus a draw.
    "add" => Add(DistSetting),
}

table! {
    /// How the delay that a server asks for and the wait of the backoff become one.
    RetryAfterTable is "an answer to Retry-After", unbuilt &[], exclusive &[("jitter", "upward")];
    /// Which of the two counts. Default: `"floor"`. Example: `"replace"`.
    rule: DelayRuleChoice,
    /// Added to the server's delay, drawn for each attempt. Default: `"none"`. Example: `{ uniform = { min = "0s", max = "6s" } }`.
    jitter: OrNone<DistSetting>,
    /// Makes x, the server's delay, uniform between x and x (1 + s), s of at least 0. Default: `0`. Example: `0.5`.
    upward: NotNegative,
    /// The longest delay that is taken from a server, before the jitter. Default: `"unlimited"`. Example: `"300s"`.
    at_most: OrUnlimited<Duration>,
    /// What becomes of a longer one. Default: `"clamp"`. Example: `"stop"`.
    beyond: BeyondChoice,
    /// How much longer than that of the backoff the wait is at most. Default: `"unlimited"`. Example: `"5s"`.
    over_own: OrUnlimited<Duration>,
    /// Whether a call is not tried again after an error without such a delay. Default: `false`. Example: `true`.
    required: bool,
}

choice! {
    /// Which wait counts.
    DelayRuleChoice is "a rule", unbuilt &[];
    /// The longer one of the two.
    "floor" => Floor,
    /// The server's.
    "replace" => Replace,
    /// That of the backoff.
    "ignore" => Ignore,
}

choice! {
    /// What becomes of a delay that is too long.
    BeyondChoice is "a way out", unbuilt &[];
    /// It is cut to the longest.
    "clamp" => Clamp,
    /// The call is not tried again.
    "stop" => Stop,
    /// It is as if the server had not said it.
    "ignore" => Ignore,
}
