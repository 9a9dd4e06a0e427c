//! Faults after which somebody waits for an answer that never comes. Without a horizon a run ends when no work is left,
//! and there would always be some.

use crate::plan::{Effect, FaultDraft, GroupId, Origin, ServiceId, TargetDraft, Windows, workers_left};
use crate::scenario::counts::Workers;
use crate::scenario::diagnostics::Diagnostic;
use crate::scenario::resolve::capacity::narrow;
use crate::scenario::resolve::{Resolver, is_open};
use crate::scenario::source::Place;
use crate::scenario::tables::{CallTable, ScenarioTable};
use crate::scenario::values::Name;
use crate::time::Instant;

impl Resolver<'_> {
    /// Reports faults that leave a call without limit unanswered, in a run without limit. `places` is where the effects
    /// stand.
    pub(super) fn check_silence(&mut self, faults: &[FaultDraft], places: &[Option<&Place>]) {
        let tables = self.tables;
        if !is_open(&tables.horizon) {
            return;
        }
        let ways = ways(tables);
        let told = told(tables.services.names().count(), &ways);
        for (fault, place) in faults.iter().zip(places) {
            let silent = |way: &&Way<'_>| fault.targets.iter().any(|&target| way.is_silenced(fault, target, tables));
            let endless = ways.iter().filter(silent).find(|way| !way.is_limited(&fault.effect, &told));
            if let (Some(way), Some(place)) = (endless, place) {
                let message =
                    format!("with `faults.{}` the run may never end: `{}` waits without a limit", fault.name, way.name);
                let mut error = Diagnostic::new(message).at(place);
                if let Some(key) = way.key {
                    error = error.context(key, "the call");
                }
                let ends = matches!(fault.effect, Effect::Pause | Effect::Capacity { .. });
                self.errors.push(error.hint(if ends {
                    "let the fault end, give the call a `timeout`, or the run a `horizon`"
                } else {
                    "give the call a `timeout`, or the run a `horizon`"
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
    /// Whether its attempts are never answered where the fault strikes this target.
    fn is_silenced(&self, fault: &FaultDraft, target: TargetDraft, tables: &ScenarioTable) -> bool {
        let struck = match target {
            TargetDraft::Service(id) => self.callee == Some(id),
            TargetDraft::Call(origin, position) => (self.origin, self.position) == (origin, position),
            TargetDraft::Group(_) => false,
        };
        let is_for_ever = matches!(&fault.windows, Windows::Once(window) if window.end == Instant::LIMIT);
        struck
            && match (&fault.effect, target) {
                (Effect::BlackHole, _) => true,
                (Effect::Loss { probability, .. }, _) => *probability > 0,
                (Effect::Pause, _) => is_for_ever,
                (&Effect::Capacity { factor }, TargetDraft::Service(id)) => is_for_ever && is_idle(id, factor, tables),
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

/// Whether a server has no worker left.
fn is_idle(service: ServiceId, factor: f64, tables: &ScenarioTable) -> bool {
    let table = tables.services.entries().nth(service.index()).and_then(|(_, field)| field.get());
    let workers = table.and_then(|table| table.workers.get()?.value());
    workers.is_some_and(|&Workers(count)| workers_left(narrow(count), factor) == 0)
}
