//! Virtual time: [`Instant`] and [`Span`] are different types over unsigned nanoseconds.
//!
//! A run begins at [`Instant::ZERO`] and cannot go past [`Instant::LIMIT`] (2^52 ns, a little over
//! 52 days): that is what the time field of a packed event holds. Printing and parsing are elsewhere.

use std::ops::{Add, Sub};

/// A point of virtual time, in nanoseconds since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

/// A length of virtual time, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(u64);

impl Instant {
    /// The start of the run.
    pub const ZERO: Self = Self(0);
    /// The first instant that no run reaches: 2^52 ns, 52 days and 3 hours.
    pub const LIMIT: Self = Self(1 << 52);

    /// The instant `ns` nanoseconds after the start.
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns)
    }

    /// Nanoseconds since the start.
    pub const fn as_ns(self) -> u64 {
        self.0
    }

    /// Seconds since the start.
    pub const fn as_s(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The time from `earlier` to `self`; zero if `earlier` is the later one.
    pub const fn since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// The longest span a scenario can state: that of a whole run, 2^52 ns.
    pub const LIMIT: Self = Self(1 << 52);
    /// Stands for "no limit" where a plan holds a timeout or a cap: longer than any run, and still
    /// far from overflow when added to an instant.
    pub const UNLIMITED: Self = Self(1 << 53);

    /// A span of `ns` nanoseconds.
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns)
    }

    /// A span of `ms` milliseconds.
    pub const fn from_ms(ms: u64) -> Self {
        Self(ms * 1_000_000)
    }

    /// A span of `s` whole seconds.
    pub const fn from_s(s: u64) -> Self {
        Self(s * 1_000_000_000)
    }

    /// The span nearest to `ns` nanoseconds, between zero and [`Span::LIMIT`]; not-a-number is zero.
    pub fn from_ns_f64(ns: f64) -> Self {
        // `as` saturates and maps NaN to 0, which is what is wanted here.
        Self(((ns + 0.5) as u64).min(Self::LIMIT.0))
    }

    /// Nanoseconds.
    pub const fn as_ns(self) -> u64 {
        self.0
    }

    /// Milliseconds.
    pub const fn as_ms(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// Seconds.
    pub const fn as_s(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

impl Add<Span> for Instant {
    type Output = Self;
    fn add(self, span: Span) -> Self {
        Self(self.0 + span.0)
    }
}

impl Add for Span {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Sub for Span {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}
