//! Istio: YAML with virtual services and destination rules, among other objects of Kubernetes.
//!
//! What it means is in istio/api (`virtual_service.proto`, `destination_rule.proto`), and in the code of pilot, which
//! makes routes and clusters of Envoy of it (`route/retry/retry.go`, `cluster_traffic_policy.go`).

mod destination;
mod route;

use crate::import::Importer;
use crate::import::draft::Draft;
use crate::import::kubernetes::{self, Object};
use crate::import::section::Section;
use crate::import::tree::{Node, Syntax, Value};
use destination::Rule;

/// How configurations of Istio are read.
pub const IMPORTER: Importer =
    Importer { name: "istio", title: "Istio configuration", syntax: Syntax::Yaml, is_like, read };

/// The group of what is read.
const GROUP: &str = "networking.istio.io";

/// Whether a document looks like an object of Istio, or like what one has within.
fn is_like(document: &Node) -> bool {
    let objects = kubernetes::objects(std::slice::from_ref(document));
    let is_ours =
        |object: &Object<'_>| object.group == GROUP || ["VirtualService", "DestinationRule"].contains(&object.kind);
    objects.iter().any(is_ours) || (!kubernetes::is_object(document) && is_spec(document))
}

/// Whether a document is what an object of Istio has within: routes over HTTP, or how a host is called.
fn is_spec(document: &Node) -> bool {
    let at = |path: &[&str]| kubernetes::at(document, path);
    let leads = |item: &Node| {
        matches!(kubernetes::at(item, &["route"]).map(|route| &route.value), Some(Value::List(to))
            if to.iter().any(|to| kubernetes::at(to, &["destination"]).is_some()))
    };
    let routes = matches!(at(&["http"]).map(|http| &http.value), Some(Value::List(items)) if items.iter().any(leads));
    routes || at(&["trafficPolicy"]).is_some()
}

/// Reads a configuration.
fn read(documents: &[Node], draft: &mut Draft) {
    let (mut services, mut rules) = (Vec::new(), Vec::new());
    for mut object in kubernetes::objects(documents) {
        let is_bare = object.group.is_empty() && object.kind.is_empty();
        match object.kind {
            "VirtualService" => services.extend(spec(&mut object, draft).map(|spec| (spec, object.namespace))),
            "DestinationRule" => {
                if let Some(spec) = spec(&mut object, draft) {
                    add(Rule::read(spec, object.namespace, draft), &mut rules, draft);
                }
            }
            "EnvoyFilter" => draft.surprise(
                &object.place,
                "an `EnvoyFilter` may change anything, and is not read",
                "see whether it is about retries, timeouts or circuit breakers",
            ),
            "HTTPRoute" | "GRPCRoute" => draft.surprise(
                &object.place,
                format!("a route of the Gateway API (`{}`) is not read", object.kind),
                "see whether it has `timeouts` or `retry`",
            ),
            _ if is_bare && object.section.field("trafficPolicy").is_some() => {
                add(Rule::read(object.section, object.namespace, draft), &mut rules, draft);
            }
            _ if is_bare && object.section.field("http").is_some() => services.push((object.section, object.namespace)),
            _ => {}
        }
    }
    let mut seen = route::Seen::default();
    for (spec, namespace) in services {
        route::service(spec, namespace, &rules, &mut seen, draft);
    }
    // Istio makes a route to every service there is.
    for rule in &rules {
        if seen.called.iter().any(|(host, _)| Rule::of(&rules, host).is_some_and(|its| its.host == rule.host)) {
            continue;
        }
        if rule.is_wildcard() {
            let message = format!("this rule is for all hosts `{}`, and is for one service here", rule.host);
            let hint = "import it with the virtual services that lead to them, and it counts for those";
            draft.surprise(&rule.place, message, hint);
        }
        route::implicit(rule, draft);
        seen.called.push((rule.host.clone(), rule.name.clone()));
    }
    for (host, name) in &seen.called {
        Rule::service(Rule::of(&rules, host), name, draft);
    }
    if draft.blocks.is_empty() && draft.errors.is_empty() {
        let hint = "import the files with `VirtualService` and `DestinationRule`";
        draft.wrong(&(0..0), "there is no route over HTTP in it, and no rule for a destination", hint);
    }
}

/// Adds a rule; of several for one host the first counts.
fn add<'t>(rule: Rule<'t>, rules: &mut Vec<Rule<'t>>, draft: &mut Draft) {
    if rules.iter().any(|other| other.host == rule.host) {
        let message = "this host has a rule already, and only that is read";
        draft.surprise(&rule.place, message, "put the two together");
    } else {
        rules.push(rule);
    }
}

/// What an object says.
fn spec<'t>(object: &mut Object<'t>, draft: &mut Draft) -> Option<Section<'t>> {
    object.section.skip(&["apiVersion", "kind", "metadata", "status"]);
    let spec = draft.table(&mut object.section, "spec");
    draft.unknown(None, &object.section);
    spec
}
