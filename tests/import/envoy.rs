//! Envoy: routes, retry policies, clusters and filters.

use stormsim::import::{self, Format};
use stormsim::scenario::Overrides;

use crate::{at, check_sample, imported, is_said, parsed, remarks, run, table, wrong};

const ENVOY: Format = Format::Envoy;

#[test]
fn the_sample() {
    check_sample(ENVOY, "envoy-route-cluster.yaml");
}

/// A route to a cluster `db`, with this retry policy.
fn policy(policy: &str) -> String {
    route(&format!("retry_policy: {policy}"))
}

/// A route to a cluster `db`, with this in it.
fn route(action: &str) -> String {
    format!("match: {{ prefix: / }}\nroute:\n  cluster: db\n  {action}\n")
}

/// A cluster `db` with this in it, and a route to it that retries.
fn cluster(inside: &str) -> String {
    format!(
        "virtual_hosts:\n- name: all\n  domains: ['*']\n  routes:\n  - match: {{ prefix: / }}\n    route: {{ cluster: db, \
         retry_policy: {{ retry_on: connect-failure }} }}\n---\nclusters:\n- name: db\n  {inside}\n"
    )
}

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
        ("connect-failure,refused-stream", "\"refused\""),
        ("envoy-ratelimited", "\"rate_limited\""),
        ("unavailable, internal ,deadline-exceeded", "\"unavailable\", \"deadline\", \"internal\""),
        ("resource-exhausted", "\"overloaded\", \"rate_limited\""),
        ("retriable-4xx,cancelled,retriable-headers,connect-failure", "\"refused\""),
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
    let both = policy("{ retry_on: 'reset,retriable-status-codes', retriable_status_codes: [503, 429, 502] }");
    let read = table(ENVOY, &both);
    let errors = "[\"unavailable\", \"refused\", \"reset\", \"overloaded\", \"rate_limited\", \"timeout\"]";
    assert_eq!(at(&read, "retries.db.retry_on"), errors);
    let said = remarks(ENVOY, &both);
    assert!(is_said(&said, &["status 502"]) && is_said(&said, &["429", "x-envoy-ratelimited"]), "{said:?}");
    let list = policy("{ retry_on: connect-failure, retriable_status_codes: [503] }");
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
    assert!(is_said(&limit("[{ priority: HIGH, max_retries: 10 }]").1, &["`priority`", "`DEFAULT`"]));
    let (both, said) = limit("[{ max_retries: 10, retry_budget: { budget_percent: { value: 33.3 } } }]");
    assert_eq!(both, of("0.333", "3"));
    assert!(is_said(&said, &["`max_retries` does not count"]), "{said:?}");
    let (empty, said) = limit("[{ max_retries: 10, retry_budget: {} }]");
    assert_eq!(empty, of("0", "10"));
    assert!(is_said(&said, &["says nothing, and is none"]), "{said:?}");
    assert_eq!(limit("[{ retry_budget: { min_retry_concurrency: 7 } }]").0, of("0.2", "7"));
    assert!(is_said(&limit("[{ max_retries: 0 }]").1, &["there is never a retry"]));
    let unlimited = table(ENVOY, &cluster("circuit_breakers: { thresholds: [{ max_retries: 4294967295 }] }"));
    assert_eq!(at(&unlimited, "retries.db.budget"), "\"none\"");
}

/// Over HTTP/1.1 connections are slots that are waited for; over HTTP/2 there are requests, and none waits.
#[test]
fn limits_on_connections_and_requests_are_a_pool() {
    let pool = |inside: &str| {
        let thresholds =
            "circuit_breakers: { thresholds: [{ max_connections: 5, max_requests: 9, max_pending_requests: 7 }] }";
        let text = cluster(&format!("{thresholds}\n  {inside}"));
        assert!(is_said(&remarks(ENVOY, &text), &["`max_pending_requests` is not"]));
        at(&table(ENVOY, &text), "clients.callers.calls.db.pool")
    };
    assert_eq!(pool("connect_timeout: 1s"), "{ size = 5, max_wait = \"none\" }");
    let http2 = "typed_extension_protocol_options: { x: { explicit_http_config: { http2_protocol_options: {} } } }";
    assert_eq!(pool(http2), "{ size = 9, max_wait = \"0s\" }");
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

#[test]
fn admission_control_is_a_throttle() {
    let filters = |config: &str| {
        format!(
            "http_filters:\n- name: envoy.filters.http.admission_control\n  typed_config: {config}\nroute_config:\n  \
             virtual_hosts:\n  - domains: ['*']\n    routes: [{{ match: {{ prefix: / }}, route: {{ cluster: db }} }}]\n"
        )
    };
    let throttle = |config: &str| {
        let read = table(ENVOY, &filters(config));
        ["success", "aggression", "max", "window", "failure_on"]
            .map(|key| at(&read, &format!("clients.callers.calls.db.throttle.admission.{key}")))
    };
    let silent = throttle("{}");
    assert_eq!(silent[..4], ["0.95", "1", "0.8", "\"30s\""]);
    assert!(silent[4].contains("\"internal\"") && !silent[4].contains("\"rate_limited\""), "{silent:?}");
    let said = throttle(
        "{ sr_threshold: { default_value: { value: 90 } }, aggression: { default_value: 0.3 }, success_criteria: { \
         http_criteria: { http_success_status: [{ start: 100, end: 400 }] } } }",
    );
    assert_eq!(said[..2], ["0.9", "1"], "below 1 the aggression is 1");
    assert!(said[4].contains("\"rate_limited\"") && said[4].contains("\"invalid\""), "{said:?}");
    assert!(is_said(&remarks(ENVOY, &filters("{}")), &["once for a request, before its retries"]));
    let off = table(ENVOY, &filters("{ enabled: { default_value: false } }"));
    assert_eq!(at(&off, "clients.callers.calls.db.throttle"), "none");
}

/// The policy of a virtual host is one for all of its routes to a cluster, those of routes are one each: their limit
/// is shared in Envoy, and not in a scenario.
#[test]
fn policies_of_hosts_are_shared() {
    let host = |host: &str, one: &str, other: &str| {
        format!(
            "domains: ['*']\n{host}\nroutes:\n- match: {{ path: /a }}\n  route: {{ cluster: db, {one} }}\n- match: {{ path: \
             /b }}\n  route: {{ cluster: db, {other} }}\n"
        )
    };
    let policy = "retry_policy: { retry_on: reset }";
    let shared = host(policy, "timeout: 1s", "timeout: 2s");
    let read = table(ENVOY, &shared);
    assert_eq!(read["retries"].as_table().unwrap().len(), 1);
    for label in ["db-a", "db-b"] {
        assert_eq!(at(&read, &format!("clients.callers.calls.{label}.retry")), "\"db-a\"");
    }
    assert!(!is_said(&remarks(ENVOY, &shared), &["share this limit"]));
    let own = host("", policy, policy);
    assert_eq!(table(ENVOY, &own)["retries"].as_table().unwrap().len(), 2);
    assert!(is_said(&remarks(ENVOY, &own), &["2 retry policies share this limit"]));
}

#[test]
fn a_route_to_several_clusters_is_several_calls() {
    let text = "match: { prefix: / }\nroute: { weighted_clusters: { clusters: [{ name: old, weight: 90 }, { name: new, \
                weight: 10 }] }, retry_policy: { retry_on: reset } }\n";
    let read = table(ENVOY, text);
    assert_eq!(read["clients"]["callers"]["calls"].as_table().unwrap().keys().collect::<Vec<_>>(), ["old", "new"]);
    assert!(is_said(&remarks(ENVOY, text), &["`weighted_clusters`", "`weight`"]));
}

/// Files are often a part of a configuration, or what a running Envoy says of it.
#[test]
fn any_part_of_a_configuration_is_read() {
    let route = "{ match: { prefix: / }, route: { cluster: db, retry_policy: { retry_on: reset } } }";
    let hosts = format!("virtual_hosts: [{{ name: all, domains: ['*'], routes: [{route}] }}]");
    for (text, calls) in [
        (
            format!(
                "static_resources: {{ listeners: [{{ filter_chains: [{{ filters: [{{ typed_config: {{ route_config: {{ {hosts} }} }} }}] }}] }}] }}"
            ),
            "db",
        ),
        (hosts.clone(), "db"),
        (
            format!(
                "{{ \"resources\": [{{ '@type': type.googleapis.com/envoy.config.route.v3.RouteConfiguration, {hosts} }}] }}"
            ),
            "db",
        ),
        (format!("domains: ['*']\nroutes: [{route}]"), "db"),
        (route.to_owned(), "db"),
        ("retry_policy: { retry_on: reset }".to_owned(), "upstream"),
        ("retry_on: reset\nnum_retries: 3".to_owned(), "upstream"),
        ("{\"retryOn\": \"reset\", \"numRetries\": 3}".to_owned(), "upstream"),
        ("clusters: [{ name: db, connect_timeout: 1s }]".to_owned(), "db"),
        ("name: db\ncircuit_breakers: { thresholds: [{ max_retries: 1 }] }".to_owned(), "db"),
        (
            format!(
                "configs: [{{ '@type': envoy.admin.v3.RoutesConfigDump, dynamic_route_configs: [{{ route_config: {{ {hosts} }} }}] }}]"
            ),
            "db",
        ),
    ] {
        let read = table(ENVOY, &text);
        let found: Vec<&String> = read["clients"]["callers"]["calls"].as_table().unwrap().keys().collect();
        assert_eq!(found, [calls], "{text}");
        assert_eq!(import::guess(&text), Some(ENVOY), "{text}");
    }
}

/// In a dump of what runs, the bootstrap has again what the other parts have.
#[test]
fn a_dump_is_read_once() {
    let cluster = "{ name: db, connect_timeout: 1s }";
    let text = format!(
        "configs:\n- '@type': type.googleapis.com/envoy.admin.v3.BootstrapConfigDump\n  bootstrap: {{ static_resources: {{ \
         clusters: [{cluster}] }} }}\n- '@type': type.googleapis.com/envoy.admin.v3.ClustersConfigDump\n  static_clusters: \
         [{{ cluster: {cluster} }}]\n"
    );
    assert_eq!(at(&table(ENVOY, &text), "clients.callers.calls.db.connect_timeout"), "\"1s\"");
}

#[test]
fn what_envoy_refuses_is_refused() {
    for (text, parts) in [
        (policy("5"), ["`route.retry_policy` must be a table", "a single value"]),
        (policy("{ retry_on: [reset] }"), ["`route.retry_policy.retry_on` must be a single value", "a list"]),
        (policy("{ retry_on: reset, num_retries: -1 }"), ["num_retries` must be a whole number", "-1"]),
        (policy("{ retry_on: reset, num_retries: 99999999999999999999 }"), ["num_retries` must be", "4294967295"]),
        (policy("{ retry_on: reset, per_try_timeout: -1s }"), ["per_try_timeout` must be seconds", "-1s"]),
        (policy("{ retry_on: reset, per_try_timeout: 1e400s }"), ["per_try_timeout` must be seconds", "1e400s"]),
        (policy("{ retry_on: reset, per_try_timeout: 800ms }"), ["per_try_timeout` must be seconds", "800ms"]),
        (policy("{ retry_on: reset, retriable_status_codes: [99] }"), ["must be a status of HTTP", "99"]),
        (policy("{ retry_on: reset, retry_back_off: {} }"), ["no `base_interval`", "refuses"]),
        (
            policy("{ retry_on: reset, retry_back_off: { base_interval: 0s } }"),
            ["base_interval` must be longer than zero", "0s"],
        ),
        (
            policy("{ retry_on: reset, retry_back_off: { base_interval: 2s, max_interval: 1s } }"),
            ["below `base_interval`", ""],
        ),
        (
            "http_filters: [{ name: admission_control, typed_config: { sampling_window: 0s } }]\nroute_config: { virtual_hosts: [{ \
             domains: ['*'], routes: [{ match: { prefix: / }, route: { cluster: db } }] }] }".to_owned(),
            ["sampling_window` must be longer than zero", "0s"],
        ),
        (policy("{ retry_on: '${CONDITIONS}' }"), ["is a placeholder", "retry_on"]),
        (cluster("connect_timeout: 0s"), ["connect_timeout` must be longer than zero", "0s"]),
        (cluster("outlier_detection: { max_ejection_percent: 101 }"), ["from 0 to 100", "101"]),
        (cluster("circuit_breakers: { thresholds: 3 }"), ["must be a list", "thresholds"]),
        ("virtual_hosts: []".to_owned(), ["there is no route to a cluster", ""]),
        ("clusters: [{ name: db, type: STATIC }, { name: db }]".to_owned(), ["there twice", ""]),
    ] {
        let said = wrong(ENVOY, &text);
        assert!(is_said(&said, &parts), "{text}: {said:?}");
    }
}

const INLINE: &str =
    "clients.web = { arrivals = { poisson = { rate = 5 } }, calls = { db = { timeout = \"9s\" } } } # ours\n";
const DOTTED: &str =
    "[clients.web]\narrivals.poisson.rate = 5\n# ours\ncalls.db.timeout = \"9s\"\ncalls.db.pool.size = 1\n";
const HEADER: &str = "[clients.web]\narrivals.poisson.rate = 5\n[clients.web.calls.db]\n# ours\ntimeout = \"9s\"\n\
                      [clients.web.calls.db.pool]\nsize = 1\n";

/// Settings go into the calls of a scenario in whatever form those are, in place of what was there.
#[test]
fn settings_go_into_a_scenario_that_is_there() {
    let thresholds = "circuit_breakers: { thresholds: [{ max_connections: 5 }] }";
    let text = cluster(&format!("{thresholds}\n  outlier_detection: {{ consecutive_5xx: 2 }}"));
    for calls in [INLINE, DOTTED, HEADER] {
        let scenario =
            format!("version = 1\nname = \"ours\"\nhorizon = \"4s\"\n{calls}[services.db]\nservice_time = \"1ms\"\n");
        let merged = imported(ENVOY, &text).merged_into(&scenario).unwrap();
        assert!(merged.homeless.is_empty() && merged.text.contains("# ours"), "{}", merged.text);
        let read: toml::Table = merged.text.parse().unwrap();
        for (path, value) in [
            ("clients.web.calls.db.timeout", "\"none\""),
            ("clients.web.calls.db.total_timeout", "\"15s\""),
            ("clients.web.calls.db.pool.size", "5"),
            ("clients.web.calls.db.retry", "\"db\""),
            ("services.db.ejection.consecutive", "2"),
            ("services.db.service_time", "\"1ms\""),
        ] {
            assert_eq!(at(&read, path), value, "{path}:\n{}", merged.text);
        }
        parsed(&merged.text, &Overrides::default());
    }
    let alone =
        "version = 1\nname = \"ours\"\n[clients.web]\narrivals.burst = {}\ncalls.cache = {}\n[services.cache]\n";
    let homeless = imported(ENVOY, &text).merged_into(alone).unwrap().homeless;
    assert!(homeless.len() == 1 && homeless[0].contains("retry = \"db\""), "{homeless:?}");
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
