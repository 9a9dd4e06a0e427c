//! Retries that nothing holds back but their count.
//!
//! Silent about single callers: what one of them sends is no storm. And about calls that have a breaker or a throttle:
//! these let next to nothing through to what fails. Attempts that do not fit into the time of their call do not count;
//! and where the third may come ten seconds after the first, as with jobs that are put back, the load of an outage
//! grows so slowly that it is over or has been noticed before, unless there is no limit to it.

use crate::analysis::course::Failing;
use crate::analysis::lint::findings::{Findings, Hit};
use crate::analysis::lint::rule::{Check, Example, Rule};
use crate::analysis::lint::storm::is_held_back;
use crate::analysis::lint::subject::{Crowd, Subject, Used};
use crate::analysis::lint::words;
use crate::plan::CallId;
use crate::scenario::Severity;
use crate::time::Span;

/// So many attempts multiply the load of an outage too much to go without a budget.
const MANY: u32 = 3;

/// A third attempt that may come so late is no storm.
const LATE: Span = Span::from_s(10);

pub static RULE: Rule = Rule {
    id: "no-budget",
    severity: Severity::Warning,
    finds: "Three attempts or more, and nothing holds retries back but their count.",
    why: "A count limits what one request does, and not what all of them do together: while the callee fails, it gets \
          all attempts of all requests, for as long as it fails. A budget gives retries out by what succeeds, so that \
          the occasional failure is tried again, and an outage is not multiplied. 100 calls of five attempts to a dead \
          server send 500 attempts; with the retry throttling of gRPC, of ten tokens, they send 104 (grpc/grpc-java, \
          issue 11274).",
    instead: "give the policy a `budget`, such as `{ token_bucket = { max = 10, per_success = 0.1 } }`: retries up to \
              a tenth of what succeeds; with `shared_by = \"group\"` where each of very many callers makes few \
              requests",
    example: Example {
        bad: r#"
[clients.web]
count = 10
arrivals = { constant = { rate = 200 } }
calls.api = { timeout = "1s", retry = "patient" }
[services]
api = { service_time = "5ms" }
[retries]
patient = { max_attempts = 4, backoff = { exponential = { base = "100ms" } }, jitter = "full" }
"#,
        good: &["retries.patient.budget={ token_bucket = { max = 10, per_success = 0.1 } }"],
    },
    check: Check::Variant(check),
};

fn check(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for Used { id, policy, calls } in subject.policies() {
        let unchecked = calls.iter().filter(|call| !is_held_back(&subject.plan.calls[call.index()]));
        let many = unchecked.filter(|&&call| is_many(subject, call));
        let crowds = many.map(|&call| (call, subject.made(call))).filter(|(_, crowd)| crowd.after_a_second() >= 2.0);
        let crowds: Vec<(CallId, Crowd)> = crowds.collect();
        // Rather one that is made at all times than a fallback.
        let order = |(call, crowd): &(CallId, Crowd)| (subject.stood_in_for(*call).is_none(), crowd.after_a_second());
        let worst = crowds.iter().max_by(|a, b| {
            let ((a_always, a), (b_always, b)) = (order(a), order(b));
            a_always.cmp(&b_always).then(a.total_cmp(&b))
        });
        let Some(&(worst, crowd)) = worst else { continue };
        let names: Vec<&str> = crowds.iter().map(|(call, _)| subject.call_name(*call)).collect();
        let path = subject.policy_path(id);
        findings.add(Hit {
            message: format!(
                "`{path}` allows {} to {}, and nothing holds them back but that",
                words::attempts(subject.attempts(worst).unwrap_or(policy.max_attempts)),
                words::first_names(&names)
            ),
            owner: path,
            keys: &["budget", "max_attempts", "max_retries"],
            figure: figure(subject, worst, crowd),
        });
    }
}

/// Whether a call makes many attempts, and soon.
fn is_many(subject: &Subject<'_>, id: CallId) -> bool {
    let Some(attempts) = subject.attempts(id) else { return true };
    let course = subject.course(id, Failing::Late(Span::ZERO));
    attempts >= MANY && course.starts.get(MANY as usize - 1).is_some_and(|third| third.latest < LATE)
}

/// What becomes of the load that a call makes.
fn figure(subject: &Subject<'_>, id: CallId, Crowd { clients, per_second }: Crowd) -> String {
    let target = subject.plan.calls[id.index()].target;
    let (call, service) = (subject.call_name(id), subject.service_name(target));
    let capacity = subject.plan.services[target.index()].capacity_rps();
    let capacity =
        capacity.map_or_else(String::new, |rate| format!("; `{service}` can do {} per second", words::count(rate)));
    let fails = match subject.stood_in_for(id) {
        Some(other) => format!("`{}` and `{service}` fail", subject.call_name(other)),
        None => format!("`{service}` fails"),
    };
    let count = words::count;
    let Some(attempts) = subject.attempts(id).map(f64::from) else {
        let limit = subject.time_limit(id);
        let (requests, lasts) = match limit < Span::LIMIT {
            // Those of the last so many seconds.
            true => (clients + per_second * limit.as_s(), format!("each for {}", words::time(limit))),
            false if per_second > clients => {
                return format!("while {fails}, `{call}` sends it more and more, without a limit{capacity}");
            }
            false => (clients, "for as long as it fails".to_owned()),
        };
        return format!(
            "while {fails}, {} requests of `{call}` at once are tried again and again, {lasts}{capacity}",
            count(requests)
        );
    };
    let times = count(attempts);
    if per_second > clients {
        let (before, after) = (count(per_second), count(attempts * per_second));
        format!(
            "while {fails}, what `{call}` sends there grows up to {times} times, from {before} to {after} \
             attempts per second{capacity}"
        )
    } else {
        let (before, after) = (count(clients), count(attempts * clients));
        format!(
            "while {fails}, {before} requests of `{call}` become {after} attempts, {times} times as \
             many{capacity}"
        )
    }
}
