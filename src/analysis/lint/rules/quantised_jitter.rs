//! Random times that are rounded to few values.
//!
//! It is silent where the values are less than 100 ms apart, which spreads enough, and where at each value no more come
//! on average than the callee can do in 100 ms; one is always let be.

use crate::analysis::lint::findings::{Findings, Hit};
use crate::analysis::lint::rule::{Check, Example, Rule};
use crate::analysis::lint::subject::{Subject, Used};
use crate::analysis::lint::waits::{AT_ONCE, done_at_once, grid, has_jitter, told};
use crate::analysis::lint::words;
use crate::dist::Dist;
use crate::plan::{Arrivals, CallId, Group, GroupId, Plan};
use crate::policy::{Jitter, Refinement};
use crate::scenario::Severity;
use crate::time::Span;

pub static RULE: Rule = Rule {
    id: "quantised-jitter",
    severity: Severity::Warning,
    finds: "Jitter or an offset takes so few values that several clients have the same one.",
    why: "A random number of whole seconds makes as many herds as there are seconds: all who draw the same value come \
          at the same instant. 600 timers on a second of the minute of their own bring about 18 at once, although ten \
          a second would be one in each 100 ms; with an offset that is not rounded about 5 are in the densest \
          (apache/openwhisk-package-alarms, issue 196).",
    instead: "draw without a `step`: every nanosecond is possible then",
    example: Example {
        bad: r#"
services.job = { service_time = "50ms" }
[clients.timers]
count = 600
arrivals = { periodic = { every = "60s", offset = { uniform = { min = "0s", max = "60s", step = "1s" } } } }
calls.job = { timeout = "1s" }
"#,
        good: &[r#"clients.timers.arrivals.periodic.offset={ uniform = { min = "0s", max = "60s" } }"#],
    },
    check: Check::Variant(check),
};

fn check(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for used in subject.policies() {
        if let Jitter::Add(added) = used.policy.schedule.jitter() {
            check_policy(subject, findings, &used, added, "jitter");
        }
        check_granularity(subject, findings, &used);
        if let Jitter::Add(added) = &used.policy.server_delay.jitter {
            check_policy(subject, findings, &used, added, "retry_after.jitter");
        }
    }
    for (id, group) in (0..).map(GroupId).zip(&subject.plan.groups) {
        check_offset(subject, findings, id, group);
    }
}

/// Jitter whose waits are whole multiples of so much that those of one value come at once.
fn check_granularity(subject: &Subject<'_>, findings: &mut Findings<'_>, used: &Used<'_>) {
    let schedule = &used.policy.schedule;
    let Refinement { immediate, granularity, .. } = schedule.refinement();
    let first = schedule.ranges().nth(immediate as usize).filter(|wait| wait.longest < Span::LIMIT);
    let Some(wait) = first.filter(|_| granularity >= AT_ONCE && has_jitter(schedule)) else { return };
    if immediate >= used.policy.max_attempts - 1 {
        return;
    }
    let values = (wait.longest - wait.shortest).as_ns() / granularity.as_ns() + 1;
    let Some((call, at_once)) = herd(subject, used, values, |_| true) else { return };
    let path = subject.policy_path(used.id);
    let (retry, step) = (u64::from(immediate) + 1, words::time(granularity));
    findings.add(Hit {
        owner: path.clone(),
        keys: &["granularity"],
        message: if values == 1 {
            format!("`{path}` cuts all waits before retry {retry} down to the same multiple of {step}")
        } else {
            format!(
                "`{path}` cuts waits before retry {retry} down to {} values, {step} apart",
                words::count(values as f64)
            )
        },
        figure: together(subject, call, at_once, values),
    });
}

fn check_policy(subject: &Subject<'_>, findings: &mut Findings<'_>, used: &Used<'_>, added: &Dist, key: &'static str) {
    let Some((values, step)) = grid(added) else { return };
    let is_drawn = |call: CallId| key == "jitter" || told(subject, call).is_some();
    let Some((call, at_once)) = herd(subject, used, values, is_drawn) else { return };
    let path = subject.policy_path(used.id);
    findings.add(Hit {
        owner: path.clone(),
        keys: if key == "jitter" { &["jitter"] } else { &["retry_after.jitter"] },
        message: format!("`{path}.{key}` takes {} values, {} apart", words::count(values as f64), words::time(step)),
        figure: together(subject, call, at_once, values),
    });
}

/// The call of which the most come back at each of so many values, and how many, if that is too many.
fn herd(
    subject: &Subject<'_>,
    used: &Used<'_>,
    values: u64,
    is_drawn: impl Fn(CallId) -> bool,
) -> Option<(CallId, f64)> {
    let herds = used.calls.iter().filter(|&&call| is_drawn(call)).filter_map(|&call| {
        let at_once = subject.made(call).clients / values as f64;
        (at_once > done(subject.plan, call)).then_some((call, at_once))
    });
    herds.max_by(|one, other| one.1.total_cmp(&other.1))
}

fn together(subject: &Subject<'_>, call: CallId, at_once: f64, values: u64) -> String {
    format!(
        "of the {} requests that fail together at `{}` {} come back at the same instant on average, at each value",
        words::count(at_once * values as f64),
        subject.call_name(call),
        words::count(at_once),
    )
}

fn check_offset(subject: &Subject<'_>, findings: &mut Findings<'_>, id: GroupId, group: &Group) {
    let Arrivals::Periodic { every, offset } = &group.arrivals else { return };
    let Some((values, step)) = grid(offset) else { return };
    // Values whole periods apart are the same moment.
    let moments = values.min(every.as_ns() / greatest_common_divisor(every.as_ns(), step.as_ns()));
    let at_once = f64::from(group.clients) / moments as f64;
    if group.choices.iter().all(|&(_, call)| at_once <= done(subject.plan, call)) {
        return;
    }
    let path = subject.group_path(id);
    findings.add(Hit {
        owner: path.clone(),
        keys: &["arrivals.periodic.offset", "arrivals.periodic", "arrivals"],
        message: format!(
            "the offsets of `{path}` are {} apart: {} in a period",
            words::time(step),
            words::count(moments as f64)
        ),
        figure: format!(
            "of its {} clients {} begin at the same instant on average",
            words::count(f64::from(group.clients)),
            words::count(at_once),
        ),
    });
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

/// So many at once are let be.
fn done(plan: &Plan, call: CallId) -> f64 {
    let capacity_rps = plan.services[plan.calls[call.index()].target.index()].capacity_rps();
    capacity_rps.map_or(1.0, |per_second| done_at_once(per_second).max(1.0))
}
