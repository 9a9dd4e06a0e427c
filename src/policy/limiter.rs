//! Rate limiters of servers: how many arrivals they let in over time.

use crate::time::{Instant, Span};

/// A rate limiter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limiter {
    /// Lets everything in.
    Unlimited,
    /// The first `limit` of each aligned window `[k * every, (k + 1) * every)`.
    FixedWindow {
        /// How many; at least 1.
        limit: u64,
        /// The width of the windows; above zero.
        every: Span,
    },
    /// A bucket that holds at most `burst` tokens and is full at the start; `rate` flow in per second, evenly, and each
    /// arrival that finds a whole one takes it.
    TokenBucket {
        /// Tokens per second; finite, above 0.
        rate: f64,
        /// The most that it holds; at least 1.
        burst: u64,
    },
}

/// What a limiter remembers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LimiterState {
    /// The number of the current window; or, in ns, when the bucket was last known to be full.
    origin: u64,
    /// How many were let in since then.
    admitted: u64,
}

impl Limiter {
    /// Whether one that arrives now is let in; if so, it counts. `now` never goes back.
    #[inline]
    pub fn admits(&self, state: &mut LimiterState, now: Instant) -> bool {
        let admits = match *self {
            Self::Unlimited => true,
            Self::FixedWindow { limit, every } => {
                let window = now.as_ns() / every.as_ns();
                if window != state.origin {
                    *state = LimiterState { origin: window, admitted: 0 };
                }
                state.admitted < limit
            }
            Self::TokenBucket { rate, burst } => {
                // From one origin, so that no rounding adds up.
                let inflow = rate * (now.as_ns() - state.origin) as f64 / 1e9;
                if inflow >= state.admitted as f64 {
                    *state = LimiterState { origin: now.as_ns(), admitted: 0 };
                    true
                } else {
                    burst as f64 + inflow - state.admitted as f64 >= 1.0
                }
            }
        };
        state.admitted += u64::from(admits);
        admits
    }

    /// The most that it lets in per second in the long run; none without a limit.
    pub fn per_second(&self) -> Option<f64> {
        match *self {
            Self::Unlimited => None,
            Self::FixedWindow { limit, every } => Some(limit as f64 / every.as_s()),
            Self::TokenBucket { rate, .. } => Some(rate),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admitted(limiter: Limiter, arrivals_ms: impl IntoIterator<Item = u64>) -> Vec<bool> {
        let mut state = LimiterState::default();
        arrivals_ms.into_iter().map(|ms| limiter.admits(&mut state, Instant::ZERO + Span::from_ms(ms))).collect()
    }

    /// Windows are aligned to the start of the run, not to the first arrival, and half-open.
    #[test]
    fn a_fixed_window_starts_anew_at_each_border() {
        let limiter = Limiter::FixedWindow { limit: 2, every: Span::from_ms(100) };
        let expected = [(90, true), (95, true), (99, false), (100, true), (150, true), (199, false), (500, true)];
        assert_eq!(admitted(limiter, expected.map(|(ms, _)| ms)), expected.map(|(_, admits)| admits));
    }

    /// Ten a second and a burst of three: three at once, then one each 100 ms; after a long pause three again.
    #[test]
    fn a_token_bucket_lets_a_burst_in_and_then_its_rate() {
        let limiter = Limiter::TokenBucket { rate: 10.0, burst: 3 };
        let expected = [
            (0, true),
            (0, true),
            (0, true),
            (0, false),
            (99, false),
            (100, true),
            (199, false),
            (200, true),
            (1_000, true),
            (1_000, true),
            (1_000, true),
            (1_000, false),
        ];
        assert_eq!(admitted(limiter, expected.map(|(ms, _)| ms)), expected.map(|(_, admits)| admits));
    }

    /// Asked every ms for 1,000 s, a bucket of three a second and a burst of 5 lets 3,000 in, and 5 at the start: were
    /// the ns between two tokens rounded, the sum would drift.
    #[test]
    fn the_long_run_is_exact() {
        let admitted = admitted(Limiter::TokenBucket { rate: 3.0, burst: 5 }, 0..=1_000_000);
        assert_eq!(admitted.iter().filter(|&&admits| admits).count(), 3_005);
    }
}
