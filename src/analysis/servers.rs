//! What callees may say about when it is worth trying again, and what callers make of it.

use crate::failure::ErrorKind;
use crate::plan::{CallId, Effect, Fault, Plan, Target};
use crate::policy::{DelayRule, Limiter, RetryPolicy, WaitRange};
use crate::time::Span;

/// What the errors of a call that its policy follows may say about when to try again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Asked {
    /// The shortest delay, as far as it is taken.
    shortest: Span,
    /// The longest.
    pub longest: Span,
}

impl Asked {
    /// None if nobody says anything that the policy minds.
    pub fn of(plan: &Plan, id: CallId) -> Option<Self> {
        let policy = plan.policy_of(id);
        let rule = &policy.server_delay;
        let followed = said(plan, id).filter(|&delay| !rule.refuses(delay)).filter_map(|delay| rule.taken(delay));
        let followed = followed.filter(|_| policy.max_attempts > 1);
        followed.fold(None, |all: Option<Self>, delay| {
            let (shortest, longest) = all.map_or((delay, delay), |all| (all.shortest, all.longest));
            Some(Self { shortest: shortest.min(delay), longest: longest.max(delay) })
        })
    }

    /// The range of a wait where an error may say this, or nothing.
    pub fn widen(self, own: &WaitRange, policy: &RetryPolicy) -> (Span, Span) {
        let rule = &policy.server_delay;
        let (least, most) = (rule.jitter.bounds(self.shortest).0, rule.jitter.bounds(self.longest).1);
        let longest = most.min(own.longest + rule.over_own);
        let shortest = match rule.rule {
            DelayRule::Replace => own.shortest.min(least),
            DelayRule::Floor | DelayRule::Ignore => own.shortest,
        };
        (shortest, own.longest.max(longest).min(Span::UNLIMITED))
    }
}

/// Whether an error that its policy follows may end a call by what it says about when to try again.
pub(super) fn may_end(plan: &Plan, id: CallId) -> bool {
    let rule = &plan.policy_of(id).server_delay;
    said(plan, id).any(|delay| rule.refuses(delay))
}

/// What the errors that the policy of a call follows say, if they say anything: the limiter of the callee, and faults
/// there or on the way. What the callee's own calls are told it does not pass on.
fn said(plan: &Plan, id: CallId) -> impl Iterator<Item = Span> {
    let policy = plan.policy_of(id);
    let capacity = &plan.services[plan.calls[id.index()].target.index()].capacity;
    let by_limiter = capacity.retry_after.filter(|_| capacity.limiter != Limiter::Unlimited);
    let by_faults = strikes(plan, id).filter_map(|fault| match &fault.effect {
        Effect::Fail(failure) => failure.retry_after.map(|delay| (failure.error, delay)),
        _ => None,
    });
    let said = by_limiter.map(|delay| (ErrorKind::RateLimited, delay)).into_iter().chain(by_faults);
    said.filter(|&(error, _)| policy.retry_on.contains(error)).map(|(_, delay)| delay)
}

/// The faults that strike a call, on its way or at its target.
pub(super) fn strikes(plan: &Plan, id: CallId) -> impl Iterator<Item = &Fault> {
    named_strikes(plan, id).map(|(fault, _)| fault)
}

/// The same with their names.
pub(super) fn named_strikes(plan: &Plan, id: CallId) -> impl Iterator<Item = (&Fault, &str)> {
    let service = Target::Service(plan.calls[id.index()].target);
    let named = plan.faults.iter().zip(plan.labels.faults.iter().map(String::as_str));
    named.filter(move |(fault, _)| fault.targets.iter().any(|&at| at == service || at == Target::Call(id)))
}
