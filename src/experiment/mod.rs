//! From plans to statements: replicas of every variant in parallel, statistics over them, expectations judged.

pub mod axis;
pub mod baseline;
mod compare;
mod cut_short;
mod expectation;
mod frontier;
mod gated;
mod judge;
mod measure;
mod precision;
mod regression;
mod replicas;
mod runner;
mod settling;
mod statistics;
mod strain;
mod summary;
mod sweep;
mod timeline_sum;
mod timeline_tokens;

pub use compare::{Comparison, Contrast, Difference, Shown};
pub use cut_short::{CutShort, Fullest};
pub use expectation::{
    Condition, Expectation, Judgement, Position, Scope, Statistic, Tolerance, Verdict, Window, Windows,
};
pub use frontier::{Crossing, FrontierSummary, Point, Search, Trial, VariantFrontier};
pub use gated::Gated;
pub use measure::{Claim, ClaimError, Measure, MeasureError, Op};
pub use precision::{Precision, Reached};
pub use regression::{Because, Change, Regressions, Trend, Unmatched};
pub use runner::Experiment;
pub use statistics::{Stat, share_interval};
pub use strain::Strain;
pub use summary::{
    BucketMeans, FaultWindows, LoadMeans, MetricTable, ReplicaRow, ScenarioInfo, Series, ServiceLimits, Summary,
    ToolInfo, VariantSummary,
};
pub use sweep::{CellPrecision, Figures, SweepCell, SweepSummary, each};
