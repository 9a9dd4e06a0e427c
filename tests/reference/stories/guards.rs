//! Breakers and throttles. In most stories a database is down until 50 ms and answers after 1 ms with an error.

use stormsim::dist::{Purpose, attempt_key, call_key, draw, name_key, replica_key, request_key, unit};
use stormsim::failure::{ErrorKind, ErrorSet, StopReason};
use stormsim::metrics::{Outcome, ProtectionTally};
use stormsim::plan::{Arrivals, ServiceId};
use stormsim::policy::{Backoff, Breaker, CapOrder, Counts, Jitter, Position, Schedule, Throttle, ThrottleRule, Trip};
use stormsim::time::{Instant, Span};

use crate::hand_made::{HandMade, Link};
use crate::{at, failing, tell};

/// Inside, opens with the second failure in a row for 20 ms, and lets one probe through.
fn breaker() -> Breaker {
    let backoff = Backoff::Exponential { base: Span::from_ms(20), factor: 2.0 };
    Breaker {
        trip: Trip::Consecutive(2),
        failure_on: ErrorSet::FAILURES,
        open: Schedule::new(backoff, Span::UNLIMITED, CapOrder::BeforeJitter, Jitter::None),
        half_open: 1,
        counts: Counts::Attempts,
        position: Position::Inside,
    }
}

/// A client makes requests at these instants by this call of a database that takes 1 ms.
fn requests(arrivals_ms: &[u64], link: impl Fn(ServiceId) -> Link) -> (Vec<String>, Outcome) {
    let mut plan = HandMade::new();
    let db = plan.service("db", 1, &[]);
    plan.fault(db, 0, 50, failing(ErrorKind::Unavailable, 1));
    let arrivals = Arrivals::Trace(arrivals_ms.iter().map(|&ms| at(ms)).collect());
    plan.group("web", 1, Instant::ZERO..Instant::LIMIT, arrivals, &[(u64::MAX, link(db))]);
    let (story, outcome) = tell(&plan.0);
    let is_told = |line: &&String| [" fails", " succeeds", "opens", "turned"].iter().any(|word| line.contains(word));
    (story.iter().filter(is_told).cloned().collect(), outcome)
}

/// The second failure opens it at 11 ms, so that it is half-open from 31 ms on: the request at 31 ms is the probe, and
/// as it fails at 32 ms the breaker is open for 40 ms, twice as long. The next probe, at 72 ms, closes it.
#[test]
fn a_breaker_opens_probes_and_closes() {
    let (story, outcome) = requests(&[0, 10, 30, 31, 71, 72, 74], |db| Link::to(db).breaker(breaker()));
    assert_eq!(
        story,
        [
            "1 ms: web->db fails with web->db #1: unavailable, exhausted",
            "11 ms: the breaker of web->db opens",
            "11 ms: web->db fails with web->db #1: unavailable, exhausted",
            "30 ms: web->db is turned away: breaker_open",
            "30 ms: web->db fails with web->db: breaker_open, not_retryable",
            "32 ms: the breaker of web->db opens",
            "32 ms: web->db fails with web->db #1: unavailable, exhausted",
            "71 ms: web->db is turned away: breaker_open",
            "71 ms: web->db fails with web->db: breaker_open, not_retryable",
            "73 ms: web->db succeeds with web->db #1",
            "75 ms: web->db succeeds with web->db #1",
        ]
    );
    let expected = ProtectionTally { breaker_rejected: 2, breaker_opened: 2, ..ProtectionTally::default() };
    assert_eq!(outcome.calls[0].protection, expected);
    assert_eq!((outcome.calls[0].attempts, outcome.calls[0].pool_rejected), (5, 0));
}

/// Inside the retry the breaker opens with the second attempt of one call, and its third one is not sent. Outside, it
/// counts that call as one failure: all three are sent, and the next request is let through, too.
#[test]
fn a_breaker_stands_inside_or_outside() {
    let (story, inside) = requests(&[0, 10], |db| Link::to(db).attempts(3, 0).breaker(breaker()));
    assert_eq!(
        story,
        [
            "2 ms: the breaker of web->db opens",
            "2 ms: web->db is turned away: breaker_open",
            "2 ms: web->db fails with web->db: breaker_open, not_retryable",
            "10 ms: web->db is turned away: breaker_open",
            "10 ms: web->db fails with web->db: breaker_open, not_retryable",
        ]
    );
    let ProtectionTally { breaker_rejected, breaker_rejected_retries, .. } = inside.calls[0].protection;
    assert_eq!((inside.calls[0].attempts, breaker_rejected, breaker_rejected_retries), (2, 2, 1));

    let rule = Breaker { counts: Counts::Calls, position: Position::Outside, ..breaker() };
    let (story, outside) = requests(&[0, 10, 20], |db| Link::to(db).attempts(3, 0).breaker(rule.clone()));
    assert_eq!(
        story,
        [
            "3 ms: web->db fails with web->db #3: unavailable, exhausted",
            "13 ms: the breaker of web->db opens",
            "13 ms: web->db fails with web->db #3: unavailable, exhausted",
            "20 ms: web->db fails without an attempt: breaker_open, not_retryable",
        ]
    );
    assert_eq!((outside.calls[0].attempts, outside.calls[0].protection.breaker_rejected), (6, 1));
    assert_eq!(outside.all_requests.stopped_by[StopReason::NotRetryable as usize], 1);
}

/// Three at once: the breaker opens with the second failure, and the third, which it had let through before, counts for
/// nothing. With two probes at 21 ms the first failure opens it again, and the other one counts for nothing, either.
#[test]
fn what_was_let_through_before_a_move_does_not_count() {
    let rule = Breaker { half_open: 2, ..breaker() };
    let (story, outcome) = requests(&[0, 0, 0, 21, 21, 21], |db| Link::to(db).breaker(rule.clone()));
    assert_eq!(story.iter().filter(|line| line.contains("opens")).count(), 2);
    assert_eq!(story[4], "21 ms: web->db is turned away: breaker_open", "as there are two probes");
    assert_eq!((outcome.calls[0].attempts, outcome.calls[0].protection.breaker_rejected), (5, 1));
}

/// The first request fails at 5 ms and opens the breaker until 25 ms; the second, let through before, has the only slot
/// until 105 ms. So the probe of 25 ms waits for it in vain. While it does, there is no other; when it has been turned
/// away, the next one may try.
#[test]
fn a_probe_without_a_slot_makes_room_for_another() {
    let mut plan = HandMade::new();
    let db = plan.service("db", 100, &[]);
    plan.fault(db, 0, 3, failing(ErrorKind::Unavailable, 5));
    let arrivals = Arrivals::Trace([0, 4, 25, 26, 28].map(at).to_vec());
    let rule = Breaker { trip: Trip::Consecutive(1), ..breaker() };
    let link = Link::to(db).breaker(rule).pool(1, 2);
    plan.group("web", 1, Instant::ZERO..Instant::LIMIT, arrivals, &[(u64::MAX, link)]);
    let (story, outcome) = tell(&plan.0);
    let ends = ["opens", "turned away", "succeeds"];
    let is_told = |line: &&String| ends.iter().any(|word| line.contains(word));
    assert_eq!(
        story.iter().filter(is_told).collect::<Vec<_>>(),
        [
            "5 ms: the breaker of web->db opens",
            "26 ms: web->db is turned away: breaker_open",
            "27 ms: web->db is turned away: pool_timeout",
            "30 ms: web->db is turned away: pool_timeout",
            "105 ms: web->db succeeds with web->db #1",
        ]
    );
    assert_eq!((outcome.calls[0].pool_rejected, outcome.calls[0].protection.breaker_rejected), (2, 1));
}

/// A breaker outside, which counts calls. The first attempt fails at 1 ms, and the retry at 6 ms finds the only slot
/// taken by the second request: the call has failed after something of it was sent, and so opens the breaker. One that
/// stands inside goes by what it let through last, of which nothing was sent.
#[test]
fn a_call_counts_whose_last_attempt_was_not_sent() {
    let after_retry = |position: Position| {
        let mut plan = HandMade::new();
        let db = plan.service("db", 100, &[]);
        plan.fault(db, 0, 1, failing(ErrorKind::Unavailable, 1));
        let arrivals = Arrivals::Trace([0, 2, 10].map(at).to_vec());
        let rule = Breaker { trip: Trip::Consecutive(1), counts: Counts::Calls, position, ..breaker() };
        let link = Link::to(db).breaker(rule).pool(1, 0).attempts(2, 5);
        plan.group("web", 1, Instant::ZERO..Instant::LIMIT, arrivals, &[(u64::MAX, link)]);
        let (story, _) = tell(&plan.0);
        let from = story.iter().position(|line| line.contains("turned away")).expect("there is no slot");
        story[from..from + 5].to_vec()
    };
    assert_eq!(
        after_retry(Position::Outside),
        [
            "6 ms: web->db is turned away: pool_timeout",
            "6 ms: the breaker of web->db opens",
            "6 ms: web->db fails with web->db: pool_timeout, not_retryable",
            "10 ms: client 0 of web begins request 2",
            "10 ms: web->db fails without an attempt: breaker_open, not_retryable",
        ]
    );
    assert_eq!(
        after_retry(Position::Inside)[..2],
        ["6 ms: web->db is turned away: pool_timeout", "6 ms: web->db fails with web->db: pool_timeout, not_retryable",]
    );
}

/// The book's rule with a K of 1, of a callee that is down: after n requests, held back or not, the next one is held
/// back with the probability n / (n + 1), by its own draw.
#[test]
fn a_throttle_holds_back_what_would_fail() {
    let adaptive = ThrottleRule::Adaptive { k: 1.0 };
    let throttle = Throttle { rule: adaptive, failure_on: ErrorSet::FAILURES, window: Span::from_s(1) };
    let arrivals_ms = [0, 5, 10, 15, 20, 25, 30, 35];
    let (story, outcome) = requests(&arrivals_ms, |db| Link::to(db).throttle(throttle));
    let drawn = |n: u64| {
        let call = call_key(request_key(replica_key(42, 0), name_key("web"), 0, n), name_key("db"), 0);
        unit(draw(attempt_key(call, 1, 0), Purpose::Throttle))
    };
    let is_held_back = |&(n, _): &(u64, u64)| drawn(n) < n as f64 / (n + 1) as f64;
    let held_back: Vec<(u64, u64)> = (0..).zip(arrivals_ms).filter(is_held_back).collect();
    let expected: Vec<String> =
        held_back.iter().map(|(_, ms)| format!("{ms} ms: web->db is turned away: throttled")).collect();
    let turned_away = story.into_iter().filter(|line| line.contains("turned away"));
    assert_eq!(turned_away.collect::<Vec<_>>(), expected);
    assert!((1..8).contains(&expected.len()), "this seed shows both");
    assert_eq!(outcome.calls[0].protection.throttled, expected.len() as u64);
    assert_eq!(outcome.calls[0].attempts, 8 - expected.len() as u64);
}
