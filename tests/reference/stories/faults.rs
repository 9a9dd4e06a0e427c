//! Faults that attempts meet on their way and at the door.

use stormsim::dist::{Dist, probability};
use stormsim::failure::ErrorKind;
use stormsim::metrics::Outcome;
use stormsim::plan::{
    Balance, CallId, Cancel, Capacity, Direction, Effect, Failure, Fault, ServiceId, Target, Windows,
};
use stormsim::time::Span;

use crate::hand_made::{HandMade, Link};
use crate::{ALWAYS, at, failing, failure, ns, tell};

/// One request at 0 to a database that takes 10 ms, over a call with this fault on it.
fn over_a_bad_line(effect: Effect, link: impl Fn(Link) -> Link) -> (Vec<String>, Outcome) {
    let mut plan = HandMade::new();
    let db = plan.service("db", 10, &[]);
    plan.client("web", 0, link(Link::to(db)));
    plan.fault_on(&[Target::Call(CallId(0))], 0, ALWAYS, effect);
    tell(&plan.0)
}

/// The error comes after 3 ms, from nobody. It came over a connection, so that the connect timeout of 1 ms is none.
#[test]
fn an_error_on_the_way_comes_without_an_arrival() {
    let (story, outcome) =
        over_a_bad_line(failing(ErrorKind::Unavailable, 3), |link| link.connect_timeout_ms(1).attempts(2, 5));
    assert_eq!(
        story[1..],
        [
            "0 ms: web->db #1 is sent",
            "3 ms: web->db #1 has its answer",
            "3 ms: web->db #1 failed, wait 5 ms",
            "8 ms: web->db #2 is sent",
            "11 ms: web->db #2 has its answer",
            "11 ms: web->db fails with web->db #2: unavailable, exhausted",
        ]
    );
    let call = &outcome.calls[0];
    assert_eq!((call.attempts, call.lost, call.errors, outcome.services[0].arrivals), (2, 2, 2, 0));
}

/// Nobody says that an attempt is gone: the caller waits for 50 ms, or for 5 to connect. A request that is lost on its
/// connection is waited for in full. (Each attempt has lost its way before the network would take 3 ms.)
#[test]
fn what_is_lost_is_waited_for() {
    let lost = |direction| Effect::Loss { probability: u64::MAX, direction };
    for (effect, connects, expected_ms) in
        [(Effect::BlackHole, false, 50), (Effect::BlackHole, true, 5), (lost(Direction::Request), true, 50)]
    {
        let (story, outcome) = over_a_bad_line(effect, |link| {
            let link = link.network_ms(3).timeout_ms(50);
            if connects { link.connect_timeout_ms(5) } else { link }
        });
        assert_eq!(story[2], format!("{expected_ms} ms: web->db #1 is given up: timeout"));
        assert_eq!((outcome.calls[0].lost, outcome.services[0].arrivals), (1, 0));
    }
}

/// The work is done while its caller waits for it, and the caller does not learn of it.
#[test]
fn the_answer_to_work_may_be_lost() {
    let lost = Effect::Loss { probability: u64::MAX, direction: Direction::Response };
    let (story, outcome) = over_a_bad_line(lost, |link| link.timeout_ms(50));
    assert_eq!(
        story[2..],
        [
            "0 ms: web->db #1 arrives at db",
            "10 ms: web->db #1 is answered",
            "50 ms: web->db #1 is given up: timeout",
            "50 ms: web->db fails with web->db #1: timeout, exhausted",
        ]
    );
    let (call, service) = (&outcome.calls[0], &outcome.services[0]);
    assert_eq!((call.lost, call.timeouts, call.late_responses), (0, 1, 0));
    assert_eq!((service.succeeded, service.service_ns, service.wasted_ns), (1, ns(10), 0));
}

/// 2 ms and 3 more there, 10 ms of work, 2 ms back. With 4 ms to connect it never arrives.
#[test]
fn a_slow_line_is_slow_one_way() {
    let slow = || Effect::Slow { factor: 1.0, add: Dist::Constant(Span::from_ms(3)) };
    let (story, outcome) = over_a_bad_line(slow(), |link| link.network_ms(2));
    assert_eq!((story[2].as_str(), outcome.end), ("5 ms: web->db #1 arrives at db", at(17)));
    let (story, outcome) = over_a_bad_line(slow(), |link| link.network_ms(2).connect_timeout_ms(4));
    assert_eq!((story[2].as_str(), outcome.calls[0].lost), ("4 ms: web->db #1 is given up: timeout", 1));
}

/// A black hole at the service shows when an attempt would arrive, after 3 ms. From then on the caller waits until 5 ms
/// after it was sent, if it has so much time to connect and would not give up before.
#[test]
fn a_black_hole_at_a_service_shows_on_arrival() {
    for (timeout_ms, connect_timeout_ms, expected_ms) in [(50, 5, 5), (50, 3, 3), (4, 5, 4), (2, 5, 2), (50, 100, 50)] {
        let mut plan = HandMade::new();
        let db = plan.service("db", 10, &[]);
        let link = Link::to(db).network_ms(3).timeout_ms(timeout_ms);
        plan.client("web", 0, link.connect_timeout_ms(connect_timeout_ms));
        plan.fault(db, 0, ALWAYS, Effect::BlackHole);
        let (story, outcome) = tell(&plan.0);
        assert_eq!(story[2], format!("{expected_ms} ms: web->db #1 is given up: timeout"));
        assert_eq!((outcome.calls[0].lost, outcome.services[0].arrivals, story.len()), (1, 0, 4));
    }
}

/// Nobody is there to learn that the caller has given up: what was to be cancelled on arrival does not arrive either.
#[test]
fn a_black_hole_hears_of_no_caller() {
    for cancel in [Cancel::Ignore, Cancel::Running] {
        let mut plan = HandMade::new();
        let db = plan.service("db", 10, &[]);
        plan.limit(db, Capacity { cancel, ..Capacity::UNLIMITED });
        plan.client("web", 0, Link::to(db).network_ms(3).timeout_ms(2));
        plan.fault(db, 0, ALWAYS, Effect::BlackHole);
        let (_, outcome) = tell(&plan.0);
        assert_eq!((outcome.calls[0].lost, outcome.services[0].arrivals), (1, 0));
    }
}

/// What a black hole has swallowed is outstanding until its caller gives up, at 5 ms: the balancer keeps away until
/// then, and not one attempt longer.
#[test]
fn a_balancer_keeps_away_from_a_silent_server() {
    let mut plan = HandMade::new();
    let db = plan.service("db", 1, &[]);
    plan.limit(db, Capacity { instances: 2, balance: Balance::LeastLoaded, ..Capacity::UNLIMITED });
    for at_ms in [0, 2, 4, 6] {
        plan.client(&format!("at{at_ms}"), at_ms, Link::to(db).timeout_ms(5));
    }
    plan.fault_on(&[Target::Service(db)], 0, ALWAYS, Effect::BlackHole).first_instances = 1;
    let (story, outcome) = tell(&plan.0);
    let placed = story.iter().filter_map(|line| line.split_once(" goes to server ")).map(|(_, server)| server);
    assert_eq!(placed.collect::<Vec<_>>(), ["0", "1", "1", "0"]);
    assert_eq!((outcome.all_calls.lost, outcome.services[0].arrivals), (2, 2));
}

/// Only the first of two servers swallows attempts. The retry goes elsewhere, and a new request to the first again.
#[test]
fn a_retry_may_avoid_a_black_hole() {
    let mut plan = HandMade::new();
    let db = plan.service("db", 10, &[]);
    plan.limit(db, Capacity { instances: 2, balance: Balance::Primary, ..Capacity::UNLIMITED });
    plan.client("web", 0, Link::to(db).connect_timeout_ms(5).attempts(2, 0).avoid_previous());
    plan.fault_on(&[Target::Service(db)], 0, ALWAYS, Effect::BlackHole).first_instances = 1;
    let (story, _) = tell(&plan.0);
    assert_eq!(
        story[1..9],
        [
            "0 ms: web->db #1 is sent",
            "0 ms: web->db #1 goes to server 0",
            "5 ms: web->db #1 is given up: timeout",
            "5 ms: web->db #1 failed, wait 0 ms",
            "5 ms: web->db #2 is sent",
            "5 ms: web->db #2 goes to server 1",
            "5 ms: web->db #2 arrives at db",
            "5 ms: web->db #2 begins",
        ]
    );
}

/// It fails after 10 ms of work that took a worker: whoever waits for that begins then.
#[test]
fn a_failure_may_take_its_work_first() {
    let mut plan = HandMade::new();
    let db = plan.service("db", 10, &[]);
    plan.limit(db, Capacity { workers: 1, ..Capacity::UNLIMITED });
    plan.client("a", 0, Link::to(db));
    plan.client("b", 0, Link::to(db));
    plan.fault(db, 0, ALWAYS, Effect::Fail(Failure { works: true, ..failure(ErrorKind::Internal, 0) }));
    let (story, outcome) = tell(&plan.0);
    let answers: Vec<_> = story.iter().filter(|line| line.contains("is answered")).collect();
    assert_eq!(answers, ["10 ms: a->db #1 is answered: internal", "20 ms: b->db #1 is answered: internal"]);
    let service = &outcome.services[0];
    assert_eq!((service.completed, service.faulted, service.refused(), service.busy_ns), (2, 2, 0, ns(20)));
}

/// How many requests fail of 20 at each of two services in each of 20 epochs of 10 ms, at even odds.
fn failed_by_epoch(correlation: f64) -> Vec<u64> {
    let mut plan = HandMade::new();
    let services = ["a", "b"].map(|name| plan.service(name, 1, &[]));
    for epoch in 0..20 {
        for (number, service) in services.into_iter().enumerate() {
            let name = format!("{epoch}-{number}");
            plan.clients(&name, 20, at(10 * epoch + number as u64), &[(u64::MAX, Link::to(service))]);
        }
    }
    let even = Failure {
        probability: probability(0.5),
        correlation: probability(correlation),
        epoch: Span::from_ms(10),
        ..failure(ErrorKind::Unavailable, 0)
    };
    plan.fault_on(&services.map(Target::Service), 0, ALWAYS, Effect::Fail(even));
    let (_, outcome) = tell(&plan.0);
    outcome.groups.chunks(2).map(|pair| pair.iter().map(|group| group.failed()).sum()).collect()
}

/// With one fate for all, each epoch has it all or nothing, at both services alike, and each happens (missing one of
/// them has a chance of 2^-19). With a fate for each, all of 40 fail, or none, with a chance of 2^-39 per epoch. And
/// where half of them share, neither: of 40 at least one decides for itself and differs, but for a chance of 10^-5 per
/// epoch.
#[test]
fn attempts_may_share_their_fate() {
    let together = failed_by_epoch(1.0);
    assert!(together.iter().all(|failed| [0, 40].contains(failed)), "{together:?}");
    assert!(together.contains(&0) && together.contains(&40), "{together:?}");
    for correlation in [0.0, 0.5] {
        let apart = failed_by_epoch(correlation);
        assert!(apart.iter().all(|failed| (1..40).contains(failed)), "{apart:?}");
    }
    // Those that share pull each epoch to one side: 30 or 10 of 40 on average, where 20 would have a deviation of 3.2.
    let far = |failed: &&u64| failed.abs_diff(20) > 6;
    assert!(failed_by_epoch(0.5).iter().filter(far).count() > failed_by_epoch(0.0).iter().filter(far).count());
}

/// The window [10 ms, 20 ms) comes again at 40 ms. The second fault is good for 20 ms and bad for 5, in turns, and cut off
/// at 47 ms.
#[test]
fn windows_come_again() {
    let constant = |ms| Dist::Constant(Span::from_ms(ms));
    let repeated = Windows::Repeated { first: at(10)..at(20), every: Span::from_ms(30) };
    let random = Windows::Random { within: at(0)..at(47), up: constant(20), down: constant(5) };
    for (windows, arrivals_ms, expected) in [
        (repeated, [9, 10, 19, 20, 39, 40, 49, 50], [0, 1, 1, 0, 0, 1, 1, 0]),
        (random, [19, 20, 24, 25, 44, 45, 46, 47], [0, 1, 1, 0, 0, 1, 1, 0]),
    ] {
        let mut plan = HandMade::new();
        let db = plan.service("db", 1, &[]);
        for (number, at_ms) in arrivals_ms.into_iter().enumerate() {
            plan.client(&number.to_string(), at_ms, Link::to(db));
        }
        let fault: &mut Fault = plan.fault_on(&[Target::Service(ServiceId(0))], 0, 1, Effect::Refuse);
        fault.windows = windows;
        let (_, outcome) = tell(&plan.0);
        assert_eq!(outcome.groups.iter().map(|group| group.failed()).collect::<Vec<_>>(), expected);
    }
}
