//! What a record adds up to: every figure is a count, a sum or a maximum over the whole record.

use std::ops::Range;

use stormsim::failure::StopReason;
use stormsim::metrics::{CallTally, End, Outcome, ServiceTally, Timeline, WindowOutcome};
use stormsim::plan::{CallId, GroupId, Origin, Plan, ServiceId};
use stormsim::time::Instant;

use super::aftermath::aftermaths;
use super::levels;
use super::record::{AttemptEnd, Record, Request, RequestEnd, WorkEnd};
use super::series::Series;
use super::tallies::{calls_in, pool_waits, queue_waits, requests_begun_in, requests_in, service_in};

/// The outcome of a recorded replica.
pub fn outcome(plan: &Plan, seed: u64, replica: u32, record: &Record) -> Outcome {
    // Every event comes before the limit of virtual time.
    let measured = plan.warmup..Instant::LIMIT;
    let requests = |group| requests_begun_in(&measured, requests_of(record, group));
    let call = |call| CallTally {
        tokens_left: levels::tokens_left(plan, record, call).filter(|_| is_reached(record, &measured)),
        tokens_min: levels::tokens_min(plan, record, call, plan.warmup).filter(|_| is_reached(record, &measured)),
        pool_waits: pool_waits(plan, record, &measured, |id| call.is_none_or(|it| it == id)),
        ..call_tally(record, &measured, call)
    };
    let service = |service| ServiceTally {
        queue_waits: queue_waits(plan, record, &measured, service),
        arrivals_last_rps: arrivals_last_rps(plan, record, service),
        ..service_tally(plan, record, &measured, service)
    };
    Outcome {
        replica,
        warmup: plan.warmup,
        end: record.end,
        ended: record.ended,
        events: record.events,
        groups: groups(plan).map(|group| requests(Some(group))).collect(),
        calls: calls(plan).map(|id| call(Some(id))).collect(),
        services: services(plan).map(service).collect(),
        faults: aftermaths(plan, seed, replica, record),
        all_requests: requests(None),
        all_calls: call(None),
        windows: plan.windows.iter().map(|window| window_outcome(plan, record, window)).collect(),
        timeline: timeline(plan, record),
    }
}

fn window_outcome(plan: &Plan, record: &Record, window: &Range<Instant>) -> WindowOutcome {
    WindowOutcome {
        from: window.start,
        until: window.end,
        groups: groups(plan).map(|group| requests_in(window, requests_of(record, Some(group)))).collect(),
        calls: calls(plan).map(|call| call_tally(record, window, Some(call))).collect(),
        services: services(plan).map(|service| service_tally(plan, record, window, service)).collect(),
        all_requests: requests_in(window, requests_of(record, None)),
        all_calls: call_tally(record, window, None),
    }
}

fn groups(plan: &Plan) -> impl Iterator<Item = GroupId> {
    (0..plan.groups.len() as u32).map(GroupId)
}

fn calls(plan: &Plan) -> impl Iterator<Item = CallId> {
    (0..plan.calls.len() as u32).map(CallId)
}

fn services(plan: &Plan) -> impl Iterator<Item = ServiceId> {
    (0..plan.services.len() as u32).map(ServiceId)
}

/// Of one group, or of all.
fn requests_of(record: &Record, group: Option<GroupId>) -> impl Iterator<Item = &Request> + Clone {
    record.requests.iter().filter(move |request| group.is_none_or(|it| it == request.group))
}

/// Of one call, or of all.
fn call_tally(record: &Record, measured: &Range<Instant>, call: Option<CallId>) -> CallTally {
    calls_in(measured, record, |id| call.is_none_or(|it| it == id))
}

fn service_tally(plan: &Plan, record: &Record, measured: &Range<Instant>, service: ServiceId) -> ServiceTally {
    if is_reached(record, measured) {
        return service_in(measured, plan, record, service);
    }
    // Nothing was counted. What it can do does not depend on that.
    let service = &plan.services[service.index()];
    ServiceTally {
        workers: service.capacity.all_workers(),
        capacity_rps: service.capacity_rps(),
        ..ServiceTally::default()
    }
}

/// Over the last `hold` before the horizon.
fn arrivals_last_rps(plan: &Plan, record: &Record, service: ServiceId) -> Option<f64> {
    let hold = plan.recovery.hold;
    let horizon = plan.horizon.filter(|horizon| record.ended == End::Horizon && horizon.as_ns() >= hold.as_ns())?;
    let last = Instant::from_ns(horizon.as_ns() - hold.as_ns())..horizon;
    let arrived = record.works.iter().filter(|work| work.service == service && last.contains(&work.arrived.at));
    Some(arrived.count() as f64 / hold.as_s())
}

/// Whether the run goes on until the measuring begins. If not, not even a level is measured.
fn is_reached(record: &Record, measured: &Range<Instant>) -> bool {
    record.end >= measured.start
}

/// The whole run: no warmup is left out.
fn timeline(plan: &Plan, record: &Record) -> Timeline {
    let of_group = |group: GroupId| {
        let own_call = move |call: CallId| plan.calls[call.index()].origin == Origin::Group(group);
        request_series(record, move |request| request.group == group, own_call)
    };
    let waiting_anywhere = services(plan).flat_map(|service| service_series(plan, record, service).queued);
    let scenario = Series { queued: waiting_anywhere.collect(), ..request_series(record, |_| true, |_| true) };
    Timeline {
        bucket: plan.bucket,
        scenario: scenario.into_buckets(plan.bucket),
        groups: groups(plan).map(|group| of_group(group).into_buckets(plan.bucket)).collect(),
        calls: calls(plan).map(|call| call_series(record, call).into_buckets(plan.bucket)).collect(),
        services: services(plan)
            .map(|service| service_series(plan, record, service).into_buckets(plan.bucket))
            .collect(),
        tokens: levels::timeline(plan, record),
    }
}

/// Requests, with the attempts of the calls that `counts`.
fn request_series(record: &Record, belongs: impl Fn(&Request) -> bool, counts: impl Fn(CallId) -> bool) -> Series {
    let mut series = Series::default();
    for request in record.requests.iter().filter(|request| belongs(request)) {
        let until = request.ended.as_ref().map_or(record.end, |end| end.at);
        series.in_flight.push(request.began..until);
        if let Some(RequestEnd { at, result, .. }) = request.ended {
            if result.is_ok() { series.succeeded.push(at) } else { series.failed.push(at) }
        }
    }
    for attempt in record.attempts.iter().filter(|attempt| counts(attempt.id)) {
        series.attempts.extend(attempt.sent);
        series.retries.extend(attempt.sent.filter(|_| attempt.is_retry));
        series.hedges.extend(attempt.sent.filter(|_| attempt.hedge > 0));
        if let Some((at, AttemptEnd::GivenUp)) = attempt.ended {
            series.timeouts.push(at);
        }
    }
    series.budget_refused = refusals(record, counts).collect();
    series
}

/// When the budgets of the calls that `counts` refused.
fn refusals(record: &Record, counts: impl Fn(CallId) -> bool) -> impl Iterator<Item = Instant> {
    record.calls.iter().filter(move |call| counts(call.id)).filter_map(|call| match call.ended {
        Some((at, Err((_, StopReason::Budget)))) => Some(at),
        _ => None,
    })
}

fn call_series(record: &Record, call: CallId) -> Series {
    let mut series = Series { budget_refused: refusals(record, |id| id == call).collect(), ..Series::default() };
    for attempt in record.attempts.iter().filter(|attempt| attempt.id == call) {
        let until = attempt.ended.map_or(record.end, |(at, _)| at);
        series.queued.push(attempt.started..attempt.sent.unwrap_or(until));
        series.attempts.extend(attempt.sent);
        series.retries.extend(attempt.sent.filter(|_| attempt.is_retry));
        series.hedges.extend(attempt.sent.filter(|_| attempt.hedge > 0));
        series.in_flight.extend(attempt.sent.map(|sent| sent..until));
        match attempt.ended {
            None | Some((_, AttemptEnd::TurnedAway(_) | AttemptEnd::Abandoned | AttemptEnd::Outrun)) => {}
            Some((at, AttemptEnd::Answered(Ok(())))) => series.succeeded.push(at),
            Some((at, AttemptEnd::Answered(Err(_)))) => series.failed.push(at),
            Some((at, AttemptEnd::GivenUp)) => {
                series.failed.push(at);
                series.timeouts.push(at);
            }
        }
    }
    series
}

fn service_series(plan: &Plan, record: &Record, service: ServiceId) -> Series {
    let mut series = Series::default();
    for work in record.works.iter().filter(|work| work.service == service) {
        series.attempts.push(work.arrived.at);
        series.retries.extend(record.attempts[work.attempt].is_retry.then_some(work.arrived.at));
        series.in_flight.push(work.presence(record.end));
        series.queued.extend(work.wait_for_worker(record.end));
        if !plan.services[service.index()].capacity.is_unlimited() {
            series.busy.extend(work.time_with_worker(record.end));
        }
        match work.ended {
            None => {}
            Some((moment, WorkEnd::Success)) => series.succeeded.push(moment.at),
            Some((moment, _)) => series.failed.push(moment.at),
        }
    }
    for attempt in record.attempts.iter().filter(|attempt| plan.calls[attempt.id.index()].target == service) {
        series.hedges.extend(attempt.sent.filter(|_| attempt.hedge > 0));
        if let Some((at, AttemptEnd::GivenUp)) = attempt.ended {
            series.timeouts.push(at);
        }
    }
    series.budget_refused = refusals(record, |id| plan.calls[id.index()].target == service).collect();
    series
}
