//! How long an answer can take where nothing is wrong but that it is an error.

use crate::analysis::{Course, Failing, Waits};
use crate::plan::{Call, CallId, Plan, ServiceId};
use crate::time::Span;

/// The longest answers of a plan's services.
pub(super) struct Answers<'a> {
    plan: &'a Plan,
    /// By service, as far as it has been asked for; the inner none where there is no longest.
    work: Vec<Option<Option<Span>>>,
}

impl<'a> Answers<'a> {
    pub fn new(plan: &'a Plan) -> Self {
        Self { plan, work: vec![None; plan.services.len()] }
    }

    /// The longest that a callee can take for an answer to a call, with the way there and back: all that it calls itself
    /// fails as late as it can. None where that has no end. It waits for nothing: queues are not looked at.
    pub fn longest(&mut self, call: &Call) -> Option<Span> {
        let way = call.network.bounds().1?;
        let answer = way + way + self.work(call.target)?;
        (answer < Span::LIMIT).then_some(answer)
    }

    /// The longest that a service can work on one request.
    fn work(&mut self, service: ServiceId) -> Option<Span> {
        if let Some(known) = self.work[service.index()] {
            return known;
        }
        let work = self.work_anew(service);
        self.work[service.index()] = Some(work);
        work
    }

    fn work_anew(&mut self, service: ServiceId) -> Option<Span> {
        let plan = self.plan;
        let service = &plan.services[service.index()];
        let mut longest = service.service_time.bounds().1?;
        for step in service.steps.clone() {
            let mut step_ends = Span::ZERO;
            for at in plan.steps[step as usize].clone() {
                step_ends = step_ends.max(self.end(plan.step_calls[at as usize])?);
            }
            longest = (longest + step_ends).min(Span::LIMIT);
        }
        (longest < Span::LIMIT).then_some(longest)
    }

    /// The longest that a call can take, and that in its place when it has failed.
    fn end(&mut self, id: CallId) -> Option<Span> {
        let plan = self.plan;
        let call = &plan.calls[id.index()];
        let failing = Failing::After(self.longest(call)?);
        let own = Course::of(plan, call, failing, Waits::Longest, Span::UNLIMITED).given_up?;
        match call.fallback {
            Some(fallback) => Some((own + self.end(fallback)?).min(Span::LIMIT)),
            None => Some(own),
        }
    }
}
