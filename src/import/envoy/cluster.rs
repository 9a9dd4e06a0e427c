//! Clusters of Envoy: what limits the retries to one, how long a connection may take, and its hosts.

use super::limits::Limits;
use super::outlier;
use crate::import::draft::{Block, Draft, Kind};
use crate::import::section::{Field, Keys, Section};
use crate::import::tree::{Node, Value};
use crate::import::values::{count, duration, seconds, share};
use crate::time::Span;

/// What a scenario takes over of a cluster.
pub struct Cluster<'t> {
    /// The service that it is.
    pub service: String,
    /// How long a connection may take.
    connect: Option<(Span, Field<'t>)>,
    /// What limits the calls of routes with default priority.
    default: Circuit<'t>,
    /// What limits those of routes with high priority.
    high: Circuit<'t>,
    /// What says so, if the file does.
    pub says_high: Option<Field<'t>>,
}

/// What limits the calls to a cluster.
pub struct Circuit<'t> {
    /// The retries.
    pub retries: RetryLimit<'t>,
    /// All of them.
    limits: Limits<'t>,
}

impl Default for Circuit<'_> {
    fn default() -> Self {
        Self { retries: RetryLimit::ENVOY, limits: Limits::default() }
    }
}

/// What limits how many retries are under way at once.
pub enum RetryLimit<'t> {
    /// Nothing: why.
    None(&'static str),
    /// Envoy's own limit: why.
    Default(&'static str),
    /// So many.
    AtOnce(i64, Field<'t>),
    /// A share of what is under way, in percent, but never fewer than a number.
    Share(Option<(f64, Field<'t>)>, Option<(i64, Field<'t>)>),
}

impl RetryLimit<'_> {
    /// Where nothing is said.
    const ENVOY: Self = Self::Default("Envoy: a number, and no share of what is under way");
    /// The most that a scenario can say.
    const MAX: i64 = 1_000_000_000;

    /// Whether there are retries, and not as many as one likes.
    pub fn is_one(&self) -> bool {
        match self {
            Self::None(_) => false,
            Self::AtOnce(limit, _) => (1..=Self::MAX).contains(limit),
            Self::Default(_) | Self::Share(..) => true,
        }
    }

    /// Puts it into a policy.
    pub fn put(&self, policy: &mut Block) {
        const PERCENT: &str = "Envoy: 20 % of what is under way";
        const MINIMUM: &str = "Envoy: never fewer than three";
        match self {
            Self::None(why) => policy.default("budget", "none", *why),
            Self::Default(why) => {
                policy.default("budget.concurrency.share", 0, *why);
                policy.default("budget.concurrency.minimum", 3, "Envoy: retries at once");
            }
            Self::AtOnce(limit, field) if *limit > Self::MAX => policy.read("budget", "none", field),
            Self::AtOnce(limit, field) => {
                policy.default("budget.concurrency.share", 0, "a number, and no share of what is under way");
                policy.read("budget.concurrency.minimum", *limit, field);
            }
            Self::Share(percent, minimum) => {
                match percent {
                    Some((percent, field)) => policy.read("budget.concurrency.share", share(*percent), field),
                    None => policy.default("budget.concurrency.share", 0.2, PERCENT),
                }
                match minimum {
                    Some((minimum, field)) => {
                        policy.read("budget.concurrency.minimum", (*minimum).min(Self::MAX), field);
                    }
                    None => policy.default("budget.concurrency.minimum", 3, MINIMUM),
                }
            }
        }
    }

    /// Puts it into a call as the limit of its hedges, which are retries to Envoy. Whether there may be any.
    pub fn put_hedges(&self, call: &mut Block, draft: &mut Draft) -> bool {
        const PATH: &str = "hedge.in_flight";
        match self {
            Self::AtOnce(0, _) => return false,
            // More than a scenario can say is no limit.
            Self::AtOnce(limit, field) if *limit <= i64::from(i32::MAX) => call.read(PATH, *limit, field),
            Self::Default(_) => call.default(PATH, 3, "Envoy: retries at once, of which these are some"),
            Self::None(_) | Self::AtOnce(..) => call.default(PATH, "unlimited", "as many as retries"),
            Self::Share(..) => {
                call.default(PATH, "unlimited", "a scenario has no share of what is under way for them");
                for field in self.fields() {
                    draft.leave_out(call, field, "hedges are retries to Envoy, and have this limit, too");
                }
            }
        }
        true
    }

    /// What says so in the file.
    pub fn fields(&self) -> impl Iterator<Item = &Field<'_>> {
        let (one, other) = match self {
            Self::None(_) | Self::Default(_) => (None, None),
            Self::AtOnce(_, field) => (Some(field), None),
            Self::Share(percent, minimum) => {
                (percent.as_ref().map(|(_, field)| field), minimum.as_ref().map(|(_, field)| field))
            }
        };
        [one, other].into_iter().flatten()
    }
}

impl<'t> Cluster<'t> {
    /// One that the file does not have: it is as Envoy's are.
    pub fn unknown(service: String) -> Self {
        const WHY: &str = "Envoy: a number, and no share; the cluster is not in the file";
        let circuit = || Circuit { retries: RetryLimit::Default(WHY), limits: Limits::default() };
        Self { service, connect: None, default: circuit(), high: circuit(), says_high: None }
    }

    /// What limits the calls of routes with high priority, or of the others.
    pub fn circuit(&self, is_high: bool) -> &Circuit<'t> {
        if is_high { &self.high } else { &self.default }
    }

    /// Puts what it says into a call to it.
    pub fn put(&self, is_high: bool, call: &mut Block, draft: &mut Draft) {
        match &self.connect {
            Some((span, field)) => call.read("connect_timeout", duration(*span), field),
            None => call.default("connect_timeout", "5s", "Envoy"),
        }
        self.circuit(is_high).limits.put(call, draft);
    }
}

/// Reads a cluster; what its hosts are becomes a service.
pub fn read<'t>(mut section: Section<'t>, name: &str, draft: &mut Draft) -> Cluster<'t> {
    let mut service = draft.block(Kind::Service, name, &section.head());
    let connect = section.field("connect_timeout");
    let connect = connect.and_then(|field| Some((draft.above_zero(&field, seconds)?, field)));
    let mut cluster = Cluster {
        service: service.name.clone(),
        connect,
        default: Circuit::default(),
        high: Circuit::default(),
        says_high: None,
    };
    if let Some(breakers) = draft.table(&mut section, "circuit_breakers") {
        thresholds(breakers, &mut cluster, &mut service, draft);
    }
    let options = section.field("typed_extension_protocol_options");
    let is_http2 = section.field("http2_protocol_options").is_some()
        || options.is_some_and(|field| mentions(field.node, "http2_protocol_options"));
    cluster.default.limits.is_http2 = is_http2;
    cluster.high.limits.is_http2 = is_http2;
    hosts(&mut section, &mut service, draft);
    if let Some(outliers) = draft.table(&mut section, "outlier_detection") {
        outlier::read(outliers, &mut service, draft);
    }
    let why = "a scenario has no health checks beside the requests";
    draft.leave_out_all(&mut service, &mut section, &["health_checks"], why);
    let why = "a scenario asks all servers if all are ejected, and knows no zones";
    draft.leave_out_all(&mut service, &mut section, &["common_lb_config"], why);
    section.skip(SKIPPED);
    draft.unknown(Some(&mut service), &section);
    if !service.settings.is_empty() || !service.left_out.is_empty() {
        draft.blocks.push(service);
    }
    cluster
}

/// What of a cluster has nothing to do with retries.
const SKIPPED: &[&str] = &[
    "@type",
    "name",
    "type",
    "cluster_type",
    "eds_cluster_config",
    "transport_socket",
    "transport_socket_matches",
    "dns_lookup_family",
    "dns_refresh_rate",
    "dns_failure_refresh_rate",
    "dns_resolvers",
    "respect_dns_ttl",
    "use_tcp_for_dns_lookups",
    "typed_dns_resolver_config",
    "upstream_bind_config",
    "metadata",
    "common_http_protocol_options",
    "http_protocol_options",
    "upstream_http_protocol_options",
    "upstream_connection_options",
    "per_connection_buffer_limit_bytes",
    "max_requests_per_connection",
    "alt_stat_name",
    "filters",
    "wait_for_warm_on_init",
    "cleanup_interval",
    "ignore_health_on_host_removal",
    "close_connections_on_host_health_failure",
    "protocol_selection",
    "lrs_server",
    "track_timeout_budgets",
    "track_cluster_stats",
    "connection_pool_per_downstream_connection",
    "preconnect_policy",
];

/// Whether a key is there, at any depth.
fn mentions(node: &Node, key: &str) -> bool {
    match &node.value {
        Value::Table(table) => {
            table.iter().any(|(name, entry)| Keys::Loose.same(name, key) || mentions(&entry.node, key))
        }
        Value::List(items) => items.iter().any(|item| mentions(item, key)),
        Value::Null | Value::Scalar(_) => false,
    }
}

/// `circuit_breakers`: for each priority.
fn thresholds<'t>(mut breakers: Section<'t>, cluster: &mut Cluster<'t>, service: &mut Block, draft: &mut Draft) {
    let mut has_default = false;
    for mut threshold in draft.tables(&mut breakers, "thresholds") {
        let priority = threshold.field("priority");
        let is_high = priority.as_ref().is_some_and(|field| draft.text(field) == Some("HIGH"));
        // Of several for one priority the first counts.
        match priority.filter(|_| is_high) {
            Some(field) if cluster.says_high.is_none() => {
                cluster.says_high = Some(field);
                cluster.high = threshold_of(threshold, service, draft);
            }
            None if !has_default => {
                has_default = true;
                cluster.default = threshold_of(threshold, service, draft);
            }
            _ => {}
        }
    }
    let why = "a limit of a scenario is for all servers of a service together";
    draft.leave_out_all(service, &mut breakers, &["per_host_thresholds"], why);
    draft.unknown(Some(service), &breakers);
}

fn threshold_of<'t>(mut section: Section<'t>, service: &mut Block, draft: &mut Draft) -> Circuit<'t> {
    let mut amount = |key: &str, draft: &mut Draft| {
        let field = section.field(key)?;
        Some((draft.parsed(&field, count)?, field))
    };
    let connections = amount("max_connections", draft);
    let requests = amount("max_requests", draft);
    let pending = amount("max_pending_requests", draft).map(|(_, field)| field);
    let most = amount("max_retries", draft);
    let budget = draft.table(&mut section, "retry_budget").map(|budget| budget_of(budget, service, draft));
    let why = "a scenario has one pool for a call";
    draft.leave_out_all(service, &mut section, &["max_connection_pools"], why);
    section.skip(&["priority", "track_remaining"]);
    draft.unknown(Some(service), &section);
    let retries = match (budget, most) {
        (Some(budget), most) => {
            if let Some((_, field)) = most {
                let message = "`max_retries` does not count: there is a `retry_budget`";
                draft.surprise(&field.place(), message, "take it out");
            }
            budget
        }
        (None, Some((most, field))) => {
            if most == 0 {
                draft.surprise(&field.place(), "there is never a retry", "Envoy's own limit is 3");
            }
            RetryLimit::AtOnce(most, field)
        }
        (None, None) => RetryLimit::ENVOY,
    };
    Circuit { retries, limits: Limits { connections, pending, requests, is_http2: false } }
}

/// `retry_budget`, which is one even if it says nothing.
fn budget_of<'t>(mut section: Section<'t>, service: &mut Block, draft: &mut Draft) -> RetryLimit<'t> {
    let percent = percentage(&mut section, "budget_percent", draft);
    let minimum = section.field("min_retry_concurrency");
    let minimum = minimum.and_then(|field| Some((draft.parsed(&field, count)?, field)));
    let why = "a budget of a scenario counts what is under way";
    draft.leave_out_all(service, &mut section, &["budget_interval"], why);
    draft.unknown(Some(service), &section);
    RetryLimit::Share(percent, minimum)
}

/// A percentage, which is a number, or a table with one as `value`.
pub fn percentage<'t>(section: &mut Section<'t>, key: &str, draft: &mut Draft) -> Option<(f64, Field<'t>)> {
    let field = section.field(key)?;
    let number = match field.section(section.keys()) {
        Some(mut table) => table.field("value"),
        None => Some(field.clone()),
    };
    // A message without its value is zero.
    let Some(number) = number else { return Some((0.0, field)) };
    let percent = draft.number(&number)?;
    if !(0.0..=100.0).contains(&percent) {
        draft.wrong(&number.node.place, format!("`{}` must be from 0 to 100", number.path), "Envoy refuses it");
        return None;
    }
    Some((percent, field))
}

/// How hosts are picked, and how many there are.
fn hosts(section: &mut Section<'_>, service: &mut Block, draft: &mut Draft) {
    /// The most servers of a service.
    const INSTANCES_MAX: usize = 10_000;
    if let Some(field) = section.field("lb_policy")
        && let Some(policy) = draft.text(&field)
    {
        match policy {
            "ROUND_ROBIN" => service.read("balance", "round_robin", &field),
            "LEAST_REQUEST" => service.read("balance", "two_choices", &field),
            "RANDOM" => service.read("balance", "random", &field),
            _ => draft.leave_out(service, &field, "no balancer of a scenario picks servers so"),
        }
    }
    let why = "a balancer of a scenario has no settings";
    let settings = ["least_request_lb_config", "round_robin_lb_config", "ring_hash_lb_config", "maglev_lb_config"];
    draft.leave_out_all(service, section, &settings, why);
    let why = "the balancers of a scenario are those of `lb_policy`";
    draft.leave_out_all(service, section, &["load_balancing_policy", "lb_subset_config"], why);
    let Some(field) = section.field("load_assignment") else { return };
    let hosts = count_of(field.node, "lb_endpoints");
    // One name stands for as many hosts as it has addresses.
    if hosts > 1 && hosts <= INSTANCES_MAX {
        service.read("instances", i64::try_from(hosts).expect("there are few"), &field);
    }
}

/// How many items the lists at a key have, at any depth.
fn count_of(node: &Node, key: &str) -> usize {
    match &node.value {
        Value::Table(table) => table
            .iter()
            .map(|(name, entry)| match &entry.node.value {
                Value::List(items) if Keys::Loose.same(name, key) => items.len(),
                _ => count_of(&entry.node, key),
            })
            .sum(),
        Value::List(items) => items.iter().map(|item| count_of(item, key)).sum(),
        Value::Null | Value::Scalar(_) => 0,
    }
}
