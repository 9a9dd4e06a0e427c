//! The text at the two widths that matter: a standard terminal and a wide one.

use anstream::adapter::strip_str;
use stormsim::experiment::Summary;
use stormsim::report::text::{failures, report};

use crate::fixture;

/// Without colours, as it is seen: nothing sticks out of the page.
fn plain(summary: &Summary, width: usize) -> String {
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
        " FAILED full-jitter: scenario",
        "        retry_peak = 159.4 ± 1: came out 161.05",
        " 1 of 4 expectations was not met",
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
