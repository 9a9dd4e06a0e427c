//! Retries that multiply along a path.

use crate::analysis::lint::findings::{Findings, Hit};
use crate::analysis::lint::rule::{Check, Example, Rule};
use crate::analysis::lint::subject::Subject;
use crate::analysis::lint::words;
use crate::scenario::Severity;

/// More attempts for one request than these are too many: three layers that each retry once.
const AT_MOST: u64 = 8;

pub static RULE: Rule = Rule {
    id: "layered-retries",
    severity: Severity::Error,
    finds: "Several layers of one path retry, and together they make more than 8 attempts of one request.",
    why: "Attempts multiply: three layers with three attempts each send 27 to the last service, and nobody has configured 27. \
          When that service is down, each request of a user becomes the whole product, at the moment at which it can do \
          least. Of two layers, 12 and 3 attempts, there were 36 (microsoft/openaivec, issue 186).",
    instead: "retry on one layer, best the one next to what fails, and let the others pass the error on",
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
        let layers: Vec<_> = path.hops.iter().filter(|hop| hop.attempts != Some(1)).collect();
        if layers.len() < 2 || path.attempts.is_some_and(|product| product <= AT_MOST) {
            continue;
        }
        let factors: Vec<String> = layers.iter().map(|hop| factor(hop.attempts)).collect();
        let factors = factors.join(" x ");
        let (message, figure) = match path.attempts {
            Some(product) => {
                let product = words::count(product as f64);
                let end = &path.hops[path.hops.len() - 1].target;
                (
                    format!(
                        "retries multiply along {}: {factors} = {product} attempts",
                        words::names(layers.iter().map(|hop| hop.call.as_str()))
                    ),
                    format!("while `{end}` fails, each request of `{}` becomes {product} attempts there", path.client),
                )
            }
            None => (
                format!(
                    "retries multiply along {}: {factors}",
                    words::names(layers.iter().map(|hop| hop.call.as_str()))
                ),
                format!("each request of `{}` becomes attempts without a limit", path.client),
            ),
        };
        let Some((id, _)) = subject.calls().find(|(id, _)| subject.call_name(*id) == layers[0].call) else { continue };
        findings.add(Hit { owner: subject.call_path(id), keys: &["retry"], message, figure });
    }
}

fn factor(attempts: Option<u32>) -> String {
    attempts.map_or_else(|| "unlimited".to_owned(), |attempts| words::count(f64::from(attempts)))
}
