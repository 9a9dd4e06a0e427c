//! Tries of Envoy that take too long: what surprises in their timeouts, and hedges.

use super::cluster::RetryLimit;
use super::policy::Policy;
use crate::failure::ErrorKind;
use crate::import::draft::{Block, Draft};
use crate::import::section::{Field, Keys};
use crate::import::values::duration;
use crate::scenario::source::Place;
use crate::time::Span;

/// What surprises in a timeout for each try and one for all of them, where zero is none.
pub fn check_timeouts(
    place: &Place,
    retries: i64,
    on: &[ErrorKind],
    per_try: Option<(Span, &Field<'_>)>,
    total: Span,
    draft: &mut Draft,
) {
    let limit = if total == Span::ZERO {
        "nothing does".to_owned()
    } else {
        format!("that of the route does, after {}, and is final", duration(total))
    };
    match per_try {
        None if retries > 0 && on.contains(&ErrorKind::Timeout) => draft.surprise(
            place,
            format!("an attempt that hangs is not tried again: no timeout of a try ends it, and {limit}"),
            "set a timeout of a try, a good deal below that of the route",
        ),
        Some((span, field)) if total > Span::ZERO && span >= total => draft.surprise(
            &field.place(),
            format!("this is not below the timeout of the route, {}: it does nothing", duration(total)),
            "make it smaller",
        ),
        Some((_, field)) if retries > 0 && !on.contains(&ErrorKind::Timeout) => draft.surprise(
            &field.place(),
            "a try that takes too long is not tried again: no condition is for that",
            "add `reset`",
        ),
        Some((span, field))
            if total > Span::ZERO && i128::from(span.as_ns()) * i128::from(retries + 1) > i128::from(total.as_ns()) =>
        {
            let message = format!(
                "{} attempts of {} do not fit into the timeout of the route, {}",
                retries + 1,
                duration(span),
                duration(total)
            );
            draft.surprise(&field.place(), message, "where attempts hang there are fewer");
        }
        _ => {}
    }
}

/// Whether a `hedge_policy` hedges.
pub fn hedges(field: &Field<'_>) -> bool {
    let on = field.section(Keys::Loose).and_then(|mut section| section.field("hedge_on_per_try_timeout"));
    on.is_some_and(|on| on.node.scalar().is_some_and(|on| on.eq_ignore_ascii_case("true")))
}

/// `hedge_policy`: where a try takes too long, another goes out beside it.
pub fn hedge(field: &Field<'_>, policy: &Policy<'_>, limit: &RetryLimit<'_>, call: &mut Block, draft: &mut Draft) {
    let Some(mut section) = draft.table_of(field, Keys::Loose) else { return };
    let why = "Envoy itself does not do it yet";
    draft.leave_out_all(call, &mut section, &["initial_requests", "additional_request_chance"], why);
    let on = section.field("hedge_on_per_try_timeout");
    draft.unknown(Some(call), &section);
    let Some(on) = on else { return };
    if draft.truth(&on) != Some(true) {
        return;
    }
    let (Some((span, of_span)), Some(_)) = (&policy.per_try, &policy.name) else {
        let message = "this does nothing: there is no `per_try_timeout`, or nothing is tried again";
        draft.surprise(&on.place(), message, "set `per_try_timeout` and `retry_on`");
        return;
    };
    let idle = policy.idle.as_ref();
    if idle.is_some_and(|(idle, _)| idle <= span) {
        let message = "this does nothing: `per_try_idle_timeout` ends a try before `per_try_timeout` could";
        draft.surprise(&on.place(), message, "make `per_try_idle_timeout` longer");
        return;
    }
    if policy.retries == 0 || !limit.put_hedges(call, draft) {
        return;
    }
    // An attempt that takes too long is no failure any more: it goes on beside the next, until nothing has moved in it
    // for too long.
    match idle {
        Some((idle, field)) => call.read("timeout", duration(*idle), field),
        None => call.default("timeout", "none", "Envoy hedges: a try that takes too long goes on"),
    }
    call.read("hedge.after", duration(*span), of_span);
    call.read("hedge.copies", policy.retries.min(COPIES_MAX), &on);
    call.default("hedge.shared_by", "group", "Envoy: whoever goes through it");
    draft.surprise(
        &on.place(),
        "tries that fail and tries that take too long share `num_retries`; in the scenario each have as many",
        "where attempts both hang and fail it makes more of them than Envoy",
    );
}

/// The most copies of an attempt.
const COPIES_MAX: i64 = 10_000;
