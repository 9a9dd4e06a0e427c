//! Waits that are the same for everybody.
//!
//! It is silent where no two requests can fail together, and about retries without any wait: those are no crowd that
//! comes back, but one that has not left.

use crate::analysis::lint::findings::{Findings, Hit};
use crate::analysis::lint::rule::{Check, Example, Rule};
use crate::analysis::lint::subject::Subject;
use crate::analysis::lint::waits::{busiest, has_jitter, most_reachable};
use crate::analysis::lint::words;
use crate::scenario::Severity;
use crate::time::Span;

pub static RULE: Rule = Rule {
    id: "no-jitter",
    severity: Severity::Warning,
    finds: "Many callers wait for the same time before they try again.",
    why: "Who fails together comes back together. Backing off without jitter moves the peak but does not lower it: of \
          1,000 clients that fail at one instant all 1,000 are back in one 100 ms, after each wait anew; with full \
          jitter about 160 are in the densest 100 ms.",
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
    for used in subject.policies() {
        let waits = most_reachable(subject, &used);
        let Some(wait) = waits.iter().map(|wait| wait.longest).find(|wait| *wait > Span::ZERO) else { continue };
        let Some((call, crowd)) = busiest(subject, &used) else { continue };
        if has_jitter(&used.policy.schedule) || crowd.after_a_second() < 2.0 {
            continue;
        }
        let (name, wait) = (subject.call_name(call), words::time(wait));
        let figure = if crowd.clients >= 2.0 {
            format!(
                "the {} requests that fail together at `{name}` are back together {wait} later",
                words::count(crowd.clients)
            )
        } else {
            format!(
                "of the {} requests per second at `{name}` those that one stall or restart fails together are back \
                 together {wait} later",
                words::count(crowd.after_a_second())
            )
        };
        let path = subject.policy_path(used.id);
        findings.add(Hit {
            owner: path.clone(),
            keys: &["jitter", "backoff"],
            message: format!("`{path}` waits without jitter"),
            figure,
        });
    }
}
