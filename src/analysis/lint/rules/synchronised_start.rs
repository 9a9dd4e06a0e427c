//! First attempts that all begin at one instant.
//!
//! It is silent about bursts, which are what a scenario is about and no schedule; about offsets of several values,
//! which `quantised-jitter` judges; and where the callee can do them all within 100 ms.

use crate::analysis::lint::findings::{Findings, Hit};
use crate::analysis::lint::rule::{Check, Example, Rule};
use crate::analysis::lint::subject::Subject;
use crate::analysis::lint::waits::{done_at_once, has_jitter, is_constant};
use crate::analysis::lint::words;
use crate::plan::{Arrivals, Group, GroupId};
use crate::scenario::Severity;

pub static RULE: Rule = Rule {
    id: "synchronised-start",
    severity: Severity::Warning,
    finds: "Many clients begin at the same instant of a schedule.",
    why: "What runs every minute runs at second 0, for everybody. That is a storm of first attempts; no retry policy \
          moves it, however well its waits are spread. Of 600 timers all 600 begin within 100 ms, with an offset \
          anywhere in the minute about 5 (apache/openwhisk-package-alarms, issue 196; airqo-platform/AirQo-api, issue \
          6724, spread its retries and kept its peak).",
    instead: "give each client an `offset` of its own: `{ uniform = { min = \"0s\", max = ... } }`, up to the whole \
              period",
    example: Example {
        bad: r#"
clients.timers = { count = 600, arrivals = { periodic = { every = "60s" } }, calls.job = { timeout = "1s" } }
services.job = { service_time = "50ms" }
"#,
        good: &[r#"clients.timers.arrivals.periodic.offset={ uniform = { min = "0s", max = "60s" } }"#],
    },
    check: Check::Variant(check),
};

fn check(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for (id, group) in (0..).map(GroupId).zip(&subject.plan.groups) {
        let Arrivals::Periodic { every, offset } = &group.arrivals else { continue };
        if group.clients < 2 || !is_constant(offset) || are_done(subject, group) {
            continue;
        }
        let is_spread_later = group.choices.iter().any(|&(_, call)| {
            let policy = subject.plan.policy_of(call);
            policy.max_attempts > 1 && has_jitter(&policy.schedule)
        });
        let clients = words::count(f64::from(group.clients));
        let but = if is_spread_later { "; the jitter of their retries does not move them" } else { "" };
        let path = subject.group_path(id);
        findings.add(Hit {
            owner: path.clone(),
            keys: &["arrivals.periodic.offset", "arrivals.periodic", "arrivals"],
            message: format!("all {clients} clients of `{path}` begin at the same instant"),
            figure: format!("{clients} first attempts in one 100 ms, every {}{but}", words::time(*every)),
        });
    }
}

/// Whether whoever they call can do them all within 100 ms.
fn are_done(subject: &Subject<'_>, group: &Group) -> bool {
    let callees = group.choices.iter().map(|&(_, call)| subject.plan.calls[call.index()].target);
    let mut capacities = callees.map(|callee| subject.plan.services[callee.index()].capacity_rps());
    capacities.all(|capacity| capacity.is_some_and(|per_second| f64::from(group.clients) <= done_at_once(per_second)))
}
