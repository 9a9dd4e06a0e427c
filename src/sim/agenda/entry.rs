//! What the agenda holds: one integer per event, and the order of events is the order of the integers.

use crate::time::Instant;

/// What happens, as the engine numbers it: a kind and the index of what it happens to, in 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event(u32);

impl Event {
    /// How many kinds there can be: 16.
    pub const KINDS: u8 = 1 << (u32::BITS - Self::INDEX_BITS);
    /// How many indices there are for each kind: 2^28.
    pub const INDICES: u32 = 1 << Self::INDEX_BITS;

    const INDEX_BITS: u32 = 28;

    /// The event `kind`, below [`Event::KINDS`], of the thing numbered `index`, below [`Event::INDICES`]. Debug builds
    /// check both.
    #[inline]
    pub const fn new(kind: u8, index: u32) -> Self {
        debug_assert!(kind < Self::KINDS, "a kind of event has 4 bits");
        debug_assert!(index < Self::INDICES, "the index of an event has 28 bits");
        Self((kind as u32) << Self::INDEX_BITS | index)
    }

    /// Its kind.
    #[inline]
    pub const fn kind(self) -> u8 {
        (self.0 >> Self::INDEX_BITS) as u8
    }

    /// The index of what it happens to.
    #[inline]
    pub const fn index(self) -> u32 {
        self.0 & (Self::INDICES - 1)
    }
}

/// The number of an entry, from 0, in the order in which entries were made. It has 42 bits and identifies the entry: a
/// timer lives as long as its owner remembers the number that arming it returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sequence(u64);

impl Sequence {
    /// The number of no entry, for a timer that is not armed.
    pub const NONE: Self = Self(u64::MAX);

    pub(super) const FIRST: Self = Self(0);
    /// From here on the numbers count as used up. What is left, 2^32 of them, is far more than the handling of one
    /// event can ask for, so that whoever looks between events never meets two entries with one number.
    pub(super) const RESERVE: Self = Self((1 << Self::BITS) - (1 << 32));

    const BITS: u32 = 42;
    const LAST: Self = Self((1 << Self::BITS) - 1);

    /// The number itself.
    #[inline]
    pub const fn number(self) -> u64 {
        self.0
    }

    /// The number after this one; the last one stays.
    #[inline]
    pub(super) fn next(self) -> Self {
        Self(self.0 + 1).min(Self::LAST)
    }
}

/// What comes first at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Class {
    Fault = 0,
    Normal = 1,
    Timeout = 2,
}

/// An event with its place in the total order: time (52 bits), class (2), sequence (42), event (32), from the highest
/// bit down. Sequences differ, so the event never decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry(u128);

impl Entry {
    /// After every entry. Its class is none of the three, so it is no entry.
    pub const NEVER: Self = Self(u128::MAX);

    const SEQUENCE_SHIFT: u32 = u32::BITS;
    const CLASS_SHIFT: u32 = Self::SEQUENCE_SHIFT + Sequence::BITS;
    const TIME_SHIFT: u32 = Self::CLASS_SHIFT + 2;

    /// Packs an entry for `at`, before [`Instant::LIMIT`].
    #[inline]
    pub const fn new(at: Instant, class: Class, sequence: Sequence, event: Event) -> Self {
        debug_assert!(at.as_ns() < Instant::LIMIT.as_ns(), "the time of an entry has 52 bits");
        Self(
            (at.as_ns() as u128) << Self::TIME_SHIFT
                | (class as u128) << Self::CLASS_SHIFT
                | (sequence.0 as u128) << Self::SEQUENCE_SHIFT
                | event.0 as u128,
        )
    }

    /// When it happens, in ns.
    #[inline]
    pub const fn at_ns(self) -> u64 {
        (self.0 >> Self::TIME_SHIFT) as u64
    }

    /// Whether it is a timeout, which may have died.
    #[inline]
    pub const fn is_timeout(self) -> bool {
        (self.0 >> Self::CLASS_SHIFT) as u8 & 0b11 == Class::Timeout as u8
    }

    #[inline]
    pub const fn sequence(self) -> Sequence {
        Sequence((self.0 >> Self::SEQUENCE_SHIFT) as u64 & Sequence::LAST.0)
    }

    #[inline]
    pub const fn event(self) -> Event {
        Event(self.0 as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest value of each field beside zeros in the others: a field that is too narrow, or overlaps another,
    /// changes one of them.
    #[test]
    fn fields_come_back_as_they_went_in() {
        let last_at = Instant::from_ns(Instant::LIMIT.as_ns() - 1);
        let last_event = Event::new(Event::KINDS - 1, Event::INDICES - 1);
        let zero = (Instant::ZERO, Class::Fault, Sequence::FIRST, Event::new(0, 0));
        for (at, class, sequence, event) in [
            zero,
            (last_at, zero.1, zero.2, zero.3),
            (zero.0, Class::Timeout, zero.2, zero.3),
            (zero.0, zero.1, Sequence::LAST, zero.3),
            (zero.0, zero.1, zero.2, last_event),
            (last_at, Class::Timeout, Sequence::LAST, last_event),
        ] {
            let entry = Entry::new(at, class, sequence, event);
            assert_eq!(entry.at_ns(), at.as_ns());
            assert_eq!(entry.is_timeout(), class == Class::Timeout);
            assert_eq!((entry.sequence(), entry.event()), (sequence, event));
            assert!(entry < Entry::NEVER);
        }
        assert_eq!((last_event.kind(), last_event.index()), (15, (1 << 28) - 1));
        assert_eq!((Event::new(1, 0).kind(), Event::new(1, 0).index()), (1, 0));
    }

    /// Each entry differs from the next in one field, and all less significant fields argue for the opposite order.
    #[test]
    fn time_comes_before_class_before_sequence() {
        let entry = |ns, class, sequence, index| {
            Entry::new(Instant::from_ns(ns), class, Sequence(sequence), Event::new(0, index))
        };
        let ascending = [
            entry(1, Class::Timeout, 9, 9),
            entry(2, Class::Fault, 8, 9),
            entry(2, Class::Normal, 6, 9),
            entry(2, Class::Normal, 7, 9),
            entry(2, Class::Timeout, 1, 0),
        ];
        assert!(ascending.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn the_last_number_is_not_followed_by_a_wrap() {
        assert_eq!(Sequence(Sequence::LAST.0 - 1).next(), Sequence::LAST);
        assert_eq!(Sequence::LAST.next(), Sequence::LAST);
        assert_eq!(Sequence::LAST.number(), (1 << 42) - 1);
    }
}
