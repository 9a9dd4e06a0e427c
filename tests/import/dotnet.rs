//! .NET settings of resilience handlers.

use stormsim::import::Format;

use crate::{at, check_sample, imported, is_said, remarks, run, table, wrong};

const DOTNET: Format = Format::Dotnet;

#[test]
fn samples_are_what_they_were() {
    check_sample(DOTNET, "dotnet-appsettings.json");
}

/// Settings of one client, of which these are written.
fn client(sections: &str) -> String {
    format!(r#"{{"Logging": {{"Level": "Debug"}}, "HttpClients": {{"Shop": {{{sections}}}}}}}"#)
}

fn retry(settings: &str) -> String {
    client(&format!(r#""Retry": {{"MaxRetryAttempts": 3{settings}}}"#))
}

fn policy(text: &str, key: &str) -> String {
    at(&table(DOTNET, text), &format!("retries.Shop.{key}"))
}

fn call(text: &str, key: &str) -> String {
    at(&table(DOTNET, text), &format!("clients.callers.calls.Shop.{key}"))
}

/// What is not in the file is what `AddStandardResilienceHandler` does.
#[test]
fn where_the_file_is_silent_the_standard_handler_speaks() {
    let text = client(r#""Retry": {"UseJitter": true}"#);
    let keys =
        ["max_retries", "backoff.decorrelated_v2.base", "cap", "jitter", "retry_after.rule", "retry_after.at_most"];
    assert_eq!(keys.map(|key| policy(&text, key)), ["3", "\"2s\"", "none", "none", "\"replace\"", "none"]);
    // 504 is 500 or above, too.
    let on = r#"["unavailable", "refused", "reset", "overloaded", "rate_limited", "timeout", "deadline", "internal"]"#;
    assert_eq!([policy(&text, "retry_on"), call(&text, "breaker.failure_on")], [on, on]);
    let keys = [
        "total_timeout",
        "timeout",
        "pool.size",
        "pool.max_wait",
        "breaker.trip.ratio.failures",
        "breaker.trip.ratio.window",
        "breaker.trip.ratio.min_calls",
        "breaker.open_for",
        "breaker.position",
    ];
    let defaults = ["\"30s\"", "\"10s\"", "1000", "\"0s\"", "0.1", "\"30s\"", "100", "\"5s\"", "\"inside\""];
    assert_eq!(keys.map(|key| call(&text, key)), defaults);
    run(&imported(DOTNET, &text).scenario());
}

/// Exponential with jitter is a curve of its own; the others are spread by a quarter, and cut after that.
#[test]
fn kinds_of_waits() {
    let of = |settings: &str| {
        let text = retry(&format!(r#", "Delay": "00:00:01", "MaxDelay": "00:00:03", {settings}"#));
        let keys = [
            "backoff.fixed",
            "backoff.linear.step",
            "backoff.exponential.base",
            "backoff.decorrelated_v2.base",
            "jitter.spread",
            "cap",
            "cap_order",
        ];
        keys.map(|key| policy(&text, key))
    };
    let s = "\"1s\"";
    let (none, cap, after) = ("none", "\"3s\"", "\"after_jitter\"");
    assert_eq!(of(r#""BackoffType": "Constant""#), [s, none, none, none, "0.25", cap, after]);
    assert_eq!(of(r#""BackoffType": "constant", "UseJitter": false"#), [s, none, none, none, none, cap, none]);
    // By the number of the enumeration.
    assert_eq!(of(r#""BackoffType": 1"#), of(r#""BackoffType": "Linear""#));
    assert_eq!(of(r#""BackoffType": "Linear""#), [none, s, none, none, "0.25", cap, after]);
    assert_eq!(of(r#""BackoffType": "Exponential", "UseJitter": false"#), [none, none, s, none, none, cap, none]);
    assert_eq!(of(r#""UseJitter": "True""#), [none, none, none, s, none, cap, none]);
    assert_eq!(policy(&retry(r#", "Delay": "00:00:00""#), "backoff"), "\"none\"");
    assert_eq!(policy(&retry(r#", "ShouldRetryAfterHeader": false"#), "retry_after"), "\"ignore\"");
}

#[test]
fn traps_are_told() {
    assert!(is_said(&remarks(DOTNET, &retry("")), &["`POST` included"]));
    // Four attempts of 10 s do not fit into 30 s, but four of 7 s do.
    assert!(is_said(&remarks(DOTNET, &retry("")), &["4 attempts of 10s do not fit into 30s"]));
    let fits = client(r#""AttemptTimeout": {"Timeout": "00:00:07"}"#);
    assert!(!is_said(&remarks(DOTNET, &fits), &["do not fit"]));
    let limiter = |limits: &str| client(&format!(r#""RateLimiter": {{"DefaultRateLimiterOptions": {{{limits}}}}}"#));
    let queued = limiter(r#""PermitLimit": 5, "QueueLimit": 9"#);
    assert_eq!(["pool.size", "pool.max_wait"].map(|key| call(&queued, key)), ["5", "\"none\""]);
    assert!(is_said(&remarks(DOTNET, &queued), &["`QueueLimit` is not in the scenario"]));
    assert!(is_said(&remarks(DOTNET, &queued), &["between its attempts, too"]));
    assert_eq!(call(&limiter(r#""PermitLimit": 5"#), "pool.max_wait"), "\"0s\"");
}

/// Wherever they stand, in any case, and with paths for keys.
#[test]
fn settings_are_found_at_any_depth() {
    for (text, name) in [
        (r#"{"Retry": {"MaxRetryAttempts": 7}}"#, "http"),
        (r#"{"RetryOptions": {"Retry": {"maxretryattempts": 7}}}"#, "http"),
        (r#"{"A": {"B": {"Resilience": {"Retry": {"MaxRetryAttempts": "7"}}}}}"#, "B"),
        (r#"{"A": [{"x": 1}, {"Retry": {"MaxRetryAttempts": 7}}]}"#, "A"),
        (r#"{"A:B:Retry:MaxRetryAttempts": "7", "A:B:Retry:UseJitter": "false"}"#, "B"),
        ("\u{feff}{ // a comment\n\"B\": {\"Retry\": {\"MaxRetryAttempts\": 7,},},}", "B"),
    ] {
        assert_eq!(at(&table(DOTNET, text), &format!("retries.{name}.max_retries")), "7", "{text}");
    }
    let two =
        r#"{"A": {"Resilience": {"Retry": {"UseJitter": true}}}, "B": {"AttemptTimeout": {"Timeout": "00:00:01"}}}"#;
    let table = table(DOTNET, two);
    assert_eq!(at(&table, "clients.callers.calls.B.timeout"), "\"1s\"");
    assert_eq!(at(&table, "retries.A.max_retries"), "3");
    // Something else that is called so.
    assert!(is_said(&wrong(DOTNET, r#"{"Queue": {"Retry": {"Count": 3}}}"#), &["this is no .NET"]));
}

#[test]
fn hedging_handlers_are_not_taken_for_others() {
    let hedging = r#"{"A": {"TotalRequestTimeout": {"Timeout": "00:00:30"}, "Hedging": {"MaxHedgedAttempts": 2}}}"#;
    assert!(is_said(&wrong(DOTNET, hedging), &["nothing in it"]));
    let both = hedging.replacen('{', r#"{"B": {"Retry": {"UseJitter": true}}, "#, 1);
    assert!(is_said(&remarks(DOTNET, &both), &["`A` is for a hedging handler"]));
    assert_eq!(at(&table(DOTNET, &both), "retries.A"), "none");
}

/// What the validators of .NET refuse when the program starts.
#[test]
fn what_dotnet_refuses_is_refused() {
    for (text, said) in [
        (client(r#""AttemptTimeout": {"Timeout": "00:00:31"}"#), "above `TotalRequestTimeout`"),
        (client(r#""AttemptTimeout": {"Timeout": "00:00:16"}"#), "below twice the timeout"),
        (client(r#""CircuitBreaker": {"SamplingDuration": "00:00:19"}"#), "below twice the timeout"),
        (client(r#""CircuitBreaker": {"FailureRatio": 10}"#), "above 0, at most 1"),
        (client(r#""CircuitBreaker": {"MinimumThroughput": 1}"#), "a whole number from 2"),
        (client(r#""CircuitBreaker": {"BreakDuration": "00:00:00.1"}"#), "from 500 ms to a day"),
        (client(r#""TotalRequestTimeout": {"Timeout": "30"}"#), "a plain number is in days"),
        (client(r#""TotalRequestTimeout": {"Timeout": 2}"#), "a plain number is in days"),
        (client(r#""TotalRequestTimeout": {"Timeout": "-00:00:01"}"#), "must be a time such as"),
        (client(r#""TotalRequestTimeout": {"Timeout": "00:00:00"}"#), "from 10 ms to a day"),
        (retry(r#", "BackoffType": "Fibonacci""#), "`Constant`, `Linear` or `Exponential`"),
        (retry("").replace('3', "0"), "a whole number from 1"),
        (retry("").replace('3', "1e400"), "a whole number from 1"),
        (retry("").replace('3', "99999999999999999999"), "a whole number from 1"),
        (retry("").replace('3', "[]"), "must be a single value, and is a list"),
        (retry(r#", "UseJitter": "sometimes""#), "`true` or `false`"),
        (retry(r#", "Delay": "2s""#), "must be a time such as"),
        (client(r#""Retry": {"UseJitter": true}, "CircuitBreaker": 3"#), "must be a table, and is a single value"),
    ] {
        let said_of = wrong(DOTNET, &text);
        assert!(is_said(&said_of, &[said]), "{text}: {said_of:?}");
    }
    let twice = r#"{"A:Retry:UseJitter": true, "A": {"Retry": {"UseJitter": false}}}"#;
    assert!(is_said(&wrong(DOTNET, twice), &["is there twice"]));
}

#[test]
fn unknown_settings_are_told_and_kept_as_comments() {
    let text = retry(r#", "MaxRetries": 5"#);
    assert!(is_said(&remarks(DOTNET, &text), &["`HttpClients.Shop.Retry.MaxRetries` is not known here"]));
    assert!(imported(DOTNET, &text).scenario().contains("# not in here: HttpClients.Shop.Retry.MaxRetries"));
}
