//! How long answers take at least, and at most where what is called fails in any way; and what that leaves of
//! deadlines.

use std::collections::BTreeMap;

use crate::analysis::course::{Course, Failing};
use crate::analysis::graph::Graph;
use crate::plan::{Call, CallId, DeadlineRule, Effect, Origin, Plan, ServiceId, Target};
use crate::time::Span;

/// The least time that a plan's services work on a request with success, and that of their steps.
///
/// What may be over sooner takes none: calls that need not be made or need not succeed, and services that may know the
/// result already.
pub(super) struct Quickest<'a> {
    plan: &'a Plan,
    /// By service, as far as it has been asked for.
    work: Vec<Option<Span>>,
}

impl<'a> Quickest<'a> {
    pub fn new(plan: &'a Plan) -> Self {
        Self { plan, work: vec![None; plan.services.len()] }
    }

    /// From the arrival of a request at the service that makes a call until it can begin that call; zero for clients.
    pub fn before(&mut self, call: &Call) -> Span {
        let Origin::Service(service) = call.origin else { return Span::ZERO };
        self.until_step(service, call.step as usize)
    }

    fn until_step(&mut self, service: ServiceId, step: usize) -> Span {
        let plan = self.plan;
        let own = plan.services[service.index()].service_time.bounds().0;
        let steps: Vec<&[CallId]> = plan.steps_of(service).take(step).collect();
        steps.into_iter().fold(own, |sum, calls| {
            let lasts = calls.iter().map(|&call| self.call(&plan.calls[call.index()])).max();
            (sum + lasts.unwrap_or(Span::ZERO)).min(Span::LIMIT)
        })
    }

    fn call(&mut self, call: &Call) -> Span {
        if call.optional || call.fallback.is_some() || call.probability != u64::MAX {
            return Span::ZERO;
        }
        self.answer(call)
    }

    /// From the sending of an attempt of a call until it is answered with success.
    pub fn answer(&mut self, call: &Call) -> Span {
        let way = call.network.bounds().0;
        way + way + self.work(call.target)
    }

    fn work(&mut self, service: ServiceId) -> Span {
        if let Some(known) = self.work[service.index()] {
            return known;
        }
        let knows_results = self.plan.services[service.index()].effects.store.is_some();
        let work = if knows_results { Span::ZERO } else { self.until_step(service, usize::MAX) };
        self.work[service.index()] = Some(work);
        work
    }
}

/// By call: the latest deadline that its caller has when it calls, from then on; [`Span::UNLIMITED`] if that may be
/// none.
pub(super) fn deadlines(plan: &Plan, graph: &Graph) -> Vec<Span> {
    let mut quickest = Quickest::new(plan);
    // By service: what those that call it tell it, from its arrival on; none as long as nobody does.
    let mut arriving: Vec<Option<Span>> = vec![None; plan.services.len()];
    let mut deadlines = vec![Span::UNLIMITED; plan.calls.len()];
    for origin in graph.callers_first(plan) {
        let arrived = match origin {
            Origin::Group(_) => Span::UNLIMITED,
            Origin::Service(service) => arriving[service.index()].unwrap_or(Span::UNLIMITED),
        };
        for &id in graph.made_by(origin) {
            let call = &plan.calls[id.index()];
            let deadline = less(arrived, quickest.before(call));
            deadlines[id.index()] = deadline;
            let told = less(told(call, deadline), call.network.bounds().0);
            let latest = &mut arriving[call.target.index()];
            *latest = Some(latest.map_or(told, |latest| latest.max(told)));
        }
    }
    deadlines
}

/// How long the first attempt of a call is waited for whose caller has so much time.
pub(super) fn waited_for(call: &Call, deadline: Span) -> Span {
    call.timeout.after.min(call.total_timeout.after).min(deadline)
}

/// What the callee is told with the first attempt.
pub(super) fn told(call: &Call, deadline: Span) -> Span {
    let waits = waited_for(call, deadline);
    match call.deadline {
        DeadlineRule::Keep => Span::UNLIMITED,
        DeadlineRule::PassLess(reserve) => less(waits, reserve),
        DeadlineRule::PassLessShare(share) => less(waits, Span::from_ns_f64(waits.as_ns() as f64 * share)),
    }
}

/// A time less another, at least nothing; what has no end stays so.
pub(super) fn less(span: Span, other: Span) -> Span {
    if span >= Span::LIMIT { Span::UNLIMITED } else { Span::from_ns(span.as_ns().saturating_sub(other.as_ns())) }
}

/// The longest that a plan's calls and answers take.
pub(super) struct Longest<'a> {
    plan: &'a Plan,
    /// By call: the latest deadline of its caller.
    deadlines: &'a [Span],
    /// By service, as far as it has been asked for; [`Span::UNLIMITED`] where there is no longest.
    work: Vec<Option<Span>>,
    /// By call and limit, as far as they have been asked for; the inner none where it has no end.
    ends: BTreeMap<(u32, Span), Option<Span>>,
}

impl<'a> Longest<'a> {
    pub fn new(plan: &'a Plan, deadlines: &'a [Span]) -> Self {
        Self { plan, deadlines, work: vec![None; plan.services.len()], ends: BTreeMap::new() }
    }

    /// The longest that a callee can take for an answer to a call, with the way there and back: all that it calls
    /// itself goes wrong as late as it can, and `fail` faults take their delays. None where that has no end. Queues,
    /// contention and other faults are not looked at.
    pub fn answer(&mut self, id: CallId) -> Option<Span> {
        let plan = self.plan;
        let call = &plan.calls[id.index()];
        let way = call.network.bounds().1?;
        let mut answer = way + way + self.work(call.target);
        for fault in &plan.faults {
            let Effect::Fail(failure) = &fault.effect else { continue };
            if fault.targets.contains(&Target::Call(id)) {
                answer = answer.max(failure.delay.bounds().1?);
            }
            if fault.targets.contains(&Target::Service(call.target)) {
                answer = answer.max(way + way + failure.delay.bounds().1?);
            }
        }
        (answer < Span::LIMIT).then_some(answer)
    }

    /// When a call that may last until `limit` is given up at the latest, however its attempts fail; none where that
    /// has no end.
    pub fn end(&mut self, id: CallId, limit: Span) -> Option<Span> {
        let plan = self.plan;
        let course = || Course::of(plan, &plan.calls[id.index()], Failing::Anyhow(Span::UNLIMITED), limit).given_up;
        *self.ends.entry((id.0, limit)).or_insert_with(course)
    }

    fn work(&mut self, service: ServiceId) -> Span {
        if let Some(known) = self.work[service.index()] {
            return known;
        }
        let work = self.work_anew(service).unwrap_or(Span::UNLIMITED);
        self.work[service.index()] = Some(work);
        work
    }

    fn work_anew(&mut self, service: ServiceId) -> Option<Span> {
        let plan = self.plan;
        let mut longest = plan.services[service.index()].service_time.bounds().1?;
        for step in plan.steps_of(service) {
            let mut step_ends = Span::ZERO;
            for &call in step {
                step_ends = step_ends.max(self.settled(call)?);
            }
            longest = (longest + step_ends).min(Span::LIMIT);
        }
        (longest < Span::LIMIT).then_some(longest)
    }

    /// The longest until a call, and what is made in its place, have failed, if its callees answer.
    fn settled(&mut self, id: CallId) -> Option<Span> {
        let plan = self.plan;
        let call = &plan.calls[id.index()];
        let failing = Failing::Anyhow(self.answer(id).unwrap_or(Span::UNLIMITED));
        let own = Course::of(plan, call, failing, self.deadlines[id.index()]).given_up?;
        match call.fallback {
            Some(fallback) => Some((own + self.settled(fallback)?).min(Span::LIMIT)),
            None => Some(own),
        }
    }
}
