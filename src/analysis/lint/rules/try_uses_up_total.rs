//! One attempt that may last as long as the whole call.
//!
//! Silent where the policy does not retry timeouts: there retries are for errors only. Also where a `connect_timeout`
//! ends attempts earlier: that is what the retries may be for.

use crate::analysis::lint::findings::{Findings, Hit};
use crate::analysis::lint::limits::{attempt, silent};
use crate::analysis::lint::rule::{Check, Example, Rule};
use crate::analysis::lint::subject::Subject;
use crate::analysis::lint::words;
use crate::failure::ErrorKind;
use crate::scenario::Severity;
use crate::time::Span;

pub static RULE: Rule = Rule {
    id: "try-uses-up-total",
    severity: Severity::Warning,
    finds: "A call retries timeouts, but one attempt without an answer uses up the time of the whole call.",
    why: "The total is over before the first attempt is: what gets no answer is tried once, whatever the policy \
          says, and the retries that were to help against a stuck server never run. A route with a timeout of 2 s, \
          four attempts and no limit per try sends one request to a server that takes 7 s, and fails after 2 s \
          (istio/istio, issue 21137).",
    instead: "give each attempt a `timeout` of a fraction of the total, so that the attempts and their waits fit \
          into it",
    example: Example {
        bad: r#"
clients.app = { arrivals = { constant = { rate = 10 } }, calls.server = { total_timeout = "2s", retry = "policy" } }
services.server = { service_time = "50ms" }
retries.policy = { max_attempts = 4, backoff = { fixed = "25ms" }, jitter = "full" }
"#,
        good: &[r#"clients.app.calls.server.timeout="400ms""#],
    },
    check: Check::Variant(check),
};

fn check(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for (id, call, policy) in subject.retrying() {
        let limit = subject.time_limit(id);
        let is_about_silence = policy.retries_untold(ErrorKind::Timeout)
            && call.connect_timeout.after >= attempt(subject, id)
            && limit < Span::LIMIT;
        if !is_about_silence || silent(subject, id).most != Some(1) {
            continue;
        }
        let name = subject.call_name(id);
        let total = words::time(limit);
        let passed_on =
            if limit < call.total_timeout.after { ", a deadline that is passed on to its caller" } else { "" };
        let why = if call.timeout.after >= limit {
            format!("no per-try limit below the total of {total}{passed_on}")
        } else {
            let timeout = words::time(call.timeout.after);
            format!("the per-try limit of {timeout} leaves no room for another within the total of {total}{passed_on}")
        };
        findings.add(Hit {
            owner: subject.call_path(id),
            keys: &["total_timeout", "timeout", "retry"],
            message: format!(
                "`{name}` is allowed {}, but for what gets no answer retries can never run: {why}",
                words::attempts(policy.max_attempts)
            ),
            figure: format!(
                "a request that `{}` does not answer is sent once and takes up to {total}",
                subject.service_name(call.target)
            ),
        });
    }
}
