//! What is still to happen, in the order in which it will.

use std::collections::BTreeMap;

use stormsim::plan::{FaultId, GroupId};
use stormsim::time::Instant;

use super::record::Reply;

/// What comes first at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// A fault begins or ends.
    FaultTransition,
    /// Everything else.
    Normal,
    /// A caller's patience ends.
    Timeout,
}

/// The place of an event in the total order of all events: by instant, then class, then the order of scheduling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slot {
    /// When.
    pub at: Instant,
    /// What goes first at that instant.
    pub class: Class,
    sequence: u64,
}

/// An event. Calls, attempts and works are meant by their position in the record.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// A window of a fault begins.
    WindowBegins {
        /// The fault.
        fault: FaultId,
        /// When the window ends; [`Instant::LIMIT`] if it does not.
        until: Instant,
    },
    /// A window of a fault ends.
    WindowEnds {
        /// The fault.
        fault: FaultId,
    },
    /// The next request of an open group begins.
    Arrival(GroupId),
    /// The next request of a client that has arrivals of its own begins.
    ClientArrival {
        /// The client's group.
        group: GroupId,
        /// The client's number within it.
        client: u32,
    },
    /// An attempt reaches its target: it has been on the network.
    Arrive {
        /// The attempt.
        attempt: usize,
    },
    /// The service time of a work is over, or the delay of the fault that struck it.
    Served {
        /// The work.
        work: usize,
    },
    /// The answer to an attempt reaches its caller: it has been on the network.
    Answer {
        /// The attempt.
        attempt: usize,
        /// The answer.
        reply: Reply,
    },
    /// The caller of an attempt waits no longer.
    Timer {
        /// The attempt.
        attempt: usize,
    },
    /// The next copy of an attempt is due.
    HedgeTimer {
        /// Its first copy.
        attempt: usize,
    },
    /// The connection of a copy that finds nobody counts as failed.
    CopyTimer {
        /// The copy.
        attempt: usize,
    },
    /// A call is over.
    EndTimer {
        /// The call.
        call: usize,
    },
    /// The wait before the next attempt of a call is over.
    Wake {
        /// The call.
        call: usize,
    },
}

impl Event {
    /// Whether somebody's patience ends.
    pub fn is_timeout(&self) -> bool {
        matches!(self, Self::Timer { .. } | Self::CopyTimer { .. } | Self::EndTimer { .. })
    }
}

/// All events to come.
#[derive(Default)]
pub struct Agenda {
    events: BTreeMap<Slot, Event>,
    scheduled: u64,
}

impl Agenda {
    /// Puts an event into the order and says where.
    pub fn schedule(&mut self, at: Instant, class: Class, event: Event) -> Slot {
        let slot = Slot { at, class, sequence: self.scheduled };
        self.scheduled += 1;
        self.events.insert(slot, event);
        slot
    }

    /// Takes an event out again: it will not happen.
    pub fn cancel(&mut self, slot: Slot) {
        self.events.remove(&slot).expect("only what is still to happen is cancelled");
    }

    /// When the next event happens.
    pub fn next_at(&self) -> Option<Instant> {
        self.events.first_key_value().map(|(slot, _)| slot.at)
    }

    /// Whether anything happens at this instant still.
    pub fn is_anything_due(&self, now: Instant) -> bool {
        self.next_at() == Some(now)
    }

    /// Whether nothing but fault transitions is left.
    pub fn only_fault_transitions(&self) -> bool {
        self.events.keys().all(|slot| slot.class == Class::FaultTransition)
    }

    /// Takes the next event.
    pub fn pop(&mut self) -> Option<(Instant, Event)> {
        self.events.pop_first().map(|(slot, event)| (slot.at, event))
    }
}
