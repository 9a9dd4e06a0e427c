//! What filters of a listener do before its routes are asked.

use super::cluster::percentage;
use crate::failure::ErrorKind;
use crate::import::draft::{Block, Draft};
use crate::import::section::{Field, Keys, Section};
use crate::import::statuses;
use crate::import::values::{duration, errors, number, seconds, share};

/// Puts what the filters of a listener do into a call that goes through them.
pub fn put(filters: &Field<'_>, call: &mut Block, draft: &mut Draft) {
    for mut filter in filters.sections(Keys::Loose) {
        let Some(field) = filter.field("name") else { continue };
        let name = field.node.scalar().unwrap_or_default();
        let config = filter.field("typed_config");
        let kind = config.and_then(|config| config.node.table()?.get("@type")?.node.scalar()).unwrap_or(name);
        let last = kind.rsplit(['.', '/']).next().unwrap_or(kind);
        let is = |what: &str| Keys::Loose.same(last, what);
        let why = if is("AdmissionControl") {
            if let Some(section) = draft.table(&mut filter, "typed_config") {
                admission(section, call, draft);
            }
            continue;
        } else if is("AdaptiveConcurrency") {
            "no limiter of a scenario measures how long answers take"
        } else if is("HTTPFault") || is("fault") {
            "put what it does in as a fault"
        } else if is("LocalRateLimit") || is("RateLimit") {
            "a limit on what comes in is a `limiter` of the service"
        } else {
            continue;
        };
        draft.leave_out(call, &Field { name, ..field }, why);
    }
}

/// `admission_control`.
fn admission(mut section: Section<'_>, call: &mut Block, draft: &mut Draft) {
    const ENVOY: &str = "Envoy";
    /// The least percentage of which a scenario takes the share.
    const LEAST: f64 = 1e-4;
    section.skip(&["@type"]);
    let enabled = runtime(&mut section, "enabled");
    if enabled.is_some_and(|field| draft.truth(&field) == Some(false)) {
        return;
    }
    match runtime_percent(&mut section, "sr_threshold", draft) {
        Some((percent, field)) if percent < LEAST => {
            draft.leave_out(call, &field, "the share of successes must be above 0");
        }
        Some((percent, field)) => call.read("throttle.admission.success", share(percent), &field),
        None => call.default("throttle.admission.success", 0.95, ENVOY),
    }
    match runtime(&mut section, "aggression") {
        // What is below 1 is 1.
        Some(field) => {
            if let Some(aggression) = draft.number(&field) {
                call.read("throttle.admission.aggression", number(aggression.max(1.0)), &field);
            }
        }
        None => call.default("throttle.admission.aggression", 1, ENVOY),
    }
    match runtime_percent(&mut section, "max_rejection_probability", draft) {
        Some((percent, field)) => call.read("throttle.admission.max", share(percent), &field),
        None => call.default("throttle.admission.max", 0.8, ENVOY),
    }
    match section.field("sampling_window") {
        Some(field) => {
            if let Some(span) = draft.above_zero(&field, seconds) {
                call.read("throttle.admission.window", duration(span), &field);
            }
        }
        None => call.default("throttle.admission.window", "30s", ENVOY),
    }
    if let Some(criteria) = draft.table(&mut section, "success_criteria") {
        successes(criteria, call, draft);
    } else {
        let failures = failures(&[(100, 499)]);
        call.default("throttle.admission.failure_on", errors(failures), "Envoy: statuses from 500 on, and no answer");
    }
    call.default("throttle.admission.shared_by", "group", "Envoy: whoever goes through it");
    let why = "a throttle of a scenario acts at any rate";
    draft.leave_out_all(call, &mut section, &["rps_threshold"], why);
    call.left_out.push(format!("{} (all routes of the listener share it; here each call has its own)", section.path));
    draft.surprise(
        &section.place,
        "Envoy asks it once for a request, before its retries; a scenario asks before each attempt",
        "retries are held back in the scenario that Envoy would make",
    );
    draft.unknown(Some(call), &section);
}

/// The value of a setting that may change at run time.
fn runtime<'t>(section: &mut Section<'t>, key: &str) -> Option<Field<'t>> {
    let field = section.field(key)?;
    match field.section(section.keys()) {
        Some(mut table) => table.field("default_value"),
        None => Some(field),
    }
}

fn runtime_percent<'t>(section: &mut Section<'t>, key: &str, draft: &mut Draft) -> Option<(f64, Field<'t>)> {
    let mut table = draft.table(section, key)?;
    percentage(&mut table, "default_value", draft)
}

/// What counts as a failure, of what counts as a success.
fn successes(mut section: Section<'_>, call: &mut Block, draft: &mut Draft) {
    if let Some(mut http) = draft.table(&mut section, "http_criteria") {
        let mut ranges = Vec::new();
        let list = http.field("http_success_status");
        for mut range in draft.tables(&mut http, "http_success_status") {
            let mut bound = |key: &str| range.field(key).and_then(|field| draft.whole(&field));
            // The end is none of it.
            if let (Some(start), Some(end)) = (bound("start"), bound("end")) {
                ranges.push((start, end.saturating_sub(1)));
            }
        }
        if let Some(field) = &list {
            call.read("throttle.admission.failure_on", errors(failures(&ranges)), field);
        }
    }
    if let Some(field) = section.field("grpc_criteria") {
        draft.leave_out(call, &field, "errors of a scenario have no status of gRPC");
    }
}

/// The errors that are none of these successes, as the filter sees them.
fn failures(successes: &[(u64, u64)]) -> Vec<ErrorKind> {
    let is_success = |status: u16| successes.iter().any(|(start, end)| (*start..=*end).contains(&u64::from(status)));
    ErrorKind::ALL.iter().copied().filter(|kind| !is_success(statuses::through_proxy(*kind))).collect()
}
