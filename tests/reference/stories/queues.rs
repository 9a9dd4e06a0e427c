//! What waits for a worker: whose turn is next, and who is dropped when it comes.

use stormsim::failure::ErrorKind;
use stormsim::plan::{Capacity, DeadlineRule, DropRule, Order, Queue};
use stormsim::policy::Codel;
use stormsim::time::Span;

use crate::hand_made::{HandMade, Link};
use crate::{ns, tell};

/// One worker, and a queue.
fn one_worker(order: Order, drop_rule: DropRule) -> Capacity {
    Capacity { workers: 1, queue: Queue { limit: Capacity::NO_LIMIT, order, drop_rule }, ..Capacity::UNLIMITED }
}

/// When work begins on the requests of clients that come at these instants, a client for each letter from `a` on, at a
/// database of one worker.
fn begins(service_ms: u64, order: Order, arrivals_ms: &[u64]) -> Vec<String> {
    let mut plan = HandMade::new();
    let db = plan.service("db", service_ms, &[]);
    plan.limit(db, one_worker(order, DropRule::Never));
    for (name, &at_ms) in ["a", "b", "c", "d"].into_iter().zip(arrivals_ms) {
        plan.client(name, at_ms, Link::to(db));
    }
    let (story, _) = tell(&plan.0);
    story.iter().filter_map(|line| line.strip_suffix("->db #1 begins")).map(str::to_owned).collect()
}

/// `a` has the worker until 10 ms; then the oldest of those that wait, or the newest.
#[test]
fn the_oldest_or_the_newest_is_next() {
    assert_eq!(begins(10, Order::Fifo, &[0, 1, 2]), ["0 ms: a", "10 ms: b", "20 ms: c"]);
    assert_eq!(begins(10, Order::Lifo, &[0, 1, 2]), ["0 ms: a", "10 ms: c", "20 ms: b"]);
}

/// Somebody waits from 0 ms on. At 50 ms that is not long, and the oldest is next; at 100 ms it is just long enough,
/// and the newest is.
#[test]
fn a_queue_that_has_built_up_turns_round() {
    let order = Order::AdaptiveLifo;
    assert_eq!(begins(50, order, &[0, 0, 1, 2]), ["0 ms: a", "50 ms: b", "100 ms: d", "150 ms: c"]);
    // It is empty at 50 ms: what counts is the time since it became non-empty again, 51 ms and later.
    assert_eq!(begins(50, order, &[0, 0, 51, 52]), ["0 ms: a", "50 ms: b", "100 ms: c", "150 ms: d"]);
}

/// The queue has one place, and `c` finds it taken. `b` waits for all of the 10 ms of `a`.
#[test]
fn a_full_queue_turns_away() {
    let mut plan = HandMade::new();
    let db = plan.service("db", 10, &[]);
    let Capacity { queue, .. } = Capacity::UNLIMITED;
    plan.limit(db, Capacity { workers: 1, queue: Queue { limit: 1, ..queue }, ..Capacity::UNLIMITED });
    for name in ["a", "b", "c"] {
        plan.client(name, 0, Link::to(db));
    }
    let (story, outcome) = tell(&plan.0);
    assert_eq!(
        story[6..],
        [
            "0 ms: a->db #1 arrives at db",
            "0 ms: a->db #1 begins",
            "0 ms: b->db #1 arrives at db",
            "0 ms: c->db #1 arrives at db",
            "0 ms: c->db #1 is answered: overloaded",
            "0 ms: c->db #1 has its answer",
            "0 ms: c->db fails with c->db #1: overloaded, exhausted",
            "10 ms: a->db #1 is answered",
            "10 ms: b->db #1 begins",
            "10 ms: a->db #1 has its answer",
            "10 ms: a->db succeeds with a->db #1",
            "20 ms: b->db #1 is answered",
            "20 ms: b->db #1 has its answer",
            "20 ms: b->db succeeds with b->db #1",
        ]
    );
    let service = &outcome.services[0];
    assert_eq!((service.arrivals, service.refused(), service.completed), (3, 1, 2));
    assert_eq!((service.queued, service.queue_max, service.begun), (1, 1, 2));
    assert_eq!((service.queue_wait_ns, service.queue_waits.count()), (ns(10), 2));
    assert_eq!((service.busy_ns, service.service_ns, service.wasted_ns), (ns(20), ns(20), 0));
    assert_eq!((service.workers, service.capacity_rps), (Some(1), Some(100.0)));
    // The queue holds `b` for 10 ms; the worker is taken for 20.
    let bucket = outcome.timeline.services[0][0];
    assert_eq!((bucket.queued_ns, bucket.busy_ns, bucket.failed), (ns(10), ns(20), 1));
}

/// The turn of `b` comes at 10 ms, at its deadline: that is not after it. That of `late` comes at 20 ms, after it was
/// given up at 19 ms: nobody is told, and `told` is next at once. It was told a deadline of 15 ms by a client that
/// waits until 40 ms: it is dropped too, and its client hears of it.
#[test]
fn what_has_expired_is_dropped() {
    let mut plan = HandMade::new();
    let db = plan.service("db", 10, &[]);
    plan.limit(db, one_worker(Order::Fifo, DropRule::Expired));
    plan.client("a", 0, Link::to(db));
    plan.client("b", 0, Link::to(db).timeout_ms(10));
    plan.client("late", 0, Link::to(db).timeout_ms(19));
    plan.client("told", 0, Link::to(db).timeout_ms(40).deadline(DeadlineRule::PassLess(Span::from_ms(25))));
    let (story, outcome) = tell(&plan.0);
    assert_eq!(
        story[13..],
        [
            "10 ms: a->db #1 is answered",
            "10 ms: b->db #1 begins",
            "10 ms: a->db #1 has its answer",
            "10 ms: a->db succeeds with a->db #1",
            "10 ms: b->db #1 is given up: timeout",
            "10 ms: b->db fails with b->db #1: timeout, exhausted",
            "19 ms: late->db #1 is given up: timeout",
            "19 ms: late->db fails with late->db #1: timeout, exhausted",
            "20 ms: b->db #1 is answered",
            "20 ms: late->db #1 is dropped",
            "20 ms: told->db #1 is dropped",
            "20 ms: told->db #1 is answered: overloaded",
            "20 ms: b->db #1 has its answer, too late",
            "20 ms: told->db #1 has its answer",
            "20 ms: told->db fails with told->db #1: overloaded, exhausted",
        ]
    );
    let service = &outcome.services[0];
    assert_eq!((service.arrivals, service.completed, service.dropped, service.cancelled), (4, 2, 2, 0));
    // The service of `b` ended when its caller had gone; that of the dropped never began.
    assert_eq!((service.service_ns, service.wasted_ns), (ns(20), ns(10)));
}

/// At 10 ms `short` has 9 ms left for a service of 10 ms and is dropped; `just` has 10, and its answer is in time.
#[test]
fn what_has_too_little_time_is_dropped() {
    let mut plan = HandMade::new();
    let db = plan.service("db", 10, &[]);
    plan.limit(db, one_worker(Order::Fifo, DropRule::DeadlineAware));
    plan.client("a", 0, Link::to(db));
    plan.client("short", 0, Link::to(db).timeout_ms(19));
    plan.client("just", 0, Link::to(db).timeout_ms(20));
    let (story, outcome) = tell(&plan.0);
    assert_eq!(
        story[10..],
        [
            "10 ms: a->db #1 is answered",
            "10 ms: short->db #1 is dropped",
            "10 ms: short->db #1 is answered: overloaded",
            "10 ms: just->db #1 begins",
            "10 ms: a->db #1 has its answer",
            "10 ms: a->db succeeds with a->db #1",
            "10 ms: short->db #1 has its answer",
            "10 ms: short->db fails with short->db #1: overloaded, exhausted",
            "20 ms: just->db #1 is answered",
            "20 ms: just->db #1 has its answer",
            "20 ms: just->db succeeds with just->db #1",
        ]
    );
    assert_eq!((outcome.all_requests.succeeded, outcome.services[0].dropped), (2, 1));
}

/// Seven at once, 10 ms each, of which turns come at 0, 10, 20, ... ms. The interval from 10 ms on has no delay of 5 ms
/// or less, so that the next one, which begins at 30 ms, sheds what has waited more than 10 ms, its first turn left
/// out: at 40 ms all three that are left.
#[test]
fn a_queue_that_does_not_become_short_is_shed() {
    let mut plan = HandMade::new();
    let db = plan.service("db", 10, &[]);
    let codel = Codel { target: Span::from_ms(5), interval: Span::from_ms(15) };
    plan.limit(db, one_worker(Order::Fifo, DropRule::Codel(codel)));
    for name in ["a", "b", "c", "d", "e", "f", "g"] {
        plan.client(name, 0, Link::to(db));
    }
    let (story, outcome) = tell(&plan.0);
    let turns = story.iter().filter(|line| line.ends_with("begins") || line.ends_with("is dropped"));
    assert_eq!(
        turns.collect::<Vec<_>>(),
        [
            "0 ms: a->db #1 begins",
            "10 ms: b->db #1 begins",
            "20 ms: c->db #1 begins",
            "30 ms: d->db #1 begins",
            "40 ms: e->db #1 is dropped",
            "40 ms: f->db #1 is dropped",
            "40 ms: g->db #1 is dropped",
        ]
    );
    assert_eq!(outcome.all_requests.failed_by[ErrorKind::Overloaded as usize], 3);
}
