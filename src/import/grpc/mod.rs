//! gRPC service config: JSON, as in `grpc_service_config` of a channel, or in the TXT records of name resolution.
//!
//! What it means is in the proposals A6 (client retries) and A2 (service config in DNS), and in the code of grpc-go,
//! grpc-java and grpc (core).

mod codes;
mod policy;
mod throttle;

use std::collections::BTreeSet;

use crate::import::Importer;
use crate::import::draft::{Block, Draft, Kind, name_of};
use crate::import::section::{Keys, Section};
use crate::import::tree::{Node, Syntax, Value};
use crate::import::values::{duration, seconds};

use throttle::Throttle;

/// How service configs are read.
pub const IMPORTER: Importer =
    Importer { name: "grpc", title: "gRPC service config", syntax: Syntax::Json, is_like, read };

/// Where a choice of name resolution has its config.
const CHOICE: &str = "serviceConfig";

/// Whether a document looks like a service config, or like the choices of name resolution.
fn is_like(document: &Node) -> bool {
    let is_config = |node: &Node| {
        let has = |key: &str| node.table().is_some_and(|table| table.contains_key(key));
        ["methodConfig", "retryThrottling", "loadBalancingConfig", "loadBalancingPolicy"].into_iter().any(has)
    };
    let is_choice =
        |node: &Node| node.table().and_then(|table| table.get(CHOICE)).is_some_and(|entry| is_config(&entry.node));
    match &document.value {
        Value::List(choices) => choices.iter().any(is_choice),
        _ => is_config(document) || is_choice(document),
    }
}

/// Reads a service config.
fn read(documents: &[Node], draft: &mut Draft) {
    let Some(mut config) = documents.first().and_then(|document| config(document, draft)) else { return };
    // How servers are picked, and health checks, say nothing about retries.
    config.skip(&["loadBalancingConfig", "loadBalancingPolicy", "healthCheckConfig"]);
    let throttle = draft.table(&mut config, "retryThrottling").map(|section| Throttle::read(section, draft));
    let mut names = BTreeSet::new();
    for method in draft.tables(&mut config, "methodConfig") {
        self::method(method, throttle.as_ref(), &mut names, draft);
    }
    draft.unknown(None, &config);
    let is_throttled = |block: &&Block| block.settings.iter().any(|setting| setting.path.starts_with("budget."));
    if let Some(throttle) = &throttle
        && draft.blocks.iter().filter(is_throttled).count() > 1
    {
        let message = "one throttle is for all methods of a server: in the scenario each policy has its own";
        draft.aside(&throttle.place, message);
    }
}

/// The config itself. Of the choices of name resolution it is the first.
fn config<'t>(document: &'t Node, draft: &mut Draft) -> Option<Section<'t>> {
    let choice = match &document.value {
        Value::List(choices) => {
            if let [_, other, ..] = &choices[..] {
                draft.aside(&other.place, "the first choice is in the scenario, and no other");
            }
            choices.first()?
        }
        _ => document,
    };
    let mut section = Section::document(choice, Keys::Exact)?;
    if !choice.table().is_some_and(|table| table.contains_key(CHOICE)) {
        return Some(section);
    }
    for key in ["clientLanguage", "clientHostname", "clientHostName", "percentage"] {
        if let Some(field) = section.field(key) {
            let message = format!("with `{key}` this is for some clients only: in the scenario it is for all");
            draft.surprise(&field.place(), message, "see which clients it is");
        }
    }
    let config = draft.table(&mut section, CHOICE);
    draft.unknown(None, &section);
    config
}

/// The name of a method: service and method, each empty for any.
type Name = (String, String);

fn method(mut section: Section<'_>, throttle: Option<&Throttle<'_>>, seen: &mut BTreeSet<Name>, draft: &mut Draft) {
    let names = names(&mut section, seen, draft);
    let Some(((first, others), place)) = names.split_first().zip(Some(section.place.clone())) else {
        let message = "this is for no method: it has no effect";
        return draft.surprise(&section.place, message, "put its methods into `name`, or `{}` for all of them");
    };
    let (service, label) = labels(first);
    let mut call = draft.block(Kind::Call { to: service }, &label, &place);
    match section.field("timeout") {
        Some(field) => {
            if let Some(span) = draft.above_zero(&field, seconds) {
                call.read("total_timeout", duration(span), &field);
            }
        }
        None => call.default("total_timeout", "none", "gRPC: without `timeout` only the application sets a deadline"),
    }
    call.default("timeout", "none", "gRPC: no attempt has a timeout of its own");
    let retry = draft.table(&mut section, "retryPolicy");
    let hedging = draft.table(&mut section, "hedgingPolicy");
    if let (Some(_), Some(hedging)) = (&retry, &hedging) {
        let message = "a method has `retryPolicy` or `hedgingPolicy`, never both";
        draft.wrong(&hedging.place, message, "take one of the two out");
    }
    let policy = match (retry, hedging) {
        (Some(retry), _) => Some(policy::retries(retry, &call, throttle, draft)),
        (None, Some(hedging)) => Some(policy::hedges(hedging, &mut call, throttle, draft)),
        (None, None) => None,
    };
    section.skip(&["maxRequestMessageBytes", "maxResponseMessageBytes"]);
    if let Some(field) = section.field("waitForReady")
        && draft.truth(&field) == Some(true)
    {
        draft.leave_out(&mut call, &field, "calls wait for a connection in place of failing; nothing connects here");
    }
    draft.unknown(Some(&mut call), &section);
    match &policy {
        Some(policy) => call.default("retry", policy.name.as_str(), "the policy of this method"),
        None => call.default("retry", "none", "gRPC: no `retryPolicy`"),
    }
    let settings = call.settings.clone();
    draft.blocks.push(call);
    for name in others {
        let (service, label) = labels(name);
        let mut call = draft.block(Kind::Call { to: service }, &label, &place);
        call.settings = settings.clone();
        draft.blocks.push(call);
    }
    draft.blocks.extend(policy);
}

/// The methods that a config is about.
fn names(section: &mut Section<'_>, seen: &mut BTreeSet<Name>, draft: &mut Draft) -> Vec<Name> {
    let mut names = Vec::new();
    for mut name in draft.tables(section, "name") {
        let mut part = |key| {
            let field = name.field(key)?;
            draft.text(&field).map(str::to_owned)
        };
        let (service, method) = (part("service").unwrap_or_default(), part("method").unwrap_or_default());
        draft.unknown(None, &name);
        if service.is_empty() && !method.is_empty() {
            draft.wrong(&name.place, "a method needs its service", "gRPC refuses it: put `service` in");
            continue;
        }
        let pair = (service, method);
        if seen.insert(pair.clone()) {
            names.push(pair);
        } else {
            draft.wrong(&name.place, "this method has a config already", "gRPC refuses it: take one of the two out");
        }
    }
    names
}

/// The service that is called, and a label for the call.
fn labels((service, method): &Name) -> (String, String) {
    if service.is_empty() {
        return ("any-service".to_owned(), "any-method".to_owned());
    }
    // The last part of `shop.v1.Catalog`.
    let short = name_of(service.rsplit('.').next().unwrap_or(service));
    let label = if method.is_empty() { short.clone() } else { format!("{short}-{method}") };
    (short, label)
}
