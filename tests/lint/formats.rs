//! What `lint` prints for machines.

use serde_json::Value;

use crate::command::{Folder, lint};

/// Two findings, one of them allowed; a file that is no scenario; and one with nothing to find.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("hot loop.toml", HOT);
    folder.write("quiet.toml", "version = 1\nname = \"quiet\"\nclients.web = { arrivals = { burst = {} }, calls.api = { timeout = \"1s\" } }\nservices.api = { service_time = \"1ms\" }\n");
    folder
}

const HOT: &str = r#"version = 1
name = "hot"
horizon = "60s"
clients.agent = { arrivals = { closed = { think = "1s" } }, calls.api = { total_timeout = "2s", timeout = "1s", retry = "eager" } }
services.api = { service_time = "5ms", calls.db = { timeout = "10ms", retry = "eager" } }
services.db = {}
retries.eager = { max_attempts = 12 }

[[allow]]
rules = ["layered-retries"]
reason = "shown to people"
"#;

#[test]
fn json_has_every_finding_and_the_reason_of_what_is_allowed() {
    let folder = folder();
    let output = lint(&folder, &["--format", "json", "."]);
    assert_eq!(output.status.code(), Some(1));
    let files: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let names: Vec<_> = files.as_array().unwrap().iter().map(|file| file["file"].as_str().unwrap()).collect();
    assert_eq!(names, ["./hot loop.toml", "./quiet.toml"]);
    assert_eq!(files[1]["findings"], Value::Array(Vec::new()));
    let findings = files[0]["findings"].as_array().unwrap();
    let of = |rule: &str| findings.iter().find(|finding| finding["rule"] == rule).expect("it is found");
    assert_eq!(of("layered-retries")["allowed"], "shown to people");
    let hot = of("hot-loop");
    assert!(hot["allowed"].is_null() && hot["severity"] == "error" && hot["line"] == 7, "{hot}");
    for text in ["message", "figure", "instead", "path"] {
        assert!(hot[text].as_str().is_some_and(|text| !text.is_empty()), "{text}: {hot}");
    }
}

/// What SARIF 2.1.0 asks for (sections 3.13, 3.14, 3.18, 3.19, 3.20, 3.27, 3.30, 3.35 of the standard): every result
/// names a rule of the run by id and index, a level, a message and a location with a relative URI and a line that is
/// one; what is allowed is suppressed in source, with the reason.
#[test]
fn sarif_has_what_the_standard_asks_for() {
    let folder = folder();
    let output = lint(&folder, &["--format", "sarif", "."]);
    let log: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().expect("the rules");
    assert_eq!(run["tool"]["driver"]["name"], "stormsim");
    assert_eq!(rules.len(), stormsim::analysis::lint::RULES.len());
    assert_eq!(run["invocations"][0]["executionSuccessful"], true);
    let results = run["results"].as_array().expect("the results");
    for result in results {
        let index = result["ruleIndex"].as_u64().expect("an index") as usize;
        assert_eq!(rules[index]["id"], result["ruleId"]);
        assert!(["error", "warning"].contains(&result["level"].as_str().unwrap()));
        assert!(result["message"]["text"].as_str().is_some_and(|text| !text.is_empty()));
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "hot%20loop.toml");
        let line = place["region"]["startLine"].as_u64().expect("a line") as usize;
        assert!((1..=HOT.lines().count()).contains(&line));
        assert!(place["region"]["startColumn"].as_u64().is_some_and(|column| column >= 1));
    }
    let suppressed: Vec<_> =
        results.iter().filter(|result| result["suppressions"] != Value::Array(Vec::new())).collect();
    assert_eq!(suppressed.len(), 1);
    assert_eq!(suppressed[0]["ruleId"], "layered-retries");
    assert_eq!(suppressed[0]["suppressions"][0]["kind"], "inSource");
    assert_eq!(suppressed[0]["suppressions"][0]["justification"], "shown to people");
}

/// A file that is no scenario is neither silently left out nor taken for a clean one.
#[test]
fn a_file_that_is_no_scenario_fails_the_run() {
    let folder = folder();
    folder.write("wrong.toml", "version = 1\nname = \"wrong\"\n[services.api]\nworker = 1\n");
    let output = lint(&folder, &["--format", "sarif", "."]);
    assert_eq!(output.status.code(), Some(2));
    let log: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let invocation = &log["runs"][0]["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    let notes = invocation["toolExecutionNotifications"].as_array().unwrap();
    assert!(notes.iter().any(|note| note["locations"][0]["physicalLocation"]["region"]["startLine"] == 4), "{notes:?}");
    assert!(!log["runs"][0]["results"].as_array().unwrap().is_empty(), "the others are looked at");
    let github = lint(&folder, &["--format", "github", "."]);
    let github = String::from_utf8(github.stdout).unwrap();
    assert!(github.contains("::error file=wrong.toml,line=4,col=1,title=wrong scenario::"), "{github}");
    assert!(github.contains("::error file=hot loop.toml,line=7,col="), "{github}");
    assert!(!github.contains("in variant"), "a file without variants has none to name: {github}");
}
