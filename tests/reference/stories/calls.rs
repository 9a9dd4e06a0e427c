//! The network, deadlines and fallbacks.

use stormsim::dist::{attempt_key, call_key, name_key, replica_key, request_key};
use stormsim::failure::ErrorKind;
use stormsim::plan::{CallId, DeadlineRule, Effect};
use stormsim::sim::Note;
use stormsim::time::Span;

use crate::hand_made::{HandMade, Link};
use crate::reference::interpret;
use crate::{ALWAYS, at, failing, ns, tell};

/// 3 ms there, 10 ms of work, 3 ms back. In progress at the service are only the 10 ms.
#[test]
fn the_network_takes_its_time_both_ways() {
    let mut plan = HandMade::new();
    let db = plan.service("db", 10, &[]);
    plan.client("web", 0, Link::to(db).network_ms(3));
    let (story, outcome) = tell(&plan.0);
    assert_eq!(
        story[1..],
        [
            "0 ms: web->db #1 is sent",
            "3 ms: web->db #1 arrives at db",
            "13 ms: web->db #1 is answered",
            "16 ms: web->db #1 has its answer",
            "16 ms: web->db succeeds with web->db #1",
        ]
    );
    assert_eq!((outcome.services[0].sojourn_ns, outcome.services[0].in_flight_ns), (ns(10), ns(10)));
    assert_eq!(outcome.all_requests.latency.max_ms(), Some(16.0));
}

/// An attempt that is given up on the way still arrives, and is worked on; so is one given up on the way back.
#[test]
fn giving_up_stops_nothing_on_the_network() {
    for (timeout_ms, arrival_comes_later) in [(2, true), (15, false)] {
        let mut plan = HandMade::new();
        let db = plan.service("db", 10, &[]);
        plan.client("web", 0, Link::to(db).network_ms(3).timeout_ms(timeout_ms));
        let (story, outcome) = tell(&plan.0);
        let line = |end: &str| story.iter().position(|line| line.ends_with(end)).expect("it happens");
        assert_eq!(line("arrives at db") > line("is given up: timeout"), arrival_comes_later);
        assert_eq!(story.last().map(String::as_str), Some("16 ms: web->db #1 has its answer, too late"));
        let call = &outcome.calls[0];
        assert_eq!((call.timeouts, call.late_responses, outcome.services[0].completed), (1, 1, 1));
    }
}

/// With 6 ms on the way a connection within 5 ms fails, twice. Nothing ever arrives; the caller learns of it at its
/// connect timeout, as of any timeout.
#[test]
fn a_connection_that_takes_too_long_is_lost() {
    let mut plan = HandMade::new();
    let db = plan.service("db", 10, &[]);
    plan.client("web", 0, Link::to(db).network_ms(6).connect_timeout_ms(5).timeout_ms(50).attempts(2, 10));
    let (story, outcome) = tell(&plan.0);
    assert_eq!(
        story[1..],
        [
            "0 ms: web->db #1 is sent",
            "5 ms: web->db #1 is given up: timeout",
            "5 ms: web->db #1 failed, wait 10 ms",
            "15 ms: web->db #2 is sent",
            "20 ms: web->db #2 is given up: timeout",
            "20 ms: web->db fails with web->db #2: timeout, exhausted",
        ]
    );
    let call = &outcome.calls[0];
    assert_eq!((call.attempts, call.lost, call.timeouts, outcome.services[0].arrivals), (2, 2, 2, 0));
    // Arrival, Timer, Wake, Timer: what is lost is no event.
    assert_eq!(outcome.events, 4);
}

/// A way of exactly 5 ms is in time, and once connected the connect timeout has no more to say: the answer comes
/// at 20 ms.
#[test]
fn a_connection_may_take_all_of_its_timeout() {
    let mut plan = HandMade::new();
    let db = plan.service("db", 10, &[]);
    plan.client("web", 0, Link::to(db).network_ms(5).connect_timeout_ms(5));
    let (story, outcome) = tell(&plan.0);
    assert_eq!(story[2], "5 ms: web->db #1 arrives at db");
    assert_eq!((outcome.all_calls.lost, outcome.all_requests.latency.max_ms()), (0, Some(20.0)));
}

/// A client with 1,000 ms in all and 950 ms an attempt, a gateway and a database that takes 2,000 ms.
fn ladder(rule: DeadlineRule) -> HandMade {
    let mut plan = HandMade::new();
    let db = plan.service("db", 2_000, &[]);
    let gateway = plan.service("gateway", 0, &[&[Link::to(db).attempts(3, 10)]]);
    plan.client("web", 0, Link::to(gateway).total_timeout_ms(1_000).timeout_ms(950).deadline(rule));
    plan
}

/// 950 ms less a reserve of 50 ms: the gateway gives up at 900 ms, and has time to say so. Its call has ended with the
/// deadline although it has no limit of its own and attempts are left.
#[test]
fn a_deadline_is_passed_on_less_its_reserve() {
    let (story, outcome) = tell(&ladder(DeadlineRule::PassLess(Span::from_ms(50))).0);
    assert_eq!(
        story[5..],
        [
            "900 ms: gateway->db #1 is given up: deadline",
            "900 ms: gateway->db fails with gateway->db #1: deadline, deadline",
            "900 ms: web->gateway #1 is answered: deadline",
            "900 ms: web->gateway #1 has its answer",
            "900 ms: web->gateway fails with web->gateway #1: deadline, not_retryable",
            "2000 ms: gateway->db #1 is answered",
            "2000 ms: gateway->db #1 has its answer, too late",
        ]
    );
    assert_eq!(outcome.calls[0].deadline_stopped, 1);
}

/// A tenth of 950 ms is kept back: 855 ms. A deadline that is kept is not known: the gateway waits to the end.
#[test]
fn a_reserve_may_be_a_share_and_a_deadline_may_be_kept() {
    let (story, _) = tell(&ladder(DeadlineRule::PassLessShare(0.1)).0);
    assert_eq!(story[5], "855 ms: gateway->db #1 is given up: deadline");
    let (story, outcome) = tell(&ladder(DeadlineRule::Keep).0);
    assert_eq!(
        story[5..],
        [
            "950 ms: web->gateway #1 is given up: timeout",
            "950 ms: web->gateway fails with web->gateway #1: timeout, exhausted",
            "2000 ms: gateway->db #1 is answered",
            "2000 ms: gateway->db #1 has its answer",
            "2000 ms: gateway->db succeeds with gateway->db #1",
            "2000 ms: web->gateway #1 is answered",
            "2000 ms: web->gateway #1 has its answer, too late",
        ]
    );
    assert_eq!(outcome.calls[0].deadline_stopped, 0);
}

/// The gateway works for 60 ms of the 60 that its caller has: at exactly the deadline its call makes no attempt, and
/// neither does the fallback, whose own limits do not matter any more. The second call does not even begin.
#[test]
fn a_call_that_begins_at_its_deadline_makes_no_attempt() {
    let mut plan = HandMade::new();
    let (db, cache) = (plan.service("db", 10, &[]), plan.service("cache", 1, &[]));
    let read = Link::to(db).timeout_ms(100).if_failed(Link::to(cache));
    let gateway = plan.service("gateway", 60, &[&[read, Link::to(db)]]);
    let pass = DeadlineRule::PassLess(Span::ZERO);
    plan.client("web", 0, Link::to(gateway).total_timeout_ms(60).deadline(pass).network_ms(0));
    let (story, outcome) = tell(&plan.0);
    assert_eq!(
        story[3..],
        [
            "60 ms: gateway->db fails without an attempt: deadline, deadline",
            "60 ms: gateway->cache fails without an attempt: deadline, deadline",
            "60 ms: web->gateway #1 is answered: deadline",
            "60 ms: web->gateway #1 has its answer",
            "60 ms: web->gateway fails with web->gateway #1: deadline, deadline",
        ]
    );
    assert_eq!((outcome.all_calls.attempts, outcome.all_calls.deadline_stopped), (1, 3));
}

/// Both end at 50 ms. The timer of the call was armed with the first attempt and goes before the timer of the other
/// client's second attempt, although that client was there first.
#[test]
fn the_timer_of_a_call_is_armed_when_it_begins() {
    let mut plan = HandMade::new();
    let db = plan.service("db", 100, &[]);
    plan.client("a", 0, Link::to(db).timeout_ms(25).attempts(2, 0));
    plan.client("b", 0, Link::to(db).total_timeout_ms(50).timeout_ms(40).attempts(2, 5));
    let (story, _) = tell(&plan.0);
    let at_50_ms: Vec<_> = story.iter().filter(|line| line.starts_with("50 ms")).collect();
    assert_eq!(
        at_50_ms,
        [
            "50 ms: b->db #2 is given up: deadline",
            "50 ms: b->db fails with b->db #2: deadline, deadline",
            "50 ms: a->db #2 is given up: timeout",
            "50 ms: a->db fails with a->db #2: timeout, exhausted",
        ]
    );
}

/// The database refuses, twice; then the cache answers in its place, and the request knows of nothing.
#[test]
fn a_fallback_is_made_when_the_call_has_failed() {
    let mut plan = HandMade::new();
    let (db, cache) = (plan.service("db", 10, &[]), plan.service("cache", 1, &[]));
    let api = plan.service("api", 0, &[&[Link::to(db).attempts(2, 5).if_failed(Link::to(cache))]]);
    plan.client("web", 0, Link::to(api));
    plan.fault(db, 0, ALWAYS, Effect::Refuse);
    let (story, outcome) = tell(&plan.0);
    assert_eq!(
        story[10..],
        [
            "5 ms: api->db #2 is answered: refused",
            "5 ms: api->db #2 has its answer",
            "5 ms: api->db fails with api->db #2: refused, exhausted",
            "5 ms: api->cache #1 is sent",
            "5 ms: api->cache #1 arrives at cache",
            "6 ms: api->cache #1 is answered",
            "6 ms: api->cache #1 has its answer",
            "6 ms: api->cache succeeds with api->cache #1",
            "6 ms: web->api #1 is answered",
            "6 ms: web->api #1 has its answer",
            "6 ms: web->api succeeds with web->api #1",
        ]
    );
    let requests = &outcome.all_requests;
    assert_eq!((requests.succeeded, requests.succeeded_first_try, requests.degraded), (1, 1, 0));
    // The first attempt of the fallback is no retry, and neither is any above it.
    assert_eq!(outcome.services.iter().map(|service| service.original_arrivals).collect::<Vec<_>>(), [1, 1, 1]);
}

/// A chain of three that all fail: their caller fails with the last error.
#[test]
fn a_chain_of_fallbacks_fails_with_its_last() {
    let mut plan = HandMade::new();
    let services = ["db", "replica", "cache"].map(|name| plan.service(name, 1, &[]));
    let [db, replica, cache] = services.map(Link::to);
    let api = plan.service("api", 0, &[&[db.if_failed(replica.if_failed(cache))]]);
    plan.client("web", 0, Link::to(api));
    let errors = [ErrorKind::Unavailable, ErrorKind::Internal, ErrorKind::Invalid];
    for (service, error) in services.into_iter().zip(errors) {
        plan.fault(service, 0, ALWAYS, failing(error, 1));
    }
    let (_, outcome) = tell(&plan.0);
    assert_eq!(outcome.calls.iter().map(|call| call.errors).collect::<Vec<_>>(), [1, 1, 1, 1]);
    assert_eq!(outcome.all_requests.failed_by[ErrorKind::Invalid as usize], 1);
    assert_eq!((outcome.all_requests.failed(), outcome.end), (1, at(3)));
}

/// A fallback descends from the call that failed, so that it shares no draw with it, nor with a sibling's fallback.
#[test]
fn the_key_of_a_fallback_descends_from_the_failed_call() {
    let mut plan = HandMade::new();
    let (db, cache) = (plan.service("db", 1, &[]), plan.service("cache", 1, &[]));
    let api = plan.service("api", 0, &[&[Link::to(db).copies(2, 2).if_failed(Link::to(cache))]]);
    plan.client("web", 0, Link::to(api));
    plan.fault(db, 0, ALWAYS, Effect::Refuse);
    let (notes, _) = interpret(&plan.0, 7, 3);

    let request = request_key(replica_key(7, 3), name_key("web"), 0, 0);
    let work = attempt_key(call_key(request, name_key("api"), 0), 1, 0);
    for copy in 0..2 {
        let failed = call_key(work, name_key("db"), copy);
        let key = attempt_key(call_key(failed, name_key("cache"), 0), 1, 0);
        // The fallback is added to the plan before the call that names it.
        let sent = Note::Sent { call: CallId(0), attempt: 1, hedge: 0, key };
        assert_eq!(notes.iter().filter(|(_, note)| *note == sent).count(), 1, "copy {copy}");
    }
}
