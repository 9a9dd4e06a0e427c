//! What rules about waits ask: which waits calls may come to, whom they keep together, and what callees say.

use crate::analysis::lint::subject::{Crowd, Subject, Used};
use crate::analysis::servers::{self, Asked};
use crate::dist::Dist;
use crate::plan::{CallId, Fault};
use crate::policy::{Backoff, RetryPolicy, Schedule, WaitRange};
use crate::time::Span;

/// So many retries are looked at: waits that grow have grown by then.
pub const LOOKED_AT: u32 = 64;

/// Who comes within this time comes at once.
pub const AT_ONCE: Span = Span::from_ms(100);

/// How many a callee that can do so many per second can do of those that come at once.
pub fn done_at_once(per_second: f64) -> f64 {
    per_second * AT_ONCE.as_s()
}

/// The waits before retries 1, 2, ... of a policy, as far as they are looked at.
pub fn allowed(policy: &RetryPolicy) -> Vec<WaitRange> {
    policy.ranges().take((policy.max_attempts - 1).min(LOOKED_AT) as usize).collect()
}

/// The waits before retries 1, 2, ... that a call may come to: as many as there is time for if attempts fail at once
/// and waits are as short as they can be.
pub fn reachable(subject: &Subject<'_>, id: CallId) -> Vec<WaitRange> {
    let policy = subject.plan.policy_of(id);
    let limit = subject.time_limit(id);
    let mut waits = allowed(policy);
    let mut waited = Span::ZERO;
    let late = waits.iter().position(|wait| {
        waited = waited + wait.shortest;
        limit < Span::LIMIT && waited + policy.min_attempt > limit || waited > policy.max_elapsed
    });
    waits.truncate(late.unwrap_or(waits.len()));
    waits
}

/// Those of the call that may come to the most of them.
pub fn most_reachable(subject: &Subject<'_>, used: &Used<'_>) -> Vec<WaitRange> {
    used.calls.iter().map(|&id| reachable(subject, id)).max_by_key(Vec::len).unwrap_or_default()
}

/// The call that most requests make, of those that use a policy.
pub fn busiest(subject: &Subject<'_>, used: &Used<'_>) -> Option<(CallId, Crowd)> {
    let crowds = used.calls.iter().map(|&id| (id, subject.made(id)));
    crowds.max_by(|(_, one), (_, other)| one.after_a_second().total_cmp(&other.after_a_second()))
}

/// Whether waits are meant to differ between clients.
pub fn has_jitter(schedule: &Schedule) -> bool {
    match schedule.backoff() {
        Backoff::Decorrelated { factor, .. } => *factor > 1.0,
        Backoff::DecorrelatedV2 { .. } => true,
        _ => schedule.jitter().spreads(),
    }
}

/// Whether all samples are the same.
pub fn is_constant(dist: &Dist) -> bool {
    let (least, most) = dist.bounds();
    most == Some(least)
}

/// How many values a distribution takes that are so far apart that those of one value come at once, and how far apart.
pub fn grid(dist: &Dist) -> Option<(u64, Span)> {
    match *dist {
        Dist::Uniform { values, step, .. } if values > 1 && step >= AT_ONCE => Some((values, step)),
        _ => None,
    }
}

/// What the callee of a call may say about when to come back, and its caller follows: the longest.
pub fn told(subject: &Subject<'_>, id: CallId) -> Option<Span> {
    Asked::of(subject.plan, id).map(|asked| asked.longest)
}

/// The faults that strike a call, on its way or at its target.
pub fn strikes<'a>(subject: &Subject<'a>, id: CallId) -> impl Iterator<Item = &'a Fault> + use<'a> {
    servers::strikes(subject.plan, id)
}

/// The same with their names.
pub fn named_strikes<'a>(subject: &Subject<'a>, id: CallId) -> impl Iterator<Item = (&'a Fault, &'a str)> + use<'a> {
    servers::named_strikes(subject.plan, id)
}
