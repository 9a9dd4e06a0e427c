//! The callee's side: arrival, work, calls of its own, answer.

use crate::dist::{Purpose, call_key};
use crate::failure::ErrorKind;
use crate::plan::ServiceId;
use crate::sim::fault::Strike;
use crate::sim::replica::{Kind, Replica};
use crate::sim::tap::{Note, Tap};
use crate::time::Span;

impl<T: Tap> Replica<'_, T> {
    fn service_of(&self, work: u32) -> ServiceId {
        self.plan.calls[self.works[work].call.index()].target
    }

    /// An attempt arrives.
    pub(super) fn arrive(&mut self, work: u32) {
        let service = self.service_of(work);
        let frame = &mut self.works[work];
        frame.arrived = self.now;
        let key = frame.key;
        let (is_original, is_retry) = (frame.is_original, frame.is_retry);
        self.tap.note(self.now, Note::Arrived { service, key });
        self.recorder.arrived(service, is_original, is_retry, self.now);
        match self.strike(service, key) {
            Strike::Refused => {
                self.recorder.refused(service, self.now);
                self.send_answer(work, Some(ErrorKind::Refused));
            }
            Strike::Fails { error, delay } => {
                self.recorder.entered(service, self.now);
                self.works[work].error = Some(error);
                match delay {
                    Some(delay) => _ = self.agenda.schedule(delay, Kind::Served.of(work)),
                    None => self.complete(work, Some(error)),
                }
            }
            Strike::None => {
                self.recorder.entered(service, self.now);
                let service_time = &self.plan.services[service.index()].service_time;
                if service_time.is_zero() {
                    self.run_next_step(work);
                } else {
                    let took = service_time.sample(key, Purpose::Service);
                    self.agenda.schedule(took, Kind::Served.of(work));
                }
            }
        }
    }

    /// The service time is over, or the delay of an error.
    pub(super) fn served(&mut self, work: u32) {
        match self.works[work].error {
            Some(error) => self.complete(work, Some(error)),
            None => self.run_next_step(work),
        }
    }

    /// The next step of the service's own calls begins; after the last one the work is done.
    fn run_next_step(&mut self, work: u32) {
        let plan = self.plan;
        let service = self.service_of(work);
        let frame = &mut self.works[work];
        let steps = &plan.services[service.index()].steps;
        let Some(step) = plan.steps[steps.start as usize..steps.end as usize].get(frame.step as usize) else {
            return self.complete(work, None);
        };
        frame.step += 1;
        frame.outstanding = (step.end - step.start) as u16;
        let key = frame.key;
        for &call in &plan.step_calls[step.start as usize..step.end as usize] {
            self.begin_call(call, work, call_key(key, plan.calls[call.index()].key, 0));
        }
    }

    /// A call that this work made has ended.
    pub(super) fn call_of_work_ended(&mut self, work: u32, result: Result<(), ErrorKind>) {
        match result {
            Ok(()) => {
                self.works[work].outstanding -= 1;
                if self.works[work].outstanding == 0 {
                    self.run_next_step(work);
                }
            }
            Err(error) => self.complete(work, Some(error)),
        }
    }

    /// The service is done with an attempt.
    fn complete(&mut self, work: u32, error: Option<ErrorKind>) {
        let service = self.service_of(work);
        self.recorder.completed(service, self.works[work].arrived, error.is_none(), self.now);
        self.send_answer(work, error);
    }

    fn send_answer(&mut self, work: u32, error: Option<ErrorKind>) {
        let frame = &mut self.works[work];
        frame.error = error;
        let key = frame.key;
        self.tap.note(self.now, Note::Answered { key, result: error.map_or(Ok(()), Err) });
        self.agenda.schedule(Span::ZERO, Kind::Answer.of(work));
    }
}
