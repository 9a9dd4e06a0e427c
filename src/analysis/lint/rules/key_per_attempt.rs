//! Idempotency keys that do not tell what is the same.
//!
//! Silent where no service that is called keeps keys; about keys per attempt where the clients' own call is tried only
//! once, since then they are keys per operation; and about a key that is used again by clients that make one request
//! each.

use crate::analysis::lint::findings::{Findings, Hit};
use crate::analysis::lint::rule::{Check, Example, Rule};
use crate::analysis::lint::subject::Subject;
use crate::analysis::lint::words;
use crate::plan::{Arrivals, CallId, Group, GroupId, Keys, Origin, ServiceId, Store};
use crate::scenario::Severity;

pub static RULE: Rule = Rule {
    id: "key-per-attempt",
    severity: Severity::Error,
    finds: "Idempotency keys are made anew for each attempt, or used again for another operation.",
    why: "A store tells by the key what was done before. With a new key for each attempt, as from a library that makes \
          it where the request is built, it remembers everything and recognises nothing: what timed out and is tried \
          again is done again. With one key for several operations it takes the second for the first: it sees that \
          they differ and refuses it, for as long as it keeps the key (422 in the IETF's draft of an Idempotency-Key \
          header).",
    instead: "make one key for each operation, before its first attempt, and send it with all of them: \
              `idempotency = \"key\"`",
    example: Example {
        bad: r#"
[clients.shop]
count = 10
arrivals = { constant = { rate = 100 } }
idempotency = "key_per_attempt"
calls.payments = { timeout = "1s", retry = "again" }
[services.payments]
service_time = "50ms"
writes = true
idempotency_store = { ttl = "24h" }
[retries.again]
max_attempts = 3
backoff = { exponential = { base = "1s" } }
jitter = "full"
"#,
        good: &[r#"clients.shop.idempotency="key""#],
    },
    check: Check::Variant(check),
};

fn check(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    let plan = subject.plan;
    if !plan.groups.iter().any(|group| matches!(group.operations.keys, Keys::PerAttempt | Keys::Reused)) {
        return;
    }
    let services = (0..).map(ServiceId).zip(&plan.services);
    let stores = services.filter_map(|(id, service)| Some((id, service.effects.store?, subject.leads_to(id))));
    let stores: Vec<(ServiceId, Store, Vec<bool>)> = stores.collect();
    for (id, group) in (0..).map(GroupId).zip(&plan.groups) {
        let own = subject.calls().filter(|(_, call)| call.origin == Origin::Group(id));
        // The first of its calls that comes to a store.
        let found = own.map(|(call, _)| call).find_map(|call| {
            let (service, store, _) = stores.iter().find(|(_, _, leads)| leads[call.index()])?;
            let figure = match group.operations.keys {
                Keys::PerAttempt => anew(subject, call, *service),
                Keys::Reused => again(subject, group, *service, *store),
                Keys::None | Keys::PerOperation => None,
            };
            Some((*service, figure?))
        });
        let Some((service, figure)) = found else { continue };
        let (path, service) = (subject.group_path(id), subject.service_path(service));
        let message = match group.operations.keys {
            Keys::Reused => {
                format!("`{path}` sends one key for all operations of a client to the store of `{service}`")
            }
            _ => {
                format!("`{path}` sends a new key with each attempt, of which the store of `{service}` recognises none")
            }
        };
        findings.add(Hit { owner: path, keys: &["idempotency"], message, figure });
    }
}

/// A new key for each attempt.
fn anew(subject: &Subject<'_>, call: CallId, service: ServiceId) -> Option<String> {
    let copies = subject.plan.calls[call.index()].hedge.map_or(0, |hedge| hedge.copies);
    let name = subject.service_name(service);
    match subject.attempts(call) {
        Some(1) if copies == 0 => None,
        Some(attempts) => {
            let times = f64::from(attempts) * (1.0 + f64::from(copies));
            Some(format!("what times out each time is done up to {} times at `{name}`", words::count(times)))
        }
        None => Some(format!("what times out each time is done at `{name}` as often as it is tried, without a limit")),
    }
}

/// One key for several operations.
fn again(subject: &Subject<'_>, group: &Group, service: ServiceId, store: Store) -> Option<String> {
    let each = match &group.arrivals {
        Arrivals::Burst { .. } => 1.0,
        Arrivals::Closed { requests, .. } => *requests as f64,
        Arrivals::Trace(instants) => instants.len() as f64 / f64::from(group.clients),
        Arrivals::Constant { .. } | Arrivals::Poisson(_) | Arrivals::Periodic { .. } => f64::INFINITY,
    };
    (each > 1.0).then(|| {
        format!(
            "of the requests of a client `{}` does one in {}, and answers all others with `invalid`",
            subject.service_name(service),
            words::time(store.ttl)
        )
    })
}
