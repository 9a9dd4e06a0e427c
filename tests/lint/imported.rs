//! Files of other products, linted at their own places.

use stormsim::analysis::lint;
use stormsim::import::{self, Format};

use crate::command::{Folder, lint as run};

/// No timeout at all, waits that may exceed their cap, and a status that fails again.
const CONFIG: &str = r#"{
  "methodConfig": [{
    "name": [{ "service": "shop.v1.Orders" }],
    "waitForReady": true,
    "retryPolicy": {
      "maxAttempts": 3,
      "initialBackoff": "1s",
      "maxBackoff": "1s",
      "backoffMultiplier": 1,
      "retryableStatusCodes": ["INTERNAL"]
    }
  }]
}
"#;

/// Each finding is where the file says what it is about; of the load, the work and the outage, which are assumed,
/// nothing is found.
#[test]
fn what_the_file_says_is_judged_where_it_says_it() {
    let imported = import::import(Format::Grpc, "config.json", CONFIG).expect("it is one");
    let linted = lint::imported(&imported).expect("what it makes is a scenario");
    let found = |rule: &str| {
        let finding = linted.findings.iter().find(|finding| finding.rule == rule);
        let position = finding.and_then(|finding| finding.position);
        position.map(|position| CONFIG.lines().nth(position.line - 1).unwrap().trim())
    };
    assert_eq!(found("retry-deterministic"), Some("\"retryableStatusCodes\": [\"INTERNAL\"]"));
    assert_eq!(found("jitter-exceeds-cap"), Some("\"retryPolicy\": {"));
    assert_eq!(found("no-timeout"), Some("\"methodConfig\": [{"), "the method begins there");
    assert_eq!(found("import-left-out"), Some("\"waitForReady\": true,"));
    assert!(linted.findings.iter().all(|finding| !finding.path.starts_with("services")), "{:#?}", linted.findings);
    assert!(linted.findings.iter().all(|finding| finding.position.is_some()), "{:#?}", linted.findings);
}

/// In a folder those that look like a format are looked at, and others are passed over; by name they are refused.
#[test]
fn folders_have_files_of_other_products() {
    let folder = Folder::new();
    folder.write("config.json", CONFIG);
    folder.write("package.json", "{\"name\": \"shop\"}");
    folder.write("notes.yaml", "a: [");
    let output = run(&folder, &["."]);
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(text.contains("error[retry-deterministic]") && text.contains("config.json:10:7"), "{text}");
    assert!(text.ends_with("warnings\n") && text.contains("\n1 file: 1 error, "), "{text}");
    assert_eq!(output.status.code(), Some(1));
    let refused = run(&folder, &["package.json"]);
    let said = String::from_utf8(refused.stderr).expect("UTF-8");
    assert!(said.contains("looks like no file that can be imported"), "{said}");
    assert_eq!(refused.status.code(), Some(2));
}

/// Other files have no `[[allow]]`: flags stand for it.
#[test]
fn flags_allow_what_other_files_cannot() {
    let folder = Folder::new();
    folder.write("config.json", CONFIG);
    let allowed = run(&folder, &["config.json", "--allow", "retry-deterministic", "--show-allowed"]);
    let text = String::from_utf8(allowed.stdout).expect("UTF-8");
    assert!(text.contains("allowed: by `--allow`") && text.contains("; 1 allowed"), "{text}");
    assert_eq!(allowed.status.code(), Some(0));
    let misspelt = run(&folder, &["config.json", "--allow", "retry-determinist"]);
    let said = String::from_utf8(misspelt.stderr).expect("UTF-8");
    assert!(said.contains("did you mean `retry-deterministic`?"), "{said}");
    assert_eq!(misspelt.status.code(), Some(2));
}
