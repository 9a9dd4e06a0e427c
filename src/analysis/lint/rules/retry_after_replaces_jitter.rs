//! A server's word that makes everybody wait for the same time.
//!
//! It looks at the first retry, when all that were turned away together come back together. It is silent where those
//! that are turned away come one after another, since all are put off by the same time then; where the backoff without
//! jitter makes a herd of them anyway, which `no-jitter` says; and where the server's word is shorter than what the
//! policy waits by itself.

use crate::analysis::lint::findings::{Findings, Hit};
use crate::analysis::lint::rule::{Check, Example, Rule};
use crate::analysis::lint::subject::{Subject, Used};
use crate::analysis::lint::waits::{has_jitter, told};
use crate::analysis::lint::words;
use crate::plan::CallId;
use crate::policy::DelayRule;
use crate::scenario::Severity;
use crate::time::Span;

pub static RULE: Rule = Rule {
    id: "retry-after-replaces-jitter",
    severity: Severity::Warning,
    finds: "Clients heed `Retry-After` without jitter of its own, and it is longer than what they draw themselves.",
    why: "A server that turns everybody away tells all of them the same. If its delay replaces the backoff, or is \
          longer than the longest wait that the backoff draws, the jitter decides nothing any more, and the herd comes \
          back at the moment that the server has named. With 10,000 clients, waits of up to 32 s and a `Retry-After` \
          of 60 s all 10,000 are back in one 100 ms; with up to 30 s of jitter on top about 50 are in the densest \
          (electric-sql/electric, issue 4322).",
    instead: "add jitter on top of the server's delay: `retry_after.jitter = { uniform = { min = \"0s\", max = ... } \
              }`, up to the time in which the callee can do them all: the number of clients by what it can do \
              per second; or `retry_after.upward`, where that is a share of the delay",
    example: Example {
        bad: r#"
clients.fleet = { count = 10000, arrivals = { burst = {} }, calls.api = { timeout = "1s", retry = "policy" } }
services.api = { service_time = "5ms" }
retries.policy = { max_retries = 2, backoff = { fixed = "32s" }, jitter = "full", retry_after = { rule = "floor" } }
faults.restart = { on = ["api"], until = "30s", effect = { fail = { error = "rate_limited", retry_after = "60s" } } }
"#,
        good: &[r#"retries.policy.retry_after.jitter={ uniform = { min = "0s", max = "30s" } }"#],
    },
    check: Check::Variant(check),
};

fn check(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for used in subject.policies() {
        let clients = |call: CallId| subject.made(call).clients;
        let herds = used.calls.iter().filter_map(|&call| Some((call, herd(subject, &used, call)?, clients(call))));
        let together = herds.filter(|(_, _, clients)| *clients >= 2.0);
        let Some((call, delay, clients)) = together.max_by(|one, other| one.2.total_cmp(&other.2)) else { continue };
        let path = subject.policy_path(used.id);
        let callee = subject.service_name(subject.plan.calls[call.index()].target);
        let delay = words::time(delay);
        let what = if has_jitter(&used.policy.schedule) {
            "the server's delay replaces the jitter"
        } else {
            "nothing is added to the server's delay"
        };
        findings.add(Hit {
            owner: path.clone(),
            keys: &["retry_after.jitter", "retry_after"],
            message: format!("`{path}` waits exactly as long as `{callee}` says, {delay}: {what}"),
            figure: format!(
                "the {} requests that are turned away together at `{}` are back in one 100 ms, {delay} later",
                words::count(clients),
                subject.call_name(call)
            ),
        });
    }
}

/// For how long everybody waits whom the callee turns away.
fn herd(subject: &Subject<'_>, used: &Used<'_>, call: CallId) -> Option<Span> {
    let policy = used.policy;
    let delay = told(subject, call)?;
    let own = policy.ranges().next()?;
    let is_herd_anyway = !has_jitter(&policy.schedule) && own.longest > Span::ZERO;
    let is_replaced = match policy.server_delay.rule {
        DelayRule::Ignore => false,
        DelayRule::Floor => delay >= own.longest,
        DelayRule::Replace => true,
    };
    // What is cut to somewhat more than the own wait differs as that does.
    let is_replaced = is_replaced && delay <= own.shortest + policy.server_delay.over_own;
    (is_replaced && !is_herd_anyway && !policy.server_delay.jitter.spreads()).then_some(delay)
}
