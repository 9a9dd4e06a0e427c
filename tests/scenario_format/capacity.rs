//! What services can do at once, and the slots of their callers.

use stormsim::dist::{Dist, name_key};
use stormsim::failure::ErrorSet;
use stormsim::plan::{
    Arrivals, Balance, Call, CallId, Cancel, Capacity, Contention, DeadlineRule, DropRule, Effects, Group, GroupId,
    Labels, Operations, Order, Origin, Plan, PolicyId, Pool, Queue, Recovery, Service, ServiceId, Timeout, TimeoutId,
};
use stormsim::policy::{Backoff, CapOrder, Codel, Jitter, Limiter, RetryPolicy, Schedule, ServerDelay};
use stormsim::scenario::Overrides;
use stormsim::time::{Instant, Span};

use crate::{SMALL, only_plan, parse, set};

/// Every key of finite servers and of pools, none with its default.
const FINITE: &str = r#"
version = 1
name = "finite"

[clients.web]
count = 20
arrivals = { burst = {} }
calls.front = { timeout = "1s", pool = { size = 100, max_wait = "50ms" }, avoid_previous = true }

[services.front]
instances = 3
balance = "two_choices"
workers = 64
holds_worker = false
max_in_flight = 1000
queue = { limit = 100, order = "adaptive_lifo", drop = { codel = { target = "20ms", interval = "1s" } } }
limiter = { fixed_window = { limit = 1000, every = "100ms", retry_after = "1s" } }
contention = { knee = 50, slope = 0.02 }
cancel = "running"
calls.db = { pool = { size = 5, max_wait = "0s" } }
calls.slow = { to = "db", pool = { size = 7 } }

[services.db]
instances = 10000
workers = 2147483648
limiter = { token_bucket = { rate = 0.5, burst = 10 } }
"#;

/// A call with nothing but a pool.
fn call(label: &str, origin: Origin, target: u32, size: u32, max_wait: Timeout) -> Call {
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
        pool: Some(Pool { size, max_wait }),
        avoid_previous: false,
        breaker: None,
        throttle: None,
        hedge: None,
    }
}

fn capacity_of_front() -> Capacity {
    Capacity {
        instances: 3,
        balance: Balance::TwoChoices,
        ejection: None,
        workers: 64,
        holds_worker: false,
        queue: Queue {
            limit: 100,
            order: Order::AdaptiveLifo,
            drop_rule: DropRule::Codel(Codel { target: Span::from_ms(20), interval: Span::from_s(1) }),
        },
        max_in_flight: 1000,
        limiter: Limiter::FixedWindow { limit: 1000, every: Span::from_ms(100) },
        retry_after: Some(Span::from_s(1)),
        contention: Contention { knee: 50, slope: 0.02 },
        cancel: Cancel::Running,
    }
}

#[test]
fn finite_servers_become_exactly_this_plan() {
    let (web, front) = (Origin::Group(GroupId(0)), Origin::Service(ServiceId(0)));
    let names = |list: &[&str]| list.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    // The timeout of the first call and the wait for its pool are limits of the plan; a wait of no time needs no timer.
    let (one, fifty) =
        (Timeout { after: Span::from_s(1), id: TimeoutId(0) }, Timeout { after: Span::from_ms(50), id: TimeoutId(1) });
    let at_once = Timeout { after: Span::ZERO, ..Timeout::NONE };
    let schedule = Schedule::new(Backoff::None, Span::UNLIMITED, CapOrder::BeforeJitter, Jitter::None);
    let expected = Plan {
        horizon: None,
        warmup: Instant::ZERO,
        windows: vec![],
        bucket: Span::from_ms(100),
        recovery: Recovery::DEFAULT,
        groups: vec![Group {
            key: name_key("web"),
            clients: 20,
            arrivals: Arrivals::Burst { at: Instant::ZERO },
            from: Instant::ZERO,
            until: Instant::LIMIT,
            choices: vec![(u64::MAX, CallId(0))],
            operations: Operations::PLAIN,
        }],
        services: vec![
            Service { service_time: Dist::ZERO, steps: 0..2, capacity: capacity_of_front(), effects: Effects::NONE },
            Service {
                service_time: Dist::ZERO,
                steps: 2..2,
                capacity: Capacity {
                    instances: 10_000,
                    workers: 1 << 31,
                    limiter: Limiter::TokenBucket { rate: 0.5, burst: 10 },
                    ..Capacity::UNLIMITED
                },
                effects: Effects::NONE,
            },
        ],
        calls: vec![
            Call { timeout: one, avoid_previous: true, ..call("front", web, 0, 100, fifty) },
            call("db", front, 1, 5, at_once),
            Call { step: 1, ..call("slow", front, 1, 7, Timeout::NONE) },
        ],
        policies: vec![RetryPolicy {
            max_attempts: 1,
            schedule,
            retry_on: ErrorSet::RETRYABLE,
            min_attempt: Span::ZERO,
            server_delay: ServerDelay::IGNORE,
            throttled: None,
            max_elapsed: Span::UNLIMITED,
        }],
        budgets: vec![],
        faults: vec![],
        steps: vec![0..1, 1..2],
        step_calls: vec![CallId(1), CallId(2)],
        timeouts: vec![Span::from_s(1), Span::from_ms(50)],
        labels: Labels {
            groups: names(&["web"]),
            services: names(&["front", "db"]),
            calls: names(&["web->front", "front->db", "front->slow"]),
            policies: names(&["none"]),
            faults: vec![],
        },
    };
    assert_eq!(only_plan(&parse(FINITE, &Overrides::default())), &expected);
}

/// A variant takes back everything that the file says, word by word, and the plan is that of a file without it.
#[test]
fn a_variant_switches_every_limit_off() {
    let words = r#"
"clients.web.calls.front.pool" = "none"
"clients.web.calls.front.avoid_previous" = false
"services.front.instances" = 1
"services.front.balance" = "round_robin"
"services.front.workers" = "unlimited"
"services.front.holds_worker" = true
"services.front.max_in_flight" = "unlimited"
"services.front.queue" = { limit = "unlimited", order = "fifo", drop = "never" }
"services.front.limiter" = "none"
"services.front.contention" = "none"
"services.front.cancel" = "ignore"
"services.front.calls.db.pool" = "none"
"services.front.calls.slow.pool" = "none"
"services.db.instances" = 1
"services.db.workers" = "unlimited"
"services.db.limiter" = "none"
"#;
    let scenario = parse(&format!("{FINITE}[variants.off]\n{words}"), &Overrides::default());
    let (_, plan) = &scenario.variants()[0];
    assert!(plan.services.iter().all(|service| service.capacity == Capacity::UNLIMITED));
    assert!(plan.calls.iter().all(|call| call.pool.is_none() && !call.avoid_previous));
    assert_eq!(plan.timeouts, [Span::from_s(1)]);
}

/// And back on, by paths into what is switched off.
#[test]
fn settings_beneath_a_word_replace_it() {
    let file = SMALL.replace("[services.db]", "[services.db]\ncontention = \"none\"\nlimiter = \"none\"");
    let file = file.replace("retry = \"r\"", "retry = \"r\", pool = \"none\"");
    let scenario = parse(
        &file,
        &set(&[
            "clients.web.calls.db.pool.size=3",
            "clients.web.calls.db.pool.max_wait=none",
            "services.db.contention.knee=0",
            "services.db.contention.slope=1",
            "services.db.limiter.token_bucket={ rate = 1, burst = 1 }",
            "services.db.limiter.fixed_window.limit=2",
            "services.db.limiter.fixed_window.every=1s",
        ]),
    );
    let plan = only_plan(&scenario);
    assert_eq!(plan.calls[0].pool, Some(Pool { size: 3, max_wait: Timeout::NONE }));
    let expected = Capacity {
        contention: Contention { knee: 0, slope: 1.0 },
        limiter: Limiter::FixedWindow { limit: 2, every: Span::from_s(1) },
        ..Capacity::UNLIMITED
    };
    assert_eq!(plan.services[0].capacity, expected);
}

/// What one setting of the only service becomes.
fn capacity_with(setting: &str) -> Capacity {
    only_plan(&parse(SMALL, &set(&[&format!("services.db.{setting}")]))).services[0].capacity.clone()
}

#[test]
fn every_choice_has_its_meaning() {
    let balances = ["round_robin", "random", "least_loaded", "two_choices", "primary", "by_copy"];
    assert_eq!(
        balances.map(|word| capacity_with(&format!("balance={word}")).balance),
        [
            Balance::RoundRobin,
            Balance::Random,
            Balance::LeastLoaded,
            Balance::TwoChoices,
            Balance::Primary,
            Balance::ByCopy
        ]
    );
    assert_eq!(
        ["ignore", "queued", "running"].map(|word| capacity_with(&format!("cancel={word}")).cancel),
        [Cancel::Ignore, Cancel::Queued, Cancel::Running]
    );
    assert_eq!(
        ["fifo", "lifo", "adaptive_lifo"].map(|word| capacity_with(&format!("queue.order={word}")).queue.order),
        [Order::Fifo, Order::Lifo, Order::AdaptiveLifo]
    );
    let codel =
        |target, interval| DropRule::Codel(Codel { target: Span::from_ms(target), interval: Span::from_ms(interval) });
    assert_eq!(
        ["never", "expired", "deadline_aware", "{ codel = {} }", "{ codel = { target = \"50ms\" } }"]
            .map(|word| capacity_with(&format!("queue.drop={word}")).queue.drop_rule),
        [DropRule::Never, DropRule::Expired, DropRule::DeadlineAware, codel(5, 100), codel(50, 100)]
    );
}

/// Each says nothing that matters without another key, and is kept for the variant that sets it.
#[test]
fn what_means_nothing_as_it_stands_is_no_error() {
    assert_eq!(capacity_with("queue={ limit = 5, order = \"lifo\" }").queue.limit, 5);
    assert_eq!(capacity_with("balance=by_copy").instances, 1);
    assert!(!capacity_with("holds_worker=false").holds_worker);
    let scenario = parse(SMALL, &set(&["clients.web.calls.db.avoid_previous=true"]));
    assert!(only_plan(&scenario).calls[0].avoid_previous);
}

/// The limit itself is within it, and so is the least.
#[test]
fn counts_reach_their_limits() {
    let in_flight = |count: &str| capacity_with(&format!("max_in_flight={count}")).max_in_flight;
    assert_eq!(["1", "2147483648", "unlimited"].map(in_flight), [1, 1 << 31, Capacity::NO_LIMIT]);
    let queue = |count: &str| capacity_with(&format!("queue.limit={count}")).queue.limit;
    assert_eq!(["1", "268435456", "unlimited"].map(queue), [1, 1 << 28, Capacity::NO_LIMIT]);
}
