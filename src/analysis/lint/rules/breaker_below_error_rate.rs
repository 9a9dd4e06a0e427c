//! A breaker that opens though nothing is wrong.
//!
//! What comes anyway is what the file says of it: a `fail` fault for the whole run that strikes less than half of the
//! attempts (more is an outage), and the timeouts of services that call nobody and are slow now and then. Silent
//! where a rate matters and there is none, and where the window does not hold the minimum of calls.

use crate::analysis::lint::chance::{attempts, slower};
use crate::analysis::lint::findings::{Findings, Hit};
use crate::analysis::lint::rule::{Check, Example, Rule};
use crate::analysis::lint::subject::Subject;
use crate::analysis::lint::words;
use crate::failure::ErrorKind;
use crate::plan::{Call, CallId, Capacity, Effect, Fault, Guard, Plan, Target, Windows};
use crate::policy::{Badness, Breaker, Counts, Over, Trip};
use crate::scenario::Severity;
use crate::time::Instant;

/// A fault that strikes more than this share is an outage.
const OUTAGE: f64 = 0.5;

/// Failures in a row happen some time. It matters if the breaker is open for this share of the time because of them.
const OPEN: f64 = 0.01;

pub static RULE: Rule = Rule {
    id: "breaker-below-error-rate",
    severity: Severity::Warning,
    finds: "A circuit breaker opens at failures that are there all the time.",
    why: "Some share of all calls fails on any day: bad hosts, slow answers, bugs. A threshold at or below that \
          share opens on a quiet day, and then all calls fail and not that share. Of a service of which half the \
          attempts fail, retries get 94 % of the requests through; with a breaker that opens at half of them, half \
          of the requests fail: it has made an outage of it.",
    instead: "set the threshold well above the share of failures that is normal, over more calls; count calls and \
          not attempts if retries repair most of it",
    example: Example {
        bad: r#"
[clients.web]
arrivals = { constant = { rate = 100 } }
[clients.web.calls.api]
timeout = "1s"
breaker = { trip = { ratio = { failures = 0.05, window = "10s", min_calls = 20 } }, open_for = "5s" }
[services.api]
[faults.bad-host]
on = ["api"]
effect = { fail = { probability = 0.05 } }
"#,
        good: &["clients.web.calls.api.breaker.trip.ratio.failures=0.5"],
    },
    check: Check::Variant(check),
};

fn check(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for (id, call) in subject.calls() {
        let Some(guard) = call.breaker.as_deref() else { continue };
        let normal = Normal::of(subject, id, call, guard);
        let Some(Opens { keys, at, after_s }) = opens(guard, &normal) else { continue };
        let what = match (guard.rule.trip, guard.rule.counts) {
            (Trip::Ratio { of: Badness::SlowerThan(_), .. }, Counts::Attempts) => "of its attempts are slow",
            (Trip::Ratio { of: Badness::SlowerThan(_), .. }, Counts::Calls) => "of its calls are slow",
            (_, Counts::Attempts) => "of its attempts fail",
            (_, Counts::Calls) => "of its calls fail",
        };
        let open_for = guard.rule.open.nominal(1);
        let figure = match after_s {
            Some(after_s) => format!(
                "in normal operation it opens about every {}, and then turns everything away for {}",
                words::seconds(after_s + open_for.as_s()),
                words::time(open_for)
            ),
            None => format!(
                "in normal operation it opens in every window, and then turns everything away for {}",
                words::time(open_for)
            ),
        };
        findings.add(Hit {
            owner: subject.call_path(id),
            keys,
            message: format!(
                "the breaker of `{}` opens at {at}, and {} {what} though nothing is wrong",
                subject.call_name(id),
                words::share(normal.bad)
            ),
            figure,
        });
    }
}

/// What one state of a breaker sees while nothing is wrong.
struct Normal {
    /// The share of what ends that is bad.
    bad: f64,
    /// How much ends per second; none if that is not known.
    per_second: Option<f64>,
}

impl Normal {
    fn of(subject: &Subject<'_>, id: CallId, call: &Call, guard: &Guard<Breaker>) -> Self {
        let plan = subject.plan;
        let policy = plan.policy_of(id);
        let callers = if guard.by_instance { f64::from(plan.callers(call)) } else { 1.0 };
        let made = subject.made(id).per_second / callers;
        let attempt = bad_attempts(plan, id, call, &guard.rule);
        let is_failure = !matches!(guard.rule.trip, Trip::Ratio { of: Badness::SlowerThan(_), .. });
        let (bad, per_second) = match guard.rule.counts {
            Counts::Attempts if is_failure => (attempt, made * attempts(attempt, policy.max_attempts)),
            Counts::Attempts => (attempt, made),
            // A call has failed when all of its attempts have, and is slow if the first one is.
            Counts::Calls if is_failure => (libm::pow(attempt, f64::from(policy.max_attempts)), made),
            Counts::Calls => (attempt, made),
        };
        Self { bad, per_second: Some(per_second).filter(|&rate| rate > 0.0) }
    }
}

/// When a breaker opens in normal operation.
struct Opens {
    keys: &'static [&'static str],
    /// At what, in words.
    at: String,
    /// How long after it has been closed; none if that is not known.
    after_s: Option<f64>,
}

fn opens(guard: &Guard<Breaker>, &Normal { bad, per_second }: &Normal) -> Option<Opens> {
    if bad <= 0.0 {
        return None;
    }
    match guard.rule.trip {
        Trip::Ratio { of, share, over, min_calls } => {
            let share = share as f64 / 1e6;
            let is_filled = match (over, per_second) {
                (Over::Time(window), Some(rate)) => rate * window.as_s() >= f64::from(min_calls),
                _ => true,
            };
            let keys: &'static [&'static str] = match of {
                Badness::Failure => &["breaker.trip.ratio.failures", "breaker"],
                Badness::SlowerThan(_) => &["breaker.trip.slow.ratio", "breaker"],
            };
            let after_s = per_second.map(|rate| f64::from(min_calls) / rate);
            (share <= bad && is_filled).then(|| Opens { keys, at: words::share(share), after_s })
        }
        Trip::Count { failures, window, .. } => {
            let per_second = bad * per_second?;
            let keys = &["breaker.trip.count.failures", "breaker"];
            let at = format!("{} within {}", words::count(f64::from(failures)), words::time(window));
            let after_s = Some(f64::from(failures) / per_second);
            (f64::from(failures) <= per_second * window.as_s()).then_some(Opens { keys, at, after_s })
        }
        Trip::Consecutive(row) => {
            // How many it takes in the mean until so many in a row are bad (Feller, volume I, XIII.7).
            let all = libm::pow(bad, f64::from(row));
            let after_s = (1.0 - all) / ((1.0 - bad) * all) / per_second?;
            let open_s = guard.rule.open.nominal(1).as_s();
            let at = format!("{} in a row", words::count(f64::from(row)));
            let is_often = open_s >= OPEN * (open_s + after_s);
            is_often.then_some(Opens { keys: &["breaker.trip.consecutive", "breaker"], at, after_s: Some(after_s) })
        }
    }
}

/// The share of the attempts that are bad while nothing is wrong, at least.
fn bad_attempts(plan: &Plan, id: CallId, call: &Call, breaker: &Breaker) -> f64 {
    if let Trip::Ratio { of: Badness::SlowerThan(limit), .. } = breaker.trip {
        // What is given up by then is not slower.
        let is_awaited = call.timeout.after.min(call.total_timeout.after) > limit;
        return if is_awaited { slower(plan, call, limit).unwrap_or(0.0) } else { 0.0 };
    }
    let struck = plan.faults.iter().filter_map(|fault| always(plan, id, call, breaker, fault));
    let passed: f64 = struck.map(|share| 1.0 - share).product();
    let timeout = call.timeout.after;
    let is_counted = timeout < call.total_timeout.after && breaker.failure_on.contains(ErrorKind::Timeout);
    let late = if is_counted && call.hedge.is_none() { slower(plan, call, timeout).unwrap_or(0.0) } else { 0.0 };
    let late = if late <= OUTAGE { late } else { 0.0 };
    1.0 - passed * (1.0 - late)
}

/// The share that a fault strikes of the attempts of a call, if it does so all the time and is no outage.
fn always(plan: &Plan, id: CallId, call: &Call, breaker: &Breaker, fault: &Fault) -> Option<f64> {
    let Effect::Fail(failure) = &fault.effect else { return None };
    let Windows::Once(window) = &fault.windows else { return None };
    let end = plan.horizon.unwrap_or(Instant::LIMIT);
    let is_whole = window.start == Instant::ZERO && window.end >= end;
    let strikes = fault.targets.contains(&Target::Call(id))
        || fault.first_instances == Capacity::NO_LIMIT && fault.targets.contains(&Target::Service(call.target));
    let share = failure.probability as f64 / 18_446_744_073_709_551_616.0;
    (is_whole && strikes && share <= OUTAGE && breaker.failure_on.contains(failure.error)).then_some(share)
}
