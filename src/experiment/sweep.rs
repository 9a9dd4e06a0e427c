//! A grid of settings, each cell simulated by itself: what a sweep measures, and what came out.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde::Serialize;

use crate::experiment::axis::{self, Axis};
use crate::experiment::measure::Located;
use crate::experiment::precision::Spread;
use crate::experiment::replicas::Replica;
use crate::experiment::{Experiment, Measure, ScenarioInfo, Stat, Statistic, ToolInfo};
use crate::metrics::Outcome;
use crate::metrics::catalogue::Measured;

/// The result of a sweep: everything that a report may show.
#[derive(Clone, Debug, Serialize)]
pub struct SweepSummary {
    /// Version of this format; 1.
    pub schema_version: u32,
    /// What made it.
    pub tool: ToolInfo,
    /// What was simulated.
    pub scenario: ScenarioInfo,
    /// The seed.
    pub seed: u64,
    /// Replicas per variant, before any were added to reach a precision.
    pub replicas: u32,
    /// What the scenario and each value come to, in a hash, so that a sweep is known again; see
    /// [`Scenario::meaning`](crate::scenario::Scenario::meaning).
    #[serde(skip)]
    pub meaning: String,
    /// Whether cells are missing, or were cut short.
    pub partial: bool,
    /// What was to be reached by adding replicas, and in how many cells it was not; none if nobody asked.
    pub precision: Option<CellPrecision>,
    /// What varies; the values of the last axis are next to each other.
    pub axes: Vec<Axis>,
    /// How many cells the grid has.
    pub grid: usize,
    /// What was measured in each cell.
    pub measures: Vec<Measure>,
    /// The first of these that tables and charts show.
    #[serde(skip)]
    pub shown: Vec<usize>,
    /// The cells that are finished, in the order of the grid.
    pub cells: Vec<SweepCell>,
}

impl SweepSummary {
    /// The values of the cell at this position.
    pub fn values(&self, position: usize) -> Vec<String> {
        axis::cell(&self.axes, position).settings.into_iter().map(|(_, value)| value).collect()
    }
}

/// A precision that was asked for in every cell.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CellPrecision {
    /// Half of an interval, as a share of the mean.
    pub wanted: f64,
    /// The most replicas of a variant.
    pub replicas_max: u32,
    /// In how many cells that was not enough.
    pub missed: usize,
}

/// One combination of values.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SweepCell {
    /// Its position in the grid, from 0.
    pub position: usize,
    /// The value of each axis.
    pub values: Vec<String>,
    /// By variant, in file order.
    pub variants: Vec<Figures>,
}

impl SweepCell {
    /// Whether every mean is known to this share of it; what is nowhere defined counts as known.
    pub fn is_known_to(&self, share: f64, measures: &[Measure]) -> bool {
        let is_known = |(measure, stat): (&Measure, &Stat)| {
            let is_mean = measure.statistic == Statistic::Mean;
            Spread::of(measure.metric, stat, String::new).is_none_or(|spread| !is_mean || spread.share <= share)
        };
        self.variants.iter().all(|figures| measures.iter().zip(&figures.stats).all(is_known))
    }
}

/// What was measured of a variant.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figures {
    /// The variant.
    pub variant: String,
    /// Whether a limit of the simulator cut a replica short.
    pub partial: bool,
    /// How many replicas ran.
    pub replicas: u32,
    /// By measure.
    pub stats: Vec<Stat>,
}

impl Experiment<'_> {
    /// Runs it on the current rayon pool and measures nothing else than this, which is cheaper than a summary; none if
    /// `stop` was set before it was done.
    pub fn measure(&self, measures: &[Measure], stop: &AtomicBool, progress: impl Fn() + Sync) -> Option<Vec<Figures>> {
        let variants = self.scenario.variants();
        let places: Vec<Vec<Option<Located>>> =
            variants.iter().map(|(_, plan)| measures.iter().map(|measure| measure.locate(plan)).collect()).collect();
        let keep = |variant: usize, outcome: &Outcome| -> Vec<Option<f64>> {
            let measured = Measured::whole(outcome);
            let value = |place: &Option<Located>| place.and_then(|at| measured.value(at.kind, at.thing, at.metric));
            places[variant].iter().map(value).collect()
        };
        let stat = |replicas: &[Replica<Vec<Option<f64>>>], at: usize| {
            measures[at].stat(replicas.iter().map(|replica| replica.kept[at]))
        };
        let widest = |ran: &[Vec<Replica<Vec<Option<f64>>>>]| {
            let means = (0..measures.len()).filter(|&at| measures[at].statistic == Statistic::Mean);
            let all = means.flat_map(|at| variants.iter().zip(ran).map(move |((name, _), ran)| (at, name, ran)));
            let what = |at: usize, name: &str| format!("{} in {name}", measures[at]);
            Spread::widest(
                all.filter_map(|(at, name, ran)| Spread::of(measures[at].metric, &stat(ran, at), || what(at, name))),
            )
        };
        let ran = self.replicas(stop, progress, keep, widest);
        if ran.variants.iter().any(|replicas| replicas.len() < ran.wanted as usize) {
            return None;
        }
        let figures = variants.iter().zip(&ran.variants).map(|((name, _), replicas)| Figures {
            variant: name.clone(),
            partial: replicas.iter().any(|replica| replica.cut_short.is_some()),
            replicas: ran.wanted,
            stats: (0..measures.len()).map(|at| stat(replicas, at)).collect(),
        });
        Some(figures.collect())
    }
}

/// Does a piece of work for each number below `count`, in their order, on all threads of the current pool: each thread
/// has one piece at a time, and helps with those of the others where they run in parallel themselves. Begins no more
/// once `stop` is set or a piece has broken off.
///
/// So there are never more pieces begun and not done than threads, and all replicas of all cells share one pool.
pub fn each(count: usize, stop: &AtomicBool, work: impl Fn(usize) -> ControlFlow<()> + Sync) {
    let (next, broken) = (AtomicUsize::new(0), AtomicBool::new(false));
    rayon::broadcast(|_| {
        while !stop.load(Ordering::Relaxed) && !broken.load(Ordering::Relaxed) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                break;
            }
            if work(number).is_break() {
                broken.store(true, Ordering::Relaxed);
            }
        }
    });
}
