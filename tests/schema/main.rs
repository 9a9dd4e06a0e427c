//! The JSON Schema and the reference pages of the scenario format, the metrics, the lint rules and the presets are made from the code,
//! committed, and current. `UPDATE_SCHEMA=1 cargo test --test schema` writes them anew.

mod accepts;
mod examples;
mod metrics_page;
mod page;

use std::path::{Path, PathBuf};

use serde_json::Value;
use stormsim::scenario::schema::{Notes, json_schema, json_schema_text};

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Compares a committed file with what it should be, or writes it.
fn check_or_write(path: &str, expected: &str) {
    let file = repository(path);
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, expected).unwrap();
    }
    let found = std::fs::read_to_string(&file).unwrap_or_default().replace("\r\n", "\n");
    assert!(found == expected, "{path} is not current: run `UPDATE_SCHEMA=1 cargo test --test schema`");
}

#[test]
fn the_schema_is_current() {
    check_or_write("schema/scenario.json", &json_schema_text());
}

#[test]
fn the_reference_page_is_current() {
    check_or_write("docs/format.md", &page::write(&json_schema()));
}

#[test]
fn the_page_of_metrics_is_current() {
    check_or_write("docs/metrics.md", &metrics_page::write());
}

#[test]
fn the_page_of_lint_rules_is_current() {
    check_or_write("docs/lint.md", &stormsim::report::lint::page());
}

#[test]
fn the_page_of_presets_is_current() {
    check_or_write("docs/presets.md", &stormsim::report::presets::page());
}

/// The command prints what is committed, to the byte.
#[test]
fn the_command_prints_the_schema() {
    let output = assert_cmd::Command::cargo_bin("stormsim").unwrap().arg("schema").output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty());
    assert_eq!(String::from_utf8(output.stdout).unwrap(), json_schema_text());
}

/// All tables of the format: the schema itself, and its definitions that have properties and are no tag of a choice.
fn tables(schema: &Value) -> Vec<(&str, &Value)> {
    let definitions = schema["$defs"].as_object().unwrap();
    let tables = definitions.iter().filter(|(_, table)| table.get("properties").is_some());
    std::iter::once(("the scenario", schema)).chain(tables.map(|(name, table)| (name.as_str(), table))).collect()
}

/// Whoever meets a key learns what it means, whether it must be there, and how it is written.
#[test]
fn every_key_has_a_meaning_an_absence_and_an_example() {
    let schema = json_schema();
    let mut count = 0;
    for (table, value) in tables(&schema) {
        for (key, property) in value["properties"].as_object().unwrap() {
            let notes = Notes::of(property["description"].as_str().unwrap_or_default());
            assert!(!notes.meaning.is_empty(), "`{key}` of {table} is not explained");
            assert!(notes.required.is_some() != notes.default.is_some(), "`{key}` of {table}: required, or a default?");
            assert!(!property["examples"][0].is_null(), "`{key}` of {table} has no example");
            count += 1;
        }
    }
    assert!(count > 80, "only {count} keys were seen");
}

/// An example that the schema itself refuses would teach a mistake.
#[test]
fn every_example_and_default_is_accepted() {
    let schema = json_schema();
    for (table, value) in tables(&schema) {
        for (key, property) in value["properties"].as_object().unwrap() {
            let examples = property["examples"].as_array().into_iter().flatten();
            for example in examples.chain(property.get("default")) {
                assert!(accepts::accepts(&schema, property, example), "`{key}` of {table}: {example}");
            }
        }
    }
}

/// The simulator accepts every example where its key may stand, in one such place at least: others may not fit it, as
/// the weight of a call does not fit those of services.
#[test]
fn every_example_can_be_read_in_its_place() {
    let folder = tempfile::tempdir().expect("there is room for files");
    std::fs::write(folder.path().join("arrivals.csv"), "time_s\n0\n1\n").expect("it can be written");
    std::fs::write(folder.path().join("latencies.csv"), "value_s\n0.01\n").expect("it can be written");
    let answers = examples::try_all(&json_schema(), folder.path());
    assert!(answers.len() > 100, "only {} examples were tried", answers.len());
    let refused = answers.iter().filter(|(_, answers)| answers.iter().all(Result::is_err));
    let refused: Vec<String> = refused
        .map(|(example, answers)| {
            let errors: Vec<&str> = answers.iter().filter_map(|answer| Some(answer.as_ref().err()?.as_str())).collect();
            format!("{example}\n{}", errors.join("\n\n"))
        })
        .collect();
    assert!(refused.is_empty(), "{}", refused.join("\n\n"));
}

/// What the simulator reads, an editor must not mark as wrong; and the check can fail.
#[test]
fn the_schema_accepts_every_scenario_of_the_repository() {
    let schema = json_schema();
    let mut count = 0;
    for folder in ["scenarios", "tests/figures"] {
        for entry in std::fs::read_dir(repository(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "toml") {
                let table: toml::Table = toml::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
                let mut scenario = serde_json::to_value(table).unwrap();
                assert!(accepts::accepts(&schema, &schema, &scenario), "{}", path.display());
                scenario["clients"]["x"]["cuont"] = Value::from(1);
                assert!(!accepts::accepts(&schema, &schema, &scenario), "a misspelt key passes");
                count += 1;
            }
        }
    }
    assert!(count >= 2, "both example scenarios are there");
}
