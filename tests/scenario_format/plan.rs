//! A whole plan, written out by hand.

use stormsim::dist::{Dist, name_key};
use stormsim::failure::{ErrorKind, ErrorSet};
use stormsim::plan::{
    Arrivals, BudgetPool, BudgetUse, Call, CallId, Capacity, DeadlineRule, Effect, Effects, Failure, Fault, Group,
    GroupId, Labels, Operations, Origin, Plan, PolicyId, Recovery, Service, ServiceId, Target, Timeout, TimeoutId,
    Windows,
};
use stormsim::policy::{Backoff, BudgetRule, CapOrder, Jitter, RetryPolicy, Schedule, ServerDelay, TokenBucket};
use stormsim::scenario::Overrides;
use stormsim::time::{Instant, Span};

use crate::{THREE_TIER, only_plan, parse, s};

/// A call with everything absent.
fn plain_call(label: &str, origin: Origin, target: u32) -> Call {
    Call {
        key: name_key(label),
        origin,
        target: ServiceId(target),
        step: 0,
        copies: 1,
        required: 1,
        probability: u64::MAX,
        optional: false,
        fallback: None,
        network: Dist::ZERO,
        connect_timeout: Timeout::NONE,
        deadline: DeadlineRule::Keep,
        timeout: Timeout::NONE,
        total_timeout: Timeout::NONE,
        policy: PolicyId(0),
        budget: None,
        pool: None,
        avoid_previous: false,
        breaker: None,
        throttle: None,
        hedge: None,
    }
}

fn three_tier_calls() -> Vec<Call> {
    let (one, three) = (
        Timeout { after: Span::from_s(1), id: TimeoutId(1) },
        // The first limit of the first call is that of its connections.
        Timeout { after: Span::from_s(3), id: TimeoutId(0) },
    );
    let (web, gateway, orders) =
        (Origin::Group(GroupId(0)), Origin::Service(ServiceId(0)), Origin::Service(ServiceId(1)));
    let pool = |pool| Some(BudgetUse { pool, by_instance: true });
    vec![
        Call {
            network: Dist::Constant(Span::from_ms(2)),
            connect_timeout: three,
            timeout: one,
            total_timeout: three,
            policy: PolicyId(1),
            budget: pool(0),
            ..plain_call("gateway", web, 0)
        },
        Call {
            deadline: DeadlineRule::PassLessShare(0.125),
            timeout: three,
            policy: PolicyId(1),
            budget: pool(0),
            ..plain_call("status", web, 0)
        },
        Call {
            deadline: DeadlineRule::PassLess(Span::from_ms(50)),
            timeout: one,
            policy: PolicyId(1),
            budget: pool(1),
            ..plain_call("orders", gateway, 1)
        },
        Call { step: 1, probability: 1 << 63, optional: true, ..plain_call("cache", orders, 2) },
        // A fallback runs in the step of the call that it stands in for.
        plain_call("replica", orders, 2),
        Call { fallback: Some(CallId(4)), policy: PolicyId(2), ..plain_call("db", orders, 3) },
        Call { copies: 3, required: 2, deadline: DeadlineRule::PassLess(Span::ZERO), ..plain_call("audit", orders, 3) },
    ]
}

fn three_tier_policies() -> Vec<RetryPolicy> {
    let at_once = || Schedule::new(Backoff::None, Span::UNLIMITED, CapOrder::BeforeJitter, Jitter::None);
    let policy = |max_attempts, schedule, retry_on, min_attempt| RetryPolicy {
        max_attempts,
        schedule,
        retry_on,
        min_attempt,
        server_delay: ServerDelay::IGNORE,
        throttled: None,
        max_elapsed: Span::UNLIMITED,
    };
    let growing = Backoff::Exponential { base: Span::from_ms(100), factor: 2.0 };
    vec![
        policy(1, at_once(), ErrorSet::RETRYABLE, Span::ZERO),
        policy(
            3,
            Schedule::new(growing, Span::from_s(30), CapOrder::Both, Jitter::Full),
            ErrorSet::EMPTY.with(ErrorKind::Timeout).with(ErrorKind::Reset),
            Span::from_ms(60),
        ),
        policy(u32::MAX, at_once(), ErrorSet::RETRYABLE, Span::ZERO),
    ]
}

#[test]
fn three_tiers_become_exactly_this_plan() {
    let scenario = parse(THREE_TIER, &Overrides::default());
    let service =
        |service_time, steps| Service { service_time, steps, capacity: Capacity::UNLIMITED, effects: Effects::NONE };
    let names = |list: &[&str]| list.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    let rule = BudgetRule::TokenBucket(TokenBucket {
        max: 10_000_000,
        initial: 5_000_000,
        per_success: 100_000,
        cost: 1_000_000,
        cost_timeout: 1_000_000,
        floor: 1_000_000,
    });
    let expected = Plan {
        horizon: Some(s(60)),
        warmup: Instant::from_ns(500_000_000),
        windows: vec![s(0)..s(10)],
        bucket: Span::from_s(1),
        recovery: Recovery::DEFAULT,
        groups: vec![Group {
            key: name_key("web"),
            clients: 1000,
            arrivals: Arrivals::Burst { at: s(2) },
            from: s(1),
            until: s(50),
            // Weights 3 and 1: three quarters of the 2^64 draws, then the rest.
            choices: vec![(3 * (1 << 62) - 1, CallId(0)), (u64::MAX, CallId(1))],
            operations: Operations::PLAIN,
        }],
        services: vec![
            service(Dist::Constant(Span::from_ms(5)), 0..1),
            service(Dist::Exponential { mean: Span::from_ms(10) }, 1..3),
            service(Dist::ZERO, 3..3),
            service(Dist::Uniform { min: Span::from_ms(1), values: 3, step: Span::from_ms(1) }, 3..3),
        ],
        calls: three_tier_calls(),
        policies: three_tier_policies(),
        budgets: vec![BudgetPool { rule, states: 1000 }, BudgetPool { rule, states: 1 }],
        faults: vec![
            Fault {
                key: name_key("outage"),
                targets: [3, 2].map(|id| Target::Service(ServiceId(id))).to_vec(),
                first_instances: Capacity::NO_LIMIT,
                windows: Windows::Once(s(1)..s(10)),
                effect: Effect::Fail(Failure {
                    probability: 1 << 63,
                    error: ErrorKind::Internal,
                    delay: Dist::Constant(Span::from_ms(20)),
                    works: false,
                    correlation: 0,
                    epoch: Span::from_s(1),
                    retry_after: None,
                }),
            },
            Fault {
                key: name_key("closed"),
                targets: vec![Target::Service(ServiceId(0))],
                first_instances: Capacity::NO_LIMIT,
                windows: Windows::Once(Instant::ZERO..Instant::LIMIT),
                effect: Effect::Refuse,
            },
        ],
        steps: vec![0..1, 1..3, 3..4],
        step_calls: vec![CallId(2), CallId(5), CallId(6), CallId(3)],
        timeouts: vec![Span::from_s(3), Span::from_s(1)],
        labels: Labels {
            groups: names(&["web"]),
            services: names(&["gateway", "orders", "cache", "db"]),
            calls: names(&[
                "web->gateway",
                "web->status",
                "gateway->orders",
                "orders->cache",
                "orders->replica",
                "orders->db",
                "orders->audit",
            ]),
            policies: names(&["none", "patient", "eager"]),
            faults: names(&["outage", "closed"]),
        },
    };
    assert_eq!(only_plan(&scenario), &expected);
    assert_eq!((scenario.name.as_str(), scenario.seed, scenario.replicas), ("three-tier", 7, 5));
}
