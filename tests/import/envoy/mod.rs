//! Envoy: routes, retry policies, clusters and filters.

mod clusters;
mod policies;

use stormsim::import::{self, Format};
use stormsim::scenario::Overrides;

use crate::{at, check_sample, imported, is_said, lines, parsed, remarks, table, wrong};

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
        "virtual_hosts:\n- name: all\n  domains: ['*']\n  routes:\n  - match: {{ prefix: / }}\n    route: {{ \
         cluster: db, retry_policy: {{ retry_on: connect-failure }} }}\n---\nclusters:\n- name: db\n  {inside}\n"
    )
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
            "domains: ['*']\n{host}\nroutes:\n- match: {{ path: /a }}\n  route: {{ cluster: db, {one} }}\n- \
             match: {{ path: /b }}\n  route: {{ cluster: db, {other} }}\n"
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
                "static_resources: {{ listeners: [{{ filter_chains: [{{ filters: [{{ typed_config: {{ \
                 route_config: {{ {hosts} }} }} }}] }}] }}] }}"
            ),
            "db",
        ),
        (hosts.clone(), "db"),
        (
            format!(
                "{{ \"resources\": [{{ '@type': type.googleapis.com/envoy.config.route.v3.RouteConfiguration, \
                 {hosts} }}] }}"
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
                "configs: [{{ '@type': envoy.admin.v3.RoutesConfigDump, dynamic_route_configs: [{{ route_config: \
                 {{ {hosts} }} }}] }}]"
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

/// What was put together by hand has parts side by side: none takes the place of another.
#[test]
fn parts_beside_each_other_are_all_read() {
    let hosts = "virtual_hosts: [{ domains: ['*'], routes: [{ match: { prefix: / }, route: { cluster: db, retry_policy: { \
                 retry_on: reset } } }] }]\n";
    let clusters = "clusters: [{ name: db, connect_timeout: 1s }]\n";
    let policy = "retry_policy: { retry_on: reset, num_retries: 4 }\n";
    for text in [format!("{hosts}{clusters}"), format!("{policy}{clusters}"), format!("{clusters}{policy}")] {
        let read = table(ENVOY, &text);
        assert_eq!(at(&read, "clients.callers.calls.db.connect_timeout"), "\"1s\"", "{text}");
        assert_eq!(at(&read, "clients.callers.calls.db.retry"), "\"db\"", "{text}");
        assert_eq!(read["clients"]["callers"]["calls"].as_table().unwrap().len(), 1, "{text}");
        assert!(!is_said(&remarks(ENVOY, &text), &["not known"]), "{text}");
    }
}

/// In a dump of what runs, the bootstrap has again what the other parts have.
#[test]
fn a_dump_is_read_once() {
    let cluster = "{ name: db, connect_timeout: 1s }";
    let text = format!(
        "configs:\n- '@type': type.googleapis.com/envoy.admin.v3.BootstrapConfigDump\n  bootstrap: {{ \
         static_resources: {{ clusters: [{cluster}] }} }}\n- '@type': \
         type.googleapis.com/envoy.admin.v3.ClustersConfigDump\n  static_clusters: [{{ cluster: {cluster} }}]\n"
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
            "http_filters: [{ name: admission_control, typed_config: { sampling_window: 0s } }]\nroute_config: { \
             virtual_hosts: [{ domains: ['*'], routes: [{ match: { prefix: / }, route: { cluster: db } }] }] }"
                .to_owned(),
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
        let is_homeless = is_said(&lines(&merged.notes), &["no call"]);
        assert!(!is_homeless && merged.text.contains("# ours"), "{}", merged.text);
        let read: toml::Table = merged.text.parse().unwrap();
        for (path, value) in [
            ("clients.web.calls.db.timeout", "\"9s\""),
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
    let merged = imported(ENVOY, &text).merged_into(alone).unwrap();
    let notes = lines(&merged.notes);
    assert!(notes.len() == 1 && notes[0].contains("retry = \"db\""), "{notes:?}");
    // Nothing is lost: the settings are there to be put where they belong.
    assert!(merged.text.contains("\n# [clients.callers.calls.db]\n# total_timeout = \"15s\""), "{}", merged.text);
}
