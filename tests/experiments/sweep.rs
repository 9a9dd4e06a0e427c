//! `stormsim sweep`: the order of the grid, the same bytes for any number of threads and after any interruption, and what
//! is refused.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::{printed, refused, scratch, text};

/// Clients that all fail at once and try again with jitter, while the service is down.
const SMALL: &str = r#"
version = 1
name = "small"
replicas = 5

[clients.web]
count = 100
arrivals = { burst = { at = "0s" } }
calls.api = { retry = "patient" }

[services.api]
service_time = { exponential = { mean = "5ms" } }

[faults.outage]
on = ["api"]
until = "2s"
effect = "refuse"

[retries.patient]
max_retries = 4
backoff = { exponential = { base = "100ms", factor = 2.0 } }
cap = "2s"
jitter = "full"
"#;

/// Writes the scenario, with these lines at its end.
fn small(folder: &Path, more: &str) {
    fs::write(folder.join("small.toml"), format!("{SMALL}{more}")).expect("the folder is writable");
}

fn rows(folder: &Path) -> Vec<String> {
    let csv = fs::read_to_string(folder.join("sweep.csv")).expect("it was written");
    csv.lines().map(str::to_owned).collect()
}

const RETRIES: &str = "retries.patient.max_retries=1,2,4";
const JITTER: &str = "retries.patient.jitter=full,none";

/// The last axis varies fastest. Each of 100 clients makes one attempt and, while the service is down, all of its
/// retries: without jitter those after 0.1, 0.2 and 0.4 s are in vain, and the fourth after 0.8 s, at 1.5 s, too.
#[test]
fn the_grid_is_in_order_and_every_cell_is_what_a_run_with_its_settings_is() {
    let folder = scratch();
    small(folder.path(), "");
    let arguments = ["small.toml", "--vary", RETRIES, "--vary", JITTER, "--metric", "attempts", "-o", "out"];
    let printed = printed(folder.path(), "sweep", &arguments);
    assert!(printed.starts_with("small: 6 cells of 1 variant, 5 replicas each, seed 42\n"), "{printed}");
    let rows = rows(&folder.path().join("out"));
    assert!(
        rows[0]
            .starts_with("retries.patient.max_retries,retries.patient.jitter,variant,scope,name,metric,unit,mean,sd,"),
        "{}",
        rows[0]
    );
    let without_jitter = |attempts: u32| format!("none,base,scenario,,attempts,count,{attempts},0,");
    assert!(rows[1].starts_with("1,full,base,scenario,,attempts,count,"), "{}", rows[1]);
    assert!(rows[2].starts_with(&format!("1,{}", without_jitter(200))), "{}", rows[2]);
    assert!(rows[3].starts_with("2,full,base,scenario,,attempts,count,"), "{}", rows[3]);
    assert!(rows[4].starts_with(&format!("2,{}", without_jitter(300))), "{}", rows[4]);
    assert!(rows[5].starts_with("4,full,base,scenario,,attempts,count,"), "{}", rows[5]);
    assert!(rows[6].starts_with(&format!("4,{}", without_jitter(500))), "{}", rows[6]);
    assert_eq!(rows.len(), 7);

    let settings = ["--set", "retries.patient.max_retries=4", "--set", "retries.patient.jitter=full"];
    let run = [&["small.toml", "--no-charts", "-o", "run"], &settings[..]].concat();
    crate::printed(folder.path(), "run", &run);
    let summary = fs::read_to_string(folder.path().join("run/summary.csv")).expect("it was written");
    let row = summary.lines().find(|row| row.starts_with("base,scenario,,attempts,")).expect("there is one");
    assert_eq!(rows[5], format!("4,full,{row}"));
}

#[test]
fn the_file_says_what_varies_unless_flags_do() {
    let folder = scratch();
    let table = "[sweep]\nvary = [\"clients.web.count=log:10..1000/3\"]\nmetrics = [\"services.api.arrivals.max\"]\n";
    small(folder.path(), table);
    let of_file = printed(folder.path(), "sweep", &["small.toml"]);
    assert!(of_file.contains("varied: clients.web.count (3)\n"), "{of_file}");
    let counts: Vec<String> = rows(&folder.path().join("output/small")).iter().map(|row| first(row)).collect();
    assert_eq!(counts, ["clients.web.count", "10", "100", "1000"]);
    let of_flags = printed(folder.path(), "sweep", &["small.toml", "--vary", RETRIES]);
    assert!(of_flags.contains("varied: retries.patient.max_retries (3)\n"), "{of_flags}");
}

fn first(row: &str) -> String {
    row.split(',').next().expect("splitting gives at least one").to_owned()
}

/// Between 1 and 1,000 clients there are no 31.6.
#[test]
fn what_takes_whole_numbers_gets_them() {
    let folder = scratch();
    small(folder.path(), "");
    let arguments = ["small.toml", "--vary", "clients.web.count=log:1..1000/7", "--metric", "requests"];
    printed(folder.path(), "sweep", &arguments);
    let counts: Vec<String> = rows(&folder.path().join("output/small")).iter().skip(1).map(|row| first(row)).collect();
    assert_eq!(counts, ["1", "3", "10", "32", "100", "316", "1000"]);
}

#[test]
fn the_bytes_do_not_depend_on_the_number_of_threads() {
    let folder = scratch();
    small(folder.path(), "");
    let csv = |threads: &str| {
        let arguments = ["small.toml", "--vary", RETRIES, "--vary", JITTER, "-j", threads, "-o", threads];
        printed(folder.path(), "sweep", &arguments);
        fs::read(folder.path().join(threads).join("sweep.csv")).expect("it was written")
    };
    assert!(csv("1") == csv("7"));
}

/// Kills a sweep as soon as some of its cells are finished, tears the last line of its journal, and resumes it.
#[test]
fn a_sweep_that_was_killed_goes_on_where_it_was_and_ends_as_if_nothing_had_happened() {
    let folder = scratch();
    small(folder.path(), "");
    let vary = ["--vary", "clients.web.count=1000..5000/60", "--vary", JITTER];
    let arguments = |out: &'static str| [&["sweep", "small.toml", "-q", "-o", out][..], &vary].concat();
    let mut child = Command::new(env!("CARGO_BIN_EXE_stormsim"))
        .current_dir(folder.path())
        .args(arguments("killed"))
        .stdout(Stdio::null())
        .spawn()
        .expect("it starts");
    let journal = folder.path().join("killed/sweep.jsonl");
    let lines = || fs::read_to_string(&journal).map_or(0, |text| text.lines().count());
    while lines() < 5 && child.try_wait().expect("it is ours").is_none() {
        thread::sleep(Duration::from_millis(1));
    }
    child.kill().expect("it is ours");
    child.wait().expect("it is ours");
    let mut kept = fs::read_to_string(&journal).expect("it was begun");
    let whole = kept.matches('\n').count() - 1;
    assert!((4..120).contains(&whole), "killed after some cells and before the last: {whole}");
    if kept.ends_with('\n') {
        kept += r#"{"cell":119,"variants":[{"na"#;
        fs::write(&journal, kept).expect("the folder is writable");
    }
    let resumed = [&arguments("killed")[1..3], &["--resume", "-o", "killed"], &vary].concat();
    let resumed: Vec<&str> = resumed.into_iter().filter(|word| *word != "-q").collect();
    let printed = printed(folder.path(), "sweep", &resumed);
    assert!(printed.contains(&format!("\n{whole} cells were finished before\n")), "{printed}");
    crate::printed(folder.path(), "sweep", &arguments("whole")[1..]);
    let csv = |out: &str| fs::read(folder.path().join(out).join("sweep.csv")).expect("it was written");
    assert!(csv("killed") == csv("whole"));

    // Of what is whole nothing is simulated again.
    let again = crate::printed(folder.path(), "sweep", &resumed);
    assert!(again.contains("\n120 cells were finished before\n"), "{again}");
    assert!(csv("killed") == csv("whole"));
}

#[test]
fn another_sweep_is_not_resumed() {
    let folder = scratch();
    small(folder.path(), "");
    let base = ["small.toml", "--vary", RETRIES, "-o", "out"];
    printed(folder.path(), "sweep", &base);
    let journal = folder.path().join("out/sweep.jsonl");
    let before = fs::read(&journal).expect("it was written");
    let refused = |more: &[&str], scenario: &str| {
        small(folder.path(), scenario);
        let output = crate::stormsim(folder.path(), "sweep", &[&base, more, &["--resume"]].concat());
        assert_eq!(output.status.code(), Some(2), "{}", text(&output.stdout));
        assert_eq!(fs::read(&journal).expect("it is still there"), before, "nothing was touched");
        text(&output.stderr)
    };
    let other = |what: &str| {
        format!(
            "error: cannot resume: `out/sweep.jsonl` is the journal of another sweep, with {what}; choose another folder \
             with `--output DIR`, or begin anew without `--resume`\n"
        )
    };
    assert_eq!(refused(&["--vary", JITTER], ""), other("other values"));
    assert_eq!(refused(&["--seed", "7"], ""), other("another seed"));
    assert_eq!(refused(&["-n", "7"], ""), other("another number of replicas"));
    assert_eq!(refused(&["--metric", "attempts"], ""), other("other figures"));
    assert_eq!(refused(&["--set", "clients.web.count=7"], ""), other("other settings"));
    assert_eq!(
        refused(&["--max-in-progress", "7000"], ""),
        other("another `--precision`, `--max-replicas` or `--max-in-progress`")
    );
    assert_eq!(refused(&[], "# a remark\n"), other("another text of the scenario's file"));
}

#[test]
fn what_is_no_journal_is_not_resumed() {
    let folder = scratch();
    small(folder.path(), "");
    // One thread finishes the cells in their order.
    let base = ["small.toml", "--vary", RETRIES, "--metric", "attempts", "-o", "out", "-j", "1"];
    printed(folder.path(), "sweep", &base);
    let journal = folder.path().join("out/sweep.jsonl");
    let whole = fs::read_to_string(&journal).expect("it was written");
    let refused = |text: String| {
        fs::write(&journal, text).expect("the folder is writable");
        let output = crate::stormsim(folder.path(), "sweep", &[&base[..], &["--resume"]].concat());
        assert_eq!(output.status.code(), Some(2), "{}", crate::text(&output.stdout));
        crate::text(&output.stderr)
    };
    let head = whole.lines().next().expect("it has a head");
    for (text, line, reason) in [
        ("{}\n".to_owned(), 1, "it does not say of which sweep it is"),
        ("nonsense\n".to_owned(), 1, "expected ident at line 1 column 2"),
        (format!("{head}\n{{\"cell\":9,\"variants\":[]}}\n"), 2, "the grid does not have that cell"),
        (format!("{head}\n{{\"cell\":0}}\n"), 2, "missing field `variants` at line 1 column 10"),
        (
            format!(
                "{whole}{{\"cell\":0,\"variants\":[{{\"name\":\"x\",\"partial\":false,\"replicas\":1,\"stats\":[]}}]}}\n"
            ),
            5,
            "it does not have all figures",
        ),
    ] {
        let expected = format!(
            "error: cannot resume: line {line} of `out/sweep.jsonl` is no line of a journal: {reason}; take that line out, \
             or remove the file to begin anew\n"
        );
        assert_eq!(refused(text), expected);
    }
    // Neither the beginning of a head nor an empty file is anything that could be lost.
    for beginning in ["", &head[..20]] {
        fs::write(&journal, beginning).expect("the folder is writable");
        printed(folder.path(), "sweep", &[&base[..], &["--resume"]].concat());
        assert_eq!(fs::read_to_string(&journal).expect("it was written"), whole);
    }
}

#[test]
fn what_makes_no_grid_is_refused() {
    let folder = scratch();
    small(folder.path(), "");
    let refused = |arguments: &[&str]| refused(folder.path(), "sweep", &[&["small.toml"], arguments].concat());
    assert_eq!(
        refused(&[]),
        "error: nothing varies: say what does, such as `--vary retries.NAME.max_attempts=1,2,4`, or put it into a \
         `[sweep]` table in the file: `vary = [\"PATH=VALUES\"]`\n"
    );
    let path = refused(&["--vary", "retries.patient.retires=1,2"]);
    assert!(path.starts_with("error: unknown key `retries.patient.retires`\n --> --vary:1:17\n"), "{path}");
    let seed = refused(&["--vary", "seed=1,2"]);
    assert!(seed.contains("`--seed N` sets that"), "{seed}");
    let name = refused(&["--vary", "name=a,b"]);
    assert!(name.starts_with("error: `--vary` cannot set `name`\n --> --vary:1:1\n"), "{name}");
    let wrong = refused(&["--vary", JITTER, "--vary", "retries.patient.cap=1s,2x"]);
    assert!(wrong.contains("retries.patient.cap=2x"), "{wrong}");
    assert!(wrong.ends_with("note: the first of the cells that are wrong: jitter=full, cap=2x\n"), "{wrong}");
    assert_eq!(
        refused(&["--vary", "clients.web.count=1..2000/2000", "--vary", "retries.patient.max_retries=1..501/501"]),
        "error: `--vary`: the grid has 1002000 cells; the limit is 1000000: give the axes fewer values\n"
    );
    let much = refused(&["--vary", "clients.web.count=1..200000/200000"]);
    assert!(much.starts_with("error: 200000 cells x 1 variants x "), "{much}");
    assert!(much.contains("`--metric success_ratio`"), "{much}");
    let metric = refused(&["--vary", RETRIES, "--metric", "retry_peek"]);
    assert_eq!(
        metric,
        "error: `--metric`: `retry_peek`: there is no metric `retry_peek`; did you mean `retry_peak`?\n"
    );
    let precision = refused(&["--vary", RETRIES, "--precision", "1%"]);
    assert!(precision.starts_with("error: `--precision` needs to know of what: "), "{precision}");
}

#[test]
fn a_wrong_table_is_refused_with_its_place() {
    let folder = scratch();
    let table = "[sweep]\nvary = [\"clients.web.count=1..5\", \"seed\"]\nmetrics = [\"retry_peek\"]\n";
    small(folder.path(), table);
    let wrong = refused(folder.path(), "sweep", &["small.toml"]);
    assert!(wrong.contains("`clients.web.count=1..5`: a range says how many values it has"), "{wrong}");
    assert!(wrong.contains("`seed` varies nothing"), "{wrong}");
    assert!(wrong.contains(" --> small.toml:25:9\n"), "{wrong}");
    small(folder.path(), "[sweep]\nvary = [\"clients.web.count=1,5\"]\nmetrics = [\"retry_peek\"]\n");
    let wrong = refused(folder.path(), "sweep", &["small.toml"]);
    assert!(wrong.contains("did you mean `retry_peak`?\n  --> small.toml:26:12\n"), "{wrong}");
}

/// With `--precision` each cell runs as many replicas as it needs, and each time the same number.
#[test]
fn cells_get_as_many_replicas_as_they_need() {
    let folder = scratch();
    small(folder.path(), "");
    let arguments =
        ["small.toml", "--vary", JITTER, "--metric", "retry_peak", "--precision", "2%", "-o", "one", "-j", "1"];
    printed(folder.path(), "sweep", &arguments);
    let column = |row: &str, at: usize| row.split(',').nth(at).expect("all columns").to_owned();
    let rows_of_one = rows(&folder.path().join("one"));
    // After the value of the axis come variant, scope, name, metric, unit, mean, sd, low, high.
    let figures = |row: &str| [6, 8, 9].map(|at| column(row, at).parse::<f64>().expect("a figure"));
    let [mean, low, high] = figures(&rows_of_one[1]);
    assert!((high - low) / 2.0 <= 0.02 * mean, "{}", rows_of_one[1]);
    let replicas = |row: &str| column(row, 15).parse::<u32>().expect("a number");
    assert!(replicas(&rows_of_one[1]) > 5, "{}", rows_of_one[1]);
    assert_eq!(replicas(&rows_of_one[2]), 10, "without jitter all replicas are the same, which a few may be by chance");
    let other = arguments.map(|word| if word == "one" || word == "1" { "2" } else { word });
    printed(folder.path(), "sweep", &other);
    assert_eq!(rows(&PathBuf::from(folder.path()).join("2")), rows_of_one);
}

/// What would be lost otherwise: cells of the same sweep, and what another process writes.
#[test]
fn a_journal_is_not_thrown_away_and_not_shared() {
    let folder = scratch();
    small(folder.path(), "");
    let base = ["small.toml", "--vary", RETRIES, "--metric", "attempts", "-o", "out", "-j", "1"];
    printed(folder.path(), "sweep", &base);
    let journal = folder.path().join("out/sweep.jsonl");
    let whole = fs::read_to_string(&journal).expect("it was written");
    let refused = || {
        let output = crate::stormsim(folder.path(), "sweep", &base);
        assert_eq!(output.status.code(), Some(2), "{}", text(&output.stdout));
        text(&output.stderr)
    };
    let held = fs::File::open(&journal).expect("it is there");
    held.lock().expect("nobody else has it");
    let in_use = refused();
    assert!(
        in_use.starts_with("error: another sweep is running in this folder: `out/sweep.jsonl` is in use"),
        "{in_use}"
    );
    drop(held);
    let unfinished: String = whole.lines().take(3).map(|line| format!("{line}\n")).collect();
    fs::write(&journal, &unfinished).expect("the folder is writable");
    assert_eq!(
        refused(),
        "error: `out/sweep.jsonl` has 2 finished cells of this very sweep; add `--resume` to keep them, or remove it to \
         begin anew\n"
    );
    assert_eq!(fs::read_to_string(&journal).expect("it is there"), unfinished);
    printed(folder.path(), "sweep", &[&base[..], &["--resume"]].concat());
    assert_eq!(fs::read_to_string(&journal).expect("it is there"), whole);
    // What is whole can be made again at any time.
    printed(folder.path(), "sweep", &base);
}

/// The text of a scenario does not show that a file which it names has changed.
#[test]
fn other_files_make_another_sweep() {
    let folder = scratch();
    let traced = SMALL.replace("{ burst = { at = \"0s\" } }", "{ trace = { file = \"times.csv\" } }");
    let traced = traced.replace("count = 100\n", "");
    fs::write(folder.path().join("small.toml"), traced).expect("the folder is writable");
    let times = |text: &str| fs::write(folder.path().join("times.csv"), text).expect("the folder is writable");
    times("time_s\n0\n1\n");
    let base = ["small.toml", "--vary", RETRIES, "--metric", "attempts", "-o", "out"];
    printed(folder.path(), "sweep", &base);
    times("time_s\n0\n1\n1.5\n");
    let output = crate::stormsim(folder.path(), "sweep", &[&base[..], &["--resume"]].concat());
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stdout));
    assert!(text(&output.stderr).contains("with other files that the scenario names"), "{}", text(&output.stderr));
}

#[test]
fn settings_that_exclude_each_other_are_refused() {
    let folder = scratch();
    small(folder.path(), "");
    let refused = |arguments: &[&str]| refused(folder.path(), "sweep", &[&["small.toml"], arguments].concat());
    let twins = refused(&["--vary", RETRIES, "--vary", "retries.patient.max_attempts=1,2"]);
    let told = "error: `retries.patient.max_retries` is taken away by what is set after it\n --> --vary:1:1\n";
    assert!(twins.starts_with(told), "{twins}");
    let both = refused(&["--vary", RETRIES, "--set", "retries.patient.max_retries=3"]);
    let told = "error: `retries.patient.max_retries` varies, and `--set` sets it, too\n --> --vary:1:1\n";
    assert!(both.starts_with(told), "{both}");
}

/// A variant that sets what varies is not what it says any more.
#[test]
fn variants_that_set_what_varies_are_named() {
    let folder = scratch();
    let arguments = [crate::METASTABLE, "--vary", "retries.eager.max_attempts=1,2", "-n", "1", "--metric", "attempts"];
    let output = crate::stormsim(folder.path(), "sweep", &[&arguments[..], &["--no-charts", "-q"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let note = |variant: &str| {
        format!(
            "note: `{variant}` sets `retries.eager.max_attempts` itself, or what it is a part of; it varies there, too\n"
        )
    };
    assert_eq!(text(&output.stderr), note("three-attempts") + &note("two-attempts"));
}
