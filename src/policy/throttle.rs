//! Throttles: callers that hold back a share of their attempts, the larger the more of them come to nothing.

use crate::dist::{happens, probability};
use crate::failure::{ErrorKind, ErrorSet};
use crate::policy::slots::{Slots, TEN};
use crate::time::{Instant, Span};

/// The rule of a throttle, and the errors that count as being turned away.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Throttle {
    /// With what probability an attempt is held back.
    pub rule: ThrottleRule,
    /// With any other error the callee has accepted the attempt.
    pub failure_on: ErrorSet,
    /// How long attempts count: those of the current tenth of it, which begin at multiples of a tenth, and of the nine
    /// before it.
    pub window: Span,
}

/// With what probability an attempt is held back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ThrottleRule {
    /// `max(0, (requests - k x accepts) / (requests + 1))`, where all that asks is a request, also what is held back, or
    /// is let through and finds no slot in its caller's pool: the adaptive throttling of "Site Reliability Engineering"
    /// (2016), chapter 21. The callee sees up to `k` times what it accepts.
    Adaptive {
        /// At least 1; 2 in the book.
        k: f64,
    },
    /// `min(max, max(0, (requests - accepts / success) / (requests + 1)) ^ (1 / aggression))`, where what is held back is
    /// no request: Envoy's admission control.
    Admission {
        /// The share of accepts from which on nothing is held back; above 0, at most 1.
        success: f64,
        /// At least 1; the larger, the more is held back.
        aggression: f64,
        /// The most; from 0 to 1.
        max: f64,
    },
}

/// What a throttle has counted: requests and accepts.
#[derive(Clone, Copy, Debug, Default)]
pub struct ThrottleState(Slots<2>);

impl Throttle {
    /// Whether an attempt that asks at `now`, which never goes back, may be sent, by a uniform draw.
    pub fn admits(&self, ThrottleState(slots): &mut ThrottleState, now: Instant, draw: u64) -> bool {
        let [requests, accepts] = slots.sums(now, self.width(), TEN);
        let is_held_back = happens(draw, probability(self.rule.held_back(requests as f64, accepts as f64)));
        if matches!(self.rule, ThrottleRule::Adaptive { .. }) {
            slots.add([1, 0], now, self.width(), TEN);
        }
        !is_held_back
    }

    /// An attempt that was let through at `asked` was not sent after all, or nobody waits for its end.
    pub fn take_back(&self, ThrottleState(slots): &mut ThrottleState, asked: Instant, now: Instant) {
        if matches!(self.rule, ThrottleRule::Adaptive { .. }) {
            slots.take_back([1, 0], asked, now, self.width(), TEN);
        }
    }

    /// An attempt that was let through has ended, with an error or with success.
    pub fn count(&self, ThrottleState(slots): &mut ThrottleState, error: Option<ErrorKind>, now: Instant) {
        let is_accepted = !error.is_some_and(|error| self.failure_on.contains(error));
        let requests = i64::from(matches!(self.rule, ThrottleRule::Admission { .. }));
        slots.add([requests, i64::from(is_accepted)], now, self.width(), TEN);
    }

    fn width(&self) -> Span {
        // No window is so short that a tenth of it is nothing.
        Span::from_ns((self.window.as_ns() / u64::from(TEN)).max(1))
    }
}

impl ThrottleRule {
    /// The probability with which an attempt is held back.
    fn held_back(&self, requests: f64, accepts: f64) -> f64 {
        match *self {
            Self::Adaptive { k } => ((requests - k * accepts) / (requests + 1.0)).max(0.0),
            Self::Admission { success, aggression, max } => {
                let excess = ((requests - accepts / success) / (requests + 1.0)).max(0.0);
                if aggression == 1.0 { excess.min(max) } else { libm::pow(excess, 1.0 / aggression).min(max) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// To a thousandth.
    fn held_back(rule: ThrottleRule, requests: f64, accepts: f64) -> f64 {
        (rule.held_back(requests, accepts) * 1e3).round() / 1e3
    }

    /// The book's formula with its K of 2, at 100 requests.
    #[test]
    fn adaptive_throttling_starts_below_one_accept_in_k() {
        let of = |accepts| held_back(ThrottleRule::Adaptive { k: 2.0 }, 100.0, accepts);
        assert_eq!([100.0, 50.0, 25.0, 0.0].map(of), [0.0, 0.0, 0.495, 0.99]);
    }

    /// Envoy's defaults, and an aggression of 2, at 100 requests.
    #[test]
    fn admission_control_starts_below_its_success_rate() {
        let rule = |aggression| ThrottleRule::Admission { success: 0.95, aggression, max: 0.8 };
        let of = |accepts| held_back(rule(1.0), 100.0, accepts);
        assert_eq!([95.0, 50.0, 0.0].map(of), [0.0, 0.469, 0.8]);
        assert_eq!(held_back(rule(2.0), 100.0, 50.0), 0.685);
        let unbounded = ThrottleRule::Admission { success: 0.95, aggression: 1.0, max: 1.0 };
        assert_eq!(held_back(unbounded, 100.0, 0.0), 0.99);
    }

    fn throttle(rule: ThrottleRule) -> Throttle {
        Throttle { rule, failure_on: ErrorSet::FAILURES, window: Span::from_s(10) }
    }

    /// How many of a hundred attempts at each of these draws are let through, all of which fail.
    fn let_through(rule: ThrottleRule, draw: u64) -> u32 {
        let (throttle, mut state) = (throttle(rule), ThrottleState::default());
        let mut admitted = 0;
        for _ in 0..100 {
            if throttle.admits(&mut state, Instant::ZERO, draw) {
                throttle.count(&mut state, Some(ErrorKind::Unavailable), Instant::ZERO);
                admitted += 1;
            }
        }
        admitted
    }

    /// At a draw of one half the nth attempt passes while (n - 1) / n is not above that. For the book's rule what is
    /// held back counts, so that never comes again; so it does for Envoy's, whose share stays.
    #[test]
    fn a_dead_callee_is_left_alone() {
        assert_eq!(let_through(ThrottleRule::Adaptive { k: 2.0 }, 1 << 63), 2);
        assert_eq!(let_through(ThrottleRule::Admission { success: 0.95, aggression: 1.0, max: 0.8 }, 1 << 63), 2);
        // The largest draws pass whatever the probability is, as long as it is below one.
        assert_eq!(let_through(ThrottleRule::Adaptive { k: 2.0 }, u64::MAX), 100);
    }

    /// An error that is no failure is an accept, and after the window nothing is left of any.
    #[test]
    fn answers_are_accepts_and_all_is_forgotten() {
        let (throttle, mut state) = (throttle(ThrottleRule::Adaptive { k: 2.0 }), ThrottleState::default());
        for _ in 0..100 {
            assert!(throttle.admits(&mut state, Instant::ZERO, 0));
            throttle.count(&mut state, Some(ErrorKind::Invalid), Instant::ZERO);
        }
        (0..100).for_each(|_| _ = throttle.admits(&mut state, Instant::ZERO, u64::MAX));
        assert!(throttle.admits(&mut state, Instant::ZERO, 0), "half of 200 are just accepted");
        assert!(!throttle.admits(&mut state, Instant::ZERO, 0), "and of 201 less");
        assert!(throttle.admits(&mut state, Instant::ZERO + Span::from_s(10), 0));
    }

    /// What was let through and never sent is no request: a hundred of them, and the next one passes at any draw.
    #[test]
    fn what_is_taken_back_does_not_count() {
        let (throttle, mut state) = (throttle(ThrottleRule::Adaptive { k: 2.0 }), ThrottleState::default());
        for _ in 0..100 {
            assert!(throttle.admits(&mut state, Instant::ZERO, 0));
            throttle.take_back(&mut state, Instant::ZERO, Instant::ZERO);
        }
        assert!(throttle.admits(&mut state, Instant::ZERO, 0));
    }
}
