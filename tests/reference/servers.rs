//! What an attempt meets at its target, from its arrival to its answer.

use stormsim::dist::Purpose;
use stormsim::failure::Refusal;
use stormsim::plan::{Cancel, ServiceId};
use stormsim::sim::Note;
use stormsim::time::{Instant, Span};

use super::agenda::{Class, Event};
use super::faults::Door;
use super::interpreter::Interpreter;
use super::record::{Attempt, Reply, Struck, Work, WorkEnd};

impl Interpreter<'_> {
    pub(super) fn arrive(&mut self, attempt: usize) {
        let Attempt { id, key, ended, .. } = self.record.attempts[attempt];
        let service = self.plan.calls[id.index()].target;
        let server = self.place(attempt, service);
        if self.is_black_hole(service, server) {
            self.record.attempts[attempt].swallowed = Some(server);
            return self.vanish(attempt);
        }
        if ended.is_some_and(|(_, end)| self.is_told_of(id, end))
            && self.plan.services[service.index()].capacity.cancel != Cancel::Ignore
        {
            let work = self.arrive_at(attempt, service, None);
            return self.cancel(work);
        }
        let work = self.arrive_at(attempt, service, Some(server));
        match self.door(service, server, key) {
            Door::Open(struck) => {
                self.record.works[work].struck = struck;
                self.enter(work, service, server);
            }
            Door::Refused => self.answer_with(work, WorkEnd::TurnedAway(Refusal::Fault), None),
            Door::Fails(delay, is_no_phase, struck) => {
                self.record.works[work].struck = Some(struck);
                if is_no_phase { self.served(work) } else { self.serve_until(work, self.now + delay) }
            }
        }
    }

    fn arrive_at(&mut self, attempt: usize, service: ServiceId, server: Option<u32>) -> usize {
        let key = self.record.attempts[attempt].key;
        self.note(Note::Arrived { service, key });
        self.record.works.push(Work {
            attempt,
            service,
            server,
            arrived: self.moment(),
            queued: None,
            began: None,
            freed: None,
            recognised: None,
            does: None,
            executed: None,
            struck: None,
            service_time: Span::ZERO,
            begins_anew: None,
            resumed: None,
            served: None,
            service_spent: None,
            steps: Vec::new(),
            degraded: false,
            ended: None,
        });
        self.record.works.len() - 1
    }

    /// Lets a work in, to a worker or into the queue, or turns it away.
    fn enter(&mut self, work: usize, service: ServiceId, server: u32) {
        let capacity = &self.plan.services[service.index()].capacity;
        let now = self.now;
        let is_let_in = |other: &Work| other.is_queued() || other.began.is_some();
        let is_in_progress = |other: &&Work| other.service == service && other.ended.is_none() && is_let_in(other);
        let others = self.record.works.iter().filter(is_in_progress).count();
        if !capacity.limiter.admits(&mut self.server_of(work).limiter, now) {
            self.answer_with(work, WorkEnd::TurnedAway(Refusal::Limiter), capacity.retry_after);
        } else if others >= capacity.max_in_flight as usize {
            self.answer_with(work, WorkEnd::TurnedAway(Refusal::InFlight), None);
        } else if self.workers_taken(service, server) < self.workers(service, server)
            && self.server_of(work).queue.is_empty()
        {
            self.turn_comes(work);
        } else if self.server_of(work).queue.len() < capacity.queue.limit as usize + self.idle(service, server) {
            self.join_queue(work);
        } else {
            self.answer_with(work, WorkEnd::TurnedAway(Refusal::Queue), None);
        }
    }

    pub(super) fn serve_until(&mut self, work: usize, at: Instant) {
        self.record.works[work].served = Some(self.agenda.schedule(at, Class::Normal, Event::Served { work }));
    }

    pub(super) fn served(&mut self, work: usize) {
        self.record.works[work].served = None;
        self.count_service(work);
        self.take_effect(work);
        if let Some(Struck { error, retry_after }) = self.record.works[work].struck {
            return self.answer_with(work, WorkEnd::Error(error), retry_after);
        }
        if !self.plan.services[self.record.works[work].service.index()].capacity.holds_worker {
            self.free_worker(work);
        }
        self.begin_next_step(work);
    }

    /// The service is done with a work and says so, and when it is worth trying again, if it does.
    pub(super) fn answer_with(&mut self, work: usize, end: WorkEnd, retry_after: Option<Span>) {
        self.record.works[work].ended = Some((self.moment(), end));
        self.free_worker(work);
        self.send_answer(work, retry_after);
        self.answer_those_who_wait_for(work);
        if self.cancel_of(work) == Cancel::Running {
            self.abandon_calls(work, |_| true);
        }
    }

    pub(super) fn send_answer(&mut self, work: usize, retry_after: Option<Span>) {
        let Work { attempt, ended, degraded, .. } = self.record.works[work];
        let &Attempt { id, key, .. } = &self.record.attempts[attempt];
        let result = ended.and_then(|(_, end)| end.answer()).expect("it has ended with an answer");
        self.note(Note::Answered { key, result });
        if !self.answer_is_lost(id, key) {
            let on_its_way = self.plan.calls[id.index()].network.sample(key, Purpose::Response);
            self.schedule_after(on_its_way, Event::Answer { attempt, reply: Reply { result, retry_after, degraded } });
        }
    }
}
