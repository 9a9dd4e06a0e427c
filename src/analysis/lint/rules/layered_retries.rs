//! Retries that multiply along a path.
//!
//! Of calls with a budget nothing is counted: while everything fails a budget grants a few retries, and not one more
//! for each request. Attempts that do not fit into the time of a call are not counted, and a layer that does not try
//! again what the one beneath it fails with multiplies nothing. Of each uppermost layer the worst way down is told.

use crate::analysis::graph::Graph;
use crate::analysis::lint::findings::{Findings, Hit};
use crate::analysis::lint::rule::{Check, Example, Rule};
use crate::analysis::lint::subject::Subject;
use crate::analysis::lint::words;
use crate::failure::ErrorKind;
use crate::plan::{CallId, Origin};
use crate::scenario::Severity;
use crate::time::Span;

/// More attempts for one request than these are too many: three layers that each retry once.
const AT_MOST: f64 = 8.0;

/// Products beyond this are not written out.
const TOLD: f64 = 1e15;

/// So many factors are.
const FACTORS: usize = 8;

pub static RULE: Rule = Rule {
    id: "layered-retries",
    severity: Severity::Error,
    finds: "Several layers of one path retry without a budget, and together they make more than 8 attempts of one \
            request.",
    why: "Attempts multiply: three layers with three attempts each send 27 to the last service, and nobody has \
          configured 27. When that service is down, each request of a user becomes the whole product, at the moment at \
          which it can do least. Of two layers, 12 and 3 attempts, there were 36 (microsoft/openaivec, issue 186). A \
          layer with a retry budget adds little to that, whatever its count: three layers of three attempts that each \
          have one send next to nothing on top of the requests.",
    instead: "retry on one layer, and let the others pass the error on",
    example: Example {
        bad: r#"
clients.web = { arrivals = { constant = { rate = 10 } }, calls.app = { timeout = "2s", retry = "thrice" } }
services.app.calls.db = { timeout = "300ms", retry = "thrice" }
services.db = { service_time = "5ms" }
retries.thrice = { max_attempts = 3, backoff = { fixed = "50ms" }, jitter = "full" }
"#,
        good: &[r#"clients.web.calls.app.retry="none""#],
    },
    check: Check::Variant(check),
};

fn check(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    let layers = Layers::of(subject);
    for first in layers.first() {
        let stack = layers.stack(first);
        let product: Option<f64> = stack.iter().map(|&id| subject.attempts(id).map(f64::from)).product();
        if stack.len() < 2 || product.is_some_and(|product| product <= AT_MOST) {
            continue;
        }
        let calls: Vec<&str> = stack.iter().map(|&id| subject.call_name(id)).collect();
        let along = format!("retries multiply along {}: {}", words::first_names(&calls), factors(subject, &stack));
        let requests = match subject.plan.calls[first.index()].origin {
            Origin::Group(group) => format!("each request of `{}`", subject.plan.labels.groups[group.index()]),
            Origin::Service(service) => format!("each request at `{}`", subject.service_name(service)),
        };
        let (message, figure) = match product {
            Some(product) => {
                let product = if product <= TOLD { words::count(product) } else { "more than 10^15".to_owned() };
                let last = stack[stack.len() - 1];
                let end = subject.service_name(subject.plan.calls[last.index()].target);
                (
                    format!("{along} = {product} attempts"),
                    format!("while `{end}` fails, {requests} becomes {product} attempts there"),
                )
            }
            None => (along, format!("{requests} becomes attempts without a limit")),
        };
        findings.add(Hit { owner: subject.call_path(first), keys: &["retry"], message, figure });
    }
}

/// The calls that retry without a budget, and which of them lie one above the other.
struct Layers<'a> {
    subject: &'a Subject<'a>,
    graph: Graph,
    /// By call: the product from there down, along the way on which it is the largest; infinite without a limit.
    products: Vec<f64>,
    /// By call: the layer at it or next beneath it on that way.
    next: Vec<Option<CallId>>,
}

impl<'a> Layers<'a> {
    fn of(subject: &'a Subject<'a>) -> Self {
        let plan = subject.plan;
        let graph = Graph::of(plan);
        let order = graph.callers_first(plan);
        let calls = plan.calls.len();
        let mut layers = Self { subject, graph, products: vec![1.0; calls], next: vec![None; calls] };
        for &origin in order.iter().rev() {
            for id in layers.graph.made_by(origin).to_vec() {
                let beneath = layers.beneath(id);
                let product = beneath.map_or(1.0, |beneath| layers.products[beneath.index()]);
                let (product, next) = if layers.is_layer(id) {
                    let attempts = subject.attempts(id).map_or(f64::INFINITY, f64::from);
                    (product * attempts, Some(id))
                } else {
                    (product, beneath)
                };
                (layers.products[id.index()], layers.next[id.index()]) = (product, next);
            }
        }
        layers
    }

    /// Whether a call retries, and no budget says how often.
    fn is_layer(&self, id: CallId) -> bool {
        self.subject.plan.calls[id.index()].budget.is_none() && self.subject.attempts(id) != Some(1)
    }

    /// The layer beneath a call that multiplies the most with it; none if there is none.
    fn beneath(&self, id: CallId) -> Option<CallId> {
        let made = self.graph.made_by(Origin::Service(self.subject.plan.calls[id.index()].target));
        let layers = made.iter().filter_map(|call| self.next[call.index()]);
        let multiplying = layers.filter(|&layer| !self.is_layer(id) || self.meets(id, layer));
        // Of several that are equal the first.
        multiplying.fold(None, |most: Option<CallId>, layer| {
            let is_more = most.is_none_or(|most| self.products[layer.index()] > self.products[most.index()]);
            if is_more { Some(layer) } else { most }
        })
    }

    /// Whether a call tries again what a layer beneath it fails with: an error that both retry, or the time that the
    /// attempts beneath take.
    fn meets(&self, above: CallId, beneath: CallId) -> bool {
        let plan = self.subject.plan;
        let [above_on, beneath_on] = [above, beneath].map(|id| plan.policy_of(id).retry_on);
        let times_out = above_on.contains(ErrorKind::Timeout) && plan.calls[above.index()].timeout.after < Span::LIMIT;
        times_out || ErrorKind::ALL.iter().any(|&kind| above_on.contains(kind) && beneath_on.contains(kind))
    }

    /// The layers that requests of clients may come to without another above them, in the order of the file.
    fn first(&self) -> Vec<CallId> {
        let plan = self.subject.plan;
        let mut is_bare = vec![false; plan.services.len()];
        let mut first = Vec::new();
        for origin in self.graph.callers_first(plan) {
            if matches!(origin, Origin::Service(service) if !is_bare[service.index()]) {
                continue;
            }
            for &id in self.graph.made_by(origin) {
                if self.is_layer(id) {
                    first.push(id);
                } else {
                    is_bare[plan.calls[id.index()].target.index()] = true;
                }
            }
        }
        first.sort_unstable();
        first
    }

    /// A layer and those that multiply with it, one beneath the other.
    fn stack(&self, first: CallId) -> Vec<CallId> {
        std::iter::successors(Some(first), |&id| self.beneath(id)).collect()
    }
}

/// How many attempts each layer makes, of the first ones.
fn factors(subject: &Subject<'_>, stack: &[CallId]) -> String {
    let factor = |id: &CallId| {
        subject.attempts(*id).map_or_else(|| "unlimited".to_owned(), |attempts| words::count(f64::from(attempts)))
    };
    let factors: Vec<String> = stack.iter().take(FACTORS).map(factor).collect();
    let more = if stack.len() > FACTORS { " x ..." } else { "" };
    factors.join(" x ") + more
}
