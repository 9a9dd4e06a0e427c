//! A breaker that lets everything through as soon as it tries again.
//!
//! Silent where a state of it has but one request at a time: clients that make the next when the last is over, each
//! with a breaker of its own.

use crate::analysis::lint::findings::{Findings, Hit};
use crate::analysis::lint::limits::attempt;
use crate::analysis::lint::rule::{Check, Example, Rule};
use crate::analysis::lint::subject::Subject;
use crate::analysis::lint::words;
use crate::plan::{Arrivals, Call, Guard, Origin, Plan};
use crate::policy::Breaker;
use crate::scenario::Severity;
use crate::time::Span;

pub static RULE: Rule = Rule {
    id: "half-open-unlimited",
    severity: Severity::Warning,
    finds: "A half-open breaker lets everything through (`half_open = \"unlimited\"`).",
    why: "Half-open is a question to a callee that may just have come up: can you take it again? One request asks \
          that as well as a thousand do, and a thousand can be the answer. Hystrix and gobreaker let one through, \
          Resilience4j ten.",
    instead: "let a few probes through: `half_open = 1`, or as many as are needed to tell chance from a trend",
    example: Example {
        bad: r#"
[clients.web]
arrivals = { constant = { rate = 1000 } }
[clients.web.calls.api]
timeout = "1s"
breaker = { trip = { consecutive = 5 }, open_for = "5s", half_open = "unlimited", shared_by = "group" }
[services.api]
service_time = "5ms"
"#,
        good: &["clients.web.calls.api.breaker.half_open=1"],
    },
    check: Check::Variant(check),
};

fn check(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for (id, call) in subject.calls() {
        let Some(guard) = call.breaker.as_deref().filter(|guard| guard.rule.half_open == Breaker::NO_LIMIT) else {
            continue;
        };
        if is_one_at_a_time(subject.plan, call, guard) {
            continue;
        }
        let target = subject.service_name(call.target);
        let made = subject.made(id);
        let wait = attempt(subject, id);
        let figure = if made.per_second > 0.0 {
            let rate = words::count(made.per_second);
            let all = if wait < Span::LIMIT {
                let most = words::count((made.per_second * wait.as_s()).ceil());
                format!(": up to {most} of them if that takes its {}", words::time(wait))
            } else {
                String::new()
            };
            format!(
                "when it tries again, all {rate} requests per second go to `{target}` until the first has ended{all}"
            )
        } else if made.clients > 1.0 {
            format!("when it tries again, up to {} clients come to `{target}` at once", words::count(made.clients))
        } else {
            format!("when it tries again, the whole load comes to `{target}` at once")
        };
        findings.add(Hit {
            owner: subject.call_path(id),
            keys: &["breaker.half_open", "breaker"],
            message: format!("the half-open breaker of `{}` lets everything through", subject.call_name(id)),
            figure,
        });
    }
}

/// Whether a state of the breaker has but one request at a time.
fn is_one_at_a_time(plan: &Plan, call: &Call, guard: &Guard<Breaker>) -> bool {
    let Origin::Group(group) = call.origin else { return false };
    let group = &plan.groups[group.index()];
    matches!(group.arrivals, Arrivals::Closed { .. }) && (guard.by_instance || group.clients == 1)
}
