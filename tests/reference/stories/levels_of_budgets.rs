//! What retry budgets hold over time.

use stormsim::failure::ErrorKind;
use stormsim::metrics::{Outcome, TokenLevel};
use stormsim::policy::{AwsQuota, BudgetRule, Concurrency, MICRO, RatioOfRequests, TokenBucket};

use crate::hand_made::{HandMade, Link};
use crate::{ALWAYS, at, failing, tell};

/// Tokens that retries take one by one, and successes put in one by one.
fn tokens(max: u64, initial: u64) -> BudgetRule {
    let [max, initial] = [max, initial].map(|tokens| tokens * MICRO);
    let one = MICRO;
    BudgetRule::TokenBucket(TokenBucket { max, initial, per_success: one, cost: one, cost_timeout: one, floor: one })
}

/// So many whole retries, whatever there are of requests.
fn retries(floor: u64) -> BudgetRule {
    BudgetRule::RatioOfRequests(RatioOfRequests { ratio: 0, floor: floor * MICRO })
}

fn quota() -> BudgetRule {
    BudgetRule::AwsQuota(AwsQuota { max: 50, cost: 5, cost_timeout: 5, cost_throttled: 5, per_success: 1 })
}

/// Two tokens. Retries take them at 1 ms and at 152 ms; successes put one in at 170 ms, and one at 410 ms.
fn two_retries_and_two_successes() -> HandMade {
    let mut plan = HandMade::new();
    let (up, down) = (plan.service("up", 10, &[]), plan.service("down", 10, &[]));
    plan.fault(down, 0, ALWAYS, failing(ErrorKind::Unavailable, 1));
    let budget = plan.budget(tokens(2, 2));
    plan.client("web", 0, Link::to(down).attempts(3, 150).budget(budget));
    plan.client("good", 160, Link::to(up).budget(budget));
    plan.client("later", 400, Link::to(up).budget(budget));
    plan
}

fn micro(tokens: u64) -> u128 {
    u128::from(tokens * MICRO)
}

fn levels(levels: &[(u64, u64)]) -> Vec<TokenLevel> {
    levels.iter().map(|&(index, tokens)| TokenLevel { index, micro: micro(tokens) }).collect()
}

fn min_and_left(outcome: &Outcome) -> [Option<u64>; 2] {
    let whole = |micro: Option<u128>| micro.map(|micro| (micro / u128::from(MICRO)) as u64);
    [outcome.all_calls.tokens_min, outcome.all_calls.tokens_left].map(whole)
}

/// At the end of the first 100 ms there is one, and at that of the second again: that there was none in between, only
/// the least says. Buckets in which nothing changes are left out.
#[test]
fn the_timeline_has_ends_of_buckets_and_the_least_what_is_between() {
    let (_, outcome) = tell(&two_retries_and_two_successes().0);
    assert_eq!(outcome.timeline.tokens, [levels(&[(0, 1), (4, 2)])]);
    assert_eq!(min_and_left(&outcome), [Some(0), Some(2)]);
    assert!(outcome.calls.iter().all(|call| (call.tokens_min, call.tokens_left) == (Some(0), Some(micro(2)))));
}

/// Measured from 152 ms on, the second retry counts, and 1 ms later what it has left. From 171 ms on there is never
/// less than one. After the end nothing is measured, but the timeline has it all.
#[test]
fn a_level_that_was_low_in_the_warmup_does_not_count() {
    for (warmup_ms, expected) in
        [(152, [Some(0), Some(2)]), (153, [Some(0), Some(2)]), (171, [Some(1), Some(2)]), (500, [None; 2])]
    {
        let mut plan = two_retries_and_two_successes().0;
        plan.warmup = at(warmup_ms);
        let (_, outcome) = tell(&plan);
        assert_eq!(min_and_left(&outcome), expected, "{warmup_ms} ms");
        assert_eq!(outcome.timeline.tokens, [levels(&[(0, 1), (4, 2)])]);
    }
}

/// Each of two budgets is down by one retry at a time, the first until 170 ms and the second from 301 ms on: together
/// they never lack two.
#[test]
fn the_least_of_all_is_that_of_the_sum() {
    let mut plan = HandMade::new();
    let (up, down) = (plan.service("up", 10, &[]), plan.service("down", 10, &[]));
    plan.fault(down, 0, ALWAYS, failing(ErrorKind::Unavailable, 1));
    let [first, second] = [3, 5].map(|max| plan.budget(tokens(max, max)));
    plan.client("web", 0, Link::to(down).attempts(2, 1).budget(first));
    plan.client("good", 160, Link::to(up).budget(first));
    plan.client("later", 300, Link::to(down).attempts(2, 1).budget(second));
    let (_, outcome) = tell(&plan.0);
    let least: Vec<_> = outcome.calls.iter().map(|call| call.tokens_min).collect();
    assert_eq!(least, [2, 2, 4].map(|tokens| Some(micro(tokens))));
    assert_eq!(min_and_left(&outcome), [Some(7), Some(7)]);
}

/// A quota beside a bucket has no sum; a limit on retries at once, which has no tokens, is not in the way of one; and
/// whole retries of two rules add up.
#[test]
fn tokens_of_different_kinds_are_not_added_up() {
    let at_once = BudgetRule::Concurrency(Concurrency { share: 0, minimum: 3, counts_waiting: true });
    for (rules, expected) in [
        ([tokens(3, 2), quota()], [None, None]),
        ([tokens(3, 2), retries(4)], [None, None]),
        ([tokens(3, 2), at_once], [Some(1), Some(1)]),
        ([retries(4), retries(4)], [Some(6), Some(6)]),
        ([quota(), quota()], [Some(90), Some(90)]),
    ] {
        let mut plan = HandMade::new();
        let down = plan.service("down", 10, &[]);
        plan.fault(down, 0, ALWAYS, failing(ErrorKind::Unavailable, 1));
        for (name, rule) in ["one", "two"].into_iter().zip(rules) {
            let budget = plan.budget(rule);
            plan.client(name, 0, Link::to(down).attempts(2, 1).budget(budget));
        }
        let (_, outcome) = tell(&plan.0);
        assert_eq!(outcome.all_calls.retries, 2);
        assert_eq!(min_and_left(&outcome), expected, "{rules:?}");
    }
}
