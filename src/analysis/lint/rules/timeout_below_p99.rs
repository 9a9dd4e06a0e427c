//! A timeout that ends attempts with which nothing is wrong.
//!
//! Told of services that call nobody: what others take depends on whom they call. Of the network only the shortest
//! way there and back is counted, and nobody waits in a queue or slows another down: so at least that share times
//! out. Silent for hedged calls, whose copies may be faster, unless the attempt is over before one is sent;
//! and where no answer can be in time, which `timeout-never-enough` says.

use crate::analysis::answers::Quickest;
use crate::analysis::lint::chance::{attempts, slower};
use crate::analysis::lint::findings::{Findings, Hit};
use crate::analysis::lint::rule::{Check, Example, Rule};
use crate::analysis::lint::rules::timeout_never_enough::least_above_limit;
use crate::analysis::lint::subject::Subject;
use crate::analysis::lint::words;
use crate::failure::ErrorKind;
use crate::plan::{Call, CallId};
use crate::scenario::Severity;
use crate::time::Span;

/// More attempts than this must not time out while nothing is wrong.
const AT_MOST: f64 = 0.01;

pub static RULE: Rule = Rule {
    id: "timeout-below-p99",
    severity: Severity::Warning,
    finds: "A timeout is below the 99th percentile of what the callee takes when nothing is wrong.",
    why: "Such a timeout fails what would have succeeded. The work is done all the same, and the retry that follows \
          asks for it again: load that nobody ordered, and more of it the slower the callee becomes. A server that \
          takes 500 ms for an answer and is given 200 ms is asked twice by two attempts, and never heard \
          (istio/istio, issue 13167).",
    instead: "set the `timeout` from the latency that is measured: `stormsim explain` names the percentile for the \
          share of false timeouts that you accept",
    example: Example {
        bad: r#"
[clients.web]
arrivals = { constant = { rate = 100 } }
calls.db = { timeout = "50ms", total_timeout = "1s", retry = "again" }
[services.db]
service_time = { lognormal = { median = "20ms", p99 = "80ms" } }
[retries.again]
max_attempts = 3
backoff = { fixed = "50ms" }
jitter = "full"
"#,
        good: &[r#"clients.web.calls.db.timeout="100ms""#],
    },
    check: Check::Variant(check),
};

fn check(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    let mut quickest = Quickest::new(subject.plan);
    for (id, call) in subject.calls() {
        let limit = call.timeout.after.min(call.total_timeout.after);
        let is_hedged = call.hedge.is_some_and(|hedge| hedge.after.after < limit);
        if limit >= Span::LIMIT || is_hedged || least_above_limit(subject, &mut quickest, id).is_some() {
            continue;
        }
        let Some(share) = slower(subject.plan, call, limit).filter(|&share| share > AT_MOST) else { continue };
        findings.add(Hit {
            owner: subject.call_path(id),
            keys: if call.timeout.after <= limit { &["timeout"] } else { &["total_timeout"] },
            message: format!(
                "`{}` waits {}, and of the answers of `{}` {} take longer though nothing is wrong",
                subject.call_name(id),
                words::time(limit),
                subject.service_name(call.target),
                words::share(share)
            ),
            figure: figure(subject, id, call, share),
        });
    }
}

/// What becomes of those that time out.
fn figure(subject: &Subject<'_>, id: CallId, call: &Call, share: f64) -> String {
    let rate = subject.made(id).per_second;
    let policy = subject.plan.policy_of(id);
    let is_retried = policy.retries_untold(ErrorKind::Timeout) && policy.max_attempts > 1;
    // A total that is over is the end of the call.
    if !is_retried || call.total_timeout.after <= call.timeout.after {
        return if rate > 0.0 {
            format!("of {} requests per second {} fail for nothing", words::count(rate), words::count(rate * share))
        } else {
            format!("{} of the requests fail for nothing", words::share(share))
        };
    }
    let each = attempts(share, policy.max_attempts);
    if each.is_infinite() {
        return "each request is sent again and again without an end".to_owned();
    }
    let extra = words::count(each - 1.0);
    if rate > 0.0 {
        let more = words::count(rate * (each - 1.0));
        format!(
            "needless retries per request: up to {extra} in the mean; at {} per second {more} more attempts",
            words::count(rate)
        )
    } else {
        format!("needless retries per request: up to {extra} in the mean")
    }
}
