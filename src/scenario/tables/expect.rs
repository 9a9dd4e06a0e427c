//! Expectations.

use crate::experiment::Statistic;
use crate::scenario::declare::table;
use crate::scenario::field::Spanned;
use crate::scenario::values::{Duration, Figure, Name, NotNegative, Text};

table! {
    /// What must come out of a run; a breach makes the run fail.
    ExpectTable is "an expectation", exclusive &[
        ("service", "call"), ("service", "client"), ("service", "fault"),
        ("call", "client"), ("call", "fault"), ("client", "fault"),
        ("equals", "at_most"), ("equals", "at_least"), ("equals", "between"),
        ("at_most", "at_least"), ("at_most", "between"), ("at_least", "between"),
        ("tolerance", "within"),
    ];
    /// The metric, one of those that what it is about has; `docs/metrics.md` lists them. Required. Example: `"amplification"`.
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
    /// Where the window begins in which the metric is measured, instead of over the whole run. For counts, rates and peaks; whatever the warm-up is. Default: the start of the run. Example: `"50s"`.
    from: Duration,
    /// Where the window ends. Default: the `horizon`. Example: `"60s"`.
    until: Duration,
    /// The width of windows side by side from `from` on, instead of a single one: the condition must hold in each. Must divide the time from `from` to `until`. Needs `from`. Default: a single window. Example: `"1s"`.
    every: Duration,
    /// The figure is this. Times may be given as durations. Required, or one of `at_most`, `at_least`, `between`. Example: `27`.
    equals: Figure,
    /// How far it may be from `equals`, relative to it. Default: not at all. Example: `0.01`.
    tolerance: NotNegative,
    /// How far it may be from `equals`, absolute. Default: not at all. Example: `2`.
    within: Figure,
    /// The figure is not above this. Required, or one of `equals`, `at_least`, `between`. Example: `"10s"`.
    at_most: Figure,
    /// The figure is not below this. Required, or one of `equals`, `at_most`, `between`. Example: `0.99`.
    at_least: Figure,
    /// The figure is between these two, bounds included. Required, or one of `equals`, `at_most`, `at_least`. Example: `[150, 170]`.
    between: Vec<Spanned<Figure>>,
}
