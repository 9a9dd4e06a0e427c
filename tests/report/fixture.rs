//! Summaries as an experiment would make them, from models small enough to check by eye.

mod failing;
mod overloaded;
mod recovering;
mod served;
mod swept;
mod unfinished;

use std::collections::BTreeMap;

pub use failing::failing;
pub use overloaded::overloaded;
pub use recovering::recovering;
pub use served::served;
pub use swept::{At, frontier, swept};
pub use unfinished::unfinished;

use stormsim::experiment::{
    BucketMeans, FaultWindows, Judgement, MetricTable, ReplicaRow, ScenarioInfo, Series, Stat, Summary, ToolInfo,
    VariantSummary, Verdict,
};
use stormsim::metrics::catalogue::{Column, ScopeKind, columns};

const SEED: u64 = 42;

/// Figure A2: 1,000 clients fail together and retry four times. Five variants, 20 replicas, a tail of 65 s.
pub fn backoff() -> Summary {
    let kinds = [Wait::Fixed, Wait::Exponential, Wait::Full, Wait::Equal, Wait::Decorrelated];
    let names = ["fixed", "exponential", "full-jitter", "equal-jitter", "decorrelated"];
    let variants = names.iter().zip(kinds).map(|(name, kind)| backoff_variant(name, kind, 20)).collect();
    let mut summary = summary("backoff", 20, variants);
    summary.expectations = vec![
        verdict("fixed", ("scenario", ""), ("retry_peak", "mean"), "= 1000", Some(1000.0), true),
        verdict("full-jitter", ("scenario", ""), ("retry_peak", "mean"), "= 159.4 ± 1", Some(161.05), false),
        verdict("equal-jitter", ("scenario", ""), ("retry_peak", "p99"), "<= 246", Some(230.0), true),
        verdict("decorrelated", ("scenario", ""), ("last_retry_s", "max"), "58.2 .. 68.4", Some(67.123_456_78), true),
    ];
    summary
}

/// The same with one variant and one replica: nothing has an interval.
pub fn single() -> Summary {
    summary("one-shot", 1, vec![backoff_variant("base", Wait::Full, 1)])
}

/// Three calling layers, all of which, or one, or none retry twice against a database that fails everything.
pub fn three_tier() -> Summary {
    let variants = vec![
        three_tier_variant("every-layer", [3, 3, 3]),
        three_tier_variant("entry-only", [3, 1, 1]),
        three_tier_variant("no-retries", [1, 1, 1]),
    ];
    let mut summary = summary("three-tier", 20, variants);
    let db = ("service", "db");
    summary.expectations = vec![
        verdict("every-layer", db, ("amplification", "mean"), "= 27", Some(27.0), true),
        verdict("entry-only", db, ("amplification", "mean"), "= 3", Some(3.0), true),
        verdict("no-retries", db, ("amplification", "mean"), "= 1", Some(1.0), true),
    ];
    summary
}

/// Six variants with names of 40 characters: 70 s of steady load, an outage in the midst of it, a second fault that one
/// variant moves.
pub fn outage() -> Summary {
    let variants = (0..6).map(outage_variant).collect();
    let mut summary = summary("regional-outage-with-slow-recovery", 20, variants);
    let name = long_name(0);
    summary.expectations = vec![
        verdict(&name, ("client", "web"), ("success_ratio", "min"), ">= 0.99", Some(0.912_345_678), false),
        verdict(&name, ("call", "orders->db"), ("last_retry_s", "mean"), "<= 60", None, false),
        Verdict {
            from: Some(50.0),
            until: Some(60.0),
            ..verdict(&name, ("client", "web"), ("goodput_rps", "mean"), ">= 76", Some(79.9), true)
        },
        verdict(&name, ("service", "db"), ("amplification", "mean"), "= 4", Some(4.000_000_1), false),
    ];
    summary
}

/// Interrupted before anything happened: every metric is undefined and no series has a bucket.
pub fn nothing() -> Summary {
    let metrics = Metrics::new(2, |_, _| None);
    let mut summary = summary("cut-short", 2, vec![variant("base", metrics, &["db"], &["users->db"])]);
    summary.partial = true;
    let base = &mut summary.variants[0];
    (base.partial, base.replicas_finished) = (true, 0);
    base.replicas.clear();
    summary
}

/// As many services as `count`, the last of which is amplified most, up to a factor of 2^10.
pub fn many_services(count: usize) -> Summary {
    let names: Vec<_> = (0..count).map(|i| format!("service-{i:03}")).collect();
    let mut variant = variant("base", Metrics::new(1, |_, _| Some(1.0)), &[], &[]);
    for (i, name) in names.iter().enumerate() {
        let amplification = libm::pow(2.0, (10 * (i + 1) / count) as f64);
        let values = Metrics::new(1, |metric, _| match metric {
            "amplification" => Some(amplification),
            "arrivals" | "completed" | "arrival_peak" | "in_flight_max" => Some(100.0),
            "executions_per_request" => None,
            _ => Some(0.0),
        });
        variant.services.insert(name.clone(), values.table(ScopeKind::Service));
    }
    summary("many-services", 1, vec![variant])
}

#[derive(Clone, Copy)]
enum Wait {
    Fixed,
    Exponential,
    Full,
    Equal,
    Decorrelated,
}

fn backoff_variant(name: &str, wait: Wait, replicas: u32) -> VariantSummary {
    let runs: Vec<BTreeMap<u64, u64>> = (0..replicas).map(|replica| retries_per_bucket(wait, replica)).collect();
    let metrics = Metrics::new(replicas, |metric, replica| {
        let run = &runs[replica as usize];
        match metric {
            "requests" | "failed" | "failed_unavailable" | "stopped_exhausted" => Some(1_000.0),
            "attempts" | "arrivals" | "completed" => Some(5_000.0),
            "retries" => Some(4_000.0),
            "retry_ratio" => Some(0.8),
            "amplification" => Some(5.0),
            "retry_peak" => run.values().max().map(|&peak| peak as f64),
            "attempt_peak" | "arrival_peak" | "in_flight_max" => Some(1_000.0),
            "last_retry_s" | "completion_s" => run.keys().max().map(|&bucket| bucket as f64 / 10.0),
            "pool_wait_p99_ms" | "executions_per_request" => None,
            latency if latency.starts_with("latency") => None,
            _ => Some(0.0),
        }
    });
    let mut variant = variant(name, metrics, &["api"], &["clients->api"]);
    variant.timeline = vec![Series { kind: ScopeKind::Scenario, name: String::new(), buckets: means(&runs) }];
    variant.fault_windows =
        vec![FaultWindows { name: "outage".to_owned(), windows_s: vec![(0.0, f64::INFINITY)], recurs: false }];
    variant
}

fn retries_per_bucket(wait: Wait, replica: u32) -> BTreeMap<u64, u64> {
    let mut draws = Draws(SEED + u64::from(replica));
    let mut buckets = BTreeMap::new();
    for _client in 0..1_000 {
        let (mut now, mut previous) = (0.0, 1.0);
        for retry in 0..4 {
            let full = f64::from(1 << retry);
            previous = match wait {
                Wait::Fixed => 1.0,
                Wait::Exponential => full,
                Wait::Full => full * draws.unit(),
                Wait::Equal => full / 2.0 * (1.0 + draws.unit()),
                Wait::Decorrelated => f64::min(30.0, 1.0 + (3.0 * previous - 1.0) * draws.unit()),
            };
            now += previous;
            *buckets.entry((now * 10.0) as u64).or_insert(0) += 1;
        }
    }
    buckets
}

fn means(runs: &[BTreeMap<u64, u64>]) -> Vec<BucketMeans> {
    let mut buckets: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    for (&index, &retries) in runs.iter().flatten() {
        let (sum, max) = buckets.entry(index).or_default();
        (*sum, *max) = (*sum + retries, retries.max(*max));
    }
    let first =
        BucketMeans { attempts: 1_000.0, attempts_max: 1_000, failed: 0.0, in_flight: 1_000.0, ..Default::default() };
    let later = buckets.into_iter().map(|(index, (sum, max))| {
        let mean = sum as f64 / runs.len() as f64;
        BucketMeans { index, attempts: mean, retries: mean, attempts_max: max, retries_max: max, ..Default::default() }
    });
    // Full jitter retries in the first bucket too.
    let mut all = vec![first];
    for bucket in later {
        match all.last_mut() {
            Some(last) if last.index == bucket.index => {
                last.attempts += bucket.attempts;
                last.retries = bucket.retries;
                last.attempts_max += bucket.attempts_max;
                last.retries_max = bucket.retries_max;
            }
            _ => all.push(bucket),
        }
    }
    all
}

/// Attempts by tier, each with its time in ms: a failed attempt is repeated 100 ms later.
fn chain(tier: usize, attempts: [u64; 3], now: &mut u64, sent: &mut Vec<(usize, u64, bool)>) {
    for attempt in 0..attempts[tier] {
        *now += if attempt == 0 { 0 } else { 100 };
        sent.push((tier, *now, attempt > 0));
        if tier < 2 {
            chain(tier + 1, attempts, now, sent);
        }
    }
}

fn three_tier_variant(name: &str, attempts: [u64; 3]) -> VariantSummary {
    let (clients, mut now, mut sent) = (1_000.0, 0, Vec::new());
    chain(0, attempts, &mut now, &mut sent);
    let count = |tier: Option<usize>, retries: bool| {
        let of_tier =
            |&&(at, _, retry): &&(usize, u64, bool)| tier.is_none_or(|tier| at == tier) && (retry || !retries);
        clients * sent.iter().filter(of_tier).count() as f64
    };
    let last_retry = sent.iter().filter(|&&(_, _, retry)| retry).map(|&(_, ms, _)| ms as f64 / 1e3).reduce(f64::max);
    let values = |tier: Option<usize>| {
        Metrics::new(20, move |metric, _| match metric {
            "requests" | "failed" | "failed_unavailable" | "stopped_exhausted" => Some(clients),
            "attempts" | "arrivals" | "completed" => Some(count(tier, false)),
            "retries" => Some(count(tier, true)),
            "amplification" => Some(count(Some(tier.unwrap_or(2)), false) / clients),
            "attempt_peak" => Some(3.0 * clients),
            "arrival_peak" | "in_flight_max" => Some(clients),
            "retry_peak" => Some(clients * f64::from(u8::from(attempts[0] > 1))),
            "last_retry_s" => last_retry,
            "pool_wait_p99_ms" | "executions_per_request" => None,
            latency if latency.starts_with("latency") => None,
            _ => Some(0.0),
        })
    };
    let mut variant = variant(name, values(None), &[], &[]);
    for (tier, (service, call)) in
        [("gateway", "users->gateway"), ("orders", "gateway->orders"), ("db", "orders->db")].into_iter().enumerate()
    {
        variant.services.insert(service.to_owned(), values(Some(tier)).table(ScopeKind::Service));
        variant.calls.insert(call.to_owned(), values(Some(tier)).table(ScopeKind::Call));
    }
    let mut buckets: BTreeMap<u64, BucketMeans> = BTreeMap::new();
    for &(_, ms, retry) in &sent {
        let bucket = buckets.entry(ms / 100).or_insert(BucketMeans { index: ms / 100, ..Default::default() });
        bucket.attempts += clients;
        bucket.attempts_max += clients as u64;
        bucket.retries += if retry { clients } else { 0.0 };
        bucket.retries_max += if retry { clients as u64 } else { 0 };
    }
    variant.timeline =
        vec![Series { kind: ScopeKind::Scenario, name: String::new(), buckets: buckets.into_values().collect() }];
    variant.fault_windows =
        vec![FaultWindows { name: "db-down".to_owned(), windows_s: vec![(0.0, f64::INFINITY)], recurs: false }];
    variant
}

fn long_name(number: usize) -> String {
    format!("{number}-attempts-with-a-budget-and-full-jitter")
}

fn outage_variant(number: usize) -> VariantSummary {
    let retries_per_failure = number as f64;
    let mut draws = Draws(number as u64);
    let buckets: Vec<_> = (0..700)
        .map(|index| {
            let down = (200..300).contains(&index);
            let decay = if index >= 300 { libm::pow(0.96, f64::from(index - 300)) } else { 0.0 };
            let first = 80.0 + 8.0 * draws.unit();
            let retries = first * retries_per_failure * if down { 1.0 } else { decay } * (0.9 + 0.2 * draws.unit());
            BucketMeans {
                index: index as u64,
                attempts: first + retries,
                retries,
                succeeded: if down { 0.0 } else { first },
                failed: if down { first } else { 0.0 },
                attempts_max: (first + retries) as u64 + 9,
                retries_max: retries as u64 + 5,
                ..Default::default()
            }
        })
        .collect();
    let metrics = Metrics::new(20, |metric, replica| {
        let noise = f64::from(replica % 7) - 3.0;
        match metric {
            "requests" => Some(58_000.0 + 40.0 * noise),
            "attempts" | "arrivals" => Some(58_000.0 + 9_000.0 * retries_per_failure + 70.0 * noise),
            "retries" if number == 0 => Some(0.0),
            "retries" => Some(9_000.0 * retries_per_failure + 30.0 * noise),
            "amplification" => Some(1.0 + retries_per_failure * (0.2 + 0.01 * noise)),
            "success_ratio" => Some(0.999_5 - 0.01 * retries_per_failure + 1e-5 * noise),
            "failed" | "stopped_exhausted" => Some(30.0 + 600.0 * retries_per_failure),
            "failed_timeout" => Some(20.0 + 400.0 * retries_per_failure),
            "failed_unavailable" => Some(10.0 + 200.0 * retries_per_failure),
            other if other.starts_with("failed_") || other.starts_with("stopped_") => Some(0.0),
            "latency_p99_ms" => Some(150.0 * (1.0 + retries_per_failure) + noise),
            "last_retry_s" if number == 0 || replica < 3 => None,
            "open" | "refused" | "dropped" | "queue_max" | "wasted_ratio" | "pool_rejected" => Some(0.0),
            "unknown" | "dead_letters" | "duplicate_effects" => Some(0.0),
            "hedges" | "breaker_rejected" | "throttled" | "ejections" => Some(0.0),
            "utilisation" | "queue_wait_p99_ms" | "pool_wait_p99_ms" | "executions_per_request" => None,
            "last_retry_s" => Some(34.0 + retries_per_failure + 0.1 * noise),
            _ => Some(80.0 + noise),
        }
    });
    let mut variant =
        variant(&long_name(number), metrics, &["payments-ledger-of-the-european-region-2", "db"], &["orders->db"]);
    variant.timeline = vec![Series { kind: ScopeKind::Scenario, name: String::new(), buckets }];
    let drift = if number == 5 { 5.0 } else { 0.0 };
    variant.fault_windows = vec![
        FaultWindows { name: "outage".to_owned(), windows_s: vec![(20.0, 30.0)], recurs: false },
        FaultWindows {
            name: "slow-disk".to_owned(),
            windows_s: vec![(40.0 + drift, 42.0 + drift), (50.0, 52.0)],
            recurs: false,
        },
    ];
    variant
}

fn variant(name: &str, metrics: Metrics, services: &[&str], calls: &[&str]) -> VariantSummary {
    let tables = |kind, names: &[&str]| names.iter().map(|&name| (name.to_owned(), metrics.table(kind))).collect();
    VariantSummary {
        name: name.to_owned(),
        partial: false,
        replicas_finished: metrics.replicas,
        cut_short: None,
        metrics: metrics.table(ScopeKind::Scenario),
        clients: tables(ScopeKind::Client, &["web"]),
        calls: tables(ScopeKind::Call, calls),
        services: tables(ScopeKind::Service, services),
        faults: Default::default(),
        replicas: metrics.rows(),
        timeline: Vec::new(),
        fault_windows: Vec::new(),
        strains: Default::default(),
        warmup_s: 0.0,
        horizon_s: None,
        load: Vec::new(),
        limits: Default::default(),
    }
}

fn summary(name: &str, replicas: u32, variants: Vec<VariantSummary>) -> Summary {
    Summary {
        schema_version: 1,
        tool: ToolInfo { name: "stormsim", version: "0.1.0" },
        scenario: ScenarioInfo { name: name.to_owned(), sha256: "5ea1".repeat(16), overrides: Vec::new() },
        seed: SEED,
        replicas,
        bucket_ms: 100.0,
        partial: false,
        precision: None,
        variants,
        expectations: Vec::new(),
        comparison: None,
        baseline: None,
    }
}

pub fn verdict(
    variant: &str,
    (scope, name): (&'static str, &str),
    (metric, statistic): (&'static str, &'static str),
    condition: &str,
    actual: Option<f64>,
    passed: bool,
) -> Verdict {
    Verdict {
        ci95: None,
        straddles: false,
        settles_at: None,
        line: 10,
        column: 1,
        reach: [None; 2],
        windows: 1,
        variant: variant.to_owned(),
        scope,
        name: name.to_owned(),
        metric,
        statistic,
        condition: condition.to_owned(),
        actual,
        // All of the 20 that the fixtures with expectations have.
        undefined: if actual.is_none() { 20 } else { 0 },
        judgement: if passed { Judgement::Met } else { Judgement::NotMet },
        from: None,
        until: None,
    }
}

/// A metric in a replica.
type Value<'a> = dyn Fn(&str, u32) -> Option<f64> + 'a;

/// What every metric is in every replica.
struct Metrics<'a> {
    replicas: u32,
    value: Box<Value<'a>>,
}

impl<'a> Metrics<'a> {
    fn new(replicas: u32, value: impl Fn(&str, u32) -> Option<f64> + 'a) -> Self {
        Self { replicas, value: Box::new(value) }
    }

    fn table(&self, kind: ScopeKind) -> MetricTable {
        let stat = |column: &Column| {
            Stat::over(column.unit, (0..self.replicas).map(|replica| (self.value)(column.name, replica)))
        };
        columns(kind).iter().map(|column| (column.name, stat(column))).collect()
    }

    fn rows(&self) -> Vec<ReplicaRow> {
        let columns = columns(ScopeKind::Scenario);
        let values = |replica| columns.iter().map(|column| (self.value)(column.name, replica)).collect();
        (0..self.replicas)
            .map(|replica| ReplicaRow { replica, partial: false, values: values(replica), parts: Vec::new() })
            .collect()
    }
}

/// SplitMix64 (Steele, Lea and Flood, 2014): the fixture draws nothing from the crate it tests.
struct Draws(u64);

impl Draws {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}
