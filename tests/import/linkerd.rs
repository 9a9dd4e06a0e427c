//! Linkerd: service profiles and annotations.

use stormsim::import::{self, Format};

use crate::{at, check_sample, imported, is_said, remarks, run, table, wrong};

const LINKERD: Format = Format::Linkerd;

#[test]
fn the_samples() {
    check_sample(LINKERD, "linkerd-serviceprofile.yaml");
    check_sample(LINKERD, "linkerd-annotations.yaml");
}

/// A profile of `db` with this in it.
fn profile(inside: &str) -> String {
    format!(
        "apiVersion: linkerd.io/v1alpha2\nkind: ServiceProfile\nmetadata: {{ name: db.shop.svc.cluster.local, \
         namespace: shop }}\nspec:\n  {inside}\n"
    )
}

const ROUTE: &str = "routes: [{ name: GET /, condition: {}, isRetryable: true }]";

/// A service `db` with these annotations.
fn annotated(annotations: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Service\nmetadata:\n  name: db\n  namespace: shop\n  annotations: {{ \
         {annotations} }}\nspec: {{}}\n"
    )
}

/// Nothing but the budget limits retries; they come at once; and what is no answer is not tried again.
#[test]
fn what_nobody_says_is_what_linkerd_does() {
    let text = imported(LINKERD, &profile(ROUTE)).scenario();
    let table: toml::Table = text.parse().unwrap();
    for (path, value) in [
        ("clients.callers.calls.db-GET.total_timeout", "\"none\""),
        ("clients.callers.calls.db-GET.timeout", "\"none\""),
        ("retries.db-GET.max_retries", "\"unlimited\""),
        ("retries.db-GET.backoff", "\"none\""),
        ("retries.db-GET.retry_on", "[\"unavailable\", \"overloaded\", \"deadline\", \"internal\"]"),
        ("retries.db-GET.shared_over", "\"target\""),
    ] {
        assert_eq!(at(&table, path), value, "{path}");
    }
    let budget = "{ ttl = \"10s\", min_per_second = 10, ratio = 0.2, deposit = \"success\", rounding = \"tower\" }";
    assert_eq!(at(&table, "retries.db-GET.budget.windowed_ratio"), budget);
    assert!(is_said(&remarks(LINKERD, &profile(ROUTE)), &["nothing but the budget ends these retries"]));
}

/// One route says nothing, one says no.
#[test]
fn only_routes_that_say_so_are_retried() {
    let read = table(LINKERD, &profile("routes: [{ name: a }, { name: b, isRetryable: false }]"));
    for label in ["db-a", "db-b"] {
        assert_eq!(at(&read, &format!("clients.callers.calls.{label}.retry")), "\"none\"");
    }
    assert_eq!(at(&read, "retries"), "none");
}

/// The budget is that of the service: its routes share it, as far as they have the same policy.
#[test]
fn routes_share_the_budget_of_their_service() {
    let both =
        profile("routes: [{ name: a, isRetryable: true, timeout: 1s }, { name: b, isRetryable: true, timeout: 2s }]");
    let read = table(LINKERD, &both);
    assert_eq!(read["retries"].as_table().unwrap().len(), 1);
    assert_eq!(at(&read, "clients.callers.calls.db-b.retry"), "\"db-a\"");
    assert_eq!(at(&read, "clients.callers.calls.db-b.total_timeout"), "\"2s\"");
    let class = "responseClasses: [{ condition: { status: { min: 500, max: 500 } }, isFailure: false }]";
    let apart =
        profile(&format!("routes: [{{ name: a, isRetryable: true }}, {{ name: b, isRetryable: true, {class} }}]"));
    assert_eq!(at(&table(LINKERD, &apart), "retries.db-b.retry_on"), "[\"unavailable\", \"overloaded\", \"deadline\"]");
    assert!(is_said(&remarks(LINKERD, &apart), &["share one budget in Linkerd"]));
}

/// Of classes the first that fits decides; what fits none is a failure from 500 on.
#[test]
fn classes_say_what_is_a_failure() {
    let class =
        |classes: &str| profile(&format!("routes: [{{ name: a, isRetryable: true, responseClasses: {classes} }}]"));
    let limited = class("[{ condition: { status: { min: 429, max: 429 } }, isFailure: true }]");
    assert!(at(&table(LINKERD, &limited), "retries.db-a.retry_on").contains("\"rate_limited\""));
    let first = class(
        "[{ condition: { status: { min: 503 } }, isFailure: false }, { condition: { status: { min: 500 } }, \
         isFailure: true }]",
    );
    // 502 is `unavailable`, as 503 is: it is a failure by the second class.
    assert_eq!(at(&table(LINKERD, &first), "retries.db-a.retry_on"), "[\"unavailable\", \"internal\"]");
    let any = class("[{ condition: { any: [{ status: { min: 500 } }] }, isFailure: true }]");
    assert!(is_said(&remarks(LINKERD, &any), &["`any`", "ranges of statuses"]));
}

/// A ratio is rounded up to 1 / k: above one half it is everything.
#[test]
fn ratios_are_rounded_up() {
    let said = |ratio: &str| {
        let budget = format!("retryBudget: {{ retryRatio: {ratio}, minRetriesPerSecond: 1, ttl: 10s }}\n  {ROUTE}");
        remarks(LINKERD, &profile(&budget))
    };
    for (ratio, percent) in [("0.7", "100 %"), ("0.51", "100 %"), ("0.4", "50 %"), ("0.3", "33.3 %"), ("3", "300.3 %")]
    {
        assert!(
            is_said(&said(ratio), &[&format!("a ratio of {ratio} is one of {percent}")]),
            "{ratio}: {:?}",
            said(ratio)
        );
    }
    for ratio in ["0", "0.1", "0.2", "0.25", "0.5", "1", "2"] {
        assert!(!is_said(&said(ratio), &["a ratio of"]), "{ratio}: {:?}", said(ratio));
    }
}

/// What a budget leaves out is nothing, and a time that Linkerd does not take turns retries off.
#[test]
fn budgets_are_taken_as_they_are() {
    let read = table(LINKERD, &profile(&format!("retryBudget: {{ ttl: 20s }}\n  {ROUTE}")));
    let budget = "{ ttl = \"20s\", min_per_second = 0, ratio = 0, deposit = \"success\", rounding = \"tower\" }";
    assert_eq!(at(&read, "retries.db-GET.budget.windowed_ratio"), budget);
    let long = profile(&format!("retryBudget: {{ retryRatio: 0.2, minRetriesPerSecond: 10, ttl: 61s }}\n  {ROUTE}"));
    assert_eq!(at(&table(LINKERD, &long), "clients.callers.calls.db-GET.retry"), "\"none\"");
    assert!(is_said(&remarks(LINKERD, &long), &["turns all retries off"]));
}

#[test]
fn annotations_have_a_limit_and_no_budget() {
    let text = annotated("retry.linkerd.io/http: 5xx");
    let read = table(LINKERD, &text);
    for (path, value) in [
        ("max_retries", "1"),
        ("retry_on", "[\"unavailable\", \"overloaded\", \"deadline\", \"internal\"]"),
        ("backoff.exponential", "{ base = \"25ms\", factor = 2 }"),
        ("jitter", "{ upward = 1 }"),
        ("cap", "\"250ms\""),
        ("cap_order", "\"after_jitter\""),
        ("budget", "\"none\""),
    ] {
        assert_eq!(at(&read, &format!("retries.db.{path}")), value, "{path}");
    }
    assert!(is_said(&remarks(LINKERD, &text), &["there is no budget"]));
}

/// The time of a try is a reason to try again; the last attempt has none in Linkerd.
#[test]
fn tries_have_a_timeout() {
    let text = annotated("retry.linkerd.io/http: 503, retry.linkerd.io/timeout: 300ms, timeout.linkerd.io/request: 2s");
    let read = table(LINKERD, &text);
    assert_eq!(at(&read, "clients.callers.calls.db.timeout"), "\"300ms\"");
    assert_eq!(at(&read, "clients.callers.calls.db.total_timeout"), "\"2s\"");
    assert_eq!(at(&read, "retries.db.retry_on"), "[\"unavailable\", \"overloaded\", \"timeout\"]");
    assert!(is_said(&remarks(LINKERD, &text), &["the last attempt"]));
    let alone = table(LINKERD, &annotated("retry.linkerd.io/timeout: 300ms"));
    assert_eq!(at(&alone, "retries.db.retry_on"), "[\"timeout\"]");
}

#[test]
fn conditions_are_statuses_and_ranges() {
    for (conditions, errors) in [
        ("gateway-error", "[\"unavailable\", \"overloaded\", \"deadline\"]"),
        ("'gateway-error,500'", "[\"unavailable\", \"overloaded\", \"deadline\", \"internal\"]"),
        ("'429,503-504'", "[\"unavailable\", \"overloaded\", \"rate_limited\", \"deadline\"]"),
        ("5XX", "[\"unavailable\", \"overloaded\", \"deadline\", \"internal\"]"),
    ] {
        let read = table(LINKERD, &annotated(&format!("retry.linkerd.io/http: {conditions}")));
        assert_eq!(at(&read, "retries.db.retry_on"), errors, "{conditions}");
    }
    let grpc = table(LINKERD, &annotated("retry.linkerd.io/grpc: 'unavailable,deadline-exceeded,cancelled'"));
    assert_eq!(at(&grpc, "retries.db.retry_on"), "[\"unavailable\", \"deadline\"]");
}

/// A limit says nothing of what is tried again, and one of 0 says nothing at all.
#[test]
fn limits_that_say_nothing_are_told() {
    let alone = annotated("retry.linkerd.io/limit: '3'");
    assert_eq!(at(&table(LINKERD, &alone), "clients.callers.calls.db.retry"), "\"none\"");
    assert!(is_said(&remarks(LINKERD, &alone), &["nothing is tried again"]));
    let zero = annotated("retry.linkerd.io/limit: '0', retry.linkerd.io/http: 5xx");
    assert_eq!(at(&table(LINKERD, &zero), "retries.db.max_retries"), "1");
    assert!(is_said(&remarks(LINKERD, &zero), &["0 is as if nothing was said"]));
}

#[test]
fn annotations_of_a_service_with_a_profile_do_nothing() {
    let text = format!("{}---\n{}", annotated("retry.linkerd.io/http: 5xx"), profile("routes: [{ name: a }]"));
    let read = table(LINKERD, &text);
    assert_eq!(read["clients"]["callers"]["calls"].as_table().unwrap().keys().collect::<Vec<_>>(), ["db-a"]);
    assert!(is_said(&remarks(LINKERD, &text), &["ignores its annotations"]));
}

#[test]
fn failure_accrual_is_a_breaker() {
    let key = "balancer.linkerd.io/failure-accrual";
    let text = annotated(&format!("{key}: consecutive, {key}-consecutive-max-penalty: 2m"));
    let read = table(LINKERD, &text);
    for (path, value) in [
        ("trip", "{ consecutive = 7 }"),
        ("open_for", "\"1s\""),
        ("open_factor", "2"),
        ("open_cap", "\"2m\""),
        ("open_jitter", "{ upward = 0.5 }"),
        ("half_open", "1"),
        ("failure_on", "[\"unavailable\", \"overloaded\", \"deadline\", \"internal\"]"),
    ] {
        assert_eq!(at(&read, &format!("clients.callers.calls.db.breaker.{path}")), value, "{path}");
    }
    assert!(is_said(&remarks(LINKERD, &text), &["for each endpoint"]));
    run(&imported(LINKERD, &text).scenario());
    let penalties = format!("{key}: consecutive, {key}-consecutive-min-penalty: 3m");
    assert!(is_said(&wrong(LINKERD, &annotated(&penalties)), &["3m", "not above the most, 60s"]));
}

#[test]
fn annotations_of_a_route_are_for_its_service() {
    let text = "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata:\n  name: read\n  \
                namespace: shop\n  annotations: { retry.linkerd.io/http: 5xx, retry.linkerd.io/htpp: 5xx }\nspec:\n  \
                parentRefs: [{ name: db }]\n";
    let read = table(LINKERD, text);
    assert_eq!(at(&read, "clients.callers.calls.db-read.to"), "\"db\"");
    assert!(is_said(&remarks(LINKERD, text), &["`retry.linkerd.io/htpp`", "not known"]));
    assert_eq!(import::guess(text), Some(LINKERD));
    let bare =
        "retryBudget: { retryRatio: 0.2, minRetriesPerSecond: 10, ttl: 10s }\nroutes: [{ name: a, isRetryable: true }]";
    assert_eq!(import::guess(bare), Some(LINKERD));
    assert_eq!(at(&table(LINKERD, bare), "clients.callers.calls.service-a.retry"), "\"service-a\"");
}

/// A route may have several parents, and timeouts without any annotation; those of annotations come first.
#[test]
fn timeouts_of_routes_are_for_all_their_services() {
    let route = |annotations: &str, rules: &str| {
        format!(
            "apiVersion: policy.linkerd.io/v1beta3\nkind: HTTPRoute\nmetadata:\n  name: read\n  namespace: shop\n  \
             annotations: {{ {annotations} }}\nspec:\n  parentRefs: [{{ name: db }}, {{ name: cache, namespace: other \
             }}, {{ name: db, port: 81 }}]\n  rules: {rules}\n"
        )
    };
    let one = route("", "[{ timeouts: { request: 2s, backendRequest: 300ms } }]");
    let read = table(LINKERD, &one);
    let calls = |read: &toml::Table| read["clients"]["callers"]["calls"].as_table().unwrap().clone();
    assert_eq!(calls(&read).keys().collect::<Vec<_>>(), ["db-read", "cache-other-read"]);
    for label in ["db-read", "cache-other-read"] {
        assert_eq!(at(&read, &format!("clients.callers.calls.{label}.total_timeout")), "\"2s\"");
        assert_eq!(at(&read, &format!("clients.callers.calls.{label}.timeout")), "\"300ms\"");
    }
    assert_eq!(import::guess(&one), Some(LINKERD));
    let annotated = route("timeout.linkerd.io/request: 5s", "[{ timeouts: { request: 2s } }]");
    let total = "clients.callers.calls.db-read.total_timeout";
    assert_eq!(at(&table(LINKERD, &annotated), total), "\"5s\"");
    assert!(is_said(&remarks(LINKERD, &annotated), &["`request` is not", "takes its place"]));
    let two = route("", "[{ timeouts: { request: 2s } }, { name: slow, timeouts: { request: 9s, later: 1s } }]");
    let read = table(LINKERD, &two);
    assert_eq!(at(&read, "clients.callers.calls.db-read-1.total_timeout"), "\"2s\"");
    assert_eq!(at(&read, "clients.callers.calls.db-read-slow.total_timeout"), "\"9s\"");
    assert!(is_said(&remarks(LINKERD, &two), &["`spec.rules[1].timeouts.later`", "not known"]));
}

#[test]
fn what_linkerd_refuses_is_refused() {
    let budget = |inside: &str| profile(&format!("retryBudget: {{ {inside} }}\n  {ROUTE}"));
    for (text, parts) in [
        (budget("retryRatio: 0.2, minRetriesPerSecond: 10"), ["`retryBudget` has no `ttl`", ""]),
        (budget("retryRatio: -1, ttl: 10s"), ["`retryRatio` must be from 0 to 1000", ""]),
        (budget("retryRatio: 1e400, ttl: 10s"), ["retryRatio` must be a number", "1e400"]),
        (budget("minRetriesPerSecond: 99999999999999999999, ttl: 10s"), ["`minRetriesPerSecond` must be from 0", ""]),
        (budget("ttl: -10s"), ["ttl` must be a duration", "-10s"]),
        (profile("routes: 3"), ["`spec.routes` must be a list", "a single value"]),
        (profile("routes: [3]"), ["`spec.routes[0]` must be a table", ""]),
        (profile("routes: []"), ["says nothing of how a service is called", ""]),
        (profile("routes: [{ name: a, isRetryable: maybe }]"), ["must be `true` or `false`", "maybe"]),
        (annotated("retry.linkerd.io/http: 6xx"), ["must be statuses", "6xx"]),
        (annotated("retry.linkerd.io/http: 504-500"), ["must be statuses", "504-500"]),
        (annotated("retry.linkerd.io/http: 5xx, retry.linkerd.io/limit: '70000'"), ["from 0 to 65535", "70000"]),
        (annotated("retry.linkerd.io/timeout: 1.5s"), ["must be a whole number with `ms`", "1.5s"]),
        (annotated("retry.linkerd.io/grpc: aborted"), ["no status of gRPC", ""]),
        (annotated("balancer.linkerd.io/failure-accrual: ratio"), ["must be `consecutive`", ""]),
    ] {
        let said = wrong(LINKERD, &text);
        assert!(is_said(&said, &parts), "{text}: {said:?}");
    }
}
