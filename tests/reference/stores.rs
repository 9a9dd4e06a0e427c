//! The section "Operations", services' side: what their stores remember, and what their work does to the world.
//!
//! A store has no memory of its own here: what it knows is what the works say that did something under a key.

use stormsim::failure::ErrorKind;
use stormsim::plan::{InProgressRule, ServiceId, Store};
use stormsim::sim::Note;
use stormsim::time::Span;

use super::interpreter::Interpreter;
use super::record::{Known, Work, WorkEnd};

impl Interpreter<'_> {
    /// Whether the service is to work on what has just taken a worker. If not, it is answered, or waits.
    pub(super) fn is_to_be_done(&mut self, work: usize) -> bool {
        let Work { attempt, service, .. } = self.record.works[work];
        let Some(Store { ttl, in_progress }) = self.plan.services[service.index()].effects.store else { return true };
        let Some(key) = self.record.attempts[attempt].brings else { return true };
        let Some(known) = self.known(work, key, ttl) else {
            self.record.works[work].does = Some(key);
            return true;
        };
        self.note(Note::Recognised { key: self.record.attempts[attempt].key });
        self.record.works[work].recognised = Some((self.moment(), known));
        match (known, in_progress) {
            (Known::OtherOperation, _) => self.answer_undone(work, WorkEnd::Error(ErrorKind::Invalid)),
            (Known::Done(by), _) => self.answer_like(work, by),
            (Known::BeingDone(_), InProgressRule::Refuse) => {
                self.answer_undone(work, WorkEnd::Error(ErrorKind::Refused));
            }
            (Known::BeingDone(_), InProgressRule::Wait) => self.waiting.push(work),
        }
        false
    }

    /// What the store of its service knows about a work that brings this key.
    fn known(&self, work: usize, key: u64, ttl: Span) -> Option<Known> {
        let is_remembered = |other: &Work| {
            let is_kept = other.ended.is_none_or(|(moment, _)| self.now.since(moment.at) < ttl);
            other.service == self.record.works[work].service && other.does == Some(key) && is_kept
        };
        let by = self.record.works.iter().position(is_remembered)?;
        Some(if self.operation_of_work(by) != self.operation_of_work(work) {
            Known::OtherOperation
        } else if self.record.works[by].ended.is_none() {
            Known::BeingDone(by)
        } else {
            Known::Done(by)
        })
    }

    fn operation_of_work(&self, work: usize) -> u64 {
        self.record.calls[self.record.attempts[self.record.works[work].attempt].call].operation
    }

    /// A work is answered with what another has done.
    fn answer_like(&mut self, work: usize, other: usize) {
        let Work { ended, degraded, .. } = self.record.works[other];
        let (_, end) = ended.expect("it has ended");
        self.record.works[work].degraded = degraded;
        self.answer_undone(work, end);
    }

    /// A work is answered that was not worked on: what a fault had for it is of no meaning.
    fn answer_undone(&mut self, work: usize, end: WorkEnd) {
        self.record.works[work].struck = None;
        self.answer_with(work, end, None);
    }

    /// A work is answered: if it did an operation, so are those that wait for it.
    pub(super) fn answer_those_who_wait_for(&mut self, work: usize) {
        if let Some(key) = self.record.works[work].does {
            let service = self.record.works[work].service;
            while let Some(next) = self.stop_waiting(service, key) {
                self.answer_like(next, work);
            }
        }
    }

    /// A work is cancelled, or reset by a crash: it waits no more, and what it did the next one does.
    pub(super) fn hand_over(&mut self, work: usize) {
        self.waiting.retain(|&waiting| waiting != work);
        let Some(key) = self.record.works[work].does.take() else { return };
        let service = self.record.works[work].service;
        if let Some(next) = self.stop_waiting(service, key) {
            let this = &mut self.record.works[next];
            this.does = Some(key);
            let takes_none = this.service_time == Span::ZERO;
            self.begin_service(next, takes_none && self.plan.services[service.index()].service_time.is_zero());
        }
    }

    /// The first of those that wait at a service under a key; it does so no more.
    fn stop_waiting(&mut self, service: ServiceId, key: u64) -> Option<usize> {
        let brings = |work: &Work| self.record.attempts[work.attempt].brings == Some(key);
        let is_meant = |work: &Work| work.service == service && brings(work);
        let place = self.waiting.iter().position(|&work| is_meant(&self.record.works[work]))?;
        Some(self.waiting.remove(place))
    }

    /// The service of a work is over: if it writes, that has happened.
    pub(super) fn take_effect(&mut self, work: usize) {
        let this = &mut self.record.works[work];
        // The delay of a fault is no service.
        if this.began.is_some() && self.plan.services[this.service.index()].effects.writes {
            this.executed = Some(self.now);
        }
    }
}
