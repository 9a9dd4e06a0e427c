//! The store of the wheel: first-in first-out lists of entries, one per slot, in chunks from one pool.
//!
//! A slot that has emptied returns its chunks, so that the pool is as large as the most entries that ever waited at
//! once, wherever they waited; nothing is allocated below that mark and nothing is moved when a list grows.

use std::collections::VecDeque;

use super::entry::Entry;

/// How many bits of a time one level tells apart.
pub(super) const DIGIT_BITS: u32 = 6;
/// Levels enough for the 52 bits of a time.
const LEVELS: usize = 9;
const SLOTS_PER_LEVEL: usize = 1 << DIGIT_BITS;

/// Entries in a chunk: 2 KiB. Long lists should be long runs in memory, and still one chunk for every slot is little
/// over a megabyte.
const CHUNK: usize = 128;
/// Ends the list of free chunks.
const NO_CHUNK: u32 = u32::MAX;

/// Where a slot is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The position of the digit, from the lowest.
    pub level: u32,
    /// The digit.
    pub digit: u32,
}

impl Place {
    const fn index(self) -> usize {
        self.level as usize * SLOTS_PER_LEVEL + self.digit as usize
    }
}

/// One slot's list. Without entries the chunk numbers mean nothing.
#[derive(Clone, Copy, Default)]
struct List {
    first: u32,
    last: u32,
    len: u32,
}

pub(super) struct Slots {
    lists: Vec<List>,
    /// For each level, which of its slots hold entries: bit n is digit n.
    occupied: [u64; LEVELS],
    /// Which levels hold entries.
    levels: u32,
    chunks: Vec<[Entry; CHUNK]>,
    /// For each chunk the one after it, in its list or among the free ones.
    next: Vec<u32>,
    free: u32,
}

impl Slots {
    pub fn new() -> Self {
        Self {
            lists: vec![List::default(); LEVELS * SLOTS_PER_LEVEL],
            occupied: [0; LEVELS],
            levels: 0,
            chunks: Vec::new(),
            next: Vec::new(),
            free: NO_CHUNK,
        }
    }

    /// The lowest digit of the lowest level that holds entries.
    #[inline]
    pub fn first(&self) -> Option<Place> {
        if self.levels == 0 {
            return None;
        }
        let level = self.levels.trailing_zeros();
        Some(Place { level, digit: self.occupied[level as usize].trailing_zeros() })
    }

    /// How many entries a slot holds.
    pub fn len(&self, place: Place) -> usize {
        self.lists[place.index()].len as usize
    }

    /// Appends an entry to a slot.
    #[inline]
    pub fn push(&mut self, place: Place, entry: Entry) {
        let mut list = self.lists[place.index()];
        let at = list.len as usize % CHUNK;
        if at == 0 {
            let chunk = self.claim();
            if list.len == 0 {
                list.first = chunk;
                self.occupied[place.level as usize] |= 1 << place.digit;
                self.levels |= 1 << place.level;
            } else {
                self.next[list.last as usize] = chunk;
            }
            list.last = chunk;
        }
        self.chunks[list.last as usize][at] = entry;
        list.len += 1;
        self.lists[place.index()] = list;
    }

    /// Moves the entries of a slot, in order, to the end of `target`.
    pub fn drain_into(&mut self, place: Place, target: &mut VecDeque<Entry>) {
        let List { first, len, .. } = self.empty(place);
        let mut chunk = first;
        let mut left = len as usize;
        while left > 0 {
            let taken = left.min(CHUNK);
            target.extend(&self.chunks[chunk as usize][..taken]);
            left -= taken;
            chunk = self.release(chunk);
        }
    }

    /// Moves the entries of a slot, in order, to the ends of the slots that `place_of` names: others than this one.
    pub fn spread(&mut self, place: Place, place_of: impl Fn(Entry) -> Place) {
        let List { first, len, .. } = self.empty(place);
        let mut chunk = first;
        let mut left = len as usize;
        while left > 0 {
            let taken = left.min(CHUNK);
            for at in 0..taken {
                let entry = self.chunks[chunk as usize][at];
                self.push(place_of(entry), entry);
            }
            left -= taken;
            chunk = self.release(chunk);
        }
    }

    /// Marks a slot as empty; its former list is now the caller's to release.
    fn empty(&mut self, place: Place) -> List {
        let level = place.level as usize;
        self.occupied[level] &= !(1 << place.digit);
        if self.occupied[level] == 0 {
            self.levels &= !(1 << place.level);
        }
        std::mem::take(&mut self.lists[place.index()])
    }

    /// Takes a chunk from the free ones, or makes one.
    #[inline]
    fn claim(&mut self) -> u32 {
        if self.free == NO_CHUNK {
            return self.grow();
        }
        let chunk = self.free;
        self.free = self.next[chunk as usize];
        chunk
    }

    #[cold]
    fn grow(&mut self) -> u32 {
        let chunk = self.chunks.len() as u32;
        self.chunks.push([Entry::NEVER; CHUNK]);
        self.next.push(NO_CHUNK);
        chunk
    }

    /// Returns a chunk to the free ones; tells which one came after it.
    #[inline]
    fn release(&mut self, chunk: u32) -> u32 {
        std::mem::replace(&mut self.next[chunk as usize], std::mem::replace(&mut self.free, chunk))
    }
}

#[cfg(test)]
mod tests {
    use super::super::entry::{Class, Event, Sequence};
    use super::*;
    use crate::time::Instant;

    fn entry(ns: u64) -> Entry {
        Entry::new(Instant::from_ns(ns), Class::Normal, Sequence::FIRST, Event::new(0, 0))
    }

    fn drained(slots: &mut Slots, place: Place) -> Vec<u64> {
        let mut target = VecDeque::new();
        slots.drain_into(place, &mut target);
        target.into_iter().map(Entry::at_ns).collect()
    }

    /// Two lists grow in turns through several chunks, with lengths on both sides of a full chunk: a link to the wrong
    /// chunk or a wrong count would mix or cut them.
    #[test]
    fn lists_keep_their_entries_and_their_order() {
        let (a, b) = (Place { level: 0, digit: 63 }, Place { level: 8, digit: 0 });
        for len in [1, CHUNK as u64 - 1, CHUNK as u64, CHUNK as u64 + 1, 5 * CHUNK as u64] {
            let mut slots = Slots::new();
            for ns in 0..len {
                slots.push(a, entry(ns));
                slots.push(b, entry(1000 + ns));
            }
            assert_eq!((slots.len(a), slots.len(b)), (len as usize, len as usize));
            assert_eq!(slots.first(), Some(a));
            assert_eq!(drained(&mut slots, a), Vec::from_iter(0..len));
            assert_eq!(slots.first(), Some(b));
            assert_eq!(drained(&mut slots, b), Vec::from_iter(1000..1000 + len));
            assert_eq!(slots.first(), None);
        }
    }

    /// The pool is as large after 100 rounds through changing slots as after the first: nothing is lost, and nothing is
    /// allocated in the steady state.
    #[test]
    fn chunks_are_used_again() {
        let mut slots = Slots::new();
        for round in 0..100 {
            let (from, to) = (Place { level: 3, digit: round % 64 }, Place { level: 2, digit: round * 7 % 64 });
            for ns in 0..1000 {
                slots.push(from, entry(ns));
            }
            slots.spread(from, |_| to);
            assert_eq!(drained(&mut slots, to), Vec::from_iter(0..1000));
            // While the entries move, one chunk more than they fill is in use.
            assert_eq!(slots.chunks.len(), 1000_usize.div_ceil(CHUNK) + 1);
        }
    }
}
