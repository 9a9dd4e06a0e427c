//! The agenda: what is going to happen, in an exact total order, and the virtual clock.
//!
//! # Order
//!
//! Events happen in the order of time; at one instant faults first, then normal events, then timeouts; among those in
//! the order in which they were scheduled or armed. An entry is one 128-bit integer (time, class, sequence, event), and
//! comparing two entries is comparing two integers. Whatever the structures below do, they only look for the smallest
//! integer.
//!
//! # Three places
//!
//! - The *wheel* takes entries for any later time; see the file `wheel.rs`. Amortised constant time.
//! - The *lane* is a queue for normal events without delay. All of its entries are for the present instant, and they
//!   are made in the order of their sequence, so the queue is sorted. The clock cannot move on before it is empty,
//!   because its head is before every later entry.
//! - The *rings* take timers with a constant delay, one queue for each delay. The clock never goes back, so each is
//!   sorted; see the file `rings.rs`. Constant time to arm, the logarithm of the number of rings to expire.
//!
//! [`Agenda::pop`] takes the smallest of the three heads. That the lane comes after normal events that were scheduled
//! for this instant earlier, and before its timeouts, needs no rule: the integers say so. While the lane holds
//! anything, only entries for this instant can come before it: no timer does, and those of the wheel are in its window,
//! because all entries of one instant are opened together. So most events without delay cost one comparison.
//!
//! # Looking ahead does not move the clock
//!
//! While the wheel's first entry is for 10, a timer may expire at 5, and what it starts may schedule something for 6.
//! To find its first entry the wheel has to open slots, which moves its origin, before which nothing can be inserted.
//! So it opens a slot only if that starts no later than the heads of lane and rings. Whichever entry then is the first,
//! none is before the start of the slot: when callers come to schedule again, the clock is not before the origin.
//!
//! # Allocation
//!
//! The lane, the rings and the chunks of the wheel grow to the most entries that they ever held at once, and no event
//! allocates below that.

mod entry;
mod rings;
mod slots;
mod wheel;

use std::collections::VecDeque;

pub use entry::{Event, Sequence};

use crate::plan::TimeoutId;
use crate::time::{Instant, Span};
use entry::{Class, Entry};
use rings::Rings;
use wheel::Wheel;

/// The events to come of one run, and its clock.
pub struct Agenda {
    now: Instant,
    until: Instant,
    next: Sequence,
    dropped: bool,
    lane: VecDeque<Entry>,
    wheel: Wheel,
    rings: Rings,
    /// The delay of each ring.
    timeouts: Vec<Span>,
}

impl Agenda {
    /// An empty agenda at [`Instant::ZERO`]. Nothing at or after `until`, or [`Instant::LIMIT`] if that is earlier,
    /// ever happens. `timeouts` are the constant delays that [`Agenda::arm`] can be asked for, by [`TimeoutId`].
    pub fn new(until: Instant, timeouts: &[Span]) -> Self {
        Self {
            now: Instant::ZERO,
            until: until.min(Instant::LIMIT),
            next: Sequence::FIRST,
            dropped: false,
            lane: VecDeque::new(),
            wheel: Wheel::new(),
            rings: Rings::new(timeouts.len()),
            timeouts: timeouts.to_vec(),
        }
    }

    /// The present: the instant of the last event that [`Agenda::pop`] has returned.
    #[inline]
    pub fn now(&self) -> Instant {
        self.now
    }

    /// Whether anything was scheduled or armed for the end of the agenda or later, and was left out.
    pub fn dropped(&self) -> bool {
        self.dropped
    }

    /// Whether the 2^42 sequence numbers are used up, but for a reserve that lets whatever the present event schedules
    /// be ordered still. A run has to end then: when the reserve is used up as well, entries share a number, and so
    /// their order at one instant is no longer that in which they were made.
    #[inline]
    pub fn exhausted(&self) -> bool {
        self.next >= Sequence::RESERVE
    }

    /// Schedules a normal event `after` from now. Zero means at this instant, after what is already scheduled there.
    #[inline]
    pub fn schedule(&mut self, after: Span, event: Event) -> Sequence {
        self.schedule_at(self.now + after, event)
    }

    /// Schedules a normal event for the instant `at`, now or later.
    #[inline]
    pub fn schedule_at(&mut self, at: Instant, event: Event) -> Sequence {
        let (sequence, entry) = self.enter(at, Class::Normal, event);
        if let Some(entry) = entry {
            if at == self.now {
                self.lane.push_back(entry);
            } else {
                self.wheel.insert(entry);
            }
        }
        sequence
    }

    /// Schedules a fault transition for the instant `at`, now or later. It comes before everything else that is still
    /// to happen there, but for fault transitions that were scheduled earlier.
    pub fn schedule_fault(&mut self, at: Instant, event: Event) -> Sequence {
        let (sequence, entry) = self.enter(at, Class::Fault, event);
        if let Some(entry) = entry {
            self.wheel.insert(entry);
        }
        sequence
    }

    /// Arms a timer with the constant delay `timeout`. It expires after everything else that happens at its instant,
    /// but for timers that are armed later. It lives as long as the `alive` of [`Agenda::pop`] says so of the event and
    /// the sequence that this returns.
    ///
    /// # Panics
    ///
    /// If `timeout` is none of those that the agenda was made with.
    #[inline]
    pub fn arm(&mut self, timeout: TimeoutId, event: Event) -> Sequence {
        let at = self.now + self.timeouts[timeout.index()];
        let (sequence, entry) = self.enter(at, Class::Timeout, event);
        if let Some(entry) = entry {
            self.rings.push(timeout.index(), entry);
        }
        sequence
    }

    /// Arms a timer for the instant `at`, now or later; for delays that are not constant. Like [`Agenda::arm`]
    /// otherwise.
    #[inline]
    pub fn arm_at(&mut self, at: Instant, event: Event) -> Sequence {
        let (sequence, entry) = self.enter(at, Class::Timeout, event);
        if let Some(entry) = entry {
            self.wheel.insert(entry);
        }
        sequence
    }

    /// Removes the next event and moves the clock to its instant. Timers for which `alive` is false are no events: they
    /// are passed over and move no clock. `None` if nothing is left; the clock stays.
    #[inline]
    pub fn pop(&mut self, alive: impl Fn(Event, Sequence) -> bool) -> Option<(Event, Sequence)> {
        self.pop_ahead(alive, |_| ())
    }

    /// Like [`Agenda::pop`]. `ahead` is told of most normal events some time before they happen, up to a few hundred in
    /// a row: whatever they will need can be fetched into the cache, all at once instead of one after the other. It is
    /// a hint: some are never told, and timers among them may have lost their meaning.
    #[inline]
    pub fn pop_ahead(
        &mut self,
        alive: impl Fn(Event, Sequence) -> bool,
        ahead: impl Fn(Event),
    ) -> Option<(Event, Sequence)> {
        if let Some(&first) = self.lane.front()
            && self.wheel.is_surely_after(first)
        {
            self.lane.pop_front();
            return Some((first.event(), first.sequence()));
        }
        if self.rings.is_crowded() {
            self.rings.compact(&alive);
        }
        loop {
            let in_lane = self.lane.front().copied().unwrap_or(Entry::NEVER);
            let in_rings = self.rings.first();
            let elsewhere = in_lane.min(in_rings);
            let in_wheel = self.wheel.first(elsewhere.at_ns(), &ahead);
            let first = elsewhere.min(in_wheel);
            if first == Entry::NEVER {
                // Timers that were passed over may have moved the origin beyond the clock.
                self.wheel.restart(self.now.as_ns());
                return None;
            }
            let (event, sequence) = (first.event(), first.sequence());
            if first == in_wheel {
                self.wheel.remove_first();
                if first.is_timeout() && !alive(event, sequence) {
                    continue;
                }
            } else if first == in_lane {
                self.lane.pop_front();
            } else {
                self.rings.remove_first();
                if !alive(event, sequence) {
                    continue;
                }
            }
            self.now = Instant::from_ns(first.at_ns());
            return Some((event, sequence));
        }
    }

    /// Whether anything else happens at the present instant. Timers for which `alive` is false do not.
    pub fn is_anything_due(&mut self, alive: impl Fn(Event, Sequence) -> bool) -> bool {
        loop {
            if !self.lane.is_empty() {
                return true;
            }
            let in_rings = self.rings.first();
            let in_wheel = self.wheel.first(self.now.as_ns(), |_| ());
            let first = in_rings.min(in_wheel);
            if first.at_ns() > self.now.as_ns() {
                return false;
            }
            if !first.is_timeout() || alive(first.event(), first.sequence()) {
                return true;
            }
            if first == in_wheel {
                self.wheel.remove_first();
            } else {
                self.rings.remove_first();
            }
        }
    }

    /// Numbers a new entry; there is none at or after the end.
    #[inline]
    fn enter(&mut self, at: Instant, class: Class, event: Event) -> (Sequence, Option<Entry>) {
        debug_assert!(at >= self.now, "nothing can be scheduled for the past");
        let sequence = self.next;
        self.next = sequence.next();
        if at >= self.until {
            self.dropped = true;
            return (sequence, None);
        }
        (sequence, Some(Entry::new(at, class, sequence, event)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number that makes the agenda exhausted is 2^32 before the last one: what the engine schedules before it
    /// looks again still has numbers of its own, and so its order.
    #[test]
    fn running_out_of_numbers_is_seen_in_time() {
        let mut agenda = Agenda::new(Instant::LIMIT, &[]);
        while agenda.next.number() < 10 {
            agenda.schedule(Span::ZERO, Event::new(0, 0));
        }
        assert!(!agenda.exhausted());
        agenda.next = Sequence::RESERVE;
        assert!(agenda.exhausted());
        let after = [2, 1, 0].map(|ns| agenda.schedule(Span::from_ns(ns), Event::new(1, ns as u32)));
        assert!(after.is_sorted_by(|a, b| a < b));
    }
}
