//! What is said of the times of a callee that makes no calls.

use std::path::Path;

use stormsim::analysis::{FAILURE_DEFAULT, FALSE_TIMEOUTS_DEFAULT, Questions, explain};
use stormsim::scenario::{Overrides, Scenario};

use crate::Both;

/// A request per second of a service with these settings.
fn served(service: &str) -> Scenario {
    let text = format!(
        "version = 1\nname = \"callee\"\nreplicas = 1\nhorizon = \"10s\"\n\
         clients.app = {{ arrivals = {{ constant = {{ rate = 1.0 }} }}, calls.db = {{}} }}\nservices.db = {service}\n"
    );
    let scenario = Scenario::parse("callee", &text, Path::new(""), &Overrides::default());
    scenario.unwrap_or_else(|wrong| panic!("{wrong}"))
}

/// Service takes 20 ms, and twice as long where one alone is above the knee already.
#[test]
fn one_alone_may_be_slowed_down() {
    for (knee, takes_ms) in [(0, 40.0), (1, 20.0)] {
        let contention = format!("contention = {{ knee = {knee}, slope = 1.0 }}");
        let both = Both::of(&served(&format!("{{ service_time = \"20ms\", workers = 10, {contention} }}")));
        let callee = both.call("base", "app->db").callee.expect("it makes no calls");
        let told = [callee.p50_s, callee.p99_s, callee.timeout_for_that_s].map(|s| s * 1e3);
        assert_eq!(told, [takes_ms; 3], "{knee}");
        assert_eq!(both.of_service("base", "db", "sojourn_mean_ms"), takes_ms, "{knee}");
    }
}

/// The rarer a timeout may be that comes too early, the longer it is: however rare.
#[test]
fn no_share_of_false_timeouts_is_too_small() {
    let times = ["{ lognormal = { median = \"20ms\", p99 = \"100ms\" } }", "{ exponential = { mean = \"20ms\" } }"];
    for service_time in times {
        let scenario = served(&format!("{{ service_time = {service_time} }}"));
        let timeout = |false_timeouts| {
            let questions = Questions { failure: FAILURE_DEFAULT, false_timeouts };
            let callee = explain(&scenario, questions)[0].calls[0].callee.expect("it makes no calls");
            callee.timeout_for_that_s
        };
        let told = [FALSE_TIMEOUTS_DEFAULT, 1e-9, 1e-15, 1e-17, 1e-100].map(timeout);
        assert!(told.is_sorted_by(|shorter, longer| shorter < longer), "{service_time}: {told:?}");
    }
}
