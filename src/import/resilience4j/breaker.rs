//! Circuit breakers.

use crate::failure::ErrorKind;
use crate::import::draft::{Block, Draft};
use crate::import::resilience4j::exceptions;
use crate::import::resilience4j::module::{Layers, without_effect};
use crate::import::resilience4j::spring::{self, milliseconds};
use crate::import::section::{Field, Keys};
use crate::import::values::{duration, errors, number, percent};
use crate::time::Span;

/// The largest window in calls that a scenario takes.
const CALLS_MAX: u64 = 1_000_000;

/// The breaker of a call; `has_limit` says whether a time limiter ends its attempts.
pub fn breaker(mut layers: Layers<'_>, has_limit: bool, call: &mut Block, draft: &mut Draft) {
    trip(&mut layers, call, draft);
    open(&mut layers, call, draft);
    match layers.field("permittedNumberOfCallsInHalfOpenState") {
        Some(field) => {
            if let Some(probes) = draft.count(&field, 1) {
                call.read("breaker.half_open", probes as i64, &field);
            }
        }
        None => call.default("breaker.half_open", 10, "Resilience4j: 10 probes"),
    }
    match exceptions::errors(&mut layers, ("recordExceptions", "ignoreExceptions"), has_limit, call, draft) {
        Some(exceptions::Errors { kinds, field: Some(field) }) => {
            call.read("breaker.failure_on", errors(kinds), &field);
        }
        Some(found) => call.default("breaker.failure_on", errors(found.kinds), "Resilience4j: every exception"),
        None => {
            let kinds = ErrorKind::ALL.iter().copied().filter(|kind| *kind != ErrorKind::Invalid);
            call.default("breaker.failure_on", errors(kinds), "assumed: none of `recordExceptions` is known here");
        }
    }
    call.default("breaker.position", "inside", "Resilience4j: the retries are outside, each attempt counts");
    let one_trip = "a breaker of a scenario opens at failures or at slow calls, not at either";
    layers.leave_out(&["slowCallRateThreshold", "slowCallDurationThreshold"], one_trip, call, draft);
    let no_end = "a breaker of a scenario stays half-open until its probes have ended";
    layers.leave_out(&["maxWaitDurationInHalfOpenState"], no_end, call, draft);
    let by_class = "a class of the application decides it";
    let classes = ["recordFailurePredicate", "recordResultPredicate", "ignoreExceptionPredicate"];
    layers.leave_out(&classes, by_class, call, draft);
    layers.leave_out(&["initialState"], "a breaker of a scenario begins closed", call, draft);
    // When it is open for long enough, the next call finds it half-open in any case. The others are about reports.
    layers.skip(&[
        "automaticTransitionFromOpenToHalfOpenEnabled",
        "registerHealthIndicator",
        "allowHealthIndicatorToFail",
        "eventConsumerBufferSize",
        "writableStackTraceEnabled",
        "ignoreUnknownExceptions",
        "ignoreClassBindingExceptions",
        "enableExponentialBackoff",
        "enableRandomizedWait",
    ]);
    layers.end(call, draft);
}

/// What opens it.
fn trip(layers: &mut Layers<'_>, call: &mut Block, draft: &mut Draft) {
    match layers.field("failureRateThreshold") {
        Some(field) => match draft.number(&field) {
            Some(threshold) if threshold > 0.0 && threshold <= 100.0 && percent(threshold) > 0.0 => {
                call.read("breaker.trip.ratio.failures", number(percent(threshold)), &field);
            }
            Some(_) => {
                let message = format!("`{}` must be above 0, at most 100", field.path);
                draft.wrong(&field.node.place, message, "it is in per cent: the default is 50");
            }
            None => {}
        },
        None => call.default("breaker.trip.ratio.failures", 0.5, "Resilience4j: 50 %"),
    }
    let kind = layers.field("slidingWindowType");
    let is_timed = kind.as_ref().is_some_and(|field| {
        let kind = draft.parsed(field, |text| {
            let is = |name| Keys::Loose.same(text, name);
            if is("TIME_BASED") || is("COUNT_BASED") {
                Ok(is("TIME_BASED"))
            } else {
                Err("`COUNT_BASED` or `TIME_BASED`".to_owned())
            }
        });
        kind == Some(true)
    });
    let size = layers.field("slidingWindowSize");
    let window = size.as_ref().map_or(Some(100), |field| draft.count(field, 1));
    let least = layers.field("minimumNumberOfCalls");
    let calls = least.as_ref().map_or(Some(100), |field| draft.count(field, 1));
    let (Some(window), Some(calls)) = (window, calls) else { return };
    if is_timed {
        let span = duration(Span::from_ns(window * 1_000_000_000));
        match &size {
            Some(field) => call.read("breaker.trip.ratio.window", span, field),
            None => call.default("breaker.trip.ratio.window", span, "Resilience4j: 100 s"),
        }
    } else {
        match &size {
            Some(field) if window > CALLS_MAX => {
                let message = format!("`{}` is more than the {CALLS_MAX} that a scenario takes", field.path);
                draft.wrong(&field.node.place, message, "make the window smaller");
            }
            Some(field) => call.read("breaker.trip.ratio.calls", window as i64, field),
            None => call.default("breaker.trip.ratio.calls", window as i64, "Resilience4j: the last 100 calls"),
        }
    }
    // A window of calls that is full is enough.
    let enough = if is_timed { calls } else { calls.min(window) };
    match &least {
        Some(field) => call.read("breaker.trip.ratio.min_calls", enough as i64, field),
        None => call.default("breaker.trip.ratio.min_calls", enough as i64, "Resilience4j: 100, or the window"),
    }
    if let (true, None, Some(field)) = (is_timed, &least, &kind) {
        let name = layers.own.name;
        let message = format!("the circuit breaker of `{name}` never opens with fewer than 100 calls in {window} s");
        draft.surprise(&field.place(), message, "set `minimumNumberOfCalls` to what comes in a window at quiet times");
    }
}

/// For how long it is open: the nearest level that has a `waitDurationInOpenState` says how that grows.
fn open(layers: &mut Layers<'_>, call: &mut Block, draft: &mut Draft) {
    let wait = layers.with_level("waitDurationInOpenState");
    let growth = ["exponentialBackoffMultiplier", "exponentialMaxWaitDurationInOpenState", "randomizedWaitFactor"];
    let Some((level, field)) = wait else {
        layers.skip(&growth);
        return call.default("breaker.open_for", "60s", "Resilience4j: 60 s");
    };
    if let Some(wait) = draft.above_zero(&field, milliseconds) {
        call.read("breaker.open_for", duration(wait), &field);
    }
    let [multiplier, most, factor] = growth.map(|key| layers.at(level, key));
    layers.skip(&growth);
    let mut is_on =
        |key, draft: &mut Draft| layers.at(level, key).is_some_and(|it| spring::truth(&it, draft) == Some(true));
    let exponential = is_on("enableExponentialBackoff", draft);
    let randomized = is_on("enableRandomizedWait", draft);
    if exponential && randomized {
        let hint = "Resilience4j does not start with it: take one of the two out";
        draft.wrong(&field.place(), "the wait of the open state is both exponential and randomized", hint);
    } else if exponential {
        open_growth(multiplier.as_ref(), most.as_ref(), call, draft);
    } else if randomized {
        match factor.as_ref().map(|field| (field, draft.number(field))) {
            Some((field, Some(factor))) if (0.0..1.0).contains(&factor) => {
                call.read("breaker.open_jitter.spread", number(factor), field);
            }
            Some((field, Some(_))) => {
                let message = format!("`{}` must be from 0 to below 1", field.path);
                draft.wrong(&field.node.place, message, "the default is 0.5");
            }
            Some((_, None)) => {}
            None => call.default("breaker.open_jitter.spread", 0.5, "Resilience4j: 0.5"),
        }
    }
}

/// How the open state grows when probes fail.
fn open_growth(multiplier: Option<&Field<'_>>, most: Option<&Field<'_>>, call: &mut Block, draft: &mut Draft) {
    let Some(field) = multiplier else {
        if let Some(field) = most {
            without_effect(field, "`exponentialBackoffMultiplier` must be set for it", "set it, too", draft);
        }
        return call.default("breaker.open_factor", 1.5, "Resilience4j: 1.5 where no multiplier is set");
    };
    match draft.number(field) {
        Some(factor) if factor >= 1.0 => call.read("breaker.open_factor", number(factor), field),
        Some(_) => {
            let message = format!("`{}` must be at least 1 in a scenario", field.path);
            draft.wrong(&field.node.place, message, "with less the breaker is open for a shorter time each time");
        }
        None => {}
    }
    if let Some(field) = most
        && let Some(most) = draft.above_zero(field, spring::duration)
    {
        call.read("breaker.open_cap", duration(most), field);
    }
}
