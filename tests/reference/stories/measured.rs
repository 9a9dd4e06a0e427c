//! Which part of a run is counted. All of it is about one run: a request from 0 to 110 ms that makes attempts at 0 and
//! 60 ms, which it gives up at 50 and 110 ms and the service answers at 100 and 160 ms.

use stormsim::metrics::{CallTally, Outcome, RequestTally, ServiceTally};
use stormsim::time::Instant;

use crate::{at, impatient, ns, tell};

fn measured_from(warmup: Instant) -> Outcome {
    let mut plan = impatient().0;
    plan.warmup = warmup;
    tell(&plan).1
}

/// From 60 ms on the second attempt is sent and arrives, one attempt is given up, and both works are answered, the
/// first one after 100 ms of which only the last 40 are measured. It is there when the measuring begins, so that
/// the second makes two at the same instant. The request began before: neither it nor its end counts.
#[test]
fn a_warmup_leaves_out_what_happened_in_it() {
    let outcome = measured_from(at(60));
    assert_eq!(outcome.all_requests, RequestTally::default());
    let call = &outcome.calls[0];
    assert_eq!((call.attempts, call.retries, call.timeouts, call.late_responses), (1, 1, 1, 2));
    assert_eq!((call.attempt_peak, call.retry_peak, call.last_retry), (1, 1, Some(at(60))));
    let service = &outcome.services[0];
    assert_eq!((service.arrivals, service.original_arrivals, service.completed), (1, 0, 2));
    assert_eq!((service.arrival_peak, service.in_flight_max, service.in_flight_max_at), (1, 2, at(60)));
    assert_eq!((service.in_flight_ns, service.sojourn_ns), (ns(40 + 100), ns(200)));
}

/// 1 ms later nothing is sent any more; two are there from the start on. The timeline has it all, as ever.
#[test]
fn a_level_is_there_when_the_measuring_begins() {
    let outcome = measured_from(at(61));
    assert_eq!((outcome.calls[0].attempts, outcome.calls[0].last_retry), (0, None));
    let service = &outcome.services[0];
    assert_eq!((service.arrivals, service.in_flight_max, service.in_flight_max_at), (0, 2, at(61)));
    let whole = measured_from(Instant::ZERO);
    assert_eq!((outcome.timeline, outcome.events, outcome.end), (whole.timeline, whole.events, whole.end));
}

/// The run ends at 160 ms. Measured from then on, it has that instant, at which a work is answered; measured from
/// later, nothing at all.
#[test]
fn a_run_may_end_in_its_warmup() {
    let last = measured_from(at(160)).services[0].clone();
    assert_eq!((last.completed, last.in_flight_max, last.in_flight_max_at), (1, 1, at(160)));
    assert_eq!((last.in_flight_ns, last.sojourn_ns), (0, ns(100)));
    let outcome = measured_from(at(161));
    assert_eq!((outcome.services, outcome.calls), (vec![ServiceTally::default()], vec![CallTally::default()]));
}

/// [50 ms, 110 ms) has the timeout at its start and not the one at its end, nor the end of the request then; [100 ms,
/// 300 ms) has both, and ends with the run at 160 ms. An answer at 100 ms belongs to both.
#[test]
fn a_window_is_half_open() {
    let mut plan = impatient().0;
    plan.windows = vec![at(50)..at(110), at(100)..at(300)];
    let (_, outcome) = tell(&plan);
    let [first, second] = &outcome.windows[..] else { panic!("a window is missing") };
    assert_eq!((first.from, first.until, second.from, second.until), (at(50), at(110), at(100), at(300)));

    let counts = |call: &CallTally| (call.attempts, call.timeouts, call.late_responses, call.last_retry);
    assert_eq!(counts(&first.all_calls), (1, 1, 1, Some(at(60))));
    assert_eq!(counts(&second.all_calls), (0, 1, 2, None));
    assert_eq!((first.all_requests.failed(), second.all_requests.failed()), (0, 1));
    assert_eq!((second.all_requests.requests, second.all_requests.give_up_max), (0, None));

    let there = |service: &ServiceTally| (service.in_flight_max, service.in_flight_max_at, service.in_progress);
    assert_eq!(there(&first.services[0]), (2, at(60), 1));
    assert_eq!(there(&second.services[0]), (2, at(100), 0));
    let times = |service: &ServiceTally| (service.completed, service.sojourn_ns, service.in_flight_ns);
    assert_eq!(times(&first.services[0]), (1, ns(100), ns(50 + 50)));
    assert_eq!(times(&second.services[0]), (2, ns(200), ns(60)));
}

/// Windows that follow each other without a gap share everything among them: their counts add up to those of the run.
#[test]
fn windows_add_up() {
    let mut plan = impatient().0;
    plan.windows = vec![at(0)..at(60), at(60)..at(110), at(110)..at(161)];
    let (_, outcome) = tell(&plan);
    let sum = |count: fn(&CallTally) -> u64| outcome.windows.iter().map(|it| count(&it.all_calls)).sum::<u64>();
    assert_eq!((sum(|it| it.attempts), sum(|it| it.timeouts), sum(|it| it.late_responses)), (2, 2, 2));
    let in_flight: u128 = outcome.windows.iter().map(|it| it.services[0].in_flight_ns).sum();
    assert_eq!(in_flight, outcome.services[0].in_flight_ns);
    assert_eq!(outcome.windows.iter().map(|it| it.all_requests.requests).collect::<Vec<_>>(), [1, 0, 0]);
    assert_eq!(outcome.windows.iter().map(|it| it.all_requests.failed()).collect::<Vec<_>>(), [0, 0, 1]);
}
