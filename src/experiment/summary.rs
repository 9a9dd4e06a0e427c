//! The result of an experiment: everything that a report may show. Serialised, it is `summary.json`.

use indexmap::IndexMap;
use serde::Serialize;

use crate::experiment::{Comparison, CutShort, Reached, Regressions, Stat, Strain, Verdict};
use crate::metrics::catalogue::{ScopeKind, Values};
use crate::plan::{Capacity, Origin, Plan, ServiceId};
use crate::scenario::Scenario;

/// Figures by metric name, in the order of the catalogue.
pub type MetricTable = IndexMap<&'static str, Stat>;

/// The result of an experiment.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Version of this format; 1.
    pub schema_version: u32,
    /// What made it.
    pub tool: ToolInfo,
    /// What was simulated.
    pub scenario: ScenarioInfo,
    /// The seed.
    pub seed: u64,
    /// Replicas per variant.
    pub replicas: u32,
    /// Width of a bucket of the timeline, in ms.
    pub bucket_ms: f64,
    /// Whether any variant was cut short, by a limit of the simulator or by the user.
    pub partial: bool,
    /// How well the means are known that expectations are about, if replicas were added until they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precision: Option<Reached>,
    /// By variant, in file order.
    pub variants: Vec<VariantSummary>,
    /// Every expectation of the file, for every variant it applies to.
    pub expectations: Vec<Verdict>,
    /// The variants against one of them, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comparison: Option<Comparison>,
    /// All of it against a baseline, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Regressions>,
}

impl Summary {
    /// The variants that a limit of the simulator cut short, by name.
    pub fn cut_short(&self) -> Vec<(&str, &CutShort)> {
        self.variants.iter().filter_map(|variant| Some((variant.name.as_str(), variant.cut_short.as_ref()?))).collect()
    }
}

/// The program that made a summary.
#[derive(Clone, Debug, Serialize)]
pub struct ToolInfo {
    /// `stormsim`.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
}

impl ToolInfo {
    /// This program.
    pub const fn this() -> Self {
        Self { name: env!("CARGO_PKG_NAME"), version: env!("CARGO_PKG_VERSION") }
    }
}

/// Which scenario was simulated.
#[derive(Clone, Debug, Serialize)]
pub struct ScenarioInfo {
    /// Its name.
    pub name: String,
    /// SHA-256 of the file, in hex.
    pub sha256: String,
    /// What was changed from outside of the file: settings, and the variant that was picked.
    pub overrides: Vec<String>,
}

impl ScenarioInfo {
    /// Of a scenario.
    pub fn of(scenario: &Scenario) -> Self {
        Self { name: scenario.name.clone(), sha256: scenario.sha256.clone(), overrides: scenario.overrides.clone() }
    }
}

/// The result of one variant.
#[derive(Clone, Debug, Serialize)]
pub struct VariantSummary {
    /// Its name; `base` for a file without variants.
    pub name: String,
    /// Whether a replica was cut short or did not run: then its figures say nothing about expectations.
    pub partial: bool,
    /// How many of its replicas ran to their end.
    pub replicas_finished: u32,
    /// Those that a limit of the simulator cut short, if any: the figures cover what they did until then.
    pub cut_short: Option<CutShort>,
    /// Of the scenario as a whole.
    pub metrics: MetricTable,
    /// By client group.
    pub clients: IndexMap<String, MetricTable>,
    /// By call, `caller->label`.
    pub calls: IndexMap<String, MetricTable>,
    /// By service.
    pub services: IndexMap<String, MetricTable>,
    /// By fault.
    pub faults: IndexMap<String, MetricTable>,
    /// The values of every replica for the scenario as a whole, for `replicas.csv`; without those that did not run to
    /// their end because the user interrupted.
    #[serde(skip)]
    pub replicas: Vec<ReplicaRow>,
    /// What happened when: the scenario, then each client group, call and service.
    #[serde(skip)]
    pub timeline: Vec<Series>,
    /// When faults were active, for charts.
    #[serde(skip)]
    pub fault_windows: Vec<FaultWindows>,
    /// By fault what the services had to do that it is on or leads to, where clients did not recover, for verdicts.
    #[serde(skip)]
    pub strains: IndexMap<String, Vec<Strain>>,
    /// Until when nothing is measured, in seconds, for charts.
    #[serde(skip)]
    pub warmup_s: f64,
    /// Where a run ends at the latest, in seconds, for verdicts; none without a horizon.
    #[serde(skip)]
    pub horizon_s: Option<f64>,
    /// What the clients asked for and got, for charts.
    #[serde(skip)]
    pub load: Vec<LoadMeans>,
    /// By service what it can do at once, for charts.
    #[serde(skip)]
    pub limits: IndexMap<String, ServiceLimits>,
}

impl VariantSummary {
    /// The buckets of one thing's timeline; none if it has no timeline.
    pub fn series(&self, kind: ScopeKind, name: &str) -> &[BucketMeans] {
        let series = self.timeline.iter().find(|series| series.kind == kind && series.name == name);
        series.map_or(&[], |series| &series.buckets)
    }

    /// All tables with their scope and name, in the order in which reports list them.
    pub fn tables(&self) -> impl Iterator<Item = (ScopeKind, &str, &MetricTable)> {
        fn named(
            kind: ScopeKind,
            tables: &IndexMap<String, MetricTable>,
        ) -> impl Iterator<Item = (ScopeKind, &str, &MetricTable)> {
            tables.iter().map(move |(name, table)| (kind, name.as_str(), table))
        }
        std::iter::once((ScopeKind::Scenario, "", &self.metrics))
            .chain(named(ScopeKind::Client, &self.clients))
            .chain(named(ScopeKind::Call, &self.calls))
            .chain(named(ScopeKind::Service, &self.services))
            .chain(named(ScopeKind::Fault, &self.faults))
    }
}

/// One replica of a variant.
#[derive(Clone, Debug)]
pub struct ReplicaRow {
    /// Which, from 0.
    pub replica: u32,
    /// Whether a limit of the simulator cut it short.
    pub partial: bool,
    /// The scenario's metrics, in the order of the catalogue.
    pub values: Values,
    /// The metrics of services and faults that a baseline gates, in the order of [`VariantSummary::gated`].
    pub parts: Values,
}

/// The windows of one fault.
#[derive(Clone, Debug)]
pub struct FaultWindows {
    /// Its name.
    pub name: String,
    /// `[from, until)` in seconds; an open end is infinite.
    pub windows_s: Vec<(f64, f64)>,
    /// Whether it comes again and again without an end.
    pub recurs: bool,
}

/// What a service can do at once, on all of its servers together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServiceLimits {
    /// Its workers; none without a limit.
    pub workers: Option<u64>,
    /// The most in progress at once: `max_in_flight`, or what its workers and queues take, whichever is less; none
    /// without a limit. Errors that a fault delays are in progress beside it.
    pub in_flight: Option<u64>,
    /// Whether clients call it themselves.
    pub called_by_clients: bool,
}

impl ServiceLimits {
    /// Of a service of a plan.
    pub(super) fn of(plan: &Plan, service: ServiceId) -> Self {
        let model = &plan.services[service.index()];
        let capacity = &model.capacity;
        // What has given its worker back and waits for its own calls is neither at a worker nor in a queue.
        let places_hold_all = capacity.holds_worker || model.steps.is_empty();
        let queues = (capacity.queue.limit != Capacity::NO_LIMIT)
            .then(|| u64::from(capacity.queue.limit) * u64::from(capacity.instances));
        let workers = capacity.all_workers();
        let places = workers.zip(queues).filter(|_| places_hold_all).map(|(workers, queues)| workers + queues);
        let stated = (capacity.max_in_flight != Capacity::NO_LIMIT).then_some(u64::from(capacity.max_in_flight));
        Self {
            workers,
            in_flight: places.into_iter().chain(stated).min(),
            called_by_clients: plan
                .calls
                .iter()
                .any(|call| call.target == service && matches!(call.origin, Origin::Group(_))),
        }
    }
}

/// What the clients of all groups asked for and got in one bucket, means over the replicas, per second. Buckets in
/// which that is nothing are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LoadMeans {
    /// Its position: it starts at `index` times the bucket width.
    pub index: u64,
    /// Attempts of the clients' own calls.
    pub attempts_rps: f64,
    /// Those of them that were the first of their call.
    pub first_attempts_rps: f64,
    /// Requests that ended well.
    pub succeeded_rps: f64,
}

/// A series of the timeline, as means over the replicas. Buckets in which nothing happened in any replica are left out.
#[derive(Clone, Debug)]
pub struct Series {
    /// What kind of thing it is about.
    pub kind: ScopeKind,
    /// Its name; empty for the scenario.
    pub name: String,
    /// Ascending by time.
    pub buckets: Vec<BucketMeans>,
}

/// One bucket of a series. An ended replica counts as idle, and keeps its tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BucketMeans {
    /// Its position: it starts at `index` times the bucket width.
    pub index: u64,
    /// Attempts sent (services: arrived), mean over the replicas.
    pub attempts: f64,
    /// Retries among them.
    pub retries: f64,
    /// Requests (calls: attempts; services: arrivals) that ended well.
    pub succeeded: f64,
    /// Those that ended badly.
    pub failed: f64,
    /// Attempts that their caller gave up waiting for.
    pub timeouts: f64,
    /// Number in flight, time-weighted.
    pub in_flight: f64,
    /// Number waiting in a queue, time-weighted.
    pub queued: f64,
    /// The most attempts in any replica.
    pub attempts_max: u64,
    /// The most retries in any replica.
    pub retries_max: u64,
    /// Number of workers taken (services), time-weighted.
    pub busy: f64,
    /// Calls that were not tried again because their budget refused.
    pub budget_refused: f64,
    /// Hedges that were sent.
    pub hedges: f64,
    /// What is left in the budgets that the calls draw on, at the end of the bucket; of services none.
    pub tokens_left: Option<f64>,
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::scenario::{Overrides, Scenario};

    /// Of 2 servers with 8 workers each and a queue of 50: 116 places, unless an arrival can be in neither.
    #[test]
    fn a_ceiling_is_the_lower_of_what_is_stated_and_what_there_is_room_for() {
        let limits_of = |settings: &str| {
            let text = format!(
                r#"
                version = 1
                name = "limits"
                clients.web = {{ arrivals = {{ burst = {{ at = "0s" }} }}, calls.api = {{}} }}
                services.api = {{ instances = 2, calls.db = {{}} {settings} }}
                services.db = {{}}
                "#
            );
            let scenario = Scenario::parse("limits", &text, Path::new(""), &Overrides::default()).unwrap();
            [0, 1].map(|id| ServiceLimits::of(&scenario.variants()[0].1, ServiceId(id)))
        };
        let api = |workers, in_flight| ServiceLimits { workers, in_flight, called_by_clients: true };
        let places = ", workers = 8, queue.limit = 50";
        assert_eq!(limits_of(""), [api(None, None), ServiceLimits::default()]);
        assert_eq!(limits_of(", workers = 8")[0], api(Some(16), None));
        assert_eq!(limits_of(places)[0], api(Some(16), Some(116)));
        assert_eq!(limits_of(&format!("{places}, max_in_flight = 90"))[0], api(Some(16), Some(90)));
        assert_eq!(limits_of(&format!("{places}, max_in_flight = 300"))[0], api(Some(16), Some(116)));
        assert_eq!(limits_of(&format!("{places}, holds_worker = false"))[0], api(Some(16), None));
    }
}
