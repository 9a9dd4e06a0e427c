//! Who shares which retry budget.

use stormsim::policy::TokenBucket;

use crate::{only_plan, parse, set};

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
    let expected =
        TokenBucket { max: 4_500_000, initial: 4_500_000, per_success: 1, cost: 2_000_000, floor: 2_000_000 };
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
