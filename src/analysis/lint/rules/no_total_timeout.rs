//! Retries that only their number ends.
//!
//! Silent where somebody has said how long it may take: where every caller above has a limit (what does not fit into
//! that is found by `timeout-above-caller`), where the policy has a `max_elapsed`, and for clients with `on_exhausted =
//! "dead_letter"`, whose work nobody waits for. Where an attempt has no timeout either, `no-timeout` says so.

use crate::analysis::lint::findings::{Findings, Hit};
use crate::analysis::lint::limits::{ended_from_above, is_among, longest};
use crate::analysis::lint::rule::{Check, Example, Rule};
use crate::analysis::lint::subject::Subject;
use crate::analysis::lint::words;
use crate::plan::{Call, CallId, Origin};
use crate::scenario::Severity;
use crate::time::Span;

pub static RULE: Rule = Rule {
    id: "no-total-timeout",
    severity: Severity::Warning,
    finds: "A call retries with a timeout for each attempt, but there is no total time limit: neither its own nor \
          that of a caller.",
    why: "What a user waits for is the call, and not the attempt. With retries it takes up to the attempts times the \
          timeout, and all the waits: 1.5 s become 13 s with three retries after 1, 2 and 4 s. By then nobody waits \
          any more, but the work goes on. A chain of 36 attempts without an overall limit was reported as \
          microsoft/openaivec, issue 186; Resilience4j, too, limits the time of each attempt, and not of all of \
          them.",
    instead: "add a `total_timeout`: what whoever waits for the call has patience for",
    example: Example {
        bad: r#"
clients.web = { arrivals = { constant = { rate = 100 } }, calls.api = { timeout = "1500ms", retry = "patient" } }
services.api = { service_time = "5ms" }
retries.patient = { max_retries = 3, backoff = { exponential = { base = "1s" } }, jitter = "equal" }
"#,
        good: &[r#"clients.web.calls.api.total_timeout="5s""#],
    },
    check: Check::Variant(check),
};

fn check(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    let ended = ended_from_above(subject);
    for (id, call, policy) in subject.retrying() {
        let is_limited = subject.time_limit(id).min(policy.max_elapsed) < Span::LIMIT;
        let has_limit = call.timeout.after >= Span::LIMIT || is_limited;
        if has_limit || is_among(&ended, call) || !is_open_above(subject, id, call) {
            continue;
        }
        let name = subject.call_name(id);
        let has_waits = policy.ranges().next().is_some_and(|wait| wait.longest > Span::ZERO);
        let waits = if has_waits { ", and the waits" } else { "" };
        let figure = match longest(subject, id) {
            Some(end) => format!(
                "a call whose attempts fail late takes up to {}, and nobody has said that anybody waits so long: \
                 {} of {} each{}",
                words::time(end),
                words::attempts(policy.max_attempts),
                words::time(call.timeout.after),
                waits
            ),
            None if policy.max_attempts == u32::MAX => "nothing ends a call whose attempts fail".to_owned(),
            None => "its waits may be of any length, and so may the call".to_owned(),
        };
        findings.add(Hit {
            owner: subject.call_path(id),
            keys: &["total_timeout", "timeout", "retry"],
            message: format!(
                "`{name}` makes {}, and there is no total time limit",
                words::attempts(policy.max_attempts)
            ),
            figure,
        });
    }
}

/// Whether nobody above has a limit that this call's time would have to fit into.
fn is_open_above(subject: &Subject<'_>, id: CallId, call: &Call) -> bool {
    match call.origin {
        Origin::Group(group) => !subject.plan.groups[group.index()].operations.dead_letters,
        Origin::Service(_) => {
            let name = subject.call_name(id);
            let pairs = subject.paths.paths.iter().flat_map(|path| path.hops.windows(2));
            pairs.into_iter().any(|pair| pair[1].call == name && pair[0].attempt_s.is_none())
        }
    }
}
