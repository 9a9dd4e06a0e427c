//! What is measured.

use std::hint::black_box;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use criterion::measurement::{Measurement, WallTime};
use rayon::ThreadPoolBuilder;
use stormsim::plan::Plan;
use stormsim::scenario::{Overrides, Scenario};
use stormsim::sim::simulate;
use stormsim::{Experiment, Summary};

use crate::agenda_hold::AgendaHold;
use crate::cpu::{Used, of_children};

const STORM: &str = "scenarios/backoff.toml";
const JITTERED: &str = "full-jitter";

fn plan(file: &str, overrides: &Overrides) -> Plan {
    Scenario::load(Path::new(file), overrides).expect("it is right").variants()[0].1.clone()
}

/// One replica of clients that fail together and retry with full jitter; counts events.
pub fn storm(clients: u32) -> impl FnMut() -> u64 {
    let set = vec![format!("clients.fleet.count={clients}")];
    let plan = plan(STORM, &Overrides { set, variant: Some(JITTERED.to_owned()), ..Overrides::default() });
    move || black_box(simulate(&plan, 42, 0)).events
}

/// One replica of a file; counts events.
pub fn scenario(file: &str) -> impl FnMut() -> u64 {
    let plan = plan(file, &Overrides::default());
    move || black_box(simulate(&plan, 42, 0)).events
}

/// The hold model on the agenda; counts operations.
pub fn agenda(pending: u32) -> impl FnMut() -> u64 {
    let mut agenda = AgendaHold::new(pending);
    move || {
        (0..pending).for_each(|_| _ = black_box(agenda.hold()));
        u64::from(pending)
    }
}

/// How much faster two threads run 64 replicas of a second of the chain than one, in turn, the best of each.
pub fn gain_of_two_threads(runs: u32) -> f64 {
    let set = ["horizon=1s", "replicas=64", "faults.outage.from=400ms", "faults.outage.until=600ms"];
    let overrides = Overrides { set: set.map(str::to_owned).into(), ..Overrides::default() };
    let scenario = Scenario::load(Path::new("benches/chain.toml"), &overrides).expect("it is right");
    let pool_of = |threads| ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be had");
    let pools = [pool_of(1), pool_of(2)];
    let mut best = [Duration::MAX; 2];
    let mut first: Option<Summary> = None;
    for _ in 0..runs {
        for (pool, best) in pools.iter().zip(&mut best) {
            let start = WallTime.start();
            let summary = pool.install(|| Experiment::new(&scenario).run(|| ()));
            *best = WallTime.end(start).min(*best);
            let first = first.get_or_insert_with(|| summary.clone());
            assert_eq!(format!("{summary:?}"), format!("{first:?}"), "the figures depend on the number of threads");
        }
    }
    best[0].as_secs_f64() / best[1].as_secs_f64()
}

/// The program as users run it.
pub fn three_tier() -> Used {
    program(&["run", "scenarios/three-tier.toml", "--no-charts"])
}

/// The storm as users run it, in one replica.
pub fn storm_of_program(clients: u32) -> Used {
    let count = format!("clients.fleet.count={clients}");
    let one = ["--replicas", "1", "--jobs", "1", "--no-charts"];
    program(&[&["run", STORM, "--variant", JITTERED, "--set", &count], &one[..]].concat())
}

fn program(arguments: &[&str]) -> Used {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let before = of_children();
    let status = Command::new(env!("CARGO_BIN_EXE_stormsim"))
        .args(arguments)
        .arg("--output")
        .arg(folder.path())
        .stdout(Stdio::null())
        .status()
        .expect("the program starts");
    // Expectations of the file may fail with another number of clients, which is 1.
    assert!(matches!(status.code(), Some(0 | 1)), "{arguments:?} ended with {status}");
    let after = of_children();
    Used { cpu_s: after.cpu_s - before.cpu_s, ..after }
}
