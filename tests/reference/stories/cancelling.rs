//! Services that hear of callers who give up.

use stormsim::dist::Dist;
use stormsim::failure::ErrorKind;
use stormsim::plan::{Cancel, Capacity, Effect, Queue};

use crate::hand_made::{HandMade, Link};
use crate::{ALWAYS, at, failing, ns, tell};

fn cancelling(cancel: Cancel) -> Capacity {
    Capacity { cancel, ..Capacity::UNLIMITED }
}

/// One worker, 10 ms each: `a` gives up after 8 ms in service, `b` after 5 ms in the queue. When the service hears of
/// nothing, it works for both, for nobody; when it looks at its queue, for `a`; else until 8 ms.
#[test]
fn what_waits_or_whatever_runs_is_cancelled() {
    for (cancel, end, cancelled, service_ms) in
        [(Cancel::Ignore, 20, 0, 20), (Cancel::Queued, 10, 1, 10), (Cancel::Running, 8, 2, 8)]
    {
        let mut plan = HandMade::new();
        let db = plan.service("db", 10, &[]);
        plan.limit(db, Capacity { workers: 1, ..cancelling(cancel) });
        plan.client("a", 0, Link::to(db).timeout_ms(8));
        plan.client("b", 0, Link::to(db).timeout_ms(5));
        let (_, outcome) = tell(&plan.0);
        let service = &outcome.services[0];
        assert_eq!((outcome.end, service.cancelled, service.dropped), (at(end), cancelled, cancelled), "{cancel:?}");
        assert_eq!((service.service_ns, service.wasted_ns), (ns(service_ms), ns(service_ms)));
        assert_eq!((service.busy_ns, service.completed), (ns(service_ms), 2 - cancelled));
    }
}

/// The worker of what is cancelled goes on to whoever waits, at once.
#[test]
fn a_cancelled_worker_is_free() {
    let mut plan = HandMade::new();
    let db = plan.service("db", 10, &[]);
    plan.limit(db, Capacity { workers: 1, ..cancelling(Cancel::Running) });
    plan.client("a", 0, Link::to(db).timeout_ms(4));
    plan.client("b", 0, Link::to(db));
    let (story, outcome) = tell(&plan.0);
    assert_eq!(
        story[7..],
        [
            "4 ms: a->db #1 is given up: timeout",
            "4 ms: a->db #1 is cancelled",
            "4 ms: a->db fails with a->db #1: timeout, exhausted",
            "4 ms: b->db #1 begins",
            "14 ms: b->db #1 is answered",
            "14 ms: b->db #1 has its answer",
            "14 ms: b->db succeeds with b->db #1",
        ]
    );
    // Arrival and Arrive twice; Timer; Served and Answer of `b`. The Served of `a` does not come.
    assert_eq!((outcome.events, outcome.services[0].queue_wait_ns), (7, ns(4)));
}

/// Three requests at once give up after 4 ms: the worker that the first had is not taken up by the second, which gives
/// up at the same instant, but by `d`, who came later. (What `a` tries again, at once or soon, waits behind `d` and
/// gives up before that is done.)
#[test]
fn nobody_begins_who_gives_up_at_that_instant() {
    for wait_ms in [0, 1] {
        let mut plan = HandMade::new();
        let db = plan.service("db", 10, &[]);
        plan.limit(db, Capacity { workers: 1, ..cancelling(Cancel::Running) });
        plan.client("a", 0, Link::to(db).timeout_ms(4).attempts(2, wait_ms));
        plan.client("b", 0, Link::to(db).timeout_ms(4));
        plan.client("c", 0, Link::to(db).timeout_ms(4));
        plan.client("d", 1, Link::to(db));
        let (story, outcome) = tell(&plan.0);
        let began = story.iter().filter(|line| line.ends_with(" begins"));
        assert_eq!(began.collect::<Vec<_>>(), ["0 ms: a->db #1 begins", "4 ms: d->db #1 begins"], "{wait_ms}");
        // The second attempt of `a` gives up in the queue.
        assert_eq!((outcome.services[0].cancelled, outcome.services[0].completed), (4, 1));
    }
}

/// A place in the queue for one. `a` gives up at 4 ms and tries again at once, before her worker has gone on to `b`: she
/// finds the place that `b` is about to leave.
#[test]
fn a_worker_about_to_go_on_makes_room_in_the_queue() {
    let mut plan = HandMade::new();
    let db = plan.service("db", 3, &[]);
    let queue = Queue { limit: 1, ..Capacity::UNLIMITED.queue };
    plan.limit(db, Capacity { workers: 1, queue, ..cancelling(Cancel::Running) });
    plan.fault(db, 0, 1, Effect::Slow { factor: 10.0, add: Dist::ZERO });
    plan.client("a", 0, Link::to(db).timeout_ms(4).attempts(2, 0));
    plan.client("b", 1, Link::to(db));
    let (story, outcome) = tell(&plan.0);
    let begun = story.iter().filter(|line| line.ends_with(" begins"));
    assert_eq!(begun.collect::<Vec<_>>(), ["0 ms: a->db #1 begins", "4 ms: b->db #1 begins", "7 ms: a->db #2 begins"]);
    assert_eq!((outcome.services[0].refused(), outcome.services[0].queue_max), (0, 2));
}

/// Given up at 2 ms on a way of 3 ms: a service that hears of it does not look at what arrives then.
#[test]
fn what_was_given_up_on_its_way_is_not_begun() {
    for (cancel, end) in [(Cancel::Ignore, 16), (Cancel::Queued, 3), (Cancel::Running, 3)] {
        let mut plan = HandMade::new();
        let db = plan.service("db", 10, &[]);
        plan.limit(db, cancelling(cancel));
        plan.client("web", 0, Link::to(db).network_ms(3).timeout_ms(2));
        let (_, outcome) = tell(&plan.0);
        let service = &outcome.services[0];
        let cancelled = u64::from(cancel != Cancel::Ignore);
        assert_eq!((outcome.end, service.arrivals, service.cancelled), (at(end), 1, cancelled), "{cancel:?}");
        assert_eq!((service.in_progress, service.in_flight_max), (0, 1 - cancelled));
    }
}

/// The client gives up at 5 ms, and three layers end at that instant, from the top down.
#[test]
fn a_whole_tree_is_cancelled() {
    let mut plan = HandMade::new();
    let db = plan.service("db", 100, &[]);
    let orders = plan.service("orders", 1, &[&[Link::to(db)]]);
    let gateway = plan.service("gateway", 1, &[&[Link::to(orders)]]);
    for service in [db, orders, gateway] {
        plan.limit(service, cancelling(Cancel::Running));
    }
    plan.client("web", 0, Link::to(gateway).timeout_ms(5));
    let (story, outcome) = tell(&plan.0);
    let from = story.iter().position(|line| line.starts_with("5 ms")).expect("it gives up");
    assert_eq!(
        story[from..],
        [
            "5 ms: web->gateway #1 is given up: timeout",
            "5 ms: web->gateway #1 is cancelled",
            "5 ms: gateway->orders is abandoned with gateway->orders #1",
            "5 ms: gateway->orders #1 is cancelled",
            "5 ms: orders->db is abandoned with orders->db #1",
            "5 ms: orders->db #1 is cancelled",
            "5 ms: web->gateway fails with web->gateway #1: timeout, exhausted",
        ]
    );
    assert_eq!((outcome.end, outcome.all_calls.timeouts, outcome.all_calls.abandoned), (at(5), 1, 2));
    // 3 ms at the database were for nothing; what the others worked off was awaited when it was over.
    let wasted: Vec<_> = outcome.services.iter().map(|service| (service.service_ns, service.wasted_ns)).collect();
    assert_eq!(wasted, [(ns(3), ns(3)), (ns(1), 0), (ns(1), 0)]);
}

/// One of two copies is enough. They share a worker, so that the second begins when the first is answered, and is
/// abandoned by its caller at once. The shard does not hear of it and works on, for nobody.
#[test]
fn copies_that_are_not_needed_are_abandoned() {
    let mut plan = HandMade::new();
    let shard = plan.service("shard", 10, &[]);
    let search = plan.service("search", 0, &[&[Link::to(shard).copies(2, 1)]]);
    plan.limit(shard, Capacity { workers: 1, ..Capacity::UNLIMITED });
    plan.limit(search, cancelling(Cancel::Running));
    plan.client("web", 0, Link::to(search));
    let (story, outcome) = tell(&plan.0);
    let from = story.iter().position(|line| line.starts_with("10 ms")).expect("the first is answered");
    assert_eq!(
        story[from..],
        [
            "10 ms: search->shard copy 0 #1 is answered",
            "10 ms: search->shard copy 1 #1 begins",
            "10 ms: search->shard copy 0 #1 has its answer",
            "10 ms: search->shard succeeds with search->shard copy 0 #1",
            "10 ms: search->shard is abandoned with search->shard copy 1 #1",
            "10 ms: web->search #1 is answered",
            "10 ms: web->search #1 has its answer",
            "10 ms: web->search succeeds with web->search #1",
            "20 ms: search->shard copy 1 #1 is answered",
            "20 ms: search->shard copy 1 #1 has its answer, too late",
        ]
    );
    let shards = &outcome.services[0];
    assert_eq!((shards.completed, shards.service_ns, shards.wasted_ns), (2, ns(20), ns(10)));
    assert_eq!((outcome.all_calls.abandoned, outcome.all_calls.late_responses), (1, 1));
}

/// `b` fails for good at 2 ms, and with it its caller, which ends the wait of `c` for its next attempt. (What does not
/// hear of it would try again at 6 ms, see `an_orphan_goes_on_retries_and_fallback_included`.)
#[test]
fn an_orphan_is_abandoned_between_its_attempts() {
    let mut plan = HandMade::new();
    let (b, c) = (plan.service("b", 9, &[]), plan.service("c", 9, &[]));
    let a = plan.service("a", 0, &[&[Link::to(b), Link::to(c).attempts(2, 5)]]);
    plan.limit(a, cancelling(Cancel::Running));
    plan.client("web", 0, Link::to(a));
    plan.fault(b, 0, ALWAYS, failing(ErrorKind::Internal, 2));
    plan.fault(c, 0, ALWAYS, failing(ErrorKind::Unavailable, 1));
    let (story, outcome) = tell(&plan.0);
    let from = story.iter().position(|line| line.starts_with("2 ms")).expect("`b` fails");
    assert_eq!(
        story[from..],
        [
            "2 ms: a->b #1 is answered: internal",
            "2 ms: a->b #1 has its answer",
            "2 ms: a->b fails with a->b #1: internal, not_retryable",
            "2 ms: web->a #1 is answered: internal",
            "2 ms: a->c is abandoned with a->c #1",
            "2 ms: web->a #1 has its answer",
            "2 ms: web->a fails with web->a #1: internal, not_retryable",
        ]
    );
    // No attempt was under way that could have been given up.
    assert_eq!((outcome.end, outcome.all_calls.abandoned, outcome.all_calls.errors), (at(2), 0, 3));
}
