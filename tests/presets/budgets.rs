//! How many retries the budgets of presets grant.

use crate::common::{attempts_of_requests, run, text};

/// A client that makes so many requests, one every ten seconds or so, of a service that always fails with this error.
fn one_by_one(name: &str, requests: u32, error: &str) -> String {
    let fault = format!("[faults.down]\non = [\"api\"]\neffect = {{ fail = {{ error = \"{error}\" }} }}\n");
    text(name, &fault)
        .replace("{ burst = {} }", &format!("{{ closed = {{ think = \"10s\", requests = {requests} }} }}"))
        .replace("10m", "1d")
}

/// 500 tokens at 5 each are 100 retries: 50 calls make two each, later ones none. After timeouts, at 10: 25 calls.
#[test]
fn the_quota_of_aws_before_2026() {
    let attempts = |error| attempts_of_requests(&one_by_one("aws-standard-pre2026", 60, error), &[]);
    let of_calls = |full: usize| [vec![3; full], vec![1; 60 - full]].concat();
    assert_eq!(attempts("unavailable"), of_calls(50));
    assert_eq!(attempts("timeout"), of_calls(25));
    let rust = attempts_of_requests(
        &one_by_one("aws-standard-pre2026", 60, "internal"),
        &["retries.aws-standard-pre2026.budget.aws_quota.cost=10"],
    );
    assert_eq!(rust, of_calls(25), "Rust takes 10 for every transient error");
}

/// 500 tokens at 14 are 35 retries, and 10 tokens are left: 17 calls make two, one makes one. Those 10 still buy two after
/// throttling, of which the quota alone pays 100.
#[test]
fn the_quota_of_aws_since_2026() {
    let attempts = |error| attempts_of_requests(&one_by_one("aws-standard-2.1", 60, error), &[]);
    assert_eq!(attempts("unavailable"), [vec![3; 17], vec![2], vec![1; 42]].concat());
    assert_eq!(attempts("rate_limited"), [vec![3; 50], vec![1; 10]].concat());
    let outcome = run(&one_by_one("aws-standard-2.1", 60, "unavailable"), &[]);
    assert_eq!((outcome.all_calls.retries, outcome.all_calls.tokens_left), (35, Some(10_000_000)));
    let text = one_by_one("aws-standard-2.1", 60, "unavailable").replace(
        "[faults.down]\n",
        "[faults.throttling]\non = [\"api\"]\nfrom = \"300s\"\neffect = { fail = { error = \"rate_limited\" } }\n\
         [faults.down]\nuntil = \"300s\"\n",
    );
    assert_eq!(run(&text, &[]).all_calls.retries, 37);
}

/// The quota is that of a client object, whatever it calls: two calls share it, two clients do not.
#[test]
fn the_quota_belongs_to_a_client() {
    let two_calls = "[services.other]\n[clients.web.calls.other]\nretry = \"aws-standard-pre2026\"\n";
    let text = one_by_one("aws-standard-pre2026", 200, "unavailable")
        .replace("on = [\"api\"]", "on = [\"api\", \"other\"]")
        .replace("calls.api = { retry = \"aws-standard-pre2026\" }", "calls.api.retry = \"aws-standard-pre2026\"");
    let text = text.replace("[services.api]\n", &format!("[services.api]\n{two_calls}"));
    assert_eq!(run(&text, &[]).all_calls.retries, 100);
    assert_eq!(run(&text, &["clients.web.count=2"]).all_calls.retries, 200);
}

/// Idle, then dead: 100 retries at once, and the next is refused.
#[test]
fn a_reserve_may_go_in_one_burst() {
    let dead = "[faults.down]\non = [\"api\"]\neffect = { fail = {} }\n";
    for name in ["linkerd", "tower"] {
        let backoff = format!("retries.{name}.backoff=none");
        let outcome = run(&text(name, dead).replace("10m", "5s"), &[&backoff]);
        assert_eq!((outcome.all_calls.retries, outcome.all_calls.budget_refused), (100, 1), "{name}");
    }
    // Finagle pays 0.2 of a retry in for the call itself.
    let outcome = run(&text("finagle", dead), &["retries.finagle.max_retries=200"]);
    assert_eq!((outcome.all_calls.retries, outcome.all_calls.budget_refused), (100, 1));
}

/// 1,000 requests per second of a service that is dead for 10 s: Finagle tries 2,100 again, a fifth of all and its reserve,
/// Linkerd 100, the reserve alone.
#[test]
fn finagle_goes_on_in_an_outage_and_linkerd_does_not() {
    let dead = "[faults.down]\non = [\"api\"]\neffect = { fail = {} }\n";
    let retries = |name: &str| {
        let arrivals = "{ closed = { think = \"1ms\", requests = 10000 } }";
        let text = text(name, dead).replace("{ burst = {} }", arrivals).replace("10m", "10s");
        run(&text, &[]).all_calls.retries
    };
    assert_eq!([retries("finagle"), retries("linkerd")], [2_100, 100]);
}

/// tower cuts 1 / ratio: with 0.51 as with 1 every success buys a retry, with 0.5 every other.
#[test]
fn tower_rounds_its_ratio() {
    // Calls that fail and calls that succeed, in turns: each success deposits, each failure asks for a retry.
    let flaky = "[faults.flaky]\non = [\"api\"]\nlasts = \"500ms\"\nevery = \"1s\"\neffect = { fail = {} }\n";
    let text = text("tower", flaky).replace("{ burst = {} }", "{ periodic = { every = \"500ms\" } }");
    let retries = |ratio: &str| {
        let ratio = format!("retries.tower.budget.windowed_ratio.ratio={ratio}");
        let reserve = "retries.tower.budget.windowed_ratio.min_per_second=0";
        let plain = ["horizon=100s", "retries.tower.backoff=none", "retries.tower.max_retries=1", reserve, &ratio];
        run(&text, &plain).all_calls.retries
    };
    let of_all = retries("1.0");
    assert_eq!([retries("0.51"), retries("0.7")], [of_all, of_all]);
    // What is older than the window counts no more, so that not quite all of the 99 are granted that were paid for.
    assert!((85..=99).contains(&of_all), "{of_all}");
    assert!((40..=50).contains(&retries("0.5")), "{}", retries("0.5"));
}

/// Without a budget of its own Envoy allows three retries at once for all clients of a cluster; with a sidecar each client
/// has three, and Istio sets no limit.
#[test]
fn envoy_allows_three_retries_at_once() {
    let slow = "[faults.down]\non = [\"api\"]\neffect = { fail = { delay = \"100ms\" } }\n";
    let retries = |name: &str, settings: &[&str]| {
        let text = text(name, slow).replace("{ burst = {} }", "{ burst = {} }\ncount = 100");
        run(&text, settings).all_calls.retries
    };
    assert_eq!(retries("envoy", &[]), 3);
    assert_eq!(retries("envoy", &["retries.envoy.shared_by=instance"]), 100);
    assert_eq!(retries("istio", &["retries.istio.max_retries=1"]), 100);
}

/// gRPC's throttle, where it is configured: of ten tokens four retries for the whole channel.
#[test]
fn grpcs_throttle_grants_four_retries() {
    let text = one_by_one("grpc", 20, "unavailable");
    let five = "retries.grpc.max_attempts=5";
    let throttle = [
        five,
        "retries.grpc.budget={ grpc_throttle = { max_tokens = 10, token_ratio = 0.1 } }",
        "retries.grpc.shared_over=target",
    ];
    assert_eq!(run(&text, &throttle).all_calls.retries, 4);
    assert_eq!(run(&text, &[five]).all_calls.retries, 80, "without it four for each call");
}
