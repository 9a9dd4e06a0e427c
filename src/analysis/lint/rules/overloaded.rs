//! A service that is asked for more than it can do.
//!
//! What arrives while nothing fails is held against what it can do in the long run, at the busiest moment of the
//! clients that come by the second; load that a fault adds does not count. Silent where the rate is not known: of
//! clients that come at one instant, or when their last request is over. Where its workers wait for calls of its own,
//! what these take at least bounds what it can do.

use crate::analysis::lint::findings::{Findings, Hit};
use crate::analysis::lint::rule::{Check, Example, Rule};
use crate::analysis::lint::subject::Subject;
use crate::analysis::lint::words;
use crate::analysis::{ServiceLoad, Standing};
use crate::plan::{Capacity, Service, ServiceId};
use crate::scenario::Severity;

pub static RULE: Rule = Rule {
    id: "overloaded",
    severity: Severity::Error,
    finds: "A service cannot do what is asked of it even if nothing fails and nobody tries again.",
    why: "What is too much waits, and more of it with each second, until callers give up or the queue is full; then \
          retries come on top. No policy helps, and what such a scenario says of one is about the overload and not \
          about it. At exactly its capacity a service is overloaded, too: what has once begun to wait never becomes \
          less. With four workers at 25 ms, 160 per second can be done; at 200 per second what waits has reached 400 \
          after ten seconds, and whoever comes then waits for 2.5 s.",
    instead: "give it more `workers` or `instances`, or let fewer requests come; if turning away what is too much is \
              what the scenario is about, allow it with that reason",
    example: Example {
        bad: r#"
clients.web = { arrivals = { constant = { rate = 200 } }, calls.svc = { timeout = "1s" } }
services.svc = { workers = 4, service_time = "25ms" }
"#,
        good: &["services.svc.workers=6"],
    },
    check: Check::Variant(check),
};

fn check(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for ((id, service), load) in (0..).map(ServiceId).zip(&subject.plan.services).zip(&subject.loads) {
        let ServiceLoad { capacity_rps, capacity_at_most_rps, offered_rps, standing, .. } = load;
        let (Some(Standing::Overloaded), Some(capacity), Some(offered)) =
            (standing, capacity_rps.or(*capacity_at_most_rps), offered_rps)
        else {
            continue;
        };
        let can_do = if capacity_rps.is_some() { "can do" } else { "can do at most" };
        let path = subject.service_path(id);
        findings.add(Hit {
            message: format!(
                "`{path}` {can_do} {} per second, and {} are asked of it even if nothing fails",
                words::count(capacity),
                words::count(*offered)
            ),
            owner: path,
            keys: &["workers", "limiter", "max_in_flight", "service_time"],
            figure: figure(service, capacity, *offered),
        });
    }
}

/// What becomes of what is too much.
fn figure(service: &Service, capacity: f64, offered: f64) -> String {
    let too_much = offered - capacity;
    // Sums of decimal fractions are off by some units in the last place.
    if too_much <= capacity * 1e-9 {
        return "what has once begun to wait never becomes less".to_owned();
    }
    let too_much = words::count(too_much);
    if keeps_all(&service.capacity, capacity) {
        format!("with each such second {too_much} more wait")
    } else {
        format!("of each such second {too_much} are turned away in the end")
    }
}

/// Whether all that is too much for a service that can do so much waits in its queue.
fn keeps_all(Capacity { instances, workers, queue, max_in_flight, limiter, .. }: &Capacity, capacity: f64) -> bool {
    let lets_in = limiter.per_second().map_or(f64::INFINITY, |rate| rate * f64::from(*instances));
    let is_limited = |count: u32| count != Capacity::NO_LIMIT;
    is_limited(*workers) && !is_limited(queue.limit) && !is_limited(*max_in_flight) && lets_in > capacity
}
