//! What is measured in a window of the run, where it differs from the whole.

use std::path::Path;

use stormsim::experiment::Judgement;
use stormsim::{Experiment, Overrides, Scenario, Summary};

fn run(text: &str) -> Summary {
    let text = format!("version = 1\nname = \"windows\"\nreplicas = 1\n{text}");
    let scenario = Scenario::parse("windows.toml", &text, Path::new("."), &Overrides::default());
    Experiment::new(&scenario.unwrap_or_else(|wrong| panic!("{wrong}"))).run(|| ())
}

fn figures(summary: &Summary) -> Vec<Option<f64>> {
    summary.expectations.iter().map(|verdict| verdict.actual).collect()
}

/// 100 requests begin at 0 and end at 1.5 s: in [1 s, 2 s) none begins and all end, well. A ratio is that of the ends.
#[test]
fn a_ratio_is_that_of_the_requests_that_end_in_the_window() {
    let summary = run("[clients.c]\ncount = 100\narrivals = { burst = {} }\ncalls.s = {}\n\
         [services.s]\nservice_time = \"1500ms\"\n\
         [[expect]]\nmetric = \"success_ratio\"\nfrom = \"1s\"\nuntil = \"2s\"\nequals = 1\n\
         [[expect]]\nmetric = \"requests\"\nfrom = \"1s\"\nuntil = \"2s\"\nequals = 0\n\
         [[expect]]\nmetric = \"succeeded\"\nfrom = \"1s\"\nuntil = \"2s\"\nequals = 100\n");
    assert_eq!(figures(&summary), [Some(1.0), Some(0.0), Some(100.0)]);
}

/// The run is drained 1 ms into the window. The rest of the window is known all the same: nothing happens in it.
#[test]
fn a_rate_is_per_second_of_the_window_although_the_run_is_over() {
    let summary = run("[clients.c]\narrivals = { burst = { at = \"10s\" } }\ncalls.s = {}\n\
         [services.s]\nservice_time = \"1ms\"\n\
         [[expect]]\nmetric = \"goodput_rps\"\nfrom = \"10s\"\nuntil = \"11s\"\nequals = 1\n\
         [[expect]]\nmetric = \"goodput_rps\"\nfrom = \"20s\"\nuntil = \"21s\"\nequals = 0\n");
    assert_eq!(figures(&summary), [Some(1.0), Some(0.0)]);
}

/// Of several windows the verdict is that of the worst, and says of how many.
#[test]
fn the_worst_window_is_shown() {
    let summary = run(
        "horizon = \"4s\"\n[clients.c]\narrivals = { profile = [{ at = \"0s\", rate = 10 }, { at = \"2s\", rate = 1000 }, \
         { at = \"3s\", rate = 10 }] }\ncalls.s = {}\n[services.s]\n\
         [[expect]]\nmetric = \"requests\"\nfrom = \"0s\"\nuntil = \"4s\"\nevery = \"1s\"\nat_most = 100\n",
    );
    let verdict = &summary.expectations[0];
    assert_eq!(
        (verdict.judgement, verdict.from, verdict.until, verdict.windows),
        (Judgement::NotMet, Some(2.0), Some(3.0), 4)
    );
}

/// One of two equal copies is enough, and half of the copies are degraded: so are half of the requests, whatever the
/// slower copy does while a sibling is still awaited. (Counting the slower copy too would give three quarters.) Over
/// 4,000 requests the share has a standard deviation of 0.008.
#[test]
fn a_copy_that_comes_after_enough_others_degrades_nothing() {
    let summary = run("[clients.c]\ncount = 4000\narrivals = { burst = {} }\ncalls.page = {}\n\
         [services.page]\ncall_order = [[\"part\", \"slow\"]]\n\
         calls.part = { copies = 2, required = 1 }\ncalls.slow = {}\n\
         [services.slow]\nservice_time = \"1s\"\n\
         [services.part]\nservice_time = { uniform = { min = \"1ms\", max = \"100ms\" } }\ncalls.ads = { optional = true }\n\
         [services.ads]\n[faults.half]\non = [\"ads\"]\neffect = { fail = { probability = 0.5 } }\n");
    let degraded = summary.variants[0].metrics["degraded"].mean.unwrap() / 4000.0;
    assert!((degraded - 0.5).abs() < 0.035, "{degraded}");
}

/// A thousand calls of which none is made follow each other without a frame of the stack for each.
#[test]
fn calls_that_are_not_made_do_not_pile_up() {
    let calls: String = (0..1000).map(|n| format!("calls.c{n} = {{ to = \"s\", probability = 0.0 }}\n")).collect();
    let summary = run(&format!(
        "[clients.c]\narrivals = {{ burst = {{}} }}\ncalls.top = {{}}\n[services.top]\n{calls}[services.s]\n"
    ));
    assert_eq!(summary.variants[0].metrics["succeeded"].mean, Some(1.0));
}
