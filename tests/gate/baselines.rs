//! What a baseline lets pass and what it stops.

use std::fs;

use serde_json::Value;
use stormsim::experiment::baseline::Baseline;
use stormsim::metrics::catalogue::{ScopeKind, columns};
use stormsim::{Experiment, Overrides, Scenario};

use super::{Done, GATE, scratch, stormsim, test, write};

/// The scenario without the row that is not met, so that the exit code is that of the comparison.
fn met() -> String {
    let (met, _) = GATE.split_once("  [[expect]]").expect("the last row is indented");
    met.to_owned()
}

/// A folder with that, and its baseline `b.json`.
fn saved() -> tempfile::TempDir {
    let folder = scratch();
    write(folder.path(), "scenarios/gate.toml", &met());
    let done = test(folder.path(), &["--save-baseline", "b.json"]);
    assert_eq!((done.code, done.stderr.as_str()), (0, "baseline saved to b.json\n"), "{}", done.stdout);
    folder
}

fn against(folder: &tempfile::TempDir, more: &[&str]) -> Done {
    test(folder.path(), &[&["--baseline", "b.json"], more].concat())
}

/// With no tolerance at all: every figure comes back from the file as the double that it was.
#[test]
fn a_run_is_not_worse_than_itself() {
    let folder = saved();
    let same = against(&folder, &["--tolerance", "0%"]);
    assert_eq!(same.code, 0, "{}", same.stdout);
    assert!(same.stdout.ends_with(" against the baseline: nothing is worse\n"), "{}", same.stdout);
    assert!(!same.stdout.contains("better") && !same.stdout.contains("chance"), "{}", same.stdout);
    let [before, after] = ["b.json", "c.json"].map(|name| {
        test(folder.path(), &["--save-baseline", name, "-j", "1"]);
        fs::read_to_string(folder.path().join(name)).expect("it was saved")
    });
    assert_eq!(before, after);
    assert!(before.contains("\n            \"retries\": [") && before.ends_with("}\n"), "a metric per line: {before}");
}

#[test]
fn what_is_worse_fails_and_what_is_better_is_listed() {
    let folder = saved();
    let fewer = against(&folder, &["--set", "retries.often.max_retries=1", "--variant", "as-it-is"]);
    assert_eq!(fewer.code, 1, "{}", fewer.stdout);
    insta::assert_snapshot!(fewer.stdout);
    let certain = against(&folder, &["--set", "faults.errors.effect.fail.probability=0.1"]);
    assert_eq!(certain.code, 0, "{}", certain.stdout);
    assert!(!certain.stdout.contains("FAILED"), "{}", certain.stdout);
    let better = " better scenarios/gate.toml: as-it-is: scenario retries: ";
    assert!(certain.stdout.contains(better), "{}", certain.stdout);
    let quiet = against(&folder, &["--quiet", "--set", "faults.errors.effect.fail.probability=0.1"]);
    assert_eq!((quiet.code, quiet.stdout.as_str()), (0, ""));
}

/// Both flags: the old one decides, also where it is replaced.
#[test]
fn a_baseline_is_compared_with_before_it_is_replaced() {
    let folder = saved();
    let worse = ["--set", "faults.errors.effect.fail.probability=0.9"];
    let replaced = against(&folder, &[&worse[..], &["--save-baseline", "b.json"]].concat());
    assert_eq!(replaced.code, 1, "{}", replaced.stdout);
    assert!(replaced.stderr.contains("baseline saved to b.json"), "{}", replaced.stderr);
    let again = against(&folder, &worse);
    assert!(again.stdout.ends_with(" against the baseline: nothing is worse by more than 5 %\n"), "{}", again.stdout);
}

/// Of three replicas a few more failures are within the luck of the draw, so that nothing fails by them.
#[test]
fn what_may_be_chance_is_a_warning() {
    let folder = saved();
    let harder = ["--set", "faults.errors.effect.fail.probability=0.51", "-n", "3", "--variant", "as-it-is"];
    let done = against(&folder, &harder);
    assert_eq!(done.code, 0, "{}", done.stdout);
    insta::assert_snapshot!(done.stdout);
    let github = against(&folder, &[&harder[..], &["--format", "github"]].concat()).stdout;
    assert!(
        github.starts_with("::warning file=scenarios/gate.toml,title=perhaps worse than the baseline::"),
        "{github}"
    );
}

/// Half of all attempts fail for five seconds, which clients recover from, unless it goes on: then there is no figure
/// that could be compared with the one that there was.
#[test]
fn a_figure_that_is_lost_is_worse() {
    let folder = scratch();
    let (system, _) = GATE.split_once("[variants").expect("it has variants");
    let steady = system
        .replace("count = 100\narrivals = { burst = { at = \"0s\" } }", "arrivals = { constant = { rate = 50 } }");
    let relapse =
        "until = \"5s\"\n[faults.again]\non = [\"api\"]\nfrom = \"59s\"\neffect = { fail = { probability = 0.5 } }\n";
    write(folder.path(), "scenarios/gate.toml", &format!("horizon = \"60s\"\n{steady}{relapse}"));
    let saved = test(folder.path(), &["--save-baseline", "b.json"]);
    assert_eq!(saved.code, 0, "{}{}", saved.stdout, saved.stderr);
    let done = against(&folder, &["--set", "faults.again.from=3s"]);
    let lost = " FAILED scenarios/gate.toml: base: fault errors recovery_s: defined in 0 of 10 replicas, in the \
                baseline in 10, worse\n";
    assert!(done.code == 1 && done.stdout.contains(lost), "{}", done.stdout);
}

/// A pull request changes the file: those that both have are compared, and it is said that there are others.
#[test]
fn the_replicas_that_both_have_are_compared() {
    let folder = saved();
    write(folder.path(), "scenarios/gate.toml", &met().replace("replicas = 10", "replicas = 12 # was 10"));
    let more = against(&folder, &["--tolerance", "0"]);
    let said = " -      scenarios/gate.toml: only 10 of 12 replicas are compared: the baseline has no more\n";
    assert!(more.code == 0 && more.stdout.contains(said), "{}", more.stdout);
    let fewer = against(&folder, &["--tolerance", "0", "-n", "4"]);
    let said = " -      scenarios/gate.toml: only 4 of the baseline's 10 replicas are compared\n";
    assert!(fewer.code == 0 && fewer.stdout.contains(said), "{}", fewer.stdout);
}

#[test]
fn what_only_one_side_has_is_named_and_not_judged() {
    let folder = saved();
    let renamed = met().replace("[variants.as-it-is]", "[variants.hasty]").replace("faults.errors", "faults.trouble");
    write(folder.path(), "scenarios/gate.toml", &renamed);
    let done = against(&folder, &[]);
    let lines: Vec<&str> = done.stdout.lines().filter(|line| line.starts_with(" -  ")).collect();
    let expected = [
        " -      scenarios/gate.toml: variant `hasty` is not in the baseline",
        " -      scenarios/gate.toml: fault `trouble` of variant `patient` is not in the baseline",
        " -      scenarios/gate.toml: fault `errors` of variant `patient` is in the baseline, but not in the scenario",
        " -      scenarios/gate.toml: variant `as-it-is` is in the baseline, but not in the scenario",
    ];
    assert_eq!((done.code, &lines[..]), (0, &expected[..]), "{}", done.stdout);
    let picked = against(&folder, &["--variant", "hasty"]);
    assert_eq!(picked.stdout.matches(" -  ").count(), 1, "{}", picked.stdout);
}

/// Half a run is no baseline: the old file stays.
#[test]
fn what_was_cut_short_is_not_saved() {
    let folder = saved();
    let before = fs::read(folder.path().join("b.json")).expect("it was saved");
    let cut = against(&folder, &["--save-baseline", "b.json", "--max-in-progress", "50"]);
    assert_eq!(cut.code, 2);
    let told = "error: no baseline was saved: `scenarios/gate.toml` did not run to its end\n";
    assert!(cut.stderr.ends_with(told), "{}", cut.stderr);
    let said = "variant `patient` was cut short and is not compared with the baseline\n";
    assert!(cut.stdout.contains(said), "{}", cut.stdout);
    assert_eq!(fs::read(folder.path().join("b.json")).expect("it is still there"), before);
    let left: Vec<_> =
        fs::read_dir(folder.path()).expect("a folder").map(|entry| entry.expect("an entry").file_name()).collect();
    assert_eq!(left.len(), 2, "no temporary file is left: {left:?}");
}

/// One pair of replicas has no spread to tell luck by: it proves nothing, unless nobody wants more than one, as of a
/// scenario in which nothing is drawn.
#[test]
fn one_replica_proves_nothing_unless_it_is_all_there_is() {
    let folder = scratch();
    write(folder.path(), "scenarios/gate.toml", &met());
    let never = ["--set", "retries.often.max_retries=0", "--variant", "as-it-is"];
    test(folder.path(), &["--save-baseline", "b.json", "-n", "10"]);
    let one_now = against(&folder, &[&never[..], &["-n", "1"]].concat());
    let unsure = " unsure scenarios/gate.toml: as-it-is: scenario success_ratio: ";
    let why = " % worse, which may be chance: one pair of replicas cannot tell; run more\n";
    assert!(one_now.code == 0 && one_now.stdout.contains(unsure) && one_now.stdout.contains(why), "{}", one_now.stdout);
    assert_eq!(against(&folder, &never).code, 1, "ten of each do prove it");
    test(folder.path(), &["--save-baseline", "b.json", "-n", "1"]);
    let one_before = against(&folder, &never);
    let why = ": one pair of replicas cannot tell; save the baseline with more, by `--replicas N`\n";
    assert!(one_before.code == 0 && one_before.stdout.contains(why), "{}", one_before.stdout);
    let one_each = against(&folder, &[&never[..], &["-n", "1"]].concat());
    assert_eq!(one_each.code, 1, "{}", one_each.stdout);
    let note = " -      scenarios/gate.toml: one replica each: what differs counts, chance or not\n";
    assert!(one_each.stdout.contains(note), "{}", one_each.stdout);
}

/// A tenth of the requests is answered within the timeout, and with a longer one all of them are: what these have
/// waited for is no loss, and neither is that the run takes longer. Where as many succeed as before, a longer wait is
/// one.
#[test]
fn what_succeeds_now_may_take_longer() {
    let folder = scratch();
    let patient =
        met().replace("effect = { fail = { probability = 0.5 } }", "effect = { fail = { probability = 0.0 } }");
    let patient =
        patient.replace("retry = \"often\"", "retry = \"none\"").replace("timeout = \"1s\"", "timeout = \"200ms\"");
    let slow =
        patient.replace("service_time = \"10ms\"", "service_time = { uniform = { min = \"0s\", max = \"2s\" } }");
    let slow = slow.replace("[variants.patient]\n\"retries.often.max_retries\" = 4\n", "");
    write(folder.path(), "scenarios/gate.toml", slow.split("[[expect]]").next().expect("what comes before"));
    test(folder.path(), &["--save-baseline", "b.json"]);
    let all = against(&folder, &["--set", "clients.web.calls.api.timeout=2s"]);
    assert_eq!(all.code, 0, "{}", all.stdout);
    let note = " -      scenarios/gate.toml: `latency_p50_ms`, `latency_p99_ms` of variant `as-it-is` are not \
                compared: more requests succeed\n";
    assert!(
        all.stdout.contains(note) && all.stdout.contains(" scenario success_ratio: 1 against 0.083 in "),
        "{}",
        all.stdout
    );
    test(folder.path(), &["--save-baseline", "b.json", "--set", "clients.web.calls.api.timeout=9s"]);
    let longer = ["--set", "clients.web.calls.api.timeout=9s", "--set", "services.api.service_time=3s"];
    let longer = against(&folder, &longer);
    assert!(
        longer.code == 1 && longer.stdout.contains(" scenario latency_p50_ms: 3,000 ms against "),
        "{}",
        longer.stdout
    );
}

/// A baseline of another version, in which a metric had another name: that is not the same as one that had no value.
#[test]
fn what_was_not_recorded_is_not_judged() {
    let folder = saved();
    let path = folder.path().join("b.json");
    let text = fs::read_to_string(&path).expect("it was saved");
    fs::write(&path, text.replacen("\"retries\"", "\"tries\"", 1)).expect("the folder is writable");
    let done = against(&folder, &["--tolerance", "0%"]);
    let notes: Vec<&str> = done.stdout.lines().filter(|line| line.starts_with(" -  ")).collect();
    let expected = [
        " -      scenarios/gate.toml: `retries` of variant `as-it-is` is not in the baseline",
        " -      scenarios/gate.toml: `tries` of variant `as-it-is` is in the baseline, but not compared by this \
         stormsim",
    ];
    assert_eq!((done.code, &notes[..]), (0, &expected[..]), "{}", done.stdout);
    assert!(!done.stdout.contains("better") && !done.stdout.contains("FAILED"), "{}", done.stdout);
    let junit = against(&folder, &["--format", "junit"]).stdout;
    assert!(junit.contains("failures=\"0\" errors=\"0\" skipped=\"0\""), "the variant is compared: {junit}");
}

/// Where nothing was retried there was no last retry, in any replica: that is recorded, and there is one now.
#[test]
fn what_was_undefined_is_judged() {
    let folder = scratch();
    write(folder.path(), "scenarios/gate.toml", &met());
    test(folder.path(), &["--save-baseline", "b.json", "--set", "faults.errors.effect.fail.probability=0.0"]);
    let done = against(&folder, &[]);
    let new = " FAILED scenarios/gate.toml: patient: scenario last_retry_s: defined in 10 of 10 replicas, in the \
               baseline in 0, worse\n";
    assert!(done.code == 1 && done.stdout.contains(new), "{}", done.stdout);
}

#[test]
fn machines_are_told_the_same() {
    let folder = saved();
    let worse = ["--set", "retries.often.max_retries=1", "--variant", "as-it-is"];
    let print = |format: &str| {
        let done = against(&folder, &[&worse[..], &["--format", format]].concat());
        assert_eq!(done.code, 1, "{format}");
        done.stdout
    };
    insta::assert_snapshot!("worse_github", print("github"));
    insta::assert_snapshot!("worse_junit", print("junit"));
    let json: Value = serde_json::from_str(&print("json")).expect("JSON");
    let baseline = &json["baseline"];
    assert_eq!((&baseline["tolerance"], &baseline["replicas"]), (&0.05.into(), &10.into()));
    let changes = baseline["changes"].as_array().expect("a list");
    let retries = changes.iter().find(|change| change["metric"] == "retries").expect("there are fewer");
    assert_eq!((&retries["trend"], &retries["shown"]), (&"better".into(), &"lower".into()));
    let [now, before] = ["value", "reference"].map(|side| retries[side]["mean"].as_f64().expect("a mean"));
    assert!((retries["worse_by"].as_f64().expect("a share") - (now / before - 1.0)).abs() < 1e-12, "{retries}");
}

/// The figures of every scenario and variant in a baseline.
fn kept(folder: &tempfile::TempDir) -> Value {
    let text = fs::read_to_string(folder.path().join("b.json")).expect("it was saved");
    serde_json::from_str::<Value>(&text).expect("JSON")["scenarios"].take()
}

/// A folder with two scenarios and the baseline of both.
fn saved_both() -> tempfile::TempDir {
    let folder = saved();
    write(folder.path(), "scenarios/other.toml", &met().replace("name = \"gate\"", "name = \"other\""));
    assert_eq!(stormsim(folder.path(), &["test", "scenarios", "--save-baseline", "b.json", "--quiet"]).stderr, "");
    folder
}

/// Of several files in one baseline only one is looked at afterwards.
#[test]
fn a_baseline_has_many_scenarios() {
    let folder = saved_both();
    assert_eq!(stormsim(folder.path(), &["test", "scenarios/other.toml", "--baseline", "b.json"]).code, 0);
}

/// One variant of one of two scenarios is saved anew: only its figures are others afterwards.
#[test]
fn what_did_not_run_stays_in_the_baseline() {
    let folder = saved_both();
    let before = kept(&folder);
    let worse = ["--set", "faults.errors.effect.fail.probability=0.9"];
    let one = test(folder.path(), &[&worse[..], &["--variant", "patient", "--save-baseline", "b.json"]].concat());
    assert_eq!(one.stderr, "baseline saved to b.json; 1 scenario in it that did not run is as it was\n");
    let after = kept(&folder);
    assert_eq!(after["other"], before["other"]);
    let variant = |of: &Value, name: &str| of["gate"]["variants"][name].clone();
    assert_eq!(variant(&after, "as-it-is"), variant(&before, "as-it-is"));
    assert_ne!(variant(&after, "patient"), variant(&before, "patient"));
    let all = test(folder.path(), &[&worse[..], &["--seed", "7", "--save-baseline", "b.json"]].concat());
    assert_eq!(all.stderr, one.stderr, "a whole scenario may have another seed");
    let last = kept(&folder);
    assert_eq!((&last["gate"]["seed"], &last["other"]), (&7.into(), &before["other"]));
    let renamed = met().replace("[variants.as-it-is]", "[variants.hasty]");
    write(folder.path(), "scenarios/gate.toml", &renamed);
    test(folder.path(), &["--save-baseline", "b.json"]);
    let variants: Vec<String> =
        kept(&folder)["gate"]["variants"].as_object().expect("a table").keys().cloned().collect();
    assert_eq!(variants.len(), 2, "a variant that is gone is gone: {variants:?}");
}

/// Variants of one scenario are compared with each other's luck, so they cannot stand beside each other otherwise.
#[test]
fn variants_of_other_luck_are_not_put_together() {
    let folder = saved();
    let before = kept(&folder);
    let save = ["--variant", "patient", "--save-baseline", "b.json"];
    for other in [["--seed", "7"], ["-n", "4"]] {
        let done = test(folder.path(), &[&save[..], &other].concat());
        assert_eq!((done.code, done.stdout.as_str()), (2, ""), "nothing is simulated");
        assert_eq!(
            done.stderr,
            "error: cannot save the variant `patient` of `gate` in the baseline `b.json`: the others there have the \
             seed 42 and 10 replicas, which is not the same luck; add `--seed 42 --replicas 10`, or save all variants, \
             without `--variant`\n"
        );
    }
    let precise = test(folder.path(), &[&save[..], &["--precision", "1%", "--max-replicas", "40"]].concat());
    assert!(precise.code == 2 && precise.stderr.contains("; add `--seed 42 --replicas 10`, or"), "{}", precise.stderr);
    assert_eq!(kept(&folder), before);
}

/// Several services and faults with metrics that are gated: what is kept under a name has the mean that the summary has
/// under it, and whatever has a better direction is kept.
#[test]
fn a_baseline_keeps_the_figures_of_the_summary() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/payments.toml");
    let scenario = Scenario::load(path.as_ref(), &Overrides::default()).expect("it is bundled");
    let summary = Experiment::new(&scenario).run(|| ());
    let baseline = Baseline::of([&summary]);
    let mut count = 0;
    for variant in &summary.variants {
        let kept = &baseline.scenarios["payments"].variants[&variant.name];
        for (kind, name, figures) in variant.tables() {
            let is_gated = matches!(kind, ScopeKind::Scenario | ScopeKind::Service | ScopeKind::Fault);
            for column in columns(kind).into_iter().filter(|column| is_gated && column.better.is_some()) {
                let values = kept.table(kind, name).and_then(|table| table.get(column.name));
                let values: Vec<f64> = values.into_iter().flatten().copied().flatten().collect();
                let figure = &figures[column.name];
                assert_eq!(values.len(), figure.n as usize, "{} {kind} {name} {}", variant.name, column.name);
                let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
                assert!((mean - figure.mean.unwrap_or(0.0)).abs() <= 1e-9 * mean, "{kind} {name} {}", column.name);
                count += 1;
            }
        }
    }
    assert!(count > 100, "only {count} figures were looked at");
}
