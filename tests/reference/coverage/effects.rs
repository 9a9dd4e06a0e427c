//! What is done twice, and what nobody knows of, of what the rules treat in a way of its own.

use stormsim::failure::StopReason;
use stormsim::plan::Keys;
use stormsim::time::Instant;

use crate::reference::record::{Attempt, AttemptEnd, Caller, Place, Request, RequestEnd, Work};

use super::Cases;
use super::cancelling::is_cancelled;

impl Cases<'_> {
    pub(super) fn executions(&self) -> Vec<(&'static str, bool)> {
        let executed = |shows: &dyn Fn(&Work) -> bool| self.work(|it| it.executed.is_some() && shows(it));
        let again = |shows: &dyn Fn(&Work, &Work) -> bool| {
            executed(&|it| self.work(|before| self.executed_again(before, it) && shows(before, it)))
        };
        let key = |it: &Work| self.attempt_of(it).brings;
        let ended = |it: &Work| it.ended.map(|(moment, _)| moment.at);
        vec![
            ("written although it failed", executed(&|it| it.struck.is_some() && !self.is_reset(it))),
            (
                "written when nobody waits",
                executed(&|it| self.attempt_of(it).ended.is_some_and(|(at, _)| Some(at) < it.executed)),
            ),
            ("written late in place of another", executed(&|it| it.recognised.is_some())),
            ("written before the calls", executed(&|it| it.executed < ended(it))),
            (
                "not written as it was cut short",
                self.work(|it| self.writes(it) && it.resumed.is_some() && it.ended.is_some() && it.executed.is_none()),
            ),
            ("written twice without a store", again(&|_, it| self.store(it).is_none())),
            ("written twice without a key", again(&|_, it| self.store(it).is_some() && key(it).is_none())),
            ("written twice under two keys", again(&|before, it| key(before) != key(it))),
            (
                "written twice as the result has expired",
                again(&|before, it| before.does.is_some() && before.does == it.does),
            ),
            (
                "written twice as the first was cancelled",
                again(&|before, it| it.does.is_some() && it.does == key(before) && is_cancelled(before)),
            ),
            (
                "written twice as the first was reset",
                again(&|before, it| it.does.is_some() && it.does == key(before) && self.is_reset(before)),
            ),
        ]
    }

    /// Whether two works at a service that may have a store had the same side effect, the second one after the first.
    fn executed_again(&self, before: &Work, work: &Work) -> bool {
        before.executed.is_some() && before.executed < work.executed && self.operation(before) == self.operation(work)
    }

    fn writes(&self, work: &Work) -> bool {
        self.plan.services[work.service.index()].effects.writes
    }

    pub(super) fn unknown_requests(&self) -> Vec<(&'static str, bool)> {
        let unknown = |shows: &dyn Fn(&Request, &RequestEnd) -> bool| {
            self.request(|it| it.ended.as_ref().is_some_and(|end| end.is_unknown && shows(it, end)))
        };
        let because = |shows: &dyn Fn(&Attempt, Instant) -> bool| {
            unknown(&|it, end| {
                self.attempt(|attempt| {
                    self.raises_doubt(attempt, end.at) && self.is_beneath(attempt, it) && shows(attempt, end.at)
                })
            })
        };
        let failed = |shows: &dyn Fn(&Request, &RequestEnd) -> bool| {
            self.request(|it| {
                it.ended.as_ref().is_some_and(|end| end.result.is_err() && !end.is_unknown && shows(it, end))
            })
        };
        let is_own = |it: &Attempt| matches!(self.record.calls[it.call].caller, Caller::Request(_));
        let is_written =
            |request: &Request| self.work(|it| it.executed.is_some() && self.is_beneath(self.attempt_of(it), request));
        let given_up = |it: &Attempt| matches!(it.ended, Some((_, AttemptEnd::GivenUp)));
        vec![
            (
                "unknown as the last attempt was given up",
                because(&|it, end| is_own(it) && given_up(it) && it.ended.is_some_and(|(at, _)| at == end)),
            ),
            (
                "unknown as an attempt before was given up",
                because(&|it, end| is_own(it) && given_up(it) && it.ended.is_some_and(|(at, _)| at < end)),
            ),
            ("unknown as an attempt beneath was given up", because(&|it, _| !is_own(it) && given_up(it))),
            (
                "unknown as an attempt beneath was abandoned",
                because(&|it, _| matches!(it.ended, Some((_, AttemptEnd::Abandoned)))),
            ),
            ("unknown as an attempt was lost", because(&|it, _| it.lost.is_some())),
            (
                "unknown although an answer came too late",
                because(&|it, end| it.answered_late.is_some_and(|at| at < end)),
            ),
            (
                "unknown although an answer is to come in time",
                because(&|it, end| matches!(it.ended, Some((at, AttemptEnd::Answered(_))) if at > end)),
            ),
            ("unknown, and it was written", unknown(&|it, _| is_written(it))),
            ("unknown, and it was not written", unknown(&|it, _| !is_written(it))),
            ("failed, although it was written", failed(&|it, _| is_written(it))),
            ("a dead letter that failed", failed(&|_, end| end.is_dead_letter)),
            ("a dead letter that is unknown", unknown(&|_, end| end.is_dead_letter)),
            (
                "exhausted, but not put aside",
                failed(&|_, end| matches!(end.result, Err((_, StopReason::Exhausted))) && !end.is_dead_letter),
            ),
            (
                "not exhausted, and not put aside",
                failed(&|it, end| self.group(it).operations.dead_letters && !end.is_dead_letter),
            ),
            (
                "an attempt that succeeds after one without an answer",
                self.request(|it| {
                    let has_succeeded = |end: &RequestEnd| end.result.is_ok();
                    it.ended.as_ref().is_some_and(has_succeeded)
                        && self.attempt(|other| given_up(other) && self.writes_to(other) && self.is_beneath(other, it))
                }),
            ),
        ]
    }

    pub(super) fn keys(&self) -> Vec<(&'static str, bool)> {
        let sent = |keys: Keys| {
            self.request(|it| {
                self.group(it).operations.keys == keys
                    && self.work(|work| work.does.is_some() && self.is_beneath(self.attempt_of(work), it))
            })
        };
        vec![
            ("a key of an operation", sent(Keys::PerOperation)),
            ("a key of an attempt", sent(Keys::PerAttempt)),
            ("a key used again", sent(Keys::Reused)),
        ]
    }

    /// Whether at an instant it was not known whether an attempt had been written.
    fn raises_doubt(&self, attempt: &Attempt, at: Instant) -> bool {
        let is_answered = matches!(attempt.ended, Some((ended, AttemptEnd::Answered(_))) if ended <= at);
        attempt.sent.is_some_and(|sent| sent <= at) && self.writes_to(attempt) && !is_answered
    }

    fn writes_to(&self, attempt: &Attempt) -> bool {
        self.plan.services[self.settings(attempt).target.index()].effects.writes
    }

    fn is_beneath(&self, attempt: &Attempt, request: &Request) -> bool {
        match self.record.calls[attempt.call].caller {
            Caller::Request(above) => self.record.requests[above].key == request.key,
            Caller::Work(Place { work, .. }) => self.is_beneath(self.attempt_of(&self.record.works[work]), request),
        }
    }
}
