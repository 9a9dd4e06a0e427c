//! The reference figures: every scenario in `tests/figures/` and every bundled one meets its own expectations.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use stormsim::experiment::{Experiment, Summary};
use stormsim::metrics::catalogue::ScopeKind;
use stormsim::scenario::{Overrides, Scenario};

fn run(file: &Path) -> Summary {
    let scenario = Scenario::load(file, &Overrides::default()).unwrap_or_else(|wrong| panic!("{wrong}"));
    assert!(!scenario.expectations.is_empty(), "{} expects nothing", file.display());
    Experiment::new(&scenario).run(|| ())
}

fn scenarios_in(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.expect("the folder can be listed").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no scenario in {}", folder.display());
    files
}

/// Runs all scenarios of a folder and lists every expectation that is not met.
fn check(folder: &str) {
    let mut failures = String::new();
    for file in scenarios_in(folder) {
        let summary = run(&file);
        assert!(!summary.partial, "{}: {:?}", file.display(), summary.cut_short);
        for verdict in summary.expectations.iter().filter(|verdict| !verdict.passed) {
            let _ = writeln!(failures, "{}: {verdict:?}", file.display());
        }
    }
    assert!(failures.is_empty(), "not met:\n{failures}");
}

#[test]
fn figures_come_out() {
    check("tests/figures");
}

#[test]
fn bundled_scenarios_keep_their_word() {
    check("scenarios");
}

/// For t < 1 s the density of retries per client with full jitter is 1 + t/2 + t^2/16 + t^3/384 (a sum over the ways to
/// have made one to four retries by then), so that the bucket [0.9, 1.0) expects its integral, 15.34 % of the clients.
/// Over 1,000 replicas of 1,000 clients the share has a standard deviation below sqrt(0.16 / 10^6) = 0.04 %.
#[test]
fn retries_follow_the_density_of_full_jitter() {
    let overrides = Overrides { variant: Some("full-jitter".to_owned()), ..Overrides::default() };
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/backoff.toml");
    let scenario = Scenario::load(&file, &overrides).expect("the scenario is right");
    let summary = Experiment::new(&scenario).run(|| ());
    let series = summary.variants[0].timeline.iter().find(|series| series.kind == ScopeKind::Scenario).unwrap();
    let integral = |t: f64| t + t * t / 4.0 + t * t * t / 48.0 + t * t * t * t / 1536.0;
    for bucket in &series.buckets[..10] {
        let from = bucket.index as f64 / 10.0;
        let expected = (integral(from + 0.1) - integral(from)) * 1000.0;
        assert!((bucket.retries - expected).abs() < 2.0, "bucket at {from}: {} of {expected}", bucket.retries);
    }
    assert!((integral(1.0) - integral(0.9) - 0.1534).abs() < 0.00005, "{}", integral(1.0) - integral(0.9));
}
