//! Every metric, once: its name, its unit, where it exists, what it means, and how it is read from an [`Outcome`].
//!
//! Headers, `summary.json`, expectations, documentation and charts all read this list.

use std::fmt;

use crate::failure::{ErrorKind, Refusal, StopReason};
use crate::metrics::{Aftermath, CallTally, End, FaultTally, Outcome, RequestTally, ServiceTally, WindowOutcome};
use crate::policy::MICRO;
use crate::time::{Instant, Span};

/// The unit of a metric. It is also the end of the metric's name, where it has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A number of things.
    Count,
    /// A share or a factor.
    Ratio,
    /// Seconds: instants and spans of the run.
    Seconds,
    /// Milliseconds: latencies and waits.
    Milliseconds,
    /// Per second.
    PerSecond,
}

impl Unit {
    /// As it stands in `summary.json` and `summary.csv`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Ratio => "ratio",
            Self::Seconds => "s",
            Self::Milliseconds => "ms",
            Self::PerSecond => "1/s",
        }
    }
}

/// The kinds of things that metrics are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ScopeKind {
    /// The whole scenario.
    Scenario,
    /// A client group.
    Client,
    /// A call.
    Call,
    /// A service.
    Service,
    /// A fault.
    Fault,
}

impl ScopeKind {
    /// As it stands in CSV files and expectations.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Scenario => "scenario",
            Self::Client => "client",
            Self::Call => "call",
            Self::Service => "service",
            Self::Fault => "fault",
        }
    }
}

impl fmt::Display for ScopeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A metric of things of the kind `T`.
pub struct Metric<T: ?Sized> {
    /// Its name, with the unit at the end where it has one.
    pub name: &'static str,
    /// Its unit.
    pub unit: Unit,
    /// What it is, in a sentence.
    pub meaning: &'static str,
    /// Whether it can be measured in a window: counts, rates and peaks can, what is about a run as a whole cannot.
    pub window: bool,
    read: fn(&T, &Run) -> Option<f64>,
}

impl<T> Metric<T> {
    /// Its value; none where it is undefined, such as the mean of nothing.
    pub fn read(&self, tally: &T, run: &Run) -> Option<f64> {
        (self.read)(tally, run)
    }
}

/// What a metric may need to know of the run as a whole.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// The time that was measured.
    pub measured: Span,
}

/// What was counted over a stretch of a replica: the whole of it after the warm-up, or a window.
#[derive(Clone, Copy, Debug)]
pub struct Measured<'a> {
    groups: &'a [RequestTally],
    calls: &'a [CallTally],
    services: &'a Vec<ServiceTally>,
    faults: &'a [FaultTally],
    all_requests: &'a RequestTally,
    all_calls: &'a CallTally,
    run: Run,
}

impl<'a> Measured<'a> {
    /// All of a replica after its warm-up.
    pub fn whole(outcome: &'a Outcome) -> Self {
        let Outcome { groups, calls, services, faults, all_requests, all_calls, .. } = outcome;
        let run = Run { measured: outcome.end.since(outcome.warmup) };
        Self { groups, calls, services, faults, all_requests, all_calls, run }
    }

    /// One of its windows, by the position in the plan. What came after faults is not measured in windows.
    pub fn window(outcome: &'a Outcome, position: usize) -> Self {
        let WindowOutcome { from, until, groups, calls, services, all_requests, all_calls } =
            &outcome.windows[position];
        // What comes after the last event is known, too: nothing. Only a run that was cut has not measured all of it.
        let end = if outcome.ended == End::Drained { *until } else { outcome.end.min(*until) };
        let run = Run { measured: end.since(*from) };
        Self { groups, calls, services, faults: &[], all_requests, all_calls, run }
    }

    /// The value of one metric: of the thing of this kind with this number, the metric's position being that in
    /// [`columns`].
    pub fn value(&self, kind: ScopeKind, thing: usize, metric: usize) -> Option<f64> {
        let run = &self.run;
        match kind {
            ScopeKind::Scenario => {
                let calls_from = SCENARIO.len() + REQUESTS.len();
                if metric < SCENARIO.len() {
                    SCENARIO[metric].read(self.services, run)
                } else if metric < calls_from {
                    REQUESTS[metric - SCENARIO.len()].read(self.all_requests, run)
                } else {
                    CALLS[metric - calls_from].read(self.all_calls, run)
                }
            }
            ScopeKind::Client => REQUESTS[metric].read(&self.groups[thing], run),
            ScopeKind::Call => CALLS[metric].read(&self.calls[thing], run),
            ScopeKind::Service => SERVICES[metric].read(&self.services[thing], run),
            ScopeKind::Fault => FAULTS[metric].read(&self.faults[thing], run),
        }
    }

    /// Every metric of every thing.
    pub fn read(&self) -> Readings {
        let all = |kind: ScopeKind, things: usize| -> Vec<Values> {
            let metrics = columns(kind).len();
            (0..things).map(|thing| (0..metrics).map(|metric| self.value(kind, thing, metric)).collect()).collect()
        };
        Readings {
            scenario: all(ScopeKind::Scenario, 1).remove(0),
            groups: all(ScopeKind::Client, self.groups.len()),
            calls: all(ScopeKind::Call, self.calls.len()),
            services: all(ScopeKind::Service, self.services.len()),
            faults: all(ScopeKind::Fault, self.faults.len()),
        }
    }
}

fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

fn per_second(count: u64, run: &Run) -> Option<f64> {
    (run.measured > Span::ZERO).then(|| count as f64 / run.measured.as_s())
}

/// Metrics; those marked `whole_run` cannot be measured in a window.
macro_rules! metrics {
    ($($name:literal $unit:ident $($mark:ident)? $meaning:literal = $read:expr;)+) => {
        &[$(Metric {
            name: $name,
            unit: Unit::$unit,
            meaning: $meaning,
            window: metrics!(@window $($mark)?),
            read: $read,
        },)+]
    };
    (@window) => { true };
    (@window whole_run) => { false };
}

macro_rules! failed_by {
    ($kind:ident) => {
        |t, _| Some(t.failed_by[ErrorKind::$kind as usize] as f64)
    };
}

macro_rules! stopped_by {
    ($reason:ident) => {
        |t, _| Some(t.stopped_by[StopReason::$reason as usize] as f64)
    };
}

macro_rules! refused_by {
    ($by:ident) => {
        |t, _| Some(t.refused_by[Refusal::$by as usize] as f64)
    };
}

/// Metrics of requests: of the scenario and of each client group.
pub static REQUESTS: &[Metric<RequestTally>] = metrics! {
    "requests" Count "requests that clients began" = |t, _| Some(t.requests as f64);
    "succeeded" Count "requests that ended well" = |t, _| Some(t.succeeded as f64);
    "succeeded_first_try" Count "requests that ended well at the first attempt of the client's own call"
        = |t, _| Some(t.succeeded_first_try as f64);
    "succeeded_after_retry" Count "requests that ended well after a retry of the client's own call"
        = |t, _| Some((t.succeeded - t.succeeded_first_try) as f64);
    "failed" Count "requests that ended badly" = |t, _| Some(t.failed() as f64);
    "degraded" Count "requests that ended well although an optional call beneath them had failed"
        = |t, _| Some(t.degraded as f64);
    "open" Count whole_run "requests that had not ended when the run did" = |t, _| Some(t.open() as f64);
    "success_ratio" Ratio "share of the ended requests that ended well" = |t, _| ratio(t.succeeded, t.ended());
    "first_try_success_ratio" Ratio "share of the ended requests that ended well at the first attempt of the client's own call"
        = |t, _| ratio(t.succeeded_first_try, t.ended());
    "latency_mean_ms" Milliseconds whole_run "mean time that a succeeded request took" = |t, _| t.latency.mean_ms();
    "latency_p50_ms" Milliseconds whole_run "median time that a succeeded request took, to 0.1 %" = |t, _| t.latency.quantile_ms(0.5);
    "latency_p90_ms" Milliseconds whole_run "time that 90 % of the succeeded requests did not exceed, to 0.1 %" = |t, _| t.latency.quantile_ms(0.9);
    "latency_p99_ms" Milliseconds whole_run "time that 99 % of the succeeded requests did not exceed, to 0.1 %" = |t, _| t.latency.quantile_ms(0.99);
    "latency_p999_ms" Milliseconds whole_run "time that 99.9 % of the succeeded requests did not exceed, to 0.1 %"
        = |t, _| t.latency.quantile_ms(0.999);
    "latency_max_ms" Milliseconds whole_run "longest time that a succeeded request took" = |t, _| t.latency.max_ms();
    "give_up_max_ms" Milliseconds whole_run "longest time that a request took to fail" = |t, _| t.give_up_max.map(Span::as_ms);
    "completion_s" Seconds whole_run "when the last request ended" = |t, _| t.last_end.map(Instant::as_s);
    "goodput_rps" PerSecond "requests that ended well, per second of the run" = |t, run| per_second(t.succeeded, run);
    "failed_unavailable" Count "requests that failed because the callee was unavailable" = failed_by!(Unavailable);
    "failed_refused" Count "requests that failed because the callee refused" = failed_by!(Refused);
    "failed_reset" Count "requests that failed by a broken connection" = failed_by!(Reset);
    "failed_overloaded" Count "requests that failed because the callee shed them" = failed_by!(Overloaded);
    "failed_rate_limited" Count "requests that failed at a rate limit" = failed_by!(RateLimited);
    "failed_timeout" Count "requests that failed by the timeout of an attempt" = failed_by!(Timeout);
    "failed_deadline" Count "requests that failed because their deadline passed" = failed_by!(Deadline);
    "failed_internal" Count "requests that failed by a deterministic fault of the callee" = failed_by!(Internal);
    "failed_invalid" Count "requests that were invalid" = failed_by!(Invalid);
    "failed_breaker_open" Count "requests that failed at the caller's own breaker" = failed_by!(BreakerOpen);
    "failed_throttled" Count "requests that failed at the caller's own throttle" = failed_by!(Throttled);
    "failed_pool_timeout" Count "requests that failed for want of a connection" = failed_by!(PoolTimeout);
    "stopped_not_retryable" Count "failed requests that were not tried again because of the kind of error" = stopped_by!(NotRetryable);
    "stopped_exhausted" Count "failed requests whose allowed attempts were all made" = stopped_by!(Exhausted);
    "stopped_budget" Count "failed requests that the retry budget refused to try again" = stopped_by!(Budget);
    "stopped_deadline" Count "failed requests for which no time was left" = stopped_by!(Deadline);
    "stopped_caller_gone" Count "failed requests whose caller had given up" = stopped_by!(CallerGone);
};

/// Metrics of attempts: of the scenario and of each call.
pub static CALLS: &[Metric<CallTally>] = metrics! {
    "attempts" Count "attempts sent" = |t, _| Some(t.attempts as f64);
    "retries" Count "attempts sent after the first of their own call" = |t, _| Some(t.retries as f64);
    "retry_ratio" Ratio "share of the attempts that were retries" = |t, _| ratio(t.retries, t.attempts);
    "attempt_peak" Count "most attempts sent within one aligned 100 ms" = |t, _| Some(t.attempt_peak as f64);
    "retry_peak" Count "most retries sent within one aligned 100 ms" = |t, _| Some(t.retry_peak as f64);
    "last_retry_s" Seconds whole_run "when the last retry was sent" = |t, _| t.last_retry.map(Instant::as_s);
    "timeouts" Count "attempts that the caller stopped waiting for" = |t, _| Some(t.timeouts as f64);
    "abandoned" Count "attempts that the caller ended because nobody waited for their call any more"
        = |t, _| Some(t.abandoned as f64);
    "late_responses" Count "answers that came after their attempt had timed out or been abandoned"
        = |t, _| Some(t.late_responses as f64);
    "pool_rejected" Count "attempts that got no slot of the caller's pool in time and were never sent"
        = |t, _| Some(t.pool_rejected as f64);
    "pool_wait_p99_ms" Milliseconds whole_run "99th percentile of the waits for a slot, of the attempts that got one"
        = |t, _| t.pool_waits.quantile_ms(0.99);
    "budget_refused" Count "calls that were not tried again because the retry budget refused"
        = |t, _| Some(t.budget_refused as f64);
    "deadline_stopped" Count "calls that were not tried again for lack of time" = |t, _| Some(t.deadline_stopped as f64);
    "first_budget_refusal_s" Seconds whole_run "when the retry budget first refused"
        = |t, _| t.first_budget_refusal.map(Instant::as_s);
    "tokens_left" Count whole_run "tokens left at the end in the retry budgets"
        = |t, _| t.tokens_left.map(|micro| micro as f64 / MICRO as f64);
};

/// Metrics of services.
pub static SERVICES: &[Metric<ServiceTally>] = metrics! {
    "arrivals" Count "attempts that arrived, refused ones included" = |t, _| Some(t.arrivals as f64);
    "arrival_peak" Count "most arrivals within one aligned 100 ms" = |t, _| Some(t.arrival_peak as f64);
    "amplification" Ratio "arrivals per arrival on whose whole path every attempt was the first" = |t, _| amplification(t);
    "completed" Count "arrivals that were answered, with success or an error" = |t, _| Some(t.completed as f64);
    "faulted" Count "those of them that were answered with the error of a fault: a `fail` struck them, or a crash ended them"
        = |t, _| Some(t.faulted as f64);
    "refused" Count "arrivals that were turned away at the door, for any of the next four reasons"
        = |t, _| Some(t.refused() as f64);
    "refused_fault" Count "arrivals that a fault turned away: `refuse`, or a crash that was not over" = refused_by!(Fault);
    "refused_limiter" Count "arrivals that the limiter turned away" = refused_by!(Limiter);
    "refused_in_flight" Count "arrivals that were turned away because as many were in progress as `max_in_flight`"
        = refused_by!(InFlight);
    "refused_queue" Count "arrivals that found all workers taken and the queue full" = refused_by!(Queue);
    "admitted" Count "arrivals that were not turned away at the door" = |t, _| Some((t.arrivals - t.refused()) as f64);
    "dropped" Count "arrivals that were let in and discarded: by the queue, or because the caller had given up"
        = |t, _| Some(t.dropped as f64);
    "cancelled" Count "those of them that were discarded because the caller had given up"
        = |t, _| Some(t.cancelled as f64);
    "wasted_ratio" Ratio "share of the service time that was spent on work no client awaited any more" = |t, _| {
        (t.service_ns > 0).then(|| t.wasted_ns as f64 / t.service_ns as f64)
    };
    "utilisation" Ratio "share of the workers that were taken" = |t, run| {
        let workers = t.workers.filter(|_| run.measured > Span::ZERO)?;
        Some(t.busy_ns as f64 / workers as f64 / run.measured.as_ns() as f64)
    };
    "capacity_rps" PerSecond "what it can serve by its limits; none if it keeps a place during calls of its own"
        = |t, _| t.capacity_rps;
    "arrivals_last_rps" PerSecond whole_run "attempts that arrived, per second of the last `recovery.hold` before the horizon"
        = |t, _| t.arrivals_last_rps;
    "queue_max" Count "most that waited at once" = |t, _| Some(t.queue_max as f64);
    "queued_ratio" Ratio "share of the arrivals that waited for a worker" = |t, _| ratio(t.queued, t.arrivals);
    "queue_wait_mean_ms" Milliseconds "mean wait for a worker, of those that got one" = |t, _| {
        (t.workers.is_some() && t.begun > 0).then(|| t.queue_wait_ns as f64 / t.begun as f64 / 1e6)
    };
    "queue_wait_p99_ms" Milliseconds whole_run "99th percentile of these waits" = |t, _| t.queue_waits.quantile_ms(0.99);
    "sojourn_mean_ms" Milliseconds "mean time between arrival and answer" = |t, _| {
        (t.completed > 0).then(|| t.sojourn_ns as f64 / t.completed as f64 / 1e6)
    };
    "in_flight_max" Count "most in progress at once, abandoned work included" = |t, _| Some(t.in_flight_max as f64);
    "in_flight_max_s" Seconds "when the most were first in progress" = |t, _| {
        (t.in_flight_max > 0).then(|| t.in_flight_max_at.as_s())
    };
    "in_flight_mean" Count "mean number in progress, abandoned work included" = |t, run| {
        (run.measured > Span::ZERO).then(|| t.in_flight_ns as f64 / run.measured.as_ns() as f64)
    };
};

/// Metrics of faults, over the client groups that have a path to what they strike.
pub static FAULTS: &[Metric<FaultTally>] = metrics! {
    "windows" Count whole_run "windows that began" = |t, _| Some(t.windows as f64);
    "recovered" Count whole_run "1 if clients got what they asked for after the last window, 0 if not; undefined if the run was too short to tell"
        = |t, _| match t.aftermath {
            Aftermath::Untold => None,
            Aftermath::Unrecovered => Some(0.0),
            Aftermath::Recovered(_) => Some(1.0),
        };
    "recovery_s" Seconds whole_run "from the end of the last window to the second from which on clients got what they asked for"
        = |t, _| recovery(t).map(Span::as_s);
    "recovered_at_s" Seconds whole_run "when that second began" = |t, _| Some((t.last_end? + recovery(t)?).as_s());
    "observed_s" Seconds whole_run "how long the run went on after the last window" = |t, _| t.observed.map(Span::as_s);
    "last_bad_s" Seconds whole_run "start of the last second in which too few requests succeeded for those that began"
        = |t, _| t.last_bad.map(Instant::as_s);
};

fn recovery(fault: &FaultTally) -> Option<Span> {
    match fault.aftermath {
        Aftermath::Recovered(after) => Some(after),
        Aftermath::Untold | Aftermath::Unrecovered => None,
    }
}

/// Metrics of the scenario beside [`REQUESTS`] and [`CALLS`].
pub static SCENARIO: &[Metric<Vec<ServiceTally>>] = metrics! {
    "amplification" Ratio "the largest amplification of a service" = |services, _| {
        services.iter().filter_map(amplification).reduce(f64::max)
    };
};

fn amplification(service: &ServiceTally) -> Option<f64> {
    ratio(service.arrivals, service.original_arrivals)
}

/// The values of one replica for one thing, in the order of [`columns`].
pub type Values = Vec<Option<f64>>;

/// Name and unit of each metric of a kind of thing, in the order in which reports list them.
pub fn columns(kind: ScopeKind) -> Vec<Column> {
    fn of<T>(metrics: &'static [Metric<T>]) -> impl Iterator<Item = Column> {
        metrics.iter().map(|&Metric { name, unit, meaning, window, .. }| Column { name, unit, meaning, window })
    }
    match kind {
        ScopeKind::Scenario => of(SCENARIO).chain(of(REQUESTS)).chain(of(CALLS)).collect(),
        ScopeKind::Client => of(REQUESTS).collect(),
        ScopeKind::Call => of(CALLS).collect(),
        ScopeKind::Service => of(SERVICES).collect(),
        ScopeKind::Fault => of(FAULTS).collect(),
    }
}

/// A metric as a column of a table: what can be known without values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// Its unit.
    pub unit: Unit,
    /// What it is, in a sentence.
    pub meaning: &'static str,
    /// Whether it can be measured in a window.
    pub window: bool,
}

/// All values of a replica.
#[derive(Clone, Debug, PartialEq)]
pub struct Readings {
    /// Of the scenario.
    pub scenario: Values,
    /// Of each client group.
    pub groups: Vec<Values>,
    /// Of each call.
    pub calls: Vec<Values>,
    /// Of each service.
    pub services: Vec<Values>,
    /// Of each fault.
    pub faults: Vec<Values>,
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [ScopeKind; 5] =
        [ScopeKind::Scenario, ScopeKind::Client, ScopeKind::Call, ScopeKind::Service, ScopeKind::Fault];

    #[test]
    fn names_are_unique_within_a_scope_and_end_in_their_unit() {
        for kind in KINDS {
            let columns = columns(kind);
            for (i, column) in columns.iter().enumerate() {
                assert!(columns[..i].iter().all(|other| other.name != column.name), "{kind}: `{}` twice", column.name);
                let ending = match column.unit {
                    Unit::Seconds => "_s",
                    Unit::Milliseconds => "_ms",
                    Unit::PerSecond => "_rps",
                    Unit::Count | Unit::Ratio => "",
                };
                assert!(column.name.ends_with(ending), "{kind}: `{}` is in {}", column.name, column.unit.name());
            }
        }
    }

    /// Latencies belong to requests that may begin in one window and end in another; the others are instants, what is
    /// left at the end, and what comes after faults.
    #[test]
    fn what_is_about_a_run_as_a_whole_has_no_window() {
        let whole = |kind| columns(kind).into_iter().filter(|column| !column.window).map(|column| column.name);
        let [scenario, client, call, service, fault] = KINDS.map(|kind| whole(kind).collect::<Vec<_>>());
        let latencies = ["latency_mean_ms", "latency_p50_ms", "latency_p90_ms", "latency_p99_ms", "latency_p999_ms"];
        assert_eq!(client, [&["open"], &latencies[..], &["latency_max_ms", "give_up_max_ms", "completion_s"]].concat());
        assert_eq!(call, ["last_retry_s", "pool_wait_p99_ms", "first_budget_refusal_s", "tokens_left"]);
        assert_eq!(scenario, [client, call].concat());
        assert_eq!(service, ["arrivals_last_rps", "queue_wait_p99_ms"]);
        assert_eq!(fault.len(), FAULTS.len(), "a recovery is looked for wherever it comes");
    }

    #[test]
    fn every_error_kind_stop_reason_and_refusal_has_its_metric() {
        let names: Vec<_> = columns(ScopeKind::Client).into_iter().map(|column| column.name.to_owned()).collect();
        for kind in ErrorKind::ALL {
            assert!(names.contains(&format!("failed_{kind}")), "{kind}");
        }
        for reason in StopReason::ALL {
            assert!(names.contains(&format!("stopped_{reason}")), "{reason}");
        }
        let names: Vec<_> = columns(ScopeKind::Service).into_iter().map(|column| column.name.to_owned()).collect();
        for refusal in Refusal::ALL {
            assert!(names.contains(&format!("refused_{refusal}")), "{refusal}");
        }
    }
}
