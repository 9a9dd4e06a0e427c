//! Clusters: what limits retries, connections and requests, and who is ejected.

use super::{ENVOY, cluster};
use crate::{at, imported, is_said, remarks, run, table};

/// Three retries at once, unless a cluster says otherwise; a budget takes the place of any number.
#[test]
fn circuit_breakers_limit_retries_at_once() {
    let limit = |thresholds: &str| {
        let text = cluster(&format!("circuit_breakers: {{ thresholds: {thresholds} }}"));
        let read = table(ENVOY, &text);
        let budget = ["share", "minimum"].map(|key| at(&read, &format!("retries.db.budget.concurrency.{key}")));
        (budget, remarks(ENVOY, &text))
    };
    let of = |share: &str, minimum: &str| [share.to_owned(), minimum.to_owned()];
    assert_eq!(limit("[]").0, of("0", "3"));
    assert_eq!(limit("[{ max_retries: 10 }]").0, of("0", "10"));
    assert_eq!(limit("[{ priority: HIGH, max_retries: 10 }]").0, of("0", "3"));
    assert!(is_said(&limit("[{ priority: HIGH, max_retries: 10 }]").1, &["no route", "`priority: HIGH`"]));
    let (both, said) = limit("[{ max_retries: 10, retry_budget: { budget_percent: { value: 33.3 } } }]");
    assert_eq!(both, of("0.333", "3"));
    assert!(is_said(&said, &["`max_retries` does not count"]), "{said:?}");
    let (empty, said) = limit("[{ max_retries: 10, retry_budget: {} }]");
    assert_eq!(empty, of("0.2", "3"), "a budget that says nothing is one");
    assert!(is_said(&said, &["`max_retries` does not count"]), "{said:?}");
    assert_eq!(limit("[{ retry_budget: { min_retry_concurrency: 7 } }]").0, of("0.2", "7"));
    assert!(is_said(&limit("[{ max_retries: 0 }]").1, &["there is never a retry"]));
    let unlimited = table(ENVOY, &cluster("circuit_breakers: { thresholds: [{ max_retries: 4294967295 }] }"));
    assert_eq!(at(&unlimited, "retries.db.budget"), "\"none\"");
}

/// Over HTTP/1.1 connections are slots that are waited for, and requests such that are not: the smaller limit is met
/// first. Over HTTP/2 there are requests alone.
#[test]
fn limits_on_connections_and_requests_are_a_pool() {
    let pool = |limits: &str, inside: &str| {
        let thresholds = format!("circuit_breakers: {{ thresholds: [{{ {limits}, max_pending_requests: 7 }}] }}");
        let text = cluster(&format!("{thresholds}\n  {inside}"));
        assert!(is_said(&remarks(ENVOY, &text), &["`max_pending_requests` is not"]));
        assert!(imported(ENVOY, &text).scenario().contains("here each call of each client has its own"));
        at(&table(ENVOY, &text), "clients.callers.calls.db.pool")
    };
    let http1 = "connect_timeout: 1s";
    assert_eq!(pool("max_connections: 5, max_requests: 9", http1), "{ size = 5, max_wait = \"none\" }");
    assert_eq!(pool("max_connections: 9, max_requests: 5", http1), "{ size = 5, max_wait = \"0s\" }");
    assert_eq!(pool("max_connections: 5, max_requests: 5", http1), "{ size = 5, max_wait = \"none\" }");
    assert_eq!(pool("max_requests: 9", http1), "{ size = 9, max_wait = \"0s\" }");
    let http2 = "typed_extension_protocol_options: { x: { explicit_http_config: { http2_protocol_options: {} } } }";
    assert_eq!(pool("max_connections: 5, max_requests: 9", http2), "{ size = 9, max_wait = \"0s\" }");
    assert_eq!(at(&table(ENVOY, &cluster("connect_timeout: 1s")), "clients.callers.calls.db.pool"), "none");
}

#[test]
fn outliers_are_ejected_by_the_counter_that_comes_first() {
    let read = |inside: &str| {
        let text = cluster(&format!("outlier_detection: {{ {inside} }}"));
        (table(ENVOY, &text), remarks(ENVOY, &text))
    };
    let (silent, said) = read("");
    for (key, value) in
        [("consecutive", "5"), ("ejected_for", "\"30s\""), ("max_ejected_for", "\"5m\""), ("max_share", "0.1")]
    {
        assert_eq!(at(&silent, &format!("services.db.ejection.{key}")), value, "{key}");
    }
    assert!(!at(&silent, "services.db.ejection.failure_on").contains("rate_limited"), "429 is no failure to Envoy");
    assert!(is_said(&said, &["success rate"]) && is_said(&said, &["of fewer than 10 servers none"]), "{said:?}");
    let (gateway, said) = read("consecutive_gateway_failure: 2, enforcing_success_rate: 0");
    assert_eq!(at(&gateway, "services.db.ejection.consecutive"), "5");
    assert!(is_said(&said, &["`consecutive_gateway_failure`", "ejects nobody"]), "{said:?}");
    assert!(!is_said(&said, &["success rate"]), "{said:?}");
    let (enforced, said) = read("consecutive_gateway_failure: 2, enforcing_consecutive_gateway_failure: 100");
    assert_eq!(at(&enforced, "services.db.ejection.consecutive"), "2");
    assert!(is_said(&said, &["counted apart"]), "{said:?}");
    let (local, _) = read("split_external_local_origin_errors: true, consecutive_local_origin_failure: 3");
    assert_eq!(at(&local, "services.db.ejection.consecutive"), "3");
    let (joined, _) = read("consecutive_local_origin_failure: 3");
    assert_eq!(at(&joined, "services.db.ejection.consecutive"), "5");
    let (off, _) = read("enforcing_consecutive_5xx: 0");
    assert_eq!(at(&off, "services.db.ejection"), "none");
    let failures = |inside: &str| at(&read(inside).0, "services.db.ejection.failure_on");
    let gateway = "enforcing_consecutive_5xx: 0, enforcing_consecutive_gateway_failure: 100";
    let answers = ["unavailable", "overloaded", "deadline"];
    let local = ["refused", "reset", "timeout"];
    let list = |of: String, with: &[&str], without: &[&str]| {
        assert!(with.iter().all(|kind| of.contains(&format!("{kind:?}"))), "{of}");
        assert!(!without.iter().any(|kind| of.contains(&format!("{kind:?}"))), "{of}");
    };
    list(failures(gateway), &[answers, local].concat(), &["internal"]);
    let split = "split_external_local_origin_errors: true";
    list(failures(&format!("{split}, enforcing_consecutive_5xx: 0")), &local, &[&answers[..], &["internal"]].concat());
    let no_local = format!("{split}, enforcing_consecutive_local_origin_failure: 0");
    list(failures(&no_local), &[&answers[..], &["internal"]].concat(), &local);
    list(failures(split), &[&answers[..], &local, &["internal"]].concat(), &["rate_limited"]);
    let (long, _) = read("base_ejection_time: 600s");
    assert_eq!(at(&long, "services.db.ejection.max_ejected_for"), "\"10m\"");
}

#[test]
fn hosts_of_a_cluster_are_servers() {
    let host = "{ endpoint: {} }";
    let hosts =
        format!("lb_policy: RANDOM\n  load_assignment: {{ endpoints: [{{ lb_endpoints: [{host}, {host}] }}] }}");
    let read = table(ENVOY, &cluster(&hosts));
    assert_eq!(at(&read, "services.db.instances"), "2");
    assert_eq!(at(&read, "services.db.balance"), "\"random\"");
    assert!(is_said(&remarks(ENVOY, &cluster("lb_policy: MAGLEV")), &["`lb_policy` is not in the scenario"]));
}

/// A try that is hedged is a retry to Envoy, and the cluster limits those.
#[test]
fn the_limit_of_retries_is_one_of_hedges() {
    let hedged = |thresholds: &str| {
        let text = cluster(&format!("circuit_breakers: {{ thresholds: [{thresholds}] }}")).replace(
            "retry_policy: { retry_on: connect-failure }",
            "retry_policy: { retry_on: 5xx, per_try_timeout: 1s }, hedge_policy: { hedge_on_per_try_timeout: true }",
        );
        (at(&table(ENVOY, &text), "clients.callers.calls.db.hedge.in_flight"), remarks(ENVOY, &text))
    };
    assert_eq!(hedged("{ max_retries: 8 }").0, "8");
    assert_eq!(hedged("{ max_retries: 0 }").0, "none");
    let (share, said) = hedged("{ retry_budget: { budget_percent: { value: 10 } } }");
    assert_eq!(share, "\"unlimited\"");
    assert!(is_said(&said, &["hedges are retries to Envoy"]), "{said:?}");
}

/// Of 2,000 calls that fail within two seconds each is tried again twice, but for Envoy's limit: three that wait for
/// 12.5 or 25 ms, on average, are 240 in a second at most.
#[test]
fn three_retries_at_once_are_few() {
    let arrivals = |thresholds: &str| {
        let text = cluster(&format!("circuit_breakers: {{ thresholds: [{thresholds}] }}"))
            .replace("connect-failure", "connect-failure, num_retries: 2");
        let scenario = imported(ENVOY, &text).scenario().replace("rate = 100 ", "rate = 1000 ");
        run(&scenario).variants[0].services["db"]["arrivals"].mean.unwrap()
    };
    let (limited, lifted) = (arrivals("{}"), arrivals("{ max_retries: 4294967295 }"));
    assert!((4_000.0..4_700.0).contains(&limited) && lifted > 7_500.0, "{limited} {lifted}");
}

/// Routes with high priority have limits of their own, be they those of the file or Envoy's.
#[test]
fn routes_with_high_priority_have_their_own_limits() {
    let minimum = |thresholds: &str| {
        let text = cluster(&format!("circuit_breakers: {{ thresholds: {thresholds} }}"))
            .replace("cluster: db,", "cluster: db, priority: HIGH,");
        (at(&table(ENVOY, &text), "retries.db.budget.concurrency.minimum"), remarks(ENVOY, &text))
    };
    let (high, said) = minimum("[{ max_retries: 10 }, { priority: HIGH, max_retries: 20 }]");
    assert_eq!(high, "20");
    assert!(!is_said(&said, &["`priority"]), "{said:?}");
    assert_eq!(minimum("[{ max_retries: 10 }]").0, "3");
}

/// What shares a limit is only what has one, and tries again.
#[test]
fn policies_share_a_limit_if_there_is_one() {
    let shares = |thresholds: &str, other: &str| {
        let route = |policy: &str| format!("{{ match: {{ prefix: / }}, route: {{ cluster: db, {policy} }} }}");
        let routes = [route("retry_policy: { retry_on: reset }"), route(other)].join(", ");
        let text = format!(
            "virtual_hosts: [{{ domains: ['*'], routes: [{routes}] }}]\nclusters: [{{ name: db, circuit_breakers: {{ \
             thresholds: [{thresholds}] }} }}]\n"
        );
        is_said(&remarks(ENVOY, &text), &["2 retry policies share this limit"])
    };
    let retries = "retry_policy: { retry_on: reset }";
    assert!(shares("{}", retries));
    assert!(!shares("{ max_retries: 0 }", retries) && !shares("{ max_retries: 4294967295 }", retries));
    assert!(!shares("{}", "retry_policy: { retry_on: reset, num_retries: 0 }"));
    assert!(!shares("{}", "priority: HIGH, retry_policy: { retry_on: reset }"));
}
