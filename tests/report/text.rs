//! The text at the two widths that matter: a standard terminal and a wide one.

use std::path::Path;

use anstream::adapter::strip_str;
use stormsim::experiment::{CutShort, Judgement, Summary, Verdict};
use stormsim::metrics::Limit;
use stormsim::report::text::{failures, files, report};

use crate::fixture;

/// Without colours, as it is seen: nothing sticks out of the page.
pub fn plain(summary: &Summary, width: usize) -> String {
    let text = strip_str(&report(summary, width)).to_string();
    let widest = text.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(width), "{widest:?} columns do not fit {width}:\n{text}");
    text
}

#[test]
fn three_tier_at_80_and_200_columns() {
    insta::assert_snapshot!("three_tier_80", plain(&fixture::three_tier(), 80));
    insta::assert_snapshot!("three_tier_200", plain(&fixture::three_tier(), 200));
}

#[test]
fn backoff_at_80_and_200_columns() {
    insta::assert_snapshot!("backoff_80", plain(&fixture::backoff(), 80));
    insta::assert_snapshot!("backoff_200", plain(&fixture::backoff(), 200));
}

/// Names of 40 characters, undefined figures, windows and every kind of failed expectation.
#[test]
fn outage_at_80_and_200_columns() {
    insta::assert_snapshot!("outage_80", plain(&fixture::outage(), 80));
    insta::assert_snapshot!("outage_200", plain(&fixture::outage(), 200));
}

/// One service has workers, a queue and callers with a pool; the other has none of them, and says nothing about them.
#[test]
fn overloaded_at_80_and_200_columns() {
    insta::assert_snapshot!("overloaded_80", plain(&fixture::overloaded(), 80));
    insta::assert_snapshot!("overloaded_200", plain(&fixture::overloaded(), 200));
}

/// A sentence for each fate; variants that share one share the sentence.
#[test]
fn verdicts_at_80_and_200_columns() {
    let verdicts = |summary: &Summary, width| {
        let text = plain(summary, width);
        let (_, after) = text.split_once("\n\n `no-retries`").unwrap();
        let (verdicts, _) = after.split_once("\n\n service").unwrap();
        format!(" `no-retries`{verdicts}\n")
    };
    let summary = fixture::recovering();
    insta::assert_snapshot!("recovering_80", verdicts(&summary, 80));
    insta::assert_snapshot!("recovering_200", verdicts(&summary, 200));
    let mut alike = summary.clone();
    alike.variants.truncate(2);
    assert!(plain(&alike, 80).contains("\n\n all variants: recovered right after `slowdown` in all 20 replicas\n\n"));
    let few = Summary { variants: summary.variants[..1].to_vec(), ..summary };
    assert!(
        plain(&few, 80).contains("\n\n recovered right after `slowdown` in all 20 replicas\n\n"),
        "no name is needed"
    );
}

/// The run ends at 60 s at the latest, and is cut short after some time or not: what is said of a fault that was not there,
/// not over, or over shortly before.
#[test]
fn a_fault_after_the_end_and_a_run_that_was_cut_short() {
    let told = |fate: &str, from: f64, horizon_s: Option<f64>, is_cut: bool| {
        let mut summary = fixture::recovering();
        summary.variants.retain(|variant| variant.name == fate);
        let variant = &mut summary.variants[0];
        variant.fault_windows[0].windows_s[0].0 = from;
        variant.horizon_s = horizon_s;
        variant.cut_short =
            is_cut.then_some(CutShort { replicas: 1, replica: 0, at_s: 4.0, limit: Limit::Frames, fullest: None });
        let text = plain(&summary, 200);
        text.lines().find(|line| line.contains("`slowdown`")).unwrap().trim().to_owned()
    };
    let nothing = "there is nothing to recover from";
    assert_eq!(
        told("never", 70.0, Some(60.0), false),
        format!("`slowdown` begins at 70 s, after the horizon of 60 s: {nothing}")
    );
    assert_eq!(
        told("never", 60.0, Some(60.0), true),
        format!("`slowdown` begins at 60 s, at the horizon of 60 s: {nothing}")
    );
    assert_eq!(
        told("never", 70.0, None, false),
        format!("`slowdown` begins at 70 s, and the run is over by then: {nothing}")
    );
    let no_recovery = "when the run was cut short: there is no recovery to judge";
    assert_eq!(told("never", 10.0, Some(60.0), true), format!("`slowdown` had not begun {no_recovery}"));
    assert_eq!(told("outlasted", 10.0, Some(60.0), true), format!("`slowdown` was not over {no_recovery}"));
    assert_eq!(
        told("short", 10.0, Some(60.0), true),
        "there is no telling: the run was cut short 4 s after `slowdown`"
    );
}

/// One variant with one replica: what happened, without a number of replicas.
#[test]
fn a_verdict_on_one_replica_is_a_plain_one() {
    let mut summary = fixture::recovering();
    summary.replicas = 1;
    summary.variants.retain(|variant| ["four-attempts", "two-attempts"].contains(&variant.name.as_str()));
    summary.variants.iter_mut().for_each(|variant| variant.replicas.truncate(1));
    let alone = |name: &str| {
        let mut one = summary.clone();
        one.variants.retain(|variant| variant.name == name);
        for stat in one.variants[0].faults["slowdown"].values_mut() {
            stat.n = stat.n.min(1);
        }
        plain(&one, 200)
    };
    assert!(alone("two-attempts").contains("\n\n recovered 1 s after `slowdown`\n\n"));
    let stuck =
        "did not recover within 48 s of `slowdown`: 200/s of attempts arrive at `svc` against a capacity of 160/s";
    assert!(alone("four-attempts").contains(&format!("\n\n {stuck}\n\n")));
}

/// 25 variants, each with a verdict of its own: 20 sentences, and the rest is not forgotten.
#[test]
fn many_verdicts_do_not_bury_the_tables() {
    let mut summary = fixture::recovering();
    let variant = summary.variants[2].clone();
    summary.variants = (0..25)
        .map(|number| {
            let mut variant = variant.clone();
            let stat = &mut variant.faults["slowdown"]["recovery_s"];
            (stat.min, stat.max) = (Some(f64::from(number)), Some(f64::from(number)));
            variant
        })
        .collect();
    let text = plain(&summary, 200);
    assert_eq!(text.matches("after `slowdown`").count(), 20, "{text}");
    assert!(text.contains("\n and 5 more verdicts: see `recovered` in summary.csv\n"), "{text}");
}

#[test]
fn one_replica_has_no_intervals() {
    let text = plain(&fixture::single(), 80);
    assert!(!text.contains('±'), "{text}");
    insta::assert_snapshot!("single_80", text);
}

#[test]
fn a_partial_summary_says_so() {
    insta::assert_snapshot!("nothing_80", plain(&fixture::nothing(), 80));
}

/// Requests that are open at the end are in no ratio and in no latency. Every variant that has some says so, the one
/// without any request says that, and the one that is as it looks says nothing.
#[test]
fn open_requests_are_not_passed_over() {
    let text = plain(&fixture::unfinished(), 80);
    assert!(!text.contains("`calm`"), "{text}");
    insta::assert_snapshot!("unfinished_80", text);
}

/// The block that says why requests failed.
fn why_failed(summary: &Summary, width: usize) -> String {
    let text = plain(summary, width);
    let blocks: Vec<_> = text.split("\n\n").filter(|block| block.contains("gave up: ")).collect();
    assert!(blocks.len() <= 1, "{text}");
    blocks.concat()
}

/// Groups in which nothing failed have no sentence, those with the same failures share one.
#[test]
fn why_requests_failed_at_80_and_200_columns() {
    let summary = fixture::failing();
    insta::assert_snapshot!("failing_80", why_failed(&summary, 80));
    insta::assert_snapshot!("failing_200", why_failed(&summary, 200));
}

/// A share and its name stay together at every width that has room for them.
#[test]
fn no_share_is_torn_from_its_name() {
    for width in 40..200 {
        let text = strip_str(&report(&fixture::failing(), width)).to_string();
        for share in ["timeout 92.1 %", "overloaded 7.9 %", "exhausted 88 %", "deadline 12 %"] {
            assert!(text.contains(share), "{width}:\n{text}");
        }
    }
}

/// Only names that tell something apart are there, and calm scenarios have no block at all.
#[test]
fn failures_name_variants_and_groups_only_where_there_are_several() {
    let only = |variant: &str, groups: &[&str]| {
        let mut summary = fixture::failing();
        summary.variants.retain(|one| one.name == variant);
        summary.variants[0].clients.retain(|group, _| groups.contains(&group.as_str()));
        why_failed(&summary, 200)
    };
    let sentence = "1,000 of 200,000 failed: timeout 92.1 %, overloaded 7.9 %; gave up: exhausted 88 %, deadline 12 %";
    assert_eq!(only("busy", &["web"]), format!(" {sentence}"));
    assert_eq!(only("busy", &["web", "batch"]), format!(" `web`: {sentence}"));
    assert_eq!(only("calm", &["web", "batch"]), "");
    assert!(why_failed(&fixture::backoff(), 200).starts_with(" `fixed`, `exponential`, `full-jitter`"));
}

/// 25 variants, each with failures of its own: 20 sentences, and the rest is not forgotten.
#[test]
fn many_failures_do_not_bury_the_tables() {
    let mut summary = fixture::failing();
    let mut busy = summary.variants.remove(1);
    busy.clients.truncate(1);
    summary.variants = (0..25)
        .map(|number| {
            let mut variant = busy.clone();
            variant.clients["web"]["failed"].mean = Some(1_000.0 + f64::from(number));
            variant
        })
        .collect();
    let text = why_failed(&summary, 200);
    assert_eq!(text.matches(" failed: ").count(), 20, "{text}");
    assert!(text.ends_with("\n and 5 more: see `failed` and `unknown` in summary.csv"), "{text}");
}

/// A single variant needs no name before its sentence. Where every request is open there is no column that could show
/// it.
#[test]
fn a_single_variant_with_nothing_but_open_requests_says_why_columns_are_missing() {
    let mut summary = fixture::unfinished();
    summary.variants.retain(|variant| variant.name == "stuck");
    summary.replicas = 1;
    let text = plain(&summary, 80);
    assert_eq!(text.matches("success").count(), 1, "only in the sentence:\n{text}");
    let sentence =
        " every request was still open when the run ended, so there is no success ratio\n   and no latency\n";
    assert!(text.contains(sentence), "{text}");
}

/// Nine variants, each with another number of open requests: eight sentences, and the ninth variant is not forgotten.
#[test]
fn many_variants_with_open_requests_do_not_bury_the_tables() {
    let mut summary = fixture::unfinished();
    let full = summary.variants[0].clone();
    summary.variants = (1..=9)
        .map(|open| {
            let mut variant = full.clone();
            variant.name = format!("v{open}");
            let stat = &mut variant.metrics["open"];
            (stat.mean, stat.ci95) = (Some(f64::from(open)), None);
            variant.metrics["requests"].mean = Some(90.0);
            variant
        })
        .collect();
    let text = plain(&summary, 200);
    assert!(text.contains(" `v1`: 1 of 90 requests was still open when"), "{text}");
    assert!(text.contains(" `v8`: 8 of 90 requests were still open when") && !text.contains("`v9`"), "{text}");
    assert!(text.contains(" and 1 more variant: see the columns `requests` and `open at the end`\n"), "{text}");
}

/// Below one percent the column says enough.
#[test]
fn a_few_open_requests_are_not_worth_a_sentence() {
    let told = |open: f64| {
        let mut summary = fixture::unfinished();
        summary.variants.truncate(1);
        let stat = &mut summary.variants[0].metrics["open"];
        (stat.mean, stat.ci95) = (Some(open), None);
        let text = plain(&summary, 200);
        assert!(text.contains("open at"), "the column is there all the same:\n{text}");
        text.contains("still open")
    };
    assert!(told(50.0) && !told(49.0), "of 5,000");
}

/// The row of a single group would repeat that of its variant.
#[test]
fn client_groups_are_told_apart_where_there_are_several() {
    assert!(!plain(&fixture::backoff(), 80).contains("\n clients "));
    let text = plain(&fixture::unfinished(), 80);
    assert_eq!(text.matches("\n clients ").count(), 1, "the table fits the page:\n{text}");
}

/// 21 expectations that were met are more than are listed: a sentence, and no table without rows.
#[test]
fn many_expectations_that_were_met_are_a_sentence() {
    let mut summary = fixture::three_tier();
    summary.expectations = vec![summary.expectations[0].clone(); 21];
    let text = plain(&summary, 80);
    assert!(text.ends_with("1,000\n\n all 21 expectations were met\n"), "{text}");
}

/// Over one replica there is nothing to count; over several the number tells a metric that is undefined by its nature
/// from one that happened to be in a few.
#[test]
fn an_undefined_figure_says_in_how_many_replicas() {
    let came_out = |undefined: u32, replicas: u32| {
        let mut summary = fixture::backoff();
        summary.replicas = replicas;
        summary.expectations.truncate(2);
        for verdict in &mut summary.expectations {
            (verdict.actual, verdict.judgement, verdict.undefined) = (None, Judgement::NotMet, undefined);
        }
        let text = strip_str(&failures(&summary)).to_string();
        assert!(text.starts_with("backoff: none of the 2 expectations was met\n"), "{text}");
        text.lines().last().unwrap().split("came out ").last().unwrap().to_owned()
    };
    assert_eq!(came_out(1, 1), "undefined");
    assert_eq!(came_out(19, 20), "undefined in 19 of 20 replicas");
    assert_eq!(came_out(1_000, 1_000), "undefined in all 1,000 replicas");
}

/// Of a recovery it is known what it means that there is none. In `cut` one of 20 replicas does not tell, and eight have
/// not recovered.
#[test]
fn an_undefined_recovery_says_what_that_means() {
    let row = |variant: &str, metric: &'static str, undefined: u32| {
        let mut summary = fixture::recovering();
        let fault = ("fault", "slowdown");
        let verdict = fixture::verdict(variant, fault, (metric, "mean"), "<= 3", None, false);
        summary.expectations = vec![Verdict { undefined, ..verdict }];
        let text = strip_str(&failures(&summary)).to_string();
        text.lines().last().unwrap().trim().to_owned()
    };
    assert_eq!(row("four-attempts", "recovery_s", 20), "recovery_s <= 3 s: never recovered in 20 of 20 replicas");
    assert_eq!(row("budget", "recovered_at_s", 8), "recovered_at_s <= 3 s: never recovered in 8 of 20 replicas");
    assert_eq!(
        row("cut", "recovery_s", 9),
        "recovery_s <= 3 s: never recovered in 8 of 20 replicas; there is no telling in 1 of 20 replicas"
    );
    assert_eq!(row("cut", "recovered", 1), "recovered <= 3: there is no telling in 1 of 20 replicas");
    assert_eq!(row("cut", "last_bad_s", 20), "last_bad_s <= 3 s: no second was bad in 20 of 20 replicas");
}

/// The unit stands with every figure, before a tolerance that is a share of it.
#[test]
fn figures_of_expectations_have_their_unit() {
    let row = |metric: &'static str, condition: &str| {
        let mut summary = fixture::recovering();
        let verdict = fixture::verdict("budget", ("scenario", ""), (metric, "mean"), condition, Some(7.0), false);
        summary.expectations = vec![verdict];
        strip_str(&failures(&summary)).to_string().lines().last().unwrap().trim().to_owned()
    };
    assert_eq!(row("latency_p99_ms", "1 .. 5"), "latency_p99_ms 1 .. 5 ms: came out 7 ms");
    assert_eq!(row("last_retry_s", "= 5 ± 0.1"), "last_retry_s = 5 ± 0.1 s: came out 7 s");
    assert_eq!(row("goodput_rps", "= 5 ± 1 %"), "goodput_rps = 5/s ± 1 %: came out 7/s");
    assert_eq!(row("amplification", "<= 5"), "amplification <= 5: came out 7");
}

/// Broken between names only: the path has a blank and is longer than the page.
#[test]
fn the_list_of_files_is_broken_at_the_width_of_the_page() {
    let names = ["summary.json", "summary.csv", "replicas.csv"];
    let one_line = "written to output/a b: summary.json, summary.csv, replicas.csv\n";
    assert_eq!(files(Path::new("output/a b"), &names, 62), one_line);
    let lines = ["written to output/a b: summary.json, summary.csv,", "  replicas.csv", ""];
    assert_eq!(files(Path::new("output/a b"), &names, 61), lines.join("\n"));
    let lines = ["written to", "  output/a b:", "  summary.json,", "  summary.csv,", "  replicas.csv", ""];
    assert_eq!(files(Path::new("output/a b"), &names, 5), lines.join("\n"));
}

/// The colours: 1 is bold, 31 red, 32 green, 33 yellow, 0 the end of them.
#[test]
fn titles_failures_and_warnings_are_coloured() {
    let outage = report(&fixture::outage(), 200);
    assert!(outage.starts_with("\u{1b}[1mregional-outage-with-slow-recovery\u{1b}[0m: 6 variants"), "{outage}");
    assert_eq!(outage.matches(" \u{1b}[1m\u{1b}[31mFAILED\u{1b}[0m ").count(), 3, "{outage}");
    assert!(outage.ends_with(" \u{1b}[1m\u{1b}[31m3 of 4 expectations were not met\u{1b}[0m\n"), "{outage}");
    let met = report(&fixture::three_tier(), 200);
    assert!(met.ends_with(" \u{1b}[32mall 3 expectations were met\u{1b}[0m\n"), "{met}");
    let partial = report(&fixture::nothing(), 200);
    assert!(partial.contains("\u{1b}[1m\u{1b}[33mPartial: "), "{partial}");
}

#[test]
fn quiet_tells_failures_only() {
    let text = strip_str(&failures(&fixture::backoff())).to_string();
    let expected = [
        "backoff: 1 of 4 expectations was not met",
        " FAILED full-jitter: scenario",
        "        retry_peak = 159.4 ± 1: came out 161.05",
        "",
    ];
    assert_eq!(text, expected.join("\n"));
    assert_eq!(failures(&fixture::three_tier()), "");
    assert_eq!(failures(&fixture::nothing()), "");
}

/// Of 1,000 services the 20 that are amplified most are listed, and the rest is mentioned.
#[test]
fn a_long_list_of_services_is_cut_and_says_so() {
    let text = plain(&fixture::many_services(1_000), 80);
    assert!(text.contains("service-999") && !text.contains("service-000"), "{text}");
    assert!(text.contains("980 more services with less amplification"), "{text}");
    assert_eq!(text.matches("service-").count(), 20);
}
