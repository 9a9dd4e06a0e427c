//! The calls of clients and services.

use crate::scenario::counts::PoolSize;
use crate::scenario::declare::table;
use crate::scenario::field::OrNone;
use crate::scenario::tables::{BreakerTable, DistSetting, HedgeTable, ThrottleChoice};
use crate::scenario::values::{Copies, Duration, Name, PolicyName, Positive, Reserve, Share};

table! {
    /// A call, known as `caller->label`, with the settings of its caller's side.
    CallTable is "a call", unbuilt &[], exclusive &[];
    /// The service that is called. Default: the label. Example: `"gateway"`.
    to: Name,
    /// How often this call is chosen, relative to the others of its client group. Not for calls of services, which are all made. Default: `1.0`. Example: `3`.
    weight: Positive,
    /// How long one attempt is waited for. Default: `"none"`. Example: `"1s"`.
    timeout: OrNone<Duration>,
    /// How long a request may be on its way until the connection counts as failed. Default: `"none"`. Example: `"200ms"`.
    connect_timeout: OrNone<Duration>,
    /// How long the whole call may take, attempts and waits. Default: `"none"`. Example: `"3s"`.
    total_timeout: OrNone<Duration>,
    /// The time on the way, once for the request and once for the answer. Default: `"0s"`. Example: `"1ms"` or `{ lognormal = { median = "1ms", p99 = "5ms" } }`.
    network: DistSetting,
    /// Whether the callee is told when the caller stops waiting, so that its own calls stop then too. Default: `false`. Example: `true`.
    propagate_deadline: bool,
    /// What is kept back, for the caller's own work, of the time that is passed on: a time, or a share of it. Only with `propagate_deadline = true`. Default: `"0s"`. Example: `"50ms"` or `"10%"`.
    reserve: Reserve,
    /// The retry policy: one of `retries`, a preset (`stormsim presets` lists them), or `"none"`. Default: `"none"`. Example: `"patient"`.
    retry: PolicyName,
    /// Slots that the attempts need, such as connections. Each client has its own, as has each server of a calling service. Default: `"none"`. Example: `{ size = 100, max_wait = "50ms" }`.
    pool: OrNone<PoolTable>,
    /// What stops sending anything to a callee that keeps failing. Default: `"none"`. Example: `{ trip = { consecutive = 5 }, open_for = "5s" }`.
    breaker: OrNone<Box<BreakerTable>>,
    /// What holds back a share of the attempts, the larger the more of them fail. Default: `"none"`. Example: `{ adaptive = { k = 2.0 } }`.
    throttle: ThrottleChoice,
    /// Copies of an attempt, sent beside it while it has no answer. Default: `"none"`. Example: `{ after = "100ms" }`.
    hedge: OrNone<HedgeTable>,
    /// Whether a retry or hedge goes to another server of the target than the one picked before, if there is another. Default: `false`. Example: `true`.
    avoid_previous: bool,
    /// How likely the call is made at all. Only for calls of services. Default: `1.0`. Example: `0.1`.
    probability: Share,
    /// How many copies of the call run in parallel. Only for calls of services. Default: `1`. Example: `50`.
    copies: Copies,
    /// How many of the copies must succeed; at most `copies`. Only for calls of services. Default: `copies`. Example: `45`.
    required: Copies,
    /// Whether the caller can do without: a failure only marks the request as degraded. Only for calls of services. Default: `false`. Example: `true`.
    optional: bool,
    /// The label of another call of the same service, which is made in place of this one when it has failed, and only then. Only for calls of services. Default: `"none"`. Example: `"cache"`.
    if_failed: OrNone<Name>,
}

table! {
    /// Slots for attempts, of which each holds one until it ends.
    PoolTable is "a pool", unbuilt &[], exclusive &[];
    /// How many there are. Required. Example: `100`.
    size: PoolSize,
    /// How long an attempt waits for one, within its timeouts; then it fails with `pool_timeout`. Default: `"none"`. Example: `"50ms"`, or `"0s"` to fail at once.
    max_wait: OrNone<Duration>,
}
