//! The program as a person or a script meets it: exit codes, streams, files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;
use tempfile::TempDir;

const THREE_TIER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/three-tier.toml");
const BACKOFF: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/backoff.toml");

/// The files of a run, in the order in which they are listed.
const DATA: [&str; 4] = ["summary.json", "summary.csv", "replicas.csv", "timeline.csv"];
const CHARTS: [&str; 5] = ["timeline.png", "load.png", "amplification.png", "latency.png", "peaks.png"];

fn scratch() -> TempDir {
    tempfile::tempdir().expect("there is room for a temporary folder")
}

/// Runs the program in `folder`.
fn stormsim(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::cargo_bin("stormsim").expect("the program is built for the tests");
    command.current_dir(folder).args(arguments).output().expect("it starts")
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("it ends by itself")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("its output is UTF-8")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("its messages are UTF-8")
}

fn files_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("the folder exists");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("it can be listed").file_name().into_string().expect("UTF-8")).collect();
    names.sort();
    names
}

fn scenario(folder: &Path, text: &str) -> PathBuf {
    let file = folder.join("scenario.toml");
    fs::write(&file, text).expect("the folder is writable");
    file
}

/// A scenario of one client whose only call always fails, with this tail.
fn failing(tail: &str) -> String {
    format!(
        "version = 1\nname = \"small\"\nreplicas = 2\n\
         [clients.c]\narrivals = {{ burst = {{ at = \"0s\" }} }}\ncalls.s = {{ retry = \"p\" }}\n\
         [services.s]\n[retries.p]\nmax_retries = 1\n[faults.f]\non = [\"s\"]\neffect = \"refuse\"\n{tail}"
    )
}

#[test]
fn a_run_writes_its_files_where_it_says() {
    let folder = scratch();
    let output = stormsim(folder.path(), &["run", THREE_TIER]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert_eq!(stderr(&output), "", "no animation without a terminal");
    let results = folder.path().join("output/three-tier");
    let mut expected = [&DATA[..], &CHARTS[..]].concat();
    expected.sort_unstable();
    assert_eq!(files_in(&results), expected);
    let text = stdout(&output);
    let end = format!(
        "written to output/three-tier: summary.json, summary.csv, replicas.csv, timeline.csv, timeline.png,\n  \
         load.png, amplification.png, latency.png, peaks.png\n\
         again with: stormsim run {THREE_TIER} --seed 42 --replicas 20\n"
    );
    assert!(text.ends_with(&end), "{text}");
}

#[test]
fn json_is_what_the_file_has() {
    let folder = scratch();
    let output = stormsim(folder.path(), &["run", THREE_TIER, "--format", "json", "-o", "here", "--no-charts"]);
    assert_eq!(code(&output), 0);
    assert_eq!(output.stdout, fs::read(folder.path().join("here/summary.json")).unwrap());
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let amplifications: Vec<_> = json["variants"]
        .as_array()
        .unwrap()
        .iter()
        .map(|variant| (variant["name"].as_str().unwrap(), &variant["services"]["db"]["amplification"]["mean"]))
        .map(|(name, mean)| (name, mean.as_f64().unwrap()))
        .collect();
    assert_eq!(amplifications, [("every-layer", 27.0), ("entry-only", 3.0), ("no-retries", 1.0)]);
    assert_eq!(files_in(&folder.path().join("here")).len(), DATA.len());
    // `--quiet` leaves out what people read, not what was asked for.
    let quiet = stormsim(folder.path(), &["run", THREE_TIER, "--format", "json", "-o", "here", "--no-charts", "-q"]);
    assert_eq!(quiet.stdout, output.stdout);
}

#[test]
fn the_last_line_repeats_the_run() {
    let folder = scratch();
    let arguments = ["run", THREE_TIER, "-n", "2", "-o", "my results", "--no-charts", "--set", "clients.users.count=5"];
    let first = stdout(&stormsim(folder.path(), &arguments));
    let again = first.lines().last().unwrap().strip_prefix("again with: stormsim ").unwrap();
    let words = shlex::split(again).unwrap();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    assert_eq!(stdout(&stormsim(folder.path(), &words)), first);
}

#[test]
fn several_files_make_an_array_and_a_folder_each() {
    let folder = scratch();
    let output = stormsim(
        folder.path(),
        &["run", THREE_TIER, BACKOFF, "-n", "2", "--format", "json", "-o", "all", "--no-charts"],
    );
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json[0]["scenario"]["name"], "three-tier");
    assert_eq!(json[1]["scenario"]["name"], "backoff");
    assert_eq!(files_in(&folder.path().join("all")), ["backoff", "three-tier"]);
}

/// All files, with several variants and jittered waits, byte by byte.
#[test]
fn equal_seeds_give_equal_bytes_for_any_number_of_threads() {
    let folder = scratch();
    for (jobs, name) in [("1", "one"), ("8", "eight")] {
        let arguments = ["run", BACKOFF, "-n", "40", "-j", jobs, "-o", name];
        // With 40 replicas the tail of a decorrelated storm may miss its expectation; that is not the point here.
        assert!(code(&stormsim(folder.path(), &arguments)) <= 1);
    }
    for file in DATA.iter().chain(&CHARTS) {
        let read = |name: &str| fs::read(folder.path().join(name).join(file)).unwrap();
        assert!(read("one") == read("eight"), "{file} depends on the number of threads");
    }
    let arguments = ["run", BACKOFF, "-n", "40", "--seed", "43", "-o", "other"];
    assert!(code(&stormsim(folder.path(), &arguments)) <= 1);
    let read = |name: &str| fs::read(folder.path().join(name).join("replicas.csv")).unwrap();
    assert!(read("one") != read("other"), "the seed changes nothing");
}

#[test]
fn a_failed_expectation_exits_with_1_after_all_files_are_written() {
    let folder = scratch();
    let file = scenario(folder.path(), &failing("[[expect]]\nmetric = \"attempts\"\nequals = 3\n"));
    let output = stormsim(folder.path(), &["run", file.to_str().unwrap()]);
    assert_eq!(code(&output), 1);
    assert_eq!(files_in(&folder.path().join("output/small")).len(), DATA.len() + CHARTS.len());
    let quiet = stormsim(folder.path(), &["run", file.to_str().unwrap(), "--quiet"]);
    assert_eq!(code(&quiet), 1);
    assert!(stdout(&quiet).contains("attempts") && !stdout(&quiet).contains("written to"), "{}", stdout(&quiet));
}

#[test]
fn a_wrong_file_exits_with_2_and_leaves_nothing_behind() {
    let folder = scratch();
    let file = scenario(folder.path(), &failing("colour = 1\n[services.t]\nworker = 1\n"));
    let output = stormsim(folder.path(), &["run", file.to_str().unwrap()]);
    assert_eq!(code(&output), 2);
    assert_eq!(stdout(&output), "");
    assert!(stderr(&output).contains("colour") && stderr(&output).contains("worker"), "{}", stderr(&output));
    assert_eq!(files_in(folder.path()), ["scenario.toml"]);
}

/// One wrong file among several: nothing is simulated, and the good ones leave no files either.
#[test]
fn all_files_are_read_before_anything_runs() {
    let folder = scratch();
    let file = scenario(folder.path(), "version = 2\n");
    let output = stormsim(folder.path(), &["run", THREE_TIER, file.to_str().unwrap(), "missing.toml"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("version") && stderr(&output).contains("missing.toml"), "{}", stderr(&output));
    assert_eq!(files_in(folder.path()), ["scenario.toml"]);
}

#[test]
fn two_scenarios_of_one_name_do_not_overwrite_each_other() {
    let folder = scratch();
    let output = stormsim(folder.path(), &["run", THREE_TIER, THREE_TIER]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("both named `three-tier`"), "{}", stderr(&output));
    assert!(files_in(folder.path()).is_empty(), "no folder is made for results that will not come");
}

/// A file stands where the folder is to be: the error comes before the simulation, with the way out.
#[test]
fn an_output_folder_that_cannot_be_made_is_an_error_at_once() {
    let folder = scratch();
    fs::write(folder.path().join("taken"), "mine").unwrap();
    let output = stormsim(folder.path(), &["run", THREE_TIER, "-o", "taken/results"]);
    assert_eq!(code(&output), 2);
    assert!(
        stderr(&output).starts_with("error: cannot create the output folder `taken/results`: `taken` is a file"),
        "{}",
        stderr(&output)
    );
    assert!(stderr(&output).contains("--output DIR"), "{}", stderr(&output));
    assert_eq!(files_in(folder.path()), ["taken"]);
}

#[test]
fn settings_of_the_command_line_win() {
    let folder = scratch();
    let file = scenario(folder.path(), &failing(""));
    let attempts = |arguments: &[&str]| {
        let all = [&["run", file.to_str().unwrap(), "--format", "json", "--no-charts"], arguments].concat();
        let output = stormsim(folder.path(), &all);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        (json["replicas"].as_u64().unwrap(), json["variants"][0]["metrics"]["attempts"]["mean"].as_f64().unwrap())
    };
    assert_eq!(attempts(&[]), (2, 2.0));
    assert_eq!(attempts(&["-n", "3", "--set", "retries.p.max_retries=4"]), (3, 5.0));
    assert_eq!(attempts(&["--set", "retries.p.max_attempts=7"]), (2, 7.0));
    assert_eq!(attempts(&["--set", "clients.c.calls.s.retry=none", "--set", "retries={}"]), (2, 1.0));
}

#[test]
fn usage_errors_exit_with_2_and_help_with_0() {
    let folder = scratch();
    for arguments in [&["run"][..], &["walk"], &["run", "x.toml", "-j", "0"], &["run", "x.toml", "-n", "many"], &[]] {
        assert_eq!(code(&stormsim(folder.path(), arguments)), 2, "{arguments:?}");
    }
    assert_eq!(code(&stormsim(folder.path(), &["--help"])), 0);
    assert_eq!(code(&stormsim(folder.path(), &["--version"])), 0);
}

/// Whoever leaves out the command is told with which one a scenario runs; any other word is no scenario.
#[test]
fn a_scenario_without_a_command_is_answered_with_the_command() {
    let folder = scratch();
    let output = stormsim(folder.path(), &["base.toml"]);
    assert_eq!(code(&output), 2);
    let message = stderr(&output);
    assert!(
        message.contains("unrecognized subcommand 'base.toml'\n\n  tip: to simulate it: stormsim run base.toml\n"),
        "{message}"
    );
    assert!(!stderr(&stormsim(folder.path(), &["base"])).contains("tip:"));
}

/// Each message says which numbers there are, and what happens without one.
#[test]
fn numbers_beyond_their_range_are_answered_with_it() {
    let folder = scratch();
    for (flag, number, expected) in [
        ("-n", "0", "a whole number from 1 to 1000000 is expected; leave it out for the number in the file"),
        ("-n", "-1", "a whole number from 1 to 1000000 is expected; leave it out for the number in the file"),
        (
            "--replicas",
            "1000001",
            "a whole number from 1 to 1000000 is expected; leave it out for the number in the file",
        ),
        (
            "--seed",
            "-1",
            "a whole number from 0 to 18446744073709551615 is expected; leave it out for the seed in the file",
        ),
        ("-j", "0", "a whole number from 1 to 4294967295 is expected; leave it out for one thread per processor"),
        ("--jobs", "1.5", "a whole number from 1 to 4294967295 is expected; leave it out for one thread per processor"),
        (
            "--max-in-progress",
            "0",
            "a whole number from 1 to 4294967295 is expected; leave it out for the most that there can be, 268435456",
        ),
    ] {
        let output = stormsim(folder.path(), &["run", THREE_TIER, flag, number]);
        let message = stderr(&output);
        assert_eq!(code(&output), 2, "{flag} {number}");
        assert!(message.lines().next().is_some_and(|line| line.ends_with(expected)), "{flag} {number}: {message}");
    }
    assert!(files_in(folder.path()).is_empty(), "nothing has begun");
}

#[test]
fn colours_only_where_they_are_wanted() {
    let folder = scratch();
    let run = |color: &str| stormsim(folder.path(), &["run", THREE_TIER, "-n", "2", "--no-charts", "--color", color]);
    assert!(stdout(&run("always")).contains('\u{1b}'));
    assert!(!stdout(&run("auto")).contains('\u{1b}'), "a pipe is no terminal");
    assert!(!stdout(&run("never")).contains('\u{1b}'));
}

/// 1,000 requests per second at a server that does 100: 900 more are in progress each second. The bounds are looked at
/// every 64 events, with room for what may happen until the next look: the run ends when 1,000 - 64 are in progress,
/// after 1.04 s. What was counted until then is there.
#[test]
fn a_queue_that_outgrows_the_bounds_is_named_and_the_part_is_kept() {
    let folder = scratch();
    let text = "version = 1\nname = \"small\"\nreplicas = 2\nhorizon = \"1h\"\n\
                [clients.c]\narrivals = { constant = { rate = 1000 } }\ncalls.s = {}\n\
                [services.s]\nworkers = 1\nservice_time = \"10ms\"\n";
    scenario(folder.path(), text);
    let output = stormsim(folder.path(), &["run", "scenario.toml", "--max-in-progress", "1000", "--no-charts"]);
    assert_eq!(code(&output), 2);
    let message = stderr(&output);
    let expected = "`scenario.toml` was cut short: variant `base`, replica 0, at 1.041 s: more calls";
    assert!(message.contains(expected), "{message}");
    assert!(
        message.contains("the most of them are at `s`: 936\nhelp: limit the `queue` of what is full, lower the load"),
        "{message}"
    );
    assert!(message.ends_with(", or raise `--max-in-progress` above 1000 if there is memory for more\n"), "{message}");
    assert!(stdout(&output).contains("Partial: "));
    let summary = fs::read_to_string(folder.path().join("output/small/summary.json")).expect("it is written");
    let summary: serde_json::Value = serde_json::from_str(&summary).expect("it is JSON");
    assert_eq!(summary["partial"], true);
    let requests = summary["variants"][0]["metrics"]["requests"]["mean"].as_f64().expect("it was counted");
    assert_eq!(requests, 1_040.0);
}

/// Without workers nobody waits in a queue, and where it has an end it has one already: there is none to limit.
#[test]
fn a_queue_is_to_be_limited_only_where_there_is_one() {
    let folder = scratch();
    for (limits, is_advised) in [
        ("", false),
        ("workers = 1\nqueue = { limit = 1000 }\n", false),
        ("workers = 1\nqueue = { order = \"lifo\" }\n", true),
    ] {
        let text = format!(
            "version = 1\nname = \"small\"\nreplicas = 1\nhorizon = \"1h\"\n\
             [clients.c]\narrivals = {{ constant = {{ rate = 1000 }} }}\ncalls.s = {{}}\n\
             [services.s]\nservice_time = \"1h\"\n{limits}"
        );
        scenario(folder.path(), &text);
        let output = stormsim(folder.path(), &["test", "scenario.toml", "--max-in-progress", "100"]);
        assert_eq!(code(&output), 2, "{limits}");
        let message = stderr(&output);
        assert_eq!(message.contains("limit the `queue`"), is_advised, "{message}");
        assert!(message.contains("ower the load or the `horizon`, or raise"), "{message}");
    }
}

/// Two of three variants have more to do than they can: both are named, and the third is judged. That it failed does
/// not hide that the run is not whole.
#[test]
fn every_variant_that_was_cut_short_is_named_and_not_judged() {
    let folder = scratch();
    let text = "version = 1\nname = \"small\"\nreplicas = 2\nhorizon = \"2s\"\n\
                [clients.c]\narrivals = { constant = { rate = 1000 } }\ncalls.s = {}\n\
                [services.s]\nworkers = 1\nservice_time = \"10ms\"\n[variants]\nstorm = {}\n\
                calm = { \"clients.c.arrivals.constant.rate\" = 50 }\n\
                gale = { \"clients.c.arrivals.constant.rate\" = 2000 }\n\
                [[expect]]\nmetric = \"attempts\"\nequals = 3\n";
    scenario(folder.path(), text);
    for command in ["run", "test"] {
        let output = stormsim(folder.path(), &[command, "scenario.toml", "--max-in-progress", "1000"]);
        assert_eq!(code(&output), 2);
        let message = stderr(&output);
        let lines: Vec<_> = message.lines().collect();
        assert_eq!(lines[0], "error: `scenario.toml` was cut short:", "{message}");
        assert!(lines[1].starts_with("  variant `storm`, replica 0, at 1.041 s: more calls"), "{message}");
        assert!(lines[2].starts_with("  variant `gale`, replica 0, at 0.5005 s: more calls"), "{message}");
        assert!(lines[3].starts_with("help: limit the `queue` of what is full, "), "{message}");
        assert_eq!(lines.len(), 4, "{message}");
        let text = stdout(&output);
        assert!(text.contains("3 expectations: 1 not met, 2 not judged\n"), "{text}");
    }
    let json = fs::read(folder.path().join("output/small/summary.json")).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let states: Vec<_> = json["expectations"].as_array().unwrap().iter().map(|row| &row["state"]).collect();
    assert_eq!(states, ["not_judged", "not_met", "not_judged"]);
    let passed: Vec<_> = json["expectations"].as_array().unwrap().iter().map(|row| row["passed"].as_bool()).collect();
    assert_eq!(passed, [None, Some(false), None]);
}

/// Retries without a limit, and nothing that ends the run: the message names the way out.
#[test]
fn a_plan_that_cannot_end_is_refused() {
    let folder = scratch();
    let text = failing("").replace("max_retries = 1", "max_retries = \"unlimited\"");
    let file = scenario(folder.path(), &text);
    let output = stormsim(folder.path(), &["run", file.to_str().unwrap()]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("horizon"), "{}", stderr(&output));
}

/// A run of a million replicas is interrupted after it has begun: its folder is made before the simulation, and Ctrl-C
/// is taken over before that. What has finished by then (nothing, on a slow machine) is written and marked.
#[test]
#[cfg(unix)]
fn an_interrupted_run_keeps_what_is_finished() {
    let folder = scratch();
    let file = scenario(
        folder.path(),
        &failing("[[expect]]\nmetric = \"attempts\"\nequals = 3\n").replace("replicas = 2", "replicas = 1000000"),
    );
    let program = assert_cmd::cargo::cargo_bin("stormsim");
    let mut run = std::process::Command::new(program)
        .current_dir(folder.path())
        .args(["run", file.to_str().unwrap(), "--no-charts", "--jobs", "1"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("it starts");
    let results = folder.path().join("output/small");
    while !results.exists() {
        assert!(run.try_wait().unwrap().is_none(), "it ended before it began");
        std::thread::yield_now();
    }
    let kill = std::process::Command::new("kill").args(["-INT", &run.id().to_string()]).status();
    assert!(kill.expect("there is a kill command").success());
    let output = run.wait_with_output().unwrap();
    assert_eq!(code(&output), 130, "{}", stderr(&output));
    assert_eq!(stderr(&output), "stopping: what is finished is kept; once more to stop at once\n");
    let json = fs::read(results.join("summary.json")).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(json["partial"], true);
    let finished = json["variants"][0]["metrics"]["attempts"]["n"].as_u64().unwrap();
    assert!(finished < 1_000_000, "{finished}");
    assert_eq!(json["variants"][0]["replicas_finished"], finished);
    assert_eq!(json["expectations"][0]["state"], "not_judged");
    let text = stdout(&output);
    assert!(text.contains("of 1,000,000 replicas finished\n") && text.contains("was not judged\n"), "{text}");
    assert!(!text.contains("over 1,000,000 replicas"), "{text}");
}

#[test]
fn test_lists_failures_first_and_exits_with_1() {
    let folder = scratch();
    let nested = folder.path().join("more");
    fs::create_dir(&nested).unwrap();
    fs::write(nested.join("b.toml"), failing("[[expect]]\nmetric = \"attempts\"\nequals = 3\n")).unwrap();
    fs::write(nested.join("notes.txt"), "no scenario").unwrap();
    fs::write(folder.path().join("a.toml"), failing("[[expect]]\nmetric = \"attempts\"\nequals = 2\n")).unwrap();
    let output = stormsim(folder.path(), &["test", "a.toml", "more"]);
    assert_eq!(code(&output), 1);
    assert_eq!(
        stdout(&output),
        " FAILED more/b.toml:13: base: scenario attempts = 3: came out 2\n \
         ok     a.toml: base: scenario attempts = 2: came out 2\n \
         1 of 2 expectations was not met\n"
    );
    let quiet = stormsim(folder.path(), &["test", "a.toml", "--quiet"]);
    assert_eq!((code(&quiet), stdout(&quiet).as_str()), (0, ""));
    assert_eq!(files_in(folder.path()), ["a.toml", "more"], "it writes no results");
}

#[test]
fn test_of_nothing_is_an_error() {
    let folder = scratch();
    fs::create_dir(folder.path().join("empty")).unwrap();
    for (path, message) in [("empty", "there is no scenario in `empty`"), ("missing.toml", "missing.toml")] {
        let output = stormsim(folder.path(), &["test", path]);
        assert_eq!(code(&output), 2);
        assert!(stderr(&output).contains(message), "{}", stderr(&output));
    }
}

/// Whoever reads the output leaves at once: the other file is simulated and written all the same, and the code says
/// what came of the expectations.
#[test]
#[cfg(unix)]
fn a_closed_pipe_ends_the_text_and_not_the_work() {
    let folder = scratch();
    let failing_row = "[[expect]]\nmetric = \"attempts\"\nequals = 3\n";
    fs::write(folder.path().join("a.toml"), failing(failing_row)).unwrap();
    fs::write(folder.path().join("b.toml"), failing("").replace("small", "other")).unwrap();
    let program = assert_cmd::cargo::cargo_bin("stormsim");
    let mut run = std::process::Command::new(program)
        .current_dir(folder.path())
        .args(["run", "a.toml", "b.toml", "--no-charts"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("it starts");
    drop(run.stdout.take());
    assert_eq!(run.wait().unwrap().code(), Some(1));
    assert_eq!(files_in(&folder.path().join("output")), ["other", "small"]);
    assert_eq!(files_in(&folder.path().join("output/other")).len(), DATA.len());
}
