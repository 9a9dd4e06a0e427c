//! The counts of a record within a window of time: how many of the things that happened in it were of a kind.

use std::collections::BTreeMap;
use std::ops::Range;

use stormsim::failure::{ErrorKind, REFUSALS, StopReason};
use stormsim::metrics::{CallTally, Latency, ProtectionTally, RequestTally, ServiceTally};
use stormsim::plan::{CallId, Plan, ServiceId};
use stormsim::time::{Instant, Span};

use super::record::{
    Attempt, AttemptEnd, BreakerMove, BreakerStep, Call, CallResult, Record, Request, RequestEnd, Work, WorkEnd,
};
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
            tally.stopped_by[reason as usize] += 1;
            tally.failed_by[error as usize] += u64::from(!end.is_unknown);
            tally.unknown += u64::from(end.is_unknown);
            tally.dead_letters += u64::from(end.is_dead_letter);
        }
    }
}

impl Attempt {
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

/// What happened to the calls that `belongs` within a window. Left out are tokens, which are a level and no count, and
/// the waits for slots, which only the run as a whole has.
pub fn calls_in(window: &Range<Instant>, record: &Record, belongs: impl Fn(CallId) -> bool) -> CallTally {
    let attempts = || record.attempts.iter().filter(|attempt| belongs(attempt.id));
    let sent_at = |attempt: &Attempt| attempt.sent.filter(|sent| window.contains(sent));
    let sent = || attempts().filter(|attempt| sent_at(attempt).is_some());
    let retries = || sent().filter(|attempt| attempt.is_retry).filter_map(sent_at);
    let ended = |counted: fn(&Attempt, AttemptEnd) -> bool| {
        attempts().filter(|it| it.end_in(window).is_some_and(|end| counted(it, end))).count() as u64
    };
    let late_answers = attempts().filter_map(|attempt| attempt.answered_late);
    let stopped = |reason| {
        let calls = record.calls.iter().filter(|call| belongs(call.id));
        calls.filter_map(move |call| call.stopped_by(reason)).filter(|at| window.contains(at))
    };
    CallTally {
        attempts: sent().count() as u64,
        retries: retries().count() as u64,
        lost: attempts().filter_map(|attempt| attempt.lost).filter(|at| window.contains(at)).count() as u64,
        succeeded: ended(|_, end| end == AttemptEnd::Answered(Ok(()))),
        errors: ended(|_, end| matches!(end, AttemptEnd::Answered(Err(_)))),
        timeouts: ended(|_, end| end == AttemptEnd::GivenUp),
        abandoned: ended(|it, end| matches!(end, AttemptEnd::Abandoned | AttemptEnd::Outrun) && it.sent.is_some()),
        late_responses: late_answers.filter(|at| window.contains(at)).count() as u64,
        pool_rejected: ended(|_, end| {
            let AttemptEnd::TurnedAway(error) = end else { return false };
            !matches!(error, ErrorKind::BreakerOpen | ErrorKind::Throttled)
        }),
        pool_waits: Latency::default(),
        protection: protection_in(window, record, &belongs),
        deadline_stopped: stopped(StopReason::Deadline).count() as u64,
        budget_refused: stopped(StopReason::Budget).count() as u64,
        first_budget_refusal: stopped(StopReason::Budget).min(),
        tokens_left: None,
        tokens_min: None,
        attempt_peak: peak(sent().filter_map(sent_at)),
        retry_peak: peak(retries()),
        last_retry: retries().max(),
    }
}

/// What the breakers, throttles and hedges of the calls that `belongs` did within a window.
fn protection_in(window: &Range<Instant>, record: &Record, belongs: &impl Fn(CallId) -> bool) -> ProtectionTally {
    let attempts = |counted: &dyn Fn(&Attempt) -> bool| {
        record.attempts.iter().filter(|it| belongs(it.id) && counted(it)).count() as u64
    };
    let turned_away = |it: &Attempt, by: ErrorKind| it.end_in(window) == Some(AttemptEnd::TurnedAway(by));
    // A call that fails with this error without an attempt was not let through itself.
    let rejected = |call: &&Call| {
        let by_breaker = matches!(call.ended, Some((at, Err((ErrorKind::BreakerOpen, _)))) if window.contains(&at));
        belongs(call.id) && call.started == 0 && by_breaker
    };
    let opened = |it: &&BreakerStep| {
        let opens = matches!(it.what, BreakerMove::Opens | BreakerMove::OpensAgain);
        opens && belongs(record.calls[it.by].id) && window.contains(&it.at)
    };
    let left_out = record.left_out.iter().filter(|(at, id, _)| belongs(*id) && window.contains(at));
    ProtectionTally {
        breaker_rejected: attempts(&|it| turned_away(it, ErrorKind::BreakerOpen))
            + record.calls.iter().filter(rejected).count() as u64,
        breaker_rejected_retries: attempts(&|it| turned_away(it, ErrorKind::BreakerOpen) && it.number > 1),
        breaker_opened: record.breakers.iter().filter(opened).count() as u64,
        throttled: attempts(&|it| turned_away(it, ErrorKind::Throttled)),
        hedges: attempts(&|it| it.hedge > 0 && it.sent.is_some_and(|sent| window.contains(&sent))),
        hedge_wins: attempts(&|it| it.hedge > 0 && it.end_in(window) == Some(AttemptEnd::Answered(Ok(())))),
        hedges_left_out: left_out.count() as u64,
    }
}

/// How long the attempts that were sent in a window had waited for a slot, where they need one.
pub fn pool_waits(plan: &Plan, record: &Record, window: &Range<Instant>, belongs: impl Fn(CallId) -> bool) -> Latency {
    let mut waits = Latency::default();
    // A hedge does not wait.
    let may_wait =
        |attempt: &&Attempt| belongs(attempt.id) && attempt.hedge == 0 && plan.calls[attempt.id.index()].pool.is_some();
    for attempt in record.attempts.iter().filter(may_wait) {
        if let Some(sent) = attempt.sent.filter(|sent| window.contains(sent)) {
            waits.record(sent.since(attempt.started));
        }
    }
    waits
}

impl Work {
    fn end(&self) -> Option<WorkEnd> {
        self.ended.map(|(_, end)| end)
    }

    /// From arrival until the service was done with it, or to the end of the run.
    pub fn presence(&self, end: Instant) -> Range<Instant> {
        self.arrived.at..self.ended.map_or(end, |(moment, _)| moment.at)
    }

    /// From when until when it waited for a worker, if it did.
    pub fn wait_for_worker(&self, end: Instant) -> Option<Range<Instant>> {
        self.queued.map(|(from, until)| from.at..until.map_or(end, |until| until.at))
    }

    /// From when until when it had a worker, if it had one.
    pub fn time_with_worker(&self, end: Instant) -> Option<Range<Instant>> {
        self.began.map(|began| began.at..self.freed.map_or(end, |freed| freed.at))
    }

    fn ended_in(&self, window: &Range<Instant>) -> bool {
        self.ended.is_some_and(|(moment, _)| window.contains(&moment.at))
    }

    /// Whether it was there at an instant, before what happened at that instant.
    fn was_there_at(&self, at: Instant) -> bool {
        self.arrived.at < at && self.ended.is_none_or(|(moment, _)| moment.at >= at)
    }

    /// Whether it was let in: not turned away at the door, and not given up before it came.
    fn entered(&self) -> bool {
        self.server.is_some() && !matches!(self.end(), Some(WorkEnd::TurnedAway(_)))
    }
}

/// What a service saw within a window. The waits for workers are left out, as only the run as a whole has them.
pub fn service_in(window: &Range<Instant>, plan: &Plan, record: &Record, service: ServiceId) -> ServiceTally {
    let works = || record.works.iter().filter(|work| work.service == service);
    let arrived = || works().filter(|work| window.contains(&work.arrived.at));
    let path = |work: &Work| &record.attempts[work.attempt];
    // Whoever is turned away at the door never is in progress.
    let entered = || works().filter(|work| work.entered());
    let ended = |counted: fn(WorkEnd) -> bool| {
        works().filter(move |work| work.ended_in(window) && work.end().is_some_and(counted))
    };
    let completed = || ended(|end| matches!(end, WorkEnd::Success | WorkEnd::Error(_)));
    let mut refused_by = [0; REFUSALS];
    for work in works().filter(|work| work.ended_in(window)) {
        if let Some(WorkEnd::TurnedAway(refusal)) = work.end() {
            refused_by[refusal as usize] += 1;
        }
    }
    let periods: Vec<_> = entered().map(|work| (work.arrived, work.ended.map(|(moment, _)| moment))).collect();
    let (in_flight_max, in_flight_max_at) = most_at_once(window, &periods);
    let recognised = works().filter_map(|work| work.recognised);
    let ejections = record.ejections.iter().filter(|it| it.service == service && window.contains(&it.from));
    let (executions, duplicate_effects) = effects_in(window, record, service);
    let sojourns = completed().map(|work| work.presence(record.end)).map(|stay| stay.end.since(stay.start));
    ServiceTally {
        arrivals: arrived().count() as u64,
        original_arrivals: arrived().filter(|work| path(work).on_first_path).count() as u64,
        retry_arrivals: arrived().filter(|work| path(work).is_retry).count() as u64,
        completed: completed().count() as u64,
        succeeded: ended(|end| end == WorkEnd::Success).count() as u64,
        faulted: completed().filter(|work| work.struck.is_some()).count() as u64,
        recognised: recognised.filter(|(moment, _)| window.contains(&moment.at)).count() as u64,
        executions,
        duplicate_effects,
        ejections: ejections.count() as u64,
        refused_by,
        dropped: ended(|end| matches!(end, WorkEnd::Dropped | WorkEnd::Cancelled)).count() as u64,
        cancelled: ended(|end| end == WorkEnd::Cancelled).count() as u64,
        in_progress: entered().filter(|work| work.was_there_at(window.end)).count() as u64,
        arrival_peak: peak(arrived().map(|work| work.arrived.at)),
        in_flight_max,
        in_flight_max_at,
        in_flight_ns: entered().map(|work| total_ns(time_within(window, &work.presence(record.end)))).sum(),
        sojourn_ns: sojourns.map(total_ns).sum(),
        ..work_in(window, plan, record, service)
    }
}

/// How many side effects of a service took place within a window, and how many of those were of operations that had had
/// one before: all but the first of each.
fn effects_in(window: &Range<Instant>, record: &Record, service: ServiceId) -> (u64, u64) {
    let mut by_operation: BTreeMap<u64, Vec<Instant>> = BTreeMap::new();
    for work in record.works.iter().filter(|work| work.service == service) {
        let operation = record.calls[record.attempts[work.attempt].call].operation;
        by_operation.entry(operation).or_default().extend(work.executed);
    }
    let is_meant = |at: &&Instant| window.contains(at);
    let executions = by_operation.values().flatten().filter(is_meant).count() as u64;
    let firsts = by_operation.values().filter_map(|executed| executed.iter().min()).filter(is_meant).count() as u64;
    (executions, executions - firsts)
}

/// What the workers of a service did within a window, and what waited for them.
fn work_in(window: &Range<Instant>, plan: &Plan, record: &Record, id: ServiceId) -> ServiceTally {
    let works = || record.works.iter().filter(|work| work.service == id);
    let waited = |work: &Work| work.queued.filter(|(from, _)| window.contains(&from.at));
    let waits: Vec<_> = works().filter_map(|work| work.queued).collect();
    let spent = || works().filter_map(|work| work.service_spent).filter(|spent| window.contains(&spent.until));
    let service = &plan.services[id.index()];
    let limited = !service.capacity.is_unlimited();
    let begun = || works().filter(move |work| limited && work.began.is_some_and(|began| window.contains(&began.at)));
    let busy = works().filter(|_| limited).filter_map(|work| work.time_with_worker(record.end));
    ServiceTally {
        queued: works().filter(|work| waited(work).is_some()).count() as u64,
        begun: begun().count() as u64,
        queue_wait_ns: begun().map(Work::wait_until_begun).map(total_ns).sum(),
        queue_max: most_at_once(window, &waits).0,
        busy_ns: busy.map(|period| total_ns(time_within(window, &period))).sum(),
        service_ns: spent().map(|spent| total_ns(spent.took)).sum(),
        wasted_ns: spent().filter(|spent| !spent.awaited).map(|spent| total_ns(spent.took)).sum(),
        workers: service.capacity.all_workers(),
        // A closed form over the plan, which has tests of its own.
        capacity_rps: service.capacity_rps(),
        ..ServiceTally::default()
    }
}

impl Work {
    fn wait_until_begun(&self) -> Span {
        self.began.expect("it began").at.since(self.arrived.at)
    }
}

/// How long those that began in a window had waited for a worker, where workers are limited.
pub fn queue_waits(plan: &Plan, record: &Record, window: &Range<Instant>, service: ServiceId) -> Latency {
    let mut waits = Latency::default();
    if plan.services[service.index()].capacity.all_workers().is_some() {
        let works = record.works.iter().filter(|work| work.service == service);
        let begun = works.filter(|work| work.began.is_some_and(|began| window.contains(&began.at)));
        begun.for_each(|work| waits.record(work.wait_until_begun()));
    }
    waits
}

fn total_ns(span: Span) -> u128 {
    u128::from(span.as_ns())
}
