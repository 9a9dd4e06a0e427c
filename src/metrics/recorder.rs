//! Counts what happens while a replica runs.
//!
//! The hot path only adds to running totals. At the borders of the 100 ms windows of the peaks and of the buckets of
//! the timeline, totals are compared with those at the previous border. A level (the number in flight) needs no clock
//! either: between two borders its integral is `level * time`, corrected by the instants at which it changed, so that
//! one sum of instants per level is enough.

use crate::failure::{ErrorKind, StopReason};
use crate::metrics::{Bucket, CallTally, End, Limit, Outcome, RequestTally, ServiceTally, Timeline};
use crate::plan::{CallId, GroupId, Origin, Plan, ServiceId};
use crate::time::{Instant, Span};

/// The width of the windows in which peaks are counted.
pub const PEAK_WINDOW: Span = Span::from_ms(100);

/// The most buckets a series may have.
const BUCKET_LIMIT: usize = 10_000_000;

/// A number that goes up and down by one, and its integral over time.
#[derive(Clone, Copy, Debug, Default)]
struct Level {
    value: u64,
    /// Sum of the instants of all decreases minus that of all increases, in ns.
    balance_ns: i128,
}

impl Level {
    #[inline]
    fn rise(&mut self, now: Instant) {
        self.value += 1;
        self.balance_ns -= i128::from(now.as_ns());
    }

    #[inline]
    fn fall(&mut self, now: Instant) {
        self.value -= 1;
        self.balance_ns += i128::from(now.as_ns());
    }

    /// The integral over `[0, now)`, if nothing changes between the last change and `now`.
    fn integral_ns(&self, now: Instant) -> u128 {
        (i128::from(self.value) * i128::from(now.as_ns()) + self.balance_ns) as u128
    }
}

/// The running counts of one replica.
#[derive(Debug)]
pub struct Recorder<'p> {
    plan: &'p Plan,
    groups: Vec<(RequestTally, Level)>,
    calls: Vec<(CallTally, Level)>,
    services: Vec<(ServiceTally, Level)>,
    peaks: Peaks,
    timeline: Timeline,
    /// Totals of every series at the start of the bucket, in the order of [`Recorder::totals`].
    bucket_start: Vec<Bucket>,
    bucket_end: Instant,
    /// The next instant at which anything must be closed.
    border: Instant,
    overfull: bool,
}

/// Totals at the start of the 100 ms window, and the largest differences so far of the sum over all calls.
#[derive(Debug)]
struct Peaks {
    window_end: Instant,
    calls: Vec<(u64, u64)>,
    services: Vec<u64>,
    attempts: u64,
    retries: u64,
}

impl<'p> Recorder<'p> {
    /// Nothing counted yet.
    pub fn new(plan: &'p Plan) -> Self {
        let mut recorder = Self {
            plan,
            groups: vec![<_>::default(); plan.groups.len()],
            calls: vec![<_>::default(); plan.calls.len()],
            services: vec![<_>::default(); plan.services.len()],
            peaks: Peaks {
                window_end: Instant::ZERO + PEAK_WINDOW,
                calls: vec![(0, 0); plan.calls.len()],
                services: vec![0; plan.services.len()],
                attempts: 0,
                retries: 0,
            },
            timeline: Timeline {
                bucket: plan.bucket,
                scenario: Vec::new(),
                groups: vec![Vec::new(); plan.groups.len()],
                calls: vec![Vec::new(); plan.calls.len()],
                services: vec![Vec::new(); plan.services.len()],
            },
            bucket_start: Vec::new(),
            bucket_end: Instant::ZERO + plan.bucket,
            border: Instant::ZERO,
            overfull: false,
        };
        recorder.bucket_start = recorder.totals(Instant::ZERO);
        recorder.border = recorder.peaks.window_end.min(recorder.bucket_end);
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
        self.overfull
    }

    /// A request began.
    #[inline]
    pub fn request_began(&mut self, group: GroupId, now: Instant) {
        let (tally, level) = &mut self.groups[group.index()];
        tally.requests += 1;
        level.rise(now);
    }

    /// A request that began at `start` ended; its own call made `attempts` attempts.
    #[inline]
    pub fn request_ended(
        &mut self,
        group: GroupId,
        start: Instant,
        attempts: u32,
        result: Result<(), (ErrorKind, StopReason)>,
        now: Instant,
    ) {
        let (tally, level) = &mut self.groups[group.index()];
        let took = now.since(start);
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
        tally.last_end = Some(now);
        level.fall(now);
    }

    /// An attempt was sent.
    #[inline]
    pub fn sent(&mut self, call: CallId, is_retry: bool, now: Instant) {
        let (tally, level) = &mut self.calls[call.index()];
        tally.attempts += 1;
        if is_retry {
            tally.retries += 1;
            tally.last_retry = Some(now);
        }
        level.rise(now);
    }

    /// An attempt was answered in time.
    #[inline]
    pub fn answered_in_time(&mut self, call: CallId, succeeded: bool, now: Instant) {
        let (tally, level) = &mut self.calls[call.index()];
        tally.succeeded += u64::from(succeeded);
        tally.errors += u64::from(!succeeded);
        level.fall(now);
    }

    /// An attempt was answered after its caller had given up.
    #[inline]
    pub fn answered_late(&mut self, call: CallId) {
        self.calls[call.index()].0.late_responses += 1;
    }

    /// A caller gave up waiting for an attempt.
    #[inline]
    pub fn timed_out(&mut self, call: CallId, now: Instant) {
        let (tally, level) = &mut self.calls[call.index()];
        tally.timeouts += 1;
        level.fall(now);
    }

    /// A call was not tried again for lack of time.
    pub fn deadline_stopped(&mut self, call: CallId) {
        self.calls[call.index()].0.deadline_stopped += 1;
    }

    /// An attempt arrived at a service. `is_original`: on its whole path every attempt was the first.
    #[inline]
    pub fn arrived(&mut self, service: ServiceId, is_original: bool, is_retry: bool, now: Instant) {
        let (tally, level) = &mut self.services[service.index()];
        tally.arrivals += 1;
        tally.original_arrivals += u64::from(is_original);
        tally.retry_arrivals += u64::from(is_retry);
        level.rise(now);
    }

    /// The attempt that has just arrived stays: it is work in progress now.
    #[inline]
    pub fn entered(&mut self, service: ServiceId, now: Instant) {
        let (tally, level) = &mut self.services[service.index()];
        if level.value > tally.in_flight_max {
            tally.in_flight_max = level.value;
            tally.in_flight_max_at = now;
        }
    }

    /// The attempt that has just arrived was turned away.
    #[inline]
    pub fn refused(&mut self, service: ServiceId, now: Instant) {
        let (tally, level) = &mut self.services[service.index()];
        tally.refused += 1;
        level.fall(now);
    }

    /// A service is done with an attempt that arrived at `arrived`.
    #[inline]
    pub fn completed(&mut self, service: ServiceId, arrived: Instant, succeeded: bool, now: Instant) {
        let (tally, level) = &mut self.services[service.index()];
        tally.completed += 1;
        tally.succeeded += u64::from(succeeded);
        tally.sojourn_ns += u128::from(now.since(arrived).as_ns());
        level.fall(now);
    }

    /// Closes every window and bucket that ends at or before `now`.
    #[cold]
    fn close(&mut self, now: Instant) {
        if now >= self.peaks.window_end {
            self.close_peaks();
            self.peaks.window_end = next_multiple(now, PEAK_WINDOW);
        }
        if now >= self.bucket_end {
            self.close_bucket(self.bucket_end);
            self.fill_gap(now);
            self.bucket_end = next_multiple(now, self.plan.bucket);
        }
        self.border = self.peaks.window_end.min(self.bucket_end);
    }

    fn close_peaks(&mut self) {
        let (mut attempts, mut retries) = (0, 0);
        for ((tally, _), (attempts_before, retries_before)) in self.calls.iter_mut().zip(&mut self.peaks.calls) {
            let (sent, again) = (tally.attempts - *attempts_before, tally.retries - *retries_before);
            tally.attempt_peak = tally.attempt_peak.max(sent);
            tally.retry_peak = tally.retry_peak.max(again);
            (*attempts_before, *retries_before) = (tally.attempts, tally.retries);
            attempts += sent;
            retries += again;
        }
        self.peaks.attempts = self.peaks.attempts.max(attempts);
        self.peaks.retries = self.peaks.retries.max(retries);
        for ((tally, _), before) in self.services.iter_mut().zip(&mut self.peaks.services) {
            tally.arrival_peak = tally.arrival_peak.max(tally.arrivals - *before);
            *before = tally.arrivals;
        }
    }

    /// Closes the current bucket at `at`, its end or that of the run.
    fn close_bucket(&mut self, at: Instant) {
        let index = (self.bucket_end.as_ns() - 1) / self.plan.bucket.as_ns();
        let totals = self.totals(at);
        let series = all_series(&mut self.timeline);
        for ((series, total), before) in series.zip(&totals).zip(&self.bucket_start) {
            let bucket = difference(index, total, before);
            if !bucket.is_idle() {
                series.push(bucket);
                self.overfull |= series.len() > BUCKET_LIMIT;
            }
        }
        self.bucket_start = totals;
    }

    /// Whole buckets between the one just closed and the one that holds `now`: nothing happened, but levels lasted.
    fn fill_gap(&mut self, now: Instant) {
        let width = self.plan.bucket.as_ns();
        let (first, current) = (self.bucket_end.as_ns() / width, now.as_ns() / width);
        if first == current {
            return;
        }
        let before = std::mem::take(&mut self.bucket_start);
        self.bucket_start = self.totals(Instant::from_ns(current * width));
        for ((series, total), before) in all_series(&mut self.timeline).zip(&self.bucket_start).zip(&before) {
            let in_flight_ns = (total.in_flight_ns - before.in_flight_ns) / u128::from(current - first);
            if in_flight_ns == 0 {
                continue;
            }
            if series.len() as u64 + (current - first) > BUCKET_LIMIT as u64 {
                self.overfull = true;
                continue;
            }
            series.extend((first..current).map(|index| Bucket { index, in_flight_ns, ..Bucket::default() }));
        }
    }

    /// The totals of every series at `now`: scenario, groups, calls, services.
    fn totals(&self, now: Instant) -> Vec<Bucket> {
        let mut totals = vec![Bucket::default(); 1 + self.groups.len() + self.calls.len() + self.services.len()];
        let (scenario, rest) = totals.split_first_mut().expect("the scenario is always there");
        let (groups, rest) = rest.split_at_mut(self.groups.len());
        let (calls, services) = rest.split_at_mut(self.calls.len());
        for (total, (tally, level)) in groups.iter_mut().zip(&self.groups) {
            (total.succeeded, total.failed) = (tally.succeeded, tally.failed());
            total.in_flight_ns = level.integral_ns(now);
            scenario.succeeded += total.succeeded;
            scenario.failed += total.failed;
            scenario.in_flight_ns += total.in_flight_ns;
        }
        for (total, (tally, level)) in services.iter_mut().zip(&self.services) {
            (total.attempts, total.retries, total.succeeded) = (tally.arrivals, tally.retry_arrivals, tally.succeeded);
            total.failed = tally.completed - tally.succeeded + tally.refused;
            total.in_flight_ns = level.integral_ns(now);
        }
        for ((total, (tally, level)), call) in calls.iter_mut().zip(&self.calls).zip(&self.plan.calls) {
            (total.attempts, total.retries, total.timeouts) = (tally.attempts, tally.retries, tally.timeouts);
            (total.succeeded, total.failed) = (tally.succeeded, tally.errors + tally.timeouts);
            total.in_flight_ns = level.integral_ns(now);
            scenario.add_attempts(total);
            if let Origin::Group(group) = call.origin {
                groups[group.index()].add_attempts(total);
            }
            services[call.target.index()].timeouts += total.timeouts;
        }
        totals
    }

    /// Closes what is open and hands the counts over. `end` is not before the last instant told.
    pub fn finish(mut self, replica: u32, end: Instant, ended: End, events: u64) -> Outcome {
        self.advance(end);
        self.close_peaks();
        // Nothing of the last bucket is lost: it ends with the run, and is left out if it is empty.
        self.close_bucket(end);
        let ended = if self.overfull { End::Limit(Limit::Buckets) } else { ended };
        let mut all_requests = RequestTally::default();
        for (tally, _) in &self.groups {
            all_requests.add(tally);
        }
        let mut all_calls = CallTally::default();
        for (tally, _) in &self.calls {
            all_calls.add_counts(tally);
        }
        (all_calls.attempt_peak, all_calls.retry_peak) = (self.peaks.attempts, self.peaks.retries);
        let services = self.services.into_iter().map(|(tally, level)| ServiceTally {
            in_progress: level.value,
            in_flight_ns: level.integral_ns(end),
            ..tally
        });
        Outcome {
            replica,
            end,
            ended,
            events,
            services: services.collect(),
            groups: self.groups.into_iter().map(|(tally, _)| tally).collect(),
            calls: self.calls.into_iter().map(|(tally, _)| tally).collect(),
            all_requests,
            all_calls,
            timeline: self.timeline,
        }
    }
}

/// The series in the order of [`Recorder::totals`].
fn all_series(timeline: &mut Timeline) -> impl Iterator<Item = &mut Vec<Bucket>> {
    std::iter::once(&mut timeline.scenario)
        .chain(&mut timeline.groups)
        .chain(&mut timeline.calls)
        .chain(&mut timeline.services)
}

fn difference(index: u64, total: &Bucket, before: &Bucket) -> Bucket {
    Bucket {
        index,
        attempts: total.attempts - before.attempts,
        retries: total.retries - before.retries,
        succeeded: total.succeeded - before.succeeded,
        failed: total.failed - before.failed,
        timeouts: total.timeouts - before.timeouts,
        in_flight_ns: total.in_flight_ns - before.in_flight_ns,
    }
}

/// The first multiple of `width` after `now`.
fn next_multiple(now: Instant, width: Span) -> Instant {
    Instant::from_ns((now.as_ns() / width.as_ns() + 1) * width.as_ns())
}
