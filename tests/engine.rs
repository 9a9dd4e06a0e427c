//! The engine against the reference interpreter, and both against what must hold in every run; the interpreter itself
//! against stories worked out by hand. They are one program, so that the interpreter and the random plans, which take
//! long to compile, are compiled once.

mod equivalence;
mod properties;
mod recovery;
mod reference;

#[path = "reference/conservation/mod.rs"]
mod conservation;
#[path = "reference/coverage/mod.rs"]
mod coverage;
#[path = "reference/hand_made.rs"]
mod hand_made;
#[path = "reference/in_words.rs"]
mod in_words;
#[path = "reference/stories/mod.rs"]
mod stories;

use stormsim::dist::{Dist, Purpose, attempt_key, call_key, draw, name_key, probability, replica_key, request_key};
use stormsim::failure::{ErrorKind, StopReason};
use stormsim::metrics::{Bucket, End, Outcome};
use stormsim::plan::{CallId, Effect, Failure, Plan, ServiceId};
use stormsim::sim::Note;
use stormsim::time::{Instant, Span};

use hand_made::{HandMade, Link};
use in_words::in_words;
use reference::interpret;

fn tell(plan: &Plan) -> (Vec<String>, Outcome) {
    let (notes, outcome) = interpret(plan, 42, 0);
    (in_words(plan, &notes), outcome)
}

fn at(ms: u64) -> Instant {
    Instant::ZERO + Span::from_ms(ms)
}

fn ns(ms: u64) -> u128 {
    u128::from(ms) * 1_000_000
}

fn failing(error: ErrorKind, delay_ms: u64) -> Effect {
    Effect::Fail(failure(error, delay_ms))
}

/// Always, each attempt by itself.
fn failure(error: ErrorKind, delay_ms: u64) -> Failure {
    Failure {
        probability: probability(1.0),
        error,
        delay: Dist::Constant(Span::from_ms(delay_ms)),
        works: false,
        correlation: 0,
        epoch: Span::from_s(1),
        retry_after: None,
    }
}

const ALWAYS: u64 = 10_000_000;

/// A service that takes 100 ms, and a client that has 50 ms, twice, with 10 ms between.
fn impatient() -> HandMade {
    let mut plan = HandMade::new();
    let db = plan.service("db", 100, &[]);
    plan.client("web", 0, Link::to(db).timeout_ms(50).attempts(2, 10));
    plan
}

/// Attempts at 0 and 60 ms, given up at 50 and 110 ms, answered at 100 and 160 ms: both answers are late, and the
/// run goes on until the second one although nobody waits for it.
#[test]
fn a_timeout_below_the_service_time() {
    let HandMade(plan) = impatient();
    let (story, _) = tell(&plan);
    assert_eq!(
        story,
        [
            "0 ms: client 0 of web begins request 0",
            "0 ms: web->db #1 is sent",
            "0 ms: web->db #1 arrives at db",
            "50 ms: web->db #1 is given up: timeout",
            "50 ms: web->db #1 failed, wait 10 ms",
            "60 ms: web->db #2 is sent",
            "60 ms: web->db #2 arrives at db",
            "100 ms: web->db #1 is answered",
            "100 ms: web->db #1 has its answer, too late",
            "110 ms: web->db #2 is given up: timeout",
            "110 ms: web->db fails with web->db #2: timeout, exhausted",
            "160 ms: web->db #2 is answered",
            "160 ms: web->db #2 has its answer, too late",
        ]
    );
}

/// The same story in figures. The events are Arrival, Arrive, Timer, Wake, Arrive, Served, Answer, Timer, Served,
/// Answer. Two are at work from 60 to 100 ms.
#[test]
fn a_timeout_below_the_service_time_in_figures() {
    let HandMade(plan) = impatient();
    let (_, outcome) = tell(&plan);
    assert_eq!((outcome.end, outcome.ended, outcome.events), (at(160), End::Drained, 10));

    let requests = &outcome.groups[0];
    assert_eq!((requests.requests, requests.succeeded, requests.failed(), requests.open()), (1, 0, 1, 0));
    assert_eq!(requests.failed_by[ErrorKind::Timeout as usize], 1);
    assert_eq!(requests.stopped_by[StopReason::Exhausted as usize], 1);
    assert_eq!((requests.give_up_max, requests.last_end), (Some(Span::from_ms(110)), Some(at(110))));
    assert_eq!(requests.latency.count(), 0);
    assert_eq!(outcome.all_requests, *requests);

    let call = &outcome.calls[0];
    assert_eq!((call.attempts, call.retries, call.succeeded, call.errors), (2, 1, 0, 0));
    assert_eq!((call.timeouts, call.late_responses, call.deadline_stopped), (2, 2, 0));
    assert_eq!((call.attempt_peak, call.retry_peak, call.last_retry), (2, 1, Some(at(60))));
    assert_eq!(outcome.all_calls, *call);

    let service = &outcome.services[0];
    assert_eq!((service.arrivals, service.original_arrivals, service.retry_arrivals), (2, 1, 1));
    assert_eq!((service.completed, service.succeeded, service.refused(), service.in_progress), (2, 2, 0, 0));
    assert_eq!((service.arrival_peak, service.in_flight_max, service.in_flight_max_at), (2, 2, at(60)));
    assert_eq!((service.in_flight_ns, service.sojourn_ns), (ns(200), ns(200)));
}

/// And over time, in buckets of 100 ms: the request is open for 110 ms, the attempts for 50 ms each, the works from
/// 0 to 100 ms and from 60 to 160 ms.
#[test]
fn a_timeout_below_the_service_time_over_time() {
    let HandMade(plan) = impatient();
    let (_, Outcome { timeline, .. }) = tell(&plan);
    let sent = Bucket { attempts: 2, retries: 1, timeouts: 1, ..Bucket::default() };
    let gave_up = Bucket { index: 1, timeouts: 1, ..Bucket::default() };

    let requests = [Bucket { in_flight_ns: ns(100), ..sent }, Bucket { failed: 1, in_flight_ns: ns(10), ..gave_up }];
    assert_eq!(timeline.scenario, requests);
    assert_eq!(timeline.groups, [requests]);
    assert_eq!(
        timeline.calls,
        [[Bucket { failed: 1, in_flight_ns: ns(90), ..sent }, Bucket { failed: 1, in_flight_ns: ns(10), ..gave_up }]]
    );
    assert_eq!(
        timeline.services,
        [[Bucket { in_flight_ns: ns(140), ..sent }, Bucket { succeeded: 2, in_flight_ns: ns(60), ..gave_up }]]
    );
}

/// Three layers that make three attempts each, and a database that fails them all at once: 3 x 3 x 3 = 27 arrivals
/// there, 18 of them retries of the last call. 39 attempts are two events each (Arrive, Answer), and the 26 retries
/// (2 + 6 + 18) a Wake each; with the Arrival, 105.
#[test]
fn three_layers_of_three_attempts_make_27() {
    let mut plan = HandMade::new();
    let db = plan.service("db", 0, &[]);
    let orders = plan.service("orders", 0, &[&[Link::to(db).attempts(3, 0)]]);
    let gateway = plan.service("gateway", 0, &[&[Link::to(orders).attempts(3, 0)]]);
    plan.client("users", 0, Link::to(gateway).attempts(3, 0));
    plan.fault(db, 0, ALWAYS, failing(ErrorKind::Unavailable, 0));
    let (notes, outcome) = interpret(&plan.0, 42, 0);

    assert_eq!(outcome.services.iter().map(|service| service.arrivals).collect::<Vec<_>>(), [27, 9, 3]);
    assert_eq!(outcome.services.iter().map(|service| service.original_arrivals).collect::<Vec<_>>(), [1, 1, 1]);
    assert_eq!(outcome.calls.iter().map(|call| call.retries).collect::<Vec<_>>(), [18, 6, 2]);
    assert_eq!((outcome.all_calls.attempts, outcome.all_calls.retries, outcome.all_calls.errors), (39, 26, 39));
    assert_eq!((outcome.all_calls.attempt_peak, outcome.all_calls.retry_peak), (39, 26));
    assert_eq!((outcome.end, outcome.events), (Instant::ZERO, 105 + 1), "and the beginning of the fault");
    // The error of the innermost call is that of every call above it.
    assert_eq!(outcome.all_requests.failed_by[ErrorKind::Unavailable as usize], 1);
    assert!(notes.iter().all(|(at, _)| *at == Instant::ZERO));
}

/// A service that fails after 10 ms; 5 attempts with waits of 5 ms under a total timeout of `total` and a shortest
/// useful attempt of `min_attempt`.
fn hurried(total: u64, min_attempt: u64) -> (Vec<String>, Outcome) {
    let mut plan = HandMade::new();
    let db = plan.service("db", 0, &[]);
    plan.client("web", 0, Link::to(db).total_timeout_ms(total).attempts(5, 5).min_attempt_ms(min_attempt));
    plan.fault(db, 0, ALWAYS, failing(ErrorKind::Unavailable, 10));
    tell(&plan.0)
}

/// The second attempt, from 15 ms on, is cut at 22 ms; its answer would have come at 25 ms.
#[test]
fn a_total_timeout_cuts_an_attempt() {
    let (story, outcome) = hurried(22, 0);
    assert_eq!(
        story[5..],
        [
            "10 ms: web->db #1 failed, wait 5 ms",
            "15 ms: web->db #2 is sent",
            "15 ms: web->db #2 arrives at db",
            "22 ms: web->db #2 is given up: deadline",
            "22 ms: web->db fails with web->db #2: deadline, deadline",
            "25 ms: web->db #2 is answered: unavailable",
            "25 ms: web->db #2 has its answer, too late",
        ]
    );
    assert_eq!((outcome.all_calls.errors, outcome.all_calls.timeouts, outcome.all_calls.deadline_stopped), (1, 1, 1));
}

/// At 10 ms 12 ms are left: 5 ms of waiting and an attempt of 7 ms fit in exactly, one of 8 ms does not. What then
/// ended the call is the deadline, and that is its error too.
#[test]
fn a_wait_is_begun_only_if_the_attempt_after_it_fits() {
    let (story, _) = hurried(22, 7);
    assert_eq!(story[5], "10 ms: web->db #1 failed, wait 5 ms");
    let (story, outcome) = hurried(22, 8);
    assert_eq!(story[5..], ["10 ms: web->db fails with web->db #1: deadline, deadline"]);
    assert_eq!((outcome.end, outcome.all_calls.deadline_stopped), (at(10), 1));
}

/// At 25 ms the second answer, the end of the total timeout and nothing else: the answer is in time, but no time is
/// left. The wait of 5 ms would have been the next reason to stop, hence the deadline and not the count.
#[test]
fn an_answer_at_the_deadline_is_in_time() {
    let (story, outcome) = hurried(25, 0);
    assert_eq!(
        story[8..],
        [
            "25 ms: web->db #2 is answered: unavailable",
            "25 ms: web->db #2 has its answer",
            "25 ms: web->db fails with web->db #2: deadline, deadline",
        ]
    );
    assert_eq!((outcome.all_calls.errors, outcome.all_calls.timeouts), (2, 0));
}

/// With 15 ms in all the wait ends at the deadline: the second attempt is sent, arrives, and is given up, in this
/// order, at one instant.
#[test]
fn an_attempt_may_begin_at_the_deadline() {
    let (story, _) = hurried(15, 0);
    assert_eq!(
        story[5..9],
        [
            "10 ms: web->db #1 failed, wait 5 ms",
            "15 ms: web->db #2 is sent",
            "15 ms: web->db #2 arrives at db",
            "15 ms: web->db #2 is given up: deadline",
        ]
    );
}

/// Both at 100 ms: the answer wins, whichever was scheduled first.
#[test]
fn an_answer_at_the_timeout_is_in_time() {
    let mut plan = HandMade::new();
    let db = plan.service("db", 100, &[]);
    plan.client("web", 0, Link::to(db).timeout_ms(100).attempts(2, 0));
    let (story, outcome) = tell(&plan.0);
    assert_eq!(
        story[3..],
        [
            "100 ms: web->db #1 is answered",
            "100 ms: web->db #1 has its answer",
            "100 ms: web->db succeeds with web->db #1",
        ]
    );
    assert_eq!((outcome.all_requests.succeeded_first_try, outcome.all_requests.latency.max_ms()), (1, Some(100.0)));
    // Arrival, Arrive, Served, Answer: a disarmed timer is no event.
    assert_eq!(outcome.events, 4);
}

/// Two clients give up at 50 ms and try again without a wait. The retry of the first is scheduled at that instant, so
/// that it goes before the timeout of the second: at every moment all that is no timeout goes first.
#[test]
fn what_a_timeout_causes_at_once_goes_before_the_next_timeout() {
    let mut plan = HandMade::new();
    let db = plan.service("db", 100, &[]);
    plan.client("a", 0, Link::to(db).timeout_ms(50).attempts(2, 0));
    plan.client("b", 0, Link::to(db).timeout_ms(50).attempts(2, 0));
    let (story, _) = tell(&plan.0);
    assert_eq!(
        story[..14],
        [
            // The arrivals of both groups were scheduled at the start, before whatever the first one causes.
            "0 ms: client 0 of a begins request 0",
            "0 ms: a->db #1 is sent",
            "0 ms: client 0 of b begins request 0",
            "0 ms: b->db #1 is sent",
            "0 ms: a->db #1 arrives at db",
            "0 ms: b->db #1 arrives at db",
            "50 ms: a->db #1 is given up: timeout",
            "50 ms: a->db #1 failed, wait 0 ms",
            "50 ms: a->db #2 is sent",
            "50 ms: a->db #2 arrives at db",
            "50 ms: b->db #1 is given up: timeout",
            "50 ms: b->db #1 failed, wait 0 ms",
            "50 ms: b->db #2 is sent",
            "50 ms: b->db #2 arrives at db",
        ]
    );
}

/// Arrivals 1 ns before and at both ends of [10 ms, 20 ms): those at 10 and just below 20 ms are struck.
#[test]
fn a_fault_window_is_half_open() {
    let mut plan = HandMade::new();
    let db = plan.service("db", 1, &[]);
    plan.fault(db, 10, 20, Effect::Refuse);
    let arrivals_ns = [9_999_999, 10_000_000, 19_999_999, 20_000_000];
    for (name, at_ns) in ["before", "first", "last", "after"].into_iter().zip(arrivals_ns) {
        plan.clients(name, 1, Instant::from_ns(at_ns), &[(u64::MAX, Link::to(db))]);
    }
    let (_, outcome) = tell(&plan.0);
    let refused: Vec<_> = outcome.groups.iter().map(|group| group.failed_by[ErrorKind::Refused as usize]).collect();
    assert_eq!(refused, [0, 1, 1, 0]);
    let service = &outcome.services[0];
    assert_eq!((service.arrivals, service.completed, service.refused(), service.sojourn_ns), (4, 2, 2, ns(2)));
    // Those that were turned away were never in progress. "before" leaves at 10.999999 ms, "after" comes at 20 ms.
    assert_eq!((service.in_flight_max, service.in_flight_max_at), (1, Instant::from_ns(9_999_999)));
    // 4 arrivals of 3 events, 2 x Served, 2 transitions; the latter count since they come before the end.
    assert_eq!((outcome.events, outcome.end), (4 * 3 + 2 + 2, at(21)));
}

/// Three faults at once: the first never strikes, so the second does, and the third is not asked. An error that a
/// fault returns is an answer of the service; `refuse` is none.
#[test]
fn the_first_fault_that_strikes_decides() {
    let mut plan = HandMade::new();
    let db = plan.service("db", 1, &[]);
    let never = Effect::Fail(Failure { probability: 0, ..failure(ErrorKind::Reset, 0) });
    plan.fault(db, 0, ALWAYS, never);
    plan.fault(db, 0, ALWAYS, failing(ErrorKind::Refused, 3));
    plan.fault(db, 0, ALWAYS, Effect::Refuse);
    plan.client("web", 0, Link::to(db));
    let (story, outcome) = tell(&plan.0);
    assert_eq!(story[3], "3 ms: web->db #1 is answered: refused");
    assert_eq!(
        (outcome.services[0].completed, outcome.services[0].succeeded, outcome.services[0].refused()),
        (1, 0, 0)
    );
}

/// First `b`; then `c` and `d` side by side. `c` fails at 25 ms, which fails `a` at once, and `d` goes on until 35 ms
/// without anybody who waits for it.
#[test]
fn steps_follow_each_other_and_the_first_failure_decides() {
    let mut plan = HandMade::new();
    let (b, c, d) = (plan.service("b", 10, &[]), plan.service("c", 10, &[]), plan.service("d", 20, &[]));
    let a = plan.service("a", 5, &[&[Link::to(b)], &[Link::to(c), Link::to(d)]]);
    plan.client("web", 0, Link::to(a));
    plan.fault(c, 0, ALWAYS, failing(ErrorKind::Internal, 10));
    let (story, outcome) = tell(&plan.0);
    assert_eq!(
        story[2..],
        [
            "0 ms: web->a #1 arrives at a",
            "5 ms: a->b #1 is sent",
            "5 ms: a->b #1 arrives at b",
            "15 ms: a->b #1 is answered",
            "15 ms: a->b #1 has its answer",
            "15 ms: a->b succeeds with a->b #1",
            "15 ms: a->c #1 is sent",
            "15 ms: a->d #1 is sent",
            "15 ms: a->c #1 arrives at c",
            "15 ms: a->d #1 arrives at d",
            "25 ms: a->c #1 is answered: internal",
            "25 ms: a->c #1 has its answer",
            "25 ms: a->c fails with a->c #1: internal, not_retryable",
            "25 ms: web->a #1 is answered: internal",
            "25 ms: web->a #1 has its answer",
            "25 ms: web->a fails with web->a #1: internal, not_retryable",
            "35 ms: a->d #1 is answered",
            "35 ms: a->d #1 has its answer",
            "35 ms: a->d succeeds with a->d #1",
        ]
    );
    assert_eq!(outcome.services.iter().map(|service| service.sojourn_ns).collect::<Vec<_>>(), [10, 10, 20, 25].map(ns));
}

/// The story of `impatient` up to 100 ms, where nothing happens any more: the request is open, one attempt is in
/// flight, and both works are in progress, for 100 and 40 ms so far.
#[test]
fn a_horizon_is_not_simulated_and_cuts_what_is_open() {
    let HandMade(mut plan) = impatient();
    plan.horizon = Some(at(100));
    let (story, outcome) = tell(&plan);
    assert_eq!(story.last().map(String::as_str), Some("60 ms: web->db #2 arrives at db"));
    assert_eq!((outcome.end, outcome.ended, outcome.events), (at(100), End::Horizon, 5));
    assert_eq!((outcome.all_requests.open(), outcome.all_requests.last_end), (1, None));
    let service = &outcome.services[0];
    assert_eq!((service.completed, service.in_progress, service.in_flight_ns), (0, 2, ns(140)));
    let in_flight = |buckets: &[Bucket]| buckets.iter().map(|bucket| bucket.in_flight_ns).collect::<Vec<_>>();
    assert_eq!(in_flight(&outcome.timeline.scenario), [ns(100)]);
    assert_eq!(in_flight(&outcome.timeline.calls[0]), [ns(90)]);
    assert_eq!(in_flight(&outcome.timeline.services[0]), [ns(140)]);
}

/// Rates are over the whole run, so a run with a horizon lasts until it although its work ends at 160 ms; the fault
/// that begins at 300 ms still begins. Without the horizon it does not.
#[test]
fn a_run_lasts_until_its_horizon() {
    let mut plan = impatient();
    plan.fault(ServiceId(0), 300, 600, Effect::Refuse);
    let (_, outcome) = tell(&plan.0);
    assert_eq!((outcome.end, outcome.ended, outcome.events), (at(160), End::Drained, 10));
    plan.0.horizon = Some(at(500));
    let (_, outcome) = tell(&plan.0);
    assert_eq!((outcome.end, outcome.ended, outcome.events), (at(500), End::Horizon, 11));
}

/// The key of an attempt is the root of what its work does; written out here once in full.
#[test]
fn keys_descend_from_the_request() {
    let mut plan = HandMade::new();
    let db = plan.service("db", 1, &[]);
    let orders = plan.service("orders", 0, &[&[Link::to(db).attempts(2, 0)]]);
    plan.clients("web", 2, Instant::ZERO, &[(u64::MAX, Link::to(orders))]);
    plan.fault(db, 0, ALWAYS, Effect::Refuse);
    let (notes, _) = interpret(&plan.0, 7, 3);

    let request = request_key(replica_key(7, 3), name_key("web"), 1, 0);
    let outer = attempt_key(call_key(request, name_key("orders"), 0), 1, 0);
    let inner = |attempt| attempt_key(call_key(outer, name_key("db"), 0), attempt, 0);
    for sent in [
        Note::Sent { call: CallId(1), attempt: 1, hedge: 0, key: outer },
        Note::Sent { call: CallId(0), attempt: 1, hedge: 0, key: inner(1) },
        Note::Sent { call: CallId(0), attempt: 2, hedge: 0, key: inner(2) },
    ] {
        assert_eq!(notes.iter().filter(|(_, note)| *note == sent).count(), 1, "{sent:?}");
    }
}

/// The choice goes to the first call whose bound is not below the draw: at a bound equal to the draw the first, at
/// one less the second.
#[test]
fn a_request_takes_the_first_call_whose_bound_reaches_its_draw() {
    let luck = draw(request_key(replica_key(42, 0), name_key("web"), 0, 0), Purpose::Choice);
    for (bound, attempts) in [(luck, [1, 0]), (luck - 1, [0, 1])] {
        let mut plan = HandMade::new();
        let (a, b) = (plan.service("a", 1, &[]), plan.service("b", 1, &[]));
        plan.clients("web", 1, Instant::ZERO, &[(bound, Link::to(a)), (u64::MAX, Link::to(b))]);
        let (_, outcome) = tell(&plan.0);
        assert_eq!(outcome.calls.iter().map(|call| call.attempts).collect::<Vec<_>>(), attempts);
    }
}
