//! Rules about waits, where floors, narrowed windows, whole steps and limits of time have to do with them.

use crate::found;

const FLEET: &str = r#"
    clients.fleet = { count = 1000, arrivals = { burst = {} }, calls.api = { timeout = "1s", retry = "policy" } }
    services.api = { service_time = "5ms", workers = 10, queue = { limit = 100 } }
    retries.policy = { max_attempts = 6, backoff = { exponential = { base = "1s" } } }
"#;

/// How many findings a rule has of the fleet with these settings.
fn count(rule: &str, settings: &[&str]) -> usize {
    found(rule, FLEET, settings).len()
}

/// The message and the figure of the only finding.
fn only(rule: &str, settings: &[&str]) -> (String, String) {
    let mut findings = found(rule, FLEET, settings);
    assert_eq!(findings.len(), 1, "{rule} {settings:?}");
    let finding = findings.remove(0);
    (finding.message, finding.figure)
}

/// Of 1 s with full jitter nothing is above a floor of 1 s; of the second wait half is.
#[test]
fn a_floor_takes_jitter_away_like_a_cap() {
    let floor = |floor| [r#"retries.policy.jitter="full""#, floor];
    let (message, figure) = only("jitter-lost-at-cap", &floor(r#"retries.policy.floor="1s""#));
    assert_eq!(message, "`retries.policy` raises its jitter to the floor of 1 s");
    assert_eq!(
        figure,
        "before retry 1 all waits are exactly 1 s; all 1,000 requests that fail together then at `fleet->api` are back \
         together 1 s later"
    );
    assert_eq!(count("jitter-lost-at-cap", &floor(r#"retries.policy.floor="999ms""#)), 0);
    assert_eq!(count("jitter-lost-at-cap", &[r#"retries.policy.floor="9s""#]), 0, "there is none to lose");
    // What is lost has no width to be too narrow.
    assert_eq!(count("narrow-jitter", &floor(r#"retries.policy.floor="1s""#)), 0);
    assert_eq!(count("narrow-jitter", &floor(r#"retries.policy.floor="900ms""#)), 1, "100 ms for what takes 500 ms");
    assert_eq!(count("narrow-jitter", &floor(r#"retries.policy.floor="100ms""#)), 0, "900 ms");
}

/// The retry at once is no jitter that is too narrow: the next one is looked at.
#[test]
fn narrow_jitter_is_looked_for_after_what_comes_at_once() {
    let once = |wait| ["retries.policy.immediate=1", r#"retries.policy.jitter="full""#, wait];
    assert_eq!(count("narrow-jitter", &once(r#"retries.policy.backoff={ fixed = "400ms" }"#)), 1);
    assert_eq!(count("narrow-jitter", &once(r#"retries.policy.backoff={ fixed = "600ms" }"#)), 0);
    let all = ["retries.policy.immediate=5", r#"retries.policy.jitter="full""#];
    assert_eq!(count("narrow-jitter", &all), 0, "all of them come at once");
}

/// Jitter upwards exceeds the cap, unless that comes after it; narrowed to the cap it is lost there.
#[test]
fn jitter_upwards_exceeds_the_cap_or_is_lost_at_it() {
    let capped = |order| [r#"retries.policy.jitter={ upward = 0.5 }"#, r#"retries.policy.cap="4s""#, order];
    let rules = |order| ["jitter-exceeds-cap", "jitter-lost-at-cap"].map(|rule| count(rule, &capped(order)));
    assert_eq!(rules(r#"retries.policy.cap_order="before_jitter""#), [1, 0]);
    assert_eq!(rules(r#"retries.policy.cap_order="after_jitter""#), [0, 1]);
    assert_eq!(rules(r#"retries.policy.cap_order="narrow""#), [0, 1]);
    let spread = [
        r#"retries.policy.jitter={ spread = 0.5 }"#,
        r#"retries.policy.cap="4s""#,
        r#"retries.policy.cap_order="narrow""#,
    ];
    assert_eq!(["jitter-exceeds-cap", "jitter-lost-at-cap"].map(|rule| count(rule, &spread)), [0, 0]);
}

/// Polly's jitter of steps along a curve is jitter; its MaxDelay comes last and takes it away.
#[test]
fn a_curve_has_jitter_until_its_cap() {
    let polly = r#"retries.policy.backoff={ decorrelated_v2 = { base = "2s" } }"#;
    assert_eq!(["no-jitter", "jitter-lost-at-cap"].map(|rule| count(rule, &[polly])), [0, 0]);
    let (message, figure) = only("jitter-lost-at-cap", &[polly, r#"retries.policy.cap="5s""#]);
    assert_eq!(message, "`retries.policy` cuts its jitter off at the cap of 5 s");
    assert!(figure.starts_with("before retry 4 "), "{figure}");
    let endless = [polly, "retries.policy.max_attempts=12"];
    assert_eq!(count("uncapped-backoff", &endless), 1);
    assert_eq!(count("uncapped-backoff", &[&endless[..], &[r#"retries.policy.max_elapsed="15m""#]].concat()), 0);
}

/// Whole steps of a quarter of a second leave four values of a window of a second, and one of a window of a quarter.
#[test]
fn waits_in_whole_steps_come_together() {
    let steps = |wait| [r#"retries.policy.jitter="full""#, r#"retries.policy.granularity="250ms""#, wait];
    let (message, figure) = only("quantised-jitter", &steps(r#"retries.policy.backoff={ fixed = "1s" }"#));
    assert_eq!(message, "`retries.policy` cuts waits before retry 1 down to 4 values, 250 ms apart");
    let together = "come back at the same instant on average, at each value";
    assert_eq!(figure, format!("of the 1,000 requests that fail together at `fleet->api` 250 {together}"));
    let (message, _) = only("quantised-jitter", &steps(r#"retries.policy.backoff={ fixed = "250ms" }"#));
    assert_eq!(message, "`retries.policy` cuts all waits before retry 1 down to the same multiple of 250 ms");
    let fine = [r#"retries.policy.jitter="full""#, r#"retries.policy.granularity="1ms""#];
    assert_eq!(count("quantised-jitter", &fine), 0, "which is no instant");
    assert_eq!(count("quantised-jitter", &[r#"retries.policy.granularity="1s""#]), 0, "there is no jitter");
}

/// So many retries at once are a loop, however long the others wait; and it is as long as they are many.
#[test]
fn retries_at_once_are_a_hot_loop() {
    let at_once = |retries| ["retries.policy.max_attempts=40", retries];
    let (message, _) = only("hot-loop", &at_once("retries.policy.immediate=9"));
    assert_eq!(message, "`retries.policy` makes 10 attempts with hardly a wait between them");
    assert_eq!(count("hot-loop", &at_once("retries.policy.immediate=8")), 0);
    let throttled = r#"retries.policy.backoff={ exponential = { base = "1us", factor = 1, base_throttled = "1s" } }"#;
    assert_eq!(count("hot-loop", &at_once(throttled)), 1, "only who is throttled waits");
    let only_throttled = r#"retries.policy.retry_on=["rate_limited"]"#;
    assert_eq!(count("hot-loop", &["retries.policy.max_attempts=40", throttled, only_throttled]), 0);
    let required = [
        "retries.policy.max_attempts=40",
        "retries.policy.backoff=none",
        "retries.policy.retry_after={ required = true }",
    ];
    assert_eq!(count("hot-loop", &required), 0, "nobody says when to come back");
}

/// A limit of time for retries is one: nobody has to add another, and attempts beyond it are meant.
#[test]
fn who_ends_with_time_needs_no_other_limit() {
    let timed = [r#"retries.policy.max_elapsed="20s""#];
    assert_eq!((count("no-total-timeout", &[]), count("no-total-timeout", &timed)), (1, 0));
    let short = [r#"clients.fleet.calls.api.total_timeout="2s""#];
    assert_eq!(count("attempts-never-fit", &short), 1);
    assert_eq!(count("attempts-never-fit", &[short[0], timed[0]]), 0);
}

/// What the server says is the same for all; cut to somewhat more than their own waits it differs as those do.
#[test]
fn a_delay_cut_to_the_own_wait_keeps_its_jitter() {
    let limited = r#"services.api.limiter={ fixed_window = { limit = 10, every = "1s", retry_after = "60s" } }"#;
    let herd = |retry_after: &str| {
        let setting = format!("retries.policy.retry_after={retry_after}");
        count("retry-after-replaces-jitter", &[limited, r#"retries.policy.jitter="full""#, &setting])
    };
    assert_eq!(herd("{}"), 1);
    assert_eq!(herd(r#"{ over_own = "5s" }"#), 0);
    assert_eq!(herd(r#"{ over_own = "60s" }"#), 1);
    assert_eq!(herd("{ upward = 0.5 }"), 0);
    assert_eq!(herd(r#"{ at_most = "30s", beyond = "ignore" }"#), 0);
}
