//! How long an answer can take where nothing is wrong but that it is an error.

use crate::analysis::{Course, Failing, Waits};
use crate::plan::{Call, CallId, Plan, Service};
use crate::time::Span;

/// The longest that a callee can take for an answer to a call, with the way there and back: all that it calls itself
/// fails as late as it can. None where that has no end. It waits for nothing: queues are not looked at.
pub fn longest(plan: &Plan, call: &Call) -> Option<Span> {
    let (_, way) = call.network.bounds();
    let way = way?;
    Some(way + way + work(plan, &plan.services[call.target.index()])?)
}

/// The longest that a service can work on one request.
fn work(plan: &Plan, service: &Service) -> Option<Span> {
    let (_, own) = service.service_time.bounds();
    let mut longest = own?;
    for step in service.steps.clone() {
        let step = plan.steps[step as usize].clone();
        let calls = step.map(|at| plan.step_calls[at as usize]);
        let ends = calls.map(|id| end(plan, id)).collect::<Option<Vec<_>>>()?;
        longest = longest + ends.into_iter().max().unwrap_or(Span::ZERO);
    }
    (longest < Span::LIMIT).then_some(longest)
}

/// The longest that a call can take, and that in its place when it has failed.
fn end(plan: &Plan, id: CallId) -> Option<Span> {
    let call = &plan.calls[id.index()];
    let own = Course::of(plan, call, Failing::After(longest(plan, call)?), Waits::Longest, Span::UNLIMITED).given_up?;
    match call.fallback {
        Some(fallback) => Some(own + end(plan, fallback)?),
        None => Some(own),
    }
}
