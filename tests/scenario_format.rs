//! What a good scenario means: the plan it becomes, the defaults, the order of overrides; and that no text at all
//! makes the reader panic.

use std::path::Path;

use proptest::prelude::*;
use stormsim::dist::{Dist, name_key};
use stormsim::experiment::{Condition, Statistic, Tolerance};
use stormsim::failure::{ErrorKind, ErrorSet};
use stormsim::plan::{
    Arrivals, Call, CallId, Effect, Fault, Group, GroupId, Origin, Plan, PolicyId, Service, ServiceId, Timeout,
    TimeoutId,
};
use stormsim::policy::{Backoff, CapOrder, Jitter, RetryPolicy, Schedule};
use stormsim::scenario::{Overrides, Scenario};
use stormsim::time::{Instant, Span};

/// Three tiers and a cache beside the database, every kind of setting at least once.
const THREE_TIER: &str = r#"
version = 1
name = "three-tier"
seed = 7
replicas = 5
horizon = "60s"
bucket = "1s"

[clients.web]
count = 1000
arrivals = { burst = { at = "2s" } }
calls.gateway = { weight = 3, timeout = "1s", total_timeout = "3s", retry = "patient" }
calls.status = { to = "gateway", timeout = "3s" }

[services.gateway]
service_time = "5ms"
calls.orders = { timeout = "1s", retry = "patient" }

[services.orders]
service_time = { exponential = { mean = "10ms" } }
calls.cache = {}
calls.db = { retry = "eager", timeout = "none" }

[services.cache]

[services.db]
service_time = { uniform = { min = "1ms", max = "4ms", step = "1ms" } }

[retries.patient]
max_retries = 2
backoff = { exponential = { base = "100ms" } }
cap = "30s"
cap_order = "both"
jitter = "full"
retry_on = ["timeout", "reset"]
min_attempt = "60ms"

[retries.eager]
max_attempts = "unlimited"

[faults.outage]
on = ["db", "cache"]
from = "1s"
lasts = "9s"
effect = { fail = { probability = 0.5, error = "internal", delay = "20ms" } }

[faults.closed]
on = ["gateway"]
effect = "refuse"

[[expect]]
metric = "last_retry_s"
statistic = "p99"
at_most = "1500ms"

[[expect]]
metric = "sojourn_mean_ms"
service = "db"
variant = "base"
equals = "0.5s"
within = "2ms"

[[expect]]
metric = "attempts"
call = "web->status"
between = [1, 2.5]
"#;

fn parse(text: &str, overrides: &Overrides) -> Scenario {
    Scenario::parse("test.toml", text, Path::new(""), overrides).unwrap_or_else(|errors| panic!("{errors}"))
}

fn set(settings: &[&str]) -> Overrides {
    Overrides { set: settings.iter().map(|&text| text.to_owned()).collect(), ..Overrides::default() }
}

fn only_plan(scenario: &Scenario) -> &Plan {
    let [(name, plan)] = scenario.variants() else { panic!("one variant") };
    assert_eq!(name, "base");
    plan
}

/// The whole plan, written out by hand.
#[test]
fn three_tiers_become_exactly_this_plan() {
    let scenario = parse(THREE_TIER, &Overrides::default());
    let timeout = |s, id| Timeout { after: Span::from_s(s), id: TimeoutId(id) };
    let call = |label, origin, target, timeout, total_timeout, policy| Call {
        key: name_key(label),
        origin,
        target: ServiceId(target),
        timeout,
        total_timeout,
        policy: PolicyId(policy),
    };
    let (web, gateway, orders) =
        (Origin::Group(GroupId(0)), Origin::Service(ServiceId(0)), Origin::Service(ServiceId(1)));
    let service = |name, service_time, steps| Service { key: name_key(name), service_time, steps };
    let plain = |backoff, cap, cap_order, jitter| Schedule::new(backoff, cap, cap_order, jitter);
    let at_once = || plain(Backoff::None, Span::UNLIMITED, CapOrder::BeforeJitter, Jitter::None);
    let policy =
        |max_attempts, schedule, retry_on, min_attempt| RetryPolicy { max_attempts, schedule, retry_on, min_attempt };
    let growing = Backoff::Exponential { base: Span::from_ms(100), factor: 2.0 };
    let names = |list: &[&str]| list.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    let expected = Plan {
        horizon: Some(Instant::from_ns(60_000_000_000)),
        bucket: Span::from_s(1),
        groups: vec![Group {
            key: name_key("web"),
            clients: 1000,
            arrivals: Arrivals::Burst { at: Instant::from_ns(2_000_000_000) },
            // Weights 3 and 1: three quarters of the 2^64 draws, then the rest.
            choices: vec![(3 * (1 << 62) - 1, CallId(0)), (u64::MAX, CallId(1))],
        }],
        services: vec![
            service("gateway", Dist::Constant(Span::from_ms(5)), 0..1),
            service("orders", Dist::Exponential { mean: Span::from_ms(10) }, 1..3),
            service("cache", Dist::ZERO, 3..3),
            service("db", Dist::Uniform { min: Span::from_ms(1), values: 3, step: Span::from_ms(1) }, 3..3),
        ],
        calls: vec![
            call("gateway", web, 0, timeout(1, 0), timeout(3, 1), 1),
            call("status", web, 0, timeout(3, 1), Timeout::NONE, 0),
            call("orders", gateway, 1, timeout(1, 0), Timeout::NONE, 1),
            call("cache", orders, 2, Timeout::NONE, Timeout::NONE, 0),
            call("db", orders, 3, Timeout::NONE, Timeout::NONE, 2),
        ],
        policies: vec![
            policy(1, at_once(), ErrorSet::RETRYABLE, Span::ZERO),
            policy(
                3,
                plain(growing, Span::from_s(30), CapOrder::Both, Jitter::Full),
                ErrorSet::EMPTY.with(ErrorKind::Timeout).with(ErrorKind::Reset),
                Span::from_ms(60),
            ),
            policy(u32::MAX, at_once(), ErrorSet::RETRYABLE, Span::ZERO),
        ],
        faults: vec![
            Fault {
                key: name_key("outage"),
                targets: vec![ServiceId(3), ServiceId(2)],
                windows: vec![Instant::from_ns(1_000_000_000)..Instant::from_ns(10_000_000_000)],
                effect: Effect::Fail {
                    probability: 1 << 63,
                    error: ErrorKind::Internal,
                    delay: Dist::Constant(Span::from_ms(20)),
                },
            },
            Fault {
                key: name_key("closed"),
                targets: vec![ServiceId(0)],
                windows: vec![Instant::ZERO..Instant::LIMIT],
                effect: Effect::Refuse,
            },
        ],
        steps: vec![0..1, 1..2, 2..3],
        step_calls: vec![CallId(2), CallId(3), CallId(4)],
        timeouts: vec![Span::from_s(1), Span::from_s(3)],
        labels: stormsim::plan::Labels {
            groups: names(&["web"]),
            services: names(&["gateway", "orders", "cache", "db"]),
            calls: names(&["web->gateway", "web->status", "gateway->orders", "orders->cache", "orders->db"]),
            faults: names(&["outage", "closed"]),
        },
    };
    assert_eq!(only_plan(&scenario), &expected);
    assert_eq!((scenario.name.as_str(), scenario.seed, scenario.replicas), ("three-tier", 7, 5));
}

#[test]
fn expectations_are_in_the_unit_of_their_metric() {
    let scenario = parse(THREE_TIER, &Overrides::default());
    let conditions: Vec<Condition> = scenario.expectations.iter().map(|row| row.condition).collect();
    assert_eq!(
        conditions,
        [
            Condition::AtMost(1.5),
            Condition::Equals { value: 500.0, tolerance: Tolerance::Absolute(2.0) },
            Condition::Between(1.0, 2.5),
        ]
    );
    let figures: Vec<_> = scenario.expectations.iter().map(|row| (row.metric, row.statistic)).collect();
    assert_eq!(
        figures,
        [("last_retry_s", Statistic::P99), ("sojourn_mean_ms", Statistic::Mean), ("attempts", Statistic::Mean)]
    );
    assert_eq!(scenario.expectations[1].scope.name, "db");
    assert_eq!(scenario.expectations[1].variant.as_deref(), Some("base"));
}

const SMALL: &str = r#"
version = 1
name = "small"
[clients.web]
arrivals = { burst = {} }
calls.db = { retry = "r" }
[services.db]
[retries.r]
max_retries = 1
"#;

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
    ]);
    assert_eq!(only_plan(&parse(SMALL, &words)), only_plan(&parse(SMALL, &Overrides::default())));
}

fn attempts(scenario: &Scenario) -> Vec<(&str, u32)> {
    scenario.variants().iter().map(|(name, plan)| (name.as_str(), plan.policies[1].max_attempts)).collect()
}

/// File, then variant, then flags in their order; `max_attempts` takes the place of `max_retries` and back.
#[test]
fn the_last_override_wins() {
    let text = format!("{SMALL}[variants.a]\n[variants.b]\n\"retries.r.max_attempts\" = 5\n");
    assert_eq!(attempts(&parse(&text, &Overrides::default())), [("a", 2), ("b", 5)]);
    let flag = parse(&text, &set(&["retries.r.max_retries=7"]));
    assert_eq!(attempts(&flag), [("a", 8), ("b", 8)]);
    let flags = parse(&text, &set(&["retries.r.max_retries=7", "retries.r.max_attempts = 4"]));
    assert_eq!(attempts(&flags), [("a", 4), ("b", 4)]);
}

#[test]
fn only_the_chosen_variant_is_run() {
    let text = format!("{SMALL}[variants.a]\n[variants.b]\n\"retries.r.max_attempts\" = 5\n");
    let chosen = Overrides { variant: Some("b".into()), seed: Some(1), replicas: Some(3), ..Overrides::default() };
    let scenario = parse(&text, &chosen);
    assert_eq!(attempts(&scenario), [("b", 5)]);
    assert_eq!((scenario.seed, scenario.replicas), (1, 3));
}

/// Another tag replaces the choice, a path into a choice keeps what else its tag has, and a table that is not there
/// is made: each is compared with the file that says the same.
#[test]
fn overrides_say_what_the_file_could_have_said() {
    let says = |settings: &[&str], file: &str| {
        let written = format!("{SMALL}{file}");
        assert_eq!(
            only_plan(&parse(SMALL, &set(settings))),
            only_plan(&parse(&written, &Overrides::default())),
            "{settings:?}"
        );
    };
    says(
        &[
            "retries.r.backoff={fixed=\"1s\"}",
            "retries.r.backoff.exponential={base=\"1s\", factor=3}",
            "retries.r.backoff.exponential.base=2s",
        ],
        "backoff = { exponential = { base = \"2s\", factor = 3 } }",
    );
    says(
        &["faults.f.on=[\"db\"]", "faults.f.effect=refuse", "faults.f.until=1s", "faults.f.lasts=2s"],
        "[faults.f]\non = [\"db\"]\neffect = \"refuse\"\nlasts = \"2s\"",
    );
    says(
        &["retries.r={ backoff = { fixed = \"1s\" }, max_attempts = 3 }", "retries.r.max_retries=1"],
        "backoff = { fixed = \"1s\" }",
    );
}

/// A quoted path and the same keys without quotes are one setting.
#[test]
fn a_variant_may_be_written_with_dotted_keys() {
    let quoted = format!("{SMALL}[variants.v]\n\"retries.r.max_retries\" = 4\n\"retries.r.jitter\" = \"full\"\n");
    let dotted = format!("{SMALL}[variants.v]\nretries.r.max_retries = 4\nretries.r.jitter = \"full\"\n");
    let plans = |text: &str| parse(text, &Overrides::default()).variants().to_vec();
    assert_eq!(plans(&quoted), plans(&dotted));
}

/// What a variant adds and uses is no misspelling.
#[test]
fn a_variant_may_add_a_policy_and_a_service_that_it_uses() {
    let added = r#"[variants.v]
"retries.new.max_retries" = 9
"clients.web.calls.db.retry" = "new"
"services.cache.service_time" = "1ms"
"services.db.calls.cache" = {}
"#;
    let scenario = parse(&format!("{SMALL}{added}"), &Overrides::default());
    let (_, plan) = &scenario.variants()[0];
    assert_eq!(plan.policy_of(CallId(0)).max_attempts, 10);
    assert_eq!(plan.labels.calls, ["web->db", "db->cache"]);
}

/// SHA-256 of "" is e3b0c442...; the hash of a scenario is of its bytes as they are.
#[test]
fn the_hash_is_that_of_the_file() {
    use sha2::{Digest, Sha256};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("small.toml");
    std::fs::write(&path, SMALL).unwrap();
    let scenario = Scenario::load(&path, &Overrides::default()).unwrap();
    let expected: String = Sha256::digest(SMALL).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(scenario.sha256, expected);
}

#[test]
fn samples_are_read_from_beside_the_scenario() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("latencies.csv"), "when,value_s\n1, 0.25\n2,1e-9\n").unwrap();
    let text =
        SMALL.replace("[services.db]", "[services.db]\nservice_time = { samples = { file = \"latencies.csv\" } }");
    std::fs::write(folder.path().join("small.toml"), text).unwrap();
    let scenario = Scenario::load(&folder.path().join("small.toml"), &Overrides::default()).unwrap();
    assert_eq!(
        only_plan(&scenario).services[0].service_time,
        Dist::Samples(vec![Span::from_ms(250), Span::from_ns(1)])
    );
}

/// The scenarios that come with the simulator are the first that anybody copies.
#[test]
fn every_scenario_of_the_repository_is_good() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut count = 0;
    for folder in ["scenarios", "tests/figures"] {
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "toml") {
                Scenario::load(&path, &Overrides::default()).unwrap_or_else(|errors| panic!("{errors}"));
                count += 1;
            }
        }
    }
    assert!(count >= 2, "both example scenarios are there");
}

/// One slip of an editor: a piece deleted, doubled, or written over.
fn mutate(text: &str, kind: u8, at: usize, len: usize, with: &str) -> String {
    let boundary = |at: usize| (0..=at).rev().find(|&at| text.is_char_boundary(at)).unwrap();
    let start = boundary(at % text.len());
    let end = boundary((start + len).min(text.len())).max(start);
    let (before, piece, after) = (&text[..start], &text[start..end], &text[end..]);
    match kind {
        0 => format!("{before}{after}"),
        1 => format!("{before}{piece}{piece}{after}"),
        _ => format!("{before}{with}{after}"),
    }
}

proptest! {
    /// No text makes the reader panic, and every error is shown: a message that cannot be rendered would panic too.
    #[test]
    fn no_mutation_of_a_scenario_panics(
        slips in prop::collection::vec((0u8..3, any::<usize>(), 0usize..40, "[\\[\\]{}=\"'.#\\na-z0-9ü-]{0,6}"), 1..4),
        flag in "[a-z.]{0,12}=?[\\[{\"a-z0-9.-]{0,8}",
    ) {
        let text = slips.iter().fold(THREE_TIER.to_owned(), |text, (kind, at, len, with)| {
            if text.is_empty() { text } else { mutate(&text, *kind, *at, *len, with) }
        });
        for overrides in [Overrides::default(), set(&[&flag])] {
            if let Err(errors) = Scenario::parse("test.toml", &text, Path::new(""), &overrides) {
                prop_assert!(errors.iter().len() > 0);
                let shown = errors.to_string();
                for error in errors.iter() {
                    let first_line = error.message().lines().next().unwrap_or_default();
                    prop_assert!(shown.contains(first_line), "{first_line:?} is not in:\n{shown}");
                }
            }
        }
    }
}
