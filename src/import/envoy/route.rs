//! Routes of Envoy as calls.

use indexmap::IndexMap;

use super::cluster::Cluster;
use super::filters;
use super::policy::{self, Policy};
use super::tries::{check_timeouts, hedge, hedges};
use crate::failure::ErrorKind;
use crate::import::draft::{Block, Draft, Kind, name_of};
use crate::import::section::{Field, Keys, Section};
use crate::import::values::{duration, seconds};
use crate::scenario::source::Place;
use crate::time::Span;

/// How long a route waits where the file does not say.
const TIMEOUT: Span = Span::from_ms(15_000);

/// What is called where the file does not say.
pub const UPSTREAM: &str = "upstream";

/// What routes refer to.
#[derive(Default)]
pub struct Context<'t> {
    /// The clusters, by name.
    pub clusters: IndexMap<String, Cluster<'t>>,
    /// The clusters that are called.
    pub called: Vec<String>,
    /// The clusters that are called with high priority.
    called_high: Vec<String>,
    /// Policies that were read, by what they are for.
    policies: Vec<(Key, Policy<'t>)>,
}

/// What a policy is for.
#[derive(PartialEq, Eq)]
struct Key {
    /// Where it is.
    place: Place,
    /// The cluster.
    cluster: String,
    /// Whether the routes have high priority.
    is_high: bool,
}

/// What a virtual host says to all of its routes.
#[derive(Clone, Default)]
pub struct Host<'t> {
    /// Its retry policy.
    pub retries: Option<Field<'t>>,
    /// When it hedges.
    pub hedge: Option<Field<'t>>,
    /// The filters before it.
    pub filters: Option<Field<'t>>,
}

/// Reads a virtual host.
pub fn host<'t>(mut section: Section<'t>, filters: Option<&Field<'t>>, context: &mut Context<'t>, draft: &mut Draft) {
    let host = Host {
        retries: section.field("retry_policy"),
        hedge: section.field("hedge_policy"),
        filters: filters.cloned(),
    };
    for route in draft.tables(&mut section, "routes") {
        self::route(route, &host, context, draft);
    }
    section.skip(&[
        "@type",
        "name",
        "domains",
        "require_tls",
        "virtual_clusters",
        "rate_limits",
        "request_headers_to_add",
        "request_headers_to_remove",
        "response_headers_to_add",
        "response_headers_to_remove",
        "cors",
        "typed_per_filter_config",
        "include_request_attempt_count",
        "include_attempt_count_in_response",
        "per_request_buffer_limit_bytes",
        "request_body_buffer_limit",
        "request_mirror_policies",
        "metadata",
        "matcher",
    ]);
    draft.unknown(None, &section);
}

/// Reads a route.
pub fn route<'t>(mut section: Section<'t>, host: &Host<'t>, context: &mut Context<'t>, draft: &mut Draft) {
    let matched = section.section("match");
    let name = section.field("name").and_then(|field| field.node.scalar());
    let label = name.or_else(|| matched.and_then(path)).unwrap_or_default();
    let place = section.head();
    if let Some(action) = draft.table(&mut section, "route") {
        self::action(action, label, &place, host, context, draft);
    }
    section.skip(&[
        "@type",
        "redirect",
        "direct_response",
        "filter_action",
        "non_forwarding_action",
        "metadata",
        "decorator",
        "tracing",
        "typed_per_filter_config",
        "request_headers_to_add",
        "request_headers_to_remove",
        "response_headers_to_add",
        "response_headers_to_remove",
        "per_request_buffer_limit_bytes",
        "request_body_buffer_limit",
        "stat_prefix",
    ]);
    draft.unknown(None, &section);
}

/// The path that a route is for.
fn path<'t>(mut section: Section<'t>) -> Option<&'t str> {
    let plain = ["prefix", "path", "path_separated_prefix"].into_iter().find_map(|key| section.field(key));
    let regex = || section.field("safe_regex")?.section(Keys::Loose)?.field("regex");
    plain.or_else(regex)?.node.scalar()
}

/// Reads what a route does: a call for each cluster that it goes to.
pub fn action<'t>(
    mut section: Section<'t>,
    label: &'t str,
    place: &Place,
    host: &Host<'t>,
    context: &mut Context<'t>,
    draft: &mut Draft,
) {
    let mut clusters = Vec::new();
    if let Some(field) = section.field("cluster") {
        clusters.extend(draft.text(&field).map(str::to_owned));
    } else if let Some(field) = section.field("cluster_header") {
        clusters.extend(draft.text(&field).map(|header| format!("by-{header}")));
    } else if let Some(mut weighted) = draft.table(&mut section, "weighted_clusters") {
        for mut cluster in draft.tables(&mut weighted, "clusters") {
            let name = cluster.field("name").or_else(|| cluster.field("cluster_header"));
            clusters.extend(name.and_then(|field| draft.text(&field).map(str::to_owned)));
        }
    } else {
        clusters.push(context.only().to_owned());
    }
    let timeout = section.field("timeout");
    let mut said = Said {
        label,
        place: place.clone(),
        total: timeout.and_then(|field| Some((draft.parsed(&field, seconds)?, field))),
        retries: section.field("retry_policy").or_else(|| host.retries.clone()),
        hedge: section.field("hedge_policy").or_else(|| host.hedge.clone()),
        filters: host.filters.clone(),
        is_high: section.field("priority").is_some_and(|field| field.node.scalar() == Some("HIGH")),
        left_out: Vec::new(),
    };
    let mut left_out = Block::scratch(place);
    rest(&mut section, clusters.len() > 1, &mut left_out, draft);
    draft.unknown(Some(&mut left_out), &section);
    said.left_out = left_out.left_out;
    clusters.iter().for_each(|cluster| call(cluster, &said, context, draft));
}

/// Reads a retry policy that stands alone.
pub fn lone<'t>(policy: Field<'t>, context: &mut Context<'t>, draft: &mut Draft) {
    let place = policy.key.clone();
    let said = Said {
        label: "",
        place,
        total: None,
        retries: Some(policy),
        hedge: None,
        filters: None,
        is_high: false,
        left_out: Vec::new(),
    };
    let cluster = context.only().to_owned();
    call(&cluster, &said, context, draft);
}

/// What a route says to the calls that it is.
struct Said<'t> {
    label: &'t str,
    place: Place,
    total: Option<(Span, Field<'t>)>,
    retries: Option<Field<'t>>,
    hedge: Option<Field<'t>>,
    filters: Option<Field<'t>>,
    is_high: bool,
    left_out: Vec<String>,
}

/// The call of a route to a cluster.
fn call<'t>(name: &str, said: &Said<'t>, context: &mut Context<'t>, draft: &mut Draft) {
    let cluster = context.cluster(name, said.is_high);
    let mut call =
        draft.block(Kind::Call { to: cluster.service.clone() }, &format!("{name}/{}", said.label), &said.place);
    call.left_out.clone_from(&said.left_out);
    match &said.total {
        Some((Span::ZERO, field)) => call.read("total_timeout", "none", field),
        Some((span, field)) => call.read("total_timeout", duration(*span), field),
        None => call.default("total_timeout", duration(TIMEOUT), "Envoy: of a route, all attempts and waits"),
    }
    cluster.put(said.is_high, &mut call, draft);
    let policy = context.policy(name, said, &call.name, draft).map(|at| &context.policies[at].1);
    let total = said.total.as_ref().map_or(TIMEOUT, |(span, _)| *span);
    let hedges = said.hedge.as_ref().is_some_and(hedges);
    follow(policy, total, hedges, &mut call, draft);
    if let (Some(policy), Some(field)) = (policy, &said.hedge) {
        hedge(field, policy, &context.clusters[name].circuit(said.is_high).retries, &mut call, draft);
    }
    if let Some(filters) = &said.filters {
        filters::put(filters, &mut call, draft);
    }
    draft.blocks.push(call);
}

impl<'t> Context<'t> {
    /// Where a route goes that does not say: to the cluster of the file, if there is one.
    fn only(&self) -> &str {
        match self.clusters.first() {
            Some((name, _)) if self.clusters.len() == 1 => name,
            _ => UPSTREAM,
        }
    }

    fn cluster(&mut self, name: &str, is_high: bool) -> &Cluster<'t> {
        if !self.called.iter().any(|called| called == name) {
            self.called.push(name.to_owned());
        }
        if is_high && !self.called_high.iter().any(|called| called == name) {
            self.called_high.push(name.to_owned());
        }
        self.clusters.entry(name.to_owned()).or_insert_with(|| Cluster::unknown(name_of(name)))
    }

    /// The number of the policy of a call: that of a virtual host is one for all of its routes to a cluster.
    fn policy(&mut self, cluster: &str, said: &Said<'t>, label: &str, draft: &mut Draft) -> Option<usize> {
        let field = said.retries.as_ref()?;
        let key = Key { place: field.key.clone(), cluster: cluster.to_owned(), is_high: said.is_high };
        let at = self.policies.iter().position(|(known, _)| *known == key);
        if at.is_some() {
            return at;
        }
        let section = draft.table_of(field, Keys::Loose)?;
        let policy = policy::read(section, label, &self.clusters[cluster].circuit(said.is_high).retries, draft);
        self.policies.push((key, policy));
        Some(self.policies.len() - 1)
    }

    /// What surprises where several policies are for one cluster, and what is for no route of the file.
    pub fn finish(&self, draft: &mut Draft) {
        for (name, cluster) in &self.clusters {
            [false, true].into_iter().for_each(|is_high| self.shared(name, cluster, is_high, draft));
            let is_called = self.called_high.contains(name);
            if let Some(field) = cluster.says_high.as_ref().filter(|_| !is_called) {
                let why = "no route of the file to this cluster has `priority: HIGH`";
                draft.pass_over(field, why);
                let is_ours = |block: &&mut Block| block.kind == Kind::Call { to: cluster.service.clone() };
                if let Some(call) = draft.blocks.iter_mut().find(is_ours) {
                    call.left_out.push(format!("{} ({why})", field.said()));
                }
            }
        }
    }

    /// Policies that share the limit of a cluster.
    fn shared(&self, name: &str, cluster: &Cluster<'_>, is_high: bool, draft: &mut Draft) {
        let limit = &cluster.circuit(is_high).retries;
        let is_ours = |(key, policy): &&(Key, Policy<'_>)| {
            key.cluster == name && key.is_high == is_high && policy.name.is_some() && policy.retries > 0
        };
        let mut sharing = self.policies.iter().filter(is_ours).map(|(_, policy)| policy);
        let (Some(first), others) = (sharing.next(), sharing.count()) else { return };
        if others == 0 || !limit.is_one() {
            return;
        }
        let place = limit.fields().next().map_or_else(|| first.place.clone(), Field::place);
        let message = format!("{} retry policies share this limit of a cluster; here each has its own", others + 1);
        draft.surprise(&place, message, "the scenario allows that many times as many retries at once");
    }
}

/// Makes a call follow its policy.
fn follow(policy: Option<&Policy<'_>>, total: Span, hedges: bool, call: &mut Block, draft: &mut Draft) {
    let Some(policy) = policy else {
        call.default("timeout", "none", "Envoy: no `per_try_timeout`, only that of the route");
        call.default("retry", "none", "Envoy: no `retry_policy`");
        return;
    };
    match policy.try_timeout() {
        Some((span, field)) => {
            call.read("timeout", duration(*span), field);
            if policy.per_try.is_some() && policy.idle.as_ref().is_some_and(|(_, idle)| idle.key == field.key) {
                draft.surprise(
                    &field.place(),
                    "this ends an attempt before `per_try_timeout` does: nothing moves until there is an answer",
                    "it is what the scenario takes; answers that come in parts are waited for longer",
                );
            }
        }
        None => call.default("timeout", "none", "Envoy: no `per_try_timeout`, only that of the route"),
    }
    match &policy.name {
        Some(name) => call.default("retry", name.as_str(), "the policy of this route"),
        None => call.default("retry", "none", "Envoy: no `retry_on`"),
    }
    if let Some(field) = &policy.previous_hosts {
        call.read("avoid_previous", true, field);
    }
    let per_try = policy.try_timeout().map(|(span, field)| (*span, field));
    let mut on = policy.on.clone();
    // Where it hedges, what takes too long is tried again whatever the conditions are.
    on.extend((hedges && policy.per_try.is_some()).then_some(ErrorKind::Timeout));
    check_timeouts(&policy.place, policy.retries, &on, per_try, total, draft);
}

/// What else a route says.
fn rest(section: &mut Section<'_>, is_weighted: bool, block: &mut Block, draft: &mut Draft) {
    if is_weighted && let Some(field) = section.field("weighted_clusters") {
        draft.leave_out(block, &field, "how much goes to which is up to the scenario: give the calls a `weight`");
    }
    if let Some(field) = section.field("priority")
        && !matches!(field.node.scalar(), Some("DEFAULT" | "HIGH"))
    {
        draft.leave_out(block, &field, "the thresholds are those of `DEFAULT` priority");
    }
    let why = "streams of a scenario are one request and one answer";
    let streams = ["max_stream_duration", "idle_timeout", "flush_timeout", "max_grpc_timeout", "grpc_timeout_offset"];
    draft.leave_out_all(block, section, &streams, why);
    let why = "nobody waits for copies of requests: add a client group for them";
    draft.leave_out_all(block, section, &["request_mirror_policies"], why);
    let why = "it is a plug-in with rules of its own";
    draft.leave_out_all(block, section, &["retry_policy_typed_config", "cluster_specifier_plugin"], why);
    section.skip(&[
        "cluster",
        "cluster_header",
        "weighted_clusters",
        "cluster_not_found_response_code",
        "metadata_match",
        "prefix_rewrite",
        "regex_rewrite",
        "path_rewrite_policy",
        "host_rewrite_literal",
        "host_rewrite_header",
        "host_rewrite_path_regex",
        "auto_host_rewrite",
        "append_x_forwarded_host",
        "rate_limits",
        "include_vh_rate_limits",
        "hash_policy",
        "cors",
        "upgrade_configs",
        "internal_redirect_policy",
        "internal_redirect_action",
        "max_internal_redirects",
        "early_data_policy",
    ]);
}
