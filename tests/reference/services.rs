//! The rules of a service: what an arrival meets there, and the section "The calls of a service".

use stormsim::dist::{Dist, Purpose, call_key, draw, happens, mix};
use stormsim::failure::ErrorKind;
use stormsim::plan::{CallId, Effect, FaultId};
use stormsim::sim::Note;
use stormsim::time::Span;

use super::agenda::Event;
use super::interpreter::Interpreter;
use super::record::{Attempt, CallResult, Caller, Place, Reply, StepCall, Work};

impl Interpreter<'_> {
    pub(super) fn arrive(&mut self, attempt: usize) {
        let Attempt { id, key, .. } = self.record.attempts[attempt];
        let service = self.plan.calls[id.index()].target;
        self.note(Note::Arrived { service, key });
        let work = self.record.works.len();
        self.record.works.push(Work {
            attempt,
            service,
            arrived: self.moment(),
            steps: Vec::new(),
            degraded: false,
            answered: None,
        });
        match self.fault_that_strikes(work).map(|fault| &self.plan.faults[fault.index()]) {
            None => {
                let time = &self.plan.services[service.index()].service_time;
                self.serve(work, time, time.sample(key, Purpose::Service), Ok(()));
            }
            Some(fault) => match &fault.effect {
                Effect::Refuse => self.answer_with(work, Reply::TurnedAway),
                Effect::Fail { error, delay, .. } => {
                    self.serve(work, delay, delay.sample(mix(key, fault.key), Purpose::FaultDelay), Err(*error));
                }
            },
        }
    }

    /// The first fault, in file order, that hits this arrival.
    fn fault_that_strikes(&self, work: usize) -> Option<FaultId> {
        let Work { attempt, service, .. } = self.record.works[work];
        let key = self.record.attempts[attempt].key;
        let strikes = self.plan.faults.iter().position(|fault| {
            let active = fault.windows.iter().any(|window| window.contains(&self.now));
            let chosen = match fault.effect {
                Effect::Refuse => true,
                Effect::Fail { probability, .. } => happens(draw(mix(key, fault.key), Purpose::Fault), probability),
            };
            active && fault.targets.contains(&service) && chosen
        });
        strikes.map(|index| FaultId(index as u32))
    }

    /// Spends the sample `time` of `dist` on a work. What takes constantly no time is no event.
    fn serve(&mut self, work: usize, dist: &Dist, time: Span, struck: Result<(), ErrorKind>) {
        let served = Event::Served { work, struck };
        if *dist == Dist::ZERO { self.happen(served) } else { self.schedule_after(time, served) }
    }

    pub(super) fn begin_next_step(&mut self, work: usize) {
        let step = self.record.works[work].steps.len();
        let Some(calls) = self.plan.steps_of(self.record.works[work].service).nth(step) else {
            return self.answer_with(work, Reply::Success);
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
                if self.record.works[work].answered.is_some() {
                    return;
                }
                self.begin_call(id, Caller::Work(Place { work, step, call, copy }), None);
                self.record.works[work].steps[step][call].begun += 1;
            }
        }
        self.go_on_if_settled(work);
    }

    /// Begins the next step once the latest one is over: never before all of its calls have begun, although one that
    /// begins past its deadline fails at once.
    fn go_on_if_settled(&mut self, work: usize) {
        let Work { service, steps, answered, .. } = &self.record.works[work];
        let calls = self.plan.steps_of(*service).nth(steps.len() - 1).expect("a step that was begun is in the plan");
        let states = &steps[steps.len() - 1];
        if answered.is_none() && calls.iter().zip(states).all(|(&id, state)| self.has_settled(id, state)) {
            self.begin_next_step(work);
        }
    }

    fn has_settled(&self, id: CallId, state: &StepCall) -> bool {
        let settings = &self.plan.calls[id.index()];
        let not_made = state.copies == 0;
        let succeeded = state.succeeded >= settings.required;
        let failed_but_optional = settings.optional && self.can_no_longer_succeed(id, state);
        state.begun == state.copies && (not_made || succeeded || failed_but_optional)
    }

    fn can_no_longer_succeed(&self, id: CallId, state: &StepCall) -> bool {
        state.failed + self.plan.calls[id.index()].required > state.copies
    }

    /// A call that the work waits for has ended, and so has its fallback, if it has one.
    pub(super) fn own_call_ended(&mut self, place: Place, result: CallResult) {
        let Place { work, step, call, .. } = place;
        let service = self.record.works[work].service;
        let id = self.plan.steps_of(service).nth(step).expect("a step that was begun is in the plan")[call];
        let state = &mut self.record.works[work].steps[step][call];
        match result {
            Ok(()) => state.succeeded += 1,
            Err(_) => state.failed += 1,
        }
        let state = *state;
        match result {
            Err((error, _)) if self.can_no_longer_succeed(id, &state) => {
                if !self.plan.calls[id.index()].optional {
                    return self.answer_with(work, Reply::Error(error));
                }
                self.record.works[work].degraded = true;
            }
            _ => {}
        }
        self.go_on_if_settled(work);
    }

    pub(super) fn answer_with(&mut self, work: usize, reply: Reply) {
        let answered = self.moment();
        let this = &mut self.record.works[work];
        this.answered = Some((answered, reply));
        let &Attempt { id, key, .. } = &self.record.attempts[this.attempt];
        self.note(Note::Answered { key, result: reply.result() });
        let on_its_way = self.plan.calls[id.index()].network.sample(key, Purpose::Response);
        self.schedule_after(on_its_way, Event::Answer { work });
    }
}
