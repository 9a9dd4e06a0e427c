//! Circuit breakers: callers that stop calling what keeps failing.

mod trip;

pub use trip::{Badness, Over, Trip, TripState};

use crate::failure::{ErrorKind, ErrorSet};
use crate::policy::Schedule;
use crate::time::{Instant, Span};

/// The rule of a breaker. It is *closed* until it trips, then *open* for a time in which nothing is let through, then
/// *half-open*: so many probes are let through, and what becomes of them closes it or opens it again.
///
/// The states and their names are those of Nygard's "Release It!" (2007), and of Hystrix, Resilience4j, Polly and
/// gobreaker, which differ in when it trips and in how many probes there are. What was let through before a breaker
/// moved does not count any more when it ends (gobreaker's generations).
#[derive(Clone, Debug, PartialEq)]
pub struct Breaker {
    /// When it opens.
    pub trip: Trip,
    /// The errors that are failures; with any other the callee has answered.
    pub failure_on: ErrorSet,
    /// How long it is open: the wait before retry n, when it opens for the nth time in a row.
    pub open: Schedule,
    /// How many probes a half-open breaker lets through; at least 1, or [`Breaker::NO_LIMIT`]: then the first that ends
    /// decides.
    pub half_open: u32,
    /// What is let through and counted.
    pub counts: Counts,
    /// Where it stands.
    pub position: Position,
}

/// What a breaker counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counts {
    /// Each attempt.
    Attempts,
    /// Each call, which has failed when its last attempt has.
    Calls,
}

/// Where a breaker stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// Inside the retry: it is asked before each attempt.
    Inside,
    /// Outside: it is asked once, when the call begins.
    Outside,
}

/// A breaker at work. It moves from closed to open, from open to half-open, and from there to closed or open.
#[derive(Clone, Debug)]
pub struct BreakerState {
    /// How often it has moved. Wraps, long after whatever was let through has ended.
    generation: u32,
    phase: BreakerPhase,
    /// How often in a row it has opened without closing in between.
    openings: u32,
    trip: TripState,
}

/// Where a breaker is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BreakerPhase {
    /// It lets everything through.
    Closed,
    /// It lets nothing through.
    Open {
        /// From then on probes.
        until: Instant,
    },
    /// It lets some through.
    HalfOpen {
        /// Probes that are under way.
        probes: u32,
        /// Those that have ended well.
        succeeded: u32,
        /// Those that have not.
        failed: u32,
    },
}

/// A breaker has let something through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admission {
    generation: u32,
    is_probe: bool,
}

/// How something ended that a breaker had let through.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// Its error, if it failed.
    pub error: Option<ErrorKind>,
    /// How long it took.
    pub took: Span,
    /// What the time is drawn from for which the breaker opens, if it does.
    pub key: u64,
}

impl Breaker {
    /// A number of probes that stands for "no limit".
    pub const NO_LIMIT: u32 = u32::MAX;

    /// A breaker at the start of a run.
    pub fn start(&self) -> BreakerState {
        let trip = self.trip.start(Instant::ZERO);
        BreakerState { generation: 0, phase: BreakerPhase::Closed, openings: 0, trip }
    }

    /// Asks to be let through at `now`, which never goes back.
    pub fn admit(&self, state: &mut BreakerState, now: Instant) -> Option<Admission> {
        if let BreakerPhase::Open { until } = state.phase
            && until <= now
        {
            state.move_to(BreakerPhase::HalfOpen { probes: 0, succeeded: 0, failed: 0 });
        }
        let generation = state.generation;
        match &mut state.phase {
            BreakerPhase::Closed => Some(Admission { generation, is_probe: false }),
            BreakerPhase::Open { .. } => None,
            BreakerPhase::HalfOpen { probes, succeeded, failed } => {
                let is_free = *probes + *succeeded + *failed < self.half_open;
                is_free.then(|| {
                    *probes += 1;
                    Admission { generation, is_probe: true }
                })
            }
        }
    }

    /// Something that was let through is over, and with it the probe that it was.
    pub fn leave(&self, state: &mut BreakerState, admission: Admission) {
        if let BreakerPhase::HalfOpen { probes, .. } = &mut state.phase
            && admission.is_probe
            && admission.generation == state.generation
        {
            *probes -= 1;
        }
    }

    /// Counts how something ended that was let through. Whether the breaker has opened.
    pub fn count(&self, state: &mut BreakerState, admission: Admission, ended: Ended, now: Instant) -> bool {
        if admission.generation != state.generation {
            return false;
        }
        let is_bad = self.trip.is_bad(ended.error.is_some_and(|error| self.failure_on.contains(error)), ended.took);
        match &mut state.phase {
            BreakerPhase::Closed => {
                let trips = self.trip.count(&mut state.trip, is_bad, now);
                if trips {
                    self.open(state, ended.key, now);
                }
                trips
            }
            // Nothing was let through since it opened.
            BreakerPhase::Open { .. } => false,
            BreakerPhase::HalfOpen { succeeded, failed, .. } => {
                *succeeded += u32::from(!is_bad);
                *failed += u32::from(is_bad);
                let probes = if self.half_open == Self::NO_LIMIT { 1 } else { self.half_open };
                match self.trip.verdict(*succeeded, *failed, probes) {
                    Some(true) => self.close(state, now),
                    Some(false) => self.open(state, ended.key, now),
                    None => {}
                }
                matches!(state.phase, BreakerPhase::Open { .. })
            }
        }
    }

    #[inline(never)]
    fn open(&self, state: &mut BreakerState, key: u64, now: Instant) {
        state.openings = state.openings.saturating_add(1);
        let until = now + self.open.wait(state.openings, Span::ZERO, key);
        state.move_to(BreakerPhase::Open { until });
    }

    fn close(&self, state: &mut BreakerState, now: Instant) {
        state.openings = 0;
        state.trip = self.trip.start(now);
        state.move_to(BreakerPhase::Closed);
    }
}

impl BreakerState {
    /// Where it is. An open breaker whose time is over is half-open when it is next asked.
    pub fn phase(&self) -> BreakerPhase {
        self.phase
    }

    fn move_to(&mut self, phase: BreakerPhase) {
        self.phase = phase;
        self.generation = self.generation.wrapping_add(1);
    }
}

#[cfg(test)]
mod tests;
