//! The counts of a record within a window of time: how many of the things that happened in it were of a kind.

use std::ops::Range;

use stormsim::failure::StopReason;
use stormsim::metrics::{CallTally, RequestTally, ServiceTally};
use stormsim::plan::{CallId, Plan, ServiceId};
use stormsim::time::{Instant, Span};

use super::record::{Attempt, AttemptEnd, Call, CallResult, Record, Reply, Request, RequestEnd, Work};
use super::series::{most_at_once, peak, time_within};

/// The requests that began in a window and, begun whenever, those that ended in it. Their times are left out.
pub fn requests_in<'a>(window: &Range<Instant>, requests: impl Iterator<Item = &'a Request> + Clone) -> RequestTally {
    let began = requests.clone().filter(|request| window.contains(&request.began)).count() as u64;
    let mut tally = RequestTally { requests: began, ..RequestTally::default() };
    for request in requests {
        if let Some(end) = request.ended.as_ref().filter(|end| window.contains(&end.at)) {
            count_end(&mut tally, request, end);
        }
    }
    tally
}

/// The requests that began in a window, and whatever became of them then or later.
pub fn requests_begun_in<'a>(window: &Range<Instant>, requests: impl Iterator<Item = &'a Request>) -> RequestTally {
    let mut tally = RequestTally::default();
    for request in requests.filter(|request| window.contains(&request.began)) {
        tally.requests += 1;
        let Some(end) = &request.ended else { continue };
        count_end(&mut tally, request, end);
        let took = end.at.since(request.began);
        tally.last_end = tally.last_end.max(Some(end.at));
        match end.result {
            Ok(()) => tally.latency.record(took),
            Err(_) => tally.give_up_max = tally.give_up_max.max(Some(took)),
        }
    }
    tally
}

fn count_end(tally: &mut RequestTally, request: &Request, end: &RequestEnd) {
    match end.result {
        Ok(()) => {
            tally.succeeded += 1;
            tally.succeeded_first_try += u64::from(end.attempts == 1);
            tally.degraded += u64::from(request.degraded);
        }
        Err((error, reason)) => {
            tally.failed_by[error as usize] += 1;
            tally.stopped_by[reason as usize] += 1;
        }
    }
}

impl Attempt {
    /// Whether it is not the first of its call.
    pub fn is_retry(&self) -> bool {
        self.number > 1
    }

    /// How it ended, if it did so in the window.
    fn end_in(&self, window: &Range<Instant>) -> Option<AttemptEnd> {
        self.ended.filter(|(at, _)| window.contains(at)).map(|(_, end)| end)
    }
}

impl Call {
    /// When it ended for this reason, if it did.
    fn stopped_by(&self, reason: StopReason) -> Option<Instant> {
        let (at, result): (Instant, CallResult) = self.ended?;
        matches!(result, Err((_, its)) if its == reason).then_some(at)
    }
}

/// What happened to the calls that `belongs` within a window. Tokens are left out: they are a level and no count.
pub fn calls_in(window: &Range<Instant>, record: &Record, belongs: impl Fn(CallId) -> bool) -> CallTally {
    let attempts = || record.attempts.iter().filter(|attempt| belongs(attempt.id));
    let sent = || attempts().filter(|attempt| window.contains(&attempt.sent));
    let retries = || sent().filter(|attempt| attempt.is_retry()).map(|attempt| attempt.sent);
    let ended = |counted: fn(AttemptEnd) -> bool| {
        attempts().filter_map(|it| it.end_in(window)).filter(|&end| counted(end)).count() as u64
    };
    let late_answers = attempts().filter_map(|attempt| attempt.answered_late);
    let stopped = |reason| {
        let calls = record.calls.iter().filter(|call| belongs(call.id));
        calls.filter_map(move |call| call.stopped_by(reason)).filter(|at| window.contains(at))
    };
    CallTally {
        attempts: sent().count() as u64,
        retries: retries().count() as u64,
        lost: sent().filter(|attempt| attempt.lost).count() as u64,
        succeeded: ended(|end| end == AttemptEnd::Answered(Ok(()))),
        errors: ended(|end| matches!(end, AttemptEnd::Answered(Err(_)))),
        timeouts: ended(|end| end == AttemptEnd::GivenUp),
        late_responses: late_answers.filter(|at| window.contains(at)).count() as u64,
        deadline_stopped: stopped(StopReason::Deadline).count() as u64,
        budget_refused: stopped(StopReason::Budget).count() as u64,
        first_budget_refusal: stopped(StopReason::Budget).min(),
        tokens_left: None,
        attempt_peak: peak(sent().map(|attempt| attempt.sent)),
        retry_peak: peak(retries()),
        last_retry: retries().max(),
    }
}

/// What the budget of a call holds at the end; of all budgets without a call.
pub fn tokens_left(plan: &Plan, record: &Record, call: Option<CallId>) -> Option<u128> {
    let sum = |states: &[u64]| states.iter().map(|&balance| u128::from(balance)).sum::<u128>();
    match call {
        Some(call) => {
            let budget = plan.calls[call.index()].budget?;
            Some(sum(&record.balances[budget.pool as usize]))
        }
        None => (!plan.budgets.is_empty()).then(|| record.balances.iter().map(|states| sum(states)).sum()),
    }
}

impl Work {
    fn reply(&self) -> Option<Reply> {
        self.answered.map(|(_, reply)| reply)
    }

    /// From arrival to answer, or to the end of the run.
    pub fn presence(&self, end: Instant) -> Range<Instant> {
        self.arrived.at..self.answered.map_or(end, |(moment, _)| moment.at)
    }

    fn answered_in(&self, window: &Range<Instant>) -> bool {
        self.answered.is_some_and(|(moment, _)| window.contains(&moment.at))
    }

    /// Whether it was there at an instant, before what happened at that instant.
    fn was_there_at(&self, at: Instant) -> bool {
        self.arrived.at < at && self.answered.is_none_or(|(moment, _)| moment.at >= at)
    }
}

/// What a service saw within a window.
pub fn service_in(window: &Range<Instant>, record: &Record, service: ServiceId) -> ServiceTally {
    let works = || record.works.iter().filter(|work| work.service == service);
    let arrived = || works().filter(|work| window.contains(&work.arrived.at));
    let path = |work: &Work| &record.attempts[work.attempt];
    // Whoever is turned away at the door never is in progress.
    let entered = || works().filter(|work| work.reply() != Some(Reply::TurnedAway));
    let completed = || entered().filter(|work| work.answered_in(window));
    let periods: Vec<_> = entered().map(|work| (work.arrived, work.answered.map(|(moment, _)| moment))).collect();
    let (in_flight_max, in_flight_max_at) = most_at_once(window, &periods);
    let sojourns = completed().map(|work| work.presence(record.end)).map(|stay| stay.end.since(stay.start));
    ServiceTally {
        arrivals: arrived().count() as u64,
        original_arrivals: arrived().filter(|work| path(work).on_first_path).count() as u64,
        retry_arrivals: arrived().filter(|work| path(work).is_retry()).count() as u64,
        completed: completed().count() as u64,
        succeeded: completed().filter(|work| work.reply() == Some(Reply::Success)).count() as u64,
        refused: arrived().filter(|work| work.reply() == Some(Reply::TurnedAway)).count() as u64,
        in_progress: entered().filter(|work| work.was_there_at(window.end)).count() as u64,
        arrival_peak: peak(arrived().map(|work| work.arrived.at)),
        in_flight_max,
        in_flight_max_at,
        in_flight_ns: entered().map(|work| total_ns(time_within(window, &work.presence(record.end)))).sum(),
        sojourn_ns: sojourns.map(total_ns).sum(),
    }
}

fn total_ns(span: Span) -> u128 {
    u128::from(span.as_ns())
}
