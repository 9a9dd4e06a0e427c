//! One call by itself: how it fails, how often it succeeds, and what its callee's times say about its timeout.

use serde::Serialize;

use crate::analysis::answers::Longest;
use crate::analysis::course::{Course, Endless, Failing, Over, attempts_at_most};
use crate::analysis::explain::Questions;
use crate::analysis::peak::{first_peak, retry_peak};
use crate::analysis::servers::Asked;
use crate::analysis::success::Success;
use crate::dist::Dist;
use crate::plan::{Call, CallId, Plan};
use crate::policy::{Schedule, WaitRange};
use crate::time::Span;

/// The most waits of a schedule that are listed.
const WAITS_MAX: usize = 64;

/// One call by itself.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CallExplained {
    /// `caller->label`.
    pub call: String,
    /// The service that it is to.
    pub target: String,
    /// How many attempts its policy allows; none without a limit.
    pub max_attempts: Option<u32>,
    /// Whether a retry budget may refuse some of them: then there are fewer than is said here.
    pub has_budget: bool,
    /// Whether a breaker or a throttle may hold some of them back: then fewer are sent than is said here.
    pub is_guarded: bool,
    /// Whether an error may say when it is worth trying again, and the policy minds that: then the waits may be others
    /// than `waits`.
    pub minds_servers: bool,
    /// Whether the policy tries again only after errors that say when.
    pub needs_servers: bool,
    /// The limit of one attempt, in seconds; none without one.
    pub timeout_s: Option<f64>,
    /// How long an attempt looks for somebody who takes it; none without a limit.
    pub connect_timeout_s: Option<f64>,
    /// The limit of the call, in seconds; none without one.
    pub total_timeout_s: Option<f64>,
    /// How long after it began its policy begins a retry at the latest, in seconds; none without such a limit.
    pub max_elapsed_s: Option<f64>,
    /// The deadline that its caller is told, in seconds after which it calls; the latest of several. None if there is a
    /// path without one.
    pub inherited_s: Option<f64>,
    /// The waits before retries 1, 2, ...
    pub waits: Vec<WaitExplained>,
    /// Those after errors that throttle, if they are others and such errors are tried again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits_throttled: Option<Vec<WaitExplained>>,
    /// Where every attempt is refused at once.
    pub refused: Course,
    /// How long the callee takes for an answer at most, without a queue, if what it calls itself goes wrong and `fail`
    /// faults take their delays; none if there is no longest time, or nothing arrives.
    pub answer_s: Option<f64>,
    /// Where every attempt fails as late as it can: with an answer after that time, or at the timeout.
    pub failing: Course,
    /// Where every attempt arrives and none is answered.
    pub silent: Course,
    /// Where every attempt finds nobody; none without a `connect_timeout` that is shorter than the timeout.
    pub unreachable: Option<Course>,
    /// The longest that the call can take, however its attempts fail; none if there is no such time.
    pub worst_s: Option<f64>,
    /// Why there is none.
    pub no_worst: Option<Endless>,
    /// Where there is not enough time for all attempts.
    pub unfit: Vec<Unfit>,
    /// Of clients that begin at set times: how many are expected to make this call in the densest 100 ms; none of other
    /// callers, and where it has no simple form.
    pub first_peak: Option<f64>,
    /// Of clients that begin at one instant, if all of their attempts are refused at once: how many retries are
    /// expected in the densest 100 ms; none of other callers, and where it has no simple form.
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

/// Attempts that can never be made.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Unfit {
    /// How those before them fail.
    pub attempts_are: Fate,
    /// How many attempts the policy allows.
    pub configured: u32,
    /// How many there is time for, with the shortest waits.
    pub fit: u64,
    /// How much time there is, in seconds.
    pub limit_s: f64,
}

/// How the attempts of a call fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// At once.
    Refused,
    /// As late as they can.
    Failing,
    /// Without an answer.
    Silent,
    /// Without finding anybody.
    Unreachable,
}

/// What the callee's times say about the timeout of an attempt, of one request alone at a server: with what contention
/// makes of that, but without queues, and without others at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CalleeTimes {
    /// Median of its service time, in seconds.
    pub p50_s: f64,
    /// 99th percentile, likewise.
    pub p99_s: f64,
    /// The share of answers that may come after the timeout.
    pub false_timeouts: f64,
    /// The timeout that this asks for, in seconds, with the way there and back. Where the ways vary it is more than
    /// enough: each of them, and the service, may be too long in a third of these cases.
    pub timeout_for_that_s: f64,
}

impl CallExplained {
    /// Of a call whose caller has so much time at most.
    pub(super) fn of(plan: &Plan, id: CallId, deadline: Span, longest: &mut Longest<'_>, questions: Questions) -> Self {
        let call = &plan.calls[id.index()];
        let policy = &plan.policies[call.policy.index()];
        let course = |failing| Course::of(plan, id, failing, deadline);
        let refused = course(Failing::Refused);
        let failing = course(longest.latest(id));
        let silent = course(Failing::Silently);
        let (worst, _) = Course::latest_end(plan, id, deadline);
        let max_attempts = (policy.max_attempts != u32::MAX).then_some(policy.max_attempts);
        let unreachable = (call.connect_timeout.after < call.timeout.after).then(|| course(Failing::Unreachable));
        let limit = |span: Span| (span < Span::LIMIT).then(|| span.as_s());
        let mut explained = Self {
            call: plan.labels.calls[id.index()].clone(),
            target: plan.labels.services[call.target.index()].clone(),
            max_attempts,
            has_budget: call.budget.is_some(),
            is_guarded: call.is_guarded(),
            minds_servers: minds_servers(plan, id),
            needs_servers: policy.server_delay.required,
            timeout_s: limit(call.timeout.after),
            connect_timeout_s: limit(call.connect_timeout.after),
            total_timeout_s: limit(call.total_timeout.after),
            max_elapsed_s: limit(policy.max_elapsed),
            inherited_s: limit(deadline),
            waits: waits(&policy.schedule, policy.max_attempts),
            waits_throttled: policy.retried_throttled().map(|schedule| waits(schedule, policy.max_attempts)),
            refused,
            answer_s: longest.answer(id).map(Span::as_s),
            failing,
            silent,
            unreachable,
            worst_s: worst.ok().map(Span::as_s),
            no_worst: worst.err(),
            unfit: Vec::new(),
            first_peak: first_peak(plan, call),
            retry_peak: retry_peak(plan, id),
            success: Success::of(questions.failure, attempts_at_most(plan, id, deadline).map(u64::from)),
            callee: CalleeTimes::of(plan, call, questions.false_timeouts),
        };
        explained.unfit = explained.unfit();
        explained
    }

    /// The time that the call has; none without a limit.
    pub fn limit_s(&self) -> Option<f64> {
        self.total_timeout_s.into_iter().chain(self.inherited_s).reduce(f64::min)
    }

    fn unfit(&self) -> Vec<Unfit> {
        let (Some(configured), Some(limit_s)) = (self.max_attempts, self.limit_s()) else { return Vec::new() };
        let courses = [
            (Fate::Refused, Some(&self.refused)),
            (Fate::Failing, Some(&self.failing)),
            (Fate::Silent, Some(&self.silent)),
            (Fate::Unreachable, self.unreachable.as_ref()),
        ];
        let unfit = |(attempts_are, course): (Fate, Option<&Course>)| {
            let fit = course.filter(|course| course.over == Over::Deadline)?.most?;
            (fit < u64::from(configured)).then_some(Unfit { attempts_are, configured, fit, limit_s })
        };
        courses.into_iter().filter_map(unfit).collect()
    }
}

/// Whether a call may wait as a server says.
pub(super) fn minds_servers(plan: &Plan, id: CallId) -> bool {
    Asked::of(plan, id).is_some()
}

/// The waits between so many attempts, as far as they are listed.
fn waits(schedule: &Schedule, max_attempts: u32) -> Vec<WaitExplained> {
    schedule.ranges().take((max_attempts as usize - 1).min(WAITS_MAX)).map(WaitExplained::of).collect()
}

impl WaitExplained {
    fn of(range: WaitRange) -> Self {
        Self {
            shortest_s: range.shortest.as_s(),
            longest_s: (range.longest < Span::UNLIMITED).then(|| range.longest.as_s()),
            mean_s: range.mean_ns.map(|ns| ns / 1e9),
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
        // Contention only stretches: what lies in order stays so.
        let alone = |service_time: Span| service.capacity.contention.stretch(service_time, 1);
        let work = &service.service_time;
        let way_varies = !matches!(call.network, Dist::Constant(_));
        // Three times that are within their bounds each are so together, unless one of them is not.
        let share = if way_varies { false_timeouts / 3.0 } else { false_timeouts };
        let way = call.network.quantile_above(share);
        Some(Self {
            p50_s: alone(work.quantile(0.5)).as_s(),
            p99_s: alone(work.quantile(0.99)).as_s(),
            false_timeouts,
            timeout_for_that_s: (alone(work.quantile_above(share)) + way + way).as_s(),
        })
    }
}
