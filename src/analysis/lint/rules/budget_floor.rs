//! Budgets that hold nothing back when it matters, since each of many states grants a few retries for nothing.
//!
//! What is granted, as far as it is asked for, is held against what the callee can do in a second, or, where that has
//! no limit, against the requests of ten seconds. Silent where the callee can do even all retries that are asked for;
//! and, at a callee without a limit, where clients come only once, or ask again as fast as they get an answer: then
//! there is no rate to hold it against.

use crate::analysis::attempts_once;
use crate::analysis::lint::findings::{Findings, Hit};
use crate::analysis::lint::grants::in_outage;
use crate::analysis::lint::rule::{Check, Example, Rule};
use crate::analysis::lint::subject::{Crowd, Subject, Used};
use crate::analysis::lint::words;
use crate::plan::{Arrivals, CallId, Group, GroupId, Plan, ServiceId};
use crate::policy::BudgetRule;
use crate::scenario::Severity;

/// Without a capacity, the requests of so many seconds are many.
const SECONDS: f64 = 10.0;

pub static RULE: Rule = Rule {
    id: "budget-floor",
    severity: Severity::Warning,
    finds: "A retry budget grants so much for nothing, in so many states, that it holds nothing back.",
    why: "Each instance of the caller has a budget of its own, with tokens, a reserve or a minimum of its own. What is \
          little for one of them adds up over a fleet: a quota of 500 tokens at 5 per retry is 100 retries for one \
          client object, and 4,000 for 40 of them (the quota is that of aws/aws-sdk-ruby, issue 2236). All of that is \
          there at the moment at which the callee fails, in addition to the load that it has failed under.",
    instead: "share the budget among all instances with `shared_by = \"group\"`, or let each of them start with less",
    example: Example {
        bad: r#"
clients.fleet = { count = 500, arrivals = { constant = { rate = 400 } }, calls.api = { timeout = "1s", retry = "sdk" } }
services.api = { workers = 10, service_time = "20ms" }
[retries.sdk]
max_attempts = 3
backoff = { exponential = { base = "100ms" } }
jitter = "full"
budget = { token_bucket = { max = 10, per_success = 0.1 } }
"#,
        good: &[r#"retries.sdk.shared_by="group""#],
    },
    check: Check::Variant(check),
};

/// What the states of a policy grant for calls to one service.
struct Floor<'a> {
    rule: &'a BudgetRule,
    target: ServiceId,
    /// In each state of one of the pools.
    each: u64,
    states: u64,
    /// In all of them.
    all: f64,
    /// More is large.
    limit: f64,
    /// As many of these as are asked for, as far as that is known.
    granted: f64,
    /// Whether every client asks only once.
    is_once: bool,
    /// How many retries are asked for per second while the service fails; none if that has no limit, or is no rate.
    asked_rps: Option<f64>,
}

fn check(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for Used { id, calls, .. } in subject.policies() {
        let mut targets: Vec<ServiceId> = calls.iter().map(|call| subject.plan.calls[call.index()].target).collect();
        targets.sort_unstable();
        targets.dedup();
        let floors = targets.into_iter().filter_map(|target| floor(subject, &calls, target));
        let large = floors.filter(|floor| floor.granted > floor.limit && !is_within_capacity(subject, floor));
        let Some(worst) = large.max_by(|a, b| (a.granted / a.limit).total_cmp(&(b.granted / b.limit))) else {
            continue;
        };
        let path = subject.policy_path(id);
        let reserve = match worst.rule {
            BudgetRule::Concurrency(_) => "lets so many retries be under way at once, however few attempts there are",
            BudgetRule::WindowedRatio(_) => "grants so many retries anew each time its `ttl` has passed, for nothing",
            BudgetRule::TokenBucket(_)
            | BudgetRule::GrpcThrottle(_)
            | BudgetRule::AwsQuota(_)
            | BudgetRule::RatioOfRequests(_) => "grants so many retries before anything has to succeed",
        };
        let (each, states) = (words::count(worst.each as f64), words::count(worst.states as f64));
        findings.add(Hit {
            message: format!(
                "the budget of `{path}` {reserve}: {each} in each of {states} states are {}",
                words::count(worst.all)
            ),
            owner: path,
            keys: &["budget", "shared_by"],
            figure: figure(subject, &worst),
        });
    }
}

fn floor<'a>(subject: &Subject<'a>, calls: &[CallId], target: ServiceId) -> Option<Floor<'a>> {
    let plan = subject.plan;
    let to_target = || calls.iter().copied().filter(|call| plan.calls[call.index()].target == target);
    let mut pools: Vec<u32> = to_target().filter_map(|call| Some(plan.calls[call.index()].budget?.pool)).collect();
    pools.sort_unstable();
    pools.dedup();
    let rule = &plan.budgets[*pools.first()? as usize].rule;
    // What costs nothing is granted without an end: no floor can be told.
    let each = in_outage(rule, plan.policy_of(calls[0]).retry_on)?;
    let states: u64 = pools.iter().map(|&pool| u64::from(plan.budgets[pool as usize].states)).sum();
    let asked =
        || to_target().map(|call| (subject.made(call), subject.attempts(call).map(|most| f64::from(most) - 1.0)));
    let per_second = asked().map(|(crowd, retries)| Some(crowd.per_second * retries?).filter(|_| crowd.clients == 0.0));
    let asked_rps: Option<f64> = per_second.sum();
    let is_once = |group: &Group| matches!(group.arrivals, Arrivals::Burst { .. });
    let is_once = plan.groups.iter().all(is_once);
    let at_once: Option<f64> = if let BudgetRule::Concurrency(_) = rule {
        // Of a call one retry is under way at a time.
        let calls = asked().map(|(crowd, retries)| crowd.clients * retries.map_or(1.0, |retries| retries.min(1.0)));
        asked().all(|(crowd, _)| crowd.per_second == 0.0).then(|| calls.sum())
    } else {
        let retries = asked().map(|(crowd, retries)| Some(crowd.clients * retries?));
        retries.sum::<Option<f64>>().filter(|_| is_once)
    };
    // Nobody asks for any.
    if asked_rps == Some(0.0) {
        return None;
    }
    let all = each as f64 * states as f64;
    let limit = plan.services[target.index()].capacity_rps();
    Some(Floor {
        rule,
        target,
        each,
        states,
        all,
        granted: at_once.map_or(all, |asked| asked.min(all)),
        is_once,
        limit: limit.unwrap_or_else(|| requests_at(plan, target)),
        asked_rps,
    })
}

/// Whether the service can do all that is asked for anyway.
fn is_within_capacity(subject: &Subject<'_>, floor: &Floor<'_>) -> bool {
    let capacity = subject.plan.services[floor.target.index()].capacity_rps();
    let crowd = subject.crowd(floor.target);
    let all = floor.asked_rps.filter(|_| crowd.clients == 0.0).map(|retries| retries + crowd.per_second);
    all.zip(capacity).is_some_and(|(all, capacity)| all <= capacity)
}

fn figure(subject: &Subject<'_>, floor: &Floor<'_>) -> String {
    let service = subject.service_name(floor.target);
    let capacity = subject.plan.services[floor.target.index()].capacity_rps();
    let against = match capacity {
        Some(rate) => format!("`{service}` can do {} per second", words::count(rate)),
        None => format!("in {SECONDS} s it gets {} requests", words::count(floor.limit)),
    };
    match (floor.rule, floor.asked_rps) {
        (BudgetRule::Concurrency(concurrency), Some(asked)) => {
            let wait = if concurrency.counts_waiting { ", its wait included" } else { "" };
            format!(
                "an outage of `{service}` asks for up to {} retries per second, and as long as it lasts there is room \
                 for all of them at once, unless one takes longer than {}{wait}; {against}",
                words::count(asked),
                words::seconds(floor.all / asked)
            )
        }
        (BudgetRule::Concurrency(_), None) => format!(
            "in an outage of `{service}`, and as long as it lasts, {} retries may be under way at once; {against}",
            words::count(floor.granted)
        ),
        (BudgetRule::WindowedRatio(ratio), asked) if !floor.is_once => {
            // What is withdrawn is forgotten when so many slots have passed.
            let per_second = floor.all / (ratio.slot.as_s() * f64::from(ratio.slots));
            match asked {
                Some(asked) => format!(
                    "an outage of `{service}` asks for up to {} retries per second, and as long as it lasts {} of them \
                     are granted for nothing; {against}",
                    words::count(asked),
                    words::count(asked.min(per_second))
                ),
                None => format!(
                    "as long as an outage of `{service}` lasts, {} retries per second are granted for nothing; \
                     {against}",
                    words::count(per_second)
                ),
            }
        }
        (_, Some(asked)) if asked < floor.all => format!(
            "an outage of `{service}` asks for up to {} retries per second, and {} of that are paid for before the \
             first is refused; {against}",
            words::count(asked),
            words::seconds(floor.all / asked)
        ),
        _ => format!(
            "the first second of an outage of `{service}` may bring {} retries before one is refused; {against}",
            words::count(floor.granted)
        ),
    }
}

/// How many requests come to a service in so many seconds while nothing fails; infinite if clients come only once,
/// or ask again as soon as they get an answer.
fn requests_at(plan: &Plan, service: ServiceId) -> f64 {
    let requests = (0..).map(GroupId).zip(&plan.groups).map(|(id, group)| {
        let clients = f64::from(group.clients);
        let requests = match &group.arrivals {
            Arrivals::Burst { .. } => f64::INFINITY,
            Arrivals::Periodic { every, .. } => clients * (SECONDS / every.as_s()).max(1.0),
            Arrivals::Closed { think, requests } => {
                clients * (SECONDS * 1e9 / think.mean_ns()).max(1.0).min(*requests as f64)
            }
            Arrivals::Constant { .. } | Arrivals::Poisson(_) | Arrivals::Trace(_) => {
                SECONDS * Crowd::of(&group.arrivals, group.clients).per_second
            }
        };
        let times = attempts_once(plan, id)[service.index()];
        if times > 0.0 { times * requests } else { 0.0 }
    });
    requests.sum()
}
