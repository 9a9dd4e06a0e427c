//! Breakers, throttles and hedges of calls, and the ejection of servers.

use crate::failure::ErrorKind;
use crate::scenario::counts::{Failures, HedgesInFlight, MinCalls, Probes, WindowCalls};
use crate::scenario::declare::{choice, table};
use crate::scenario::field::{OrNone, OrUnlimited, Spanned};
use crate::scenario::tables::{JitterChoice, SharedByChoice};
use crate::scenario::values::{AboveZeroShare, AtLeastOne, Copies, Duration, Share};

table! {
    /// A circuit breaker. Closed, it lets everything through, and counts; when that trips it, it is open, and lets nothing through for a time; then it is half-open: some probes are let through, which close it or open it again. What it does not let through fails with `breaker_open`, which is not in the default `retry_on`.
    BreakerTable is "a breaker", exclusive &[];
    /// What opens it. Required. Example: `{ consecutive = 5 }` or `{ ratio = { failures = 0.5, window = "10s", min_calls = 20 } }`.
    trip: TripChoice,
    /// How long it is open, before probes are let through. Required. Example: `"5s"`.
    open_for: Duration,
    /// By what that grows each time that it opens again without having been closed. Default: `1.0`. Example: `2.0`.
    open_factor: AtLeastOne,
    /// The longest that it may grow to. Default: `"none"`. Example: `"60s"`.
    open_cap: OrNone<Duration>,
    /// What makes the times differ between callers. Default: `"none"`. Example: `{ spread = 0.5 }`.
    open_jitter: JitterChoice,
    /// How many probes it lets through when it is half-open; more are turned away until it has closed or opened. All of them must succeed to close it, and the first failure opens it; with a `ratio` or `slow` it waits for all of them, and opens at the same share as ever. With `"unlimited"` everything goes through, and the first that ends decides. Default: `1`. Example: `10`.
    half_open: OrUnlimited<Probes>,
    /// What it counts: every attempt, or every call with all of its attempts. Default: `"attempts"`, or `"calls"` if it stands outside. Example: `"calls"`.
    counts: CountsChoice,
    /// Whether it stands inside of the retries, and is asked before each attempt, or outside, and is asked once, when the call begins. An attempt that it turns away is one of those that the policy allows. Default: `"inside"`. Example: `"outside"`.
    position: PositionChoice,
    /// The errors that are failures; with any other the callee has answered. What the caller itself turned away does not count. Default: `["unavailable", "refused", "reset", "overloaded", "rate_limited", "timeout", "deadline", "internal", "breaker_open", "throttled", "pool_timeout"]`, all but `"invalid"`. Example: `["timeout", "unavailable"]`.
    failure_on: Vec<Spanned<ErrorKind>>,
    /// Who shares it. Default: `"instance"`. Example: `"group"`.
    shared_by: SharedByChoice,
}

choice! {
    /// What opens a breaker.
    TripChoice is "a trip";
    /// So many failures in a row.
    "consecutive" => Consecutive(Failures),
    /// So many failures in a window.
    "count" => Count(CountTable),
    /// A share of failures.
    "ratio" => Ratio(FailureRatioTable),
    /// A share of slow ones, whether they fail or not.
    "slow" => Slow(SlowRatioTable),
}

table! {
    /// Failures in a window of time.
    CountTable is "a count", exclusive &[];
    /// How many open it: the one that makes them so many. Required. Example: `6`.
    failures: Failures,
    /// How long the window is. Required. Example: `"1s"`.
    window: Duration,
    /// Whether the window is the time before each failure, its old end excluded; else one window follows the other, from when the breaker was closed last. Default: `true`. Example: `false`.
    sliding: bool,
}

table! {
    /// The share of failures among what has ended lately.
    FailureRatioTable is "a failure ratio", exclusive &[("window", "calls")];
    /// So large a share opens it; above 0. Required. Example: `0.5`.
    failures: AboveZeroShare,
    /// Over how much time: what ended in the current tenth of it, and in the nine before, counts. Required, or `calls`. Example: `"10s"`.
    window: Duration,
    /// Over how many: so many that ended last count. Required, or `window`. Example: `100`.
    calls: WindowCalls,
    /// How many must have ended before it may open; more than `calls` are as many. Required. Example: `20`.
    min_calls: MinCalls,
}

table! {
    /// The share of slow ones among what has ended lately.
    SlowRatioTable is "a slow ratio", exclusive &[("window", "calls")];
    /// What takes longer than this is slow, from when it asked to be sent. Required. Example: `"2s"`.
    over: Duration,
    /// So large a share opens it; above 0. Required. Example: `0.5`.
    ratio: AboveZeroShare,
    /// Over how much time: what ended in the current tenth of it, and in the nine before, counts. Required, or `calls`. Example: `"10s"`.
    window: Duration,
    /// Over how many: so many that ended last count. Required, or `window`. Example: `100`.
    calls: WindowCalls,
    /// How many must have ended before it may open; more than `calls` are as many. Required. Example: `20`.
    min_calls: MinCalls,
}

choice! {
    /// What a breaker counts.
    CountsChoice is "a unit";
    /// Every attempt that was sent.
    "attempts" => Attempts,
    /// Every call whose last attempt was sent.
    "calls" => Calls,
}

choice! {
    /// Where a breaker stands.
    PositionChoice is "a position";
    /// Inside of the retries: before each attempt.
    "inside" => Inside,
    /// Outside of the retries: before each call.
    "outside" => Outside,
}

choice! {
    /// What holds back a share of the attempts, which fail with `throttled`.
    ThrottleChoice is "a throttle";
    /// Nothing.
    "none" => None,
    /// Adaptive throttling as in the SRE book: with probability `(requests - k * accepts) / (requests + 1)`.
    "adaptive" => Adaptive(AdaptiveTable),
    /// Envoy's admission control: with probability `((requests - accepts / success) / (requests + 1)) ^ (1 / aggression)`, up to `max`.
    "admission" => Admission(AdmissionTable),
}

table! {
    /// Adaptive throttling. What it holds back is a request, too, so that in the long run up to `k` times as many attempts are sent as are accepted.
    AdaptiveTable is "adaptive throttling", exclusive &[];
    /// So many requests for each that is accepted are sent in any case. Default: `2.0`. Example: `1.1`.
    k: AtLeastOne,
    /// How long requests and accepts count: in the current tenth of it, and the nine before. Default: `"2m"`. Example: `"30s"`.
    window: Duration,
    /// The errors with which an attempt was not accepted. Default: `["unavailable", "refused", "reset", "overloaded", "rate_limited", "timeout", "deadline", "internal", "breaker_open", "throttled", "pool_timeout"]`, all but `"invalid"`. Example: `["overloaded", "rate_limited"]`.
    failure_on: Vec<Spanned<ErrorKind>>,
    /// Who shares its state. Default: `"instance"`. Example: `"group"`.
    shared_by: SharedByChoice,
}

table! {
    /// Admission control. Only what was sent and has ended is a request, so that at least `1 - max` of the attempts are sent, whatever becomes of them.
    AdmissionTable is "admission control", exclusive &[];
    /// The share of accepts from which on nothing is held back; above 0. Default: `0.95`. Example: `0.9`.
    success: AboveZeroShare,
    /// How much is held back below that: the larger, the more. Default: `1.0`. Example: `2.0`.
    aggression: AtLeastOne,
    /// The largest probability. Default: `0.8`. Example: `0.95`.
    max: Share,
    /// How long requests and accepts count: in the current tenth of it, and the nine before. Default: `"30s"`. Example: `"2m"`.
    window: Duration,
    /// The errors with which an attempt was not accepted. To Envoy, which counts statuses from 500 on, `rate_limited` is none. Default: `["unavailable", "refused", "reset", "overloaded", "rate_limited", "timeout", "deadline", "internal", "breaker_open", "throttled", "pool_timeout"]`, all but `"invalid"`. Example: `["overloaded", "unavailable"]`.
    failure_on: Vec<Spanned<ErrorKind>>,
    /// Who shares its state. Default: `"instance"`. Example: `"group"`.
    shared_by: SharedByChoice,
}

table! {
    /// Copies of an attempt that has no answer yet, sent beside it. The first success counts; the attempt fails with its last copy. Hedges are among the `attempts`, but neither retries nor part of their limit.
    HedgeTable is "a hedge", exclusive &[];
    /// How long after the attempt was sent a copy is sent; the next one as long after that, and so on. Required. Example: `"100ms"`.
    after: Duration,
    /// How many copies of an attempt at most. Default: `1`. Example: `2`.
    copies: Copies,
    /// How many hedges may be under way at once: one more is left out, and not sent later. Default: `"unlimited"`. Example: `8`.
    in_flight: OrUnlimited<HedgesInFlight>,
    /// Whether the callee is told that the others are not needed any more when one has succeeded, and may `cancel` them. Default: `true`. Example: `false`.
    cancel_losers: bool,
    /// For whom the limit of `in_flight` is. Default: `"instance"`. Example: `"group"`.
    shared_by: SharedByChoice,
}

table! {
    /// Outlier ejection: the balancer sends nothing to a server for a while that has failed too often in a row. All callers share what they know. If all servers are ejected, it picks from all.
    EjectionTable is "an ejection", exclusive &[];
    /// So many failures in a row eject a server. Default: `5`. Example: `3`.
    consecutive: Failures,
    /// For how long; the nth time it is ejected for n times as long. Default: `"30s"`. Example: `"10s"`.
    ejected_for: Duration,
    /// The longest that it may grow to. Default: `ejected_for`, so that it does not grow. Example: `"300s"`.
    max_ejected_for: Duration,
    /// The largest share of the servers that is ejected at once, rounded down: of five servers 10 % are none. Default: `0.1`. Example: `0.5`.
    max_share: Share,
    /// The errors that are failures; with any other the server has answered. To Envoy, which counts statuses from 500 on, `rate_limited` is none. Default: `["unavailable", "refused", "reset", "overloaded", "rate_limited", "timeout", "deadline", "internal", "breaker_open", "throttled", "pool_timeout"]`, all but `"invalid"`. Example: `["timeout", "unavailable"]`.
    failure_on: Vec<Spanned<ErrorKind>>,
}
