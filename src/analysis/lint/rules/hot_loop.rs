//! Many attempts with hardly a wait between them.
//!
//! It is silent where something else ends the loop: a budget, a throttle, a breaker that is asked before each attempt,
//! or the time limit of the call. Where only timeouts are retried that take as long as a wait would, and where the
//! callee says when to come back and the caller minds it: of a call that faults of the file fail, each of them.

use crate::analysis::course::Failing;
use crate::analysis::lint::findings::{Findings, Hit};
use crate::analysis::lint::rule::{Check, Example, Rule};
use crate::analysis::lint::storm::has_breaker_inside;
use crate::analysis::lint::subject::{Subject, Used};
use crate::analysis::lint::waits::{LOOKED_AT, named_strikes, told};
use crate::analysis::lint::words;
use crate::failure::{ErrorKind, ErrorSet};
use crate::plan::{CallId, Effect, Failure, Plan, Target};
use crate::policy::{BudgetRule, RetryPolicy, WaitRange};
use crate::scenario::Severity;
use crate::time::Span;

/// So many attempts are many.
const MANY: u32 = 10;

/// A wait that is shorter is hardly one: what failed a moment ago fails again.
const SHORT: Span = Span::from_ms(10);

pub static RULE: Rule = Rule {
    id: "hot-loop",
    severity: Severity::Error,
    finds: "Ten or more attempts, or attempts without a limit, follow on each other with less than 10 ms between them.",
    why: "Without a wait the only thing that slows the caller down is the callee, and one that refuses everything does \
          that at once. A single client with an outage of 21 minutes and 4.78 ms per failed attempt made 263,356 of \
          them (holon-run/holon, issue 2991); with waits of 1 s that double up to 30 s it would have been 46.",
    instead: "wait between attempts: an exponential backoff with full jitter and a cap, and a limit on attempts or \
              time",
    example: Example {
        bad: r#"
clients.agent = { arrivals = { closed = { think = "1s" } }, calls.api = { timeout = "1s", retry = "eager" } }
services.api = { service_time = "5ms" }
retries.eager = { max_attempts = "unlimited" }
"#,
        good: &[
            r#"retries.eager.backoff={ exponential = { base = "1s" } }"#,
            r#"retries.eager.jitter="full""#,
            r#"retries.eager.cap="30s""#,
        ],
    },
    check: Check::Variant(check),
};

fn check(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for Used { id, policy, calls } in subject.policies() {
        if policy.max_attempts < MANY || first(policy).any(|wait| wait.longest >= SHORT) {
            continue;
        }
        let loops = calls.iter().filter(|&&call| !is_ended(subject.plan, call));
        let loops = loops.filter_map(|&call| Some((call, Turn::of(subject, call)?)));
        // The call whose attempts follow on each other most closely.
        let Some((call, turn)) = loops.min_by(|one, other| one.1.lasts_s.total_cmp(&other.1.lasts_s)) else { continue };
        let path = subject.policy_path(id);
        findings.add(Hit {
            owner: path.clone(),
            keys: &["backoff", "max_attempts", "max_retries"],
            message: format!("`{path}` makes {} with hardly a wait between them", words::attempts(close(policy))),
            figure: figure(subject, policy, call, &turn),
        });
    }
}

/// How many attempts follow on each other, as far as waits are looked at: what comes after a longer wait is no loop.
fn close(policy: &RetryPolicy) -> u32 {
    let waits = looped(policy).take(LOOKED_AT as usize);
    let short = waits.take_while(|wait| wait.longest < SHORT).count() as u32;
    if short < LOOKED_AT { policy.max_attempts.min(1 + short) } else { policy.max_attempts }
}

/// The waits between so many attempts as are many.
fn first(policy: &RetryPolicy) -> impl Iterator<Item = WaitRange> {
    looped(policy).take(MANY as usize - 1)
}

/// All waits. Those after errors that throttle count where there are no others.
fn looped(policy: &RetryPolicy) -> impl Iterator<Item = WaitRange> {
    let others = policy.retry_on.without(ErrorSet::THROTTLING);
    let errors = if others == ErrorSet::EMPTY { policy.retry_on } else { others };
    policy.ranges_after(errors)
}

/// An attempt that fails, and the wait after it.
struct Turn<'a> {
    lasts_s: f64,
    /// The fault by which it fails; none if the plan has none for it.
    fault: Option<&'a str>,
    /// How many of them the call makes; none without a limit.
    most: Option<u64>,
}

impl<'a> Turn<'a> {
    /// The shortest of a call; none if an attempt fails only when it has taken as long as a wait should be, if the
    /// caller is told to wait, and if there is not time for many.
    fn of(subject: &Subject<'a>, id: CallId) -> Option<Self> {
        let plan = subject.plan;
        let policy = plan.policy_of(id);
        let call = &plan.calls[id.index()];
        let is_refused =
            ErrorKind::ALL.iter().any(|&kind| kind != ErrorKind::Timeout && policy.retry_on.contains(kind));
        if !is_refused && call.timeout.after >= SHORT {
            return None;
        }
        let round_ns = 2.0 * call.network.mean_ns();
        let work_ns = plan.services[call.target.index()].service_time.mean_ns();
        let failures = named_strikes(subject, id).filter_map(|(fault, name)| {
            let Effect::Fail(failure) = &fault.effect else { return None };
            let lasts_ns = if fault.targets.contains(&Target::Call(id)) {
                failure.delay.mean_ns()
            } else {
                round_ns + if failure.works { work_ns } else { failure.delay.mean_ns() }
            };
            policy.retry_on.contains(failure.error).then_some((lasts_ns, name, failure))
        });
        let at_once = failures.filter(|(_, _, failure)| !is_told_to_wait(policy, failure));
        let fastest = at_once.min_by(|one, other| one.0.total_cmp(&other.0));
        let is_told = told(subject, id).is_some_and(|delay| delay.min(policy.server_delay.over_own) >= SHORT);
        // What nobody says when to come back after is not tried again where that is required.
        if fastest.is_none() && (is_told || policy.server_delay.required) {
            return None;
        }
        let (fails_ns, fault) = fastest.map_or((round_ns, None), |(lasts_ns, name, _)| (lasts_ns, Some(name)));
        let timeout_ns = call.timeout.after.as_ns() as f64;
        let attempt_ns = if is_refused { fails_ns.min(timeout_ns) } else { timeout_ns };
        let waits_ns = first(policy).map(|wait| wait.mean_ns.unwrap_or(wait.longest.as_ns() as f64)).sum::<f64>();
        let most = subject.course(id, Failing::Late(Span::from_ns_f64(attempt_ns))).most;
        let close = close(policy);
        let most =
            if close == u32::MAX { most } else { Some(most.map_or(close.into(), |most| most.min(close.into()))) };
        let are_many = most.is_none_or(|most| most >= u64::from(MANY));
        are_many.then_some(Self { lasts_s: (attempt_ns + waits_ns / f64::from(MANY - 1)) / 1e9, fault, most })
    }
}

/// Whether an error says when to come back, and the policy waits for that, or does not come back at all.
fn is_told_to_wait(policy: &RetryPolicy, failure: &Failure) -> bool {
    let rule = &policy.server_delay;
    let waits = |delay| rule.taken(delay).is_some_and(|taken| taken.min(rule.over_own) >= SHORT);
    rule.forbids(failure.retry_after) || failure.retry_after.is_some_and(waits)
}

/// Whether something other than the policy ends its loop: a budget that failures use up or that fills up slowly, or a
/// breaker or throttle that is asked before each attempt and whose refusals are not retried.
fn is_ended(plan: &Plan, id: CallId) -> bool {
    let call = &plan.calls[id.index()];
    let retried = plan.policy_of(id).retry_on;
    let by_budget = call.budget.is_some_and(|used| {
        let rule = &plan.budgets[used.pool as usize].rule;
        rule.runs_dry() || matches!(rule, BudgetRule::WindowedRatio(_))
    });
    let by_breaker = has_breaker_inside(call) && !retried.contains(ErrorKind::BreakerOpen);
    let by_throttle = call.throttle.is_some() && !retried.contains(ErrorKind::Throttled);
    by_budget || by_breaker || by_throttle
}

fn figure(subject: &Subject<'_>, policy: &RetryPolicy, call: CallId, turn: &Turn<'_>) -> String {
    let name = subject.call_name(call);
    let failing = match turn.fault {
        Some(fault) => format!("while `faults.{fault}` fails `{name}`"),
        None => format!("while `{name}` fails at once"),
    };
    let most = turn.most.and_then(|most| u32::try_from(most).ok()).unwrap_or(policy.max_attempts);
    let total_s = f64::from(most) * turn.lasts_s;
    let is_endless = most == u32::MAX || total_s > 1.0;
    let clients = subject.made(call).clients;
    let (attempts, all) = (words::attempts(most), words::count(clients));
    if turn.lasts_s == 0.0 {
        // Nothing in the plan takes time.
        return format!(
            "{failing}, one request makes {attempts} as fast as they are refused: 1,000 per second if that takes 1 ms"
        );
    }
    if !is_endless {
        return format!("{failing}, one request makes {attempts} within {}", words::seconds(total_s));
    }
    let per_second = words::count(1.0 / turn.lasts_s);
    let together = words::count(clients / turn.lasts_s);
    let together = if clients >= 2.0 { format!(", and {all} together {together}") } else { String::new() };
    format!("{failing}, one request makes {per_second} attempts per second{together}")
}
