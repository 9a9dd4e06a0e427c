//! The callee's side: arrival, work, answer.

use crate::dist::Purpose;
use crate::failure::ErrorKind;
use crate::sim::fault::Strike;
use crate::sim::frames::WorkFrame;
use crate::sim::replica::{Kind, Replica};
use crate::sim::tap::{Note, Tap};
use crate::time::Span;

impl<T: Tap> Replica<'_, T> {
    /// An attempt arrives.
    pub(super) fn arrive(&mut self, work: u32) {
        let frame = &mut self.works[work];
        let service = frame.service;
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

    /// The service is done with an attempt.
    #[inline]
    pub(super) fn complete(&mut self, work: u32, error: Option<ErrorKind>) {
        let WorkFrame { service, arrived, .. } = self.works[work];
        self.recorder.completed(service, arrived, error.is_none(), self.now);
        self.send_answer(work, error);
    }

    #[inline]
    fn send_answer(&mut self, work: u32, error: Option<ErrorKind>) {
        let frame = &mut self.works[work];
        frame.error = error;
        frame.is_answered = true;
        let (key, call) = (frame.key, frame.call);
        self.tap.note(self.now, Note::Answered { key, result: error.map_or(Ok(()), Err) });
        let delay = if self.has_network {
            self.plan.calls[call.index()].network.sample(key, Purpose::Response)
        } else {
            Span::ZERO
        };
        self.agenda.schedule(delay, Kind::Answer.of(work));
    }

    /// Gives the frame of a work back once nothing refers to it.
    pub(super) fn release_work(&mut self, work: u32) {
        let frame = &self.works[work];
        if frame.is_delivered && frame.children == 0 {
            self.works.remove(work);
        }
    }
}
