//! From typed tables to a draft of the plan: names become ids, defaults are filled in, and what contradicts itself is
//! reported. A key that was wrong already has been reported: it counts as present, and its value is never looked at.

mod calls;
mod dists;
mod expectations;
mod faults;
mod graph;
mod policies;

pub use expectations::{Judged, expectations};

use std::path::Path;

use crate::dist::Dist;
use crate::plan::{Arrivals, Draft, GroupDraft, ServiceDraft};
use crate::policy::RetryPolicy;
use crate::scenario::diagnostics::Diagnostic;
use crate::scenario::field::{Field, OrNone};
use crate::scenario::overrides::Created;
use crate::scenario::resolve::graph::Edge;
use crate::scenario::source::Place;
use crate::scenario::suggest;
use crate::scenario::tables::{ArrivalsChoice, ClientTable, ScenarioTable};
use crate::scenario::values::{Duration, Whole};
use crate::time::{Instant, Span};

/// The most services of a scenario.
const SERVICES_MAX: usize = 1_000;

/// Width of a bucket of the timeline, unless the scenario says otherwise.
pub const BUCKET_DEFAULT: Span = Span::from_ms(100);

/// Resolves one variant. The draft means something only if no error was reported.
pub fn resolve(tables: &ScenarioTable, created: &[Created], folder: &Path, errors: &mut Vec<Diagnostic>) -> Draft {
    let mut resolver = Resolver { tables, folder, errors, edges: Vec::new() };
    resolver.check_head();
    resolver.check_names();
    let policies = resolver.policies();
    let draft = Draft {
        horizon: resolver.limit(&tables.horizon, "`horizon`").map(|span| Instant::ZERO + span),
        bucket: resolver.bucket(),
        groups: resolver.groups(&policies),
        services: resolver.services(&policies),
        faults: resolver.faults(),
        policies,
    };
    resolver.check_created(created);
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
            let client = tables.clients.entries().find(|(client, _)| *client == name);
            if let (Some((_, client)), Some(place)) = (client, service.key()) {
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

    fn bucket(&mut self) -> Span {
        let Some(spanned) = self.tables.bucket.spanned() else { return BUCKET_DEFAULT };
        let Duration(span) = spanned.value;
        if span == Span::ZERO {
            self.refuse(&spanned.place, "`bucket` must be longer than zero".into(), "the default is `\"100ms\"`");
        }
        span
    }

    fn groups(&mut self, policies: &[RetryPolicy]) -> Vec<GroupDraft> {
        let groups = self.tables.clients.entries();
        groups.filter_map(|(name, field)| Some(self.group(name, field.get()?, field.key(), policies))).collect()
    }

    fn group(
        &mut self,
        name: &str,
        table: &ClientTable,
        place: Option<&Place>,
        policies: &[RetryPolicy],
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
        let arrivals = match table.arrivals.get() {
            Some(ArrivalsChoice::Burst(burst)) => Arrivals::Burst { at: instant(burst.value.at.get().copied()) },
            None => Arrivals::Burst { at: Instant::ZERO },
        };
        let clients = table.count.get().map_or(1, |&Whole(count)| u32::try_from(count).expect("at most 2^28"));
        let calls = self.calls(&format!("clients.{name}"), &table.calls, None, policies);
        GroupDraft { name: name.to_owned(), clients, arrivals, calls }
    }

    fn services(&mut self, policies: &[RetryPolicy]) -> Vec<ServiceDraft> {
        let mut services = Vec::new();
        for (id, (name, field)) in self.tables.services.entries().enumerate() {
            let Some(table) = field.get() else { continue };
            let service_time = match table.service_time.get() {
                Some(setting) => self.dist(setting, &format!("services.{name}.service_time")),
                None => Dist::ZERO,
            };
            let calls = self.calls(&format!("services.{name}"), &table.calls, Some(id), policies);
            services.push(ServiceDraft { name: name.to_owned(), service_time, calls });
        }
        services
    }

    /// A path of a variant or flag that misspells a name makes a new thing that nobody uses: an error, not a surprise.
    fn check_created(&mut self, created: &[Created]) {
        for Created { table, name, place } in created {
            let tables = self.tables;
            let (used, others): (bool, Vec<&str>) = match table.as_str() {
                "services" => (self.is_called(name), tables.services.names().collect()),
                "retries" => (self.is_used(name), tables.retries.names().collect()),
                _ => continue,
            };
            if !used {
                let others = others.into_iter().filter(|other| other != name);
                let error =
                    Diagnostic::new(format!("there is no `{table}.{name}` to change, and nothing uses a new one"));
                self.errors.push(error.at(place).maybe_hint(suggest::hint(name, table, others)));
            }
        }
    }
}

/// A time of the run; its start where none is given.
fn instant(duration: Option<Duration>) -> Instant {
    duration.map_or(Instant::ZERO, |Duration(span)| Instant::ZERO + span)
}
