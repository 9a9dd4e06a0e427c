//! What the templates hold: a policy that meets their expectations, and mistakes that do not.

use std::path::Path;

use stormsim::analysis::lint::lint;
use stormsim::experiment::{Experiment, Judgement, Summary};
use stormsim::scenario::{Overrides, Scenario, ScenarioFile};
use stormsim::templates::{GOOD, TEMPLATES, Template};

fn scenario(template: &Template, text: &str) -> Scenario {
    with(template, text, Overrides::default())
}

fn with(template: &Template, text: &str, overrides: Overrides) -> Scenario {
    let parsed = Scenario::parse(&template.file_name(), text, Path::new(""), &overrides);
    parsed.unwrap_or_else(|wrong| panic!("{wrong}"))
}

fn variants(scenario: &Scenario) -> Vec<&str> {
    scenario.variants().iter().map(|(name, _)| name.as_str()).collect()
}

/// One variant alone, and so many replicas of it.
fn only(variant: &str, replicas: Option<u32>) -> Overrides {
    Overrides { variant: Some(variant.to_owned()), replicas, ..Overrides::default() }
}

/// The expectations that were not met.
fn missed(summary: &Summary) -> Vec<String> {
    let missed = summary.expectations.iter().filter(|verdict| verdict.judgement != Judgement::Met);
    missed.map(|verdict| format!("{verdict:?}")).collect()
}

#[test]
fn each_begins_with_what_is_good_and_has_the_usual_mistakes_beside_it() {
    for template in TEMPLATES {
        let scenario = scenario(&template, template.text);
        assert_eq!(scenario.name, template.name, "the file and the results are found under one name");
        let variants = variants(&scenario);
        assert_eq!(variants[0], GOOD);
        assert!((2..=4).contains(&variants.len()), "{}: {variants:?}", template.name);
        for expectation in &scenario.expectations {
            assert_eq!(expectation.variant.as_deref(), Some(GOOD), "{}", template.name);
        }
    }
}

/// What the linter finds is in the mistakes, and allowed there; nothing is allowed that is not found.
#[test]
fn the_linter_finds_nothing_in_what_is_good() {
    for template in TEMPLATES {
        let file = ScenarioFile::of(&template.file_name(), template.text.to_owned(), Path::new(""));
        let linted = lint(&file, &Overrides::default()).unwrap_or_else(|wrong| panic!("{wrong}"));
        for finding in &linted.findings {
            let is_in_good = finding.variants.iter().any(|variant| variant == GOOD);
            assert!(!is_in_good && finding.allowed.is_some(), "{}: {finding:?}", template.name);
        }
    }
}

/// With other seeds, too: bounds that only one seed meets would fail for whoever adds a client.
#[test]
fn what_is_good_meets_the_expectations_whatever_the_luck() {
    for template in TEMPLATES {
        for seed in [None, Some(1), Some(2)] {
            let scenario = with(&template, template.text, Overrides { seed, ..only(GOOD, None) });
            let summary = Experiment::new(&scenario).run(|| ());
            assert!(!summary.expectations.is_empty());
            assert_eq!(missed(&summary), Vec::<String>::new(), "{} with {seed:?}", template.name);
        }
    }
}

/// Or the mistake would be none, and the expectations would gate nothing.
#[test]
fn every_mistake_misses_an_expectation() {
    let about_good = format!("\nvariant = \"{GOOD}\"\n");
    for template in TEMPLATES {
        let rows = template.text.matches(&about_good).count();
        let original = scenario(&template, template.text);
        assert_eq!(original.expectations.len(), rows, "{}: each row is found", template.name);
        for mistake in &variants(&original)[1..] {
            let text = template.text.replace(&about_good, &format!("\nvariant = \"{mistake}\"\n"));
            let summary = Experiment::new(&with(&template, &text, only(mistake, Some(5)))).run(|| ());
            assert_eq!(summary.expectations.len(), rows, "{}: `{mistake}` is judged by all", template.name);
            assert!(!missed(&summary).is_empty(), "{}: `{mistake}` passes for good", template.name);
        }
    }
}

/// In a window in which something is tried again at all: elsewhere any bound holds.
#[test]
fn the_amplification_of_what_is_good_is_gated_while_something_fails() {
    for template in TEMPLATES {
        let summary = Experiment::new(&with(&template, template.text, only(GOOD, Some(5)))).run(|| ());
        let windows = summary.expectations.iter().filter(|row| row.metric == "amplification" && row.from.is_some());
        let amplifications: Vec<f64> = windows.filter_map(|row| row.actual).collect();
        assert!(!amplifications.is_empty(), "{}", template.name);
        assert!(amplifications.iter().all(|&there| there > 1.01), "{}: {amplifications:?}", template.name);
    }
}

/// They are shown in terminals and pull requests, and are the first that many see of the format.
#[test]
fn each_says_how_it_is_run_and_keeps_to_the_width_of_a_page() {
    for template in TEMPLATES {
        assert!(template.text.contains(&format!("\n#     stormsim run {}\n", template.file_name())));
        let too_long: Vec<&str> = template.text.lines().filter(|line| line.chars().count() > 120).collect();
        assert_eq!(too_long, Vec::<&str>::new(), "{}", template.name);
    }
}
