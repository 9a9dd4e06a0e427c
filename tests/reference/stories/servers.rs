//! What a service lets in, to which of its servers, and how long that keeps a worker.

use stormsim::dist::{Purpose, below, draw};
use stormsim::failure::{ErrorKind, Refusal};
use stormsim::plan::{Balance, Capacity, Contention, Effect, Queue};
use stormsim::policy::Limiter;
use stormsim::sim::Note;
use stormsim::time::Span;

use crate::hand_made::{HandMade, Link};
use crate::reference::interpret;
use crate::{ALWAYS, failing, ns, tell};

/// How the requests of clients that come at these instants end at a database that takes 10 ms.
fn errors(capacity: Capacity, arrivals_ms: &[u64]) -> Vec<Option<ErrorKind>> {
    let mut plan = HandMade::new();
    let db = plan.service("db", 10, &[]);
    plan.limit(db, capacity);
    for &at_ms in arrivals_ms {
        plan.client("web", at_ms, Link::to(db));
    }
    let (_, outcome) = tell(&plan.0);
    let error = |failed_by: &[u64]| ErrorKind::ALL.iter().copied().find(|&kind| failed_by[kind as usize] > 0);
    outcome.groups.iter().map(|group| error(&group.failed_by)).collect()
}

/// Two may be in flight: the third is one too many, until the first has been answered at 10 ms.
#[test]
fn only_so_many_are_in_flight() {
    let two = Capacity { max_in_flight: 2, ..Capacity::UNLIMITED };
    assert_eq!(errors(two, &[0, 1, 9, 10]), [None, None, Some(ErrorKind::Overloaded), None]);
}

/// At 0 ms one is served and one waits, which is all that the ceiling allows and all that the queue holds: the third is
/// turned away by the ceiling, which is asked first. With room below the ceiling it is the queue. The fourth finds the
/// limiter's three used up, the last is for a fault: neither gets as far as the ceiling.
#[test]
fn each_refusal_has_one_reason() {
    let refused_by = |max_in_flight| {
        let mut plan = HandMade::new();
        let db = plan.service("db", 10, &[]);
        let limiter = Limiter::FixedWindow { limit: 3, every: Span::from_ms(100) };
        let queue = Queue { limit: 1, ..Capacity::UNLIMITED.queue };
        plan.limit(db, Capacity { workers: 1, queue, limiter, max_in_flight, ..Capacity::UNLIMITED });
        plan.fault(db, 4, 5, Effect::Refuse);
        for at_ms in [0, 1, 2, 3, 4] {
            plan.client("web", at_ms, Link::to(db));
        }
        let (_, outcome) = tell(&plan.0);
        let [service] = &outcome.services[..] else { panic!("there is one service") };
        assert_eq!((service.arrivals, service.completed, service.refused()), (5, 2, 3));
        Refusal::ALL.iter().copied().filter(|&by| service.refused_by[by as usize] == 1).collect::<Vec<_>>()
    };
    assert_eq!(refused_by(2), [Refusal::Fault, Refusal::Limiter, Refusal::InFlight]);
    assert_eq!(refused_by(3), [Refusal::Fault, Refusal::Limiter, Refusal::Queue]);
}

/// The first is answered by a fault, 10 ms late: it takes no place, so that two more find one and the fourth does not.
#[test]
fn what_a_fault_answers_late_takes_no_place() {
    let mut plan = HandMade::new();
    let db = plan.service("db", 10, &[]);
    plan.limit(db, Capacity { max_in_flight: 2, ..Capacity::UNLIMITED });
    plan.fault(db, 0, 1, failing(ErrorKind::Internal, 10));
    for at_ms in [0, 1, 2, 3] {
        plan.client("web", at_ms, Link::to(db));
    }
    let (_, outcome) = tell(&plan.0);
    let failed: Vec<u64> = outcome.groups.iter().map(|group| group.failed()).collect();
    assert_eq!(failed, [1, 0, 0, 1]);
    assert_eq!(outcome.groups[3].failed_by[ErrorKind::Overloaded as usize], 1);
    // All the same it is in flight.
    assert_eq!(outcome.services[0].in_flight_max, 3);
}

/// One in each window of 10 ms, whoever comes first; and a bucket of two tokens, one of which has come back at 10 ms.
#[test]
fn only_so_many_are_let_in_over_time() {
    let limited = |limiter| Capacity { limiter, ..Capacity::UNLIMITED };
    let window = limited(Limiter::FixedWindow { limit: 1, every: Span::from_ms(10) });
    assert_eq!(errors(window, &[9, 10, 19]), [None, None, Some(ErrorKind::RateLimited)]);
    let bucket = limited(Limiter::TokenBucket { rate: 100.0, burst: 2 });
    assert_eq!(errors(bucket, &[0, 1, 2, 10]), [None, None, Some(ErrorKind::RateLimited), None]);
}

/// Above one at once each further one makes the service half as long again, for whoever begins then: `b`, at 1 ms with
/// `a` beside it, takes 15 ms, and `c`, with both beside it, 20.
#[test]
fn servers_slow_down() {
    let mut plan = HandMade::new();
    let db = plan.service("db", 10, &[]);
    plan.limit(db, Capacity { contention: Contention { knee: 1, slope: 0.5 }, ..Capacity::UNLIMITED });
    for (name, at_ms) in [("a", 0), ("b", 1), ("c", 2)] {
        plan.client(name, at_ms, Link::to(db));
    }
    let (story, outcome) = tell(&plan.0);
    let answers: Vec<_> = story.iter().filter(|line| line.ends_with("is answered")).collect();
    assert_eq!(answers, ["10 ms: a->db #1 is answered", "16 ms: b->db #1 is answered", "22 ms: c->db #1 is answered"]);
    assert_eq!((outcome.services[0].service_ns, outcome.services[0].busy_ns), (ns(45), ns(45)));
}

/// A gateway of one worker works for 5 ms and calls a database that takes 20. If it holds its worker all the while, `b`
/// begins at 25 ms; if not, at 5 ms.
#[test]
fn a_worker_is_held_during_calls_or_not() {
    for (holds_worker, b_begins, busy) in
        [(true, "25 ms: b->gateway #1 begins", 50), (false, "5 ms: b->gateway #1 begins", 10)]
    {
        let mut plan = HandMade::new();
        let db = plan.service("db", 20, &[]);
        let gateway = plan.service("gateway", 5, &[&[Link::to(db)]]);
        plan.limit(gateway, Capacity { workers: 1, holds_worker, ..Capacity::UNLIMITED });
        plan.client("a", 0, Link::to(gateway));
        plan.client("b", 0, Link::to(gateway));
        let (story, outcome) = tell(&plan.0);
        assert!(story.iter().any(|line| line == b_begins), "{story:#?}");
        // Service is what it is; the worker is busy for as long as it is held.
        assert_eq!((outcome.services[1].service_ns, outcome.services[1].busy_ns), (ns(10), ns(busy)));
    }
}

/// To which of two servers arrivals at 0, 11 and 12 ms go, and with which keys. Each works for 10 ms.
fn placed(balance: Balance) -> Vec<(u64, u32)> {
    let mut plan = HandMade::new();
    let db = plan.service("db", 10, &[]);
    plan.limit(db, Capacity { instances: 2, balance, ..Capacity::UNLIMITED });
    for (name, at_ms) in [("a", 0), ("b", 11), ("c", 12)] {
        plan.client(name, at_ms, Link::to(db));
    }
    placements(&plan)
}

fn placements(plan: &HandMade) -> Vec<(u64, u32)> {
    let (notes, _) = interpret(&plan.0, 42, 0);
    let placed = notes.into_iter().filter_map(|(_, note)| match note {
        Note::Placed { key, server } => Some((key, server)),
        _ => None,
    });
    placed.collect()
}

fn servers(placed: &[(u64, u32)]) -> Vec<u32> {
    placed.iter().map(|&(_, server)| server).collect()
}

/// In turn 0, 1, 0. By load the second goes to 0 again, as that is idle at 11 ms, and only the third to 1.
#[test]
fn the_balancer_follows_turns_or_loads() {
    assert_eq!(servers(&placed(Balance::RoundRobin)), [0, 1, 0]);
    assert_eq!(servers(&placed(Balance::LeastLoaded)), [0, 0, 1]);
    assert_eq!(servers(&placed(Balance::Primary)), [0, 0, 0]);
}

/// At random by the draw of each attempt. Of two choices the first is that too, and of two servers the other is the
/// second: the first two find both servers idle and keep their first choice; the third avoids where the second is.
#[test]
fn the_balancer_draws() {
    let luck = |key| below(draw(key, Purpose::Server), 2) as u32;
    let placed_at_random = placed(Balance::Random);
    assert_eq!(servers(&placed_at_random), placed_at_random.iter().map(|&(key, _)| luck(key)).collect::<Vec<_>>());
    let two_choices = placed(Balance::TwoChoices);
    let [(a, _), (b, _), _] = two_choices[..] else { panic!("three are placed: {two_choices:?}") };
    assert_eq!(servers(&two_choices), [luck(a), luck(b), 1 - luck(b)]);
}

/// Three copies and two servers: 0, 1, 0. All fail, and the fallback of each goes where it went.
#[test]
fn a_copy_has_its_server() {
    let mut plan = HandMade::new();
    let shard = plan.service("shard", 10, &[]);
    let search = plan.service("search", 0, &[&[Link::to(shard).copies(3, 1).if_failed(Link::to(shard))]]);
    plan.limit(shard, Capacity { instances: 2, balance: Balance::ByCopy, ..Capacity::UNLIMITED });
    plan.client("web", 0, Link::to(search));
    plan.fault(shard, 0, ALWAYS, failing(ErrorKind::Unavailable, 1));
    assert_eq!(servers(&placements(&plan)), [0, 1, 0, 0, 1, 0]);
}

/// Three attempts at two servers. In turn, and a retry that avoids the last one goes to the other anyway; the primary
/// is left only by retries that avoid it, and what counts is the last attempt, not all of them.
#[test]
fn a_retry_may_avoid_the_previous_server() {
    let three = |balance, link: fn(Link) -> Link| {
        let mut plan = HandMade::new();
        let db = plan.service("db", 10, &[]);
        plan.limit(db, Capacity { instances: 2, balance, ..Capacity::UNLIMITED });
        plan.client("web", 0, link(Link::to(db).attempts(3, 0)));
        plan.fault(db, 0, ALWAYS, failing(ErrorKind::Unavailable, 1));
        servers(&placements(&plan))
    };
    assert_eq!(three(Balance::Primary, |link| link), [0, 0, 0]);
    assert_eq!(three(Balance::Primary, Link::avoid_previous), [0, 1, 0]);
    assert_eq!(three(Balance::RoundRobin, Link::avoid_previous), [0, 1, 0]);
    // What was given up at 3 ms and arrives at 5 ms is not remembered: the retry, sent at 3 ms, knows of none.
    assert_eq!(three(Balance::Primary, |link| link.avoid_previous().network_ms(5).timeout_ms(3)), [0, 0, 0]);
}
