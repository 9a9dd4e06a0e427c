//! What clients make of a server's word on when to come back.

use crate::common::{sent, text};

/// A service that fails with this error and asks everybody to wait.
fn asking(name: &str, error: &str, after: &str) -> String {
    let after = if after.is_empty() { String::new() } else { format!(", retry_after = \"{after}\"") };
    let fault = format!("[faults.down]\non = [\"api\"]\neffect = {{ fail = {{ error = \"{error}\"{after} }} }}\n");
    text(name, &fault).replace("10m", "20h")
}

/// The first wait of a client that is asked to wait, in seconds; none if it does not come back.
fn waits_s(name: &str, error: &str, after: &str, settings: &[&str], replica: u32) -> Option<f64> {
    sent(&asking(name, error, after), settings, replica).get(1).map(|(at, _)| at / 1e3)
}

fn waited(name: &str, after: &str) -> Option<f64> {
    waits_s(name, "rate_limited", after, &[], 0)
}

/// However long it is, whatever the own cap, without jitter: 60 s, and an hour.
#[test]
fn the_servers_word_takes_the_place_of_the_wait() {
    for name in ["go-retryablehttp", "dotnet-standard", "got", "client-go", "axios-retry"] {
        assert_eq!(waited(name, "60s"), Some(60.0), "{name}");
        assert_eq!(waited(name, "1h"), Some(3600.0), "{name}");
    }
    assert_eq!(waits_s("grpc", "unavailable", "60s", &[], 0), Some(60.0));
}

#[test]
fn others_do_not_listen() {
    for name in ["aws-legacy", "polly-v8", "resilience4j", "spring-retry", "spring-7", "backon", "retry-policies"] {
        let wait = waited(name, "60s").unwrap_or_else(|| panic!("{name} tries again"));
        assert!(wait < 10.0, "{name}: {wait} s");
    }
    assert_eq!(waits_s("linkerd", "unavailable", "60s", &["horizon=1ms"], 0), Some(0.0));
}

/// What is too long for got ends the call: with a longest wait of 10 s, 10 s are waited for and 11 s are not.
#[test]
fn got_gives_up_on_a_wait_that_is_too_long() {
    let at_most = ["retries.got.retry_after.at_most=10s"];
    assert_eq!(waits_s("got", "rate_limited", "10s", &at_most, 0), Some(10.0));
    assert_eq!(waits_s("got", "rate_limited", "11s", &at_most, 0), None);
}

/// Axios waits for the longer of the two.
#[test]
fn axios_takes_the_servers_word_as_the_least() {
    let backoff = ["retries.axios-retry.backoff={ fixed = \"2s\" }"];
    assert_eq!(waits_s("axios-retry", "rate_limited", "1s", &backoff, 0), Some(2.0));
    assert_eq!(waits_s("axios-retry", "rate_limited", "3s", &backoff, 0), Some(3.0));
}

/// AWS 2.1: between the own wait t, which is below 1 s after throttling, and t + 5 s.
#[test]
fn aws_waits_five_seconds_longer_at_most() {
    for replica in 0..50 {
        let own = waits_s("aws-standard-2.1", "rate_limited", "", &[], replica).unwrap();
        let asked = |after: &str| waits_s("aws-standard-2.1", "rate_limited", after, &[], replica).unwrap();
        assert!((asked("60s") - own - 5.0).abs() < 1e-6 && own < 1.0, "{own} {}", asked("60s"));
        assert_eq!(asked("3s"), 3.0);
        assert!((asked("100ms") - own.max(0.1)).abs() < 1e-9);
        let before = waits_s("aws-standard-pre2026", "rate_limited", "60s", &[], replica).unwrap();
        assert!(before < 1.0, "{before}");
    }
}

/// urllib3, for statuses that are added: up to 6 hours.
#[test]
fn urllib3_waits_six_hours_at_most() {
    let added = ["retries.urllib3.retry_on=[\"rate_limited\"]"];
    assert_eq!(waits_s("urllib3", "rate_limited", "5h", &added, 0), Some(5.0 * 3600.0));
    assert_eq!(waits_s("urllib3", "rate_limited", "10h", &added, 0), Some(6.0 * 3600.0));
}

/// client-go comes back ten times, and only where it is told when.
#[test]
fn client_go_needs_the_servers_word() {
    assert_eq!(sent(&asking("client-go", "unavailable", "2s"), &[], 0).len(), 11);
    assert_eq!(sent(&asking("client-go", "unavailable", ""), &[], 0).len(), 1);
}

/// Envoy, if it is told to look: 1 to 1.5 times as long, and what is above 300 s is as if not said.
#[test]
fn envoy_spreads_what_the_server_says() {
    let look =
        ["retries.envoy.retry_after={ rule = \"replace\", upward = 0.5, at_most = \"300s\", beyond = \"ignore\" }"];
    let waits: Vec<f64> =
        (0..200).map(|replica| waits_s("envoy", "unavailable", "60s", &look, replica).unwrap()).collect();
    let (least, most) = (waits.iter().copied().fold(f64::MAX, f64::min), waits.iter().copied().fold(0.0, f64::max));
    assert!((60.0..61.0).contains(&least) && (89.0..90.0).contains(&most), "{least} {most}");
    assert!(waits_s("envoy", "unavailable", "301s", &look, 0).unwrap() < 0.025);
    assert!(waits_s("envoy", "unavailable", "60s", &[], 0).unwrap() < 0.025, "by default it does not look");
    assert_eq!(waits_s("envoy", "rate_limited", "60s", &look, 0), None, "a Retry-After makes nothing retriable");
}
