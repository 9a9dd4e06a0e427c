//! A number that goes up and down by one, and its integral over time.

use crate::time::Instant;

/// How many are in progress. Between two changes the integral is `value * time`; one sum of the instants at which it
/// changed corrects that, so that a change costs one addition and no clock is kept.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Level {
    value: u64,
    /// Sum of the instants of all decreases minus that of all increases, in ns.
    balance_ns: i128,
}

impl Level {
    #[inline]
    pub fn rise(&mut self, now: Instant) {
        self.value += 1;
        self.balance_ns -= i128::from(now.as_ns());
    }

    #[inline]
    pub fn fall(&mut self, now: Instant) {
        self.value -= 1;
        self.balance_ns += i128::from(now.as_ns());
    }

    #[inline]
    pub fn value(&self) -> u64 {
        self.value
    }

    /// The integral over `[0, now)` in ns, if nothing changes between the last change and `now`.
    pub fn integral_ns(&self, now: Instant) -> u128 {
        (i128::from(self.value) * i128::from(now.as_ns()) + self.balance_ns) as u128
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Up at 1 and 3, down at 6: 0, 1, 1, 2, 2, 2, 1, 1 over the first eight units.
    #[test]
    fn the_integral_is_the_area_below() {
        let mut level = Level::default();
        let at = |ns| Instant::from_ns(ns);
        level.rise(at(1));
        assert_eq!(level.integral_ns(at(3)), 2);
        level.rise(at(3));
        level.fall(at(6));
        assert_eq!((level.value(), level.integral_ns(at(8))), (1, 10));
    }
}
