//! SARIF 2.1.0 (OASIS, 2020): findings for code scanning.

use std::path::{Component, Path};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;
use serde_json::{Value, json};

use crate::analysis::lint::{Finding, RULES, Rule};
use crate::experiment::Position;
use crate::report::json::pretty;
use crate::report::lint::{Looked, explanation};
use crate::scenario::Diagnostics;

/// What stands for itself in a segment of a path (RFC 3986, 3.3: the unreserved characters).
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The width of the paragraphs of a rule's help.
const HELP_WIDTH: usize = 100;

/// One run over all files. What is allowed is suppressed, with the reason; what is wrong with files that are no
/// scenarios is a notification of the run, which has failed then.
pub fn sarif(files: &[Looked<'_>]) -> String {
    let results: Vec<Value> = files.iter().flat_map(results_of).collect();
    let notifications: Vec<Value> = files.iter().flat_map(notifications_of).collect();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "stormsim",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": RULES.iter().copied().map(of_rule).collect::<Vec<_>>(),
            } },
            "invocations": [{
                "executionSuccessful": notifications.is_empty(),
                "toolExecutionNotifications": notifications,
            }],
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    String::from_utf8(pretty(&log)).expect("JSON is UTF-8")
}

fn of_rule(rule: &Rule) -> Value {
    json!({
        "id": rule.id,
        "shortDescription": { "text": rule.finds },
        "fullDescription": { "text": rule.why },
        "help": { "text": format!("Instead: {}.", rule.instead), "markdown": explanation(rule, HELP_WIDTH) },
        "defaultConfiguration": { "level": rule.severity.name() },
    })
}

fn results_of((file, looked): &Looked<'_>) -> Vec<Value> {
    let findings = looked.as_ref().map_or(&[][..], |linted| &linted.findings);
    findings.iter().map(|finding| of_finding(file, finding)).collect()
}

fn of_finding(file: &Path, finding: &Finding) -> Value {
    let Finding { rule, severity, message, figure, path, variants, position, allowed, .. } = finding;
    let mut location = physical(file, *position);
    location["logicalLocations"] = json!([{ "fullyQualifiedName": path }]);
    let suppressions = allowed.iter().map(|reason| Suppression { kind: "inSource", justification: reason });
    json!({
        "ruleId": rule,
        "ruleIndex": RULES.iter().position(|one| one.id == *rule),
        "level": severity.name(),
        "message": { "text": format!("{message}: {figure}") },
        "locations": [location],
        "suppressions": suppressions.collect::<Vec<_>>(),
        "properties": { "variants": variants },
    })
}

/// Why a result is not shown.
#[derive(Serialize)]
struct Suppression<'a> {
    kind: &'static str,
    justification: &'a str,
}

fn notifications_of((file, looked): &Looked<'_>) -> Vec<Value> {
    let Err(wrong) = looked else { return Vec::new() };
    let of_error = |(message, position)| json!({ "level": "error", "message": { "text": message }, "locations": [physical(file, position)] });
    messages(wrong).map(of_error).collect()
}

fn messages(wrong: &Diagnostics) -> impl Iterator<Item = (String, Option<Position>)> {
    wrong.iter().map(|error| (error.in_a_line(), wrong.position_in_file(error)))
}

fn physical(file: &Path, position: Option<Position>) -> Value {
    let mut location = json!({ "artifactLocation": { "uri": uri(file) } });
    if let Some(Position { line, column }) = position {
        location["region"] = json!({ "startLine": line, "startColumn": column });
    }
    json!({ "physicalLocation": location })
}

/// A path as a URI: relative to where the program was started, or with the scheme `file`.
fn uri(path: &Path) -> String {
    let segments = path.components().filter_map(|component| match component {
        Component::Prefix(prefix) => Some(prefix.as_os_str().to_string_lossy().into_owned()),
        Component::Normal(name) => Some(utf8_percent_encode(&name.to_string_lossy(), SEGMENT).to_string()),
        Component::ParentDir => Some("..".to_owned()),
        Component::RootDir | Component::CurDir => None,
    });
    let joined = segments.collect::<Vec<_>>().join("/");
    if path.has_root() { format!("file:///{joined}") } else { joined }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_references() {
        let of = |path: &str| uri(Path::new(path));
        assert_eq!(of("./scenarios/a b, 100%.toml"), "scenarios/a%20b%2C%20100%25.toml");
        assert_eq!(of("../up.toml"), "../up.toml");
        assert_eq!(of("/srv/ü.toml"), "file:///srv/%C3%BC.toml");
    }
}
