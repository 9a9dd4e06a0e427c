//! Retries of errors that come again with certainty.

use crate::analysis::course::Failing;
use crate::analysis::lint::findings::{Findings, Hit};
use crate::analysis::lint::rule::{Check, Example, Rule};
use crate::analysis::lint::subject::{Subject, Used};
use crate::analysis::lint::words;
use crate::failure::ErrorKind;
use crate::scenario::Severity;
use crate::time::Span;

/// The same request fails again.
const DETERMINISTIC: [ErrorKind; 2] = [ErrorKind::Internal, ErrorKind::Invalid];

pub static RULE: Rule = Rule {
    id: "retry-deterministic",
    severity: Severity::Error,
    finds: "`retry_on` has errors with which the same request fails again: `internal` or `invalid`.",
    why: "A request that is wrong stays wrong, and a fault in the callee's code is met by each attempt. Retries turn \
          the error into a slow one, and a faulty release, or one client that sends nonsense, into several times its \
          load. Many libraries retry every exception unless they are told otherwise, among them tenacity, Spring \
          Retry, Resilience4j and Failsafe.",
    instead: "leave `internal` and `invalid` out of `retry_on`; by default it has what may well pass on a second try",
    example: Example {
        bad: r#"
clients.web = { arrivals = { constant = { rate = 20 } }, calls.api = { timeout = "1s", retry = "every-error" } }
services.api = { service_time = "5ms" }
[retries.every-error]
max_attempts = 3
backoff = { exponential = { base = "100ms" } }
jitter = "full"
retry_on = ["unavailable", "timeout", "internal"]
"#,
        good: &[r#"retries.every-error.retry_on=["unavailable", "timeout"]"#],
    },
    check: Check::Variant(check),
};

fn check(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for Used { id, policy, calls } in subject.policies() {
        let kinds = DETERMINISTIC.into_iter().filter(|&kind| policy.retry_on.contains(kind));
        let kinds: Vec<&str> = kinds.map(ErrorKind::name).collect();
        // The call that makes the most of them; without a limit is more than any.
        let most = calls.iter().max_by_key(|&&call| subject.attempts(call).unwrap_or(u32::MAX));
        let (Some(&call), false) = (most, kinds.is_empty()) else { continue };
        let Some(attempts) = Some(subject.attempts(call)).filter(|attempts| *attempts != Some(1)) else { continue };
        let name = subject.call_name(call);
        let course = subject.course(call, Failing::Late(Span::ZERO));
        let figure = match (attempts, course.given_up) {
            (Some(attempts), Some(given_up)) if given_up > Span::ZERO => format!(
                "each such error of `{name}` costs up to {} and {} of waiting, and fails all the same",
                words::attempts(attempts),
                words::time(given_up)
            ),
            (Some(attempts), _) => {
                format!("each such error of `{name}` costs up to {}, and fails all the same", words::attempts(attempts))
            }
            (None, _) => format!("each such error of `{name}` is tried again for ever"),
        };
        let path = subject.policy_path(id);
        findings.add(Hit {
            message: format!("`{path}` retries on {}, with which the same request fails again", words::names(kinds)),
            owner: path,
            keys: &["retry_on"],
            figure,
        });
    }
}
