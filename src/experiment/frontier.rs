//! Where on a range of values a condition begins to hold, or ceases to.

use serde::Serialize;

use crate::experiment::axis::Scale;
use crate::experiment::{Measure, ScenarioInfo, Stat, ToolInfo};

/// The result of the search: everything that a report may show.
#[derive(Clone, Debug, Serialize)]
pub struct FrontierSummary {
    /// Version of this format; 1.
    pub schema_version: u32,
    /// What made it.
    pub tool: ToolInfo,
    /// What was simulated.
    pub scenario: ScenarioInfo,
    /// The seed.
    pub seed: u64,
    /// Replicas per variant and value.
    pub replicas: u32,
    /// Whether somebody interrupted, or a limit of the simulator cut a replica short.
    pub partial: bool,
    /// The path of the setting that varies.
    pub path: String,
    /// The unit of its values; empty for numbers.
    pub unit: String,
    /// From where to where it was looked for, in this unit.
    pub range: [f64; 2],
    /// How values are drawn, and what is halfway between two of them.
    pub scale: Scale,
    /// The condition, as it is written.
    pub condition: String,
    /// The figure that it is about.
    pub measure: Measure,
    /// The bound of the condition, in the unit of the metric.
    pub bound: f64,
    /// By variant, in file order.
    pub variants: Vec<VariantFrontier>,
}

/// What was found for one variant.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VariantFrontier {
    /// Its name.
    pub name: String,
    /// What was simulated, by value, ascending.
    pub points: Vec<Point>,
    /// Where the condition changes, ascending: none if it does not, one if it is monotone.
    pub crossings: Vec<Crossing>,
    /// What the retries alone allow, where what varies is a rate of arrivals.
    pub allowance: Option<Allowance>,
}

/// The figure at one value of the setting.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Point {
    /// The value.
    pub at: f64,
    /// The figure over the replicas.
    pub stat: Stat,
    /// Whether the condition holds; none where the figure is undefined.
    pub holds: Option<bool>,
}

/// A change of the condition between two values that were simulated.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Crossing {
    /// The last value before it changes.
    pub below: f64,
    /// The first after it has changed.
    pub above: f64,
    /// Whether the condition holds above; it does not below then.
    pub holds_above: bool,
    /// Between which values the 95 % intervals of the mean leave it open; those two where they leave nothing open.
    pub ci95: [f64; 2],
}

/// How many requests per second a service can take when each makes as many attempts as it may.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Allowance {
    /// The service that takes the fewest.
    pub service: String,
    /// What it can do, per second.
    pub capacity_rps: f64,
    /// How many attempts a request makes there at most.
    pub attempts: f64,
}
