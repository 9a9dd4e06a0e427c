//! Runs every replica of every variant, and sums up.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use indexmap::IndexMap;

use crate::experiment::judge::Judge;
use crate::experiment::precision::{Precision, Spread};
use crate::experiment::replicas::Replica;
use crate::experiment::timeline_sum::TimelineSum;
use crate::experiment::{
    CutShort, FaultWindows, MetricTable, ReplicaRow, ScenarioInfo, ServiceLimits, Stat, Strain, Summary, ToolInfo,
    VariantSummary, gated,
};
use crate::metrics::Outcome;
use crate::metrics::catalogue::{self, Measured, Readings, ScopeKind, Values};
use crate::plan::{Fault, FaultId, Plan, ServiceId, Windows};
use crate::scenario::Scenario;
use crate::time::Instant;

/// What is to be simulated: plans by variant, how often, and what must come out.
#[derive(Clone, Copy, Debug)]
pub struct Experiment<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) frames: usize,
    pub(super) precision: Option<Precision>,
}

/// What a summary keeps of one replica.
pub(super) struct Digest {
    pub readings: Readings,
    /// By expectation: the values in its windows.
    pub windowed: Vec<Vec<Option<f64>>>,
}

impl Experiment<'_> {
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
        let variants = self.scenario.variants();
        let timelines: Vec<Mutex<TimelineSum>> =
            variants.iter().map(|(_, plan)| Mutex::new(TimelineSum::new(plan))).collect();
        let judges: Vec<Judge> =
            variants.iter().map(|(name, plan)| Judge::new(name, plan, &self.scenario.expectations)).collect();
        let keep = |variant: usize, outcome: &Outcome| {
            timelines[variant].lock().expect("adding does not panic").add(&outcome.timeline);
            Digest { readings: Measured::whole(outcome).read(), windowed: judges[variant].windowed(outcome) }
        };
        let widest = |ran: &[Vec<Replica<Digest>>]| {
            Spread::widest(judges.iter().zip(ran).flat_map(|(judge, replicas)| judge.spreads(replicas)))
        };
        let ran = self.replicas(stop, progress, keep, widest);
        let summaries: Vec<VariantSummary> = variants
            .iter()
            .zip(&ran.variants)
            .zip(timelines)
            .map(|(((name, plan), replicas), timeline)| {
                let timeline = timeline.into_inner().expect("adding does not panic");
                summarise(name, plan, ran.wanted, replicas, timeline)
            })
            .collect();
        // In the order of the file: expectation by expectation, and for each the variants it is about.
        let expectations = (0..self.scenario.expectations.len()).flat_map(|row| {
            judges.iter().zip(&ran.variants).zip(&summaries).filter_map(move |((judge, replicas), summary)| {
                let windowed = replicas.iter().map(|replica| replica.kept.windowed[row].as_slice());
                judge.verdict(row, summary, windowed)
            })
        });
        Summary {
            schema_version: 1,
            tool: ToolInfo::this(),
            scenario: ScenarioInfo::of(self.scenario),
            seed: self.scenario.seed,
            replicas: ran.wanted,
            bucket_ms: self.scenario.bucket.as_ms(),
            partial: summaries.iter().any(|variant| variant.partial),
            precision: self.precision.and_then(|precision| precision.reached(ran.widest.clone())),
            expectations: expectations.collect(),
            variants: summaries,
            comparison: None,
            baseline: None,
        }
    }
}

/// Of a variant `wanted` replicas of which were to run.
fn summarise(name: &str, plan: &Plan, wanted: u32, ran: &[Replica<Digest>], timeline: TimelineSum) -> VariantSummary {
    let labels = &plan.labels;
    let tables = |kind, names: &[String], values: fn(&Readings) -> &[Values]| -> IndexMap<String, MetricTable> {
        let table = |at: usize| table(kind, ran.iter().map(move |replica| &values(&replica.kept.readings)[at]));
        names.iter().enumerate().map(|(at, name)| (name.clone(), table(at))).collect()
    };
    let windows_s = |(from, until): (Instant, Instant)| {
        (from.as_s(), if until == Instant::LIMIT { f64::INFINITY } else { until.as_s() })
    };
    let replicas = ran.len().max(1) as u32;
    let services = labels.services.iter().zip((0..).map(ServiceId));
    let replicas_finished = ran.iter().filter(|replica| replica.cut_short.is_none()).count() as u32;
    VariantSummary {
        name: name.to_owned(),
        partial: replicas_finished < wanted,
        replicas_finished,
        cut_short: CutShort::all(ran.iter().filter_map(|replica| replica.cut_short.as_ref())),
        metrics: table(ScopeKind::Scenario, ran.iter().map(|replica| &replica.kept.readings.scenario)),
        clients: tables(ScopeKind::Client, &labels.groups, |readings| &readings.groups),
        calls: tables(ScopeKind::Call, &labels.calls, |readings| &readings.calls),
        services: tables(ScopeKind::Service, &labels.services, |readings| &readings.services),
        faults: tables(ScopeKind::Fault, &labels.faults, |readings| &readings.faults),
        replicas: ran
            .iter()
            .map(|replica| ReplicaRow {
                replica: replica.number,
                partial: replica.cut_short.is_some(),
                values: replica.kept.readings.scenario.clone(),
                parts: gated::of_parts(&replica.kept.readings),
            })
            .collect(),
        load: timeline.load(plan, replicas),
        timeline: timeline.means(plan, replicas),
        strains: (0..)
            .map(FaultId)
            .zip(&labels.faults)
            .map(|(id, name)| (name.clone(), Strain::of(plan, id, ran.iter().map(|replica| &replica.kept.readings))))
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
