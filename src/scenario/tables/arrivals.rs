//! When requests begin.

use crate::scenario::declare::{choice, table};
use crate::scenario::field::{OrUnlimited, Spanned};
use crate::scenario::tables::DistSetting;
use crate::scenario::values::{Duration, Rate, RateOrZero, Requests, Text};

choice! {
    /// When the requests of a client group begin. Rates are in requests/s of the whole group.
    ArrivalsChoice is "arrivals";
    /// Every client makes one request at the same instant.
    "burst" => Burst(BurstTable),
    /// Evenly: request n (from 1) begins n / rate after the start of the group's window.
    "constant" => Constant(ConstantTable),
    /// At random: a Poisson process, whose gaps are exponential.
    "poisson" => Poisson(PoissonTable),
    /// Each client begins at the start of the group's window, and makes its next request after it has thought.
    "closed" => Closed(ClosedTable),
    /// Each client once per period.
    "periodic" => Periodic(PeriodicTable),
    /// A Poisson process whose rate changes at these points; the last rate lasts.
    "profile" => Profile(Vec<Spanned<PointTable>>),
    /// At the instants of a file.
    "trace" => Trace(TraceTable),
}

table! {
    /// Every client makes one request at the same instant.
    BurstTable is "a burst", exclusive &[];
    /// When; within the window of the group. Default: the group's `from`. Example: `"10s"`.
    at: Duration,
}

table! {
    /// Requests at a constant rate, evenly spaced.
    ConstantTable is "constant arrivals", exclusive &[];
    /// Requests/s of the whole group. Required. Example: `80`.
    rate: Rate,
}

table! {
    /// Requests at random, at a constant rate.
    PoissonTable is "Poisson arrivals", exclusive &[];
    /// Requests/s of the whole group, on average. Required. Example: `1000`.
    rate: Rate,
}

table! {
    /// Requests of clients that wait for the end of one before they make the next.
    ClosedTable is "a closed loop", exclusive &[];
    /// The time between the end of a request and the client's next one. Required. Example: `{ exponential = { mean = "1s" } }`.
    think: DistSetting,
    /// How many requests each client makes. Default: `"unlimited"`. Example: `100`.
    requests: OrUnlimited<Requests>,
}

table! {
    /// Requests of clients that each have a schedule of their own.
    PeriodicTable is "periodic arrivals", exclusive &[];
    /// The period; above zero. Required. Example: `"60s"`.
    every: Duration,
    /// The first request of a client comes so long after the start of the group's window; drawn once per client. Default: `"0s"`. Example: `{ uniform = { min = "0s", max = "60s" } }`.
    offset: DistSetting,
}

table! {
    /// A point of a profile.
    PointTable is "a point of a profile", exclusive &[];
    /// When, in time of the run; later than the point before. Required. Example: `"30s"`.
    at: Duration,
    /// The rate from then on, in requests/s of the whole group. Required. Example: `200`.
    rate: RateOrZero,
    /// Whether the rate is reached evenly from the point before, instead of by a step. Default: `false`. Example: `true`.
    ramp: bool,
}

table! {
    /// Requests at the instants of a file.
    TraceTable is "a trace", exclusive &[];
    /// A CSV file with a column `time_s`: seconds of the run, ascending; relative to the scenario. Required. Example: `"arrivals.csv"`.
    file: Text,
}
