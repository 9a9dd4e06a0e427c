//! Expectations.

use crate::experiment::Statistic;
use crate::scenario::declare::table;
use crate::scenario::field::Spanned;
use crate::scenario::unbuilt;
use crate::scenario::values::{Figure, Name, NotNegative, Text};

table! {
    /// What must come out of a run; a breach makes the run fail.
    ExpectTable is "an expectation", unbuilt unbuilt::EXPECT, exclusive &[
        ("service", "call"), ("service", "client"), ("service", "fault"),
        ("call", "client"), ("call", "fault"), ("client", "fault"),
        ("equals", "at_most"), ("equals", "at_least"), ("equals", "between"),
        ("at_most", "at_least"), ("at_most", "between"), ("at_least", "between"),
        ("tolerance", "within"),
    ];
    /// The metric. Required. Example: `"amplification"`.
    metric: Text,
    /// The service it is about. Default: the whole scenario. Example: `"db"`.
    service: Text,
    /// The call it is about. Default: the whole scenario. Example: `"orders->db"`.
    call: Text,
    /// The client group it is about. Default: the whole scenario. Example: `"web"`.
    client: Text,
    /// The fault it is about. Default: the whole scenario. Example: `"outage"`.
    fault: Text,
    /// The variant it is about. Default: every variant. Example: `"fixed"`.
    variant: Name,
    /// Which figure over the replicas. Default: `"mean"`. Example: `"p99"`.
    statistic: Statistic,
    /// The figure is this. Times may be given as durations. Example: `27`.
    equals: Figure,
    /// How far it may be from `equals`, relative to it. Default: not at all. Example: `0.01`.
    tolerance: NotNegative,
    /// How far it may be from `equals`, absolute. Default: not at all. Example: `2`.
    within: Figure,
    /// The figure is not above this. Example: `"10s"`.
    at_most: Figure,
    /// The figure is not below this. Example: `0.99`.
    at_least: Figure,
    /// The figure is between these two, bounds included. Example: `[150, 170]`.
    between: Vec<Spanned<Figure>>,
}
