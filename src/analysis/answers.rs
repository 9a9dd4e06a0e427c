//! How long answers take at least, and at most where what is called fails in any way; and what that leaves of
//! deadlines.

use std::collections::BTreeMap;

use crate::analysis::attempt::finds_nobody;
use crate::analysis::course::{Course, Endless, Failing};
use crate::analysis::graph::Graph;
use crate::plan::{Call, CallId, DeadlineRule, Effect, Failure, Origin, Plan, ServiceId, Target};
use crate::time::Span;

/// The least time that a plan's services work on a request with success, and that of their steps.
///
/// What may be over sooner takes none: calls that need not be made or need not succeed, and services that may know the
/// result already. A service that a `slow` fault may make faster takes as little as with all such faults.
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
        let own = self.own(service);
        let steps: Vec<&[CallId]> = plan.steps_of(service).take(step).collect();
        steps.into_iter().fold(own, |sum, calls| {
            let lasts = calls.iter().map(|&call| self.call(&plan.calls[call.index()])).max();
            (sum + lasts.unwrap_or(Span::ZERO)).min(Span::LIMIT)
        })
    }

    /// The work of a service before its calls.
    fn own(&self, service: ServiceId) -> Span {
        let least = self.plan.services[service.index()].service_time.bounds().0;
        let strikes = self.plan.faults.iter().filter(|fault| fault.targets.contains(&Target::Service(service)));
        // As the engine does, one after another.
        strikes.fold(least, |work, fault| match fault.effect {
            Effect::Slow { factor, .. } if factor < 1.0 => Span::from_ns_f64(work.as_ns() as f64 * factor),
            _ => work,
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
/// none, and for calls that nobody ever makes.
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

/// The most attempts that are followed for the ends of calls, of all of a plan together.
const FOLLOWED_OF_ALL: u64 = 5_000_000;

/// The longest that a plan's calls and answers take.
pub(super) struct Longest<'a> {
    plan: &'a Plan,
    /// By call: the latest deadline of its caller.
    deadlines: &'a [Span],
    /// By service, as far as it has been asked for; [`Span::UNLIMITED`] where there is no longest.
    work: Vec<Option<Span>>,
    /// By call and limit, as far as they have been asked for.
    ends: BTreeMap<(u32, Span), Result<Span, Endless>>,
    /// How many attempts were followed for them.
    followed: u64,
}

impl<'a> Longest<'a> {
    pub fn new(plan: &'a Plan, deadlines: &'a [Span]) -> Self {
        Self { plan, deadlines, work: vec![None; plan.services.len()], ends: BTreeMap::new(), followed: 0 }
    }

    /// The longest that a callee can take for an answer to a call, with the way there and back: all that it calls
    /// itself goes wrong as late as it can, and `fail` faults take their delays. None where that has no end, and where
    /// nothing arrives. Queues, contention and other faults are not looked at.
    pub fn answer(&mut self, id: CallId) -> Option<Span> {
        let plan = self.plan;
        let call = &plan.calls[id.index()];
        let on_the_way = self.failures(Target::Call(id)).map(|failure| failure.delay.bounds().1);
        let on_the_way = on_the_way.reduce(|one, other| Some(one?.max(other?)));
        let answer = if finds_nobody(call) {
            on_the_way??
        } else {
            let way = call.network.bounds().1?;
            let mut answer = self.worked(id, way);
            for failure in self.failures(Target::Service(call.target)) {
                answer = answer.max(way + way + failure.delay.bounds().1?);
            }
            on_the_way.map_or(Some(answer), |delay| Some(answer.max(delay?)))?
        };
        (answer < Span::LIMIT).then_some(answer)
    }

    /// How attempts of a call fail as late as they can.
    pub fn latest(&mut self, id: CallId) -> Failing {
        let call = &self.plan.calls[id.index()];
        match self.answer(id) {
            Some(answer) if !finds_nobody(call) || answer > call.connect_timeout.after => Failing::Late(answer),
            _ if finds_nobody(call) => Failing::Unreachable,
            _ => Failing::Silently,
        }
    }

    /// When a call that may last until `limit` is given up at the latest, however its attempts fail.
    ///
    /// # Errors
    /// There is no latest end.
    pub fn end(&mut self, id: CallId, limit: Span) -> Result<Span, Endless> {
        if let Some(&known) = self.ends.get(&(id.0, limit)) {
            return known;
        }
        let end = if self.followed > FOLLOWED_OF_ALL {
            Err(Endless::NotFollowed)
        } else {
            let (end, followed) = Course::latest_end(self.plan, id, limit);
            self.followed += followed;
            end
        };
        self.ends.insert((id.0, limit), end);
        end
    }

    fn failures(&self, target: Target) -> impl Iterator<Item = &'a Failure> + use<'a> {
        self.plan.faults.iter().filter(move |fault| fault.targets.contains(&target)).filter_map(|fault| {
            match &fault.effect {
                Effect::Fail(failure) => Some(failure),
                _ => None,
            }
        })
    }

    /// The way to a callee, its work, and the way back.
    fn worked(&mut self, id: CallId, way: Span) -> Span {
        let call = &self.plan.calls[id.index()];
        let work = self.work(call.target);
        // What it calls ends when the deadline is over that it was told: it begins nothing later. Only its own work
        // does not mind.
        let told = told(call, self.deadlines[id.index()]);
        let own = self.plan.services[call.target.index()].service_time.bounds().1;
        let until_told = own.filter(|_| told < Span::LIMIT).map(|own| told.max(way + own));
        (way + way + work).min(until_told.map_or(Span::UNLIMITED, |until| until + way))
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
        if call.probability == 0 {
            return Some(Span::ZERO);
        }
        let failing = match self.latest(id) {
            Failing::Late(answer) => Failing::Anyhow(answer),
            Failing::Unreachable => Failing::Anyhow(call.connect_timeout.after),
            _ => Failing::Anyhow(Span::UNLIMITED),
        };
        let own = Course::of(plan, id, failing, self.deadlines[id.index()]).given_up?;
        match call.fallback {
            Some(fallback) => Some((own + self.settled(fallback)?).min(Span::LIMIT)),
            None => Some(own),
        }
    }
}
