//! What `test` prints: for GitHub to the letter, for people and programs what is new to them.

use serde_json::Value;

use super::{GATE, scratch, stormsim, test, write};

#[test]
fn annotations_to_the_letter() {
    let folder = scratch();
    let done = test(folder.path(), &["--format", "github"]);
    assert_eq!((done.code, done.stderr.as_str()), (1, ""));
    insta::assert_snapshot!(done.stdout);
}

/// Each annotation stands on the line and the column of the row that it is about.
#[test]
fn annotations_point_at_their_rows() {
    let folder = scratch();
    let done = test(folder.path(), &["--format", "github"]);
    let mut rows = Vec::new();
    for annotation in done.stdout.lines().filter(|line| line.starts_with("::")) {
        let number = |key: &str| -> usize {
            let (_, rest) = annotation.split_once(key).expect("it has a place");
            rest.split(',').next().and_then(|number| number.parse().ok()).expect("a number")
        };
        let (line, column) = (number("line="), number("col="));
        let at = GATE.lines().nth(line - 1).expect("there is such a line");
        assert_eq!(&at[column - 1..], "[[expect]]", "{annotation}");
        rows.push(GATE.lines().skip(line).take(4).collect::<Vec<_>>().join("\n"));
    }
    assert!(rows[0].contains("success_ratio") && rows[1].contains("arrivals") && rows.len() == 2, "{rows:?}");
}

#[test]
fn quiet_annotates_failures_only() {
    let folder = scratch();
    let done = test(folder.path(), &["--format", "github", "--quiet"]);
    assert_eq!(done.stdout.lines().count(), 1, "{}", done.stdout);
    assert!(done.stdout.starts_with("::error "), "{}", done.stdout);
    let met = test(folder.path(), &["--format", "github", "--quiet", "--variant", "patient"]);
    assert_eq!((met.code, met.stdout.as_str()), (0, ""));
}

/// What is wrong is annotated where it stands, in files that cannot be read at all at no line, and of flags at none;
/// the usual messages are on standard error.
#[test]
fn wrong_scenarios_are_annotated_at_their_place() {
    let folder = scratch();
    write(folder.path(), "scenarios/wrong.toml", &GATE.replace("service_time", "servicetime"));
    let done = stormsim(folder.path(), &["test", "./scenarios", "gone.toml", "--format", "github"]);
    assert_eq!(done.code, 2);
    insta::assert_snapshot!(done.stdout);
    assert!(done.stderr.contains("error: unknown key") && done.stderr.contains("gone.toml"), "{}", done.stderr);
    let flag = test(folder.path(), &["--format", "github", "--set", "retries.often.max_retrys=1"]);
    assert!(flag.stdout.starts_with("::error file=scenarios/gate.toml,title=wrong scenario::"), "{}", flag.stdout);
}

/// One replica in which a hundred requests are too many in progress: nothing is judged.
#[test]
fn what_is_not_judged_is_a_warning() {
    let folder = scratch();
    let done = test(folder.path(), &["--format", "github", "--max-in-progress", "50", "--variant", "patient"]);
    assert_eq!(done.code, 2);
    insta::assert_snapshot!(done.stdout);
}

#[test]
fn what_is_not_settled_is_said_to_people_and_programs() {
    let folder = scratch();
    let text = test(folder.path(), &[]).stdout;
    let row = " ok     scenarios/gate.toml:30: patient: service api arrivals <= 195: came out 194.2 [188.332, \
               200.068]; not settled: about 410 replicas would settle it\n";
    assert!(text.contains(row), "{text}");
    let settled = " ok     scenarios/gate.toml: patient: scenario requests = 100: came out 100\n";
    assert!(text.contains(settled), "{text}");
    let failed = " FAILED scenarios/gate.toml:36: as-it-is: scenario success_ratio >= 0.99: came out 0.881";
    assert!(text.starts_with(failed), "{text}");
    let run = stormsim(folder.path(), &["run", "scenarios/gate.toml", "--no-charts"]).stdout;
    let sentence = "\n patient, service api arrivals: not settled: about 410 replicas would settle it\n 1 of 4 ";
    assert!(run.contains(sentence), "{run}");
    let json: Value = serde_json::from_str(&test(folder.path(), &["--format", "json"]).stdout).expect("JSON");
    let keys = |row: usize| {
        let row = &json["expectations"][row];
        ["line", "column", "straddles", "settles_at"].map(|key| row[key].to_string())
    };
    assert_eq!(keys(2)[..3], ["30", "1", "true"]);
    // Student's t at 10 replicas and the interval give back the spread, and the normal quantile what settles it.
    let row = &json["expectations"][2];
    let [mean, high] = [&row["actual"], &row["ci95"][1]].map(|value| value.as_f64().expect("a number"));
    let sd = (high - mean) / 2.262_16 * 10f64.sqrt();
    let quantile = 1.959_96 * sd / (195.0 - mean);
    let n = quantile * quantile + (1.96 * 1.96 + 1.0) / 2.0;
    assert!((row["settles_at"].as_f64().expect("a number") - n).abs() <= 1.0, "{row} against {n}");
    assert_eq!(keys(3), ["36", "3", "false", "null"]);
    assert!(json.get("baseline").is_none(), "there is none");
}

/// Exactly 20 of 40 requests fail in the first second, which is what may, and some 16 in the next one: by two replicas
/// that is known so little that it is what has to be said, although it is further from the bound. The name of the test
/// case is about both.
#[test]
fn of_windows_that_are_met_one_in_doubt_is_shown() {
    let folder = scratch();
    let text = r#"version = 1
name = "windows"
replicas = 2
horizon = "2s"
clients.web = { arrivals = { constant = { rate = 40 } }, calls.api = {} }
services.api = {}
faults.first = { on = ["api"], until = "500ms", effect = { fail = { probability = 1.0 } } }
faults.second = { on = ["api"], from = "1s", effect = { fail = { probability = 0.4 } } }
expect = [
  { metric = "failed", from = "0s", until = "2s", every = "1s", at_most = 20 },
]
"#;
    write(folder.path(), "windows.toml", text);
    let done = stormsim(folder.path(), &["test", "windows.toml"]);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    let shown = " ok     windows.toml:10: base: scenario failed, worst of 2 windows, 1 s to 2 s <= 20: came out ";
    assert!(done.stdout.starts_with(shown) && done.stdout.contains("; not settled: about "), "{}", done.stdout);
    let junit = stormsim(folder.path(), &["test", "windows.toml", "--format", "junit"]).stdout;
    assert!(junit.contains("name=\"base: scenario failed, each of 2 windows, 0 s to 2 s &lt;= 20\""), "{junit}");
}
