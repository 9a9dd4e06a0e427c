//! Retry policies and timeouts of routes.

use super::{ENVOY, policy, route};
use crate::{at, imported, is_said, remarks, table, wrong};

/// What Envoy does where the file says nothing is written out, each with its reason.
#[test]
fn what_nobody_says_is_what_envoy_does() {
    let text = imported(ENVOY, &policy("{ retry_on: reset }")).scenario();
    let table: toml::Table = text.parse().unwrap();
    for (path, value) in [
        ("clients.callers.calls.db.total_timeout", "\"15s\""),
        ("clients.callers.calls.db.timeout", "\"none\""),
        ("clients.callers.calls.db.connect_timeout", "\"5s\""),
        ("retries.db.max_retries", "1"),
        ("retries.db.backoff.exponential.base", "\"25ms\""),
        ("retries.db.backoff.exponential.factor", "2"),
        ("retries.db.cap", "\"250ms\""),
        ("retries.db.jitter", "\"full\""),
        ("retries.db.granularity", "\"1ms\""),
        ("retries.db.retry_after", "\"ignore\""),
        ("retries.db.budget.concurrency.share", "0"),
        ("retries.db.budget.concurrency.minimum", "3"),
        ("retries.db.shared_by", "\"group\""),
        ("retries.db.shared_over", "\"target\""),
    ] {
        assert_eq!(at(&table, path), value, "{path}");
        let key = path.rsplit('.').next().unwrap();
        let line = text.lines().find(|line| line.starts_with(&format!("{key} = {value}"))).unwrap();
        assert!(line.contains("# Envoy"), "{line}");
    }
}

/// A number of retries without a condition is none: nothing is tried again.
#[test]
fn without_a_condition_there_are_no_retries() {
    for text in [policy("{ num_retries: 5 }"), policy("{ retry_on: '', num_retries: 5 }"), policy("{ retry_on: 5xxx }")]
    {
        let read = table(ENVOY, &text);
        assert_eq!(at(&read, "clients.callers.calls.db.retry"), "\"none\"");
        assert_eq!(at(&read, "retries"), "none");
        assert!(is_said(&remarks(ENVOY, &text), &["nothing is tried again"]), "{text}");
    }
    assert!(is_said(&remarks(ENVOY, &policy("{ retry_on: 5xxx }")), &["`5xxx`", "ignores"]));
    assert_eq!(at(&table(ENVOY, &route("timeout: 1s")), "clients.callers.calls.db.retry"), "\"none\"");
}

#[test]
fn conditions_are_errors() {
    let resets = "\"refused\", \"reset\", \"timeout\"";
    for (conditions, errors) in [
        ("5xx", "\"unavailable\", \"refused\", \"reset\", \"overloaded\", \"timeout\", \"deadline\", \"internal\""),
        ("gateway-error", "\"unavailable\", \"refused\", \"reset\", \"overloaded\", \"timeout\", \"deadline\""),
        ("reset", resets),
        ("reset-before-request", "\"refused\""),
        ("connect-failure,refused-stream", "\"refused\", \"timeout\""),
        ("envoy-ratelimited", "\"rate_limited\""),
        ("unavailable, internal ,deadline-exceeded", "\"unavailable\", \"deadline\", \"internal\""),
        ("resource-exhausted", "\"overloaded\", \"rate_limited\""),
        ("retriable-4xx,cancelled,retriable-headers,refused-stream", "\"refused\""),
    ] {
        let read = table(ENVOY, &policy(&format!("{{ retry_on: '{conditions}' }}")));
        assert_eq!(at(&read, "retries.db.retry_on"), format!("[{errors}]"), "{conditions}");
    }
    let said = remarks(ENVOY, &policy("{ retry_on: 'retriable-4xx,cancelled,reset' }"));
    assert!(is_said(&said, &["`retriable-4xx`", "409"]) && is_said(&said, &["`cancelled`", "CANCELLED"]), "{said:?}");
    assert!(is_said(&remarks(ENVOY, &policy("{ retry_on: unavailable }")), &["gRPC", "503 of HTTP is not"]));
}

/// Statuses count only with their condition, and are those of the service, not what Envoy makes of no answer.
#[test]
fn statuses_need_their_condition() {
    let both = policy("{ retry_on: 'reset,retriable-status-codes', retriable_status_codes: [503, 429, 507] }");
    let read = table(ENVOY, &both);
    let errors = "[\"unavailable\", \"refused\", \"reset\", \"overloaded\", \"rate_limited\", \"timeout\"]";
    assert_eq!(at(&read, "retries.db.retry_on"), errors);
    let said = remarks(ENVOY, &both);
    assert!(is_said(&said, &["status 507"]) && is_said(&said, &["429", "x-envoy-ratelimited"]), "{said:?}");
    let gateway = policy("{ retry_on: retriable-status-codes, retriable_status_codes: [502] }");
    assert_eq!(at(&table(ENVOY, &gateway), "retries.db.retry_on"), "[\"unavailable\"]");
    let list = policy("{ retry_on: refused-stream, retriable_status_codes: [503] }");
    assert_eq!(at(&table(ENVOY, &list), "retries.db.retry_on"), "[\"refused\"]");
    assert!(is_said(&remarks(ENVOY, &list), &["does not have `retriable-status-codes`"]));
    let condition = policy("{ retry_on: retriable-status-codes }");
    assert!(is_said(&remarks(ENVOY, &condition), &["no status is listed"]));
    let alone = policy("{ retry_on: retriable-status-codes, retriable_status_codes: [503] }");
    assert_eq!(at(&table(ENVOY, &alone), "retries.db.retry_on"), "[\"unavailable\", \"overloaded\"]");
    assert!(is_said(&remarks(ENVOY, &alone), &["503 is that of the service itself", "`reset`"]));
}

#[test]
fn timeouts_that_make_retries_pointless_are_told() {
    let said = |inside: &str| remarks(ENVOY, &route(inside));
    let no_try = said("retry_policy: { retry_on: 5xx, num_retries: 2 }");
    assert!(is_said(&no_try, &["an attempt that hangs is not tried again", "15s"]), "{no_try:?}");
    let connect = said("retry_policy: { retry_on: connect-failure }");
    assert!(!is_said(&connect, &["an attempt that hangs"]), "{connect:?}");
    let pointless = |on: &str, more: &str| {
        let policy = format!("retry_policy: {{ retry_on: {on}, num_retries: 9, per_try_timeout: 2s }}");
        let said = said(&format!("{policy}{more}"));
        (is_said(&said, &["a try that takes too long is not tried again"]), is_said(&said, &["do not fit"]))
    };
    assert_eq!(pointless("gateway-error", ""), (false, true));
    assert_eq!(pointless("'connect-failure,internal'", ""), (true, false));
    let hedges = "\n  hedge_policy: { hedge_on_per_try_timeout: true }";
    assert_eq!(pointless("internal", hedges), (false, true), "a hedge needs no condition");
}

/// A connection that takes too long is a `timeout`: where a try has none of its own, it can be no other.
#[test]
fn slow_connections_are_tried_again_where_no_slow_try_would_be() {
    let on = |policy: &str| {
        let text = self::policy(policy);
        let comment = imported(ENVOY, &text).scenario().contains("neither is tried again");
        (at(&table(ENVOY, &text), "retries.db.retry_on"), comment)
    };
    let both = "[\"refused\", \"timeout\"]".to_owned();
    assert_eq!(on("{ retry_on: connect-failure }"), (both, false));
    let refused = "[\"refused\"]".to_owned();
    assert_eq!(on("{ retry_on: refused-stream }"), (refused.clone(), false));
    assert_eq!(on("{ retry_on: connect-failure, per_try_timeout: 1s }"), (refused.clone(), true));
    assert_eq!(on("{ retry_on: connect-failure, per_try_idle_timeout: 1s }"), (refused, true));
}

/// The time that all attempts take, and the time of one.
#[test]
fn attempts_must_fit_into_the_timeout_of_the_route() {
    let route = |total: &str, tries: i64, per_try: &str| {
        route(&format!(
            "timeout: {total}\n  retry_policy: {{ retry_on: 5xx, num_retries: {tries}, per_try_timeout: {per_try} }}"
        ))
    };
    let not_fit = |text: &str| is_said(&remarks(ENVOY, text), &["do not fit into the timeout of the route"]);
    assert!(not_fit(&route("3s", 3, "0.9s")) && !not_fit(&route("3.6s", 3, "0.9s")) && !not_fit(&route("0s", 3, "9s")));
    assert!(is_said(&remarks(ENVOY, &route("3s", 1, "3s")), &["it does nothing"]));
    assert_eq!(at(&table(ENVOY, &route("0s", 3, "9s")), "clients.callers.calls.db.total_timeout"), "\"none\"");
    let idle = policy("{ retry_on: 5xx, per_try_timeout: 0.8s, per_try_idle_timeout: 0.5s }");
    assert_eq!(at(&table(ENVOY, &idle), "clients.callers.calls.db.timeout"), "\"500ms\"");
    assert!(is_said(&remarks(ENVOY, &idle), &["before `per_try_timeout`"]));
}

/// A try that takes too long is no failure where Envoy hedges: it goes on beside the next.
#[test]
fn hedging_leaves_slow_tries_running() {
    let hedge = "\n  hedge_policy: { hedge_on_per_try_timeout: true }";
    let text = policy(&format!("{{ retry_on: 5xx, num_retries: 2, per_try_timeout: 0.2s }}{hedge}"));
    let read = table(ENVOY, &text);
    for (key, value) in
        [("timeout", "\"none\""), ("hedge.after", "\"200ms\""), ("hedge.copies", "2"), ("hedge.in_flight", "3")]
    {
        assert_eq!(at(&read, &format!("clients.callers.calls.db.{key}")), value, "{key}");
    }
    assert!(is_said(&remarks(ENVOY, &text), &["share `num_retries`"]));
    for policy in ["{ retry_on: 5xx, num_retries: 2 }", "{ num_retries: 2, per_try_timeout: 0.2s }"] {
        let text = self::policy(&format!("{policy}{hedge}"));
        assert_eq!(at(&table(ENVOY, &text), "clients.callers.calls.db.hedge"), "none");
        assert!(is_said(&remarks(ENVOY, &text), &["this does nothing"]), "{policy}");
    }
}

/// Only `per_try_timeout` hedges: the idle timeout ends an attempt, be it hedged or not.
#[test]
fn the_idle_timeout_ends_tries_and_hedges_none() {
    let read = |times: &str| {
        let hedge = "\n  hedge_policy: { hedge_on_per_try_timeout: true }";
        let text = policy(&format!("{{ retry_on: 5xx, {times} }}{hedge}"));
        let read = table(ENVOY, &text);
        let call = |key: &str| at(&read, &format!("clients.callers.calls.db.{key}"));
        (call("timeout"), call("hedge.after"), is_said(&remarks(ENVOY, &text), &["this does nothing"]))
    };
    let (idle, none) = ("\"500ms\"".to_owned(), "none".to_owned());
    assert_eq!(read("per_try_idle_timeout: 0.5s"), (idle.clone(), none.clone(), true));
    assert_eq!(read("per_try_timeout: 0.8s, per_try_idle_timeout: 0.5s"), (idle.clone(), none, true));
    let after = "\"200ms\"".to_owned();
    assert_eq!(read("per_try_timeout: 0.2s, per_try_idle_timeout: 0.5s"), (idle, after, false));
}

#[test]
fn a_server_may_say_when_to_come_back() {
    let header = "reset_headers: [{ name: Retry-After, format: SECONDS }]";
    let read = table(ENVOY, &policy(&format!("{{ retry_on: 5xx, rate_limited_retry_back_off: {{ {header} }} }}")));
    let after = &read["retries"]["db"]["retry_after"];
    assert_eq!(after.to_string(), "{ rule = \"replace\", upward = 0.5, at_most = \"300s\", beyond = \"ignore\" }");
    let none = policy("{ retry_on: 5xx, rate_limited_retry_back_off: { max_interval: 9s } }");
    assert!(is_said(&wrong(ENVOY, &none), &["no `reset_headers`"]));
}

#[test]
fn backoff_is_in_whole_milliseconds() {
    let read = table(ENVOY, &policy("{ retry_on: 5xx, retry_back_off: { base_interval: 0.0004s } }"));
    assert_eq!(at(&read, "retries.db.backoff.exponential.base"), "\"1ms\"");
    assert_eq!(at(&read, "retries.db.cap"), "\"10ms\"");
}
