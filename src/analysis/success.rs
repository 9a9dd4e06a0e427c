//! What becomes of a call whose attempts fail with some probability.

use serde::Serialize;

/// Success and attempts of a call whose attempts fail with some probability, for whatever reason, and are tried again
/// as often as they can be.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Success {
    /// The probability p that an attempt fails.
    pub failure: f64,
    /// How many attempts n there can be; none without a limit.
    pub attempts: Option<u64>,
    /// The probability of success where each attempt fails by itself: `1 - p^n`.
    pub independent: f64,
    /// The mean number of attempts then: `(1 - p^n) / (1 - p)`, or n if all fail; none without a limit.
    pub independent_attempts: Option<f64>,
    /// The probability of success where all attempts of a call fail together: `1 - p`, or 0 if there can be no attempt.
    pub correlated: f64,
    /// The mean number of attempts then: `1 - p + p n`, or 0 if there can be none; none without a limit.
    pub correlated_attempts: Option<f64>,
}

impl Success {
    pub(super) fn of(failure: f64, attempts: Option<u64>) -> Self {
        // p^n, which is nothing without a limit unless all fail.
        let all_fail = match attempts {
            Some(attempts) => libm::pow(failure, attempts as f64),
            None => f64::from(u8::from(failure >= 1.0)),
        };
        // What has no time for a single attempt does not succeed, though nothing fails.
        let first_is_made = attempts.map_or(1.0, |attempts| attempts.min(1) as f64);
        let correlated = first_is_made * (1.0 - failure);
        Self {
            failure,
            attempts,
            independent: 1.0 - all_fail,
            independent_attempts: mean_attempts(failure, attempts),
            correlated,
            correlated_attempts: attempts.map(|attempts| correlated + failure * attempts as f64),
        }
    }
}

/// How many attempts a call makes in the mean, if each fails by itself with this probability, out of so many at most;
/// none if it has no end: without a limit and without a success.
pub(super) fn mean_attempts(failure: f64, attempts: Option<u64>) -> Option<f64> {
    match attempts {
        Some(attempts) if failure >= 1.0 => Some(attempts as f64),
        Some(attempts) => Some((1.0 - libm::pow(failure, attempts as f64)) / (1.0 - failure)),
        None => (failure < 1.0).then(|| 1.0 / (1.0 - failure)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three attempts of which each fails once in ten times: 1 + 0.1 + 0.01 of them, or 0.9 + 0.1 x 3.
    #[test]
    fn attempts_apart_are_fewer_than_together() {
        let success = Success::of(0.1, Some(3));
        assert!((success.independent - 0.999).abs() < 1e-12);
        assert!((success.independent_attempts.expect("a mean") - 1.11).abs() < 1e-12);
        assert!((success.correlated_attempts.expect("a mean") - 1.2).abs() < 1e-12);
    }

    #[test]
    fn where_all_fail_there_are_all_attempts_or_no_end() {
        let three = Success::of(1.0, Some(3));
        assert_eq!(
            (three.independent, three.independent_attempts, three.correlated_attempts),
            (0.0, Some(3.0), Some(3.0))
        );
        let endless = Success::of(1.0, None);
        assert_eq!((endless.independent, endless.independent_attempts, endless.correlated_attempts), (0.0, None, None));
        let endless = Success::of(0.5, None);
        assert_eq!((endless.independent, endless.independent_attempts), (1.0, Some(2.0)));
    }

    #[test]
    fn without_an_attempt_nothing_succeeds() {
        for failure in [0.01, 0.5, 1.0] {
            let none = Success::of(failure, Some(0));
            assert_eq!((none.independent, none.correlated), (0.0, 0.0), "{failure}");
            assert_eq!((none.independent_attempts, none.correlated_attempts), (Some(0.0), Some(0.0)), "{failure}");
        }
    }

    #[test]
    fn mean_attempts_are_a_sum_of_powers() {
        assert_eq!(mean_attempts(0.5, Some(3)), Some(1.75));
        assert_eq!(mean_attempts(0.0, Some(3)), Some(1.0));
        assert_eq!(mean_attempts(1.0, Some(3)), Some(3.0));
        assert_eq!(mean_attempts(0.5, None), Some(2.0));
        assert_eq!(mean_attempts(1.0, None), None);
    }
}
