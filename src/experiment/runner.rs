//! Runs every replica of every variant, in parallel, and sums up.

use std::fmt;
use std::sync::Mutex;

use indexmap::IndexMap;
use rayon::prelude::*;

use crate::experiment::timeline_sum::TimelineSum;
use crate::experiment::{
    Expectation, FaultWindows, MetricTable, ReplicaRow, ScenarioInfo, Stat, Summary, ToolInfo, VariantSummary, Verdict,
};
use crate::metrics::catalogue::{self, Readings, ScopeKind, Values};
use crate::metrics::{End, Limit};
use crate::plan::Plan;
use crate::scenario::Scenario;
use crate::sim::simulate;
use crate::time::Instant;

/// What is to be simulated: plans by variant, how often, and what must come out.
#[derive(Clone, Copy, Debug)]
pub struct Experiment<'a> {
    scenario: &'a Scenario,
}

/// A replica that could not go on because a limit of the simulator was reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CutShort {
    /// Its variant.
    pub variant: String,
    /// Its number, from 0.
    pub replica: u32,
    /// When, in virtual time.
    pub at: Instant,
    /// Which limit.
    pub limit: Limit,
}

impl fmt::Display for CutShort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "variant `{}`, replica {}, at {} s: {}", self.variant, self.replica, self.at.as_s(), self.limit)
    }
}

/// What is kept of one replica.
struct Digest {
    readings: Readings,
    cut_short: Option<(Instant, Limit)>,
}

impl<'a> Experiment<'a> {
    /// All variants of a scenario, with its seed and its number of replicas.
    pub fn new(scenario: &'a Scenario) -> Self {
        Self { scenario }
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
        let Scenario { seed, replicas, .. } = *self.scenario;
        let variants = self.scenario.variants();
        let timelines: Vec<Mutex<TimelineSum>> =
            variants.iter().map(|(_, plan)| Mutex::new(TimelineSum::new(plan))).collect();
        let digests: Vec<Digest> = (0..self.runs())
            .into_par_iter()
            .map(|run| {
                let (variant, replica) = ((run / u64::from(replicas)) as usize, (run % u64::from(replicas)) as u32);
                let outcome = simulate(&variants[variant].1, seed, replica);
                timelines[variant].lock().expect("adding does not panic").add(&outcome.timeline);
                progress();
                let cut_short = match outcome.ended {
                    End::Limit(limit) => Some((outcome.end, limit)),
                    End::Drained | End::Horizon => None,
                };
                Digest { readings: catalogue::read(&outcome), cut_short }
            })
            .collect();
        let by_variant = || variants.iter().zip(digests.chunks(replicas as usize));
        let summaries: Vec<VariantSummary> = by_variant()
            .zip(timelines)
            .map(|(((name, plan), digests), timeline)| {
                let timeline = timeline.into_inner().expect("adding does not panic");
                summarise(name, plan, digests, timeline)
            })
            .collect();
        let cut_short = by_variant().find_map(|((name, _), digests)| {
            let (replica, (at, limit)) =
                (0..).zip(digests).find_map(|(n, digest)| digest.cut_short.map(|cut| (n, cut)))?;
            Some(CutShort { variant: name.clone(), replica, at, limit })
        });
        Summary {
            schema_version: 1,
            tool: ToolInfo { name: env!("CARGO_PKG_NAME"), version: env!("CARGO_PKG_VERSION") },
            scenario: ScenarioInfo { name: self.scenario.name.clone(), sha256: self.scenario.sha256.clone() },
            seed,
            replicas,
            bucket_ms: self.scenario.bucket.as_ms(),
            partial: cut_short.is_some(),
            expectations: judge(&self.scenario.expectations, &summaries, replicas),
            variants: summaries,
            cut_short,
        }
    }
}

fn summarise(name: &str, plan: &Plan, digests: &[Digest], timeline: TimelineSum) -> VariantSummary {
    let labels = &plan.labels;
    let tables = |kind, names: &[String], values: fn(&Readings) -> &[Values]| -> IndexMap<String, MetricTable> {
        let table = |at: usize| table(kind, digests.iter().map(move |digest| &values(&digest.readings)[at]));
        names.iter().enumerate().map(|(at, name)| (name.clone(), table(at))).collect()
    };
    let windows_s = |(from, until): (Instant, Instant)| {
        (from.as_s(), if until == Instant::LIMIT { f64::INFINITY } else { until.as_s() })
    };
    VariantSummary {
        name: name.to_owned(),
        metrics: table(ScopeKind::Scenario, digests.iter().map(|digest| &digest.readings.scenario)),
        clients: tables(ScopeKind::Client, &labels.groups, |readings| &readings.groups),
        calls: tables(ScopeKind::Call, &labels.calls, |readings| &readings.calls),
        services: tables(ScopeKind::Service, &labels.services, |readings| &readings.services),
        faults: labels.faults.iter().map(|name| (name.clone(), MetricTable::new())).collect(),
        replicas: (0..)
            .zip(digests)
            .map(|(replica, digest)| ReplicaRow { replica, values: digest.readings.scenario.clone() })
            .collect(),
        timeline: timeline.means(plan, digests.len() as u32),
        fault_windows: labels
            .faults
            .iter()
            .zip(&plan.faults)
            .map(|(name, fault)| FaultWindows {
                name: name.clone(),
                windows_s: fault.windows.iter().map(|window| windows_s((window.start, window.end))).collect(),
            })
            .collect(),
    }
}

/// The figures of one thing from its values in each replica.
fn table<'a>(kind: ScopeKind, values: impl Iterator<Item = &'a Values> + Clone) -> MetricTable {
    let columns = catalogue::columns(kind).into_iter().enumerate();
    columns
        .map(|(at, column)| (column.name, Stat::over(column.unit, values.clone().map(|values| values[at]))))
        .collect()
}

fn judge(expectations: &[Expectation], variants: &[VariantSummary], replicas: u32) -> Vec<Verdict> {
    let applies = |expectation: &Expectation, variant: &VariantSummary| {
        expectation.variant.as_ref().is_none_or(|name| *name == variant.name)
    };
    let judge = |expectation: &Expectation, variant: &VariantSummary| {
        let scope = &expectation.scope;
        let (_, _, table) = variant
            .tables()
            .find(|&(kind, name, _)| kind == scope.kind && name == scope.name)
            .expect("the scope of an expectation was checked when the scenario was read");
        expectation.judge(&variant.name, &table[expectation.metric], replicas)
    };
    expectations
        .iter()
        .flat_map(|expectation| {
            let judged = variants.iter().filter(move |variant| applies(expectation, variant));
            judged.map(move |variant| judge(expectation, variant))
        })
        .collect()
}
