//! Client groups, and the calls of clients and services.

use crate::scenario::declare::{choice, table};
use crate::scenario::field::{Named, OrNone};
use crate::scenario::unbuilt;
use crate::scenario::values::{Count, Duration, Name, Positive};

table! {
    /// A group of identical clients.
    ClientTable is "a client group", unbuilt unbuilt::CLIENT, exclusive &[];
    /// How many clients. Default: `1`. Example: `1000`.
    count: Count,
    /// When their requests begin. Required. Example: `{ burst = { at = "0s" } }`.
    arrivals: ArrivalsChoice,
    /// Their calls, by label. Each request makes one of them, chosen by weight. At least one.
    calls: Named<CallTable>,
}

choice! {
    /// When the requests of a client group begin.
    ArrivalsChoice is "arrivals", unbuilt unbuilt::ARRIVALS;
    /// Every client makes one request at the same instant.
    "burst" => Burst(BurstTable),
}

table! {
    /// Every client makes one request at the same instant.
    BurstTable is "a burst", unbuilt &[], exclusive &[];
    /// When. Default: `"0s"`.
    at: Duration,
}

table! {
    /// A call, known as `caller->label`, with the settings of its caller's side.
    CallTable is "a call", unbuilt unbuilt::CALL, exclusive &[];
    /// The service that is called. Default: the label. Example: `"gateway"`.
    to: Name,
    /// How often this call is chosen, relative to the others of its client group. Default: `1.0`. Not for calls of services, which are all made.
    weight: Positive,
    /// How long one attempt is waited for. Default: `"none"`. Example: `"1s"`.
    timeout: OrNone<Duration>,
    /// How long the whole call may take, attempts and waits. Default: `"none"`. Example: `"3s"`.
    total_timeout: OrNone<Duration>,
    /// The retry policy: one of `retries`, or `"none"`. Default: `"none"`. Example: `"patient"`.
    retry: Name,
}
