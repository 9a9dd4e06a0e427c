//! Calls: their targets, their limits, their retry policies.

use crate::dist::Dist;
use crate::plan::{CallDraft, DeadlineRule, PolicyDraft, PolicyId, PoolDraft, ServiceId};
use crate::presets;
use crate::scenario::counts::PoolSize;
use crate::scenario::diagnostics::Diagnostic;
use crate::scenario::field::{Field, Named};
use crate::scenario::resolve::capacity::narrow;
use crate::scenario::resolve::graph::Edge;
use crate::scenario::resolve::policies::NO_POLICY;
use crate::scenario::resolve::{Resolver, is_open};
use crate::scenario::suggest;
use crate::scenario::tables::CallTable;
use crate::scenario::values::{Duration, Name, PolicyName, Positive, Reserve, Share};
use crate::time::Span;

/// Who makes calls.
pub(super) struct Caller<'a> {
    /// Its path.
    pub(super) path: &'a str,
    /// Its position among the services, if it is one.
    pub(super) service: Option<usize>,
    /// Its calls.
    pub(super) calls: &'a Field<Named<CallTable>>,
}

impl Resolver<'_> {
    /// The calls of one caller; `fallbacks` has the position of each call's fallback, where it has one.
    pub(super) fn calls(
        &mut self,
        caller: &Caller<'_>,
        fallbacks: &[Option<usize>],
        policies: &[PolicyDraft],
    ) -> Vec<CallDraft> {
        let mut drafts = Vec::new();
        for (position, (label, field)) in caller.calls.entries().enumerate() {
            let Some(table) = field.get() else { continue };
            let path = format!("{}.calls.{label}", caller.path);
            self.check_side(&path, table, caller.service.is_some());
            let target = self.target(&path, label, table, field, caller.service);
            let policy = self.policy(&path, table);
            if policies.get(policy.index()).is_some_and(is_unlimited) {
                self.check_end(&path, table);
            }
            let fallback = fallbacks.get(position).copied().flatten();
            // Without a target the rest is checked all the same.
            let draft = self.call(&path, label, table, target.unwrap_or(ServiceId(0)), policy, fallback);
            drafts.extend(target.map(|_| draft));
        }
        drafts
    }

    fn call(
        &mut self,
        path: &str,
        label: &str,
        table: &CallTable,
        target: ServiceId,
        policy: PolicyId,
        fallback: Option<usize>,
    ) -> CallDraft {
        let (copies, required) = self.copies(path, table);
        let network = match table.network.get() {
            Some(setting) => self.dist(setting, &format!("{path}.network")),
            None => Dist::ZERO,
        };
        CallDraft {
            label: label.to_owned(),
            target,
            weight: table.weight.get().map_or(1.0, |&Positive(weight)| weight),
            copies,
            required,
            probability: table.probability.get().map_or(1.0, |&Share(share)| share),
            optional: table.optional.get() == Some(&true),
            fallback,
            network,
            connect_timeout: self.limit(&table.connect_timeout, &format!("`{path}.connect_timeout`")),
            deadline: self.deadline(path, table),
            timeout: self.limit(&table.timeout, &format!("`{path}.timeout`")),
            total_timeout: self.limit(&table.total_timeout, &format!("`{path}.total_timeout`")),
            policy,
            pool: self.pool(path, table),
            breaker: self.breaker(path, table),
            throttle: self.throttle(path, table),
            hedge: self.hedge(path, table),
            avoid_previous: table.avoid_previous.get() == Some(&true),
        }
    }

    /// Keys that only calls of clients have, or only calls of services.
    fn check_side(&mut self, path: &str, table: &CallTable, of_a_service: bool) {
        if of_a_service {
            if let Some(place) = table.weight.key() {
                let message = format!("`{path}.weight`: a service makes all of its calls, so they have no weights");
                self.refuse(place, message, "take it out; weights are for the calls of client groups");
            }
            return;
        }
        let settings = [
            ("probability", table.probability.key()),
            ("copies", table.copies.key()),
            ("required", table.required.key()),
            ("optional", table.optional.key()),
            ("if_failed", table.if_failed.key()),
        ];
        for (key, place) in settings {
            let Some(place) = place else { continue };
            let message = format!("`{path}.{key}`: a client's request makes one of its calls, chosen by `weight`");
            self.refuse(place, message, format!("take it out; `{key}` is for the calls of services"));
        }
    }

    /// How many copies there are, and how many of them must succeed.
    fn copies(&mut self, path: &str, table: &CallTable) -> (u32, u32) {
        let copies = table.copies.get().map_or(1, |&copies| narrow(copies));
        let Some(given) = table.required.spanned() else { return (copies, copies) };
        let required = narrow(given.value);
        // Wrong `copies` have been reported: how many were meant is not known.
        if required > copies && !table.copies.is_wrong() {
            let are = if copies == 1 { "is" } else { "are" };
            let message = format!("`{path}.required` is {required}, but there {are} only {copies}");
            self.refuse(&given.place, message, "it is how many of the `copies` must succeed");
        }
        (copies, required)
    }

    fn pool(&mut self, path: &str, table: &CallTable) -> Option<PoolDraft> {
        let given = table.pool.spanned()?;
        let pool = given.value.value()?;
        self.require(&pool.size, &format!("`{path}.pool`"), "size", "100", Some(&given.place));
        let &PoolSize(size) = pool.size.get()?;
        let max_wait = pool.max_wait.get().and_then(|limit| limit.value()).map(|&Duration(span)| span);
        Some(PoolDraft { size: narrow(size), max_wait })
    }

    fn deadline(&mut self, path: &str, table: &CallTable) -> DeadlineRule {
        let rule = match table.reserve.get() {
            None => DeadlineRule::PassLess(Span::ZERO),
            Some(&Reserve::Time(span)) => DeadlineRule::PassLess(span),
            Some(&Reserve::Share(share)) => DeadlineRule::PassLessShare(share),
        };
        match table.propagate_deadline.get() {
            Some(true) => {
                let limits =
                    [&table.timeout, &table.total_timeout].into_iter().filter_map(|limit| limit.get()?.value());
                let shortest = limits.map(|limit| limit.0).min();
                if let (DeadlineRule::PassLess(reserve), Some(limit), Some(place)) =
                    (rule, shortest, table.reserve.key())
                    && reserve >= limit
                {
                    let message = format!("`{path}.reserve` leaves nothing of the time that the call has");
                    self.refuse(place, message, "make it shorter than `timeout` and `total_timeout`");
                }
                rule
            }
            Some(false) | None => {
                // A reserve of nothing says nothing, so that a variant can take it back.
                let keeps = !matches!(rule, DeadlineRule::PassLess(Span::ZERO));
                if let (true, false, Some(place)) = (keeps, table.propagate_deadline.is_wrong(), table.reserve.key()) {
                    let message = format!("`{path}.reserve` is kept back of a deadline that is not passed on");
                    self.refuse(place, message, "add `propagate_deadline = true`, or write `reserve = \"0s\"`");
                }
                DeadlineRule::Keep
            }
        }
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
        let PolicyName(name) = &retry.value;
        if name == NO_POLICY {
            return PolicyId(0);
        }
        match self.tables.retries.position(name) {
            // The first policy is that of calls without one.
            Some(position) => PolicyId(position as u32 + 1),
            None => {
                let policies: Vec<&str> = self.tables.retries.names().chain([NO_POLICY]).collect();
                let presets = presets::names().map(|name| -> &str { name });
                let hint = match suggest::nearest(name, policies.iter().copied().chain(presets)) {
                    Some(nearest) => format!("did you mean `{nearest}`?"),
                    None => {
                        let policies = suggest::hint(name, "retry policies", policies);
                        policies.map_or_else(String::new, |hint| hint + "; ") + presets::LISTED
                    }
                };
                let error = Diagnostic::new(format!("`{path}.retry` names an unknown retry policy `{name}`"));
                self.errors.push(error.at(&retry.place).hint(hint));
                PolicyId(0)
            }
        }
    }

    /// Without any limit a call to something that fails for ever never ends, and the run does not either.
    fn check_end(&mut self, path: &str, table: &CallTable) {
        if is_open(&self.tables.horizon)
            && is_open(&table.total_timeout)
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
        self.all_calls().any(|(_, table)| table.retry.get().is_some_and(|PolicyName(name)| name == policy))
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

/// Whether a policy retries for ever if every attempt fails. A budget that retries are paid from runs dry.
fn is_unlimited(draft: &PolicyDraft) -> bool {
    draft.policy.max_attempts == u32::MAX && draft.budget.is_none_or(|budget| !budget.rule.runs_dry())
}
