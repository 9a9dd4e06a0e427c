//! What each rule of retry budgets does that no other does.

use stormsim::failure::{ErrorKind, StopReason};
use stormsim::metrics::Outcome;
use stormsim::plan::Arrivals;
use stormsim::policy::{
    AwsQuota, BudgetRule, Concurrency, Deposit, GrpcThrottle, MICRO, RatioOfRequests, WindowedRatio,
};
use stormsim::time::{Instant, Span};

use crate::hand_made::{HandMade, Link};
use crate::{ALWAYS, at, failing, tell};

/// Which call was tried again, or not, and why not: the sentences of a story that say so.
fn decisions(plan: &HandMade) -> (Vec<String>, Outcome) {
    let (story, outcome) = tell(&plan.0);
    let is_decision = |line: &String| line.contains(" failed, wait ") || line.contains(" fails with ");
    (story.into_iter().filter(is_decision).collect(), outcome)
}

/// Five tokens, of which more than 2.5 must be left. The first call takes one for each of its two attempts, although
/// after the second it could not be tried again in any case; so the failure of the next call leaves 2, one too few.
/// An error that the policy would not try again costs nothing.
#[test]
fn grpc_counts_the_failure_of_the_last_attempt() {
    let mut plan = HandMade::new();
    let (db, broken) = (plan.service("db", 10, &[]), plan.service("broken", 10, &[]));
    let budget = plan.budget(BudgetRule::GrpcThrottle(GrpcThrottle { max: 5_000, per_success: 100 }));
    plan.fault(db, 0, ALWAYS, failing(ErrorKind::Unavailable, 1));
    plan.fault(broken, 0, ALWAYS, failing(ErrorKind::Invalid, 1));
    plan.client("zero", 0, Link::to(broken).attempts(2, 0).budget(budget));
    plan.client("one", 100, Link::to(db).attempts(2, 0).budget(budget));
    plan.client("two", 200, Link::to(db).attempts(2, 0).budget(budget));
    let (story, outcome) = decisions(&plan);
    assert_eq!(
        story,
        [
            "1 ms: zero->broken fails with zero->broken #1: invalid, not_retryable",
            "101 ms: one->db #1 failed, wait 0 ms",
            "102 ms: one->db fails with one->db #2: unavailable, exhausted",
            "201 ms: two->db fails with two->db #1: unavailable, budget",
        ]
    );
    assert_eq!(outcome.all_calls.tokens_left, Some(2 * u128::from(MICRO)));
}

/// A success puts a tenth in, and at the maximum nothing: after two failures three successes leave 3.3, and 30
/// fill it up.
#[test]
fn grpc_takes_little_for_a_success() {
    for (successes, left) in [(3, 3_300_000), (30, 5_000_000)] {
        let mut plan = HandMade::new();
        let (up, down) = (plan.service("up", 10, &[]), plan.service("down", 10, &[]));
        let budget = plan.budget(BudgetRule::GrpcThrottle(GrpcThrottle { max: 5_000, per_success: 100 }));
        plan.fault(down, 0, ALWAYS, failing(ErrorKind::Unavailable, 1));
        plan.client("web", 0, Link::to(down).attempts(2, 0).budget(budget));
        plan.clients("good", successes, at(100), &[(u64::MAX, Link::to(up).budget(budget))]);
        let (_, outcome) = tell(&plan.0);
        assert_eq!(outcome.all_calls.tokens_left, Some(left), "{successes}");
    }
}

/// The first retry is for a timeout and takes 6 of 10, the second takes 1 and comes through: that 1 is given back, the
/// 6 are lost. The next call needs no retry and puts 2 in.
#[test]
fn aws_gives_back_what_the_last_retry_took() {
    let mut plan = HandMade::new();
    let db = plan.service("db", 10, &[]);
    let quota = AwsQuota { max: 10, cost: 1, cost_timeout: 6, cost_throttled: 3, per_success: 2 };
    let budget = plan.budget(BudgetRule::AwsQuota(quota));
    plan.fault(db, 0, 5, failing(ErrorKind::Timeout, 1));
    plan.fault(db, 5, 15, failing(ErrorKind::Unavailable, 1));
    plan.client("web", 0, Link::to(db).attempts(3, 10).budget(budget));
    let (story, outcome) = decisions(&plan);
    assert_eq!(story, ["1 ms: web->db #1 failed, wait 10 ms", "12 ms: web->db #2 failed, wait 10 ms"]);
    assert_eq!(outcome.all_calls.tokens_left, Some(u128::from(4 * MICRO)));
    plan.client("later", 100, Link::to(db).attempts(3, 10).budget(budget));
    assert_eq!(tell(&plan.0).1.all_calls.tokens_left, Some(u128::from(6 * MICRO)));
}

/// A rate limit costs 3 of 5, so that a second retry for it is refused; one for another error, at 1, is not.
#[test]
fn aws_refuses_by_the_class_of_the_error() {
    for (error, reason) in [(ErrorKind::RateLimited, StopReason::Budget), (ErrorKind::Reset, StopReason::Exhausted)] {
        let mut plan = HandMade::new();
        let db = plan.service("db", 10, &[]);
        let quota = AwsQuota { max: 5, cost: 1, cost_timeout: 1, cost_throttled: 3, per_success: 1 };
        let budget = plan.budget(BudgetRule::AwsQuota(quota));
        plan.fault(db, 0, 5, failing(ErrorKind::RateLimited, 1));
        plan.fault(db, 5, ALWAYS, failing(error, 1));
        plan.client("web", 0, Link::to(db).attempts(3, 10).budget(budget));
        let (_, outcome) = tell(&plan.0);
        assert_eq!(outcome.all_requests.stopped_by[reason as usize], 1, "{error}");
    }
}

/// As many retries as requests, and no reserve: what is paid in at the start pays for the retry of a request that
/// fails; what is paid in on success does not, where nothing succeeds.
#[test]
fn a_window_is_paid_in_at_the_start_or_on_success() {
    for (deposits, retries) in [(Deposit::AtStart, 3), (Deposit::OnSuccess, 0)] {
        let mut plan = HandMade::new();
        let db = plan.service("db", 10, &[]);
        let budget = plan.budget(BudgetRule::WindowedRatio(WindowedRatio::finagle(SECOND, 0.0, 1.0, deposits)));
        plan.fault(db, 0, ALWAYS, failing(ErrorKind::Unavailable, 1));
        plan.clients("web", 3, Instant::ZERO, &[(u64::MAX, Link::to(db).attempts(3, 0).budget(budget))]);
        let (_, outcome) = tell(&plan.0);
        assert_eq!((outcome.all_calls.retries, outcome.all_calls.budget_refused), (retries, 3), "{deposits:?}");
    }
}

const SECOND: Span = Span::from_s(1);

/// A success in the first of the slots of 100 ms pays for one retry: in Finagle's ten slots until 1 s, in tower's
/// eleven until 1.1 s. The call begins 1 ms before it asks.
#[test]
fn a_window_forgets_after_its_last_slot() {
    let finagle = WindowedRatio::finagle(SECOND, 0.0, 1.0, Deposit::OnSuccess);
    let tower = WindowedRatio::tower(SECOND, 0.0, 1.0, Deposit::OnSuccess);
    for (rule, begins_ms, retries) in [(finagle, 998, 1), (finagle, 999, 0), (tower, 1_098, 1), (tower, 1_099, 0)] {
        let mut plan = HandMade::new();
        let (up, down) = (plan.service("up", 10, &[]), plan.service("down", 10, &[]));
        let budget = plan.budget(BudgetRule::WindowedRatio(rule));
        plan.fault(down, 0, ALWAYS, failing(ErrorKind::Unavailable, 1));
        plan.client("good", 0, Link::to(up).budget(budget));
        plan.client("web", begins_ms, Link::to(down).attempts(3, 0).budget(budget));
        let (_, outcome) = tell(&plan.0);
        assert_eq!((outcome.all_calls.retries, outcome.all_calls.tokens_left), (retries, Some(0)), "{begins_ms} ms");
    }
}

/// Requests that fail at one instant ask one after another, each when it is not under way any more. If what waits
/// counts, the budget shrinks from both sides; if not, it is never used, and only the last finds nothing under way.
/// (envoyproxy/envoy-mobile#811)
#[test]
fn retries_at_once_shrink_as_all_fail() {
    let cases = [
        (true, 6, 100, 0, 3),
        (true, 10, 100, 0, 5),
        (true, 20, 100, 0, 10),
        (true, 6, 50, 0, 2),
        (true, 6, 20, 3, 3),
        (false, 6, 100, 0, 5),
        (false, 6, 50, 0, 4),
        (false, 6, 20, 3, 6),
    ];
    for (counts_waiting, requests, percent, minimum, granted) in cases {
        let mut plan = HandMade::new();
        let db = plan.service("db", 10, &[]);
        let rule = Concurrency { share: percent * MICRO / 100, minimum, counts_waiting };
        let budget = plan.budget(BudgetRule::Concurrency(rule));
        plan.fault(db, 0, 500, failing(ErrorKind::Unavailable, 1));
        plan.clients("web", requests, Instant::ZERO, &[(u64::MAX, Link::to(db).attempts(2, 1_000).budget(budget))]);
        let (_, outcome) = tell(&plan.0);
        let refused = u64::from(requests) - granted;
        assert_eq!((outcome.all_calls.retries, outcome.all_calls.budget_refused), (granted, refused), "{rule:?}");
        assert_eq!(outcome.all_calls.tokens_left, None);
    }
}

/// One slot for three requests: the first fails at 1 ms while the others wait for it, and they are under way. When the
/// second fails only the third is, for as many retries as wait; the third leaves nobody.
#[test]
fn what_waits_for_a_slot_is_under_way() {
    for (counts_waiting, granted) in [(true, 1), (false, 2)] {
        let mut plan = HandMade::new();
        let db = plan.service("db", 10, &[]);
        let budget = plan.budget(BudgetRule::Concurrency(Concurrency { share: MICRO, minimum: 0, counts_waiting }));
        plan.fault(db, 0, 500, failing(ErrorKind::Unavailable, 1));
        let link = Link::to(db).attempts(2, 1_000).budget(budget).pool(1, 100);
        let arrivals = Arrivals::Trace(vec![Instant::ZERO; 3]);
        plan.group("web", 1, Instant::ZERO..Instant::LIMIT, arrivals, &[(u64::MAX, link)]);
        let (_, outcome) = tell(&plan.0);
        let counts = (outcome.all_calls.retries, outcome.all_calls.budget_refused);
        assert_eq!(counts, (granted, 3 - granted), "{counts_waiting}");
    }
}

/// A tenth of 25 requests, one after another: without a floor the tenth and the twentieth are tried again, with a
/// floor of two the first two as well. What is left is half a retry.
#[test]
fn a_share_of_all_requests() {
    for (floor, tried_again) in [(0, vec![9, 19]), (2, vec![0, 1, 9, 19])] {
        let mut plan = HandMade::new();
        let db = plan.service("db", 10, &[]);
        let rule = RatioOfRequests { ratio: MICRO / 10, floor: floor * MICRO };
        let budget = plan.budget(BudgetRule::RatioOfRequests(rule));
        plan.fault(db, 0, ALWAYS, failing(ErrorKind::Unavailable, 1));
        for request in 0..25 {
            plan.client(&format!("client{request}"), 10 * request, Link::to(db).attempts(2, 0).budget(budget));
        }
        let (story, outcome) = decisions(&plan);
        let waits = story.iter().filter(|line| line.contains("wait"));
        let expected = tried_again.iter().map(|n| format!("{} ms: client{n}->db #1 failed, wait 0 ms", 10 * n + 1));
        assert!(waits.eq(&expected.collect::<Vec<_>>()), "{story:#?}");
        assert_eq!(outcome.all_calls.tokens_left, Some(u128::from(MICRO / 2)));
    }
}
