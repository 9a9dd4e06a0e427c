//! Servers that can do only so much at once: who is let in, who waits, whose turn it is.

use std::ops::Range;

use crate::dist::Purpose;
use crate::failure::{ErrorKind, Refusal};
use crate::plan::{Cancel, DropRule, Effect, Fault, Order, Plan, ServiceId, Target};
use crate::policy::{CodelState, EjectionState, LimiterState};
use crate::sim::agenda::Sequence;
use crate::sim::frames::{NONE, Phase, Visit, WorkFrame};
use crate::sim::list::{Links, List};
use crate::sim::replica::Replica;
use crate::sim::tap::{Note, Tap};
use crate::time::{Instant, Span};

/// One server of a service.
#[derive(Debug)]
pub(super) struct Server {
    service: ServiceId,
    /// Attempts in progress here.
    pub(super) load: u32,
    /// Workers taken.
    pub(super) busy: u32,
    /// Workers that are there.
    pub(super) workers: u32,
    pub(super) queue: List,
    /// What is in progress here, in the order of arrival; only where servers may crash.
    pub(super) present: List,
    /// The last pause that has begun.
    pub(super) pause: Range<Instant>,
    /// Since when the queue has not been empty; of no meaning while it is.
    queue_since: Instant,
    pub(super) ejection: EjectionState,
    limiter: LimiterState,
    codel: CodelState,
}

/// What all servers of a service share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Station {
    /// The number of its first server, or [`NONE`] if its capacity is unlimited and no state is kept.
    pub(super) first: u32,
    /// The server, from 0, that is next in turn.
    pub(super) next: u32,
    /// From when on none of its servers is ejected.
    pub(super) ejected_until: Instant,
    /// Attempts that were let in and are in progress.
    let_in: u32,
}

impl Station {
    const NEW: Self = Self { first: 0, next: 0, ejected_until: Instant::ZERO, let_in: 0 };
}

/// The servers of all services, and what waits at them.
#[derive(Debug)]
pub(super) struct Servers {
    /// By service.
    pub(super) stations: Vec<Station>,
    pub(super) list: Vec<Server>,
    /// By work frame; grows with those that are sent to a service that has servers here.
    pub(super) visits: Vec<Visit>,
    /// By work frame: the event **Served** that is still to come; any other is stale. Empty where none becomes stale.
    pub(super) served: Vec<Sequence>,
    queues: Links,
    /// The attempts in progress at the same server.
    present: Links,
    /// Whether servers may be ejected.
    pub(super) ejects: bool,
    /// Whether servers may crash, or pause.
    crashes: bool,
    pub(super) pauses: bool,
    /// Whether service may take longer than it does by itself.
    disturbed: bool,
    /// By service: whether calls of its work may be abandoned, because it ends work whose caller has given up, or
    /// because it may crash.
    pub(super) abandon: Vec<bool>,
    /// Whether that is so anywhere.
    pub(super) cancels: bool,
}

impl Servers {
    pub(super) fn new(plan: &Plan) -> Self {
        let mut list = Vec::new();
        let stations = (0..).map(ServiceId).zip(&plan.services).map(|(service, of)| {
            if !plan.keeps_servers(service) {
                return Station { first: NONE, ..Station::NEW };
            }
            let first = list.len() as u32;
            list.extend((0..of.capacity.instances).map(|_| Server {
                service,
                load: 0,
                busy: 0,
                workers: of.capacity.workers,
                queue: List::EMPTY,
                present: List::EMPTY,
                pause: Instant::LIMIT..Instant::LIMIT,
                queue_since: Instant::ZERO,
                ejection: EjectionState::default(),
                limiter: LimiterState::default(),
                codel: CodelState::default(),
            }));
            Station { first, ..Station::NEW }
        });
        let stations = stations.collect();
        let abandon = (0..).map(ServiceId).zip(&plan.services).map(|(id, service)| {
            let crashes = |fault: &Fault| fault.effect == Effect::Crash && fault.targets.contains(&Target::Service(id));
            service.capacity.cancel == Cancel::Running || plan.faults.iter().any(crashes)
        });
        let abandon: Vec<bool> = abandon.collect();
        Self {
            stations,
            list,
            visits: Vec::new(),
            served: Vec::new(),
            queues: Links::default(),
            present: Links::default(),
            ejects: plan.services.iter().any(|service| service.capacity.ejection.is_some()),
            crashes: plan.faults.iter().any(|fault| fault.effect == Effect::Crash),
            disturbed: plan.faults.iter().any(|fault| matches!(fault.effect, Effect::Pause | Effect::Slow { .. })),
            pauses: plan.faults.iter().any(|fault| fault.effect == Effect::Pause),
            cancels: abandon.contains(&true),
            abandon,
        }
    }

    /// Notes what an attempt brings along that is sent to one of the servers here.
    pub(super) fn expect(&mut self, work: u32, visit: Visit) {
        let index = work as usize;
        if self.visits.len() <= index {
            self.visits.resize(index + 1, visit);
        }
        self.visits[index] = visit;
    }

    fn visit(&self, work: u32) -> &Visit {
        &self.visits[work as usize]
    }
}

/// Something that can serve whoever is next, once the event has been dealt with.
#[derive(Clone, Copy, Debug)]
pub(super) enum Freed {
    /// A worker of this server.
    Worker(u32),
    /// A slot of this pool.
    Slot(u32),
}

impl<T: Tap, const FULL: bool> Replica<'_, T, FULL> {
    /// Lets those that waited go on to what has become free. False if that was too many for the bounds.
    #[inline(never)]
    pub(super) fn pass_on_what_is_free(&mut self) -> bool {
        let (calls, timers) = (&self.calls, &self.timers);
        if self.timed_out == self.now && self.agenda.is_anything_due(|it, at| timers.are_armed(calls, it, at)) {
            return true;
        }
        let mut next = 0;
        // What follows may free more.
        while let Some(&freed) = self.freed.get(next) {
            if self.is_crowded() {
                return false;
            }
            next += 1;
            match freed {
                Freed::Worker(server) => self.serve_next(server),
                Freed::Slot(pool) => self.pass_on_slot(pool),
            }
        }
        self.freed.clear();
        true
    }

    /// An attempt that has arrived at a server and met no fault there: it is let in, or turned away.
    pub(super) fn admit(&mut self, work: u32) {
        let WorkFrame { service, server, .. } = self.works[work];
        let capacity = &self.plan.services[service.index()].capacity;
        let at = &mut self.servers.list[server as usize];
        if !capacity.limiter.admits(&mut at.limiter, self.now) {
            self.say_retry_after(work, capacity.retry_after);
            return self.refuse(work, Refusal::Limiter);
        }
        let station = &mut self.servers.stations[service.index()];
        if station.let_in >= capacity.max_in_flight {
            return self.refuse(work, Refusal::InFlight);
        }
        // Workers who are free while others wait are about to go on to them.
        let free = at.workers.saturating_sub(at.busy);
        let is_free = free > 0 && at.queue.is_empty();
        if !is_free && at.queue.len() >= capacity.queue.limit.saturating_add(free) {
            return self.refuse(work, Refusal::Queue);
        }
        station.let_in += 1;
        self.works[work].phase = Phase::Queued;
        if is_free {
            self.recorder.entered(service, self.now);
            self.take_turn(work);
            return;
        }
        if at.queue.is_empty() {
            at.queue_since = self.now;
        }
        self.servers.queues.push(&mut at.queue, work);
        self.recorder.entered(service, self.now);
        self.recorder.queued(service, self.now);
    }

    /// The turn of an attempt has come: a worker takes it up, or it is discarded. Whether it was taken up.
    fn take_turn(&mut self, work: u32) -> bool {
        let plan = self.plan;
        let WorkFrame { key, service, server, arrived, .. } = self.works[work];
        let capacity = &plan.services[service.index()].capacity;
        let service_time = &plan.services[service.index()].service_time;
        let at = &mut self.servers.list[server as usize];
        let alone = capacity.contention.stretch(service_time.sample(key, Purpose::Service), at.busy + 1);
        let (takes, is_slowed, resumed) = if self.servers.disturbed {
            let number = server - self.servers.stations[service.index()].first;
            let (takes, is_slowed) = self.slowed(service, number, key, alone);
            (takes, is_slowed, self.resumes(server))
        } else {
            (alone, false, self.now)
        };
        let at = &mut self.servers.list[server as usize];
        let is_discarded = match &capacity.queue.drop_rule {
            DropRule::Never => false,
            DropRule::Expired => self.servers.visit(work).deadline < self.now,
            DropRule::DeadlineAware => self.servers.visit(work).deadline.since(self.now) < takes,
            DropRule::Codel(codel) => codel.sheds(&mut at.codel, self.now, self.now.since(arrived)),
        };
        if is_discarded {
            self.discard(work);
            return false;
        }
        self.servers.list[server as usize].busy += 1;
        let visit = &mut self.servers.visits[work as usize];
        (visit.began, visit.resumed, visit.takes) = (self.now, resumed, takes);
        self.recorder.begun(service, arrived, self.now);
        if let Some(store) = plan.services[service.index()].effects.store
            && !self.is_new(work, store)
        {
            return true;
        }
        let is_phase = !service_time.is_zero() || is_slowed || resumed > self.now;
        self.begin_service(work, is_phase.then(|| resumed.since(self.now) + takes));
        true
    }

    /// What waited for another to do is to be done by this attempt itself, for as long as was drawn when its turn came.
    pub(super) fn begin_late(&mut self, work: u32) {
        let WorkFrame { service, server, .. } = self.works[work];
        let service_time = &self.plan.services[service.index()].service_time;
        let resumed = self.resumes(server);
        let visit = &mut self.servers.visits[work as usize];
        visit.resumed = resumed;
        let takes = visit.takes;
        let is_phase = !service_time.is_zero() || takes > Span::ZERO || resumed > self.now;
        self.begin_service(work, is_phase.then(|| resumed.since(self.now) + takes));
    }

    /// The queue discards an attempt.
    fn discard(&mut self, work: u32) {
        let WorkFrame { key, service, caller, .. } = self.works[work];
        self.tap.note(self.now, Note::Dropped { key });
        self.recorder.dropped(service, self.now);
        self.leave_server(work);
        self.say_retry_after(work, None);
        if caller == NONE {
            self.works.remove(work);
        } else {
            self.send_answer(work, Some(ErrorKind::Overloaded));
        }
    }

    /// A worker of a server that is free takes up the next that is not discarded.
    fn serve_next(&mut self, server: u32) {
        let service = self.servers.list[server as usize].service;
        let capacity = &self.plan.services[service.index()].capacity;
        loop {
            let at = &mut self.servers.list[server as usize];
            if at.busy >= at.workers {
                return;
            }
            let Some(work) = next_in_line(at, capacity.queue.order, self.now) else { return };
            self.leave_queue(work);
            if self.take_turn(work) {
                return;
            }
        }
    }

    pub(super) fn leave_queue(&mut self, work: u32) {
        let WorkFrame { service, server, .. } = self.works[work];
        self.servers.queues.remove(&mut self.servers.list[server as usize].queue, work);
        self.recorder.unqueued(service, self.now);
    }

    /// A worker is free: whoever is next is served when the event has been dealt with.
    #[inline]
    pub(super) fn free_worker(&mut self, service: ServiceId, server: u32) {
        let at = &mut self.servers.list[server as usize];
        at.busy -= 1;
        self.recorder.worker_freed(service, self.now);
        if !at.queue.is_empty() {
            self.freed.push(Freed::Worker(server));
        }
    }

    /// An attempt is no longer in progress at its server.
    // Every attempt comes by here, and by the other functions that are always inlined; a second caller, for what is
    // rare, must not make them calls.
    #[inline(always)]
    pub(super) fn leave_server(&mut self, work: u32) {
        let WorkFrame { service, server, phase, .. } = self.works[work];
        let at = &mut self.servers.list[server as usize];
        at.load -= 1;
        if self.servers.crashes {
            self.servers.present.remove(&mut at.present, work);
        }
        // What was turned away, or failed for a fault, was not let in.
        let was_let_in = matches!(phase, Phase::Queued | Phase::Awaiting | Phase::Serving | Phase::Calling);
        self.servers.stations[service.index()].let_in -= u32::from(was_let_in);
    }

    /// An attempt is in progress at this server of its service, counted from 0.
    #[inline]
    pub(super) fn enter_server(&mut self, work: u32, number: u32) {
        let frame = &mut self.works[work];
        frame.server = self.servers.stations[frame.service.index()].first + number;
        let at = &mut self.servers.list[frame.server as usize];
        at.load += 1;
        if self.servers.crashes {
            self.servers.present.push(&mut at.present, work);
        }
    }

    /// Whether an attempt that has arrived at a server holds one of its workers.
    #[inline]
    pub(super) fn holds_worker(&self, work: u32) -> bool {
        let WorkFrame { phase, service, .. } = self.works[work];
        match phase {
            Phase::Awaiting | Phase::Serving => true,
            Phase::Calling => self.plan.services[service.index()].capacity.holds_worker,
            _ => false,
        }
    }

    /// For how long a server has worked on an attempt.
    #[inline]
    pub(super) fn served_for(&self, work: u32) -> Span {
        let WorkFrame { server, arrived, .. } = self.works[work];
        if server == NONE {
            return self.now.since(arrived);
        }
        // A pause costs what was done before it.
        let resumed = self.servers.visit(work).resumed;
        let resumed = if self.servers.pauses { self.paused_since(server, resumed).unwrap_or(resumed) } else { resumed };
        self.now.since(resumed.min(self.now))
    }
}

fn next_in_line(server: &Server, order: Order, now: Instant) -> Option<u32> {
    let newest_first = match order {
        Order::Fifo => false,
        Order::Lifo => true,
        Order::AdaptiveLifo => now.since(server.queue_since) >= Order::BUILDS_UP,
    };
    if newest_first { server.queue.last() } else { server.queue.first() }
}
