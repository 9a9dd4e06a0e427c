//! How many timers meet in 100 ms, against runs.

use std::path::Path;

use stormsim::scenario::{Overrides, Scenario};

use crate::Both;

/// 1,000 timers with these arrivals, whose attempts are all refused.
fn timers(arrivals: &str, policy: &str) -> Both {
    let text = format!(
        "version = 1\nname = \"timers\"\nreplicas = 1\nhorizon = \"10s\"\n[clients.app]\ncount = 1000\n{arrivals}\n\
         calls.db = {{ retry = \"policy\" }}\n[services.db]\n[retries.policy]\n{policy}\n\
         [faults.down]\non = [\"db\"]\neffect = \"refuse\"\n"
    );
    let scenario = Scenario::parse("timers", &text, Path::new(""), &Overrides::default());
    Both::of(&scenario.unwrap_or_else(|wrong| panic!("{wrong}")))
}

fn every(period: &str, offset: &str) -> String {
    format!("arrivals = {{ periodic = {{ every = \"{period}\", offset = {offset} }} }}")
}

/// Timers with an offset of 0 s or 950 ms: the second half of them is 50 ms before the first half of the next period.
/// That is a window of its own from 0 s on, and the same from 50 ms on. Where it is told, it is so in a run: of 1,000
/// draws for one of two halves one has more by chance, up to four standard deviations of 16.
#[test]
fn first_attempts_of_two_periods_may_meet() {
    let halves = every("1s", "{ uniform = { min = \"0s\", max = \"1900ms\", step = \"950ms\" } }");
    let of = |arrivals: &str| {
        let both = timers(arrivals, "max_attempts = 1");
        (both.call("base", "app->db").first_peak, both.metric("base", "attempt_peak"))
    };
    let (told, run) = of(&halves);
    assert!(told == Some(500.0) && (500.0..564.0).contains(&run), "{told:?} {run}");
    assert_eq!(of(&format!("from = \"50ms\"\n{halves}")), (None, 1_000.0));
    // Once is never together, whatever comes after the end.
    let (told, run) = of(&format!("from = \"50ms\"\nuntil = \"1050ms\"\n{halves}"));
    assert!(told == Some(500.0) && (500.0..564.0).contains(&run), "{told:?} {run}");
    // Two periods in one window, and periods that are no whole windows.
    assert_eq!(of(&every("50ms", "\"0s\"")), (None, 2_000.0));
    assert_eq!(of(&every("130ms", "\"0s\"")), (Some(1_000.0), 1_000.0));
    // They begin when the run is over.
    assert_eq!(of(&every("1m", "\"20s\"")), (None, 0.0));
}

/// Retries 60 ms and 1,030 ms after the second: the last ones of a period are in the window of the first ones of the
/// next. 20 ms earlier they are not.
#[test]
fn retries_of_two_periods_may_meet() {
    let of = |arrivals: &str, waits: &str| {
        let both = timers(arrivals, &format!("max_attempts = 3\nbackoff = {{ explicit = [{waits}] }}"));
        (both.call("base", "app->db").retry_peak, both.metric("base", "retry_peak"))
    };
    let second = every("1s", "\"50ms\"");
    assert_eq!(of(&second, "\"10ms\", \"970ms\""), (None, 2_000.0));
    assert_eq!(of(&second, "\"10ms\", \"930ms\""), (Some(1_000.0), 1_000.0));
    // Beyond the next period, but in other windows than its retries.
    assert_eq!(of(&second, "\"500ms\", \"700ms\""), (Some(1_000.0), 1_000.0));
    assert_eq!(of(&format!("until = \"1s\"\n{second}"), "\"10ms\", \"970ms\""), (Some(1_000.0), 1_000.0));
}

/// That another service says when to try again is nothing to those who are refused at once.
#[test]
fn a_limiter_elsewhere_says_nothing_to_the_refused() {
    let text = "version = 1\nname = \"elsewhere\"\nreplicas = 1\n\
                clients.app = { count = 1000, arrivals = { burst = { at = \"0s\" } }, calls.db = { retry = \"told\" } }\n\
                clients.other = { arrivals = { burst = { at = \"0s\" } }, calls.limited = {} }\n\
                services.db = {}\n\
                [services.limited]\nlimiter = { fixed_window = { limit = 10, every = \"1s\", retry_after = \"1s\" } }\n\
                [retries.told]\nmax_attempts = 3\nbackoff = { fixed = \"1s\" }\nretry_after = { rule = \"floor\" }\n\
                [faults.down]\non = [\"db\"]\neffect = \"refuse\"\n";
    let scenario = Scenario::parse("elsewhere", text, Path::new(""), &Overrides::default());
    let both = Both::of(&scenario.unwrap_or_else(|wrong| panic!("{wrong}")));
    let told = both.call("base", "app->db").retry_peak;
    assert_eq!((told, both.metric("base", "retry_peak")), (Some(1_000.0), 1_000.0));
}
