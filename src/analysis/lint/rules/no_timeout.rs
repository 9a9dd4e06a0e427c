//! An attempt that nothing ends.
//!
//! A `connect_timeout` does not end it: it is over once the callee has the request. Calls of a service with `cancel =
//! "running"` end with their caller, and nothing is said of them if everybody gives that up some time.

use crate::analysis::lint::findings::{Findings, Hit};
use crate::analysis::lint::limits::{attempt, ended_from_above, is_among};
use crate::analysis::lint::rule::{Check, Example, Rule};
use crate::analysis::lint::subject::Subject;
use crate::analysis::lint::words;
use crate::plan::{Arrivals, Call, CallId, Capacity, GroupId, Origin};
use crate::scenario::Severity;
use crate::time::Span;

pub static RULE: Rule = Rule {
    id: "no-timeout",
    severity: Severity::Warning,
    finds: "Nothing ends an attempt that gets no answer: no `timeout`, no `total_timeout` and no deadline of its \
          caller.",
    why: "A callee that is down says so; one that hangs says nothing. What waits for it keeps its request, its \
          connection and its worker, and no retry ever begins, since nothing has failed. Where a dependency becomes \
          slow and not silent the same happens by degrees: at a constant rate, 200 times the latency (50 ms and then \
          10 s) are 200 times as many requests in flight. Many clients wait for ever unless they are told otherwise: \
          Istio sets the timeout of a route to none, and Resilience4j's retry has no limit of time.",
    instead: "give each attempt a `timeout`, somewhat above the 99th percentile of what the callee takes, and the \
          call a `total_timeout`",
    example: Example {
        bad: r#"
clients.web = { arrivals = { constant = { rate = 100 } }, calls.api = { timeout = "1s" } }
services.api = { workers = 64, service_time = "5ms", calls.db = {} }
services.db = { service_time = "5ms" }
"#,
        good: &[r#"services.api.calls.db.timeout="250ms""#],
    },
    check: Check::Variant(check),
};

fn check(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    let ended = ended_from_above(subject);
    for (id, call) in subject.calls() {
        if attempt(subject, id) < Span::LIMIT || is_among(&ended, call) {
            continue;
        }
        let name = subject.call_name(id);
        findings.add(Hit {
            owner: subject.call_path(id),
            keys: &["timeout", "total_timeout"],
            message: format!(
                "`{name}` has no `timeout`, and there is no total time limit: nothing ends an attempt without an answer"
            ),
            figure: figure(subject, id, call),
        });
    }
}

/// What it takes to stop the caller.
fn figure(subject: &Subject<'_>, id: CallId, call: &Call) -> String {
    let plan = subject.plan;
    let target = subject.service_name(call.target);
    let silent = format!("when `{target}` takes requests and does not answer,");
    let slots = call.pool.map(|pool| (pool.size, "slots of the pool"));
    let workers = match call.origin {
        Origin::Service(caller) => {
            let capacity = &plan.services[caller.index()].capacity;
            let is_limited = capacity.holds_worker && capacity.workers != Capacity::NO_LIMIT;
            is_limited.then_some((capacity.workers, "workers"))
        }
        Origin::Group(_) => None,
    };
    if let Some((most, what)) = slots.into_iter().chain(workers).min() {
        let (caller, _) = subject.call_name(id).split_once("->").unwrap_or_default();
        let most = words::count(f64::from(most));
        return format!(
            "{silent} all {what} of an instance of `{caller}` are held for good by so many requests: {most}"
        );
    }
    let is_closed = |group: GroupId| matches!(plan.groups[group.index()].arrivals, Arrivals::Closed { .. });
    let rate = subject.made(id).per_second;
    match call.origin {
        Origin::Group(group) if is_closed(group) => {
            format!("{silent} each client is stopped for good by its first request")
        }
        _ if rate > 0.0 => format!("{silent} {} more requests wait for ever with each second", words::count(rate)),
        _ => format!("{silent} each request waits for ever"),
    }
}
