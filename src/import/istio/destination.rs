//! Destination rules: how a host is called, whichever route leads there.

use crate::import::draft::{Block, Draft, Kind, name_of};
use crate::import::envoy::cluster::{RetryLimit, percentage};
use crate::import::envoy::limits::Limits;
use crate::import::envoy::outlier::{self, Counted, Outliers};
use crate::import::kubernetes;
use crate::import::section::{Field, Keys, Section};
use crate::import::values::{count, duration, go_duration};
use crate::scenario::source::Place;
use crate::time::Span;

/// A rule.
pub struct Rule<'t> {
    /// The full name of the host; a star at its start stands for anything.
    pub host: String,
    /// What a scenario calls it.
    pub name: String,
    /// Where it begins.
    pub place: Place,
    /// For all of it.
    traffic: Traffic<'t>,
    /// For subsets, by name.
    subsets: Vec<(String, Traffic<'t>)>,
}

/// Why two servers are drawn and compared where the file does not say.
const BALANCER: &str = "Istio: LEAST_REQUEST";

/// A traffic policy.
#[derive(Clone, Default)]
pub struct Traffic<'t> {
    pool: Option<Field<'t>>,
    balancer: Option<Field<'t>>,
    outliers: Option<Field<'t>>,
    budget: Option<Field<'t>>,
    ports: Option<Field<'t>>,
}

impl<'t> Rule<'t> {
    /// Reads one.
    pub fn read(mut section: Section<'t>, namespace: &str, draft: &mut Draft) -> Self {
        let place = section.head();
        let host = section.field("host").and_then(|field| draft.text(&field)).unwrap_or("service");
        let host = kubernetes::host(host, namespace);
        let traffic = Traffic::read(&mut section, draft);
        let mut subsets = Vec::new();
        for mut subset in draft.tables(&mut section, "subsets") {
            let name = subset.field("name").and_then(|field| draft.text(&field)).unwrap_or_default().to_owned();
            subset.skip(&["labels"]);
            subsets.push((name, Traffic::read(&mut subset, draft)));
            draft.unknown(None, &subset);
        }
        section.skip(&["exportTo", "workloadSelector"]);
        draft.unknown(None, &section);
        let name = kubernetes::short(&host.replace('*', "any"), namespace).into_owned();
        Self { host, name, place, traffic, subsets }
    }

    /// The rule for a host: its own, or else that with the longest name after a star.
    pub fn of<'r>(rules: &'r [Self], host: &str) -> Option<&'r Self> {
        rules.iter().filter(|rule| rule.is_for(host)).max_by_key(|rule| (!rule.is_wildcard(), rule.host.len()))
    }

    /// Whether it is for all hosts whose names end in some way.
    pub fn is_wildcard(&self) -> bool {
        self.host.starts_with('*')
    }

    /// Whether it is for a host.
    pub fn is_for(&self, host: &str) -> bool {
        let Some(end) = self.host.strip_prefix('*') else {
            return self.host == host || is_one_without_namespace(&self.host, host);
        };
        // Without a point it is a service of a namespace that the file does not name.
        if host.contains('.') {
            host.ends_with(end)
        } else {
            format!("{host}.default.svc.cluster.local").ends_with(end)
        }
    }

    /// What counts for a subset: each part of it that the subset does not have is that of the host.
    pub fn traffic(&self, subset: Option<&str>) -> Traffic<'t> {
        let own = self.subsets.iter().find(|(name, _)| Some(name.as_str()) == subset);
        let own = own.map(|(_, traffic)| traffic.clone()).unwrap_or_default();
        let Traffic { pool, balancer, outliers, budget, ports } = self.traffic.clone();
        Traffic {
            pool: own.pool.or(pool),
            balancer: own.balancer.or(balancer),
            outliers: own.outliers.or(outliers),
            budget: own.budget.or(budget),
            ports: own.ports.or(ports),
        }
    }

    /// What the servers of a host are, of which this is the rule, if there is one.
    pub fn service(rule: Option<&Self>, name: &str, draft: &mut Draft) {
        let place = rule.map_or(0..0, |rule| rule.place.clone());
        let mut service = draft.block(Kind::Service, name, &place);
        let all = rule
            .into_iter()
            .flat_map(|rule| std::iter::once(&rule.traffic).chain(rule.subsets.iter().map(|(_, traffic)| traffic)));
        let (mut has_outliers, mut has_balancer) = (false, false);
        for traffic in all {
            if let Some(field) = &traffic.outliers {
                if has_outliers {
                    draft.leave_out(&mut service, field, "a service of a scenario has no subsets");
                } else {
                    outliers(field, &mut service, draft);
                }
                has_outliers = true;
            }
            if let Some(field) = traffic.balancer.as_ref().filter(|_| !has_balancer) {
                balancer(field, &mut service, draft);
                has_balancer = true;
            }
        }
        if draft.blocks.iter().any(|block| block.kind == Kind::Service && block.name == name_of(name)) {
            return;
        }
        if !has_balancer {
            service.default("balance", "two_choices", BALANCER);
        }
        draft.blocks.push(service);
    }
}

impl<'t> Traffic<'t> {
    fn read(section: &mut Section<'t>, draft: &mut Draft) -> Self {
        let Some(mut traffic) = draft.table(section, "trafficPolicy") else { return Self::default() };
        let read = Self {
            pool: traffic.field("connectionPool"),
            balancer: traffic.field("loadBalancer"),
            outliers: traffic.field("outlierDetection"),
            budget: traffic.field("retryBudget"),
            ports: traffic.field("portLevelSettings"),
        };
        traffic.skip(&["tls", "tunnel", "proxyProtocol"]);
        draft.unknown(None, &traffic);
        read
    }

    /// Whether hosts are picked by a hash of the request.
    pub fn hashes(&self) -> bool {
        self.balancer.as_ref().is_some_and(|field| kubernetes::at(field.node, &["consistentHash"]).is_some())
    }

    /// Puts what it says into a call, and returns what limits its retries.
    pub fn put(&self, call: &mut Block, draft: &mut Draft) -> RetryLimit<'t> {
        let (connect, mut limit) = self.pool(call, draft);
        match connect {
            Some((span, field)) => call.read("connect_timeout", duration(span), &field),
            None => call.default("connect_timeout", "10s", "Istio"),
        }
        if let Some(field) = &self.ports {
            draft.leave_out(call, field, "a service of a scenario has no ports");
        }
        if let Some(mut section) = self.budget.as_ref().and_then(|field| draft.table_of(field, Keys::Exact)) {
            let percent = percentage(&mut section, "percent", draft);
            let minimum = section.field("minRetryConcurrency");
            let minimum = minimum.and_then(|field| Some((draft.parsed(&field, count)?, field)));
            let why = "a budget of a scenario counts what is under way";
            draft.leave_out_all(call, &mut section, &["budgetInterval"], why);
            draft.unknown(Some(call), &section);
            if let RetryLimit::AtOnce(_, field) = &limit {
                let message = "`maxRetries` does not count: there is a `retryBudget`";
                draft.surprise(&field.place(), message, "take it out");
            }
            limit = RetryLimit::Share(percent, minimum);
        }
        limit
    }

    /// `connectionPool`: how long a connection may take, and what limits retries; other limits are put into the call.
    fn pool(&self, call: &mut Block, draft: &mut Draft) -> (Option<(Span, Field<'t>)>, RetryLimit<'t>) {
        let mut limits = Limits::default();
        let mut limit = RetryLimit::None("Istio lifts Envoy's limit of 3 retries at once");
        let mut connect = None;
        let Some(mut section) = self.pool.as_ref().and_then(|field| draft.table_of(field, Keys::Exact)) else {
            return (connect, limit);
        };
        if let Some(mut tcp) = draft.table(&mut section, "tcp") {
            limits.connections = amount(&mut tcp, "maxConnections", draft);
            let field = tcp.field("connectTimeout");
            connect = field.and_then(|field| Some((draft.above_zero(&field, go_duration)?, field)));
            tcp.skip(&["tcpKeepalive", "maxConnectionDuration", "idleTimeout"]);
            draft.unknown(Some(call), &tcp);
        }
        if let Some(mut http) = draft.table(&mut section, "http") {
            limits.requests = amount(&mut http, "http2MaxRequests", draft);
            limits.pending = amount(&mut http, "http1MaxPendingRequests", draft).map(|(_, field)| field);
            let upgrade = http.field("h2UpgradePolicy");
            limits.is_http2 = upgrade.is_some_and(|field| field.node.scalar() == Some("UPGRADE"));
            let retries = http.field("maxRetries");
            if let Some(field) = retries
                && let Some(most) = draft.parsed(&field, count)
            {
                if most == 0 {
                    let message = "0 does not turn retries off: it is as if nothing was said, and nothing limits them";
                    draft.surprise(
                        &field.place(),
                        message,
                        "for no retries say `retries: { attempts: 0 }` of the route",
                    );
                } else {
                    limit = RetryLimit::AtOnce(most, field);
                }
            }
            let skipped = ["maxRequestsPerConnection", "idleTimeout", "useClientProtocol", "maxConcurrentStreams"];
            http.skip(&skipped);
            draft.unknown(Some(call), &http);
        }
        draft.unknown(Some(call), &section);
        limits.put(call, draft);
        (connect, limit)
    }
}

/// A number, where 0 is as if nothing was said.
fn amount<'t>(section: &mut Section<'t>, key: &str, draft: &mut Draft) -> Option<(i64, Field<'t>)> {
    let field = section.field(key)?;
    let amount = draft.parsed(&field, count)?;
    (amount > 0).then_some((amount, field))
}

fn balancer(field: &Field<'_>, service: &mut Block, draft: &mut Draft) {
    let Some(mut section) = draft.table_of(field, Keys::Exact) else { return };
    let hashes = section.field("consistentHash").is_some();
    match section.field("simple") {
        Some(simple) => match draft.text(&simple).unwrap_or_default() {
            "ROUND_ROBIN" => service.read("balance", "round_robin", &simple),
            "LEAST_REQUEST" | "LEAST_CONN" | "UNSPECIFIED" => service.read("balance", "two_choices", &simple),
            "RANDOM" => service.read("balance", "random", &simple),
            _ => draft.leave_out(service, &simple, "no balancer of a scenario picks servers so"),
        },
        None if hashes => {}
        None => service.default("balance", "two_choices", BALANCER),
    }
    let why = "no balancer of a scenario picks servers so";
    draft.leave_out_all(service, &mut section, &["consistentHash"], why);
    let why = "servers of a scenario are all alike";
    draft.leave_out_all(service, &mut section, &["localityLbSetting", "warmup", "warmupDurationSecs"], why);
    draft.unknown(Some(service), &section);
}

/// `outlierDetection`.
fn outliers(field: &Field<'_>, service: &mut Block, draft: &mut Draft) {
    let Some(mut section) = draft.table_of(field, Keys::Exact) else { return };
    let mut counters = Vec::new();
    let fives = section.field("consecutive5xxErrors");
    match fives.as_ref().map(|field| draft.parsed(field, count).unwrap_or_default()) {
        None => counters.push((Counted::ServerErrors, Outliers::CONSECUTIVE, None)),
        Some(0) => {}
        Some(amount) => counters.push((Counted::ServerErrors, amount, fives)),
    }
    let gateway = amount(&mut section, "consecutiveGatewayErrors", draft);
    counters.extend(gateway.map(|(amount, field)| (Counted::GatewayErrors, amount, Some(field))));
    let splits = section.field("splitExternalLocalOriginErrors");
    let splits = splits.is_some_and(|field| draft.truth(&field) == Some(true));
    match amount(&mut section, "consecutiveLocalOriginFailures", draft) {
        Some((amount, field)) if splits => counters.push((Counted::LocalOrigin, amount, Some(field))),
        Some((_, field)) => {
            let why = "without `splitExternalLocalOriginErrors` they are counted with the others";
            draft.leave_out(service, &field, why);
        }
        None if splits => counters.push((Counted::LocalOrigin, Outliers::CONSECUTIVE, None)),
        None => {}
    }
    if let Some(field) = section.field("consecutiveErrors") {
        draft.surprise(
            &field.place(),
            "`consecutiveErrors` is deprecated, and releases of today do not read it",
            "say `consecutive5xxErrors` or `consecutiveGatewayErrors`",
        );
    }
    let base = section.field("baseEjectionTime");
    let base = base.and_then(|field| Some((draft.above_zero(&field, go_duration)?, field)));
    let percent = outlier::percent(&mut section, "maxEjectionPercent", draft).filter(|(percent, _)| *percent > 0);
    let why = "failures in a row eject at once, and a server comes back when its time is over";
    draft.leave_out_all(service, &mut section, &["interval"], why);
    let why = "a scenario asks all servers if all are ejected, and not before";
    draft.leave_out_all(service, &mut section, &["minHealthPercent"], why);
    draft.unknown(Some(service), &section);
    Outliers { counters, splits, base, most: None, percent, place: section.place.clone() }.put(service, draft);
}

/// Whether two hosts are one service, of which one says the namespace and the other leaves it to whoever applies the file.
fn is_one_without_namespace(one: &str, other: &str) -> bool {
    let (short, full) = if one.contains('.') { (other, one) } else { (one, other) };
    let service = full.strip_suffix(".svc.cluster.local").and_then(|service| service.split_once('.'));
    service.is_some_and(|(service, _)| service == short)
}
