//! The rules, event by event. Read it beside the documentation of `stormsim::sim`. The rules of its sections are in
//! [`clients`](super::clients) (arrivals); [`callers`](super::callers), [`pools`](super::pools),
//! [`servers`](super::servers), [`workers`](super::workers) and [`giving_up`](super::giving_up) (calls);
//! [`budgets`](super::budgets) (retry budgets); [`guards`](super::guards) (breakers and throttles);
//! [`hedges`](super::hedges); [`operations`](super::operations) and
//! [`stores`](super::stores) (operations); [`faults`](super::faults) and [`outages`](super::outages) (faults);
//! [`services`](super::services) (the calls of a service) and [`balancer`](super::balancer).

use std::collections::{BTreeMap, VecDeque};

use stormsim::dist::{mix, replica_key};
use stormsim::metrics::End;
use stormsim::plan::{CallId, FaultId, GroupId, Plan, ServiceId, WindowsOfReplica};
use stormsim::policy::{BreakerState, EjectionState, ThrottleState};
use stormsim::sim::Note;
use stormsim::time::{Instant, Span};

use super::agenda::{Agenda, Class, Event};
use super::budgets::tokens_at_start;
use super::clients::OpenArrivals;
use super::record::{Moment, Record};
use super::workers::Server;

/// Tells the story of one replica.
pub fn run(plan: &Plan, seed: u64, replica: u32) -> Record {
    let mut interpreter = Interpreter::start(plan, replica_key(seed, replica));
    while let Some((at, event)) = interpreter.next() {
        interpreter.now = at;
        interpreter.record.events += 1;
        if event.is_timeout() {
            interpreter.timed_out = Some(at);
        }
        interpreter.happen(event);
        interpreter.give_on_what_is_free();
    }
    let (end, ended) = match plan.horizon {
        // With a horizon the run goes on to it, also when there is nothing left to do.
        Some(horizon) => (horizon, End::Horizon),
        None => (interpreter.now, End::Drained),
    };
    let tokens_left = (0..plan.budgets.len()).map(|budget| interpreter.left_in(budget, end)).collect();
    Record { end, ended, tokens_left, ..interpreter.record }
}

/// A replica under way: what has happened so far, and what is still to.
pub(super) struct Interpreter<'plan> {
    pub(super) plan: &'plan Plan,
    pub(super) replica_key: u64,
    pub(super) now: Instant,
    pub(super) agenda: Agenda,
    /// By group; for groups whose clients have arrivals of their own it stays unused.
    pub(super) open_arrivals: Vec<OpenArrivals<'plan>>,
    /// By service, then by the number of the server.
    pub(super) servers: Vec<Vec<Server>>,
    /// By service, the server at which its counter stands.
    pub(super) counters: Vec<u32>,
    /// By service, then by the number of the server, what the balancer knows of it.
    pub(super) ejections: Vec<Vec<EjectionState>>,
    /// By call, and by the instance of its caller, or 0 for all; of those that were asked.
    pub(super) breakers: BTreeMap<(CallId, u32), BreakerState>,
    /// Likewise.
    pub(super) throttles: BTreeMap<(CallId, u32), ThrottleState>,
    /// By fault, the windows that have not been scheduled yet.
    pub(super) windows: Vec<WindowsOfReplica<'plan>>,
    /// By fault, the end of the window in which it is active, if it is.
    pub(super) active_until: Vec<Option<Instant>>,
    /// What has become free while others waited for it, and has not gone on to them, in this order.
    pub(super) freed: VecDeque<Freed>,
    /// The works that wait for another which does their operation, by position in the record, the longest first.
    pub(super) waiting: Vec<usize>,
    /// When the last timeout has happened.
    timed_out: Option<Instant>,
    pub(super) record: Record,
}

/// Something that became free.
#[derive(Clone, Copy)]
pub(super) enum Freed {
    /// A worker of a server.
    Worker(ServiceId, u32),
    /// A slot of a call, of an instance of its caller.
    Slot(CallId, u32),
}

impl<'plan> Interpreter<'plan> {
    fn start(plan: &'plan Plan, replica_key: u64) -> Self {
        let mut interpreter = Self {
            plan,
            replica_key,
            now: Instant::ZERO,
            agenda: Agenda::default(),
            open_arrivals: (0..plan.groups.len() as u32)
                .map(|group| OpenArrivals::new(plan, replica_key, GroupId(group)))
                .collect(),
            servers: plan.services.iter().map(|service| Server::all_of(&service.capacity)).collect(),
            counters: vec![0; plan.services.len()],
            ejections: plan
                .services
                .iter()
                .map(|it| vec![EjectionState::default(); it.capacity.instances as usize])
                .collect(),
            breakers: BTreeMap::new(),
            throttles: BTreeMap::new(),
            windows: plan.faults.iter().map(|it| it.windows.of_replica(mix(replica_key, it.key))).collect(),
            active_until: vec![None; plan.faults.len()],
            freed: VecDeque::new(),
            waiting: Vec::new(),
            timed_out: None,
            record: Record {
                notes: Vec::new(),
                requests: Vec::new(),
                calls: Vec::new(),
                attempts: Vec::new(),
                works: Vec::new(),
                tokens: tokens_at_start(plan),
                tokens_at_start: Vec::new(),
                token_changes: Vec::new(),
                tokens_left: Vec::new(),
                breakers: Vec::new(),
                left_out: Vec::new(),
                ejections: Vec::new(),
                spared: Vec::new(),
                events: 0,
                end: Instant::ZERO,
                ended: End::Drained,
            },
        };
        interpreter.record.tokens_at_start = (0..plan.budgets.len()).map(|budget| interpreter.level(budget)).collect();
        for fault in (0..plan.faults.len() as u32).map(FaultId) {
            interpreter.schedule_next_window(fault);
        }
        for group in (0..plan.groups.len() as u32).map(GroupId) {
            interpreter.schedule_first_arrivals(group);
        }
        interpreter
    }

    /// The next event, unless the run ends before it.
    fn next(&mut self) -> Option<(Instant, Event)> {
        let over = match self.plan.horizon {
            Some(horizon) => self.agenda.next_at().is_some_and(|at| at >= horizon),
            None => {
                let is_later = self.agenda.next_at() > Some(self.now);
                is_later && self.agenda.only_fault_transitions() && self.record.nothing_is_in_progress()
            }
        };
        if over { None } else { self.agenda.pop() }
    }

    pub(super) fn happen(&mut self, event: Event) {
        match event {
            Event::WindowBegins { fault, until } => self.window_begins(fault, until),
            Event::WindowEnds { fault } => self.window_ends(fault),
            Event::Arrival(group) => self.arrival(group),
            Event::ClientArrival { group, client } => self.client_arrival(group, client),
            Event::Arrive { attempt } => self.arrive(attempt),
            Event::Served { work } if self.is_put_off(work) => {}
            Event::Served { work } => self.served(work),
            Event::Answer { attempt, reply } => self.answer(attempt, reply),
            Event::Timer { attempt } => self.timer(attempt),
            Event::HedgeTimer { attempt } => self.hedge_timer(attempt),
            Event::CopyTimer { attempt } => self.copy_timer(attempt),
            Event::EndTimer { call } => self.end_timer(call),
            Event::Wake { call } => self.start_attempt(call),
        }
    }

    /// Workers and slots go on to whoever is next once the event has been dealt with otherwise; but after a timeout
    /// only at the end of the instant. Whoever gets one may be done with it at once.
    fn give_on_what_is_free(&mut self) {
        if self.timed_out == Some(self.now) && self.agenda.is_anything_due(self.now) {
            return;
        }
        while let Some(freed) = self.freed.pop_front() {
            match freed {
                Freed::Worker(service, server) => self.give_worker_on(service, server),
                Freed::Slot(call, instance) => self.give_slot_on(call, instance),
            }
        }
    }

    pub(super) fn note(&mut self, note: Note) {
        self.record.notes.push((self.now, note));
    }

    pub(super) fn moment(&self) -> Moment {
        Moment { at: self.now, event: self.record.events }
    }

    pub(super) fn schedule_after(&mut self, delay: Span, event: Event) {
        self.agenda.schedule(self.now + delay, Class::Normal, event);
    }
}
