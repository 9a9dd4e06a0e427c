//! What a good scenario means: the plan it becomes, the defaults, the order of overrides; and that no text at all
//! makes the reader panic.

mod arrivals;
mod budgets;
mod capacity;
mod defaults;
mod expectations;
mod faults;
mod files;
mod mutations;
mod operations;
mod overrides;
mod plan;
mod protection;
mod retries;

use std::path::Path;

use stormsim::plan::Plan;
use stormsim::scenario::{Overrides, Scenario};
use stormsim::time::Instant;

/// Three tiers and a cache beside the database, every kind of setting at least once.
const THREE_TIER: &str = r#"
version = 1
name = "three-tier"
seed = 7
replicas = 5
horizon = "60s"
warmup = "500ms"
bucket = "1s"

[clients.web]
count = 1000
from = "1s"
until = "50s"
arrivals = { burst = { at = "2s" } }
calls.gateway = { weight = 3, timeout = "1s", connect_timeout = "3s", total_timeout = "3s", retry = "patient", network = "2ms" }
calls.status = { to = "gateway", timeout = "3s", propagate_deadline = true, reserve = "12.5%", retry = "patient" }

[services.gateway]
service_time = "5ms"
calls.orders = { timeout = "1s", retry = "patient", propagate_deadline = true, reserve = "50ms" }

[services.orders]
service_time = { exponential = { mean = "10ms" } }
call_order = [["db", "audit"], "cache"]
calls.cache = { optional = true, probability = 0.5 }
calls.replica = { to = "cache" }
calls.db = { retry = "eager", timeout = "none", if_failed = "replica" }
calls.audit = { to = "db", copies = 3, required = 2, propagate_deadline = true }

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
budget = { token_bucket = { max = 10, initial = 5, per_success = 0.1 } }
shared_over = "target"

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
until = "10s"
"#;

/// The least that can be run, with a policy.
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

/// So many seconds after the start.
fn s(seconds: u64) -> Instant {
    Instant::from_ns(seconds * 1_000_000_000)
}
