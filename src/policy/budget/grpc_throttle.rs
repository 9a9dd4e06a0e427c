//! gRPC's retry throttling.

use crate::failure::ErrorKind;
use crate::failure::ErrorSet;

/// gRPC's retry throttling, by the proposal A6 (client retries): a count of tokens that starts at its maximum. Each
/// attempt that fails with an error that is worth a retry takes one token, before it is asked whether any attempts are
/// left, so that the last attempt of a call counts, too; each success puts `per_success` in. There are retries only
/// while more than half of the tokens are left, the failure that asks already taken out. All amounts in thousandths of
/// a token, as the implementations count them. With two tokens or fewer there is never a retry.
///
/// What counts as a success is grpc-go's rule, a call that ends well; grpc-java counts one when the headers of its
/// answer come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GrpcThrottle {
    /// `maxTokens`: the most, and the number at the start.
    pub max: u64,
    /// `tokenRatio`: what each success adds.
    pub per_success: u64,
}

/// A token.
const ONE: u64 = 1_000;

impl GrpcThrottle {
    /// The tokens after a failed attempt, whether it is tried again or not.
    #[inline]
    #[must_use]
    pub fn after_failure(&self, tokens: u64, error: ErrorKind, retry_on: ErrorSet) -> u64 {
        if retry_on.contains(error) { tokens.saturating_sub(ONE) } else { tokens }
    }

    /// The tokens after a success.
    #[inline]
    #[must_use]
    pub fn after_success(&self, tokens: u64) -> u64 {
        tokens.saturating_add(self.per_success).min(self.max)
    }

    /// Whether a retry is granted. It takes nothing: the failure has.
    #[inline]
    pub fn grants(&self, tokens: u64) -> bool {
        tokens > self.max / 2
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DOWN: ErrorKind = ErrorKind::Unavailable;

    fn throttle(max_tokens: u64, per_success: u64) -> GrpcThrottle {
        GrpcThrottle { max: max_tokens * ONE, per_success }
    }

    fn fail(throttle: GrpcThrottle, tokens: &mut u64) -> bool {
        *tokens = throttle.after_failure(*tokens, DOWN, ErrorSet::RETRYABLE);
        throttle.grants(*tokens)
    }

    /// Ten tokens: 9, 8, 7 and 6 allow a retry, the fifth failure leaves 5, which is not more than half.
    #[test]
    fn a_dead_server_gets_one_retry_less_than_half_the_tokens() {
        for (max_tokens, retries) in [(1, 0), (2, 0), (3, 1), (9, 4), (10, 4), (100, 49)] {
            let throttle = throttle(max_tokens, 100);
            let mut tokens = throttle.max;
            let granted = (0..1_000).filter(|_| fail(throttle, &mut tokens)).count();
            assert_eq!((granted, tokens), (retries, 0), "{max_tokens}");
        }
    }

    /// From nothing, 51 successes at 0.1 make 5.1, but the failure that asks takes one of them; 60 leave 5.0, which is
    /// refused, and 61 leave 5.1.
    #[test]
    fn sixty_one_successes_buy_the_first_retry() {
        let throttle = throttle(10, 100);
        for (successes, granted) in [(51, false), (60, false), (61, true)] {
            let mut tokens = (0..successes).fold(0, |tokens, _| throttle.after_success(tokens));
            assert_eq!(fail(throttle, &mut tokens), granted, "{successes}");
        }
        assert_eq!(throttle.after_success(throttle.max), throttle.max);
    }

    /// Errors that are not worth a retry are none of the throttle's.
    #[test]
    fn only_failures_that_would_be_tried_again_count() {
        let throttle = throttle(10, 100);
        assert_eq!(throttle.after_failure(throttle.max, ErrorKind::Invalid, ErrorSet::RETRYABLE), throttle.max);
    }

    /// The share of failures that holds the tokens level: p / (1 - p) = 0.1, which is 1 of 11.
    #[test]
    fn one_failure_in_eleven_is_carried() {
        let throttle = throttle(10, 100);
        let mut tokens = 7 * ONE;
        for _ in 0..1_000 {
            assert!(fail(throttle, &mut tokens), "{tokens}");
            tokens = (0..10).fold(tokens, |tokens, _| throttle.after_success(tokens));
        }
        assert_eq!(tokens, 7 * ONE);
    }

    proptest! {
        /// A retry is granted while more than half of the tokens are left, and the failure before it has taken one. So
        /// from a full bucket on, f failures and s successes are granted fewer retries than
        /// `max / 2 + per_success x s`, and no more than f.
        #[test]
        fn no_schedule_gets_more_than_half_the_tokens_and_what_successes_add(
            max_tokens in 1u64..40,
            per_success in 1u64..2_000,
            outcomes in prop::collection::vec(any::<bool>(), 0..400),
        ) {
            let throttle = throttle(max_tokens, per_success);
            let (mut tokens, mut granted, mut failures, mut successes) = (throttle.max, 0, 0, 0);
            for succeeds in outcomes {
                if succeeds {
                    tokens = throttle.after_success(tokens);
                    successes += 1;
                } else {
                    failures += 1;
                    granted += u64::from(fail(throttle, &mut tokens));
                }
                let bound = throttle.max - throttle.max / 2 + per_success * successes;
                prop_assert!(granted * ONE < bound && granted <= failures, "{granted} below {bound}");
            }
        }
    }
}
