//! Attempts that there is no time for.
//!
//! Judged as kindly as can be: each attempt fails at once and each wait is the shortest. So there is nothing to be
//! said of full jitter, whose shortest wait is none. Silent without a limit on attempts, or with one above a
//! thousand, or with a `max_elapsed`: there the time is meant to be the limit; and where a server's word may make waits
//! shorter.

use crate::analysis::Over;
use crate::analysis::lint::findings::{Findings, Hit};
use crate::analysis::lint::limits::{at_once, silent};
use crate::analysis::lint::rule::{Check, Example, Rule};
use crate::analysis::lint::subject::Subject;
use crate::analysis::lint::words;
use crate::policy::{DelayRule, RetryPolicy};
use crate::scenario::Severity;
use crate::time::Span;

/// More attempts are meant as no limit.
const MEANT: u32 = 1_000;

pub static RULE: Rule = Rule {
    id: "attempts-never-fit",
    severity: Severity::Warning,
    finds: "A policy allows more attempts than can ever fit into the time limit of the call.",
    why: "The waits alone are longer than the call may last, however fast the attempts fail: the last attempts exist \
          on paper only. Whoever counts on them is wrong about how long a blip may last. With a limit of 1 s and \
          waits of 100, 200, 400 and 800 ms the fourth wait is never begun; of .NET's standard handler (30 s in all, \
          10 s per attempt, three retries) the fourth attempt never runs against a server that hangs.",
    instead: "allow the attempts that fit, or make the waits shorter or the limit longer",
    example: Example {
        bad: r#"
[clients.web]
arrivals = { constant = { rate = 10 } }
calls.api = { timeout = "50ms", total_timeout = "250ms", retry = "patient" }
[services.api]
service_time = "5ms"
[retries.patient]
max_attempts = 5
backoff = { exponential = { base = "60ms" } }
jitter = { spread = 0.2 }
"#,
        good: &[r#"retries.patient.backoff={ exponential = { base = "10ms" } }"#],
    },
    check: Check::Variant(check),
};

fn check(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for (id, call, policy) in subject.retrying() {
        let limit = subject.time_limit(id);
        let is_shortened = subject.plan.says_retry_after() && policy.server_delay.rule == DelayRule::Replace;
        let is_meant = policy.max_attempts > MEANT || policy.max_elapsed < Span::LIMIT;
        if limit >= Span::LIMIT || is_meant || is_shortened {
            continue;
        }
        let at_best = at_once(subject, id);
        let Some(begun) = at_best.most.filter(|_| matches!(at_best.over, Over::Deadline | Over::Exhausted)) else {
            continue;
        };
        // What begins at the very end is sent without any time.
        let fit = if begun > 1 && earliest(policy, begun) == limit { begun - 1 } else { begun };
        if fit >= u64::from(policy.max_attempts) {
            continue;
        }
        let name = subject.call_name(id);
        let silent = silent(subject, id).most.filter(|&silent| silent < fit);
        let timing_out = silent
            .map_or(String::new(), |silent| format!(", and {} if they get no answer", words::count(silent as f64)));
        let figure = first_that_does_not(policy, fit, limit);
        findings.add(Hit {
            owner: subject.call_path(id),
            keys: if limit < call.total_timeout.after { &["retry"] } else { &["total_timeout", "retry"] },
            message: format!(
                "`{}` makes {} of `{name}`, of which at most {} into {}{timing_out}",
                subject.policy_path(call.policy),
                words::attempts(policy.max_attempts),
                if fit == 1 { "1 fits".to_owned() } else { format!("{} fit", words::count(fit as f64)) },
                words::time(limit)
            ),
            figure,
        });
    }
}

/// How long after its call this attempt begins at the earliest.
fn earliest(policy: &RetryPolicy, attempt: u64) -> Span {
    let waits = policy.ranges().zip(1..attempt);
    waits.fold(Span::ZERO, |sum, (wait, _)| (sum + wait.shortest).min(Span::LIMIT))
}

/// When the first attempt that does not fit would begin.
fn first_that_does_not(policy: &RetryPolicy, fit: u64, limit: Span) -> String {
    let at = earliest(policy, fit + 1);
    if at == limit {
        return format!(
            "attempt {} begins {} after the call at the earliest, when the call is over: it has no time",
            fit + 1,
            words::time(at)
        );
    }
    let needs = if policy.min_attempt > Span::ZERO {
        format!(", with {} left for it by `min_attempt`", words::time(policy.min_attempt))
    } else {
        String::new()
    };
    format!(
        "attempt {} would begin {} after the call at the earliest{needs}, and the call is over after {}",
        fit + 1,
        words::time(at),
        words::time(limit)
    )
}
