//! gRPC service configs.

use stormsim::Overrides;
use stormsim::import::Format;

use crate::{at, check_sample, imported, is_said, parsed, remarks, run, table, wrong};

const GRPC: Format = Format::Grpc;

/// A config with these fields in the retry policy of one method, and this beside it.
fn config(policy: &str, beside: &str) -> String {
    format!(r#"{{"methodConfig": [{{"name": [{{"service": "a.B"}}], "retryPolicy": {{{policy}}}}}]{beside}}}"#)
}

const POLICY: &str = r#""maxAttempts": 3, "initialBackoff": "0.1s", "maxBackoff": "1s", "backoffMultiplier": 2,
    "retryableStatusCodes": ["UNAVAILABLE"]"#;

#[test]
fn samples_are_what_they_were() {
    check_sample(GRPC, "grpc-service-config.json");
    check_sample(GRPC, "grpc-service-config-risky.json");
}

/// `min(initial * multiplier^(n - 1), max) * U(0.8, 1.2)`: the jitter comes after the cap and may exceed it.
#[test]
fn waits_are_spread_by_a_fifth_above_the_cap_too() {
    let table = table(GRPC, &config(POLICY, ""));
    let policy = |key: &str| at(&table, &format!("retries.B.{key}"));
    assert_eq!(
        ["max_attempts", "backoff.exponential.base", "backoff.exponential.factor", "cap", "cap_order", "jitter.spread"]
            .map(policy),
        ["3", "\"100ms\"", "2", "\"1s\"", "none", "0.2"]
    );
    assert_eq!(policy("retry_after.rule"), "\"replace\"");
}

/// Clients make at most five attempts, whatever the file says.
#[test]
fn attempts_are_limited_to_five() {
    let text = config(&POLICY.replace(": 3", ": 9"), "");
    assert_eq!(at(&table(GRPC, &text), "retries.B.max_attempts"), "5");
    assert!(is_said(&remarks(GRPC, &text), &["at most 5 attempts, not 9"]));
    assert!(remarks(GRPC, &config(&POLICY.replace(": 3", ": 5"), "")).is_empty());
}

#[test]
fn codes_are_names_in_any_case_or_numbers() {
    let codes = |codes: &str| {
        let text = config(&POLICY.replace(r#"["UNAVAILABLE"]"#, codes), "");
        at(&table(GRPC, &text), "retries.B.retry_on")
    };
    let unavailable = r#"["unavailable", "refused", "reset", "overloaded"]"#;
    assert_eq!([r#"["UNAVAILABLE"]"#, r#"["unavailable"]"#, "[14]", r#"["14"]"#].map(codes), [unavailable; 4]);
    assert_eq!(codes(r#"["RESOURCE_EXHAUSTED", 13]"#), r#"["overloaded", "rate_limited", "internal"]"#);
    let text = config(&POLICY.replace(r#""UNAVAILABLE""#, r#""INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "ABORTED""#), "");
    assert_eq!(at(&table(GRPC, &text), "retries.B.retry_on"), r#"["deadline", "invalid"]"#);
    let said = remarks(GRPC, &text);
    for parts in
        [["`INVALID_ARGUMENT`", "fails again"], ["`DEADLINE_EXCEEDED`", "spans all attempts"], ["`ABORTED`", "not in"]]
    {
        assert!(is_said(&said, &parts), "{parts:?} in {said:?}");
    }
}

/// The preset is an example of the same.
#[test]
fn unavailable_is_to_a_preset_what_it_is_here() {
    let on = |retries: &str| {
        let text = format!(
            "version = 1\nname = \"it\"\nhorizon = \"1s\"\n[clients.web]\narrivals = {{ burst = {{}} }}\n\
            calls.api = {{ retry = \"it\" }}\n[services.api]\n[retries.it]\n{retries}\n"
        );
        let scenario = parsed(&text, &Overrides::default());
        scenario.variants()[0].1.policies[1].retry_on
    };
    let imported = at(&table(GRPC, &config(POLICY, "")), "retries.B.retry_on");
    assert_eq!(on("preset = \"grpc\""), on(&format!("max_retries = 1\nretry_on = {imported}")));
}

/// Where no error of a scenario is like any of the codes nothing is tried again, and that is told.
#[test]
fn codes_that_are_no_errors_leave_nothing_to_try_again() {
    let of = |codes: &str| config(&POLICY.replace(r#""UNAVAILABLE""#, codes), "");
    let text = of(r#""ABORTED", "CANCELLED""#);
    assert_eq!(at(&table(GRPC, &text), "retries.B.retry_on"), "[]");
    assert!(is_said(&remarks(GRPC, &text), &["nothing is tried again in the scenario"]));
    assert!(!is_said(&remarks(GRPC, &of(r#""ABORTED", "INTERNAL""#)), &["nothing is tried again"]));
    run(&imported(GRPC, &text).scenario());
}

/// What clients do by themselves stays visible, once for a file.
#[test]
fn what_clients_do_by_themselves_is_told_in_a_line() {
    let other = r#", {"name": [{"service": "c.D"}], "retryPolicy": {"#.to_owned() + POLICY + "}}]";
    let two = config(POLICY, "").replace("}}]", &("}}".to_owned() + &other));
    for text in [config(POLICY, ""), two] {
        let scenario = imported(GRPC, &text).scenario();
        assert_eq!(scenario.matches("# not in here: push-back").count(), 1, "{scenario}");
        assert!(remarks(GRPC, &text).is_empty());
    }
}

/// `ceil(maxTokens / 2) - 1` retries from a full bucket: none at all with two tokens. Core reads a ratio without a
/// point as thousandths, and nobody reads digits after the third.
#[test]
fn traps_of_the_throttle_are_told() {
    let throttle = |tokens: &str, ratio: &str| {
        config(POLICY, &format!(r#", "retryThrottling": {{"maxTokens": {tokens}, "tokenRatio": {ratio}}}"#))
    };
    assert!(is_said(&remarks(GRPC, &throttle("2", "0.1")), &["`maxTokens: 2`", "never a retry"]));
    assert!(is_said(&remarks(GRPC, &throttle("10", "1")), &["takes it for 0.001"]));
    assert!(remarks(GRPC, &throttle("10", "1.0")).is_empty());
    let table = table(GRPC, &throttle("10", "0.12345678"));
    assert_eq!(at(&table, "retries.B.budget.grpc_throttle.token_ratio"), "0.123");
    assert_eq!(at(&table, "retries.B.shared_over"), "\"target\"");
    for (tokens, ratio, said) in [
        ("0", "0.1", "`maxTokens` must be above 0"),
        ("1001", "0.1", "at most 1000"),
        ("10", "0.0001", "`tokenRatio` must be at least 0.001"),
        ("10", "-1", "`tokenRatio` must be at least 0.001"),
        ("\"many\"", "0.1", "must be a number"),
    ] {
        assert!(is_said(&wrong(GRPC, &throttle(tokens, ratio)), &[said]), "{tokens} {ratio}");
    }
}

/// One config is for all of its methods: a call for each, one policy, and so one throttle.
#[test]
fn each_method_of_a_config_is_a_call_of_one_policy() {
    let names = r#"[{"service": "a.B"}]"#;
    let many = r#"[{"service": "a.B", "method": "Get"}, {"service": "a.B", "method": "List"}, {"service": "c.D"}]"#;
    let text =
        config(POLICY, "").replace(names, many).replace("\"retryPolicy\"", "\"timeout\": \"3s\", \"retryPolicy\"");
    let table = table(GRPC, &text);
    for (label, to) in [("B-Get", "\"B\""), ("B-List", "\"B\""), ("D", "none")] {
        let call = |key: &str| at(&table, &format!("clients.callers.calls.{label}.{key}"));
        assert_eq!(["to", "retry", "total_timeout"].map(call), [to, "\"B-Get\"", "\"3s\""], "{label}");
    }
    assert_eq!(table["retries"].as_table().map(toml::Table::len), Some(1));
    run(&imported(GRPC, &text).scenario());
}

#[test]
fn what_grpc_refuses_is_refused() {
    let without = |key: &str| {
        let fields =
            POLICY.split(",\n").flat_map(|line| line.split(", \"")).map(|field| field.trim().trim_matches('"'));
        let rest: Vec<String> = fields
            .filter(|field| !field.starts_with(key))
            .map(|field| format!("\"{field}").replace("s}", "s\"}"))
            .collect();
        rest.join(", ")
    };
    // A field that is missing, each in turn: the text is made of the same fields.
    for key in ["maxAttempts", "initialBackoff", "maxBackoff", "backoffMultiplier", "retryableStatusCodes"] {
        let text = config(&POLICY.replace(&format!("\"{key}\""), "\"description\""), "");
        assert!(is_said(&wrong(GRPC, &text), &[&format!("has no `{key}`")]), "{key} {}", without(key));
    }
    for (from, to, said) in [
        (": 3", ": 1", "must be above 1"),
        (": 3", ": -3", "must be a whole number"),
        (": 3", ": 99999999999999999999", "must be a whole number"),
        (": 3", ": [3]", "must be a single value, and is a list"),
        ("\"0.1s\"", "\"0s\"", "longer than zero"),
        ("\"0.1s\"", "\"-1s\"", "seconds with an `s`"),
        ("\"0.1s\"", "\"100ms\"", "seconds with an `s`"),
        ("\"1s\"", "\"1e400s\"", "seconds with an `s`"),
        (": 2,", ": 0,", "must be above 0"),
        (": 2,", ": 1e400,", "must be a number"),
        ("[\"UNAVAILABLE\"]", "[]", "at least one"),
        ("[\"UNAVAILABLE\"]", "\"UNAVAILABLE\"", "must be a list"),
        ("\"UNAVAILABLE\"", "\"TEAPOT\"", "`TEAPOT` is no status code"),
        ("\"UNAVAILABLE\"", "17", "`17` is no status code"),
        ("\"UNAVAILABLE\"", "\"${CODE}\"", "is a placeholder"),
    ] {
        let said_of = wrong(GRPC, &config(&POLICY.replacen(from, to, 1), ""));
        assert!(is_said(&said_of, &[said]), "{to}: {said_of:?}");
    }
    let of_names = |names: &str| config(POLICY, "").replace(r#"[{"service": "a.B"}]"#, names);
    assert!(is_said(&wrong(GRPC, &of_names(r#"[{"method": "Get"}]"#)), &["needs its service"]));
    assert!(is_said(&wrong(GRPC, &of_names(r#"[{"service": "a"}, {"service": "a"}]"#)), &["has a config already"]));
    let both =
        config(POLICY, "").replace("\"retryPolicy\"", "\"hedgingPolicy\": {\"maxAttempts\": 2}, \"retryPolicy\"");
    assert!(is_said(&wrong(GRPC, &both), &["never both"]));
    for text in [
        r#"{"methodConfig": {}}"#,
        r#"{"methodConfig": [3]}"#,
        r#"{"methodConfig": [{"name": [{}], "retryPolicy": 3}]}"#,
    ] {
        assert!(is_said(&wrong(GRPC, text), &["must be a"]), "{text}");
    }
}

#[test]
fn a_config_without_methods_is_told() {
    let text = r#"{"methodConfig": [{"timeout": "1s"}, {"name": [{}], "timeout": "2s"}]}"#;
    assert!(is_said(&remarks(GRPC, text), &["for no method"]));
    assert_eq!(at(&table(GRPC, text), "clients.callers.calls.any-method.total_timeout"), "\"2s\"");
    assert!(is_said(&wrong(GRPC, r#"{"methodConfig": []}"#), &["nothing in it"]));
    assert!(is_said(&wrong(GRPC, r#"{"loadBalancingPolicy": "round_robin"}"#), &["nothing in it"]));
}

/// TXT records of name resolution have choices, each for some clients.
#[test]
fn the_first_choice_of_name_resolution_is_taken() {
    let choice = |attempts: &str| config(&POLICY.replace(": 3", attempts), "");
    let text = format!(
        r#"[{{"percentage": 10, "serviceConfig": {}}}, {{"serviceConfig": {}}}]"#,
        choice(": 4"),
        choice(": 2")
    );
    assert_eq!(at(&table(GRPC, &text), "retries.B.max_attempts"), "4");
    let said = remarks(GRPC, &text);
    assert!(is_said(&said, &["`percentage`", "some clients only"]) && is_said(&said, &["first choice"]), "{said:?}");
    let one = format!(r#"{{"serviceConfig": {}}}"#, choice(": 2"));
    assert_eq!(at(&table(GRPC, &one), "retries.B.max_attempts"), "2");
}
