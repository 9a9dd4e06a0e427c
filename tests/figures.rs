//! The reference figures: every scenario in `tests/figures/` and every bundled one meets its own expectations.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use stormsim::experiment::{BucketMeans, Experiment, Judgement, Series, Summary};
use stormsim::failure::StopReason;
use stormsim::metrics::catalogue::ScopeKind;
use stormsim::policy::MICRO;
use stormsim::scenario::{Overrides, Scenario};
use stormsim::sim::simulate;
use stormsim::time::Span;

/// A file of the repository.
fn in_repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn run(file: &Path) -> Summary {
    let scenario = Scenario::load(file, &Overrides::default()).unwrap_or_else(|wrong| panic!("{wrong}"));
    assert!(!scenario.expectations.is_empty(), "{} expects nothing", file.display());
    Experiment::new(&scenario).run(|| ())
}

fn scenarios_in(folder: &str) -> Vec<PathBuf> {
    let folder = in_repository(folder);
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
        assert!(!summary.partial, "{}: {:?}", file.display(), summary.cut_short());
        for verdict in summary.expectations.iter().filter(|verdict| verdict.judgement != Judgement::Met) {
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

/// One variant of a scenario of the repository, with these settings changed.
fn variant(file: &str, name: &str, set: &[&str]) -> Scenario {
    let set = set.iter().map(|&setting| setting.to_owned()).collect();
    let overrides = Overrides { variant: Some(name.to_owned()), set, ..Overrides::default() };
    Scenario::load(&in_repository(file), &overrides).unwrap_or_else(|wrong| panic!("{wrong}"))
}

/// The timeline of all calls and requests together, of the first variant.
fn whole_scenario(summary: &Summary) -> &Series {
    let mut timeline = summary.variants[0].timeline.iter();
    timeline.find(|series| series.kind == ScopeKind::Scenario).expect("every variant has a timeline of the scenario")
}

/// For t < 1 s the density of retries per client with full jitter is 1 + t/2 + t^2/16 + t^3/384 (a sum over the ways to
/// have made one to four retries by then), so that the bucket [0.9, 1.0) expects its integral, 15.34 % of the clients.
/// Over 1,000 replicas of 1,000 clients the share has a standard deviation below sqrt(0.16 / 10^6) = 0.04 %.
#[test]
fn retries_follow_the_density_of_full_jitter() {
    let summary = Experiment::new(&variant("scenarios/backoff.toml", "full-jitter", &[])).run(|| ());
    let series = whole_scenario(&summary);
    let integral = |t: f64| t + t * t / 4.0 + t * t * t / 48.0 + t * t * t * t / 1536.0;
    for bucket in &series.buckets[..10] {
        let from = bucket.index as f64 / 10.0;
        let expected = (integral(from + 0.1) - integral(from)) * 1000.0;
        assert!((bucket.retries - expected).abs() < 2.0, "bucket at {from}: {} of {expected}", bucket.retries);
    }
    assert!((integral(1.0) - integral(0.9) - 0.1534).abs() < 0.00005, "{}", integral(1.0) - integral(0.9));
}

/// One operation at a time, as the scenario has them by the thousand: 3 attempts leave 8 of 10 tokens, 4 leave 7, so
/// that no retry was charged that was not sent. A fourth has the probability 0.2604 %; of 50,000 operations 130.2 make
/// it, with a standard deviation of 11.4, and 46 is four of those.
#[test]
fn an_operation_makes_three_calls_or_four_and_never_outlives_its_deadline() {
    const OPERATIONS: u32 = 50_000;
    let scenario = variant("scenarios/deadline.toml", "deadline", &["clients.apps.count=1"]);
    let (_, plan) = &scenario.variants()[0];
    let mut of_four = 0;
    for operation in 0..OPERATIONS {
        let outcome = simulate(plan, scenario.seed, operation);
        let (calls, requests) = (&outcome.all_calls, &outcome.all_requests);
        assert!(matches!(calls.attempts, 3 | 4), "operation {operation}: {calls:?}");
        assert_eq!(calls.tokens_left, Some(u128::from((11 - calls.attempts) * MICRO)), "operation {operation}");
        assert_eq!(requests.stopped_by[StopReason::Deadline as usize], 1, "operation {operation}");
        assert!(requests.give_up_max.is_some_and(|after| after <= Span::from_ms(250)), "operation {operation}");
        of_four += u32::from(calls.attempts == 4);
    }
    assert!(of_four.abs_diff(130) <= 46, "{of_four} of {OPERATIONS} made four calls");
}

/// The balance of the bucket of `first-refusal.toml` in tenths of a token, as probabilities, from request to request:
/// the chance that none was refused by the n-th. No part of stormsim is used.
fn never_refused(max_attempts: u32, requests: usize) -> Vec<f64> {
    let mut balances = [0.0; 101];
    balances[100] = 1.0;
    let step = |balances: [f64; 101]| {
        // What attempt after attempt finds; half of each succeeds and deposits, the rest asks for a retry or gives up.
        let (mut done, mut asking) = ([0.0; 101], balances);
        for attempt in 1..=max_attempts {
            let mut retrying = [0.0; 101];
            for (tenths, chance) in asking.into_iter().enumerate() {
                done[(tenths + 1).min(100)] += chance / 2.0;
                if attempt == max_attempts {
                    done[tenths] += chance / 2.0;
                } else if tenths >= 10 {
                    retrying[tenths - 10] += chance / 2.0;
                }
            }
            asking = retrying;
        }
        done
    };
    let after_each = (0..requests).map(|_| {
        balances = step(balances);
        balances.iter().sum()
    });
    after_each.collect()
}

/// Over 20,000 replicas the share that was refused by the n-th millisecond has a standard deviation of at most
/// sqrt(1 / 4 / 20,000) = 0.35 points; 1.5 points are more than four of those.
#[test]
fn the_first_refusal_has_the_exact_distribution() {
    const REPLICAS: u32 = 20_000;
    const REQUESTS: usize = 60;
    for (name, max_attempts) in [("two-attempts", 2), ("three-attempts", 3)] {
        let until = format!("clients.app.until={}ms", REQUESTS + 1);
        let scenario = variant("tests/figures/first-refusal.toml", name, &[&until]);
        let (_, plan) = &scenario.variants()[0];
        let mut refused_at = [0u32; REQUESTS + 1];
        for replica in 0..REPLICAS {
            let refused = simulate(plan, scenario.seed, replica).all_calls.first_budget_refusal;
            if let Some(at) = refused {
                refused_at[(at.as_ns() / 1_000_000) as usize] += 1;
            }
        }
        let mut refused = 0;
        for (n, expected) in never_refused(max_attempts, REQUESTS).into_iter().enumerate() {
            refused += refused_at[n + 1];
            let share = 1.0 - f64::from(refused) / f64::from(REPLICAS);
            assert!((share - expected).abs() < 0.015, "{name}: {share} for {expected} after request {}", n + 1);
        }
    }
}

/// The offset of a timer is drawn once and the period is 600 whole buckets: what happens in a bucket happens again in
/// each later minute, exactly. One replica, because a mean of several could agree by their number.
#[test]
fn timers_with_an_offset_of_their_own_repeat_every_minute() {
    for name in ["whole-seconds", "any-moment"] {
        let scenario = variant("scenarios/cron-herd.toml", name, &["replicas=1"]);
        let summary = Experiment::new(&scenario).run(|| ());
        let fired: Vec<(u64, f64)> = (whole_scenario(&summary).buckets.iter())
            .filter(|BucketMeans { attempts, .. }| *attempts > 0.0)
            .map(|bucket| (bucket.index, bucket.attempts))
            .collect();
        let minute = |n: u64| -> Vec<(u64, f64)> {
            let of_minute = fired.iter().filter(|(index, _)| index / 600 == n);
            of_minute.map(|(index, attempts)| (index % 600, *attempts)).collect()
        };
        assert!(minute(0).len() > 50, "{name}: the timers are spread over the minute");
        assert_eq!(minute(0).iter().map(|(_, attempts)| attempts).sum::<f64>(), 600.0, "{name}");
        assert_eq!(minute(1), minute(0), "{name}");
        assert_eq!(minute(2), minute(0), "{name}");
    }
}

/// Ten writes that are not answered end at 1 s, when nobody knows whether they were done. Who reads failures over time must
/// see them there, as none of them succeeded.
#[test]
fn the_timeline_counts_what_nobody_knows_among_the_failures() {
    for (name, metric) in [("timed-out-write", "unknown"), ("timed-out-read", "failed")] {
        let summary = Experiment::new(&variant("tests/figures/side-effects.toml", name, &[])).run(|| ());
        assert_eq!(summary.variants[0].metrics[metric].mean, Some(10.0), "{name}");
        for kind in [ScopeKind::Scenario, ScopeKind::Client] {
            let series = summary.variants[0].timeline.iter().find(|series| series.kind == kind).expect("it is there");
            let failed = series.buckets.iter().filter(|bucket| bucket.failed > 0.0);
            let failed: Vec<(u64, f64)> = failed.map(|bucket| (bucket.index, bucket.failed)).collect();
            assert_eq!(failed, [(10, 10.0)], "{name}: {kind:?}");
        }
    }
}

/// The rows of the tables of the map, as cells.
fn map_rows(map: &str) -> Vec<Vec<&str>> {
    let rows = map
        .lines()
        .filter(|line| line.starts_with("| ") && !line.starts_with("| figure") && !line.starts_with("| scenario"));
    rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect()).collect()
}

/// What is named in backticks.
fn names(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// Whether it is a file, or `FILE::TEST` a test in one: a function right below its `#[test]`.
fn exists(name: &str) -> bool {
    let Some((file, test)) = name.split_once("::") else { return in_repository(name).is_file() };
    let text = fs::read_to_string(in_repository(file)).unwrap_or_default();
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    lines.windows(2).any(|pair| pair[0] == "#[test]" && pair[1].starts_with(&format!("fn {test}(")))
}

/// The figures of the list by their ids: A1 to A12, C1 and C2, D01 to D15.
fn figures() -> impl Iterator<Item = String> {
    let cases = (1..=15).map(|n| format!("D{n:02}"));
    (1..=12).map(|n| format!("A{n}")).chain(["C1".to_owned(), "C2".to_owned()]).chain(cases)
}

#[test]
fn the_map_is_complete_and_names_what_exists() {
    const MILESTONES: [&str; 6] =
        ["milestone 3", "milestone 4", "milestone 5", "milestone 6", "milestone 7", "milestone 8"];
    let map = fs::read_to_string(in_repository("tests/figures/INDEX.md")).expect("the map is there");
    let rows = map_rows(&map);
    let mut wrong = String::new();
    let mut named = Vec::new();
    for row in &rows {
        let place = if row.len() == 3 { row[2] } else { row[0] };
        let names = names(place);
        if names.is_empty() && !MILESTONES.contains(&place) {
            let _ = writeln!(wrong, "neither a test nor a milestone: {}", row.join(" | "));
        }
        for name in names.iter().filter(|name| !exists(name)) {
            let _ = writeln!(wrong, "there is no `{name}`");
        }
        named.extend(names);
    }
    for figure in figures() {
        if !rows.iter().any(|row| row[0] == figure) {
            let _ = writeln!(wrong, "{figure} has no row");
        }
    }
    for folder in ["scenarios", "tests/figures"] {
        for file in scenarios_in(folder) {
            let path = format!("{folder}/{}", file.file_name().expect("it is a file").display());
            if !named.contains(&path.as_str()) {
                let _ = writeln!(wrong, "`{path}` is not in the map");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
