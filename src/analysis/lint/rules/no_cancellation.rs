//! Services that go on with what timed out and was sent again.
//!
//! Silent unless the service time alone, as it is or under a `slow` fault of the file, exceeds the timeout of the
//! call at least once in a thousand attempts: otherwise nothing is given up while it is in service. What waits in a
//! queue for longer than the timeout is wasted, too, but then the queue is the fault, and other rules speak of that.
//! Silent also where the queue drops what it cannot serve in time (`drop = "deadline_aware"`): nothing is begun in
//! vain there; and where it has an idempotency store that knows the retries by the keys of all clients who come by the
//! call: what goes on is not done again.

use crate::analysis::lint::findings::{Findings, Hit};
use crate::analysis::lint::limits::{attempt, silent};
use crate::analysis::lint::rule::{Check, Example, Rule};
use crate::analysis::lint::subject::Subject;
use crate::analysis::lint::words;
use crate::failure::ErrorKind;
use crate::plan::{Call, Cancel, Capacity, DropRule, Effect, GroupId, Keys, Origin, Plan, Target};
use crate::scenario::Severity;
use crate::time::Span;

/// Rarer than this it does not matter.
const AT_LEAST: f64 = 0.001;

pub static RULE: Rule = Rule {
    id: "no-cancellation",
    severity: Severity::Warning,
    finds: "A service with a limited number of workers does not learn that attempts at it have timed out, and the \
          caller retries.",
    why: "The caller gives up, and the worker does not: it finishes an answer that nobody reads, while the retry \
          takes another one. The slower the service, the more of its workers do nothing but that. In five \
          independent simulations of 1.25 times the load, with three attempts and a timeout of 100 ms, 99.6 % of the \
          attempts timed out and less than 1 % of the requests succeeded: all of the capacity went into answers that \
          came too late.",
    instead: "let the service end work whose caller is gone (`cancel = \"running\"`), or pass deadlines on and set \
          `queue.drop = \"deadline_aware\"`",
    example: Example {
        bad: r#"
[clients.web]
arrivals = { constant = { rate = 100 } }
calls.db = { timeout = "200ms", total_timeout = "1s", retry = "again" }
[services.db]
workers = 16
service_time = { exponential = { mean = "40ms" } }
[retries.again]
max_attempts = 3
backoff = { fixed = "50ms" }
jitter = "full"
"#,
        good: &[r#"services.db.cancel="running""#],
    },
    check: Check::Variant(check),
};

fn check(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    let plan = subject.plan;
    for (id, call, policy) in subject.retrying() {
        let service = &plan.services[call.target.index()];
        let Capacity { instances, workers, cancel, queue, .. } = &service.capacity;
        let goes_on = *cancel != Cancel::Running && *workers != Capacity::NO_LIMIT;
        let patience = attempt(subject, id);
        let is_retried = policy.retries_untold(ErrorKind::Timeout) && call.timeout.after < Span::LIMIT;
        let is_recognised = service.effects.store.is_some() && sends_keys(subject, call);
        let is_spared = queue.drop_rule == DropRule::DeadlineAware || is_recognised;
        if !goes_on || !is_retried || is_spared {
            continue;
        }
        let Some(slow) = slowness(plan, call, patience) else { continue };
        let most = silent(subject, id).most;
        if most == Some(1) {
            continue;
        }
        let (name, target) = (subject.call_name(id), subject.service_name(call.target));
        let ends = match cancel {
            Cancel::Ignore => "does not learn of it",
            Cancel::Queued | Cancel::Running => "ends only what it has not begun",
        };
        let most = most.map_or("any number of".to_owned(), |most| words::count(most as f64));
        findings.add(Hit {
            owner: subject.service_path(call.target),
            keys: &["cancel", "workers"],
            message: format!(
                "`{name}` gives up after {} and tries again, but `{target}` {ends} and goes on",
                words::time(patience)
            ),
            figure: format!(
                "{slow} one request may cost {most} times the service time for one answer, of {} workers in all",
                words::count(f64::from(*workers) * f64::from(*instances))
            ),
        });
    }
}

/// Whether all attempts of a call bring the same key, whichever clients they are for. A key for each attempt of the
/// clients is the same for all attempts further down.
fn sends_keys(subject: &Subject<'_>, call: &Call) -> bool {
    let plan = subject.plan;
    let keys = |group: GroupId| plan.groups[group.index()].operations.keys;
    match call.origin {
        Origin::Group(group) => !matches!(keys(group), Keys::None | Keys::PerAttempt),
        Origin::Service(service) => {
            let leads = subject.leads_to(service);
            let above = subject.calls().filter(|(id, _)| leads[id.index()]).map(|(_, call)| call.origin);
            let mut groups = above.filter_map(|origin| match origin {
                Origin::Group(group) => Some(group),
                Origin::Service(_) => None,
            });
            groups.all(|group| keys(group) != Keys::None)
        }
    }
}

/// When the service takes longer than that, if it does.
fn slowness(plan: &Plan, call: &Call, patience: Span) -> Option<String> {
    let service_time = &plan.services[call.target.index()].service_time;
    if service_time.share_above(patience) >= AT_LEAST {
        return Some("when it is slow,".to_owned());
    }
    let mut faults = plan.faults.iter().zip(&plan.labels.faults);
    faults.find_map(|(fault, name)| {
        let Effect::Slow { factor, add } = &fault.effect else { return None };
        let strikes = fault.targets.contains(&Target::Service(call.target));
        // It is longer than the patience if what is multiplied and what is added are so together, at least.
        let left = patience.as_ns().saturating_sub(add.bounds().0.as_ns()) as f64 / factor;
        (strikes && service_time.share_above(Span::from_ns_f64(left)) >= AT_LEAST).then(|| format!("during `{name}`,"))
    })
}
