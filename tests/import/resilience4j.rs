//! Resilience4j in Spring Boot.

use stormsim::import::Format;

use crate::{at, check_sample, imported, is_said, remarks, run, table, wrong};

const R4J: Format = Format::Resilience4j;

#[test]
fn samples_are_what_they_were() {
    check_sample(R4J, "resilience4j-application.yml");
}

/// Settings of the retries of the instance `x`, in a line, with configurations beneath it.
fn retry(settings: &str, configs: &str) -> String {
    format!("resilience4j.retry:\n  instances: {{ x: {{ {settings} }} }}\n  configs: {{ {configs} }}\n")
}

fn policy(text: &str, key: &str) -> String {
    at(&table(R4J, text), &format!("retries.x.{key}"))
}

fn call(text: &str, key: &str) -> String {
    at(&table(R4J, text), &format!("clients.callers.calls.x.{key}"))
}

const WAITS: [&str; 7] = [
    "backoff.fixed",
    "backoff.exponential.base",
    "backoff.exponential.factor",
    "cap",
    "cap_order",
    "jitter.spread",
    "granularity",
];

fn waits(settings: &str, configs: &str) -> [String; 7] {
    let text = retry(settings, configs);
    WAITS.map(|key| policy(&text, key))
}

const NONE: &str = "none";

#[test]
fn where_the_file_is_silent_the_library_speaks() {
    assert_eq!(policy(&retry("", ""), "max_attempts"), "3");
    assert_eq!(waits("", ""), ["\"500ms\"", NONE, NONE, NONE, NONE, NONE, NONE]);
    // Every exception: those that the caller makes itself, and those that fail again, too.
    let all = policy(&retry("", ""), "retry_on");
    assert!(["breaker_open", "pool_timeout", "invalid", "internal"].iter().all(|kind| all.contains(kind)), "{all}");
    let text = "resilience4j:\n  circuitbreaker: {instances: {x: {}}}\n  bulkhead: {instances: {x: {}}}\n  \
                timelimiter: {instances: {x: {}}}\n";
    let keys = [
        "timeout",
        "pool.size",
        "pool.max_wait",
        "breaker.trip.ratio.failures",
        "breaker.trip.ratio.calls",
        "breaker.trip.ratio.min_calls",
        "breaker.open_for",
        "breaker.half_open",
        "breaker.position",
    ];
    assert_eq!(
        keys.map(|key| call(text, key)),
        ["\"1s\"", "25", "\"0s\"", "0.5", "100", "100", "\"60s\"", "10", "\"inside\""]
    );
    // Calls that fail because they are wrong are failures, too.
    assert!(call(text, "breaker.failure_on").contains("invalid"));
}

/// What the flags make of a wait of 100 ms, each with the defaults of what they need.
#[test]
fn flags_beside_a_wait() {
    let (b, ms) = ("\"100ms\"", "\"1ms\"");
    let of = |flags: &str| waits(&format!("waitDuration: 100ms, {flags}"), "");
    let (expo, random) = ("enableExponentialBackoff: true", "enableRandomizedWait: true");
    assert_eq!(of(""), [b, NONE, NONE, NONE, NONE, NONE, NONE]);
    assert_eq!(of(expo), [NONE, b, "1.5", NONE, NONE, NONE, ms]);
    assert_eq!(of(random), [b, NONE, NONE, NONE, NONE, "0.5", ms]);
    assert_eq!(of(&format!("{expo}, {random}")), [NONE, b, "1.5", NONE, NONE, "0.5", ms]);
    let all = "exponentialBackoffMultiplier: 2, exponentialMaxWaitDuration: 1s, randomizedWaitFactor: 0.3";
    assert_eq!(of(&format!("{expo}, {all}")), [NONE, b, "2", "\"1s\"", NONE, NONE, ms]);
    // The cap comes after the draw.
    let both = of(&format!("{expo}, {random}, {all}"));
    assert_eq!(both, [NONE, b, "2", "\"1s\"", "\"after_jitter\"", "0.3", ms]);
    assert_eq!(policy(&retry("waitDuration: 0", ""), "backoff"), "\"none\"");
    assert_eq!(of("enableExponentialBackoff: false"), [b, NONE, NONE, NONE, NONE, NONE, NONE]);
}

/// The trap of the sample: a flag that stands where no `waitDuration` does.
#[test]
fn flags_without_a_wait_beside_them_do_nothing() {
    let text = retry("enableExponentialBackoff: true, maxAttempts: 6", "");
    assert_eq!(policy(&text, "backoff.fixed"), "\"500ms\"");
    assert!(is_said(&remarks(R4J, &text), &["`enableExponentialBackoff` has no effect", "`waitDuration`"]));
    // A wait beneath it does not help: what lies beneath is made first, without the flag.
    let beneath = retry("enableExponentialBackoff: true", "default: { waitDuration: 100ms }");
    assert_eq!(policy(&beneath, "backoff.fixed"), "\"100ms\"");
    assert!(is_said(&remarks(R4J, &beneath), &["`enableExponentialBackoff` has no effect"]));
    // But a flag beneath it counts for the wait above.
    let above = retry("waitDuration: 100ms", "default: { enableExponentialBackoff: true }");
    assert_eq!(policy(&above, "backoff.exponential.base"), "\"100ms\"");
    assert!(!is_said(&remarks(R4J, &above), &["has no effect"]));
    // What belongs to a flag counts no more than the flag; and Spring's `yes` is a truth.
    let text = retry("enableExponentialBackoff: yes, exponentialMaxWaitDuration: 3s", "");
    for key in ["enableExponentialBackoff", "exponentialMaxWaitDuration"] {
        assert!(is_said(&remarks(R4J, &text), &[&format!("`{key}` has no effect"), "`waitDuration`"]), "{key}");
    }
}

/// A cap counts only with a multiplier, and with a factor if there is a draw; a factor only with a multiplier.
#[test]
fn settings_that_need_others_do_nothing_without_them() {
    let expo = "waitDuration: 100ms, enableExponentialBackoff: true";
    let random = format!("{expo}, enableRandomizedWait: true");
    let multiplier = "exponentialBackoffMultiplier: 2";
    for (settings, idle) in [
        (format!("{expo}, exponentialMaxWaitDuration: 1s"), "exponentialMaxWaitDuration"),
        (format!("{random}, {multiplier}, exponentialMaxWaitDuration: 1s"), "exponentialMaxWaitDuration"),
        (format!("{random}, randomizedWaitFactor: 0.1"), "randomizedWaitFactor"),
        (format!("waitDuration: 1s, {multiplier}"), "exponentialBackoffMultiplier"),
        (format!("{expo}, randomizedWaitFactor: 0.1"), "randomizedWaitFactor"),
    ] {
        let text = retry(&settings, "");
        assert!(is_said(&remarks(R4J, &text), &[&format!("`{idle}` has no effect")]), "{settings}");
        assert_eq!([policy(&text, "cap"), policy(&text, "cap_order")], [NONE, NONE], "{settings}");
        assert!(!policy(&text, "jitter.spread").contains("0.1"), "{settings}");
    }
    // The factor is the one thing that is not taken over from beneath.
    let text = retry("waitDuration: 1s", "default: { enableRandomizedWait: true, randomizedWaitFactor: 0.2 }");
    assert_eq!(policy(&text, "jitter.spread"), "0.5");
    assert!(is_said(&remarks(R4J, &text), &["`randomizedWaitFactor` has no effect"]));
}

#[test]
fn configurations_lie_beneath_instances() {
    let configs =
        "default: { maxAttempts: 5 }, slow: { waitDuration: 9s }, other: { baseConfig: slow, maxAttempts: 7 }";
    let of = |settings: &str| {
        let text = retry(settings, configs);
        ["max_attempts", "backoff.fixed"].map(|key| policy(&text, key))
    };
    assert_eq!(of(""), ["5", "\"500ms\""]);
    assert_eq!(of("maxAttempts: 2"), ["2", "\"500ms\""]);
    // `default` lies beneath `slow`, too.
    assert_eq!(of("baseConfig: slow"), ["5", "\"9s\""]);
    assert_eq!(of("baseConfig: other"), ["7", "\"9s\""]);
    // Circuit breakers: `default` is beneath what names nothing else, and beneath that only.
    let breaker = |settings: &str| {
        let configs = "default: {failureRateThreshold: 20}, slow: {slidingWindowSize: 10}, x: {slidingWindowSize: 30}";
        let text = format!(
            "resilience4j.circuitbreaker:\n  instances: {{ x: {{ {settings} }}, y: {{}} }}\n  configs: {{ {configs} }}\n"
        );
        let y = at(&table(R4J, &text), "clients.callers.calls.y.breaker.trip.ratio.failures");
        assert_eq!(y, "0.2");
        ["failures", "calls"].map(|key| call(&text, &format!("breaker.trip.ratio.{key}")))
    };
    assert_eq!(breaker("baseConfig: slow"), ["0.5", "10"]);
    assert_eq!(breaker(""), ["0.5", "30"]);
}

#[test]
fn bases_that_are_not_there_or_lead_back_are_refused() {
    assert!(is_said(&wrong(R4J, &retry("baseConfig: nobody", "")), &["`configs` has no `nobody`"]));
    for configs in ["a: { baseConfig: a }", "a: { baseConfig: b }, b: { baseConfig: a }"] {
        assert!(is_said(&wrong(R4J, &retry("baseConfig: a", configs)), &["lies beneath itself"]), "{configs}");
    }
}

#[test]
fn exceptions_are_errors_as_well_as_they_can_be() {
    let on = |lists: &str| policy(&retry(lists, ""), "retry_on");
    let known = "retryExceptions: [java.net.ConnectException, java.util.concurrent.TimeoutException]";
    assert_eq!(on(known), r#"["refused", "timeout"]"#);
    assert_eq!(
        on("retry-exceptions: 'java.io.IOException, java.util.concurrent.TimeoutException'"),
        r#"["refused", "reset", "timeout"]"#
    );
    let ignored = format!("{known}, ignoreExceptions: [java.io.IOException]");
    assert_eq!(on(&ignored), r#"["timeout"]"#);
    let but = "ignoreExceptions: [org.springframework.web.client.HttpClientErrorException, \
               io.github.resilience4j.circuitbreaker.CallNotPermittedException]";
    let left = on(but);
    assert!(!left.contains("invalid") && !left.contains("breaker_open") && left.contains("internal"), "{left}");
    // Others are left out, visibly, and if nothing is left it is said what is assumed.
    let text = retry("retryExceptions: [com.acme.Oops, java.net.ConnectException]", "");
    assert_eq!(policy(&text, "retry_on"), r#"["refused"]"#);
    assert!(is_said(&remarks(R4J, &text), &["`com.acme.Oops` is not in the scenario"]));
    let text = retry("retryExceptions: [com.acme.Oops]", "");
    assert!(policy(&text, "retry_on").contains("unavailable"));
    assert!(imported(R4J, &text).scenario().contains("# assumed: none of `retryExceptions`"));
}

/// With their subclasses: timeouts of HTTP clients are `IOException`s, a 504 is a `HttpServerErrorException`.
#[test]
fn exceptions_have_what_their_subclasses_have() {
    let on = |classes: &str| policy(&retry(&format!("retryExceptions: ['{classes}']"), ""), "retry_on");
    assert_eq!(on("java.io.IOException"), r#"["refused", "reset", "timeout"]"#);
    let feign = on("feign.FeignException");
    assert!(["refused", "reset", "timeout", "deadline", "invalid"].iter().all(|kind| feign.contains(kind)), "{feign}");
    let spring = "org.springframework.web.client.HttpServerErrorException";
    assert_eq!(on(spring), r#"["unavailable", "overloaded", "deadline", "internal"]"#);
    let statuses = ["BadGateway", "ServiceUnavailable", "GatewayTimeout"];
    let of = statuses.map(|status| on(&format!("{spring}${status}")));
    assert_eq!(of, [r#"["unavailable"]"#, r#"["unavailable", "overloaded"]"#, r#"["deadline"]"#]);
    let runtime = on("java.lang.RuntimeException");
    assert!(runtime.contains("deadline") && runtime.contains("\"timeout\""), "{runtime}");
}

/// A time limiter throws an exception of its own, which is none of an HTTP client, nor unchecked.
#[test]
fn what_a_time_limiter_throws_is_no_io_exception() {
    let limiter = "\nresilience4j.timelimiter.instances.x: {}\n";
    let on = |lists: &str| policy(&(retry(lists, "") + limiter), "retry_on");
    assert_eq!(on("retryExceptions: [java.io.IOException]"), r#"["refused", "reset"]"#);
    assert!(!on("retryExceptions: [java.lang.RuntimeException]").contains("\"timeout\""));
    for class in ["java.util.concurrent.TimeoutException", "java.net.SocketTimeoutException"] {
        assert_eq!(on(&format!("retryExceptions: [{class}]")), r#"["timeout"]"#, "{class}");
    }
    assert!(on("retryExceptions: [java.lang.Exception]").contains("\"timeout\""));
    let left = on("ignoreExceptions: [java.io.IOException]");
    assert!(left.contains("\"timeout\"") && !left.contains("refused"), "{left}");
    let breaker = "resilience4j.circuitbreaker.instances.x: { recordExceptions: [java.io.IOException] }\n";
    assert_eq!(call(&(breaker.to_owned() + limiter), "breaker.failure_on"), r#"["refused", "reset"]"#);
    assert_eq!(call(breaker, "breaker.failure_on"), r#"["refused", "reset", "timeout"]"#);
}

/// An open breaker, a full bulkhead and a rate limiter are exceptions like any other.
#[test]
fn retries_of_what_was_refused_locally_are_told() {
    let text = |ignored: &str| {
        format!(
            "resilience4j:\n  retry: {{instances: {{x: {{ignoreExceptions: [{ignored}]}}}}}}\n  \
             circuitbreaker: {{instances: {{x: {{}}}}}}\n  bulkhead: {{instances: {{x: {{}}}}}}\n  \
             ratelimiter: {{instances: {{x: {{limitRefreshPeriod: 1s}}}}}}\n"
        )
    };
    let said = remarks(R4J, &text(""));
    for what in ["an open circuit breaker", "a full bulkhead", "a rate limiter"] {
        assert!(is_said(&said, &[&format!("`x` tries again what {what} has refused")]), "{what}: {said:?}");
    }
    // Without a period it refuses nothing.
    let idle = text("").replace("limitRefreshPeriod: 1s", "");
    assert!(!is_said(&remarks(R4J, &idle), &["a rate limiter has refused"]));
    let ignored = "io.github.resilience4j.circuitbreaker.CallNotPermittedException, \
                   io.github.resilience4j.bulkhead.BulkheadFullException, \
                   io.github.resilience4j.ratelimiter.RequestNotPermitted";
    assert!(!is_said(&remarks(R4J, &text(ignored)), &["has refused"]));
    assert!(!is_said(&remarks(R4J, &retry("", "")), &["has refused"]));
    assert!(is_said(&said, &["is a failure to the circuit breaker"]));
}

/// A window of calls is full with as many as it has, one of time is not.
#[test]
fn windows_of_breakers() {
    let text = |settings: &str| format!("resilience4j.circuitbreaker.instances.x: {{ {settings} }}");
    let trip = |settings: &str| {
        ["calls", "window", "min_calls"].map(|key| call(&text(settings), &format!("breaker.trip.ratio.{key}")))
    };
    assert_eq!(trip("slidingWindowSize: 10"), ["10", NONE, "10"]);
    assert_eq!(trip("slidingWindowSize: 10, minimumNumberOfCalls: 5"), ["10", NONE, "5"]);
    assert_eq!(trip("slidingWindowType: TIME_BASED, slidingWindowSize: 10"), [NONE, "\"10s\"", "100"]);
    let timed = "slidingWindowType: time_based";
    assert!(is_said(&remarks(R4J, &text(timed)), &["never opens with fewer than 100 calls in 100 s"]));
    let told = format!("{timed}, minimumNumberOfCalls: 5");
    assert!(!is_said(&remarks(R4J, &text(&told)), &["never opens"]));
    let growing = "waitDurationInOpenState: 1s, enableExponentialBackoff: true, \
                   exponentialMaxWaitDurationInOpenState: 9s";
    let open = |settings: &str| {
        ["breaker.open_for", "breaker.open_factor", "breaker.open_cap"].map(|key| call(&text(settings), key))
    };
    assert_eq!(open(growing), ["\"1s\"", "1.5", NONE]);
    assert!(is_said(&remarks(R4J, &text(growing)), &["`exponentialMaxWaitDurationInOpenState` has no effect"]));
    assert_eq!(open(&format!("{growing}, exponentialBackoffMultiplier: 2")), ["\"1s\"", "2", "\"9s\""]);
    let random = "waitDurationInOpenState: 1s, enableRandomizedWait: true";
    assert_eq!(call(&text(random), "breaker.open_jitter.spread"), "0.5");
    let both = format!("{random}, enableExponentialBackoff: true");
    assert!(is_said(&wrong(R4J, &text(&both)), &["both exponential and randomized"]));
    let slow = remarks(R4J, &text("slowCallRateThreshold: 50, automaticTransitionFromOpenToHalfOpenEnabled: true"));
    assert!(is_said(&slow, &["`slowCallRateThreshold` is not in the scenario"]) && slow.len() == 1, "{slow:?}");
}

/// 50 in 500 ns.
#[test]
fn a_rate_limiter_without_a_period_limits_nothing() {
    let text = |settings: &str| format!("resilience4j.ratelimiter.instances.x: {{ {settings} }}");
    assert!(is_said(&remarks(R4J, &text("limitForPeriod: 10")), &["limits nothing", "500 ns"]));
    let said = remarks(R4J, &text("limitForPeriod: 10, limitRefreshPeriod: 1s"));
    assert!(!is_said(&said, &["limits nothing"]) && is_said(&said, &["a rate limit of the caller"]), "{said:?}");
}

/// Keys in any spelling, as paths or as tables, an older word for instances, and durations in all forms.
#[test]
fn properties_may_be_written_in_many_ways() {
    for text in [
        "resilience4j.retry.instances.x.maxAttempts: 4\nresilience4j.retry.instances.x.waitDuration: 250\n",
        "resilience4j:\n  retry.instances.x:\n    max-attempts: 4\n    wait-duration: PT0.25S\n",
        "resilience4j.retry:\n  backends:\n    x: {MAX_ATTEMPTS: \"4\", waitduration: 250ms}\n",
        "resilience4j.retry.configs.default.max-attempts: 4\nresilience4j:\n  retry:\n    instances:\n      x.wait-duration: 250ms\n",
    ] {
        assert_eq!(["max_attempts", "backoff.fixed"].map(|key| policy(text, key)), ["4", "\"250ms\""], "{text}");
    }
}

/// Later documents lie over earlier ones; those for a profile count only there.
#[test]
fn documents_of_a_file() {
    let text = "spring.application.name: shop\n---\nresilience4j.retry.instances.x: {maxAttempts: 4, waitDuration: 1s}\n---\n\
                resilience4j.retry.instances.x.max-attempts: 5\n---\n\
                spring.config.activate.on-profile: prod\nresilience4j.retry.instances.x.maxAttempts: 9\n";
    assert_eq!(["max_attempts", "backoff.fixed"].map(|key| policy(text, key)), ["5", "\"1s\""]);
    assert!(is_said(&remarks(R4J, text), &["only where `prod` is active", "not in the scenario"]));
    let only = "spring: {profiles: prod}\nresilience4j.retry.instances.x.maxAttempts: 9\n";
    assert!(is_said(&wrong(R4J, only), &["only where `prod` is active"]));
}

#[test]
fn placeholders_stand_for_their_defaults_or_are_refused() {
    let text = retry("maxAttempts: \"${RETRIES:7}\"", "");
    assert_eq!(policy(&text, "max_attempts"), "7");
    assert!(is_said(&remarks(R4J, &text), &["`RETRIES` may be set", "`7`"]));
    for placeholder in ["${RETRIES}", "${A:${B:7}}", "{{ .Values.n }}"] {
        let text = retry(&format!("maxAttempts: \"{placeholder}\""), "");
        assert!(is_said(&wrong(R4J, &text), &["is a placeholder"]), "{placeholder}");
    }
}

/// Instances of one name are one call, whatever modules they are in.
#[test]
fn modules_meet_in_one_call() {
    let text =
        "resilience4j:\n  timelimiter: {instances: {b: {timeoutDuration: 2s}}}\n  retry: {instances: {a: {}, b: {}}}\n";
    let table = table(R4J, text);
    let calls = table["clients"]["callers"]["calls"].as_table().expect("calls");
    assert_eq!(calls.keys().collect::<Vec<_>>(), ["b", "a"]);
    assert_eq!(at(&table, "clients.callers.calls.b.timeout"), "\"2s\"");
    assert_eq!([at(&table, "retries.a.max_attempts"), at(&table, "retries.b.max_attempts")], ["3", "3"]);
    run(&imported(R4J, text).scenario());
}

#[test]
fn what_the_library_refuses_is_refused() {
    for (settings, said) in [
        ("maxAttempts: 0", "a whole number from 1"),
        ("maxAttempts: 1e400", "a whole number from 1"),
        ("maxAttempts: 99999999999999999999", "a whole number from 1"),
        ("maxAttempts: [3]", "must be a single value, and is a list"),
        ("waitDuration: -1s", "must be a duration"),
        ("waitDuration: 1.5s", "must be a duration"),
        ("waitDuration: 99999999999999999999s", "must be a duration"),
        ("waitDuration: 0, enableExponentialBackoff: true", "at least 1 ms"),
        ("waitDuration: 1s, enableExponentialBackoff: maybe", "`true` or `false`"),
        ("waitDuration: 1s, enableExponentialBackoff: true, exponentialBackoffMultiplier: 0", "above 0"),
        ("waitDuration: 1s, enableExponentialBackoff: true, exponentialBackoffMultiplier: 1e400", "must be a number"),
        ("waitDuration: 1s, enableRandomizedWait: true, randomizedWaitFactor: 1", "from 0 to below 1"),
        ("baseConfig: [a]", "must be a single value"),
    ] {
        let said_of = wrong(R4J, &retry(settings, ""));
        assert!(is_said(&said_of, &[said]), "{settings}: {said_of:?}");
    }
    for (text, said) in [
        ("circuitbreaker.instances.x.failureRateThreshold: 0", "above 0, at most 100"),
        ("circuitbreaker.instances.x.failureRateThreshold: 101", "above 0, at most 100"),
        ("circuitbreaker.instances.x.slidingWindowType: ROUND", "`COUNT_BASED` or `TIME_BASED`"),
        ("circuitbreaker.instances.x.slidingWindowSize: 2000000", "more than the 1000000"),
        ("circuitbreaker.instances.x.waitDurationInOpenState: 0", "longer than zero"),
        ("timelimiter.instances.x.timeoutDuration: 0", "longer than zero"),
        ("bulkhead.instances.x.maxConcurrentCalls: 0", "a whole number from 1"),
        ("retry.instances.x: 3", "must be a table, and is a single value"),
        ("retry: [1]", "must be a table, and is a list"),
        ("retry: {configs: {default: {maxAttempts: 3}}}", "nothing in it"),
    ] {
        let said_of = wrong(R4J, &format!("resilience4j.{text}\n"));
        assert!(is_said(&said_of, &[said]), "{text}: {said_of:?}");
    }
}
