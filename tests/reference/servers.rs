//! What an attempt meets at its target, from its arrival to its answer.

use stormsim::dist::{Dist, Purpose, draw, happens, mix};
use stormsim::failure::ErrorKind;
use stormsim::plan::{Cancel, Effect, FaultId};
use stormsim::sim::Note;
use stormsim::time::Span;

use super::agenda::{Class, Event};
use super::interpreter::Interpreter;
use super::record::{Attempt, Work, WorkEnd};

impl Interpreter<'_> {
    pub(super) fn arrive(&mut self, attempt: usize) {
        let Attempt { id, key, ended, .. } = self.record.attempts[attempt];
        let service = self.plan.calls[id.index()].target;
        self.note(Note::Arrived { service, key });
        let work = self.record.works.len();
        self.record.works.push(Work {
            attempt,
            service,
            server: None,
            arrived: self.moment(),
            queued: None,
            began: None,
            freed: None,
            served: None,
            service_spent: None,
            steps: Vec::new(),
            degraded: false,
            ended: None,
        });
        if ended.is_some() && self.cancel_of(work) != Cancel::Ignore {
            return self.cancel(work);
        }
        self.place(work);
        match self.fault_that_strikes(work).map(|fault| &self.plan.faults[fault.index()]) {
            None => self.enter(work),
            Some(fault) => match &fault.effect {
                Effect::Refuse => self.answer_with(work, WorkEnd::TurnedAway(ErrorKind::Refused)),
                Effect::Fail { error, delay, .. } => {
                    self.serve(work, delay, delay.sample(mix(key, fault.key), Purpose::FaultDelay), Err(*error));
                }
            },
        }
    }

    /// The first fault, in file order, that hits this arrival.
    fn fault_that_strikes(&self, work: usize) -> Option<FaultId> {
        let Work { attempt, service, .. } = self.record.works[work];
        let key = self.record.attempts[attempt].key;
        let strikes = self.plan.faults.iter().position(|fault| {
            let active = fault.windows.iter().any(|window| window.contains(&self.now));
            let chosen = match fault.effect {
                Effect::Refuse => true,
                Effect::Fail { probability, .. } => happens(draw(mix(key, fault.key), Purpose::Fault), probability),
            };
            active && fault.targets.contains(&service) && chosen
        });
        strikes.map(|index| FaultId(index as u32))
    }

    /// Lets a work in, to a worker or into the queue, or turns it away.
    fn enter(&mut self, work: usize) {
        let Work { service, server, .. } = self.record.works[work];
        let capacity = &self.plan.services[service.index()].capacity;
        let now = self.now;
        let is_let_in = |other: &Work| other.is_queued() || other.began.is_some();
        let is_in_progress = |other: &&Work| other.service == service && other.ended.is_none() && is_let_in(other);
        let others = self.record.works.iter().filter(is_in_progress).count();
        let server = server.expect("it was sent to a server");
        if !capacity.limiter.admits(&mut self.server_of(work).limiter, now) {
            self.answer_with(work, WorkEnd::TurnedAway(ErrorKind::RateLimited));
        } else if others >= capacity.max_in_flight as usize {
            self.answer_with(work, WorkEnd::TurnedAway(ErrorKind::Overloaded));
        } else if self.workers_taken(service, server) < capacity.workers {
            self.turn_comes(work);
        } else if self.server_of(work).queue.len() < capacity.queue.limit as usize {
            self.join_queue(work);
        } else {
            self.answer_with(work, WorkEnd::TurnedAway(ErrorKind::Overloaded));
        }
    }

    /// Spends the sample `time` of `dist` on a work. What takes constantly no time is no event.
    pub(super) fn serve(&mut self, work: usize, dist: &Dist, time: Span, struck: Result<(), ErrorKind>) {
        let served = Event::Served { work, struck };
        if *dist == Dist::ZERO {
            self.happen(served);
        } else {
            self.record.works[work].served = Some(self.agenda.schedule(self.now + time, Class::Normal, served));
        }
    }

    pub(super) fn served(&mut self, work: usize, struck: Result<(), ErrorKind>) {
        self.record.works[work].served = None;
        self.count_service(work);
        if let Err(error) = struck {
            return self.answer_with(work, WorkEnd::Error(error));
        }
        if !self.plan.services[self.record.works[work].service.index()].capacity.holds_worker {
            self.free_worker(work);
        }
        self.begin_next_step(work);
    }

    /// The service is done with a work and says so.
    pub(super) fn answer_with(&mut self, work: usize, end: WorkEnd) {
        self.record.works[work].ended = Some((self.moment(), end));
        self.free_worker(work);
        self.send_answer(work);
        if self.cancel_of(work) == Cancel::Running {
            self.abandon_calls(work, |_| true);
        }
    }

    pub(super) fn send_answer(&mut self, work: usize) {
        let Work { attempt, ended, .. } = self.record.works[work];
        let &Attempt { id, key, .. } = &self.record.attempts[attempt];
        let result = ended.and_then(|(_, end)| end.answer()).expect("it has ended with an answer");
        self.note(Note::Answered { key, result });
        let on_its_way = self.plan.calls[id.index()].network.sample(key, Purpose::Response);
        self.schedule_after(on_its_way, Event::Answer { work });
    }
}
