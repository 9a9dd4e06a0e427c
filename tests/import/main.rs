//! Configuration files of other products: what each format becomes, what is said of it, and that nothing that is wrong
//! with a file does harm.

mod aws;
mod dotnet;
mod envoy;
mod grpc;
mod into;
mod istio;
mod linkerd;
mod mutations;
mod page;
mod resilience4j;

use std::path::{Path, PathBuf};

use stormsim::import::{self, Format, Imported};
use stormsim::scenario::{Diagnostic, Diagnostics};
use stormsim::{Experiment, Overrides, Scenario, Summary};

/// The folder of the samples.
fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/import/samples")
}

/// The text of a sample.
fn sample(name: &str) -> String {
    std::fs::read_to_string(samples().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// What a text says, which is right.
fn imported(format: Format, text: &str) -> Imported {
    import::import(format, "it", text).unwrap_or_else(|errors| panic!("{errors}\n{text}"))
}

/// What is wrong with a text, a line each.
fn wrong(format: Format, text: &str) -> Vec<String> {
    match import::import(format, "it", text) {
        Ok(imported) => panic!("it is right:\n{text}\n{}", imported.scenario()),
        Err(errors) => lines(&errors),
    }
}

fn lines(diagnostics: &Diagnostics) -> Vec<String> {
    diagnostics.iter().map(Diagnostic::in_a_line).collect()
}

/// The remarks on a text, a line each.
fn remarks(format: Format, text: &str) -> Vec<String> {
    lines(&imported(format, text).messages())
}

/// Whether one of some lines has all of these parts.
fn is_said(lines: &[String], parts: &[&str]) -> bool {
    lines.iter().any(|line| parts.iter().all(|part| line.contains(part)))
}

/// The scenario of a text, as a table.
fn table(format: Format, text: &str) -> toml::Table {
    imported(format, text).scenario().parse().unwrap_or_else(|error| panic!("{error}"))
}

/// What stands at a path of a table, as TOML; "none" if nothing does.
fn at(table: &toml::Table, path: &str) -> String {
    let (first, rest) = path.split_once('.').unwrap_or((path, ""));
    let parts = rest.split('.').filter(|part| !part.is_empty());
    let value = parts.fold(table.get(first), |value, part| value?.get(part));
    value.map_or_else(|| "none".to_owned(), toml::Value::to_string)
}

/// A scenario of a text that was imported.
fn parsed(text: &str, overrides: &Overrides) -> Scenario {
    Scenario::parse("imported.toml", text, Path::new("."), overrides)
        .unwrap_or_else(|errors| panic!("{errors}\n{text}"))
}

/// Runs the scenario of a text for a few seconds of an outage.
fn run(text: &str) -> Summary {
    let set = ["horizon=\"4s\"", "faults.outage.from=\"1s\"", "faults.outage.until=\"3s\""].map(str::to_owned);
    let overrides = Overrides { set: set.to_vec(), replicas: Some(1), ..Overrides::default() };
    Experiment::new(&parsed(text, &overrides)).run(|| ())
}

/// Compares scenario and remarks of a sample with what they were, and runs the scenario.
fn check_sample(format: Format, name: &str) {
    let imported = import::import(format, name, &sample(name)).unwrap_or_else(|errors| panic!("{errors}"));
    let scenario = imported.scenario();
    let stem = name.split('.').next().unwrap_or(name);
    insta::assert_snapshot!(format!("{stem}_scenario"), scenario);
    insta::assert_snapshot!(format!("{stem}_remarks"), imported.messages().render(false, 100));
    let summary = run(&scenario);
    for (service, metrics) in &summary.variants[0].services {
        assert!(metrics["arrivals"].mean.is_some_and(|arrivals| arrivals > 0.0), "{service}");
    }
    assert_eq!(import::guess(&sample(name)), Some(format), "{name}");
}
