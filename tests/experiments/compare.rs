//! `stormsim compare`: what it says, what it leaves behind, what it refuses, and why pairs of replicas show more than
//! two intervals.

use std::fs;
use std::path::Path;

use stormsim::experiment::{Comparison, Experiment};
use stormsim::scenario::{Overrides, Scenario};

use crate::{BACKOFF, THREE_TIER, scratch};

fn printed(folder: &Path, arguments: &[&str]) -> String {
    crate::printed(folder, "compare", arguments)
}

fn refused(folder: &Path, arguments: &[&str]) -> String {
    crate::refused(folder, "compare", arguments)
}

#[test]
fn each_variant_is_told_in_a_sentence() {
    let folder = scratch();
    let printed = printed(folder.path(), &[BACKOFF, "-n", "100", "--no-charts"]);
    let sentences: Vec<&str> = printed.lines().filter(|line| line.contains(" against ")).collect();
    // 100 replicas of the published mean of 159.4 with a standard deviation of 8.4: 159.4 ± 4 is five of its own.
    let full_jitter = sentences.iter().find(|line| line.starts_with("full-jitter: ")).expect("there is one");
    let peak: f64 = full_jitter.split_whitespace().nth(3).expect("retry peak N").parse().expect("a number");
    assert!((155.0..164.0).contains(&peak), "{full_jitter}");
    assert!(full_jitter.contains("against 1,000: 6.3 times lower"), "{full_jitter}");
    assert_eq!(sentences[0], "exponential: tail 15 s against 4 s: 3.8 times longer");
    let files: Vec<&str> = printed.lines().filter(|line| line.starts_with("written to")).collect();
    assert!(files[0].contains("comparison.csv"), "{files:?}");
    let csv = fs::read_to_string(folder.path().join("output/backoff/comparison.csv")).expect("it was written");
    let row = csv
        .lines()
        .find(|line| line.starts_with("exponential,scenario,,last_retry_s,"))
        .expect("a row for each metric");
    assert_eq!(row, "exponential,scenario,,last_retry_s,s,4,15,11,11,11,3.75,higher,100,0");
    let same =
        csv.lines().find(|line| line.starts_with("decorrelated,scenario,,retries,")).expect("a row for each metric");
    assert_eq!(same, "decorrelated,scenario,,retries,count,4000,4000,0,0,0,1,same,100,0");
}

/// Two scenarios that differ in nothing but luck, which hangs on the names of clients: at two replicas an interval is
/// 12.7 standard errors wide on either side.
#[test]
fn chance_is_not_taken_for_a_difference() {
    let folder = scratch();
    for name in ["one", "other"] {
        let scenario = format!(
            "version = 1\nname = \"{name}\"\n[clients.{name}]\ncount = 1000\narrivals = {{ burst = {{ at = \"0s\" }} }}\n\
             calls.s = {{ retry = \"p\" }}\n[services.s]\n[faults.f]\non = [\"s\"]\neffect = \"refuse\"\n\
             [retries.p]\nmax_retries = 2\nbackoff = {{ fixed = \"1s\" }}\njitter = \"full\"\n"
        );
        fs::write(folder.path().join(format!("{name}.toml")), scenario).expect("the folder is writable");
    }
    let printed = printed(folder.path(), &["one.toml", "other.toml", "-n", "2", "--no-charts"]);
    assert!(printed.contains("\nother: no difference shown at n = 2 in retry peak, tail\n"), "{printed}");
}

#[test]
fn what_varies_names_the_variants() {
    let folder = scratch();
    let vary = ["--vary", "retries.twice.max_retries=1,2,3", "--reference", "entry-only, max_retries=2"];
    let printed = printed(folder.path(), &[&[THREE_TIER, "--no-charts"], &vary[..]].concat());
    let told: Vec<&str> = printed.lines().filter_map(|line| line.split_once(": ")).map(|(name, _)| name).collect();
    assert!(told.contains(&"every-layer, max_retries=3"), "{printed}");
    assert!(printed.contains("--reference 'entry-only, max_retries=2'"), "{printed}");
}

#[test]
fn equal_seeds_give_equal_bytes_for_any_number_of_threads() {
    let folder = scratch();
    let files = ["one", "two"].map(|name| {
        let jobs = if name == "one" { "1" } else { "2" };
        printed(folder.path(), &[BACKOFF, "-n", "10", "--no-charts", "-j", jobs, "-o", name]);
        let read = |file| fs::read(folder.path().join(name).join(file)).expect("it was written");
        ["summary.json", "comparison.csv", "replicas.csv"].map(read)
    });
    assert_eq!(files[0], files[1]);
}

#[test]
fn json_has_the_comparison() {
    let folder = scratch();
    let printed = printed(folder.path(), &[BACKOFF, "-n", "3", "--no-charts", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&printed).expect("it is JSON");
    assert_eq!(json["comparison"]["reference"], "fixed");
    let first = &json["comparison"]["contrasts"][0];
    assert_eq!((&first["name"], &first["metrics"]["last_retry_s"]["shown"]), (&"exponential".into(), &"higher".into()));
    assert_eq!(first["metrics"]["last_retry_s"]["difference"]["mean"], 11.0);
    assert_eq!(json["expectations"], serde_json::json!([]));
}

#[test]
fn what_cannot_be_compared_is_refused_with_a_way_out() {
    let folder = scratch();
    let refused = |arguments: &[&str]| refused(folder.path(), arguments);
    let alone = refused(&[BACKOFF, "--variant", "fixed"]);
    assert!(alone.contains("there is nothing to compare `fixed` with"), "{alone}");
    assert!(alone.contains("--vary PATH=v1,v2"), "{alone}");
    let unknown = refused(&[BACKOFF, "--reference", "fixd"]);
    assert!(unknown.contains("`--reference fixd` is none of what is compared: `fixed`, `exponential`"), "{unknown}");
    let twice = refused(&[BACKOFF, BACKOFF]);
    assert!(twice.contains("two of what is compared are called `fixed`; name each file once"), "{twice}");
    let many = refused(&[BACKOFF, "--vary", "clients.fleet.count=1..501/501"]);
    assert!(many.contains("`--vary` makes 501 variants, and 500 is the limit; `stormsim sweep`"), "{many}");
    let path = refused(&[BACKOFF, "--vary", "retries.nobody.cap=1s,2s"]);
    assert!(path.contains("there is no `retries.nobody`"), "{path}");
    let range = refused(&[BACKOFF, "--vary", "clients.fleet.count=10..100"]);
    assert!(range.contains("a range says how many values it has"), "{range}");
    let seeds = folder.path().join("other.toml");
    let other = fs::read_to_string(THREE_TIER).expect("it is there").replace("seed = 42", "seed = 7");
    fs::write(&seeds, other).expect("the folder is writable");
    let seeds = refused(&[BACKOFF, "other.toml"]);
    assert!(seeds.contains("another seed") && seeds.contains("add `--seed 42`"), "{seeds}");
}

/// Full and equal jitter draw the same number for the same retry of the same client, so that the last retry of one
/// replica is late in both or in neither. The difference of the two then varies less than that of independent ones,
/// whose variances add up: the standard deviations are 0.284 s and 0.142 s (0.317 s together), that of the pairs is
/// 0.142 s, since the wait under equal jitter is half of the nominal one plus half of the wait under full jitter.
#[test]
fn common_random_numbers_reduce_the_variance() {
    let overrides = |seed| Overrides { replicas: Some(400), seed: Some(seed), ..Overrides::default() };
    let summary = |seed| {
        let scenario = Scenario::load(Path::new(BACKOFF), &overrides(seed)).expect("it is right");
        Experiment::new(&scenario).run(|| ())
    };
    let mut shared = summary(42);
    let comparison = Comparison::of(&shared, "full-jitter").expect("it is one of the variants");
    let spread = |comparison: &Comparison| {
        let contrast = comparison.contrasts.iter().find(|it| it.name == "equal-jitter").expect("it is another");
        let tail = &contrast.metrics["last_retry_s"];
        let [reference, value, difference] = [&tail.reference, &tail.value, &tail.difference].map(|it| it.sd.unwrap());
        difference / (reference * reference + value * value).sqrt()
    };
    let paired = spread(&comparison);
    // Against the same variant with other luck nothing cancels out.
    let position = |name: &str| shared.variants.iter().position(|it| it.name == name).expect("it is there");
    let (equal, mut other) = (position("equal-jitter"), summary(43));
    shared.variants[equal].replicas = std::mem::take(&mut other.variants[equal].replicas);
    let unpaired = spread(&Comparison::of(&shared, "full-jitter").expect("it is one of the variants"));
    // The expected ratios are 0.142 / 0.317 = 0.45 and 1; at 400 replicas a standard deviation is known to 3.5 %.
    assert!((0.40..0.50).contains(&paired), "{paired}");
    assert!((0.90..1.10).contains(&unpaired), "{unpaired}");
}

/// A change of a file against what it was: the scenarios have one name, the files have two.
#[test]
fn two_versions_of_a_file_are_told_apart_by_their_paths() {
    let folder = scratch();
    let before = fs::read_to_string(THREE_TIER).expect("it is bundled");
    fs::write(folder.path().join("before.toml"), &before).expect("the folder is writable");
    fs::write(folder.path().join("after.toml"), before.replace("max_retries = 2", "max_retries = 1"))
        .expect("the folder is writable");
    let arguments = ["before.toml", "after.toml", "--variant", "every-layer", "-n", "2", "--no-charts"];
    let printed = printed(folder.path(), &arguments);
    assert!(printed.contains("\nafter.toml: "), "{printed}");
    assert!(printed.contains("amplification 8x against 27x: 3.4 times lower"), "{printed}");
}

/// Whether it comes back is what one asks first.
#[test]
fn recovery_is_compared() {
    let folder = scratch();
    let arguments = [crate::METASTABLE, "--reference", "two-seconds", "-n", "3", "--no-charts"];
    let printed = printed(folder.path(), &arguments);
    let words: Vec<&str> = printed.split_whitespace().collect();
    let printed = words.join(" ");
    assert!(printed.contains("three-attempts: success 78.29 % against 17.67 %"), "{printed}");
    assert!(printed.contains("recovered from `slowdown` 100 % against 0 %"), "{printed}");
    let csv = fs::read_to_string(folder.path().join("output/metastable/comparison.csv")).expect("it was written");
    let row = csv.lines().find(|line| line.starts_with("three-attempts,fault,slowdown,recovered,")).expect("a row");
    assert_eq!(row, "three-attempts,fault,slowdown,recovered,count,0,1,1,1,1,,higher,3,0");
}

/// Figures of replicas that a limit of the simulator cut short are those of another, shorter time.
#[test]
fn what_was_cut_short_is_not_compared() {
    let folder = scratch();
    let arguments =
        [BACKOFF, "--vary", "clients.fleet.count=10,2000", "--variant", "fixed", "--max-in-progress", "1000"];
    let output = crate::stormsim(folder.path(), "compare", &[&arguments[..], &["-n", "3", "--no-charts"]].concat());
    assert_eq!(output.status.code(), Some(2));
    let printed = crate::text(&output.stdout);
    assert!(!printed.contains(" against "), "{printed}");
    let csv = fs::read_to_string(folder.path().join("output/backoff/comparison.csv")).expect("it was written");
    assert!(csv.lines().skip(1).all(|row| row.ends_with(",nothing,0,1")), "{csv}");
}
