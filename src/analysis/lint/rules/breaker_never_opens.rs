//! A breaker that cannot trip.
//!
//! Said only where it can be shown: the errors that it counts cannot come, or are tried again without an end where it
//! counts calls, nothing can take as long as what it counts, or too little can end within its window at the rate of a
//! client group. Of clients that come at one
//! instant, or as soon as their last request is over, of attempts without a time limit and of calls of services there
//! is no such bound, and nothing is said. How many requests a run has does not matter: real callers go on. (A minimum
//! of calls above a window of calls is no fault: it is cut to that.)

use crate::analysis::lint::endings::within;
use crate::analysis::lint::findings::{Findings, Hit};
use crate::analysis::lint::limits::{attempt, longest, may_inherit_deadline};
use crate::analysis::lint::rule::{Check, Example, Rule};
use crate::analysis::lint::subject::Subject;
use crate::analysis::lint::waits::strikes;
use crate::analysis::lint::words;
use crate::failure::ErrorKind;
use crate::plan::{Call, CallId, Effect, Fault, Guard};
use crate::policy::{Badness, Beyond, Breaker, Counts, DelayRule, Over, Trip};
use crate::scenario::Severity;
use crate::time::Span;

pub static RULE: Rule = Rule {
    id: "breaker-never-opens",
    severity: Severity::Error,
    finds: "A circuit breaker cannot open, whatever fails.",
    why: "It counts errors that cannot come, or calls slower than their own timeout, or wants more calls within its \
          window than are made. The defaults of libraries are for busy callers: Resilience4j and .NET's standard \
          handler want 100 calls, the latter within 30 s, which a caller with two requests per second never makes. \
          It looks like protection, and in the outage everything goes on being sent.",
    instead: "lower the number it wants to what the caller makes within the window, or take the window of the last \
          so many calls (`calls`) instead of a time; count the errors that the call can fail with",
    example: Example {
        bad: r#"
[clients.web]
arrivals = { constant = { rate = 2 } }
[clients.web.calls.api]
timeout = "1s"
breaker = { trip = { ratio = { failures = 0.1, window = "30s", min_calls = 100 } }, open_for = "5s" }
[services.api]
service_time = "5ms"
"#,
        good: &["clients.web.calls.api.breaker.trip.ratio.min_calls=20"],
    },
    check: Check::Variant(check),
};

fn check(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for (id, call) in subject.calls() {
        let Some(guard) = call.breaker.as_deref() else { continue };
        let Some((keys, reason)) = reason(subject, id, guard) else { continue };
        let rate = subject.made(id).per_second;
        let is_retried = subject.plan.policy_of(id).max_attempts > 1;
        let whole = match (rate > 0.0, is_retried) {
            (true, true) => format!("all {} requests per second and all of their retries are", words::count(rate)),
            (true, false) => format!("all {} requests per second are", words::count(rate)),
            (false, true) => "all requests and all of their retries are".to_owned(),
            (false, false) => "every request is".to_owned(),
        };
        findings.add(Hit {
            owner: subject.call_path(id),
            keys,
            message: format!("the breaker of `{}` cannot open: {reason}", subject.call_name(id)),
            figure: format!("while `{}` fails, {whole} sent to it", subject.service_name(call.target)),
        });
    }
}

type Reason = (&'static [&'static str], String);

/// Whether the breaker of a call cannot open.
pub fn cannot_open(subject: &Subject<'_>, id: CallId, guard: &Guard<Breaker>) -> bool {
    reason(subject, id, guard).is_some()
}

fn reason(subject: &Subject<'_>, id: CallId, guard: &Guard<Breaker>) -> Option<Reason> {
    wrong_errors(subject, id, guard).or_else(|| never_slow(subject, id, guard)).or_else(|| too_few(subject, id, guard))
}

fn wrong_errors(subject: &Subject<'_>, id: CallId, guard: &Guard<Breaker>) -> Option<Reason> {
    let call = &subject.plan.calls[id.index()];
    if let Trip::Ratio { of: Badness::SlowerThan(_), .. } = guard.rule.trip {
        return None;
    }
    let counted: Vec<ErrorKind> =
        ErrorKind::ALL.iter().copied().filter(|&kind| guard.rule.failure_on.contains(kind)).collect();
    let mut coming = counted.iter().copied().filter(|&kind| can_come(subject, id, call, guard, kind)).peekable();
    if coming.peek().is_some() {
        let retried = subject.plan.policy_of(id).retry_on;
        let is_hidden = guard.rule.counts == Counts::Calls && is_endless(subject, id, call);
        let reason = "it counts calls, and what it counts is tried again without an end: no call ever ends with it";
        return (is_hidden && coming.all(|kind| retried.contains(kind)))
            .then(|| (&["breaker.counts", "breaker"][..], reason.to_owned()));
    }
    let reason = if counted.is_empty() {
        "it counts no error at all".to_owned()
    } else {
        let names = words::names(counted.iter().map(|kind| kind.name()));
        format!("it counts only {names}, which the call cannot fail with as it is set up")
    };
    Some((&["breaker.failure_on", "breaker"], reason))
}

/// Whether nothing but its policy ends a call, and that does so only after an error that it does not try again.
fn is_endless(subject: &Subject<'_>, id: CallId, call: &Call) -> bool {
    let plan = subject.plan;
    let policy = plan.policy_of(id);
    // A server may ask for a longer wait than the policy grants, or not say what the policy requires.
    let rule = &policy.server_delay;
    let is_told_to_stop = rule.rule != DelayRule::Ignore && rule.beyond == Beyond::Stop && plan.says_retry_after();
    let is_refused = is_told_to_stop || rule.required;
    let limit = subject.time_limit(id).min(policy.max_elapsed);
    let has_time = limit >= Span::LIMIT && !may_inherit_deadline(subject, id);
    policy.max_attempts == u32::MAX && has_time && call.budget.is_none() && !is_refused
}

/// Whether there is any way to this error. What comes over the network may always come.
fn can_come(subject: &Subject<'_>, id: CallId, call: &Call, guard: &Guard<Breaker>, kind: ErrorKind) -> bool {
    let plan = subject.plan;
    let fails_so = |fault: &Fault| matches!(&fault.effect, Effect::Fail(failure) if failure.error == kind);
    // What the callee's own calls fail with it passes on.
    if !plan.services[call.target.index()].steps.is_empty() || strikes(subject, id).any(fails_so) {
        return true;
    }
    let whole = guard.rule.counts == Counts::Calls;
    match kind {
        ErrorKind::Timeout => call.timeout.after < subject.time_limit(id) || call.connect_timeout.after < Span::LIMIT,
        ErrorKind::Deadline => subject.time_limit(id) < Span::LIMIT || may_inherit_deadline(subject, id),
        ErrorKind::BreakerOpen => false,
        ErrorKind::Throttled => whole && call.throttle.is_some(),
        ErrorKind::PoolTimeout => whole && call.pool.is_some(),
        _ => true,
    }
}

fn never_slow(subject: &Subject<'_>, id: CallId, guard: &Guard<Breaker>) -> Option<Reason> {
    let Trip::Ratio { of: Badness::SlowerThan(slow), .. } = guard.rule.trip else { return None };
    let (end, what) = match guard.rule.counts {
        Counts::Attempts => (attempt(subject, id), "attempts"),
        Counts::Calls => (longest(subject, id)?, "calls"),
    };
    let reason = || {
        let (slow, end) = (words::time(slow), words::time(end));
        format!("it counts {what} that take longer than {slow}, and they are given up after {end}")
    };
    (slow >= end).then(|| (&["breaker.trip.slow.over", "breaker"][..], reason()))
}

fn too_few(subject: &Subject<'_>, id: CallId, guard: &Guard<Breaker>) -> Option<Reason> {
    let (wanted, window, keys): (_, _, &'static [&'static str]) = match guard.rule.trip {
        Trip::Count { failures, window, .. } => (failures, window, &["breaker.trip.count.failures", "breaker"]),
        Trip::Ratio { over: Over::Time(window), min_calls, .. } => {
            (min_calls, window, &["breaker.trip.ratio.min_calls", "breaker.trip.slow.min_calls", "breaker"])
        }
        Trip::Ratio { over: Over::Calls(_), .. } | Trip::Consecutive(_) => return None,
    };
    let most = within(subject, id, guard, window).filter(|&most| most < f64::from(wanted))?;
    let what = match guard.rule.counts {
        Counts::Attempts => "attempts",
        Counts::Calls => "calls",
    };
    let whose = if guard.by_instance && subject.plan.callers(&subject.plan.calls[id.index()]) > 1 {
        " of one caller"
    } else {
        ""
    };
    let (wanted, most, window) = (words::count(f64::from(wanted)), words::count(most), words::time(window));
    Some((keys, format!("it wants {wanted} within {window}, and at most {most} {what}{whose} can end in that time")))
}
