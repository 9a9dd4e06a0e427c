//! The section "The calls of a service": what a service does once it has spent its service time.

use stormsim::dist::{Purpose, call_key, draw, happens};
use stormsim::plan::{CallId, Cancel};

use super::interpreter::Interpreter;
use super::record::{CallResult, Caller, Place, StepCall, Work, WorkEnd};

impl Interpreter<'_> {
    pub(super) fn begin_next_step(&mut self, work: usize) {
        let step = self.record.works[work].steps.len();
        let Some(calls) = self.plan.steps_of(self.record.works[work].service).nth(step) else {
            return self.answer_with(work, WorkEnd::Success, None);
        };
        let key = self.record.attempts[self.record.works[work].attempt].key;
        let to_begin = calls.iter().map(|&id| {
            let settings = &self.plan.calls[id.index()];
            let made = happens(draw(call_key(key, settings.key, 0), Purpose::Made), settings.probability);
            StepCall { copies: if made { settings.copies } else { 0 }, begun: 0, succeeded: 0, failed: 0 }
        });
        let to_begin: Vec<StepCall> = to_begin.collect();
        self.record.works[work].steps.push(to_begin.clone());

        for (call, (&id, StepCall { copies, .. })) in calls.iter().zip(to_begin).enumerate() {
            for copy in 0..copies {
                // It was answered if a call that had to be made began past its deadline.
                if self.record.works[work].ended.is_some() {
                    return;
                }
                self.begin_call(id, Caller::Work(Place { work, step, call, copy }), None);
                self.record.works[work].steps[step][call].begun += 1;
                self.abandon_if_settled(work, step, call);
            }
        }
        self.go_on_if_settled(work);
    }

    /// Begins the next step once the latest one is over: never before all of its calls have begun, although one that
    /// begins past its deadline fails at once.
    fn go_on_if_settled(&mut self, work: usize) {
        let Work { service, steps, ended, .. } = &self.record.works[work];
        let calls = self.plan.steps_of(*service).nth(steps.len() - 1).expect("a step that was begun is in the plan");
        let states = &steps[steps.len() - 1];
        if ended.is_none() && calls.iter().zip(states).all(|(&id, state)| self.has_settled(id, state)) {
            self.begin_next_step(work);
        }
    }

    /// Whether a call has settled, and all of its copies have begun.
    fn has_settled(&self, id: CallId, state: &StepCall) -> bool {
        let settings = &self.plan.calls[id.index()];
        let not_made = state.copies == 0;
        let succeeded = state.succeeded >= settings.required;
        let failed_but_optional = settings.optional && self.can_no_longer_succeed(id, state);
        state.begun == state.copies && (not_made || succeeded || failed_but_optional)
    }

    /// Whether nothing that becomes of the other copies changes anything: enough have succeeded, or too many failed.
    pub(super) fn is_decided(&self, id: CallId, state: &StepCall) -> bool {
        state.succeeded >= self.plan.calls[id.index()].required || self.can_no_longer_succeed(id, state)
    }

    fn can_no_longer_succeed(&self, id: CallId, state: &StepCall) -> bool {
        state.failed + self.plan.calls[id.index()].required > state.copies
    }

    /// Which call stands at a place of the steps of a work.
    pub(super) fn step_call_id(&self, work: usize, step: usize, call: usize) -> CallId {
        let service = self.record.works[work].service;
        self.plan.steps_of(service).nth(step).expect("a step that was begun is in the plan")[call]
    }

    /// A call that the work waits for has ended, and so has its fallback, if it has one.
    pub(super) fn own_call_ended(&mut self, place: Place, result: CallResult) {
        let Place { work, step, call, .. } = place;
        let id = self.step_call_id(work, step, call);
        let state = &mut self.record.works[work].steps[step][call];
        match result {
            Ok(()) => state.succeeded += 1,
            Err(_) => state.failed += 1,
        }
        let state = *state;
        match result {
            Err((error, _)) if self.can_no_longer_succeed(id, &state) => {
                if !self.plan.calls[id.index()].optional {
                    return self.answer_with(work, WorkEnd::Error(error), None);
                }
                self.record.works[work].degraded = true;
            }
            _ => {}
        }
        self.abandon_if_settled(work, step, call);
        self.go_on_if_settled(work);
    }

    /// Ends the other copies of a call that has settled, where the service hears of it: not before all have begun.
    fn abandon_if_settled(&mut self, work: usize, step: usize, call: usize) {
        let state = &self.record.works[work].steps[step][call];
        let settled = self.has_settled(self.step_call_id(work, step, call), state);
        if settled && self.cancel_of(work) == Cancel::Running {
            self.abandon_calls(work, |other| (other.step, other.call) == (step, call));
        }
    }
}
