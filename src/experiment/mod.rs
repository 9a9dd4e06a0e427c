//! From plans to statements: replicas of every variant in parallel, statistics over them, expectations judged.

mod expectation;
mod judge;
mod runner;
mod statistics;
mod summary;
mod timeline_sum;

pub use expectation::{Condition, Expectation, Scope, Statistic, Tolerance, Verdict, Window, Windows};
pub use runner::{CutShort, Experiment};
pub use statistics::Stat;
pub use summary::{
    BucketMeans, FaultWindows, LoadMeans, MetricTable, ReplicaRow, ScenarioInfo, Series, ServiceLimits, Summary,
    ToolInfo, VariantSummary,
};
