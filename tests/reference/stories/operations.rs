//! What is done once, twice or nobody knows how often.

use stormsim::failure::ErrorKind;
use stormsim::metrics::Outcome;
use stormsim::plan::{Arrivals, Capacity, Direction, Effect, Failure, InProgressRule, Keys, Store, Target};
use stormsim::time::{Instant, Span};

use crate::hand_made::{HandMade, Link};
use crate::{ALWAYS, at, failing, failure, tell};

/// A store that remembers results for this long.
fn store(in_progress: InProgressRule, ttl_ms: u64) -> Option<Store> {
    Some(Store { ttl: Span::from_ms(ttl_ms), in_progress })
}

/// A store for which those wait who come while another does the same, and which forgets nothing.
fn endless() -> Option<Store> {
    store(InProgressRule::Wait, ALWAYS)
}

/// Executions, duplicates and attempts that were recognised.
fn effects(outcome: &Outcome, service: usize) -> (u64, u64, u64) {
    let tally = &outcome.services[service];
    (tally.executions, tally.duplicate_effects, tally.recognised)
}

/// A database takes 80 ms to write, and a client has 50 ms, twice.
fn impatient_payment(keys: Keys, store: Option<Store>) -> (Vec<String>, Outcome) {
    let mut plan = HandMade::new();
    let db = plan.service("db", 80, &[]);
    plan.writes(db, store);
    let web = plan.client("web", 0, Link::to(db).timeout_ms(50).attempts(2, 0));
    plan.operations(web, keys, true);
    tell(&plan.0)
}

/// The second attempt waits for what the first one does, and has it in time; the first one's answer comes too late.
#[test]
fn a_duplicate_waits_for_its_original() {
    let (story, outcome) = impatient_payment(Keys::PerOperation, endless());
    assert_eq!(
        story[5..],
        [
            "50 ms: web->db #2 is sent",
            "50 ms: web->db #2 arrives at db",
            "50 ms: web->db #2 is recognised",
            "80 ms: web->db #1 is answered",
            "80 ms: web->db #2 is answered",
            "80 ms: web->db #1 has its answer, too late",
            "80 ms: web->db #2 has its answer",
            "80 ms: web->db succeeds with web->db #2",
        ]
    );
    assert_eq!(effects(&outcome, 0), (1, 0, 1));
    assert_eq!((outcome.services[0].completed, outcome.services[0].begun), (2, 0), "without limits nobody is taken up");
}

/// It is refused instead. The client has asked as often as it may, and does not know of the first attempt: the request
/// is unknown, no failure, and put aside.
#[test]
fn a_duplicate_is_refused_and_the_request_is_unknown() {
    let (story, outcome) = impatient_payment(Keys::PerOperation, store(InProgressRule::Refuse, ALWAYS));
    assert_eq!(
        story[8..],
        [
            "50 ms: web->db #2 is answered: refused",
            "50 ms: web->db #2 has its answer",
            "50 ms: web->db fails with web->db #2: refused, exhausted",
            "80 ms: web->db #1 is answered",
            "80 ms: web->db #1 has its answer, too late",
        ]
    );
    assert_eq!(effects(&outcome, 0), (1, 0, 1));
    let requests = &outcome.all_requests;
    assert_eq!((requests.failed(), requests.unknown, requests.dead_letters, requests.open()), (0, 1, 1, 0));
}

/// Without a key, or with another one for each attempt, nothing is recognised: it is written twice, for a client that
/// knows of neither.
#[test]
fn nothing_is_recognised_without_a_key() {
    for (keys, store) in [(Keys::None, endless()), (Keys::PerAttempt, endless()), (Keys::PerOperation, None)] {
        let (_, outcome) = impatient_payment(keys, store);
        assert_eq!(effects(&outcome, 0), (2, 1, 0), "{keys:?}");
        assert_eq!((outcome.all_requests.unknown, outcome.all_requests.dead_letters), (1, 1));
    }
}

/// A client has two requests, with the same key. The result of 10 ms is kept for 20 ms: it makes the second request
/// invalid, until it has been there for that long.
#[test]
fn a_key_that_is_used_again_is_that_of_another_operation() {
    for (second_ms, executions, recognised) in [(9, 1, 1), (29, 1, 1), (30, 2, 0)] {
        let mut plan = HandMade::new();
        let db = plan.service("db", 10, &[]);
        plan.writes(db, store(InProgressRule::Wait, 20));
        let trace = Arrivals::Trace(vec![Instant::ZERO, at(second_ms)]);
        let web = plan.group("web", 1, Instant::ZERO..Instant::LIMIT, trace, &[(u64::MAX, Link::to(db))]);
        plan.operations(web, Keys::Reused, false);
        let (_, outcome) = tell(&plan.0);
        assert_eq!(effects(&outcome, 0), (executions, 0, recognised), "{second_ms} ms");
        let requests = &outcome.all_requests;
        assert_eq!(requests.failed_by[ErrorKind::Invalid as usize], recognised, "that is no secret, and no unknown");
        assert_eq!(requests.failed() + requests.succeeded, 2);
    }
}

/// The answers of the first 15 ms are lost; the second attempt comes at 29 or at 30 ms. A result of 10 ms that is kept
/// for 20 is there until 30 ms.
#[test]
fn a_result_is_kept_for_its_time() {
    for (wait_ms, expected) in [(9, (1, 0, 1)), (10, (2, 1, 0))] {
        let mut plan = HandMade::new();
        let db = plan.service("db", 10, &[]);
        plan.writes(db, store(InProgressRule::Wait, 20));
        let web = plan.client("web", 0, Link::to(db).timeout_ms(20).attempts(2, wait_ms));
        plan.operations(web, Keys::PerOperation, false);
        let lost = Effect::Loss { probability: u64::MAX, direction: Direction::Response };
        let call = plan.0.groups[web.index()].choices[0].1;
        plan.fault_on(&[Target::Call(call)], 0, 15, lost);
        let (_, outcome) = tell(&plan.0);
        assert_eq!(effects(&outcome, 0), expected, "{wait_ms} ms");
        assert_eq!(outcome.all_requests.succeeded, 1, "one answer is enough to know");
    }
}

/// What is written may fail. The error is remembered like a success: the second attempt gets it at once, and without
/// having done anything.
#[test]
fn an_error_is_remembered() {
    let mut plan = HandMade::new();
    let db = plan.service("db", 10, &[]);
    plan.writes(db, endless());
    let web = plan.client("web", 0, Link::to(db).attempts(2, 10));
    plan.operations(web, Keys::PerOperation, false);
    let fails = Failure { works: true, ..failure(ErrorKind::Unavailable, 0) };
    plan.fault(db, 0, 15, Effect::Fail(fails));
    let (story, outcome) = tell(&plan.0);
    assert_eq!(story.last().map(String::as_str), Some("20 ms: web->db fails with web->db #2: unavailable, exhausted"));
    assert_eq!(effects(&outcome, 0), (1, 0, 1));
    assert_eq!((outcome.services[0].faulted, outcome.services[0].completed), (1, 2), "nothing struck the second one");
    assert_eq!((outcome.all_requests.failed(), outcome.all_requests.unknown), (1, 0), "all was answered");
}

/// A server crashes at 60 ms. The second attempt, which waited on the other one, does it from then on, within its time.
#[test]
fn what_waited_does_it_after_a_crash() {
    let mut plan = HandMade::new();
    let db = plan.service("db", 80, &[]);
    plan.limit(db, Capacity { instances: 2, ..Capacity::UNLIMITED });
    plan.writes(db, endless());
    let web = plan.client("web", 0, Link::to(db).timeout_ms(50).attempts(3, 0));
    plan.operations(web, Keys::PerOperation, false);
    plan.fault_on(&[Target::Service(db)], 60, 61, Effect::Crash).first_instances = 1;
    let (story, outcome) = tell(&plan.0);
    let from_60: Vec<_> = story.into_iter().skip_while(|line| !line.starts_with("60 ms")).collect();
    assert_eq!(
        from_60[..3],
        [
            "60 ms: web->db #2 begins",
            "60 ms: web->db #1 is answered: reset",
            "60 ms: web->db #1 has its answer, too late",
        ]
    );
    // The third one waits from 100 ms on for the second one, which is done at 140.
    assert_eq!(from_60[from_60.len() - 1], "140 ms: web->db succeeds with web->db #3");
    assert_eq!(effects(&outcome, 0), (1, 0, 2));
}

/// A gateway writes, and crashes while it waits for its database: its store forgets what it was doing, and the retry
/// writes again. That is why only work without calls of its own is done once.
#[test]
fn what_is_cut_short_after_its_effect_is_done_twice() {
    let mut plan = HandMade::new();
    let db = plan.service("db", 50, &[]);
    let gateway = plan.service("gateway", 10, &[&[Link::to(db)]]);
    plan.writes(gateway, endless());
    let web = plan.client("web", 0, Link::to(gateway).attempts(2, 10));
    plan.operations(web, Keys::PerOperation, false);
    plan.fault(gateway, 20, 21, Effect::Crash);
    let (_, outcome) = tell(&plan.0);
    assert_eq!(effects(&outcome, gateway.index()), (2, 1, 0));
}

/// Of the gateway's two calls at once one fails at 2 ms, and so does the request. The other one is answered in time,
/// but perhaps later: then nobody knew at the end of the request.
#[test]
fn a_request_is_unknown_by_what_is_known_at_its_end() {
    for (slow_ms, unknown) in [(20, 1), (1, 0)] {
        let mut plan = HandMade::new();
        let (log, bank) = (plan.service("log", 5, &[]), plan.service("bank", slow_ms, &[]));
        let gateway = plan.service("gateway", 0, &[&[Link::to(bank), Link::to(log)]]);
        plan.writes(bank, None);
        plan.fault(log, 0, ALWAYS, failing(ErrorKind::Unavailable, 2));
        plan.client("web", 0, Link::to(gateway));
        let (_, outcome) = tell(&plan.0);
        let requests = &outcome.all_requests;
        assert_eq!((requests.unknown, requests.failed()), (unknown, 1 - unknown), "{slow_ms} ms");
        assert_eq!((outcome.services[bank.index()].executions, outcome.all_calls.succeeded), (1, 1));
    }
}
