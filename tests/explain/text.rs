//! What is printed.

use std::path::{Path, PathBuf};

use assert_cmd::Command;

fn bundled(name: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios").join(name);
    file.to_str().expect("UTF-8").to_owned()
}

fn scenarios() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let entries = std::fs::read_dir(folder).expect("it is there");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("it can be listed").path()).collect();
    files.sort();
    files
}

fn printed_at(width: &str, arguments: &[&str]) -> String {
    let mut stormsim = Command::cargo_bin("stormsim").expect("the program is built for the tests");
    let output = stormsim.env("COLUMNS", width).arg("explain").args(arguments).output().expect("it starts");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn printed(arguments: &[&str]) -> String {
    printed_at("80", arguments)
}

#[test]
fn the_text_tells_all_of_it() {
    insta::assert_snapshot!(printed(&[&bundled("deadline-ladder.toml")]));
}

/// Fallbacks, several paths to one service, copies, and a load that is compared with a capacity.
#[test]
fn the_text_tells_paths_apart() {
    insta::assert_snapshot!(printed(&[&bundled("mesh.toml"), "--variant", "shared"]));
    insta::assert_snapshot!(printed(&[&bundled("fan-out.toml"), "--variant", "retry-the-page"]));
}

/// A deadline, a budget and room for fewer attempts than are configured; no limit at all, and every attempt failing.
#[test]
fn the_text_tells_what_never_runs_and_what_never_ends() {
    insta::assert_snapshot!(printed(&[&bundled("deadline.toml"), "--variant", "deadline"]));
    insta::assert_snapshot!(printed(&[&bundled("hot-loop.toml"), "--failure", "100%"]));
}

/// Waits that depend on the error, a limit of time for retries, and errors that are the last.
#[test]
fn the_text_tells_on_what_retries_depend() {
    let file = bundled("retry-after.toml");
    let set = [
        r#"retries.obedient.backoff={ exponential = { base = "50ms", base_throttled = "1s" } }"#,
        r#"retries.obedient.max_elapsed="15m""#,
        r#"retries.obedient.retry_after={ required = true }"#,
    ];
    let set = set.iter().flat_map(|set| ["--set", set]);
    let arguments: Vec<&str> = [file.as_str(), "--variant", "floor"].into_iter().chain(set).collect();
    let text = printed_at("200", &arguments);
    // The variant sets no waits of its own.
    for said in [
        "waits 0 s to 50 ms (mean 25 ms), 0 s to 100 ms (mean 50 ms), 0 s to 200 ms (mean 100 ms)",
        "after `rate_limited` or `throttled` it waits 0 s to 1 s (mean 500 ms), 0 s to 2 s (mean 1 s), 0 s to 4 s (mean \
         2 s)",
        "begins no retry later than 15 min after it began",
        "an error that does not say when to try again is the last",
    ] {
        assert!(text.contains(&format!("fleet->server: {said}")), "{said}\n{text}");
    }
}

#[test]
fn every_bundled_scenario_can_be_explained() {
    for file in scenarios() {
        let json = printed(&[file.to_str().expect("UTF-8"), "--format", "json", "--failure", "100%"]);
        let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        assert!(json[0]["calls"].as_array().is_some_and(|calls| !calls.is_empty()), "{}", file.display());
    }
}

/// No line is longer than the page, and none ends between a figure and its unit. (Names are never cut, so that a table
/// with a long one may be wider: there is none at this width.)
#[test]
fn lines_fit_the_page_and_quantities_stay_together() {
    let units = ["ns", "µs", "ms", "s", "min", "h", "d", "%", "to", "attempts", "attempt"];
    for file in scenarios() {
        for (width, columns) in [("80", 80), ("200", 200)] {
            let text = printed_at(width, &[file.to_str().expect("UTF-8")]);
            let lines: Vec<&str> = text.lines().collect();
            for pair in lines.windows(2) {
                assert!(pair[0].chars().count() <= columns, "{}: {}", file.display(), pair[0]);
                let ends_with_figure = pair[0].ends_with(|last: char| last.is_ascii_digit());
                let unit = pair[1].split_whitespace().next().unwrap_or_default().trim_end_matches([',', ')']);
                let is_broken = ends_with_figure && pair[1].starts_with("  ") && units.contains(&unit);
                assert!(!is_broken, "{}: {} / {}", file.display(), pair[0], pair[1]);
            }
        }
    }
}

/// 4,294,967,294 attempts are not listed one by one, neither here nor in the memory of the program.
#[test]
fn very_many_attempts_are_explained_briefly() {
    let file = bundled("three-tier.toml");
    for backoff in
        ["\"none\"", "{ linear = { step = \"1ns\" } }", "{ exponential = { base = \"1ns\", factor = 1.0001 } }"]
    {
        let backoff = format!("retries.twice.backoff={backoff}");
        let set = ["--set", "retries.twice.max_retries=4294967293", "--set", &backoff];
        let arguments = [&[file.as_str()], &set[..]].concat();
        let text = printed(&arguments);
        assert!(text.contains("100,000 or more") && text.contains("not followed"), "{backoff}");
        let json = printed(&[&arguments[..], &["--format", "json"]].concat());
        let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        assert_eq!(json[0]["calls"][0]["refused"]["starts"].as_array().map(Vec::len), Some(256), "{backoff}");
        assert_eq!(json[0]["calls"][0]["retry_peak"], serde_json::Value::Null, "{backoff}");
    }
}
