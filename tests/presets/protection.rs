//! Timeouts, pools and breakers of presets: the keys of the call, put there by hand.

use crate::common::{attempts_of_requests, run, sent, text_with_call};

const DEAD: &str = "[faults.down]\non = [\"api\"]\neffect = { fail = {} }\n";
const HANGS: &str = "[faults.hang]\non = [\"api\"]\neffect = \"blackhole\"\n";
/// Servers that take connections, and say nothing.
const SILENT: &str = "[faults.silence]\non = [\"api\"]\neffect = \"pause\"\n";

/// A client that makes a request every so often.
fn every(text: &str, period: &str) -> String {
    text.replace("{ burst = {} }", &format!("{{ periodic = {{ every = \"{period}\" }} }}"))
}

/// With servers that hang exactly three attempts start: the third at 20 s and two waits, and all ends at 30 s.
#[test]
fn dotnet_starts_three_attempts_where_servers_hang() {
    let text = text_with_call("dotnet-standard") + HANGS;
    for replica in 0..200 {
        let sent = sent(&text, &[], replica);
        assert_eq!(sent.len(), 3, "replica {replica}");
        assert!((20e3..28.5e3).contains(&sent[2].0), "{} ms", sent[2].0);
    }
    let outcome = run(&text, &[]);
    assert_eq!(outcome.all_requests.last_end.map(|end| end.as_s()), Some(30.0));
}

/// Its breaker opens when a tenth of at least 100 attempts in 30 s has failed, for 5 s.
#[test]
fn dotnets_breaker_needs_a_hundred_attempts() {
    let text = every(&(text_with_call("dotnet-standard") + DEAD), "100ms").replace("10m", "14900ms");
    let outcome = run(&text, &["retries.dotnet-standard.max_retries=0"]);
    // The hundredth is sent at 9.9 s; for 5 s nothing is.
    assert_eq!(outcome.all_calls.attempts, 100);
}

/// Six failures in a row open gobreaker; a minute later one request is let through, and opens it again.
#[test]
fn gobreaker_opens_at_the_sixth_failure() {
    let text = every(&(text_with_call("gobreaker") + DEAD), "1s").replace("10m", "130s");
    let at: Vec<f64> = sent(&text, &[], 0).into_iter().map(|(at, _)| at / 1e3).collect();
    assert_eq!(at, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 65.0, 125.0]);
}

/// Hystrix: half of at least 20 in 10 s; open for 5 s, then one probe. Ten at once, without a queue, for a second each.
#[test]
fn hystrix_opens_at_twenty_and_lets_ten_through() {
    let text = every(&(text_with_call("hystrix") + DEAD), "100ms").replace("10m", "8s");
    let at: Vec<f64> = sent(&text, &[], 0).into_iter().map(|(at, _)| at / 1e3).collect();
    assert_eq!((at.len(), at[19], at[20]), (21, 1.9, 6.9));
    let hangs = every(&(text_with_call("hystrix") + HANGS), "10ms");
    let outcome = run(&hangs, &["horizon=1s", "clients.web.calls.api.breaker=none"]);
    assert_eq!((outcome.all_calls.attempts, outcome.all_calls.pool_rejected), (10, 90));
}

/// Resilience4j's breaker, where it is put around the call: it looks at 100 calls, not at the first 50 failures; of a window
/// of ten it does not need 100.
#[test]
fn resilience4js_breaker_looks_at_a_hundred_calls() {
    let attempts = |calls: u32| {
        let breaker = format!(
            "{{ trip = {{ ratio = {{ failures = 0.5, calls = {calls}, min_calls = 100 }} }}, open_for = \"60s\", half_open = 10 }}"
        );
        let text = every(&crate::common::text("resilience4j", DEAD), "100ms").replace("10m", "20s");
        let set = [format!("clients.web.calls.api.breaker={breaker}"), "retries.resilience4j.max_retries=0".to_owned()];
        run(&text, &set.each_ref().map(String::as_str)).all_calls.attempts
    };
    assert_eq!([attempts(100), attempts(10)], [100, 10]);
}

/// Without a timeout of a try Envoy's only limit is that of the route, which is final: a server that hangs is not retried.
#[test]
fn envoy_does_not_retry_what_hangs() {
    let text = text_with_call("envoy") + SILENT;
    let outcome = run(&text, &[]);
    assert_eq!((outcome.all_calls.attempts, outcome.all_requests.last_end.map(|end| end.as_s())), (1, Some(15.0)));
    let outcome = run(&text, &["clients.web.calls.api.timeout=2s", "retries.envoy.max_retries=3"]);
    assert_eq!(outcome.all_calls.attempts, 4, "with one it is, and the timeout of a try counts as a reset");
}

/// What takes too long to connect is tried again: after 5 s by Envoy, 10 s by Istio, and by HAProxy as soon as it is told.
#[test]
fn connections_that_take_too_long_are_tried_again() {
    for (name, attempts, least_s) in [("envoy", 2, 10.0), ("istio", 3, 30.0)] {
        let outcome = run(&(text_with_call(name) + HANGS), &[]);
        let end = outcome.all_requests.last_end.unwrap().as_s();
        assert_eq!(outcome.all_calls.attempts, attempts, "{name}");
        assert!((least_s..least_s + 0.1).contains(&end), "{name}: {end} s");
    }
    let text = crate::common::text("haproxy", HANGS);
    let sent = sent(&text, &["clients.web.calls.api.connect_timeout=500ms"], 0);
    assert_eq!(sent.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [0.0, 1500.0, 3000.0, 4500.0]);
}

/// What is left of the 600 s cuts the last attempt of GAPIC clients.
#[test]
fn gax_ends_with_its_total_timeout() {
    let text = (text_with_call("google-gax") + HANGS).replace("10m", "1h");
    for replica in 0..20 {
        let sent = sent(&text, &[], replica);
        assert!(sent.len() >= 10 && sent[sent.len() - 1].0 > 530e3, "{sent:?}");
    }
    assert_eq!(run(&text, &[]).all_requests.last_end.map(|end| end.as_s()), Some(600.0));
}

/// nginx tries each peer once, a minute each.
#[test]
fn nginx_takes_a_minute_for_each_peer() {
    let text = text_with_call("nginx").replace("[services.api]\n", "[services.api]\ninstances = 3\n") + HANGS;
    let outcome = run(&text, &[]);
    assert_eq!((outcome.all_calls.attempts, outcome.all_requests.last_end.map(|end| end.as_s())), (3, Some(180.0)));
}

/// Kafka's producer is ended by its delivery timeout, however many retries it has: waits of 0.1 to 1 s for two minutes.
#[test]
fn kafkas_delivery_timeout_ends_it() {
    let attempts = attempts_of_requests(&(text_with_call("kafka-producer") + DEAD), &[]);
    // 1.5 s for the first four retries, then 0.95 s each in the mean.
    assert!((123..=132).contains(&attempts[0]), "{attempts:?}");
    assert!(run(&(text_with_call("kafka-producer") + DEAD), &[]).all_requests.last_end.unwrap().as_s() <= 120.0);
}
