//! What must come out: units and windows.

use std::path::Path;

use stormsim::experiment::{Condition, Statistic, Tolerance, Window, Windows};
use stormsim::scenario::{Overrides, Scenario};

use crate::{SMALL, THREE_TIER, only_plan, parse, s};

#[test]
fn expectations_are_in_the_unit_of_their_metric() {
    let scenario = parse(THREE_TIER, &Overrides::default());
    let conditions: Vec<Condition> = scenario.expectations.iter().map(|row| row.condition).collect();
    assert_eq!(
        conditions,
        [
            Condition::AtMost(1.5),
            Condition::Equals { value: 500.0, tolerance: Tolerance::Absolute(2.0) },
            Condition::Between(1.0, 2.5),
        ]
    );
    let figures: Vec<_> = scenario.expectations.iter().map(|row| (row.metric, row.statistic)).collect();
    assert_eq!(
        figures,
        [("last_retry_s", Statistic::P99), ("sojourn_mean_ms", Statistic::Mean), ("attempts", Statistic::Mean)]
    );
    assert_eq!(scenario.expectations[1].scope.name, "db");
    assert_eq!(scenario.expectations[1].variant.as_deref(), Some("base"));
}

/// Windows of `every` lie side by side: [5 s, 7 s) and [7 s, 9 s). The first of them is also that of the other row, and
/// stands in the plan once.
#[test]
fn windows_lie_side_by_side_and_are_known_once() {
    let rows = r#"
[[expect]]
metric = "attempts"
from = "5s"
until = "9s"
every = "2s"
at_most = 9
[[expect]]
metric = "goodput_rps"
from = "5s"
until = "7s"
at_least = 1
[[expect]]
metric = "open"
equals = 0
"#;
    let scenario = parse(&format!("horizon = \"10s\"{SMALL}{rows}"), &Overrides::default());
    assert_eq!(only_plan(&scenario).windows, [s(5)..s(7), s(7)..s(9)]);
    let window = |position, from_s, until_s| Window { position, from_s, until_s };
    let windows: Vec<&Windows> = scenario.expectations.iter().map(|row| &row.windows).collect();
    assert_eq!(
        windows,
        [
            &Windows::Each(vec![window(0, 5.0, 7.0), window(1, 7.0, 9.0)]),
            &Windows::Each(vec![window(0, 5.0, 7.0)]),
            &Windows::Whole,
        ]
    );
}

/// What only another variant expects is left out with that variant, wrong or not: its window ends after the shorter run.
/// The rows of the variant that runs, and of all variants, are checked as ever.
#[test]
fn only_the_variant_that_runs_is_expected_of() {
    let row = |variant: &str, until: &str| {
        format!("[[expect]]\nmetric = \"attempts\"\n{variant}from = \"0s\"\nuntil = \"{until}\"\nat_least = 0\n")
    };
    let [own, others] = ["variant = \"one\"\n", "variant = \"other\"\n"];
    let read = |rows: &str| {
        let text = format!("horizon = \"10s\"{SMALL}{rows}[variants]\none = {{}}\nother = {{}}\n");
        let overrides =
            Overrides { set: vec!["horizon=5s".to_owned()], variant: Some("one".to_owned()), ..Overrides::default() };
        Scenario::parse("small.toml", &text, Path::new(""), &overrides)
    };
    let scenario = read(&[row(own, "5s"), row(others, "10s"), row("", "4s")].concat()).expect("the variant is good");
    let about: Vec<Option<&str>> = scenario.expectations.iter().map(|row| row.variant.as_deref()).collect();
    assert_eq!(about, [Some("one"), None]);
    assert_eq!(scenario.variants()[0].1.windows, [s(0)..s(5), s(0)..s(4)], "nothing else is measured");
    for late in [row(own, "10s"), row("", "10s"), row("variant = \"nobody\"\n", "5s")] {
        assert!(read(&late).is_err(), "{late}");
    }
}
