//! Timers with constant delays: one first-in first-out ring per delay.
//!
//! The clock does not go back, so with one delay the timers of a ring expire in the order in which they were armed. A
//! tree of minima over the heads of the rings finds the earliest one: changing a head costs the logarithm of the number
//! of rings, and arming behind a head, which is the common case, costs nothing but the push.
//!
//! Nearly all timers die before they expire. A dead one stays where it is until it reaches the head, or until the ring
//! has doubled since it was last compacted: then the dead are taken out. So a ring is never longer than twice the
//! timers that lived when it was last looked through (or [`COMPACTED_FROM`]), and each look at an entry is paid for by
//! one push.

use std::collections::VecDeque;

use super::entry::{Entry, Event, Sequence};

/// Rings with fewer entries are not worth compacting.
const COMPACTED_FROM: usize = 1024;

struct Ring {
    entries: VecDeque<Entry>,
    /// The length at which it is compacted.
    compacted_at: usize,
}

pub(super) struct Rings {
    rings: Vec<Ring>,
    /// A complete binary tree: node 1 is the root, the children of node n are 2n and 2n + 1. A leaf is the head of a
    /// ring or [`Entry::NEVER`], an inner node the smaller of its children.
    heads: Vec<Entry>,
    /// The first leaf.
    leaves: usize,
    /// A ring that waits to be compacted.
    crowded: Option<usize>,
}

impl Rings {
    pub fn new(count: usize) -> Self {
        let leaves = count.next_power_of_two();
        Self {
            rings: (0..count).map(|_| Ring { entries: VecDeque::new(), compacted_at: COMPACTED_FROM }).collect(),
            heads: vec![Entry::NEVER; 2 * leaves],
            leaves,
            crowded: None,
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
        let Ring { entries, compacted_at } = &mut self.rings[ring];
        debug_assert!(entries.back().is_none_or(|&last| last < entry), "a constant delay keeps the order");
        entries.push_back(entry);
        if entries.len() >= *compacted_at {
            self.crowded = Some(ring);
        }
        if entries.len() == 1 {
            self.set_head(ring, entry);
        }
    }

    /// Removes the earliest entry, of which there must be one.
    pub fn remove_first(&mut self) {
        let mut node = 1;
        while node < self.leaves {
            let left = 2 * node;
            node = left + usize::from(self.heads[left] != self.heads[node]);
        }
        let ring = node - self.leaves;
        self.rings[ring].entries.pop_front();
        self.refresh_head(ring);
    }

    /// Whether a ring waits to be compacted.
    #[inline]
    pub fn is_crowded(&self) -> bool {
        self.crowded.is_some()
    }

    /// Removes the dead entries from a ring that has doubled. The others keep their order.
    #[cold]
    pub fn compact(&mut self, alive: impl Fn(Event, Sequence) -> bool) {
        let Some(index) = self.crowded.take() else { return };
        let ring = &mut self.rings[index];
        ring.entries.retain(|entry| alive(entry.event(), entry.sequence()));
        ring.compacted_at = (2 * ring.entries.len()).max(COMPACTED_FROM);
        self.refresh_head(index);
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
