//! Breakers, throttles, hedges and ejections in the words of other tools.

use crate::scenario::synonyms::Synonyms;

const RATIO: &str = "write `trip = { ratio = { failures = 0.5, window = \"10s\", min_calls = 20 } }`, or with `calls = 100` \
                     for the window";
const SLOW: &str = "write `trip = { slow = { over = \"2s\", ratio = 0.5, window = \"10s\", min_calls = 20 } }`";
const OPEN_FOR: &str = "write `open_for = \"5s\"`";

const WINDOWS: &[&str] = &["sampling_duration", "period", "interval", "within", "rolling_window"];
const SIZES: &[&str] = &["window_size", "sliding_window_size", "size"];
const MINIMA: &[&str] = &[
    "minimum_throughput",
    "minimum_number_of_calls",
    "request_volume_threshold",
    "min_requests",
    "minimum",
    "min",
    "volume",
];
const THRESHOLDS: &[&str] =
    &["threshold", "share", "rate", "percent", "percentage", "failure_rate_threshold", "slow_call_rate_threshold"];

pub(super) const PROTECTION: &[Synonyms] = &[
    ("a call", &["circuit_breaker"], "write `breaker = { trip = { consecutive = 5 }, open_for = \"5s\" }`"),
    ("a call", &["hedging", "hedge_policy", "hedging_policy"], "write `hedge = { after = \"100ms\" }`"),
    (
        "a call",
        &["throttling", "adaptive_throttling", "admission_control"],
        "write `throttle = { adaptive = { k = 2.0 } }`, or `{ admission = {} }` for Envoy's",
    ),
    (
        "a call",
        &["ejection", "outlier_detection"],
        "it belongs to the service that is called: write `ejection = { consecutive = 5, max_share = 0.5 }` there",
    ),
    ("a service", &["outlier_detection"], "write `ejection = { consecutive = 5, max_share = 0.5 }`"),
    (
        "a service",
        &["breaker", "circuit_breaker"],
        "it belongs to the calls to it: write `calls.db = { breaker = { trip = { consecutive = 5 }, open_for = \"5s\" } }` \
         at the caller",
    ),
    (
        "a service",
        &["hedge", "hedging"],
        "it belongs to the calls to it: write `calls.db = { hedge = { after = \"100ms\" } }` at the caller",
    ),
    (
        "a service",
        &["throttle", "throttling"],
        "it belongs to the calls to it: write `calls.db = { throttle = { adaptive = { k = 2.0 } } }` at the caller; for so \
         many per second write `limiter = { token_bucket = { rate = 100, burst = 10 } }`",
    ),
    (
        "a breaker",
        &["consecutive", "consecutive_failures", "threshold", "failure_threshold", "max_failures"],
        "write `trip = { consecutive = 5 }`",
    ),
    ("a breaker", &["count"], "write `trip = { count = { failures = 6, window = \"1s\" } }`"),
    (
        "a breaker",
        &[
            "ratio",
            "failure_ratio",
            "failure_rate",
            "failure_rate_threshold",
            "error_rate",
            "error_threshold_percentage",
        ],
        RATIO,
    ),
    ("a breaker", WINDOWS, RATIO),
    ("a breaker", SIZES, RATIO),
    ("a breaker", MINIMA, RATIO),
    ("a breaker", &["slow", "slow_call_rate_threshold", "slow_call_duration_threshold"], SLOW),
    (
        "a breaker",
        &["sleep_window", "reset_timeout", "recovery_timeout", "open_timeout", "timeout", "break_duration", "cooldown"],
        OPEN_FOR,
    ),
    ("a breaker", &["wait_duration_in_open_state", "open", "delay", "half_open_after"], OPEN_FOR),
    (
        "a breaker",
        &[
            "permitted_number_of_calls_in_half_open_state",
            "half_open_requests",
            "half_open_max_calls",
            "success_threshold",
            "max_requests",
            "probes",
        ],
        "write `half_open = 10` for ten probes",
    ),
    ("a breaker", &["factor", "multiplier", "backoff"], "write `open_factor = 2.0`"),
    ("a breaker", &["cap", "max_open_for"], "write `open_cap = \"60s\"`"),
    ("a breaker", &["jitter"], "write `open_jitter = { spread = 0.5 }`"),
    (
        "a breaker",
        &["errors", "handled_errors", "record_exceptions", "retry_on"],
        "write `failure_on = [\"timeout\", \"unavailable\"]`",
    ),
    ("a breaker", &["scope", "shared"], "write `shared_by = \"group\"`, or `\"instance\"`"),
    ("a trip", &["consecutive_failures", "failure_threshold", "threshold"], "write `{ consecutive = 5 }`"),
    (
        "a trip",
        &["failures", "errors"],
        "write `{ consecutive = 5 }` for failures in a row, or `{ count = { failures = 6, window = \"1s\" } }`",
    ),
    (
        "a trip",
        &["failure_rate", "failure_ratio", "error_rate", "error_ratio", "percent", "percentage"],
        "write `{ ratio = { failures = 0.5, window = \"10s\", min_calls = 20 } }`",
    ),
    (
        "a trip",
        &["slow_calls", "slow_call_rate", "latency"],
        "write `{ slow = { over = \"2s\", ratio = 0.5, window = \"10s\", min_calls = 20 } }`",
    ),
    ("a count", &["threshold", "limit", "max_failures", "count"], "write `failures = 6`"),
    ("a count", WINDOWS, "write `window = \"1s\"`"),
    ("a failure ratio", THRESHOLDS, "for 50 % write `failures = 0.5`"),
    ("a failure ratio", &["ratio", "failure_ratio"], "write `failures = 0.5`"),
    ("a failure ratio", WINDOWS, "write `window = \"10s\"`"),
    ("a failure ratio", SIZES, "write `calls = 100`, or `window = \"10s\"`"),
    ("a failure ratio", MINIMA, "write `min_calls = 20`"),
    ("a slow ratio", THRESHOLDS, "for 50 % write `ratio = 0.5`"),
    ("a slow ratio", &["failures"], "write `ratio = 0.5`"),
    (
        "a slow ratio",
        &["duration", "latency", "slower_than", "duration_threshold", "slow_call_duration_threshold"],
        "write `over = \"2s\"`",
    ),
    ("a slow ratio", WINDOWS, "write `window = \"10s\"`"),
    ("a slow ratio", SIZES, "write `calls = 100`, or `window = \"10s\"`"),
    ("a slow ratio", MINIMA, "write `min_calls = 20`"),
    ("a unit", &["requests", "call"], "write `\"calls\"`: each with all of its attempts"),
    ("a unit", &["retries", "attempt"], "write `\"attempts\"`"),
    ("a throttle", &["adaptive_throttling", "google", "sre"], "write `{ adaptive = { k = 2.0 } }`"),
    ("a throttle", &["admission_control", "envoy"], "write `{ admission = { success = 0.95 } }`"),
    (
        "a throttle",
        &["rate", "rps", "limit", "token_bucket", "fixed_window"],
        "a throttle holds back a share; for so many per second write `limiter = { token_bucket = { rate = 100, burst = \
         10 } }` at the service",
    ),
    ("adaptive throttling", &["multiplier", "factor", "ratio"], "write `k = 2.0`"),
    ("adaptive throttling", &["lookback", "history", "period", "duration"], "write `window = \"2m\"`"),
    ("admission control", &["sr_threshold", "success_rate", "threshold"], "for 95 % write `success = 0.95`"),
    ("admission control", &["max_rejection_probability", "max_probability"], "for 80 % write `max = 0.8`"),
    ("admission control", &["sampling_window", "lookback", "period", "duration"], "write `window = \"30s\"`"),
    ("admission control", &["rps_threshold"], "take it out: here it holds back at any number of requests"),
    ("a hedge", &["delay", "hedging_delay", "hedge_delay", "wait"], "write `after = \"500ms\"`"),
    (
        "a hedge",
        &["max_attempts", "attempts"],
        "write one less than that as `copies`, for four attempts `copies = 3`: the first is none of them",
    ),
    ("a hedge", &["max_hedged_attempts", "max_hedges", "hedges", "count"], "write `copies = 1`"),
    ("a hedge", &["max_in_flight", "max_concurrent", "limit", "cap", "budget"], "write `in_flight = 8`"),
    ("a hedge", &["cancel"], "write `cancel_losers = true`, and `cancel = \"running\"` at the service"),
    (
        "an ejection",
        &[
            "consecutive_5xx",
            "consecutive_5xx_errors",
            "consecutive_gateway_failure",
            "consecutive_errors",
            "consecutive_failures",
            "threshold",
            "failure_threshold",
            "max_fails",
        ],
        "write `consecutive = 5`",
    ),
    (
        "an ejection",
        &["base_ejection_time", "ejection_time", "fail_timeout", "duration"],
        "write `ejected_for = \"30s\"`",
    ),
    ("an ejection", &["max_ejection_time"], "write `max_ejected_for = \"300s\"`"),
    ("an ejection", &["max_ejection_percent", "max_percent"], "for 10 % write `max_share = 0.1`"),
    (
        "an ejection",
        &["interval", "success_rate_minimum_hosts", "success_rate_request_volume", "success_rate_stdev_factor"],
        "take it out: a server is ejected at once, when it has failed so often in a row",
    ),
];
