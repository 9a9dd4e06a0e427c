//! Attempts that need a slot. In most stories one client makes a request at 0 ms, which has the only slot until it is
//! answered at 10 ms or given up, and another at 2 ms.

use stormsim::failure::StopReason;
use stormsim::metrics::Outcome;
use stormsim::plan::Arrivals;
use stormsim::time::Instant;

use crate::hand_made::{HandMade, Link};
use crate::{at, tell};

const LONG: u64 = 1_000;

/// What is told from 2 ms on, with slots and limits as `limited` sets them.
fn second_request(limited: impl Fn(Link) -> Link) -> (Vec<String>, Outcome) {
    let mut plan = HandMade::new();
    let db = plan.service("db", 10, &[]);
    let arrivals = Arrivals::Trace(vec![at(0), at(2)]);
    plan.group("web", 1, Instant::ZERO..Instant::LIMIT, arrivals, &[(u64::MAX, limited(Link::to(db)))]);
    let (story, outcome) = tell(&plan.0);
    let from = story.iter().position(|line| line.starts_with("2 ms")).expect("there is a second request");
    (story[from + 1..].to_vec(), outcome)
}

/// The slot goes on when the first answer has come, and the request takes 18 ms in all.
#[test]
fn an_attempt_waits_for_a_slot() {
    let (story, outcome) = second_request(|link| link.pool(1, LONG));
    assert_eq!(
        story,
        [
            "10 ms: web->db #1 is answered",
            "10 ms: web->db #1 has its answer",
            "10 ms: web->db succeeds with web->db #1",
            "10 ms: web->db #1 is sent",
            "10 ms: web->db #1 arrives at db",
            "20 ms: web->db #1 is answered",
            "20 ms: web->db #1 has its answer",
            "20 ms: web->db succeeds with web->db #1",
        ]
    );
    let call = &outcome.calls[0];
    assert_eq!((call.attempts, call.pool_waits.count(), call.pool_waits.max_ms()), (2, 2, Some(8.0)));
    assert_eq!((outcome.all_requests.latency.max_ms(), outcome.services[0].in_flight_max), (Some(18.0), 1));
}

/// It waits 5 ms at most, and the error is not worth another attempt; it is none of the attempts in the metrics.
#[test]
fn a_slot_that_comes_too_late_is_not_waited_for() {
    let (story, outcome) = second_request(|link| link.pool(1, 5).attempts(3, 0));
    assert_eq!(
        story[..2],
        ["7 ms: web->db is turned away: pool_timeout", "7 ms: web->db fails with web->db: pool_timeout, not_retryable"]
    );
    let call = &outcome.calls[0];
    assert_eq!((call.attempts, call.pool_rejected, call.timeouts, outcome.services[0].arrivals), (1, 1, 0, 1));
}

/// Without a wait it is turned away as it starts.
#[test]
fn a_slot_may_not_be_waited_for_at_all() {
    let (story, _) = second_request(|link| link.pool(1, 0));
    assert_eq!(
        story[..2],
        ["2 ms: web->db is turned away: pool_timeout", "2 ms: web->db fails with web->db: pool_timeout, not_retryable"]
    );
}

/// The timeout of 12 ms runs from 2 ms on, while the attempt waits: sent at 10 ms it has 4 ms left.
#[test]
fn a_timeout_runs_while_an_attempt_waits() {
    let (story, outcome) = second_request(|link| link.pool(1, 20).timeout_ms(12));
    assert_eq!(
        story[3..],
        [
            "10 ms: web->db #1 is sent",
            "10 ms: web->db #1 arrives at db",
            "14 ms: web->db #1 is given up: timeout",
            "14 ms: web->db fails with web->db #1: timeout, exhausted",
            "20 ms: web->db #1 is answered",
            "20 ms: web->db #1 has its answer, too late",
        ]
    );
    assert_eq!((outcome.all_calls.timeouts, outcome.all_calls.late_responses), (1, 1));
}

/// The first request gives its attempt up at 4 ms, which makes room for the second; its retry waits in turn, and gets
/// the slot when the second gives up, 4 ms after that began to wait.
#[test]
fn what_gives_up_makes_room() {
    let (story, outcome) = second_request(|link| link.pool(1, LONG).timeout_ms(4).attempts(2, 0));
    assert_eq!(
        story[..7],
        [
            "4 ms: web->db #1 is given up: timeout",
            "4 ms: web->db #1 failed, wait 0 ms",
            "4 ms: web->db #1 is sent",
            "4 ms: web->db #1 arrives at db",
            "6 ms: web->db #1 is given up: timeout",
            "6 ms: web->db #1 failed, wait 0 ms",
            "6 ms: web->db #2 is sent",
        ]
    );
    assert_eq!((outcome.all_calls.attempts, outcome.all_calls.retries, outcome.all_calls.pool_rejected), (4, 2, 0));
}

/// All of a call's time is 5 ms: the retry of the first request, which waits from 4 ms on, ends with it.
#[test]
fn a_call_may_end_while_it_waits() {
    let (story, outcome) = second_request(|link| link.pool(1, LONG).timeout_ms(4).total_timeout_ms(5).attempts(2, 0));
    assert_eq!(
        story[..6],
        [
            "4 ms: web->db #1 is given up: timeout",
            "4 ms: web->db #1 failed, wait 0 ms",
            "4 ms: web->db #1 is sent",
            "4 ms: web->db #1 arrives at db",
            "5 ms: web->db is turned away: deadline",
            "5 ms: web->db fails with web->db: deadline, deadline",
        ]
    );
    assert_eq!(
        (outcome.all_calls.pool_rejected, outcome.all_requests.stopped_by[StopReason::Deadline as usize]),
        (1, 2)
    );
}

/// Three at once, 4 ms each. The slot of the first does not go to the second at the instant at which that gives up too:
/// two are turned away, with `timeout`, unless the wait is not to be longer.
#[test]
fn nobody_gets_a_slot_who_gives_up_at_that_instant() {
    for (max_wait_ms, error) in [(5, "timeout, exhausted"), (4, "pool_timeout, not_retryable")] {
        let mut plan = HandMade::new();
        let db = plan.service("db", 10, &[]);
        let arrivals = Arrivals::Trace(vec![at(0); 3]);
        let link = Link::to(db).pool(1, max_wait_ms).timeout_ms(4);
        plan.group("web", 1, Instant::ZERO..Instant::LIMIT, arrivals, &[(u64::MAX, link)]);
        let (story, outcome) = tell(&plan.0);
        let from = story.iter().position(|line| line.starts_with("4 ms")).expect("it gives up");
        let kind = error.split(',').next().expect("an error and a reason");
        let turned_away = format!("4 ms: web->db is turned away: {kind}");
        let fails = format!("4 ms: web->db fails with web->db: {error}");
        assert_eq!(
            story[from..from + 6],
            [
                "4 ms: web->db #1 is given up: timeout",
                "4 ms: web->db fails with web->db #1: timeout, exhausted",
                &turned_away,
                &fails,
                &turned_away,
                &fails,
            ]
        );
        assert_eq!((outcome.all_calls.attempts, outcome.all_calls.pool_rejected), (1, 2));
    }
}

/// What gives the slot up at 4 ms tries again at once: it waits for the slot behind the request that came at 3 ms,
/// which gets it when all who give up at 4 ms have done so.
#[test]
fn who_tries_again_at_once_does_not_push_in() {
    let mut plan = HandMade::new();
    let db = plan.service("db", 10, &[]);
    let arrivals = Arrivals::Trace([0, 0, 3].map(at).to_vec());
    let link = Link::to(db).pool(1, LONG).timeout_ms(4).attempts(2, 0);
    plan.group("web", 1, Instant::ZERO..Instant::LIMIT, arrivals, &[(u64::MAX, link)]);
    let (story, _) = tell(&plan.0);
    let from = story.iter().position(|line| line.starts_with("4 ms")).expect("it gives up");
    assert_eq!(
        story[from..from + 8],
        [
            "4 ms: web->db #1 is given up: timeout",
            "4 ms: web->db #1 failed, wait 0 ms",
            "4 ms: web->db is turned away: timeout",
            "4 ms: web->db failed, wait 0 ms",
            "4 ms: web->db #1 is sent",
            "4 ms: web->db #1 arrives at db",
            "7 ms: web->db #1 is given up: timeout",
            "7 ms: web->db #1 failed, wait 0 ms",
        ]
    );
}

/// Each client has a slot of its own: two clients do not wait for each other.
#[test]
fn each_client_has_its_own_slots() {
    let mut plan = HandMade::new();
    let db = plan.service("db", 10, &[]);
    plan.clients("web", 2, at(0), &[(u64::MAX, Link::to(db).pool(1, LONG))]);
    let (_, outcome) = tell(&plan.0);
    assert_eq!((outcome.end, outcome.services[0].in_flight_max), (at(10), 2));
}
