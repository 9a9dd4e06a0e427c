//! Shared configuration files of the AWS SDKs.

use stormsim::import::{self, Format};

use crate::{at, check_sample, imported, is_said, lines, remarks, run, table, wrong};

const AWS: Format = Format::Aws;

#[test]
fn samples_are_what_they_were() {
    check_sample(AWS, "aws-config");
}

/// The parameters of each mode.
#[test]
fn modes_have_their_own_waits_attempts_and_quotas() {
    let text =
        "[default]\nretry_mode = standard\n[profile old]\nretry_mode = legacy\n[profile a]\nretry_mode=Adaptive\n";
    let table = table(AWS, text);
    let keys = [
        "max_attempts",
        "backoff.exponential.base",
        "backoff.exponential.base_throttled",
        "cap",
        "jitter",
        "retry_after.over_own",
        "budget.aws_quota.mode",
    ];
    let of = |name: &str| keys.map(|key| at(&table, &format!("retries.{name}.{key}")));
    let standard = ["3", "\"50ms\"", "\"1s\"", "\"20s\"", "\"full\"", "\"5s\"", "\"standard-2.1\""];
    assert_eq!(of("default"), standard);
    assert_eq!(of("a"), standard);
    assert_eq!(of("old"), ["5", "\"1s\"", "none", "\"none\"", "\"full\"", "none", "none"]);
    assert_eq!(at(&table, "retries.old.budget"), "\"none\"");
    // A quota belongs to a client object, whatever it calls.
    let shared = |name: &str| ["shared_by", "shared_over"].map(|key| at(&table, &format!("retries.{name}.{key}")));
    assert_eq!(["default", "a"].map(shared), [["\"instance\"", "\"policy\""]; 2]);
    assert_eq!(shared("old"), ["none", "none"]);
    // 500, 502, 503, 504 and 429, and no answer at all.
    let on = r#"["unavailable", "refused", "reset", "overloaded", "rate_limited", "timeout", "deadline", "internal"]"#;
    assert_eq!(["default", "old"].map(|name| at(&table, &format!("retries.{name}.retry_on"))), [on, on]);
    let said = remarks(AWS, text);
    assert!(is_said(&said, &["`adaptive` is not in the scenario"]), "{said:?}");
    run(&imported(AWS, text).scenario());
}

/// What SDKs do changed on 2026-11-10, and no file says which of them reads it.
#[test]
fn the_day_on_which_it_changed_is_told() {
    let with_mode = remarks(AWS, "[default]\nretry_mode = standard\n");
    assert!(is_said(&with_mode, &["2026-11-10", "50 ms, not 1 s"]), "{with_mode:?}");
    assert!(!is_said(&with_mode, &["without `retry_mode`"]));
    let without = remarks(AWS, "[default]\nmax_attempts = 4\n");
    assert!(is_said(&without, &["without `retry_mode`", "2026-11-10"]), "{without:?}");
}

/// Attempts here, and retries in `Config(retries=...)` of boto3.
#[test]
fn attempts_are_attempts_and_boto3_counts_otherwise() {
    let text = "[default]\nmax_attempts = 4\n[profile b]\nmax_attempts = 2\n";
    assert_eq!(at(&table(AWS, text), "retries.default.max_attempts"), "4");
    let errors = import::import(AWS, "it", text).expect("it is right");
    let hints = errors.messages().render(false, 200);
    assert_eq!(hints.matches("boto3, `Config(retries=").count(), 1, "{hints}");
}

#[test]
fn profiles_that_say_nothing_are_left_out_unless_all_do() {
    let some = "[profile quiet]\nregion = x\n[profile loud]\nmax_attempts = 7\n[sso-session s]\nsso_region = x\n";
    let table = table(AWS, some);
    assert_eq!([at(&table, "retries.loud.max_attempts"), at(&table, "retries.quiet")], ["7", "none"]);
    assert!(is_said(&remarks(AWS, some), &["`quiet`", "left out"]));
    let none = "[profile a]\nregion = x\n[default]\nregion = y\n";
    let table = crate::table(AWS, none);
    assert_eq!([at(&table, "retries.default.max_attempts"), at(&table, "retries.a")], ["3", "none"]);
}

#[test]
fn surroundings_say_how_long_connecting_takes() {
    let of = |mode: &str| {
        let text = format!("[default]\ndefaults_mode = {mode}\n");
        at(&table(AWS, &text), "clients.callers.calls.default.connect_timeout")
    };
    let seconds = ["standard", "cross-region", "in-region", "mobile", "legacy", "auto"].map(of);
    assert_eq!(seconds, ["\"3100ms\"", "\"3100ms\"", "\"1100ms\"", "\"30s\"", "none", "none"]);
    assert!(is_said(&remarks(AWS, "[default]\ndefaults_mode = auto\n"), &["`defaults_mode` is not in the scenario"]));
}

/// Files of this kind may have secrets in them.
#[test]
fn what_is_secret_is_neither_shown_nor_kept() {
    let text = "[default]\naws_access_key_id = AKIAEXAMPLE\naws_secret_access_key = hush\nretry_mode = standard\n\
                aws_session_token = hush\nretry_modes = x\n";
    let imported = imported(AWS, text);
    let said = imported.messages().render(false, 100);
    assert!(said.contains("`default.retry_modes` is not known here"), "{said}");
    for shown in [said, imported.scenario()] {
        assert!(!shown.contains("hush") && !shown.contains("AKIA"), "{shown}");
    }
    let error = import::import(AWS, "it", &text.replace("= standard", "= quick")).expect_err("no such mode");
    assert!(!error.render(false, 100).contains("hush"));
}

#[test]
fn nested_settings_of_other_things_are_passed_over() {
    let text = "[default]\nretry_mode = standard\ns3 =\n  max_concurrent_requests = 20\n  addressing_style = path\noutput = json\n";
    let errors = import::import(AWS, "it", text).expect("it is right");
    assert!(!is_said(&lines(&errors.messages()), &["not known"]));
}

#[test]
fn what_the_sdks_refuse_is_refused() {
    for (setting, said) in [
        ("retry_mode = fast", "must be `legacy`, `standard` or `adaptive`"),
        ("max_attempts = 0", "must be a whole number from 1"),
        ("max_attempts = -1", "must be a whole number from 1"),
        ("max_attempts = 1e400", "must be a whole number from 1"),
        ("max_attempts = 99999999999999999999", "must be a whole number from 1"),
        ("max_attempts = 3 # three", "must be a whole number from 1"),
        ("max_attempts = ${N}", "is a placeholder"),
        ("defaults_mode = fast", "must be `legacy`"),
    ] {
        let said_of = wrong(AWS, &format!("[default]\n{setting}\n"));
        assert!(is_said(&said_of, &[said]), "{setting}: {said_of:?}");
    }
    assert!(is_said(&wrong(AWS, "[default]\naws_access_key_id = x\n"), &["this is no AWS"]));
    assert!(is_said(&wrong(AWS, "[default]\nmax_attempts 3\n"), &["this is no setting"]));
}

/// A profile without the word before it is read by nobody, and said to be: beside others, and alone.
#[test]
fn profiles_need_the_word_before_their_name() {
    let lost = &["`[dev]` is no profile", "write `[profile dev]`"];
    let text = "[default]\nretry_mode = standard\n[dev]\nmax_attempts = 7\n";
    assert!(is_said(&remarks(AWS, text), lost), "{:?}", remarks(AWS, text));
    assert!(!imported(AWS, text).scenario().contains("max_attempts = 7"));
    assert!(is_said(&wrong(AWS, "[dev]\nmax_attempts = 7\n"), lost));
}
