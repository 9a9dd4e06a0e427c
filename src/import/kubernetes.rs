//! Objects of Kubernetes, in documents of YAML or in lists of them.

use crate::import::section::{Keys, Section};
use crate::import::tree::{Node, Value};
use crate::scenario::source::Place;

/// An object.
pub struct Object<'t> {
    /// Its group, such as `networking.istio.io`; empty for what Kubernetes itself has, or if nothing is said.
    pub group: &'t str,
    /// Its kind; empty if nothing is said.
    pub kind: &'t str,
    /// Its name; empty if nothing is said.
    pub name: &'t str,
    /// Its namespace; empty if nothing is said.
    pub namespace: &'t str,
    /// Where it begins.
    pub place: Place,
    /// The whole of it.
    pub node: &'t Node,
    /// The same, to be asked.
    pub section: Section<'t>,
}

/// All objects of these documents, those of lists too.
pub fn objects<'t>(documents: &'t [Node]) -> Vec<Object<'t>> {
    let mut found = Vec::new();
    documents.iter().for_each(|document| collect(document, &mut found));
    found
}

fn collect<'t>(node: &'t Node, found: &mut Vec<Object<'t>>) {
    let Some(section) = Section::document(node, Keys::Exact) else { return };
    let said = |path: &[&str]| at(node, path).and_then(Node::scalar).unwrap_or_default();
    let kind = said(&["kind"]);
    if kind.ends_with("List")
        && let Some(Value::List(items)) = at(node, &["items"]).map(|items| &items.value)
    {
        items.iter().for_each(|item| collect(item, found));
        return;
    }
    let version = said(&["apiVersion"]);
    found.push(Object {
        group: version.split_once('/').map_or("", |(group, _)| group),
        kind,
        name: said(&["metadata", "name"]),
        namespace: said(&["metadata", "namespace"]),
        place: section.head(),
        node,
        section,
    });
}

/// What stands at a path.
pub fn at<'t>(node: &'t Node, path: &[&str]) -> Option<&'t Node> {
    path.iter().try_fold(node, |node, key| Some(&node.table()?.get(*key)?.node))
}

/// Whether a document looks like an object of Kubernetes.
pub fn is_object(document: &Node) -> bool {
    at(document, &["apiVersion"]).is_some() && at(document, &["kind"]).is_some()
}

/// The full name of a host: one without a point is a service of that namespace.
pub fn host(name: &str, namespace: &str) -> String {
    match name.split('.').collect::<Vec<_>>()[..] {
        [service] if !namespace.is_empty() && service != "*" => format!("{service}.{namespace}.svc.cluster.local"),
        [service, other, "svc"] => format!("{service}.{other}.svc.cluster.local"),
        _ => name.to_owned(),
    }
}

/// What a scenario calls a host: a service of the same namespace by its name alone.
pub fn short<'h>(host: &'h str, namespace: &str) -> std::borrow::Cow<'h, str> {
    match host.strip_suffix(".svc.cluster.local").and_then(|service| service.split_once('.')) {
        Some((service, its)) if its == namespace || namespace.is_empty() => service.into(),
        Some((service, its)) => format!("{service}-{its}").into(),
        None => host.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn services_of_the_same_namespace_go_by_their_name() {
        for (name, namespace, full, called) in [
            ("catalog", "shop", "catalog.shop.svc.cluster.local", "catalog"),
            ("catalog.shop.svc", "shop", "catalog.shop.svc.cluster.local", "catalog"),
            ("catalog.shop.svc.cluster.local", "", "catalog.shop.svc.cluster.local", "catalog"),
            ("catalog.other.svc.cluster.local", "shop", "catalog.other.svc.cluster.local", "catalog-other"),
            ("api.example.com", "shop", "api.example.com", "api.example.com"),
            ("catalog", "", "catalog", "catalog"),
        ] {
            assert_eq!(host(name, namespace), full);
            assert_eq!(short(full, namespace), called);
        }
    }
}
