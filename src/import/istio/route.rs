//! Virtual services: routes over HTTP as calls.

use toml_edit::Value;

use super::destination::{Rule, Traffic};
use crate::failure::ErrorKind;
use crate::import::draft::{Block, Draft, Kind};
use crate::import::envoy::cluster::RetryLimit;
use crate::import::envoy::policy::{put_backoff, retries_of};
use crate::import::envoy::{check_timeouts, retry_on};
use crate::import::kubernetes;
use crate::import::section::{Field, Section};
use crate::import::values::{count, duration, errors, go_duration};
use crate::scenario::source::Place;
use crate::time::Span;

/// Retries of a route that says nothing of them.
const RETRIES: i64 = 2;

/// What those are for: failed connections, and two statuses of gRPC, of which a scenario has one. A 503 is neither.
const RETRIED: [ErrorKind; 2] = [ErrorKind::Unavailable, ErrorKind::Refused];
const RETRIED_WHY: &str = "Istio: failed connections, UNAVAILABLE of gRPC; not 503: over HTTP without \"unavailable\"";

/// The hosts to which routes of the file lead.
#[derive(Default)]
pub struct Seen {
    /// All of them, each with what a scenario calls it.
    pub called: Vec<(String, String)>,
    /// Those where something is tried again.
    retried: Vec<String>,
}

/// Reads a virtual service; the hosts that it leads to are noted.
pub fn service(mut section: Section<'_>, namespace: &str, rules: &[Rule<'_>], seen: &mut Seen, draft: &mut Draft) {
    for route in draft.tables(&mut section, "http") {
        self::route(route, namespace, rules, seen, draft);
    }
    section.skip(&["hosts", "gateways", "exportTo", "tls", "tcp"]);
    draft.unknown(None, &section);
}

/// A destination of a route.
struct Destination {
    host: String,
    name: String,
    subset: Option<String>,
}

fn route(mut section: Section<'_>, namespace: &str, rules: &[Rule<'_>], seen: &mut Seen, draft: &mut Draft) {
    let place = section.field("name").map_or_else(|| section.head(), |field| field.place());
    let label = label(&mut section);
    let destinations = destinations(&mut section, namespace, draft);
    let timeout = section.field("timeout");
    let total = timeout.and_then(|field| Some((draft.parsed(&field, go_duration)?, field)));
    let retries = draft.table(&mut section, "retries").map(|retries| Retries::read(retries, draft));
    let mut left_out = Block::scratch(&place);
    rest(&mut section, destinations.len() > 1, &mut left_out, draft);
    draft.unknown(Some(&mut left_out), &section);
    for destination in &destinations {
        let rule = Rule::of(rules, &destination.host);
        let traffic = rule.map(|rule| rule.traffic(destination.subset.as_deref())).unwrap_or_default();
        let to = crate::import::draft::name_of(&destination.name);
        let mut call = draft.block(Kind::Call { to }, &format!("{}/{label}", destination.name), &place);
        call.left_out.clone_from(&left_out.left_out);
        match &total {
            Some((Span::ZERO, field)) => call.read("total_timeout", "none", field),
            Some((span, field)) => call.read("total_timeout", duration(*span), field),
            None => {
                no_timeout(&mut call);
                draft.surprise(
                    &place,
                    "this route waits without end: it has no `timeout`",
                    "Istio turns Envoy's 15 s off",
                );
            }
        }
        let is_retried = retries.as_ref().is_none_or(|retries| retries.amount().is_some());
        let is_first = is_retried && !seen.retried.contains(&destination.host);
        let total = total.as_ref().map_or(Span::ZERO, |(span, _)| *span);
        let limit = traffic.put(&mut call, draft);
        follow(retries.as_ref(), &traffic, &limit, total, is_first, call, draft);
        if !seen.called.iter().any(|(host, _)| *host == destination.host) {
            seen.called.push((destination.host.clone(), destination.name.clone()));
        }
        if is_retried {
            seen.retried.push(destination.host.clone());
        }
    }
}

/// What a route is called: by its name, or by the path that it is for.
fn label<'t>(section: &mut Section<'t>) -> &'t str {
    let matches = section.field("match");
    let first = matches.and_then(|field| field.items().first()).and_then(|first| kubernetes::at(first, &["uri"]));
    let path = first.and_then(|uri| ["prefix", "exact", "regex"].iter().find_map(|key| kubernetes::at(uri, &[key])));
    let name = section.field("name").and_then(|field| field.node.scalar());
    name.or_else(|| path?.scalar()).unwrap_or_default()
}

fn destinations(section: &mut Section<'_>, namespace: &str, draft: &mut Draft) -> Vec<Destination> {
    let mut found = Vec::new();
    for mut to in draft.tables(section, "route") {
        if let Some(mut destination) = draft.table(&mut to, "destination") {
            let host = destination.field("host").and_then(|field| draft.text(&field)).unwrap_or("service");
            let subset = destination.field("subset").and_then(|field| draft.text(&field)).map(str::to_owned);
            destination.skip(&["port"]);
            draft.unknown(None, &destination);
            let host = kubernetes::host(host, namespace);
            let name = kubernetes::short(&host, namespace).into_owned();
            found.push(Destination { host, name, subset });
        }
        to.skip(&["weight", "headers"]);
        draft.unknown(None, &to);
    }
    found
}

/// The route that Istio makes to a host of which no virtual service of the file is.
pub fn implicit(rule: &Rule<'_>, draft: &mut Draft) {
    let mut call = draft.block(Kind::Call { to: crate::import::draft::name_of(&rule.name) }, &rule.name, &rule.place);
    no_timeout(&mut call);
    let traffic = rule.traffic(None);
    let limit = traffic.put(&mut call, draft);
    follow(None, &traffic, &limit, Span::ZERO, true, call, draft);
}

fn no_timeout(call: &mut Block) {
    call.default("total_timeout", "none", "Istio: a route without `timeout` waits without end");
}

/// `retries` of a route.
struct Retries<'t> {
    attempts: Option<(i64, Field<'t>)>,
    per_try: Option<(Span, Field<'t>)>,
    on: Option<Field<'t>>,
    backoff: Option<(Span, Field<'t>)>,
    ignores_hosts: Option<(bool, Field<'t>)>,
    localities: Option<Field<'t>>,
    unknown: Vec<String>,
    place: Place,
}

impl<'t> Retries<'t> {
    fn read(mut section: Section<'t>, draft: &mut Draft) -> Self {
        let mut span = |key: &str, draft: &mut Draft| {
            let field = section.field(key)?;
            let span = draft.parsed(&field, go_duration)?;
            (span > Span::ZERO).then_some((span, field))
        };
        let per_try = span("perTryTimeout", draft);
        let backoff = span("backoff", draft);
        let attempts = section.field("attempts");
        let ignores = section.field("retryIgnorePreviousHosts");
        let mut read = Self {
            attempts: attempts.and_then(|field| Some((draft.parsed(&field, count)?, field))),
            per_try,
            on: section.field("retryOn").filter(|field| field.node.scalar() != Some("")),
            backoff,
            ignores_hosts: ignores.and_then(|field| Some((draft.truth(&field)?, field))),
            localities: section.field("retryRemoteLocalities"),
            unknown: Vec::new(),
            place: section.place.clone(),
        };
        let mut unknown = Block::scratch(&section.place);
        draft.unknown(Some(&mut unknown), &section);
        read.unknown = unknown.left_out;
        read
    }

    /// How many retries there are; none if the block turns them off.
    fn amount(&self) -> Option<i64> {
        self.attempts.as_ref().map(|(amount, _)| *amount).filter(|amount| *amount > 0)
    }
}

/// Makes a call follow the policy of its route, or the one that Istio has for routes without one.
fn follow(
    retries: Option<&Retries<'_>>,
    traffic: &Traffic<'_>,
    limit: &RetryLimit<'_>,
    total: Span,
    is_first: bool,
    mut call: Block,
    draft: &mut Draft,
) {
    // A block that turns retries off has its say about the time of a try nevertheless.
    match retries.and_then(|retries| retries.per_try.as_ref()) {
        Some((span, field)) if retries.is_some_and(|retries| retries.amount().is_some()) => {
            call.read("timeout", duration(*span), field);
        }
        _ => call.default("timeout", "none", "Istio: no `perTryTimeout`, only that of the route"),
    }
    let amount = match retries {
        None => Some(RETRIES),
        Some(retries) => retries.amount(),
    };
    let Some(amount) = amount else {
        off(retries, &mut call, draft);
        draft.blocks.push(call);
        return;
    };
    let place = retries.map_or_else(|| call.place.clone(), |retries| retries.place.clone());
    let mut policy = draft.block(Kind::Policy, &call.name, &place);
    let on = put(retries, amount, &mut policy, draft);
    limit.put(&mut policy);
    policy.default("shared_by", "instance", "Istio: each sidecar has its own");
    policy.default("shared_over", "target", "Envoy: one limit for a cluster");
    match retries.and_then(|retries| retries.ignores_hosts.as_ref()) {
        Some((ignores, field)) => call.read("avoid_previous", *ignores, field),
        None if traffic.hashes() => call.default("avoid_previous", false, "Istio: not with a hash"),
        None => call.default("avoid_previous", true, "Istio"),
    }
    call.default("retry", policy.name.as_str(), "the policy of this route");
    remark(retries, limit, is_first, &place, draft);
    let per_try = retries.and_then(|retries| retries.per_try.as_ref()).map(|(span, field)| (*span, field));
    check_timeouts(&place, amount, &on, per_try, total, draft);
    draft.blocks.push(call);
    draft.blocks.push(policy);
}

/// No retries: because the file says so, or because it does not say how many.
fn off(retries: Option<&Retries<'_>>, call: &mut Block, draft: &mut Draft) {
    let Some(retries) = retries else { return };
    match &retries.attempts {
        Some((_, field)) => call.read("retry", "none", field),
        None => {
            call.default("retry", "none", "Istio: `retries` without `attempts` turns them off");
            let message = "`retries` without `attempts` turns retries off";
            draft.surprise(&retries.place, message, "say how many; without the block there are two");
        }
    }
}

/// Puts the settings of a policy into its block, and returns what is tried again.
fn put(retries: Option<&Retries<'_>>, amount: i64, policy: &mut Block, draft: &mut Draft) -> Vec<ErrorKind> {
    match retries.and_then(|retries| retries.attempts.as_ref()) {
        Some((_, field)) => {
            policy.read("max_retries", retries_of(amount), field);
            let (calls, word) = (amount + 1, if amount == 1 { "retry" } else { "retries" });
            let message =
                format!("`attempts: {amount}` is {amount} {word}, and {calls} calls: the first is not counted");
            let hint = format!("for {amount} in all say `attempts: {}`", amount - 1);
            draft.surprise(&field.place(), message, hint);
        }
        None => policy.default("max_retries", Value::from(amount), "Istio: two, where a route says nothing"),
    }
    let has_try_timeout = retries.is_some_and(|retries| retries.per_try.is_some());
    let on = match retries.and_then(|retries| retries.on.as_ref()) {
        Some(field) => {
            let conditions = retry_on::read(field, None, policy, draft);
            conditions.put(has_try_timeout, field, policy);
            conditions.errors
        }
        None => {
            // Without a timeout of a try, a `timeout` can only be one of a connection.
            let connects = (!has_try_timeout).then_some(ErrorKind::Timeout);
            policy.default("retry_on", errors(RETRIED.into_iter().chain(connects)), RETRIED_WHY);
            RETRIED.to_vec()
        }
    };
    put_backoff(policy, retries.and_then(|retries| retries.backoff.clone()), None);
    policy.default("retry_after", "ignore", "Istio: Envoy looks at no header");
    if let Some(retries) = retries {
        policy.left_out.extend(retries.unknown.iter().cloned());
        if let Some(field) = &retries.localities {
            draft.leave_out(policy, field, "servers of a scenario are all at one place");
        }
    }
    on
}

/// What surprises in retries.
fn remark(retries: Option<&Retries<'_>>, limit: &RetryLimit<'_>, is_first: bool, place: &Place, draft: &mut Draft) {
    if retries.is_none() {
        draft.surprise(
            place,
            "Istio tries this again twice, although the route has no `retries`",
            "for no retries say `retries: { attempts: 0 }`; with k sidecars in a row there are up to 3^k calls",
        );
    }
    if is_first && matches!(limit, RetryLimit::None(_)) {
        draft.surprise(
            place,
            "nothing limits how many retries to this host are under way at once",
            "set `retryBudget` or `connectionPool.http.maxRetries` in a DestinationRule",
        );
    }
}

/// What else a route says.
fn rest(section: &mut Section<'_>, is_weighted: bool, block: &mut Block, draft: &mut Draft) {
    if is_weighted && let Some(field) = section.field("route") {
        draft.leave_out(block, &field, "how much goes to which is up to the scenario: give the calls a `weight`");
    }
    draft.leave_out_all(block, section, &["fault"], "put what it does in as a fault");
    let why = "nobody waits for copies of requests: add a client group for them";
    let mirrors = ["mirror", "mirrors", "mirrorPercentage", "mirrorPercent", "mirror_percent"];
    draft.leave_out_all(block, section, &mirrors, why);
    if let Some(field) = section.field("delegate") {
        draft.pass_over(&field, "the routes of the virtual service that it names are read where that is");
    }
    section.skip(&["name", "match", "route", "redirect", "directResponse", "rewrite", "headers", "corsPolicy"]);
}
