//! What a scenario's settings mean, call by call, path by path and service by service, without a run.

use serde::Serialize;

use crate::analysis::answers::Answers;
use crate::analysis::ladder::{Path, Paths, paths};
use crate::analysis::load::{ServiceLoad, loads};
use crate::analysis::{Course, Failing, Waits, retry_peak};
use crate::dist::Dist;
use crate::plan::{Arrivals, Call, CallId, Origin, Plan};
use crate::policy::WaitRange;
use crate::scenario::Scenario;
use crate::time::Span;

/// The most waits of a schedule that are listed.
const WAITS_MAX: u32 = 64;

/// How likely an attempt fails, for what is said about success where nobody says otherwise.
pub const FAILURE_DEFAULT: f64 = 0.01;

/// The share of the answers that may come after the timeout, where nobody says otherwise.
pub const FALSE_TIMEOUTS_DEFAULT: f64 = 0.001;

/// What is asked beyond the scenario.
#[derive(Clone, Copy, Debug)]
pub struct Questions {
    /// How likely an attempt fails.
    pub failure: f64,
    /// The share of a callee's answers that may come after a timeout.
    pub false_timeouts: f64,
}

/// All that is explained of one variant.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// The variants that it is true of, in the order of the file.
    pub variants: Vec<String>,
    /// Every call, in the order of the file.
    pub calls: Vec<CallExplained>,
    /// Every path from clients through the call graph.
    pub paths: Vec<Path>,
    /// How many paths were left out, because there are too many.
    pub paths_left_out: usize,
    /// Every service.
    pub services: Vec<ServiceLoad>,
}

/// One call by itself.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CallExplained {
    /// `caller->label`.
    pub call: String,
    /// The service that it is to.
    pub target: String,
    /// How many attempts its policy allows; none without a limit.
    pub max_attempts: Option<u32>,
    /// The limit of one attempt, in seconds; none without one.
    pub timeout_s: Option<f64>,
    /// The limit of the call, in seconds; none without one.
    pub total_timeout_s: Option<f64>,
    /// The deadline that its caller is told, in seconds after which it calls; the latest of several. None if there is a
    /// path without one.
    pub inherited_s: Option<f64>,
    /// The waits before retries 1, 2, ...
    pub waits: Vec<WaitExplained>,
    /// Where every attempt is refused at once: with the shortest waits, and with the longest.
    pub refused: Extremes,
    /// Where every attempt fails, and the callee takes as long as it can for that; none if there is no longest time.
    pub failing: Option<Extremes>,
    /// Where no attempt is answered.
    pub silent: Extremes,
    /// The longest that the call can take in any of these; none where that has no end.
    pub worst_s: Option<f64>,
    /// Of clients that begin at one instant, if all of their attempts are refused at once: how many retries are expected
    /// in the densest 100 ms; none of other callers, and where it has no simple form.
    pub retry_peak: Option<f64>,
    /// What becomes of it where attempts fail with some probability.
    pub success: Success,
    /// What the callee's times say about the timeout; none if it makes calls of its own.
    pub callee: Option<CalleeTimes>,
}

/// The wait before one retry.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WaitExplained {
    /// The shortest, in seconds.
    pub shortest_s: f64,
    /// The longest, in seconds; none where the jitter has no upper bound.
    pub longest_s: Option<f64>,
    /// The mean, in seconds; none where it has no simple form.
    pub mean_s: Option<f64>,
}

/// The courses of a call with the shortest and with the longest waits.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Extremes {
    /// With the shortest: so there are as many attempts as can be.
    pub shortest_waits: Course,
    /// With the longest: so it takes as long as can be.
    pub longest_waits: Course,
}

/// Success and attempts of a call whose attempts fail with some probability.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Success {
    /// The probability that an attempt fails.
    pub failure: f64,
    /// The probability of success where each attempt fails by itself: `1 - p^n`.
    pub independent: f64,
    /// The mean number of attempts then: `(1 - p^n) / (1 - p)`.
    pub independent_attempts: f64,
    /// The probability of success where all attempts of a call fail together: `1 - p`.
    pub correlated: f64,
    /// The mean number of attempts then: `1 - p + p n`; none without a limit to `n`.
    pub correlated_attempts: Option<f64>,
}

/// What the callee's times say about the timeout of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CalleeTimes {
    /// Median of its service time with the way there and back, in seconds.
    pub p50_s: f64,
    /// 99th percentile, likewise: that of the service time, and of each way.
    pub p99_s: f64,
    /// The share of answers that may come after the timeout.
    pub false_timeouts: f64,
    /// The timeout that this asks for, in seconds.
    pub timeout_for_that_s: f64,
}

/// Explains every variant of a scenario; those of which the same is true, together.
pub fn explain(scenario: &Scenario, questions: Questions) -> Vec<Explanation> {
    let mut explained: Vec<Explanation> = Vec::new();
    for (name, plan) in scenario.variants() {
        let mut one = of_plan(plan, questions);
        match explained.iter_mut().find(|other| is_same(other, &one)) {
            Some(other) => other.variants.push(name.clone()),
            None => {
                one.variants.push(name.clone());
                explained.push(one);
            }
        }
    }
    explained
}

fn is_same(one: &Explanation, other: &Explanation) -> bool {
    one.calls == other.calls && one.paths == other.paths && one.services == other.services
}

fn of_plan(plan: &Plan, questions: Questions) -> Explanation {
    let Paths { paths, left_out, deadlines } = paths(plan);
    let calls = (0..).map(CallId).zip(&plan.calls).zip(deadlines);
    let mut answers = Answers::new(plan);
    let calls = calls.map(|((id, call), deadline)| {
        let longest = answers.longest(call);
        of_call(plan, id, call, (deadline, longest), questions)
    });
    Explanation { variants: Vec::new(), calls: calls.collect(), paths, paths_left_out: left_out, services: loads(plan) }
}

/// Of a call whose caller has so much time at most, and whose callee takes so long at most, if there is such a time.
fn of_call(
    plan: &Plan,
    id: CallId,
    call: &Call,
    (deadline, longest): (Span, Option<Span>),
    questions: Questions,
) -> CallExplained {
    let policy = &plan.policies[call.policy.index()];
    let max_attempts = (policy.max_attempts != u32::MAX).then_some(policy.max_attempts);
    let extremes = |failing| {
        let course = |waits| Course::of(plan, call, failing, waits, deadline);
        Extremes { shortest_waits: course(Waits::Shortest), longest_waits: course(Waits::Longest) }
    };
    let refused = extremes(Failing::After(Span::ZERO));
    let failing = longest.map(|longest| extremes(Failing::After(longest)));
    let silent = extremes(Failing::Silently);
    let ends = [Some(&refused), failing.as_ref(), Some(&silent)].into_iter().flatten();
    let worst = ends.map(|it| it.longest_waits.given_up).reduce(|worst, end| Some(worst?.max(end?))).flatten();
    let limit = |span: Span| (span < Span::LIMIT).then(|| span.as_s());
    let waits = policy.schedule.ranges(max_attempts.unwrap_or(u32::MAX).saturating_sub(1).min(WAITS_MAX));
    CallExplained {
        call: plan.labels.calls[id.index()].clone(),
        target: plan.labels.services[call.target.index()].clone(),
        max_attempts,
        timeout_s: limit(call.timeout.after),
        total_timeout_s: limit(call.total_timeout.after),
        inherited_s: limit(deadline),
        waits: waits.iter().map(WaitExplained::of).collect(),
        refused,
        failing,
        silent,
        worst_s: worst.map(Span::as_s),
        retry_peak: burst(plan, call).and_then(|clients| {
            retry_peak(&policy.schedule, max_attempts.filter(|attempts| *attempts > 1)? - 1, clients)
        }),
        success: Success::of(questions.failure, max_attempts),
        callee: CalleeTimes::of(plan, call, questions.false_timeouts),
    }
}

/// How many clients make a call at one instant.
fn burst(plan: &Plan, call: &Call) -> Option<u32> {
    let Origin::Group(group) = call.origin else { return None };
    let group = &plan.groups[group.index()];
    (matches!(group.arrivals, Arrivals::Burst { .. }) && group.choices.len() == 1).then_some(group.clients)
}

impl WaitExplained {
    fn of(range: &WaitRange) -> Self {
        Self {
            shortest_s: range.shortest.as_s(),
            longest_s: (range.longest < Span::UNLIMITED).then(|| range.longest.as_s()),
            mean_s: range.mean_ns.map(|ns| ns / 1e9),
        }
    }
}

impl Success {
    /// Of a call with so many attempts, none for no limit, each of which fails with this probability.
    pub fn of(failure: f64, attempts: Option<u32>) -> Self {
        // p^n, which is nothing without a limit unless all fail.
        let all_fail = match attempts {
            Some(attempts) => libm::pow(failure, f64::from(attempts)),
            None => f64::from(u8::from(failure >= 1.0)),
        };
        let independent_attempts = match attempts {
            Some(attempts) if failure >= 1.0 => f64::from(attempts),
            _ => (1.0 - all_fail) / (1.0 - failure),
        };
        Self {
            failure,
            independent: 1.0 - all_fail,
            independent_attempts,
            correlated: 1.0 - failure,
            correlated_attempts: attempts.map(|attempts| 1.0 - failure + failure * f64::from(attempts)),
        }
    }
}

impl CalleeTimes {
    /// Of a callee that makes no calls itself: how long those take is not up to it.
    fn of(plan: &Plan, call: &Call, false_timeouts: f64) -> Option<Self> {
        let service = &plan.services[call.target.index()];
        if !service.steps.is_empty() {
            return None;
        }
        let way = |dist: &Dist, p: f64| dist.quantile(p).as_s();
        let at = |p: f64| way(&service.service_time, p) + 2.0 * way(&call.network, p);
        Some(Self { p50_s: at(0.5), p99_s: at(0.99), false_timeouts, timeout_for_that_s: at(1.0 - false_timeouts) })
    }
}
