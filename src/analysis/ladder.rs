//! Paths from clients through the call graph: what multiplies along them, and who gives up when.

use serde::Serialize;

use crate::analysis::{Course, Failing, Waits};
use crate::plan::{Call, CallId, DeadlineRule, GroupId, Origin, Plan};
use crate::time::Span;

/// The most paths that are listed.
const PATHS_MAX: usize = 200;

/// A path through the call graph, from clients to a service that calls nobody.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Path {
    /// The group of clients that it begins at.
    pub client: String,
    /// Its calls, the clients' own first.
    pub hops: Vec<Hop>,
    /// How many attempts reach its end for one request at most: the product over its hops; none without a limit.
    pub attempts: Option<u64>,
}

/// One call of a path, made for the first attempt of the one before it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hop {
    /// `caller->label`.
    pub call: String,
    /// The service that it is to.
    pub target: String,
    /// How many attempts it makes at most; none without a limit.
    pub attempts: Option<u32>,
    /// How much time it has when it begins: what its caller was told, less what that has worked by then at least; none
    /// without a deadline.
    pub budget_s: Option<f64>,
    /// When its caller gives it up, of `budget_s` and `total_timeout`; none if never.
    pub gives_up_s: Option<f64>,
    /// How long one attempt of it is waited for; none for ever.
    pub attempt_s: Option<f64>,
    /// What it tells its callee; none if nothing.
    pub told_s: Option<f64>,
    /// How long it may go on after whoever waits for its caller has given up, if it gets no answer; none if it ends in
    /// time, or never.
    pub outlives_s: Option<f64>,
    /// Whether it has no end if it gets no answer.
    pub never_ends: bool,
}

/// The paths of a plan.
pub struct Paths {
    /// As far as they are listed.
    pub paths: Vec<Path>,
    /// How many branches were not followed, because there are too many.
    pub left_out: usize,
    /// By call: the latest deadline that its caller has when it calls; [`Span::UNLIMITED`] if that may be none.
    pub deadlines: Vec<Span>,
}

/// All paths, as far as they are listed.
pub fn paths(plan: &Plan) -> Paths {
    let mut walk = Walk { plan, paths: Vec::new(), left_out: 0, deadlines: vec![None; plan.calls.len()] };
    for (id, name) in (0..).map(GroupId).zip(&plan.labels.groups) {
        for call in calls_of(plan, Origin::Group(id)) {
            walk.follow(
                name,
                &mut Vec::new(),
                call,
                Arrived { deadline: Span::UNLIMITED, waited_for: Span::UNLIMITED },
            );
        }
    }
    let Walk { paths, left_out, deadlines, .. } = walk;
    // What is on no path is made by nobody; what may be on one that was not followed may have any deadline.
    let known = |deadline: Option<Span>| deadline.filter(|_| left_out == 0).unwrap_or(Span::UNLIMITED);
    Paths { paths, left_out, deadlines: deadlines.into_iter().map(known).collect() }
}

fn calls_of(plan: &Plan, origin: Origin) -> impl Iterator<Item = CallId> {
    let calls = (0..).map(CallId).zip(&plan.calls);
    calls.filter(move |(_, call)| call.origin == origin).map(|(id, _)| id)
}

/// What is known where a call is made.
#[derive(Clone, Copy)]
struct Arrived {
    /// The deadline that was passed on.
    deadline: Span,
    /// How long whoever waits for the caller does so.
    waited_for: Span,
}

struct Walk<'a> {
    plan: &'a Plan,
    paths: Vec<Path>,
    left_out: usize,
    deadlines: Vec<Option<Span>>,
}

impl Walk<'_> {
    fn follow(&mut self, client: &str, before: &mut Vec<Hop>, id: CallId, arrived: Arrived) {
        let call = &self.plan.calls[id.index()];
        let latest = &mut self.deadlines[id.index()];
        *latest = Some(latest.map_or(arrived.deadline, |latest| latest.max(arrived.deadline)));
        let (hop, next) = self.hop(id, call, arrived);
        before.push(hop);
        let calls: Vec<CallId> = calls_of(self.plan, Origin::Service(call.target)).collect();
        if calls.is_empty() {
            self.end(client, before);
        }
        for call in calls {
            if self.paths.len() >= PATHS_MAX {
                // Counting them all may take for ever in a mesh.
                self.left_out += 1;
                break;
            }
            self.follow(client, before, call, next);
        }
        before.pop();
    }

    fn end(&mut self, client: &str, hops: &[Hop]) {
        let attempts = hops.iter().try_fold(1_u64, |product, hop| product.checked_mul(u64::from(hop.attempts?)));
        self.paths.push(Path { client: client.to_owned(), hops: hops.to_vec(), attempts });
    }

    /// A call that is made as soon as its caller can.
    fn hop(&self, id: CallId, call: &Call, arrived: Arrived) -> (Hop, Arrived) {
        let plan = self.plan;
        let labels = &plan.labels;
        let policy = &plan.policies[call.policy.index()];
        let gives_up = call.total_timeout.after.min(arrived.deadline);
        let attempt = call.timeout.after.min(gives_up);
        let told = match call.deadline {
            DeadlineRule::Keep => Span::UNLIMITED,
            _ if attempt >= Span::LIMIT => Span::UNLIMITED,
            DeadlineRule::PassLess(reserve) => less(attempt, reserve),
            DeadlineRule::PassLessShare(share) => less(attempt, Span::from_ns_f64(attempt.as_ns() as f64 * share)),
        };
        let known = |span: Span| (span < Span::LIMIT).then(|| span.as_s());
        let longest = Course::of(plan, call, Failing::Silently, Waits::Longest, arrived.deadline).given_up;
        let waited_for = Some(arrived.waited_for).filter(|span| *span < Span::LIMIT);
        let outlives = longest.zip(waited_for).filter(|(end, waited_for)| end > waited_for);
        let hop = Hop {
            call: labels.calls[id.index()].clone(),
            target: labels.services[call.target.index()].clone(),
            attempts: (policy.max_attempts != u32::MAX).then_some(policy.max_attempts),
            budget_s: known(arrived.deadline),
            gives_up_s: known(gives_up),
            attempt_s: known(attempt),
            told_s: known(told),
            outlives_s: outlives.map(|(end, waited_for)| (end - waited_for).as_s()),
            never_ends: longest.is_none(),
        };
        // What the callee works before it calls on is taken off, as far as it is the same each time or at least so long.
        let (way, _) = call.network.bounds();
        let (work, _) = plan.services[call.target.index()].service_time.bounds();
        let spent = way + work;
        (hop, Arrived { deadline: less(told, spent), waited_for: less(attempt, spent) })
    }
}

/// A time less another; what has no end stays so.
fn less(span: Span, other: Span) -> Span {
    if span >= Span::LIMIT { span } else { Span::from_ns(span.as_ns().saturating_sub(other.as_ns())) }
}
