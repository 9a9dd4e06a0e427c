//! Rules about circuit breakers.

use std::path::Path;

use stormsim::scenario::{Overrides, Scenario};
use stormsim::sim::simulate;

use crate::found;

/// What a rule says of a scenario, with these settings.
fn said(rule: &str, text: &str, set: &[&str]) -> Vec<String> {
    found(rule, text, set).into_iter().map(|finding| format!("{}; {}", finding.message, finding.figure)).collect()
}

/// One caller, one call after another, and every attempt fails at once. (After jvoegele/external_service, issues 91 and
/// 93.)
const IN_A_ROW: &str = r#"
clients.app.arrivals = { closed = { think = "0s", requests = 20 } }
clients.app.calls.server = { retry = "policy", breaker = { trip = { count = { failures = 6, window = "1h" } }, open_for = "1h" } }
services.server = {}
retries.policy = { max_attempts = 5 }
faults.down = { on = ["server"], effect = "refuse" }
"#;

const WAITS: &str = r#"retries.policy.backoff={ exponential = { base = "100ms" } }"#;

fn failures(count: u32) -> String {
    format!("clients.app.calls.server.breaker.trip.count.failures={count}")
}

fn window(ms: u64) -> String {
    format!(r#"clients.app.calls.server.breaker.trip.count.window="{ms}ms""#)
}

#[test]
fn one_call_is_not_to_open_a_breaker() {
    let opens = |set: &[&str]| said("breaker-opens-on-one-call", IN_A_ROW, set);
    let eight = opens(&["retries.policy.max_attempts=8"]);
    assert_eq!(eight.len(), 1);
    let text = "one call opens the breaker of `app->server`: it opens at failure 6, and a call makes 8 attempts;";
    assert!(eight[0].starts_with(text), "{eight:?}");
    assert_eq!(opens(&["retries.policy.max_attempts=6"]).len(), 1);
    assert_eq!(opens(&["retries.policy.max_attempts=5"]), [""; 0]);
    let six = "retries.policy.max_attempts=6";
    // At 0, 0.1, 0.3, 0.7, 1.5 and 3.1 s.
    assert_eq!(opens(&[six, WAITS, &window(3_101)]).len(), 1);
    assert_eq!(opens(&[six, WAITS, &window(3_100)]), [""; 0], "a window is open at its old end");
    assert_eq!(opens(&[six, r#"clients.app.calls.server.breaker.counts="calls""#]), [""; 0]);
    let other = r#"clients.app.calls.server.breaker.failure_on=["internal"]"#;
    assert_eq!(opens(&[six, other]), [""; 0], "what is counted is not retried");
    let one = opens(&[&failures(1), "retries.policy.max_attempts=1"]);
    assert!(one[0].contains("it opens at failure 1, and a call makes 1 attempt;"), "{one:?}");
}

/// Ten requests per second: about one in the 100 ms between two attempts.
#[test]
fn failures_in_a_row_are_interrupted_by_what_succeeds() {
    let text = r#"
clients.app.arrivals = { constant = { rate = 10 } }
clients.app.calls.server = { retry = "policy", breaker = { trip = { consecutive = 2 }, open_for = "5s" } }
services.server = {}
retries.policy = { max_attempts = 2, backoff = { fixed = "90ms" } }
"#;
    let opens = |set: &[&str]| said("breaker-opens-on-one-call", text, set);
    let near = opens(&[]);
    assert!(near[0].ends_with("turns away its caller's next 50 to `server` (5 s at 10 per second)"), "{near:?}");
    let wait = r#"retries.policy.backoff={ fixed = "100ms" }"#;
    assert_eq!(opens(&[wait]), [""; 0]);
    assert_eq!(opens(&[wait, "clients.app.count=2"]).len(), 1, "each of two has half of the requests");
    assert_eq!(opens(&[wait, "clients.app.count=2", r#"clients.app.calls.server.breaker.shared_by="group""#]), [""; 0]);
}

/// The rule says that a threshold cannot be reached exactly where the engine never opens the breaker.
#[test]
fn a_short_window_is_one_that_never_opens() {
    let short = |set: &[&str]| said("breaker-window-short", IN_A_ROW, set);
    let span = "window shorter than the retry span 1.5 s: threshold cannot be reached;";
    assert!(short(&[WAITS, &window(1_000)])[0].contains(span));
    let (mut found, mut not) = (0, 0);
    for think in ["0s", "300ms"] {
        for count in [2, 3, 5, 6, 9] {
            for ms in [100, 101, 699, 701, 1_000, 1_499, 1_500, 1_501, 1_800, 1_801, 2_000, 3_000, 3_001] {
                let think = format!(r#"clients.app.arrivals={{ closed = {{ think = "{think}", requests = 20 }} }}"#);
                let set = [WAITS, &think, &failures(count), &window(ms)];
                let is_found = !short(&set).is_empty();
                assert_eq!(is_found, opened(&set) == 0, "{set:?}");
                *(if is_found { &mut found } else { &mut not }) += 1;
            }
        }
    }
    assert!(found > 20 && not > 20, "{found} {not}");
}

/// How often the breaker opens in a run of [`IN_A_ROW`].
fn opened(set: &[&str]) -> u64 {
    let text = format!("version = 1\nname = \"example\"\nhorizon = \"60s\"\n{IN_A_ROW}");
    let set = set.iter().map(|&set| set.to_owned()).collect();
    let scenario = Scenario::parse("example", &text, Path::new(""), &Overrides { set, ..Overrides::default() });
    let scenario = scenario.unwrap_or_else(|wrong| panic!("{wrong}"));
    simulate(&scenario.variants()[0].1, 1, 0).calls[0].protection.breaker_opened
}

/// A request every two seconds of each of 200 callers, with attempts at 0, 0.2, 0.6 and 1.4 s: three in a second, four
/// in two, and the next at 2 s.
#[test]
fn a_window_is_short_for_callers_with_a_rhythm_of_their_own() {
    let text = r#"
clients.app.count = 200
clients.app.arrivals = { constant = { rate = 100 } }
clients.app.calls.api.retry = "policy"
clients.app.calls.api.breaker = { trip = { count = { failures = 5, window = "1s" } }, open_for = "5s" }
services.api = {}
retries.policy = { max_attempts = 4, backoff = { exponential = { base = "200ms" } } }
"#;
    let short = |set: &[&str]| said("breaker-window-short", text, set);
    let plain = short(&[]);
    assert!(plain[0].contains("window shorter than the retry span 1.4 s"), "{plain:?}");
    assert!(plain[0].ends_with("no 1 s hold more than 3 of a caller's failures"), "{plain:?}");
    let window = |time: &str| format!(r#"clients.app.calls.api.breaker.trip.count.window="{time}""#);
    assert!(short(&[&window("2s")])[0].contains("window too short for calls with a retry span of 1.4 s"));
    assert_eq!(short(&[&window("2001ms")]), [""; 0]);
    assert_eq!(short(&[r#"clients.app.calls.api.breaker.shared_by="group""#]), [""; 0], "others fill it");
    assert_eq!(short(&["clients.app.count=100"]), [""; 0], "calls overlap");
}

/// Two requests per second that take up to 1 s: in 30 s no more end than begin in 31 s, 63 at most.
const RARE: &str = r#"
clients.web.arrivals = { constant = { rate = 2 } }
clients.web.calls.api.timeout = "1s"
clients.web.calls.api.breaker = { trip = { ratio = { failures = 0.5, window = "30s", min_calls = 64 } }, open_for = "5s" }
services.api = {}
"#;

#[test]
fn more_is_wanted_than_can_come() {
    let never = |set: &[&str]| said("breaker-never-opens", RARE, set);
    let plain = never(&[]);
    assert_eq!(
        plain,
        [
            "the breaker of `web->api` cannot open: it wants 64 within 30 s, and at most 63 attempts can end in that time; \
          while `api` fails, all 2 requests per second are sent to it"
        ]
    );
    let retried = never(&[
        "retries.p.max_attempts=2",
        r#"clients.web.calls.api.retry="p""#,
        "clients.web.calls.api.breaker.trip.ratio.min_calls=1000",
    ]);
    assert!(retried[0].ends_with("all 2 requests per second and all of their retries are sent to it"), "{retried:?}");
    assert_eq!(never(&["clients.web.calls.api.breaker.trip.ratio.min_calls=63"]), [""; 0]);
    let again = r#"clients.web.calls.api.retry="again""#;
    let policy = "retries.again={ max_attempts = 2 }";
    assert_eq!(never(&[again, policy]), [""; 0], "retries count, too");
    assert_eq!(never(&[again, policy, r#"clients.web.calls.api.breaker.counts="calls""#]).len(), 0, "calls last 2 s");
    assert_eq!(never(&[r#"clients.web.calls.api.timeout="none""#]), [""; 0], "they may all end at once");
    let policy = "retries.again={ max_attempts = 2, retry_after = { rule = \"floor\" } }";
    let busy = "services.api.limiter={ fixed_window = { limit = 1, every = \"1s\", retry_after = \"9s\" } }";
    let counts = r#"clients.web.calls.api.breaker.counts="calls""#;
    assert_eq!(never(&[again, policy, busy, counts]), [""; 0], "calls last as long as the server says");
    let load = r#"faults.rush={ on = ["web"], until = "1s", effect = { load = { factor = 2 } } }"#;
    assert_eq!(never(&[load]), [""; 0], "a rush fills it");
    assert_eq!(never(&[r#"clients.web.arrivals={ closed = { think = "0s" } }"#]), [""; 0], "they come as they can");
    // By Chernoff's bound 125 of a Poisson variable with mean 62 come in 10^12 cases less than once.
    let poisson = "clients.web.arrivals={ poisson = { rate = 2 } }";
    let wants = |count: u32| format!("clients.web.calls.api.breaker.trip.ratio.min_calls={count}");
    assert_eq!(never(&[poisson, &wants(110)]), [""; 0]);
    assert_eq!(never(&[poisson, &wants(140)]).len(), 1);
    let of_one = never(&["clients.web.count=10", &wants(8)]);
    assert!(of_one[0].contains("at most 7 attempts of one caller can end"), "{of_one:?}");
    assert_eq!(never(&["clients.web.count=10", &wants(7)]), [""; 0]);
}

#[test]
fn what_is_counted_must_be_able_to_come() {
    let text = r#"
clients.web.arrivals = { burst = {} }
clients.web.calls.api.total_timeout = "1s"
clients.web.calls.api.breaker = { trip = { consecutive = 3 }, open_for = "5s" }
services.api = {}
services.other = {}
"#;
    let never = |set: &[&str]| said("breaker-never-opens", text, set);
    let counts = |kinds: &str| format!("clients.web.calls.api.breaker.failure_on=[{kinds}]");
    assert_eq!(never(&[]), [""; 0]);
    assert!(never(&[&counts("")])[0].contains("it counts no error at all"));
    let timeouts = counts(r#""timeout", "breaker_open""#);
    assert!(
        never(&[&timeouts])[0].contains("it counts only `timeout`, `breaker_open`, which the call cannot fail with")
    );
    assert_eq!(never(&[&counts(r#""deadline""#)]), [""; 0], "the total is over");
    for way in [
        r#"clients.web.calls.api.timeout="500ms""#,
        r#"clients.web.calls.api.connect_timeout="500ms""#,
        "services.api.calls.other={}",
        r#"faults.late={ on = ["api"], effect = { fail = { error = "timeout" } } }"#,
    ] {
        assert_eq!(never(&[&timeouts, way]), [""; 0], "{way}");
    }
    assert_eq!(never(&[&timeouts, r#"clients.web.calls.api.timeout="1s""#]).len(), 1, "the total is over first");
    let slow = |over: &str| {
        format!(
            r#"clients.web.calls.api.breaker.trip={{ slow = {{ over = "{over}", ratio = 0.5, calls = 10, min_calls = 5 }} }}"#
        )
    };
    let never_slow = never(&[&slow("1s")]);
    assert!(never_slow[0].contains("counts attempts that take longer than 1 s, and they are given up after 1 s"));
    assert_eq!(never(&[&slow("999ms")]), [""; 0]);
}

/// A twentieth of the attempts fails on any day.
const DAILY: &str = r#"
clients.web.arrivals = { constant = { rate = 100 } }
clients.web.calls.api.timeout = "1s"
clients.web.calls.api.breaker = { trip = { ratio = { failures = 0.05, window = "10s", min_calls = 20 } }, open_for = "5s" }
services.api = {}
faults.daily = { on = ["api"], effect = { fail = { probability = 0.05 } } }
"#;

#[test]
fn a_threshold_is_above_what_always_fails() {
    let opens = |set: &[&str]| said("breaker-below-error-rate", DAILY, set);
    assert_eq!(
        opens(&[]),
        ["the breaker of `web->api` opens at 5 %, and 5 % of its attempts fail though nothing is wrong; in normal \
          operation it opens about every 5.2 s, and then turns everything away for 5 s"]
    );
    let trip = |trip: &str| format!("clients.web.calls.api.breaker.trip={trip}");
    // Of 1,000 in 10 s as many as 100 fail less than once in 10^10 windows.
    assert_eq!(opens(&["clients.web.calls.api.breaker.trip.ratio.failures=0.1"]), [""; 0]);
    assert_eq!(opens(&["clients.web.calls.api.breaker.trip.ratio.min_calls=1001"]), [""; 0], "10 s hold 1,000");
    assert_eq!(opens(&["faults.daily.effect.fail.probability=0.6"]), [""; 0], "that is an outage");
    assert_eq!(opens(&[r#"faults.daily.until="30s""#]), [""; 0], "and that an incident");
    assert_eq!(opens(&[r#"clients.web.calls.api.breaker.failure_on=["timeout"]"#]), [""; 0]);
    // Five per second.
    let count =
        |failures: u32| opens(&[&trip(&format!(r#"{{ count = {{ failures = {failures}, window = "10s" }} }}"#))]);
    assert!(count(50)[0].contains("opens about every 15 s"), "{:?}", count(50));
    assert!(count(51)[0].contains("opens by chance"), "{:?}", count(51));
    assert_eq!(count(100), [""; 0]);
    // Two in a row after (1 - 0.0025) / (0.95 x 0.0025) = 420 attempts; four after 168,420, half an hour.
    let two = opens(&[&trip("{ consecutive = 2 }")]);
    assert!(two[0].contains("opens at 2 in a row") && two[0].contains("about every 9.2 s"), "{two:?}");
    assert_eq!(opens(&[&trip("{ consecutive = 4 }")]), [""; 0]);
    // With a second attempt a call fails in one case of 400.
    let calls = [
        r#"clients.web.calls.api.breaker.counts="calls""#,
        r#"clients.web.calls.api.retry="again""#,
        "retries.again={ max_attempts = 2 }",
    ];
    assert_eq!(opens(&calls), [""; 0]);
    // Service of 100 ms in the mean that is given 300 ms: exp(-3) = 4.98 % are late; with the fault 9.7 %.
    let late = [
        r#"clients.web.calls.api.timeout="300ms""#,
        r#"services.api.service_time={ exponential = { mean = "100ms" } }"#,
    ];
    assert!(opens(&late)[0].contains("9.73 % of its attempts fail"), "{:?}", opens(&late));
    let slow = trip(r#"{ slow = { over = "200ms", ratio = 0.13, calls = 10, min_calls = 10 } }"#);
    assert!(opens(&[late[0], late[1], &slow])[0].contains("13.5 % of its attempts are slow"));
}

#[test]
fn half_open_is_for_a_few() {
    let text = r#"
clients.web.count = 10
clients.web.arrivals = { constant = { rate = 500 } }
clients.web.calls.api.timeout = "2s"
clients.web.calls.api.breaker = { trip = { consecutive = 5 }, open_for = "5s", half_open = "unlimited" }
services.api = {}
"#;
    let all = |set: &[&str]| said("half-open-unlimited", text, set);
    let plain = all(&[]);
    assert!(plain[0].contains("all 500 requests per second go to `api`"), "{plain:?}");
    assert!(plain[0].ends_with("up to 1,000 of them if that takes its 2 s"), "{plain:?}");
    assert_eq!(all(&["clients.web.calls.api.breaker.half_open=10"]), [""; 0]);
    let closed = r#"clients.web.arrivals={ closed = { think = "1s" } }"#;
    assert_eq!(all(&[closed]), [""; 0], "each has one request at a time");
    let shared = all(&[closed, r#"clients.web.calls.api.breaker.shared_by="group""#]);
    assert!(shared[0].ends_with("up to 10 clients come to `api` at once"), "{shared:?}");
}
