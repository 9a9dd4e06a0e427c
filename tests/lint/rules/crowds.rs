//! How many fail together: what the figures of many rules are made of.

use crate::found;

/// 3,000 clients that think for a minute are 50 per second, and not 3,000 at once; those that think for no time are.
#[test]
fn clients_that_think_are_not_there_together() {
    let fleet = |think: &str| {
        let text = format!(
            "clients.fleet = {{ count = 3000, arrivals = {{ closed = {{ think = {think} }} }}, \
             calls.api = {{ timeout = \"1s\", total_timeout = \"9s\", retry = \"p\" }} }}\n\
             services.api = {{ service_time = \"5ms\" }}\n\
             retries.p = {{ max_retries = 1, backoff = {{ fixed = \"1s\" }} }}\n"
        );
        let [finding] = &found("no-jitter", &text, &[])[..] else { panic!("there is one") };
        finding.figure.clone()
    };
    assert!(fleet("\"0s\"").contains("3,000"), "{}", fleet("\"0s\""));
    let thinking = fleet("{ exponential = { mean = \"60s\" } }");
    assert!(thinking.contains("50 requests per second") && !thinking.contains("3,000"), "{thinking}");
}

/// 250 per second until 30 s, and another 250 from then on: never 500, of which five servers that do 100 each can do
/// 400 when one is out.
#[test]
fn groups_that_follow_each_other_are_not_added() {
    let text = |until: &str| {
        format!(
            "clients.early = {{ until = \"{until}\", arrivals = {{ constant = {{ rate = 250 }} }}, calls.api = {{ timeout = \"1s\" }} }}\n\
             clients.late = {{ from = \"30s\", arrivals = {{ constant = {{ rate = 250 }} }}, calls.api = {{ timeout = \"1s\" }} }}\n\
             services.api = {{ instances = 5, workers = 1, service_time = \"10ms\", ejection = {{ max_share = 0.2 }} }}\n"
        )
    };
    assert_eq!(found("ejection-may-empty-pool", &text("30s"), &[]), []);
    assert_eq!(found("ejection-may-empty-pool", &text("31s"), &[]).len(), 1, "for a second they are together");
}
