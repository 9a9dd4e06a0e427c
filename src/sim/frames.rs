//! The state of what is in progress: calls on the caller's side, work on the callee's.

use crate::failure::ErrorKind;
use crate::plan::{CallId, ServiceId};
use crate::sim::agenda::Sequence;
use crate::time::{Instant, Span};

/// "No frame": the caller has given up, no attempt is under way, or the service has no servers to tell apart.
pub const NONE: u32 = u32::MAX;

/// Who made a call, in 32 bits: a client, by its number; work of a service, by its frame; or a fan of calls that work
/// has spread, by its frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parent(u32);

/// A [`Parent`], taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Maker {
    /// A client of the group that the call belongs to.
    Client(u32),
    /// Work.
    Work(u32),
    /// A fan.
    Fan(u32),
}

impl Parent {
    const INDEX: u32 = (1 << 28) - 1;
    const WORK: u32 = 1 << 28;
    const FAN: u32 = 2 << 28;

    /// A client, by its number in its group.
    pub const fn client(number: u32) -> Self {
        Self(number)
    }

    /// Work.
    pub const fn work(index: u32) -> Self {
        Self(Self::WORK | index)
    }

    /// A fan.
    pub const fn fan(index: u32) -> Self {
        Self(Self::FAN | index)
    }

    /// Which of the three it is.
    #[inline]
    pub const fn maker(self) -> Maker {
        let index = self.0 & Self::INDEX;
        match self.0 & !Self::INDEX {
            Self::WORK => Maker::Work(index),
            Self::FAN => Maker::Fan(index),
            _ => Maker::Client(index),
        }
    }
}

/// A call in progress: the caller's side, over all of its attempts and waits.
#[derive(Debug)]
pub struct CallFrame {
    /// Its key.
    pub key: u64,
    /// When it began.
    pub start: Instant,
    /// The timer of its attempt, or the end of its wait; any other is stale.
    pub armed: Sequence,
    /// Who made it.
    pub parent: Parent,
    /// Which call of the plan.
    pub call: CallId,
    /// Attempts made so far.
    pub attempt: u32,
    /// The work of the attempt that is under way, or [`NONE`].
    pub work: u32,
}

/// What is kept of a call beside its frame, where pools, balancers, guards and hedges ask for it.
#[derive(Clone, Copy, Debug)]
pub struct CallExtra {
    /// When the clock of its attempt started.
    pub asked: Instant,
    /// The server, from 0, that one of its attempts reached last while it was waited for, or [`NONE`].
    pub server: u32,
    /// Which copy of its call it is.
    pub copy: u32,
    /// Whether it has sent an attempt.
    pub has_sent: bool,
    /// Whether it waits for a slot.
    pub is_waiting: bool,
}

impl CallExtra {
    /// That of a call that has just begun.
    pub const fn of_copy(copy: u32) -> Self {
        Self { asked: Instant::ZERO, server: NONE, copy, has_sent: false, is_waiting: false }
    }
}

/// Where an attempt is, in the order in which it gets there; not all do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// It will never arrive.
    Lost,
    /// On its way to the service.
    Travelling,
    /// Let in, and waiting for its turn.
    Queued,
    /// A fault will answer it after a delay.
    Failing,
    /// It has a worker, and waits for what another does that is about the same.
    Awaiting,
    /// In service.
    Serving,
    /// Its own calls run.
    Calling,
    /// The service is done with it; the answer is on its way.
    Answered,
    /// The service is done with it, but the answer was lost.
    Muted,
    /// The answer has reached the caller, in time or late, or nobody waits for the one that was lost.
    Delivered,
    /// The service has ended its work on it; no answer comes.
    Cancelled,
    /// The frame has been given back.
    Free,
}

/// An attempt on its way to a service, at it, or on its way back.
///
/// The frame is kept until its answer has reached the caller and the last call made by it has ended, whichever is
/// later.
#[derive(Debug)]
pub struct WorkFrame {
    /// Its key.
    pub key: u64,
    /// When it arrived at the service.
    pub arrived: Instant,
    /// The call frame that waits for it, or [`NONE`] if the caller has given up.
    pub caller: u32,
    /// Which call of the plan it is an attempt of.
    pub call: CallId,
    /// The service that it is sent to: the target of the call.
    pub service: ServiceId,
    /// The server that it is at, counted through all services whose servers are told apart; else [`NONE`].
    pub server: u32,
    /// Steps begun so far; at most 1,000.
    pub steps: u16,
    /// Calls of the step that runs which have not settled; at most 1,000.
    pub unsettled: u16,
    /// Calls and fans made by it that have not ended.
    pub children: u32,
    /// Whether calls of the step are still to begin.
    pub is_beginning: bool,
    /// Whether every attempt on the way to it was the first.
    pub is_original: bool,
    /// Whether it is a retry of its own call.
    pub is_retry: bool,
    /// Whether it is a copy of its attempt, sent beside it.
    pub is_hedge: bool,
    /// Whether it was given up without its service hearing of that.
    pub is_forgotten: bool,
    /// Where it is.
    pub phase: Phase,
    /// Whether an optional call beneath it failed.
    pub is_degraded: bool,
    /// The error to answer with; none for success.
    pub error: Option<ErrorKind>,
}

impl WorkFrame {
    /// Whether the service is done with it.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.phase >= Phase::Answered
    }
}

/// What is kept of an attempt beside its frame, where the servers of its target are told apart.
#[derive(Clone, Copy, Debug)]
pub struct Visit {
    /// After this instant it is of no use to its caller, as far as the queue knows.
    pub deadline: Instant,
    /// When a worker took it up.
    pub began: Instant,
    /// From when on its service goes on undisturbed, as far as is known.
    pub resumed: Instant,
    /// How long its service takes if nothing disturbs it.
    pub takes: Span,
    /// The server, from 0, that it is to keep away from, or [`NONE`].
    pub avoid: u32,
    /// Which copy of its call it belongs to.
    pub copy: u32,
}

/// A call of a step that is more than one call: copies, or a call and its fallback.
#[derive(Debug)]
pub struct Fan {
    /// The work that made it.
    pub work: u32,
    /// Which call of the plan its copies are; fallbacks stand in for them.
    pub call: CallId,
    /// Copies that have succeeded.
    pub succeeded: u32,
    /// Copies that have failed.
    pub failed: u32,
    /// Copies, or the fallbacks in their place, that have not ended; one more while copies begin, so that the frame
    /// lasts.
    pub live: u32,
    /// Whether copies are still to begin.
    pub is_beginning: bool,
    /// Whether nobody waits for it any more.
    pub is_settled: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frames are what memory goes to: 10^7 clients have as many calls and pieces of work.
    #[test]
    fn frames_stay_small() {
        assert_eq!((size_of::<CallFrame>(), size_of::<WorkFrame>(), size_of::<Visit>()), (40, 48, 40));
    }
}
