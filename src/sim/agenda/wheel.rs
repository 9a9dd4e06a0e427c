//! A monotone radix wheel: entries wait in slots by the highest digit in which their time differs from the origin.
//!
//! Times are read as nine digits of six bits. An entry waits at the level of the highest digit in which it differs from
//! the *origin*, in the slot of that digit. So the lowest slot of the lowest level holds the earliest entries, and
//! whatever the time scale of a simulation is, an entry is moved at most once per level.
//!
//! The earliest slot covers the times [start, end). It is *opened* by moving the origin to its start. If it holds few
//! entries they are sorted and become the *window*, from which entries are served; otherwise they are spread over the
//! levels below and the search goes on there. Entries that arrive later for a time before the end of the window are
//! inserted into it; should it grow too large that way, it is spread over the levels below as well. A slot of level 0
//! is a single instant: it becomes the window however large it is, and what arrives later for this instant belongs near
//! one of the window's two ends.
//!
//! Cost per entry: amortised constant for arriving and for each of at most nine moves down, and the share of one sort
//! of few entries (of one instant's entries in a slot of level 0, which lie there in order but for their classes).

use std::collections::VecDeque;

use super::entry::{Entry, Event};
use super::slots::{DIGIT_BITS, Place, Slots};

/// Up to this many entries a slot is sorted rather than spread. Between 64 and 512 the time per operation hardly
/// changes.
const FEW: usize = 256;
/// From this many entries on, a window is spread. Twice [`FEW`], so that the entries which have arrived since it was
/// opened pay for that.
const MANY: usize = 2 * FEW;

pub(super) struct Wheel {
    /// No later than the clock whenever entries can arrive: levels are relative to it.
    origin_ns: u64,
    /// The end of the window: entries before it belong there, all others into the slots.
    end_ns: u64,
    /// No entry in the slots is earlier.
    slots_from_ns: u64,
    /// Sorted, the earliest in front.
    window: VecDeque<Entry>,
    slots: Slots,
}

impl Wheel {
    pub fn new() -> Self {
        Self {
            origin_ns: 0,
            end_ns: 0,
            slots_from_ns: u64::MAX,
            window: VecDeque::with_capacity(2 * MANY),
            slots: Slots::new(),
        }
    }

    /// Takes an entry, not before the clock.
    #[inline]
    pub fn insert(&mut self, entry: Entry) {
        if entry.at_ns() < self.end_ns {
            self.insert_into_window(entry);
        } else {
            self.slots_from_ns = self.slots_from_ns.min(entry.at_ns());
            self.slots.push(place(self.origin_ns, entry), entry);
        }
    }

    /// The first entry, if it happens at or before `limit_ns` or is at hand anyway; else [`Entry::NEVER`]. The origin
    /// does not go past `limit_ns`: nothing can be scheduled before it if the clock moves to the first entry or to
    /// `limit_ns`, whichever is earlier. If a slot had to be opened for that, `ahead` is told what lies in it.
    #[inline]
    pub fn first(&mut self, limit_ns: u64, ahead: impl Fn(Event)) -> Entry {
        if self.window.is_empty() {
            self.open(limit_ns);
            self.window.iter().for_each(|entry| ahead(entry.event()));
        }
        self.window.front().copied().unwrap_or(Entry::NEVER)
    }

    /// Whether it takes one look to see that all entries come after `other`: those of the window come before those of
    /// the slots, and these are not earlier than is known.
    #[inline]
    pub fn is_surely_after(&self, other: Entry) -> bool {
        match self.window.front() {
            Some(&first) => first > other,
            None => self.slots_from_ns > other.at_ns(),
        }
    }

    /// Removes what [`Wheel::first`] has returned.
    #[inline]
    pub fn remove_first(&mut self) {
        self.window.pop_front();
    }

    /// Sets the origin of an empty wheel back to the clock.
    pub fn restart(&mut self, now_ns: u64) {
        debug_assert!(self.window.is_empty() && self.slots.first().is_none(), "only an empty wheel can go back");
        self.origin_ns = now_ns;
        self.end_ns = now_ns;
    }

    /// Opens the earliest slot, and those within it, until there is a window or the next slot starts after `limit_ns`.
    fn open(&mut self, limit_ns: u64) {
        while let Some(slot) = self.slots.first() {
            let shift = slot.level * DIGIT_BITS;
            let above = self.origin_ns >> (shift + DIGIT_BITS) << (shift + DIGIT_BITS);
            let start_ns = above | u64::from(slot.digit) << shift;
            self.slots_from_ns = start_ns;
            if start_ns > limit_ns {
                return;
            }
            self.origin_ns = start_ns;
            if slot.level == 0 || self.slots.len(slot) <= FEW {
                self.window.clear();
                self.slots.drain_into(slot, &mut self.window);
                self.window.make_contiguous().sort_unstable();
                self.end_ns = start_ns + (1 << shift);
                self.slots_from_ns = self.end_ns;
                return;
            }
            self.slots.spread(slot, |entry| place(start_ns, entry));
        }
    }

    fn insert_into_window(&mut self, entry: Entry) {
        let at = self.window.partition_point(|other| *other < entry);
        // Moves the shorter side.
        self.window.insert(at, entry);
        let one_instant = self.end_ns - self.origin_ns == 1;
        if self.window.len() >= MANY && !one_instant {
            self.spread_window();
        }
    }

    /// Gives the entries of the window back to the slots. They go below the level that the window came from: its slots
    /// there are empty, because what belongs there went into the window.
    #[cold]
    fn spread_window(&mut self) {
        self.end_ns = self.origin_ns;
        self.slots_from_ns = self.origin_ns;
        for entry in self.window.drain(..) {
            self.slots.push(place(self.origin_ns, entry), entry);
        }
    }
}

/// Where an entry waits, as seen from the origin.
#[inline]
fn place(origin_ns: u64, entry: Entry) -> Place {
    let at_ns = entry.at_ns();
    // The lowest bit makes no difference to the level, and gives an entry at the origin one.
    let level = ((at_ns ^ origin_ns) | 1).ilog2() / DIGIT_BITS;
    let digit = (at_ns >> (level * DIGIT_BITS)) as u32 & ((1 << DIGIT_BITS) - 1);
    Place { level, digit }
}

#[cfg(test)]
mod tests {
    use super::super::entry::{Class, Sequence};
    use super::*;
    use crate::time::Instant;

    fn entry(ns: u64) -> Entry {
        Entry::new(Instant::from_ns(ns), Class::Normal, Sequence::FIRST, Event::new(0, 0))
    }

    /// A window that was opened for two entries takes 2^14 more, scattered over it. It never holds as many as [`MANY`],
    /// which bounds what one insertion can move; and what was given back to the slots comes out in order.
    #[test]
    fn a_window_stays_small() {
        const COUNT: u64 = 1 << 14;
        let mut wheel = Wheel::new();
        let start_ns = 1 << 45;
        wheel.insert(entry(start_ns));
        wheel.insert(entry(start_ns + COUNT));
        assert_eq!(wheel.first(u64::MAX, |_| ()), entry(start_ns));
        for n in 1..COUNT {
            // An odd factor permutes the numbers below a power of two, and leaves 0 alone.
            wheel.insert(entry(start_ns + n * 0x9e37_79b1 % COUNT));
            assert!(wheel.window.len() < MANY);
        }
        for ns in start_ns..=start_ns + COUNT {
            assert_eq!(wheel.first(u64::MAX, |_| ()), entry(ns));
            wheel.remove_first();
        }
        assert_eq!(wheel.first(u64::MAX, |_| ()), Entry::NEVER);
    }

    /// At each level: the first slot starts at 64^level and holds one entry, a little later. With a limit just before
    /// the start nothing is opened and the origin stays; with the start as the limit the entry is found.
    #[test]
    fn a_slot_is_opened_only_from_its_start_on() {
        for level in 0..8 {
            let start_ns = 1 << (level * DIGIT_BITS);
            let first = entry(start_ns + start_ns / 2);
            let mut wheel = Wheel::new();
            wheel.insert(first);
            assert_eq!(wheel.first(start_ns - 1, |_| ()), Entry::NEVER);
            assert_eq!((wheel.origin_ns, wheel.end_ns), (0, 0));
            assert_eq!(wheel.first(start_ns, |_| ()), first);
            assert_eq!(wheel.origin_ns, start_ns);
        }
    }
}
