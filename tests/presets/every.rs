//! What is true of every preset: its attempts and waits, number by number, and that whatever is done with a scenario can be
//! done with it.

use std::path::Path;

use stormsim::analysis::{Questions, explain, lint};
use stormsim::experiment::Experiment;
use stormsim::presets::{PRESETS, Preset};
use stormsim::scenario::{Overrides, ScenarioFile};

use crate::common::{plan, policy, scenario, set, text, text_with_call};

/// The name, the attempts in all (0 without a limit), and the waits before the first retries in ms: least and most.
type Row = (&'static str, u32, &'static [(f64, f64)]);

const AT_ONCE: &[(f64, f64)] = &[(0.0, 0.0), (0.0, 0.0)];
const SECOND: &[(f64, f64)] = &[(1000.0, 1000.0), (1000.0, 1000.0)];
const FROM_A_SECOND: &[(f64, f64)] = &[(1000.0, 1000.0), (2000.0, 2000.0), (4000.0, 4000.0)];
const FULL_SECONDS: &[(f64, f64)] = &[(0.0, 1000.0), (0.0, 2000.0), (0.0, 4000.0), (0.0, 8000.0)];
const CRASH_LOOP: &[(f64, f64)] = &[
    (0.0, 0.0),
    (10e3, 10e3),
    (20e3, 20e3),
    (40e3, 40e3),
    (80e3, 80e3),
    (160e3, 160e3),
    (300e3, 300e3),
    (300e3, 300e3),
];

const ROWS: &[Row] = &[
    ("grpc", 4, &[(80.0, 120.0), (160.0, 240.0), (320.0, 480.0)]),
    ("envoy", 2, &[(0.0, 24.0)]),
    ("istio", 3, &[(0.0, 24.0), (0.0, 49.0)]),
    ("linkerd", 0, AT_ONCE),
    ("nginx", 3, AT_ONCE),
    ("haproxy", 4, SECOND),
    ("aws-legacy", 5, FULL_SECONDS),
    ("aws-standard-pre2026", 3, FULL_SECONDS),
    ("aws-standard-2.1", 3, &[(0.0, 50.0), (0.0, 100.0)]),
    ("google-gax", 0, &[(0.0, 100.0), (0.0, 130.0), (0.0, 169.0), (0.0, 219.7), (0.0, 285.61)]),
    ("kafka-producer", 1 << 31, &[(80.0, 120.0), (160.0, 240.0), (320.0, 480.0), (640.0, 960.0), (800.0, 1000.0)]),
    ("client-go", 11, AT_ONCE),
    ("kubelet-crashloop", 0, CRASH_LOOP),
    ("finagle", 3, AT_ONCE),
    ("resilience4j", 3, &[(500.0, 500.0), (500.0, 500.0)]),
    ("spring-retry", 3, SECOND),
    ("spring-7", 4, SECOND),
    ("failsafe", 3, AT_ONCE),
    ("polly-v8", 4, &[(2000.0, 2000.0), (2000.0, 2000.0)]),
    ("dotnet-standard", 4, &[(0.0, 2754.4), (0.0, 5674.5), (0.0, 8651.8)]),
    ("cenkalti-backoff", 0, &[(250.0, 750.0), (375.0, 1125.0), (562.5, 1687.5), (843.75, 2531.25)]),
    ("go-retryablehttp", 5, FROM_A_SECOND),
    ("retry-go", 10, &[(100.0, 200.0), (200.0, 300.0), (400.0, 500.0), (800.0, 900.0)]),
    ("urllib3", 4, AT_ONCE),
    ("tenacity", 0, AT_ONCE),
    ("axios-retry", 4, AT_ONCE),
    ("p-retry", 11, FROM_A_SECOND),
    ("got", 3, &[(1000.0, 1100.0), (2000.0, 2100.0)]),
    ("tower", 0, &[(50.0, 99.5), (100.0, 199.0), (200.0, 398.0), (400.0, 796.0)]),
    ("backon", 4, FROM_A_SECOND),
    ("retry-policies", 4, &[(0.0, 1000.0), (0.0, 2000.0), (0.0, 4000.0)]),
    ("tokio-retry", 4, &[(100.0, 100.0), (10e3, 10e3), (1000e3, 1000e3)]),
    ("hystrix", 1, &[]),
    ("gobreaker", 1, &[]),
];

/// To a tenth of a millisecond, which is how exactly they are written here.
#[test]
fn every_preset_has_its_attempts_and_waits() {
    let names: Vec<&str> = ROWS.iter().map(|(name, ..)| *name).collect();
    assert_eq!(names, PRESETS.iter().map(|preset| preset.name).collect::<Vec<_>>());
    for &(name, attempts, waits) in ROWS {
        let policy = policy(name, &[]);
        assert_eq!(policy.max_attempts, if attempts == 0 { u32::MAX } else { attempts }, "{name}");
        for (range, &(least, most)) in policy.schedule.ranges().zip(waits) {
            let found = (range.shortest.as_ms(), range.longest.as_ms());
            assert!(
                (found.0 - least).abs() < 0.05 && (found.1 - most).abs() < 0.05,
                "{name}: {found:?} {least} {most}"
            );
        }
    }
}

/// A call that names the preset runs, with the keys of the call, too; lint and explain have their say about both.
#[test]
fn every_preset_can_be_run_and_looked_at() {
    let outage = "[faults.down]\non = [\"api\"]\nuntil = \"2s\"\neffect = { fail = { delay = \"10ms\" } }\n";
    for preset in PRESETS {
        let mut texts = vec![text(preset.name, outage)];
        if preset.call().is_some() {
            texts.push(text_with_call(preset.name) + outage);
        }
        for text in texts {
            let only = Overrides { replicas: Some(2), ..set(&["horizon=5s"]) };
            let scenario = scenario(&text, &only).unwrap_or_else(|errors| panic!("{}: {errors}", preset.name));
            let summary = Experiment::new(&scenario).run(|| ());
            assert_eq!(summary.variants[0].replicas.len(), 2, "{}", preset.name);
            let questions = Questions { failure: 0.01, false_timeouts: 0.001 };
            assert_eq!(explain(&scenario, questions)[0].calls.len(), 1, "{}", preset.name);
            let file = ScenarioFile::of("shop.toml", text, Path::new(""));
            let linted = lint::lint(&file, &Overrides::default()).unwrap_or_else(|e| panic!("{}: {e}", preset.name));
            assert!(linted.findings.iter().all(|finding| finding.position.is_some()), "{}", preset.name);
        }
    }
}

/// What is printed of a preset is TOML: pasted into a scenario it is the same policy as the name, and the name is then that
/// of the policy.
#[test]
fn what_is_printed_can_be_pasted() {
    for preset in PRESETS {
        let printed =
            assert_cmd::Command::cargo_bin("stormsim").unwrap().args(["presets", preset.name]).output().unwrap();
        assert!(printed.status.success() && printed.stderr.is_empty(), "{}", preset.name);
        let printed = String::from_utf8(printed.stdout).unwrap();
        assert!(printed.contains(&format!("\n[retries.{}]\n", preset.policy_name())));
        let pasted =
            scenario(&text(preset.name, &printed), &set(&[])).unwrap_or_else(|e| panic!("{}: {e}", preset.name));
        let named = scenario(&text(preset.name, ""), &set(&[])).unwrap_or_else(|e| panic!("{}: {e}", preset.name));
        assert_eq!(pasted.meaning(), named.meaning(), "{}", preset.name);
    }
}

/// A setting that a note tells of is one that can be set: each line of TOML in a note is a key of a policy, of a call or of
/// a service.
#[test]
fn the_settings_in_notes_are_settings() {
    let mut tried = 0;
    for preset in PRESETS {
        let about = preset.about();
        for setting in about.notes.iter().flat_map(|note| note.split('`').skip(1).step_by(2)) {
            let Some((path, value)) = setting.split_once(" = ") else { continue };
            let is_placeholder = ["= m }", "= f }", "= j / d"].iter().any(|end| setting.contains(end))
                || ["a", "b", "d"].contains(&value);
            if is_placeholder {
                continue;
            }
            let places = ["retries.NAME", "clients.web.calls.api", "services.api"];
            let tries = places.map(|place| {
                let path = format!("{}.{path}={value}", place.replace("NAME", &preset.policy_name()));
                scenario(&text(preset.name, ""), &set(&[&path])).map(|_| ())
            });
            assert!(tries.iter().any(Result::is_ok), "{}: {setting}\n{:#?}", preset.name, tries);
            tried += 1;
        }
    }
    assert!(tried > 40, "only {tried} settings were found");
}

/// Which errors a preset tries again is what tells products apart most: none of the usual ones is missing by a slip.
#[test]
fn what_is_never_retried() {
    let retried = |name: &str| {
        let plan = plan(&text(name, ""), &set(&[]));
        let set = plan.policy_of(plan.groups[0].choices[0].1).retry_on;
        let kinds = stormsim::failure::ErrorKind::ALL.iter().filter(|&&kind| set.contains(kind));
        kinds.map(|kind| kind.name()).collect::<Vec<_>>().join(" ")
    };
    let of_5xx = "unavailable refused reset overloaded timeout deadline internal";
    let http = "unavailable refused reset overloaded rate_limited timeout deadline internal";
    let all = "unavailable refused reset overloaded rate_limited timeout deadline internal invalid breaker_open throttled \
               pool_timeout";
    let usual = "unavailable refused reset overloaded rate_limited timeout";
    let expected = |name: &str| match name {
        "grpc" => "unavailable refused reset overloaded",
        "envoy" => of_5xx,
        "istio" => "unavailable refused timeout",
        "linkerd" => "unavailable overloaded deadline internal",
        "nginx" | "urllib3" => "refused reset timeout",
        "haproxy" => "refused timeout",
        "google-gax" => "unavailable refused reset overloaded timeout deadline",
        "client-go" => "unavailable overloaded rate_limited deadline internal",
        "axios-retry" => "unavailable refused reset overloaded rate_limited deadline internal",
        "aws-legacy"
        | "aws-standard-pre2026"
        | "aws-standard-2.1"
        | "dotnet-standard"
        | "go-retryablehttp"
        | "got"
        | "retry-policies" => http,
        "kafka-producer" | "finagle" | "tower" | "hystrix" | "gobreaker" => usual,
        _ => all,
    };
    for preset in PRESETS {
        assert_eq!(retried(preset.name), expected(preset.name), "{}", preset.name);
    }
    assert!(Preset::find("none").is_none());
}
