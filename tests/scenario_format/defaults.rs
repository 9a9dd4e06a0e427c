//! What a scenario need not say.

use stormsim::plan::{Arrivals, Timeout};
use stormsim::scenario::Overrides;
use stormsim::time::{Instant, Span};

use crate::{SMALL, only_plan, parse, set};

#[test]
fn what_is_absent_has_the_documented_default() {
    let scenario = parse(SMALL, &Overrides::default());
    assert_eq!((scenario.seed, scenario.replicas, scenario.bucket), (42, 20, Span::from_ms(100)));
    let plan = only_plan(&scenario);
    assert_eq!((plan.horizon, plan.groups[0].clients), (None, 1));
    assert_eq!(plan.groups[0].arrivals, Arrivals::Burst { at: Instant::ZERO });
    assert_eq!((plan.calls[0].timeout, plan.calls[0].total_timeout), (Timeout::NONE, Timeout::NONE));
}

/// What is absent by default can be written as a word, and means the same.
#[test]
fn none_is_the_same_as_nothing() {
    let words = set(&[
        "horizon=none",
        "clients.web.calls.db.timeout=none",
        "clients.web.calls.db.total_timeout=none",
        "retries.r.backoff=none",
        "retries.r.cap=none",
        "retries.r.jitter=none",
        "retries.r.budget=none",
        "retries.r.shared_by=instance",
        "retries.r.shared_over=call",
        "clients.web.until=none",
        "clients.web.from=0s",
        "clients.web.calls.db.connect_timeout=none",
        "clients.web.calls.db.network=0ms",
        "clients.web.calls.db.propagate_deadline=false",
        "clients.web.calls.db.reserve=0s",
        "warmup=0s",
    ]);
    assert_eq!(only_plan(&parse(SMALL, &words)), only_plan(&parse(SMALL, &Overrides::default())));
}
