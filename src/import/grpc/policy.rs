//! `retryPolicy` and `hedgingPolicy`.

use crate::import::draft::{Block, Draft, Kind};
use crate::import::grpc::codes;
use crate::import::grpc::throttle::Throttle;
use crate::import::section::{Field, Section};
use crate::import::values::{duration, number, seconds};
use crate::time::Span;

/// The most attempts that gRPC clients make, unless they are told otherwise in code.
const ATTEMPTS_MAX: u64 = 5;

/// What clients do beside what the file says, and a scenario does not.
const NOT_MODELLED: &str = "push-back begins the backoff anew, a negative one stops retries; transparent retries";

/// A policy that tries again.
pub fn retries(mut section: Section<'_>, call: &Block, throttle: Option<&Throttle<'_>>, draft: &mut Draft) -> Block {
    let mut policy = draft.block(Kind::Policy, &call.name, &section.place);
    if let Some(field) = required("maxAttempts", &mut section, draft)
        && let Some(attempts) = limited(&field, draft)
    {
        policy.read("max_attempts", attempts as i64, &field);
    }
    waits(&mut section, &mut policy, draft);
    if let Some(field) = required("retryableStatusCodes", &mut section, draft) {
        codes::retried(&mut policy, &field, draft);
    }
    policy.default("retry_after.rule", "replace", "gRPC: `grpc-retry-pushback-ms` takes the place of the backoff");
    policy.left_out.push(NOT_MODELLED.to_owned());
    match throttle {
        Some(throttle) => throttle.write(&mut policy),
        None => policy.default("budget", "none", "gRPC: no `retryThrottling`"),
    }
    if let Some(field) = section.field("perAttemptRecvTimeout") {
        draft.leave_out(&mut policy, &field, "it is experimental, and most clients ignore it");
    }
    draft.unknown(Some(&mut policy), &section);
    policy
}

/// How long it waits: `min(initial * multiplier^(n - 1), max)`, and then up to a fifth more or less.
fn waits(section: &mut Section<'_>, policy: &mut Block, draft: &mut Draft) {
    let initial = required("initialBackoff", section, draft);
    let base = initial.as_ref().and_then(|field| draft.above_zero(field, seconds));
    let largest = required("maxBackoff", section, draft);
    let cap = largest.as_ref().and_then(|field| draft.above_zero(field, seconds));
    if let (Some(base), Some(cap), Some(field)) = (base, cap, &initial)
        && base > cap
    {
        let message = "the first wait is above `maxBackoff`: grpc-go cuts it, grpc-java and core do not";
        draft.surprise(&field.place(), message, "the scenario cuts it; make `maxBackoff` the larger one");
    }
    if let (Some(span), Some(field)) = (base, &initial) {
        policy.read("backoff.exponential.base", duration(span), field);
    }
    if let Some(field) = required("backoffMultiplier", section, draft)
        && let Some(factor) = draft.number(&field)
    {
        if factor > 0.0 {
            policy.read("backoff.exponential.factor", number(factor), &field);
        } else {
            draft.wrong(
                &field.node.place,
                "`backoffMultiplier` must be above 0",
                "gRPC refuses it: the usual one is 2",
            );
        }
    }
    if let (Some(span), Some(field)) = (cap, &largest) {
        policy.read("cap", duration(span), field);
    }
    policy.default("jitter.spread", 0.2, "gRPC: +-20 %, above the cap, too");
}

/// A policy that sends copies, and what the call needs for that.
pub fn hedges(mut section: Section<'_>, call: &mut Block, throttle: Option<&Throttle<'_>>, draft: &mut Draft) -> Block {
    let mut policy = draft.block(Kind::Policy, &call.name, &section.place);
    policy.default("max_attempts", 1, "hedges only: what fails is not tried again");
    if let Some(field) = required("maxAttempts", &mut section, draft)
        && let Some(attempts) = limited(&field, draft)
    {
        call.read("hedge.copies", (attempts - 1) as i64, &field);
    }
    match section.field("hedgingDelay") {
        Some(field) => {
            if let Some(span) = draft.parsed(&field, seconds) {
                // A scenario has no hedge without any time before it.
                call.read("hedge.after", duration(span.max(Span::from_ns(1))), &field);
            }
        }
        None => call.default("hedge.after", "1ns", "gRPC: all at once; grpc-java refuses it"),
    }
    let message = "only grpc-java hedges: other clients read this and do nothing";
    draft.surprise(&section.place, message, "see which client it is");
    if let Some(field) = section.field("nonFatalStatusCodes") {
        draft.leave_out(call, &field, "a hedge is sent when its time has come, not sooner because of an error");
    }
    if let Some(throttle) = throttle {
        let message = "`retryThrottling` holds back hedges, too: in the scenario nothing does";
        draft.aside(&throttle.place, message);
    }
    draft.unknown(Some(call), &section);
    policy
}

/// What must be there.
fn required<'t>(key: &str, section: &mut Section<'t>, draft: &mut Draft) -> Option<Field<'t>> {
    let field = section.field(key);
    if field.is_none() {
        let policy = section.path.rsplit('.').next().unwrap_or_default();
        draft.wrong(&section.place, format!("`{policy}` has no `{key}`"), "gRPC refuses it: put it in");
    }
    field
}

/// `maxAttempts`, up to what clients make of it.
fn limited(field: &Field<'_>, draft: &mut Draft) -> Option<u64> {
    let attempts = draft.whole(field)?;
    if attempts < 2 {
        let hint = "gRPC refuses it; without retries leave the policy out";
        draft.wrong(&field.node.place, "`maxAttempts` must be above 1", hint);
        return None;
    }
    if attempts > ATTEMPTS_MAX {
        let message = format!("gRPC clients make at most {ATTEMPTS_MAX} attempts, not {attempts}");
        draft.surprise(&field.place(), message, "grpc-go and grpc-java can be told otherwise in code");
    }
    Some(attempts.min(ATTEMPTS_MAX))
}
