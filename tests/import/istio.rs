//! Istio: virtual services and destination rules.

use stormsim::import::{self, Format};

use crate::{at, check_sample, imported, is_said, remarks, table, wrong};

const ISTIO: Format = Format::Istio;

#[test]
fn the_sample() {
    check_sample(ISTIO, "istio-virtualservice-destinationrule.yaml");
}

/// A virtual service with one route to `db`, with this in it.
fn route(inside: &str) -> String {
    format!(
        "apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {{ name: db, namespace: shop }}\nspec:\n  \
         hosts: [db]\n  http:\n  - route: [{{ destination: {{ host: db }} }}]\n    {inside}\n"
    )
}

/// A destination rule for `db`, with this traffic policy, and maybe more.
fn rule(traffic: &str) -> String {
    format!(
        "apiVersion: networking.istio.io/v1\nkind: DestinationRule\nmetadata: {{ name: db, namespace: shop \
         }}\nspec:\n  host: db.shop.svc.cluster.local\n  trafficPolicy: {traffic}\n"
    )
}

/// A route without a word on retries has two of them; a block that does not say how many turns them off.
#[test]
fn attempts_are_retries_and_their_absence_is_none() {
    for (retries, max, retry) in [
        ("timeout: 1s", "2", "\"db\""),
        ("retries: { attempts: 3 }", "3", "\"db\""),
        ("retries: { attempts: 0 }", "none", "\"none\""),
        ("retries: { perTryTimeout: 2s }", "none", "\"none\""),
    ] {
        let read = table(ISTIO, &route(retries));
        assert_eq!(at(&read, "retries.db.max_retries"), max, "{retries}");
        assert_eq!(at(&read, "clients.callers.calls.db.retry"), retry, "{retries}");
    }
    let said = |inside: &str| remarks(ISTIO, &route(inside));
    assert!(is_said(&said("timeout: 1s"), &["tries this again twice"]));
    assert!(is_said(&said("retries: { attempts: 3 }"), &["`attempts: 3` is 3 retries, and 4 calls"]));
    assert!(is_said(&said("retries: { perTryTimeout: 2s }"), &["without `attempts` turns retries off"]));
    assert!(!is_said(&said("retries: { attempts: 0 }"), &["`attempts`"]));
}

#[test]
fn what_nobody_says_is_what_istio_does() {
    let text = imported(ISTIO, &route("retries: { attempts: 1 }")).scenario();
    let table: toml::Table = text.parse().unwrap();
    for (path, value) in [
        ("clients.callers.calls.db.total_timeout", "\"none\""),
        ("clients.callers.calls.db.timeout", "\"none\""),
        ("clients.callers.calls.db.connect_timeout", "\"10s\""),
        ("clients.callers.calls.db.avoid_previous", "true"),
        ("retries.db.retry_on", "[\"unavailable\", \"refused\", \"timeout\"]"),
        ("services.db.balance", "\"two_choices\""),
        ("retries.db.backoff.exponential.base", "\"25ms\""),
        ("retries.db.cap", "\"250ms\""),
        ("retries.db.jitter", "\"full\""),
        ("retries.db.granularity", "\"1ms\""),
        ("retries.db.budget", "\"none\""),
        ("retries.db.shared_by", "\"instance\""),
    ] {
        assert_eq!(at(&table, path), value, "{path}");
    }
    let said = remarks(ISTIO, &route("retries: { attempts: 1 }"));
    assert!(is_said(&said, &["waits without end"]) && is_said(&said, &["nothing limits how many retries"]), "{said:?}");
    assert!(!is_said(&remarks(ISTIO, &route("timeout: 3s")), &["waits without end"]));
}

/// Numbers in the list are statuses, of the service itself; `unavailable` is that of gRPC.
#[test]
fn retry_on_has_statuses_in_it() {
    let on = |list: &str| {
        let text = route(&format!("retries: {{ attempts: 1, retryOn: '{list}' }}"));
        (at(&table(ISTIO, &text), "retries.db.retry_on"), remarks(ISTIO, &text))
    };
    let (errors, said) = on("connect-failure,503,429");
    assert_eq!(errors, "[\"unavailable\", \"refused\", \"overloaded\", \"rate_limited\", \"timeout\"]");
    assert!(is_said(&said, &["503 is that of the service itself"]), "{said:?}");
    assert!(!is_said(&on("reset,503").1, &["503 is that"]));
    let (errors, said) = on("connect-failure,unavailable");
    assert_eq!(errors, "[\"unavailable\", \"refused\", \"timeout\"]");
    assert!(is_said(&said, &["503 of HTTP is not tried again"]), "{said:?}");
    assert_eq!(on("5xx").0.matches('"').count(), 14);
    assert!(is_said(&on("5xx").1, &["an attempt that hangs is not tried again", "nothing does"]));
}

#[test]
fn attempts_must_fit_into_the_timeout_of_the_route() {
    let with = |total: &str, more: &str| {
        let retries = format!("retries: {{ attempts: 3, perTryTimeout: 900ms{more} }}");
        remarks(ISTIO, &route(&format!("timeout: {total}\n    {retries}")))
    };
    let said = |total: &str| with(total, ", retryOn: reset");
    assert!(is_said(&said("3s"), &["4 attempts of 900ms do not fit", "3s"]));
    assert!(!is_said(&said("4s"), &["do not fit"]) && !is_said(&said("0s"), &["do not fit"]));
    let pointless = with("3s", "");
    assert!(is_said(&pointless, &["a try that takes too long is not tried again", "add `reset`"]), "{pointless:?}");
    assert!(!is_said(&pointless, &["do not fit"]), "{pointless:?}");
}

/// Where a try has a timeout, one of a connection is the same error, and is left out.
#[test]
fn slow_connections_are_tried_again_where_no_slow_try_would_be() {
    let read = table(ISTIO, &route("retries: { attempts: 1, perTryTimeout: 1s }"));
    assert_eq!(at(&read, "retries.db.retry_on"), "[\"unavailable\", \"refused\"]");
}

#[test]
fn servers_are_picked_by_their_load_unless_a_rule_says_otherwise() {
    let balance = |traffic: &str| at(&table(ISTIO, &rule(traffic)), "services.db.balance");
    assert_eq!(balance("{ outlierDetection: {} }"), "\"two_choices\"");
    assert_eq!(balance("{ loadBalancer: { localityLbSetting: {} } }"), "\"two_choices\"");
    assert_eq!(balance("{ loadBalancer: { simple: ROUND_ROBIN } }"), "\"round_robin\"");
    assert_eq!(balance("{ loadBalancer: { consistentHash: { useSourceIp: true } } }"), "none");
}

/// Of the rules for a host the one with the longest name counts; one that is for no host of the file is kept.
#[test]
fn rules_for_many_hosts_are_for_those_of_the_file() {
    let rule_for = |host: &str, retries: i64| {
        rule(&format!("{{ connectionPool: {{ http: {{ maxRetries: {retries} }} }} }}"))
            .replace("host: db.shop.svc.cluster.local", &format!("host: '{host}'"))
    };
    let minimum = |rules: &[String]| {
        let text = [&[route("retries: { attempts: 1 }")], rules].concat().join("---\n");
        at(&table(ISTIO, &text), "retries.db.budget.concurrency.minimum")
    };
    let (all, shop) = (rule_for("*", 7), rule_for("*.shop.svc.cluster.local", 8));
    let (own, other) = (rule_for("db.shop.svc.cluster.local", 9), rule_for("*.other.svc.cluster.local", 6));
    assert_eq!(minimum(std::slice::from_ref(&all)), "7");
    assert_eq!(minimum(&[all.clone(), shop.clone(), other.clone()]), "8");
    assert_eq!(minimum(&[own, all, shop]), "9");
    let read = table(ISTIO, &other);
    assert_eq!(at(&read, "retries.any-other.budget.concurrency.minimum"), "6");
    assert!(is_said(&remarks(ISTIO, &other), &["for all hosts `*.other.svc.cluster.local`"]));
}

#[test]
fn backoff_is_the_base_of_envoys() {
    let read = table(ISTIO, &route("retries: { attempts: 3, backoff: 2s }"));
    assert_eq!(at(&read, "retries.db.backoff.exponential.base"), "\"2s\"");
    assert_eq!(at(&read, "retries.db.cap"), "\"20s\"");
}

/// Istio lifts Envoy's limit of three retries at once. To say 0 is to say nothing.
#[test]
fn retries_at_once_have_no_limit_unless_a_rule_has_one() {
    let limit = |traffic: &str| {
        let text = format!("{}---\n{}", route("retries: { attempts: 1 }"), rule(traffic));
        (at(&table(ISTIO, &text), "retries.db.budget"), remarks(ISTIO, &text))
    };
    let uncapped = "nothing limits how many retries";
    let (zero, said) = limit("{ connectionPool: { http: { maxRetries: 0 } } }");
    assert_eq!(zero, "\"none\"");
    assert!(is_said(&said, &["0 does not turn retries off"]) && is_said(&said, &[uncapped]), "{said:?}");
    let (number, said) = limit("{ connectionPool: { http: { maxRetries: 20 } } }");
    assert_eq!(number, "{ concurrency = { share = 0, minimum = 20 } }");
    assert!(!is_said(&said, &[uncapped]), "{said:?}");
    let (budget, said) = limit("{ retryBudget: { percent: 15 }, connectionPool: { http: { maxRetries: 20 } } }");
    assert_eq!(budget, "{ concurrency = { share = 0.15, minimum = 3 } }");
    assert!(is_said(&said, &["`maxRetries` does not count"]), "{said:?}");
}

/// It is told once for a host, at the first route that tries again.
#[test]
fn retries_without_a_limit_are_told_once() {
    let other = "  - route: [{ destination: { host: db } }]\n    timeout: 1s\n";
    let said = remarks(ISTIO, &(route("retries: { attempts: 0 }") + other + other));
    assert_eq!(said.iter().filter(|line| line.contains("nothing limits how many retries")).count(), 1, "{said:?}");
}

/// A subset has its own for what it says, and that of the host for the rest.
#[test]
fn subsets_say_some_of_it_anew() {
    let to = route("retries: { attempts: 1 }").replace("host: db }", "host: db, subset: v2 }");
    let pool = "{ connectionPool: { tcp: { connectTimeout: 1s } }, retryBudget: { percent: 10 } }";
    let subset = "  subsets: [{ name: v2, trafficPolicy: { connectionPool: { tcp: { connectTimeout: 2s } } } }]\n";
    let read = table(ISTIO, &format!("{to}---\n{}{subset}", rule(pool)));
    assert_eq!(at(&read, "clients.callers.calls.db.connect_timeout"), "\"2s\"");
    assert_eq!(at(&read, "retries.db.budget.concurrency.share"), "0.1");
}

#[test]
fn of_two_rules_for_a_host_the_first_counts() {
    let text = format!(
        "{}---\n{}",
        rule("{ connectionPool: { http: { maxRetries: 7 } }, outlierDetection: {} }"),
        rule("{ connectionPool: { http: { maxRetries: 8 } }, outlierDetection: {} }")
    );
    let read = table(ISTIO, &text);
    assert_eq!(at(&read, "retries.db.budget.concurrency.minimum"), "7");
    assert_eq!(read["services"].as_table().unwrap().len(), 1);
    assert!(is_said(&remarks(ISTIO, &text), &["has a rule already"]));
}

/// Istio makes a route to every service, and retries there as well.
#[test]
fn a_rule_alone_has_the_route_that_istio_makes() {
    let read = table(ISTIO, &rule("{ connectionPool: { http: { maxRetries: 7 } } }"));
    assert_eq!(at(&read, "retries.db.max_retries"), "2");
    assert_eq!(at(&read, "retries.db.budget.concurrency.minimum"), "7");
    let both = format!("{}---\n{}", route("retries: { attempts: 0 }"), rule("{}"));
    assert_eq!(table(ISTIO, &both)["clients"]["callers"]["calls"].as_table().unwrap().len(), 1);
}

#[test]
fn hosts_are_told_apart_by_their_namespace() {
    let elsewhere = route("timeout: 1s").replace("host: db }", "host: db.other.svc.cluster.local }");
    let read =
        table(ISTIO, &format!("{elsewhere}---\n{}", rule("{ connectionPool: { tcp: { connectTimeout: 1s } } }")));
    assert_eq!(at(&read, "clients.callers.calls.db-other.connect_timeout"), "\"10s\"");
    assert_eq!(at(&read, "clients.callers.calls.db.connect_timeout"), "\"1s\"");
}

#[test]
fn hosts_of_a_hash_are_tried_again() {
    let hash = rule("{ loadBalancer: { consistentHash: { httpHeaderName: user } } }");
    let read = table(ISTIO, &format!("{}---\n{hash}", route("retries: { attempts: 1 }")));
    assert_eq!(at(&read, "clients.callers.calls.db.avoid_previous"), "false");
    let said = "retries: { attempts: 1, retryIgnorePreviousHosts: false }";
    assert_eq!(at(&table(ISTIO, &route(said)), "clients.callers.calls.db.avoid_previous"), "false");
}

#[test]
fn connection_pools_are_pools() {
    let pool = |http: &str| {
        let text = rule(&format!(
            "{{ connectionPool: {{ tcp: {{ maxConnections: 5 }}, http: {{ http2MaxRequests: 9 {http} }} }} }}"
        ));
        at(&table(ISTIO, &text), "clients.callers.calls.db.pool")
    };
    assert_eq!(pool(""), "{ size = 5, max_wait = \"none\" }");
    let requests = rule("{ connectionPool: { http: { http2MaxRequests: 9 } } }");
    let read = at(&table(ISTIO, &requests), "clients.callers.calls.db.pool");
    assert_eq!(read, "{ size = 9, max_wait = \"0s\" }");
    assert_eq!(pool(", h2UpgradePolicy: UPGRADE"), "{ size = 9, max_wait = \"0s\" }");
}

#[test]
fn outliers_are_ejected_if_a_rule_says_so() {
    let ejection = |traffic: &str| {
        let text = rule(traffic);
        (at(&table(ISTIO, &text), "services.db.ejection.consecutive"), remarks(ISTIO, &text))
    };
    assert_eq!(ejection("{}").0, "none");
    assert_eq!(ejection("{ outlierDetection: {} }").0, "5");
    assert_eq!(ejection("{ outlierDetection: { consecutive5xxErrors: 0 } }").0, "none");
    assert_eq!(ejection("{ outlierDetection: { consecutiveGatewayErrors: 2 } }").0, "2");
    assert_eq!(ejection("{ outlierDetection: { consecutive5xxErrors: 0, consecutiveGatewayErrors: 9 } }").0, "9");
    assert_eq!(ejection("{ outlierDetection: { consecutiveLocalOriginFailures: 2 } }").0, "5");
    let gateway = rule("{ outlierDetection: { consecutive5xxErrors: 0, consecutiveGatewayErrors: 9 } }");
    let failures = at(&table(ISTIO, &gateway), "services.db.ejection.failure_on");
    let expected = "[\"unavailable\", \"refused\", \"reset\", \"overloaded\", \"timeout\", \"deadline\"]";
    assert_eq!(failures, expected);
    let split = "{ outlierDetection: { splitExternalLocalOriginErrors: true, consecutiveLocalOriginFailures: 2 } }";
    assert_eq!(ejection(split).0, "2");
    let (old, said) = ejection("{ outlierDetection: { consecutiveErrors: 1 } }");
    assert_eq!(old, "5");
    assert!(is_said(&said, &["`consecutiveErrors` is deprecated"]), "{said:?}");
    assert!(!is_said(&said, &["success rate"]), "Istio turns that off: {said:?}");
}

#[test]
fn a_part_of_a_configuration_is_read() {
    let list = format!("kind: List\napiVersion: v1\nitems:\n- {}", rule("{}").trim_end().replace('\n', "\n  "));
    let bare = "http: [{ route: [{ destination: { host: db } }], retries: { attempts: 4 } }]";
    let traffic = "host: db\ntrafficPolicy: { retryBudget: {} }";
    for text in [list.as_str(), bare, traffic] {
        assert_eq!(at(&table(ISTIO, text), "clients.callers.calls.db.retry"), "\"db\"", "{text}");
        assert_eq!(import::guess(text), Some(ISTIO), "{text}");
    }
}

/// What else is in the file may well be about retries.
#[test]
fn what_is_not_read_is_told() {
    let others = "---\napiVersion: networking.istio.io/v1alpha3\nkind: EnvoyFilter\nspec: {}\n---\napiVersion: \
                  gateway.networking.k8s.io/v1\nkind: HTTPRoute\nspec: {}\n---\napiVersion: apps/v1\nkind: \
                  Deployment\n";
    let said = remarks(ISTIO, &format!("{}{others}", route("timeout: 1s\n    fault: { abort: {} }\n    retrys: {}")));
    for parts in [
        ["`EnvoyFilter`", "not read"],
        ["`HTTPRoute`", "not read"],
        ["`fault`", "as a fault"],
        ["`spec.http[0].retrys`", "not known"],
    ] {
        assert!(is_said(&said, &parts), "{parts:?}: {said:?}");
    }
}

#[test]
fn what_istio_refuses_is_refused() {
    for (text, parts) in [
        (route("retries: 3"), ["`spec.http[0].retries` must be a table", "a single value"]),
        (route("retries: { attempts: -1 }"), ["attempts` must be a whole number", "-1"]),
        (route("retries: { attempts: 1e400 }"), ["attempts` must be a whole number", "1e400"]),
        (route("retries: { attempts: 1, perTryTimeout: 2 }"), ["perTryTimeout` must be a duration", "2"]),
        (route("timeout: -1s"), ["timeout` must be a duration", "-1s"]),
        (route("retries: { attempts: 1, retryOn: [5xx] }"), ["retryOn` must be a single value", "a list"]),
        (rule("[]"), ["`spec.trafficPolicy` must be a table", "a list"]),
        (rule("{ outlierDetection: { baseEjectionTime: 0s } }"), ["baseEjectionTime` must be longer than zero", "0s"]),
        (rule("{ outlierDetection: { maxEjectionPercent: 200 } }"), ["from 0 to 100", "200"]),
        ("apiVersion: networking.istio.io/v1\nkind: Gateway\n".to_owned(), ["there is no route over HTTP", ""]),
    ] {
        let said = wrong(ISTIO, &text);
        assert!(is_said(&said, &parts), "{text}: {said:?}");
    }
    let empty = wrong(ISTIO, &route("retries: {}").replace("- route: [{ destination: { host: db } }]", "- route: []"));
    assert!(is_said(&empty, &["there is no route over HTTP"]), "{empty:?}");
}

/// Manifests often leave the namespace to whoever applies them: a rule for `db` is for `db.shop.svc.cluster.local`, too,
/// but a rule of another namespace that says so is not.
#[test]
fn a_host_without_a_namespace_is_that_service() {
    let long = route("").replace("host: db }", "host: db.shop.svc.cluster.local }");
    let rule = |host: &str, metadata: &str| {
        format!(
            "apiVersion: networking.istio.io/v1\nkind: DestinationRule\nmetadata: {metadata}\nspec:\n  host: {host}\n  \
             trafficPolicy: {{ connectionPool: {{ http: {{ maxRetries: 7 }} }} }}\n"
        )
    };
    let limit = |host: &str, metadata: &str| {
        let text = format!("{long}---\n{}", rule(host, metadata));
        at(&table(ISTIO, &text), "retries.db.budget.concurrency.minimum")
    };
    assert_eq!(limit("db", "{ name: db }"), "7");
    assert_eq!(limit("db", "{ name: db, namespace: shop }"), "7");
    assert_eq!(limit("db", "{ name: db, namespace: other }"), "none");
}
