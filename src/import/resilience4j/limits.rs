//! What limits one attempt: time, slots, rates.

use crate::import::draft::{Block, Draft};
use crate::import::resilience4j::module::Layers;
use crate::import::resilience4j::spring;
use crate::import::values::duration;

/// The time limiter: one attempt, the wait for a slot of the bulkhead included.
pub fn time(mut layers: Layers<'_>, call: &mut Block, draft: &mut Draft) {
    match layers.field("timeoutDuration") {
        Some(field) => {
            if let Some(span) = draft.above_zero(&field, spring::duration) {
                call.read("timeout", duration(span), &field);
            }
        }
        None => call.default("timeout", "1s", "Resilience4j: 1 s, for each attempt"),
    }
    // Whether the thread that waits is interrupted: the server is told nothing in either case.
    layers.skip(&["cancelRunningFuture", "eventConsumerBufferSize"]);
    layers.end(call, draft);
}

/// The bulkhead: slots for attempts, which are free between them.
pub fn bulkhead(mut layers: Layers<'_>, has_breaker: bool, call: &mut Block, draft: &mut Draft) {
    match layers.field("maxConcurrentCalls") {
        Some(field) => {
            if let Some(size) = draft.count(&field, 1) {
                call.read("pool.size", size as i64, &field);
            }
        }
        None => call.default("pool.size", 25, "Resilience4j: 25 at once"),
    }
    match layers.field("maxWaitDuration") {
        Some(field) => {
            if let Some(wait) = draft.parsed(&field, spring::milliseconds) {
                call.read("pool.max_wait", duration(wait), &field);
            }
        }
        None => call.default("pool.max_wait", "0s", "Resilience4j: a full bulkhead refuses at once"),
    }
    if has_breaker {
        let message = "what a full bulkhead refuses is a failure to the circuit breaker around it";
        let hint = "put `BulkheadFullException` into its `ignoreExceptions`: in the scenario it is none";
        draft.surprise(layers.own.key, message, hint);
    }
    layers.skip(&["writableStackTraceEnabled", "eventConsumerBufferSize", "fairCallHandlingEnabled"]);
    layers.end(call, draft);
}

/// The rate limiter, for which a scenario has no place: its limiters stand at services. Whether it limits anything.
pub fn rate(mut layers: Layers<'_>, call: &mut Block, draft: &mut Draft) -> bool {
    let why = "a rate limit of the caller; a `limiter` of a scenario stands at the service";
    let has_period = layers.field("limitRefreshPeriod").is_some();
    if !has_period {
        let message = format!("the rate limiter of `{}` limits nothing: its period is 500 ns", layers.own.name);
        draft.surprise(layers.own.key, message, "set `limitRefreshPeriod`, such as `1s`");
    }
    draft.leave_out(call, &layers.own, why);
    layers.skip(&[
        "limitForPeriod",
        "timeoutDuration",
        "registerHealthIndicator",
        "allowHealthIndicatorToFail",
        "subscribeForEvents",
        "eventConsumerBufferSize",
        "writableStackTraceEnabled",
        "drainPermissionsOnResult",
    ]);
    layers.end(call, draft);
    has_period
}
