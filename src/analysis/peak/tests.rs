use super::*;
use crate::scenario::{Overrides, Scenario};

/// Of 1,000 clients with these settings of the call, this policy, and more.
fn peak_of(at: &str, call: &str, policy: &str, more: &str) -> Option<f64> {
    let text = format!(
        r#"
        version = 1
        name = "peak"
        horizon = "2h"
        [clients.web]
        count = 1000
        arrivals = {{ burst = {{ at = "{at}" }} }}
        calls.api = {{ retry = "p" {call} }}
        [services.api]
        [retries.p]
        {policy}
        {more}
        "#
    );
    let scenario = Scenario::parse("peak", &text, std::path::Path::new(""), &Overrides::default());
    let plan = scenario.unwrap_or_else(|wrong| panic!("{wrong}")).variants()[0].1.clone();
    retry_peak(&plan, CallId(0))
}

fn peak(policy: &str) -> Option<f64> {
    peak_of("0s", "", policy, "")
}

const DOUBLING: &str = "max_retries = 4\nbackoff = { exponential = { base = \"1s\", factor = 2.0 } }";

fn about(found: Option<f64>, expected: f64) {
    let found = found.expect("it has a simple form");
    assert!((found / expected - 1.0).abs() < 1e-3, "{found} instead of {expected}");
}

/// Without jitter all are together. With full jitter the density of retries is 1 + t/2 + t^2/16 + t^3/384 per client
/// and second before the first second is over, so that 15.34 % of the clients are in its last tenth. (An independent
/// derivation.)
#[test]
fn jitter_spreads_what_is_together_without_it() {
    assert_eq!(peak("max_retries = 4\nbackoff = { fixed = \"1s\" }"), Some(1_000.0));
    assert_eq!(peak(DOUBLING), Some(1_000.0));
    let density = |t: f64| t + t * t / 4.0 + t * t * t / 48.0 + t * t * t * t / 1_536.0;
    about(peak(&format!("{DOUBLING}\njitter = \"full\"")), 1_000.0 * (density(1.0) - density(0.9)));
    // Half of the wait is fixed: the first retries are within half a second.
    about(peak(&format!("{DOUBLING}\njitter = \"equal\"")), 200.0);
    // What is added evenly is as even.
    let uniform = "{ uniform = { min = \"0s\", max = \"1s\" } }";
    let add = format!("max_retries = 1\nbackoff = {{ fixed = \"1s\" }}\njitter = {{ add = {uniform} }}");
    about(peak(&add), 100.0);
}

#[test]
fn without_waits_all_retries_are_in_one_window() {
    assert_eq!(peak("max_retries = 4"), Some(4_000.0));
}

/// Waits of up to 100 ms after an instant in the middle of a window are half in this one and half in the next.
#[test]
fn windows_are_where_those_of_a_run_are() {
    let policy = "max_retries = 1\nbackoff = { fixed = \"100ms\" }\njitter = \"full\"";
    about(peak_of("1s", "", policy, ""), 1_000.0);
    about(peak_of("50ms", "", policy, ""), 500.0);
    about(peak_of("125ms", "", policy, ""), 750.0);
}

/// 142 multiples of 0.7 ms are below 100 ms, and 143 from there to below 200 ms. A wait of up to 1.5 ms is within one
/// window, and 30 of them, of 22.5 ms in the mean, are as well.
#[test]
fn waits_may_be_no_whole_milliseconds() {
    assert_eq!(peak("max_retries = 300\nbackoff = { fixed = \"700us\" }"), Some(143_000.0));
    let jitter =
        |retries: u32| format!("max_retries = {retries}\nbackoff = {{ fixed = \"1500us\" }}\njitter = \"full\"");
    about(peak(&jitter(1)), 1_000.0);
    about(peak(&jitter(30)), 30_000.0);
    // Two waits of up to 0.3 ms around the end of a window: 0.15^2 / 2 / 0.3^2 = 1/8 before it, and half of the first.
    let edge = "max_retries = 2\nbackoff = { fixed = \"300us\" }\njitter = \"full\"";
    about(peak_of("99850us", "", edge, ""), 1_000.0 * (0.5 + 0.875));
}

/// Each attempt takes 20 ms, so that there are retries after 20, 40, 60 and 80 ms. Those that do not fit are not made.
#[test]
fn what_does_not_fit_into_the_time_of_the_call_is_not_counted() {
    let call = |limit: &str| format!(", network = \"10ms\" {limit}");
    let of = |limit: &str, policy: &str| peak_of("0s", &call(limit), policy, "");
    let four = "max_retries = 4";
    assert_eq!(of("", four), Some(4_000.0));
    assert_eq!(of(", total_timeout = \"50ms\"", four), Some(2_000.0));
    assert_eq!(of(", total_timeout = \"50ms\"", &format!("{four}\nmin_attempt = \"20ms\"")), Some(1_000.0));
    assert_eq!(of(", total_timeout = \"40ms\"", four), Some(1_000.0), "at the limit there is no time left");
    // Of waits of up to a second half fit into half a second, but they are as dense.
    let jitter = "max_retries = 1\nbackoff = { fixed = \"1s\" }\njitter = \"full\"";
    about(peak_of("0s", ", total_timeout = \"500ms\"", jitter, ""), 100.0);
    about(peak_of("0s", ", total_timeout = \"50ms\"", jitter, ""), 50.0);
    // Begun after 50 ms + U(0, 50 ms) and 25 ms + U(0, 25 ms) more, with 20 ms left of 100: the first in 60 % of the
    // cases, the second where both draws are together at most 5 ms: 5^2 / 2 / (50 x 25) = 1 %.
    let equal = "max_retries = 2\nmin_attempt = \"20ms\"\njitter = \"equal\"\n\
                 backoff = { explicit = [\"100ms\", \"50ms\"] }";
    about(peak_of("0s", ", total_timeout = \"100ms\"", equal, ""), 610.0);
}

#[test]
fn what_something_else_decides_about_has_no_such_form() {
    let walk = "max_retries = 4\nbackoff = { decorrelated = { base = \"1s\" } }";
    assert_eq!(peak(walk), None);
    let steps = "max_retries = 1\njitter = { add = { uniform = { min = \"0s\", max = \"10s\", step = \"1s\" } } }";
    assert_eq!(peak(steps), None);
    assert_eq!(peak(&format!("{DOUBLING}\njitter = {{ add = {{ exponential = {{ mean = \"1s\" }} }} }}")), None);
    assert_eq!(peak(&format!("{DOUBLING}\njitter = \"full\"\ncap = \"2s\"\ncap_order = \"after_jitter\"")), None);
    assert_eq!(peak(&format!("{DOUBLING}\nretry_on = [\"timeout\"]")), None);
    assert_eq!(peak(&format!("{DOUBLING}\nbudget = {{ token_bucket = {{ max = 10, per_success = 0.1 }} }}")), None);
    let with = |call: &str| peak_of("0s", call, DOUBLING, "");
    assert_eq!(with(", breaker = { trip = { consecutive = 5 }, open_for = \"5s\" }"), None);
    assert_eq!(with(", throttle = { adaptive = { k = 2.0, window = \"2m\" } }"), None);
    assert_eq!(with(", hedge = { after = \"100ms\" }"), None);
    assert_eq!(with(", network = { exponential = { mean = \"1ms\" } }"), None);
    assert_eq!(with(", timeout = \"10ms\", network = \"6ms\""), None, "it is no refusal then");
}

/// Only a `fail` fault makes refusals that say when to try again: one that strikes this call.
#[test]
fn refusals_may_say_when_to_try_again() {
    let minds = format!("{DOUBLING}\nretry_after = {{ rule = \"floor\" }}");
    let fault = |on: &str, error: &str| {
        let fail = format!("fail = {{ error = \"{error}\", retry_after = \"60s\" }}");
        format!("[services.other]\n[faults.full]\non = [\"{on}\"]\neffect = {{ {fail} }}")
    };
    for on in ["api", "web->api"] {
        assert_eq!(peak_of("0s", "", &minds, &fault(on, "refused")), None, "{on}");
        assert_eq!(peak_of("0s", "", DOUBLING, &fault(on, "refused")), Some(1_000.0), "nobody minds {on}");
        assert_eq!(peak_of("0s", "", &minds, &fault(on, "rate_limited")), Some(1_000.0), "another error of {on}");
    }
    assert_eq!(peak_of("0s", "", &minds, &fault("other", "refused")), Some(1_000.0), "another service");
}

#[test]
fn what_takes_too_long_has_no_such_form() {
    assert_eq!(peak("max_retries = 4294967293\nbackoff = { fixed = \"1ns\" }\njitter = \"full\""), None);
    assert_eq!(peak("max_retries = 20000"), None);
    assert_eq!(peak("max_attempts = \"unlimited\"\nbackoff = { fixed = \"1s\" }\njitter = \"full\""), None);
    // 100 retries with waits from 1 ms to an hour would take cells of 20 us.
    assert_eq!(peak("max_retries = 100\nbackoff = { explicit = [\"1ms\", \"1h\"] }\njitter = \"full\""), None);
    // An hour without jitter is nothing, and with a limit unlimited attempts are few.
    assert_eq!(peak("max_retries = 4\nbackoff = { fixed = \"10m\" }"), Some(1_000.0));
    let unlimited = "max_attempts = \"unlimited\"\nbackoff = { fixed = \"30ms\" }";
    assert_eq!(peak_of("0s", ", total_timeout = \"1s\"", unlimited, ""), Some(4_000.0));
}

/// 600 clients, once a minute, with this offset and these retries.
fn peaks_of_timers(offset: &str, policy: &str) -> (Option<f64>, Option<f64>) {
    let text = format!(
        r#"
        version = 1
        name = "timers"
        horizon = "3m"
        [clients.timers]
        count = 600
        arrivals = {{ periodic = {{ every = "60s", offset = {offset} }} }}
        calls.job = {{ retry = "p" }}
        [services.job]
        [retries.p]
        {policy}
        "#
    );
    let scenario = Scenario::parse("timers", &text, std::path::Path::new(""), &Overrides::default());
    let plan = scenario.unwrap_or_else(|wrong| panic!("{wrong}")).variants()[0].1.clone();
    (first_peak(&plan, &plan.calls[0]), retry_peak(&plan, CallId(0)))
}

/// All on the minute, ten in each whole second, or one in each tenth of a second.
#[test]
fn timers_are_together_or_apart() {
    let jitter = "max_retries = 1\nbackoff = { fixed = \"10s\" }\njitter = \"full\"";
    let (first, retries) = peaks_of_timers("\"5s\"", jitter);
    assert_eq!(first, Some(600.0));
    about(retries, 6.0);
    let uniform = |more: &str| format!("{{ uniform = {{ min = \"0s\", max = \"60s\" {more} }} }}");
    assert_eq!(peaks_of_timers(&uniform(", step = \"1s\""), jitter), (Some(10.0), None));
    assert_eq!(peaks_of_timers(&uniform(""), jitter), (Some(1.0), None));
    // Retries that go on in the next minute meet those that begin there.
    assert_eq!(peaks_of_timers("\"5s\"", &jitter.replace("10s", "60s")), (Some(600.0), None));
    // Others have no set times.
    assert_eq!(peaks_of_timers("{ exponential = { mean = \"5s\" } }", jitter), (None, None));
}

/// The half of a second above the floor, or below the cap, has 200 in each 100 ms. What is not begun any more is not
/// there.
#[test]
fn windows_that_are_narrowed_are_as_even() {
    let fixed = "max_retries = 1\nbackoff = { fixed = \"1s\" }\njitter = \"full\"\n";
    about(peak(&format!("{fixed}floor = \"500ms\"")), 200.0);
    about(peak(&format!("{fixed}floor = \"2s\"")), 1_000.0);
    let spread = "max_retries = 1\nbackoff = { fixed = \"1s\" }\njitter = { spread = 0.5 }\ncap = \"1s\"\n";
    about(peak(&format!("{spread}cap_order = \"narrow\"")), 200.0);
    about(peak("max_retries = 1\nbackoff = { fixed = \"1s\" }\njitter = { upward = 0.5 }"), 200.0);
    // Those who retry at once, and the first tenth of those who are back within a second.
    about(peak("max_retries = 2\nimmediate = 1\nbackoff = { fixed = \"1s\" }\njitter = \"full\""), 1_100.0);
    assert_eq!(peak("max_retries = 2\nbackoff = { fixed = \"40ms\" }"), Some(2_000.0));
    assert_eq!(peak("max_retries = 2\nbackoff = { fixed = \"40ms\" }\nmax_elapsed = \"79ms\""), Some(1_000.0));
    // Steps and curves have no such form; nobody says when to come back.
    assert_eq!(peak(&format!("{fixed}granularity = \"1ms\"")), None);
    assert_eq!(peak("max_retries = 2\nbackoff = { decorrelated_v2 = { base = \"1s\" } }"), None);
    assert_eq!(peak(&format!("{fixed}retry_after = {{ required = true }}")), None);
}

/// Waits of up to a day, of which a minute counts: n retries later the density is t^(n - 1) / ((n - 1)! T^n), which sums
/// up to e^(t / T) / T. What comes after the minute takes neither time nor room.
#[test]
fn waits_may_be_far_longer_than_there_is_time() {
    let found = peak_of(
        "0s",
        ", total_timeout = \"60s\"",
        "max_retries = 10\nbackoff = { fixed = \"1d\" }\njitter = \"full\"",
        "",
    );
    let day = 86_400.0;
    about(found, 1_000.0 * 0.1 / day * libm::exp(60.0 / day));
    let endless = "max_retries = \"unlimited\"\nbackoff = { exponential = { base = \"100ms\", factor = 100 } }\njitter = \"full\"";
    assert_eq!(peak_of("0s", ", total_timeout = \"30s\"", endless, ""), None);
}
