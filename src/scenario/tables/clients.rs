//! Client groups.

use crate::scenario::declare::table;
use crate::scenario::field::{Named, OrNone};
use crate::scenario::tables::{ArrivalsChoice, CallTable, IdempotencyChoice, OnExhaustedChoice};
use crate::scenario::values::{Count, Duration};

table! {
    /// A group of identical clients.
    ClientTable is "a client group", exclusive &[];
    /// How many clients. Default: `1`. Example: `1000`.
    count: Count,
    /// No request begins before this. Default: `"0s"`. Example: `"10s"`.
    from: Duration,
    /// No request begins at this time or later. Default: `"none"`. Example: `"60s"`.
    until: OrNone<Duration>,
    /// When their requests begin. Required. Example: `{ poisson = { rate = 1000 } }`.
    arrivals: ArrivalsChoice,
    /// Their calls, by label. Each request makes one of them, chosen by weight. Required. Example: `{ gateway = { timeout = "1s" } }`.
    calls: Named<CallTable>,
    /// The idempotency keys that they send along with their attempts. Default: `"none"`. Example: `"key"`.
    idempotency: IdempotencyChoice,
    /// What becomes of requests that fail because their attempts are exhausted. Default: `"fail"`. Example: `"dead_letter"`.
    on_exhausted: OnExhaustedChoice,
}
