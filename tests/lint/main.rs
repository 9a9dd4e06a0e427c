//! `stormsim lint`: what each rule finds and what it does not.

mod allowing;
mod command;
mod formats;
mod imported;
mod rules;

use std::path::Path;

use stormsim::analysis::lint::{Finding, Linted, lint};
use stormsim::scenario::{Overrides, ScenarioFile};

/// What is said of a scenario without its first three lines.
fn linted(text: &str, set: &[&str]) -> Linted {
    let file = ScenarioFile::of(
        "example",
        format!("version = 1\nname = \"example\"\nhorizon = \"60s\"\n{text}"),
        Path::new(""),
    );
    let set = set.iter().map(|&set| set.to_owned()).collect();
    lint(&file, &Overrides { set, ..Overrides::default() }).unwrap_or_else(|wrong| panic!("{wrong}"))
}

/// What a rule finds in a scenario, with these settings.
fn found(rule: &str, text: &str, set: &[&str]) -> Vec<Finding> {
    linted(text, set).findings.into_iter().filter(|finding| finding.rule == rule).collect()
}
