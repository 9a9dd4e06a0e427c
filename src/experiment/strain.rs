//! What services had to do in the end where clients did not recover from a fault: the reason in verdicts.

use indexmap::IndexSet;

use crate::metrics::catalogue::{self, Readings, ScopeKind};
use crate::plan::{Fault, FaultId, Origin, Plan, ServiceId, Target, Windows};
use crate::time::Instant;

/// A service that a fault is on or leads to, over the replicas that did not recover from that.
#[derive(Clone, Debug, PartialEq)]
pub struct Strain {
    /// The service.
    pub service: String,
    /// Attempts that arrive there per second at the end of the run, in the mean.
    pub arrivals_rps: f64,
    /// How many it can serve, other faults aside.
    pub capacity_rps: f64,
    /// Other faults that are on it to the end of the run.
    pub other_faults: Vec<String>,
}

impl Strain {
    /// Of all services that a fault is on or leads to, as far as that is known of every replica that did not recover;
    /// none if all did.
    pub(super) fn of<'r>(plan: &Plan, fault: FaultId, replicas: impl Iterator<Item = &'r Readings>) -> Vec<Self> {
        let column = |kind, name| catalogue::columns(kind).iter().position(|metric| metric.name == name);
        let (Some(recovered), Some(arrivals), Some(capacity)) = (
            column(ScopeKind::Fault, "recovered"),
            column(ScopeKind::Service, "arrivals_last_rps"),
            column(ScopeKind::Service, "capacity_rps"),
        ) else {
            return Vec::new();
        };
        let lost: Vec<&Readings> = replicas.filter(|it| it.faults[fault.index()][recovered] == Some(0.0)).collect();
        let Some(&first) = lost.first() else { return Vec::new() };
        let strain = |service: ServiceId| {
            let arrivals: Option<Vec<f64>> = lost.iter().map(|it| it.services[service.index()][arrivals]).collect();
            let arrivals = arrivals?;
            Some(Self {
                service: plan.labels.services[service.index()].clone(),
                arrivals_rps: arrivals.iter().sum::<f64>() / arrivals.len() as f64,
                capacity_rps: first.services[service.index()][capacity]?,
                other_faults: others(plan, fault, service).map(str::to_owned).collect(),
            })
        };
        struck(plan, &plan.faults[fault.index()]).into_iter().filter_map(strain).collect()
    }
}

/// Faults on a service, or on calls of it, that go on to the end of the run, but for this one.
fn others(plan: &Plan, but: FaultId, service: ServiceId) -> impl Iterator<Item = &str> {
    let is_there = move |fault: &Fault| {
        fault.targets.iter().any(|target| match *target {
            Target::Service(target) => target == service,
            Target::Call(call) => plan.calls[call.index()].target == service,
            Target::Group(_) => false,
        })
    };
    let goes_on = |fault: &Fault| match &fault.windows {
        Windows::Once(window) => window.end >= plan.horizon.unwrap_or(Instant::LIMIT),
        Windows::Repeated { .. } => true,
        Windows::Random { within, .. } => within.end >= plan.horizon.unwrap_or(Instant::LIMIT),
    };
    let faults = (0..).map(FaultId).zip(&plan.faults).zip(&plan.labels.faults);
    faults
        .filter(move |((id, fault), _)| *id != but && is_there(fault) && goes_on(fault))
        .map(|(_, name)| name.as_str())
}

/// The services that a fault is on, or on the way to, and all to which these, or the clients that it is on, have a path.
fn struck(plan: &Plan, fault: &Fault) -> IndexSet<ServiceId> {
    let called_by = |origin| plan.calls.iter().filter(move |call| call.origin == origin).map(|call| call.target);
    let mut ahead: Vec<ServiceId> = Vec::new();
    for target in &fault.targets {
        match *target {
            Target::Service(service) => ahead.push(service),
            Target::Call(call) => ahead.push(plan.calls[call.index()].target),
            Target::Group(group) => ahead.extend(called_by(Origin::Group(group))),
        }
    }
    let mut services = IndexSet::new();
    while let Some(service) = ahead.pop() {
        if services.insert(service) {
            ahead.extend(called_by(Origin::Service(service)));
        }
    }
    services
}
