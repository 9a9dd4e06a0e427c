//! From plans to statements: replicas of every variant in parallel, statistics over them, expectations judged.

pub mod axis;
mod compare;
mod cut_short;
mod expectation;
mod frontier;
mod judge;
mod measure;
mod precision;
mod replicas;
mod runner;
mod statistics;
mod strain;
mod summary;
mod sweep;
mod timeline_sum;
mod timeline_tokens;

pub use compare::{Comparison, Contrast, Difference, Shown};
pub use cut_short::{CutShort, Fullest};
pub use expectation::{Condition, Expectation, Judgement, Scope, Statistic, Tolerance, Verdict, Window, Windows};
pub use frontier::{Crossing, FrontierSummary, Point, Search, Trial, VariantFrontier};
pub use measure::{Claim, ClaimError, Measure, MeasureError, Op};
pub use precision::{Precision, Reached};
pub use runner::Experiment;
pub use statistics::Stat;
pub use strain::Strain;
pub use summary::{
    BucketMeans, FaultWindows, LoadMeans, MetricTable, ReplicaRow, ScenarioInfo, Series, ServiceLimits, Summary,
    ToolInfo, VariantSummary,
};
pub use sweep::{Figures, SweepCell, SweepSummary, each};
