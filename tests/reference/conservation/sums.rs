//! Figures that must add up to others of the same outcome.

use std::cmp::Reverse;

use proptest::prelude::*;
use stormsim::failure::REFUSALS;
use stormsim::metrics::{Bucket, CallTally, Outcome, RequestTally, ServiceTally};

/// Every count and every integral of the timeline sums to that of the whole run.
pub fn the_timeline_sums_to_the_counts(outcome: &Outcome) -> Result<(), TestCaseError> {
    let sums = |buckets: &[Bucket]| {
        buckets.iter().fold(Bucket::default(), |sum, bucket| Bucket {
            index: 0,
            attempts: sum.attempts + bucket.attempts,
            retries: sum.retries + bucket.retries,
            succeeded: sum.succeeded + bucket.succeeded,
            failed: sum.failed + bucket.failed,
            timeouts: sum.timeouts + bucket.timeouts,
            budget_refused: sum.budget_refused + bucket.budget_refused,
            hedges: sum.hedges + bucket.hedges,
            in_flight_ns: sum.in_flight_ns + bucket.in_flight_ns,
            queued_ns: sum.queued_ns + bucket.queued_ns,
            busy_ns: sum.busy_ns + bucket.busy_ns,
        })
    };
    let (sum, calls, requests) = (sums(&outcome.timeline.scenario), &outcome.all_calls, &outcome.all_requests);
    prop_assert_eq!((sum.attempts, sum.retries, sum.timeouts), (calls.attempts, calls.retries, calls.timeouts));
    prop_assert_eq!((sum.succeeded, sum.failed), (requests.succeeded, requests.failed() + requests.unknown));
    prop_assert_eq!((sum.budget_refused, sum.hedges), (calls.budget_refused, calls.protection.hedges));
    for (buckets, call) in outcome.timeline.calls.iter().zip(&outcome.calls) {
        let sum = sums(buckets);
        prop_assert_eq!((sum.attempts, sum.retries, sum.timeouts), (call.attempts, call.retries, call.timeouts));
        prop_assert_eq!((sum.succeeded, sum.failed), (call.succeeded, call.errors + call.timeouts));
        prop_assert_eq!((sum.budget_refused, sum.hedges), (call.budget_refused, call.protection.hedges));
    }
    let mut queued_ns = 0;
    for (buckets, service) in outcome.timeline.services.iter().zip(&outcome.services) {
        let sum = sums(buckets);
        prop_assert_eq!((sum.attempts, sum.retries), (service.arrivals, service.retry_arrivals));
        prop_assert_eq!(sum.succeeded + sum.failed, service.completed + service.refused() + service.dropped);
        prop_assert_eq!((sum.in_flight_ns, sum.busy_ns), (service.in_flight_ns, service.busy_ns));
        queued_ns += sum.queued_ns;
    }
    prop_assert_eq!(sum.queued_ns, queued_ns);
    Ok(())
}

/// The windows of an outcome have no gap, and each thing that happened is in one of them: they sum to the whole.
pub fn windows_sum_to_the_whole(outcome: &Outcome) -> Result<(), TestCaseError> {
    let windows = || outcome.windows.iter();
    let requests = &outcome.all_requests;
    let sum = |count: fn(&RequestTally) -> u64| windows().map(|it| count(&it.all_requests)).sum::<u64>();
    prop_assert_eq!(sum(|it| it.requests), requests.requests);
    prop_assert_eq!(sum(|it| it.succeeded), requests.succeeded);
    prop_assert_eq!(sum(|it| it.succeeded_first_try), requests.succeeded_first_try);
    prop_assert_eq!(sum(|it| it.degraded), requests.degraded);
    prop_assert_eq!(sum(|it| it.failed()), requests.failed());
    prop_assert_eq!(sum(|it| it.unknown), requests.unknown);
    prop_assert_eq!(sum(|it| it.dead_letters), requests.dead_letters);
    prop_assert_eq!(sum(|it| it.stopped_by.iter().sum()), requests.stopped_by.iter().sum::<u64>());

    let calls = &outcome.all_calls;
    let sum = |count: fn(&CallTally) -> u64| windows().map(|it| count(&it.all_calls)).sum::<u64>();
    prop_assert_eq!(sum(|it| it.attempts), calls.attempts);
    prop_assert_eq!(sum(|it| it.retries), calls.retries);
    prop_assert_eq!(sum(|it| it.lost), calls.lost);
    prop_assert_eq!(sum(|it| it.succeeded), calls.succeeded);
    prop_assert_eq!(sum(|it| it.errors), calls.errors);
    prop_assert_eq!(sum(|it| it.timeouts), calls.timeouts);
    prop_assert_eq!(sum(|it| it.abandoned), calls.abandoned);
    prop_assert_eq!(sum(|it| it.pool_rejected), calls.pool_rejected);
    prop_assert_eq!(sum(|it| it.late_responses), calls.late_responses);
    prop_assert_eq!(sum(|it| it.deadline_stopped), calls.deadline_stopped);
    prop_assert_eq!(sum(|it| it.budget_refused), calls.budget_refused);
    prop_assert_eq!(sum(|it| it.protection.breaker_rejected), calls.protection.breaker_rejected);
    prop_assert_eq!(sum(|it| it.protection.breaker_rejected_retries), calls.protection.breaker_rejected_retries);
    prop_assert_eq!(sum(|it| it.protection.breaker_opened), calls.protection.breaker_opened);
    prop_assert_eq!(sum(|it| it.protection.throttled), calls.protection.throttled);
    prop_assert_eq!(sum(|it| it.protection.hedges), calls.protection.hedges);
    prop_assert_eq!(sum(|it| it.protection.hedge_wins), calls.protection.hedge_wins);
    prop_assert_eq!(sum(|it| it.protection.hedges_left_out), calls.protection.hedges_left_out);
    prop_assert_eq!(windows().filter_map(|it| it.all_calls.last_retry).max(), calls.last_retry);
    prop_assert_eq!(windows().filter_map(|it| it.all_calls.first_budget_refusal).min(), calls.first_budget_refusal);
    prop_assert!(windows().all(|it| it.all_calls.attempt_peak <= calls.attempt_peak), "a part peaks above the whole");

    for (index, whole) in outcome.services.iter().enumerate() {
        let parts = || windows().map(|window| &window.services[index]);
        let sum = |count: fn(&ServiceTally) -> u64| parts().map(count).sum::<u64>();
        prop_assert_eq!(sum(|it| it.arrivals), whole.arrivals);
        prop_assert_eq!(sum(|it| it.original_arrivals), whole.original_arrivals);
        prop_assert_eq!(sum(|it| it.retry_arrivals), whole.retry_arrivals);
        prop_assert_eq!(sum(|it| it.completed), whole.completed);
        prop_assert_eq!(sum(|it| it.succeeded), whole.succeeded);
        prop_assert_eq!(sum(|it| it.faulted), whole.faulted);
        prop_assert_eq!(sum(|it| it.executions), whole.executions);
        prop_assert_eq!(sum(|it| it.duplicate_effects), whole.duplicate_effects);
        prop_assert_eq!(sum(|it| it.recognised), whole.recognised);
        prop_assert_eq!(sum(|it| it.ejections), whole.ejections);
        for by in 0..REFUSALS {
            prop_assert_eq!(parts().map(|it| it.refused_by[by]).sum::<u64>(), whole.refused_by[by]);
        }
        prop_assert_eq!(sum(|it| it.dropped), whole.dropped);
        prop_assert_eq!(sum(|it| it.cancelled), whole.cancelled);
        prop_assert_eq!(sum(|it| it.queued), whole.queued);
        prop_assert_eq!(sum(|it| it.begun), whole.begun);
        prop_assert_eq!(parts().map(|it| it.queue_wait_ns).sum::<u128>(), whole.queue_wait_ns);
        prop_assert_eq!(parts().map(|it| it.busy_ns).sum::<u128>(), whole.busy_ns);
        prop_assert_eq!(parts().map(|it| it.service_ns).sum::<u128>(), whole.service_ns);
        prop_assert_eq!(parts().map(|it| it.wasted_ns).sum::<u128>(), whole.wasted_ns);
        prop_assert_eq!(parts().map(|it| it.queue_max).max(), Some(whole.queue_max));
        prop_assert_eq!(parts().map(|it| it.in_flight_ns).sum::<u128>(), whole.in_flight_ns);
        prop_assert_eq!(parts().map(|it| it.sojourn_ns).sum::<u128>(), whole.sojourn_ns);
        let highest = parts().max_by_key(|it| (it.in_flight_max, Reverse(it.in_flight_max_at)));
        prop_assert_eq!(highest.map(|it| it.in_flight_max), Some(whole.in_flight_max));
        prop_assert_eq!(highest.map(|it| it.in_flight_max_at), Some(whole.in_flight_max_at));
    }
    Ok(())
}
