//! How well a mean is known: the 95 % interval covers what it should, and a precision that is asked for is reached.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use stormsim::experiment::{Experiment, Judgement, Measure, Precision};
use stormsim::metrics::catalogue::ScopeKind;
use stormsim::scenario::{Overrides, Scenario};

use crate::{BACKOFF, printed, scratch};

/// 100 requests, each of which fails with a probability of 0.3: 30 in the mean.
const BERNOULLI: &str = r#"
version = 1
name = "bernoulli"
replicas = 20
clients.web = { count = 100, arrivals = { burst = { at = "0s" } }, calls.api = {} }
services.api = {}
faults.errors = { on = ["api"], effect = { fail = { probability = 0.3 } } }
"#;

/// A 95 % interval covers the mean in 95 of 100 experiments. Over 1,000 experiments, each with its own seed, that is
/// known to 0.69 %, so that 93 to 97 % are nearly three standard deviations to either side.
#[test]
fn the_interval_covers_a_known_mean_as_often_as_it_says() {
    let covered = (0..1_000).filter(|&seed| {
        let overrides = Overrides { seed: Some(seed), ..Overrides::default() };
        let scenario = Scenario::parse("bernoulli", BERNOULLI, Path::new(""), &overrides).expect("it is right");
        let summary = Experiment::new(&scenario).run(|| ());
        let [low, high] = summary.variants[0].metrics["failed"].ci95.expect("20 replicas have an interval");
        (low..=high).contains(&30.0)
    });
    let covered = covered.count();
    assert!((930..=970).contains(&covered), "{covered} of 1,000");
}

/// The standard deviation of the failures is sqrt(100 x 0.3 x 0.7) = 4.58, so that 1 % of 30 takes about
/// (1.96 x 4.58 / 0.3)^2 = 896 replicas; that it is known to a few percent itself, and that at least a tenth more are
/// added at a time, leaves room to either side.
#[test]
fn replicas_are_added_until_the_precision_is_reached_and_no_longer() {
    let expected = format!("{BERNOULLI}[[expect]]\nmetric = \"failed\"\nbetween = [28, 32]\n");
    let scenario = Scenario::parse("bernoulli", &expected, Path::new(""), &Overrides::default()).expect("it is right");
    let run = |replicas_max| {
        let precision = Precision { share: 0.01, replicas_max };
        Experiment::new(&scenario).to_precision(precision).run(|| ())
    };
    let summary = run(10_000);
    let reached = summary.precision.clone().expect("it was asked for");
    assert!(reached.is_good() && reached.widest == "failed in base", "{reached:?}");
    assert!((780..1_100).contains(&summary.replicas), "{}", summary.replicas);
    let failed = &summary.variants[0].metrics["failed"];
    let [low, high] = failed.ci95.expect("many replicas have an interval");
    assert_eq!(failed.n, summary.replicas);
    assert!((high - low) / 2.0 <= 0.01 * failed.mean.expect("it is defined"));
    // The replicas that were added are those that a run of so many has.
    let overrides = Overrides { replicas: Some(summary.replicas), ..Overrides::default() };
    let whole = Scenario::parse("bernoulli", &expected, Path::new(""), &overrides).expect("it is right");
    assert_eq!(Experiment::new(&whole).run(|| ()).variants[0].metrics["failed"], *failed);

    let summary = run(100);
    let reached = summary.precision.expect("it was asked for");
    assert!(!reached.is_good(), "{reached:?}");
    assert_eq!(summary.replicas, 100);
}

#[test]
fn a_report_says_whether_the_precision_was_reached() {
    let folder = scratch();
    let run = |precision: &str, most: &str| {
        let arguments = [BACKOFF, "--no-charts", "-n", "20", "--precision", precision, "--max-replicas", most];
        let printed = printed_or_failed(folder.path(), &arguments);
        printed.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let reached = run("2%", "1000");
    assert!(
        reached.contains(" replicas are enough for ± 2 % of every mean that is expected; the widest is "),
        "{reached}"
    );
    let summary = fs::read_to_string(folder.path().join("output/backoff/summary.json")).expect("it was written");
    let summary: serde_json::Value = serde_json::from_str(&summary).expect("JSON");
    assert!(summary["precision"]["reached"].as_f64().expect("a share") <= 0.02);
    let missed = run("0.1%", "30");
    assert!(missed.contains("30 replicas are not enough for ± 0.1 %: "), "{missed}");
}

/// At few replicas an expectation may fail: that is not what this is about.
fn printed_or_failed(folder: &Path, arguments: &[&str]) -> String {
    let output = crate::stormsim(folder, "run", arguments);
    assert!(output.status.code() < Some(2), "{}", crate::text(&output.stderr));
    crate::text(&output.stdout)
}

#[test]
fn a_precision_of_nothing_is_refused() {
    let folder = scratch();
    fs::write(folder.path().join("bernoulli.toml"), BERNOULLI).expect("the folder is writable");
    let refused = crate::refused(folder.path(), "run", &["bernoulli.toml", "--precision", "1%"]);
    assert!(refused.starts_with("error: `--precision` is about the means that are expected, and there are none"));
    for wrong in ["0", "-1%", "101%", "much", ""] {
        let refused = crate::refused(folder.path(), "run", &["bernoulli.toml", "--precision", wrong]);
        assert!(refused.contains("a share of the mean is expected, above 0 and up to 100%"), "{refused}");
    }
    assert!(!printed(folder.path(), "test", &["bernoulli.toml"]).is_empty());
}

/// What an interruption between two rounds leaves out is missing: the result is partial, and nothing is judged by it.
#[test]
fn an_interruption_before_the_precision_leaves_a_partial_result() {
    let expected = format!("{BERNOULLI}[[expect]]\nmetric = \"failed\"\nbetween = [28, 32]\n");
    let scenario = Scenario::parse("bernoulli", &expected, Path::new(""), &Overrides::default()).expect("it is right");
    let experiment = || Experiment::new(&scenario).to_precision(Precision { share: 0.01, replicas_max: 10_000 });
    // Set by the last replica of the first round, so that all of it finishes and no more begins.
    let (stop, done) = (AtomicBool::new(false), AtomicU32::new(0));
    let progress = || {
        if done.fetch_add(1, Ordering::Relaxed) == 19 {
            stop.store(true, Ordering::Relaxed);
        }
    };
    let summary = experiment().run_until(&stop, progress);
    assert!(summary.partial && summary.variants[0].replicas_finished == 20, "{}", summary.replicas);
    assert_eq!(summary.expectations[0].judgement, Judgement::NotJudged);
    let measures = Measure::all(&[ScopeKind::Scenario], &scenario);
    done.store(0, Ordering::Relaxed);
    stop.store(false, Ordering::Relaxed);
    assert_eq!(experiment().measure(&measures, &stop, progress), None);
}
