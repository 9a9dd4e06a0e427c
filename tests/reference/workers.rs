//! The workers of servers, and the queues before them.

use stormsim::dist::Purpose;
use stormsim::plan::{Capacity, DropRule, Order, ServiceId};
use stormsim::policy::{CodelState, LimiterState};
use stormsim::sim::Note;
use stormsim::time::{Instant, Span};

use super::interpreter::{Freed, Interpreter};
use super::record::{Attempt, Caller, Place, Spent, StepCall, Work, WorkEnd};

/// One server of a service.
#[derive(Default)]
pub(super) struct Server {
    pub(super) limiter: LimiterState,
    codel: CodelState,
    /// The works that wait, by position in the record, the oldest first.
    pub(super) queue: Vec<usize>,
    /// Since when somebody waits, if anybody does.
    waits_since: Instant,
}

impl Server {
    /// The servers of a service, before anything has arrived.
    pub(super) fn all_of(capacity: &Capacity) -> Vec<Self> {
        (0..capacity.instances).map(|_| Self::default()).collect()
    }
}

impl Interpreter<'_> {
    /// The server that a work was sent to.
    pub(super) fn server_of(&mut self, work: usize) -> &mut Server {
        let Work { service, server, .. } = self.record.works[work];
        let server = server.expect("it was sent to a server");
        &mut self.servers[service.index()][server as usize]
    }

    pub(super) fn workers_taken(&self, service: ServiceId, server: u32) -> u32 {
        let there = self.record.works.iter().filter(|work| work.service == service && work.server == Some(server));
        there.filter(|work| work.has_worker()).count() as u32
    }

    pub(super) fn join_queue(&mut self, work: usize) {
        self.record.works[work].queued = Some((self.moment(), None));
        let now = self.now;
        let server = self.server_of(work);
        if server.queue.is_empty() {
            server.waits_since = now;
        }
        server.queue.push(work);
    }

    pub(super) fn leave_queue(&mut self, work: usize) {
        let now = self.moment();
        self.server_of(work).queue.retain(|&waiting| waiting != work);
        let (_, until) = self.record.works[work].queued.as_mut().expect("it waits");
        *until = Some(now);
    }

    /// Whose turn is next at a server.
    fn next_in_queue(&self, service: ServiceId, server: u32) -> Option<usize> {
        let Server { queue, waits_since, .. } = &self.servers[service.index()][server as usize];
        let newest_first = match self.plan.services[service.index()].capacity.queue.order {
            Order::Fifo => false,
            Order::Lifo => true,
            Order::AdaptiveLifo => self.now.since(*waits_since) >= Order::BUILDS_UP,
        };
        if newest_first { queue.last().copied() } else { queue.first().copied() }
    }

    /// A worker of a server is free and takes the next. Whoever is dropped does not take it.
    pub(super) fn give_worker_on(&mut self, service: ServiceId, server: u32) {
        // There may be fewer workers now than were taken.
        if self.workers_taken(service, server) >= self.workers(service, server) {
            return;
        }
        while let Some(work) = self.next_in_queue(service, server) {
            self.leave_queue(work);
            if self.turn_comes(work) {
                break;
            }
        }
    }

    /// Whether it takes the worker.
    pub(super) fn turn_comes(&mut self, work: usize) -> bool {
        let Work { attempt, service, server, .. } = self.record.works[work];
        let server = server.expect("it was sent to a server");
        let key = self.record.attempts[attempt].key;
        let service_time = &self.plan.services[service.index()].service_time;
        let capacity = &self.plan.services[service.index()].capacity;
        let taken = self.workers_taken(service, server);
        assert!(taken < self.workers(service, server), "more workers are taken than there are");
        let time = capacity.contention.stretch(service_time.sample(key, Purpose::Service), taken + 1);
        let time = self.slowed(service, server, key, time);
        if self.is_dropped(work, time) {
            self.drop(work);
            return false;
        }
        let began = self.moment();
        let this = &mut self.record.works[work];
        (this.began, this.service_time) = (Some(began), time);
        if self.is_to_be_done(work) {
            self.begin_service(work, self.serves_in_no_time(service, server));
        }
        true
    }

    /// The service works on what has a worker; whether that is no phase at all, if there is no pause.
    pub(super) fn begin_service(&mut self, work: usize, is_no_phase: bool) {
        let Work { attempt, service, server, service_time, .. } = self.record.works[work];
        self.note(Note::Began { key: self.record.attempts[attempt].key });
        let paused = self.paused_until(service, server.expect("it has a worker of a server"));
        self.record.works[work].resumed = Some(paused.unwrap_or(self.now));
        match paused {
            Some(end) => self.serve_until(work, end + service_time),
            None if is_no_phase => self.served(work),
            None => self.serve_until(work, self.now + service_time),
        }
    }

    /// What the drop rule says about a work that would take this long.
    fn is_dropped(&mut self, work: usize, time: Span) -> bool {
        let Work { attempt, service, arrived, .. } = self.record.works[work];
        let deadline = self.record.attempts[attempt].deadline;
        let now = self.now;
        match &self.plan.services[service.index()].capacity.queue.drop_rule {
            DropRule::Never => false,
            DropRule::Expired => deadline.is_some_and(|deadline| deadline < now),
            DropRule::DeadlineAware => deadline.is_some_and(|deadline| deadline.since(now) < time),
            DropRule::Codel(codel) => codel.sheds(&mut self.server_of(work).codel, now, now.since(arrived.at)),
        }
    }

    fn drop(&mut self, work: usize) {
        self.record.works[work].ended = Some((self.moment(), WorkEnd::Dropped));
        let Attempt { key, ended, .. } = self.record.attempts[self.record.works[work].attempt];
        self.note(Note::Dropped { key });
        if ended.is_none() {
            self.send_answer(work, None);
        }
    }

    /// The worker that works on this, if one does, is free.
    pub(super) fn free_worker(&mut self, work: usize) {
        let now = self.moment();
        let this = &mut self.record.works[work];
        if this.has_worker() {
            this.freed = Some(now);
            let server = this.server.expect("it has a worker of a server");
            let freed = Freed::Worker(this.service, server);
            if !self.server_of(work).queue.is_empty() {
                self.freed.push_back(freed);
            }
        }
    }

    /// The service of a work is over, or ends early: so much was spent. The delay of a fault is no service.
    pub(super) fn count_service(&mut self, work: usize) {
        let Work { resumed, begins_anew, .. } = self.record.works[work];
        if let Some(resumed) = begins_anew.or(resumed) {
            // What was done before a pause was in vain.
            let took = self.now.since(resumed.min(self.now));
            let spent = Spent { until: self.now, took, awaited: self.is_awaited_by_client(work) };
            self.record.works[work].service_spent = Some(spent);
        }
    }

    /// Whether on the way from a work up to the client nobody has ceased to wait.
    fn is_awaited_by_client(&self, work: usize) -> bool {
        let attempt = &self.record.attempts[self.record.works[work].attempt];
        if attempt.ended.is_some() {
            return false;
        }
        match self.record.calls[attempt.call].caller {
            Caller::Request(_) => true,
            caller @ Caller::Work(Place { work, step, call, .. }) => {
                let id = self.step_call_id(work, step, call);
                let state: &StepCall = &self.record.works[work].steps[step][call];
                self.is_awaited(caller) && !self.is_decided(id, state) && self.is_awaited_by_client(work)
            }
        }
    }
}
