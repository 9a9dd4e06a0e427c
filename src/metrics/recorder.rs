//! Counts what happens while a replica runs.
//!
//! The hot path only adds to running totals. At the borders of 100 ms and of the buckets of the timeline, and at the
//! marks (the instants at which the warm-up ends and at which windows start and end), totals are compared with what
//! they were: that is in `borders`.

mod borders;

use std::cmp::Reverse;

use crate::failure::{ErrorKind, Refusal, StopReason};
use crate::metrics::buckets::Buckets;
use crate::metrics::level::Level;
use crate::metrics::meter::Meter;
use crate::metrics::outcome::RequestFlow;
use crate::metrics::recovery::Recoveries;
use crate::metrics::tokens::Tokens;
use crate::metrics::{Bucket, CallTally, End, Latency, ProtectionTally, ServiceTally, WindowOutcome};
use crate::plan::{CallId, FaultId, GroupId, Plan, Service, ServiceId};
use crate::time::{Instant, Span};

/// The width of the windows in which peaks are counted.
pub const PEAK_WINDOW: Span = Span::from_ms(100);

/// The running counts of one replica.
#[derive(Debug)]
pub struct Recorder<'p> {
    plan: &'p Plan,
    groups: Vec<GroupRecord>,
    /// Running totals. First times are those since the last mark, until a meter has taken them.
    calls: Vec<CallRecord>,
    /// Running totals. The largest numbers in flight and in the queue are those since the last mark.
    services: Vec<ServiceRecord>,
    /// The end of the current 100 ms.
    peak_end: Instant,
    /// Instants at which meters start or end, ascending; those before `next_mark` have passed.
    marks: Vec<Instant>,
    next_mark: usize,
    /// Windows still to start, by their position in the plan; the next one last.
    waiting: Vec<usize>,
    /// Meters that run: that of the whole run (without a position), and windows.
    open: Vec<(Option<usize>, Meter)>,
    windows: Vec<Option<WindowOutcome>>,
    recoveries: Recoveries,
    tokens: Tokens,
    /// The mark at which the last `hold` before the horizon starts.
    last_hold: Option<Instant>,
    /// The arrivals of each service before it; empty until then.
    arrivals_before: Vec<u64>,
    buckets: Buckets,
    /// Where the sums of every series are written when a bucket is closed: scenario, groups, calls, services. Kept, so
    /// that nothing is allocated for it.
    sums: Vec<Bucket>,
    /// The next instant at which anything must be closed.
    border: Instant,
}

/// The requests of a group.
#[derive(Debug, Default)]
struct GroupRecord {
    flow: RequestFlow,
    open: Level,
    /// The ends of those that began before the end of the warm-up and ended after it: in the flow, but not to be
    /// reported.
    stragglers: RequestFlow,
    latency: Latency,
    give_up_max: Option<Span>,
    last_end: Option<Instant>,
}

/// The attempts of a call.
#[derive(Debug, Default)]
struct CallRecord {
    tally: CallTally,
    /// Those that the caller waits for.
    awaited: Level,
    /// Those that wait for a slot.
    waiting: Level,
    /// How long those that were sent after the warm-up had waited for it. Beside the tally, which is copied at marks.
    pool_waits: Latency,
}

/// The arrivals of a service.
#[derive(Debug, Default)]
struct ServiceRecord {
    tally: ServiceTally,
    in_flight: Level,
    /// Those that wait for a worker.
    queue: Level,
    /// Whether it has limits: otherwise nobody asks for its workers.
    is_limited: bool,
    /// Workers taken.
    busy: Level,
    /// How long those that began after the warm-up had waited. Beside the tally, which is copied at marks.
    queue_waits: Latency,
}

impl ServiceRecord {
    fn new(service: &Service) -> Self {
        Self { tally: ServiceTally::of(service), is_limited: !service.capacity.is_unlimited(), ..Self::default() }
    }
}

/// How a request ended.
#[derive(Clone, Copy, Debug)]
pub struct RequestEnd {
    /// When it began.
    pub start: Instant,
    /// How many attempts its own call made.
    pub attempts: u32,
    /// Whether it is degraded, or the error of its own call and why that was not tried again.
    pub result: Result<bool, (ErrorKind, StopReason)>,
    /// Whether an attempt beneath it at a service that writes has no answer.
    pub in_doubt: bool,
}

impl<'p> Recorder<'p> {
    /// Nothing counted yet.
    pub fn new(plan: &'p Plan) -> Self {
        let mut marks: Vec<Instant> = plan.windows.iter().flat_map(|window| [window.start, window.end]).collect();
        marks.push(plan.warmup);
        let hold = plan.recovery.hold;
        let last_hold = plan.horizon.filter(|horizon| *horizon >= Instant::ZERO + hold);
        let last_hold = last_hold.map(|horizon| Instant::from_ns(horizon.as_ns() - hold.as_ns()));
        marks.extend(last_hold);
        marks.sort_unstable();
        marks.dedup();
        let mut waiting: Vec<usize> = (0..plan.windows.len()).collect();
        waiting.sort_by_key(|&window| Reverse(plan.windows[window].start));
        let mut recorder = Self {
            plan,
            groups: plan.groups.iter().map(|_| GroupRecord::default()).collect(),
            calls: plan.calls.iter().map(|_| CallRecord::default()).collect(),
            services: plan.services.iter().map(ServiceRecord::new).collect(),
            peak_end: Instant::ZERO + PEAK_WINDOW,
            marks,
            next_mark: 0,
            waiting,
            open: Vec::new(),
            windows: vec![None; plan.windows.len()],
            recoveries: Recoveries::new(plan),
            tokens: Tokens::new(plan),
            last_hold,
            arrivals_before: Vec::new(),
            buckets: Buckets::new(plan),
            sums: vec![Bucket::default(); Buckets::series(plan)],
            border: Instant::ZERO,
        };
        recorder.pass_marks(Instant::ZERO);
        recorder.set_border();
        recorder
    }

    /// Must be told every instant before what happens at it.
    #[inline]
    pub fn advance(&mut self, now: Instant) {
        if now >= self.border {
            self.close(now);
        }
    }

    /// Whether the timeline has outgrown its limit.
    pub fn is_overfull(&self) -> bool {
        self.buckets.is_overfull()
    }

    /// A request began.
    #[inline]
    pub fn request_began(&mut self, group: GroupId, now: Instant) {
        let record = &mut self.groups[group.index()];
        record.flow.requests += 1;
        record.open.rise(now);
    }

    /// A request ended.
    #[inline]
    pub fn request_ended(&mut self, group: GroupId, end: RequestEnd, now: Instant) {
        let record = &mut self.groups[group.index()];
        record.open.fall(now);
        let dead_letters = self.plan.groups[group.index()].operations.dead_letters;
        record.flow.count_end(&end, dead_letters);
        self.recoveries.request_ended(group, end.start, end.result.is_ok());
        if end.start < self.plan.warmup {
            if now >= self.plan.warmup {
                record.stragglers.count_end(&end, dead_letters);
            }
            return;
        }
        let took = now.since(end.start);
        match end.result {
            Ok(_) => record.latency.record(took),
            Err(_) => record.give_up_max = record.give_up_max.max(Some(took)),
        }
        record.last_end = Some(now);
    }

    /// A window of a fault begins. This is told in the order of events, but needs no call of [`Recorder::advance`].
    pub fn fault_began(&mut self, fault: FaultId) {
        self.recoveries.fault_began(fault);
    }

    /// A window of a fault ends; likewise.
    pub fn fault_ended(&mut self, fault: FaultId, now: Instant) {
        let first_second = self.recoveries.fault_ended(fault, now, flows(&self.groups));
        self.border = self.border.min(first_second);
    }

    /// An attempt was sent.
    #[inline]
    pub fn sent(&mut self, call: CallId, is_retry: bool, now: Instant) {
        let CallRecord { tally, awaited, .. } = &mut self.calls[call.index()];
        tally.attempts += 1;
        if is_retry {
            tally.retries += 1;
            tally.last_retry = Some(now);
        }
        awaited.rise(now);
    }

    /// The attempt just sent will never arrive.
    pub fn lost(&mut self, call: CallId) {
        self.calls[call.index()].tally.lost += 1;
    }

    /// An attempt was answered in time.
    #[inline]
    pub fn answered_in_time(&mut self, call: CallId, succeeded: bool, now: Instant) {
        let CallRecord { tally, awaited, .. } = &mut self.calls[call.index()];
        tally.succeeded += u64::from(succeeded);
        tally.errors += u64::from(!succeeded);
        awaited.fall(now);
    }

    /// An attempt was answered after its caller had given up.
    #[inline]
    pub fn answered_late(&mut self, call: CallId) {
        self.calls[call.index()].tally.late_responses += 1;
    }

    /// A caller gave up waiting for an attempt.
    #[inline]
    pub fn timed_out(&mut self, call: CallId, now: Instant) {
        let CallRecord { tally, awaited, .. } = &mut self.calls[call.index()];
        tally.timeouts += 1;
        awaited.fall(now);
    }

    /// A caller ended an attempt because nobody waits for its call.
    pub fn abandoned(&mut self, call: CallId, now: Instant) {
        let CallRecord { tally, awaited, .. } = &mut self.calls[call.index()];
        tally.abandoned += 1;
        awaited.fall(now);
    }

    /// An attempt waits for a slot.
    pub fn waits_for_slot(&mut self, call: CallId, now: Instant) {
        self.calls[call.index()].waiting.rise(now);
    }

    /// An attempt waits for a slot no more.
    pub fn waited_for_slot(&mut self, call: CallId, now: Instant) {
        self.calls[call.index()].waiting.fall(now);
    }

    /// An attempt has got a slot, having waited so long.
    pub fn got_slot(&mut self, call: CallId, waited: Span, now: Instant) {
        if now >= self.plan.warmup {
            self.calls[call.index()].pool_waits.record(waited);
        }
    }

    /// An attempt was turned away by its caller's own breaker (which counts that itself), throttle or pool.
    pub fn turned_away(&mut self, call: CallId, error: ErrorKind) {
        let tally = &mut self.calls[call.index()].tally;
        match error {
            ErrorKind::BreakerOpen => {}
            ErrorKind::Throttled => tally.protection.throttled += 1,
            // Whatever ended the wait for a slot.
            _ => tally.pool_rejected += 1,
        }
    }

    /// The breaker of a call did not let an attempt through, or the call itself.
    pub fn breaker_rejected(&mut self, call: CallId, is_retry: bool) {
        let ProtectionTally { breaker_rejected, breaker_rejected_retries, .. } = self.protection(call);
        *breaker_rejected += 1;
        *breaker_rejected_retries += u64::from(is_retry);
    }

    /// A breaker of a call opened.
    pub fn breaker_opened(&mut self, call: CallId) {
        self.protection(call).breaker_opened += 1;
    }

    /// The attempt just sent is a copy of one that is under way.
    pub fn hedged(&mut self, call: CallId) {
        self.protection(call).hedges += 1;
    }

    /// Such a copy was the first to be answered with success.
    pub fn hedge_won(&mut self, call: CallId) {
        self.protection(call).hedge_wins += 1;
    }

    /// Such a copy was due and was not sent.
    pub fn hedge_left_out(&mut self, call: CallId) {
        self.protection(call).hedges_left_out += 1;
    }

    fn protection(&mut self, call: CallId) -> &mut ProtectionTally {
        &mut self.calls[call.index()].tally.protection
    }

    /// A call was not tried again for lack of time.
    pub fn deadline_stopped(&mut self, call: CallId) {
        self.calls[call.index()].tally.deadline_stopped += 1;
    }

    /// A call was not tried again because its budget refused.
    pub fn budget_refused(&mut self, call: CallId, now: Instant) {
        let tally = &mut self.calls[call.index()].tally;
        tally.budget_refused += 1;
        tally.first_budget_refusal = tally.first_budget_refusal.or(Some(now));
    }

    /// A state of a retry budget, given by its position in the plan, holds `after` in place of `before`.
    #[inline]
    pub fn tokens_changed(&mut self, budget: u32, before: u64, after: u64) {
        self.tokens.change(budget, before, after);
    }

    /// An attempt arrived at a service. `is_original`: on its whole path every attempt was the first.
    #[inline]
    pub fn arrived(&mut self, service: ServiceId, is_original: bool, is_retry: bool, now: Instant) {
        let ServiceRecord { tally, in_flight, .. } = &mut self.services[service.index()];
        tally.arrivals += 1;
        tally.original_arrivals += u64::from(is_original);
        tally.retry_arrivals += u64::from(is_retry);
        in_flight.rise(now);
    }

    /// The attempt that has just arrived stays: it is work in progress now.
    #[inline]
    pub fn entered(&mut self, service: ServiceId, now: Instant) {
        let ServiceRecord { tally, in_flight, .. } = &mut self.services[service.index()];
        if in_flight.value() > tally.in_flight_max {
            tally.in_flight_max = in_flight.value();
            tally.in_flight_max_at = now;
        }
    }

    /// The attempt that has just arrived was turned away.
    #[inline]
    pub fn refused(&mut self, service: ServiceId, by: Refusal, now: Instant) {
        let ServiceRecord { tally, in_flight, .. } = &mut self.services[service.index()];
        tally.refused_by[by as usize] += 1;
        in_flight.fall(now);
    }

    /// The attempt that has just arrived waits for a worker.
    #[inline]
    pub fn queued(&mut self, service: ServiceId, now: Instant) {
        let ServiceRecord { tally, queue, .. } = &mut self.services[service.index()];
        tally.queued += 1;
        queue.rise(now);
        tally.queue_max = tally.queue_max.max(queue.value());
    }

    /// An attempt has left the queue.
    #[inline]
    pub fn unqueued(&mut self, service: ServiceId, now: Instant) {
        self.services[service.index()].queue.fall(now);
    }

    /// A worker has taken up an attempt that arrived at `arrived`.
    #[inline]
    pub fn begun(&mut self, service: ServiceId, arrived: Instant, now: Instant) {
        let ServiceRecord { tally, busy, queue_waits, is_limited, .. } = &mut self.services[service.index()];
        if !*is_limited {
            return;
        }
        let waited = now.since(arrived);
        tally.begun += 1;
        tally.queue_wait_ns += u128::from(waited.as_ns());
        busy.rise(now);
        if now >= self.plan.warmup && tally.workers.is_some() {
            queue_waits.record(waited);
        }
    }

    /// A worker is free again.
    #[inline]
    pub fn worker_freed(&mut self, service: ServiceId, now: Instant) {
        let record = &mut self.services[service.index()];
        if record.is_limited {
            record.busy.fall(now);
        }
    }

    /// Service went on for `took`; `awaited` says whether a client still waits for it.
    #[inline]
    pub fn worked(&mut self, service: ServiceId, took: Span, awaited: bool) {
        let tally = &mut self.services[service.index()].tally;
        tally.service_ns += u128::from(took.as_ns());
        if !awaited {
            tally.wasted_ns += u128::from(took.as_ns());
        }
    }

    /// A service has discarded an attempt.
    #[inline]
    pub fn dropped(&mut self, service: ServiceId, now: Instant) {
        let ServiceRecord { tally, in_flight, .. } = &mut self.services[service.index()];
        tally.dropped += 1;
        in_flight.fall(now);
    }

    /// A service has discarded an attempt because the caller had given up.
    pub fn cancelled(&mut self, service: ServiceId, now: Instant) {
        self.services[service.index()].tally.cancelled += 1;
        self.dropped(service, now);
    }

    /// A service is done with an attempt that arrived at `arrived`.
    #[inline]
    pub fn completed(&mut self, service: ServiceId, arrived: Instant, succeeded: bool, now: Instant) {
        let ServiceRecord { tally, in_flight, .. } = &mut self.services[service.index()];
        tally.completed += 1;
        tally.succeeded += u64::from(succeeded);
        tally.sojourn_ns += u128::from(now.since(arrived).as_ns());
        in_flight.fall(now);
    }

    /// The work of a service has had its side effect, for the first time for what it is about or once more.
    pub fn executed(&mut self, service: ServiceId, is_first: bool) {
        let tally = &mut self.services[service.index()].tally;
        tally.executions += 1;
        tally.duplicate_effects += u64::from(!is_first);
    }

    /// The store of a service knows what an attempt is about.
    pub fn recognised(&mut self, service: ServiceId) {
        self.services[service.index()].tally.recognised += 1;
    }

    /// The balancer of a service stopped sending anything to one of its servers.
    pub fn ejected(&mut self, service: ServiceId) {
        self.services[service.index()].tally.ejections += 1;
    }

    /// The attempt that a service is done with got the error of a fault.
    pub fn faulted(&mut self, service: ServiceId) {
        self.services[service.index()].tally.faulted += 1;
    }
}

impl RequestFlow {
    #[inline]
    fn count_end(&mut self, end: &RequestEnd, dead_letters: bool) {
        match end.result {
            Ok(degraded) => {
                self.succeeded += 1;
                self.succeeded_first_try += u64::from(end.attempts == 1);
                self.degraded += u64::from(degraded);
            }
            Err((error, reason)) => {
                self.dead_letters += u64::from(dead_letters && reason == StopReason::Exhausted);
                self.stopped_by[reason as usize] += 1;
                if end.in_doubt {
                    self.unknown += 1;
                } else {
                    self.failed_by[error as usize] += 1;
                }
            }
        }
    }
}

/// How a replica ended.
#[derive(Clone, Copy, Debug)]
pub struct RunEnd {
    /// Its number.
    pub replica: u32,
    /// The instant up to which it ran.
    pub end: Instant,
    /// Why it ended there.
    pub ended: End,
    /// Events that happened.
    pub events: u64,
}

fn flows(records: &[GroupRecord]) -> impl Iterator<Item = &RequestFlow> + Clone {
    records.iter().map(|record| &record.flow)
}

fn call_tallies(records: &[CallRecord]) -> impl Iterator<Item = &CallTally> {
    records.iter().map(|record| &record.tally)
}

fn service_tallies(records: &[ServiceRecord]) -> impl Iterator<Item = &ServiceTally> {
    records.iter().map(|record| &record.tally)
}
