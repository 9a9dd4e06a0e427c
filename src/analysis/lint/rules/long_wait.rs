//! A single wait that takes most of the time a call has.
//!
//! It looks at the waits that a call comes to when waits take their mean time, and attempts none, or `min_attempt`.
//! What a server may say about when to come back (`retry_after`) is not looked at. It is silent where neither the call
//! nor who waits for it has a time limit.

use crate::analysis::lint::findings::{Findings, Hit};
use crate::analysis::lint::rule::{Check, Example, Rule};
use crate::analysis::lint::subject::Subject;
use crate::analysis::lint::waits::reachable;
use crate::analysis::lint::words;
use crate::plan::CallId;
use crate::policy::WaitRange;
use crate::scenario::Severity;
use crate::time::Span;

pub static RULE: Rule = Rule {
    id: "long-wait",
    severity: Severity::Warning,
    finds: "One wait may take more than half of the time that the call has in all.",
    why: "A call with a time limit spends it on attempts and on waits. A wait of more than half of it leaves no room \
          for a second one, and hardly any for the attempt that it was for; one that does not fit at all ends the call \
          early, with time left. The user waits for a call that does nothing.",
    instead: "cap the waits at a small part of the time limit, or give the call more time",
    example: Example {
        bad: r#"
clients.web.arrivals = { constant = { rate = 10 } }
clients.web.calls.api = { timeout = "300ms", total_timeout = "1s", retry = "slow" }
services.api = { service_time = "5ms" }
retries.slow = { max_retries = 2, backoff = { fixed = "800ms" }, jitter = "equal" }
"#,
        good: &[r#"retries.slow.cap="200ms""#],
    },
    check: Check::Variant(check),
};

fn check(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for (id, call, _) in subject.retrying() {
        let limit = subject.time_limit(id);
        let Some((retry, wait)) = long_wait(subject, id, limit) else { continue };
        let longest = if wait.longest >= Span::LIMIT { "any time".to_owned() } else { words::time(wait.longest) };
        let figure = if wait.longest >= limit {
            "where it is drawn so long there is no time for it: the call ends before, with time left".to_owned()
        } else {
            let part = words::share(wait.longest.as_s() / limit.as_s());
            let left = words::time(limit - wait.longest);
            format!("such a wait is {part} of the call's time, and leaves {left} at most for all of its attempts")
        };
        let whose = if call.total_timeout.after <= limit { "" } else { ", by its caller's deadline" };
        findings.add(Hit {
            owner: subject.call_path(id),
            keys: &["total_timeout", "retry"],
            message: format!(
                "`{}` may wait {longest} before retry {retry}, and has {} in all{whose}",
                subject.call_name(id),
                words::time(limit)
            ),
            figure,
        });
    }
}

/// The first retry whose wait may be longer than half of the limit, and that wait.
fn long_wait(subject: &Subject<'_>, id: CallId, limit: Span) -> Option<(usize, WaitRange)> {
    if limit >= Span::LIMIT {
        return None;
    }
    let attempt_ns = subject.plan.policy_of(id).min_attempt.as_ns() as f64;
    let mut passed_ns = attempt_ns;
    let in_time = reachable(subject, id).into_iter().take_while(|wait| {
        let needed_ns = passed_ns + wait.shortest.as_ns() as f64 + attempt_ns;
        passed_ns += wait.mean_ns.unwrap_or(wait.longest.as_ns() as f64) + attempt_ns;
        needed_ns <= limit.as_ns() as f64
    });
    (1..).zip(in_time).find(|(_, wait)| wait.longest.as_ns() > limit.as_ns() / 2)
}
