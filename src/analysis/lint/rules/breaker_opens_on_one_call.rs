//! A breaker that one call opens by itself.
//!
//! Said where the failures of one call suffice in any case: its attempts fail at once, and its waits are the longest.
//! Failures in a row are interrupted by what succeeds meanwhile: nothing is said where other requests are to be
//! expected between them. Of a share it is not said either: what others do counts in it.

use crate::analysis::lint::findings::{Findings, Hit};
use crate::analysis::lint::rule::{Check, Example, Rule};
use crate::analysis::lint::subject::Subject;
use crate::analysis::lint::waiting::at_once;
use crate::analysis::lint::words;
use crate::failure::ErrorKind;
use crate::plan::{CallId, Guard, Origin};
use crate::policy::{Breaker, Counts, RetryPolicy, Trip};
use crate::scenario::Severity;
use crate::time::Span;

pub static RULE: Rule = Rule {
    id: "breaker-opens-on-one-call",
    severity: Severity::Warning,
    finds: "The failed attempts of a single call open the circuit breaker.",
    why: "A breaker that counts attempts sees each retry as one more failure. If one call makes as many attempts as \
          it tolerates, one request that fails for a reason of its own closes the door for all others, though the \
          callee is well. With five failures tolerated and eight attempts not a single failing call was ever \
          completed before the breaker was open (jvoegele/external_service, issue 91).",
    instead: "count calls (`counts = \"calls\"`), or set the threshold to several times the attempts of a call",
    example: Example {
        bad: r#"
[clients.app]
arrivals = { constant = { rate = 100 } }
[clients.app.calls.server]
timeout = "1s"
retry = "policy"
breaker = { trip = { count = { failures = 6, window = "10s" } }, open_for = "5s" }
[services.server]
service_time = "5ms"
[retries.policy]
max_attempts = 8
backoff = { exponential = { base = "50ms" } }
cap = "200ms"
jitter = "full"
"#,
        good: &["clients.app.calls.server.breaker.trip.count.failures=50"],
    },
    check: Check::Variant(check),
};

fn check(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for (id, call) in subject.calls() {
        let Some(guard) = call.breaker.as_deref() else { continue };
        let policy = subject.plan.policy_of(id);
        let starts = failures(subject, id, guard, policy);
        let (wanted, most) = match guard.rule.trip {
            Trip::Consecutive(wanted) if is_interrupted(subject, id, guard, &starts, wanted) => continue,
            Trip::Consecutive(wanted) => (wanted, starts.len()),
            Trip::Count { failures, window, .. } => (failures, densest(&starts, window)),
            Trip::Ratio { .. } => continue,
        };
        if most < wanted as usize {
            continue;
        }
        let (name, target) = (subject.call_name(id), subject.service_name(call.target));
        let open_for = guard.rule.open.nominal(1);
        let callers = if guard.by_instance { f64::from(subject.plan.callers(call)) } else { 1.0 };
        let rate = subject.made(id).per_second / callers;
        let turned_away = rate * open_for.as_s();
        let open_for = words::time(open_for);
        let whose = if guard.by_instance { "its caller's" } else { "everybody's" };
        let attempts = match (guard.rule.counts, starts.len()) {
            (Counts::Calls, _) => "counts calls".to_owned(),
            (Counts::Attempts, 1) => "a call makes 1 attempt".to_owned(),
            (Counts::Attempts, _) => format!("a call makes {}", words::attempts(policy.max_attempts)),
        };
        findings.add(Hit {
            owner: subject.call_path(id),
            keys: &["breaker.trip.count.failures", "breaker.trip.consecutive", "breaker"],
            message: format!(
                "one call opens the breaker of `{name}`: it opens at failure {}, and {attempts}",
                words::count(f64::from(wanted))
            ),
            figure: if turned_away >= 1.0 {
                format!(
                    "one request that fails turns away {whose} next {} to `{target}` ({open_for} at {} per second)",
                    words::count(turned_away.floor()),
                    words::count(rate)
                )
            } else {
                format!("one request that fails turns away all of {whose} others to `{target}` for {open_for}")
            },
        });
    }
}

/// When the failures of one call come that the breaker counts, at the latest.
fn failures(subject: &Subject<'_>, id: CallId, guard: &Guard<Breaker>, policy: &RetryPolicy) -> Vec<Span> {
    let is_both = |&kind: &ErrorKind| policy.retry_on.contains(kind) && guard.rule.failure_on.contains(kind);
    if guard.rule.counts == Counts::Calls || !ErrorKind::ALL.iter().any(is_both) {
        return vec![Span::ZERO];
    }
    let course = at_once(subject, id);
    let sure = course.fewest.and_then(|fewest| usize::try_from(fewest).ok()).unwrap_or(usize::MAX);
    course.starts.iter().take(sure).map(|start| start.latest).collect()
}

/// Whether other requests are to be expected between the first of these failures and the one that opens the breaker.
fn is_interrupted(subject: &Subject<'_>, id: CallId, guard: &Guard<Breaker>, starts: &[Span], wanted: u32) -> bool {
    let Some(&last) = starts.get((wanted as usize).saturating_sub(1)) else { return false };
    let call = &subject.plan.calls[id.index()];
    let callers = if guard.by_instance { f64::from(subject.plan.callers(call)) } else { 1.0 };
    let made = subject.made(id);
    // Callers that are not alone: how fast they come is not known, but they do.
    let is_crowd = made.clients / callers > 1.0 || matches!(call.origin, Origin::Service(_)) && made.per_second == 0.0;
    last > Span::ZERO && (is_crowd || made.per_second / callers * last.as_s() >= 1.0)
}

/// The most of these instants that are within a window, `(t - window, t]`.
fn densest(starts: &[Span], window: Span) -> usize {
    let mut first = 0;
    let mut most = 0;
    for (last, &at) in starts.iter().enumerate() {
        while at - starts[first] >= window {
            first += 1;
        }
        most = most.max(last + 1 - first);
    }
    most
}
