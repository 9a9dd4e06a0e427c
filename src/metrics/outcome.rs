//! The counts of one replica.

use std::{array, fmt};

use crate::failure::{ERROR_KINDS, REFUSALS, STOP_REASONS};
use crate::metrics::{Latency, ProtectionTally, Timeline};
use crate::plan::Service;
use crate::time::{Instant, Span};

/// What one replica did. Counts, exact times and histograms; every figure of a report is read from these.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Which replica, from 0.
    pub replica: u32,
    /// The instant from which it was measured.
    pub warmup: Instant,
    /// The instant up to which it ran: the horizon, or that of its last event.
    pub end: Instant,
    /// Why it ended there.
    pub ended: End,
    /// Events taken from the agenda.
    pub events: u64,
    /// By client group.
    pub groups: Vec<RequestTally>,
    /// By call.
    pub calls: Vec<CallTally>,
    /// By service.
    pub services: Vec<ServiceTally>,
    /// By fault.
    pub faults: Vec<FaultTally>,
    /// All requests.
    pub all_requests: RequestTally,
    /// All calls; its peaks are those of the sum, not the sum of the peaks.
    pub all_calls: CallTally,
    /// The windows of the plan, in its order.
    pub windows: Vec<WindowOutcome>,
    /// What happened when.
    pub timeline: Timeline,
}

/// Why a replica ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Arrivals were exhausted and no work was left.
    Drained,
    /// The horizon was reached.
    Horizon,
    /// It was told to stop; the counts up to there are right.
    Interrupted,
    /// A limit of the simulator was reached; the counts up to there are right.
    Limit(Limit),
}

/// The limits of the simulator. None of them is a property of the simulated system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Virtual time reached [`Instant::LIMIT`].
    VirtualTime,
    /// Too many calls, or pieces of work at servers, were in progress at once: 2^28, unless less was asked for.
    Frames,
    /// 10^9 events happened at one instant: virtual time never advances.
    Instant,
    /// A series of the timeline needed more than 10^7 buckets.
    Buckets,
    /// 2^42 events were scheduled.
    Events,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::VirtualTime => "what comes next lies beyond 52 days of virtual time; give the scenario a `horizon`",
            Self::Frames => "more calls or pieces of work were in progress at once than are allowed",
            Self::Instant => {
                "virtual time never advances: 10^9 events at one instant; retries without a wait and without a limit do this, and \
                 clients of a closed loop that neither think nor wait for anything"
            }
            Self::Buckets => "the timeline needs more than 10^7 buckets; give the scenario a wider `bucket` or a shorter `horizon`",
            Self::Events => "2^42 events were scheduled; give the scenario a shorter `horizon`",
        })
    }
}

/// What became of requests, as counts that only grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RequestFlow {
    pub requests: u64,
    pub succeeded: u64,
    pub succeeded_first_try: u64,
    pub degraded: u64,
    pub unknown: u64,
    pub dead_letters: u64,
    pub failed_by: [u64; ERROR_KINDS],
    pub stopped_by: [u64; STOP_REASONS],
}

impl RequestFlow {
    /// How many ended without success: failed, or unknown.
    pub fn ended_badly(&self) -> u64 {
        self.failed_by.iter().sum::<u64>() + self.unknown
    }

    /// What came after `start`.
    pub fn since(&self, start: &Self) -> Self {
        let since = |end: u64, start: &u64| end - start;
        let mut flow = *self;
        flow.requests -= start.requests;
        flow.succeeded -= start.succeeded;
        flow.succeeded_first_try -= start.succeeded_first_try;
        flow.degraded -= start.degraded;
        flow.unknown -= start.unknown;
        flow.dead_letters -= start.dead_letters;
        flow.failed_by.iter_mut().zip(&start.failed_by).for_each(|(end, start)| *end = since(*end, start));
        flow.stopped_by.iter_mut().zip(&start.stopped_by).for_each(|(end, start)| *end = since(*end, start));
        flow
    }

    /// As a tally without times.
    pub fn tally(self) -> RequestTally {
        let Self { requests, succeeded, succeeded_first_try, degraded, unknown, dead_letters, failed_by, stopped_by } =
            self;
        RequestTally {
            requests,
            succeeded,
            succeeded_first_try,
            degraded,
            unknown,
            dead_letters,
            failed_by,
            stopped_by,
            ..RequestTally::default()
        }
    }
}

/// What became of requests.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RequestTally {
    /// Begun.
    pub requests: u64,
    /// Ended well.
    pub succeeded: u64,
    /// Ended well at the first attempt of the client's own call; one that was turned away counts as an attempt here.
    pub succeeded_first_try: u64,
    /// Failed, by the error of the client's own call; the position is that of the kind in
    /// [`ErrorKind::ALL`](crate::failure::ErrorKind::ALL).
    pub failed_by: [u64; ERROR_KINDS],
    /// Ended badly, failed or unknown, by the reason for which the client's own call was not tried again.
    pub stopped_by: [u64; STOP_REASONS],
    /// Those that succeeded on degraded work: an optional call beneath them failed.
    pub degraded: u64,
    /// Ended badly, and whether what they were to write was written nobody knows: an attempt beneath them at a service
    /// that writes has no answer. They are not among those that failed.
    pub unknown: u64,
    /// Put aside when their attempts were exhausted; among those that failed or ended unknown.
    pub dead_letters: u64,
    /// How long those that succeeded took.
    pub latency: Latency,
    /// The longest time that one took to end badly, failed or unknown; none if none did.
    pub give_up_max: Option<Span>,
    /// When the last one ended; none if none ended.
    pub last_end: Option<Instant>,
}

impl RequestTally {
    /// How many failed.
    pub fn failed(&self) -> u64 {
        self.failed_by.iter().sum()
    }

    /// How many ended. Within a window these may be others than those that began in it.
    pub fn ended(&self) -> u64 {
        self.succeeded + self.failed() + self.unknown
    }

    /// How many were begun and have not ended; not of a window.
    pub fn open(&self) -> u64 {
        self.requests - self.ended()
    }

    /// Of all groups together.
    pub(super) fn sum(groups: &[Self]) -> Self {
        let mut all = Self::default();
        groups.iter().for_each(|group| all.add(group));
        all
    }

    /// Adds another group's requests.
    fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.succeeded += other.succeeded;
        self.succeeded_first_try += other.succeeded_first_try;
        self.failed_by.iter_mut().zip(&other.failed_by).for_each(|(sum, n)| *sum += n);
        self.stopped_by.iter_mut().zip(&other.stopped_by).for_each(|(sum, n)| *sum += n);
        self.degraded += other.degraded;
        self.unknown += other.unknown;
        self.dead_letters += other.dead_letters;
        self.latency.add(&other.latency);
        self.give_up_max = self.give_up_max.max(other.give_up_max);
        self.last_end = self.last_end.max(other.last_end);
    }
}

/// What became of the attempts of a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallTally {
    /// Attempts sent.
    pub attempts: u64,
    /// Attempts sent after the first of their own call.
    pub retries: u64,
    /// Attempts that never arrived and never will.
    pub lost: u64,
    /// Attempts answered with success in time.
    pub succeeded: u64,
    /// Attempts answered with an error in time.
    pub errors: u64,
    /// Attempts that the caller stopped waiting for, at the timeout or at a deadline.
    pub timeouts: u64,
    /// Attempts that the caller itself ended, because nobody waited for their call any more, or another copy of them had
    /// been answered.
    pub abandoned: u64,
    /// Answers that came after their attempt had timed out or been abandoned.
    pub late_responses: u64,
    /// Attempts that got no slot of the caller's pool in time; they were never sent and are none of `attempts`.
    pub pool_rejected: u64,
    /// How long the attempts that were sent had waited for a slot, hedges left out, which do not wait; empty without a
    /// pool, and of a window.
    pub pool_waits: Latency,
    /// What breakers, throttles and hedges did.
    pub protection: ProtectionTally,
    /// Calls that were not tried again for lack of time.
    pub deadline_stopped: u64,
    /// Calls that were not tried again because the retry budget refused.
    pub budget_refused: u64,
    /// When it first did; none if it never did.
    pub first_budget_refusal: Option<Instant>,
    /// Tokens left at the end in all states of the budget that the call draws on, in millionths; none without one that
    /// has any, and of a window. Of all calls together none, too, if the tokens of their budgets do not add up.
    pub tokens_left: Option<u128>,
    /// The least that there was at once; none, too, if such a budget is a `windowed_ratio`.
    pub tokens_min: Option<u128>,
    /// The most attempts sent within one aligned 100 ms.
    pub attempt_peak: u64,
    /// The most retries sent within one aligned 100 ms.
    pub retry_peak: u64,
    /// When the last retry was sent; none without one.
    pub last_retry: Option<Instant>,
}

impl CallTally {
    /// Adds another call's counts. Peaks do not add up and are left alone, and so are waits.
    pub fn add_counts(&mut self, other: &Self) {
        self.attempts += other.attempts;
        self.retries += other.retries;
        self.succeeded += other.succeeded;
        self.errors += other.errors;
        self.timeouts += other.timeouts;
        self.abandoned += other.abandoned;
        self.late_responses += other.late_responses;
        self.pool_rejected += other.pool_rejected;
        self.protection.add(&other.protection);
        self.deadline_stopped += other.deadline_stopped;
        self.last_retry = self.last_retry.max(other.last_retry);
        self.lost += other.lost;
        self.budget_refused += other.budget_refused;
        let refusals = [self.first_budget_refusal, other.first_budget_refusal];
        self.first_budget_refusal = refusals.into_iter().flatten().min();
    }

    /// The counts that came after `start`. Peaks and times stay as they are.
    pub(super) fn since(&self, start: &Self) -> Self {
        Self {
            attempts: self.attempts - start.attempts,
            retries: self.retries - start.retries,
            lost: self.lost - start.lost,
            succeeded: self.succeeded - start.succeeded,
            errors: self.errors - start.errors,
            timeouts: self.timeouts - start.timeouts,
            abandoned: self.abandoned - start.abandoned,
            late_responses: self.late_responses - start.late_responses,
            pool_rejected: self.pool_rejected - start.pool_rejected,
            protection: self.protection.since(&start.protection),
            deadline_stopped: self.deadline_stopped - start.deadline_stopped,
            budget_refused: self.budget_refused - start.budget_refused,
            ..self.clone()
        }
    }
}

/// What a service saw.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServiceTally {
    /// Attempts that arrived, those refused included.
    pub arrivals: u64,
    /// Those on whose whole path from the client every attempt was the first of its call.
    pub original_arrivals: u64,
    /// Arrivals that were retries of their own call.
    pub retry_arrivals: u64,
    /// Answered, with success or an error of its own; late answers too.
    pub completed: u64,
    /// Those of them that were successes.
    pub succeeded: u64,
    /// Answered with the error of a fault: those that a `fail` struck, and those that a crash ended.
    pub faulted: u64,
    /// Those whose side effect took place, of a service that writes.
    pub executions: u64,
    /// Those of them that did what had been done before.
    pub duplicate_effects: u64,
    /// Those about which the store of the service knew, and which were not done for that reason.
    pub recognised: u64,
    /// How often the balancer stopped sending anything to one of its servers.
    pub ejections: u64,
    /// Turned away at the door, by what did so; the position is that in
    /// [`Refusal::ALL`](crate::failure::Refusal::ALL).
    pub refused_by: [u64; REFUSALS],
    /// Let in and discarded before they were answered: by the queue's drop rule, or because the caller had given up.
    pub dropped: u64,
    /// Those of them whose caller had given up.
    pub cancelled: u64,
    /// Those that had to wait for a worker.
    pub queued: u64,
    /// Those that a worker took up, recognised ones too.
    pub begun: u64,
    /// Sum of the times that those had waited for their worker, in ns.
    pub queue_wait_ns: u128,
    /// These times; empty without a limit on workers, and of a window.
    pub queue_waits: Latency,
    /// The most that waited at once, on all servers together.
    pub queue_max: u64,
    /// Integral of the number of workers that were taken, in ns.
    pub busy_ns: u128,
    /// The service time that was worked off, in ns; that of work which was cut short as far as it went.
    pub service_ns: u128,
    /// What of it was spent on work that no client awaited when it was over, in ns.
    pub wasted_ns: u128,
    /// All workers; none without a limit.
    pub workers: Option<u64>,
    /// What it can serve per second, see [`Service::capacity_rps`].
    pub capacity_rps: Option<f64>,
    /// Arrivals per second over the last `hold` of [`Plan::recovery`](crate::plan::Plan::recovery) before the horizon;
    /// none if the run did not reach a horizon that is as far away as that, and of a window.
    pub arrivals_last_rps: Option<f64>,
    /// In progress at the end.
    pub in_progress: u64,
    /// The most arrivals within one aligned 100 ms.
    pub arrival_peak: u64,
    /// The most in progress at once, abandoned work included.
    pub in_flight_max: u64,
    /// When that was first reached.
    pub in_flight_max_at: Instant,
    /// Integral of the number in progress over the run, in ns.
    pub in_flight_ns: u128,
    /// Sum of the times between arrival and answer over all that completed, in ns.
    pub sojourn_ns: u128,
}

impl ServiceTally {
    /// Nothing counted yet.
    pub(super) fn of(service: &Service) -> Self {
        let (workers, capacity_rps) = (service.capacity.all_workers(), service.capacity_rps());
        Self { workers, capacity_rps, ..Self::default() }
    }

    /// How many were turned away at the door.
    pub fn refused(&self) -> u64 {
        self.refused_by.iter().sum()
    }

    /// The counts and integrals that came after `start`. Peaks, maxima and the number in progress stay as they are.
    pub(super) fn since(&self, start: &Self) -> Self {
        Self {
            arrivals: self.arrivals - start.arrivals,
            original_arrivals: self.original_arrivals - start.original_arrivals,
            retry_arrivals: self.retry_arrivals - start.retry_arrivals,
            completed: self.completed - start.completed,
            executions: self.executions - start.executions,
            duplicate_effects: self.duplicate_effects - start.duplicate_effects,
            recognised: self.recognised - start.recognised,
            ejections: self.ejections - start.ejections,
            succeeded: self.succeeded - start.succeeded,
            faulted: self.faulted - start.faulted,
            refused_by: array::from_fn(|by| self.refused_by[by] - start.refused_by[by]),
            dropped: self.dropped - start.dropped,
            cancelled: self.cancelled - start.cancelled,
            queued: self.queued - start.queued,
            begun: self.begun - start.begun,
            queue_wait_ns: self.queue_wait_ns - start.queue_wait_ns,
            busy_ns: self.busy_ns - start.busy_ns,
            service_ns: self.service_ns - start.service_ns,
            wasted_ns: self.wasted_ns - start.wasted_ns,
            in_flight_ns: self.in_flight_ns - start.in_flight_ns,
            sojourn_ns: self.sojourn_ns - start.sojourn_ns,
            ..self.clone()
        }
    }
}

/// What came after a fault, over the client groups that have a path to its targets. It is about the whole run, warm-up
/// included.
#[derive(Clone, Debug, PartialEq)]
pub struct FaultTally {
    /// Windows that began.
    pub windows: u64,
    /// When the last one ended; none if none began, or if it was open at the end of the run.
    pub last_end: Option<Instant>,
    /// How long the run went on after that.
    pub observed: Option<Span>,
    /// Whether they recovered.
    pub aftermath: Aftermath,
    /// The start of the last whole second of the run in which one request more than those that succeeded would still
    /// have been less than the share of [`Plan::recovery`](crate::plan::Plan::recovery) of those that began; none if
    /// there was none. The second in which a run drains is a whole one: nothing would come after it.
    pub last_bad: Option<Instant>,
}

/// Whether clients get what they ask for after the last window of a fault.
///
/// The seconds after its end are counted from there, `[t, t + 1 s)`. One of them is *good* if in `[t, t + hold)` as
/// many requests succeed as the share of [`Plan::recovery`](crate::plan::Plan::recovery) of those that begin, those
/// left out that begin in its last second and are open at its end, and if one succeeds in the second itself. If none
/// begins, it is good if none is open at `t`. Without a horizon all seconds after the end of the run are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aftermath {
    /// There is no telling: no window has ended, or less than `hold` was left after the last.
    Untold,
    /// No second was good.
    Unrecovered,
    /// The first good one began so long after the end of the window.
    Recovered(Span),
}

/// What happened within a window of the run. Requests are counted where they begin and where they end, whichever of
/// these is in the window; times of requests are not measured here.
#[derive(Clone, Debug, PartialEq)]
pub struct WindowOutcome {
    /// Its start.
    pub from: Instant,
    /// Its end; what it counts ends with the run, if that is earlier.
    pub until: Instant,
    /// By client group.
    pub groups: Vec<RequestTally>,
    /// By call.
    pub calls: Vec<CallTally>,
    /// By service.
    pub services: Vec<ServiceTally>,
    /// All requests.
    pub all_requests: RequestTally,
    /// All calls; its peaks are those of the sum.
    pub all_calls: CallTally,
}
