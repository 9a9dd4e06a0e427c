//! Retries as a share of requests.

use crate::policy::MICRO;

/// The rule of the SRE book (chapter 21, "Handling Overload"): retries up to a share of the requests so far, a tenth
/// there. Each request that begins adds `ratio`, each retry takes one, and there are `floor` at the start, so that
/// never more than `floor + ratio x requests` retries are sent. What healthy hours have added is not forgotten: a
/// client that has sent a million requests may send 100,000 retries at once. Amounts in millionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RatioOfRequests {
    /// Retries for each request.
    pub ratio: u64,
    /// Retries that need no requests.
    pub floor: u64,
}

impl RatioOfRequests {
    /// The balance after a request has begun.
    #[inline]
    #[must_use]
    pub fn after_request(&self, balance: u64) -> u64 {
        balance.saturating_add(self.ratio)
    }

    /// Whether a retry is granted.
    #[inline]
    pub fn grants(&self, balance: u64) -> bool {
        balance >= MICRO
    }

    /// The balance after a granted retry.
    #[inline]
    #[must_use]
    pub fn after_retry(&self, balance: u64) -> u64 {
        balance - MICRO
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A tenth, and two more: after each request as many retries as are granted, which is never more than that.
    #[test]
    fn retries_stay_below_their_share() {
        let rule = RatioOfRequests { ratio: MICRO / 10, floor: 2 * MICRO };
        let (mut balance, mut retries) = (rule.floor, 0);
        for requests in 1..=1_000_u64 {
            balance = rule.after_request(balance);
            while rule.grants(balance) {
                balance = rule.after_retry(balance);
                retries += 1;
            }
            assert_eq!(retries, 2 + requests / 10);
        }
    }

    proptest! {
        /// Never more than `floor + ratio x requests`, whenever they come; and a retry is refused only if it would be
        /// more.
        #[test]
        fn no_schedule_gets_more_than_its_share(
            ratio in 0u64..2_000_000,
            floor in 0u64..20,
            asks in prop::collection::vec(any::<bool>(), 0..400),
        ) {
            let rule = RatioOfRequests { ratio, floor: floor * MICRO };
            let (mut balance, mut share, mut retries) = (rule.floor, rule.floor, 0);
            for asks in asks {
                if !asks {
                    balance = rule.after_request(balance);
                    share += ratio;
                    continue;
                }
                let grants = rule.grants(balance);
                prop_assert_eq!(grants, (retries + 1) * MICRO <= share, "{} of {}", retries, share);
                if grants {
                    balance = rule.after_retry(balance);
                    retries += 1;
                }
            }
        }
    }
}
