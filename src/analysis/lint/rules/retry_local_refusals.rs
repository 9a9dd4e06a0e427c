//! Retries of what was not even sent.
//!
//! Silent about errors that nothing in the scenario makes, and about a breaker whose time is over before the first
//! retry. A breaker that stands outside the retry is asked once per call, so that its refusal is never tried again.

use crate::analysis::course::Failing;
use crate::analysis::lint::findings::{Findings, Hit};
use crate::analysis::lint::rule::{Check, Example, Rule};
use crate::analysis::lint::subject::{Subject, Used};
use crate::analysis::lint::words;
use crate::failure::ErrorKind;
use crate::plan::{Call, CallId, Origin};
use crate::policy::Position;
use crate::scenario::Severity;
use crate::time::Span;

/// The caller's own pool, breaker or throttle has turned the attempt away.
const LOCAL: [ErrorKind; 3] = [ErrorKind::PoolTimeout, ErrorKind::BreakerOpen, ErrorKind::Throttled];

pub static RULE: Rule = Rule {
    id: "retry-local-refusals",
    severity: Severity::Warning,
    finds: "`retry_on` has `pool_timeout`, `breaker_open` or `throttled`, which come from the caller's side.",
    why: "Nothing was sent: the caller's own protection said that now is no time to. Who asks again at once hears the \
          same from an open breaker, waits in the same pool behind those who came in between, and draws again from a \
          throttle until it is let through. The attempts are used up before the callee is back. Resilience4j retries \
          every exception, that of an open breaker included, unless it is told otherwise. From a callee that passes \
          such an error on it means the same, one layer down.",
    instead: "leave these errors out of `retry_on`, and let the call fail fast; or wait for longer than the breaker is \
              open",
    example: Example {
        bad: r#"
[clients.web]
arrivals = { constant = { rate = 100 } }
calls.api = { timeout = "500ms", retry = "eager", breaker = { trip = { consecutive = 5 }, open_for = "30s" } }
[services.api]
service_time = "5ms"
[retries.eager]
max_attempts = 3
backoff = { exponential = { base = "50ms" } }
jitter = "full"
retry_on = ["unavailable", "timeout", "breaker_open"]
"#,
        good: &[r#"retries.eager.retry_on=["unavailable", "timeout"]"#],
    },
    check: Check::Variant(check),
};

fn check(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for Used { id, policy, calls } in subject.policies() {
        let retrying: Vec<CallId> = calls.into_iter().filter(|&call| subject.attempts(call) != Some(1)).collect();
        let kinds = LOCAL.into_iter().filter(|&kind| policy.retry_on.contains(kind));
        let met: Vec<(ErrorKind, String)> =
            kinds.filter_map(|kind| Some((kind, figure(subject, kind, &retrying)?))).collect();
        if met.is_empty() {
            continue;
        }
        let path = subject.policy_path(id);
        let figures: Vec<&str> = met.iter().map(|(_, figure)| figure.as_str()).collect();
        findings.add(Hit {
            message: format!("`{path}` retries on {}", words::names(met.iter().map(|(kind, _)| kind.name()))),
            owner: path,
            keys: &["retry_on"],
            figure: figures.join("; "),
        });
    }
}

/// What a retry on this error does: of the first of these calls that meets it, or else whose callee tells of it.
fn figure(subject: &Subject<'_>, kind: ErrorKind, calls: &[CallId]) -> Option<String> {
    let own = calls.iter().find_map(|&id| own(subject, kind, id));
    own.or_else(|| calls.iter().find_map(|&id| from_below(subject, kind, id)))
}

/// A call that is turned away by what is its own.
fn own(subject: &Subject<'_>, kind: ErrorKind, id: CallId) -> Option<String> {
    let call = &subject.plan.calls[id.index()];
    let name = subject.call_name(id);
    let attempts = subject.attempts(id);
    let all = attempts.map_or_else(|| "all attempts".to_owned(), |all| format!("all {}", words::attempts(all)));
    if !makes(call, kind) {
        return None;
    }
    match kind {
        ErrorKind::BreakerOpen => {
            let open = call.breaker.as_ref()?.rule.open.ranges().next()?.longest;
            let first_wait = subject.plan.policy_of(id).schedule.ranges().next()?.shortest;
            let span = subject.course(id, Failing::Late(Span::ZERO)).given_up;
            (first_wait < open).then(|| match span {
                Some(Span::ZERO) => {
                    format!(
                        "the breaker of `{name}` is open for {}: it refuses {all} of a call at once",
                        words::time(open)
                    )
                }
                Some(span) if span < open => format!(
                    "the breaker of `{name}` is open for {}: it refuses {all} of a call within {}",
                    words::time(open),
                    words::time(span)
                ),
                _ => format!("the breaker of `{name}` is open for {}: it refuses what asks before", words::time(open)),
            })
        }
        ErrorKind::PoolTimeout => {
            let wait = call.pool?.max_wait.after;
            let times = attempts.map_or_else(|| "again and again".to_owned(), |all| format!("{all} times"));
            Some(format!("a call of `{name}` waits up to {times} {} for a slot of its pool", words::time(wait)))
        }
        _ => {
            let Some(attempts) = attempts else {
                return Some(format!(
                    "the throttle of `{name}` holds nothing back for long: each call asks until it is let \
                                     through"
                ));
            };
            // Of ten attempts it lets one through.
            let let_through = 1.0 - libm::pow(0.9, f64::from(attempts));
            Some(format!(
                "when the throttle of `{name}` holds back 90 % of attempts, {} of calls are let through, as each may \
                 ask {} times",
                words::share(let_through),
                words::count(f64::from(attempts))
            ))
        }
    }
}

/// A call whose callee answers with the error of a call of its own.
fn from_below(subject: &Subject<'_>, kind: ErrorKind, id: CallId) -> Option<String> {
    let mut next = vec![subject.plan.calls[id.index()].target];
    let mut seen = vec![false; subject.plan.services.len()];
    while let Some(service) = next.pop() {
        if std::mem::replace(&mut seen[service.index()], true) {
            continue;
        }
        for (below, call) in subject.calls().filter(|(_, call)| call.origin == Origin::Service(service)) {
            // What is optional, or made up for, is not passed on.
            if call.optional || call.fallback.is_some() {
                continue;
            }
            if makes(call, kind) || outside_breaker(call, kind) {
                return Some(format!(
                    "`{}` passes on what `{}` is refused at once, and `{}` makes {} of that",
                    subject.service_name(service),
                    subject.call_name(below),
                    subject.call_name(id),
                    subject.attempts(id).map_or_else(|| "attempts without a limit".to_owned(), words::attempts)
                ));
            }
            next.push(call.target);
        }
    }
    None
}

/// Whether attempts of a call are turned away with this error by what is its own.
fn makes(call: &Call, kind: ErrorKind) -> bool {
    match kind {
        ErrorKind::BreakerOpen => call.breaker.as_ref().is_some_and(|guard| guard.rule.position == Position::Inside),
        ErrorKind::Throttled => call.throttle.is_some(),
        // What waits for longer than an attempt may take has timed out.
        ErrorKind::PoolTimeout => {
            call.pool.is_some_and(|pool| pool.max_wait.after < Span::LIMIT && pool.max_wait.after <= call.timeout.after)
        }
        _ => false,
    }
}

/// Whether calls are refused with this error, without an attempt.
fn outside_breaker(call: &Call, kind: ErrorKind) -> bool {
    kind == ErrorKind::BreakerOpen && call.breaker.is_some()
}
