//! What retry budgets grant while nothing succeeds.

use crate::failure::{ErrorKind, ErrorSet};
use crate::policy::{BudgetRule, MICRO};

/// What callers see of a service that is down.
const OUTAGE: [ErrorKind; 5] =
    [ErrorKind::Unavailable, ErrorKind::Refused, ErrorKind::Reset, ErrorKind::Overloaded, ErrorKind::Timeout];

/// How many retries a state grants in a row at most, of a policy that retries on these errors, when an outage begins
/// and nothing succeeds any more: at once for a concurrency budget, within its time to live for a windowed one. None
/// without an end.
///
/// A bucket counts as full then, if successes fill it. Of what requests have paid in nothing counts.
pub fn in_outage(rule: &BudgetRule, retry_on: ErrorSet) -> Option<u64> {
    let retried = |kinds: &[ErrorKind]| kinds.iter().copied().filter(|&kind| retry_on.contains(kind)).collect();
    let mut errors: Vec<ErrorKind> = retried(&OUTAGE);
    if errors.is_empty() {
        errors = retried(ErrorKind::ALL);
    }
    let least = |cost: &dyn Fn(ErrorKind) -> u64| errors.iter().map(|&error| cost(error)).min();
    match rule {
        BudgetRule::TokenBucket(bucket) => {
            let full = if bucket.per_success > 0 { bucket.max } else { bucket.initial };
            let Some(cost) = least(&|error| bucket.cost_after(error)) else { return Some(0) };
            let Some(above) = full.checked_sub(bucket.floor.max(cost)) else { return Some(0) };
            above.checked_div(cost).map(|more| more + 1)
        }
        BudgetRule::AwsQuota(quota) => match least(&|error| quota.cost_after(error)) {
            Some(cost) => quota.max.checked_div(cost),
            None => Some(0),
        },
        // In thousandths of a token. The failure that asks has taken one, and more than half must be left.
        BudgetRule::GrpcThrottle(throttle) => Some((throttle.max - throttle.max / 2).saturating_sub(1) / 1_000),
        BudgetRule::WindowedRatio(ratio) => Some((ratio.reserve / ratio.withdrawal).max(0).unsigned_abs()),
        BudgetRule::RatioOfRequests(ratio) => Some(ratio.floor / MICRO),
        BudgetRule::Concurrency(concurrency) => Some(u64::from(concurrency.minimum)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{AwsQuota, Concurrency, Deposit, GrpcThrottle, RatioOfRequests, TokenBucket, WindowedRatio};
    use crate::time::Span;

    fn granted(rule: BudgetRule) -> Option<u64> {
        in_outage(&rule, ErrorSet::RETRYABLE)
    }

    fn bucket(max: u64, initial: u64, per_success: u64, cost: u64, floor: u64) -> BudgetRule {
        let [max, initial, cost, floor] = [max, initial, cost, floor].map(|tokens| tokens * MICRO);
        BudgetRule::TokenBucket(TokenBucket { max, initial, per_success, cost, cost_timeout: 2 * cost, floor })
    }

    /// A deposit bucket of 100 at 5 per retry has banked 20; from cold, with nothing to fill it, it starts with 50.
    #[test]
    fn a_bucket_grants_what_it_holds_when_it_is_full() {
        assert_eq!(granted(bucket(100, 50, MICRO, 5, 5)), Some(20));
        assert_eq!(granted(bucket(100, 50, 0, 5, 5)), Some(10));
        assert_eq!(granted(bucket(10, 10, 0, 3, 0)), Some(3));
        assert_eq!(granted(bucket(10, 10, 0, 3, 5)), Some(2), "10 and 7, and 4 is below the floor");
        assert_eq!(granted(bucket(10, 2, 0, 3, 0)), Some(0));
        assert_eq!(granted(bucket(10, 10, 0, 0, 1)), None, "what costs nothing has no end");
        let timeouts_only = ErrorSet::EMPTY.with(ErrorKind::Timeout);
        assert_eq!(in_outage(&bucket(10, 10, 0, 1, 1), timeouts_only), Some(5));
        assert_eq!(in_outage(&bucket(10, 10, 0, 1, 1), ErrorSet::EMPTY), Some(0));
    }

    /// The figures of the SDKs and of gRPC's throttle; Finagle's and Envoy's defaults.
    #[test]
    fn other_rules_have_their_own_reserves() {
        assert_eq!(granted(BudgetRule::AwsQuota(AwsQuota::PRE_2026)), Some(100));
        assert_eq!(granted(BudgetRule::AwsQuota(AwsQuota::V2_1)), Some(35));
        let throttle = |max| granted(BudgetRule::GrpcThrottle(GrpcThrottle { max, per_success: 100 }));
        assert_eq!([10_000, 9_000, 3_000, 2_000, 0].map(throttle), [Some(4), Some(4), Some(1), Some(0), Some(0)]);
        let finagle = WindowedRatio::finagle(Span::from_s(10), 10.0, 0.2, Deposit::AtStart);
        assert_eq!(granted(BudgetRule::WindowedRatio(finagle)), Some(100));
        let ratio = RatioOfRequests { ratio: MICRO / 10, floor: 3 * MICRO };
        assert_eq!(granted(BudgetRule::RatioOfRequests(ratio)), Some(3));
        let envoy = Concurrency { share: MICRO / 5, minimum: 3, counts_waiting: true };
        assert_eq!(granted(BudgetRule::Concurrency(envoy)), Some(3));
    }
}
