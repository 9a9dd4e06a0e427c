//! Budgets whose tokens calls to different services share.
//!
//! Silent where one of them does not retry, since then there is nothing to share.

use crate::analysis::lint::findings::{Findings, Hit};
use crate::analysis::lint::grants::in_outage;
use crate::analysis::lint::rule::{Check, Example, Rule};
use crate::analysis::lint::subject::{Subject, Used};
use crate::analysis::lint::words;
use crate::plan::{CallId, ServiceId};
use crate::policy::BudgetRule;
use crate::scenario::Severity;

pub static RULE: Rule = Rule {
    id: "budget-shared-unrelated",
    severity: Severity::Warning,
    finds: "Calls to different services draw on one retry budget.",
    why: "While one of the services is down, the retries of its calls take all that there is, and none of them helps. \
          A passing error of another service, for which one retry would do, is then final: the outage of one \
          dependency shows as errors of all. Budgets of real clients are kept by callee: gRPC's throttle is that of \
          one server name (proposal A6), Envoy's that of one cluster.",
    instead: "keep a budget for each callee, with `shared_over = \"target\"`",
    example: Example {
        bad: r#"
clients.web = { count = 10, arrivals = { constant = { rate = 50 } }, calls.app = { timeout = "2s" } }
[services.app]
calls = { db = { timeout = "300ms", retry = "careful" }, cache = { timeout = "50ms", retry = "careful" } }
[services.db]
[services.cache]
[retries.careful]
max_attempts = 2
budget = { token_bucket = { max = 10, per_success = 0.1 } }
shared_over = "policy"
"#,
        good: &[r#"retries.careful.shared_over="target""#],
    },
    check: Check::Variant(check),
};

fn check(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    let plan = subject.plan;
    for Used { id, policy, calls } in subject.policies() {
        let retrying = calls.into_iter().filter(|&call| subject.attempts(call) != Some(1));
        let drawing: Vec<(u32, CallId)> =
            retrying.filter_map(|call| Some((plan.calls[call.index()].budget?.pool, call))).collect();
        // Callers do not share with each other; the first that has a pool for several services stands for all.
        let shared = drawing.iter().find_map(|&(pool, first)| {
            let target = plan.calls[first.index()].target;
            let others = drawing.iter().filter(|(other, _)| *other == pool);
            let other = others.clone().find(|(_, call)| plan.calls[call.index()].target != target);
            other.map(|&(_, other)| (pool, target, other, others.map(|(_, call)| *call).collect::<Vec<_>>()))
        });
        let Some((pool, target, other, sharing)) = shared else { continue };
        let names: Vec<&str> = sharing.iter().map(|&call| subject.call_name(call)).collect();
        let path = subject.policy_path(id);
        findings.add(Hit {
            message: format!("{} share a budget of `{path}`, and go to different services", words::first_names(&names)),
            owner: path,
            keys: &["shared_over"],
            figure: figure(subject, &plan.budgets[pool as usize].rule, policy.retry_on, (target, other)),
        });
    }
}

fn figure(
    subject: &Subject<'_>,
    rule: &BudgetRule,
    retry_on: crate::failure::ErrorSet,
    (target, other): (ServiceId, CallId),
) -> String {
    let (down, other) = (subject.service_name(target), subject.call_name(other));
    let taken = match (rule, in_outage(rule, retry_on)) {
        (BudgetRule::RatioOfRequests(_), _) | (_, None) => "its retries take what there is".to_owned(),
        (BudgetRule::Concurrency(_), Some(retries)) => {
            format!(
                "its retries may be all that are under way at once, of {} or a few more",
                words::count(retries as f64)
            )
        }
        (_, Some(retries)) => format!("{} of its retries use up what there is", words::count(retries as f64)),
    };
    format!("while `{down}` is down, {taken}; then an error of `{other}` is final")
}
