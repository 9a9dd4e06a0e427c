//! Retries.

use crate::failure::{ErrorKind, ErrorSet};
use crate::import::draft::{Block, Draft, Kind};
use crate::import::resilience4j::exceptions;
use crate::import::resilience4j::module::{Layers, without_effect};
use crate::import::resilience4j::spring::{self, milliseconds};
use crate::import::section::Field;
use crate::import::values::{duration, errors, number};
use crate::time::Span;

/// What there is between the retries and the call.
#[derive(Clone, Copy)]
pub struct Around {
    pub breaker: bool,
    pub bulkhead: bool,
    /// One that limits something.
    pub rate_limiter: bool,
    pub time_limiter: bool,
}

/// The policy of an instance.
pub fn policy(mut layers: Layers<'_>, call: &Block, around: Around, draft: &mut Draft) -> Block {
    let mut policy = draft.block(Kind::Policy, &call.name, &call.place);
    match layers.field("maxAttempts") {
        Some(field) => {
            if let Some(attempts) = draft.count(&field, 1) {
                policy.read("max_attempts", attempts as i64, &field);
            }
        }
        None => policy.default("max_attempts", 3, "Resilience4j: 3 where `maxAttempts` is not set, the first included"),
    }
    waits(&mut layers, &mut policy, draft);
    retried(&mut layers, around, call, &mut policy, draft);
    policy.default("retry_after", "ignore", "Resilience4j: looks at no header");
    policy.default("budget", "none", "Resilience4j: only the attempts of a call are limited");
    let by_class = "a class of the application decides it";
    let classes =
        ["retryExceptionPredicate", "resultPredicate", "intervalBiFunction", "consumeResultBeforeRetryAttempt"];
    layers.leave_out(&classes, by_class, &mut policy, draft);
    // Which exception the application gets in the end, and what is recorded of it.
    layers.skip(&["failAfterMaxAttempts", "eventConsumerBufferSize", "ignoreClassBindingExceptions"]);
    layers.end(&mut policy, draft);
    policy
}

/// How long it waits: the nearest level that has a `waitDuration` decides how that is used, with flags of its own or
/// from beneath it.
fn waits(layers: &mut Layers<'_>, policy: &mut Block, draft: &mut Draft) {
    let wait = layers.with_level("waitDuration");
    let level = wait.as_ref().map_or(layers.depth(), |(level, _)| *level);
    ignored_flags(layers, level, draft);
    let Some((level, field)) = wait else {
        return policy.default("backoff.fixed", "500ms", "Resilience4j: 500 ms where `waitDuration` is not set");
    };
    let Some(wait) = draft.parsed(&field, milliseconds) else { return };
    let exponential = is_on(layers, level, "enableExponentialBackoff", draft);
    let randomized = is_on(layers, level, "enableRandomizedWait", draft);
    if wait == Span::ZERO {
        if exponential || randomized {
            let hint = "Resilience4j does not start with it: make it longer, or take the flags out";
            draft.wrong(&field.node.place, format!("`{}` must be at least 1 ms", field.path), hint);
        }
        return policy.read("backoff", "none", &field);
    }
    let multiplier = layers.from(level, "exponentialBackoffMultiplier");
    let most = layers.from(level, "exponentialMaxWaitDuration");
    // This one is not taken over from beneath.
    let factor = layers.at(level, "randomizedWaitFactor");
    layers.skip(&["exponentialBackoffMultiplier", "exponentialMaxWaitDuration", "randomizedWaitFactor"]);
    if exponential {
        policy.read("backoff.exponential.base", duration(wait), &field);
        growth(multiplier.as_ref(), policy, draft);
        cap(most.as_ref(), multiplier.is_some() && (factor.is_some() || !randomized), randomized, policy, draft);
    } else {
        policy.read("backoff.fixed", duration(wait), &field);
        for field in [&multiplier, &most].into_iter().flatten() {
            without_effect(field, "`enableExponentialBackoff` is not on", "set it to `true`", draft);
        }
    }
    if randomized {
        // Without a multiplier the randomized exponential backoff has no factor of its own either.
        let counts = !exponential || multiplier.is_some();
        spread(layers, factor.as_ref(), counts, policy, draft);
    } else if let Some(field) = &factor {
        without_effect(field, "`enableRandomizedWait` is not on", "set it to `true`", draft);
    }
    if exponential || randomized {
        policy.default("granularity", "1ms", "Resilience4j: whole milliseconds, cut down at each step");
    }
}

/// Flags that lie above the `waitDuration` that is used, and so do nothing.
fn ignored_flags(layers: &mut Layers<'_>, level: usize, draft: &mut Draft) {
    let flags = ["enableExponentialBackoff", "enableRandomizedWait"];
    let values = ["exponentialBackoffMultiplier", "exponentialMaxWaitDuration", "randomizedWaitFactor"];
    for key in flags.into_iter().chain(values) {
        if let Some(field) = layers.above(level, key)
            && (values.contains(&key) || spring::truth(&field, draft) == Some(true))
        {
            let why = "no `waitDuration` is set beside it";
            without_effect(&field, why, "set `waitDuration` there, too: it counts only together with that", draft);
        }
    }
}

fn is_on(layers: &mut Layers<'_>, level: usize, key: &str, draft: &mut Draft) -> bool {
    let flag = layers.from(level, key);
    layers.skip(&[key]);
    flag.and_then(|flag| spring::truth(&flag, draft)).unwrap_or(false)
}

fn growth(multiplier: Option<&Field<'_>>, policy: &mut Block, draft: &mut Draft) {
    let Some(field) = multiplier else {
        return policy.default("backoff.exponential.factor", 1.5, "Resilience4j: 1.5 where no multiplier is set");
    };
    match draft.number(field) {
        Some(factor) if factor > 0.0 => policy.read("backoff.exponential.factor", number(factor), field),
        Some(_) => draft.wrong(&field.node.place, format!("`{}` must be above 0", field.path), "the usual one is 2"),
        None => {}
    }
}

fn cap(most: Option<&Field<'_>>, counts: bool, randomized: bool, policy: &mut Block, draft: &mut Draft) {
    let Some(field) = most else { return };
    if !counts {
        let missing = if randomized { "both multiplier and factor" } else { "`exponentialBackoffMultiplier`" };
        let why = format!("{missing} must be set for it");
        return without_effect(field, &why, "set what is missing: as it is, waits grow without end", draft);
    }
    if let Some(most) = draft.above_zero(field, milliseconds) {
        policy.read("cap", duration(most), field);
        if randomized {
            policy.default(
                "cap_order",
                "after_jitter",
                "Resilience4j: cut after the draw, so at the cap all wait alike",
            );
        }
    }
}

fn spread(layers: &mut Layers<'_>, factor: Option<&Field<'_>>, counts: bool, policy: &mut Block, draft: &mut Draft) {
    const WHY: &str = "Resilience4j: 0.5 where no factor is set";
    let Some(field) = factor else {
        if let Some(beneath) = layers.field("randomizedWaitFactor") {
            let why = "the instance above it has a `waitDuration` of its own, and the factor is not taken over";
            without_effect(&beneath, why, "repeat it beside that `waitDuration`", draft);
        }
        return policy.default("jitter.spread", 0.5, WHY);
    };
    let Some(factor) = draft.number(field) else { return };
    if !(0.0..1.0).contains(&factor) {
        let message = format!("`{}` must be from 0 to below 1", field.path);
        return draft.wrong(&field.node.place, message, "Resilience4j does not start with it: the default is 0.5");
    }
    if counts {
        policy.read("jitter.spread", number(factor), field);
    } else {
        without_effect(field, "no `exponentialBackoffMultiplier` is set", "set it, too", draft);
        policy.default("jitter.spread", 0.5, WHY);
    }
}

/// What it tries again: every exception, unless lists say otherwise.
fn retried(layers: &mut Layers<'_>, around: Around, call: &Block, policy: &mut Block, draft: &mut Draft) {
    let keys = ("retryExceptions", "ignoreExceptions");
    let Some(found) = exceptions::errors(layers, keys, around.time_limiter, policy, draft) else {
        let kinds = ErrorKind::ALL.iter().copied().filter(|kind| ErrorSet::RETRYABLE.contains(*kind));
        return policy.default("retry_on", errors(kinds), "assumed: none of `retryExceptions` is known here");
    };
    let local = [
        (around.breaker, ErrorKind::BreakerOpen, "CallNotPermittedException", "an open circuit breaker"),
        (around.bulkhead, ErrorKind::PoolTimeout, "BulkheadFullException", "a full bulkhead"),
        (around.rate_limiter, ErrorKind::Throttled, "RequestNotPermitted", "a rate limiter"),
    ];
    for (_, _, class, what) in local.into_iter().filter(|(is_there, kind, ..)| *is_there && found.kinds.contains(kind))
    {
        let message = format!("`{}` tries again what {what} has refused", call.name);
        draft.surprise(layers.own.key, message, format!("put `{class}` into `ignoreExceptions`"));
    }
    match &found.field {
        Some(field) => policy.read("retry_on", errors(found.kinds), field),
        None => policy.default("retry_on", errors(found.kinds), "Resilience4j: every exception"),
    }
}
