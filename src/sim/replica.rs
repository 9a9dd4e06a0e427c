//! One replica: its state and its main loop. What happens is in the neighbours, by place: client, call, service, fault.

use crate::dist::replica_key;
use crate::metrics::{End, Limit, Outcome, Recorder};
use crate::plan::{FaultId, GroupId, Plan};
use crate::sim::agenda::{Agenda, Event};
use crate::sim::client::Source;
use crate::sim::frames::{CallFrame, WorkFrame};
use crate::sim::slab::Slab;
use crate::sim::tap::Tap;
use crate::time::{Instant, Span};

/// The kinds of events. The index of an event names what is given in brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Kind {
    /// The next request of a client group begins (group).
    Arrival,
    /// An attempt reaches its service (work).
    Arrive,
    /// The service time, or the delay of an error, is over (work).
    Served,
    /// An answer reaches the caller (work).
    Answer,
    /// A wait is over (call).
    Wake,
    /// An attempt has taken too long (call).
    Timer,
    /// A window of a fault begins (fault).
    FaultBegins,
    /// It ends (fault).
    FaultEnds,
}

impl Kind {
    const ALL: [Self; 8] = [
        Self::Arrival,
        Self::Arrive,
        Self::Served,
        Self::Answer,
        Self::Wake,
        Self::Timer,
        Self::FaultBegins,
        Self::FaultEnds,
    ];

    #[inline]
    pub(super) fn of(self, index: u32) -> Event {
        Event::new(self as u8, index)
    }
}

/// Events at one instant before the run is taken to go nowhere.
const INSTANT_LIMIT: u64 = 1_000_000_000;

/// One run of a plan. Single-threaded; owns all of its state.
pub(super) struct Replica<'p, T> {
    pub(super) plan: &'p Plan,
    pub(super) tap: &'p mut T,
    pub(super) agenda: Agenda,
    pub(super) now: Instant,
    pub(super) calls: Slab<CallFrame>,
    pub(super) works: Slab<WorkFrame>,
    /// The wait before the current attempt, by call frame; empty unless a policy needs it.
    pub(super) previous_waits: Vec<Span>,
    pub(super) sources: Vec<Source>,
    /// By service: the faults that are active there, in file order.
    pub(super) active_faults: Vec<Vec<FaultId>>,
    pub(super) recorder: Recorder<'p>,
    pub(super) key: u64,
    number: u32,
}

impl<'p, T: Tap> Replica<'p, T> {
    pub(super) fn new(plan: &'p Plan, seed: u64, number: u32, tap: &'p mut T) -> Self {
        let until = plan.horizon.unwrap_or(Instant::LIMIT);
        Self {
            plan,
            tap,
            agenda: Agenda::new(until, &plan.timeouts),
            now: Instant::ZERO,
            calls: Slab::new(),
            works: Slab::new(),
            previous_waits: Vec::new(),
            sources: plan.groups.iter().map(Source::new).collect(),
            active_faults: vec![Vec::new(); plan.services.len()],
            recorder: Recorder::new(plan),
            key: replica_key(seed, number),
            number,
        }
    }

    /// Runs to the end.
    pub(super) fn run(mut self) -> Outcome {
        self.schedule_faults();
        for group in 0..self.plan.groups.len() as u32 {
            self.schedule_next_arrival(GroupId(group));
        }
        let (mut events, mut events_before_now) = (0, 0);
        // The last instant at which anything but a fault transition happened.
        let mut last = Instant::ZERO;
        let mut limit = None;
        // Every event adds at most the calls of one step, and an attempt for each.
        let room = Slab::<WorkFrame>::LIMIT - self.plan.step_calls.len() - 1;
        while let Some((event, _)) = self.agenda.pop(|event, sequence| self.calls[event.index()].armed == sequence) {
            let now = self.agenda.now();
            if now != self.now {
                self.now = now;
                events_before_now = events;
            }
            self.recorder.advance(now);
            events += 1;
            let kind = Kind::ALL[event.kind() as usize];
            match kind {
                Kind::Arrival => self.arrival(GroupId(event.index())),
                Kind::Arrive => self.arrive(event.index()),
                Kind::Served => self.served(event.index()),
                Kind::Answer => self.answer(event.index()),
                Kind::Wake => self.start_attempt(event.index()),
                Kind::Timer => self.give_up(event.index()),
                Kind::FaultBegins => self.fault_begins(FaultId(event.index())),
                Kind::FaultEnds => self.fault_ends(FaultId(event.index())),
            }
            if matches!(kind, Kind::FaultBegins | Kind::FaultEnds) {
                if self.plan.horizon.is_none() && self.is_drained() {
                    // It comes after the end and is no event of the run.
                    events -= 1;
                    break;
                }
            } else {
                last = now;
            }
            limit = if events - events_before_now > INSTANT_LIMIT {
                Some(Limit::Instant)
            } else if self.calls.places() > room || self.works.places() > room {
                Some(Limit::Frames)
            } else if self.agenda.exhausted() {
                Some(Limit::Events)
            } else if self.recorder.is_overfull() {
                Some(Limit::Buckets)
            } else {
                None
            };
            if limit.is_some() {
                break;
            }
        }
        let (end, ended) = match (limit, self.plan.horizon) {
            (Some(limit), _) => (self.now, End::Limit(limit)),
            (None, Some(horizon)) => (horizon, End::Horizon),
            (None, None) if self.is_drained() => (last, End::Drained),
            (None, None) => (last, End::Limit(Limit::VirtualTime)),
        };
        self.recorder.finish(self.number, end, ended, events)
    }

    /// Whether no request will come and nothing is in progress.
    fn is_drained(&self) -> bool {
        self.calls.in_use() == 0 && self.works.in_use() == 0 && self.sources.iter().all(Source::is_exhausted)
    }
}
