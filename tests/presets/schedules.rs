//! The waits that products document, or have in their code, from the presets and the settings that their notes tell of.

use stormsim::dist::mix;
use stormsim::failure::ErrorKind;
use stormsim::time::Span;

use crate::common::{exact_ms, policy, run, sent, text, waits_ms};

/// Draws of the wait before a retry, in ms, each after waits of its own.
fn draws(name: &str, settings: &[&str], retry: u32, count: u64) -> Vec<f64> {
    let schedule = policy(name, settings).schedule;
    let draw = |n| {
        let walk = (1..=retry).fold((Span::ZERO, Span::ZERO), |(_, mark), retry| {
            let drawn = schedule.draw(retry, mark, mix(n, u64::from(retry)));
            (drawn.wait, drawn.mark)
        });
        walk.0.as_ms()
    };
    let mut draws: Vec<f64> = (0..count).map(draw).collect();
    draws.sort_by(f64::total_cmp);
    draws
}

/// Centres 100, 200, 400, 800 ms, each times 0.8 to 1.2; the cap comes first, so that 300 ms are up to 360.
#[test]
fn grpc_spreads_around_the_capped_wait() {
    let five = policy("grpc", &["retries.grpc.max_attempts=5"]);
    assert_eq!(waits_ms::<4>(&five), [(80.0, 120.0), (160.0, 240.0), (320.0, 480.0), (640.0, 960.0)]);
    let capped = policy("grpc", &["retries.grpc.max_attempts=5", "retries.grpc.cap=300ms"]);
    assert_eq!(waits_ms::<4>(&capped), [(80.0, 120.0), (160.0, 240.0), (240.0, 360.0), (240.0, 360.0)]);
}

/// Windows of 25, 50, 100, 200, 250, 250 ms, in whole milliseconds and without their end.
#[test]
fn envoy_doubles_its_window_up_to_ten_times_the_base() {
    let policy = policy("envoy", &["retries.envoy.max_retries=6"]);
    let longest = waits_ms::<6>(&policy).map(|(_, longest)| longest);
    assert_eq!(longest, [24.0, 49.0, 99.0, 199.0, 249.0, 249.0]);
    let drawn = draws("envoy", &[], 1, 1_000);
    assert!(drawn.iter().all(|wait| wait.fract() == 0.0), "whole milliseconds");
    assert_eq!((drawn[0], drawn[999]), (0.0, 24.0));
    // With Istio's backoff of 2 s the windows are 2 and 4 s.
    let base = "retries.istio.backoff.exponential.base=2s";
    let istio = waits_ms::<2>(&crate::common::policy("istio", &[base, "retries.istio.cap=20s"]));
    assert_eq!(istio, [(0.0, 1999.0), (0.0, 3999.0)]);
}

/// 50, 100 ms; after throttling 1, 2 s; 25, 50, 100 ms for DynamoDB. Before 2026: 1, 2 s. Legacy DynamoDB: 50 ms to 12.8 s,
/// nine retries and 25.55 s, all clients at the same moments.
#[test]
fn aws_waits_by_mode_and_error() {
    let longest = |settings: &[&str]| waits_ms::<3>(&policy("aws-standard-2.1", settings)).map(|(_, longest)| longest);
    assert_eq!(longest(&[]), [50.0, 100.0, 200.0]);
    let base = "retries.aws-standard-2-1.backoff.exponential.base=25ms";
    assert_eq!(longest(&[base, "retries.aws-standard-2-1.max_attempts=4"]), [25.0, 50.0, 100.0]);
    let throttled = policy("aws-standard-2.1", &[]).throttled.expect("throttling has waits of its own");
    let longest: Vec<f64> = throttled.ranges().take(6).map(|range| range.longest.as_ms()).collect();
    assert_eq!(longest, [1e3, 2e3, 4e3, 8e3, 16e3, 20e3]);
    let before = waits_ms::<6>(&policy("aws-standard-pre2026", &[])).map(|(_, longest)| longest);
    assert_eq!(before, [1e3, 2e3, 4e3, 8e3, 16e3, 20e3]);
    let legacy = |key: &str| format!("retries.aws-legacy.{key}");
    let dynamo = [legacy("max_attempts=10"), legacy("backoff.exponential.base=50ms"), legacy("jitter=none")];
    let waits: [f64; 9] = exact_ms("aws-legacy", &dynamo.each_ref().map(String::as_str));
    assert_eq!((waits[0], waits[8], waits.iter().sum::<f64>()), (50.0, 12_800.0, 25_550.0));
    let uncapped = waits_ms::<10>(&policy("aws-legacy", &[])).map(|(_, longest)| longest);
    assert_eq!(uncapped[9], 512e3, "legacy mode has no cap");
}

/// What one failed attempt is answered with decides from which base the next wait is reckoned.
#[test]
fn aws_waits_longer_after_throttling_in_a_run() {
    let fault =
        |error: &str| format!("[faults.down]\non = [\"api\"]\neffect = {{ fail = {{ error = \"{error}\" }} }}\n");
    let first_wait = |error: &str, replica| sent(&text("aws-standard-2.1", &fault(error)), &[], replica)[1].0;
    let longest = |error: &str| (0..200).map(|replica| first_wait(error, replica)).fold(0.0, f64::max);
    assert!((45.0..50.0).contains(&longest("unavailable")), "{}", longest("unavailable"));
    assert!((900.0..1000.0).contains(&longest("rate_limited")), "{}", longest("rate_limited"));
}

/// 100, 130, 169, 219.7, 285.6 ms; none begins later than 600 s after the call.
#[test]
fn gax_grows_by_three_tenths_for_ten_minutes() {
    let longest = waits_ms::<5>(&policy("google-gax", &[])).map(|(_, longest)| longest);
    for (found, expected) in longest.into_iter().zip([100.0, 130.0, 169.0, 219.7, 285.61]) {
        assert!((found - expected).abs() < 1e-3, "{found} {expected}");
    }
    let python: [f64; 8] = waits_ms::<8>(&policy(
        "google-gax",
        &[
            "retries.google-gax.backoff={ exponential = { base = \"1s\", factor = 2.0 } }",
            "retries.google-gax.max_elapsed=120s",
        ],
    ))
    .map(|(_, longest)| longest);
    assert_eq!((python[5], python[6]), (32e3, 60e3));
}

const DEAD: &str = "[faults.down]\non = [\"api\"]\neffect = { fail = {} }\n";

/// A policy without a number of attempts ends by its time: the last attempt begins before it, and the next wait would not.
#[test]
fn what_is_limited_by_time_ends_in_time() {
    for (name, limit_ms, waits_max_ms) in [("google-gax", 600e3, 60e3), ("cenkalti-backoff", 900e3, 90e3)] {
        for replica in 0..20 {
            let sent = sent(&text(name, DEAD).replace("10m", "1h"), &[], replica);
            let (last, attempts) = sent[sent.len() - 1];
            assert!(last <= limit_ms && last + waits_max_ms > limit_ms, "{name}: {last} ms, {attempts} attempts");
        }
    }
}

/// Each step is cut to whole milliseconds: 500, 750, 1125, 1687, 2530, 3795, 5692.
#[test]
fn resilience4j_cuts_its_waits_at_every_step() {
    let factor = "retries.resilience4j.backoff={ exponential = { base = \"500ms\", factor = 1.5 } }";
    let waits: [f64; 7] = exact_ms("resilience4j", &[factor]);
    assert_eq!(waits, [500.0, 750.0, 1125.0, 1687.0, 2530.0, 3795.0, 5692.0]);
}

/// With a cap after the jitter the fifth retry waits exactly 5 s in seven of eight cases, the sixth in all.
#[test]
fn resilience4j_loses_its_jitter_at_the_cap() {
    let settings = [
        "retries.resilience4j.backoff={ exponential = { base = \"500ms\", factor = 2.0 } }",
        "retries.resilience4j.jitter={ spread = 0.5 }",
        "retries.resilience4j.cap=5s",
        "retries.resilience4j.cap_order=after_jitter",
    ];
    let at_cap =
        |retry| draws("resilience4j", &settings, retry, 20_000).iter().filter(|wait| **wait == 5_000.0).count();
    // Of 20,000 draws the share is known to 0.23 % (one standard deviation).
    let share = at_cap(5) as f64 / 20_000.0;
    assert!((share - 0.875).abs() < 0.01, "{share}");
    assert_eq!(at_cap(6), 20_000);
    assert_eq!(waits_ms::<5>(&policy("resilience4j", &settings))[4], (4_000.0, 5_000.0));
}

/// Waits of the annotations of Linkerd: 25 to 50, 50 to 100, 100 to 200, 200 to 250 ms.
#[test]
fn linkerds_annotations_add_up_to_as_much_again() {
    let settings = [
        "retries.linkerd.max_retries=4",
        "retries.linkerd.backoff={ exponential = { base = \"25ms\" } }",
        "retries.linkerd.cap=250ms",
        "retries.linkerd.cap_order=after_jitter",
        "retries.linkerd.jitter={ upward = 1.0 }",
        "retries.linkerd.budget=none",
    ];
    let waits = waits_ms::<4>(&policy("linkerd", &settings));
    assert_eq!(waits, [(25.0, 50.0), (50.0, 100.0), (100.0, 200.0), (200.0, 250.0)]);
}

/// Spring Retry with `random` is between the wait and `multiplier` times that, then capped.
#[test]
fn spring_retry_is_never_below_its_wait() {
    let settings = [
        "retries.spring-retry.backoff={ exponential = { base = \"100ms\" } }",
        "retries.spring-retry.cap=30s",
        "retries.spring-retry.cap_order=after_jitter",
        "retries.spring-retry.jitter={ upward = 1.0 }",
    ];
    let waits = waits_ms::<10>(&policy("spring-retry", &settings));
    assert_eq!(
        (waits[0], waits[1], waits[8], waits[9]),
        ((100.0, 200.0), (200.0, 400.0), (25_600.0, 30_000.0), (30_000.0, 30_000.0))
    );
}

/// Spring 7: the window is cut at the delay and at the longest delay. Its class by itself: 2000, 3000, 4500, 6750, 10125.
#[test]
fn spring_7_cuts_its_window_at_both_ends() {
    let settings = [
        "retries.spring-7.backoff={ exponential = { base = \"1s\" } }",
        "retries.spring-7.jitter={ spread = 0.5 }",
        "retries.spring-7.floor=1s",
        "retries.spring-7.cap=5s",
        "retries.spring-7.cap_order=narrow",
    ];
    let waits = waits_ms::<4>(&policy("spring-7", &settings));
    assert_eq!(waits, [(1000.0, 1500.0), (1000.0, 3000.0), (2000.0, 5000.0), (2500.0, 5000.0)]);
    let class = "retries.spring-7.backoff={ exponential = { base = \"2s\", factor = 1.5 } }";
    assert_eq!(exact_ms::<5>("spring-7", &[class]), [2000.0, 3000.0, 4500.0, 6750.0, 10125.0]);
}

/// Failsafe's jitter comes after the cap and is not capped again.
#[test]
fn failsafe_may_exceed_its_cap() {
    let settings = [
        "retries.failsafe.backoff={ exponential = { base = \"1s\" } }",
        "retries.failsafe.cap=2s",
        "retries.failsafe.jitter={ spread = 0.1 }",
    ];
    assert_eq!(waits_ms::<3>(&policy("failsafe", &settings)), [(900.0, 1100.0), (1800.0, 2200.0), (1800.0, 2200.0)]);
}

/// Medians of 1.80, 2.28, 4.04 and 8.04 s, never above 2.75, 5.67, 8.65 and 17.3 s, and down to nearly nothing. Half of
/// 40,001 draws are below the median up to a standard deviation of 0.25 %, which is less than 2 % of it in time.
#[test]
fn pollys_waits_have_their_medians() {
    for (retry, median_s, longest_s) in [(1, 1.80, 2.755), (2, 2.28, 5.675), (3, 4.04, 8.652), (4, 8.04, 17.3)] {
        let waits = draws("dotnet-standard", &[], retry, 40_001);
        let (median, longest) = (waits[20_000] / 1e3, waits[40_000] / 1e3);
        assert!((median / median_s - 1.0).abs() < 0.02, "retry {retry}: {median} s");
        assert!(longest <= longest_s && longest > 0.95 * longest_s, "retry {retry}: {longest} s");
        assert!(waits[0] < 250.0, "retry {retry}: {} ms", waits[0]);
    }
    let polly = policy("polly-v8", &["retries.polly-v8.backoff={ decorrelated_v2 = { base = \"2s\" } }"]);
    assert_eq!(polly.schedule, policy("dotnet-standard", &[]).schedule);
    let linear = policy(
        "polly-v8",
        &["retries.polly-v8.backoff={ linear = { step = \"2s\" } }", "retries.polly-v8.jitter={ spread = 0.25 }"],
    );
    assert_eq!(waits_ms::<2>(&linear), [(1500.0, 2500.0), (3000.0, 5000.0)]);
}

/// Centres of 0.5, 0.75, 1.125 .. 43.2, 60 s, and waits of up to 90 s.
#[test]
fn cenkalti_may_exceed_its_cap_by_half() {
    let waits = waits_ms::<13>(&policy("cenkalti-backoff", &[]));
    let centres = [0.5, 0.75, 1.125, 1.687, 2.53, 3.80, 5.70, 8.54, 12.8, 19.2, 28.8, 43.2, 60.0];
    for ((shortest, longest), centre) in waits.into_iter().zip(centres) {
        let found = (shortest + longest) / 2e3;
        assert!((found / centre - 1.0).abs() < 0.004, "{found} {centre}");
    }
    assert_eq!(waits[12], (30e3, 90e3));
}

/// 1, 2, 4, 8 s: every client at the same moments.
#[test]
fn retryablehttp_and_p_retry_have_no_jitter() {
    let sent: Vec<f64> = sent(&text("go-retryablehttp", DEAD), &[], 0).into_iter().map(|(at, _)| at).collect();
    assert_eq!(sent, [0.0, 1e3, 3e3, 7e3, 15e3]);
    let waits: [f64; 10] = exact_ms("p-retry", &[]);
    assert_eq!((waits[9], waits.iter().sum::<f64>()), (512e3, 1023e3));
    let randomized =
        policy("p-retry", &["retries.p-retry.jitter={ upward = 1.0 }", "retries.p-retry.cap_order=after_jitter"]);
    assert_eq!(waits_ms::<2>(&randomized), [(1e3, 2e3), (2e3, 4e3)]);
}

/// The bases of retry-go add up to 51.1 s; got has 1 and 2 s; both have up to 100 ms on top.
#[test]
fn noise_of_a_tenth_of_a_second() {
    let waits = waits_ms::<9>(&policy("retry-go", &[]));
    assert_eq!(waits.iter().map(|(shortest, _)| shortest).sum::<f64>(), 51_100.0);
    // The clock ticks in nanoseconds.
    assert!(waits.iter().all(|(shortest, longest)| (longest - shortest - 100.0).abs() < 2e-6));
    let got = waits_ms::<2>(&policy("got", &[])).map(|(shortest, longest)| (shortest, longest.round()));
    assert_eq!(got, [(1000.0, 1100.0), (2000.0, 2100.0)]);
}

/// A backoff factor of 0.1: 0, 0.2, 0.4, 0.8 s, up to 120 s.
#[test]
fn urllib3_retries_at_once_and_then_doubles() {
    let waits: [f64; 12] = exact_ms("urllib3", &["retries.urllib3.backoff={ exponential = { base = \"100ms\" } }"]);
    assert_eq!(waits[..4], [0.0, 200.0, 400.0, 800.0]);
    assert_eq!((waits[10], waits[11]), (102_400.0, 120_000.0));
}

/// Tenacity's `wait_exponential(multiplier=1, min=4, max=10)`: 4, 4, 4, 8, 10, 10; without a wait it never ends.
#[test]
fn tenacity_raises_short_waits() {
    let settings = [
        "retries.tenacity.backoff={ exponential = { base = \"1s\" } }",
        "retries.tenacity.cap=10s",
        "retries.tenacity.floor=4s",
    ];
    assert_eq!(exact_ms::<6>("tenacity", &settings), [4e3, 4e3, 4e3, 8e3, 10e3, 10e3]);
    let slow = text("tenacity", DEAD).replace("effect = { fail = {} }", "effect = { fail = { delay = \"1ms\" } }");
    let outcome = run(&slow.replace("10m", "1s"), &[]);
    assert_eq!(
        (outcome.all_calls.attempts, outcome.all_requests.ended()),
        (1_000, 0),
        "one every millisecond, without end"
    );
}

/// Axios: 200, 400, 800 ms and up to 20 % more. Backon: up to twice its cap. Kafka: within its cap.
#[test]
fn jitter_that_adds_and_caps_that_hold() {
    let axios = [
        "retries.axios-retry.backoff={ exponential = { base = \"200ms\" } }",
        "retries.axios-retry.jitter={ upward = 0.2 }",
    ];
    assert_eq!(waits_ms::<3>(&policy("axios-retry", &axios)), [(200.0, 240.0), (400.0, 480.0), (800.0, 960.0)]);
    let backon = policy("backon", &["retries.backon.jitter={ upward = 1.0 }"]);
    assert_eq!(waits_ms::<8>(&backon)[7], (60e3, 120e3));
    let kafka = waits_ms::<6>(&policy("kafka-producer", &[]));
    assert_eq!(kafka[3..], [(640.0, 960.0), (800.0, 1000.0), (800.0, 1000.0)]);
    let capped = waits_ms::<13>(&policy("retry-policies", &[]));
    assert_eq!((capped[10].1, capped[11].1), (1024e3, 1800e3), "30 minutes");
}

/// `from_millis(100)` is 100 ms, 10 s, 1000 s: the base is its own factor.
#[test]
fn tokio_retry_multiplies_by_its_base() {
    assert_eq!(exact_ms::<3>("tokio-retry", &[]), [100.0, 10e3, 1000e3]);
}

/// Chains of sidecars multiply: three of Istio's in a row are 3 x 3 x 3 calls of the last service.
#[test]
fn istios_sidecars_multiply() {
    let chain = "[services.mid]\ncalls.last.retry = \"istio\"\n[services.last]\n[faults.down]\non = [\"last\"]\n\
                 effect = { fail = {} }\n[services.api.calls.mid]\nretry = \"istio\"\n";
    let chain = text("istio", chain).replace("[services.api]\n", "");
    let outcome = run(&chain, &[]);
    assert_eq!(outcome.services.iter().map(|service| service.arrivals).max(), Some(27));
}

/// A container that crashes: at once, then 10, 20, 40, 80, 160 s, then every 300 s.
#[test]
fn kubelet_waits_five_minutes_at_last() {
    let sent: Vec<f64> = sent(&text("kubelet-crashloop", DEAD).replace("10m", "20m"), &[], 0)
        .into_iter()
        .map(|(at, _)| at / 1e3)
        .collect();
    assert_eq!(sent, [0.0, 0.0, 10.0, 30.0, 70.0, 150.0, 310.0, 610.0, 910.0]);
    assert!(policy("kubelet-crashloop", &[]).retry_on.contains(ErrorKind::Internal));
}
