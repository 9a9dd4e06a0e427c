//! Services that retries alone can keep down.
//!
//! Silent where no caller that nothing holds back tries again after a timeout, and where what is served under overload
//! has been there for a shorter time than callers wait: with a short queue, the newest first, or `deadline_aware`. Then
//! what a service does while it gets too much is not in vain, and what has succeeded is not tried again. What is called
//! in the place of something else that fails does not count: it goes away with that. Where workers wait for calls of
//! their service, what these take at least bounds what it can do.

use crate::analysis::lint::findings::{Findings, Hit};
use crate::analysis::lint::rule::{Check, Example, Rule};
use crate::analysis::lint::storm::longest_stay_s;
use crate::analysis::lint::subject::Subject;
use crate::analysis::lint::words;
use crate::analysis::load::loads;
use crate::analysis::{ServiceLoad, Standing};
use crate::plan::{Call, CallId, ServiceId};
use crate::scenario::Severity;

pub static RULE: Rule = Rule {
    id: "metastable",
    severity: Severity::Warning,
    finds: "A service can do what comes in, but not all the retries of it, and retries are all that it takes to keep \
            it down.",
    why: "Something short, a checkpoint or a failover, makes callers wait for too long. They give up and try again, \
          their old attempts are still in the queue, and soon all that is served is too late. From then on every \
          request makes all of its attempts, which is more than the service can do, so that it stays so when the cause \
          is gone. A service that could do 160 per second and got 50 did not come back from two seconds of slowness \
          with four attempts per request, and did with three (PierreZ/moonpool, issue 193).",
    instead: "allow fewer attempts, so that all of them together are less than the service can do; or give the policy \
              a `budget`; or give the queue a short `limit`, or, where workers do not wait for calls of their own, \
              `drop = \"deadline_aware\"`",
    example: Example {
        bad: r#"
clients.web = { arrivals = { constant = { rate = 50 } }, calls.svc = { timeout = "200ms", retry = "eager" } }
services.svc = { workers = 4, service_time = "25ms" }
retries.eager = { max_attempts = 4 }
"#,
        good: &["retries.eager.max_attempts=3"],
    },
    check: Check::Variant(check),
};

fn check(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    let impatient = subject.impatient();
    for ((id, service), load) in (0..).map(ServiceId).zip(&subject.plan.services).zip(&subject.loads) {
        if load.standing != Some(Standing::Vulnerable) {
            continue;
        }
        let Some(caller) = subject.first_to(id, &impatient) else { continue };
        let times = subject.holding.times(id);
        if !caller.bears(times.answer_s) || caller.bears(longest_stay_s(service, times)) {
            continue;
        }
        let load = without_fallbacks(subject, id).unwrap_or_else(|| load.clone());
        let bound = load.capacity_rps.or(load.capacity_at_most_rps);
        let (Some(Standing::Vulnerable), Some(capacity), Some(offered), Some(failing)) =
            (load.standing, bound, load.offered_rps, load.failing_rps)
        else {
            continue;
        };
        if offered <= 0.0 {
            continue;
        }
        let (can_do, comes_back) = if load.capacity_rps.is_some() {
            ("can do", "it comes back by itself")
        } else {
            ("can do at most", "it may come back by itself")
        };
        let [times, offered, failing, bearable, capacity] =
            [failing / offered, offered, failing, offered * capacity / failing, capacity].map(words::count);
        let (name, path) = (&load.service, subject.service_path(id));
        findings.add(Hit {
            message: format!(
                "`{path}` is a metastable candidate: it {can_do} {capacity} per second, and all attempts of all \
                 requests are {times} x {offered} = {failing}"
            ),
            owner: path,
            keys: &["workers", "limiter", "max_in_flight", "service_time"],
            figure: format!(
                "once everybody has waited in vain, {failing} attempts per second keep `{name}` busy for nobody, \
                 whatever it was that began it; below {bearable} requests per second {comes_back}"
            ),
        });
    }
}

/// In plans with more services than these, loads are not reckoned again without fallbacks: that takes too long.
const SERVICES_MAX: usize = 100;

/// The load of a service that stands in for others, if those do not fail; none of any other service.
fn without_fallbacks(subject: &Subject<'_>, service: ServiceId) -> Option<ServiceLoad> {
    let leads = subject.leads_to(service);
    let stands_in = |(id, call): (CallId, &Call)| {
        let spare = call.fallback.filter(|spare| !leads[id.index()] && leads[spare.index()]);
        spare.map(|spare| (id, spare))
    };
    let spares: Vec<(CallId, CallId)> = subject.calls().filter_map(stands_in).collect();
    if spares.is_empty() || subject.plan.services.len() > SERVICES_MAX {
        return None;
    }
    let mut plan = subject.plan.clone();
    for (id, spare) in spares {
        plan.calls[id.index()].fallback = None;
        plan.calls[spare.index()].probability = 0;
    }
    loads(&plan).into_iter().nth(service.index())
}
