//! Annotations of services and routes, and timeouts of routes: a limit for each request, and no budget.

use std::sync::LazyLock;

use crate::failure::ErrorKind;
use crate::import::draft::{Block, Draft, Kind, Origin, name_of};
use crate::import::kubernetes::{self, Object};
use crate::import::section::{Field, Keys, Section};
use crate::import::statuses;
use crate::import::tree::{Node, Table, Value};
use crate::import::values::{duration, errors, go_duration, number};
use crate::time::Span;

/// What annotations on how a service is called begin with.
const PREFIXES: [&str; 3] = ["retry.linkerd.io/", "timeout.linkerd.io/", "balancer.linkerd.io/"];

/// Routes of the Gateway API.
const ROUTES: [&str; 2] = ["HTTPRoute", "GRPCRoute"];

/// Annotations of an object that has none.
static NO_ANNOTATIONS: LazyLock<Node> = LazyLock::new(|| Node { place: 0..0, value: Value::Table(Table::new()) });

/// Whether an object has such annotations.
pub fn are_in(object: &Object<'_>) -> bool {
    let annotations = annotations(object);
    annotations.is_some_and(|mut section| section.all().iter().any(|field| is_ours(field)))
}

fn is_ours(field: &Field<'_>) -> bool {
    PREFIXES.iter().any(|prefix| field.name.starts_with(prefix))
}

/// Whether an object is a route with timeouts in its rules.
pub fn has_timeouts(object: &Object<'_>) -> bool {
    rules(object).iter().any(|(_, timeouts)| timeouts.is_some())
}

/// The rules of a route, as far as they have timeouts: the name of each, if it has one, and the timeouts.
fn rules<'t>(object: &Object<'t>) -> Vec<(Option<&'t str>, Option<Section<'t>>)> {
    let rules = kubernetes::at(object.node, &["spec", "rules"]).map(|rules| &rules.value);
    let (true, Some(Value::List(rules))) = (ROUTES.contains(&object.kind), rules) else { return Vec::new() };
    let read = |(at, rule): (usize, &'t Node)| {
        let name = kubernetes::at(rule, &["name"]).and_then(Node::scalar);
        let timeouts = kubernetes::at(rule, &["timeouts"]).and_then(|node| Section::document(node, Keys::Exact));
        let timeouts = timeouts.map(|mut section| {
            section.path = format!("spec.rules[{at}].timeouts");
            section
        });
        (name, timeouts)
    };
    rules.iter().enumerate().map(read).collect()
}

fn annotations<'t>(object: &Object<'t>) -> Option<Section<'t>> {
    let node = kubernetes::at(object.node, &["metadata", "annotations"])?;
    let mut section = Section::document(node, Keys::Exact)?;
    section.path = "metadata.annotations".to_owned();
    Some(section)
}

/// Reads an object with annotations, or with timeouts. `profiles` are the names of the services that have a profile.
pub fn read(object: &Object<'_>, profiles: &[String], draft: &mut Draft) {
    for (host, label) in targets(object) {
        if profiles.contains(&host) {
            let place = annotations(object).map_or_else(|| object.place.clone(), |section| section.head());
            let message = "the service has a profile: Linkerd ignores its annotations and routes";
            draft.surprise(&place, message, "take the profile out, or these");
            continue;
        }
        let rules = rules(object);
        if !rules.iter().any(|(_, timeouts)| timeouts.is_some()) {
            self::call(object, &host, label, None, draft);
            continue;
        }
        // Rules with timeouts of their own are calls of their own.
        let is_only = rules.len() == 1;
        for (at, (name, timeouts)) in rules.into_iter().enumerate() {
            let label = match name {
                Some(name) => format!("{label}-{name}"),
                None if is_only => label.to_owned(),
                None => format!("{label}-{}", at + 1),
            };
            self::call(object, &host, &label, timeouts, draft);
        }
    }
}

/// A call to a host, with the timeouts of a rule.
fn call(object: &Object<'_>, host: &str, label: &str, rule: Option<Section<'_>>, draft: &mut Draft) {
    let annotated = annotations(object);
    let place = annotated.as_ref().map_or_else(|| object.place.clone(), Section::head);
    let Some(mut section) = annotated.or_else(|| Section::document(&NO_ANNOTATIONS, Keys::Exact)) else { return };
    let service = kubernetes::short(host, object.namespace);
    let to = name_of(&service);
    let mut call = draft.block(Kind::Call { to }, &format!("{service}/{label}"), &place);
    timeouts(&mut section, &mut call, draft);
    let policy = retries(&mut section, &mut call, draft);
    if let Some(rule) = rule {
        of_rule(rule, &mut call, draft);
    }
    breaker(&mut section, &mut call, draft);
    let others: Vec<Field<'_>> = section.unknown().filter(|field| is_ours(field)).collect();
    for field in others {
        draft.leave_out(&mut call, &field, "it is not known here");
    }
    draft.blocks.push(call);
    draft.blocks.extend(policy);
}

/// The services that an object is about, each with what its route is called.
fn targets<'t>(object: &Object<'t>) -> Vec<(String, &'t str)> {
    let parents = match kubernetes::at(object.node, &["spec", "parentRefs"]).map(|parents| &parents.value) {
        Some(Value::List(items)) => items.as_slice(),
        _ => &[],
    };
    let host = |parent: &Node| {
        let said = |key: &str| kubernetes::at(parent, &[key]).and_then(Node::scalar);
        let namespace = said("namespace").unwrap_or(object.namespace);
        Some((kubernetes::host(said("name")?, namespace), object.name))
    };
    let mut found: Vec<(String, &str)> = Vec::new();
    for target in parents.iter().filter_map(host) {
        // Ports of one service are that service.
        if !found.contains(&target) {
            found.push(target);
        }
    }
    if found.is_empty() {
        let name = if object.name.is_empty() { "service" } else { object.name };
        found.push((kubernetes::host(name, object.namespace), ""));
    }
    found
}

/// The timeouts of a rule: they count where no annotation says so.
fn of_rule(mut rule: Section<'_>, call: &mut Block, draft: &mut Draft) {
    let mut span = |key: &str, draft: &mut Draft| {
        let field = rule.field(key)?;
        let span = draft.parsed(&field, go_duration)?;
        (span > Span::ZERO).then_some((span, field))
    };
    let request = span("request", draft);
    let backend = span("backendRequest", draft);
    draft.unknown(Some(call), &rule);
    let is_said = |path: &str| {
        let setting = call.settings.iter().find(|setting| setting.path == path);
        setting.is_some_and(|setting| matches!(setting.origin, Origin::File(_)))
    };
    let (has_total, has_try) = (is_said("total_timeout"), is_said("timeout"));
    match request {
        Some((_, field)) if has_total => {
            draft.leave_out(call, &field, "`timeout.linkerd.io/request` takes its place");
        }
        Some((span, field)) => call.read("total_timeout", duration(span), &field),
        None => {}
    }
    match backend {
        Some((_, field)) if has_try => {
            draft.leave_out(call, &field, "`retry.linkerd.io/timeout` ends a try, and is tried again");
        }
        Some((span, field)) => call.read("timeout", duration(span), &field),
        None => {}
    }
}

fn timeouts(section: &mut Section<'_>, call: &mut Block, draft: &mut Draft) {
    match section.field("timeout.linkerd.io/request") {
        Some(field) => match draft.parsed(&field, span) {
            Some(Span::ZERO) => call.read("total_timeout", "none", &field),
            Some(span) => call.read("total_timeout", duration(span), &field),
            None => {}
        },
        None => call.default("total_timeout", "none", "Linkerd: no `timeout.linkerd.io/request`"),
    }
    let why = "answers of a scenario come whole";
    draft.leave_out_all(call, section, &["timeout.linkerd.io/response", "timeout.linkerd.io/idle"], why);
}

/// Retries; the call follows the policy that is returned.
fn retries(section: &mut Section<'_>, call: &mut Block, draft: &mut Draft) -> Option<Block> {
    let limit = section.field("retry.linkerd.io/limit");
    let timeout = section.field("retry.linkerd.io/timeout");
    let http = section.field("retry.linkerd.io/http");
    let grpc = section.field("retry.linkerd.io/grpc");
    let first = [&http, &grpc, &timeout, &limit].into_iter().flatten().next().cloned();
    let timeout = timeout.and_then(|field| Some((draft.parsed(&field, span)?, field)));
    let timeout = timeout.filter(|(span, _)| *span > Span::ZERO);
    match &timeout {
        Some((span, field)) => {
            call.read("timeout", duration(*span), field);
            let message = "Linkerd does not apply this to the last attempt, which may go on; the scenario does";
            draft.surprise(&field.place(), message, "set `timeout.linkerd.io/request`, which ends that, too");
        }
        None => call.default("timeout", "none", "Linkerd: no `retry.linkerd.io/timeout`"),
    }
    let Some(first) = first else {
        call.default("retry", "none", "Linkerd: no annotation for retries");
        return None;
    };
    let mut policy = draft.block(Kind::Policy, &call.name, &first.place());
    let mut on: Vec<ErrorKind> = Vec::new();
    if let Some(field) = &http {
        on.extend(draft.parsed(field, conditions).unwrap_or_default());
    }
    if let Some(field) = &grpc {
        on.extend(codes(field, &mut policy, draft));
    }
    on.extend(timeout.as_ref().map(|_| ErrorKind::Timeout));
    if on.is_empty() {
        call.default("retry", "none", "Linkerd: nothing is said to be tried again");
        let hint = "say what is to be tried again, as with `retry.linkerd.io/http: 5xx`";
        draft.surprise(&first.place(), "nothing is tried again that a scenario has", hint);
        return None;
    }
    let amount = limit.as_ref().and_then(|field| draft.parsed(field, small)).filter(|amount| *amount > 0);
    match (&limit, amount) {
        (Some(field), Some(amount)) => policy.read("max_retries", amount, field),
        (Some(field), None) => {
            policy.default("max_retries", 1, "Linkerd: a limit of 0 is none said, and then it is one");
            draft.surprise(
                &field.place(),
                "0 is as if nothing was said: there is one retry",
                "take out what is retried",
            );
        }
        (None, _) => policy.default("max_retries", 1, "Linkerd"),
    }
    policy.read("retry_on", errors(on), http.as_ref().or(grpc.as_ref()).unwrap_or(&first));
    waits(&mut policy);
    policy.default("budget", "none", "Linkerd: annotations have no budget, only profiles have");
    draft.surprise(
        &first.place(),
        "there is no budget for these retries: in an outage all requests are tried again",
        "a service profile has one",
    );
    call.default("retry", policy.name.as_str(), "the policy of these annotations");
    Some(policy)
}

/// The backoff of annotations.
fn waits(policy: &mut Block) {
    policy.default("backoff.exponential.base", "25ms", "Linkerd");
    policy.default("backoff.exponential.factor", 2, "Linkerd");
    policy.default("jitter.upward", 1, "Linkerd: up to twice as long");
    policy.default("cap", "250ms", "Linkerd");
    policy.default("cap_order", "after_jitter", "Linkerd: no wait is longer");
    policy.default("retry_after", "ignore", "Linkerd");
}

/// Conditions: statuses, ranges of them, `5xx`, `gateway-error`.
fn conditions(text: &str) -> Result<Vec<ErrorKind>, String> {
    let mut ranges = Vec::new();
    for part in text.split(',') {
        let range = match part.to_ascii_lowercase().as_str() {
            "5xx" => Some((500, 599)),
            "gateway-error" => Some((502, 504)),
            part => {
                let (least, most) = part.split_once('-').unwrap_or((part, part));
                let (least, most) = (statuses::parse(least), statuses::parse(most));
                least.ok().zip(most.ok()).filter(|(least, most)| least <= most)
            }
        };
        let must_be = || "statuses with commas between, such as `5xx`, `gateway-error`, `503`, `500-504`".to_owned();
        ranges.push(range.ok_or_else(must_be)?);
    }
    Ok(statuses::answered(|status| ranges.iter().any(|(least, most)| (*least..=*most).contains(&status))))
}

/// Statuses of gRPC by name.
fn codes(field: &Field<'_>, policy: &mut Block, draft: &mut Draft) -> Vec<ErrorKind> {
    let mut kinds = Vec::new();
    for name in draft.text(field).unwrap_or_default().split(',') {
        match name.trim().to_ascii_lowercase().as_str() {
            "unavailable" => kinds.push(ErrorKind::Unavailable),
            "resource-exhausted" => kinds.extend([ErrorKind::RateLimited, ErrorKind::Overloaded]),
            "deadline-exceeded" => kinds.push(ErrorKind::Deadline),
            "internal" => kinds.push(ErrorKind::Internal),
            "cancelled" => draft.leave_out(policy, field, "no error of a scenario is the CANCELLED of gRPC"),
            _ => draft.wrong(
                &field.node.place,
                format!("`{}` has what is no status of gRPC that Linkerd tries again", field.path),
                "it takes `cancelled`, `deadline-exceeded`, `internal`, `resource-exhausted`, `unavailable`",
            ),
        }
    }
    kinds
}

/// Failure accrual: the endpoints that fail in a row are left alone for a while.
fn breaker(section: &mut Section<'_>, call: &mut Block, draft: &mut Draft) {
    let Some(mode) = section.field("balancer.linkerd.io/failure-accrual") else { return };
    if draft.text(&mode).is_some_and(|mode| mode != "consecutive") {
        draft.wrong(&mode.node.place, format!("`{}` must be `consecutive`", mode.path), "Linkerd knows no other");
        return;
    }
    let key = |name: &str| format!("balancer.linkerd.io/failure-accrual-consecutive-{name}");
    match section.field(&key("max-failures")) {
        Some(field) => {
            let positive = |text: &str| {
                let failures = text.parse().ok().filter(|failures| (1..=i64::from(i32::MAX)).contains(failures));
                failures.ok_or_else(|| "a whole number of at least 1".to_owned())
            };
            if let Some(failures) = draft.parsed(&field, positive) {
                call.read("breaker.trip.consecutive", failures, &field);
            }
        }
        None => call.default("breaker.trip.consecutive", 7, "Linkerd"),
    }
    times(section, &key, call, draft);
    let failures = errors(statuses::answered(|status| status >= 500));
    call.default("breaker.failure_on", failures, "Linkerd: answers from 500 on");
    call.default("breaker.half_open", 1, "Linkerd: one request is let through");
    draft.surprise(
        &mode.place(),
        "Linkerd counts for each endpoint; a breaker of a scenario for the whole service",
        "for a service with several servers of which some fail, give it an `ejection` in place of the breaker",
    );
}

/// How long an endpoint is left alone.
fn times(section: &mut Section<'_>, key: &impl Fn(&str) -> String, call: &mut Block, draft: &mut Draft) {
    const LEAST: Span = Span::from_ms(1_000);
    const MOST: Span = Span::from_ms(60_000);
    let mut penalty = |name: &str, draft: &mut Draft| {
        let field = section.field(&key(name))?;
        Some((draft.parsed(&field, span)?, field))
    };
    let least = penalty("min-penalty", draft);
    let most = penalty("max-penalty", draft);
    let spans = [(&least, LEAST), (&most, MOST)].map(|(said, own)| said.as_ref().map_or(own, |(span, _)| *span));
    if let Some((_, field)) = most.as_ref().or(least.as_ref())
        && (spans[0] > spans[1] || spans[0] == Span::ZERO)
    {
        let message = format!(
            "the penalties must be above 0, and the least, {}, not above the most, {}",
            duration(spans[0]),
            duration(spans[1])
        );
        draft.wrong(&field.node.place, message, "Linkerd refuses them");
    }
    match &least {
        Some((span, field)) => call.read("breaker.open_for", duration(*span), field),
        None => call.default("breaker.open_for", duration(LEAST), "Linkerd"),
    }
    call.default("breaker.open_factor", 2, "Linkerd: doubles");
    match &most {
        Some((span, field)) => call.read("breaker.open_cap", duration(*span), field),
        None => call.default("breaker.open_cap", duration(MOST), "Linkerd"),
    }
    match section.field(&key("jitter-ratio")) {
        Some(field) => {
            let ratio = |text: &str| {
                let ratio = text.parse().ok().filter(|ratio: &f64| (0.0..=100.0).contains(ratio));
                ratio.ok_or_else(|| "a number from 0 to 100".to_owned())
            };
            if let Some(ratio) = draft.parsed(&field, ratio) {
                call.read("breaker.open_jitter.upward", number(ratio), &field);
            }
        }
        None => call.default("breaker.open_jitter.upward", 0.5, "Linkerd"),
    }
}

/// A duration, as Linkerd takes it in annotations: a whole number with one unit.
fn span(text: &str) -> Result<Span, String> {
    let must_be = || "a whole number with `ms`, `s`, `m`, `h` or `d`, such as `300ms`".to_owned();
    let text = text.trim();
    let digits = text.len() - text.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
    let unit_ms = match &text[digits..] {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        "" if text.bytes().all(|digit| digit == b'0') => 0,
        _ => return Err(must_be()),
    };
    let ns = text[..digits].parse().ok().and_then(|number: u64| number.checked_mul(unit_ms * 1_000_000));
    ns.map(Span::from_ns).filter(|span| *span <= Span::LIMIT).ok_or_else(must_be)
}

/// A number of 16 bits, which is as far as limits go.
fn small(text: &str) -> Result<i64, String> {
    text.parse::<u16>().map(i64::from).map_err(|_| format!("a whole number from 0 to {}", u16::MAX))
}
