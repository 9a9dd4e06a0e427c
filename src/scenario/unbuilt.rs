//! What the format has and this version does not: refused with an honest message, never ignored. A milestone that
//! builds something deletes it here.

use crate::scenario::diagnostics::Diagnostic;
use crate::scenario::source::Place;

/// Of the scenario as a whole.
pub const ROOT: &[&str] = &["warmup", "recovery"];

/// Of a client group.
pub const CLIENT: &[&str] = &["from", "until", "idempotency", "on_exhausted"];

/// Arrivals.
pub const ARRIVALS: &[&str] = &["poisson", "constant", "closed", "periodic", "profile", "trace"];

/// Of a call.
pub const CALL: &[&str] = &[
    "connect_timeout",
    "network",
    "propagate_deadline",
    "reserve",
    "avoid_previous",
    "pool",
    "hedge",
    "throttle",
    "breaker",
    "copies",
    "required",
    "probability",
    "optional",
    "if_failed",
];

/// Of a service.
pub const SERVICE: &[&str] = &[
    "instances",
    "balance",
    "ejection",
    "workers",
    "max_in_flight",
    "contention",
    "queue",
    "limiter",
    "cancel",
    "writes",
    "idempotency_store",
    "holds_worker",
    "call_order",
];

/// Of a retry policy.
pub const RETRY: &[&str] = &["preset", "retry_after", "budget", "shared_by", "shared_over"];

/// Of a fault.
pub const FAULT: &[&str] = &["every", "random", "first_instances"];

/// Effects of a fault.
pub const EFFECT: &[&str] = &["blackhole", "pause", "crash", "slow", "capacity", "loss", "load"];

/// Of the effect `fail`.
pub const FAIL: &[&str] = &["work", "correlation", "epoch", "retry_after"];

/// Of an expectation.
pub const EXPECT: &[&str] = &["from", "until", "every"];

/// Metrics, in any scope.
pub const METRICS: &[&str] = &[
    "unknown",
    "degraded",
    "dead_letters",
    "budget_refused",
    "first_budget_refusal_s",
    "tokens_left",
    "breaker_rejected",
    "breaker_rejected_retries",
    "breaker_opened",
    "throttled",
    "hedges",
    "hedge_wins",
    "pool_wait_p99_ms",
    "pool_rejected",
    "admitted",
    "dropped",
    "wasted_ratio",
    "utilisation",
    "queue_max",
    "queued_ratio",
    "queue_wait_mean_ms",
    "queue_wait_p99_ms",
    "executions_per_request",
    "duplicate_effects",
    "capacity_rps",
    "arrivals_last_rps",
    "recovered",
    "recovery_s",
    "last_bad_s",
];

/// The version that does not have it.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION_MAJOR"), ".", env!("CARGO_PKG_VERSION_MINOR"));

/// "`services.db.workers` is not built yet". `what` comes in back-ticks.
pub fn refusal(what: &str, place: &Place) -> Diagnostic {
    Diagnostic::new(format!("{what} is not built yet in stormsim {VERSION}"))
        .at(place)
        .hint("take it out: to ignore it would simulate something else than what is written here")
}
