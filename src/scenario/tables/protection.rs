//! Breakers, throttles and hedges of calls, and the ejection of servers.

use crate::failure::ErrorKind;
use crate::scenario::counts::{Failures, HedgesInFlight, Probes, WindowCalls};
use crate::scenario::declare::{choice, table};
use crate::scenario::field::{OrNone, OrUnlimited, Spanned};
use crate::scenario::tables::{JitterChoice, SharedByChoice};
use crate::scenario::values::{AboveZeroShare, AtLeastOne, Copies, Duration, Share};

table! {
    /// A circuit breaker: closed until it trips, then open for a time in which nothing is sent, then half-open: some probes are let through, and close it or open it again. What it does not let through fails with `breaker_open`, which is not in the default `retry_on`.
    BreakerTable is "a breaker", unbuilt &[], exclusive &[];
    /// What opens it. Required. Example: `{ consecutive = 5 }` or `{ ratio = { failures = 0.5, window = "10s", min_calls = 20 } }`.
    trip: TripChoice,
    /// How long it is open. Required. Example: `"5s"`.
    open_for: Duration,
    /// How that grows each time that it opens again without having been closed. Default: `1.0`. Example: `2.0`.
    open_factor: AtLeastOne,
    /// The longest that it may grow to. Default: `"none"`. Example: `"60s"`.
    open_cap: OrNone<Duration>,
    /// What makes the times differ between callers. Default: `"none"`. Example: `{ spread = 0.5 }`.
    open_jitter: JitterChoice,
    /// How many probes a half-open breaker lets through, counted until it closes or opens: all of them must succeed to close it, and the first failure opens it; of a ratio, it opens if as large a share of them is bad as opens it at other times. With `"unlimited"` all go through, and the first that ends decides. Default: `1`. Example: `10`.
    half_open: OrUnlimited<Probes>,
    /// What it counts: every attempt, or every call with all of its attempts. Default: `"attempts"`, or `"calls"` if it stands outside. Example: `"calls"`.
    counts: CountsChoice,
    /// Whether it stands inside of the retries and is asked before each attempt, or outside and is asked once, when the call begins. Default: `"inside"`. Example: `"outside"`.
    position: PositionChoice,
    /// The errors that are failures; with any other the callee has answered. What the caller itself turned away does not count. Default: `["unavailable", "refused", "reset", "overloaded", "rate_limited", "timeout", "deadline", "internal", "breaker_open", "throttled", "pool_timeout"]`, all but `"invalid"`. Example: `["timeout", "unavailable"]`.
    failure_on: Vec<Spanned<ErrorKind>>,
    /// Who shares it. Default: `"instance"`. Example: `"group"`.
    shared_by: SharedByChoice,
}

choice! {
    /// What opens a breaker.
    TripChoice is "a trip", unbuilt &[];
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
    CountTable is "a count", unbuilt &[], exclusive &[];
    /// How many open it: the one that makes them so many. Required. Example: `6`.
    failures: Failures,
    /// How long the window is. Required. Example: `"1s"`.
    window: Duration,
    /// Whether the window is the time before each failure, its old end excluded; else one window follows the other, from when the breaker was closed last. Default: `true`. Example: `false`.
    sliding: bool,
}

table! {
    /// The share of failures among what has ended lately.
    FailureRatioTable is "a failure ratio", unbuilt &[], exclusive &[("window", "calls")];
    /// So large a share opens it; above 0. Required. Example: `0.5`.
    failures: AboveZeroShare,
    /// Of which time; what ended in the current tenth of it and the nine before counts. Required, or `calls`. Example: `"10s"`.
    window: Duration,
    /// Of how many that ended last. Required, or `window`. Example: `100`.
    calls: WindowCalls,
    /// How many must have ended: fewer do not open it. More than `calls` are as many. Required. Example: `20`.
    min_calls: Failures,
}

table! {
    /// The share of slow ones among what has ended lately.
    SlowRatioTable is "a slow ratio", unbuilt &[], exclusive &[("window", "calls")];
    /// What takes longer than this is slow, from when it asked to be sent. Required. Example: `"2s"`.
    over: Duration,
    /// So large a share opens it; above 0. Required. Example: `0.5`.
    ratio: AboveZeroShare,
    /// Of which time; what ended in the current tenth of it and the nine before counts. Required, or `calls`. Example: `"10s"`.
    window: Duration,
    /// Of how many that ended last. Required, or `window`. Example: `100`.
    calls: WindowCalls,
    /// How many must have ended: fewer do not open it. More than `calls` are as many. Required. Example: `20`.
    min_calls: Failures,
}

choice! {
    /// What a breaker counts.
    CountsChoice is "a unit", unbuilt &[];
    /// Every attempt that was sent.
    "attempts" => Attempts,
    /// Every call whose last attempt was sent.
    "calls" => Calls,
}

choice! {
    /// Where a breaker stands.
    PositionChoice is "a position", unbuilt &[];
    /// Inside of the retries.
    "inside" => Inside,
    /// Outside.
    "outside" => Outside,
}

choice! {
    /// What holds back a share of the attempts, which fail with `throttled`.
    ThrottleChoice is "a throttle", unbuilt &[];
    /// Nothing.
    "none" => None,
    /// Adaptive throttling as in the SRE book: with probability `(requests - k * accepts) / (requests + 1)`.
    "adaptive" => Adaptive(AdaptiveTable),
    /// Envoy's admission control: with probability `((requests - accepts / success) / (requests + 1)) ^ (1 / aggression)`.
    "admission" => Admission(AdmissionTable),
}

table! {
    /// Adaptive throttling. Attempts that are held back are requests, too.
    AdaptiveTable is "adaptive throttling", unbuilt &[], exclusive &[];
    /// How many requests for each that is accepted are sent in any case. Default: `2.0`. Example: `1.1`.
    k: AtLeastOne,
    /// How long requests and accepts count. Default: `"2m"`. Example: `"30s"`.
    window: Duration,
    /// The errors with which an attempt was not accepted. Default: `["unavailable", "refused", "reset", "overloaded", "rate_limited", "timeout", "deadline", "internal", "breaker_open", "throttled", "pool_timeout"]`, all but `"invalid"`. Example: `["overloaded", "rate_limited"]`.
    failure_on: Vec<Spanned<ErrorKind>>,
    /// Who shares its state. Default: `"instance"`. Example: `"group"`.
    shared_by: SharedByChoice,
}

table! {
    /// Admission control. Only attempts that were sent are requests.
    AdmissionTable is "admission control", unbuilt &[], exclusive &[];
    /// The share of accepts from which on nothing is held back; above 0. Default: `0.95`. Example: `0.9`.
    success: AboveZeroShare,
    /// How soon much is held back below that. Default: `1.0`. Example: `2.0`.
    aggression: AtLeastOne,
    /// The largest probability. Default: `0.8`. Example: `0.95`.
    max: Share,
    /// How long requests and accepts count. Default: `"30s"`. Example: `"2m"`.
    window: Duration,
    /// The errors with which an attempt was not accepted. Default: `["unavailable", "refused", "reset", "overloaded", "rate_limited", "timeout", "deadline", "internal", "breaker_open", "throttled", "pool_timeout"]`, all but `"invalid"`. Example: `["overloaded", "unavailable"]`.
    failure_on: Vec<Spanned<ErrorKind>>,
    /// Who shares its state. Default: `"instance"`. Example: `"group"`.
    shared_by: SharedByChoice,
}

table! {
    /// Copies of an attempt that has no answer yet, sent beside it. The first success counts; the attempt fails with its last copy. Hedges are among the `attempts`, but neither retries nor part of their limit.
    HedgeTable is "a hedge", unbuilt &[], exclusive &[];
    /// How long after the attempt was sent the first copy is sent, and so on. Required. Example: `"100ms"`.
    after: Duration,
    /// How many copies at most. Default: `1`. Example: `2`.
    copies: Copies,
    /// How many hedges may be under way at once: one more is left out. Default: `"unlimited"`. Example: `8`.
    in_flight: OrUnlimited<HedgesInFlight>,
    /// Whether copies that are too late are given up, so that the callee may cancel them. Default: `true`. Example: `false`.
    cancel_losers: bool,
    /// For whom the limit of `in_flight` is. Default: `"instance"`. Example: `"group"`.
    shared_by: SharedByChoice,
}

table! {
    /// Outlier ejection: the balancer sends nothing to a server for a while that has failed too often in a row. All callers share what they know. If all servers are ejected, it picks from all.
    EjectionTable is "an ejection", unbuilt &[], exclusive &[];
    /// So many failures in a row. Default: `5`. Example: `3`.
    consecutive: Failures,
    /// For how long; the nth time it is ejected for n times as long. Default: `"30s"`. Example: `"10s"`.
    ejected_for: Duration,
    /// The longest that it may grow to. Default: `ejected_for`, so that it does not grow. Example: `"300s"`.
    max_ejected_for: Duration,
    /// The largest share of the servers that is ejected at once, rounded down: of five servers 10 % are none. Default: `0.1`. Example: `0.5`.
    max_share: Share,
    /// The errors that are failures; with any other the server has answered. Default: `["unavailable", "refused", "reset", "overloaded", "rate_limited", "timeout", "deadline", "internal", "breaker_open", "throttled", "pool_timeout"]`, all but `"invalid"`. Example: `["timeout", "unavailable"]`.
    failure_on: Vec<Spanned<ErrorKind>>,
}
