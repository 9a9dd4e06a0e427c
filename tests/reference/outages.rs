//! What the windows of faults do to work that is there already.

use stormsim::failure::ErrorKind;
use stormsim::plan::ServiceId;
use stormsim::time::Instant;

use super::interpreter::{Freed, Interpreter};
use super::record::{Struck, Work, WorkEnd};

impl Interpreter<'_> {
    /// A server does nothing until `until`: what is in service there begins anew then.
    pub(super) fn pause(&mut self, service: ServiceId, server: u32, until: Instant) {
        for work in self.works_at(service, server, Work::is_in_service) {
            self.record.works[work].begins_anew = Some(until);
        }
    }

    /// **Served** of a work would come now. If a pause has begun since it was scheduled, it is scheduled anew, and that
    /// is no event.
    pub(super) fn is_put_off(&mut self, work: usize) -> bool {
        let this = &mut self.record.works[work];
        let Some(end) = this.begins_anew.take() else { return false };
        this.resumed = Some(end);
        let at = end + this.service_time;
        self.serve_until(work, at);
        self.record.events -= 1;
        true
    }

    /// Everything that is in progress at a server ends with `reset`.
    pub(super) fn crash(&mut self, service: ServiceId, server: u32) {
        for work in self.works_at(service, server, |work| work.ended.is_none()) {
            // It has, if it did in no time what another was doing that has just been reset.
            if self.record.works[work].ended.is_some() {
                continue;
            }
            if self.record.works[work].is_queued() {
                self.leave_queue(work);
            }
            if let Some(served) = self.record.works[work].served.take() {
                self.agenda.cancel(served);
                self.count_service(work);
            }
            self.free_worker(work);
            self.hand_over(work);
            self.record.works[work].struck = Some(Struck { error: ErrorKind::Reset, retry_after: None });
            self.answer_with(work, WorkEnd::Error(ErrorKind::Reset), None);
            self.abandon_calls(work, |_| true);
        }
    }

    /// How many workers of a server do nothing.
    pub(super) fn idle(&self, service: ServiceId, server: u32) -> usize {
        self.workers(service, server).saturating_sub(self.workers_taken(service, server)) as usize
    }

    /// There are more workers again at a server, perhaps: those that do nothing are free.
    pub(super) fn free_idle_workers(&mut self, service: ServiceId, server: u32) {
        for _ in 0..self.idle(service, server) {
            self.freed.push_back(Freed::Worker(service, server));
        }
    }

    /// Those works at a server that are `meant`, in the order in which they arrived.
    fn works_at(&self, service: ServiceId, server: u32, meant: impl Fn(&Work) -> bool) -> Vec<usize> {
        let here = |work: &Work| work.service == service && work.server == Some(server);
        let works = self.record.works.iter().enumerate().filter(|(_, work)| here(work) && meant(work));
        works.map(|(index, _)| index).collect()
    }
}
