//! What wrong retry budgets are answered with, word for word. The snapshots are the specification.

use std::path::Path;

use insta::assert_snapshot;
use stormsim::scenario::{Overrides, Scenario};

use crate::told;

const GOOD: &str = r#"version = 1
name = "shop"

[clients.web]
arrivals = { burst = {} }
calls.db = { retry = "patient" }

[services.db]

[retries.patient]
max_retries = 2
budget = "none"
"#;

/// `GOOD` with each of these budgets: its place, what is wrong with it, and the way out, which every error must have.
fn told(budgets: &[&str]) -> String {
    let answer = |budget: &&str| {
        let text = GOOD.replace("\"none\"", budget);
        let errors = match Scenario::parse("shop.toml", &text, Path::new(""), &Overrides::default()) {
            Ok(_) => panic!("nothing is wrong with {budget}"),
            Err(errors) => errors.to_string(),
        };
        format!("  budget = {budget}\n{}", told::briefly(&errors))
    };
    budgets.iter().map(answer).collect::<Vec<_>>().join("\n\n")
}

#[test]
fn the_base_of_these_tests_is_good() {
    if let Err(diagnostics) = Scenario::parse("shop.toml", GOOD, Path::new(""), &Overrides::default()) {
        panic!("{diagnostics}");
    }
}

/// Without these a budget would be another one than was meant.
#[test]
fn what_has_no_default_must_be_said() {
    assert_snapshot!(told(&[
        "{ grpc_throttle = {} }",
        "{ aws_quota = {} }",
        "{ windowed_ratio = {} }",
        "{ ratio_of_requests = {} }",
    ]));
}

/// A retry that costs more than there can ever be is no retry; the default of a cost counts like a cost.
#[test]
fn costs_that_nothing_can_pay() {
    assert_snapshot!(told(&[
        "{ token_bucket = { max = 10, per_success = 0.1, cost = 10.5 } }",
        "{ token_bucket = { max = 10, per_success = 0.1, cost_timeout = 11 } }",
        "{ token_bucket = { max = 10, per_success = 0.1, cost = 20, cost_timeout = 5, floor = 11 } }",
        "{ token_bucket = { max = 0.5, per_success = 0.1 } }",
        "{ token_bucket = { max = 0.5, per_success = 0.1, cost_timeout = 0.5 } }",
        "{ aws_quota = { mode = \"standard-2.1\", max = 10 } }",
        "{ aws_quota = { mode = \"standard-pre2026\", max = 9 } }",
        "{ aws_quota = { mode = \"standard-2.1\", max = 10, cost = 20, cost_throttled = 11 } }",
        "{ aws_quota = { mode = \"standard-2.1\", cost = 501 } }",
        "{ aws_quota = { mode = \"standard-2.1\", max = 0 } }",
    ]));
}

#[test]
fn numbers_beyond_their_range() {
    assert_snapshot!(told(&[
        "{ grpc_throttle = { max_tokens = 0, token_ratio = 0.0001 } }",
        "{ grpc_throttle = { max_tokens = 2000, token_ratio = 0 } }",
        "{ grpc_throttle = { max_tokens = 0.0005, token_ratio = 0.1 } }",
        "{ windowed_ratio = { deposit = \"start\", ttl = \"999ms\" } }",
        "{ windowed_ratio = { deposit = \"start\", ttl = \"61s\" } }",
        "{ windowed_ratio = { deposit = \"start\", ratio = 1001, min_per_second = -1 } }",
        "{ windowed_ratio = { deposit = \"start\", ratio = 1e-7, min_per_second = 1e7 } }",
        "{ concurrency = { share = 20, minimum = 2.5 } }",
        "{ ratio_of_requests = { ratio = -0.1, floor = 0.5 } }",
        "{ aws_quota = { mode = \"standard-2.1\", cost = 2.5 } }",
    ]));
}

/// A share of ten would be no budget at all, but ten retries for each request.
#[test]
fn per_cent_for_a_share() {
    assert_snapshot!(told(&[
        "{ ratio_of_requests = { ratio = 10 } }",
        "{ ratio_of_requests = { ratio = 1.5 } }",
        "{ ratio_of_requests = { ratio = 1000 } }",
    ]));
}

/// The settings of the products are answered with ours.
#[test]
fn settings_by_their_names_in_the_products() {
    assert_snapshot!(told(&[
        "{ concurrency = { budget_percent = 20, min_retry_concurrency = 3 } }",
        "{ concurrency = { max_retries = 3 } }",
        "{ windowed_ratio = { deposit = \"success\", retryRatio = 0.2, minRetriesPerSecond = 10 } }",
        "{ windowed_ratio = { deposit = \"start\", percentCanRetry = 0.2, minRetriesPerSec = 10 } }",
        "{ aws_quota = { mode = \"legacy\" } }",
        "{ token_bucket = { max = 10, per_success = 0.1, shared_by = \"group\" } }",
    ]));
}

/// Who knows a budget by its product is told its name here.
#[test]
fn budgets_by_the_names_of_their_products() {
    assert_snapshot!(told(&[
        "{ grpc = { max_tokens = 10, token_ratio = 0.1 } }",
        "{ retry_throttling = { maxTokens = 10, tokenRatio = 0.1 } }",
        "{ aws = {} }",
        "{ finagle = { ttl = \"10s\" } }",
        "{ linkerd = { retryRatio = 0.2 } }",
        "\"envoy\"",
        "{ retry_budget = { budget_percent = 20 } }",
        "{ percent = 10 }",
        "{ leaky = 1 }",
    ]));
}

#[test]
fn words_and_forms_that_are_none() {
    assert_snapshot!(told(&[
        "0.1",
        "\"grpc_throttle\"",
        "\"windowed_ratio\"",
        "\"concurrency\"",
        "{ grpc_throttle = 10 }",
        "{ ratio_of_requests = 0.1 }",
        "{ concurrency = \"20%\" }",
        "{ concurrency = { share = \"20%\" } }",
        "{ concurrency = { percent = 20 } }",
        "{ aws_quota = { mode = \"standard\" } }",
        "{ aws_quota = \"standard-2.1\" }",
        "{ windowed_ratio = { deposit = \"request\", rounding = \"linkerd\" } }",
        "{ windowed_ratio = { deposit = \"start\", min_retries_per_second = 10 } }",
        "{ token_bucket = { max = 10, per_success = 0.1, timeout_cost = 2 } }",
    ]));
}
