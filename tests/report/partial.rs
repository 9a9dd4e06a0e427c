//! Runs that were cut short, by a limit or by the user: what is said of them, and what is not judged.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use anstream::adapter::strip_str;
use rayon::ThreadPoolBuilder;
use serde_json::{Value, json};
use stormsim::experiment::{Judgement, Summary};
use stormsim::report::text::{checks, failures, report};
use stormsim::report::{csv, json};
use stormsim::{Experiment, Overrides, Scenario};

/// A server that does 100 requests per second. `calm` has half of that to do, `storm` ten times of it: that is 900 more
/// in progress each second, so that a bound of 1,000 is reached after 1.04 s.
const CALM: &str = "calm = { \"clients.c.arrivals.constant.rate\" = 50 }";
const STORM: &str = "storm = {}";
/// Another one, which reaches the bound twice as fast.
const GALE: &str = "gale = { \"clients.c.arrivals.constant.rate\" = 2000 }";

/// Three replicas of each variant on one thread, one after another; somebody interrupts after so many of all.
fn run(variants: &[&str], interrupted_after: Option<u32>) -> Summary {
    let text = format!(
        "version = 1\nname = \"small\"\nreplicas = 3\nhorizon = \"2s\"\n\
         [clients.c]\narrivals = {{ constant = {{ rate = 1000 }} }}\ncalls.s = {{}}\n\
         [services.s]\nworkers = 1\nservice_time = \"10ms\"\n[variants]\n{}\n\
         [[expect]]\nmetric = \"requests\"\nat_least = 99\n\
         [[expect]]\nmetric = \"requests\"\nfrom = \"0s\"\nuntil = \"2s\"\nevery = \"500ms\"\nequals = 1\n",
        variants.join("\n")
    );
    let scenario = Scenario::parse("small.toml", &text, Path::new("."), &Overrides::default());
    let scenario = scenario.unwrap_or_else(|wrong| panic!("{wrong}"));
    let (stop, done) = (AtomicBool::new(interrupted_after == Some(0)), AtomicU32::new(0));
    let progress = || {
        if Some(done.fetch_add(1, Ordering::Relaxed) + 1) == interrupted_after {
            stop.store(true, Ordering::Relaxed);
        }
    };
    let pool = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(|| Experiment::new(&scenario).at_most_in_progress(1_000).run_until(&stop, progress))
}

fn plain(summary: &Summary) -> String {
    let text = strip_str(&report(summary, 80)).to_string();
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    text
}

/// By expectation and variant what became of it.
fn judged(summary: &Summary) -> Vec<(&str, Judgement)> {
    summary.expectations.iter().map(|verdict| (verdict.variant.as_str(), verdict.judgement)).collect()
}

/// By variant the keys that say how much of it there is.
fn extents(summary: &Summary) -> Vec<Value> {
    let root: Value = serde_json::from_slice(&json::pretty(summary)).unwrap();
    let extent = |variant: &Value| {
        json!([variant["name"], variant["partial"], variant["replicas_finished"], variant["cut_short"]])
    };
    root["variants"].as_array().unwrap().iter().map(extent).collect()
}

/// The rows of `calm` are met and missed as ever; those of `storm` would be both, too: 1,040 requests are more than 99,
/// and no window has just one.
#[test]
fn a_cut_variant_is_not_judged_and_a_whole_one_is() {
    use Judgement::{Met, NotJudged, NotMet};
    for variants in [[STORM, CALM], [CALM, STORM]] {
        let summary = run(&variants, None);
        let mut found = judged(&summary);
        found.sort_by_key(|(variant, _)| *variant);
        assert_eq!(found, [("calm", Met), ("calm", NotMet), ("storm", NotJudged), ("storm", NotJudged)]);
        let not_judged = summary.expectations.iter().filter(|verdict| verdict.judgement == NotJudged);
        assert!(not_judged.clone().all(|verdict| verdict.actual.is_none() && verdict.ci95.is_none()));
        let mut extents = extents(&summary);
        extents.sort_by_key(|extent| extent[0].to_string());
        let at_s = extents[1][3]["at_s"].as_f64().unwrap();
        let cut = json!({
            "replicas": 3, "replica": 0, "at_s": at_s, "limit": "in_progress",
            "fullest": { "service": "s", "in_progress": 936 },
        });
        assert_eq!(extents, [json!(["calm", false, 3, null]), json!(["storm", true, 0, cut])]);
        assert!((1.03..1.05).contains(&at_s), "{at_s}");
        assert!(summary.partial);
    }
}

/// One replica is enough to spoil a mean: of the three of `storm` two have been counted, and the third has not run.
#[test]
fn a_variant_that_lacks_a_replica_is_not_judged() {
    use Judgement::{Met, NotJudged, NotMet};
    let summary = run(&[CALM, STORM], Some(2));
    assert_eq!(extents(&summary), [json!(["calm", true, 2, null]), json!(["storm", true, 0, null])]);
    assert!(judged(&summary).iter().all(|(_, judgement)| *judgement == NotJudged));
    let summary = run(&[CALM, STORM], Some(3));
    assert_eq!(extents(&summary), [json!(["calm", false, 3, null]), json!(["storm", true, 0, null])]);
    let expected = [("calm", Met), ("storm", NotJudged), ("calm", NotMet), ("storm", NotJudged)];
    assert_eq!(judged(&summary), expected);
}

#[test]
fn texts_when_the_first_was_cut_and_the_second_is_whole() {
    insta::assert_snapshot!("first_cut_80", plain(&run(&[STORM, CALM], None)));
}

#[test]
fn texts_when_the_second_was_cut() {
    insta::assert_snapshot!("second_cut_80", plain(&run(&[CALM, STORM], None)));
}

/// One replica of `storm` had been cut when somebody interrupted.
#[test]
fn texts_when_the_first_was_cut_and_the_second_did_not_run() {
    insta::assert_snapshot!("cut_and_interrupted_80", plain(&run(&[STORM, CALM], Some(1))));
}

#[test]
fn every_cut_variant_is_named_with_its_own_time() {
    let summary = run(&[STORM, CALM, GALE], None);
    let cuts = summary.cut_short();
    let named: Vec<_> = cuts.iter().map(|(variant, _)| *variant).collect();
    assert_eq!(named, ["storm", "gale"]);
    // 936 more than are served, at 900 and at 1,900 per second.
    for ((_, cut), expected) in cuts.iter().zip([1.03..1.05, 0.49..0.51]) {
        assert!(expected.contains(&cut.at_s), "{cut}");
        let text = format!("replica 0, at {} s: more calls or pieces of work were in progress at once", cut.at_s);
        assert!(cut.to_string().starts_with(&text), "{cut}");
        let fullest = cut.fullest.as_ref().unwrap();
        assert!(fullest.service == "s" && (936..=1_000).contains(&fullest.in_progress), "{cut}");
        let text = format!("the most of them are at `s`: {}", fullest.in_progress);
        assert!(cut.to_string().ends_with(&text), "{cut}");
    }
}

/// No replica has figures: there is nothing to tell the mean of.
#[test]
fn a_run_that_was_interrupted_at_once_has_no_mean() {
    let text = plain(&run(&[CALM], Some(0)));
    let head = "small: 1 variant, 0 of 3 replicas, seed 42\n\
                Partial: the run was cut short, and the figures cover only what it got done.\n \
                none of 3 replicas finished\n\n variant ";
    assert!(text.starts_with(head), "{text}");
    assert!(text.ends_with("\n none of the 2 expectations was judged\n"), "{text}");
}

/// A script that keeps the rows with `partial` = 0 keeps what covers all it seems to cover. A replica that ran to its
/// end is whole, whatever became of the others.
#[test]
fn rows_of_cut_variants_are_marked_in_all_tables() {
    let cut = run(&[STORM, CALM], None);
    let interrupted = run(&[CALM], Some(2));
    for (table, of_interrupted) in
        [(csv::summary as fn(&Summary) -> Vec<u8>, "1"), (csv::timeline, "1"), (csv::replicas, "0")]
    {
        let rows = |summary: &Summary| -> Vec<(String, String)> {
            let text = String::from_utf8(table(summary)).unwrap();
            let (header, rows) = text.split_once('\n').unwrap();
            assert!(header.ends_with(",partial"), "{header}");
            let ends =
                |row: &str| (row.split(',').next().unwrap().to_owned(), row.rsplit(',').next().unwrap().to_owned());
            rows.lines().map(ends).collect()
        };
        let expected = |variant: &str| if variant == "storm" { "1" } else { "0" };
        let found = rows(&cut);
        assert!(["storm", "calm"].iter().all(|name| found.iter().any(|(variant, _)| variant == name)));
        assert!(found.iter().all(|(variant, partial)| partial == expected(variant)), "{found:?}");
        let found = rows(&interrupted);
        assert!(!found.is_empty() && found.iter().all(|(_, partial)| partial == of_interrupted), "{found:?}");
    }
}

/// `test` says of every file that is not whole how far it came; what was not judged is neither met nor missed.
#[test]
fn checks_count_what_was_not_judged_apart() {
    let summary = run(&[STORM, CALM], Some(4));
    assert_eq!(judged(&summary)[0], ("storm", Judgement::NotJudged));
    let files = [(Path::new("a.toml"), &summary)];
    let all = strip_str(&checks(&files, &[Path::new("b.toml")], false)).to_string();
    let lines = [
        " -      a.toml: storm: scenario requests >= 99: not judged: none of 3 replicas finished",
        " -      a.toml: calm: scenario requests >= 99: not judged: 1 of 3 replicas finished",
        " -      a.toml: storm: scenario requests, 4 windows, 0 s to 2 s = 1: not judged: none of 3 replicas finished",
        " -      a.toml: calm: scenario requests, 4 windows, 0 s to 2 s = 1: not judged: 1 of 3 replicas finished",
        " partial a.toml: 1 of 6 replicas finished",
        " not run b.toml",
        " none of the 4 expectations was judged",
        "",
    ];
    assert_eq!(all, lines.join("\n"));
    let quiet = strip_str(&checks(&files, &[], true)).to_string();
    assert_eq!(quiet, " partial a.toml: 1 of 6 replicas finished\n");
    assert_eq!(failures(&summary), "");
}

/// A conclusion with all three: failures are listed first, then what is not known.
#[test]
fn a_failure_beside_a_cut_variant_is_still_a_failure() {
    let summary = run(&[STORM, CALM], None);
    let text = strip_str(&failures(&summary)).to_string();
    assert!(text.starts_with("small: 4 expectations: 1 not met, 2 not judged, 1 met\n FAILED calm: "), "{text}");
    assert_eq!(text.lines().count(), 3, "{text}");
}
