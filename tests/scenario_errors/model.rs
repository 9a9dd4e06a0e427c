//! What wrong arrivals, calls, budgets and windows are answered with, word for word. As in `mistakes`, the
//! snapshots are the specification.

use std::path::Path;

use insta::assert_snapshot;
use stormsim::scenario::{Overrides, Scenario};

/// Every kind of thing that these tests break, and nothing wrong.
const GOOD: &str = r#"version = 1
name = "fan-out"
horizon = "60s"
warmup = "5s"

[clients.web]
from = "1s"
until = "50s"
arrivals = { poisson = { rate = 100 } }
[clients.web.calls.front]
network = "1ms"

[services.front]
call_order = ["auth", ["shard", "ads"]]
[services.front.calls]
auth = { to = "db", if_failed = "cache" }
shard = { to = "db", copies = 50, required = 45 }
ads = { to = "db", optional = true }
cache = { to = "db" }

[services.db]

[retries.patient]
max_retries = 2
budget = { token_bucket = { max = 10, per_success = 0.1 } }

[variants.as-it-is]

[variants.other]
"retries.patient.shared_by" = "group"

[[expect]]
metric = "attempts"
from = "10s"
until = "20s"
at_most = 3
"#;

const ARRIVALS: &str = "{ poisson = { rate = 100 } }";
const AUTH: &str = r#"auth = { to = "db", if_failed = "cache" }"#;
const CACHE: &str = r#"cache = { to = "db" }"#;
const ORDER: &str = r#"["auth", ["shard", "ads"]]"#;
const BUCKET: &str = "{ max = 10, per_success = 0.1 }";
const OTHER: &str = r#""retries.patient.shared_by" = "group""#;
const WINDOW: &str = "from = \"10s\"\nuntil = \"20s\"\n";

/// `GOOD` with each of these texts, which it has exactly once, replaced.
fn edited(edits: &[(&str, &str)]) -> String {
    for (old, _) in edits {
        assert_eq!(GOOD.matches(old).count(), 1, "{old:?} must be there once");
    }
    edits.iter().fold(GOOD.to_owned(), |text, (old, new)| text.replacen(old, new, 1))
}

fn errors_with(text: &str, folder: &Path, overrides: &Overrides) -> String {
    match Scenario::parse("fan-out.toml", text, folder, overrides) {
        Ok(_) => panic!("nothing is wrong with:\n{text}"),
        Err(diagnostics) => diagnostics.to_string(),
    }
}

fn errors(edits: &[(&str, &str)]) -> String {
    errors_with(&edited(edits), Path::new(""), &Overrides::default())
}

/// The errors of each of these in place of `old`, one after another.
fn errors_of_each(old: &str, texts: &[&str]) -> String {
    texts.iter().map(|text| errors(&[(old, text)])).collect::<Vec<_>>().join("\n\n")
}

/// Without this every other test could pass on the mistakes of its own base.
#[test]
fn the_base_of_these_tests_is_good() {
    if let Err(diagnostics) = Scenario::parse("fan-out.toml", GOOD, Path::new(""), &Overrides::default()) {
        panic!("{diagnostics}");
    }
}

#[test]
fn a_misspelt_key_in_each_kind_of_table() {
    let arrivals = [
        "{ poisson = { rat = 1 } }",
        "{ constant = { raet = 1 } }",
        "{ closed = { thinks = \"1s\" } }",
        "{ periodic = { evry = \"1s\" } }",
        "{ profile = [{ at = \"0s\", rate = 1 }, { at = \"1s\", rate = 2, rampe = true }] }",
        "{ trace = { flie = \"x.csv\" } }",
        "{ poison = { rate = 1 } }",
    ];
    let others = errors(&[
        ("warmup", "warm_up"),
        ("until = \"50s\"", "utnil = \"50s\""),
        ("network", "netwrok"),
        ("call_order", "call_oder"),
        ("required = 45", "requierd = 45"),
        ("max_retries = 2", "max_retries = 2\nshared_ovr = \"call\""),
        (BUCKET, "{ max = 10, per_succes = 0.1 }"),
        ("until = \"20s\"", "untl = \"20s\""),
    ]);
    assert_snapshot!(format!("{}\n\n{others}", errors_of_each(ARRIVALS, &arrivals)));
}

#[test]
fn two_tags_in_one_choice() {
    assert_snapshot!(errors(&[
        (ARRIVALS, "{ poisson = { rate = 100 }, burst = {} }"),
        ("\"1ms\"", "{ exponential = { mean = \"1ms\" }, lognormal = { median = \"1ms\", p99 = \"2ms\" } }"),
        ("token_bucket = { max = 10, per_success = 0.1 } }", "token_bucket = {}, none = {} }"),
    ]));
}

#[test]
fn arrivals_that_are_none() {
    assert_snapshot!(errors_of_each(
        ARRIVALS,
        &[
            "{ burst = { at = \"50s\" } }",
            "{ burst = { at = \"0s\" } }",
            "{ poisson = { rate = 0 } }",
            "{ constant = { rate = 1e10 } }",
            "{ constant = {} }",
            "{ closed = { requests = 0 } }",
            "{ periodic = { every = \"0s\" } }",
            "{ periodic = { offset = { exponential = {} } } }",
            "\"poisson\"",
        ]
    ));
}

#[test]
fn profiles_that_are_none() {
    assert_snapshot!(errors_of_each(
        ARRIVALS,
        &[
            "{ profile = [] }",
            "{ profile = [{ at = \"0s\", rate = 0 }, { at = \"1s\", rate = 0.0 }] }",
            "{ profile = [{ at = \"1s\", rate = 1, ramp = true }, { at = \"1s\", rate = -1 }, { rate = 2 }, {}] }",
            "{ profile = [{ at = \"2s\", rate = 1 }, { at = \"1s\", rate = 2, ramp = \"yes\" }, { at = \"2s\", rate = 2 }] }",
            "{ profile = [{ at = \"2s\", rate = 1 }, { at = \"1s\", rate = 2 }] }",
            "{ profile = { at = \"2s\", rate = 1 } }",
        ]
    ));
}

#[test]
fn traces_that_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("wrong-column.csv", "value_s\n1\n");
    write("not-ascending.csv", "user,time_s\na,0.5\nb,1.5\nc,1.25\n");
    write("wrong-value.csv", "time_s\n0.5\nsoon\n");
    write("too-late.csv", "time_s\n1e9\n");
    write("ragged.csv", "time_s,user\n1,a\n2\n");
    write("no-values.csv", "time_s\n");
    let files = [
        "missing.csv",
        "wrong-column.csv",
        "not-ascending.csv",
        "wrong-value.csv",
        "too-late.csv",
        "ragged.csv",
        "no-values.csv",
    ];
    let all = files.map(|file| {
        let text = edited(&[(ARRIVALS, &format!("{{ trace = {{ file = \"{file}\" }} }}"))]);
        let errors = errors_with(&text, folder.path(), &Overrides::default());
        errors.replace(&format!("{}{}", folder.path().display(), std::path::MAIN_SEPARATOR), "")
    });
    assert_snapshot!(all.join("\n\n"));
}

/// Each would run for ever: nothing ends the arrivals, and nothing the run.
#[test]
fn arrivals_without_end() {
    let endless = [
        ARRIVALS,
        "{ constant = { rate = 5 } }",
        "{ closed = { think = \"1s\" } }",
        "{ periodic = { every = \"1s\" } }",
        "{ profile = [{ at = \"0s\", rate = 0 }, { at = \"1s\", rate = 1 }] }",
    ];
    let all = endless.map(|arrivals| {
        errors(&[("horizon = \"60s\"\n", ""), ("until = \"50s\"", "until = \"none\""), (ARRIVALS, arrivals)])
    });
    assert_snapshot!(all.join("\n\n"));
}

/// The other side of the test before: these end of themselves, or because `until` or the horizon says so.
#[test]
fn arrivals_with_an_end_are_good() {
    let no_until = ("until = \"50s\"\n", "");
    let no_horizon = ("horizon = \"60s\"\n", "");
    for edits in [
        &[no_until][..],
        &[no_horizon],
        &[no_until, no_horizon, (ARRIVALS, "{ burst = {} }")],
        &[no_until, no_horizon, (ARRIVALS, "{ closed = { think = \"1s\", requests = 2 } }")],
        &[no_until, no_horizon, (ARRIVALS, "{ profile = [{ at = \"0s\", rate = 1 }, { at = \"1s\", rate = 0 }] }")],
    ] {
        let text = edited(edits);
        if let Err(diagnostics) = Scenario::parse("fan-out.toml", &text, Path::new(""), &Overrides::default()) {
            panic!("{diagnostics}");
        }
    }
}

#[test]
fn windows_of_groups_and_a_warmup_that_are_empty() {
    assert_snapshot!(errors(&[("warmup = \"5s\"", "warmup = \"60s\""), ("from = \"1s\"", "from = \"50s\"")]));
}

#[test]
fn settings_that_the_calls_of_clients_do_not_have() {
    assert_snapshot!(errors(&[(
        "network = \"1ms\"",
        "probability = 0.5\ncopies = 2\nrequired = 1\noptional = false\nif_failed = \"none\"\nconnect_timeout = \"0s\""
    )]));
}

#[test]
fn copies_and_deadlines_that_contradict_themselves() {
    assert_snapshot!(errors(&[
        ("required = 45", "required = 51, reserve = \"10%\""),
        ("ads = { to = \"db\", optional = true }", "ads = { to = \"db\", required = 2, copies = 0 }"),
        (AUTH, "auth = { to = \"db\", required = 2, propagate_deadline = true, reserve = \"100%\" }"),
        (
            CACHE,
            "cache = { to = \"db\", propagate_deadline = false, reserve = \"5ms\", probability = 2, optional = \"no\" }"
        ),
        (ORDER, "[\"auth\", [\"shard\", \"ads\"], \"cache\"]"),
    ]));
}

#[test]
fn fallbacks_that_are_none() {
    let texts = [
        "auth = { to = \"db\", if_failed = \"cash\" }",
        "auth = { to = \"db\", if_failed = \"auth\" }",
        "auth = { to = \"db\", if_failed = \"cache\" }\nspare = { to = \"db\", if_failed = \"cache\" }",
    ];
    let circle = [
        (AUTH, "auth = { to = \"db\", if_failed = \"cache\" }\nspare = { to = \"db\", if_failed = \"auth\" }"),
        (CACHE, "cache = { to = \"db\", if_failed = \"spare\" }"),
    ];
    let settings = (CACHE, "cache = { to = \"db\", optional = true, copies = 2, required = 1, probability = 0.5 }");
    assert_snapshot!(format!("{}\n\n{}\n\n{}", errors_of_each(AUTH, &texts), errors(&circle), errors(&[settings])));
}

#[test]
fn orders_that_do_not_name_each_call_once() {
    assert_snapshot!(errors_of_each(
        ORDER,
        &[
            "[\"auth\"]",
            "[\"auth\", [\"shard\", \"ads\", \"auth\"], \"ads\"]",
            "[\"auht\", [\"shard\", \"ads\"]]",
            "[\"auth\", \"cache\", [], [\"shard\", \"ads\"]]",
            "[\"auth\", 5, [\"shard\", [\"ads\"]]]",
            "\"auth\"",
        ]
    ));
}

#[test]
fn budgets_that_are_none() {
    let buckets = [
        "{}",
        "{ max = 0, per_success = 0 }",
        "{ max = 1.5, initial = 2, per_success = 0.0000001, cost = -1, floor = \"1\" }",
        "{ max = 2e9, initial = 3, per_success = nan }",
    ];
    let choices = errors(&[
        ("{ token_bucket = { max = 10, per_success = 0.1 } }", "{ percentage = 20 }"),
        (OTHER, "\"retries.patient.shared_by\" = \"client\"\n\"retries.patient.shared_over\" = { call = 1 }"),
    ]);
    assert_snapshot!(format!("{}\n\n{choices}", errors_of_each(BUCKET, &buckets)));
}

#[test]
fn windows_of_expectations_that_are_none() {
    assert_snapshot!(errors_of_each(
        WINDOW,
        &[
            "from = \"20s\"\nuntil = \"20s\"\n",
            "from = \"60s\"\n",
            "until = \"61s\"\n",
            "every = \"1s\"\n",
            "from = \"0s\"\nevery = \"0s\"\n",
            "from = \"50s\"\nevery = \"11s\"\n",
            "from = \"0s\"\nevery = \"599us\"\n",
            "from = 5\nuntil = \"1 s\"\n",
        ]
    ));
}

#[test]
fn a_window_needs_an_end_that_all_variants_share() {
    let until = "until = \"20s\"\n";
    let other = "\"horizon\" = \"15s\"";
    let none = errors(&[("horizon = \"60s\"\n", ""), (until, "")]);
    let different = errors(&[(OTHER, other), (until, "")]);
    let too_short = errors(&[(OTHER, other)]);
    assert_snapshot!([none, different, too_short].join("\n\n"));
}

#[test]
fn metrics_that_no_window_has() {
    let texts = [
        ("metric = \"latency_p99_ms\"", WINDOW),
        ("metric = \"completion_s\"", "until = \"20s\"\n"),
        ("metric = \"tokens_left\"\ncall = \"front->auth\"", "from = \"0s\"\nevery = \"1s\"\n"),
        ("metric = \"in_flight_max_ms\"\nservice = \"db\"", WINDOW),
    ];
    assert_snapshot!(
        texts.map(|(metric, window)| errors(&[("metric = \"attempts\"", metric), (WINDOW, window)])).join("\n\n")
    );
}

/// The mistake of a variant is shown on its line, that of a flag in the flag.
#[test]
fn mistakes_of_variants_and_flags_are_shown_where_they_are() {
    let variant = r#""clients.web.arrivals.profile" = [{ at = "5s", rate = 1 }, { at = "4s", rate = 1 }]
"clients.web.until" = "1s"
"services.front.calls.cache.copies" = 2
"services.front.calls.spare.to" = "db"
"services.front.calls.ads.if_failed" = "shard"
"horizon" = "15s""#;
    let flags = [
        "clients.web.arrivals.poisson.rate=-1",
        "services.front.call_order=[\"auth\", \"shard\", \"ad\"]",
        "retries.patient.budget.token_bucket.initial=11",
        "warmup=1h",
    ];
    let flags = Overrides { set: flags.map(str::to_owned).to_vec(), ..Overrides::default() };
    let of_flags = errors_with(GOOD, Path::new(""), &flags);
    assert_snapshot!(format!("{}\n\n{of_flags}", errors(&[(OTHER, variant)])));
}

/// Settings that would leave nothing: no time for the callee, no token for a retry, a rest that no window judges.
#[test]
fn what_leaves_nothing() {
    let call = "network = \"1ms\"\n";
    let deadline = "timeout = \"1s\"\npropagate_deadline = true\nreserve = \"2s\"\n";
    let every = "from = \"10s\"\nuntil = \"20s\"\nevery = \"3s\"\n";
    assert_snapshot!(errors(&[
        (call, deadline),
        (BUCKET, "{ max = 10, per_success = 0.1, cost = 20, floor = 11 }"),
        (WINDOW, every),
    ]));
}

/// More than the simulator is made for.
#[test]
fn calls_clients_and_windows_beyond_their_limits() {
    let calls: String = (0..998).map(|n| format!("\nextra{n} = {{ to = \"db\" }}")).collect();
    let too_many_calls = errors(&[(ORDER, "\"none\""), (CACHE, &format!("{CACHE}{calls}"))]);
    let clients = "{ closed = { think = \"1s\" } }\ncount = 268435456\n[clients.more]\nuntil = \"50s\"\n\
                   arrivals = { periodic = { every = \"1s\" } }\ncalls.front = {}\n[clients.web.calls.unused]\nto = \"db\"\n";
    let too_many_clients = errors(&[(ARRIVALS, clients)]);
    let services: String = (0..900).map(|n| format!("[services.s{n}]\n")).collect();
    let rows = format!("{WINDOW}every = \"5ms\"\n");
    let too_many_counts = errors(&[("[services.db]\n", &format!("[services.db]\n{services}")), (WINDOW, &rows)]);
    assert_snapshot!([too_many_calls, too_many_clients, too_many_counts].join("\n\n"));
}
