//! What retries may cost.

use stormsim::failure::{ErrorKind, StopReason};
use stormsim::plan::{BudgetUse, Capacity};
use stormsim::policy::{BudgetRule, MICRO, TokenBucket};
use stormsim::time::Instant;

use crate::hand_made::{HandMade, Link};
use crate::{ALWAYS, at, failing, tell};

/// So many tokens at first and at most, so much of one for a success.
fn tokens(max: u64, initial: f64, per_success: f64) -> BudgetRule {
    let [initial, per_success] = [initial, per_success].map(|tokens| (tokens * MICRO as f64) as u64);
    let (max, cost) = (max * MICRO, MICRO);
    BudgetRule::TokenBucket(TokenBucket { max, initial, per_success, cost, cost_timeout: cost, floor: cost })
}

/// One token and a database that is down: one retry, and after the second attempt the budget refuses although the
/// policy has eight attempts left.
#[test]
fn an_empty_budget_ends_a_call() {
    let mut plan = HandMade::new();
    let db = plan.service("db", 10, &[]);
    let budget = plan.budget(tokens(1, 1.0, 0.0));
    plan.client("web", 0, Link::to(db).attempts(10, 5).budget(budget));
    plan.fault(db, 0, ALWAYS, failing(ErrorKind::Unavailable, 1));
    let (story, outcome) = tell(&plan.0);
    assert_eq!(
        story[4..],
        [
            "1 ms: web->db #1 has its answer",
            "1 ms: web->db #1 failed, wait 5 ms",
            "6 ms: web->db #2 is sent",
            "6 ms: web->db #2 arrives at db",
            "7 ms: web->db #2 is answered: unavailable",
            "7 ms: web->db #2 has its answer",
            "7 ms: web->db fails with web->db #2: unavailable, budget",
        ]
    );
    let call = &outcome.calls[0];
    assert_eq!((call.budget_refused, call.first_budget_refusal, call.tokens_left), (1, Some(at(7)), Some(0)));
    assert_eq!(outcome.all_requests.stopped_by[StopReason::Budget as usize], 1);
}

/// Half a token is not enough. A success at 10 ms adds the other half, in time for the failure at 12 ms, which takes
/// both; and of two successes at 30 ms the second adds nothing above the maximum of one.
#[test]
fn a_success_in_time_puts_something_in() {
    let mut plan = HandMade::new();
    let (up, down) = (plan.service("up", 10, &[]), plan.service("down", 10, &[]));
    let budget = plan.budget(tokens(1, 0.5, 0.5));
    plan.fault(down, 0, ALWAYS, failing(ErrorKind::Unavailable, 1));
    let failing_call = || Link::to(down).attempts(2, 1).budget(budget);
    plan.client("early", 0, failing_call());
    plan.client("good", 0, Link::to(up).budget(budget));
    plan.client("later", 11, failing_call());
    for name in ["one", "two", "three"] {
        plan.client(name, 20, Link::to(up).budget(budget));
    }
    let (story, outcome) = tell(&plan.0);
    let told = |line: &str| story.iter().any(|it| it == line);
    assert!(told("1 ms: early->down fails with early->down #1: unavailable, budget"), "{story:#?}");
    assert!(told("12 ms: later->down #1 failed, wait 1 ms"), "{story:#?}");
    // Spent at 12 ms; then three deposits of a half, of which the third finds the bucket full.
    assert_eq!(outcome.calls[0].tokens_left, Some(u128::from(MICRO)));
    assert_eq!(outcome.all_calls.tokens_left, Some(u128::from(MICRO)));
    assert_eq!((outcome.all_calls.budget_refused, outcome.all_calls.first_budget_refusal), (1, Some(at(1))));
}

/// An answer that comes too late is a success of the server's, not of the caller's: it buys nothing.
#[test]
fn a_late_success_puts_nothing_in() {
    let mut plan = HandMade::new();
    let db = plan.service("db", 10, &[]);
    let budget = plan.budget(tokens(2, 2.0, 1.0));
    plan.client("web", 0, Link::to(db).timeout_ms(5).attempts(2, 0).budget(budget));
    let (_, outcome) = tell(&plan.0);
    assert_eq!((outcome.all_calls.late_responses, outcome.all_calls.tokens_left), (2, Some(u128::from(MICRO))));
}

/// Three clients with a token each make a retry each; with one token for all of them, the first alone does.
#[test]
fn a_budget_is_shared_or_each_clients_own() {
    for (by_instance, retries) in [(true, 3), (false, 1)] {
        let mut plan = HandMade::new();
        let db = plan.service("db", 10, &[]);
        let BudgetUse { pool, .. } = plan.budget(tokens(1, 1.0, 0.0));
        plan.0.budgets[pool as usize].states = if by_instance { 3 } else { 1 };
        let link = Link::to(db).attempts(10, 5).budget(BudgetUse { pool, by_instance });
        plan.clients("web", 3, Instant::ZERO, &[(u64::MAX, link)]);
        plan.fault(db, 0, ALWAYS, failing(ErrorKind::Unavailable, 1));
        let (_, outcome) = tell(&plan.0);
        assert_eq!((outcome.all_calls.retries, outcome.all_calls.budget_refused), (retries, 3));
        assert_eq!(outcome.all_calls.tokens_left, Some(0));
    }
}

/// A front of two servers, taken in turn, and two requests that both try the database again: with a token for each
/// server both may, with one for the service only the first.
#[test]
fn a_budget_is_shared_or_each_servers_own() {
    for (by_instance, retries) in [(true, 2), (false, 1)] {
        let mut plan = HandMade::new();
        let db = plan.service("db", 10, &[]);
        let BudgetUse { pool, .. } = plan.budget(tokens(1, 1.0, 0.0));
        plan.0.budgets[pool as usize].states = if by_instance { 2 } else { 1 };
        let link = Link::to(db).attempts(10, 5).budget(BudgetUse { pool, by_instance });
        let front = plan.service("front", 0, &[&[link]]);
        plan.limit(front, Capacity { instances: 2, ..Capacity::UNLIMITED });
        plan.clients("web", 2, Instant::ZERO, &[(u64::MAX, Link::to(front))]);
        plan.fault(db, 0, ALWAYS, failing(ErrorKind::Unavailable, 1));
        let (_, outcome) = tell(&plan.0);
        assert_eq!((outcome.all_calls.retries, outcome.all_calls.budget_refused), (retries, 2));
        assert_eq!(outcome.all_calls.tokens_left, Some(0));
    }
}
