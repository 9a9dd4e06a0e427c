//! What becomes of work for which nobody waits any more.

use stormsim::failure::ErrorKind;
use stormsim::plan::Cancel;
use stormsim::sim::Note;

use super::interpreter::Interpreter;
use super::record::{AttemptEnd, Call, Caller, Place, Work, WorkEnd};

impl Interpreter<'_> {
    /// The caller of an attempt waits no longer.
    pub(super) fn give_up(&mut self, attempt: usize, error: ErrorKind) {
        let this = &mut self.record.attempts[attempt];
        assert!(this.ended.is_none(), "nobody gives up what has ended");
        this.ended = Some((self.now, AttemptEnd::GivenUp));
        let key = this.key;
        self.note(Note::TimedOut { key, error });
        self.let_go(attempt);
        self.attempt_failed(attempt, error, None);
    }

    /// An attempt was given up: its slot is free, and its target may learn of it.
    fn let_go(&mut self, attempt: usize) {
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
        let attempt = self.record.attempts.iter().rposition(|attempt| attempt.call == call);
        let attempt = attempt.expect("a call that is not over has made an attempt");
        let this = &mut self.record.attempts[attempt];
        let key = this.key;
        for timer in timers.into_iter().chain([this.timer.take()]).flatten() {
            self.agenda.cancel(timer);
        }
        self.note(Note::Abandoned { call: id, key });
        let this = &mut self.record.attempts[attempt];
        if this.ended.is_none() {
            this.ended = Some((self.now, AttemptEnd::Abandoned));
            self.let_go(attempt);
        }
    }
}
