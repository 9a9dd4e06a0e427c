//! What becomes of work for which nobody waits any more.

use stormsim::failure::ErrorKind;
use stormsim::plan::Cancel;
use stormsim::sim::Note;

use super::interpreter::Interpreter;
use super::record::{AttemptEnd, Call, Caller, Place, Work, WorkEnd};

impl Interpreter<'_> {
    /// The caller of an attempt waits no longer, whatever copies of it are under way.
    pub(super) fn give_up_all(&mut self, first: usize, error: ErrorKind) {
        for copy in self.under_way(first) {
            self.give_up(copy, error);
        }
        self.attempt_is_over(first);
        self.count_attempt(first, Some(error));
        self.attempt_failed(first, error, None);
    }

    /// The caller of a copy waits no longer for that.
    pub(super) fn give_up(&mut self, copy: usize, error: ErrorKind) {
        self.ends(copy, AttemptEnd::GivenUp);
        let key = self.record.attempts[copy].key;
        self.note(Note::TimedOut { key, error });
        self.count_for_server(copy, Some(error));
        self.let_go(copy);
    }

    /// A copy was given up: its slot is free, and its target may learn of it.
    pub(super) fn let_go(&mut self, attempt: usize) {
        self.free_slot(attempt);
        let in_progress = |work: &Work| work.attempt == attempt && work.ended.is_none();
        let Some(work) = self.record.works.iter().position(in_progress) else { return };
        let learns = match self.cancel_of(work) {
            Cancel::Ignore => false,
            Cancel::Queued => self.record.works[work].is_queued(),
            Cancel::Running => true,
        };
        if learns {
            self.cancel(work);
        }
    }

    /// What the service of a work does with what nobody waits for.
    pub(super) fn cancel_of(&self, work: usize) -> Cancel {
        self.plan.services[self.record.works[work].service.index()].capacity.cancel
    }

    pub(super) fn cancel(&mut self, work: usize) {
        let key = self.record.attempts[self.record.works[work].attempt].key;
        self.note(Note::Cancelled { key });
        let now = self.moment();
        let this = &mut self.record.works[work];
        this.ended = Some((now, WorkEnd::Cancelled));
        if this.is_queued() {
            self.leave_queue(work);
        }
        if let Some(served) = self.record.works[work].served.take() {
            self.agenda.cancel(served);
            self.count_service(work);
        }
        self.free_worker(work);
        self.hand_over(work);
        self.abandon_calls(work, |_| true);
    }

    /// Ends those calls of a work that are not over and are `meant`, in the order in which they began.
    pub(super) fn abandon_calls(&mut self, work: usize, meant: impl Fn(Place) -> bool) {
        let is_meant = |call: &Call| match call.caller {
            Caller::Work(place) => place.work == work && meant(place) && !call.is_over(),
            Caller::Request(_) => false,
        };
        let calls = self.record.calls.iter().enumerate().filter(|(_, call)| is_meant(call));
        let calls: Vec<usize> = calls.map(|(index, _)| index).collect();
        calls.into_iter().for_each(|call| self.abandon(call));
    }

    fn abandon(&mut self, call: usize) {
        let this = &mut self.record.calls[call];
        this.abandoned = Some(self.now);
        let (id, timers) = (this.id, [this.timer.take(), this.wake.take()]);
        timers.into_iter().flatten().for_each(|timer| self.agenda.cancel(timer));
        let attempt = self.last_attempt(call).expect("a call that is not over has made an attempt");
        let key = self.record.attempts[attempt].key;
        self.note(Note::Abandoned { call: id, key });
        if self.record.attempts[attempt].over.is_none() {
            self.throttle_takes_back(attempt);
        }
        self.is_over_for_breaker(call);
        let copies = self.under_way(attempt);
        if !copies.is_empty() {
            self.attempt_is_over(attempt);
        }
        for copy in copies {
            self.ends(copy, AttemptEnd::Abandoned);
            self.let_go(copy);
        }
    }
}
