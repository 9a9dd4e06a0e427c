//! Retries that multiply along a path.
//!
//! Of calls with a budget nothing is counted: while everything fails a budget grants a few retries, and not one more
//! for each request.

use crate::analysis::Hop;
use crate::analysis::lint::findings::{Findings, Hit};
use crate::analysis::lint::rule::{Check, Example, Rule};
use crate::analysis::lint::subject::Subject;
use crate::analysis::lint::words;
use crate::plan::CallId;
use crate::scenario::Severity;

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
    for path in &subject.paths.paths {
        let ids = path.hops.iter().filter_map(|hop| Some((id_of(subject, &hop.call)?, hop)));
        let layers: Vec<(CallId, &Hop)> = ids
            .filter(|(id, hop)| hop.attempts != Some(1) && subject.plan.calls[id.index()].budget.is_none())
            .collect();
        let product = layers.iter().try_fold(1.0, |product, (_, hop)| Some(product * f64::from(hop.attempts?)));
        if layers.len() < 2 || product.is_some_and(|product| product <= AT_MOST) {
            continue;
        }
        let calls: Vec<&str> = layers.iter().map(|(_, hop)| hop.call.as_str()).collect();
        let along = format!("retries multiply along {}: {}", words::first_names(&calls), factors(&layers));
        let (message, figure) = match product {
            Some(product) => {
                let product = if product <= TOLD { words::count(product) } else { "more than 10^15".to_owned() };
                let end = &path.hops[path.hops.len() - 1].target;
                (
                    format!("{along} = {product} attempts"),
                    format!("while `{end}` fails, each request of `{}` becomes {product} attempts there", path.client),
                )
            }
            None => (along, format!("each request of `{}` becomes attempts without a limit", path.client)),
        };
        findings.add(Hit { owner: subject.call_path(layers[0].0), keys: &["retry"], message, figure });
    }
}

fn id_of(subject: &Subject<'_>, name: &str) -> Option<CallId> {
    subject.calls().map(|(id, _)| id).find(|&id| subject.call_name(id) == name)
}

/// How many attempts each layer makes, of the first ones.
fn factors(layers: &[(CallId, &Hop)]) -> String {
    let factor = |attempts: Option<u32>| {
        attempts.map_or_else(|| "unlimited".to_owned(), |attempts| words::count(f64::from(attempts)))
    };
    let factors: Vec<String> = layers.iter().take(FACTORS).map(|(_, hop)| factor(hop.attempts)).collect();
    let more = if layers.len() > FACTORS { " x ..." } else { "" };
    factors.join(" x ") + more
}
