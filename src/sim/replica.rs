//! One replica: its state and its main loop. What happens is in the neighbours, by place: client, call, service, fault.

use std::hint::black_box;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::dist::replica_key;
use crate::failure::ErrorKind;
use crate::metrics::{End, Limit, Outcome, Recorder, RunEnd};
use crate::plan::{Arrivals, Balance, DeadlineRule, FaultId, GroupId, Plan, Service, Target, WindowsOfReplica};
use crate::sim::agenda::{Agenda, Event};
use crate::sim::arrivals::Source;
use crate::sim::budget::Budgets;
use crate::sim::cancel::Kin;
use crate::sim::frames::{CallExtra, CallFrame, Fan, WorkFrame};
use crate::sim::guard::Guards;
use crate::sim::hedge::Hedges;
use crate::sim::operation::Operations;
use crate::sim::pool::Pools;
use crate::sim::server::{Freed, Servers};
use crate::sim::slab::Slab;
use crate::sim::tap::Tap;
use crate::sim::timers::Timers;
use crate::time::{Instant, Span};

/// The kinds of events. The index of an event names what is given in brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Kind {
    /// The next request of an open client group begins (group).
    Arrival,
    /// The next request of a client with a clock of its own begins (client, numbered through all groups).
    ClientArrival,
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
    /// A call is over, whatever it is doing (call).
    EndTimer,
    /// An attempt has no answer yet, and a copy of it is due (call).
    HedgeTimer,
    /// A copy of an attempt has found nobody (work).
    CopyTimer,
    /// A window of a fault begins (fault).
    FaultBegins,
    /// It ends (fault).
    FaultEnds,
}

impl Kind {
    /// The event of this kind that happens to the thing with this index.
    #[inline]
    pub(super) fn of(self, index: u32) -> Event {
        Event::new(self as u8, index)
    }

    /// Whether the event is a fault transition: nothing that is counted happens then.
    #[inline]
    fn is_fault_transition(event: Event) -> bool {
        event.kind() >= Self::FaultBegins as u8
    }
}

/// Where a run is ended although the simulated system would go on.
#[derive(Clone, Copy, Debug)]
pub struct Bounds<'s> {
    /// Frames of one kind (calls, pieces of work, fans) at once; at most what the index of an event can name.
    pub frames: usize,
    /// Events at one instant before the run is taken to go nowhere.
    pub events_at_once: u64,
    /// Set from outside when nobody waits for the result any more.
    pub stop: &'s AtomicBool,
}

impl Default for Bounds<'static> {
    fn default() -> Self {
        static NEVER: AtomicBool = AtomicBool::new(false);
        Self { frames: Slab::<WorkFrame>::LIMIT, events_at_once: 1_000_000_000, stop: &NEVER }
    }
}

/// How many events pass between two looks at the bounds; a power of two.
const BOUNDS_INTERVAL: u64 = 1 << 6;
/// How many events pass between two looks at [`Bounds::stop`]; a power of two.
const STOP_INTERVAL: u64 = 1 << 20;

/// From this many calls on they are fetched before they go on: fewer lie in the cache anyway.
const MANY_CALLS: usize = 1 << 15;

/// Fetches the call that is going to make its next attempt. With millions of them each would otherwise be waited for
/// when its time comes; fetched in a row, many are waited for at once.
#[inline]
fn fetch(calls: &Slab<CallFrame>, event: Event) {
    if event.kind() == Kind::Wake as u8 && calls.places() >= MANY_CALLS {
        // A frame may lie in two lines of the cache: something of each end.
        let CallFrame { key, attempt, work, .. } = calls[event.index()];
        black_box((key, attempt, work));
    }
}

/// One run of a plan. Single-threaded; owns all of its state.
///
/// `FULL` says whether the plan may have more than [`Plan::is_core`] allows. If not, the compiler
/// leaves out whatever asks for them: what a plan does not use costs it nothing.
pub(super) struct Replica<'p, T, const FULL: bool> {
    pub(super) plan: &'p Plan,
    pub(super) tap: &'p mut T,
    pub(super) agenda: Agenda,
    pub(super) now: Instant,
    pub(super) calls: Slab<CallFrame>,
    pub(super) works: Slab<WorkFrame>,
    pub(super) fans: Slab<Fan>,
    /// Whether calls may have an end: a total timeout, or a deadline that was passed on to them.
    pub(super) has_ends: bool,
    pub(super) timers: Timers,
    /// Whether anything spends time on the network, or may be lost there.
    pub(super) has_network: bool,
    /// Whether any call passes its deadline on.
    pub(super) passes_deadlines: bool,
    /// By work frame: the deadline that it was told. Empty unless any is.
    pub(super) deadlines: Vec<Instant>,
    /// What schedules that remember anything have left, by call frame; empty unless a policy has one.
    pub(super) marks: Vec<Span>,
    pub(super) sources: Vec<Source<'p>>,
    /// By group: the number of its first client, counted through the groups whose clients have clocks of their own.
    pub(super) first_clients: Vec<u32>,
    /// Arrivals that are scheduled and will happen.
    pub(super) arrivals_pending: u64,
    pub(super) budgets: Budgets,
    /// By fault: the windows to come.
    pub(super) windows: Vec<WindowsOfReplica<'p>>,
    /// By fault: when the current window ends, or the next one.
    pub(super) window_ends: Vec<Instant>,
    /// When a crash last ended anything.
    pub(super) crashed: Instant,
    /// By service: the faults that are active there, in file order.
    pub(super) active_faults: Vec<Vec<FaultId>>,
    /// By call, likewise.
    pub(super) active_on_calls: Vec<Vec<FaultId>>,
    /// Whether any fault is on a call.
    pub(super) has_call_faults: bool,
    /// Whether any answer may say when it is worth trying again.
    pub(super) has_retry_after: bool,
    /// By work frame: that. Empty unless any may.
    pub(super) retry_afters: Vec<Option<Span>>,
    pub(super) servers: Servers,
    pub(super) pools: Pools,
    /// Whether anything is kept of calls beside their frames.
    pub(super) has_extras: bool,
    /// By call frame. Empty unless it is.
    pub(super) extras: Vec<CallExtra>,
    pub(super) kin: Kin,
    pub(super) operations: Operations,
    pub(super) guards: Guards,
    pub(super) hedges: Hedges,
    /// Whether an event may be none any more when its time has come.
    pub(super) has_ghosts: bool,
    /// Workers and slots that have become free, in this event or at this instant, while others waited for them.
    pub(super) freed: Vec<Freed>,
    /// When a timer has run out last.
    pub(super) timed_out: Instant,
    /// So many frames of one kind that what one event may add still fits.
    room: usize,
    pub(super) recorder: Recorder<'p>,
    pub(super) key: u64,
    number: u32,
}

impl<'p, T: Tap, const FULL: bool> Replica<'p, T, FULL> {
    pub(super) fn new(plan: &'p Plan, seed: u64, number: u32, tap: &'p mut T) -> Self {
        let until = plan.horizon.unwrap_or(Instant::LIMIT);
        let key = replica_key(seed, number);
        let passes_deadlines = plan.calls.iter().any(|call| call.deadline != DeadlineRule::Keep);
        let has_ends = passes_deadlines || plan.calls.iter().any(|call| call.total_timeout.after < Span::UNLIMITED);
        let first_clients = plan.groups.iter().scan(0, |next, group| {
            let first = *next;
            if matches!(group.arrivals, Arrivals::Periodic { .. } | Arrivals::Closed { .. }) {
                *next += group.clients;
            }
            Some(first)
        });
        let pools = Pools::new(plan);
        let servers = Servers::new(plan);
        let is_call = |target: &Target| matches!(target, Target::Call(_));
        let is_by_copy = |service: &Service| service.capacity.balance == Balance::ByCopy;
        let (guards, hedges) = (Guards::new(plan), Hedges::new(plan));
        let has_extras = pools.exist()
            || guards.exist
            || hedges.exist
            || plan.calls.iter().any(|call| call.avoid_previous)
            || plan.services.iter().any(is_by_copy);
        Self {
            plan,
            tap,
            agenda: Agenda::new(until, &plan.timeouts),
            now: Instant::ZERO,
            calls: Slab::new(),
            works: Slab::new(),
            fans: Slab::new(),
            has_ends,
            timers: Timers::default(),
            has_network: plan.calls.iter().any(|call| !call.network.is_zero()),
            passes_deadlines,
            deadlines: Vec::new(),
            marks: Vec::new(),
            sources: (0..plan.groups.len() as u32).map(|id| Source::new(plan, GroupId(id), key)).collect(),
            first_clients: first_clients.collect(),
            arrivals_pending: 0,
            budgets: Budgets::new(plan),
            windows: Vec::new(),
            window_ends: Vec::new(),
            crashed: Instant::ZERO,
            active_faults: vec![Vec::new(); plan.services.len()],
            active_on_calls: vec![Vec::new(); plan.calls.len()],
            has_call_faults: plan.faults.iter().any(|fault| fault.targets.iter().any(is_call)),
            has_retry_after: plan.says_retry_after(),
            retry_afters: Vec::new(),
            has_ghosts: servers.cancels || servers.pauses,
            servers,
            pools,
            has_extras,
            extras: Vec::new(),
            kin: Kin::default(),
            operations: Operations::new(plan),
            guards,
            hedges,
            freed: Vec::new(),
            timed_out: Instant::LIMIT,
            room: usize::MAX,
            recorder: Recorder::new(plan),
            key,
            number,
        }
    }

    /// Runs to the end.
    // Into its one caller, where its state is known not to be anybody else's.
    #[inline(always)]
    pub(super) fn run(mut self, bounds: Bounds) -> Outcome {
        if bounds.stop.load(Ordering::Relaxed) {
            let run = RunEnd { replica: self.number, end: Instant::ZERO, ended: End::Interrupted, events: 0 };
            return self.recorder.finish(run, &self.budgets.left_in_windows(self.plan, Instant::ZERO));
        }
        self.schedule_faults();
        self.schedule_first_arrivals();
        let (mut events, mut events_before_now) = (0_u64, 0_u64);
        // The last instant at which anything but a fault transition happened, or one that was more than that.
        let mut last = Instant::ZERO;
        let (mut limit, mut interrupted) = (None, false);
        let most = self.most_frames_per_event();
        // With very many calls in one step the bounds are looked at after every event.
        let seldom = most.saturating_mul(BOUNDS_INTERVAL as usize) <= bounds.frames / 4;
        let mask = if seldom { BOUNDS_INTERVAL - 1 } else { 0 };
        self.room = bounds.frames.saturating_sub(most.saturating_mul(mask as usize + 1));
        while let Some((event, sequence)) = self.agenda.pop_ahead(
            |event, sequence| self.timers.are_armed(&self.calls, event, sequence),
            |event| fetch(&self.calls, event),
        ) {
            let now = self.agenda.now();
            if now != self.now {
                self.now = now;
                events_before_now = events;
            }
            let is_event = !(FULL && self.has_ghosts && self.is_ghost(event, sequence));
            events += u64::from(is_event);
            if !is_event {
                // But what waits for this instant to be over may have waited for it.
                if self.freed.is_empty() {
                    continue;
                }
            } else if Kind::is_fault_transition(event) {
                if self.plan.horizon.is_none() && now > last.max(self.crashed) && self.is_drained() {
                    // It comes after the end and is no event of the run.
                    events -= 1;
                    break;
                }
                // The recorder need not know, and its clock may stay behind.
                self.fault_transition(event.kind() == Kind::FaultBegins as u8, FaultId(event.index()));
                if !self.freed.is_empty() {
                    last = now;
                    self.recorder.advance(now);
                }
            } else {
                last = now;
                self.recorder.advance(now);
                self.happen(event);
            }
            let is_stuck = FULL && !self.freed.is_empty() && !self.pass_on_what_is_free();
            if events & mask == 0 || is_stuck {
                limit = self.limit_reached(events - events_before_now, bounds);
                interrupted = events.is_multiple_of(STOP_INTERVAL) && bounds.stop.load(Ordering::Relaxed);
                if limit.is_some() || interrupted {
                    break;
                }
            }
        }
        let (end, ended) = match (limit, self.plan.horizon) {
            (Some(limit), _) => (self.now, End::Limit(limit)),
            _ if interrupted => (self.now, End::Interrupted),
            (None, Some(horizon)) => (horizon, End::Horizon),
            (None, None) if self.is_drained() => (last.max(self.crashed), End::Drained),
            (None, None) => (last.max(self.crashed), End::Limit(Limit::VirtualTime)),
        };
        let left_in_windows = self.budgets.left_in_windows(self.plan, end);
        self.recorder.finish(RunEnd { replica: self.number, end, ended, events }, &left_in_windows)
    }

    #[inline(always)]
    fn happen(&mut self, event: Event) {
        const ARRIVAL: u8 = Kind::Arrival as u8;
        const CLIENT_ARRIVAL: u8 = Kind::ClientArrival as u8;
        const ARRIVE: u8 = Kind::Arrive as u8;
        const SERVED: u8 = Kind::Served as u8;
        const ANSWER: u8 = Kind::Answer as u8;
        const WAKE: u8 = Kind::Wake as u8;
        const TIMER: u8 = Kind::Timer as u8;
        const END_TIMER: u8 = Kind::EndTimer as u8;
        const HEDGE_TIMER: u8 = Kind::HedgeTimer as u8;
        const COPY_TIMER: u8 = Kind::CopyTimer as u8;
        let index = event.index();
        match event.kind() {
            ARRIVAL => self.arrival(GroupId(index)),
            CLIENT_ARRIVAL => self.client_arrival(index),
            ARRIVE => self.arrive(index),
            SERVED => self.served(index),
            ANSWER => self.answer(index),
            WAKE => self.start_attempt(index),
            TIMER => self.attempt_timed_out(index),
            END_TIMER => self.give_up(index, ErrorKind::Deadline),
            HEDGE_TIMER if FULL => self.hedge_due(index),
            COPY_TIMER if FULL => self.copy_timed_out(index),
            other => debug_assert!(false, "no event has the kind {other}"),
        }
    }

    #[cold]
    fn limit_reached(&self, events_now: u64, bounds: Bounds) -> Option<Limit> {
        if events_now > bounds.events_at_once {
            Some(Limit::Instant)
        } else if self.is_crowded() {
            Some(Limit::Frames)
        } else if self.agenda.exhausted() {
            Some(Limit::Events)
        } else if self.recorder.is_overfull() {
            Some(Limit::Buckets)
        } else {
            None
        }
    }

    /// Whether no more frames may be added.
    pub(super) fn is_crowded(&self) -> bool {
        self.calls.places().max(self.works.places()).max(self.fans.places()) > self.room
    }

    /// The most frames of one kind that one event may add: all calls of a service with all their copies, because steps
    /// whose calls are not made follow each other within one event; and an attempt of a client.
    fn most_frames_per_event(&self) -> usize {
        let copies = |step: &Range<u32>| -> usize {
            let calls = &self.plan.step_calls[step.start as usize..step.end as usize];
            calls.iter().map(|call| self.plan.calls[call.index()].copies as usize).sum()
        };
        let of_service = |service: &Service| -> usize {
            let Range { start, end } = service.steps;
            self.plan.steps[start as usize..end as usize].iter().map(copies).sum()
        };
        1 + self.plan.services.iter().map(of_service).max().unwrap_or(0)
    }

    /// Whether no request will come and nothing is in progress.
    fn is_drained(&self) -> bool {
        self.calls.in_use() == 0 && self.works.in_use() == 0 && self.arrivals_pending == 0
    }
}
