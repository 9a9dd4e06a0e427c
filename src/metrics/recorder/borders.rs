//! What is done at borders of time: windows, buckets and seconds are closed, marks passed, and in the end all is handed
//! over.

use std::mem;
use std::ops::Range;

use super::{
    CallRecord, GroupRecord, PEAK_WINDOW, Recorder, RunEnd, ServiceRecord, call_tallies, flows, service_tallies,
};
use crate::metrics::buckets::next_multiple;
use crate::metrics::meter::{Meter, Reading, Totals};
use crate::metrics::{Bucket, End, Limit, Outcome, RequestTally, ServiceTally};
use crate::plan::Origin;
use crate::time::{Instant, Span};

impl Recorder<'_> {
    /// Closes every window and bucket that ends at or before `now`, and passes every mark up to it.
    #[cold]
    pub(super) fn close(&mut self, now: Instant) {
        while self.marks.get(self.next_mark).is_some_and(|&mark| mark <= now) {
            // Nothing has happened since the last event, so that windows of 100 ms which ended before the mark can be
            // closed first, and those that end after it later.
            let mark = self.marks[self.next_mark];
            self.close_peaks(mark);
            self.pass_marks(mark);
        }
        self.close_peaks(now);
        self.recoveries.close(now, flows(&self.groups));
        let end = self.buckets.end();
        if now >= end {
            self.close_bucket(end);
            if let Some(at) = self.buckets.start_after_gap(now) {
                self.add_up(at);
                self.buckets.fill_gap(now, &mut self.sums);
            }
            self.buckets.begin(now);
        }
        self.set_border();
    }

    pub(super) fn set_border(&mut self) {
        let mark = self.marks.get(self.next_mark).copied().unwrap_or(Instant::LIMIT);
        let second = self.recoveries.border().unwrap_or(Instant::LIMIT);
        self.border = self.peak_end.min(self.buckets.end()).min(mark).min(second);
    }

    /// Closes the current 100 ms if they have ended by `now`.
    fn close_peaks(&mut self, now: Instant) {
        if now < self.peak_end {
            return;
        }
        for (_, meter) in &mut self.open {
            meter.close_window(call_tallies(&self.calls), service_tallies(&self.services));
        }
        self.peak_end = next_multiple(now, PEAK_WINDOW);
    }

    /// Starts and ends the meters whose mark is `mark`: the next one, or the start of the run.
    pub(super) fn pass_marks(&mut self, mark: Instant) {
        if self.marks.get(self.next_mark) != Some(&mark) {
            return;
        }
        self.next_mark += 1;
        if self.last_hold == Some(mark) {
            self.arrivals_before = service_tallies(&self.services).map(|tally| tally.arrivals).collect();
        }
        let totals = self.totals(mark);
        self.hand_over_extremes(mark);
        let (ended, open) = mem::take(&mut self.open).into_iter().partition(|(_, meter)| meter.until == mark);
        self.open = open;
        for (window, meter) in ended {
            self.end_window(window, meter, &totals);
        }
        if mark == self.plan.warmup {
            self.tokens.forget_least();
            // It ends with the run, which is no mark.
            self.open.push((None, Meter::start(mark, mark + Span::UNLIMITED, &totals)));
        }
        let plan = self.plan;
        while let Some(window) = self.waiting.pop_if(|window| plan.windows[*window].start == mark) {
            let end = plan.windows[window].end;
            self.open.push((Some(window), Meter::start(mark, end, &totals)));
        }
    }

    /// Every open meter takes over what is no difference of totals; then it is counted anew from `mark` on.
    fn hand_over_extremes(&mut self, mark: Instant) {
        for (_, meter) in &mut self.open {
            meter.take_extremes(call_tallies(&self.calls), service_tallies(&self.services));
        }
        for record in &mut self.calls {
            record.tally.first_budget_refusal = None;
        }
        for ServiceRecord { tally, in_flight, queue, .. } in &mut self.services {
            (tally.in_flight_max, tally.in_flight_max_at) = (in_flight.value(), mark);
            tally.queue_max = queue.value();
        }
    }

    fn end_window(&mut self, window: Option<usize>, mut meter: Meter, totals: &Totals) {
        meter.close_window(totals.calls.iter(), totals.services.iter());
        if let Some(window) = window {
            let (from, until) = (meter.from, meter.until);
            self.windows[window] = Some(meter.finish(totals).window(from, until));
        }
    }

    /// The totals of everything at `now`.
    fn totals(&self, now: Instant) -> Totals {
        let services = self.services.iter().map(|ServiceRecord { tally, in_flight, busy, .. }| ServiceTally {
            in_progress: in_flight.value(),
            in_flight_ns: in_flight.integral_ns(now),
            busy_ns: busy.integral_ns(now),
            ..tally.clone()
        });
        Totals {
            groups: self.groups.iter().map(|record| record.flow).collect(),
            calls: call_tallies(&self.calls).cloned().collect(),
            services: services.collect(),
        }
    }

    /// Closes the current bucket at `at`, its end or that of the run.
    fn close_bucket(&mut self, at: Instant) {
        self.add_up(at);
        self.buckets.close(&mut self.sums, self.tokens.levels(self.plan));
    }

    /// Writes the sums of every series at `now`.
    fn add_up(&mut self, now: Instant) {
        self.sums.fill(Bucket::default());
        let (scenario, rest) = self.sums.split_first_mut().expect("the scenario is always there");
        let (groups, rest) = rest.split_at_mut(self.groups.len());
        let (calls, services) = rest.split_at_mut(self.calls.len());
        for (total, record) in groups.iter_mut().zip(&self.groups) {
            (total.succeeded, total.failed) = (record.flow.succeeded, record.flow.ended_badly());
            total.in_flight_ns = record.open.integral_ns(now);
            scenario.succeeded += total.succeeded;
            scenario.failed += total.failed;
            scenario.in_flight_ns += total.in_flight_ns;
        }
        for (total, ServiceRecord { tally, in_flight, queue, busy, .. }) in services.iter_mut().zip(&self.services) {
            (total.attempts, total.retries, total.succeeded) = (tally.arrivals, tally.retry_arrivals, tally.succeeded);
            total.failed = tally.completed - tally.succeeded + tally.refused() + tally.dropped;
            total.in_flight_ns = in_flight.integral_ns(now);
            (total.queued_ns, total.busy_ns) = (queue.integral_ns(now), busy.integral_ns(now));
            scenario.queued_ns += total.queued_ns;
        }
        for ((total, record), call) in calls.iter_mut().zip(&self.calls).zip(&self.plan.calls) {
            let CallRecord { tally, awaited, waiting, .. } = record;
            (total.attempts, total.retries, total.timeouts) = (tally.attempts, tally.retries, tally.timeouts);
            (total.succeeded, total.failed) = (tally.succeeded, tally.errors + tally.timeouts);
            (total.budget_refused, total.hedges) = (tally.budget_refused, tally.protection.hedges);
            (total.in_flight_ns, total.queued_ns) = (awaited.integral_ns(now), waiting.integral_ns(now));
            scenario.add_attempts(total);
            if let Origin::Group(group) = call.origin {
                groups[group.index()].add_attempts(total);
            }
            let target = &mut services[call.target.index()];
            target.timeouts += total.timeouts;
            target.budget_refused += total.budget_refused;
            target.hedges += total.hedges;
        }
    }

    /// Closes what is open and hands the counts over. `end` is not before the last instant told; `left_in_windows` are
    /// the retries left in each budget that is a `windowed_ratio`, in millionths.
    pub fn finish(mut self, run: RunEnd, left_in_windows: &[Option<u128>]) -> Outcome {
        let RunEnd { replica, end, ended, events } = run;
        self.advance(end);
        // Nothing of the last bucket is lost: it ends with the run, and is left out if it is empty.
        self.close_bucket(end);
        self.hand_over_extremes(end);
        let totals = self.totals(end);
        for window in mem::take(&mut self.waiting) {
            // It lies beyond the end: nothing was measured in it.
            let Range { start, end } = self.plan.windows[window];
            self.windows[window] = Some(Reading::empty(self.plan).window(start, end));
        }
        let mut whole = None;
        for (window, meter) in mem::take(&mut self.open) {
            match window {
                Some(_) => self.end_window(window, meter, &totals),
                None => whole = Some(meter),
            }
        }
        let measured = whole.map(|mut whole| {
            whole.close_window(totals.calls.iter(), totals.services.iter());
            let mut reading = whole.finish(&totals);
            self.tokens.hand_over(self.plan, left_in_windows, &mut reading.calls, &mut reading.all_calls);
            reading
        });
        // A run that ends within its warm-up has measured nothing.
        let Reading { groups, mut calls, mut services, mut all_calls } =
            measured.unwrap_or_else(|| Reading::empty(self.plan));
        for (tally, CallRecord { pool_waits, .. }) in calls.iter_mut().zip(self.calls) {
            all_calls.pool_waits.add(&pool_waits);
            tally.pool_waits = pool_waits;
        }
        if ended == End::Horizon {
            let all = services.iter_mut().zip(&totals.services).zip(self.arrivals_before);
            for ((tally, total), before) in all {
                tally.arrivals_last_rps = Some((total.arrivals - before) as f64 / self.plan.recovery.hold.as_s());
            }
        }
        for (tally, ServiceRecord { queue_waits, .. }) in services.iter_mut().zip(self.services) {
            tally.queue_waits = queue_waits;
        }
        let faults = self.recoveries.finish(end, ended == End::Drained, flows(&self.groups));
        let groups: Vec<RequestTally> = groups
            .into_iter()
            .zip(self.groups)
            .map(|(flow, GroupRecord { stragglers, latency, give_up_max, last_end, .. })| RequestTally {
                latency,
                give_up_max,
                last_end,
                ..flow.since(&stragglers).tally()
            })
            .collect();
        Outcome {
            replica,
            warmup: self.plan.warmup,
            end,
            ended: if self.buckets.is_overfull() { End::Limit(Limit::Buckets) } else { ended },
            events,
            all_requests: RequestTally::sum(&groups),
            groups,
            calls,
            services,
            faults,
            all_calls,
            windows: self.windows.into_iter().map(|window| window.expect("every window has been ended")).collect(),
            timeline: self.buckets.into_timeline(),
        }
    }
}
