//! What is refused, before anything is simulated and with the way out.

use std::fs;

use super::{GATE, scratch, stormsim, test, write};

/// The message of a command that exits with 2 and prints nothing.
fn refused(folder: &tempfile::TempDir, arguments: &[&str]) -> String {
    let done = test(folder.path(), arguments);
    assert_eq!((done.code, done.stdout.as_str()), (2, ""), "{}", done.stderr);
    done.stderr
}

/// A baseline with this in place of that.
fn with_baseline(from: &str, to: &str) -> tempfile::TempDir {
    let folder = scratch();
    test(folder.path(), &["--save-baseline", "b.json"]);
    let path = folder.path().join("b.json");
    let text = fs::read_to_string(&path).expect("it was saved");
    assert!(text.contains(from), "{text}");
    fs::write(path, text.replacen(from, to, 1)).expect("the folder is writable");
    folder
}

#[test]
fn files_that_are_no_baseline() {
    let against = |from: &str, to: &str| refused(&with_baseline(from, to), &["--baseline", "b.json"]);
    assert_eq!(
        against("\"schema_version\": 1", "\"schema_version\": 2"),
        "error: cannot use the baseline `b.json`: unknown schema version 2 (this stormsim reads 1) at line 2 column \
         22; make a new one with `--save-baseline FILE`\n"
    );
    assert_eq!(
        against("\"seed\"", "seed"),
        "error: cannot use the baseline `b.json`: key must be a string at line 10 column 7; make a new one with \
         `--save-baseline FILE`\n"
    );
    let short = against("\"retries\": [", "\"retries\": [1.0, ");
    assert!(
        short.contains("`retries` of variant `as-it-is` of `gate` has 11 values, not 10; make a new one"),
        "{short}"
    );
    let folder = scratch();
    let gone = refused(&folder, &["--baseline", "b.json"]);
    assert!(gone.starts_with("error: cannot read the baseline `b.json`: "), "{gone}");
    assert!(gone.ends_with("; make one with `--save-baseline FILE`\n"), "{gone}");
    write(folder.path(), "summary.json", &test(folder.path(), &["--format", "json"]).stdout);
    let other = refused(&folder, &["--baseline", "summary.json"]);
    assert!(other.contains("`summary.json`: missing field `scenarios` at line "), "{other}");
}

#[test]
fn baselines_of_something_else() {
    let name = refused(&with_baseline("\"gate\": {", "\"fate\": {"), &["--baseline", "b.json"]);
    assert_eq!(
        name,
        "error: the baseline `b.json` does not have the scenario `gate` of `scenarios/gate.toml`; it has `fate`; make \
         one that has it with `--save-baseline FILE`\n"
    );
    let seed = refused(&with_baseline("", ""), &["--baseline", "b.json", "--seed", "7"]);
    assert_eq!(
        seed,
        "error: the baseline `b.json` has `gate` with the seed 42, and not 7: only the same luck can be compared; add \
         `--seed 42`\n"
    );
}

#[test]
fn tolerances_that_are_none() {
    let folder = with_baseline("", "");
    let against = |tolerance: &str| refused(&folder, &["--baseline", "b.json", "--tolerance", tolerance]);
    for wrong in ["-3%", "-0.1", "101%", "500", "NaN", "inf", "much", "%", ""] {
        let message = against(wrong);
        let expected = "a share from 0% to 100% is expected, such as `5%` or `0.05`";
        assert!(message.contains(expected) && !message.contains("write"), "{wrong}: {message}");
    }
    assert!(against("5").contains("; for 5 per cent write `5%`\n"), "{}", against("5"));
    for good in ["0", "0%", "5%", " 5 %", "0.05", "1", "100%"] {
        let done = test(folder.path(), &["--baseline", "b.json", "--tolerance", good, "--variant", "patient"]);
        assert_eq!(done.code, 0, "{good}: {}", done.stderr);
    }
    let alone = refused(&folder, &["--tolerance", "5%"]);
    assert!(alone.contains("--baseline <FILE>"), "{alone}");
}

#[test]
fn places_where_no_baseline_can_be_saved() {
    let folder = scratch();
    let save = |path: &str| refused(&folder, &["--save-baseline", path]);
    assert_eq!(
        save("gone/b.json"),
        "error: cannot save the baseline `gone/b.json`: there is no folder `gone`; make it first\n"
    );
    assert_eq!(save("scenarios"), "error: cannot save the baseline `scenarios`: it is a folder; name a file in it\n");
    let left = fs::read_dir(folder.path()).expect("a folder").count();
    assert_eq!(left, 1, "nothing but the scenarios is there");
}

#[test]
fn two_scenarios_of_one_name() {
    let folder = scratch();
    write(folder.path(), "scenarios/twin.toml", GATE);
    let both = ["test", "scenarios/gate.toml", "scenarios/twin.toml"];
    for flags in [&["--save-baseline", "b.json"][..], &["--save-baseline", "b.json", "--quiet"]] {
        let done = stormsim(folder.path(), &[&both[..], flags].concat());
        assert_eq!(
            (done.code, done.stderr.as_str()),
            (
                2,
                "error: `scenarios/gate.toml` and `scenarios/twin.toml` are both named `gate`, and a baseline keeps \
                 scenarios by their names; give one of them another `name`\n"
            )
        );
    }
    assert_eq!(stormsim(folder.path(), &both).code, 1, "without a baseline they may be");
}
