//! From plans to statements: replicas of every variant in parallel, statistics over them, expectations judged.

mod expectation;
mod statistics;
mod summary;

pub use expectation::{Condition, Expectation, Scope, Statistic, Tolerance, Verdict};
pub use statistics::Stat;
pub use summary::{
    BucketMeans, FaultWindows, MetricTable, ReplicaRow, ScenarioInfo, Series, Summary, ToolInfo, VariantSummary,
};
