//! Outlier ejection: a balancer that sends nothing to a server which keeps failing.

use crate::failure::{ErrorKind, ErrorSet};
use crate::time::{Instant, Span};

/// When a server is ejected, and for how long: Envoy's outlier detection by consecutive errors, for all callers alike.
///
/// It is simpler than Envoy's in two points: a server comes back when its time is over, not at the next sweep; and how
/// often it was ejected is never forgotten, where Envoy takes one off at each sweep at which it is not ejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ejection {
    /// So many failures in a row eject it; at least 1.
    pub consecutive: u32,
    /// The nth time it is ejected for n times this ...
    pub ejected_for: Span,
    /// ... but for no longer than this.
    pub longest: Span,
    /// The most servers that are ejected at once; a failure that would eject another ejects nobody.
    pub most: u32,
    /// The errors that are failures; with any other the server has answered.
    pub failure_on: ErrorSet,
}

/// What a balancer knows of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EjectionState {
    failures: u32,
    /// How often it was ejected.
    times: u32,
    until: Instant,
}

impl Ejection {
    /// The most servers of so many that may be ejected at once, by a share in millionths: the whole number below it.
    pub fn most_of(share: u64, servers: u32) -> u32 {
        (share * u64::from(servers) / 1_000_000) as u32
    }

    /// An attempt at a server has ended at `now`, with an error or with success; `ejected` counts the servers that are
    /// ejected. What those tell that are ejected themselves does not count. Whether the server is ejected.
    pub fn count(
        &self,
        state: &mut EjectionState,
        error: Option<ErrorKind>,
        ejected: impl FnOnce() -> u32,
        now: Instant,
    ) -> bool {
        if state.is_ejected(now) {
            return false;
        }
        let has_failed = error.is_some_and(|error| self.failure_on.contains(error));
        state.failures = if has_failed { state.failures.saturating_add(1) } else { 0 };
        if state.failures < self.consecutive || ejected() >= self.most {
            return false;
        }
        state.times = state.times.saturating_add(1);
        let ns = self.ejected_for.as_ns().saturating_mul(state.times.into()).min(self.longest.as_ns());
        (state.failures, state.until) = (0, now + Span::from_ns(ns));
        true
    }
}

impl EjectionState {
    /// Whether the server gets nothing at `now`.
    #[inline]
    pub fn is_ejected(&self, now: Instant) -> bool {
        now < self.until
    }

    /// From when on it gets something again, if it is ejected.
    pub fn until(&self) -> Instant {
        self.until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENVOY: Ejection = Ejection {
        consecutive: 5,
        ejected_for: Span::from_s(30),
        longest: Span::from_s(300),
        most: 1,
        failure_on: ErrorSet::FAILURES,
    };

    fn at(s: u64) -> Instant {
        Instant::ZERO + Span::from_s(s)
    }

    fn fail(rule: Ejection, state: &mut EjectionState, times: u32, now: Instant) -> Vec<bool> {
        (0..times).map(|_| rule.count(state, Some(ErrorKind::Unavailable), || 0, now)).collect()
    }

    /// Envoy's defaults: the fifth failure in a row, for 30 s, then for 60 s, and in the end for 300 s.
    #[test]
    fn a_server_that_keeps_failing_is_ejected_for_longer() {
        let mut state = EjectionState::default();
        let mut now = at(0);
        for lasts_s in [30, 60, 90, 120, 150, 180, 210, 240, 270, 300, 300] {
            assert_eq!(fail(ENVOY, &mut state, 5, now), [false, false, false, false, true]);
            assert_eq!(state.until(), now + Span::from_s(lasts_s));
            now = state.until();
            assert!(!state.is_ejected(now));
        }
    }

    /// One success in between, or an answer that is no failure, and counting begins anew; as it does after an ejection,
    /// during which late answers do not count.
    #[test]
    fn failures_are_in_a_row() {
        let mut state = EjectionState::default();
        assert!(!fail(ENVOY, &mut state, 4, at(0)).contains(&true));
        assert!(!ENVOY.count(&mut state, None, || 0, at(0)));
        assert!(!fail(ENVOY, &mut state, 4, at(0)).contains(&true));
        assert!(!ENVOY.count(&mut state, Some(ErrorKind::Invalid), || 0, at(0)));
        assert_eq!(fail(ENVOY, &mut state, 9, at(0)), [false, false, false, false, true, false, false, false, false]);
        assert!(!fail(ENVOY, &mut state, 4, at(30)).contains(&true));
    }

    /// No more than so many: the failures go on counting, and the next one may eject when there is room.
    #[test]
    fn there_is_always_somebody_left() {
        let mut state = EjectionState::default();
        let failed = Some(ErrorKind::Timeout);
        assert!((0..10).all(|_| !ENVOY.count(&mut state, failed, || 1, at(0))));
        assert!(ENVOY.count(&mut state, failed, || 0, at(1)));
    }

    /// Ten per cent of nine servers are none, of ten and of nineteen one; 29 % of 100 are 29, which in floating point
    /// they are not.
    #[test]
    fn the_share_is_rounded_down() {
        assert_eq!([9, 10, 19, 20].map(|servers| Ejection::most_of(100_000, servers)), [0, 1, 1, 2]);
        assert_eq!(Ejection::most_of(290_000, 100), 29);
        assert_eq!(Ejection::most_of(1_000_000, 5), 5);
    }
}
