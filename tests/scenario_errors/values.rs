//! What values in the wrong notation are answered with, word for word: what was meant is often clear.

use std::path::Path;

use insta::assert_snapshot;
use stormsim::scenario::{Overrides, Scenario};

use crate::told::unbroken;

/// A scenario with which nothing is wrong; `EXPECT` stands for its expectation.
const GOOD: &str = r#"version = 1
name = "shop"

[clients.web]
count = 10
arrivals = { constant = { rate = 5 } }
until = "90m"
calls.db = { retry = "patient", timeout = "20ms" }

[services.db]

[retries.patient]
max_retries = 2
backoff = { exponential = { base = "1s", factor = 2 } }

[faults.outage]
on = ["db"]
until = "10s"
effect = { fail = { probability = 0.5 } }

[[expect]]
EXPECT
"#;

const EXPECT: &str = "metric = \"success_ratio\"\nat_least = 0.5";

fn errors_of(text: &str) -> String {
    match Scenario::parse("shop.toml", text, Path::new(""), &Overrides::default()) {
        Ok(_) => panic!("nothing is wrong with:\n{text}"),
        Err(errors) => errors.to_string(),
    }
}

/// The errors of `GOOD` with each of these texts, which it has exactly once, replaced.
fn errors(edits: &[(&str, &str)]) -> String {
    let text = edits.iter().fold(GOOD.replace("EXPECT", EXPECT), |text, (old, new)| {
        assert_eq!(text.matches(old).count(), 1, "{old:?} must be there once");
        text.replacen(old, new, 1)
    });
    errors_of(&text)
}

/// The errors of `GOOD` with each of these expectations.
fn errors_of_each(expectations: &[&str]) -> String {
    expectations.iter().map(|expect| errors_of(&GOOD.replace("EXPECT", expect))).collect::<Vec<_>>().join("\n\n")
}

#[test]
fn the_base_of_these_tests_is_good() {
    let text = GOOD.replace("EXPECT", EXPECT);
    Scenario::parse("shop.toml", &text, Path::new(""), &Overrides::default()).unwrap();
}

#[test]
fn durations_with_a_space_or_several_units() {
    assert_snapshot!(errors(&[("\"20ms\"", "\"20 ms\""), ("\"90m\"", "\"1h30m\"")]));
}

#[test]
fn numbers_in_quotes_or_per_cent() {
    assert_snapshot!(errors(&[
        ("count = 10", "count = \"10\""),
        ("rate = 5", "rate = \"5/s\""),
        ("factor = 2", "factor = \"2x\""),
        ("probability = 0.5", "probability = \"50%\""),
        ("max_retries = 2", "max_retries = \"2.5\""),
    ]));
    assert_snapshot!(errors(&[("probability = 0.5", "probability = 50")]));
    let close = errors(&[("probability = 0.5", "probability = 1.1")]);
    assert!(!close.contains('%'), "a share that is a little too large is rather a slip: {close}");
}

#[test]
fn choices_that_do_not_exist() {
    assert_snapshot!(errors(&[
        ("{ exponential = { base = \"1s\", factor = 2 } }", "\"1s\""),
        ("{ fail = { probability = 0.5 } }", "\"explode\""),
    ]));
    assert_snapshot!(errors(&[("{ fail = { probability = 0.5 } }", "\"blakhole\"")]));
}

#[test]
fn figures_with_a_unit_that_the_metric_does_not_have() {
    assert_snapshot!(errors_of_each(&[
        "metric = \"amplification\"\nat_most = \"3x\"",
        "metric = \"success_ratio\"\nat_least = \"99.9%\"",
        "metric = \"goodput_rps\"\nat_least = \"100/s\"",
        "metric = \"amplification\"\nat_most = \"3\"",
        "metric = \"last_retry_s\"\nat_most = \"3 parsecs\"",
    ]));
}

/// No run would ever meet "at least 99", and every run "at most 99": neither says what was meant.
#[test]
fn shares_above_one() {
    assert_snapshot!(errors_of_each(&[
        "metric = \"success_ratio\"\nat_least = 99",
        "metric = \"first_try_success_ratio\"\nclient = \"web\"\nbetween = [0.5, 99.9]",
        "metric = \"retry_ratio\"\nequals = 0.5\nwithin = 5",
        "metric = \"success_ratio\"\nat_least = 990",
    ]));
    let amplification = GOOD.replace("EXPECT", "metric = \"amplification\"\nat_most = 27");
    assert!(Scenario::parse("shop.toml", &amplification, Path::new(""), &Overrides::default()).is_ok());
}

#[test]
fn metrics_of_something_else() {
    assert_snapshot!(errors_of_each(&[
        "metric = \"success_ratio\"\nservice = \"db\"\nat_least = 0.5",
        "metric = \"sojourn_mean_ms\"\nat_most = 5",
        "metric = \"sojourn_mean_ms\"\nclient = \"web\"\nat_most = 5",
        "metric = \"attempts\"\nfault = \"outage\"\nat_most = 5",
    ]));
}

/// `db` has no workers that could be taken, so it is not the service to ask.
#[test]
fn a_metric_of_workers_is_that_of_a_service_with_workers() {
    let text = GOOD.replace("EXPECT", "metric = \"utilisation\"\nfault = \"outage\"\nat_most = 1");
    let hint = |text: &str| unbroken(&errors_of(text)).lines().last().unwrap().trim().to_owned();
    assert_eq!(hint(&text), "= help: write `service = \"db\"` instead of `fault`");
    let text = text.replace("[services.db]", "[services.db]\n[services.cache]\nworkers = 1");
    assert_eq!(hint(&text), "= help: write `service = \"cache\"` instead of `fault`");
}

/// A name that is near to one of the metrics there, then to one of something else, then one that shares a word.
#[test]
fn metrics_that_do_not_exist() {
    assert_snapshot!(errors_of_each(&[
        "metric = \"queue_maxx\"\nservice = \"db\"\nat_most = 1",
        "metric = \"queue_maxx\"\nat_most = 1",
        "metric = \"latency_p99\"\nservice = \"db\"\nat_most = 1",
        "metric = \"latency\"\nat_most = 1",
        "metric = \"goodput\"\nservice = \"db\"\nat_most = 1",
        "metric = \"downtime\"\nfault = \"outage\"\nat_most = 1",
        "metric = \"errors\"\nservice = \"db\"\nat_most = 1",
    ]));
}

/// No metric of a fault can be measured in a window, so that there is none to name.
#[test]
fn metrics_of_faults_in_a_window() {
    assert_snapshot!(errors_of_each(&[
        "metric = \"recovered\"\nfault = \"outage\"\nfrom = \"10s\"\nuntil = \"20s\"\nequals = 1",
    ]));
}

/// Shares of services are shares like those of requests.
#[test]
fn shares_of_services_in_per_cent() {
    assert_snapshot!(errors_of_each(&[
        "metric = \"utilisation\"\nservice = \"db\"\nat_most = 80",
        "metric = \"wasted_ratio\"\nservice = \"db\"\nat_most = 5",
        "metric = \"queued_ratio\"\nservice = \"db\"\nat_most = 1.5",
    ]));
}
