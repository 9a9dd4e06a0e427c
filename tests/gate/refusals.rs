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
    write(folder.path(), "empty.json", "");
    write(folder.path(), "list.json", " [1, {\"name\": \"stormsim\", \"version\": \"0\"}, {}]");
    for other in ["empty.json", "list.json", "scenarios/gate.toml"] {
        assert_eq!(
            refused(&folder, &["--baseline", other]),
            format!(
                "error: cannot use the baseline `{other}`: it is no baseline; make a new one with `--save-baseline \
                 FILE`\n"
            )
        );
    }
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

/// What is in the file is not the program's to throw away: a scenario, notes, or figures of another version.
#[test]
fn what_is_no_baseline_is_not_replaced() {
    let folder = with_baseline("\"schema_version\": 1", "\"schema_version\": 2");
    write(folder.path(), "notes.json", "[]");
    write(folder.path(), "half.json", "{\"schema_version\": 1");
    let flaws = [
        ("scenarios/gate.toml", "it is no baseline"),
        ("notes.json", "it is no baseline"),
        ("half.json", "EOF while parsing an object at line 1 column 20"),
        ("b.json", "unknown schema version 2 (this stormsim reads 1) at line 2 column 22"),
    ];
    for (file, flaw) in flaws {
        let before = fs::read(folder.path().join(file)).expect("it was written");
        assert_eq!(
            refused(&folder, &["--save-baseline", file]),
            format!(
                "error: cannot save the baseline `{file}`: that file holds something else: {flaw}; move it away or \
                 name another file\n"
            )
        );
        assert_eq!(fs::read(folder.path().join(file)).expect("it is still there"), before);
    }
    write(folder.path(), "empty.json", "");
    assert_eq!(test(folder.path(), &["--save-baseline", "empty.json"]).stderr, "baseline saved to empty.json\n");
}

#[test]
fn standard_output_is_for_the_results() {
    let folder = scratch();
    let message = |path: &str| {
        format!(
            "error: cannot save the baseline `{path}`: it is where the results or the messages go; name another file\n"
        )
    };
    assert_eq!(refused(&folder, &["--save-baseline", "-"]), message("-"));
    assert!(!folder.path().join("-").exists());
    let [out, err] = ["out.txt", "err.txt"].map(|name| fs::File::create(folder.path().join(name)).expect("a file"));
    let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin("stormsim"));
    command.current_dir(folder.path()).args(["test", "scenarios/gate.toml", "--save-baseline", "out.txt"]);
    let status = command.stdout(out).stderr(err).status().expect("it starts");
    assert_eq!(status.code(), Some(2));
    assert_eq!(fs::read_to_string(folder.path().join("err.txt")).expect("UTF-8"), message("out.txt"));
}

/// Whatever a file that is renamed would replace: a device, a stream that is no file, a socket.
#[cfg(unix)]
#[test]
fn devices_and_links_stay_what_they_are() {
    use std::os::unix::fs::symlink;

    let folder = scratch();
    let at = |name: &str| folder.path().join(name);
    let _socket = std::os::unix::net::UnixListener::bind(at("socket")).expect("the folder is writable");
    for path in ["/dev/null", "/dev/stdout", "socket"] {
        assert_eq!(
            refused(&folder, &["--save-baseline", path]),
            format!("error: cannot save the baseline `{path}`: it is a device or a pipe; name a file\n")
        );
    }
    symlink("gone.json", at("nowhere.json")).expect("the folder is writable");
    let nowhere = refused(&folder, &["--save-baseline", "nowhere.json"]);
    assert!(nowhere.ends_with(": it is a link to nothing; remove it or name another file\n"), "{nowhere}");
    fs::create_dir(at("kept")).expect("the folder is writable");
    write(folder.path(), "kept/b.json", "");
    symlink("kept/b.json", at("link.json")).expect("the folder is writable");
    for _ in 0..2 {
        assert_eq!(test(folder.path(), &["--save-baseline", "link.json"]).stderr, "baseline saved to link.json\n");
        assert!(at("link.json").is_symlink());
    }
    let saved = fs::read_to_string(at("kept/b.json")).expect("it was saved");
    assert!(saved.contains("\"gate\""), "{saved}");
    assert_eq!(fs::read_dir(at("kept")).expect("a folder").count(), 1, "no temporary file is left");
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
