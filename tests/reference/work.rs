//! What a record tells of the attempts that arrived, as their services see them.

use stormsim::failure::{ErrorKind, Refusal};
use stormsim::plan::ServiceId;
use stormsim::time::{Instant, Span};

use super::agenda::Slot;
use super::record::Moment;

/// One attempt that arrived, as its service sees it.
pub struct Work {
    /// The attempt, by position in the record. Its key is the work's.
    pub attempt: usize,
    /// Where.
    pub service: ServiceId,
    /// Which server of the service; none if it was given up before it arrived and nobody looked at it.
    pub server: Option<u32>,
    /// When it arrived.
    pub arrived: Moment,
    /// When it began to wait for a worker, and when it ceased to, if it did.
    pub queued: Option<(Moment, Option<Moment>)>,
    /// When a worker took it up, if one did.
    pub began: Option<Moment>,
    /// When that worker was free again.
    pub freed: Option<Moment>,
    /// When the store of the service knew about it, if it did, and what.
    pub recognised: Option<(Moment, Known)>,
    /// The key under which the store has noted that it does, or did, its operation. It is taken away again when the
    /// work is cancelled, or reset by a crash.
    pub does: Option<u64>,
    /// When its side effect took place, if it did.
    pub executed: Option<Instant>,
    /// The error that a fault has for it: a failure that struck it, or a crash that ended it.
    pub struck: Option<Struck>,
    /// How long its service takes; zero before a worker took it up.
    pub service_time: Span,
    /// The end of the last pause that has begun since **Served** was scheduled, if one has.
    pub begins_anew: Option<Instant>,
    /// From when on it is worked on without a pause, as was known when that was scheduled.
    pub resumed: Option<Instant>,
    /// **Served**, while that is to come.
    pub served: Option<Slot>,
    /// Its service, when that was over or was cut short.
    pub service_spent: Option<Spent>,
    /// The calls of each step that it began.
    pub steps: Vec<Vec<StepCall>>,
    /// Whether an optional call beneath it failed.
    pub degraded: bool,
    /// How the service was done with it, if it was.
    pub ended: Option<(Moment, WorkEnd)>,
}

impl Work {
    /// Whether it waits for a worker.
    pub fn is_queued(&self) -> bool {
        matches!(self.queued, Some((_, None)))
    }

    /// Whether a worker works on it, and not only waits for its calls.
    pub fn is_in_service(&self) -> bool {
        self.began.is_some() && self.served.is_some()
    }

    /// Whether it has a worker.
    pub fn has_worker(&self) -> bool {
        self.began.is_some() && self.freed.is_none()
    }
}

/// What a store knows about an attempt.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Known {
    /// The key was that of another operation.
    OtherOperation,
    /// The operation is being done by this work, by position in the record.
    BeingDone(usize),
    /// This one has done it.
    Done(usize),
}

/// A failure that a work is going to be answered with.
#[derive(Clone, Copy)]
pub struct Struck {
    /// The error.
    pub error: ErrorKind,
    /// When it says that it is worth trying again, if it does.
    pub retry_after: Option<Span>,
}

/// Service time that was worked off.
#[derive(Clone, Copy)]
pub struct Spent {
    /// Until when.
    pub until: Instant,
    /// How long.
    pub took: Span,
    /// Whether a client still awaited it then.
    pub awaited: bool,
}

/// One call of a step that a work began.
#[derive(Clone, Copy)]
pub struct StepCall {
    /// Copies to make; none if the call is not made.
    pub copies: u32,
    /// Copies made so far.
    pub begun: u32,
    /// Copies that succeeded.
    pub succeeded: u32,
    /// Copies that failed, fallbacks and all.
    pub failed: u32,
}

/// How a service was done with a work.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum WorkEnd {
    /// The work is done.
    Success,
    /// The work failed, or a fault had it fail.
    Error(ErrorKind),
    /// Turned away at the door, by this.
    TurnedAway(Refusal),
    /// Discarded when its turn came.
    Dropped,
    /// Its caller had given up.
    Cancelled,
}

impl WorkEnd {
    /// As the caller sees it: to it, being turned away or dropped is an error like any other. Of what was cancelled it
    /// sees nothing.
    pub fn answer(self) -> Option<Result<(), ErrorKind>> {
        match self {
            Self::Success => Some(Ok(())),
            Self::Error(kind) => Some(Err(kind)),
            Self::TurnedAway(Refusal::Fault) => Some(Err(ErrorKind::Refused)),
            Self::TurnedAway(Refusal::Limiter) => Some(Err(ErrorKind::RateLimited)),
            Self::TurnedAway(Refusal::InFlight | Refusal::Queue) | Self::Dropped => Some(Err(ErrorKind::Overloaded)),
            Self::Cancelled => None,
        }
    }
}
