//! A bucket of tokens, such as many services have built for themselves.

use crate::failure::ErrorKind;

/// A bucket of tokens: each success puts some in, each retry takes some out. All amounts in millionths of a token.
///
/// Refused is a retry that finds fewer than `floor` tokens or fewer than its `cost`. The first rule is that of
/// deposit buckets which keep a reserve, the second keeps the balance from becoming negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenBucket {
    /// The most it holds.
    pub max: u64,
    /// What it holds at the start; at most `max`.
    pub initial: u64,
    /// What each success adds, a retry's too.
    pub per_success: u64,
    /// What each retry takes.
    pub cost: u64,
    /// What it takes instead if the attempt before it has timed out.
    pub cost_timeout: u64,
    /// A retry is refused below this balance.
    pub floor: u64,
}

impl TokenBucket {
    /// The balance after a success.
    #[inline]
    #[must_use]
    pub fn after_success(&self, balance: u64) -> u64 {
        balance.saturating_add(self.per_success).min(self.max)
    }

    /// What a retry takes after this error.
    #[inline]
    pub fn cost_after(&self, error: ErrorKind) -> u64 {
        if error == ErrorKind::Timeout { self.cost_timeout } else { self.cost }
    }

    /// Whether a retry is granted after this error. Asking costs nothing.
    #[inline]
    pub fn grants(&self, balance: u64, error: ErrorKind) -> bool {
        balance >= self.floor.max(self.cost_after(error))
    }

    /// The balance after a retry that was granted after this error.
    #[inline]
    #[must_use]
    pub fn after_retry(&self, balance: u64, error: ErrorKind) -> u64 {
        balance - self.cost_after(error)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::policy::MICRO;

    const DOWN: ErrorKind = ErrorKind::Unavailable;

    fn bucket(max: u64, initial: u64, per_success_micro: u64, cost: u64, floor: u64) -> TokenBucket {
        TokenBucket {
            max: max * MICRO,
            initial: initial * MICRO,
            per_success: per_success_micro,
            cost: cost * MICRO,
            cost_timeout: 2 * cost * MICRO,
            floor: floor * MICRO,
        }
    }

    fn grants_in_a_row(bucket: &TokenBucket, error: ErrorKind) -> u32 {
        let (mut balance, mut granted) = (bucket.initial, 0);
        while bucket.grants(balance, error) {
            balance = bucket.after_retry(balance, error);
            granted += 1;
        }
        granted
    }

    /// Max 10, +0.1 per success, 1 per retry: ten retries against a dead server, five if they cost
    /// twice as much after a timeout, and one more after ten successes.
    #[test]
    fn a_success_buys_a_tenth_of_a_retry() {
        let bucket = bucket(10, 10, 100_000, 1, 1);
        assert_eq!(grants_in_a_row(&bucket, DOWN), 10);
        assert_eq!(grants_in_a_row(&bucket, ErrorKind::Timeout), 5);
        let mut balance = 0;
        for success in 1..=10 {
            assert!(!bucket.grants(balance, DOWN), "after {} successes", success - 1);
            balance = bucket.after_success(balance);
        }
        assert!(bucket.grants(balance, DOWN));
    }

    /// A deposit bucket of 100 that starts with 50 and pays 5 per retry: ten retries in all from cold.
    #[test]
    fn a_deposit_bucket_grants_ten_from_cold() {
        assert_eq!(grants_in_a_row(&bucket(100, 50, MICRO, 5, 5), DOWN), 10);
    }

    #[test]
    fn the_balance_stays_between_zero_and_the_maximum() {
        let bucket = bucket(10, 10, 3 * MICRO, 4, 1);
        assert_eq!(bucket.after_success(10 * MICRO), 10 * MICRO);
        assert!(!bucket.grants(3 * MICRO, DOWN), "a retry that costs 4 is not granted with 3");
        assert_eq!(bucket.after_retry(4 * MICRO, DOWN), 0);
    }

    proptest! {
        /// Every token that a retry takes was there at the start or came with a success: all retries together have
        /// taken at most `initial + per_success x successes`, at any time and whatever else happens. What does not fit
        /// is lost, so that it may be less.
        #[test]
        fn no_schedule_spends_more_than_came_in(
            (max, initial) in (1u64..50).prop_flat_map(|max| (Just(max), 0..=max)),
            per_success in 0u64..3_000_000,
            (cost, floor) in (1u64..6, 0u64..6),
            outcomes in prop::collection::vec(prop::option::of(prop::sample::select(ErrorKind::ALL)), 0..400),
        ) {
            let bucket = bucket(max, initial, per_success, cost, floor);
            let (mut balance, mut came_in, mut spent) = (bucket.initial, bucket.initial, 0);
            for outcome in outcomes {
                match outcome {
                    None => {
                        balance = bucket.after_success(balance);
                        came_in += per_success;
                    }
                    Some(error) if bucket.grants(balance, error) => {
                        balance = bucket.after_retry(balance, error);
                        spent += bucket.cost_after(error);
                    }
                    Some(_) => {}
                }
                prop_assert!(spent + balance <= came_in && balance <= bucket.max, "{spent} of {came_in}");
            }
        }
    }
}
