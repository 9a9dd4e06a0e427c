//! What a retry budget says, and who shares which.

use stormsim::policy::{
    AwsQuota, BudgetRule, Concurrency, Deposit, GrpcThrottle, RatioOfRequests, TokenBucket, WindowedRatio,
};
use stormsim::time::Span;

use crate::{SMALL, only_plan, parse, set};

/// The rule that a budget becomes.
fn rule(budget: &str) -> BudgetRule {
    let scenario = parse(SMALL, &set(&[&format!("retries.r.budget={budget}")]));
    let [pool] = only_plan(&scenario).budgets.as_slice() else { panic!("one budget") };
    pool.rule
}

#[test]
fn every_key_of_a_token_bucket_has_its_effect() {
    let least = TokenBucket {
        max: 10_000_000,
        initial: 10_000_000,
        per_success: 100_000,
        cost: 1_000_000,
        cost_timeout: 1_000_000,
        floor: 1_000_000,
    };
    let bucket = |settings: &str| rule(&format!("{{ token_bucket = {{ max = 10, per_success = 0.1{settings} }} }}"));
    assert_eq!(bucket(""), BudgetRule::TokenBucket(least));
    // The cost is also what a timeout costs and what must be there, unless these say otherwise.
    let dear = TokenBucket { cost: 5_000_000, cost_timeout: 5_000_000, floor: 5_000_000, ..least };
    assert_eq!(bucket(", cost = 5"), BudgetRule::TokenBucket(dear));
    let all = TokenBucket { initial: 0, cost: 500_000, cost_timeout: 10_000_000, floor: 2_250_000, ..least };
    assert_eq!(bucket(", initial = 0, cost = 0.5, cost_timeout = 10, floor = 2.25"), BudgetRule::TokenBucket(all));
}

/// In thousandths, and what is less than one is left out: gRPC reads three decimals.
#[test]
fn grpc_counts_in_thousandths() {
    let throttle = |max, per_success| BudgetRule::GrpcThrottle(GrpcThrottle { max, per_success });
    assert_eq!(rule("{ grpc_throttle = { max_tokens = 10, token_ratio = 0.1 } }"), throttle(10_000, 100));
    assert_eq!(rule("{ grpc_throttle = { max_tokens = 1000, token_ratio = 0.0019 } }"), throttle(1_000_000, 1));
}

/// 500 tokens, 5 for a retry and 10 after a timeout; from the autumn of 2026 on 14 for both, and 5 after throttling.
#[test]
fn a_mode_has_the_costs_of_the_sdks() {
    let quota = |settings: &str| rule(&format!("{{ aws_quota = {{ {settings} }} }}"));
    let before = AwsQuota { max: 500, cost: 5, cost_timeout: 10, cost_throttled: 5, per_success: 1 };
    assert_eq!(quota("mode = \"standard-pre2026\""), BudgetRule::AwsQuota(before));
    let since = AwsQuota { cost: 14, cost_timeout: 14, ..before };
    assert_eq!(quota("mode = \"standard-2.1\""), BudgetRule::AwsQuota(since));
    let own = AwsQuota { max: 100, cost: 7, cost_timeout: 100, cost_throttled: 0, per_success: 3 };
    assert_eq!(
        quota("mode = \"standard-2.1\", max = 100, cost = 7, cost_timeout = 100, cost_throttled = 0, per_success = 3"),
        BudgetRule::AwsQuota(own)
    );
}

#[test]
fn a_windowed_ratio_has_the_defaults_of_finagle() {
    let ratio = |settings: &str| match rule(&format!("{{ windowed_ratio = {{ {settings} }} }}")) {
        BudgetRule::WindowedRatio(ratio) => ratio,
        other => panic!("{other:?}"),
    };
    let ten_s = Span::from_s(10);
    assert_eq!(ratio("deposit = \"start\""), WindowedRatio::finagle(ten_s, 10.0, 0.2, Deposit::AtStart));
    assert_eq!(
        ratio("deposit = \"success\", rounding = \"tower\""),
        WindowedRatio::tower(ten_s, 10.0, 0.2, Deposit::OnSuccess)
    );
    let own = WindowedRatio::finagle(Span::from_s(60), 0.5, 2.5, Deposit::OnSuccess);
    assert_eq!(ratio("deposit = \"success\", ttl = \"1m\", min_per_second = 0.5, ratio = 2.5"), own);
}

#[test]
fn a_concurrency_budget_has_the_defaults_of_envoy() {
    let concurrency = |settings: &str| rule(&format!("{{ concurrency = {{ {settings} }} }}"));
    let envoy = Concurrency { share: 200_000, minimum: 3, counts_waiting: true };
    assert_eq!(concurrency(""), BudgetRule::Concurrency(envoy));
    let own = Concurrency { share: 1_000_000, minimum: 0, counts_waiting: false };
    assert_eq!(concurrency("share = 1, minimum = 0, counts_waiting = false"), BudgetRule::Concurrency(own));
}

#[test]
fn a_ratio_of_requests_has_no_floor_unless_it_says_so() {
    let tenth = RatioOfRequests { ratio: 100_000, floor: 0 };
    assert_eq!(rule("{ ratio_of_requests = { ratio = 0.1 } }"), BudgetRule::RatioOfRequests(tenth));
    let floored = RatioOfRequests { floor: 10_000_000, ..tenth };
    assert_eq!(rule("{ ratio_of_requests = { ratio = 0.1, floor = 10 } }"), BudgetRule::RatioOfRequests(floored));
}

/// Two groups and a service, whose calls all follow one policy; `web` calls `db` twice and `cache` once.
const SHARING: &str = r#"
version = 1
name = "sharing"
[clients.web]
count = 5
arrivals = { burst = {} }
calls = { db = { retry = "r" }, again = { to = "db", retry = "r" }, cache = { retry = "r" } }
[clients.app]
count = 7
arrivals = { burst = {} }
calls = { cache = { retry = "r" }, db = {} }
[services.db]
[services.cache]
calls.db = { retry = "r" }
[retries.r]
max_retries = 1
budget = { token_bucket = { max = 4.5, per_success = 0.000001, cost = 2 } }
[retries.unused]
max_retries = 1
budget = { token_bucket = { max = 1, per_success = 0 } }
"#;

/// The pool of each call, and the number of states of each pool.
fn pools(set_by: &str, set_over: &str) -> (Vec<Option<u32>>, Vec<u32>) {
    let by = format!("retries.r.shared_by={set_by}");
    let over = format!("retries.r.shared_over={set_over}");
    let scenario = parse(SHARING, &set(&[&by, &over]));
    let plan = only_plan(&scenario);
    let expected = BudgetRule::TokenBucket(TokenBucket {
        max: 4_500_000,
        initial: 4_500_000,
        per_success: 1,
        cost: 2_000_000,
        cost_timeout: 2_000_000,
        floor: 2_000_000,
    });
    assert!(plan.budgets.iter().all(|pool| pool.rule == expected), "a budget that nobody uses has no pool");
    assert!(plan.calls.iter().filter_map(|call| call.budget).all(|used| used.by_instance == (set_by == "instance")));
    let used = plan.calls.iter().map(|call| call.budget.map(|used| used.pool)).collect();
    (used, plan.budgets.iter().map(|pool| pool.states).collect())
}

/// In the order of the calls: web->db, web->again, web->cache, app->cache, app->db (without a budget), cache->db.
#[test]
fn callers_never_share_a_budget_and_calls_share_it_as_they_are_told() {
    let used = |list: [u32; 4], last| {
        let [a, b, c, d] = list.map(Some);
        vec![a, b, c, d, None, Some(last)]
    };
    assert_eq!(pools("instance", "call"), (used([0, 1, 2, 3], 4), vec![5, 5, 5, 7, 1]));
    assert_eq!(pools("instance", "target"), (used([0, 0, 1, 2], 3), vec![5, 5, 7, 1]));
    assert_eq!(pools("instance", "policy"), (used([0, 0, 0, 1], 2), vec![5, 7, 1]));
    assert_eq!(pools("group", "policy"), (used([0, 0, 0, 1], 2), vec![1, 1, 1]));
}
