//! A breaker whose window is shorter than the retries that are to fill it.
//!
//! Looked at are callers whose calls follow each other and that have a breaker of their own: clients that make a
//! request when the last one is over, and those at a constant rate that are done before their next one is due (there
//! without jitter only). Their calls fail as fast as can be, and wait as short as can be. Silent where a server's
//! word may make waits shorter, and where `breaker-never-opens` has spoken. And silent about clients that make a
//! request when the last one is over if calls may end before their last attempt, so that the next ones follow sooner:
//! by a budget, a throttle or `max_elapsed`, or by a fault of the file with an error that is not tried again, or by
//! any that does not say when to come back where that is required.

use crate::analysis::lint::endings::Row;
use crate::analysis::lint::findings::{Findings, Hit};
use crate::analysis::lint::rule::{Check, Example, Rule};
use crate::analysis::lint::rules::breaker_never_opens::cannot_open;
use crate::analysis::lint::subject::Subject;
use crate::analysis::lint::waits::strikes;
use crate::analysis::lint::words;
use crate::plan::{Arrivals, Call, CallId, Effect, Origin};
use crate::policy::{Beyond, DelayRule, Over, RetryPolicy, Trip};
use crate::scenario::Severity;
use crate::time::Span;

pub static RULE: Rule = Rule {
    id: "breaker-window-short",
    severity: Severity::Warning,
    finds: "The waits between retries spread the failures of a caller over more time than the window of its breaker \
          has.",
    why: "A breaker of one caller sees what that caller does, and a caller that backs off fails rarely. With five \
          attempts that are spread over 1.5 s no window of 1 s ever holds six failures: the breaker stays closed in \
          an outage without an end (jvoegele/external_service, issue 93).",
    instead: "make the window several times as long as a call with all of its retries, count failures in a row \
          (`consecutive`), or let all callers share the breaker",
    example: Example {
        bad: r#"
[clients.app]
arrivals = { closed = { think = "0s" } }
[clients.app.calls.server]
timeout = "1s"
retry = "policy"
breaker = { trip = { count = { failures = 6, window = "1s" } }, open_for = "5s" }
[services.server]
service_time = "5ms"
[retries.policy]
max_attempts = 5
backoff = { exponential = { base = "100ms" } }
"#,
        good: &[r#"clients.app.calls.server.breaker.trip.count.window="2s""#],
    },
    check: Check::Variant(check),
};

fn check(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for (id, call, policy) in subject.retrying() {
        let Some(guard) = call.breaker.as_deref() else { continue };
        let (wanted, window) = match guard.rule.trip {
            Trip::Count { failures, window, .. } => (failures, window),
            Trip::Ratio { over: Over::Time(window), min_calls, .. } => (min_calls, window),
            Trip::Ratio { over: Over::Calls(_), .. } | Trip::Consecutive(_) => continue,
        };
        let is_shortened = subject.plan.says_retry_after() && policy.server_delay.rule == DelayRule::Replace;
        if is_shortened || may_end_early(subject, id, call, policy) {
            continue;
        }
        let Some(row) = Row::of(subject, id, guard) else { continue };
        let most = row.within(window);
        if most >= u64::from(wanted) || cannot_open(subject, id, guard) {
            continue;
        }
        let span = words::time(row.span);
        let short = if window < row.span {
            format!("window shorter than the retry span {span}")
        } else if window == row.span {
            format!("window not longer than the retry span {span}")
        } else {
            format!("window too short for calls with a retry span of {span}")
        };
        let (name, window) = (subject.call_name(id), words::time(window));
        findings.add(Hit {
            owner: subject.call_path(id),
            keys: &["breaker.trip.count.window", "breaker.trip.ratio.window", "breaker.trip.slow.window", "breaker"],
            message: format!(
                "the breaker of `{name}`, {} within {window}, has a {short}: threshold cannot be reached",
                words::count(f64::from(wanted))
            ),
            figure: format!(
                "while every attempt of `{name}` fails at once and is tried again, no {window} hold more than {} of a \
                 caller's failures",
                words::count(most as f64)
            ),
        });
    }
}

/// Whether calls may end before their last attempt and make way for the next.
fn may_end_early(subject: &Subject<'_>, id: CallId, call: &Call, policy: &RetryPolicy) -> bool {
    let Origin::Group(group) = call.origin else { return false };
    if !matches!(subject.plan.groups[group.index()].arrivals, Arrivals::Closed { .. }) {
        return false;
    }
    let rule = &policy.server_delay;
    let is_told_to_stop = rule.required
        || subject.plan.says_retry_after() && rule.rule != DelayRule::Ignore && rule.beyond == Beyond::Stop;
    let is_final =
        |effect: &Effect| matches!(effect, Effect::Fail(failure) if !policy.retry_on.contains(failure.error));
    call.budget.is_some()
        || call.throttle.is_some()
        || policy.max_elapsed < Span::LIMIT
        || is_told_to_stop
        || strikes(subject, id).any(|fault| is_final(&fault.effect))
}
