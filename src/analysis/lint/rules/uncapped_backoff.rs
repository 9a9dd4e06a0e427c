//! Waits that grow without a cap.
//!
//! It is silent where no wait that is allowed, of the first 64, comes to more than a minute; about calls with a time
//! limit, which ends them before: what is too long for that is said by `long-wait`; and about policies with a
//! `max_elapsed`, which no wait outlasts.

use crate::analysis::lint::findings::{Findings, Hit};
use crate::analysis::lint::rule::{Check, Example, Rule};
use crate::analysis::lint::subject::{Subject, Used};
use crate::analysis::lint::waits::{allowed, strikes};
use crate::analysis::lint::words;
use crate::plan::{CallId, Effect, Windows};
use crate::policy::{Backoff, Schedule, WaitRange};
use crate::scenario::Severity;
use crate::time::{Instant, Span};

/// A wait that is longer is noticed by people.
const LONG: Span = Span::from_s(60);

/// Waits that nobody waits for, and what they are called; the longest first.
const MILESTONES: [(Span, &str); 2] = [(Span::from_s(86_400), "a day"), (Span::from_s(3_600), "an hour")];

pub static RULE: Rule = Rule {
    id: "uncapped-backoff",
    severity: Severity::Warning,
    finds: "Waits grow without a cap and become longer than a minute.",
    why: "Backoff that doubles without an end is as long as the outage was: a client that failed a moment before the \
          end waits all of its last wait before it notices. With 10 minutes that grow fivefold, attempts come 10, 60, \
          310, 1,560 and 7,810 minutes after the first; an outage of 1,600 minutes is noticed 6,210 minutes after its \
          end (matrix-org/synapse, issue 14513). Capped at an hour it would have been 20 minutes.",
    instead: "cap the waits at the lag that is bearable after an outage, such as `cap = \"60s\"`",
    example: Example {
        bad: r#"
clients.federation = { arrivals = { burst = {} }, calls.peer = { timeout = "10s", retry = "patient" } }
services.peer = { service_time = "50ms" }
retries.patient = { max_attempts = "unlimited", backoff = { exponential = { base = "10m", factor = 5.0 } } }
"#,
        good: &[r#"retries.patient.cap="60m""#],
    },
    check: Check::Variant(check),
};

fn check(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for used in subject.policies() {
        let Used { id, policy, ref calls } = used;
        let schedule = &policy.schedule;
        let Some(&call) = calls.iter().find(|&&call| subject.time_limit(call) >= Span::LIMIT) else { continue };
        let waits = allowed(policy);
        let Some(last) = waits.last().filter(|last| last.longest > LONG) else { continue };
        if !grows(schedule) || schedule.cap().is_some() || policy.max_elapsed < Span::LIMIT {
            continue;
        }
        let figure = match longest_outage(subject, call).and_then(|outage| Some((outage, under_way(&waits, outage)?))) {
            Some((outage, (retry, wait))) => format!(
                "after an outage of {} a client waits for retry {retry}: the worst lag is that wait, {}",
                words::time(outage),
                at_most(wait)
            ),
            None => alone(&waits, *last, policy.max_attempts == u32::MAX),
        };
        let path = subject.policy_path(id);
        findings.add(Hit {
            owner: path.clone(),
            keys: &["backoff"],
            message: format!("the waits of `{path}` grow without a cap"),
            figure,
        });
    }
}

fn grows(schedule: &Schedule) -> bool {
    match schedule.backoff() {
        Backoff::Linear { .. } | Backoff::DecorrelatedV2 { .. } => true,
        Backoff::Exponential { factor, .. } | Backoff::Decorrelated { factor, .. } => *factor > 1.0,
        Backoff::None | Backoff::Fixed(_) | Backoff::Explicit(_) => false,
    }
}

/// What waits come to, where no outage is known.
fn alone(waits: &[WaitRange], last: WaitRange, is_endless: bool) -> String {
    if !is_endless && last.longest <= MILESTONES[0].0 {
        return format!("the last retry waits {}: that is the worst lag after an outage", at_most(last));
    }
    let beyond = |&(long, name): &(Span, &str)| {
        let at = waits.iter().position(|wait| wait.longest > long)?;
        let waits = if waits[at].shortest > long { "waits" } else { "may wait" };
        Some(format!("retry {} {waits} for more than {name}", at + 1))
    };
    let told = MILESTONES.iter().find_map(beyond);
    let told = told.unwrap_or_else(|| format!("retry {} waits {}", waits.len(), at_most(last)));
    format!("{told}: after an outage the worst lag is the last wait")
}

/// "250 min", or "up to" that where it is drawn.
fn at_most(wait: WaitRange) -> String {
    let longest = words::time(wait.longest);
    if wait.longest == wait.shortest { longest } else { format!("up to {longest}") }
}

/// The longest time for which a fault turns all attempts of a call away, or lets them hang.
fn longest_outage(subject: &Subject<'_>, call: CallId) -> Option<Span> {
    let outages = strikes(subject, call).filter(|fault| match &fault.effect {
        Effect::Fail(failure) => failure.probability == u64::MAX,
        Effect::Refuse | Effect::BlackHole | Effect::Pause | Effect::Crash => true,
        Effect::Slow { .. } | Effect::Capacity { .. } | Effect::Loss { .. } | Effect::Load { .. } => false,
    });
    let windows = outages.filter_map(|fault| match &fault.windows {
        Windows::Once(window) | Windows::Repeated { first: window, .. } => Some(window),
        Windows::Random { .. } => None,
    });
    windows.filter(|window| window.end < Instant::LIMIT).map(|window| window.end.since(window.start)).max()
}

/// The retry that is waited for at the end of an outage which began with the first attempt, and its wait; none if all
/// have been made before. Where waits are drawn, each has taken its mean until then.
fn under_way(waits: &[WaitRange], outage: Span) -> Option<(usize, WaitRange)> {
    let mut passed_ns = 0.0;
    let at = waits.iter().position(|wait| {
        passed_ns += wait.mean_ns.unwrap_or(wait.longest.as_ns() as f64);
        passed_ns >= outage.as_ns() as f64
    })?;
    Some((at + 1, waits[at]))
}
