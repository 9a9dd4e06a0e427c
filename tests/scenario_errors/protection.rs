//! What wrong breakers, throttles, hedges and ejections are answered with, word for word. The snapshots are the
//! specification.

use std::path::Path;

use insta::assert_snapshot;
use stormsim::scenario::{Overrides, Scenario};

use crate::told;

const GOOD: &str = r#"version = 1
name = "shop"

[clients.web]
arrivals = { burst = {} }

[clients.web.calls.db]
breaker = "none"
throttle = "none"
hedge = "none"

[services.db]
ejection = "none"

[variants.as-it-is]

[variants.other]
"clients.web.calls.db.timeout" = "1s"
"#;

fn errors(text: &str, overrides: &Overrides) -> String {
    match Scenario::parse("shop.toml", text, Path::new(""), overrides) {
        Ok(_) => panic!("nothing is wrong with:\n{text}"),
        Err(errors) => errors.to_string(),
    }
}

/// `GOOD` with each of these for `key`: its place, what is wrong with it, and the way out, which every error must have.
fn told(key: &str, values: &[&str]) -> String {
    let answer = |value: &&str| {
        let line = format!("{key} = {value}");
        let text = GOOD.replace(&format!("{key} = \"none\""), &line);
        let errors = errors(&text, &Overrides::default());
        format!("  {line}\n{}", told::briefly(&errors))
    };
    values.iter().map(answer).collect::<Vec<_>>().join("\n\n")
}

fn breakers(tables: &[&str]) -> String {
    told("breaker", tables)
}

/// Breakers with these trips.
fn trips(trips: &[&str]) -> String {
    let tables: Vec<String> = trips.iter().map(|trip| format!("{{ open_for = \"5s\", trip = {trip} }}")).collect();
    told("breaker", &tables.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn the_base_of_these_tests_is_good() {
    if let Err(diagnostics) = Scenario::parse("shop.toml", GOOD, Path::new(""), &Overrides::default()) {
        panic!("{diagnostics}");
    }
}

/// Libraries differ in all of these so much that a default would be another breaker than was meant.
#[test]
fn what_has_no_default_must_be_said() {
    assert_snapshot!(breakers(&["{}", "{ trip = { consecutive = 5 } }", "{ open_for = \"5s\" }"]));
    assert_snapshot!(trips(&[
        "{ count = {} }",
        "{ ratio = {} }",
        "{ ratio = { failures = 0.5, min_calls = 20 } }",
        "{ ratio = { failures = 0.5, calls = 20 } }",
        "{ slow = {} }",
        "{ slow = { over = \"2s\", ratio = 0.5, min_calls = 20 } }",
    ]));
    assert_snapshot!(told("hedge", &["{}", "{ copies = 2 }"]));
}

#[test]
fn two_of_a_kind_exclude_each_other() {
    assert_snapshot!(trips(&[
        "{ consecutive = 5, count = { failures = 6, window = \"1s\" } }",
        "{ ratio = { failures = 0.5, window = \"10s\", calls = 100, min_calls = 20 } }",
        "{ slow = { over = \"2s\", ratio = 0.5, calls = 100, window = \"10s\", min_calls = 20 } }",
    ]));
    assert_snapshot!(told("throttle", &["{ adaptive = {}, admission = {} }"]));
}

/// A breaker that is open for no time, a window in which nothing is: each zero is a slip or means "none".
#[test]
fn zeros() {
    assert_snapshot!(breakers(&[
        "{ trip = { consecutive = 0 }, open_for = \"5s\" }",
        "{ trip = { consecutive = 5 }, open_for = \"0s\" }",
        "{ trip = { consecutive = 5 }, open_for = \"5s\", half_open = 0 }",
        "{ trip = { consecutive = 5 }, open_for = \"5s\", open_cap = \"0s\" }",
    ]));
    assert_snapshot!(trips(&[
        "{ count = { failures = 0, window = \"0s\" } }",
        "{ ratio = { failures = 0, window = \"0s\", min_calls = 0 } }",
        "{ slow = { over = \"0s\", ratio = 0, calls = 0, min_calls = 0 } }",
    ]));
    assert_snapshot!(told(
        "throttle",
        &["{ adaptive = { k = 0, window = \"0s\" } }", "{ admission = { success = 0, window = \"0s\" } }"]
    ));
    assert_snapshot!(told("hedge", &["{ after = \"0s\" }", "{ after = \"1s\", copies = 0, in_flight = 0 }"]));
    assert_snapshot!(told("ejection", &["{ consecutive = 0, ejected_for = \"0s\", max_ejected_for = \"0s\" }"]));
}

#[test]
fn numbers_beyond_their_range() {
    assert_snapshot!(breakers(&[
        "{ trip = { consecutive = 5 }, open_for = \"5s\", half_open = -1 }",
        "{ trip = { consecutive = 5 }, open_for = \"5s\", open_factor = 0.5 }",
        "{ trip = { consecutive = 5 }, open_for = \"60s\", open_cap = \"5s\", open_factor = 2 }",
    ]));
    assert_snapshot!(trips(&[
        "{ count = { failures = 2.5, window = \"-1s\" } }",
        "{ ratio = { failures = 1.5, calls = 10000000, min_calls = 20 } }",
    ]));
    assert_snapshot!(told(
        "throttle",
        &["{ adaptive = { k = 0.9 } }", "{ admission = { success = 1.5, aggression = 0.5, max = -0.1 } }"]
    ));
    assert_snapshot!(told("ejection", &["{ max_share = 1.1 }"]));
}

/// Most of the products count in per cent.
#[test]
fn per_cent_for_a_share() {
    assert_snapshot!(trips(&[
        "{ ratio = { failures = 50, calls = 100, min_calls = 20 } }",
        "{ slow = { over = \"2s\", ratio = \"50%\", calls = 100, min_calls = 20 } }",
    ]));
    assert_snapshot!(told("throttle", &["{ admission = { success = 95, max = 80 } }"]));
    assert_snapshot!(told("ejection", &["{ max_share = 10 }", "{ max_share = \"10%\" }"]));
}

/// The time that grows cannot be shorter in the end than in the beginning; the default of the one counts like itself.
#[test]
fn ejections_that_shrink() {
    assert_snapshot!(told(
        "ejection",
        &["{ ejected_for = \"30s\", max_ejected_for = \"10s\" }", "{ max_ejected_for = \"29s\" }"]
    ));
}

/// Who knows a setting by its name in a product is told ours.
#[test]
fn breakers_by_the_names_of_their_products() {
    let breaker = |settings: &str| format!("{{ trip = {{ consecutive = 5 }}, open_for = \"5s\", {settings} }}");
    let resilience4j = "failureRateThreshold = 50, waitDurationInOpenState = \"60s\", slidingWindowSize = 100, \
                        minimumNumberOfCalls = 100, permittedNumberOfCallsInHalfOpenState = 10, \
                        slowCallRateThreshold = 100, slowCallDurationThreshold = \"60s\"";
    let products = [
        "threshold = 5, failure_threshold = 5, timeout = \"60s\", max_requests = 1",
        "sleep_window = \"5s\", error_threshold_percentage = 50, request_volume_threshold = 20",
        resilience4j,
        "failure_ratio = 0.1, sampling_duration = \"30s\", minimum_throughput = 100, break_duration = \"5s\"",
        "reset_timeout = \"30s\", success_threshold = 3, max_failures = 5",
        "handled_errors = [\"timeout\"], scope = \"instance\"",
        "open = \"5s\", half_open_after = \"5s\"",
    ]
    .map(breaker);
    assert_snapshot!(breakers(&products.each_ref().map(String::as_str)));
    assert_snapshot!(trips(&[
        "{ consecutive_failures = 5 }",
        "{ failures = 5 }",
        "{ error_rate = 0.5 }",
        "{ slow_calls = {} }",
        "{ consecutiv = 5 }",
        "{ count = { threshold = 6, within = \"1s\" } }",
        "{ ratio = { threshold = 0.5, sampling_duration = \"30s\", minimum_throughput = 100 } }",
        "{ ratio = { ratio = 0.5, window_size = 100, min_requests = 100 } }",
        "{ slow = { failures = 0.5, duration = \"2s\", calls = 100, minimum = 100 } }",
    ]));
}

#[test]
fn throttles_hedges_and_ejections_by_the_names_of_their_products() {
    assert_snapshot!(told(
        "throttle",
        &[
            "{ adaptive_throttling = {} }",
            "{ admission_control = {} }",
            "{ rate = 100 }",
            "{ adaptive = { multiplier = 2, ratio = 2, lookback = \"2m\" } }",
            "{ admission = { sr_threshold = 0.95, max_rejection_probability = 0.8, sampling_window = \"30s\" } }",
            "{ admission = { rps_threshold = 5 } }",
        ]
    ));
    assert_snapshot!(told(
        "hedge",
        &[
            "{ hedging_delay = \"500ms\" }",
            "{ delay = \"2s\", max_hedged_attempts = 1 }",
            "{ after = \"500ms\", max_attempts = 4 }",
            "{ after = \"500ms\", max_in_flight = 8, cancel = true }",
            "{ after = \"p95\" }",
        ]
    ));
    assert_snapshot!(told(
        "ejection",
        &[
            "{ consecutive_5xx = 5, interval = \"10s\", base_ejection_time = \"30s\", max_ejection_percent = 10 }",
            "{ consecutive5xxErrors = 5, baseEjectionTime = \"30s\", maxEjectionPercent = 10 }",
            "{ max_ejection_time = \"300s\", success_rate_minimum_hosts = 5 }",
            "{ max_fails = 1, fail_timeout = \"10s\" }",
        ]
    ));
}

/// The parts of a whole in the place of another, or by another name.
#[test]
fn tables_by_other_names_and_in_other_places() {
    let call = |line: &str| errors(&GOOD.replace("breaker = \"none\"", line), &Overrides::default());
    assert_snapshot!(
        [
            "circuit_breaker = { trip = { consecutive = 5 }, open_for = \"5s\" }",
            "hedging = { after = \"100ms\" }",
            "throttling = { adaptive = {} }",
            "outlier_detection = { consecutive_5xx = 5 }",
            "ejection = {}",
        ]
        .map(call)
        .join("\n\n")
    );
    let service = |line: &str| errors(&GOOD.replace("ejection = \"none\"", line), &Overrides::default());
    assert_snapshot!(
        [
            "outlier_detection = {}",
            "breaker = { trip = { consecutive = 5 }, open_for = \"5s\" }",
            "hedge = {}",
            "throttle = {}"
        ]
        .map(service)
        .join("\n\n")
    );
}

#[test]
fn words_and_forms_that_are_none() {
    assert_snapshot!(breakers(&[
        "true",
        "5",
        "\"5s\"",
        "{ consecutive = 5, open_for = \"5s\" }",
        "{ trip = 5, open_for = \"5s\" }",
        "{ trip = \"consecutive\", open_for = \"5s\" }",
        "{ trip = { ratio = 0.5 }, open_for = \"5s\" }",
        "{ trip = { consecutive = 5 }, open_for = \"5s\", counts = \"requests\", position = \"around\" }",
        "{ trip = { consecutive = 5 }, open_for = \"5s\", half_open = \"all\", shared_by = \"service\" }",
        "{ trip = { consecutive = 5 }, open_for = \"5s\", failure_on = [\"timeouts\", \"5xx\"] }",
    ]));
    assert_snapshot!(told("throttle", &["2.0", "\"adaptive\"", "{ adaptive = 2.0 }", "{ admission = \"95%\" }"]));
    assert_snapshot!(told("hedge", &["true", "\"100ms\"", "{ after = 100 }", "{ after = { p95 = true } }"]));
    assert_snapshot!(told("ejection", &["true", "5", "\"30s\""]));
}

#[test]
fn mistakes_of_variants_and_flags_are_shown_where_they_are() {
    let variant = |line: &str| {
        let text = GOOD.replace("\"clients.web.calls.db.timeout\" = \"1s\"", line);
        errors(&text, &Overrides::default())
    };
    assert_snapshot!(
        [
            "\"clients.web.calls.db.breaker\" = { trip = { consecutive = 5 } }",
            "\"clients.web.calls.db.breaker.open_for\" = \"5s\"",
            "\"services.db.ejection.max_ejected_for\" = \"1s\"",
            "\"clients.web.calls.db.hedge.after\" = \"0s\"",
        ]
        .map(variant)
        .join("\n\n")
    );
    let set = |text: &str| errors(GOOD, &Overrides { set: vec![text.to_owned()], ..Overrides::default() });
    assert_snapshot!(
        ["clients.web.calls.db.breaker=off", "clients.web.calls.db.hedge=100ms", "services.db.ejection.max_share=10"]
            .map(set)
            .join("\n\n")
    );
}
