//! Calls: their targets, their limits, their retry policies.

use crate::plan::{CallDraft, PolicyId, ServiceId};
use crate::policy::RetryPolicy;
use crate::scenario::diagnostics::Diagnostic;
use crate::scenario::field::{Field, Named, OrNone};
use crate::scenario::resolve::Resolver;
use crate::scenario::resolve::graph::Edge;
use crate::scenario::resolve::policies::NO_POLICY;
use crate::scenario::suggest;
use crate::scenario::tables::CallTable;
use crate::scenario::values::{Duration, Name, Positive};

impl Resolver<'_> {
    /// The calls of one caller, whose path is `owner`; `service` is its position if it is a service.
    pub(super) fn calls(
        &mut self,
        owner: &str,
        calls: &Field<Named<CallTable>>,
        service: Option<usize>,
        policies: &[RetryPolicy],
    ) -> Vec<CallDraft> {
        let mut drafts = Vec::new();
        for (label, field) in calls.entries() {
            let Some(table) = field.get() else { continue };
            let path = format!("{owner}.calls.{label}");
            let target = self.target(&path, label, table, field, service);
            let weight = table.weight.get().map_or(1.0, |&Positive(weight)| weight);
            if let (Some(_), Some(place)) = (service, table.weight.key()) {
                let message = format!("`{path}.weight`: a service makes all of its calls, so they have no weights");
                self.refuse(place, message, "take it out; weights are for the calls of client groups");
            }
            let timeout = self.limit(&table.timeout, &format!("`{path}.timeout`"));
            let total_timeout = self.limit(&table.total_timeout, &format!("`{path}.total_timeout`"));
            let policy = self.policy(&path, table);
            if policies.get(policy.index()).is_some_and(|policy| policy.max_attempts == u32::MAX) {
                self.check_end(&path, table);
            }
            if let Some(target) = target {
                drafts.push(CallDraft { label: label.to_owned(), target, weight, timeout, total_timeout, policy });
            }
        }
        drafts
    }

    fn target(
        &mut self,
        path: &str,
        label: &str,
        table: &CallTable,
        field: &Field<CallTable>,
        service: Option<usize>,
    ) -> Option<ServiceId> {
        let (name, place) = match table.to.spanned() {
            Some(to) => (to.value.0.as_str(), &to.place),
            // Without `to` the label is the target; a `to` that is wrong has been reported.
            None if table.to.is_absent() => (label, field.key()?),
            None => return None,
        };
        let Some(target) = self.tables.services.position(name) else {
            let services = self.tables.services.names();
            let error = if self.tables.clients.position(name).is_some() {
                Diagnostic::new(format!("`{path}` calls `{name}`, which is a client group"))
                    .hint("only services can be called")
            } else {
                Diagnostic::new(format!("`{path}` calls an unknown service `{name}`"))
                    .maybe_hint(suggest::hint(name, "services", services))
            };
            self.errors.push(error.at(place));
            return None;
        };
        if let Some(from) = service {
            self.edges.push(Edge { from, to: target, place: place.clone() });
        }
        Some(ServiceId(target as u32))
    }

    fn policy(&mut self, path: &str, table: &CallTable) -> PolicyId {
        let Some(retry) = table.retry.spanned() else { return PolicyId(0) };
        let Name(name) = &retry.value;
        if name == NO_POLICY {
            return PolicyId(0);
        }
        match self.tables.retries.position(name) {
            // The first policy is that of calls without one.
            Some(position) => PolicyId(position as u32 + 1),
            None => {
                let names = self.tables.retries.names().chain([NO_POLICY]);
                let error = Diagnostic::new(format!("`{path}.retry` names an unknown retry policy `{name}`"));
                self.errors.push(error.at(&retry.place).maybe_hint(suggest::hint(name, "retry policies", names)));
                PolicyId(0)
            }
        }
    }

    /// Without any limit a call to something that fails for ever never ends, and the run does not either.
    fn check_end(&mut self, path: &str, table: &CallTable) {
        // A limit that is wrong has been reported, and counts as one.
        let endless = |limit: &Field<OrNone<Duration>>| {
            limit.is_absent() || limit.get().is_some_and(|limit| limit.value().is_none())
        };
        if endless(&self.tables.horizon)
            && endless(&table.total_timeout)
            && let Some(retry) = table.retry.spanned()
        {
            let message = format!("`{path}` may never end: it retries without limit, and nothing stops the run");
            let hint = "set a `total_timeout` for the call, or a `horizon` for the run, or limit the retries";
            self.refuse(&retry.place, message, hint);
        }
    }

    /// Whether any call goes to a service.
    pub(super) fn is_called(&self, service: &str) -> bool {
        self.all_calls().any(|(label, table)| match table.to.get() {
            Some(Name(to)) => to == service,
            None => label == service,
        })
    }

    /// Whether any call names a retry policy.
    pub(super) fn is_used(&self, policy: &str) -> bool {
        self.all_calls().any(|(_, table)| table.retry.get().is_some_and(|Name(name)| name == policy))
    }

    fn all_calls(&self) -> impl Iterator<Item = (&str, &CallTable)> {
        let clients = self.tables.clients.entries().filter_map(|(_, field)| field.get()).map(|table| &table.calls);
        let services = self.tables.services.entries().filter_map(|(_, field)| field.get()).map(|table| &table.calls);
        clients
            .chain(services)
            .flat_map(|calls| calls.entries())
            .filter_map(|(label, field)| Some((label, field.get()?)))
    }
}
