//! Distributions of durations.

use schemars::JsonSchema;

use crate::scenario::declare::{choice, table};
use crate::scenario::document::{Node, Value};
use crate::scenario::reader::{Read, Reader};
use crate::scenario::shape::Shape;
use crate::scenario::values::{Duration, Text};

/// A duration, or a distribution of durations.
#[derive(Clone, Debug, JsonSchema)]
#[schemars(untagged, title = "a duration or a distribution")]
pub enum DistSetting {
    /// Always the same.
    Constant(Duration),
    /// Drawn each time.
    // Boxed, because nearly all settings are constant.
    Drawn(Box<DistChoice>),
}

impl Read for DistSetting {
    const SHAPE: Shape = DistChoice::SHAPE;

    fn read(node: &Node, reader: &mut Reader) -> Option<Self> {
        match &node.value {
            Value::Table(_) => DistChoice::read(node, reader).map(|choice| Self::Drawn(Box::new(choice))),
            Value::String(_) | Value::Integer(_) | Value::Float(_) => Duration::read(node, reader).map(Self::Constant),
            _ => reader.mismatch(
                node,
                "a duration such as `\"5ms\"` or a distribution such as `{ exponential = { mean = \"5ms\" } }`",
            ),
        }
    }
}

choice! {
    /// A distribution of durations.
    DistChoice is "a distribution";
    /// Exponential: memoryless.
    "exponential" => Exponential(ExponentialDistTable),
    /// Lognormal: a usual fit to latencies.
    "lognormal" => Lognormal(LognormalTable),
    /// Uniform.
    "uniform" => Uniform(UniformTable),
    /// Given by percentiles: linear between them, from zero, and flat above the last.
    "percentiles" => Percentiles(PercentilesTable),
    /// Each of the values of a file with equal probability.
    "samples" => Samples(SamplesTable),
}

table! {
    /// An exponential distribution.
    ExponentialDistTable is "an exponential distribution", exclusive &[];
    /// Its mean; above zero. Required. Example: `"5ms"`.
    mean: Duration,
}

table! {
    /// A lognormal distribution, by two of its points.
    LognormalTable is "a lognormal distribution", exclusive &[];
    /// Its median; above zero. Required. Example: `"20ms"`.
    median: Duration,
    /// Its 99th percentile; not below the median. Required. Example: `"100ms"`.
    p99: Duration,
}

table! {
    /// A uniform distribution over `min`, `min + step`, ... below `max`.
    UniformTable is "a uniform distribution", exclusive &[];
    /// The smallest value. Required. Example: `"2ms"`.
    min: Duration,
    /// What no value reaches; above `min`. Required. Example: `"10ms"`.
    max: Duration,
    /// The distance between the values; above zero. Default: `"1ns"`. Example: `"1ms"`.
    step: Duration,
}

table! {
    /// A distribution by its percentiles, at least one.
    PercentilesTable is "a distribution by percentiles", exclusive &[];
    /// The median. Required, or another percentile. Example: `"5ms"`.
    p50: Duration,
    /// The 90th percentile. Required, or another percentile. Example: `"10ms"`.
    p90: Duration,
    /// The 99th percentile. Required, or another percentile. Example: `"50ms"`.
    p99: Duration,
    /// The 99.9th percentile. Required, or another percentile. Example: `"200ms"`.
    p999: Duration,
}

table! {
    /// A distribution by measured values.
    SamplesTable is "a distribution by samples", exclusive &[];
    /// A CSV file with a column `value_s`, in seconds; relative to the scenario. Required. Example: `"latencies.csv"`.
    file: Text,
}
