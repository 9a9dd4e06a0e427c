//! What a wrong scenario is answered with, word for word: each mistake at its place, with the way out, and all of them
//! at once. The snapshots are the specification; a change of wording is a change that somebody looks at.

use std::path::Path;

use insta::assert_snapshot;
use stormsim::scenario::{Overrides, Scenario};

use crate::told::unbroken;

/// A scenario with one of everything and nothing wrong.
const GOOD: &str = r#"version = 1
name = "shop"

[clients.web]
count = 10
arrivals = { burst = { at = "0s" } }
[clients.web.calls.gateway]
retry = "patient"
timeout = "1s"

[services.gateway]
service_time = "5ms"
calls.db = { total_timeout = "3s" }

[services.db]
service_time = { lognormal = { median = "2ms", p99 = "10ms" } }

[retries.patient]
max_retries = 2
backoff = { exponential = { base = "100ms", factor = 2.0 } }
jitter = "full"

[faults.outage]
on = ["db"]
until = "10s"
effect = { fail = { probability = 1.0 } }

[variants.as-it-is]

[variants.fixed]
"retries.patient.backoff" = { fixed = "1s" }

[[expect]]
metric = "amplification"
service = "db"
equals = 3
"#;

const LOGNORMAL: &str = r#"{ lognormal = { median = "2ms", p99 = "10ms" } }"#;
const EXPONENTIAL: &str = r#"{ exponential = { base = "100ms", factor = 2.0 } }"#;
const FIXED: &str = r#""retries.patient.backoff" = { fixed = "1s" }"#;

/// `GOOD` with each of these texts, which it has exactly once, replaced.
fn edited(edits: &[(&str, &str)]) -> String {
    for (old, _) in edits {
        assert_eq!(GOOD.matches(old).count(), 1, "{old:?} must be there once");
    }
    edits.iter().fold(GOOD.to_owned(), |text, (old, new)| text.replacen(old, new, 1))
}

fn errors_with(text: &str, overrides: &Overrides) -> String {
    match Scenario::parse("shop.toml", text, Path::new(""), overrides) {
        Ok(_) => panic!("nothing is wrong with:\n{text}"),
        Err(diagnostics) => diagnostics.to_string(),
    }
}

fn errors(edits: &[(&str, &str)]) -> String {
    errors_with(&edited(edits), &Overrides::default())
}

fn errors_of_flags(set: &[&str]) -> String {
    errors_with(GOOD, &Overrides { set: set.iter().map(|&text| text.to_owned()).collect(), ..Overrides::default() })
}

/// Without this every other test could pass on the mistakes of its own base.
#[test]
fn the_base_of_these_tests_is_good() {
    if let Err(diagnostics) = Scenario::parse("shop.toml", GOOD, Path::new(""), &Overrides::default()) {
        panic!("{diagnostics}");
    }
}

#[test]
fn several_errors_in_one_file_come_at_once() {
    assert_snapshot!(errors(&[
        ("count = 10", "count = 0"),
        ("retry = \"patient\"", "retry = \"patiant\""),
        ("service_time = \"5ms\"", "service_time = \"5 parsecs\""),
        ("probability = 1.0", "probability = 1.5"),
        ("metric = \"amplification\"", "metric = \"amplificaton\""),
    ]));
}

#[test]
fn a_misspelt_key_in_each_kind_of_table() {
    assert_snapshot!(errors(&[
        ("name = \"shop\"", "name = \"shop\"\nreplica = 5"),
        ("count = 10", "cuont = 10"),
        ("at = \"0s\"", "att = \"0s\""),
        ("\ntimeout = \"1s\"", "\ntimout = \"1s\""),
        ("service_time = \"5ms\"", "servicetime = \"5ms\""),
        ("median = \"2ms\"", "median = \"2ms\", p90 = \"3ms\""),
        ("jitter = \"full\"", "jiter = \"full\""),
        ("factor = 2.0", "faktor = 2.0"),
        ("until = \"10s\"", "untl = \"10s\""),
        ("probability = 1.0", "probabilty = 1.0"),
        ("equals = 3", "equal = 3"),
    ]));
}

#[test]
fn a_variant_is_answered_at_its_own_line() {
    assert_snapshot!(errors(&[(
        FIXED,
        r#""retries.patient.backof" = "none"
"retries.patient.backoff" = { fixed = "-1s" }
"retries.patiant.max_retries" = 3
"services.db.service_time.lognormal.mean" = "4ms"
"retries.patient.max_retries.limit" = 1
"clients.web.calls.gateway.to" = "nowhere"
"retries..cap" = "1s"
"seed" = 7
clients.web.count = "many""#
    )]));
}

#[test]
fn an_error_of_some_variants_says_which() {
    assert_snapshot!(errors(&[("max_retries = 2\n", ""), (FIXED, "\"retries.patient.max_attempts\" = 3")]));
}

#[test]
fn a_flag_is_answered_at_its_own_text() {
    assert_snapshot!(errors_of_flags(&[
        "services.db.service_time=5 parsecs",
        "services.bd.service_time=5ms",
        "retries.patient.jitter=fulll",
        "retries.patient.retry_on=[timeout]",
        "horizon",
        "horizon=",
        "variants.fixed=none",
        "clients.web.arrivals.burst.att=1s",
        "faults.outage.effect={ fail = { probability = 0,5 } }",
    ]));
}

#[test]
fn an_unknown_variant_and_too_many_replicas() {
    let overrides = Overrides { variant: Some("fixd".into()), replicas: Some(0), ..Overrides::default() };
    assert_snapshot!(errors_with(GOOD, &overrides));
}

#[test]
fn a_distribution_with_its_points_out_of_order() {
    let texts = [
        "{ lognormal = { median = \"2ms\", p99 = \"1ms\" } }",
        "{ lognormal = { median = \"0s\" } }",
        "{ exponential = {} }",
        "{ exponential = { mean = \"0ms\" } }",
        "{ uniform = { min = \"2ms\", max = \"2ms\", step = \"0s\" } }",
        "{ percentiles = { p50 = \"5ms\", p99 = \"4ms\" } }",
        "{ percentiles = {} }",
        "{ gaussian = { mean = \"5ms\" } }",
        "true",
        "5",
    ];
    assert_snapshot!(texts.map(|text| errors(&[(LOGNORMAL, text)])).join("\n\n"));
}

#[test]
fn samples_that_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("wrong-column.csv", "seconds\n1\n");
    write("wrong-value.csv", "value_s\n0.1\n-3\n");
    write("no-values.csv", "value_s\n");
    let files = ["missing.csv", "wrong-column.csv", "wrong-value.csv", "no-values.csv"];
    let all = files.map(|file| {
        let text = edited(&[(LOGNORMAL, &format!("{{ samples = {{ file = \"{file}\" }} }}"))]);
        let errors = Scenario::parse("shop.toml", &text, folder.path(), &Overrides::default()).unwrap_err().to_string();
        errors.replace(&format!("{}{}", folder.path().display(), std::path::MAIN_SEPARATOR), "")
    });
    assert_snapshot!(all.join("\n\n"));
}

#[test]
fn two_of_a_kind_exclude_each_other() {
    assert_snapshot!(errors(&[
        ("max_retries = 2", "max_retries = 2\nmax_attempts = 3"),
        (EXPONENTIAL, "{ fixed = \"1s\", linear = { step = \"1s\" } }"),
        ("until = \"10s\"", "until = \"10s\"\nlasts = \"10s\""),
        ("equals = 3", "equals = 3\nat_most = 4\ntolerance = 0.1\nwithin = 1"),
    ]));
}

#[test]
fn neither_of_two_that_are_needed() {
    assert_snapshot!(errors(&[("max_retries = 2\n", ""), ("equals = 3", "tolerance = 0.1")]));
}

#[test]
fn unknown_names() {
    assert_snapshot!(errors(&[
        ("[clients.web.calls.gateway]", "[clients.web.calls.gatway]"),
        ("calls.db = { total_timeout = \"3s\" }", "calls.web = {}\ncalls.x = { to = \"dbb\", retry = \"impatient\" }"),
        ("on = [\"db\"]", "on = [\"dbs\", \"db\", \"db\"]"),
        ("service = \"db\"", "call = \"gateway->db\"\nvariant = \"fixd\"\nstatistic = \"p90\""),
    ]));
}

#[test]
fn metrics_of_other_scopes() {
    assert_snapshot!(errors(&[(
        "equals = 3",
        r#"equals = "3s"
[[expect]]
metric = "arrivals"
between = [5, 4]
[[expect]]
metric = "breaker_opened"
service = "gateway"
at_most = 1
[[expect]]
metric = "requests"
client = "web"
between = [1]
[[expect]]
client = "web""#
    )]));
}

#[test]
fn a_call_cycle_is_printed() {
    let cycle = "[services.db]\ncalls.cache = {}\n[services.cache.calls.again]\nto = \"gateway\"\n[services.cache]";
    assert_snapshot!(errors(&[("[services.db]", cycle)]));
}

#[test]
fn times_that_are_no_times() {
    let texts = ["\"5\"", "5", "\"5sec\"", "\"-5s\"", "\"60d\"", "\"0.5ns\"", "\"0s\"", "\"soon\"", "[]"];
    let time = |text: &str| errors(&[("\ntimeout = \"1s\"\n", &format!("\ntimeout = {text}\n"))]);
    assert_snapshot!(texts.map(time).join("\n\n"));
}

#[test]
fn numbers_beyond_their_range() {
    assert_snapshot!(errors(&[
        ("version = 1", "version = 2"),
        ("name = \"shop\"", "name = \"my shop\"\nseed = -1\nreplicas = 1000001\nbucket = \"0s\"\nhorizon = \"0s\""),
        ("count = 10", "count = 268435457"),
        ("retry = \"patient\"", "retry = \"patient\"\nweight = 0"),
        ("max_retries = 2", "max_retries = 99999999999999999999999999999999999999999999"),
        ("factor = 2.0", "factor = nan"),
        ("total_timeout = \"3s\"", "total_timeout = 3"),
        ("{ fixed = \"1s\" }", "\"none\"\n\"retries.patient.max_attempts\" = \"unlimted\""),
        ("jitter = \"full\"", "jitter = { spread = 1.1 }\nretry_on = [\"timeout\", \"refusd\"]"),
    ]));
}

#[test]
fn jitter_on_decorrelated_backoff_and_tags_in_the_wrong_form() {
    assert_snapshot!(errors(&[
        (EXPONENTIAL, "{ decorrelated = { base = \"1s\", factor = 0.5 } }"),
        ("{ fail = { probability = 1.0 } }", "\"fail\""),
        (
            FIXED,
            "\"retries.patient.backoff\" = { decorrelated = {} }\n[variants.bare]\n\"retries.patient.backoff\" = { none = {} }"
        ),
    ]));
}

#[test]
fn a_run_that_cannot_end() {
    assert_snapshot!(errors(&[("max_retries = 2", "max_retries = \"unlimited\"")]));
}

#[test]
fn contradictions() {
    assert_snapshot!(errors(&[
        ("calls.db = { total_timeout = \"3s\" }", "calls.db = { weight = 2 }"),
        ("[services.db]\n", "[services.web]\n[services.db]\n"),
        ("until = \"10s\"", "from = \"10s\"\nuntil = \"10s\""),
        (
            "[retries.patient]\n",
            "[retries.none]\nmax_retries = 1\n[retries.\"a b\"]\nmax_retries = 1\n[retries.patient]\n"
        ),
        ("service = \"db\"", "service = \"db\"\nclient = \"web\""),
    ]));
}

#[test]
fn keys_that_are_required() {
    assert_snapshot!(errors_with("[clients.web]\n[faults.outage]\n[services.db]\n", &Overrides::default()));
}

#[test]
fn a_scenario_without_clients() {
    assert_snapshot!(errors_with("version = 1\nname = \"x\"\n[clients]\n", &Overrides::default()));
}

/// Every kind of table in place of a value and of a value in place of a table.
#[test]
fn values_of_the_wrong_kind() {
    let text = r#"version = "1"
name = 5
clients = 3
services = { db = 1 }
retries = []
expect = {}
variants = { a = 1 }
faults.x = { on = "db", effect = 5 }
"#;
    assert_snapshot!(errors_with(text, &Overrides::default()));
}

#[test]
fn two_errors_of_syntax_are_both_reported() {
    assert_snapshot!(errors(&[("count = 10", "count = = 10"), ("[services.db]", "[services.db")]));
}

/// A value without quotes leaves the rest of the file sound: the other errors are reported with it.
#[test]
fn after_a_damaged_value_and_a_double_key_checking_goes_on() {
    assert_snapshot!(errors(&[
        ("\ntimeout = \"1s\"\n", "\ntimeout = 1s\n"),
        ("count = 10", "count = 10\ncount = 11"),
        ("on = [\"db\"]", "on = [\"dbs\"]"),
    ]));
}

#[test]
fn more_than_a_thousand_services() {
    let services: String = (0..1000).map(|n| format!("[services.s{n}]\n")).collect();
    assert_snapshot!(errors_with(&format!("{GOOD}{services}"), &Overrides::default()));
}

#[test]
fn files_that_are_no_scenario() {
    let folder = tempfile::tempdir().unwrap();
    let load = |name: &str| {
        let error = Scenario::load(&folder.path().join(name), &Overrides::default()).unwrap_err().to_string();
        error.replace(&folder.path().display().to_string(), "FOLDER")
    };
    std::fs::write(folder.path().join("empty.toml"), "").unwrap();
    std::fs::write(folder.path().join("comment.toml"), "# nothing yet\n").unwrap();
    std::fs::write(folder.path().join("latin1.toml"), b"version = 1\nname = \"caf\xe9\"\n").unwrap();
    std::fs::create_dir(folder.path().join("folder.toml")).unwrap();
    let names = ["empty.toml", "comment.toml", "latin1.toml", "folder.toml", "missing.toml"];
    assert_snapshot!(names.map(load).join("\n\n"));
}

/// Colour changes nothing but colour, and a narrow terminal loses no message.
#[test]
fn messages_are_the_same_in_colour() {
    let text = edited(&[("count = 10", "count = 0")]);
    let diagnostics = Scenario::parse("shop.toml", &text, Path::new(""), &Overrides::default()).unwrap_err();
    let coloured = diagnostics.render(true, 120);
    assert!(coloured.contains("\u{1b}["));
    assert_eq!(anstream::adapter::strip_str(&coloured).to_string(), diagnostics.to_string());
    let error = diagnostics.iter().next().unwrap();
    assert_eq!(diagnostics.line(error), Some(5));
    assert!(unbroken(&diagnostics.render(false, 40)).contains(error.message()));
}
