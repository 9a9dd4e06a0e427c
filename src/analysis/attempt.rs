//! How long an attempt of a call lasts that fails, and whether it is tried again.

use crate::analysis::servers::{Asked, may_end, strikes};
use crate::failure::{ErrorKind, ErrorSet};
use crate::plan::{Call, CallId, Capacity, Effect, Hedge, Plan};
use crate::time::Span;

/// How all attempts of a call fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failing {
    /// They are turned away at once with `refused`, which takes the way there and back.
    Refused,
    /// They are answered with an error that the policy retries, if it retries any that is answered, after this time:
    /// the ways included.
    Late(Span),
    /// They arrive and have no answer, so that only `timeout` ends them.
    Silently,
    /// They find nobody, so that `connect_timeout` ends them, or `timeout`.
    Unreachable,
    /// In any way that the policy retries, if there is one, and at any time up to this: so it can last the longest, and
    /// have the most attempts.
    Anyhow(Span),
}

impl Failing {
    /// What may become of them.
    pub fn errors(self) -> ErrorSet {
        match self {
            Self::Refused => ErrorSet::EMPTY.with(ErrorKind::Refused).with(ErrorKind::Timeout),
            Self::Silently | Self::Unreachable => ErrorSet::EMPTY.with(ErrorKind::Timeout),
            Self::Late(_) | Self::Anyhow(_) => ErrorKind::ALL.iter().copied().collect(),
        }
    }

    /// Whether they may come with a word on when to try again.
    pub fn may_ask(self) -> bool {
        match self {
            Self::Refused | Self::Late(_) | Self::Anyhow(_) => true,
            Self::Silently | Self::Unreachable => false,
        }
    }
}

/// How long an attempt lasts that fails, and whether it is tried again.
pub(super) struct Attempt {
    pub least: Span,
    pub most: Span,
    /// Whether it may be tried again.
    pub is_retried: bool,
    /// Whether it may end with an error that is not.
    pub is_last: bool,
}

impl Attempt {
    pub fn of(plan: &Plan, id: CallId, failing: Failing) -> Self {
        let call = &plan.calls[id.index()];
        let attempt = match failing {
            Failing::Refused => refused(plan, id),
            Failing::Late(after) => {
                let retries_error = retried(plan, id).any(|kind| may_answer(plan, id, kind));
                until_timeout(plan, id, copies_last(call, after), retries_error, false)
            }
            Failing::Silently => {
                let Call { timeout, .. } = call;
                Self::with(timeout.after, timeout.after, plan.policy_of(id).retry_on.contains(ErrorKind::Timeout))
            }
            Failing::Unreachable => unreachable(plan, id),
            Failing::Anyhow(longest) => {
                let most = copies_last(call, longest).1.min(call.timeout.after);
                let least = least_retried(plan, id);
                Self::with(least.unwrap_or(Span::ZERO).min(most), most, least.is_some())
            }
        };
        let is_required = plan.policy_of(id).server_delay.required;
        // Where none says when to come back, and that is required, all are the last.
        let is_followed = !is_required || failing.may_ask() && Asked::of(plan, id).is_some();
        let may_end = is_required || failing.may_ask() && may_end(plan, id);
        Self { is_retried: attempt.is_retried && is_followed, is_last: attempt.is_last || may_end, ..attempt }
    }

    fn with(least: Span, most: Span, is_retried: bool) -> Self {
        Self { least, most, is_retried, is_last: !is_retried }
    }
}

/// Whether everything that a call sends is lost on its way, because that takes longer than it looks for somebody.
pub(super) fn finds_nobody(call: &Call) -> bool {
    call.network.bounds().0 > call.connect_timeout.after
}

/// How many hedges are sent beside an attempt that is waited for so long, at most.
pub(super) fn hedges_at_most(call: &Call, waited_for: Span) -> u32 {
    // A hedge needs a slot of its own.
    let has_slot = call.pool.is_none_or(|pool| pool.size > 1);
    let Some(hedge) = call.hedge.as_ref().filter(|_| has_slot) else { return 0 };
    // At the very end the timer of the attempt, or of the call, is the first.
    let before_end = waited_for.as_ns().saturating_sub(1) / hedge.after.after.as_ns();
    hedge.copies.min(u32::try_from(before_end).unwrap_or(u32::MAX))
}

fn refused(plan: &Plan, id: CallId) -> Attempt {
    let call = &plan.calls[id.index()];
    if finds_nobody(call) {
        return unreachable(plan, id);
    }
    let connect = call.connect_timeout.after;
    let (least, most) = call.network.bounds();
    let most = most.unwrap_or(Span::UNLIMITED);
    let lasts = (copies_last(call, least + least).0, copies_last(call, most.min(connect) + most).1);
    let retries_error = plan.policy_of(id).retry_on.contains(ErrorKind::Refused);
    until_timeout(plan, id, lasts, retries_error, most > connect)
}

fn unreachable(plan: &Plan, id: CallId) -> Attempt {
    let call = &plan.calls[id.index()];
    let connect = call.connect_timeout.after;
    // Of two timers at one instant that of the first hedge comes before that of the first copy. Later copies find
    // nobody before the next is due, or after that: that depends on where they are lost.
    let (first, last) = match call.hedge.as_ref().filter(|hedge| connect >= hedge.after.after) {
        None => (Span::ZERO, Span::ZERO),
        Some(hedge) if may_leave_out(call, hedge) => (Span::ZERO, last_sent(hedge)),
        Some(hedge) if connect == hedge.after.after => (connect, last_sent(hedge)),
        Some(hedge) => (last_sent(hedge), last_sent(hedge)),
    };
    let timeout = call.timeout.after;
    let is_retried = plan.policy_of(id).retry_on.contains(ErrorKind::Timeout);
    Attempt::with((connect + first).min(timeout), (connect + last).min(timeout), is_retried)
}

/// Of an attempt that ends so early and so late with an error, unless it ends with the timeout before that; or some are
/// lost on their way, which is a timeout as well.
fn until_timeout(plan: &Plan, id: CallId, lasts: (Span, Span), retries_error: bool, may_be_lost: bool) -> Attempt {
    let timeout = plan.calls[id.index()].timeout.after;
    let retries_timeouts = plan.policy_of(id).retry_on.contains(ErrorKind::Timeout);
    let (is_error, is_timeout) = (lasts.0 <= timeout, lasts.1 > timeout || may_be_lost);
    Attempt {
        least: lasts.0.min(timeout),
        most: lasts.1.min(timeout),
        is_retried: is_error && retries_error || is_timeout && retries_timeouts,
        is_last: is_error && !retries_error || is_timeout && !retries_timeouts,
    }
}

/// How soon an attempt can fail with an error that is retried; none if there is no such error.
fn least_retried(plan: &Plan, id: CallId) -> Option<Span> {
    let call = &plan.calls[id.index()];
    let soonest = |kind| match kind {
        _ if may_answer(plan, id, kind) => Some(Span::ZERO),
        ErrorKind::Timeout => Some(call.timeout.after.min(call.connect_timeout.after)),
        ErrorKind::BreakerOpen => call.breaker.as_ref().map(|_| Span::ZERO),
        ErrorKind::Throttled => call.throttle.as_ref().map(|_| Span::ZERO),
        ErrorKind::PoolTimeout => call.pool.map(|pool| pool.max_wait.after),
        // When the call's own time is over there is none left for another attempt.
        _ => None,
    };
    retried(plan, id).filter_map(soonest).min()
}

/// The errors that a call tries again after.
fn retried(plan: &Plan, id: CallId) -> impl Iterator<Item = ErrorKind> {
    let retry_on = plan.policy_of(id).retry_on;
    ErrorKind::ALL.iter().copied().filter(move |&kind| retry_on.contains(kind))
}

/// Whether an answer may tell of this error. Those that callers find out for themselves only faults tell of, and
/// callees who pass on what they have found out about their own calls.
fn may_answer(plan: &Plan, id: CallId, kind: ErrorKind) -> bool {
    use ErrorKind::{BreakerOpen, Deadline, PoolTimeout, Throttled, Timeout};
    if !matches!(kind, BreakerOpen | Deadline | PoolTimeout | Throttled | Timeout) {
        return true;
    }
    let passes_on = !plan.services[plan.calls[id.index()].target.index()].steps.is_empty();
    let fails_so = |effect: &Effect| matches!(effect, Effect::Fail(failure) if failure.error == kind);
    passes_on || strikes(plan, id).any(|fault| fails_so(&fault.effect))
}

/// How long an attempt lasts, at least and at most, each of whose copies is answered with an error after this time: if
/// the next is sent before that, until the last is answered.
fn copies_last(call: &Call, lasts: Span) -> (Span, Span) {
    match &call.hedge {
        Some(hedge) if lasts > hedge.after.after => {
            let most = last_sent(hedge) + lasts;
            (if may_leave_out(call, hedge) { lasts } else { most }, most)
        }
        _ => (lasts, lasts),
    }
}

/// Whether hedges may be left out, because there are enough of them, or no slot is free.
fn may_leave_out(call: &Call, hedge: &Hedge) -> bool {
    hedge.in_flight != Capacity::NO_LIMIT || call.pool.is_some()
}

/// How long after the attempt its last copy is sent.
fn last_sent(hedge: &Hedge) -> Span {
    Span::from_ns(hedge.after.after.as_ns().saturating_mul(u64::from(hedge.copies)).min(Span::LIMIT.as_ns()))
}
