//! First in, first out, and a queue that is longer than anybody waits.
//!
//! Silent where all attempts of all requests are less than the service can do, since then what has piled up goes away
//! by itself; where the work alone takes longer than callers wait, which no queue changes; where none of the callers
//! that retry after a timeout is without a budget, breaker or throttle; and where all that can be there at one time is
//! served before the first gives up. Of clients that make one request after the other that is one attempt of each: the
//! next comes when that is given up, so that no more arrive in that time than are served, and what has piled up
//! becomes less.

use crate::analysis::holding::Times;
use crate::analysis::lint::findings::{Findings, Hit};
use crate::analysis::lint::rule::{Check, Example, Rule};
use crate::analysis::lint::storm::{Impatient, longest_stay_s};
use crate::analysis::lint::subject::{Crowd, Subject};
use crate::analysis::lint::words;
use crate::analysis::worst_case::attempts_of_one;
use crate::analysis::{AttemptsOfClient, Standing};
use crate::plan::{
    Arrivals, CallId, Capacity, DropRule, Group, GroupId, Order, Origin, Plan, PolicyId, Service, ServiceId,
};
use crate::policy::RetryPolicy;
use crate::scenario::Severity;

pub static RULE: Rule = Rule {
    id: "unbounded-fifo",
    severity: Severity::Warning,
    finds: "A queue serves the oldest first and holds more than is served before its callers give up and try again.",
    why: "Once the queue is that long, whoever is served has given up: the service works at full speed for nobody, and \
          the retries keep the queue as long as it is. Dropping expired work alone need not cure it: what is not \
          dropped has waited for nearly as long as it may, and expires while it is served: of a service that got 50 \
          requests per second and could do 160, none succeeded with `drop = \"expired\"`, and all with \
          `deadline_aware` (PierreZ/moonpool, issue 193).",
    instead: "give the queue a `limit` that is served well within the timeout, or `order = \"adaptive_lifo\"`, or, \
              where workers do not wait for calls of their own, `drop = \"deadline_aware\"`",
    example: Example {
        bad: r#"
clients.web = { arrivals = { constant = { rate = 50 } }, calls.svc = { timeout = "200ms", retry = "eager" } }
services.svc = { workers = 4, service_time = "25ms", queue = { drop = "expired" } }
retries.eager = { max_attempts = 4 }
"#,
        good: &[r#"services.svc.queue={ limit = 20 }"#],
    },
    check: Check::Variant(check),
};

fn check(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    let impatient = subject.impatient();
    for ((id, service), load) in (0..).map(ServiceId).zip(&subject.plan.services).zip(&subject.loads) {
        let capacity = &service.capacity;
        if capacity.workers == Capacity::NO_LIMIT
            || capacity.queue.order != Order::Fifo
            || load.standing == Some(Standing::Stable)
        {
            continue;
        }
        let Some(caller) = subject.first_to(id, &impatient) else { continue };
        let times = subject.holding.times(id);
        let stay_s = longest_stay_s(service, times);
        if !caller.bears(times.answer_s) || caller.bears(stay_s.min(all_at_once_s(subject, id, service))) {
            continue;
        }
        let path = subject.service_path(id);
        let dropping = match capacity.queue.drop_rule {
            DropRule::Expired => ", and dropping what has expired alone need not cure it",
            DropRule::DeadlineAware => ", and `deadline_aware` leaves no time for the calls that it makes",
            DropRule::Never | DropRule::Codel(_) => "",
        };
        let holds = if stay_s.is_finite() {
            format!("holds what takes {}", words::seconds(stay_s))
        } else {
            "has no limit".to_owned()
        };
        findings.add(Hit {
            message: format!(
                "the queue of `{path}` is first in, first out and {holds}, while `{}` waits for {} and tries \
                 again{dropping}",
                subject.call_name(caller.call),
                words::seconds(caller.patience_s)
            ),
            owner: path,
            keys: &["queue.limit", "queue", "workers"],
            figure: figure(subject, (id, service), caller),
        });
    }
}

/// How long it takes to serve all that can be there at one time if nothing goes wrong, in seconds: all attempts of
/// clients that come together once, and what comes of one attempt of each client that makes its next request when its
/// last is over. Infinite if others come by the second, or if attempts have no limit that can be told.
fn all_at_once_s(subject: &Subject<'_>, id: ServiceId, service: &Service) -> f64 {
    let plan = subject.plan;
    let groups = subject.loads[id.index()].clients.iter().map(|AttemptsOfClient { client, at_most }| {
        let at = plan.labels.groups.iter().position(|name| name == client)?;
        let Group { arrivals, clients, .. } = &plan.groups[at];
        let Crowd { clients, per_second } = Crowd::of(arrivals, *clients);
        let each = match arrivals {
            Arrivals::Closed { .. } => at_once_of_one(plan, GroupId(at as u32), id)?,
            _ => (*at_most)?,
        };
        (per_second == 0.0).then_some(clients * each)
    });
    let (Some(attempts), Some(workers)) = (groups.sum::<Option<f64>>(), service.capacity.all_workers()) else {
        return f64::INFINITY;
    };
    let Times { worker_s, answer_s } = subject.holding.times(id);
    (attempts / workers as f64 - 1.0).max(0.0) * worker_s + answer_s
}

/// How many attempts arrive at a service for one attempt of a group's own calls at the most.
fn at_once_of_one(plan: &Plan, group: GroupId, service: ServiceId) -> Option<f64> {
    let mut plan = plan.clone();
    for at in 0..plan.calls.len() {
        if plan.calls[at].origin == Origin::Group(group) {
            let once = RetryPolicy { max_attempts: 1, ..plan.policy_of(CallId(at as u32)).clone() };
            plan.calls[at].policy = PolicyId(plan.policies.len() as u32);
            plan.policies.push(once);
        }
    }
    attempts_of_one(&plan, group)[service.index()]
}

fn figure(subject: &Subject<'_>, (id, service): (ServiceId, &Service), caller: Impatient) -> String {
    let name = subject.service_name(id);
    let Times { worker_s, answer_s } = subject.holding.times(id);
    let workers = service.capacity.all_workers().map_or(0.0, |workers| workers as f64);
    // What is served last before the caller gives up has waited for the patience less its own service.
    let in_time = libm::floor((caller.patience_s - answer_s).max(0.0) / worker_s * workers + 1e-9);
    let late = format!(
        "once more than {} attempts wait, what `{name}` serves is given up before it is done",
        words::count(in_time)
    );
    let offered_rps = subject.crowd(id).per_second;
    if offered_rps <= 0.0 {
        return late;
    }
    let stall_s = (in_time + 1.0) / offered_rps;
    format!("{late}; at {} per second a stall of {} is enough", words::count(offered_rps), words::seconds(stall_s))
}
