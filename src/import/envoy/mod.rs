//! Envoy: YAML or JSON with listeners, routes and clusters, be it a whole bootstrap, a dump of what runs, or a part.
//!
//! What it means is in data-plane-api (`route_components.proto`, `circuit_breaker.proto`, `outlier_detection.proto`,
//! `admission_control.proto`) and in the code of the router, the retry state, the backoff and the resource manager.

pub mod cluster;
mod filters;
pub mod limits;
pub mod outlier;
pub mod policy;
pub mod retry_on;
mod route;
mod tries;

pub use tries::check_timeouts;

use crate::import::Importer;
use crate::import::draft::{Draft, Kind};
use crate::import::kubernetes;
use crate::import::section::{Field, Keys, Section};
use crate::import::tree::{Node, Syntax, Value};
use route::{Context, Host};

/// How configurations of Envoy are read.
pub const IMPORTER: Importer =
    Importer { name: "envoy", title: "Envoy configuration", syntax: Syntax::Yaml, is_like, read };

/// Keys of which one is enough.
const TOP: &[&str] = &[
    "static_resources",
    "dynamic_resources",
    "virtual_hosts",
    "route_config",
    "filter_chains",
    "http_filters",
    "load_assignment",
    "circuit_breakers",
    "outlier_detection",
    "hedge_policy",
];

/// Keys of which one makes a table a cluster.
const CLUSTER: &[&str] = &["lb_policy", "circuit_breakers", "outlier_detection", "load_assignment", "connect_timeout"];

/// Keys under which there may be more beside what is known, as in files that were put together by hand.
const PARTS: &[&str] = &["static_resources", "dynamic_resources", "listeners", "route_config", "routes", "clusters"];

/// What is passed over: in a dump of what runs these repeat what its other parts have; and weights are no clusters.
const PASSED: &[&str] = &["bootstrap", "static_route_configs", "weighted_clusters"];

/// Whether a document looks like a part of a configuration of Envoy.
fn is_like(document: &Node) -> bool {
    let Some(table) = document.table().filter(|_| !kubernetes::is_object(document)) else { return false };
    let at = |key: &str| table.iter().find(|(name, _)| Keys::Loose.same(name, key)).map(|(_, entry)| &entry.node);
    let has = |key: &str| at(key).is_some();
    let is_ours = |node: &Node| {
        let kind = node.table().and_then(|table| table.get("@type")?.node.scalar());
        kind.is_some_and(|kind| kind.contains("envoy."))
    };
    let lists = |key: &str, is: &dyn Fn(&Node) -> bool| match at(key).map(|node| &node.value) {
        Some(Value::List(items)) => items.iter().any(is),
        _ => false,
    };
    TOP.iter().any(|key| has(key))
        || is_ours(document)
        || lists("resources", &is_ours)
        || lists("configs", &is_ours)
        || lists("clusters", &|item| item.table().is_some_and(|table| table.contains_key("name")))
        || lists("listeners", &|item| item.table().is_some_and(|table| table.contains_key("address")))
        || (has("match") && has("route"))
        || (has("domains") && has("routes"))
        || at("retry_policy").is_some_and(says_retries)
        || says_retries(document)
}

/// Whether this is a retry policy.
fn says_retries(node: &Node) -> bool {
    let mut keys = node.table().into_iter().flat_map(|table| table.keys());
    keys.any(|key| Keys::Loose.same(key, "retry_on") || Keys::Loose.same(key, "num_retries"))
}

/// What there is in a file.
#[derive(Default)]
struct Found<'t> {
    hosts: Vec<(Section<'t>, Option<Field<'t>>)>,
    routes: Vec<Section<'t>>,
    actions: Vec<Section<'t>>,
    clusters: Vec<Section<'t>>,
}

/// Reads a configuration.
fn read(documents: &[Node], draft: &mut Draft) {
    let (mut found, mut lone) = (Found::default(), Vec::new());
    for document in documents {
        if says_retries(document) {
            lone.push(Field { path: String::new(), name: "retry_policy", key: &document.place, node: document });
        } else if let Some(section) = Section::document(document, Keys::Loose) {
            look(section, None, &mut found);
        }
    }
    let mut context = Context::default();
    for mut section in found.clusters {
        let name = section.field("name");
        let name = name.and_then(|field| draft.text(&field)).unwrap_or(route::UPSTREAM).to_owned();
        if context.clusters.contains_key(&name) {
            draft.wrong(&section.head(), "this cluster is there twice", "take one of the two out");
            continue;
        }
        let cluster = cluster::read(section, &name, draft);
        context.clusters.insert(name, cluster);
    }
    for (host, filters) in found.hosts {
        route::host(host, filters.as_ref(), &mut context, draft);
    }
    for section in found.routes {
        route::route(section, &Host::default(), &mut context, draft);
    }
    for section in found.actions {
        let place = section.head();
        route::action(section, "", &place, &Host::default(), &mut context, draft);
    }
    lone.into_iter().for_each(|policy| route::lone(policy, &mut context, draft));
    context.finish(draft);
    uncalled(&context, draft);
    if draft.blocks.is_empty() && draft.errors.is_empty() {
        let hint = "what it has come from a control plane is in `/config_dump` of its admin interface";
        draft.wrong(&(0..0), "there is no route to a cluster in it, and no cluster", hint);
    }
}

/// Clusters to which no route of the file leads: calls that say nothing of retries.
fn uncalled(context: &Context<'_>, draft: &mut Draft) {
    for (name, cluster) in &context.clusters {
        if context.called.contains(name) {
            continue;
        }
        let place = draft.blocks.iter().find(|block| block.kind == Kind::Service && block.name == cluster.service);
        let place = place.map_or(0..0, |block| block.place.clone());
        let mut call = draft.block(Kind::Call { to: cluster.service.clone() }, name, &place);
        cluster.put(false, &mut call, draft);
        for field in cluster.circuit(false).retries.fields() {
            draft.leave_out(&mut call, field, "no route of the file leads to this cluster: it is for a retry policy");
        }
        draft.blocks.push(call);
    }
}

/// Looks for what is known, at any depth. `filters` are those that stand before it.
fn look<'t>(mut section: Section<'t>, filters: Option<&Field<'t>>, found: &mut Found<'t>) {
    shorten(&mut section.path);
    let own = section.field("http_filters").map(|field| Field { path: field.name.to_owned(), ..field });
    let filters = own.as_ref().or(filters);
    if let Some(hosts) = section.field("virtual_hosts") {
        for mut host in hosts.sections(Keys::Loose) {
            shorten(&mut host.path);
            found.hosts.push((host, filters.cloned()));
        }
    }
    let mut has = |key: &str| section.field(key).is_some();
    let has_hosts = has("virtual_hosts");
    let is_host = has("domains") && has("routes");
    let is_route = !is_host && has("match") && has("route");
    let is_cluster = !is_host && !is_route && CLUSTER.iter().any(|key| has(key));
    let is_action = !is_host && !is_route && !is_cluster && (has("retry_policy") || has("hedge_policy"));
    let fields: Vec<Field<'t>> = if is_host || is_route || is_cluster || is_action || has_hosts {
        let parts = PARTS.iter().filter(|key| !is_host || **key != "routes");
        parts.filter_map(|key| section.field(key)).collect()
    } else {
        let is_passed = |field: &Field<'_>| PASSED.iter().any(|key| Keys::Loose.same(field.name, key));
        section.all().into_iter().filter(|field| !is_passed(field)).collect()
    };
    fields.iter().for_each(|field| look_beneath(field, filters, found));
    if is_host {
        found.hosts.push((section, filters.cloned()));
    } else if is_route {
        found.routes.push(section);
    } else if is_cluster {
        found.clusters.push(section);
    } else if is_action {
        found.actions.push(section);
    }
}

/// Looks into a table, or into those of a list.
fn look_beneath<'t>(field: &Field<'t>, filters: Option<&Field<'t>>, found: &mut Found<'t>) {
    if let Some(inner) = field.section(Keys::Loose) {
        look(inner, filters, found);
    }
    let is_clusters = Keys::Loose.same(field.name, "clusters");
    for mut item in field.sections(Keys::Loose) {
        shorten(&mut item.path);
        if is_clusters { found.clusters.push(item) } else { look(item, filters, found) }
    }
}

/// Leaves the way to what is known out of a path.
fn shorten(path: &mut String) {
    let known = ["virtual_hosts", "clusters", "routes"].into_iter().filter_map(|key| path.rfind(key)).max();
    path.drain(..known.unwrap_or(0));
}
