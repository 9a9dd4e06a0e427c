//! The limits of the simulator: a run that reaches one ends there, says which, and what it has counted is right.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use stormsim::metrics::{End, Limit};
use stormsim::sim::{Bounds, simulate_within};
use stormsim::time::Instant;
use stormsim::{Experiment, Outcome, Overrides, Plan, Scenario, simulate};

fn scenario(text: &str) -> Scenario {
    let text = format!("version = 1\nname = \"limits\"\nreplicas = 1\n{text}");
    Scenario::parse("limits.toml", &text, Path::new("."), &Overrides::default())
        .unwrap_or_else(|wrong| panic!("{wrong}"))
}

fn plan(text: &str) -> Plan {
    scenario(text).variants()[0].1.clone()
}

/// A client whose call is refused for ever, with this policy; `rest` comes after it.
fn refused(policy: &str, rest: &str) -> String {
    format!(
        "{rest}\n[clients.c]\narrivals = {{ burst = {{}} }}\ncalls.s = {{ retry = \"p\" }}\n\
         [services.s]\n[retries.p]\n{policy}\n[faults.down]\non = [\"s\"]\neffect = \"refuse\"\n"
    )
}

/// What every run must satisfy, wherever it ends.
fn assert_adds_up(outcome: &Outcome) {
    for service in &outcome.services {
        let ended = service.completed + service.refused() + service.dropped;
        assert_eq!(service.arrivals, ended + service.in_progress);
    }
    for series in [&outcome.timeline.scenario, &outcome.timeline.calls[0], &outcome.timeline.services[0]] {
        let attempts: u64 = series.iter().map(|bucket| bucket.attempts).sum();
        assert_eq!(attempts, outcome.all_calls.attempts);
    }
}

/// Three waits of 30 days do not fit into 52: the second retry never comes. A fault begins in between: its transition
/// is no event of the system, and the levels of the timeline must not be carried on to it and back.
#[test]
fn virtual_time_ends_after_52_days() {
    let text = refused("max_retries = 3\nbackoff = { fixed = \"30d\" }", "bucket = \"1d\"")
        + "[faults.later]\non = [\"s\"]\nfrom = \"40d\"\nuntil = \"41d\"\neffect = \"refuse\"\n";
    let outcome = simulate(&plan(&text), 1, 0);
    assert_eq!(outcome.ended, End::Limit(Limit::VirtualTime));
    assert_eq!(outcome.end.as_s(), 30.0 * 86_400.0);
    assert_eq!((outcome.all_calls.attempts, outcome.all_requests.open()), (2, 1));
    assert_adds_up(&outcome);
    // One request was open all the time.
    let day_ns = 86_400 * 1_000_000_000;
    let open: Vec<u128> = outcome.timeline.scenario.iter().map(|bucket| bucket.in_flight_ns).collect();
    assert_eq!(open[..30], [day_ns; 30]);
    assert_eq!(open[30..], [0]);
}

/// Retries without a wait and without a limit: one attempt is three events (it arrives, is answered, and its wait of
/// zero is over), so that 9,000 events at one instant are about 3,000 attempts.
#[test]
fn an_instant_does_not_last_for_ever() {
    let plan = plan(&refused("max_retries = \"unlimited\"", "horizon = \"1s\""));
    let outcome = simulate_within(&plan, 1, 0, Bounds { events_at_once: 9_000, ..Bounds::default() });
    assert_eq!((outcome.ended, outcome.end), (End::Limit(Limit::Instant), Instant::ZERO));
    assert!((2_990..3_030).contains(&outcome.all_calls.attempts), "{}", outcome.all_calls.attempts);
    assert_adds_up(&outcome);
}

/// A burst of 10,000 clients at a server that takes a second: the run ends when half of them are on their way.
#[test]
fn frames_are_bounded() {
    let text =
        "[clients.c]\ncount = 10000\narrivals = { burst = {} }\ncalls.s = {}\n[services.s]\nservice_time = \"1s\"\n";
    let outcome = simulate_within(&plan(text), 1, 0, Bounds { frames: 5_000, ..Bounds::default() });
    assert_eq!(outcome.ended, End::Limit(Limit::Frames));
    let requests = outcome.all_requests.requests;
    assert!((4_700..=5_000).contains(&requests), "{requests}");
    assert_adds_up(&outcome);
}

/// A fault elsewhere that comes and goes every millisecond: four events in five are its transitions. The bounds are
/// looked at all the same, wherever these fall.
#[test]
fn frames_are_bounded_between_the_transitions_of_faults() {
    for from_ms in [0, 1, 2, 3] {
        let text = format!(
            "horizon = \"60s\"\n[clients.c]\narrivals = {{ constant = {{ rate = 500 }} }}\ncalls.s = {{}}\n\
             [services.s]\nservice_time = \"10h\"\n[services.other]\n\
             [clients.o]\narrivals = {{ burst = {{ at = \"50s\" }} }}\ncalls.other = {{}}\n\
             [faults.tick]\non = [\"other\"]\nfrom = \"{from_ms}ms\"\nlasts = \"1ms\"\nevery = \"2ms\"\n\
             effect = \"refuse\"\n"
        );
        let outcome = simulate_within(&plan(&text), 1, 0, Bounds { frames: 1_000, ..Bounds::default() });
        assert_eq!(outcome.ended, End::Limit(Limit::Frames), "{from_ms}");
        assert!(outcome.all_requests.requests <= 1_000);
    }
}

/// Work of an hour, and waits of an hour, that are cancelled after 10 ms: 59,999 of each in a minute, of which ten are
/// in progress at once. What has been cancelled takes no room, although its hour is not over.
#[test]
fn what_is_cancelled_takes_no_room() {
    for takes_an_hour in ["service_time = \"1h\"", "calls.db = { retry = \"slow\" }"] {
        let text = format!(
            "horizon = \"60s\"\n[clients.c]\narrivals = {{ constant = {{ rate = 1000 }} }}\n\
             calls.api = {{ timeout = \"10ms\" }}\n[services.api]\ncancel = \"running\"\n{takes_an_hour}\n[services.db]\n\
             [retries.slow]\nmax_retries = 1\nbackoff = {{ fixed = \"1h\" }}\n\
             [faults.down]\non = [\"db\"]\neffect = \"refuse\"\n"
        );
        let outcome = simulate_within(&plan(&text), 1, 0, Bounds { frames: 1_000, ..Bounds::default() });
        let api = &outcome.services[0];
        assert_eq!((outcome.ended, api.cancelled, api.in_progress), (End::Horizon, 59_989, 10));
    }
}

/// A request that is open for a day, in buckets of a microsecond, would need 86 billion of them.
#[test]
fn buckets_are_bounded() {
    let plan = plan(&refused("max_retries = 1\nbackoff = { fixed = \"1d\" }", "bucket = \"1us\""));
    let outcome = simulate(&plan, 1, 0);
    assert_eq!(outcome.ended, End::Limit(Limit::Buckets));
}

/// Somebody has given up before the run begins: it ends at once, and an experiment has nothing but says so.
#[test]
fn a_run_stops_when_it_is_told_to() {
    let scenario = scenario(&refused("max_retries = 1", ""));
    let stop = AtomicBool::new(true);
    let outcome = simulate_within(&scenario.variants()[0].1, 1, 0, Bounds { stop: &stop, ..Bounds::default() });
    assert_eq!(outcome.ended, End::Interrupted);
    let summary = Experiment::new(&scenario).run_until(&stop, || ());
    assert!(summary.partial);
    assert_eq!((summary.variants.len(), summary.variants[0].metrics["attempts"].n), (1, 0));
}
