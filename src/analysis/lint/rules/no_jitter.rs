//! Waits that are the same for everybody.

use crate::analysis::lint::findings::{Findings, Hit};
use crate::analysis::lint::rule::{Check, Example, Rule};
use crate::analysis::lint::subject::{Subject, Used};
use crate::analysis::lint::words;
use crate::scenario::Severity;
use crate::time::Span;

pub static RULE: Rule = Rule {
    id: "no-jitter",
    severity: Severity::Warning,
    finds: "Many callers wait for the same time before they try again.",
    why: "Who fails together comes back together. Backing off without jitter moves the peak but does not lower it: of 1,000 \
          clients that fail at one instant all 1,000 are back in one 100 ms, after each wait anew; with full jitter about \
          160 are in the densest 100 ms.",
    instead: "add `jitter = \"full\"`: each wait is drawn between zero and what it was",
    example: Example {
        bad: r#"
clients.fleet = { count = 1000, arrivals = { burst = {} }, calls.api = { timeout = "1s", retry = "policy" } }
services.api = { service_time = "5ms" }
retries.policy = { max_retries = 2, backoff = { exponential = { base = "1s" } } }
"#,
        good: &[r#"retries.policy.jitter="full""#],
    },
    check: Check::Variant(check),
};

fn check(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for Used { id, policy, calls } in subject.policies() {
        let Some(wait) = policy.schedule.ranges().next() else { continue };
        if wait.shortest != wait.longest || wait.longest == Span::ZERO {
            continue;
        }
        // The call whose retries are the most at once.
        let crowds = calls.iter().map(|&call| (call, subject.crowd(subject.plan.calls[call.index()].target)));
        let Some((call, crowd)) = crowds.max_by(|a, b| a.1.after_a_second().total_cmp(&b.1.after_a_second())) else {
            continue;
        };
        if crowd.after_a_second() < 2.0 {
            continue;
        }
        let name = subject.call_name(call);
        let figure = if crowd.clients > 1.0 {
            format!(
                "the {} requests that `{name}` fails together are back together {} later",
                words::count(crowd.clients),
                words::time(wait.longest)
            )
        } else {
            let (rate, wait) = (words::count(crowd.per_second), words::time(wait.longest));
            format!(
                "of the {rate} requests per second of `{name}`, those that one stall or restart fails together are back together {wait} later"
            )
        };
        let path = subject.policy_path(id);
        findings.add(Hit {
            owner: path.clone(),
            keys: &["jitter", "backoff"],
            message: format!("`{path}` waits without jitter"),
            figure,
        });
    }
}
