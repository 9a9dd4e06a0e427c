//! Retries and their waits, of what the rules treat in a way of its own.

use stormsim::failure::{ErrorKind, StopReason};
use stormsim::policy::{Backoff, Beyond, CapOrder, DelayRule, Jitter, RetryPolicy, Schedule};
use stormsim::time::Span;

use crate::reference::record::{AttemptEnd, Call};

use super::Cases;

impl Cases<'_> {
    pub(super) fn kinds_of_waits(&self) -> Vec<(&'static str, bool)> {
        let bounds = |it: &Schedule, retry: u32| it.jitter().bounds(it.nominal(retry));
        let floor = |it: &Schedule| it.refinement().floor;
        let cap = |it: &Schedule| it.cap().unwrap_or(Span::UNLIMITED);
        let has_window = |it: &Schedule| !it.remembers() && !matches!(it.jitter(), Jitter::Add(_));
        vec![
            ("a retry at once", self.retried(|it, retry, _| retry <= it.refinement().immediate)),
            (
                "a retry after those at once",
                self.retried(|it, retry, own| {
                    it.refinement().immediate > 0 && retry > it.refinement().immediate && own > Span::ZERO
                }),
            ),
            (
                "a window cut at the floor",
                self.retried(|it, retry, own| {
                    let (low, high) = bounds(it, retry);
                    has_window(it) && low < floor(it) && floor(it) < high && own > floor(it)
                }),
            ),
            (
                "a wait raised to the floor",
                self.retried(|it, retry, own| bounds(it, retry).1 < floor(it) && own == floor(it)),
            ),
            (
                "a window cut at the cap",
                self.retried(|it, retry, own| {
                    let (low, high) = bounds(it, retry);
                    it.cap_order() == CapOrder::Narrow && has_window(it) && low < cap(it) && cap(it) < high && own > low
                }),
            ),
            (
                "a wait that is longer by jitter upwards",
                self.retried(|it, retry, own| matches!(it.jitter(), Jitter::Upward(_)) && own > it.nominal(retry)),
            ),
            (
                "a step along the curve",
                self.retried(|it, retry, _| {
                    matches!(it.backoff(), Backoff::DecorrelatedV2 { base } if *base > Span::ZERO) && retry > 1
                }),
            ),
            (
                "a step along the curve, capped",
                self.retried(|it, _, own| {
                    matches!(it.backoff(), Backoff::DecorrelatedV2 { .. }) && own == cap(it) && own > Span::ZERO
                }),
            ),
            (
                "a wait that is drawn and cut down",
                self.retried(|it, retry, own| {
                    let (low, high) = bounds(it, retry);
                    it.refinement().granularity > Span::from_ns(1) && low < high && own > Span::ZERO
                }),
            ),
            (
                "growth that is cut down",
                self.retried(|it, retry, own| {
                    let step = it.refinement().granularity;
                    let Backoff::Exponential { base, factor } = *it.backoff() else { return false };
                    let grown = base.as_ns() as f64 * libm::pow(factor, f64::from(retry - 1));
                    *it.jitter() == Jitter::None
                        && own > Span::ZERO
                        && (own + step).as_ns() as f64 <= grown
                        && own < cap(it)
                }),
            ),
        ]
    }

    pub(super) fn what_decides_on_retries(&self) -> Vec<(&'static str, bool)> {
        let policy = |it: &Call| self.plan.policy_of(it.id);
        let stopped = |it: &Call, by: StopReason| matches!(it.result(), Some(Err((_, reason))) if reason == by);
        let throttles = |&(_, error): &(_, ErrorKind)| matches!(error, ErrorKind::RateLimited | ErrorKind::Throttled);
        // The error that its last attempt was answered with.
        let last_error = |it: &Call| {
            let mut attempts =
                self.record.attempts.iter().filter(|attempt| self.record.calls[attempt.call].key == it.key);
            match attempts.next_back()?.ended? {
                (_, AttemptEnd::Answered(Err(error))) => Some(error),
                _ => None,
            }
        };
        let cut = |shows: &dyn Fn(&RetryPolicy, Span, Span) -> bool| {
            self.call(|it| it.waits.iter().any(|wait| shows(policy(it), wait.own, wait.whole)))
        };
        vec![
            (
                "a throttled call with a base of its own",
                self.call(|it| {
                    let retries = it.retries.iter().zip(&it.waits);
                    policy(it).throttled.is_some()
                        && retries.into_iter().any(|(retry, wait)| throttles(retry) && wait.own > Span::ZERO)
                }),
            ),
            (
                "bases in turn",
                self.call(|it| {
                    policy(it).throttled.is_some()
                        && it.retries.iter().any(throttles)
                        && !it.retries.iter().all(throttles)
                }),
            ),
            (
                "too late for a retry, but not for the call",
                self.call(|it| stopped(it, StopReason::Deadline) && it.limit.is_none()),
            ),
            (
                "a retry at the last moment",
                self.call(|it| {
                    it.retries.last().is_some_and(|&(at, _)| {
                        let wait = it.waits.last().map_or(Span::ZERO, |wait| wait.whole);
                        at + wait == it.began + policy(it).max_elapsed
                    })
                }),
            ),
            (
                "no word on when to come back, and no retry",
                self.call(|it| {
                    policy(it).server_delay.required
                        && stopped(it, StopReason::NotRetryable)
                        && last_error(it).is_some_and(|error| policy(it).retry_on.contains(error))
                }),
            ),
            (
                "a delay cut to somewhat more than the backoff",
                cut(&|policy, own, whole| {
                    let over = policy.server_delay.over_own;
                    over > Span::ZERO && over < Span::UNLIMITED && whole == own + over
                }),
            ),
            (
                "a delay that is stretched",
                cut(&|policy, own, whole| {
                    let rule = &policy.server_delay;
                    rule.rule == DelayRule::Replace
                        && matches!(rule.jitter, Jitter::Upward(share) if share > 0.0)
                        && whole != own
                        && whole > Span::ZERO
                }),
            ),
            (
                "a delay that is passed over",
                self.delay_told(|it, policy, delay| {
                    let rule = &policy.server_delay;
                    self.record.calls[it.call].started > it.number
                        && rule.rule != DelayRule::Ignore
                        && rule.beyond == Beyond::Ignore
                        && delay > rule.at_most
                }),
            ),
        ]
    }

    /// Whether there was such a retry: of the schedule, its number, and the wait of the backoff alone.
    fn retried(&self, shows: impl Fn(&Schedule, u32, Span) -> bool) -> bool {
        self.call(|it| {
            let schedule = &self.plan.policy_of(it.id).schedule;
            (1..).zip(&it.waits).any(|(retry, wait)| shows(schedule, retry, wait.own))
        })
    }
}
