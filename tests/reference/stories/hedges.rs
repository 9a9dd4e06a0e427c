//! Hedged attempts. In most stories a client calls a database that takes 10 ms, but 30 ms for what arrives before 2 ms,
//! and sends a hedge after 4 ms.

use stormsim::dist::Dist;
use stormsim::failure::ErrorKind;
use stormsim::metrics::{Outcome, ProtectionTally, ServiceTally};
use stormsim::plan::{
    CallId, Cancel, Capacity, DeadlineRule, Effect, Effects, GroupId, InProgressRule, Keys, ServiceId, Store, Target,
};
use stormsim::time::Span;

use crate::hand_made::{HandMade, Link};
use crate::{ALWAYS, at, failing, tell};

/// The database, which is slow at first and does with what is given up what it is told to.
fn slow_at_first(cancel: Cancel) -> (HandMade, ServiceId) {
    let mut plan = HandMade::new();
    let db = plan.service("db", 10, &[]);
    plan.limit(db, Capacity { cancel, ..Capacity::UNLIMITED });
    plan.fault(db, 0, 2, Effect::Slow { factor: 3.0, add: Dist::ZERO });
    (plan, db)
}

/// What is told after the attempt was sent at 0 ms and has arrived, without that work begins.
fn after_sending(plan: &HandMade) -> (Vec<String>, Outcome) {
    let (story, outcome) = tell(&plan.0);
    let from = story.iter().position(|line| line.contains("arrives")).expect("it arrives");
    (story[from + 1..].iter().filter(|line| !line.ends_with("begins")).cloned().collect(), outcome)
}

/// The hedge arrives when the database is quick again, and is answered at 14 ms. The first copy is outrun, and as the
/// database hears of that, cancelled.
#[test]
fn a_hedge_wins() {
    let (mut plan, db) = slow_at_first(Cancel::Running);
    plan.client("web", 0, Link::to(db).hedge(4, 1));
    let (story, outcome) = after_sending(&plan);
    assert_eq!(
        story,
        [
            "4 ms: web->db #1 hedge 1 is sent",
            "4 ms: web->db #1 hedge 1 arrives at db",
            "14 ms: web->db #1 hedge 1 is answered",
            "14 ms: web->db #1 hedge 1 has its answer",
            "14 ms: web->db #1 is outrun",
            "14 ms: web->db #1 is cancelled",
            "14 ms: web->db succeeds with web->db #1",
        ]
    );
    let call = &outcome.calls[0];
    assert_eq!(call.protection, ProtectionTally { hedges: 1, hedge_wins: 1, ..ProtectionTally::default() });
    assert_eq!((call.attempts, call.retries, call.succeeded, call.abandoned), (2, 0, 1, 1));
    let db = &outcome.services[0];
    assert_eq!((db.arrivals, db.original_arrivals, db.retry_arrivals, db.cancelled), (2, 1, 0, 1));
    assert_eq!(outcome.all_requests.succeeded_first_try, 1);
}

/// If losers are left alone, the database goes on with the first copy, and its answer comes too late.
#[test]
fn nobody_may_hear_of_losers() {
    let (mut plan, db) = slow_at_first(Cancel::Running);
    plan.client("web", 0, Link::to(db).hedge(4, 1).keep_losers());
    let (story, outcome) = after_sending(&plan);
    assert_eq!(
        story[4..],
        [
            "14 ms: web->db #1 is outrun",
            "14 ms: web->db succeeds with web->db #1",
            "30 ms: web->db #1 is answered",
            "30 ms: web->db #1 has its answer, too late",
        ]
    );
    assert_eq!((outcome.calls[0].abandoned, outcome.calls[0].late_responses), (1, 1));
}

/// Three are sent, after 4, 8 and 12 ms, before the first of them is answered. The others are given up in the order in
/// which they were sent: two are cancelled in service, and one while it waits for one of the three workers.
#[test]
fn hedges_follow_each_other() {
    let (mut plan, db) = slow_at_first(Cancel::Running);
    plan.limit(db, Capacity { cancel: Cancel::Running, workers: 3, ..Capacity::UNLIMITED });
    plan.client("web", 0, Link::to(db).hedge(4, 3));
    let (story, outcome) = after_sending(&plan);
    let sent: Vec<&String> = story.iter().filter(|line| line.ends_with("is sent")).collect();
    assert_eq!(
        sent,
        ["4 ms: web->db #1 hedge 1 is sent", "8 ms: web->db #1 hedge 2 is sent", "12 ms: web->db #1 hedge 3 is sent"]
    );
    let from = story.iter().position(|line| line.ends_with("outrun")).expect("the first hedge wins");
    assert_eq!(
        story[from..],
        [
            "14 ms: web->db #1 is outrun",
            "14 ms: web->db #1 is cancelled",
            "14 ms: web->db #1 hedge 2 is outrun",
            "14 ms: web->db #1 hedge 2 is cancelled",
            "14 ms: web->db #1 hedge 3 is outrun",
            "14 ms: web->db #1 hedge 3 is cancelled",
            "14 ms: web->db succeeds with web->db #1",
        ]
    );
    assert_eq!((outcome.services[0].queued, outcome.services[0].cancelled), (1, 3));
}

/// Two clients, and one hedge may be under way: the second client's is left out, and so its request takes 30 ms. A slot
/// of the client's pool may be lacking, too: then both hedges are left out.
#[test]
fn a_hedge_is_left_out() {
    let ends = |limited: fn(Link) -> Link| {
        let (mut plan, db) = slow_at_first(Cancel::Running);
        plan.clients("web", 2, at(0), &[(u64::MAX, limited(Link::to(db).hedge(4, 1)))]);
        let (_, outcome) = tell(&plan.0);
        let ProtectionTally { hedges, hedges_left_out, .. } = outcome.calls[0].protection;
        let latency = &outcome.all_requests.latency;
        (hedges, hedges_left_out, [latency.quantile_ms(0.5), latency.max_ms()].map(|ms| ms.map(f64::round)))
    };
    assert_eq!(ends(|link| link), (2, 0, [Some(14.0), Some(14.0)]));
    assert_eq!(ends(|link| link.hedges_in_flight(1)), (1, 1, [Some(14.0), Some(30.0)]));
    assert_eq!(ends(|link| link.pool(1, 100)), (0, 2, [Some(30.0), Some(30.0)]));
    assert_eq!(ends(|link| link.pool(2, 100)), (2, 0, [Some(14.0), Some(14.0)]));
}

/// The first copy is answered with an error at 5 ms, when the hedge is under way: the attempt goes on, and succeeds. If
/// the hedge fails, too, the attempt does, with the error of the hedge; the retry is hedged as well.
#[test]
fn an_attempt_fails_with_its_last_copy() {
    let mut plan = HandMade::new();
    let db = plan.service("db", 10, &[]);
    plan.fault(db, 0, 2, failing(ErrorKind::Unavailable, 5));
    plan.client("web", 0, Link::to(db).hedge(4, 1).attempts(2, 0));
    let (story, outcome) = after_sending(&plan);
    let after_hedge = [
        "5 ms: web->db #1 is answered: unavailable",
        "5 ms: web->db #1 has its answer",
        "14 ms: web->db #1 hedge 1 is answered",
        "14 ms: web->db #1 hedge 1 has its answer",
        "14 ms: web->db succeeds with web->db #1",
    ];
    assert_eq!(story[2..], after_hedge);
    assert_eq!((outcome.calls[0].errors, outcome.calls[0].succeeded, outcome.calls[0].retries), (1, 1, 0));

    plan.fault(db, 2, 12, failing(ErrorKind::Refused, 5));
    let (story, outcome) = after_sending(&plan);
    assert_eq!(
        story[4..],
        [
            "9 ms: web->db #1 hedge 1 is answered: refused",
            "9 ms: web->db #1 hedge 1 has its answer",
            "9 ms: web->db #1 failed, wait 0 ms",
            "9 ms: web->db #2 is sent",
            "9 ms: web->db #2 arrives at db",
            "13 ms: web->db #2 hedge 1 is sent",
            "13 ms: web->db #2 hedge 1 arrives at db",
            "14 ms: web->db #2 is answered: refused",
            "14 ms: web->db #2 has its answer",
            "23 ms: web->db #2 hedge 1 is answered",
            "23 ms: web->db #2 hedge 1 has its answer",
            "23 ms: web->db succeeds with web->db #2",
        ]
    );
    assert_eq!((outcome.calls[0].attempts, outcome.calls[0].retries, outcome.calls[0].protection.hedges), (4, 1, 2));
}

/// An attempt that fails before its hedge is due has none: an error is no slowness.
#[test]
fn what_fails_fast_is_not_hedged() {
    let mut plan = HandMade::new();
    let db = plan.service("db", 10, &[]);
    plan.fault(db, 0, ALWAYS, failing(ErrorKind::Unavailable, 3));
    plan.client("web", 0, Link::to(db).hedge(4, 1).attempts(2, 0));
    let (_, outcome) = tell(&plan.0);
    assert_eq!((outcome.calls[0].attempts, outcome.calls[0].protection.hedges, outcome.end), (2, 0, at(6)));
}

/// The first copy finds nobody. Its connection fails by itself at 6 ms: the hedge, which has found somebody, goes on.
/// Without one the attempt would have failed then.
#[test]
fn each_copy_connects_for_itself() {
    let mut plan = HandMade::new();
    let db = plan.service("db", 10, &[]);
    plan.fault_on(&[Target::Call(CallId(0))], 0, 2, Effect::BlackHole);
    plan.client("web", 0, Link::to(db).connect_timeout_ms(6).hedge(4, 1));
    let (story, outcome) = tell(&plan.0);
    assert_eq!(
        story[1..],
        [
            "0 ms: web->db #1 is sent",
            "4 ms: web->db #1 hedge 1 is sent",
            "4 ms: web->db #1 hedge 1 arrives at db",
            "6 ms: web->db #1 is given up: timeout",
            "14 ms: web->db #1 hedge 1 is answered",
            "14 ms: web->db #1 hedge 1 has its answer",
            "14 ms: web->db succeeds with web->db #1",
        ]
    );
    assert_eq!((outcome.calls[0].timeouts, outcome.calls[0].lost), (1, 1));
}

/// A black hole at the service is one for the hedge, too: both connections fail by themselves, and with the second one
/// the attempt. What fails at the very instant at which a hedge is due comes after that.
#[test]
fn an_attempt_ends_with_its_last_connection() {
    for (connect_timeout_ms, ends_ms) in [(6, 10), (4, 8), (3, 3)] {
        let mut plan = HandMade::new();
        let db = plan.service("db", 10, &[]);
        plan.fault(db, 0, ALWAYS, Effect::BlackHole);
        plan.client("web", 0, Link::to(db).connect_timeout_ms(connect_timeout_ms).hedge(4, 1));
        let (story, _) = tell(&plan.0);
        let attempt = if ends_ms > 4 { "web->db #1 hedge 1" } else { "web->db #1" };
        assert_eq!(
            story[story.len() - 2..],
            [
                format!("{ends_ms} ms: {attempt} is given up: timeout"),
                format!("{ends_ms} ms: web->db fails with web->db #1: timeout, exhausted"),
            ]
        );
    }
}

/// The timeout is that of the attempt, 12 ms after it was sent: both copies are given up, in their order. What the
/// hedge tells the database is the same instant, less the reserve.
#[test]
fn copies_are_given_up_together() {
    let (mut plan, db) = slow_at_first(Cancel::Ignore);
    let deadline = DeadlineRule::PassLess(Span::ZERO);
    plan.client("web", 0, Link::to(db).timeout_ms(12).hedge(4, 1).deadline(deadline));
    let (story, outcome) = after_sending(&plan);
    assert_eq!(
        story[2..5],
        [
            "12 ms: web->db #1 is given up: timeout",
            "12 ms: web->db #1 hedge 1 is given up: timeout",
            "12 ms: web->db fails with web->db #1: timeout, exhausted",
        ]
    );
    assert_eq!((outcome.calls[0].timeouts, outcome.calls[0].late_responses), (2, 2));
}

/// The client gives up at 8 ms, and the gateway, which hears of it, its call of the database: both copies are cancelled.
#[test]
fn copies_are_abandoned_together() {
    let (mut plan, db) = slow_at_first(Cancel::Running);
    let gateway = plan.service("gateway", 0, &[&[Link::to(db).hedge(4, 1)]]);
    plan.limit(gateway, Capacity { cancel: Cancel::Running, ..Capacity::UNLIMITED });
    plan.client("web", 0, Link::to(gateway).timeout_ms(8));
    let (story, outcome) = tell(&plan.0);
    let from = story.iter().position(|line| line.starts_with("8 ms")).expect("the client gives up");
    assert_eq!(
        story[from..],
        [
            "8 ms: web->gateway #1 is given up: timeout",
            "8 ms: web->gateway #1 is cancelled",
            "8 ms: gateway->db is abandoned with gateway->db #1",
            "8 ms: gateway->db #1 is cancelled",
            "8 ms: gateway->db #1 hedge 1 is cancelled",
            "8 ms: web->gateway fails with web->gateway #1: timeout, exhausted",
        ]
    );
    assert_eq!(
        (outcome.calls[0].abandoned, outcome.calls[0].protection.hedges, outcome.calls[0].late_responses),
        (2, 1, 0)
    );
}

/// The first copy and its hedge are one operation: if a key tells the store so, it is done once, and the hedge gets the
/// result of the first copy. By then, at 30 ms, both answers are there.
#[test]
fn a_hedge_is_the_same_operation() {
    for (keys, ends_ms, executions) in [(Keys::PerOperation, 30, 1), (Keys::PerAttempt, 14, 2)] {
        let (mut plan, db) = slow_at_first(Cancel::Ignore);
        let store = Some(Store { ttl: Span::UNLIMITED, in_progress: InProgressRule::Wait });
        plan.0.services[db.index()].effects = Effects { writes: true, store };
        let GroupId(web) = plan.client("web", 0, Link::to(db).hedge(4, 1));
        plan.0.groups[web as usize].operations.keys = keys;
        let (_, outcome) = tell(&plan.0);
        assert_eq!(outcome.all_requests.last_end, Some(at(ends_ms)));
        let ServiceTally { executions: done, duplicate_effects, recognised, .. } = outcome.services[0];
        assert_eq!((done, duplicate_effects, recognised), (executions, executions - 1, 2 - executions));
    }
}
