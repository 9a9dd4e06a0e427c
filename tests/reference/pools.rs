//! The slots that attempts need, where their call has a pool.

use stormsim::failure::ErrorKind;
use stormsim::plan::{CallId, Pool};
use stormsim::sim::Note;
use stormsim::time::Span;

use super::agenda::{Class, Event};
use super::interpreter::{Freed, Interpreter};
use super::record::{Attempt, AttemptEnd};

impl Interpreter<'_> {
    /// An attempt that has just started is sent, is turned away or waits.
    pub(super) fn ask_for_slot(&mut self, attempt: usize) {
        let Attempt { call, id, .. } = self.record.attempts[attempt];
        let settings = &self.plan.calls[id.index()];
        let Some(Pool { max_wait, .. }) = settings.pool else { return self.send(attempt) };
        let instance = self.instance(call);
        let nobody_waits_before = self.longest_waiting(id, instance) == Some(attempt);
        if nobody_waits_before && self.has_free_slot(id, instance) {
            self.record.attempts[attempt].has_slot = true;
            self.send(attempt);
        } else if max_wait.after == Span::ZERO {
            self.turn_away(attempt, ErrorKind::PoolTimeout);
        } else {
            let limit = self.record.calls[call].limit;
            let own_limits = [self.after(settings.timeout.after), self.after(max_wait.after)];
            let timer = own_limits.into_iter().flatten().min().filter(|&at| limit.is_none_or(|limit| at < limit));
            let timer = timer.map(|at| self.agenda.schedule(at, Class::Timeout, Event::Timer { attempt }));
            self.record.attempts[attempt].timer = timer;
        }
    }

    /// The attempts of a call of one instance of its caller.
    fn attempts_of(&self, id: CallId, instance: u32) -> impl Iterator<Item = (usize, &Attempt)> {
        let attempts = self.record.attempts.iter().enumerate();
        attempts.filter(move |(_, attempt)| attempt.id == id && self.instance(attempt.call) == instance)
    }

    /// Attempts are recorded in the order in which they started.
    pub(super) fn longest_waiting(&self, id: CallId, instance: u32) -> Option<usize> {
        self.attempts_of(id, instance).find(|(_, attempt)| attempt.waits_for_slot()).map(|(index, _)| index)
    }

    pub(super) fn has_free_slot(&self, id: CallId, instance: u32) -> bool {
        let pool = self.plan.calls[id.index()].pool.expect("only who needs a slot asks");
        let taken = self.attempts_of(id, instance).filter(|(_, attempt)| attempt.has_slot).count();
        assert!(taken <= pool.size as usize, "more slots are taken than there are");
        taken < pool.size as usize
    }

    /// An attempt needs its slot no more, if it had one.
    pub(super) fn free_slot(&mut self, attempt: usize) {
        let Attempt { call, id, has_slot, .. } = self.record.attempts[attempt];
        if has_slot {
            self.record.attempts[attempt].has_slot = false;
            let instance = self.instance(call);
            if self.longest_waiting(id, instance).is_some() {
                self.freed.push_back(Freed::Slot(id, instance));
            }
        }
    }

    /// Another attempt may have come before and taken the slot, as nobody waited then.
    pub(super) fn give_slot_on(&mut self, id: CallId, instance: u32) {
        if self.has_free_slot(id, instance)
            && let Some(attempt) = self.longest_waiting(id, instance)
        {
            self.record.attempts[attempt].has_slot = true;
            self.send(attempt);
        }
    }

    /// An attempt was not let through, or has got no slot, and has ended.
    pub(super) fn turn_away(&mut self, attempt: usize, error: ErrorKind) {
        let Attempt { call, id, key, sent, .. } = self.record.attempts[attempt];
        assert!(sent.is_none(), "nobody is turned away who was sent");
        self.ends(attempt, AttemptEnd::TurnedAway(error));
        self.note(Note::TurnedAway { call: id, key, error });
        self.attempt_is_over(attempt);
        if !matches!(error, ErrorKind::BreakerOpen | ErrorKind::Throttled) {
            self.throttle_takes_back(attempt);
        }
        self.attempt_is_over_for_breaker(call);
        self.attempt_failed(attempt, error, None);
    }
}
