//! The rules, event by event. Read it beside the documentation of `stormsim::sim`: the rules of its sections are in
//! [`clients`](super::clients) (arrivals), [`callers`](super::callers) (calls) and [`services`](super::services).

use stormsim::dist::replica_key;
use stormsim::metrics::End;
use stormsim::plan::{GroupId, Plan};
use stormsim::sim::Note;
use stormsim::time::{Instant, Span};

use super::agenda::{Agenda, Class, Event};
use super::clients::OpenArrivals;
use super::record::{Moment, Record, Reply};

/// Tells the story of one replica.
pub fn run(plan: &Plan, seed: u64, replica: u32) -> Record {
    let mut interpreter = Interpreter::start(plan, replica_key(seed, replica));
    while let Some((at, event)) = interpreter.next() {
        interpreter.now = at;
        interpreter.record.events += 1;
        interpreter.happen(event);
    }
    let mut record = interpreter.record;
    (record.end, record.ended) = match plan.horizon {
        // With a horizon the run goes on to it, also when there is nothing left to do.
        Some(horizon) => (horizon, End::Horizon),
        None => (interpreter.now, End::Drained),
    };
    record
}

/// A replica under way: what has happened so far, and what is still to.
pub(super) struct Interpreter<'plan> {
    pub(super) plan: &'plan Plan,
    pub(super) replica_key: u64,
    pub(super) now: Instant,
    pub(super) agenda: Agenda,
    /// By group; for groups whose clients have arrivals of their own it stays unused.
    pub(super) open_arrivals: Vec<OpenArrivals>,
    pub(super) record: Record,
}

impl<'plan> Interpreter<'plan> {
    fn start(plan: &'plan Plan, replica_key: u64) -> Self {
        let mut interpreter = Self {
            plan,
            replica_key,
            now: Instant::ZERO,
            agenda: Agenda::default(),
            open_arrivals: plan.groups.iter().map(|group| OpenArrivals::new(replica_key, group)).collect(),
            record: Record {
                notes: Vec::new(),
                requests: Vec::new(),
                calls: Vec::new(),
                attempts: Vec::new(),
                works: Vec::new(),
                balances: plan.budgets.iter().map(|pool| vec![pool.rule.initial; pool.states as usize]).collect(),
                events: 0,
                end: Instant::ZERO,
                ended: End::Drained,
            },
        };
        for window in plan.faults.iter().flat_map(|fault| &fault.windows) {
            interpreter.agenda.schedule(window.start, Class::FaultTransition, Event::FaultTransition);
            interpreter.agenda.schedule(window.end, Class::FaultTransition, Event::FaultTransition);
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
            None => self.agenda.only_fault_transitions(),
        };
        if over { None } else { self.agenda.pop() }
    }

    pub(super) fn happen(&mut self, event: Event) {
        match event {
            Event::FaultTransition => {}
            Event::Arrival(group) => self.arrival(group),
            Event::ClientArrival { group, client } => self.client_arrival(group, client),
            Event::Arrive { attempt } => self.arrive(attempt),
            Event::Served { work, struck: Ok(()) } => self.begin_next_step(work),
            Event::Served { work, struck: Err(error) } => self.answer_with(work, Reply::Error(error)),
            Event::Answer { work } => self.answer(work),
            Event::Timer { attempt } => self.timer(attempt),
            Event::EndTimer { call } => self.end_timer(call),
            Event::Wake { call } => self.start_attempt(call),
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
