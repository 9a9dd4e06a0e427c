//! Waits that are longer than the cap.
//!
//! It is silent where jitter adds a tenth of the cap or less: nobody reckons with it so exactly. And where no wait that
//! a call may come to exceeds it.

use crate::analysis::lint::findings::{Findings, Hit};
use crate::analysis::lint::rule::{Check, Example, Rule};
use crate::analysis::lint::subject::Subject;
use crate::analysis::lint::waits::most_reachable;
use crate::analysis::lint::words;
use crate::scenario::Severity;
use crate::time::Span;

/// One part in so many of the cap is let be.
const LET_BE: u64 = 10;

pub static RULE: Rule = Rule {
    id: "jitter-exceeds-cap",
    severity: Severity::Warning,
    finds: "Jitter is added after the cap, so that waits are longer than the cap says.",
    why: "Whoever sets a cap reckons with it: a timeout above, an alert, the lag after an outage. Jitter to both sides \
          of a capped wait, or upwards, exceeds it. The waits of gRPC may be 20 % longer than its cap (grpc/proposal, \
          A6), those of cenkalti/backoff 50 %: 90 s where it says 60 s.",
    instead: "use `jitter = \"full\"`, which stays below the cap, or lower the cap by what the jitter adds, or let it \
              cut the jitter's window: `cap_order = \"narrow\"`",
    example: Example {
        bad: r#"
clients.fleet = { count = 100, arrivals = { burst = {} }, calls.api = { timeout = "1s", retry = "policy" } }
services.api = { service_time = "5ms" }
[retries.policy]
max_attempts = 8
backoff = { exponential = { base = "1s" } }
jitter = { spread = 0.5 }
cap = "20s"
"#,
        good: &[r#"retries.policy.jitter="full""#],
    },
    check: Check::Variant(check),
};

fn check(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for used in subject.policies() {
        let Some(cap) = used.policy.schedule.cap().filter(|cap| *cap > Span::ZERO) else { continue };
        let waits = most_reachable(subject, &used);
        let Some(longest) = waits.iter().map(|wait| wait.longest).max() else { continue };
        if longest.as_ns() <= cap.as_ns() + cap.as_ns() / LET_BE {
            continue;
        }
        let retry = 1 + waits.iter().take_while(|wait| wait.longest < longest).count();
        let excess = longest.as_s() / cap.as_s() - 1.0;
        let figure = if longest >= Span::LIMIT {
            format!("what is added to the wait before retry {retry} has no upper bound")
        } else {
            let [longest, cap] = [longest, cap].map(words::time);
            format!("the wait before retry {retry} may be {longest}, {} more than {cap}", words::share(excess))
        };
        let path = subject.policy_path(used.id);
        findings.add(Hit {
            owner: path.clone(),
            keys: &["jitter", "cap"],
            message: format!("`{path}` may wait longer than its cap of {}", words::time(cap)),
            figure,
        });
    }
}
