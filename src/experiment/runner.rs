//! Runs every replica of every variant, in parallel, and sums up.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use indexmap::IndexMap;
use rayon::prelude::*;

use crate::experiment::judge::Judge;
use crate::experiment::timeline_sum::TimelineSum;
use crate::experiment::{
    CutShort, FaultWindows, MetricTable, ReplicaRow, ScenarioInfo, ServiceLimits, Stat, Strain, Summary, ToolInfo,
    VariantSummary, gated,
};
use crate::metrics::End;
use crate::metrics::catalogue::{self, Measured, Readings, ScopeKind, Values};
use crate::plan::{Fault, FaultId, Plan, ServiceId, Windows};
use crate::scenario::Scenario;
use crate::sim::{Bounds, simulate_within};
use crate::time::Instant;

/// What is to be simulated: plans by variant, how often, and what must come out.
#[derive(Clone, Copy, Debug)]
pub struct Experiment<'a> {
    scenario: &'a Scenario,
    frames: usize,
}

/// What is kept of one replica.
struct Digest {
    replica: u32,
    readings: Readings,
    /// By expectation: the values in its windows.
    windowed: Vec<Vec<Option<f64>>>,
    /// If it was.
    cut_short: Option<CutShort>,
}

impl<'a> Experiment<'a> {
    /// All variants of a scenario, with its seed and its number of replicas.
    pub fn new(scenario: &'a Scenario) -> Self {
        Self { scenario, frames: Bounds::default().frames }
    }

    /// Ends a replica that has more calls, or more pieces of work at servers, in progress at once than this; without
    /// it, 2^28.
    pub fn at_most_in_progress(self, frames: usize) -> Self {
        Self { frames: frames.min(self.frames), ..self }
    }

    /// How many replicas it runs in all.
    pub fn runs(&self) -> u64 {
        self.scenario.variants().len() as u64 * u64::from(self.scenario.replicas)
    }

    /// Runs it on the current rayon pool. `progress` is called after each replica, from any thread.
    ///
    /// The result does not depend on the number of threads: replicas share nothing, integers are added in any order,
    /// and everything else is computed in the order of the replicas.
    pub fn run(&self, progress: impl Fn() + Sync) -> Summary {
        self.run_until(&AtomicBool::new(false), progress)
    }

    /// Runs it until `stop` is set, if it ever is: replicas that have not finished then are left out, and the summary
    /// is marked as partial.
    pub fn run_until(&self, stop: &AtomicBool, progress: impl Fn() + Sync) -> Summary {
        let Scenario { seed, replicas, .. } = *self.scenario;
        let variants = self.scenario.variants();
        let timelines: Vec<Mutex<TimelineSum>> =
            variants.iter().map(|(_, plan)| Mutex::new(TimelineSum::new(plan))).collect();
        let judges: Vec<Judge> =
            variants.iter().map(|(name, plan)| Judge::new(name, plan, &self.scenario.expectations)).collect();
        let bounds = Bounds { stop, frames: self.frames, ..Bounds::default() };
        let digests: Vec<Option<Digest>> = (0..self.runs())
            .into_par_iter()
            .map(|run| {
                let (variant, replica) = ((run / u64::from(replicas)) as usize, (run % u64::from(replicas)) as u32);
                let outcome = simulate_within(&variants[variant].1, seed, replica, bounds);
                let cut_short = match outcome.ended {
                    End::Interrupted => return None,
                    End::Limit(limit) => Some(CutShort::of(&variants[variant].1, replica, &outcome, limit)),
                    End::Drained | End::Horizon => None,
                };
                timelines[variant].lock().expect("adding does not panic").add(&outcome.timeline);
                progress();
                let readings = Measured::whole(&outcome).read();
                Some(Digest { replica, readings, windowed: judges[variant].windowed(&outcome), cut_short })
            })
            .collect();
        let mut digests = digests.into_iter();
        let finished: Vec<Vec<Digest>> =
            variants.iter().map(|_| digests.by_ref().take(replicas as usize).flatten().collect()).collect();
        let summaries: Vec<VariantSummary> = variants
            .iter()
            .zip(&finished)
            .zip(timelines)
            .map(|(((name, plan), digests), timeline)| {
                let timeline = timeline.into_inner().expect("adding does not panic");
                summarise(name, plan, replicas, digests, timeline)
            })
            .collect();
        // In the order of the file: expectation by expectation, and for each the variants it is about.
        let expectations = (0..self.scenario.expectations.len()).flat_map(|row| {
            judges.iter().zip(&finished).zip(&summaries).filter_map(move |((judge, digests), summary)| {
                let windowed = digests.iter().map(|digest| digest.windowed[row].as_slice());
                judge.verdict(row, summary, windowed)
            })
        });
        Summary {
            schema_version: 1,
            tool: ToolInfo { name: env!("CARGO_PKG_NAME"), version: env!("CARGO_PKG_VERSION") },
            scenario: ScenarioInfo {
                name: self.scenario.name.clone(),
                sha256: self.scenario.sha256.clone(),
                overrides: self.scenario.overrides.clone(),
            },
            seed,
            replicas,
            bucket_ms: self.scenario.bucket.as_ms(),
            partial: summaries.iter().any(|variant| variant.partial),
            expectations: expectations.collect(),
            variants: summaries,
            comparison: None,
            baseline: None,
        }
    }
}

/// Of a variant `wanted` replicas of which were to run.
fn summarise(name: &str, plan: &Plan, wanted: u32, digests: &[Digest], timeline: TimelineSum) -> VariantSummary {
    let labels = &plan.labels;
    let tables = |kind, names: &[String], values: fn(&Readings) -> &[Values]| -> IndexMap<String, MetricTable> {
        let table = |at: usize| table(kind, digests.iter().map(move |digest| &values(&digest.readings)[at]));
        names.iter().enumerate().map(|(at, name)| (name.clone(), table(at))).collect()
    };
    let windows_s = |(from, until): (Instant, Instant)| {
        (from.as_s(), if until == Instant::LIMIT { f64::INFINITY } else { until.as_s() })
    };
    let replicas = digests.len().max(1) as u32;
    let services = labels.services.iter().zip((0..).map(ServiceId));
    let replicas_finished = digests.iter().filter(|digest| digest.cut_short.is_none()).count() as u32;
    VariantSummary {
        name: name.to_owned(),
        partial: replicas_finished < wanted,
        replicas_finished,
        cut_short: CutShort::all(digests.iter().filter_map(|digest| digest.cut_short.as_ref())),
        metrics: table(ScopeKind::Scenario, digests.iter().map(|digest| &digest.readings.scenario)),
        clients: tables(ScopeKind::Client, &labels.groups, |readings| &readings.groups),
        calls: tables(ScopeKind::Call, &labels.calls, |readings| &readings.calls),
        services: tables(ScopeKind::Service, &labels.services, |readings| &readings.services),
        faults: tables(ScopeKind::Fault, &labels.faults, |readings| &readings.faults),
        replicas: digests
            .iter()
            .map(|digest| ReplicaRow {
                replica: digest.replica,
                partial: digest.cut_short.is_some(),
                values: digest.readings.scenario.clone(),
                parts: gated::of_parts(&digest.readings),
            })
            .collect(),
        load: timeline.load(plan, replicas),
        timeline: timeline.means(plan, replicas),
        strains: (0..)
            .map(FaultId)
            .zip(&labels.faults)
            .map(|(id, name)| (name.clone(), Strain::of(plan, id, digests.iter().map(|digest| &digest.readings))))
            .collect(),
        warmup_s: plan.warmup.as_s(),
        horizon_s: plan.horizon.map(Instant::as_s),
        limits: services.map(|(name, id)| (name.clone(), ServiceLimits::of(plan, id))).collect(),
        fault_windows: labels
            .faults
            .iter()
            .zip(&plan.faults)
            .map(|(name, fault)| FaultWindows {
                name: name.clone(),
                windows_s: shown(fault).map(|window| windows_s((window.start, window.end))).collect(),
                recurs: recurs(&fault.windows),
            })
            .collect(),
    }
}

/// The windows of a fault that are the same in all replicas.
fn shown(fault: &Fault) -> impl Iterator<Item = Range<Instant>> {
    let is_drawn = matches!(fault.windows, Windows::Random { .. });
    // Nobody can tell more of them apart in a chart.
    fault.windows.of_replica(0).take(if is_drawn { 0 } else { 1_000 })
}

/// Whether there is always another window.
fn recurs(windows: &Windows) -> bool {
    match windows {
        Windows::Once(_) => false,
        Windows::Repeated { .. } => true,
        Windows::Random { within, .. } => within.end == Instant::LIMIT,
    }
}

/// The figures of one thing from its values in each replica.
fn table<'a>(kind: ScopeKind, values: impl Iterator<Item = &'a Values> + Clone) -> MetricTable {
    let columns = catalogue::columns(kind).into_iter().enumerate();
    columns
        .map(|(at, column)| (column.name, Stat::over(column.unit, values.clone().map(|values| values[at]))))
        .collect()
}
