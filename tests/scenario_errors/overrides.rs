//! What wrong variants and flags are answered with, word for word. The snapshots are the specification.

use std::path::Path;

use insta::assert_snapshot;
use stormsim::scenario::{Overrides, Scenario};

/// A scenario with which nothing is wrong, up to its variants.
const GOOD: &str = r#"version = 1
name = "shop"

[clients.web]
arrivals = { burst = {} }
calls.db = { retry = "patient", timeout = "1s" }

[services.db]

[retries.patient]
max_retries = 2
backoff = { fixed = "1s" }

[faults.outage]
on = ["db"]
until = "10s"
effect = "refuse"
"#;

fn parse(text: &str, overrides: &Overrides) -> Result<Scenario, String> {
    Scenario::parse("shop.toml", text, Path::new(""), overrides).map_err(|errors| errors.to_string())
}

/// The errors of `GOOD` with a variant that says this.
fn errors_of_variant(settings: &str) -> String {
    parse(&format!("{GOOD}[variants.v]\n{settings}"), &Overrides::default()).unwrap_err()
}

fn set(texts: &[&str]) -> Overrides {
    Overrides { set: texts.iter().map(|&text| text.to_owned()).collect(), ..Overrides::default() }
}

/// One table that says two things is as wrong in a variant or a flag as in the file, and so are two paths of a variant:
/// a table of TOML has no order by which one of them would be the last.
#[test]
fn what_contradicts_itself_is_not_resolved_by_dropping_half() {
    let both = "{ max_retries = 9, max_attempts = 3 }";
    let table = errors_of_variant(&format!("retries.patient = {both}\n"));
    let dotted = errors_of_variant("retries.patient.max_retries = 9\nretries.patient.max_attempts = 3\n");
    let paths = errors_of_variant("\"retries.patient.max_retries\" = 9\n\"retries.patient.max_attempts\" = 3\n");
    let tags = errors_of_variant(
        "\"retries.patient.backoff.linear.step\" = \"1s\"\n\"retries.patient.backoff.exponential.base\" = \"1s\"\n",
    );
    let flag = |text: &str| parse(GOOD, &set(&[text])).unwrap_err();
    let flags = [flag("faults.outage={until=\"3s\", lasts=\"9s\"}"), flag(&format!("retries.patient={both}"))];
    assert_snapshot!([table, dotted, paths, tags, flags.join("\n\n")].join("\n\n"));
}

/// The file itself says both already; a layer that says neither changes nothing about that.
#[test]
fn a_contradiction_of_the_file_is_told_once_whatever_is_set() {
    let text = GOOD.replace("until = \"10s\"", "until = \"10s\"\nlasts = \"10s\"");
    assert_snapshot!(parse(&format!("{text}[variants.v]\n"), &set(&["horizon=1m"])).unwrap_err());
}

#[test]
fn the_timeline_belongs_to_all_variants_but_a_flag_sets_it_for_all() {
    assert_snapshot!(errors_of_variant("bucket = \"1s\"\n"));
    let scenario = parse(GOOD, &set(&["bucket=1s"])).unwrap();
    assert_eq!(scenario.bucket.as_s(), 1.0);
}

/// Who misspelt a name wants to hear which one, and not how to complete the thing that came of it.
#[test]
fn a_misspelt_path_is_told_once() {
    let variant = errors_of_variant(
        r#""retries.pateint.backoff" = "none"
"retries.pateint.budget.token_bucket.max" = 5
"faults.outge.until" = "5s"
"clients.wbe.count" = 5
"services.bd.service_time.lognormal.median" = "1ms"
"#,
    );
    let flags = parse(GOOD, &set(&["retries.pateint.backoff=none", "faults.maintenance.until=5s"])).unwrap_err();
    assert_snapshot!([variant, flags].join("\n\n"));
}

/// What is new and complete is meant.
#[test]
fn a_variant_may_add_a_fault_and_a_client_group() {
    let text = format!(
        "{GOOD}[variants.v]\n{}\n{}\n",
        r#""faults.second" = { on = ["db"], effect = "refuse", until = "1s" }"#,
        r#""clients.jobs" = { arrivals = { burst = {} }, calls = { db = {} } }"#
    );
    let scenario = parse(&text, &Overrides::default()).unwrap();
    let (_, plan) = &scenario.variants()[0];
    assert_eq!((plan.faults.len(), plan.groups.len()), (2, 2));
}

/// In a run over several files with the same flags: which of them is it?
#[test]
fn every_error_names_its_file() {
    let two_errors = format!("{}[variants.v]\n", GOOD.replace("version = 1\n", "").replace("name = \"shop\"\n", ""));
    let flags = Overrides { variant: Some("w".into()), ..set(&["services.bd.service_time=1ms", "horizon"]) };
    let shown = parse(&two_errors, &flags).unwrap_err();
    assert_eq!(shown.matches("error: ").count(), 5);
    assert!(shown.split("\n\n").all(|error| error.contains("shop.toml")), "{shown}");
    assert_snapshot!(shown);
}

/// Seed and hash are not all that decides the figures: these do too.
#[test]
fn a_scenario_knows_what_the_command_line_changed() {
    let text = format!("{GOOD}[variants.v]\n");
    let all = Overrides { variant: Some("v".into()), ..set(&["horizon=1m", "bucket = 1s"]) };
    let changed = parse(&text, &all).unwrap();
    assert_eq!(changed.overrides, ["horizon=1m", "bucket = 1s", "variant=v"]);
    let plain = parse(&text, &Overrides { seed: Some(7), ..Overrides::default() }).unwrap();
    assert!(plain.overrides.is_empty(), "the seed has a field of its own");
    assert_eq!(changed.sha256, plain.sha256, "the hash is that of the file");
}
