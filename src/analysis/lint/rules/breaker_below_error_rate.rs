//! A breaker that opens though nothing is wrong.
//!
//! What comes anyway is what the file says of it: a `fail` fault for the whole run that strikes less than half of the
//! attempts (more is an outage), and the timeouts of services that call nobody and are slow now and then. By
//! chance more of them come together than usual: that is said if it keeps the breaker open for a hundredth of the time.
//! Silent where a rate matters and there is none, and where the window does not hold the minimum of calls.

use crate::analysis::lint::chance::{attempts, slower};
use crate::analysis::lint::findings::{Findings, Hit};
use crate::analysis::lint::rule::{Check, Example, Rule};
use crate::analysis::lint::subject::Subject;
use crate::analysis::lint::tail::at_least;
use crate::analysis::lint::waits::strikes;
use crate::analysis::lint::words;
use crate::failure::ErrorKind;
use crate::plan::{Call, CallId, Capacity, Effect, Fault, Guard, Plan, Target, Windows};
use crate::policy::{Badness, Breaker, Counts, Over, Trip};
use crate::scenario::Severity;
use crate::time::Instant;

/// A fault that strikes more than this share is an outage.
const OUTAGE: f64 = 0.5;

/// More failures than usual happen some time. It matters if the breaker is open for this share of the time because of
/// them.
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
        let Some(Opens { keys, at, when }) = opens(guard, &normal) else { continue };
        let what = match (guard.rule.trip, guard.rule.counts) {
            (Trip::Ratio { of: Badness::SlowerThan(_), .. }, Counts::Attempts) => "of its attempts are slow",
            (Trip::Ratio { of: Badness::SlowerThan(_), .. }, Counts::Calls) => "of its calls are slow",
            (_, Counts::Attempts) => "of its attempts fail",
            (_, Counts::Calls) => "of its calls fail",
        };
        let open_for = guard.rule.open.nominal(1);
        let every = |after_s: f64| words::seconds(after_s + open_for.as_s());
        let opens = match when {
            When::InEveryWindow => "opens in every window".to_owned(),
            When::After(after_s) => format!("opens about every {}", every(after_s)),
            When::ByChance(after_s) => format!("opens by chance, every {} or more often in the mean", every(after_s)),
        };
        let open_for = words::time(open_for);
        let figure = format!("in normal operation it {opens}, and then turns everything away for {open_for}");
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
        let attempt = bad_attempts(subject, id, call, &guard.rule);
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
    when: When,
}

/// How long after it has been closed a breaker opens, in seconds.
enum When {
    /// Nobody knows how much ends in a second.
    InEveryWindow,
    /// In the mean about this.
    After(f64),
    /// In the mean no more than this: by so many bad ones that there are not as many in most windows.
    ByChance(f64),
}

fn opens(guard: &Guard<Breaker>, &Normal { bad, per_second }: &Normal) -> Option<Opens> {
    if bad <= 0.0 {
        return None;
    }
    let is_often = |after_s: f64| {
        let open_s = guard.rule.open.nominal(1).as_s();
        open_s >= OPEN * (open_s + after_s)
    };
    // One window after another is a trial of its own; others, between them, come on top. And of arrivals that vary
    // themselves there are more that have so many bad ones (Anderson and Samuels, 1967).
    let by_chance = |least: u64, of: u64| {
        let after_s = of as f64 / per_second? / at_least(least, of, bad);
        is_often(after_s).then_some(When::ByChance(after_s))
    };
    match guard.rule.trip {
        Trip::Ratio { of, share, over, min_calls } => {
            let window = match over {
                Over::Time(window) => per_second.map(|rate| (rate * window.as_s()) as u64),
                Over::Calls(calls) => Some(u64::from(calls)),
            };
            let min_calls = match over {
                Over::Time(_) => u64::from(min_calls),
                Over::Calls(calls) => u64::from(min_calls.min(calls)),
            };
            if window.is_some_and(|window| window < min_calls) {
                return None;
            }
            let keys: &'static [&'static str] = match of {
                Badness::Failure => &["breaker.trip.ratio.failures", "breaker"],
                Badness::SlowerThan(_) => &["breaker.trip.slow.ratio", "breaker"],
            };
            let when = if share as f64 / 1e6 <= bad {
                per_second.map_or(When::InEveryWindow, |rate| When::After(min_calls as f64 / rate))
            } else {
                let window = window?;
                by_chance(window.saturating_mul(share).div_ceil(1_000_000), window)?
            };
            Some(Opens { keys, at: words::share(share as f64 / 1e6), when })
        }
        Trip::Count { failures, window, .. } => {
            let rate = per_second?;
            let keys = &["breaker.trip.count.failures", "breaker"];
            let at = format!("{} within {}", words::count(f64::from(failures)), words::time(window));
            let when = if f64::from(failures) <= bad * rate * window.as_s() {
                When::After(f64::from(failures) / (bad * rate))
            } else {
                by_chance(u64::from(failures), (rate * window.as_s()) as u64)?
            };
            Some(Opens { keys, at, when })
        }
        Trip::Consecutive(row) => {
            // How many it takes in the mean until so many in a row are bad (Feller, volume I, XIII.7).
            let all = libm::pow(bad, f64::from(row));
            let after_s = (1.0 - all) / ((1.0 - bad) * all) / per_second?;
            let at = format!("{} in a row", words::count(f64::from(row)));
            let keys = &["breaker.trip.consecutive", "breaker"];
            is_often(after_s).then_some(Opens { keys, at, when: When::After(after_s) })
        }
    }
}

/// The share of the attempts that are bad while nothing is wrong, at least.
fn bad_attempts(subject: &Subject<'_>, id: CallId, call: &Call, breaker: &Breaker) -> f64 {
    let plan = subject.plan;
    if let Trip::Ratio { of: Badness::SlowerThan(limit), .. } = breaker.trip {
        // What is given up by then is not slower.
        let is_awaited = call.timeout.after.min(call.total_timeout.after) > limit;
        return if is_awaited { slower(plan, call, limit).unwrap_or(0.0) } else { 0.0 };
    }
    let struck = strikes(subject, id).filter_map(|fault| always(plan, id, breaker, fault));
    let passed: f64 = struck.map(|share| 1.0 - share).product();
    let timeout = call.timeout.after;
    let is_counted = timeout < call.total_timeout.after && breaker.failure_on.contains(ErrorKind::Timeout);
    let late = if is_counted && call.hedge.is_none() { slower(plan, call, timeout).unwrap_or(0.0) } else { 0.0 };
    let late = if late <= OUTAGE { late } else { 0.0 };
    1.0 - passed * (1.0 - late)
}

/// The share that a fault strikes of the attempts of a call, if it does so all the time and is no outage.
fn always(plan: &Plan, id: CallId, breaker: &Breaker, fault: &Fault) -> Option<f64> {
    let Effect::Fail(failure) = &fault.effect else { return None };
    let Windows::Once(window) = &fault.windows else { return None };
    let end = plan.horizon.unwrap_or(Instant::LIMIT);
    let is_whole = window.start == Instant::ZERO && window.end >= end;
    let is_everywhere = fault.first_instances == Capacity::NO_LIMIT || fault.targets.contains(&Target::Call(id));
    let share = failure.probability as f64 / 18_446_744_073_709_551_616.0;
    (is_whole && is_everywhere && share <= OUTAGE && breaker.failure_on.contains(failure.error)).then_some(share)
}
