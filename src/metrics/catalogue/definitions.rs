//! The lists of the catalogue: what each metric is called, what it means, and how it is read.
//!
//! The sentences stand in `docs/metrics.md` as they are here. They are for whoever reads a report in an incident: what
//! is counted, what is not, and when there is no figure.

use super::{Better, Metric, Run, Unit};
use crate::failure::{ErrorKind, Refusal, StopReason};
use crate::metrics::{Aftermath, CallTally, FaultTally, RequestTally, ServiceTally};
use crate::policy::MICRO;
use crate::time::{Instant, Span};

fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

fn per_second(count: u64, run: &Run) -> Option<f64> {
    (run.measured > Span::ZERO).then(|| count as f64 / run.measured.as_s())
}

/// Metrics; those marked `whole_run` cannot be measured in a window. Of those marked `higher`, `lower` or
/// `lower_or_none` that is better, and a baseline gates them. What also gets worse by an improvement is not marked:
/// where requests are tried for longer and succeed, a run without a horizon ends later and has less goodput, though
/// more of it.
macro_rules! metrics {
    ($($name:literal $unit:ident $($mark:ident)* $meaning:literal = $read:expr;)+) => {
        &[$(Metric {
            name: $name,
            unit: Unit::$unit,
            meaning: $meaning,
            window: metrics!(@window $($mark)*),
            better: metrics!(@better $($mark)*),
            read: $read,
        },)+]
    };
    (@window whole_run $($mark:ident)*) => { false };
    (@window $($mark:ident)*) => { true };
    (@better whole_run $($mark:ident)*) => { metrics!(@better $($mark)*) };
    (@better) => { None };
    (@better higher) => { Some(Better::Higher) };
    (@better lower) => { Some(Better::Lower) };
    (@better lower_or_none) => { Some(Better::LowerOrNone) };
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
    "succeeded" Count higher "requests that ended well, degraded ones included" = |t, _| Some(t.succeeded as f64);
    "succeeded_first_try" Count "succeeded requests for which the client tried once; services beneath may have retried"
        = |t, _| Some(t.succeeded_first_try as f64);
    "succeeded_after_retry" Count "succeeded requests for which the client tried more than once"
        = |t, _| Some((t.succeeded - t.succeeded_first_try) as f64);
    "failed" Count
        "requests that ended with an error and are not `unknown`; by their last error in `failed_<kind>`, by why the \
         client did not try again in `stopped_<reason>`"
        = |t, _| Some(t.failed() as f64);
    "unknown" Count lower
        "requests that ended with an error, and nobody knows whether with a side effect: an attempt beneath them that \
         was sent to a service that `writes` was not answered in time; they are not among the `failed`, whatever their \
         last error is"
        = |t, _| Some(t.unknown as f64);
    "degraded" Count lower "succeeded requests beneath which an optional call had failed"
        = |t, _| Some(t.degraded as f64);
    "dead_letters" Count lower
        "requests put aside because their attempts were exhausted, of groups with `on_exhausted = \"dead_letter\"`; \
         they are among the `failed` or the `unknown`"
        = |t, _| Some(t.dead_letters as f64);
    "open" Count whole_run lower
        "requests that had not ended when the run did: `requests - succeeded - failed - unknown`"
        = |t, _| Some(t.open() as f64);
    "success_ratio" Ratio higher
        "share of the ended requests that succeeded: `succeeded / (succeeded + failed + unknown)`; none if none ended"
        = |t, _| ratio(t.succeeded, t.ended());
    "first_try_success_ratio" Ratio higher "share of the ended requests that succeeded at the client's first try"
        = |t, _| ratio(t.succeeded_first_try, t.ended());
    "latency_mean_ms" Milliseconds whole_run
        "mean time from the beginning of a succeeded request to its end, retries and waits included"
        = |t, _| t.latency.mean_ms();
    "latency_p50_ms" Milliseconds whole_run lower "median of these times, to 0.1 %" = |t, _| t.latency.quantile_ms(0.5);
    "latency_p90_ms" Milliseconds whole_run "90 % of the succeeded requests took no longer, to 0.1 %"
        = |t, _| t.latency.quantile_ms(0.9);
    "latency_p99_ms" Milliseconds whole_run lower "99 % of the succeeded requests took no longer, to 0.1 %"
        = |t, _| t.latency.quantile_ms(0.99);
    "latency_p999_ms" Milliseconds whole_run "99.9 % of the succeeded requests took no longer, to 0.1 %"
        = |t, _| t.latency.quantile_ms(0.999);
    "latency_max_ms" Milliseconds whole_run "the longest that a succeeded request took" = |t, _| t.latency.max_ms();
    "give_up_max_ms" Milliseconds whole_run "the longest that a failed or unknown request took until its client gave up"
        = |t, _| t.give_up_max.map(Span::as_ms);
    "completion_s" Seconds whole_run "when the last request ended, well or not"
        = |t, _| t.last_end.map(Instant::as_s);
    "goodput_rps" PerSecond
        "succeeded requests per second, from the end of the warm-up to that of the run, or of the window"
        = |t, run| per_second(t.succeeded, run);
    "failed_unavailable" Count "failed requests whose last error was `unavailable`: a service could not serve"
        = failed_by!(Unavailable);
    "failed_refused" Count "failed requests whose last error was `refused`: a service was down" = failed_by!(Refused);
    "failed_reset" Count "failed requests whose last error was `reset`: a server crashed at work" = failed_by!(Reset);
    "failed_overloaded" Count
        "failed requests whose last error was `overloaded`: `max_in_flight`, or a queue that was full or discarded \
         them"
        = failed_by!(Overloaded);
    "failed_rate_limited" Count "failed requests whose last error was `rate_limited`: a limiter"
        = failed_by!(RateLimited);
    "failed_timeout" Count
        "failed requests whose last error was `timeout`: no answer within an attempt's `timeout` or \
         `connect_timeout`"
        = failed_by!(Timeout);
    "failed_deadline" Count
        "failed requests whose last error was `deadline`: a `total_timeout`, or a deadline passed on"
        = failed_by!(Deadline);
    "failed_internal" Count
        "failed requests whose last error was `internal`: the callee fails on the same request again"
        = failed_by!(Internal);
    "failed_invalid" Count "failed requests whose last error was `invalid`: the request itself is wrong"
        = failed_by!(Invalid);
    "failed_breaker_open" Count "failed requests whose last error was `breaker_open`: a caller's own breaker"
        = failed_by!(BreakerOpen);
    "failed_throttled" Count "failed requests whose last error was `throttled`: a caller's own throttle"
        = failed_by!(Throttled);
    "failed_pool_timeout" Count
        "failed requests whose last error was `pool_timeout`: no slot of a `pool` within `max_wait`"
        = failed_by!(PoolTimeout);
    "stopped_not_retryable" Count
        "failed or unknown requests that the client did not try again: the error is not in `retry_on`, or the server asks for a \
         longer wait than `at_most` of a `retry_after` with `beyond = \"stop\"`, or says nothing to one that is \
         `required`"
        = stopped_by!(NotRetryable);
    "stopped_exhausted" Count "failed or unknown requests whose client had made all attempts that it may"
        = stopped_by!(Exhausted);
    "stopped_budget" Count "failed or unknown requests that the client's retry budget refused to try again"
        = stopped_by!(Budget);
    "stopped_deadline" Count
        "failed or unknown requests whose time was up, or too short for another attempt and the wait before it, or \
         whose next attempt would have begun later than `max_elapsed`"
        = stopped_by!(Deadline);
    "stopped_caller_gone" Count "failed or unknown requests whose caller had given up: always 0, as nobody calls a client"
        = stopped_by!(CallerGone);
};

/// Metrics of attempts: of the scenario and of each call.
pub static CALLS: &[Metric<CallTally>] = metrics! {
    "attempts" Count lower "attempts sent: first ones, retries and hedges" = |t, _| Some(t.attempts as f64);
    "retries" Count lower
        "attempts sent after the first of their own call; that a layer above retried does not make one"
        = |t, _| Some(t.retries as f64);
    "retry_ratio" Ratio "share of the attempts that were retries: `retries / attempts`; none without attempts"
        = |t, _| ratio(t.retries, t.attempts);
    "attempt_peak" Count lower
        "most attempts within 100 ms that begin at a multiple of 100 ms; of the scenario the peak of the sum over \
         all calls"
        = |t, _| Some(t.attempt_peak as f64);
    "retry_peak" Count lower "likewise of retries" = |t, _| Some(t.retry_peak as f64);
    "last_retry_s" Seconds whole_run lower_or_none "when the last retry was sent; none without retries"
        = |t, _| t.last_retry.map(Instant::as_s);
    "timeouts" Count lower "attempts that the caller stopped waiting for, at a timeout or a deadline"
        = |t, _| Some(t.timeouts as f64);
    "abandoned" Count
        "attempts that their caller ended without an answer and before a timeout: copies of a hedged attempt when \
         another one had succeeded; and, by a service with `cancel = \"running\"` or one that crashed, those of a call \
         that nobody waited for any more"
        = |t, _| Some(t.abandoned as f64);
    "late_responses" Count lower
        "answers that came after their attempt had timed out or been abandoned: work for nobody"
        = |t, _| Some(t.late_responses as f64);
    "pool_rejected" Count lower
        "attempts that got no slot of the caller's `pool` in time; they were not sent and are not among the \
         `attempts`"
        = |t, _| Some(t.pool_rejected as f64);
    "pool_wait_p99_ms" Milliseconds whole_run
        "99 % of the attempts sent had waited no longer for a slot, to 0.1 %; none without a `pool`"
        = |t, _| t.pool_waits.quantile_ms(0.99);
    "breaker_opened" Count "how often a breaker opened, for the first time or after a probe, of all callers together"
        = |t, _| Some(t.protection.breaker_opened as f64);
    "breaker_rejected" Count
        "attempts that a `breaker` did not let through, or calls, if it stands outside of the retries; they are not \
         among the `attempts`"
        = |t, _| Some(t.protection.breaker_rejected as f64);
    "breaker_rejected_retries" Count "those of `breaker_rejected` that came after the first attempt of their own call"
        = |t, _| Some(t.protection.breaker_rejected_retries as f64);
    "throttled" Count "attempts that a `throttle` did not let through; they are not among the `attempts`"
        = |t, _| Some(t.protection.throttled as f64);
    "hedges" Count "copies sent beside an attempt that had no answer yet; they are among the `attempts`"
        = |t, _| Some(t.protection.hedges as f64);
    "hedge_wins" Count "hedges that were the first of their attempt to succeed, so that their answer counted"
        = |t, _| Some(t.protection.hedge_wins as f64);
    "hedges_left_out" Count
        "hedges that were due and not sent: as many as `in_flight` were under way, or no slot of the `pool` was free"
        = |t, _| Some(t.protection.hedges_left_out as f64);
    "budget_refused" Count "calls that were not tried again because the retry budget refused"
        = |t, _| Some(t.budget_refused as f64);
    "deadline_stopped" Count
        "calls that were not tried again because their time was up, or too short for the wait and `min_attempt`"
        = |t, _| Some(t.deadline_stopped as f64);
    "first_budget_refusal_s" Seconds whole_run "when the retry budget first refused; none if it never did"
        = |t, _| t.first_budget_refusal.map(Instant::as_s);
    "tokens_left" Count whole_run
        "tokens left at the end in the retry budgets of all callers together, where a `windowed_ratio` or a \
         `ratio_of_requests` has whole retries; none without a budget that has any, or if those of different rules \
         would have to be added up"
        = |t, _| t.tokens_left.map(tokens);
    "tokens_min" Count whole_run
        "the fewest tokens that there were at once in the retry budgets of all callers together; none like \
         `tokens_left`, and for a `windowed_ratio`, in which they also change when nothing happens"
        = |t, _| t.tokens_min.map(tokens);
};

fn tokens(micro: u128) -> f64 {
    micro as f64 / MICRO as f64
}

/// Metrics of services.
pub static SERVICES: &[Metric<ServiceTally>] = metrics! {
    "arrivals" Count "attempts that arrived, refused ones included; not those lost on their way"
        = |t, _| Some(t.arrivals as f64);
    "arrival_peak" Count "most arrivals within 100 ms that begin at a multiple of 100 ms"
        = |t, _| Some(t.arrival_peak as f64);
    "amplification" Ratio
        "arrivals, divided by those on whose whole path from the client every attempt was the first, and no hedge: 27 \
         means that retries and hedges made 27 of each; none if there were none of these"
        = |t, _| amplification(t);
    "completed" Count
        "arrivals that were answered, with success or an error, in time or late; not those turned away or \
         discarded"
        = |t, _| Some(t.completed as f64);
    "faulted" Count
        "those of `completed` that were answered with the error of a fault: a `fail` struck them, or a crash ended \
         them"
        = |t, _| Some(t.faulted as f64);
    "executions" Count
        "side effects that took place, of a service that `writes`: one for each arrival that it worked on to the end \
         of its service time"
        = |t, _| Some(t.executions as f64);
    "duplicate_effects" Count lower
        "those of `executions` that were not the first of their operation, and so should not have taken place"
        = |t, _| Some(t.duplicate_effects as f64);
    "executions_per_request" Ratio
        "side effects for each operation that had any, `executions / (executions - duplicate_effects)`: 1 if nothing \
         was done twice; none if nothing was done for the first time"
        = |t, _| ratio(t.executions, t.executions - t.duplicate_effects);
    "recognised" Count
        "arrivals that were not worked on, because the `idempotency_store` knew their key: they got the result, waited \
         for it, or were answered with `refused` or `invalid`"
        = |t, _| Some(t.recognised as f64);
    "ejections" Count "how often a server was ejected, so that the balancer sent nothing to it for a while"
        = |t, _| Some(t.ejections as f64);
    "refused" Count "arrivals that were turned away at the door: the sum of the four `refused_` metrics"
        = |t, _| Some(t.refused() as f64);
    "refused_fault" Count "arrivals that a fault turned away: `refuse`, or a crash that was not over"
        = refused_by!(Fault);
    "refused_limiter" Count "arrivals that the `limiter` turned away" = refused_by!(Limiter);
    "refused_in_flight" Count "arrivals that found as many in progress as `max_in_flight`" = refused_by!(InFlight);
    "refused_queue" Count "arrivals that found all workers taken and the `queue` full" = refused_by!(Queue);
    "admitted" Count "arrivals that were not turned away: `arrivals - refused`"
        = |t, _| Some((t.arrivals - t.refused()) as f64);
    "dropped" Count
        "arrivals that were let in and then discarded: by the queue's `drop` rule, or because the caller had given \
         up, which `cancelled` counts"
        = |t, _| Some(t.dropped as f64);
    "cancelled" Count "those of `dropped` that were discarded because the caller had given up; only with `cancel`"
        = |t, _| Some(t.cancelled as f64);
    "wasted_ratio" Ratio lower_or_none
        "share of the service time that was spent on work which no client awaited any more; work whose answer is lost \
         on its way was awaited and does not count; work for which only a duplicate at an `idempotency_store` still \
         waits does; none if none was spent"
        = |t, _| (t.service_ns > 0).then(|| t.wasted_ns as f64 / t.service_ns as f64);
    "utilisation" Ratio "share of the workers that were taken, over time; none without a limit on workers"
        = |t, run| {
        let workers = t.workers.filter(|_| run.measured > Span::ZERO)?;
        Some(t.busy_ns as f64 / workers as f64 / run.measured.as_ns() as f64)
    };
    "capacity_rps" PerSecond
        "how many arrivals it can serve in the long run, by workers, `max_in_flight`, mean service time and \
         `limiter`, faults aside; none without a limit, or if a place is kept while it waits for its own calls"
        = |t, _| t.capacity_rps;
    "arrivals_last_rps" PerSecond whole_run
        "arrivals per second over the last `recovery.hold` before the horizon; none if the run ended earlier"
        = |t, _| t.arrivals_last_rps;
    "queue_max" Count "most arrivals that waited for a worker at once, on all servers together"
        = |t, _| Some(t.queue_max as f64);
    "queued_ratio" Ratio "share of the arrivals that had to wait for a worker" = |t, _| ratio(t.queued, t.arrivals);
    "queue_wait_mean_ms" Milliseconds
        "mean wait for a worker, of those that got one, zeros included; none without a limit on workers"
        = |t, _| (t.workers.is_some() && t.begun > 0).then(|| t.queue_wait_ns as f64 / t.begun as f64 / 1e6);
    "queue_wait_p99_ms" Milliseconds whole_run "99 % of these waits were no longer, to 0.1 %"
        = |t, _| t.queue_waits.quantile_ms(0.99);
    "sojourn_mean_ms" Milliseconds
        "mean time from arrival to answer of those that `completed`: wait, service and own calls"
        = |t, _| (t.completed > 0).then(|| t.sojourn_ns as f64 / t.completed as f64 / 1e6);
    "in_flight_max" Count "most in progress at once, waiting or at work, abandoned work included"
        = |t, _| Some(t.in_flight_max as f64);
    "in_flight_max_s" Seconds "when the most were first in progress"
        = |t, _| (t.in_flight_max > 0).then(|| t.in_flight_max_at.as_s());
    "in_flight_mean" Count "mean number in progress over time, abandoned work included"
        = |t, run| (run.measured > Span::ZERO).then(|| t.in_flight_ns as f64 / run.measured.as_ns() as f64);
};

/// Metrics of faults, over the client groups that have a path to what they strike.
pub static FAULTS: &[Metric<FaultTally>] = metrics! {
    "windows" Count whole_run "how often the fault began" = |t, _| Some(t.windows as f64);
    "recovered" Count whole_run higher
        "1 if a second after the fault's last window was good, 0 if none was; none if less than `recovery.hold` was \
         left of the run: the horizon is too short to tell"
        = |t, _| match t.aftermath {
            Aftermath::Untold => None,
            Aftermath::Unrecovered => Some(0.0),
            Aftermath::Recovered(_) => Some(1.0),
        };
    "recovery_s" Seconds whole_run lower
        "from the end of the last window to the first good second; none if there was none"
        = |t, _| recovery(t).map(Span::as_s);
    "recovered_at_s" Seconds whole_run "when the first good second began"
        = |t, _| Some((t.last_end? + recovery(t)?).as_s());
    "observed_s" Seconds whole_run
        "how long the run went on after the end of the last window; none if it was still open"
        = |t, _| t.observed.map(Span::as_s);
    "last_bad_s" Seconds whole_run
        "start of the last whole second of the run in which one success more would still have been less than \
         `recovery.share` of the requests that began; none if none was"
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
    "amplification" Ratio lower "that of the service where it is largest"
        = |services, _| {
        services.iter().filter_map(amplification).reduce(f64::max)
    };
};

fn amplification(service: &ServiceTally) -> Option<f64> {
    ratio(service.arrivals, service.original_arrivals)
}
