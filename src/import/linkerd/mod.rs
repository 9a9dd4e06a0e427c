//! Linkerd: YAML with service profiles, and objects of Kubernetes with annotations.
//!
//! What it means is in linkerd2 (`profile_translator.go`, the policy controller's index of outbound routes), in
//! linkerd2-proxy (`http/retry.rs`, `policy/route`), and in tower, whose budget it has.

mod annotations;
mod profile;

use crate::import::Importer;
use crate::import::draft::Draft;
use crate::import::kubernetes::{self, Object};
use crate::import::tree::{Node, Syntax, Value};

/// How configurations of Linkerd are read.
pub const IMPORTER: Importer =
    Importer { name: "linkerd", title: "Linkerd configuration", syntax: Syntax::Yaml, is_like, read };

/// The group of the routes that are Linkerd's own.
const GROUP: &str = "policy.linkerd.io";

/// Whether a document looks like a service profile, or like a route of Linkerd's own with timeouts, or has annotations of Linkerd on how it is called.
fn is_like(document: &Node) -> bool {
    let is_profile = |object: &Object<'_>| object.kind == "ServiceProfile";
    let is_route = |object: &Object<'_>| object.group == GROUP && annotations::has_timeouts(object);
    let objects = kubernetes::objects(std::slice::from_ref(document));
    if objects.iter().any(|object| is_profile(object) || annotations::are_in(object) || is_route(object)) {
        return true;
    }
    !kubernetes::is_object(document) && is_spec(document)
}

/// Whether a document is what a service profile has within.
fn is_spec(document: &Node) -> bool {
    let is_route = |item: &Node| kubernetes::at(item, &["isRetryable"]).is_some();
    let routes = kubernetes::at(document, &["routes"]).map(|routes| &routes.value);
    kubernetes::at(document, &["retryBudget", "retryRatio"]).is_some()
        || matches!(routes, Some(Value::List(items)) if items.iter().any(is_route))
}

/// Reads a configuration.
fn read(documents: &[Node], draft: &mut Draft) {
    let objects = kubernetes::objects(documents);
    let is_profile = |object: &Object<'_>| object.kind == "ServiceProfile";
    let profiles: Vec<String> =
        objects.iter().filter(|object| is_profile(object)).map(|object| object.name.to_owned()).collect();
    for mut object in objects {
        if is_profile(&object) {
            object.section.skip(&["apiVersion", "kind", "metadata"]);
            if let Some(spec) = draft.table(&mut object.section, "spec") {
                profile::read(spec, object.name, object.namespace, draft);
            }
            draft.unknown(None, &object.section);
        } else if annotations::are_in(&object) || annotations::has_timeouts(&object) {
            annotations::read(&object, &profiles, draft);
        } else if object.kind.is_empty() && object.group.is_empty() {
            profile::read(object.section, "service", "", draft);
        }
    }
    if draft.blocks.is_empty() && draft.errors.is_empty() {
        let hint = "import service profiles, routes, or objects with annotations such as `retry.linkerd.io/http`";
        draft.wrong(&(0..0), "it says nothing of how a service is called", hint);
    }
}
