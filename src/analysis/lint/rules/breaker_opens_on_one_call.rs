//! A breaker that one call opens by itself.
//!
//! Said where the failures of one call suffice in any case: its attempts fail at once, and its waits are the longest.
//! Failures in a row are interrupted by what succeeds meanwhile: nothing is said where other requests are to be
//! expected between them. Of a share it is not said either: what others do counts in it. And a budget must grant as
//! many retries as that takes, when it is as full as successes make it. Silent where `breaker-never-opens` has spoken.

use crate::analysis::lint::findings::{Findings, Hit};
use crate::analysis::lint::grants::in_outage;
use crate::analysis::lint::limits::at_once;
use crate::analysis::lint::rule::{Check, Example, Rule};
use crate::analysis::lint::rules::breaker_never_opens::cannot_open;
use crate::analysis::lint::subject::{Subject, densest};
use crate::analysis::lint::words;
use crate::failure::ErrorKind;
use crate::plan::{CallId, Guard, Origin};
use crate::policy::{Breaker, BudgetRule, Counts, RetryPolicy, Trip};
use crate::scenario::Severity;
use crate::time::{Instant, Span};

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
        if most < wanted as usize || cannot_open(subject, id, guard) {
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
            (Counts::Attempts, made) if is_cut_by_budget(subject, id, policy, made) => {
                format!("a call makes {} before its budget refuses one", words::count(made as f64))
            }
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
fn failures(subject: &Subject<'_>, id: CallId, guard: &Guard<Breaker>, policy: &RetryPolicy) -> Vec<Instant> {
    let is_both = |&kind: &ErrorKind| policy.retry_on.contains(kind) && guard.rule.failure_on.contains(kind);
    if guard.rule.counts == Counts::Calls || !ErrorKind::ALL.iter().any(is_both) {
        return vec![Instant::ZERO];
    }
    let course = at_once(subject, id);
    let granted = granted(subject, id, policy).map(|granted| granted.saturating_add(1));
    let sure = course.fewest.into_iter().chain(granted).min();
    let sure = sure.and_then(|sure| usize::try_from(sure).ok()).unwrap_or(usize::MAX);
    course.starts.iter().take(sure).map(|start| Instant::ZERO + start.latest).collect()
}

/// How many retries in a row its budget grants one call; none without an end. A retry that has ended makes room for
/// another in a budget of those that are under way.
fn granted(subject: &Subject<'_>, id: CallId, policy: &RetryPolicy) -> Option<u64> {
    let pool = subject.plan.calls[id.index()].budget?.pool;
    match &subject.plan.budgets[pool as usize].rule {
        BudgetRule::Concurrency(concurrency) if concurrency.minimum > 0 => None,
        rule => in_outage(rule, policy.retry_on),
    }
}

/// Whether other requests are to be expected between the first of these failures and the one that opens the breaker.
fn is_interrupted(subject: &Subject<'_>, id: CallId, guard: &Guard<Breaker>, starts: &[Instant], wanted: u32) -> bool {
    let Some(&last) = starts.get((wanted as usize).saturating_sub(1)) else { return false };
    let last = last.since(Instant::ZERO);
    let call = &subject.plan.calls[id.index()];
    let callers = if guard.by_instance { f64::from(subject.plan.callers(call)) } else { 1.0 };
    let made = subject.made(id);
    // Callers that are not alone: how fast they come is not known, but they do.
    let is_crowd = made.clients / callers > 1.0 || matches!(call.origin, Origin::Service(_)) && made.per_second == 0.0;
    last > Span::ZERO && (is_crowd || made.per_second / callers * last.as_s() >= 1.0)
}

/// Whether its budget grants one call only so many attempts, of those that its policy allows.
fn is_cut_by_budget(subject: &Subject<'_>, id: CallId, policy: &RetryPolicy, made: usize) -> bool {
    let made = made as u64;
    made < u64::from(policy.max_attempts) && granted(subject, id, policy).is_some_and(|granted| granted < made)
}
