//! What faults do to servers and to the work there, and what clients make of it.

use std::ops::Range;

use stormsim::dist::Dist;
use stormsim::failure::Refusal;
use stormsim::metrics::{End, Outcome};
use stormsim::plan::{Arrivals, CallId, Capacity, Direction, Effect, GroupId, Target};
use stormsim::policy::{Beyond, DelayRule, Limiter, ServerDelay};
use stormsim::sim::Note;
use stormsim::time::{Instant, Span};

use crate::hand_made::{HandMade, Link};
use crate::reference::interpret;
use crate::{ALWAYS, at, ns, tell};

/// When requests that come at these instants are answered by a database that takes `service_ms`, with these faults.
fn answers(service_ms: u64, workers: u32, faults: &[(Effect, u64, u64)], arrivals_ms: &[u64]) -> (Vec<f64>, Outcome) {
    let mut plan = HandMade::new();
    let db = plan.service("db", service_ms, &[]);
    plan.limit(db, Capacity { workers, ..Capacity::UNLIMITED });
    for (number, &at_ms) in arrivals_ms.iter().enumerate() {
        plan.client(&number.to_string(), at_ms, Link::to(db));
    }
    for (effect, from_ms, until_ms) in faults {
        plan.fault(db, *from_ms, *until_ms, effect.clone());
    }
    let (_, outcome) = tell(&plan.0);
    let ends = outcome.groups.iter().map(|group| group.last_end.expect("it is answered"));
    (ends.map(|end| end.since(Instant::ZERO).as_ms()).collect(), outcome)
}

/// Work of 10 ms that a pause from 4 to 20 ms interrupts begins anew, and what comes meanwhile begins then. What is
/// done by 4 ms, or comes at 20, is as ever. To stand still is no service, and nor is what was done in vain.
#[test]
fn a_pause_costs_what_was_begun() {
    let pause = [(Effect::Pause, 4, 20)];
    let (ends_ms, outcome) = answers(10, Capacity::NO_LIMIT, &pause, &[0, 3, 12, 20]);
    assert_eq!(ends_ms, [30.0, 30.0, 30.0, 30.0]);
    assert_eq!(outcome.services[0].service_ns, ns(40));
    assert_eq!(answers(3, Capacity::NO_LIMIT, &pause, &[0, 1, 2]).0, [3.0, 23.0, 23.0]);
    assert_eq!(answers(0, Capacity::NO_LIMIT, &pause, &[3, 4, 19, 20]).0, [3.0, 20.0, 20.0, 20.0]);
}

/// Of two pauses the last counts. The second one may begin when the work would be done after the first: it is in
/// time, since faults go first.
#[test]
fn pauses_may_follow_each_other() {
    let pauses = |second: Range<u64>| [(Effect::Pause, 4, 6), (Effect::Pause, second.start, second.end)];
    assert_eq!(answers(10, 1, &pauses(8..10), &[0]).0, [20.0]);
    assert_eq!(answers(10, 1, &pauses(16..17), &[0]).0, [27.0]);
    assert_eq!(answers(10, 1, &pauses(17..18), &[0]).0, [16.0]);
}

/// One worker: at 5 ms `a` is in service and `b` waits. Both are reset, `c` is refused until 20 ms, `d` is served.
#[test]
fn a_crash_resets_what_is_there_and_refuses_what_comes() {
    let mut plan = HandMade::new();
    let db = plan.service("db", 10, &[]);
    plan.limit(db, Capacity { workers: 1, ..Capacity::UNLIMITED });
    for (name, at_ms) in [("a", 0), ("b", 0), ("c", 19), ("d", 20)] {
        plan.client(name, at_ms, Link::to(db));
    }
    plan.fault(db, 5, 20, Effect::Crash);
    let (story, outcome) = tell(&plan.0);
    let answers: Vec<_> = story.iter().filter(|line| line.contains("is answered")).collect();
    assert_eq!(
        answers,
        [
            "5 ms: a->db #1 is answered: reset",
            "5 ms: b->db #1 is answered: reset",
            "19 ms: c->db #1 is answered: refused",
            "30 ms: d->db #1 is answered",
        ]
    );
    let service = &outcome.services[0];
    assert_eq!((service.completed, service.succeeded, service.refused(), service.dropped), (3, 1, 1, 0));
    assert_eq!(
        (service.faulted, service.refused_by[Refusal::Fault as usize]),
        (2, 1),
        "those that were reset, and `c`"
    );
    assert_eq!((service.service_ns, service.busy_ns, service.queued), (ns(5 + 10), ns(5 + 10), 1));
}

/// The gateway crashes while it waits for its database, which goes on for nobody. No fallback is made, although the
/// gateway would not have heard of a caller giving up.
#[test]
fn a_crash_abandons_calls() {
    let mut plan = HandMade::new();
    let (db, cache) = (plan.service("db", 10, &[]), plan.service("cache", 1, &[]));
    let gateway = plan.service("gateway", 1, &[&[Link::to(db).attempts(3, 0).if_failed(Link::to(cache))]]);
    plan.client("web", 0, Link::to(gateway));
    plan.fault(gateway, 5, 6, Effect::Crash);
    let (story, outcome) = tell(&plan.0);
    assert_eq!(
        story[5..],
        [
            "5 ms: web->gateway #1 is answered: reset",
            "5 ms: gateway->db is abandoned with gateway->db #1",
            "5 ms: web->gateway #1 has its answer",
            "5 ms: web->gateway fails with web->gateway #1: reset, exhausted",
            "11 ms: gateway->db #1 is answered",
            "11 ms: gateway->db #1 has its answer, too late",
        ]
    );
    assert_eq!((outcome.services[0].service_ns, outcome.services[0].wasted_ns), (ns(10), ns(10)));
}

/// At 7 ms the caller has given up, so that nobody would be told even if the answer were not lost. The crash is the last
/// that happens: the run ends with it, not with the timeout before.
#[test]
fn a_run_may_end_with_a_crash() {
    let mut plan = HandMade::new();
    let db = plan.service("db", 10, &[]);
    plan.client("web", 0, Link::to(db).timeout_ms(5));
    plan.fault(db, 7, 8, Effect::Crash);
    let lost = Effect::Loss { probability: u64::MAX, direction: Direction::Response };
    plan.fault_on(&[Target::Call(CallId(0))], 0, ALWAYS, lost);
    let (story, outcome) = tell(&plan.0);
    assert_eq!(story.last().map(String::as_str), Some("7 ms: web->db #1 is answered: reset"));
    assert_eq!((outcome.end, outcome.ended, outcome.services[0].in_flight_ns), (at(7), End::Drained, ns(7)));
}

/// Two workers of 10 ms each. With half of them until 15 ms: one after the other, until the second one is back. With
/// none of them from 5 to 35 ms: those at work finish, and the others wait; the run goes on as long as they do.
#[test]
fn workers_go_and_come_back() {
    let capacity = |factor, from_ms, until_ms| [(Effect::Capacity { factor }, from_ms, until_ms)];
    assert_eq!(answers(10, 2, &capacity(0.5, 0, 15), &[0, 0, 0, 0]).0, [10.0, 20.0, 25.0, 30.0]);
    assert_eq!(answers(10, 2, &capacity(0.0, 5, 35), &[0, 0, 0, 0]).0, [10.0, 10.0, 45.0, 45.0]);
}

/// Half of a half of four workers is one, and three are free again when both faults end, one after the other.
#[test]
fn lost_capacity_multiplies() {
    let halves = [(Effect::Capacity { factor: 0.5 }, 0, 12), (Effect::Capacity { factor: 0.5 }, 0, 14)];
    let (ends_ms, outcome) = answers(10, 4, &halves, &[0; 5]);
    assert_eq!(ends_ms, [10.0, 20.0, 22.0, 24.0, 24.0]);
    assert_eq!(outcome.services[0].busy_ns, ns(50));
}

/// Twice as long and 3 ms more, for what begins from 5 ms on and before 50; the second fault adds 1 ms after that.
#[test]
fn service_that_begins_is_slow() {
    let slow = |factor, ms| Effect::Slow { factor, add: Dist::Constant(Span::from_ms(ms)) };
    let faults = [(slow(2.0, 3), 5, 50), (slow(1.0, 1), 30, ALWAYS)];
    let (ends_ms, _) = answers(10, Capacity::NO_LIMIT, &faults, &[4, 5, 30, 50]);
    assert_eq!(ends_ms, [14.0, 28.0, 54.0, 61.0]);
    assert_eq!(answers(0, Capacity::NO_LIMIT, &faults, &[4, 5, 50]).0, [4.0, 8.0, 51.0]);
}

/// When requests come of a group with one each 10 ms until 60 ms, under loads from 20 ms on.
fn requests_ms(loads: &[(f64, u64)]) -> Vec<f64> {
    let mut plan = HandMade::new();
    let db = plan.service("db", 1, &[]);
    let every_10_ms = Arrivals::Constant { rate: 100.0 };
    plan.group("web", 1, at(0)..at(61), every_10_ms, &[(u64::MAX, Link::to(db))]);
    for &(factor, until_ms) in loads {
        plan.fault_on(&[Target::Group(GroupId(0))], 20, until_ms, Effect::Load { factor });
    }
    let (notes, _) = interpret(&plan.0, 42, 0);
    let began = notes.into_iter().filter(|(_, note)| matches!(note, Note::RequestBegan { .. }));
    began.map(|(at, _)| at.since(Instant::ZERO).as_ms()).collect()
}

/// Twice as fast until 40 ms; four times where two loads meet; not at all; half as fast, for ever.
#[test]
fn load_moves_arrivals() {
    assert_eq!(requests_ms(&[]), [10.0, 20.0, 30.0, 40.0, 50.0, 60.0]);
    assert_eq!(requests_ms(&[(2.0, 40)]), [10.0, 20.0, 25.0, 30.0, 35.0, 40.0, 50.0, 60.0]);
    assert_eq!(requests_ms(&[(2.0, 40), (2.0, 25)]), [10.0, 20.0, 22.5, 25.0, 30.0, 35.0, 40.0, 50.0, 60.0]);
    assert_eq!(requests_ms(&[(0.0, 40)]), [10.0, 20.0, 50.0, 60.0]);
    assert_eq!(requests_ms(&[(0.5, ALWAYS)]), [10.0, 20.0, 40.0, 60.0]);
}

/// When a client that waits 5 ms by itself sends its second attempt at 0 ms, which a limiter turns away with a word on
/// when to come back; none if it does not.
fn second_try_ms(rule: DelayRule, at_most: Span, beyond: Beyond, retry_after: Option<Span>) -> Option<f64> {
    let mut plan = HandMade::new();
    let db = plan.service("db", 1, &[]);
    let limiter = Limiter::FixedWindow { limit: 1, every: Span::from_ms(100) };
    plan.limit(db, Capacity { limiter, retry_after, ..Capacity::UNLIMITED });
    plan.client("first", 0, Link::to(db));
    let delay = ServerDelay { rule, at_most, beyond, ..ServerDelay::IGNORE };
    plan.client("second", 0, Link::to(db).attempts(2, 5).server_delay(delay));
    let (notes, _) = interpret(&plan.0, 42, 0);
    let second = |(at, note): (Instant, Note)| {
        matches!(note, Note::Sent { attempt: 2, .. }).then(|| at.since(Instant::ZERO).as_ms())
    };
    notes.into_iter().find_map(second)
}

#[test]
fn a_server_is_heard_as_the_policy_says() {
    use DelayRule::*;
    let ms = |ms| Some(Span::from_ms(ms));
    let try_ms = |rule, retry_after| second_try_ms(rule, Span::UNLIMITED, Beyond::Clamp, retry_after);
    assert_eq!([Ignore, Floor, Replace].map(|rule| try_ms(rule, ms(30))), [Some(5.0), Some(30.0), Some(30.0)]);
    assert_eq!([Ignore, Floor, Replace].map(|rule| try_ms(rule, ms(2))), [Some(5.0), Some(5.0), Some(2.0)]);
    assert_eq!([Ignore, Floor, Replace].map(|rule| try_ms(rule, None)), [Some(5.0); 3]);
    let at_most_20 = |beyond| second_try_ms(Floor, Span::from_ms(20), beyond, ms(30));
    assert_eq!([Beyond::Clamp, Beyond::Stop, Beyond::Ignore].map(at_most_20), [Some(20.0), None, Some(5.0)]);
}
