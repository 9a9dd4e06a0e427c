//! A stretch of the run that is measured: from the warm-up to the end, or a window of an expectation.
//!
//! The recorder's totals only grow. A meter remembers them as they were at its start and subtracts at its end. What is
//! not a difference of totals (peaks, maxima, first times) is handed to every open meter at the borders of 100 ms and
//! at the marks, the instants at which meters start and end.

use crate::metrics::outcome::{CallTally, RequestFlow, RequestTally, ServiceTally, WindowOutcome};
use crate::plan::Plan;
use crate::time::Instant;

/// The totals of everything at one instant.
#[derive(Clone, Debug, Default)]
pub(super) struct Totals {
    pub groups: Vec<RequestFlow>,
    pub calls: Vec<CallTally>,
    pub services: Vec<ServiceTally>,
}

/// One open or closed stretch.
#[derive(Debug)]
pub(super) struct Meter {
    pub from: Instant,
    pub until: Instant,
    /// Totals at its start.
    start: Totals,
    /// Attempts and retries of each call, and arrivals of each service, at the start of the current 100 ms or of the
    /// meter, whichever is later.
    window_calls: Vec<(u64, u64)>,
    window_services: Vec<u64>,
    /// What is no difference: peaks, maxima, first times. Its other fields stay zero.
    calls: Vec<CallTally>,
    services: Vec<ServiceTally>,
    /// The peaks of the sum over all calls.
    attempt_peak: u64,
    retry_peak: u64,
}

/// What a closed meter has measured; peaks of the sum over all calls are in `all_calls`.
pub(super) struct Reading {
    pub groups: Vec<RequestFlow>,
    pub calls: Vec<CallTally>,
    pub services: Vec<ServiceTally>,
    pub all_calls: CallTally,
}

impl Reading {
    /// Of no time at all.
    pub fn empty(plan: &Plan) -> Self {
        Self {
            groups: vec![RequestFlow::default(); plan.groups.len()],
            calls: vec![CallTally::default(); plan.calls.len()],
            services: plan.services.iter().map(ServiceTally::of).collect(),
            all_calls: CallTally::default(),
        }
    }

    /// As the outcome of a window.
    pub fn window(self, from: Instant, until: Instant) -> WindowOutcome {
        let Self { groups, calls, services, all_calls } = self;
        let groups: Vec<RequestTally> = groups.into_iter().map(RequestFlow::tally).collect();
        WindowOutcome { from, until, all_requests: RequestTally::sum(&groups), groups, calls, services, all_calls }
    }
}

impl Meter {
    /// A meter of `[from, until)` that starts now, with these totals.
    pub fn start(from: Instant, until: Instant, totals: &Totals) -> Self {
        Self {
            from,
            until,
            start: totals.clone(),
            window_calls: totals.calls.iter().map(|call| (call.attempts, call.retries)).collect(),
            window_services: totals.services.iter().map(|service| service.arrivals).collect(),
            calls: vec![CallTally::default(); totals.calls.len()],
            services: vec![ServiceTally::default(); totals.services.len()],
            attempt_peak: 0,
            retry_peak: 0,
        }
    }

    /// The current 100 ms end, or the meter does: what was sent and arrived in it may be a peak.
    pub fn close_window<'a>(
        &mut self,
        calls: impl Iterator<Item = &'a CallTally>,
        services: impl Iterator<Item = &'a ServiceTally>,
    ) {
        let (mut attempts, mut retries) = (0, 0);
        for ((total, before), peaks) in calls.zip(&mut self.window_calls).zip(&mut self.calls) {
            let (sent, again) = (total.attempts - before.0, total.retries - before.1);
            *before = (total.attempts, total.retries);
            peaks.attempt_peak = peaks.attempt_peak.max(sent);
            peaks.retry_peak = peaks.retry_peak.max(again);
            attempts += sent;
            retries += again;
        }
        self.attempt_peak = self.attempt_peak.max(attempts);
        self.retry_peak = self.retry_peak.max(retries);
        for ((total, before), peaks) in services.zip(&mut self.window_services).zip(&mut self.services) {
            peaks.arrival_peak = peaks.arrival_peak.max(total.arrivals - *before);
            *before = total.arrivals;
        }
    }

    /// Takes over the largest numbers in flight and in the queue of each service since the last mark, and the first
    /// refusals of budgets.
    pub fn take_extremes<'a>(
        &mut self,
        calls: impl Iterator<Item = &'a CallTally>,
        services: impl Iterator<Item = &'a ServiceTally>,
    ) {
        for (recent, own) in calls.zip(&mut self.calls) {
            own.first_budget_refusal = own.first_budget_refusal.or(recent.first_budget_refusal);
        }
        for (recent, own) in services.zip(&mut self.services) {
            if recent.in_flight_max > own.in_flight_max {
                own.in_flight_max = recent.in_flight_max;
                own.in_flight_max_at = recent.in_flight_max_at;
            }
            own.queue_max = own.queue_max.max(recent.queue_max);
        }
    }

    /// What it has measured, by the totals at its end.
    pub fn finish(self, end: &Totals) -> Reading {
        let groups = end.groups.iter().zip(&self.start.groups).map(|(end, start)| end.since(start)).collect();
        let calls: Vec<CallTally> = end
            .calls
            .iter()
            .zip(&self.start.calls)
            .zip(self.calls)
            .map(|((end, start), own)| CallTally {
                attempt_peak: own.attempt_peak,
                retry_peak: own.retry_peak,
                first_budget_refusal: own.first_budget_refusal,
                last_retry: end.last_retry.filter(|&at| at >= self.from),
                ..end.since(start)
            })
            .collect();
        let services = end
            .services
            .iter()
            .zip(&self.start.services)
            .zip(self.services)
            .map(|((end, start), own)| ServiceTally {
                arrival_peak: own.arrival_peak,
                in_flight_max: own.in_flight_max,
                in_flight_max_at: own.in_flight_max_at,
                queue_max: own.queue_max,
                ..end.since(start)
            })
            .collect();
        let mut all_calls = CallTally::default();
        calls.iter().for_each(|call| all_calls.add_counts(call));
        (all_calls.attempt_peak, all_calls.retry_peak) = (self.attempt_peak, self.retry_peak);
        Reading { groups, calls, services, all_calls }
    }
}
