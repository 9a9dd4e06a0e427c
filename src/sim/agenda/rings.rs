//! Timers with constant delays: one first-in first-out ring per delay.
//!
//! The clock does not go back, so with one delay the timers of a ring expire in the order in which they were armed. A
//! tree of minima over the heads of the rings finds the earliest one: changing a head costs the logarithm of the number
//! of rings, and arming behind a head, which is the common case, costs nothing but the push.
//!
//! Nearly all timers die before they expire. A dead one stays where it is until it reaches the head; a ring of which
//! half is dead is compacted, so that looking at an entry there is paid for by one that died.

use std::collections::VecDeque;

use super::entry::{Entry, Event, Sequence};

/// Rings with fewer entries are not worth compacting.
const COMPACTED_FROM: usize = 64;

#[derive(Default)]
struct Ring {
    entries: VecDeque<Entry>,
    /// How many of them have died, as far as told.
    dead: usize,
    /// Whether it waits to be compacted.
    crowded: bool,
}

pub(super) struct Rings {
    rings: Vec<Ring>,
    /// A complete binary tree: node 1 is the root, the children of node n are 2n and 2n + 1. A leaf is the head of a
    /// ring or [`Entry::NEVER`], an inner node the smaller of its children.
    heads: Vec<Entry>,
    /// The first leaf.
    leaves: usize,
    crowded: Vec<usize>,
}

impl Rings {
    pub fn new(count: usize) -> Self {
        let leaves = count.next_power_of_two();
        Self {
            rings: (0..count).map(|_| Ring::default()).collect(),
            heads: vec![Entry::NEVER; 2 * leaves],
            leaves,
            crowded: Vec::new(),
        }
    }

    /// The earliest entry of all rings, dead or alive; without one [`Entry::NEVER`].
    #[inline]
    pub fn first(&self) -> Entry {
        self.heads[1]
    }

    /// Appends an entry to a ring: greater than all that ring has held.
    #[inline]
    pub fn push(&mut self, ring: usize, entry: Entry) {
        let entries = &mut self.rings[ring].entries;
        debug_assert!(entries.back().is_none_or(|&last| last < entry), "a constant delay keeps the order");
        entries.push_back(entry);
        if entries.len() == 1 {
            self.set_head(ring, entry);
        }
    }

    /// Removes the earliest entry, of which there must be one, and returns its ring.
    pub fn remove_first(&mut self) -> usize {
        let mut node = 1;
        while node < self.leaves {
            let left = 2 * node;
            node = left + usize::from(self.heads[left] != self.heads[node]);
        }
        let ring = node - self.leaves;
        self.rings[ring].entries.pop_front();
        self.refresh_head(ring);
        ring
    }

    /// Takes note that an entry of a ring has died.
    #[inline]
    pub fn count_dead(&mut self, index: usize) {
        let ring = &mut self.rings[index];
        ring.dead += 1;
        if 2 * ring.dead > ring.entries.len().max(COMPACTED_FROM) && !ring.crowded {
            ring.crowded = true;
            self.crowded.push(index);
        }
    }

    /// Takes note that a dead entry was removed from a ring.
    #[inline]
    pub fn count_removed(&mut self, ring: usize) {
        let dead = &mut self.rings[ring].dead;
        *dead = dead.saturating_sub(1);
    }

    /// Whether a ring waits to be compacted.
    #[inline]
    pub fn is_crowded(&self) -> bool {
        !self.crowded.is_empty()
    }

    /// Removes the dead entries from the rings that are half dead. The others keep their order.
    #[cold]
    pub fn compact(&mut self, alive: impl Fn(Event, Sequence) -> bool) {
        while let Some(index) = self.crowded.pop() {
            let ring = &mut self.rings[index];
            ring.entries.retain(|entry| alive(entry.event(), entry.sequence()));
            ring.dead = 0;
            ring.crowded = false;
            self.refresh_head(index);
        }
    }

    #[inline]
    fn refresh_head(&mut self, ring: usize) {
        let head = self.rings[ring].entries.front().copied().unwrap_or(Entry::NEVER);
        self.set_head(ring, head);
    }

    #[inline]
    fn set_head(&mut self, ring: usize, head: Entry) {
        let mut node = self.leaves + ring;
        self.heads[node] = head;
        while node > 1 {
            node /= 2;
            let smaller = self.heads[2 * node].min(self.heads[2 * node + 1]);
            if self.heads[node] == smaller {
                return;
            }
            self.heads[node] = smaller;
        }
    }
}
