//! From typed tables to a draft of the plan: names become ids, defaults are filled in, and what contradicts itself is
//! reported. A key that was wrong already has been reported: it counts as present, and its value is never looked at.

mod allow;
mod arrivals;
mod budgets;
mod calls;
mod capacity;
mod columns;
mod dists;
mod expectations;
mod faults;
mod graph;
mod metric_names;
mod operations;
mod order;
mod pauses;
mod policies;
mod protection;
mod recovery;
mod schedules;
mod silence;
mod strays;
mod sweep;
mod targets;
mod windows;

pub use allow::allowed;
pub use expectations::{Judged, expectations};
pub use sweep::{axes, measures};

use std::path::Path;

use crate::dist::Dist;
use crate::plan::{Arrivals, Draft, GroupDraft, PolicyDraft, ServiceDraft};
use crate::scenario::diagnostics::Diagnostic;
use crate::scenario::field::{Field, OrNone};
use crate::scenario::overrides::Created;
use crate::scenario::resolve::calls::Caller;
use crate::scenario::resolve::graph::Edge;
use crate::scenario::source::Place;
use crate::scenario::tables::{ClientTable, ScenarioTable, ServiceTable};
use crate::scenario::values::{Duration, Whole};
use crate::time::{Instant, Span};

/// The most services of a scenario.
const SERVICES_MAX: usize = 1_000;

/// The most calls of one service.
const CALLS_MAX: usize = 1_000;

/// The most clients with arrivals of their own: what the index of an event can name.
const OWN_ARRIVALS_MAX: u64 = 1 << 28;

/// Width of a bucket of the timeline, unless the scenario says otherwise.
pub const BUCKET_DEFAULT: Span = Span::from_ms(100);

/// Resolves one variant. The draft means something only if no error was reported.
pub fn resolve(tables: &ScenarioTable, created: &[Created], folder: &Path, errors: &mut Vec<Diagnostic>) -> Draft {
    let mut resolver = Resolver { tables, folder, errors, edges: Vec::new(), strays: Vec::new() };
    resolver.find_strays(created);
    resolver.check_head();
    resolver.check_names();
    let policies = resolver.policies();
    let draft = Draft {
        horizon: resolver.limit(&tables.horizon, "`horizon`").map(|span| Instant::ZERO + span),
        warmup: resolver.warmup(),
        bucket: resolver.bucket(),
        recovery: resolver.recovery(),
        groups: resolver.groups(&policies),
        services: resolver.services(&policies),
        faults: resolver.faults(),
        policies,
    };
    resolver.check_totals(&draft.groups, &draft.services);
    let services: Vec<&str> = tables.services.names().collect();
    // Beyond the limit the scenario is refused anyway, and the search would go too deep.
    if services.len() <= SERVICES_MAX {
        resolver.errors.extend(graph::cycles(&services, &resolver.edges));
    }
    draft
}

struct Resolver<'a> {
    tables: &'a ScenarioTable,
    folder: &'a Path,
    errors: &'a mut Vec<Diagnostic>,
    edges: Vec<Edge>,
    /// Tables that a misspelt path has created, as (`retries`, `pateint`). They have been reported.
    strays: Vec<(String, String)>,
}

impl Resolver<'_> {
    /// Reports a key that must be there and is not. `owner` is the table, in back-ticks; `place` where it begins.
    fn require<T>(&mut self, field: &Field<T>, owner: &str, key: &str, example: &str, place: Option<&Place>) {
        if field.is_absent() {
            let mut error = Diagnostic::new(format!("{owner} has no `{key}`"));
            if let Some(place) = place {
                error = error.at(place);
            }
            self.errors.push(error.hint(format!("add `{key} = {example}`")));
        }
    }

    fn refuse(&mut self, place: &Place, message: String, hint: impl Into<Box<str>>) {
        self.errors.push(Diagnostic::new(message).at(place).hint(hint));
    }

    fn check_head(&mut self) {
        let tables = self.tables;
        self.require(&tables.version, "the scenario", "version", "1", None);
        self.require(&tables.name, "the scenario", "name", "\"three-tier\"", None);
        if tables.clients.is_absent() || tables.clients.get().is_some_and(|named| named.0.is_empty()) {
            let hint = "add one, such as `[clients.web]` with `arrivals` and `calls`";
            self.errors.push(Diagnostic::new("the scenario has no client group: nothing would happen").hint(hint));
        }
    }

    fn check_names(&mut self) {
        let tables = self.tables;
        for (name, service) in tables.services.entries() {
            let client = tables.clients.get().and_then(|clients| clients.0.get(name));
            if let (Some(client), Some(place)) = (client, service.key()) {
                let message = format!("`{name}` names both a client group and a service");
                let mut error = Diagnostic::new(message).at(place).hint("rename one of the two");
                if let Some(other) = client.key() {
                    error = error.context(other, "the client group");
                }
                self.errors.push(error);
            }
        }
        let count = tables.services.names().count();
        if let (true, Some(place)) = (count > SERVICES_MAX, tables.services.key()) {
            let message = format!("the scenario has {count} services; the limit is {SERVICES_MAX}");
            self.refuse(place, message, "model services that behave alike as one");
        }
    }

    /// A time limit that may be switched off and is not zero.
    fn limit(&mut self, field: &Field<OrNone<Duration>>, path: &str) -> Option<Span> {
        let spanned = field.spanned()?;
        let &Duration(span) = spanned.value.value()?;
        if span == Span::ZERO {
            let message = format!("{path} must be longer than zero");
            self.refuse(&spanned.place, message, "write `\"none\"` for no limit");
        }
        Some(span)
    }

    fn warmup(&mut self) -> Instant {
        let Some(warmup) = self.tables.warmup.spanned() else { return Instant::ZERO };
        let Duration(span) = warmup.value;
        let horizon = self.tables.horizon.get().and_then(|horizon| horizon.value());
        // A horizon of zero has been reported.
        if horizon.is_some_and(|&Duration(horizon)| horizon > Span::ZERO && span >= horizon) {
            let message = "`warmup` must end before the `horizon`".to_owned();
            self.refuse(&warmup.place, message, "nothing would be measured");
        }
        Instant::ZERO + span
    }

    fn bucket(&mut self) -> Span {
        let Some(spanned) = self.tables.bucket.spanned() else { return BUCKET_DEFAULT };
        let Duration(span) = spanned.value;
        if span == Span::ZERO {
            self.refuse(&spanned.place, "`bucket` must be longer than zero".into(), "the default is `\"100ms\"`");
        }
        span
    }

    fn groups(&mut self, policies: &[PolicyDraft]) -> Vec<GroupDraft> {
        let mut groups = Vec::new();
        for (name, field) in self.tables.clients.entries() {
            let Some(table) = field.get().filter(|_| !self.is_stray("clients", name)) else { continue };
            groups.push(self.group(name, table, field.key(), policies));
        }
        self.check_number_of_clients(&groups);
        groups
    }

    fn check_number_of_clients(&mut self, groups: &[GroupDraft]) {
        let has_own =
            |group: &&GroupDraft| matches!(group.arrivals, Arrivals::Periodic { .. } | Arrivals::Closed { .. });
        let clients: u64 = groups.iter().filter(has_own).map(|group| u64::from(group.clients)).sum();
        if let (true, Some(place)) = (clients > OWN_ARRIVALS_MAX, self.tables.clients.key()) {
            let message = format!(
                "the clients of `periodic` and `closed` groups are {clients} in all; the limit is {OWN_ARRIVALS_MAX}"
            );
            self.refuse(place, message, "lower a `count`");
        }
    }

    fn check_number_of_calls(&mut self, path: &str, table: &ServiceTable) {
        let count = table.calls.names().count();
        if let (true, Some(place)) = (count > CALLS_MAX, table.calls.key()) {
            let message = format!("`{path}` makes {count} calls; the limit is {CALLS_MAX}");
            self.refuse(place, message, "many calls of one kind are one call with `copies`");
        }
    }

    fn group(
        &mut self,
        name: &str,
        table: &ClientTable,
        place: Option<&Place>,
        policies: &[PolicyDraft],
    ) -> GroupDraft {
        let owner = format!("`clients.{name}`");
        self.require(&table.arrivals, &owner, "arrivals", "{ burst = { at = \"0s\" } }", place);
        if table.calls.is_absent() || table.calls.get().is_some_and(|named| named.0.is_empty()) {
            let mut error = Diagnostic::new(format!("{owner} has no calls: its requests would do nothing"));
            if let Some(place) = place {
                error = error.at(place);
            }
            self.errors.push(error.hint(format!("add one, such as `[clients.{name}.calls.gateway]`")));
        }
        let window = self.arrival_window(name, table);
        let arrivals = self.arrivals(name, table, &window);
        let clients = table.count.get().map_or(1, |&Whole(count)| u32::try_from(count).expect("at most 2^28"));
        let caller = Caller { path: &format!("clients.{name}"), service: None, calls: &table.calls };
        let calls = self.calls(&caller, &[], policies);
        let operations = operations::operations(table);
        GroupDraft { name: name.to_owned(), clients, arrivals, window, calls, operations }
    }

    fn services(&mut self, policies: &[PolicyDraft]) -> Vec<ServiceDraft> {
        let mut services = Vec::new();
        for (id, (name, field)) in self.tables.services.entries().enumerate() {
            let Some(table) = field.get().filter(|_| !self.is_stray("services", name)) else { continue };
            let service_time = match table.service_time.get() {
                Some(setting) => self.dist(setting, &format!("services.{name}.service_time")),
                None => Dist::ZERO,
            };
            let path = format!("services.{name}");
            self.check_number_of_calls(&path, table);
            let fallbacks = self.fallbacks(&path, &table.calls);
            let caller = Caller { path: &path, service: Some(id), calls: &table.calls };
            let calls = self.calls(&caller, fallbacks.as_deref().unwrap_or_default(), policies);
            let steps = fallbacks.map_or_else(Vec::new, |fallbacks| self.steps(&path, table, &fallbacks));
            let capacity = self.capacity(&path, table);
            let effects = self.effects(&path, table);
            services.push(ServiceDraft { name: name.to_owned(), service_time, calls, steps, capacity, effects });
        }
        services
    }
}

/// A time of the run; its start where none is given.
fn instant(duration: Option<Duration>) -> Instant {
    duration.map_or(Instant::ZERO, |Duration(span)| Instant::ZERO + span)
}

/// Whether nothing limits a time. A limit that is wrong has been reported, and counts as one.
fn is_open(limit: &Field<OrNone<Duration>>) -> bool {
    limit.is_absent() || limit.get().is_some_and(|limit| limit.value().is_none())
}
