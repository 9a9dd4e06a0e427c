//! What a record adds up to: every figure is a count, a sum or a maximum over the whole record.

use stormsim::failure::StopReason;
use stormsim::metrics::{CallTally, Outcome, RequestTally, ServiceTally, Timeline};
use stormsim::plan::{CallId, GroupId, Origin, Plan, ServiceId};
use stormsim::time::{Instant, Span};

use super::record::{Attempt, AttemptEnd, Call, Record, Reply, Request, RequestEnd, Work};
use super::series::{Series, most_at_once, peak};

/// The outcome of a recorded replica.
pub fn outcome(plan: &Plan, replica: u32, record: &Record) -> Outcome {
    let groups = || (0..plan.groups.len() as u32).map(GroupId);
    let calls = || (0..plan.calls.len() as u32).map(CallId);
    let services = || (0..plan.services.len() as u32).map(ServiceId);
    Outcome {
        replica,
        end: record.end,
        ended: record.ended,
        events: record.events,
        groups: groups().map(|group| request_tally(record, |request| request.group == group)).collect(),
        calls: calls().map(|call| call_tally(record, |id| id == call)).collect(),
        services: services().map(|service| service_tally(record, service)).collect(),
        all_requests: request_tally(record, |_| true),
        all_calls: call_tally(record, |_| true),
        timeline: Timeline {
            bucket: plan.bucket,
            scenario: request_series(record, |_| true, |_| true).into_buckets(plan.bucket),
            groups: groups()
                .map(|group| {
                    let own_call = |call: CallId| plan.calls[call.index()].origin == Origin::Group(group);
                    request_series(record, |request| request.group == group, own_call).into_buckets(plan.bucket)
                })
                .collect(),
            calls: calls().map(|call| call_series(record, call).into_buckets(plan.bucket)).collect(),
            services: services()
                .map(|service| service_series(plan, record, service).into_buckets(plan.bucket))
                .collect(),
        },
    }
}

fn count<T>(items: &[&T], counted: impl Fn(&T) -> bool) -> u64 {
    items.iter().filter(|item| counted(item)).count() as u64
}

fn request_tally(record: &Record, belongs: impl Fn(&Request) -> bool) -> RequestTally {
    let mut tally = RequestTally::default();
    for request in record.requests.iter().filter(|request| belongs(request)) {
        tally.requests += 1;
        let Some(RequestEnd { at, result, attempts }) = request.ended else { continue };
        let took = at.since(request.began);
        tally.last_end = tally.last_end.max(Some(at));
        match result {
            Ok(()) => {
                tally.succeeded += 1;
                tally.succeeded_first_try += u64::from(attempts == 1);
                tally.latency.record(took);
            }
            Err((error, reason)) => {
                tally.failed_by[error as usize] += 1;
                tally.stopped_by[reason as usize] += 1;
                tally.give_up_max = tally.give_up_max.max(Some(took));
            }
        }
    }
    tally
}

impl Attempt {
    fn is_retry(&self) -> bool {
        self.number > 1
    }

    fn end(&self) -> Option<AttemptEnd> {
        self.ended.map(|(_, end)| end)
    }
}

impl Call {
    fn stopped_by_deadline(&self) -> bool {
        matches!(self.ended, Some(Err((_, StopReason::Deadline))))
    }
}

fn call_tally(record: &Record, belongs: impl Fn(CallId) -> bool) -> CallTally {
    let attempts: Vec<&Attempt> = record.attempts.iter().filter(|attempt| belongs(attempt.id)).collect();
    let calls: Vec<&Call> = record.calls.iter().filter(|call| belongs(call.id)).collect();
    let sent = || attempts.iter().map(|attempt| attempt.sent);
    let retries_sent = || attempts.iter().filter(|attempt| attempt.is_retry()).map(|attempt| attempt.sent);
    CallTally {
        attempts: attempts.len() as u64,
        retries: retries_sent().count() as u64,
        succeeded: count(&attempts, |attempt| attempt.end() == Some(AttemptEnd::Answered(Ok(())))),
        errors: count(&attempts, |attempt| matches!(attempt.end(), Some(AttemptEnd::Answered(Err(_))))),
        timeouts: count(&attempts, |attempt| attempt.end() == Some(AttemptEnd::GivenUp)),
        late_responses: count(&attempts, |attempt| attempt.answered_late),
        deadline_stopped: count(&calls, Call::stopped_by_deadline),
        attempt_peak: peak(sent()),
        retry_peak: peak(retries_sent()),
        last_retry: retries_sent().max(),
    }
}

impl Work {
    fn reply(&self) -> Option<Reply> {
        self.answered.map(|(_, reply)| reply)
    }

    /// From arrival to answer, or to the end of the run.
    fn presence(&self, end: Instant) -> (Instant, Instant) {
        (self.arrived.at, self.answered.map_or(end, |(moment, _)| moment.at))
    }

    fn time(&self, end: Instant) -> Span {
        let (from, until) = self.presence(end);
        until.since(from)
    }
}

fn service_tally(record: &Record, service: ServiceId) -> ServiceTally {
    let works: Vec<&Work> = record.works.iter().filter(|work| work.service == service).collect();
    // Whoever is turned away at the door never is in progress.
    let entered: Vec<&Work> = works.iter().copied().filter(|work| work.reply() != Some(Reply::TurnedAway)).collect();
    let completed: Vec<&Work> = entered.iter().copied().filter(|work| work.answered.is_some()).collect();
    let periods: Vec<_> = entered.iter().map(|work| (work.arrived, work.answered.map(|(moment, _)| moment))).collect();
    let (in_flight_max, in_flight_max_at) = most_at_once(&periods);
    let total_ns = |works: &[&Work]| works.iter().map(|work| u128::from(work.time(record.end).as_ns())).sum();
    ServiceTally {
        arrivals: works.len() as u64,
        original_arrivals: count(&works, |work| record.attempts[work.attempt].on_first_path),
        retry_arrivals: count(&works, |work| record.attempts[work.attempt].is_retry()),
        completed: completed.len() as u64,
        succeeded: count(&works, |work| work.reply() == Some(Reply::Success)),
        refused: (works.len() - entered.len()) as u64,
        in_progress: (entered.len() - completed.len()) as u64,
        arrival_peak: peak(works.iter().map(|work| work.arrived.at)),
        in_flight_max,
        in_flight_max_at,
        in_flight_ns: total_ns(&entered),
        sojourn_ns: total_ns(&completed),
    }
}

/// Requests, with the attempts of the calls that `counts`.
fn request_series(record: &Record, belongs: impl Fn(&Request) -> bool, counts: impl Fn(CallId) -> bool) -> Series {
    let mut series = Series::default();
    for request in record.requests.iter().filter(|request| belongs(request)) {
        let until = request.ended.as_ref().map_or(record.end, |end| end.at);
        series.in_flight.push((request.began, until));
        if let Some(RequestEnd { at, result, .. }) = request.ended {
            if result.is_ok() { series.succeeded.push(at) } else { series.failed.push(at) }
        }
    }
    for attempt in record.attempts.iter().filter(|attempt| counts(attempt.id)) {
        series.attempts.push(attempt.sent);
        series.retries.extend(attempt.is_retry().then_some(attempt.sent));
        if let Some((at, AttemptEnd::GivenUp)) = attempt.ended {
            series.timeouts.push(at);
        }
    }
    series
}

fn call_series(record: &Record, call: CallId) -> Series {
    let mut series = Series::default();
    for attempt in record.attempts.iter().filter(|attempt| attempt.id == call) {
        series.attempts.push(attempt.sent);
        series.retries.extend(attempt.is_retry().then_some(attempt.sent));
        series.in_flight.push((attempt.sent, attempt.ended.map_or(record.end, |(at, _)| at)));
        match attempt.ended {
            None => {}
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
        series.retries.extend(record.attempts[work.attempt].is_retry().then_some(work.arrived.at));
        series.in_flight.push(work.presence(record.end));
        match work.answered {
            None => {}
            Some((moment, Reply::Success)) => series.succeeded.push(moment.at),
            Some((moment, Reply::Error(_) | Reply::TurnedAway)) => series.failed.push(moment.at),
        }
    }
    for attempt in record.attempts.iter().filter(|attempt| plan.calls[attempt.id.index()].target == service) {
        if let Some((at, AttemptEnd::GivenUp)) = attempt.ended {
            series.timeouts.push(at);
        }
    }
    series
}
