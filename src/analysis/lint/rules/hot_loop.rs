//! Many attempts with hardly a wait between them.

use crate::analysis::lint::findings::{Findings, Hit};
use crate::analysis::lint::rule::{Check, Example, Rule};
use crate::analysis::lint::subject::{Subject, Used};
use crate::analysis::lint::words;
use crate::scenario::Severity;
use crate::time::Span;

/// So many attempts are many.
const MANY: u32 = 10;

/// A wait that is shorter is hardly one: what failed a moment ago fails again.
const SHORT: Span = Span::from_ms(10);

pub static RULE: Rule = Rule {
    id: "hot-loop",
    severity: Severity::Error,
    finds: "Ten or more attempts, or attempts without a limit, follow on each other with less than 10 ms between them.",
    why: "Without a wait the only thing that slows the caller down is the callee, and one that refuses everything does that \
          at once. A single client with an outage of 21 minutes and 4.78 ms per failed attempt made 263,356 of them \
          (holon-run/holon, issue 2991); with waits of 1 s that double up to 30 s it would have been 46.",
    instead: "wait between attempts: an exponential backoff with full jitter and a cap, and a limit on attempts or time",
    example: Example {
        bad: r#"
clients.agent = { arrivals = { closed = { think = "1s" } }, calls.api = { timeout = "1s", retry = "eager" } }
services.api = { service_time = "5ms" }
retries.eager = { max_attempts = "unlimited" }
"#,
        good: &[
            r#"retries.eager.backoff={ exponential = { base = "1s" } }"#,
            r#"retries.eager.jitter="full""#,
            r#"retries.eager.cap="30s""#,
        ],
    },
    check: Check::Variant(check),
};

fn check(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for Used { id, policy, calls } in subject.policies() {
        let waits: Vec<_> = policy.schedule.ranges().take(MANY.min(policy.max_attempts) as usize - 1).collect();
        if policy.max_attempts < MANY || waits.iter().any(|wait| wait.longest >= SHORT) {
            continue;
        }
        let path = subject.policy_path(id);
        // One round trip, and the longest wait: the callee may refuse at once, but the network takes its time.
        let call = &subject.plan.calls[calls[0].index()];
        let round_s = 2.0 * call.network.mean_ns() / 1e9;
        let pause_s = round_s + waits.iter().map(|wait| wait.longest.as_s()).fold(0.0, f64::max);
        let callers = words::count(f64::from(subject.plan.callers(call)));
        let figure = if pause_s > 0.0 {
            let per_second = words::count(1.0 / pause_s);
            format!(
                "while `{}` fails at once, each of its callers ({callers}) sends {per_second} attempts per second",
                subject.call_name(calls[0])
            )
        } else {
            format!(
                "while `{}` fails, each of its callers ({callers}) sends attempts as fast as they are refused",
                subject.call_name(calls[0])
            )
        };
        findings.add(Hit {
            owner: path.clone(),
            keys: &["backoff", "max_attempts", "max_retries"],
            message: format!("`{path}` makes {} with hardly a wait between them", words::attempts(policy.max_attempts)),
            figure,
        });
    }
}
