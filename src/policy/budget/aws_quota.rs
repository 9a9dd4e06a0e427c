//! The retry quota of the AWS SDKs.

use crate::failure::ErrorKind;

/// The retry quota of the AWS SDKs' standard mode, as botocore and smithy-rs have it: a bucket that is full at the
/// start and has no refill by time. A retry takes tokens by the class of the error before it; a refusal takes none. A
/// call that succeeds at its first attempt puts one token in; one that succeeds at a retry gets back what that last
/// retry took, and what the retries before it took is lost. Failures put nothing in. In whole tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AwsQuota {
    /// The most, and the number at the start: 500 in the SDKs.
    pub max: u64,
    /// What a retry takes: 5 until the autumn of 2026, 14 from then on.
    pub cost: u64,
    /// What it takes after a timeout: 10 until then, 14 from then on.
    pub cost_timeout: u64,
    /// What it takes after a `rate_limited` or `throttled`: 5.
    pub cost_throttled: u64,
    /// What a success at the first attempt puts in: 1.
    pub per_success: u64,
}

impl AwsQuota {
    /// Until the behaviour of November 2026.
    pub const PRE_2026: Self = Self { max: 500, cost: 5, cost_timeout: 10, cost_throttled: 5, per_success: 1 };
    /// From then on ("retry behaviour 2.1").
    pub const V2_1: Self = Self { cost: 14, cost_timeout: 14, ..Self::PRE_2026 };

    /// What a retry takes after this error.
    #[inline]
    pub fn cost_after(&self, error: ErrorKind) -> u64 {
        match error {
            ErrorKind::Timeout => self.cost_timeout,
            ErrorKind::RateLimited | ErrorKind::Throttled => self.cost_throttled,
            _ => self.cost,
        }
    }

    /// Whether a retry is granted after this error.
    #[inline]
    pub fn grants(&self, tokens: u64, error: ErrorKind) -> bool {
        tokens >= self.cost_after(error)
    }

    /// The tokens after a call has succeeded whose last retry had taken so many; none if there was no retry.
    #[inline]
    #[must_use]
    pub fn after_success(&self, tokens: u64, last_taken: Option<u64>) -> u64 {
        (tokens + last_taken.unwrap_or(self.per_success)).min(self.max)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Retries granted in a row to a service that fails with this error, and what is left.
    fn against(quota: AwsQuota, error: ErrorKind) -> (u64, u64) {
        let (mut tokens, mut granted) = (quota.max, 0);
        while quota.grants(tokens, error) {
            tokens -= quota.cost_after(error);
            granted += 1;
        }
        (granted, tokens)
    }

    /// 500 / 5, 500 / 10; from 2026 on 35 times 14, which leaves 10, enough for two more after throttling.
    #[test]
    fn a_dead_service_gets_what_the_bucket_holds() {
        assert_eq!(against(AwsQuota::PRE_2026, ErrorKind::Unavailable), (100, 0));
        assert_eq!(against(AwsQuota::PRE_2026, ErrorKind::Timeout), (50, 0));
        assert_eq!(against(AwsQuota::V2_1, ErrorKind::Unavailable), (35, 10));
        assert_eq!(against(AwsQuota::V2_1, ErrorKind::Timeout), (35, 10));
        assert_eq!(against(AwsQuota::V2_1, ErrorKind::RateLimited), (100, 0));
        assert!(AwsQuota::V2_1.grants(10, ErrorKind::RateLimited) && !AwsQuota::V2_1.grants(10, ErrorKind::Refused));
    }

    /// 17 calls of three attempts get both retries, the 18th gets one, those that follow none.
    #[test]
    fn the_quota_runs_out_within_a_call() {
        let quota = AwsQuota::V2_1;
        let mut tokens = quota.max;
        let mut retries = || {
            let granted = (0..2).take_while(|_| {
                let grants = quota.grants(tokens, ErrorKind::Unavailable);
                tokens -= if grants { quota.cost } else { 0 };
                grants
            });
            granted.count()
        };
        let calls: Vec<usize> = (0..20).map(|_| retries()).collect();
        assert_eq!((calls[..17].iter().sum::<usize>(), &calls[17..]), (34, [1, 0, 0].as_slice()));
    }

    /// A call that needed two retries gets 14 of its 28 back; 14 that need none are worth a retry.
    #[test]
    fn a_success_gives_back_what_the_last_retry_took() {
        let quota = AwsQuota::V2_1;
        assert_eq!(quota.after_success(500 - 28, Some(14)), 486);
        assert_eq!((0..14).fold(0, |tokens, _| quota.after_success(tokens, None)), quota.cost);
        assert_eq!(quota.after_success(500, None), 500);
    }

    /// What becomes of an attempt of one of several calls under way.
    #[derive(Clone, Copy, Debug)]
    enum Step {
        Succeeds,
        Fails(ErrorKind),
        FailsForGood,
    }

    proptest! {
        /// What retries have taken and not got back was there at the start or came with a success at the first
        /// attempt: at most `max + per_success x those`, however the calls that share the quota follow on each other.
        #[test]
        fn no_schedule_keeps_more_than_came_in(
            quota in prop::sample::select(vec![AwsQuota::PRE_2026, AwsQuota::V2_1]),
            max in 14u64..100,
            steps in prop::collection::vec((0usize..4, prop_oneof![
                Just(Step::Succeeds),
                prop::sample::select(ErrorKind::ALL).prop_map(Step::Fails),
                Just(Step::FailsForGood),
            ]), 0..400),
        ) {
            let quota = AwsQuota { max, ..quota };
            let (mut tokens, mut came_in, mut taken, mut returned) = (max, max, 0, 0);
            let mut last_taken = [None; 4];
            for (call, step) in steps {
                last_taken[call] = match step {
                    Step::Succeeds => {
                        tokens = quota.after_success(tokens, last_taken[call]);
                        match last_taken[call] {
                            Some(last) => returned += last,
                            None => came_in += quota.per_success,
                        }
                        None
                    }
                    Step::Fails(error) if quota.grants(tokens, error) => {
                        tokens -= quota.cost_after(error);
                        taken += quota.cost_after(error);
                        Some(quota.cost_after(error))
                    }
                    Step::Fails(_) | Step::FailsForGood => None,
                };
                prop_assert!(taken + tokens <= came_in + returned && tokens <= max, "{taken} of {came_in}");
            }
        }
    }
}
