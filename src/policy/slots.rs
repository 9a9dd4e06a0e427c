//! Sums over the last slots of time, as rolling windows are kept in practice.

use crate::time::{Instant, Span};

/// The most slots.
const SLOTS: usize = 11;

/// The slots of a window of which the current one is a part: everything counts for nine to ten tenths of it.
pub const TEN: u8 = 10;

/// `SUMS` sums, each over the current slot and those before it. The slots begin at multiples of their width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slots<const SUMS: usize> {
    /// The number of the current slot, from the beginning of the run.
    number: u64,
    sums: [i64; SUMS],
    by_slot: [[i64; SUMS]; SLOTS],
    /// Which of them is the current one.
    current: u8,
}

impl<const SUMS: usize> Default for Slots<SUMS> {
    fn default() -> Self {
        Self { number: 0, sums: [0; SUMS], by_slot: [[0; SUMS]; SLOTS], current: 0 }
    }
}

impl<const SUMS: usize> Slots<SUMS> {
    /// The sums at `now`, which never goes back, over `slots` slots of this width, the current one included.
    #[inline]
    pub fn sums(&mut self, now: Instant, width: Span, slots: u8) -> [i64; SUMS] {
        self.advance(now, width, slots);
        self.sums
    }

    /// Adds to the current slot, likewise.
    #[inline]
    pub fn add(&mut self, amounts: [i64; SUMS], now: Instant, width: Span, slots: u8) {
        self.advance(now, width, slots);
        let slot = &mut self.by_slot[self.current as usize];
        for (i, amount) in amounts.into_iter().enumerate() {
            self.sums[i] += amount;
            slot[i] += amount;
        }
    }

    /// Takes back what was added at `at`, unless that is forgotten, likewise.
    pub fn take_back(&mut self, amounts: [i64; SUMS], at: Instant, now: Instant, width: Span, slots: u8) {
        self.advance(now, width, slots);
        let age = self.number - at.as_ns() / width.as_ns();
        if age >= u64::from(slots) {
            return;
        }
        // Below the number of slots, which is that of a byte.
        let slot = (self.current + slots - age as u8) % slots;
        for (i, amount) in amounts.into_iter().enumerate() {
            self.sums[i] -= amount;
            self.by_slot[slot as usize][i] -= amount;
        }
    }

    /// Forgets the slots that are over.
    #[inline]
    fn advance(&mut self, now: Instant, width: Span, slots: u8) {
        let number = now.as_ns() / width.as_ns();
        let passed = number - self.number;
        self.number = number;
        for _ in 0..passed.min(u64::from(slots)) {
            self.current = (self.current + 1) % slots;
            let forgotten = std::mem::replace(&mut self.by_slot[self.current as usize], [0; SUMS]);
            for (sum, amount) in self.sums.iter_mut().zip(forgotten) {
                *sum -= amount;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It is taken out of the slot that it was added to; what is forgotten leaves nothing to take back.
    #[test]
    fn what_is_taken_back_leaves_no_debt() {
        let width = Span::from_ms(100);
        let at = |ms: u64| Instant::from_ns(ms * 1_000_000);
        let mut slots = Slots::<1>::default();
        slots.add([1], at(0), width, TEN);
        slots.add([1], at(150), width, TEN);
        slots.take_back([1], at(0), at(950), width, TEN);
        assert_eq!(slots.sums(at(950), width, TEN), [1]);
        assert_eq!(slots.sums(at(1_050), width, TEN), [1]);
        assert_eq!(slots.sums(at(1_100), width, TEN), [0]);
        slots.take_back([1], at(150), at(1_150), width, TEN);
        assert_eq!(slots.sums(at(1_150), width, TEN), [0]);
    }

    /// What was added at the end of a slot counts for nine more of ten, what was added at its beginning for ten.
    #[test]
    fn what_is_ten_slots_old_is_forgotten() {
        let width = Span::from_ms(100);
        let at = |ms: u64| Instant::from_ns(ms * 1_000_000);
        let mut slots = Slots::<2>::default();
        slots.add([1, 0], at(0), width, TEN);
        slots.add([1, 5], at(99), width, TEN);
        slots.add([1, 0], at(100), width, TEN);
        assert_eq!(slots.sums(at(999), width, TEN), [3, 5]);
        assert_eq!(slots.sums(at(1_000), width, TEN), [1, 0]);
        assert_eq!(slots.sums(at(50_000), width, TEN), [0, 0]);
    }
}
