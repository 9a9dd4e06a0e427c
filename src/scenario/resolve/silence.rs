//! Faults after which work is never done, or somebody waits for an answer that never comes. Without a horizon a run
//! ends when no work is left, and there would always be some.

use crate::plan::{Effect, FaultDraft, GroupId, Origin, ServiceId, TargetDraft, Windows, workers_left};
use crate::scenario::counts::Workers;
use crate::scenario::diagnostics::Diagnostic;
use crate::scenario::resolve::capacity::narrow;
use crate::scenario::resolve::{Resolver, is_open};
use crate::scenario::source::Place;
use crate::scenario::tables::{CallTable, CancelChoice, ScenarioTable, ServiceTable};
use crate::scenario::values::Name;
use crate::time::Instant;

impl Resolver<'_> {
    /// Reports faults that leave work undone, or a call without limit unanswered, in a run without limit. `places` is
    /// where the effects stand.
    pub(super) fn check_silence(&mut self, faults: &[FaultDraft], places: &[Option<&Place>]) {
        let tables = self.tables;
        if !is_open(&tables.horizon) {
            return;
        }
        let ways = ways(tables);
        let told = told(tables.services.names().count(), &ways);
        for (number, (fault, place)) in faults.iter().zip(places).enumerate() {
            let Some(place) = place else { continue };
            let halted = halted(number, faults, tables);
            if let Some((name, _)) = halted.iter().find_map(|&id| service(tables, id).filter(|(_, table)| !ends(table)))
            {
                let message =
                    format!("with `faults.{}` the run may never end: `{name}` never does its work", fault.name);
                self.refuse(place, message, "let the fault end, or give the run a `horizon`");
                continue;
            }
            let silent = |way: &&Way<'_>| {
                way.callee.is_some_and(|callee| halted.contains(&callee))
                    || fault.targets.iter().any(|&target| way.is_silenced(fault, target))
            };
            let endless = ways.iter().filter(silent).find(|way| !way.is_limited(&fault.effect, &told));
            if let Some(way) = endless {
                let message =
                    format!("with `faults.{}` the run may never end: `{}` waits without a limit", fault.name, way.name);
                let mut error = Diagnostic::new(message).at(place);
                if let Some(key) = way.key {
                    error = error.context(key, "the call");
                }
                self.errors.push(error.hint(if halted.is_empty() {
                    "give the call a `timeout`, or the run a `horizon`"
                } else {
                    "let the fault end, give the call a `timeout`, or the run a `horizon`"
                }));
            }
        }
    }
}

/// A call of the scenario.
struct Way<'a> {
    /// "caller->label".
    name: String,
    key: Option<&'a Place>,
    table: &'a CallTable,
    origin: Origin,
    /// Its position among the calls of its origin.
    position: usize,
    /// None if there is no such service, which is reported.
    callee: Option<ServiceId>,
}

/// All calls.
fn ways(tables: &ScenarioTable) -> Vec<Way<'_>> {
    let groups = tables
        .clients
        .entries()
        .enumerate()
        .filter_map(|(id, (name, field))| Some((name, Origin::Group(GroupId(id as u32)), &field.get()?.calls)));
    let services = tables
        .services
        .entries()
        .enumerate()
        .filter_map(|(id, (name, field))| Some((name, Origin::Service(ServiceId(id as u32)), &field.get()?.calls)));
    let of_each = groups.chain(services).flat_map(|(caller, origin, calls)| {
        calls.entries().enumerate().filter_map(move |(position, (label, field))| {
            let table = field.get()?;
            let callee = table.to.get().map_or(label, |Name(to)| to);
            let callee = tables.services.position(callee).map(|id| ServiceId(id as u32));
            Some(Way { name: format!("{caller}->{label}"), key: field.key(), table, origin, position, callee })
        })
    });
    of_each.collect()
}

/// For each service whether all of its callers tell it until when they wait, so that its own calls end by then.
fn told(services: usize, ways: &[Way<'_>]) -> Vec<bool> {
    let mut told = vec![true; services];
    loop {
        // One that is not told cannot tell those that it calls.
        let tells = |way: &&Way<'_>| way.table.propagate_deadline.get() == Some(&true) && way.ends(&told);
        let silent = ways.iter().filter(|way| !tells(way)).filter_map(|way| way.callee);
        let untold: Vec<ServiceId> = silent.filter(|callee| told[callee.index()]).collect();
        if untold.is_empty() {
            return told;
        }
        for service in untold {
            told[service.index()] = false;
        }
    }
}

impl Way<'_> {
    /// Whether its attempts are lost where the fault strikes this target.
    fn is_silenced(&self, fault: &FaultDraft, target: TargetDraft) -> bool {
        let struck = match target {
            TargetDraft::Service(id) => self.callee == Some(id),
            TargetDraft::Call(origin, position) => (self.origin, self.position) == (origin, position),
            TargetDraft::Group(_) => false,
        };
        struck
            && match fault.effect {
                Effect::BlackHole => true,
                Effect::Loss { probability, .. } => probability > 0,
                _ => false,
            }
    }

    /// Whether whoever waits for an answer that does not come stops waiting.
    fn is_limited(&self, effect: &Effect, told: &[bool]) -> bool {
        // An attempt that is lost by chance has connected.
        *effect == Effect::BlackHole && !is_open(&self.table.connect_timeout) || self.ends(told)
    }

    /// Whether it has an end of its own, or its caller has.
    fn ends(&self, told: &[bool]) -> bool {
        !is_open(&self.table.timeout)
            || !is_open(&self.table.total_timeout)
            || matches!(self.origin, Origin::Service(id) if told[id.index()])
    }
}

/// The services that stand still from some time on because of this fault.
fn halted(number: usize, faults: &[FaultDraft], tables: &ScenarioTable) -> Vec<ServiceId> {
    let fault = &faults[number];
    let services = fault.targets.iter().filter_map(|target| match target {
        TargetDraft::Service(id) => Some(*id),
        TargetDraft::Call(..) | TargetDraft::Group(_) => None,
    });
    match fault.effect {
        Effect::Pause if is_for_good(fault) => services.collect(),
        Effect::Capacity { factor } if is_for_good(fault) => {
            services.filter(|&id| takes_the_last_worker(id, factor, &faults[..number], tables)).collect()
        }
        _ => Vec::new(),
    }
}

/// Whether a capacity of which some would be left by itself leaves nothing beside those `before` it that have no end.
fn takes_the_last_worker(id: ServiceId, factor: f64, before: &[FaultDraft], tables: &ScenarioTable) -> bool {
    let workers = service(tables, id).and_then(|(_, table)| table.workers.get()?.value());
    let Some(workers) = workers.map(|&Workers(count)| narrow(count)) else { return false };
    let on_it = |fault: &&FaultDraft| is_for_good(fault) && fault.targets.contains(&TargetDraft::Service(id));
    let left = before.iter().filter(on_it).fold(workers, |left, fault| match fault.effect {
        Effect::Capacity { factor } => workers_left(left, factor),
        _ => left,
    });
    left > 0 && workers_left(workers, factor) > 0 && workers_left(left, factor) == 0
}

fn is_for_good(fault: &FaultDraft) -> bool {
    matches!(&fault.windows, Windows::Once(window) if window.end == Instant::LIMIT)
}

/// Whether work ends with its callers.
fn ends(table: &ServiceTable) -> bool {
    table.cancel.is_wrong() || matches!(table.cancel.get(), Some(CancelChoice::Running))
}

/// A service with its name; none if it is wrong.
fn service(tables: &ScenarioTable, id: ServiceId) -> Option<(&str, &ServiceTable)> {
    let (name, field) = tables.services.entries().nth(id.index())?;
    Some((name, field.get()?))
}
