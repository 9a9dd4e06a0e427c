//! What callers do, of what the rules treat in a way of its own.

use stormsim::failure::{ErrorKind, StopReason};
use stormsim::plan::DeadlineRule;
use stormsim::time::{Instant, Span};

use crate::reference::record::{Attempt, AttemptEnd, Call, Caller};

use super::{Cases, after};

impl Cases<'_> {
    pub(super) fn endings_of_attempts(&self) -> Vec<(&'static str, bool)> {
        vec![
            ("an answer at exactly the timeout", self.attempt(|it| answered_at(it, self.timeout(it)))),
            ("an answer at exactly the deadline", self.attempt(|it| answered_at(it, self.limit(it)))),
            (
                "an attempt that begins at the deadline",
                self.attempt(|it| it.sent.is_some() && self.limit(it) == it.sent),
            ),
            ("given up at the timeout", self.attempt(|it| given_up_at(it, self.timeout(it)))),
            ("given up at the deadline", self.attempt(|it| given_up_at(it, self.limit(it)))),
            (
                "given up at both",
                self.attempt(|it| given_up_at(it, self.timeout(it)) && given_up_at(it, self.limit(it))),
            ),
            ("a late answer", self.attempt(|it| it.answered_late.is_some() && it.end() == Some(AttemptEnd::GivenUp))),
        ]
    }

    pub(super) fn ways_on_the_network(&self) -> Vec<(&'static str, bool)> {
        let connects_until = |it: &Attempt| it.sent.and_then(|sent| after(sent, self.settings(it).connect_timeout));
        let arrived = |it: &Attempt| self.work_of(it).map(|work| work.arrived.at);
        let answered = |it: &Attempt| self.work_of(it).and_then(|work| work.ended).map(|(moment, _)| moment.at);
        let given_up = |it: &Attempt| match it.ended {
            Some((at, AttemptEnd::GivenUp)) => Some(at),
            _ => None,
        };
        vec![
            ("an arrival some time after sending", self.attempt(|it| arrived(it) > it.sent)),
            (
                "a way as long as the connect timeout",
                self.attempt(|it| arrived(it).is_some() && arrived(it) == connects_until(it)),
            ),
            (
                "lost, given up at the connect timeout",
                self.attempt(|it| it.lost.is_some() && given_up_at(it, connects_until(it))),
            ),
            (
                "lost, given up before",
                self.attempt(|it| it.lost.is_some() && given_up(it).is_some() && given_up(it) < connects_until(it)),
            ),
            ("given up on the way there", self.attempt(|it| given_up(it).is_some() && arrived(it) > given_up(it))),
            ("given up as it arrives", self.attempt(|it| given_up(it).is_some() && arrived(it) == given_up(it))),
            (
                "given up on the way back",
                self.attempt(|it| given_up(it).is_some_and(|at| answered(it).is_some_and(|answered| answered < at))),
            ),
        ]
    }

    pub(super) fn retries(&self) -> Vec<(&'static str, bool)> {
        vec![
            ("a retry at once", self.waited(|wait| wait == Span::ZERO)),
            ("a retry after a wait", self.waited(|wait| wait > Span::ZERO)),
            (
                "a retry of a lost attempt",
                self.attempt(|it| it.lost.is_some() && self.record.calls[it.call].started > it.number),
            ),
            ("a success after a retry", self.call(|it| it.result() == Some(Ok(())) && it.started > 1)),
            ("stopped by the kind of error", self.stopped(StopReason::NotRetryable)),
            ("stopped by the count", self.stopped(StopReason::Exhausted)),
            (
                "stopped by the deadline after an error",
                self.attempt(|it| {
                    let call = &self.record.calls[it.call];
                    let stopped = call.result() == Some(Err((ErrorKind::Deadline, StopReason::Deadline)));
                    stopped && call.started == it.number && matches!(it.end(), Some(AttemptEnd::Answered(Err(_))))
                }),
            ),
        ]
    }

    pub(super) fn deadlines(&self) -> Vec<(&'static str, bool)> {
        let told = |it: &Call| match it.caller {
            Caller::Request(_) => None,
            Caller::Work(place) => self.record.attempts[self.record.works[place.work].attempt].deadline_told,
        };
        let by_rule = |is: fn(&DeadlineRule) -> bool| {
            self.attempt(|it| it.deadline_told.is_some() && is(&self.settings(it).deadline))
        };
        vec![
            ("a deadline less a span", by_rule(|it| matches!(it, DeadlineRule::PassLess(_)))),
            ("a deadline less a share", by_rule(|it| matches!(it, DeadlineRule::PassLessShare(_)))),
            (
                "a reserve larger than what is left",
                self.attempt(|it| it.deadline_told.is_some_and(|told| Some(told) < it.sent)),
            ),
            (
                "a call that begins past its deadline",
                self.call(|it| it.started == 0 && matches!(it.result(), Some(Err((_, StopReason::Deadline))))),
            ),
            (
                "a call that an inherited deadline ends",
                self.call(|it| {
                    it.started > 0
                        && told(it).is_some()
                        && told(it) == it.limit
                        && it.ended.is_some_and(|(at, _)| Some(at) == it.limit)
                }),
            ),
            (
                "a deadline handed down two layers",
                self.call(|it| match it.caller {
                    Caller::Work(place) => {
                        let above = self.record.attempts[self.record.works[place.work].attempt].call;
                        told(it).is_some() && told(&self.record.calls[above]).is_some()
                    }
                    Caller::Request(_) => false,
                }),
            ),
        ]
    }
}

fn answered_at(attempt: &Attempt, limit: Option<Instant>) -> bool {
    matches!(attempt.ended, Some((at, AttemptEnd::Answered(_))) if limit == Some(at))
}

fn given_up_at(attempt: &Attempt, limit: Option<Instant>) -> bool {
    matches!(attempt.ended, Some((at, AttemptEnd::GivenUp)) if limit == Some(at))
}
