//! What happens after a failed attempt.

use crate::failure::{ErrorKind, ErrorSet, StopReason};
use crate::policy::{Drawn, Schedule, ServerDelay, WaitRange};
use crate::time::Span;

/// A retry policy: when to try again, how often, and after which wait.
#[derive(Clone, Debug, PartialEq)]
pub struct RetryPolicy {
    /// Attempts allowed in all, the first included; at least 1; `u32::MAX` without a limit.
    pub max_attempts: u32,
    /// The waits.
    pub schedule: Schedule,
    /// The errors that are worth another attempt.
    pub retry_on: ErrorSet,
    /// No wait for an attempt that has less than this left.
    pub min_attempt: Span,
    /// What it makes of a server's word on when to try again.
    pub server_delay: ServerDelay,
    /// The waits after errors that [throttle](ErrorSet::THROTTLING), if they are others than `schedule`. It remembers
    /// nothing.
    pub throttled: Option<Box<Schedule>>,
    /// No retry begins later than this after its call; [`Span::UNLIMITED`] for any. Attempts are not cut by it.
    pub max_elapsed: Span,
}

/// A failed attempt, as its policy sees it.
#[derive(Clone, Copy, Debug)]
pub struct Attempted {
    /// Its number; 1 is the first.
    pub attempt: u32,
    /// Its error.
    pub error: ErrorKind,
    /// The time since its call began.
    pub elapsed: Span,
    /// What is left of the call's deadline; [`Span::UNLIMITED`] without one.
    pub remaining: Span,
    /// Whether the call's retry budget, if it has one, grants a retry.
    pub budget_grants: bool,
    /// When the server said that it is worth trying again; none if it did not.
    pub retry_after: Option<Span>,
    /// What the schedule is to remember: the mark of the last retry; anything before the first.
    pub mark: Span,
    /// Its key, for the draw of the wait.
    pub key: u64,
}

/// What a policy decides about a failed attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Try again.
    Retry {
        /// After this wait.
        wait: Span,
        /// What the next backoff is reckoned from, where it depends on those before: that of the backoff, whatever
        /// the server had to say.
        mark: Span,
    },
    /// The call has failed, for this reason.
    Stop(StopReason),
}

impl RetryPolicy {
    /// Decides about a failed attempt. The first of these that applies ends the call: the deadline has passed, the
    /// error is not retryable or its `retry_after` is longer than the policy waits, or is required and not there, the
    /// attempts are exhausted, the budget refuses, the wait and the shortest useful attempt do not fit into what is
    /// left of the deadline, or the wait would end later than `max_elapsed` allows.
    #[inline]
    pub fn decide(&self, failed: Attempted) -> Verdict {
        if failed.remaining == Span::ZERO {
            return Verdict::Stop(StopReason::Deadline);
        }
        if !self.retry_on.contains(failed.error) || self.server_delay.forbids(failed.retry_after) {
            return Verdict::Stop(StopReason::NotRetryable);
        }
        if failed.attempt >= self.max_attempts && self.max_attempts != u32::MAX {
            return Verdict::Stop(StopReason::Exhausted);
        }
        if !failed.budget_grants {
            return Verdict::Stop(StopReason::Budget);
        }
        let schedule = match &self.throttled {
            Some(throttled) if ErrorSet::THROTTLING.contains(failed.error) => throttled,
            _ => &self.schedule,
        };
        let Drawn { wait: own, mark } = schedule.draw(failed.attempt, failed.mark, failed.key);
        let wait = failed.retry_after.map_or(own, |delay| self.server_delay.wait(delay, own, failed.key));
        let is_late = self.max_elapsed < Span::UNLIMITED && failed.elapsed + wait > self.max_elapsed;
        if wait + self.min_attempt > failed.remaining || is_late {
            return Verdict::Stop(StopReason::Deadline);
        }
        Verdict::Retry { wait, mark }
    }

    /// Whether it tries again after an error of this kind that does not say when.
    pub fn retries_untold(&self, kind: ErrorKind) -> bool {
        self.retry_on.contains(kind) && !self.server_delay.forbids(None)
    }

    /// The waits after errors that throttle, if they are others and the policy tries again after such errors.
    pub fn retried_throttled(&self) -> Option<&Schedule> {
        self.throttled.as_deref().filter(|_| self.retry_on.and(ErrorSet::THROTTLING) != ErrorSet::EMPTY)
    }

    /// The waits before retries 1, 2, ... after errors of these kinds, as far as they are retried: where the waits
    /// depend on the error, all that may be. What a server says is left out.
    pub fn ranges_after(&self, errors: ErrorSet) -> impl Iterator<Item = WaitRange> {
        let errors = errors.and(self.retry_on);
        let others = errors.without(ErrorSet::THROTTLING);
        let throttled = self.retried_throttled().filter(|_| errors != others);
        let own = Some(&self.schedule).filter(|_| throttled.is_none() || others != ErrorSet::EMPTY);
        let mut ranges = [own, throttled].map(|schedule| schedule.map(Schedule::ranges));
        std::iter::from_fn(move || {
            let all = ranges.iter_mut().flatten().filter_map(Iterator::next);
            all.reduce(WaitRange::or)
        })
    }

    /// The same after any error.
    pub fn ranges(&self) -> impl Iterator<Item = WaitRange> {
        self.ranges_after(self.retry_on)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{Backoff, CapOrder, DelayRule, Jitter};

    fn policy(max_attempts: u32, waits_ms: &[u64], min_attempt: Span) -> RetryPolicy {
        let waits = waits_ms.iter().map(|&ms| Span::from_ms(ms)).collect();
        RetryPolicy {
            max_attempts,
            schedule: Schedule::new(Backoff::Explicit(waits), Span::UNLIMITED, CapOrder::BeforeJitter, Jitter::None),
            retry_on: ErrorSet::RETRYABLE,
            min_attempt,
            server_delay: ServerDelay::IGNORE,
            throttled: None,
            max_elapsed: Span::UNLIMITED,
        }
    }

    fn failed(attempt: u32, error: ErrorKind, remaining: Span) -> Attempted {
        Attempted {
            attempt,
            error,
            elapsed: Span::ZERO,
            remaining,
            budget_grants: true,
            retry_after: None,
            mark: Span::ZERO,
            key: 0,
        }
    }

    #[test]
    fn the_first_reason_that_applies_is_given() {
        let policy = policy(2, &[100], Span::ZERO);
        let stop = |attempt, error, ms| policy.decide(failed(attempt, error, Span::from_ms(ms)));
        assert_eq!(stop(2, ErrorKind::Internal, 0), Verdict::Stop(StopReason::Deadline));
        assert_eq!(stop(2, ErrorKind::Internal, 1), Verdict::Stop(StopReason::NotRetryable));
        assert_eq!(stop(2, ErrorKind::Unavailable, 1), Verdict::Stop(StopReason::Exhausted));
        assert_eq!(stop(1, ErrorKind::Unavailable, 1), Verdict::Stop(StopReason::Deadline));
        assert_eq!(
            stop(1, ErrorKind::Unavailable, 100),
            Verdict::Retry { wait: Span::from_ms(100), mark: Span::from_ms(100) }
        );
    }

    /// Deadline 250 ms, attempts of 60 ms, waits of 17 and 12 ms: exactly 3 attempts, the last ends at 209 ms with
    /// 41 ms left, and the reason is the deadline: 41 < wait + 60.
    #[test]
    fn a_deadline_beats_the_count() {
        let policy = policy(5, &[17, 12], Span::from_ms(60));
        let (mut now, mut attempt) = (0, 0);
        let reason = loop {
            attempt += 1;
            now += 60;
            match policy.decide(failed(attempt, ErrorKind::Unavailable, Span::from_ms(250 - now))) {
                Verdict::Retry { wait, .. } => now += wait.as_ns() / 1_000_000,
                Verdict::Stop(reason) => break reason,
            }
        };
        assert_eq!((attempt, now, 250 - now, reason), (3, 209, 41, StopReason::Deadline));
    }

    /// An overall budget of 1 s and waits of 100, 200, 400, 800 ms: the fourth wait cannot fit.
    #[test]
    fn a_wait_that_does_not_fit_is_not_begun() {
        let policy = policy(10, &[100, 200, 400, 800], Span::ZERO);
        let mut remaining = 1000;
        for (attempt, wait) in [(1, 100), (2, 200), (3, 400)] {
            let verdict = policy.decide(failed(attempt, ErrorKind::Unavailable, Span::from_ms(remaining)));
            let wait_ms = Span::from_ms(wait);
            assert_eq!(verdict, Verdict::Retry { wait: wait_ms, mark: wait_ms });
            remaining -= wait;
        }
        let verdict = policy.decide(failed(4, ErrorKind::Unavailable, Span::from_ms(remaining)));
        assert_eq!(verdict, Verdict::Stop(StopReason::Deadline));
    }

    /// A server asks for a minute. The next backoff is drawn from the one before, not from that minute.
    #[test]
    fn the_word_of_a_server_is_no_backoff() {
        let decorrelated = Backoff::Decorrelated { base: Span::from_ms(100), factor: 3.0 };
        let policy = RetryPolicy {
            schedule: Schedule::new(decorrelated, Span::UNLIMITED, CapOrder::BeforeJitter, Jitter::None),
            server_delay: ServerDelay { rule: DelayRule::Floor, ..ServerDelay::IGNORE },
            ..policy(5, &[100], Span::ZERO)
        };
        let asked =
            Attempted { retry_after: Some(Span::from_s(60)), ..failed(1, ErrorKind::RateLimited, Span::UNLIMITED) };
        let Verdict::Retry { wait, mark } = policy.decide(asked) else { panic!("it is tried again") };
        assert_eq!(wait, Span::from_s(60));
        assert!(mark <= Span::from_ms(300), "{mark:?}");
    }

    /// cenkalti/backoff stops where the time that has passed and the next wait are more than 15 minutes; attempts may
    /// last beyond that. What is just as long as may be is waited for.
    #[test]
    fn a_wait_that_ends_too_late_is_not_begun() {
        let policy = RetryPolicy { max_elapsed: Span::from_s(900), ..policy(u32::MAX, &[60_000], Span::from_ms(1)) };
        let after = |elapsed_ms| {
            let elapsed = Span::from_ms(elapsed_ms);
            policy.decide(Attempted { elapsed, ..failed(20, ErrorKind::Unavailable, Span::UNLIMITED) })
        };
        let minute = Span::from_s(60);
        assert_eq!(after(840_000), Verdict::Retry { wait: minute, mark: minute });
        assert_eq!(after(840_001), Verdict::Stop(StopReason::Deadline));
        assert_eq!(after(2_000_000), Verdict::Stop(StopReason::Deadline), "the attempt was not cut");
    }

    /// What the server says counts: a retry that it puts off for too long is none.
    #[test]
    fn a_server_may_put_a_retry_off_for_too_long() {
        let policy = RetryPolicy {
            max_elapsed: Span::from_s(10),
            server_delay: ServerDelay { rule: DelayRule::Floor, ..ServerDelay::IGNORE },
            ..policy(5, &[100], Span::ZERO)
        };
        let said = |s| {
            let retry_after = Some(Span::from_s(s));
            policy.decide(Attempted { retry_after, ..failed(1, ErrorKind::RateLimited, Span::UNLIMITED) })
        };
        assert!(matches!(said(10), Verdict::Retry { .. }));
        assert_eq!(said(11), Verdict::Stop(StopReason::Deadline));
    }

    /// AWS 2.1: 50 ms doubled, but 1 s doubled after throttling; the retry has the number that it has in the call.
    #[test]
    fn throttling_has_waits_of_its_own() {
        let schedule = |ms| {
            let backoff = Backoff::Exponential { base: Span::from_ms(ms), factor: 2.0 };
            Schedule::new(backoff, Span::from_s(20), CapOrder::BeforeJitter, Jitter::None)
        };
        let aws = RetryPolicy {
            schedule: schedule(50),
            throttled: Some(Box::new(schedule(1_000))),
            retry_on: ErrorSet::RETRYABLE.with(ErrorKind::Throttled),
            ..policy(5, &[], Span::ZERO)
        };
        let wait_ms = |attempt, error| match aws.decide(failed(attempt, error, Span::UNLIMITED)) {
            Verdict::Retry { wait, .. } => wait.as_ms(),
            Verdict::Stop(reason) => panic!("{reason}"),
        };
        assert_eq!([1, 2, 3].map(|attempt| wait_ms(attempt, ErrorKind::Timeout)), [50.0, 100.0, 200.0]);
        assert_eq!([1, 2, 3].map(|attempt| wait_ms(attempt, ErrorKind::RateLimited)), [1_000.0, 2_000.0, 4_000.0]);
        assert_eq!(wait_ms(2, ErrorKind::Throttled), 2_000.0);

        let windows = |errors: ErrorSet, policy: &RetryPolicy| {
            let first = policy.ranges_after(errors).take(2);
            first.map(|wait| (wait.shortest.as_ms(), wait.longest.as_ms(), wait.mean_ns)).collect::<Vec<_>>()
        };
        let none = ErrorSet::EMPTY;
        let throttling = none.with(ErrorKind::RateLimited);
        assert_eq!(windows(none.with(ErrorKind::Timeout), &aws), [(50.0, 50.0, Some(5e7)), (100.0, 100.0, Some(1e8))]);
        assert_eq!(windows(throttling, &aws), [(1e3, 1e3, Some(1e9)), (2e3, 2e3, Some(2e9))]);
        assert_eq!(windows(ErrorSet::RETRYABLE, &aws), [(50.0, 1e3, None), (100.0, 2e3, None)]);
        // What is not tried again has no waits.
        let others_only = RetryPolicy { retry_on: none.with(ErrorKind::Timeout), ..aws.clone() };
        assert_eq!(windows(ErrorSet::RETRYABLE, &others_only)[0], (50.0, 50.0, Some(5e7)));
        assert_eq!(others_only.retried_throttled(), None);
        let throttled_only = RetryPolicy { retry_on: throttling, ..aws };
        assert_eq!(windows(ErrorSet::RETRYABLE, &throttled_only)[0], (1e3, 1e3, Some(1e9)));
    }
}
